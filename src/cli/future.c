/* future.c - a log is read, and what its jobs teach */
#include "cells.h"
#include "future.h"
#include "jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Forecasts that are made while a log is read, to compare them. */
enum {
  ASKED = 40,
  ASKED_RUNS = 12,
  SHORT = 1 << 16,
  WORK = 120000000 /* of all of them: decisions times those that wait */
};

typedef struct reading {
  future *f;
  unsigned long line; /* from 1 */
  size_t step, next;  /* bytes between two questions; when the next one is */
  size_t len;         /* of the log, in bytes */
  uint64_t spent;     /* of WORK */
  struct {
    pai_forecast *forecast;
    uint64_t id;
  } asked[ASKED];
  size_t nasked;
} reading;

int future_fail(pai_error *err)
{
  cli_error(NULL, err);
  pai_error_free(err);
  return CLI_NO;
}

/* --- forecasts that came true ------------------------------------------------ */

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

/* One of those that wait and may start, whichever: who is told when it starts
 * may have waited for long. */
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

/* Long queues are asked about less often, all over the log alike. */
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

/* Who has not started by the end of the log, and should have, is known to start
 * later than was told. */
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

/* --- the log -------------------------------------------------------------- */

static bool is_snapshot(const char *line, size_t len)
{
  static const char head[] = "{\"snapshot\":";

  return len >= sizeof(head) && memcmp(line, head, sizeof(head) - 1) == 0;
}

/* What a line teaches is known before it is taken; whether it is one at all is
 * for the log to say. */
static int take(reading *r, const char *line, size_t len, pai_error **err)
{
  future *f = r->f;
  pai_error *wrong = NULL;
  int rc, learned = PAI_OK;

  if (f->sched != NULL && len != 0 && !is_snapshot(line, len))
    learned = pai_history_line(f->learned, f->sched, line, len, &wrong);
  rc = pai_replay_step_until(f->read.replay, INT64_MAX, err);
  f->sched = pai_replay_sched(f->read.replay);
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
    return pai_replay_step(r->f->read.replay, &err) < 0
             ? sched_log_fail(&r->f->read, err)
             : CLI_NO;
  for (; at < end && rc == 1; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    next = newline != NULL ? newline + 1 : end;
    r->line++;
    rc = take(r, at, (size_t)((newline != NULL ? newline : end) - at), &err);
    if (rc < 0)
      return sched_log_fail(&r->f->read, err);
    if (rc == 1)
      compare(r, (int)pai_replay_decisions(r->f->read.replay),
              (size_t)(next - text));
  }
  return CLI_OK;
}

static int read_file(const future *f, char **text, size_t *len)
{
  int error = cli_read_file(text, len, f->log, (size_t)1 << 30);
  char why[1024];

  if (error == 0)
    return CLI_OK;
  cli_read_why(why, sizeof(why), f->log, error);
  cli_fail("%s", why);
  return CLI_USAGE;
}

static int read_log(future *f)
{
  reading r = { .f = f };
  char *text = NULL;
  size_t len = 0;
  int code =
    f->log != NULL ? read_file(f, &text, &len) : future_fetch(f, &text, &len);

  if (code != CLI_OK) {
    free(text);
    return code;
  }
  /* Beginnings teach nothing yet. */
  r.step = f->quick || len < SHORT ? 0 : len / (ASKED + ASKED / 4);
  r.next = len / 5;
  r.len = len;
  f->text = text;
  f->read.name = f->log != NULL ? f->log : "the platform's scheduler";
  code = sched_log_open_text(&f->read, text, len);
  if (code == CLI_OK)
    code = read_lines(&r, text, len);
  if (code == CLI_OK)
    miss(&r);
  for (size_t i = 0; i < r.nasked; i++)
    pai_forecast_free(r.asked[i].forecast);
  return code;
}

/* --- traces --------------------------------------------------------------- */

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

int future_learn(future *f, pai_trace *trace, pai_error **err)
{
  pai_trace_record r = { .struct_size = sizeof(r) };
  int rc;

  while ((rc = pai_trace_next(trace, &r, err)) > 0)
    if ((rc = learn(f->learned, &r, err)) < 0)
      break;
  return rc;
}

