/*
 * shortage.c - starts that wait because this machine lacks disk space, inodes,
 * memory, processes or descriptors
 *
 * A job was accepted, so what the machine lacks is never its end: the job keeps
 * its place and its task is started again after a delay, as often as it takes.
 * Each job has a delay of its own, because a quota may be that of one user.
 */
#include "platform/shortage.h"

#include "platform/records/record.h"

enum {
  FIRST_DELAY = 500000,
  LAST_DELAY = 15000000,
  TRIAL = 3000000 /* time after a start in which its supervisor may fail */
};

bool pai__shortage_is(const pai_platform *p, int rc, const pai_error *err)
{
  return p->store != NULL &&
         (rc == PAI_ENOMEM || (rc < 0 && pai_error_retriable(err)));
}

/* One timer for all: it fires for the job that is due first. */
static void arm(pai_platform *p)
{
  const pai__map_entry *e;
  pai_time first = INT64_MAX, now = pai__loop_time();

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;

    if (j->short_until != 0 && j->short_until < first)
      first = j->short_until;
  }
  if (first != INT64_MAX)
    pai__timer_start(p->shortage, first > now ? first - now : 0);
}

static void on_due(void *user_data)
{
  pai_platform *p = user_data;
  const pai__map_entry *e;
  pai_time now = pai__loop_time();

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;

    if (j->short_until == 0 || j->short_until > now)
      continue;
    j->short_until = 0;
    if (j->short_trial)
      pai__shortage_end(j);
    else
      pai__platform_put(j, PAI__READY);
  }
  arm(p);
}

/* Logs, reports and records a new shortage; its repetition is not reported. */
static void tell_news(pai__pjob *j, uint32_t task, const char *text)
{
  pai_platform *p = j->platform;

  pai__strfree(&p->alloc, j->short_of);
  j->short_of = pai__strdup(&p->alloc, text); /* NULL: out of memory */
  j->short_news = true;
  pai__log_line(&p->log, PAI_LOG_WARNING,
                "%s~%s waits, because this machine is short of resources: %s",
                j->user, j->name, text);
  pai__happened(j, task, "Warning", "Shortage",
                "the task waits, because this machine is short of resources: "
                "%s",
                text);
  pai__platform_put(j, PAI__CHANGED);
}

void pai__shortage_begin(pai__pjob *j, uint32_t task, const char *text)
{
  if (!j->is_short || j->short_of == NULL || strcmp(j->short_of, text) != 0)
    tell_news(j, task, text);
  if (j->short_until == 0 || j->short_trial) {
    j->short_delay = j->is_short ? 2 * j->short_delay : FIRST_DELAY;
    if (j->short_delay > LAST_DELAY)
      j->short_delay = LAST_DELAY;
    j->short_until = pai__loop_time() + j->short_delay;
    arm(j->platform);
  }
  j->platform->short_jobs += !j->is_short || j->short_trial;
  j->is_short = true;
  j->short_trial = false;
}

bool pai__shortage_delays(const pai__pjob *j)
{
  return j->short_until != 0 && !j->short_trial;
}

void pai__shortage_started(pai__pjob *j)
{
  if (!j->is_short || j->short_trial)
    return;
  j->platform->short_jobs--;
  j->short_trial = true;
  j->short_until = pai__loop_time() + TRIAL;
  arm(j->platform);
}

void pai__shortage_end(pai__pjob *j)
{
  pai__strfree(&j->platform->alloc, j->short_of);
  j->short_of = NULL;
  j->short_until = j->short_delay = 0;
  j->platform->short_jobs -= j->is_short && !j->short_trial;
  j->is_short = j->short_news = j->short_trial = false;
}

const char *pai__shortage_text(const pai__pjob *j)
{
  if (!j->is_short || j->short_trial)
    return NULL;
  return j->short_of != NULL ? j->short_of : "out of memory";
}

void pai__shortage_tell(const pai_platform *p, pai__buf *out)
{
  const pai__map_entry *e;
  const pai__pjob *first = NULL;
  uint32_t n = 0;

  for (size_t i = 0;
       p->short_jobs > 0 && (e = pai__map_next(&p->jobs, &i)) != NULL;)
    if (pai__shortage_text(e->value) != NULL) {
      first = first != NULL ? first : e->value;
      n++;
    }
  if (n > 0)
    pai__buf_printf(out,
                    "this machine is short of resources, so %u job%s to be "
                    "started later: %s",
                    n, n == 1 ? " is" : "s are", pai__shortage_text(first));
}

int pai__shortage_open(pai_platform *p, pai_error **err)
{
  return pai__timer_new(&p->shortage, &p->alloc, p->loop, on_due, p) < 0
           ? pai__oom(err)
           : PAI_OK;
}

void pai__shortage_close(pai_platform *p)
{
  pai__timer_close(p->shortage);
}
