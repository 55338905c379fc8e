/* future.c - reading a log for forecasts, and learning durations from its
 * jobs */
#include "cells.h"
#include "future.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* --- traces -------------------------------------------------------------- */

static int learn(pai_history *h, const pai_trace_record *r, pai_error **err)
{
  pai_past p = { .struct_size = sizeof(p),
                 .user = r->user,
                 .vc = r->vc,
                 .name = r->name,
                 .estimate = r->estimate,
                 .limit = r->limit };

  if (r->kind != PAI_RECORD_JOB || r->nattempts == 0)
    return PAI_OK;
  for (size_t i = 0; i < r->nwants; i++)
    p.gpus += (uint64_t)r->wants[i].tasks * r->wants[i].gpus;
  p.duration = r->attempts[r->nattempts - 1].duration;
  return pai_history_add(h, &p, err);
}

/* Learns from a whole trace. */
static int learn_trace(pai_history *h, pai_trace *trace, pai_error **err)
{
  pai_trace_record r = { .struct_size = sizeof(r) };
  int rc;

  while ((rc = pai_trace_next(trace, &r, err)) > 0)
    if ((rc = learn(h, &r, err)) < 0)
      break;
  return rc;
}

/* --- durations of finished jobs ------------------------------------------ */

typedef struct rest {
  const char *text;
  size_t len;
} rest;

static ptrdiff_t read_some(void *user_data, char *buffer, size_t size)
{
  rest *r = user_data;

  if (size > r->len)
    size = r->len;
  memcpy(buffer, r->text, size);
  r->text += size;
  r->len -= size;
  return (ptrdiff_t)size;
}

const char future_jobs[] = "{\"state\":\"SUCCEEDED,FAILED\",\"limit\":1000}";

int future_learn(pai_history *h, const char *text, size_t len, pai_error **err)
{
  pai_trace_options o = PAI_TRACE_OPTIONS_INIT;
  rest jobs = { text, len };
  pai_trace *t = NULL;
  int rc;

  if (len <= 2)
    return PAI_OK;
  o.form = PAI_TRACE_OPENPAI;
  rc = pai_trace_new(&t, read_some, &jobs, &o, err);
  if (rc == PAI_OK)
    rc = learn_trace(h, t, err);
  pai_trace_free(t);
  return rc;
}

/* Learns from the platform's finished jobs; having none is no error. */
static bool learn_of(cli_remote *r, future *f)
{
  pai_error *err = NULL;
  cli_answer a;
  int rc = PAI_OK;

  cli_call(r, &a, "jobs.list", strdup(future_jobs));
  if (a.status != PAI_OK)
    cli_answer_tell(&a);
  else
    rc = future_learn(f->learned, a.body, a.len, &err);
  if (rc < 0)
    (void)cli_fail_with(NULL, err);
  rc = rc < 0 ? rc : a.status;
  cli_answer_free(&a);
  return rc == PAI_OK;
}

/* --- the running platform ------------------------------------------------ */

static bool ask_platform(cli_remote *r, future *f, char **text, size_t *len)
{
  cli_answer a;
  bool good;

  cli_call(r, &a, "scheduler.snapshot", cli_no_arguments());
  good = a.status == PAI_OK;
  if (good) {
    *text = a.body;
    *len = a.len;
    a.body = NULL;
  } else {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return good && (f->said->history != NULL || learn_of(r, f));
}

/* Asks the platform for its scheduler, as text for free(), and learns from its
 * jobs.  Returns CLI_OK, or CLI_NO after printing an error. */
static int future_fetch(future *f, char **text, size_t *len)
{
  cli_remote r;
  bool good;

  *text = NULL;
  if (!cli_remote_open(&r, false))
    return CLI_NO;
  good = ask_platform(&r, f, text, len);
  cli_remote_close(&r);
  return good ? CLI_OK : CLI_NO;
}

/* Forecasts made while the log is read, for calibration. */
enum {
  ASKED = 40,
  ASKED_RUNS = 12,
  SHORT = 1 << 16,
  /* limit of all forecasts: waiting requests squared, times runs */
  WORK = 120000000
};

typedef struct reading {
  future *f;
  unsigned long line; /* counted from 1 */
  size_t step, next;  /* bytes between two forecasts; position of the next */
  size_t len;         /* of the log, in bytes */
  uint64_t spent;     /* part of WORK used so far */
  struct {
    pai_forecast *forecast;
    uint64_t id;
  } asked[ASKED];
  size_t nasked;
} reading;

/* --- calibration --------------------------------------------------------- */

static pai_time now_of(const pai_sched *s)
{
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)pai_sched_view_sums(s, &v);
  return v.now;
}

