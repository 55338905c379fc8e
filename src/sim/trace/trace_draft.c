/* trace_draft.c - drafts of records: checks that apply to all forms, and
 * reports of skipped and altered lines */
#include "sim/report/format.h"
#include "sim/trace/trace.h"

#include <stdio.h>

void pai__draft_clear(pai__draft *d)
{
  d->kind = PAI_RECORD_JOB;
  d->state = d->priority = 0;
  d->retries = 0;
  d->time = d->estimate = d->limit = d->patience = 0;
  d->started = -1;
  memset(d->texts, 0, sizeof(d->texts));
  d->nwants = d->nattempts = d->nafter = 0;
}

void pai__draft_add_want(pai_trace *t, const pai__draft_want *want)
{
  pai__draft *d = &t->draft;

  if (PAI__VEC_ROOM(&t->alloc, d->wants, d->nwants, d->wants_cap) == PAI_OK)
    d->wants[d->nwants++] = *want;
  else
    d->failed = true;
}

void pai__draft_add_attempt(pai_trace *t, pai_time duration, int code)
{
  pai__draft *d = &t->draft;

  if (PAI__VEC_ROOM(&t->alloc, d->attempts, d->nattempts, d->attempts_cap) ==
      PAI_OK)
    d->attempts[d->nattempts++] = (pai_trace_attempt){ duration, code };
  else
    d->failed = true;
}

void pai__draft_add_after(pai_trace *t, pai__slice id)
{
  pai__draft *d = &t->draft;

  if (PAI__VEC_ROOM(&t->alloc, d->after, d->nafter, d->after_cap) == PAI_OK)
    d->after[d->nafter++] = id;
  else
    d->failed = true;
}

static void add_share(pai_trace *t, const pai__draft_want *all, uint32_t nodes,
                      uint32_t tasks, uint32_t gpus)
{
  pai__draft_want want = *all;

  want.tasks = tasks;
  want.gpus = gpus;
  want.cpus = all->cpus / nodes + (all->cpus % nodes != 0);
  want.memory = all->memory / nodes + (all->memory % nodes != 0);
  if (gpus == 0)
    want.type = (pai__slice){ NULL, 0 };
  if (tasks > 0)
    pai__draft_add_want(t, &want);
}

void pai__draft_spread(pai_trace *t, const pai__draft_want *all,
                       uint32_t nodes)
{
  uint32_t more, each;

  if (nodes == 0)
    nodes = 1;
  each = all->gpus / nodes;
  more = all->gpus % nodes;
  add_share(t, all, nodes, more, each + 1);
  add_share(t, all, nodes, nodes - more, each);
}

/* --- reports ------------------------------------------------------------- */

static void tell(const pai_trace *t, uint64_t line, int used,
                 const char *message, const char *help)
{
  char text[600];

  if (t->on_line == NULL)
    return;
  (void)snprintf(text, sizeof(text), "%s%s%s", message,
                 help != NULL ? "; " : "", help != NULL ? help : "");
  t->on_line(t->user_data, line, used, text);
}

int pai__trace_refuse(pai_trace *t, uint64_t line, pai_error *why,
                      pai_error **err)
{
  if (pai_error_code(why) == PAI_ENOMEM || t->draft.failed) {
    pai_error_free(why);
    return pai__oom(err);
  }
  t->skipped++;
  tell(t, line, 0, pai_error_message(why), pai_error_help(why));
  if (!t->strict) {
    pai_error_free(why);
    return PAI_OK;
  }
  if (err != NULL)
    *err = why;
  else
    pai_error_free(why);
  return PAI_EINVAL;
}

static pai__pos at_line(uint64_t line)
{
  return (pai__pos){ line < UINT32_MAX ? (uint32_t)line : UINT32_MAX, 0 };
}

int pai__trace_skip(pai_trace *t, uint64_t line, pai_error **err,
                    const char *fmt, ...)
{
  pai_error *why = NULL;
  char text[400];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  (void)pai__fail_at(&why, PAI_EINVAL, at_line(line), "%s", text);
  return pai__trace_refuse(t, line, why, err);
}

int pai__trace_not_ended(pai_trace *t, uint64_t line, pai_error **err)
{
  return pai__trace_skip(
    t, line, err, "the job had not ended, so its duration is not known");
}

void pai__trace_alter(pai_trace *t, uint64_t line, const char *fmt, ...)
{
  char text[400];
  va_list ap;

  if (t->altered_line != line)
    t->altered++;
  t->altered_line = line;
  if (t->on_line == NULL)
    return;
  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  tell(t, line, 1, text, NULL);
}

void pai__trace_never_ran(pai_trace *t, uint64_t line, pai_time waited)
{
  t->draft.patience = waited;
  pai__trace_alter(t, line,
                   "the job never ran: it is killed when it has waited as "
                   "long as in the trace");
}

