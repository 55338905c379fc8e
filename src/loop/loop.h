/*
 * loop.h - internal: what rooms above need of the loop: its libuv loop, the
 * time, one-shot timers, its next turn
 */
#ifndef PAI_SRC_LOOP_LOOP_H
#define PAI_SRC_LOOP_LOOP_H

#include "base/base.h"

#include <openpai/loop.h>

struct uv_loop_s;

struct uv_loop_s *pai__loop_uv(pai_loop *loop);

/* The wall clock.  Only the loop's side of the house may ask. */
pai_time pai__loop_wall_time(void);
/* A clock that never goes back, in the same unit, from some beginning. */
pai_time pai__loop_time(void);
/* A number that nobody can foretell, to begin a series with. */
uint64_t pai__loop_seed(void);

/* A negative libuv status as an error that says what could not be done. */
int pai__uv_fail(pai_error **err, int status, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* One-shot timer.  Starting a running one moves it; closing may happen in its
 * own callback; the memory goes when the loop runs next. */
typedef struct pai__timer pai__timer;
typedef void (*pai__timer_cb)(void *user_data);

int pai__timer_new(pai__timer **out, const pai_alloc *alloc, pai_loop *loop,
                   pai__timer_cb cb, void *user_data);
void pai__timer_start(pai__timer *timer, pai_time delay);
void pai__timer_stop(pai__timer *timer);
void pai__timer_close(pai__timer *timer); /* NULL is allowed */

/* Calls back once in the loop's next turn after it was asked to, however often
 * it was; asked in its own callback, in the turn after that.  Closed like a
 * timer. */
typedef struct pai__turn pai__turn;

int pai__turn_new(pai__turn **out, const pai_alloc *alloc, pai_loop *loop,
                  pai__timer_cb cb, void *user_data);
void pai__turn_ask(pai__turn *turn);
void pai__turn_close(pai__turn *turn); /* NULL is allowed */

#endif
