/* poll.c - waits for events of a descriptor on the loop */
#include "loop/loop.h"

#include "base/os/fork.h"

#include <uv.h>

struct pai__poll {
  uv_poll_t handle;
  pai_alloc alloc;
  unsigned forks;
  int fd;
  int events; /* the caller waits for */
  pai__poll_cb cb;
  void *user_data;
};

static void on_poll(uv_poll_t *handle, int status, int events)
{
  pai__poll *poll = handle->data;
  int seen = 0;

  if (PAI__IS_FORKED(poll))
    return;
  if (status < 0) { /* report all events: the caller's next read or write gets
                       the error */
    seen = poll->events;
    poll->events = 0; /* libuv has stopped it: it must be started again */
  }
  if ((events & UV_READABLE) != 0)
    seen |= PAI__READABLE;
  if ((events & UV_WRITABLE) != 0)
    seen |= PAI__WRITABLE;
  if ((events & UV_DISCONNECT) != 0)
    seen |= PAI__HUNG_UP;
  poll->cb(poll->user_data, poll->fd, seen);
}

static void on_close(uv_handle_t *handle)
{
  pai__poll *poll = handle->data;
  pai_alloc alloc = poll->alloc;

  pai__free(&alloc, poll, sizeof(*poll));
}

int pai__poll_new(pai__poll **out, const pai_alloc *alloc, pai_loop *loop,
                  int fd, pai__poll_cb cb, void *user_data, pai_error **err)
{
  pai__poll *poll = pai__zalloc(alloc, sizeof(*poll));
  int rc;

  *out = NULL;
  if (poll == NULL)
    return pai__oom(err);
  poll->alloc = *alloc;
  poll->forks = pai__forks();
  poll->fd = fd;
  poll->cb = cb;
  poll->user_data = user_data;
  rc = uv_poll_init(pai__loop_uv(loop), &poll->handle, fd);
  if (rc < 0) {
    pai__free(alloc, poll, sizeof(*poll));
    return pai__uv_fail(err, rc, "cannot wait for a descriptor");
  }
  poll->handle.data = poll;
  *out = poll;
  return PAI_OK;
}

void pai__poll_set(pai__poll *poll, int events)
{
  int of_uv = ((events & PAI__READABLE) != 0 ? UV_READABLE : 0) |
              ((events & PAI__WRITABLE) != 0 ? UV_WRITABLE : 0) |
              ((events & PAI__HUNG_UP) != 0 ? UV_DISCONNECT : 0);

  if (events == poll->events || PAI__IS_FORKED(poll))
    return;
  poll->events = events;
  if (events == 0)
    (void)uv_poll_stop(&poll->handle);
  else /* fails only while it is being closed */
    (void)uv_poll_start(&poll->handle, of_uv, on_poll);
}

void pai__poll_close(pai__poll *poll)
{
  if (poll != NULL && !PAI__IS_FORKED(poll))
    uv_close((uv_handle_t *)&poll->handle, on_close);
}
