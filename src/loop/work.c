/* work.c - runs long work in libuv's threads */
#include "loop/loop.h"

#include "base/os/fork.h"
#include "loop/posix_signals.h"

#include <stdatomic.h>
#include <uv.h>

struct pai__work {
  uv_work_t request;
  pai_alloc alloc;
  unsigned forks;
  uv_loop_t *uv;
  pai__timer_cb run;
  pai__timer_cb done;
  void *user_data;
  bool busy;
  bool closed; /* free it when it is done */
};

static void free_work(pai__work *work)
{
  pai_alloc alloc = work->alloc;

  pai__free(&alloc, work, sizeof(*work));
}

int pai__work_new(pai__work **out, const pai_alloc *alloc, pai_loop *loop,
                  pai__timer_cb run, pai__timer_cb done, void *user_data)
{
  pai__work *work = pai__zalloc(alloc, sizeof(*work));

  *out = work;
  if (work == NULL)
    return PAI_ENOMEM;
  work->alloc = *alloc;
  work->forks = pai__forks();
  work->uv = pai__loop_uv(loop);
  work->run = run;
  work->done = done;
  work->user_data = user_data;
  return PAI_OK;
}

static void on_run(uv_work_t *request)
{
  pai__work *work = request->data;

  work->run(work->user_data);
}

static void on_done(uv_work_t *request, int status)
{
  pai__work *work = request->data;

  (void)status; /* it is never canceled */
  work->busy = false;
  if (work->closed)
    free_work(work);
  else
    work->done(work->user_data);
}

/* --- the exit of a child process ----------------------------------------- */

/* At process exit libuv 1.44 waits for its threads, also in a child of fork(),
 * which has none, and crashes.  It creates new threads when work is queued.
 * This library's destructors run before libuv's. */
static atomic_uint
  pool; /* pai__forks() of the process that has threads, plus 1 */

static void nothing(uv_work_t *request)
{
  (void)request;
}

__attribute__((destructor)) static void renew_threads(void)
{
  uv_loop_t loop;
  uv_work_t request;
  unsigned has = atomic_load_explicit(&pool, memory_order_relaxed);

  if (has == 0 || has == pai__forks() + 1 || uv_loop_init(&loop) < 0)
    return;
  if (uv_queue_work(&loop, &request, nothing, NULL) == 0)
    (void)uv_run(&loop, UV_RUN_DEFAULT);
  (void)uv_loop_close(&loop);
}

void pai__work_start(pai__work *work)
{
  bool first;
  sigset_t before;

  if (PAI__IS_FORKED(work))
    return;
  first = atomic_exchange_explicit(&pool, work->forks + 1,
                                   memory_order_relaxed) != work->forks + 1;
  work->busy = true;
  work->request.data = work;
  if (first) /* libuv creates its threads now */
    pai__block_signals(&before);
  (void)uv_queue_work(work->uv, &work->request, on_run, on_done);
  if (first)
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pai__work_close(pai__work *work)
{
  if (work == NULL || PAI__IS_FORKED(work))
    return;
  work->closed = true;
  if (!work->busy)
    free_work(work);
}
