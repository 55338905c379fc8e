/*
 * alerts_look.c - looks each minute, and when somebody asks, whether there is
 * something that somebody should look at
 */
#include "server/alerts.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)
/* What samples tell. */
#define FILES "NodeFilesystemUsage"
#define MEMORY "NodeMemoryUsage"
#define NO_WORK "PAIJobGpuPercentLowerThan0_3For1h"

enum {
  EACH = 60,         /* seconds between looks */
  FRESH = 5,         /* and of one that needs no other */
  PENDING = 30 * 60, /* that a job may wait */
  IDLE = 60 * 60,    /* that a job's GPUs may do nothing */
  RETRIES = 4,       /* attempts of a job before somebody looks at it */
  LEAST_FREE = 20,   /* percent of a file system */
  MOST_MEMORY = 95   /* percent of the machine's */
};

struct pai__watched {
  pai__alarms alarms;
  pai__timer *timer; /* or NULL */
  pai_time last;     /* look; 0: none */
};

typedef struct looking {
  pai_server *s;
  pai__alarms *alarms;
  pai__seen_tasks running;
  pai_time now;
  uint64_t job; /* of the task before */
} looking;

/* --- of the machine --------------------------------------------------------------- */

static int of_files(const looking *l, const pai_sample *sample)
{
  pai_sample_file_system f = { .struct_size = sizeof(f) };
  pai__alert a = { .name = FILES, .severity = "warn" };

  if (pai_sample_get_file_system(sample, 0, &f) < 0 || f.total <= 0 ||
      f.free < 0 || f.free * 100 / f.total > LEAST_FREE)
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "%lld%% of the file system of the platform's root are free.",
                 (long long)(f.free * 100 / f.total));
  return pai__alarms_see(l->alarms, &a, l->now);
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
  if (used <= MOST_MEMORY)
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "%lld%% of the machine's memory are in use.",
                 (long long)used);
  return pai__alarms_see(l->alarms, &a, l->now);
}

static int of_gpus(const looking *l, const pai__seen_machine *m)
{
  pai__alert a = { .name = "GpuUsedByExternalProcess", .severity = "warn" };

  if (m->sick_gpus <= 0)
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "%lld of %lld GPUs are not given out: others use them, or "
                 "they are ill.",
                 (long long)m->sick_gpus, (long long)m->gpus);
  return pai__alarms_see(l->alarms, &a, l->now);
}

static int of_database(const looking *l, const pai__seen_machine *m)
{
  pai__alert a = { .name = "NodeDiskPressure", .severity = "error" };

  if (m->trouble == NULL)
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "The database cannot be written, and jobs wait: %.180s",
                 m->trouble);
  return pai__alarms_see(l->alarms, &a, l->now);
}

/* --- of jobs ---------------------------------------------------------------------- */

static int of_waiting(const looking *l, const pai_task_view *t)
{
  pai_time due = t->created + PENDING * SECOND;
  pai__alert a = { .name = "PaiJobPending",
                   .severity = "warn",
                   .user = t->user,
                   .job = t->name,
                   .since = due };

  if (t->state != PAI_STATE_WAITING || t->attempt > 0 || due > l->now ||
      !pai__alarms_have_room(l->alarms, &a))
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "Job %.180s has waited for more than %d minutes.", t->name,
                 PENDING / 60);
  return pai__alarms_see(l->alarms, &a, l->now);
}

static int of_failing(const looking *l, const pai_task_view *t)
{
  pai__alert a = { .name = "PaiJobRetried",
                   .severity = "warn",
                   .user = t->user,
                   .job = t->name };

  if (t->attempt < RETRIES)
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "Job %.180s is tried again for the %uth time.", t->name,
                 (unsigned)t->attempt);
  return pai__alarms_see(l->alarms, &a, l->now);
}

/* Each job once, by its first task; and those that run are kept. */
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
    rc = pai__seen_tasks_add(&l->running, t);
  return rc;
}

/* --- GPUs that do nothing ----------------------------------------------------------- */

/* Is it known of all of them that they are busy for less than 0.3 percent of the
 * time, as in OpenPAI's rule?  They are numbered as tasks have them. */
static bool are_idle(const pai_server *s, const pai_sample *sample,
                     uint64_t gpus)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };
  int64_t busy = 0, n = 0;
  uint64_t left = gpus;

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    int number = pai__meter_gpu(s, i);

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
  pai__alert a = { .name = NO_WORK,
                   .severity = "warn",
                   .user = t->user,
                   .job = t->name,
                   .wait = IDLE * SECOND };

  if (gpus == 0 || !are_idle(l->s, sample, gpus))
    return PAI_OK;
  (void)snprintf(a.text, sizeof(a.text),
                 "The GPUs of job %.180s have done nothing for %d minutes.",
                 t->name, IDLE / 60);
  return pai__alarms_see(l->alarms, &a, l->now);
}

/* Job by job: its tasks are side by side. */
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

/* There is no sample: what earlier ones told is left as it is, but of jobs that
 * do not run any more. */
static void keep(const looking *l)
{
  const pai_task_view *t = l->running.at;

  pai__alarms_stay(l->alarms, &(pai__alert){ .name = FILES });
  pai__alarms_stay(l->alarms, &(pai__alert){ .name = MEMORY });
  for (size_t i = 0; i < l->running.n; i++)
    pai__alarms_stay(
      l->alarms,
      &(pai__alert){ .name = NO_WORK, .user = t[i].user, .job = t[i].name });
}

/* --- looking ------------------------------------------------------------------------ */

static int see_all(looking *l, const pai__seen_machine *m, pai_error **err)
{
  const pai_sample *sample = NULL;
  int rc = of_database(l, m);

  if (rc == PAI_OK)
    rc = of_gpus(l, m);
  if (rc < 0)
    return pai__oom(err);
  rc = pai_platform_tasks(l->s->platform, on_task, l, err);
  if (rc == PAI_OK)
    rc = pai__meter_take(&sample, l->s, &l->running, err);
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
  pai__alarms_init(&s->watched->alarms, &s->alloc);
  return PAI_OK;
}

/* What could not be looked at to the end says nothing of what is over. */
int pai__alerts_look(pai_server *s, const pai__seen_machine *m,
                     pai_error **err)
{
  looking l = { .s = s, .now = pai__loop_wall_time() };
  int rc = s->watched == NULL ? make(s) : PAI_OK;

  if (rc < 0)
    return pai__oom(err);
  if (l.now >= s->watched->last && l.now - s->watched->last < FRESH * SECOND)
    return PAI_OK;
  l.alarms = &s->watched->alarms;
  pai__seen_tasks_init(&l.running, s);
  pai__alarms_begin(l.alarms);
  rc = see_all(&l, m, err);
  if (rc == PAI_OK) {
    pai__alarms_end(l.alarms, l.now);
    s->watched->last = l.now;
  }
  pai__seen_tasks_dispose(&l.running);
  return rc;
}

const pai__alarms *pai__alerts_of(const pai_server *s)
{
  return &s->watched->alarms;
}

/* --- each minute ---------------------------------------------------------------------- */

static void on_minute(void *user_data)
{
  pai_server *s = user_data;
  pai__seen_machine machine;

  if (s->closing > 0)
    return;
  /* If it fails the next one may not. */
  if (pai__seen_machine_read(&machine, s, NULL) == PAI_OK)
    (void)!pai__alerts_look(s, &machine, NULL);
  pai__seen_machine_dispose(&machine);
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
  pai__alarms_dispose(&s->watched->alarms);
  pai__free(&s->alloc, s->watched, sizeof(*s->watched));
  s->watched = NULL;
}
