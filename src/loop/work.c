/* work.c - what takes long is done beside the loop, by libuv's threads */
#include "loop/loop.h"

#include <uv.h>

struct pai__work {
  uv_work_t request;
  pai_alloc alloc;
  uv_loop_t *uv;
  pai__timer_cb run;
  pai__timer_cb done;
  void *user_data;
  bool busy;
  bool closed; /* to be freed when it is done */
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

  (void)status; /* nobody cancels it */
  work->busy = false;
  if (work->closed)
    free_work(work);
  else
    work->done(work->user_data);
}

void pai__work_start(pai__work *work)
{
  work->busy = true;
  work->request.data = work;
  (void)uv_queue_work(work->uv, &work->request, on_run, on_done);
}

void pai__work_close(pai__work *work)
{
  if (work == NULL)
    return;
  work->closed = true;
  if (!work->busy)
    free_work(work);
}