void pai__draft_ran(pai_trace *t, uint64_t line, pai_time start, pai_time end,
                    int code)
{
  t->draft.started = start;
  if (start == -1)
    pai__trace_never_ran(t, line, end - t->draft.time);
  pai__draft_add_attempt(t, start != -1 ? end - start : 0, code);
}

/* --- putting drafts into the queue --------------------------------------- */

/* Returns why no scheduler takes the want, or NULL. */
static const char *bad_want(const pai__draft_want *w)
{
  if (w->tasks == 0)
    return "the job has no task";
  if (w->tasks > PAI_SCHED_TASKS)
    return "the job has more than 131072 tasks";
  if (w->min_tasks > w->tasks)
    return "\"min_tasks\" is more than \"tasks\"";
  if (w->gpus > PAI__MOST_GPUS || w->cpus > PAI__TRACE_CPUS)
    return "a task has more than a million GPUs or CPUs";
  if (w->memory > INT64_MAX)
    return "a task has more than 2^63 bytes of memory";
  if (w->ports > UINT16_MAX)
    return "a task has more than 65535 ports";
  return NULL;
}

static bool bad_time(pai_time time)
{
  return time > PAI__MOST_TIME || time < -PAI__MOST_TIME;
}

static const char *bad_job(const pai__draft *d)
{
  const char *why = NULL;
  uint64_t tasks = 0;

  if (d->nwants == 0 || d->nattempts == 0)
    return "the job has no resources or no attempt";
  for (size_t i = 0; i < d->nwants && why == NULL; i++) {
    why = bad_want(&d->wants[i]);
    tasks += d->wants[i].tasks;
  }
  if (why == NULL && tasks > PAI_SCHED_TASKS)
    why = "the job has more than 131072 tasks";
  for (size_t i = 0; i < d->nattempts && why == NULL; i++)
    if (bad_time(d->attempts[i].duration))
      why = "the job runs for more than 285 years";
  if (d->retries > PAI__MOST_RETRIES)
    why = "the job has more than a million retries";
  if (d->priority < PAI_SCHED_OPPORTUNISTIC ||
      d->priority > PAI_SCHED_MAX_PRIORITY)
    why = "\"priority\" must be from -1 to 1000";
  return why;
}

/* Sets negative times to 0. */
static void mend(pai_trace *t, uint64_t line)
{
  pai__draft *d = &t->draft;
  bool negative = d->estimate < 0 || d->limit < 0 || d->patience < 0;

  for (size_t i = 0; i < d->nattempts; i++) {
    negative |= d->attempts[i].duration < 0;
    if (d->attempts[i].duration < 0)
      d->attempts[i].duration = 0;
  }
  if (d->estimate < 0)
    d->estimate = 0;
  if (d->limit < 0)
    d->limit = 0;
  if (d->patience < 0)
    d->patience = 0;
  if (negative)
    pai__trace_alter(t, line, "a negative time is treated as 0");
}

/* Refuses a record that is earlier than one that was returned already. */
static int too_late(pai_trace *t, uint64_t line, pai_error **err)
{
  char span[PAI__CELL];
  pai_error *why = NULL;

  (void)pai__fail_at(&why, PAI_EINVAL, at_line(line),
                     "the job comes %s before line %llu, which was read more "
                     "than %lu records ago",
                     pai__show_time(span, t->passed - t->draft.time),
                     (unsigned long long)t->passed_line,
                     (unsigned long)t->window);
  pai__error_help(&why, "sort the trace first, with --sort");
  return pai__trace_refuse(t, line, why, err);
}

static void put_model(pai_trace *t)
{
  for (size_t i = 0; t->model != NULL && i < t->draft.nwants; i++) {
    pai__draft_want *want = &t->draft.wants[i];

    if (want->type.s != NULL || want->gpus == 0)
      continue;
    want->type = (pai__slice){ t->model, strlen(t->model) };
    want->is_ours = true;
  }
}

int pai__trace_put(pai_trace *t, uint64_t line, pai_error **err)
{
  pai__draft *d = &t->draft;
  const char *why = NULL;

  if (d->failed)
    return pai__oom(err);
  if (bad_time(d->time) || bad_time(d->estimate) || bad_time(d->limit) ||
      bad_time(d->patience) || bad_time(d->started))
    why = "a time is more than 285 years";
  else if (d->time < 0)
    why = "the time of the record is negative";
  else if (d->kind == PAI_RECORD_JOB)
    why = bad_job(d);
  if (why != NULL)
    return pai__trace_skip(t, line, err, "%s", why);
  if (d->time < t->passed)
    return too_late(t, line, err);
  if (d->kind == PAI_RECORD_JOB) {
    mend(t, line);
    put_model(t);
  }
  if (pai__queue_put(&t->queue, d, line) < 0)
    return pai__oom(err);
  return PAI_OK;
}
