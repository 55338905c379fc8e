/* watch.c - watches a folder for changed files */
#include "loop/loop.h"

#include "base/os/fork.h"

#include <uv.h>

struct pai__watch {
  uv_fs_event_t handle;
  pai_alloc alloc;
  unsigned forks;
  pai__timer_cb cb;
  void *user_data;
};

static void on_change(uv_fs_event_t *handle, const char *name, int events,
                      int status)
{
  pai__watch *watch = handle->data;

  (void)name;
  (void)events;
  (void)status;
  if (!PAI__IS_FORKED(watch))
    watch->cb(watch->user_data);
}

static void on_close(uv_handle_t *handle)
{
  pai__watch *watch = handle->data;
  pai_alloc alloc = watch->alloc;

  pai__free(&alloc, watch, sizeof(*watch));
}

int pai__watch_new(pai__watch **out, const pai_alloc *alloc, pai_loop *loop,
                   const char *folder, pai__timer_cb cb, void *user_data)
{
  pai__watch *watch = pai__zalloc(alloc, sizeof(*watch));

  *out = NULL;
  if (watch == NULL)
    return PAI_ENOMEM;
  watch->alloc = *alloc;
  watch->forks = pai__forks();
  watch->cb = cb;
  watch->user_data = user_data;
  (void)uv_fs_event_init(pai__loop_uv(loop), &watch->handle); /* cannot fail */
  watch->handle.data = watch;
  if (uv_fs_event_start(&watch->handle, on_change, folder, 0) < 0) {
    uv_close((uv_handle_t *)&watch->handle, on_close);
    return PAI_EIO;
  }
  *out = watch;
  return PAI_OK;
}

void pai__watch_close(pai__watch *watch)
{
  if (watch != NULL && !PAI__IS_FORKED(watch))
    uv_close((uv_handle_t *)&watch->handle, on_close);
}
