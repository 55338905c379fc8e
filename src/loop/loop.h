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

/* PAI_EBUSY in a child of the process that made it: nothing is made on it. */
PAI__SHARED int pai__loop_check(const pai_loop *loop, pai_error **err);

/* The wall clock.  Only the loop's side of the house may ask. */
PAI__SHARED pai_time pai__loop_wall_time(void);
/* A clock that never goes back, in the same unit, from some beginning. */
PAI__SHARED pai_time pai__loop_time(void);
/* A number that nobody can foretell, to begin a series with. */
PAI__SHARED uint64_t pai__loop_seed(void);

/* A negative libuv status as an error that says what could not be done. */
int pai__uv_fail(pai_error **err, int status, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* One-shot timer.  Starting a running one moves it; closing may happen in its
 * own callback; the memory goes when the loop runs next. */
typedef struct pai__timer pai__timer;
typedef void (*pai__timer_cb)(void *user_data);

PAI__SHARED int pai__timer_new(pai__timer **out, const pai_alloc *alloc,
                               pai_loop *loop, pai__timer_cb cb,
                               void *user_data);
PAI__SHARED void pai__timer_start(pai__timer *timer, pai_time delay);
PAI__SHARED void pai__timer_stop(pai__timer *timer);
PAI__SHARED void pai__timer_close(pai__timer *timer); /* NULL is allowed */

/* Calls back once in the loop's next turn after it was asked to, however often
 * it was; asked in its own callback, in the turn after that.  Closed like a
 * timer. */
typedef struct pai__turn pai__turn;

PAI__SHARED int pai__turn_new(pai__turn **out, const pai_alloc *alloc,
                              pai_loop *loop, pai__timer_cb cb,
                              void *user_data);
PAI__SHARED void pai__turn_ask(pai__turn *turn);
PAI__SHARED void pai__turn_close(pai__turn *turn); /* NULL is allowed */

/* Waits for a descriptor, which becomes one that does not block and stays the
 * caller's: it is closed after this, at once if need be.  What has failed is
 * told as all that was waited for.  The memory goes as that of a timer. */
enum { PAI__READABLE = 1, PAI__WRITABLE = 2, PAI__HUNG_UP = 4 };
typedef struct pai__poll pai__poll;
typedef void (*pai__poll_cb)(void *user_data, int fd, int events);

PAI__SHARED int pai__poll_new(pai__poll **out, const pai_alloc *alloc,
                              pai_loop *loop, int fd, pai__poll_cb cb,
                              void *user_data, pai_error **err);
PAI__SHARED void pai__poll_set(pai__poll *poll, int events); /* 0: nothing */
PAI__SHARED void pai__poll_close(pai__poll *poll); /* NULL is allowed */

/* What takes long, in another thread: `run` there, then `done` in the loop's.
 * One at a time.  Closed while it runs, it is freed when it is done, which is
 * not told then. */
typedef struct pai__work pai__work;

PAI__SHARED int pai__work_new(pai__work **out, const pai_alloc *alloc,
                              pai_loop *loop, pai__timer_cb run,
                              pai__timer_cb done, void *user_data);
PAI__SHARED void pai__work_start(pai__work *work);
PAI__SHARED void pai__work_close(pai__work *work); /* NULL is allowed */

/* Calls back when files of a folder have changed, once for many changes at
 * times.  Closed like a timer.  PAI_EIO: the system has no more such watches,
 * or there is no such folder. */
typedef struct pai__watch pai__watch;

int pai__watch_new(pai__watch **out, const pai_alloc *alloc, pai_loop *loop,
                   const char *folder, pai__timer_cb cb, void *user_data);
void pai__watch_close(pai__watch *watch); /* NULL is allowed */

#endif
