/*
 * job_samples.c - metrics of jobs that only rules have, because /metrics would
 * have too many: waiting time, retries, utilization of a job's GPUs
 */
#include "server/alerts/alerts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_OF_USER = 2 * PAI__ALERT_STATES_OF_USER };

static int add_job(pai__alert_samples *out, const char *metric,
                   const pai_task_view *t, double value)
{
  char job[600];
  const pai__alert_label labels[] = {
    { "job_name", job },
    { "username", t->user },
    { "virtual_cluster",
      t->virtual_cluster != NULL ? t->virtual_cluster : "default" }
  };

  (void)snprintf(job, sizeof(job), "%s~%s", t->user, t->name);
  return pai__alert_samples_add(out, metric, labels, PAI__LEN(labels), value);
}

/* A user with very many jobs gets no more alerts than this anyway; the oldest
 * jobs come first. */
static int count(pai__job_samples *s, const char *user, bool *room)
{
  uintptr_t n = (uintptr_t)pai__map_get(&s->users, user, strlen(user));

  *room = n < MOST_OF_USER;
  return *room ? pai__map_set(&s->users, user, strlen(user), (void *)(n + 1))
               : PAI_OK;
}

static int on_job(pai__job_samples *s, const pai_task_view *t)
{
  bool waits = t->state == PAI_STATE_WAITING && t->attempt == 0, room = true;
  int rc;

  if (!waits && t->attempt == 0)
    return PAI_OK;
  rc = count(s, t->user, &room);
  if (rc < 0 || !room)
    return rc;
  return waits ? add_job(s->out, "openpai_job_waiting_seconds", t,
                         (double)(s->now - t->created) / 1e6)
               : add_job(s->out, "openpai_job_retries", t, t->attempt);
}

int pai__job_samples_task(void *samples, const pai_task_view *t)
{
  pai__job_samples *s = samples;
  int rc = PAI_OK;

  if (s->job != t->job)
    rc = on_job(s, t);
  s->job = t->job;
  if (rc == PAI_OK &&
      (t->state == PAI_STATE_RUNNING || t->state == PAI_STATE_STOPPING))
    rc = pai__observed_tasks_add(s->running, t);
  return rc;
}

/* Returns the mean utilization of these GPUs, which have the numbers that
 * tasks use; -1: not known of all. */
static double mean_of(const pai_server *s, const pai_sample *sample,
                      uint64_t gpus)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };
  int64_t busy = 0, n = 0;
  uint64_t left = gpus;

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    int number = pai__usage_sampler_gpu(s->usage_sampler, i);

    if (number < 0 || number >= 64 || (gpus >> number & 1) == 0)
      continue;
    if (g.lost || g.busy_percent < 0)
      return -1;
    busy += g.busy_percent;
    n++;
    left &= ~(UINT64_C(1) << number);
  }
  return n == 0 || left != 0 ? -1 : (double)busy / (double)n;
}

static int add_lost(pai__alert_samples *out, const pai_sample *sample)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };
  double lost = 0;

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++)
    lost += g.lost != 0;
  return pai__alert_samples_add(out, "openpai_gpus_lost", NULL, 0, lost);
}

/* Goes job by job: the tasks of a job are adjacent. */
int pai__job_samples_gpus(pai__alert_samples *out, const pai_server *s,
                          const pai_sample *sample,
                          const pai__observed_tasks *running)
{
  const pai_task_view *all = running->at;
  int rc = add_lost(out, sample);
  uint64_t gpus = 0;

  for (size_t i = 0; i < running->n && rc == PAI_OK; i++) {
    double mean;

    if (all[i].state == PAI_STATE_RUNNING)
      gpus |= all[i].gpus;
    if (i + 1 < running->n && all[i + 1].job == all[i].job)
      continue;
    mean = gpus != 0 ? mean_of(s, sample, gpus) : -1;
    if (mean >= 0)
      rc = add_job(out, "openpai_job_gpu_percent", &all[i], mean);
    gpus = 0;
  }
  return rc;
}