static bool may_start(const pai_sched *s, uint64_t id)
{
  pai_reason why = { .struct_size = sizeof(why) };

  return pai_sched_reason(s, id, &why) == PAI_OK &&
         why.lack != PAI_LACK_NOTHING && why.lack != PAI_LACK_RELEASE &&
         why.lack != PAI_LACK_AFTER;
}

/* Returns some waiting request that may start.  The choice must not favour
 * long or short waits. */
static uint64_t any_waiting(const reading *r, uint64_t *n)
{
  const pai_sched *s = r->f->sched;
  uint64_t which;

  *n = 0;
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;)
    *n += may_start(s, id);
  if (*n == 0)
    return 0;
  which = ((uint64_t)r->line * UINT64_C(0x9e3779b97f4a7c15) >> 32) % *n;
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;)
    if (may_start(s, id) && which-- == 0)
      return id;
  return 0;
}

/* Forecasts of long queues cost more and are made less often, evenly over the
 * log. */
static void ask(reading *r, size_t at)
{
  pai_forecast_options o = r->f->options;
  uint64_t n = 0, id = r->nasked < ASKED ? any_waiting(r, &n) : 0;

  if (id == 0 || n > 1000000 ||
      r->spent + n * n * ASKED_RUNS > (uint64_t)WORK * at / r->len)
    return;
  r->spent += n * n * ASKED_RUNS;
  o.only = id;
  o.runs = ASKED_RUNS;
  o.seed += r->line;
  if (pai_forecast_new(&r->asked[r->nasked].forecast, r->f->sched,
                       r->f->learned, &o, NULL) == PAI_OK)
    r->asked[r->nasked++].id = id;
}

static void met(reading *r, uint64_t id)
{
  size_t kept = 0;

  for (size_t i = 0; i < r->nasked; i++) {
    if (r->asked[i].id != id) {
      r->asked[kept++] = r->asked[i];
      continue;
    }
    (void)pai_forecast_met(r->asked[i].forecast, id, now_of(r->f->sched),
                           r->f->learned);
    pai_forecast_free(r->asked[i].forecast);
  }
  r->nasked = kept;
}

/* A request that should have started by now and has not counts as starting
 * now, later than forecast. */
static void miss(const reading *r)
{
  pai_when when = { .struct_size = sizeof(when) };
  pai_time now = now_of(r->f->sched);

  for (size_t i = 0; i < r->nasked; i++)
    if (pai_forecast_when(r->asked[i].forecast, r->asked[i].id, &when) ==
          PAI_OK &&
        when.p90 < now)
      (void)pai_forecast_met(r->asked[i].forecast, r->asked[i].id, now,
                             r->f->learned);
}

static void compare(reading *r, int decisions, size_t at)
{
  pai_decision d = { .struct_size = sizeof(d) };

  for (int i = 0; i < decisions && r->nasked != 0; i++)
    if (pai_sched_decision(r->f->sched, (size_t)i, &d) == PAI_OK &&
        d.kind == PAI_DECISION_START)
      met(r, d.id);
  if (r->step == 0 || at < r->next || decisions <= 0)
    return;
  r->next = at + r->step;
  ask(r, at);
}

