/* form_openpai.c - what OpenPAI's REST API tells of jobs: GET /api/v2/jobs */
#include "sim/documents.h"
#include "sim/forms.h"

/* Milliseconds since the epoch. */
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

/* "succeeded" is well, "stopped" by its owner, "failed" with its code. */
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

static int put_job(pai_trace *t, const pai__tree *tree, uint64_t line,
                   pai_error **err)
{
  pai__draft *d = &t->draft;
  pai__draft_want all = { .tasks = 1 };
  pai_time end, launched;
  bool ran;

  pai__draft_clear(d);
  if (!time_at(tree, "submissionTime", &d->time) &&
      !time_at(tree, "createdTime", &d->time))
    return pai__trace_skip(t, line, err, "\"submissionTime\" is no time");
  if (!time_at(tree, "completedTime", &end))
    return pai__trace_skip(t, line, err,
                           "it had not ended: nobody knows how "
                           "long it takes");
  add_texts(d, tree);
  ran = time_at(tree, "launchedTime", &launched);
  d->priority = priority_of(tree);
  all.gpus = count_at(tree, "totalGpuNumber", 0);
  if (ran) {
    d->started = launched;
  } else {
    d->patience = end - d->time;
    launched = end;
    pai__trace_alter(t, line,
                     "it never ran: it takes no time, and is killed "
                     "when it has waited as long");
  }
  if (pai__draft_spread(d, &t->alloc, &all,
                        count_at(tree, "totalTaskNumber", 1)) < 0 ||
      pai__draft_add_attempt(d, &t->alloc, end - launched, code_of(tree)) < 0)
    return pai__oom(err);
  return pai__trace_put(t, line, err);
}

int pai__openpai_begin(pai_trace *t, pai_error **err)
{
  return pai__documents_begin(t, "data", put_job, err);
}
