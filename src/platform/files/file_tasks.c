/*
 * file_tasks.c - lists and copies of files, made in other threads
 *
 * A few run at a time; the others wait.  However many copies run, a list can
 * begin.
 */
#include "platform/files/files.h"

enum {
  AT_ONCE = 3, /* of all; commits use the same threads */
  AT_ONCE_OF_QUEUE = 2,
  MOST_WAITING = 256
};

/* Lists, or copies. */
typedef struct task_queue {
  pai__file_task *first, **end; /* those that wait */
  unsigned waiting, running;
} task_queue;

struct pai__listings {
  task_queue queues[PAI__FILE_QUEUES];
  pai__file_task *running;
};

/* --- their life ----------------------------------------------------------- */

static void free_task(pai__file_task *t)
{
  const pai_alloc *alloc = &t->p->alloc;

  t->dispose(t);
  pai__work_close(t->work);
  pai__job_folder_dispose(&t->folder, alloc);
  pai__buf_dispose(&t->json);
  pai_error_free(t->err);
  pai__free(alloc, t, t->size);
}

const atomic_bool *pai__file_task_stopped(const pai__file_task *t)
{
  return &t->stopped;
}

static void stop(pai__file_task *t)
{
  atomic_store_explicit(&t->stopped, true, memory_order_relaxed);
}

/* Takes the task at *at out of its queue, and starts it. */
static void start(struct pai__listings *s, pai__file_task **at)
{
  pai__file_task *t = *at;
  task_queue *q = &s->queues[t->queue];

  *at = t->next;
  if (*at == NULL)
    q->end = at;
  q->waiting--;
  q->running++;
  t->next = s->running;
  s->running = t;
  pai__work_start(t->work);
}

static unsigned count_running(const struct pai__listings *s)
{
  unsigned n = 0;

  for (int i = 0; i < PAI__FILE_QUEUES; i++)
    n += s->queues[i].running;
  return n;
}

static void start_next(pai_platform *p)
{
  struct pai__listings *s = p->listings;

  for (int i = 0; i < PAI__FILE_QUEUES; i++) {
    task_queue *q = &s->queues[i];

    while (q->first != NULL && q->running < AT_ONCE_OF_QUEUE &&
           count_running(s) < AT_ONCE)
      start(s, &q->first);
  }
}

static void run_task(void *user_data)
{
  pai__file_task *t = user_data;

  if (atomic_load_explicit(&t->stopped, memory_order_relaxed))
    t->rc = PAI_ECANCELED;
  else
    t->run(t);
}

/* A task that waits is started, which ends it at once. */
static void cancel(pai_op *op)
{
  pai__file_task *t = (pai__file_task *)op, **at;
  struct pai__listings *s = t->p->listings;

  op->ending = true;
  stop(t);
  at = &s->queues[t->queue].first;
  while (*at != NULL && *at != t)
    at = &(*at)->next;
  if (*at == t)
    start(s, at);
}

static void leave(pai__file_task *t)
{
  struct pai__listings *s = t->p->listings;
  pai__file_task **at = &s->running;

  while (*at != t)
    at = &(*at)->next;
  *at = t->next;
  s->queues[t->queue].running--;
}

/* The result of a task that was stopped, whatever it had done until then. */
static int stopped_result(pai__file_task *t)
{
  pai_error_free(t->err);
  t->err = NULL;
  if (t->op.ending)
    return pai__fail(&t->err, PAI_ECANCELED, "the copy was cancelled");
  return pai__fail(&t->err, PAI_EBUSY, "the platform is closing");
}

static void on_done(void *user_data)
{
  pai__file_task *t = user_data;
  pai_platform *p = t->p;

  leave(t);
  start_next(p);
  pai__loop_step_ask(p->kick);
  if (t->rc == PAI_OK && !pai__buf_ok(&t->json))
    t->rc = pai__oom(&t->err);
  if (t->rc == PAI_ECANCELED || t->op.ending)
    t->rc = stopped_result(t);
  t->op.ending = true;
  t->cb(t->user_data, t->rc, t->rc == PAI_OK ? pai__buf_text(&t->json) : NULL,
        t->rc == PAI_OK ? t->json.len : 0, t->err);
  free_task(t);
}

/* --- their begin ---------------------------------------------------------- */

int pai__file_task_new(pai__file_task **out, pai_platform *p, int queue,
                       size_t size, void (*run)(pai__file_task *t),
                       void (*dispose)(pai__file_task *t), pai_files_cb cb,
                       void *user_data, pai_error **err)
{
  pai__file_task *t;
  int rc = pai__check_open(p, err);

  if (rc < 0)
    return rc;
  t = pai__zalloc(&p->alloc, size);
  if (t == NULL)
    return pai__oom(err);
  *t = (pai__file_task){ .op = { .forks = p->forks, .cancel = cancel },
                         .p = p,
                         .size = size,
                         .queue = queue,
                         .run = run,
                         .dispose = dispose,
                         .cb = cb,
                         .user_data = user_data };
  pai__buf_init(&t->json, &pai__libc_alloc);
  *out = t;
  return PAI_OK;
}

int pai__file_task_start(pai__file_task *t, int rc, pai_job_id job, bool own,
                         pai_error **err)
{
  pai_platform *p = t->p;
  task_queue *q = &p->listings->queues[t->queue];

  if (rc == PAI_OK && q->waiting == MOST_WAITING) {
    rc = pai__fail(err, PAI_EBUSY, "too many lists or copies of files wait");
    pai__error_retriable(err);
  }
  if (rc == PAI_OK)
    rc = pai__job_folder_find(&t->folder, p, job, own, err);
  if (rc == PAI_OK &&
      pai__work_new(&t->work, &p->alloc, p->loop, run_task, on_done, t) < 0)
    rc = pai__oom(err);
  if (rc < 0) {
    free_task(t);
    return rc;
  }
  *q->end = t;
  q->end = &t->next;
  q->waiting++;
  start_next(p);
  return PAI_OK;
}

/* --- opening and closing -------------------------------------------------- */

int pai__listings_open(pai_platform *p, pai_error **err)
{
  p->listings = pai__zalloc(&p->alloc, sizeof(*p->listings));
  if (p->listings == NULL)
    return pai__oom(err);
  for (int i = 0; i < PAI__FILE_QUEUES; i++)
    p->listings->queues[i].end = &p->listings->queues[i].first;
  return PAI_OK;
}

void pai__listings_stop(pai_platform *p)
{
  if (p->listings == NULL)
    return;
  for (pai__file_task *t = p->listings->running; t != NULL; t = t->next)
    stop(t);
  for (int i = 0; i < PAI__FILE_QUEUES; i++)
    for (pai__file_task *t = p->listings->queues[i].first; t != NULL;
         t = t->next)
      stop(t);
}

bool pai__listings_are_idle(const pai_platform *p)
{
  if (p->listings == NULL)
    return true;
  for (int i = 0; i < PAI__FILE_QUEUES; i++)
    if (p->listings->queues[i].first != NULL)
      return false;
  return p->listings->running == NULL;
}

void pai__listings_close(pai_platform *p)
{
  pai__free(&p->alloc, p->listings, sizeof(*p->listings));
  p->listings = NULL;
}
