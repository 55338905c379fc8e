/* future.c - a log is read, and what its jobs teach */
#include "cells.h"
#include "future.h"

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
  unsigned long line;
  size_t step, next; /* bytes between two questions; when the next one is */
  size_t len;        /* of the log, in bytes */
  uint64_t spent;    /* of WORK */
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

/* --- one line ------------------------------------------------------------- */

static int fail_line(const reading *r, pai_error *err)
{
  const char *help = pai_error_help(err);

  cli_print(stderr, cli_shown_name(r->f->log));
  (void)fprintf(stderr, ":%lu:", r->line);
  if (pai_error_column(err) != 0)
    (void)fprintf(stderr, "%u:", pai_error_column(err));
  (void)fputc(' ', stderr);
  cli_level(stderr, PAI_LOG_ERROR, pai_error_message(err));
  (void)fputc('\n', stderr);
  if (help != NULL)
    cli_help(stderr, help);
  pai_error_free(err);
  return CLI_NO;
}

/* Is it only the beginning of an object?  Then it was being written. */
static bool is_cut(const char *line, size_t len)
{
  bool quoted = false;
  int depth = 0;

  for (size_t i = 0; i < len; i++)
    if (quoted && line[i] == '\\')
      i++;
    else if (line[i] == '"')
      quoted = !quoted;
    else if (!quoted && line[i] == '{')
      depth++;
    else if (!quoted && line[i] == '}')
      depth--;
  return quoted || depth > 0;
}

static bool is_snapshot(const char *line, size_t len)
{
  static const char head[] = "{\"snapshot\":";

  return len >= sizeof(head) && memcmp(line, head, sizeof(head) - 1) == 0;
}

static int take(reading *r, const char *line, size_t len, pai_error **err)
{
  future *f = r->f;
  pai_sched *loaded;
  int rc;

  if (f->sched == NULL || is_snapshot(line, len)) {
    rc = pai_sched_load(&loaded, line, len, NULL, err);
    if (rc < 0)
      return rc;
    pai_sched_free(f->sched);
    f->sched = loaded;
    return 0;
  }
  rc = pai_history_line(f->learned, f->sched, line, len, err);
  return rc < 0 ? rc : pai_sched_send_json(f->sched, line, len, err);
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

static int read_lines(reading *r, const char *text, size_t len)
{
  const char *end = text + len, *at = text, *next;

  for (; at < end; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((newline != NULL ? newline : end) - at);
    pai_error *err = NULL;
    int rc;

    next = newline != NULL ? newline + 1 : end;
    r->line++;
    if (n == 0)
      continue;
    rc = take(r, at, n, &err);
    if (rc < 0 && newline == NULL && r->f->sched != NULL && is_cut(at, n)) {
      pai_error_free(err);
      break;
    }
    if (rc < 0)
      return fail_line(r, err);
    compare(r, rc, (size_t)(next - text));
  }
  if (r->f->sched != NULL)
    return CLI_OK;
  cli_fail("%s: this log is empty", cli_shown_name(r->f->log));
  return CLI_NO;
}

static int read_log(future *f)
{
  reading r = { .f = f };
  char *text = NULL, why[1024];
  size_t len = 0;
  int error = cli_read_file(&text, &len, f->log, (size_t)1 << 30), code;

  if (error != 0) {
    cli_read_why(why, sizeof(why), f->log, error);
    cli_fail("%s", why);
    return CLI_USAGE;
  }
  /* Beginnings teach nothing yet. */
  r.step = f->quick || len < SHORT ? 0 : len / (ASKED + ASKED / 4);
  r.next = len / 5;
  r.len = len;
  code = read_lines(&r, text, len);
  if (code == CLI_OK)
    miss(&r);
  for (size_t i = 0; i < r.nasked; i++)
    pai_forecast_free(r.asked[i].forecast);
  free(text);
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

static int read_trace(future *f)
{
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_error *err = NULL;
  pai_trace *t = NULL;
  int rc = pai_trace_load(&t, f->history, NULL, &err);

  while (rc >= 0 && (rc = pai_trace_next(t, &r, &err)) > 0)
    rc = learn(f->learned, &r, &err);
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
  f->options.arrivals = f->arrivals;
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
  pai_sched_free(f->sched);
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
      cli_fail("requests %llu and %llu are both called '%s'",
               (unsigned long long)found, (unsigned long long)i, word);
      return CLI_NO;
    }
    found = i;
  }
  if (found == 0)
    cli_fail("there is no request '%s' at the end of %s", word,
             cli_shown_name(f->log));
  *id = found;
  return found != 0 ? CLI_OK : CLI_NO;
}
