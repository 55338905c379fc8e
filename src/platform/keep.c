/*
 * keep.c - jobs that are over are forgotten when their time has come, or when
 * there are too many, or all logs together are too large
 *
 * How large they are is counted beside the loop.  What is forgotten is
 * forgotten as if somebody had asked for it.
 */
#include "platform/keep.h"

#include "platform/record.h"

enum { LOOK_EVERY = 60000000 /* microseconds */ };

typedef struct expired {
  pai_platform *p;
  pai_time since;   /* those that ended before this one are too old */
  uint64_t over;    /* so many bytes are too much */
  uint64_t surplus; /* so many jobs are too many */
  pai__buf ids;     /* pai_job_id, one after the other */
} expired;

static int on_job(void *user_data, const pai__job_row *row)
{
  expired *x = user_data;
  char *dir;
  uint64_t bytes;

  if (pai__is_dropped(x->p, row->id) ||
      (row->completed >= x->since && x->over == 0 && x->surplus == 0))
    return PAI_OK;
  x->surplus -= x->surplus > 0;
  dir = pai__platform_path(x->p, "jobs", row->user, row->name);
  bytes = x->over > 0 && dir != NULL ? pai__platform_tree_bytes(dir) : 0;
  pai__strfree(&x->p->alloc, dir);
  x->over = bytes < x->over ? x->over - bytes : 0;
  pai__buf_add(&x->ids, &row->id, sizeof(row->id));
  return PAI_OK;
}

static void forget(pai_platform *p, const pai__buf *ids)
{
  for (size_t at = 0; at + sizeof(pai_job_id) <= ids->len;
       at += sizeof(pai_job_id)) {
    pai_job_id id;

    memcpy(&id, ids->data + at, sizeof(id));
    if (!pai__is_dropped(p, id))
      (void)pai_platform_forget(p, id);
  }
  if (ids->len != 0)
    pai__log_line(&p->log, PAI_LOG_INFO, "%zu finished jobs were removed",
                  ids->len / sizeof(pai_job_id));
}

static int count_job(void *user_data, const pai__job_row *row)
{
  expired *x = user_data;

  x->surplus += !pai__is_dropped(x->p, row->id);
  return PAI_OK;
}

static void look(pai_platform *p)
{
  expired x = { .p = p };
  pai__keep all = { .since = INT64_MAX };
  pai_error *err = NULL;

  x.since = p->keep_time > 0 ? pai__loop_wall_time() - p->keep_time : 0;
  x.over = p->keep_bytes > 0 && p->kept_bytes > p->keep_bytes
             ? p->kept_bytes - p->keep_bytes
             : 0;
  if (p->keep_jobs > 0 &&
      pai__store_expired(p->store, &all, count_job, &x, NULL) < 0)
    x.surplus = 0;
  x.surplus -= x.surplus < p->keep_jobs ? x.surplus : p->keep_jobs;
  pai__buf_init(&x.ids, &p->alloc);
  if (pai__store_expired(p->store, &all, on_job, &x, &err) < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING, "%s", pai_error_message(err));
  else if (pai__buf_ok(&x.ids))
    forget(p, &x.ids);
  pai__buf_dispose(&x.ids);
  pai_error_free(err);
}

/* --- beside the loop ----------------------------------------------------------- */

static void count(void *user_data)
{
  pai_platform *p = user_data;

  p->kept_bytes =
    p->keep_bytes > 0 ? pai__platform_tree_bytes(p->jobs_dir) : 0;
}

static void on_counted(void *user_data)
{
  pai_platform *p = user_data;

  p->counting = false;
  if (!p->closing)
    look(p);
  pai__timer_start(p->keep_timer, LOOK_EVERY);
  pai__turn_ask(p->kick);
}

static void on_due(void *user_data)
{
  pai_platform *p = user_data;

  if (p->closing)
    return;
  p->counting = true;
  pai__work_start(p->keep_work);
}

int pai__keep_open(pai_platform *p, pai_error **err)
{
  if (p->keep_time <= 0 && p->keep_bytes == 0 && p->keep_jobs == 0)
    return PAI_OK;
  if (pai__timer_new(&p->keep_timer, &p->alloc, p->loop, on_due, p) < 0 ||
      pai__work_new(&p->keep_work, &p->alloc, p->loop, count, on_counted, p) <
        0)
    return pai__oom(err);
  pai__timer_start(p->keep_timer, 0);
  return PAI_OK;
}

bool pai__keep_is_idle(const pai_platform *p)
{
  return !p->counting;
}

void pai__keep_close(pai_platform *p)
{
  pai__timer_close(p->keep_timer);
  pai__work_close(p->keep_work);
}
