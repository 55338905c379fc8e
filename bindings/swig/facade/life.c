/* life.c - the fold of a job as an object of scripts, and the exit spec */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

struct Life {
  pai_job *job;
  pthread_mutex_t owner; /* one thread at a time */
};

/* Names of events and actions, in the order of their numbers from 1. */
static const char *const events[] = { "placed",    "started", "ended",
                                      "preempted", "stop",    "impatient",
                                      "due" };
static const char *const actions[] = { "queue",  "return", "release",
                                       "resume", "wait",   "finish",
                                       "start",  "stop",   "kill" };

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

static bool take(Life *l, failure *f)
{
  return facade_lock(&l->owner, "the job is in use by another thread", f);
}

/* --- life ------------------------------------------------------------------ */

static Life *make(failure *f)
{
  Life *l = calloc(1, sizeof(*l));

  if (l == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    (void)pthread_mutex_init(&l->owner, NULL);
  return l;
}

void facade_life_free(Life *l)
{
  pai_job_free(l->job);
  (void)pthread_mutex_destroy(&l->owner);
  free(l);
}

static Life *finish(Life *l, const failure *f)
{
  if (f->code == PAI_OK)
    return l;
  facade_life_free(l);
  return NULL;
}

Life *facade_life_make(Job *job, uint64_t seed, bool gang, bool raw,
                       bool own_signals, failure *f)
{
  pai_job_options o = { sizeof(o), NULL, seed, gang, raw, own_signals };
  Life *l = make(f);

  if (l == NULL)
    return NULL;
  f->code = pai_job_new(&l->job, job, &o, &f->err);
  return finish(l, f);
}

Life *facade_life_load(const char *text, size_t len, failure *f)
{
  Life *l = make(f);

  if (l == NULL)
    return NULL;
  f->code = pai_job_load(&l->job, text, len, NULL, &f->err);
  return finish(l, f);
}

/* Appends hexadecimal digits to a job_text. A pai_write_cb. */
static int put_hex(void *user_data, const char *bytes, size_t len)
{
  static const char digits[] = "0123456789abcdef";

  for (size_t i = 0; i < len; i++) {
    unsigned char b = (unsigned char)bytes[i];
    char two[2] = { digits[b >> 4], digits[b & 15] };
    int rc = facade_collect(user_data, two, sizeof(two));

    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

job_text facade_life_save(Life *l, failure *f)
{
  job_text t = { NULL, 0 };

  if (!take(l, f))
    return t;
  f->code = pai_job_save(l->job, put_hex, &t, &f->err);
  facade_unlock(&l->owner);
  return facade_finished(t, f);
}

/* --- events and actions ------------------------------------------------------ */

void facade_life_send(Life *l, const char *kind, uint32_t task, uint32_t count,
                      int code, int64_t time, failure *f)
{
  pai_job_event e = { sizeof(e), 0, task, count, code, time };

  for (int i = 0; i < EVENTS; i++)
    if (strcmp(events[i], kind) == 0)
      e.kind = i + 1;
  if (e.kind == 0) {
    facade_fail(f, PAI_EINVAL,
                "there is no such event: placed, started, ended, preempted, "
                "stop, impatient or due");
    return;
  }
  if (!take(l, f))
    return;
  f->code = pai_job_send(l->job, &e, &f->err);
  facade_unlock(&l->owner);
}

void facade_life_rescale(Life *l, uint32_t role, uint32_t tasks, int64_t time,
                         failure *f)
{
  if (!take(l, f))
    return;
  f->code = pai_job_rescale(l->job, role, tasks, time, &f->err);
  facade_unlock(&l->owner);
}

listing facade_life_next(Life *l, uint32_t most, failure *f)
{
  pai_job_action a = { .struct_size = sizeof(a) };
  listing none = { { NULL, 0 } };
  json j;
  int rc;

  if (!take(l, f))
    return none;
  rc = pai_job_next(l->job, most, &a);
  facade_unlock(&l->owner);
  json_start(&j);
  json_begin(&j, NULL, '[');
  if (rc == 1) {
    json_begin(&j, NULL, '{');
    json_text(&j, "kind", actions[a.kind - 1]);
    json_fields(&j, fields_Action, &a);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}

/* --- looking ------------------------------------------------------------------- */

static void put_task(json *j, const pai_job *job, uint32_t task)
{
  pai_job_task_status t = { .struct_size = sizeof(t) };

  (void)pai_job_look_task(job, task, &t);
  json_begin(j, NULL, '{');
  json_text(j, "state", facade_state_name(t.state));
  json_fields(j, fields_LifeTask, &t);
  json_end(j, '}');
}

static void put_role(json *j, const pai_job *job, uint32_t role)
{
  pai_job_role_status r = { .struct_size = sizeof(r) };

  (void)pai_job_look_role(job, role, &r);
  json_record(j, NULL, fields_LifeRole, &r);
}

static void put_job(json *j, const pai_job *job)
{
  pai_job_status s = { .struct_size = sizeof(s) };

  (void)pai_job_look(job, &s);
  json_text(j, "state", facade_state_name(s.state));
  json_fields(j, fields_LifeStatus, &s);
  if (s.trigger != PAI_NO_TASK)
    json_number(j, "trigger", s.trigger);
  json_begin(j, "roles", '[');
  for (uint32_t i = 0; i < s.roles; i++)
    put_role(j, job, i);
  json_end(j, ']');
  json_begin(j, "tasks", '[');
  for (uint32_t i = 0; i < s.tasks; i++)
    put_task(j, job, i);
  json_end(j, ']');
}

listing facade_life_look(Life *l, failure *f)
{
  listing none = { { NULL, 0 } };
  json j;

  if (!take(l, f))
    return none;
  json_start(&j);
  json_begin(&j, NULL, '{');
  put_job(&j, l->job);
  json_end(&j, '}');
  facade_unlock(&l->owner);
  return json_finish(&j, f);
}

/* --- the exit spec --------------------------------------------------------------- */

listing facade_exits(failure *f)
{
  pai_exit_view v = { .struct_size = sizeof(v) };
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (size_t i = 0; pai_exit_at(&v, i) == PAI_OK; i++)
    json_number(&j, NULL, v.code);
  json_end(&j, ']');
  return json_finish(&j, f);
}
