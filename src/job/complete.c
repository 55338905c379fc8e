/*
 * complete.c - completion policy: when an attempt is decided, and by which
 * task
 *
 * job-spec 5.5.  Counts are kept for each role, so a check after the end of a
 * task is cheap; the deciding task is only searched for when a rule holds.
 */
#include "job/inside.h"

static bool reached(uint32_t count, int32_t min)
{
  return min >= 1 && count >= (uint32_t)min;
}

bool pai__job_count(pai__job *job, const pai__task *t, int by)
{
  const pai__form_role *rule = &job->form->roles[t->role];
  pai__job_role *role = pai__job_role_of(job, t);
  uint32_t *count = t->code == 0 ? &role->well : &role->badly;

  *count += (uint32_t)by;
  job->done += (uint32_t)by;
  return reached(role->badly, rule->min_failed) ||
         reached(role->well, rule->min_succeeded);
}

/* Selects completed tasks of one role, or of all roles. */
#define ALL_ROLES UINT32_MAX

typedef struct choice {
  const pai__job *job;
  uint32_t role; /* or ALL_ROLES */
  bool well;     /* succeeded, else failed */
} choice;

static bool is_chosen(const choice *c, const pai__task *t)
{
  if (t->state != PAI__TASK_DONE)
    return false;
  return c->role == ALL_ROLES ||
         (t->role == c->role && (t->code == 0) == c->well);
}

static uint32_t count_until(const choice *c, pai_time time)
{
  const pai__task *tasks = pai__job_tasks(c->job);
  uint32_t count = 0;

  for (uint32_t i = 0; i < c->job->ntasks; i++)
    count += is_chosen(c, &tasks[i]) && tasks[i].time <= time;
  return count;
}

/* Returns the n-th of them to complete, n from 1; ties in the order of tasks.
 * A binary search for its time needs no memory. */
static uint32_t nth(const choice *c, uint32_t n)
{
  const pai__task *tasks = pai__job_tasks(c->job);
  pai_time low = INT64_MAX, high = INT64_MIN;

  for (uint32_t i = 0; i < c->job->ntasks; i++)
    if (is_chosen(c, &tasks[i])) {
      low = tasks[i].time < low ? tasks[i].time : low;
      high = tasks[i].time > high ? tasks[i].time : high;
    }
  while (low < high) { /* the earliest time by which n have completed */
    pai_time middle = low + (high - low) / 2;

    if (count_until(c, middle) >= n)
      high = middle;
    else
      low = middle + 1;
  }
  n -= low > INT64_MIN ? count_until(c, low - 1) : 0;
  for (uint32_t i = 0; i < c->job->ntasks; i++)
    if (is_chosen(c, &tasks[i]) && tasks[i].time == low && --n == 0)
      return i;
  return PAI__NO_TASK;
}

/* Finds the rule that held first; ties in the order of roles, failed before
 * succeeded. */
static uint32_t first_rule(const pai__job *job)
{
  const pai__job_role *roles = pai__job_roles(job);
  const pai__task *tasks = pai__job_tasks(job);
  uint32_t first = PAI__NO_TASK;

  for (uint32_t r = 0; r < job->form->nroles; r++)
    for (int well = 0; well < 2; well++) {
      const pai__form_role *rule = &job->form->roles[r];
      int32_t min = well ? rule->min_succeeded : rule->min_failed;
      choice c = { job, r, well != 0 };
      uint32_t t;

      if (!reached(well ? roles[r].well : roles[r].badly, min))
        continue;
      t = nth(&c, (uint32_t)min);
      if (first == PAI__NO_TASK || tasks[t].time < tasks[first].time)
        first = t;
    }
  return first;
}

bool pai__job_decide(const pai__job *job, uint32_t *trigger, int *code)
{
  choice all = { job, ALL_ROLES, false };

  *trigger = first_rule(job);
  if (*trigger != PAI__NO_TASK) {
    *code = pai__job_tasks(job)[*trigger].code;
    return true;
  }
  if (job->wanted == 0 || job->done < job->wanted)
    return false;
  *trigger = nth(&all, job->done); /* all completed: success, even if all have
                                      failed */
  *code = 0;
  return true;
}
