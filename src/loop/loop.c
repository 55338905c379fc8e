/*
 * loop.c - pai_loop: runs a libuv loop, its own or the host's
 *
 * `wake` is an unreferenced async handle: it ends a wait but keeps no loop
 * alive.  uv_async_send() is safe in signal handlers, so pai_loop_wake() is.
 */
#include "loop/loop.h"

#include "base/os/fork.h"

#include <openpai/uv.h>

#include <stdio.h>
#include <time.h>

struct pai_loop {
  pai_alloc alloc;
  uv_loop_t own; /* used when uv == &own */
  uv_loop_t *uv;
  uv_async_t wake;
  unsigned forks;
  bool running; /* in pai_loop_run() or the like: refuse re-entry */
  bool freed;   /* freed while running: the memory is freed when that
                   returns */
};

static void on_wake(uv_async_t *handle)
{
  (void)handle; /* ending the wait is enough */
}

int pai__uv_fail(pai_error **err, int status, const char *fmt, ...)
{
  char what[512];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  if (status == UV_ENOMEM)
    return pai__oom(err);
  return pai__fail(
    err, status == UV_EACCES || status == UV_EPERM ? PAI_EPERM : PAI_EIO,
    "%s: %s", what, uv_strerror(status));
}

static int loop_new(pai_loop **out, uv_loop_t *host,
                    const pai_loop_options *opts, pai_error **err)
{
  pai_loop_options o;
  pai_loop *loop;
  int rc;

  rc = PAI__OPTIONS_IN(&o, opts, pai_loop_options, alloc);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_loop_options");
  o.alloc = pai__alloc_or_libc(o.alloc);
  loop = pai__zalloc(o.alloc, sizeof(*loop));
  if (loop == NULL)
    return pai__oom(err);
  loop->alloc = *o.alloc;
  loop->uv = host != NULL ? host : &loop->own;
  rc = host != NULL ? 0 : uv_loop_init(&loop->own);
  if (rc < 0)
    goto fail;
  rc = uv_async_init(loop->uv, &loop->wake, on_wake);
  if (rc < 0) {
    if (host == NULL)
      (void)uv_loop_close(&loop->own);
    goto fail;
  }
  loop->wake.data = loop;
  loop->forks = pai__forks();
  uv_unref((uv_handle_t *)&loop->wake);
  *out = loop;
  return PAI_OK;

fail:
  pai__free(o.alloc, loop, sizeof(*loop));
  return pai__uv_fail(err, rc, "cannot make an event loop");
}

int pai_loop_new(pai_loop **out, const pai_loop_options *opts, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  return loop_new(out, NULL, opts, err);
}

int pai_loop_attach_uv(pai_loop **out, uv_loop_t *uv,
                       const pai_loop_options *opts, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(uv != NULL, err);
  return loop_new(out, uv, opts, err);
}

static void free_memory(uv_handle_t *wake)
{
  pai_loop *loop = wake->data;
  pai_alloc alloc = loop->alloc;

  pai__free(&alloc, loop, sizeof(*loop));
}

static void free_own(pai_loop *loop)
{
  pai_alloc alloc = loop->alloc;

  uv_close((uv_handle_t *)&loop->wake, NULL);
  (void)uv_run(&loop->own, UV_RUN_NOWAIT); /* undoes a pai_loop_stop() */
  (void)uv_run(&loop->own, UV_RUN_DEFAULT);
  (void)uv_loop_close(&loop->own);
  pai__free(&alloc, loop, sizeof(*loop));
}

void pai_loop_free(pai_loop *loop)
{
  if (loop == NULL || PAI__IS_FORKED(loop))
    return;
  if (loop->uv != &loop->own) { /* the host's loop calls back */
    uv_close((uv_handle_t *)&loop->wake, free_memory);
    return;
  }
  if (loop->running)
    loop->freed = true;
  else
    free_own(loop);
}

int pai__loop_check(const pai_loop *loop, pai_error **err)
{
  PAI__CHECK_PROCESS(loop, err);
  return PAI_OK;
}

static int run(pai_loop *loop, uv_run_mode mode)
{
  int more;

  PAI__CHECK_ARG(loop != NULL && loop->uv == &loop->own);
  PAI__CHECK_PROCESS(loop, NULL);
  if (loop->running)
    return PAI_EBUSY;
  loop->running = true;
  more = uv_run(loop->uv, mode);
  loop->running = false;
  if (!loop->freed)
    return more != 0;
  free_own(loop);
  return 0;
}

int pai_loop_run(pai_loop *loop)
{
  int rc = run(loop, UV_RUN_DEFAULT);

  return rc < 0 ? rc : PAI_OK;
}

int pai_loop_run_once(pai_loop *loop)
{
  return run(loop, UV_RUN_ONCE);
}

int pai_loop_dispatch(pai_loop *loop)
{
  return run(loop, UV_RUN_NOWAIT);
}

void pai_loop_stop(pai_loop *loop)
{
  uv_stop(loop->uv);
}

void pai_loop_wake(pai_loop *loop)
{
  if (!PAI__IS_FORKED(loop))
    (void)uv_async_send(&loop->wake);
}

int pai_loop_fd(const pai_loop *loop)
{
  return PAI__IS_FORKED(loop) ? -1 : uv_backend_fd(loop->uv);
}

int pai_loop_timeout_ms(const pai_loop *loop)
{
  if (PAI__IS_FORKED(loop) ||
      !uv_loop_alive(loop->uv)) /* libuv's own loop would return */
    return -1;
  uv_update_time(loop->uv); /* the host may have been busy */
  return uv_backend_timeout(loop->uv);
}

uv_loop_t *pai__loop_uv(pai_loop *loop)
{
  return loop->uv;
}

pai_time pai__loop_wall_time(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (pai_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pai_time pai__loop_time(void)
{
  return (pai_time)(uv_hrtime() / 1000);
}

uint64_t pai__loop_seed(void)
{
  uint64_t seed;

  if (uv_random(NULL, NULL, &seed, sizeof(seed), 0, NULL) != 0)
    seed = (uint64_t)pai__loop_wall_time() ^ (uint64_t)uv_os_getpid();
  return seed;
}
