/*
 * after.c - jobs that wait for other jobs to end: extras.openpai.after
 *
 * The scheduler keeps them from starting.  Jobs that can never start are ended
 * here, with a code of their own.
 */
#include "platform/place/after.h"

#include "platform/records/record.h"

#include <stdio.h>

_Static_assert((int)PAI__WHEN_OK == (int)PAI_AFTER_OK &&
                 (int)PAI__WHEN_ENDED == (int)PAI_AFTER_ANY &&
                 (int)PAI__WHEN_FAILED == (int)PAI_AFTER_FAILED,
               "the file's conditions are the scheduler's");

enum { LONGEST = 300 }; /* bytes of USER~NAME */

/* A job's user and name. */
typedef struct full_name {
  char user[LONGEST];
  const char *name; /* behind the user in the same array */
} full_name;

static bool read_name(full_name *out, const pai__pjob *j,
                      const pai__dependency *d)
{
  const char *tilde = memchr(d->name, '~', d->len);
  int n =
    tilde != NULL
      ? snprintf(out->user, LONGEST, "%.*s", (int)d->len, d->name)
      : snprintf(out->user, LONGEST, "%s~%.*s", j->user, (int)d->len, d->name);
  char *at = strchr(out->user, '~');

  if (n < 0 || n >= LONGEST || at == NULL)
    return false;
  *at = '\0';
  out->name = at + 1;
  return true;
}

/* Any other state is that of a lost job. */
static const char *ended_how(int state)
{
  return state == PAI_STATE_SUCCEEDED ? "has succeeded"
         : state == PAI_STATE_FAILED  ? "has failed"
         : state == PAI_STATE_STOPPED ? "was stopped"
                                      : "was lost: nobody knows how it ended";
}

static bool is_met(enum pai__dependency_kind when, int state)
{
  return when == PAI__WHEN_ENDED ||
         (when == PAI__WHEN_OK) == (state == PAI_STATE_SUCCEEDED);
}

static int on_row(void *user_data, const pai__job_row *row)
{
  *(pai_job_id *)user_data = row->id;
  return PAI_OK;
}

/* Returns the state of an ended job, or a code.  A job that was submitted later
 * than `j`, with the same name, is not meant. */
static int past_state(const pai__pjob *j, const full_name *name,
                      pai_error **err)
{
  const pai_platform *p = j->platform;
  pai_job_id id = 0;
  int rc;

  if (p->store == NULL)
    return pai__fail(
      err, PAI_ENOTSUP,
      "a job cannot wait for others on a platform without a database");
  rc =
    pai__store_job_named(p->store, name->user, name->name, on_row, &id, err);
  if (rc == PAI_OK && id < j->id)
    rc = pai__past_state(NULL, p, id);
  else if (rc == PAI_OK)
    rc = PAI_ENOTFOUND;
  if (rc == PAI_ENOTFOUND) {
    if (err != NULL)
      pai_error_free(*err);
    (void)pai__fail(err, PAI_ENOTFOUND,
                    "the job cannot wait for '%s~%s': there is no such job",
                    name->user, name->name);
    pai__error_help(err, "openpai list shows the jobs; those of others are "
                         "named USER~JOB");
  }
  return rc;
}

static int has_ended(int state, const full_name *name,
                     const pai__dependency *d, pai_error **err)
{
  if (is_met(d->when, state))
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL, "the job can never start: %s~%s %s",
                  name->user, name->name, ended_how(state));
  pai__error_help(err, "to start it however %s ends, write after: %s:ended",
                  name->name, name->name);
  return PAI_EINVAL;
}

/* Finds a job in memory that was submitted before `j`; NULL: none. */
static const pai__pjob *find_live(const pai__pjob *j, const full_name *name)
{
  const pai__pjob *other =
    pai__platform_find_named(j->platform, name->user, name->name);

  return other != NULL && other->id < j->id ? other : NULL;
}

static int follow(pai_after *to, size_t *n, const pai__pjob *j,
                  const pai__dependency *d, pai_error **err)
{
  pai_request_view view = { .struct_size = sizeof(view) };
  const pai__pjob *other;
  full_name name;
  int state;

  if (!read_name(&name, j, d))
    return pai__fail(err, PAI_EINVAL, "the name of a job is too long: %.*s",
                     (int)d->len, d->name);
  other = find_live(j, &name);
  state = other != NULL ? pai__job_public_state(&other->job) : 0;
  if (state >= PAI_STATE_SUCCEEDED || other == NULL) {
    if (!j->fresh) /* it has ended as required, or `j` would have been ended */
      return PAI_OK;
    if (other == NULL)
      state = past_state(j, &name, err);
    return state < 0 ? state : has_ended(state, &name, d, err);
  }
  if (pai_sched_view_request(j->platform->sched, other->id, &view) < 0)
    return pai__fail(
      err, PAI_EINVAL, "the job cannot wait for %s~%s, which %s", name.user,
      name.name,
      other->impossible != NULL ? "asks for more than the platform has"
                                : "has gangAllocation: false");
  to[(*n)++] = (pai_after){ other->id, (int)d->when };
  return PAI_OK;
}

