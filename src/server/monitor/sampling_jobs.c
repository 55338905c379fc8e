/* sampling_jobs.c - what running jobs hold and use, and idle GPUs */
#include "server/monitor/sampling.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)

/* The longest time before an observation that counts: the platform was away,
 * and its jobs went on. */
#define MOST_AWAY (3600 * SECOND)
/* A use that is observed counts for at most this time before. */
#define MOST_KNOWN (120 * SECOND)

/* A job that is added up, task by task. */
typedef struct adding {
  pai__series_use_record record;
  const pai_task_view *first;
  int64_t busy, cpu, memory; /* of tasks whose use is known; -1: of none */
  uint64_t gpus;             /* a mask */
  uint32_t ngpus;
} adding;

static void add_amount(pai__series_use_amount *a, uint64_t held, int64_t use,
                       bool known)
{
  a->held += held;
  if (!known || use < 0)
    return;
  a->known += held;
  a->used += (uint64_t)use;
}

static void add_to(int64_t *sum, int64_t value)
{
  if (value >= 0)
    *sum = (*sum > 0 ? *sum : 0) + value;
}

/* Returns the time since the last observation of a job, in which its task was
 * there; 0: it was not observed before. */
static pai_time since_last(const pai__sampling *u, const pai_task_view *t,
                           pai_time now)
{
  pai_time last =
    u->last > 0 ? u->last : pai__series_use_seen(u->usage, t->job) * 1000;

  if (last == 0 || t->started == 0)
    return 0;
  last = t->started > last ? t->started : last;
  last = last < now - MOST_AWAY ? now - MOST_AWAY : last;
  return now > last ? now - last : 0;
}

static uint32_t count(uint64_t mask)
{
  uint32_t n = 0;

  for (; mask != 0; mask &= mask - 1)
    n++;
  return n;
}

static void add_task(adding *a, pai__sampling *u, const pai_sample *sample,
                     const pai_task_view *t, pai_time now)
{
  pai_time time = since_last(u, t, now);
  bool known = time <= MOST_KNOWN, there;
  uint64_t ms = (uint64_t)time / 1000, cores = t->milli_cpus;
  uint32_t gpus = count(t->gpus);
  int64_t memory = 0, busy = -1;
  pai_sample_group g;

  if (gpus > 0)
    busy = pai__sampling_gpus(u, sample, t->gpus, &memory);
  add_amount(&a->record.sum.gpus, ms * gpus,
             busy < 0 ? -1 : (int64_t)(ms * gpus) * busy / 1000, known);
  there = pai__usage_sampler_of(u->sampler, sample, t, &g);
  add_amount(&a->record.sum.cpus, ms * cores / 1000,
             !there || g.cpu_rate < 0 ? -1 : (int64_t)ms * g.cpu_rate / 1000,
             known);
  add_amount(&a->record.sum.memory, (t->memory >> 20) * ms / 1000,
             !there || g.memory < 0 ? -1
                                    : (g.memory >> 20) * (int64_t)ms / 1000,
             known);
  add_to(&a->busy, busy < 0 ? -1 : busy * gpus);
  add_to(&a->cpu, there ? g.cpu_rate : -1);
  add_to(&a->memory, there && g.memory >= 0 ? g.memory >> 20 : -1);
  a->gpus |= t->gpus;
  a->ngpus += gpus;
  if (a->record.from == 0 || now / 1000 - (int64_t)ms < a->record.from)
    a->record.from = now / 1000 - (int64_t)ms;
}

/* --- idle GPUs ------------------------------------------------------------ */

static void tell_idle(pai__sampling *u, const adding *a,
                      enum pai__idle_action action, pai_time now)
{
  const pai__idle_job *idle = pai__idle_find(&u->idle, a->first->job);
  pai_platform *p = u->server->platform;
  long long minutes = (long long)((now - idle->since) / (60 * SECOND));
  bool stops = action == PAI__IDLE_STOP;
  char text[256];

  (void)snprintf(
    text, sizeof(text), "Its %u GPUs have been idle for %lld minutes.%s",
    a->ngpus, minutes,
    stops ? " The job is stopped, as its virtual cluster requires." : "");
  (void)!pai_platform_add_event(p, a->first->job, "Warning",
                                stops ? "IdleGpusStopped" : "IdleGpus", text,
                                NULL);
  if (stops)
    (void)pai_platform_stop(p, a->first->job);
}

static const char *vc_of(const pai_task_view *t)
{
  return t->virtual_cluster != NULL ? t->virtual_cluster : "default";
}

static void look_for_idle(pai__sampling *u, const adding *a, int64_t busy,
                          pai_time now)
{
  enum pai__idle_action action = PAI__IDLE_NOTHING;

  if (a->ngpus > 0 && a->first->state == PAI_STATE_RUNNING)
    action = pai__idle_see(&u->idle, a->first->job, a->ngpus, busy,
                           vc_of(a->first), now);
  if (action != PAI__IDLE_NOTHING)
    tell_idle(u, a, action, now);
}

/* --- jobs ----------------------------------------------------------------- */

static void end_job(pai__sampling *u, adding *a, pai_time now)
{
  pai__series_use_amounts *sum = &a->record.sum;

  sum->last_gpu = a->busy < 0 ? -1 : a->busy / a->ngpus;
  sum->last_cpu = a->cpu;
  sum->last_memory = a->memory;
  sum->most_memory = a->memory;
  a->record.job = a->first->job;
  a->record.to = now / 1000;
  pai__series_use_name_it(&a->record, a->first->user,
                          a->first->virtual_cluster, a->first->name);
  (void)!pai__series_use_add(u->usage, &a->record);
  look_for_idle(u, a, sum->last_gpu, now);
}

/* The tasks of a job are adjacent. */
void pai__sampling_jobs(pai__sampling *u, const pai_sample *sample,
                        const pai__observed_tasks *tasks, pai_time now)
{
  adding a;

  for (size_t i = 0; i < tasks->n; i++) {
    const pai_task_view *t = &tasks->at[i];

    if (i == 0 || tasks->at[i - 1].job != t->job)
      a = (adding){ .first = t, .busy = -1, .cpu = -1, .memory = -1 };
    add_task(&a, u, sample, t, now);
    if (i + 1 == tasks->n || tasks->at[i + 1].job != t->job)
      end_job(u, &a, now);
  }
  pai__idle_sweep(&u->idle, now);
}
