/*
 * alerts_look.c - checks the conditions of alerts, each minute and on request
 */
#include "server/monitor/alerts.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)
/* Alerts that depend on samples. */
#define FILES "NodeFilesystemUsage"
#define MEMORY "NodeMemoryUsage"
#define NO_WORK "PAIJobGpuPercentLowerThan0_3For1h"

enum {
  EACH = 60,         /* seconds between checks */
  FRESH = 5,         /* seconds for which a check is recent enough */
  PENDING = 30 * 60, /* how long a job may wait */
  IDLE = 60 * 60,    /* how long a job's GPUs may be idle */
  RETRIES = 4,       /* attempts of a job before it is an alert */
  LEAST_FREE = 20,   /* percent of a file system */
  MOST_MEMORY = 95   /* percent of the machine's memory */
};

struct pai__watched {
  pai__alert_states alert_states;
  pai__timer *timer; /* or NULL */
  pai_time last;     /* time of the last check; 0: none */
};

typedef struct looking {
  pai_server *s;
  pai__alert_states *alert_states;
  pai__observed_tasks running;
  pai_time now;
  uint64_t job; /* job of the previous task */
} looking;

/* --- conditions of the machine ------------------------------------------- */

/* The condition holds, as the text says. */
static int see(const looking *l, pai__alert *a, const char *fmt, ...)
  PAI__PRINTF(3, 4);
static int see(const looking *l, pai__alert *a, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(a->text, sizeof(a->text), fmt, ap);
  va_end(ap);
  return pai__alert_states_see(l->alert_states, a, l->now);
}

static int of_files(const looking *l, const pai_sample *sample)
{
  pai_sample_file_system f = { .struct_size = sizeof(f) };
  pai__alert a = { .name = FILES, .severity = "warn" };

  if (pai_sample_get_file_system(sample, 0, &f) < 0 || f.total <= 0 ||
      f.free < 0 || f.free * 100 / f.total > LEAST_FREE)
    return PAI_OK;
  return see(l, &a, "The file system of the platform's root is %lld%% free.",
             (long long)(f.free * 100 / f.total));
}

static int of_memory(const looking *l, const pai_sample *sample)
{
  pai_sample_machine s = { .struct_size = sizeof(s) };
  pai__alert a = { .name = MEMORY, .severity = "warn" };
  int64_t used;

  if (pai_sample_get(sample, &s) < 0 || s.memory_total <= 0 ||
      s.memory_available < 0)
    return PAI_OK;
  used = 100 - s.memory_available * 100 / s.memory_total;
  return used <= MOST_MEMORY
           ? PAI_OK
           : see(l, &a, "%lld%% of the machine's memory is in use.",
                 (long long)used);
}

static int of_gpus(const looking *l, const pai__observed_machine *m)
{
  pai__alert a = { .name = "GpuUsedByExternalProcess", .severity = "warn" };

  return m->sick_gpus <= 0 ? PAI_OK
                           : see(l, &a,
                                 "%lld of %lld GPUs are unavailable: other "
                                 "programs use them, or they are faulty.",
                                 (long long)m->sick_gpus, (long long)m->gpus);
}

static int of_database(const looking *l, const pai__observed_machine *m)
{
  pai__alert a = { .name = "NodeDiskPressure", .severity = "error" };

  return m->trouble == NULL
           ? PAI_OK
           : see(l, &a, "Cannot write the database, so no jobs start: %.180s",
                 m->trouble);
}

/* --- conditions of jobs -------------------------------------------------- */

static pai__alert of_job(const char *name, const pai_task_view *t)
{
  return (pai__alert){
    .name = name, .severity = "warn", .user = t->user, .job = t->name
  };
}

static int of_waiting(const looking *l, const pai_task_view *t)
{
  pai__alert a = of_job("PaiJobPending", t);

  a.since = t->created + PENDING * SECOND;
  if (t->state != PAI_STATE_WAITING || t->attempt > 0 || a.since > l->now ||
      !pai__alert_states_have_room(l->alert_states, &a))
    return PAI_OK;
  return see(l, &a, "Job %.180s has waited for more than %d minutes.", t->name,
             PENDING / 60);
}

static int of_failing(const looking *l, const pai_task_view *t)
{
  pai__alert a = of_job("PaiJobRetried", t);

  return t->attempt < RETRIES ? PAI_OK
                              : see(l, &a, "Job %.180s is in retry number %u.",
                                    t->name, (unsigned)t->attempt);
}

/* Checks each job once, at its first task; collects running tasks. */
static int on_task(void *user_data, const pai_task_view *t)
{
  looking *l = user_data;
  int rc = PAI_OK;

  if (l->job != t->job)
    rc = of_waiting(l, t);
  if (rc == PAI_OK && l->job != t->job)
    rc = of_failing(l, t);
  l->job = t->job;
  if (rc == PAI_OK &&
      (t->state == PAI_STATE_RUNNING || t->state == PAI_STATE_STOPPING))
    rc = pai__observed_tasks_add(&l->running, t);
  return rc;
}

/* --- idle GPUs ----------------------------------------------------------- */

/* Returns whether all of the GPUs are known to be busy for less than 0.3
 * percent of the time, on average, as in OpenPAI's rule.  `gpus` has the
 * numbers that tasks use. */
