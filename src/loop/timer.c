/* timer.c - one-shot timers on the loop */
#include "loop/loop.h"

#include "base/os/fork.h"

#include <uv.h>

struct pai__timer {
  uv_timer_t handle;
  pai_alloc alloc;
  unsigned forks;
  pai__timer_cb cb;
  void *user_data;
};

static void on_timeout(uv_timer_t *handle)
{
  pai__timer *timer = handle->data;

  if (!PAI__IS_FORKED(timer))
    timer->cb(timer->user_data);
}

static void on_close(uv_handle_t *handle)
{
  pai__timer *timer = handle->data;
  pai_alloc alloc = timer->alloc;

  pai__free(&alloc, timer, sizeof(*timer));
}

int pai__timer_new(pai__timer **out, const pai_alloc *alloc, pai_loop *loop,
                   pai__timer_cb cb, void *user_data)
{
  pai__timer *timer = pai__zalloc(alloc, sizeof(*timer));

  *out = NULL;
  if (timer == NULL)
    return PAI_ENOMEM;
  timer->alloc = *alloc;
  timer->forks = pai__forks();
  timer->cb = cb;
  timer->user_data = user_data;
  (void)uv_timer_init(pai__loop_uv(loop), &timer->handle); /* cannot fail */
  timer->handle.data = timer;
  *out = timer;
  return PAI_OK;
}

void pai__timer_start(pai__timer *timer, pai_time delay)
{
  uint64_t ms = delay <= 0 ? 0 : ((uint64_t)delay + 999) / 1000;

  if (PAI__IS_FORKED(timer))
    return;
  uv_update_time(timer->handle.loop); /* the host may have been busy */
  (void)uv_timer_start(&timer->handle, on_timeout, ms, 0);
}

void pai__timer_stop(pai__timer *timer)
{
  (void)uv_timer_stop(&timer->handle);
}

void pai__timer_close(pai__timer *timer)
{
  if (timer != NULL && !PAI__IS_FORKED(timer))
    uv_close((uv_handle_t *)&timer->handle, on_close);
}
