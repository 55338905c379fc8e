/*
 * keep.c - removal of ended jobs by age, by number, and by size of all logs
 *
 * A job that has just ended is kept for a minute, whatever the number and size,
 * so that clients that wait for its end can read it.
 *
 * Sizes are counted in another thread.  Jobs are removed with
 * pai_platform_forget().
 */
#include "platform/restore/keep.h"

#include "platform/records/record.h"

enum { /* microseconds */
       LOOK_EVERY = 60000000,
       SOON = 1000000,  /* jobs that end shortly after each other count once */
       SEEN = 60000000, /* for which clients can read an ended job */
       PART = 50        /* counting takes at most this fraction of the time */
};

typedef struct expired {
  pai_platform *p;
  pai_time since;   /* jobs that ended before this time are too old */
  uint64_t over;    /* bytes of logs above the limit */
  uint64_t surplus; /* jobs above the limit */
  pai_time ended;   /* both limits apply to jobs that ended before this time */
  pai__buf ids;     /* pai_job_id, one after the other */
} expired;

static int on_job(void *user_data, const pai__job_row *row)
{
  expired *x = user_data;
  char *dir;
  uint64_t bytes;

  if (pai__is_dropped(x->p, row->id) ||
      (row->completed >= x->since &&
       ((x->over == 0 && x->surplus == 0) || row->completed > x->ended)))
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
  x.ended = pai__loop_wall_time() - p->keep_seen;
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

/* --- counting ------------------------------------------------------------- */

static void count(void *user_data)
{
  pai_platform *p = user_data;

  p->kept_bytes =
    p->keep_bytes > 0 ? pai__platform_tree_bytes(p->jobs_dir) : 0;
}

static void look_in(pai_platform *p, pai_time pause)
{
  p->keep_due = pai__loop_time() + pause;
  pai__timer_start(p->keep_timer, pause);
}

static void on_counted(void *user_data)
{
  pai_platform *p = user_data;

  p->counting = false;
  if (!p->closing)
    look(p);
  p->keep_pause = (pai__loop_time() - p->keep_began) * PART;
  if (p->keep_pause < SOON)
    p->keep_pause = SOON;
  if (p->keep_pause > LOOK_EVERY)
    p->keep_pause = LOOK_EVERY;
  look_in(p, p->keep_soon ? p->keep_pause : LOOK_EVERY);
  pai__loop_step_ask(p->kick);
}

static void on_due(void *user_data)
{
  pai_platform *p = user_data;

  if (p->closing)
    return;
  p->counting = true;
  p->keep_soon = false;
  p->keep_began = pai__loop_time();
  pai__work_start(p->keep_work);
}

void pai__keep_job_ended(pai_platform *p)
{
  if (p->keep_timer == NULL || p->keep_soon ||
      (p->keep_jobs == 0 && p->keep_bytes == 0))
    return;
  p->keep_soon = true;
  if (!p->counting && pai__loop_time() + p->keep_pause < p->keep_due)
    look_in(p, p->keep_pause);
}

int pai__keep_open(pai_platform *p, pai_error **err)
{
  if (p->keep_time <= 0 && p->keep_bytes == 0 && p->keep_jobs == 0)
    return PAI_OK;
  if (pai__timer_new(&p->keep_timer, &p->alloc, p->loop, on_due, p) < 0 ||
      pai__work_new(&p->keep_work, &p->alloc, p->loop, count, on_counted, p) <
        0)
    return pai__oom(err);
  p->keep_pause = SOON;
  p->keep_seen = SEEN;
  look_in(p, 0);
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
