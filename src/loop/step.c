/*
 * step.c - a callback in the loop's next step
 *
 * Uses an idle handle, not a timer without delay: libuv runs such timers
 * repeatedly before it handles anything else.
 */
#include "loop/loop.h"

#include "base/os/fork.h"

#include <uv.h>

struct pai__loop_step {
  uv_idle_t handle;
  pai_alloc alloc;
  unsigned forks;
  pai__timer_cb cb;
  void *user_data;
};

static void on_step(uv_idle_t *handle)
{
  pai__loop_step *step = handle->data;

  (void)uv_idle_stop(handle);
  if (!PAI__IS_FORKED(step))
    step->cb(step->user_data);
}

static void on_close(uv_handle_t *handle)
{
  pai__loop_step *step = handle->data;
  pai_alloc alloc = step->alloc;

  pai__free(&alloc, step, sizeof(*step));
}

int pai__loop_step_new(pai__loop_step **out, const pai_alloc *alloc,
                       pai_loop *loop, pai__timer_cb cb, void *user_data)
{
  pai__loop_step *step = pai__zalloc(alloc, sizeof(*step));

  *out = NULL;
  if (step == NULL)
    return PAI_ENOMEM;
  step->alloc = *alloc;
  step->forks = pai__forks();
  step->cb = cb;
  step->user_data = user_data;
  (void)uv_idle_init(pai__loop_uv(loop), &step->handle); /* cannot fail */
  step->handle.data = step;
  *out = step;
  return PAI_OK;
}

void pai__loop_step_ask(pai__loop_step *step)
{
  if (!PAI__IS_FORKED(step))
    (void)uv_idle_start(&step->handle, on_step);
}

void pai__loop_step_close(pai__loop_step *step)
{
  if (step != NULL && !PAI__IS_FORKED(step))
    uv_close((uv_handle_t *)&step->handle, on_close);
}