/* --- the log ------------------------------------------------------------- */

static bool is_snapshot(const char *line, size_t len)
{
  static const char head[] = "{\"snapshot\":";

  return len >= sizeof(head) && memcmp(line, head, sizeof(head) - 1) == 0;
}

/* Learns from a line before it is replayed.  A learning error is returned only
 * if the replay accepts the line, so that a malformed line is reported by the
 * replay. */
static int take(reading *r, const char *line, size_t len, pai_error **err)
{
  future *f = r->f;
  pai_error *wrong = NULL;
  int rc, learned = PAI_OK;

  if (f->sched != NULL && len != 0 && !is_snapshot(line, len))
    learned = pai_history_line(f->learned, f->sched, line, len, &wrong);
  rc = pai_replay_step_until(f->log.replay, INT64_MAX, err);
  f->sched = pai_replay_sched(f->log.replay);
  if (rc == 1 && learned < 0) {
    *err = wrong;
    return learned;
  }
  pai_error_free(wrong);
  return rc;
}

static int read_lines(reading *r, const char *text, size_t len)
{
  const char *end = text + len, *at = text, *next;
  pai_error *err = NULL;
  int rc = 1;

  if (len == 0)
    return pai_replay_step(r->f->log.replay, &err) < 0
             ? sched_log_fail(&r->f->log, err)
             : CLI_NO;
  for (; at < end && rc == 1; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    next = newline != NULL ? newline + 1 : end;
    r->line++;
    rc = take(r, at, (size_t)((newline != NULL ? newline : end) - at), &err);
    if (rc < 0)
      return sched_log_fail(&r->f->log, err);
    if (rc == 1)
      compare(r, (int)pai_replay_decisions(r->f->log.replay),
              (size_t)(next - text));
  }
  return CLI_OK;
}

static int read_log(future *f)
{
  reading r = { .f = f };
  char *text = NULL;
  size_t len = 0;
  bool own = f->log.name == NULL;
  int code = own ? future_fetch(f, &text, &len)
                 : cli_read(&text, &len, f->log.name, (size_t)1 << 30);

  if (code != CLI_OK) {
    free(text);
    return code;
  }
  /* The beginning of a log has no history to forecast from. */
  r.step = f->said->quick || len < SHORT ? 0 : len / (ASKED + ASKED / 4);
  r.next = len / 5;
  r.len = len;
  f->text = text;
  f->asked = own;
  if (own)
    f->log.name = "the platform's scheduler";
  code = sched_log_open_text(&f->log, text, len);
  if (code == CLI_OK)
    code = read_lines(&r, text, len);
  if (code == CLI_OK)
    miss(&r);
  for (size_t i = 0; i < r.nasked; i++)
    pai_forecast_free(r.asked[i].forecast);
  return code;
}

static int read_trace(future *f)
{
  pai_error *err = NULL;
  pai_trace *t = NULL;
  int rc = pai_trace_load(&t, f->said->history, NULL, &err);

  if (rc == PAI_OK)
    rc = learn_trace(f->learned, t, &err);
  pai_trace_free(t);
  if (rc >= 0)
    return CLI_OK;
  cli_error(f->said->history, err);
  rc = pai_error_code(err) == PAI_EINVAL ? CLI_NO : CLI_USAGE;
  pai_error_free(err);
  return rc;
}

/* --- opening ------------------------------------------------------------- */

int future_open(future *f)
{
  int code = CLI_OK;

  f->options = (pai_forecast_options)PAI_FORECAST_OPTIONS_INIT;
  f->options.runs = (uint32_t)cli_number(f->said->runs, 0);
  f->options.seed = cli_number(f->said->seed, 0);
  f->options.arrivals = f->said->no_arrivals ? PAI_ARRIVALS_NONE
                        : f->said->arrivals  ? PAI_ARRIVALS_ALL
                                             : PAI_ARRIVALS_KNOWN;
  if (pai_history_new(&f->learned, NULL, NULL) < 0) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  if (f->said->history != NULL)
    code = read_trace(f);
  return code == CLI_OK ? read_log(f) : code;
}