int pai__after_make(pai_after **out, size_t *n, const pai__pjob *j,
                    pai_error **err)
{
  const pai_spec *spec = j->spec;
  int rc = PAI_OK;

  *n = 0;
  *out = NULL;
  if (spec->nafter == 0)
    return PAI_OK;
  *out = pai__zalloc(&j->platform->alloc, spec->nafter * sizeof(**out));
  if (*out == NULL)
    return pai__oom(err);
  for (size_t i = 0; rc == PAI_OK && i < spec->nafter; i++)
    rc = follow(*out, n, j, &spec->after[i], err);
  return rc;
}

bool pai__after_waits(const pai__pjob *j)
{
  const pai__pjob *other;
  full_name name;

  for (size_t i = 0; i < j->spec->nafter; i++)
    if (read_name(&name, j, &j->spec->after[i]) &&
        (other = find_live(j, &name)) != NULL &&
        other->job.state != PAI__JOB_DONE)
      return true;
  return false;
}

/* --- ends ----------------------------------------------------------------- */

/* Tells whether a job waits for `done` to end otherwise than it did. */
static bool waits_in_vain(const pai__pjob *j, const pai__pjob *done, int state)
{
  full_name name;

  if (j->job.state != PAI__JOB_QUEUED || j->id < done->id)
    return false;
  for (size_t i = 0; i < j->spec->nafter; i++)
    if (!is_met(j->spec->after[i].when, state) &&
        read_name(&name, j, &j->spec->after[i]) &&
        strcmp(name.user, done->user) == 0 &&
        strcmp(name.name, done->name) == 0)
      return true;
  return false;
}

void pai__after_ended(pai__pjob *done)
{
  pai_platform *p = done->platform;
  int state = pai__job_public_state(&done->job);
  const pai__map_entry *e;
  char why[2 * LONGEST];

  if (p->dependent == 0)
    return;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;

    if (j->spec->nafter == 0 || !waits_in_vain(j, done, state))
      continue;
    (void)snprintf(why, sizeof(why), "%s~%s %s", done->user, done->name,
                   ended_how(state));
    pai__strfree(&p->alloc, j->why);
    j->why = pai__strdup(&p->alloc, why);
    pai__happened(j, PAI__NO_TASK, "Warning", "DependencyNeverSatisfied",
                  "the job can never start: %s", why);
    pai__platform_event(j, PAI__EV_STOP, 0, PAI__CODE_DEPENDENCY);
  }
}

/* Tells whether the other job is not live and did not end as required. */
static bool is_in_vain(const pai__pjob *j, const pai__dependency *d)
{
  full_name name;
  int state;

  if (!read_name(&name, j, d) || find_live(j, &name) != NULL)
    return false;
  state = past_state(j, &name, NULL);
  return state > 0 && (state < PAI_STATE_SUCCEEDED || !is_met(d->when, state));
}

void pai__after_restored(pai_platform *p)
{
  const pai__map_entry *e;

  for (size_t i = 0;
       p->dependent > 0 && (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;
    size_t k = 0;

    if (j->job.state != PAI__JOB_QUEUED || j->launched != 0)
      continue;
    while (k < j->spec->nafter && !is_in_vain(j, &j->spec->after[k]))
      k++;
    if (k < j->spec->nafter)
      pai__platform_event(j, PAI__EV_STOP, 0, PAI__CODE_DEPENDENCY);
  }
}

void pai__time_is_over(pai__pjob *j)
{
  /* A second stop would kill tasks within their grace time. */
  if (j->job.state >= PAI__JOB_ENDING || j->job.stop_asked || j->job.decided)
    return;
  pai__happened(j, PAI__NO_TASK, "Warning", "TimeLimit",
                "the job has run for its time limit of %lld seconds, and is "
                "stopped",
                (long long)(j->spec->time_limit / 1000000));
  pai__platform_event(j, PAI__EV_STOP, 0, PAI__CODE_TIME_LIMIT);
}
