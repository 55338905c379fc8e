/* form_objects.c - traces of JSON objects: Philly's cluster_job_log, and jobs
 * of OpenPAI's REST API */
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"

/* --- Philly: jobs with the GPUs of each attempt -------------------------- */

/* Adds the nodes of an attempt; nodes with the same number of GPUs are one
 * want. */
static void add_wants(pai_trace *t, const pai__tree *tree, pai__node detail)
{
  pai__tree_walk walk = pai__tree_iter(tree, detail);
  pai__draft *d = &t->draft;
  pai__node n;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node gpus = pai__at(tree, n, "gpus");
    pai__draft_want want = { .tasks = 1 };
    size_t i = 0;

    if (gpus != PAI__NO_NODE && pai__tree_type(tree, gpus) == PAI__SEQUENCE)
      want.gpus = pai__tree_count(tree, gpus);
    while (i < d->nwants && d->wants[i].gpus != want.gpus)
      i++;
    if (i < d->nwants)
      d->wants[i].tasks++;
    else
      pai__draft_add_want(t, &want);
  }
}

/* Uses the last attempt with details. */
static void find_wants(pai_trace *t, const pai__tree *tree, pai__node attempts)
{
  pai__tree_walk walk = pai__tree_iter(tree, attempts);
  pai__node n, last = PAI__NO_NODE;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node detail = pai__at(tree, n, "detail");

    if (detail != PAI__NO_NODE &&
        pai__tree_type(tree, detail) == PAI__SEQUENCE &&
        pai__tree_count(tree, detail) > 0)
      last = detail;
  }
  if (last != PAI__NO_NODE)
    add_wants(t, tree, last);
}

/* Returns whether the last attempt still runs. */
static bool add_attempts(pai_trace *t, const pai__tree *tree,
                         pai__node attempts, uint64_t line)
{
  pai__tree_walk walk = pai__tree_iter(tree, attempts);
  pai__draft *d = &t->draft;
  bool runs = false;
  pai__node n;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai_time start, end;
    bool has_start = pai__date_at(tree, n, "start_time", &start);

    runs = has_start && !pai__date_at(tree, n, "end_time", &end);
    if (!has_start || runs) {
      pai__trace_alter(t, line,
                       "an attempt without a start or end time is skipped");
      continue;
    }
    if (d->started == -1)
      d->started = start;
    pai__draft_add_attempt(t, end - start, PAI__CODE_FAILED);
  }
  if (d->nattempts > 0)
    d->retries = (uint32_t)(d->nattempts - 1);
  return runs;
}

static int philly_code(const pai__tree *tree)
{
  pai__slice status = pai__string_at(tree, 0, "status");

  if (pai__text_is(status, "Pass"))
    return 0;
  return pai__text_is(status, "Killed") ? PAI__CODE_KILLED : PAI__CODE_FAILED;
}

int pai__philly_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                    pai_error **err)
{
  pai__node attempts = pai__at(tree, 0, "attempts");
  pai__draft *d = &t->draft;
  bool runs;

  pai__draft_clear(d);
  if (!pai__date_at(tree, 0, "submitted_time", &d->time))
    return pai__trace_skip(t, line, err, "\"submitted_time\" is not a time");
  if (attempts == PAI__NO_NODE ||
      pai__tree_type(tree, attempts) != PAI__SEQUENCE)
    return pai__trace_skip(t, line, err, "\"attempts\" is not a list");
  d->texts[PAI__TEXT_ID] = pai__string_at(tree, 0, "jobid");
  d->texts[PAI__TEXT_USER] = pai__string_at(tree, 0, "user");
  d->texts[PAI__TEXT_VC] = pai__string_at(tree, 0, "vc");
  runs = add_attempts(t, tree, attempts, line);
  find_wants(t, tree, attempts);
  if (runs)
    return pai__trace_not_ended(t, line, err);
  if (d->nwants == 0 || d->nattempts == 0)
    return pai__trace_skip(
      t, line, err,
      "the job never started, so its resources and duration are not known");
  d->attempts[d->nattempts - 1].code = philly_code(tree);
  return pai__trace_put(t, line, err);
}

/* --- OpenPAI: GET /api/v2/jobs ------------------------------------------- */

/* In milliseconds since the epoch. */
static bool time_at(const pai__tree *tree, const char *path, pai_time *out)
{
  int64_t ms;

  if (!pai__number_at(tree, 0, path, &ms))
    return pai__date_at(tree, 0, path, out);
  if (ms > PAI__MOST_TIME / 1000 || ms < -(PAI__MOST_TIME / 1000))
    return false;
  *out = ms * 1000;
  return true;
}

static uint32_t count_at(const pai__tree *tree, const char *path,
                         uint32_t usual)
{
  int64_t n;

  return pai__number_at(tree, 0, path, &n) && n >= 0 && n <= PAI__MOST_GPUS
           ? (uint32_t)n
           : usual;
}

/* Returns the completion code for a job's state. */
static int code_of(const pai__tree *tree)
{
  pai__slice state = pai__string_at(tree, 0, "state");
  int64_t code;

  if (pai__text_is(state, "SUCCEEDED"))
    return 0;
  if (pai__text_is(state, "STOPPED"))
    return PAI__CODE_KILLED;
  if (pai__number_at(tree, 0, "appExitCode", &code) ||
      pai__number_at(tree, 0, "exitCode", &code))
    if (code != 0 && code >= INT32_MIN && code <= INT32_MAX)
      return (int)code;
  return PAI__CODE_FAILED;
}

static void add_texts(pai__draft *d, const pai__tree *tree)
{
  static const struct {
    int text;
    const char *key;
  } keys[] = { { PAI__TEXT_ID, "debugId" },
               { PAI__TEXT_ID, "frameworkName" },
               { PAI__TEXT_NAME, "name" },
               { PAI__TEXT_USER, "username" },
               { PAI__TEXT_VC, "virtualCluster" } };

  for (size_t i = 0; i < PAI__LEN(keys); i++)
    if (d->texts[keys[i].text].s == NULL)
      d->texts[keys[i].text] = pai__string_at(tree, 0, keys[i].key);
  if (d->texts[PAI__TEXT_ID].s == NULL)
    d->texts[PAI__TEXT_ID] = d->texts[PAI__TEXT_NAME];
}

static int priority_of(const pai__tree *tree)
{
  pai__slice class = pai__string_at(tree, 0, "jobPriority");

  if (pai__text_is(class, "crit"))
    return 120;
  if (pai__text_is(class, "prod"))
    return 100;
  if (pai__text_is(class, "test"))
    return 10;
  return pai__text_is(class, "oppo") ? PAI_SCHED_OPPORTUNISTIC : 0;
}

int pai__openpai_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                     pai_error **err)
{
  pai__draft *d = &t->draft;
  pai__draft_want all = { .tasks = 1 };
  pai_time end, launched;

  pai__draft_clear(d);
  if (!time_at(tree, "submissionTime", &d->time) &&
      !time_at(tree, "createdTime", &d->time))
    return pai__trace_skip(t, line, err, "\"submissionTime\" is not a time");
  if (!time_at(tree, "completedTime", &end))
    return pai__trace_not_ended(t, line, err);
  add_texts(d, tree);
  if (!time_at(tree, "launchedTime", &launched))
    launched = -1;
  d->priority = priority_of(tree);
  all.gpus = count_at(tree, "totalGpuNumber", 0);
  pai__draft_spread(t, &all, count_at(tree, "totalTaskNumber", 1));
  pai__draft_ran(t, line, launched, end, code_of(tree));
  return pai__trace_put(t, line, err);
}