void future_close(future *f)
{
  pai_history_free(f->learned);
  sched_log_close(&f->log);
  free(f->text);
}

/* Prints what the platform knows about a job that the scheduler does not
 * know. */
static void tell_absent(const char *word)
{
  cli_remote r;
  pai_json *j;

  if (!cli_remote_open(&r, false))
    return;
  if (cli_call_read(&r, &j, "jobs.why", cli_job_arguments(word, ""))) {
    const char *state = cli_json_text(j, 0, "state");
    cli_each reason = cli_each_of(j, cli_json_get(j, 0, "reasons"));

    if (strcmp(state, "WAITING") == 0 && cli_next(&reason))
      cli_fail("job '%s' waits, and its start cannot be predicted: %s", word,
               cli_json_text(j, reason.at, "text"));
    else
      cli_fail("job '%s' is neither waiting nor running: it is %s", word,
               state);
    cli_json_free(&j);
  }
  cli_remote_close(&r);
}

int future_find(const future *f, const char *word, uint64_t *id)
{
  int code = sched_find(f->sched, word, id);

  if (code != CLI_OK || *id != 0)
    return code;
  if (f->asked)
    tell_absent(word);
  else
    cli_fail("there is no request '%s' at the end of %s", word,
             cli_shown_name(f->log.name));
  return CLI_NO;
}

/* --- start times --------------------------------------------------------- */

static int tell(const future *f)
{
  pai_forecast *forecast;
  pai_error *err = NULL;
  int rc =
    pai_forecast_new(&forecast, f->sched, f->learned, &f->options, &err);

  if (rc < 0)
    return cli_fail_with(NULL, err);
  if (f->options.only != 0 && pai_forecast_next(forecast, 0) == 0) {
    cli_fail("request %llu is not waiting",
             (unsigned long long)f->options.only);
    pai_forecast_free(forecast);
    return CLI_NO;
  }
  rc =
    pai_forecast_write(forecast, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                       cli_write, stdout, &err);
  pai_forecast_free(forecast);
  return rc < 0 ? cli_fail_with(NULL, err) : CLI_OK;
}

int cli_do_when(const cli_when_args *a)
{
  future f = { .said = &a->future, .json = a->log.json };
  const char *job;
  int code = sched_log_words(&f.log, a->count, a->words, a->log.log,
                             SCHED_MAY_JOB, &job);

  if (code == CLI_OK)
    code = future_open(&f);
  if (code == CLI_OK && job != NULL)
    code = future_find(&f, job, &f.options.only);
  if (code == CLI_OK)
    code = tell(&f);
  future_close(&f);
  return code;
}

/* --- placement ----------------------------------------------------------- */

static int tell_shapes(const future *f, uint64_t id, const cli_words *vcs)
{
  pai_shapes *shapes;
  pai_error *err = NULL;
  int rc = pai_shapes_new(&shapes, f->sched, f->learned, id, vcs->words,
                          vcs->count, &f->options, &err);

  if (rc < 0)
    return cli_fail_with(NULL, err);
  rc = pai_shapes_write(shapes, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                        cli_write, stdout, &err);
  pai_shapes_free(shapes);
  return rc < 0 ? cli_fail_with(NULL, err) : CLI_OK;
}

int cli_do_fit(const cli_fit_args *a)
{
  future f = { .said = &a->future, .json = a->log.json };
  const char *job;
  uint64_t id = 0;
  int code = sched_log_words(&f.log, a->count, a->words, a->log.log,
                             SCHED_NEEDS_JOB, &job);

  if (code == CLI_OK)
    code = future_open(&f);
  if (code == CLI_OK)
    code = future_find(&f, job, &id);
  if (code == CLI_OK)
    code = tell_shapes(&f, id, &a->vc);
  future_close(&f);
  return code;
}
