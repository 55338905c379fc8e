/* form_sacct_json.c - sacct --json, whose form changes from release to release:
 * numbers may be objects, and states lists */
#include "sim/documents.h"
#include "sim/forms.h"
#include "sim/sacct.h"

#include <inttypes.h>
#include <stdio.h>

/* 5, or {"set": true, "infinite": false, "number": 5} */
static bool number_at(const pai__tree *tree, pai__node n, const char *path,
                      int64_t *out)
{
  pai__node at = pai__at(tree, n, path), set, infinite;

  if (at == PAI__NO_NODE || pai__tree_type(tree, at) != PAI__MAPPING)
    return pai__number_at(tree, n, path, out);
  set = pai__at(tree, at, "set");
  infinite = pai__at(tree, at, "infinite");
  if ((set != PAI__NO_NODE && pai__tree_type(tree, set) == PAI__BOOL &&
       !pai__tree_bool(tree, set)) ||
      (infinite != PAI__NO_NODE &&
       pai__tree_type(tree, infinite) == PAI__BOOL &&
       pai__tree_bool(tree, infinite)))
    return false;
  return pai__number_at(tree, at, "number", out);
}

/* Seconds since the epoch; 0 is none. */
static pai_time time_at(const pai__tree *tree, const char *path)
{
  int64_t seconds;

  if (!number_at(tree, 0, path, &seconds) || seconds <= 0 ||
      seconds > PAI__MOST_TIME / 1000000)
    return -1;
  return seconds * 1000000;
}

static pai__slice state_of(const pai__tree *tree)
{
  pai__node n = pai__at(tree, 0, "state.current");

  if (n == PAI__NO_NODE)
    n = pai__at(tree, 0, "state");
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) == PAI__SEQUENCE &&
      pai__tree_count(tree, n) > 0)
    n = pai__tree_written(tree, n);
  return pai__string_at(tree, n, "");
}

static void add_resources(pai__sacct_job *job, const pai__tree *tree)
{
  pai__node list = pai__at(tree, 0, "tres.requested"), n;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE ||
      pai__tree_count(tree, list) == 0)
    list = pai__at(tree, 0, "tres.allocated");
  if (list == PAI__NO_NODE || pai__tree_type(tree, list) != PAI__SEQUENCE)
    return;
  walk = pai__tree_iter(tree, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__slice type = pai__string_at(tree, n, "type");
    pai__slice name = pai__string_at(tree, n, "name");
    int64_t count;

    if (!number_at(tree, n, "count", &count) || count < 0)
      continue;
    if (pai__text_is(type, "mem") && count < INT64_C(1) << 40)
      pai__sacct_resource(job, type, (uint64_t)count << 20); /* MiB */
    else if (type.s != NULL && !pai__text_is(type, "gres"))
      pai__sacct_resource(job, type, (uint64_t)count);
    else if (name.s != NULL && name.len >= 3 &&
             memcmp(name.s, "gpu", 3) == 0 &&
             (name.len == 3 || (name.s[3] == ':' && name.len > 4))) {
      pai__sacct_resource(job, (pai__slice){ "gres/gpu", 8 }, (uint64_t)count);
      if (name.len > 4)
        job->all.type = (pai__slice){ name.s + 4, name.len - 4 };
    }
  }
}

static void read_job(pai__sacct_job *job, const pai__tree *tree)
{
  int64_t number;

  memset(job, 0, sizeof(*job));
  job->all.tasks = 1;
  job->nodes = 1;
  job->state = state_of(tree);
  job->submit = time_at(tree, "time.submission");
  job->start = time_at(tree, "time.start");
  job->end = time_at(tree, "time.end");
  job->elapsed = -1;
  if (job->start != -1 && number_at(tree, 0, "time.elapsed", &number) &&
      number >= 0 && number < PAI__MOST_TIME / 1000000)
    job->elapsed = number * 1000000;
  if (number_at(tree, 0, "time.limit", &number) && number > 0 &&
      number < INT32_MAX)
    job->limit = number * 60000000;
  if (number_at(tree, 0, "exit_code.return_code", &number))
    job->code = number;
  if (number_at(tree, 0, "exit_code.signal.id", &number) ||
      number_at(tree, 0, "exit_code.signal.signal_id", &number))
    job->signal = number;
  if (number_at(tree, 0, "allocation_nodes", &number) && number > 0 &&
      number < PAI_SCHED_TASKS)
    job->nodes = (uint32_t)number;
  if (number_at(tree, 0, "required.CPUs", &number) && number > 0 &&
      number < PAI__MOST_CPUS)
    job->all.cpus = (uint32_t)number;
  add_resources(job, tree);
}

/* "17", or "17_3" of an array. */
static pai__slice write_id(const pai__tree *tree, char out[48])
{
  int64_t id, array, task;
  int len;

  if (!number_at(tree, 0, "job_id", &id))
    return (pai__slice){ NULL, 0 };
  if (number_at(tree, 0, "array.job_id", &array) && array != 0 &&
      number_at(tree, 0, "array.task_id", &task))
    len = snprintf(out, 48, "%" PRId64 "_%" PRId64, array, task);
  else
    len = snprintf(out, 48, "%" PRId64, id);
  return (pai__slice){ out, (size_t)len };
}

static int put_job(pai_trace *t, const pai__tree *tree, uint64_t line,
                   pai_error **err)
{
  static const char *const vcs[] = { "account", "partition", "qos" };
  pai__draft *d = &t->draft;
  pai__sacct_job job;
  int64_t het;
  char id[48];

  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = write_id(tree, id);
  d->texts[PAI__TEXT_NAME] = pai__string_at(tree, 0, "name");
  d->texts[PAI__TEXT_USER] = pai__string_at(tree, 0, "user");
  for (size_t i = 0; i < PAI__LEN(vcs); i++)
    if (d->texts[PAI__TEXT_VC].s == NULL || d->texts[PAI__TEXT_VC].len == 0)
      d->texts[PAI__TEXT_VC] = pai__string_at(tree, 0, vcs[i]);
  read_job(&job, tree);
  if (job.submit == -1)
    return pai__trace_skip(t, line, err, "\"time\" has no \"submission\"");
  if (number_at(tree, 0, "het.job_id", &het) && het != 0)
    pai__trace_alter(t, line,
                     "a part of a heterogeneous job counts as a job "
                     "of its own");
  return pai__sacct_put(t, &job, line, err);
}

int pai__sacct_json_begin(pai_trace *t, pai_error **err)
{
  return pai__documents_begin(t, "jobs", put_job, err);
}