static int read_trace(future *f)
{
  pai_error *err = NULL;
  pai_trace *t = NULL;
  int rc = pai_trace_load(&t, f->history, NULL, &err);

  if (rc == PAI_OK)
    rc = future_learn(f, t, &err);
  pai_trace_free(t);
  if (rc >= 0)
    return CLI_OK;
  cli_error(f->history, err);
  rc = pai_error_code(err) == PAI_EINVAL ? CLI_NO : CLI_USAGE;
  pai_error_free(err);
  return rc;
}

/* --- all ------------------------------------------------------------------ */

static int take_number(const cli_verb *verb, const char *what,
                       const char *word, uint64_t most, uint64_t *out)
{
  char *end;

  if (word == NULL)
    return CLI_OK;
  errno = 0;
  *out = strtoull(word, &end, 10);
  if (word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0 &&
      *out <= most)
    return CLI_OK;
  cli_misused(verb, what, word);
  return CLI_USAGE;
}

int future_open(const cli_verb *verb, future *f)
{
  uint64_t runs = 0, seed = 0;
  int code = take_number(verb, "--runs is a number, 100000 at most", f->runs,
                         100000, &runs);

  if (code == CLI_OK)
    code =
      take_number(verb, "--seed needs a number", f->seed, UINT64_MAX, &seed);
  if (code != CLI_OK)
    return code;
  f->options = (pai_forecast_options)PAI_FORECAST_OPTIONS_INIT;
  f->options.runs = (uint32_t)runs;
  f->options.seed = seed;
  f->options.arrivals = f->no_arrivals ? PAI_ARRIVALS_NONE
                        : f->arrivals  ? PAI_ARRIVALS_ALL
                                       : PAI_ARRIVALS_KNOWN;
  if (pai_history_new(&f->learned, NULL, NULL) < 0) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  if (f->history != NULL)
    code = read_trace(f);
  return code == CLI_OK ? read_log(f) : code;
}

void future_close(future *f)
{
  pai_history_free(f->learned);
  sched_log_close(&f->read);
  free(f->text);
}

/* A job that the scheduler does not know: what its platform says of it. */
static void tell_absent(const char *word)
{
  char *path = cli_job_path(word, "/why");
  cli_remote r;
  cli_json j;

  if (!cli_remote_open(&r, false)) {
    free(path);
    return;
  }
  if (cli_remote_get(&r, &j, path)) {
    const char *state = cli_json_text(&j, 0, "state");
    size_t list = cli_json_get(&j, 0, "reasons"),
           first = list != 0 ? cli_json_first(&j, list) : 0;

    if (strcmp(state, "WAITING") == 0 && first != 0)
      cli_fail("job '%s' waits, and its start cannot be predicted: %s", word,
               cli_json_text(&j, first, "text"));
    else
      cli_fail("job '%s' is neither waiting nor running: it is %s", word,
               state);
    cli_json_free(&j);
  }
  cli_remote_close(&r);
  free(path);
}

int future_find(const future *f, const char *word, uint64_t *id)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  uint64_t found = 0;
  char *end;

  errno = 0;
  *id = strtoull(word, &end, 10);
  if (word[0] >= '1' && word[0] <= '9' && *end == '\0' && errno == 0)
    return CLI_OK;
  for (uint64_t i = 0; (i = pai_sched_next(f->sched, i)) != 0;) {
    if (pai_sched_view_request(f->sched, i, &v) < 0 || v.name == NULL ||
        strcmp(v.name, word) != 0)
      continue;
    if (found != 0) {
      cli_fail("requests %llu and %llu both have the name '%s'",
               (unsigned long long)found, (unsigned long long)i, word);
      return CLI_NO;
    }
    found = i;
  }
  if (found == 0 && f->log == NULL)
    tell_absent(word);
  else if (found == 0)
    cli_fail("there is no request '%s' at the end of %s", word,
             cli_shown_name(f->log));
  *id = found;
  return found != 0 ? CLI_OK : CLI_NO;
}