static bool are_idle(const pai_server *s, const pai_sample *sample,
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
      return false;
    busy += g.busy_percent;
    n++;
    left &= ~(UINT64_C(1) << number);
  }
  return n != 0 && left == 0 && busy * 10 < 3 * n;
}

static int of_idle(const looking *l, const pai_task_view *t, uint64_t gpus,
                   const pai_sample *sample)
{
  pai__alert a = of_job(NO_WORK, t);

  a.wait = IDLE * SECOND;
  return gpus == 0 || !are_idle(l->s, sample, gpus)
           ? PAI_OK
           : see(l, &a,
                 "The GPUs of job %.180s have been idle for %d minutes.",
                 t->name, IDLE / 60);
}

/* Goes job by job: the tasks of a job are adjacent. */
static int of_running(const looking *l, const pai_sample *sample)
{
  const pai_task_view *all = l->running.at;
  uint64_t gpus = 0;
  int rc = PAI_OK;

  for (size_t i = 0; i < l->running.n && rc == PAI_OK; i++) {
    if (all[i].state == PAI_STATE_RUNNING)
      gpus |= all[i].gpus;
    if (i + 1 < l->running.n && all[i + 1].job == all[i].job)
      continue;
    rc = of_idle(l, &all[i], gpus, sample);
    gpus = 0;
  }
  return rc;
}

/* Without a sample, alerts that depend on samples stay as they are, except
 * those of jobs that no longer run. */
static void keep(const looking *l)
{
  const pai_task_view *t = l->running.at;

  pai__alert_states_stay(l->alert_states, &(pai__alert){ .name = FILES });
  pai__alert_states_stay(l->alert_states, &(pai__alert){ .name = MEMORY });
  for (size_t i = 0; i < l->running.n; i++)
    pai__alert_states_stay(
      l->alert_states,
      &(pai__alert){ .name = NO_WORK, .user = t[i].user, .job = t[i].name });
}

/* --- checks -------------------------------------------------------------- */

static int see_all(looking *l, const pai__observed_machine *m, pai_error **err)
{
  const pai_sample *sample = NULL;
  int rc = of_database(l, m);

  if (rc == PAI_OK)
    rc = of_gpus(l, m);
  if (rc < 0)
    return pai__oom(err);
  rc = pai_platform_tasks(l->s->platform, on_task, l, err);
  if (rc == PAI_OK)
    rc = pai__usage_sampler_take(&sample, &l->s->usage_sampler, l->s,
                                 &l->running, err);
  if (rc == PAI_OK && sample == NULL)
    keep(l);
  if (rc < 0 || sample == NULL)
    return rc;
  if (of_files(l, sample) < 0 || of_memory(l, sample) < 0 ||
      of_running(l, sample) < 0)
    return pai__oom(err);
  return PAI_OK;
}

static int make(pai_server *s)
{
  s->watched = pai__zalloc(&s->alloc, sizeof(*s->watched));
  if (s->watched == NULL)
    return PAI_ENOMEM;
  pai__alert_states_init(&s->watched->alert_states, &s->alloc);
  return PAI_OK;
}

/* An incomplete check ends no alerts. */
int pai__alerts_look(pai_server *s, const pai__observed_machine *m,
                     pai_error **err)
{
  looking l = { .s = s, .now = pai__loop_wall_time() };
  int rc = s->watched == NULL ? make(s) : PAI_OK;

  if (rc < 0)
    return pai__oom(err);
  if (l.now >= s->watched->last && l.now - s->watched->last < FRESH * SECOND)
    return PAI_OK;
  l.alert_states = &s->watched->alert_states;
  pai__observed_tasks_init(&l.running, s);
  pai__alert_states_begin(l.alert_states);
  rc = see_all(&l, m, err);
  if (rc == PAI_OK) {
    pai__alert_states_end(l.alert_states, l.now);
    s->watched->last = l.now;
  }
  pai__observed_tasks_dispose(&l.running);
  return rc;
}

const pai__alert_states *pai__alerts_of(const pai_server *s)
{
  return &s->watched->alert_states;
}

/* --- timer --------------------------------------------------------------- */

static void on_minute(void *user_data)
{
  pai_server *s = user_data;
  pai__observed_machine machine;

  if (s->closing > 0)
    return;
  /* On failure the next check may succeed. */
  if (pai__observed_machine_read(&machine, s, NULL) == PAI_OK)
    (void)!pai__alerts_look(s, &machine, NULL);
  pai__observed_machine_dispose(&machine);
  pai__timer_start(s->watched->timer, EACH * SECOND);
}

int pai__alerts_begin(pai_server *s)
{
  if (make(s) < 0 ||
      pai__timer_new(&s->watched->timer, &s->alloc, s->loop, on_minute, s) < 0)
    return PAI_ENOMEM;
  pai__timer_start(s->watched->timer, EACH * SECOND);
  return PAI_OK;
}

void pai__alerts_free(pai_server *s)
{
  if (s->watched == NULL)
    return;
  pai__timer_close(s->watched->timer);
  pai__alert_states_dispose(&s->watched->alert_states);
  pai__free(&s->alloc, s->watched, sizeof(*s->watched));
  s->watched = NULL;
}
