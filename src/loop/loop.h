/*
 * loop.h - internal: libuv loop, clocks, one-shot timers, loop steps, polls,
 * worker thread and folder watches for other rooms
 */
#ifndef PAI_SRC_LOOP_LOOP_H
#define PAI_SRC_LOOP_LOOP_H

#include "base/base.h"

#include <openpai/loop.h>

struct uv_loop_s;

struct uv_loop_s *pai__loop_uv(pai_loop *loop);

/* Returns PAI_EBUSY in a fork of the process that made the loop, which cannot
 * use it. */
PAI__SHARED int pai__loop_check(const pai_loop *loop, pai_error **err);

/* Returns the wall clock's time.  Pure rooms must not call it. */
PAI__SHARED pai_time pai__loop_wall_time(void);
/* Returns monotonic time in the same unit, from an arbitrary start. */
PAI__SHARED pai_time pai__loop_time(void);
/* Returns an unpredictable number, as a seed. */
PAI__SHARED uint64_t pai__loop_seed(void);

/* Turns a negative libuv status into an error with the given text. */
int pai__uv_fail(pai_error **err, int status, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* A one-shot timer.  Starting a running timer restarts it.  It may be closed
 * in its own callback.  Its memory is freed when the loop runs next. */
typedef struct pai__timer pai__timer;
typedef void (*pai__timer_cb)(void *user_data);

PAI__SHARED int pai__timer_new(pai__timer **out, const pai_alloc *alloc,
                               pai_loop *loop, pai__timer_cb cb,
                               void *user_data);
PAI__SHARED void pai__timer_start(pai__timer *timer, pai_time delay);
PAI__SHARED void pai__timer_stop(pai__timer *timer);
PAI__SHARED void pai__timer_close(pai__timer *timer); /* NULL is allowed */

/* Calls back once in the loop's next step, however often it was asked for.  If
 * it is asked for in its own callback, it runs again in the step after that.
 * Closed like a timer. */
typedef struct pai__loop_step pai__loop_step;

PAI__SHARED int pai__loop_step_new(pai__loop_step **out,
                                   const pai_alloc *alloc, pai_loop *loop,
                                   pai__timer_cb cb, void *user_data);
PAI__SHARED void pai__loop_step_ask(pai__loop_step *step);
PAI__SHARED void pai__loop_step_close(
  pai__loop_step *step); /* NULL is allowed */

/* Waits for a descriptor.  The descriptor becomes non-blocking and stays the
 * caller's, who may close it right after pai__poll_close().  An error is
 * reported as all events that were waited for.  Its memory is freed as a
 * timer's. */
enum { PAI__READABLE = 1, PAI__WRITABLE = 2, PAI__HUNG_UP = 4 };
typedef struct pai__poll pai__poll;
typedef void (*pai__poll_cb)(void *user_data, int fd, int events);

PAI__SHARED int pai__poll_new(pai__poll **out, const pai_alloc *alloc,
                              pai_loop *loop, int fd, pai__poll_cb cb,
                              void *user_data, pai_error **err);
PAI__SHARED void pai__poll_set(pai__poll *poll, int events); /* 0: no events */
PAI__SHARED void pai__poll_close(pai__poll *poll); /* NULL is allowed */

/* Runs `run` in another thread, then `done` in the loop's, one job at a time.
 * If it is closed while it runs, it is freed afterwards and `done` is not
 * called. */
typedef struct pai__work pai__work;

PAI__SHARED int pai__work_new(pai__work **out, const pai_alloc *alloc,
                              pai_loop *loop, pai__timer_cb run,
                              pai__timer_cb done, void *user_data);
PAI__SHARED void pai__work_start(pai__work *work);
PAI__SHARED void pai__work_close(pai__work *work); /* NULL is allowed */

/* Calls back when files of a folder have changed; several changes may give one
 * call.  Closed like a timer.  PAI_EIO: no more watches in the system, or no
 * such folder. */
typedef struct pai__watch pai__watch;

int pai__watch_new(pai__watch **out, const pai_alloc *alloc, pai_loop *loop,
                   const char *folder, pai__timer_cb cb, void *user_data);
void pai__watch_close(pai__watch *watch); /* NULL is allowed */

#endif
