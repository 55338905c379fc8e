/*
 * turn.c - what is to be done in the loop's next turn
 *
 * An idle handle, not a timer of no delay: libuv runs those again and again
 * before it looks at anything else.
 */
#include "loop/loop.h"

#include "base/fork.h"

#include <uv.h>

struct pai__turn {
  uv_idle_t handle;
  pai_alloc alloc;
  unsigned forks;
  pai__timer_cb cb;
  void *user_data;
};

static void on_turn(uv_idle_t *handle)
{
  pai__turn *turn = handle->data;

  (void)uv_idle_stop(handle);
  if (!PAI__IS_FORKED(turn))
    turn->cb(turn->user_data);
}

static void on_close(uv_handle_t *handle)
{
  pai__turn *turn = handle->data;
  pai_alloc alloc = turn->alloc;

  pai__free(&alloc, turn, sizeof(*turn));
}

int pai__turn_new(pai__turn **out, const pai_alloc *alloc, pai_loop *loop,
                  pai__timer_cb cb, void *user_data)
{
  pai__turn *turn = pai__zalloc(alloc, sizeof(*turn));

  *out = NULL;
  if (turn == NULL)
    return PAI_ENOMEM;
  turn->alloc = *alloc;
  turn->forks = pai__forks();
  turn->cb = cb;
  turn->user_data = user_data;
  (void)uv_idle_init(pai__loop_uv(loop), &turn->handle); /* cannot fail */
  turn->handle.data = turn;
  *out = turn;
  return PAI_OK;
}

void pai__turn_ask(pai__turn *turn)
{
  if (!PAI__IS_FORKED(turn))
    (void)uv_idle_start(&turn->handle, on_turn);
}

void pai__turn_close(pai__turn *turn)
{
  if (turn != NULL && !PAI__IS_FORKED(turn))
    uv_close((uv_handle_t *)&turn->handle, on_close);
}
