/*
 * progress.c - a progress line on the terminal, rewritten in place
 *
 * The old line is overwritten with blanks, not with an escape sequence, so
 * that this works with NO_COLOR and on any terminal.
 */
#include "progress.h"

#include "block.h"
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { BAR = 24, MOST = 240 };

static char stands[MOST + 1]; /* the line now on the screen */

bool cli_progress_wanted(void)
{
  const char *term = getenv("TERM");

  return cli_is_terminal(stderr) &&
         (term == NULL || strcmp(term, "dumb") != 0);
}

static void put(const char *text)
{
  size_t len = strlen(text), old = strlen(stands);

  (void)fprintf(stderr, "\r%s", text);
  for (size_t i = len; i < old; i++)
    (void)fputc(' ', stderr);
  for (size_t i = len; i < old; i++)
    (void)fputc('\b', stderr);
  (void)fflush(stderr);
}

/* Replaces control characters and characters that are not one byte wide.  The
 * last column stays free, because some terminals wrap there. */
static void fit(char out[MOST + 1], const char *text)
{
  uint32_t columns, rows;
  size_t most, n = 0;

  cli_terminal_size(&columns, &rows);
  most = columns <= MOST ? columns - 1 : MOST;
  for (; n < most && text[n] != '\0'; n++)
    out[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
  out[n] = '\0';
}

void cli_progress(const char *text)
{
  char line[MOST + 1];

  if (!cli_progress_wanted())
    return;
  fit(line, text);
  if (strcmp(line, stands) == 0)
    return;
  put(line);
  memcpy(stands, line, sizeof(line));
}

void cli_progress_over(void)
{
  cli_block_erase();
  if (stands[0] == '\0')
    return;
  put("");
  (void)fputc('\r', stderr);
  stands[0] = '\0';
}

/* --- bytes --------------------------------------------------------------- */

void cli_progress_bar(char *out, size_t size, const char *what, uint64_t done,
                      uint64_t total, int64_t took_ms)
{
  const double mb = 1e6;
  double share = total > 0 ? (double)done / (double)total : 1;
  int filled = (int)(share * BAR);
  char bar[BAR + 1];

  for (int i = 0; i < BAR; i++)
    bar[i] = '.';
  for (int i = 0; i < filled && i < BAR; i++)
    bar[i] = i + 1 == filled && filled < BAR ? '>' : '=';
  bar[BAR] = '\0';
  if (done >= total)
    (void)snprintf(out, size, "%s [%s] 100%%, the server is storing it", what,
                   bar);
  else
    (void)snprintf(
      out, size, "%s [%s] %3d%%, %.1f of %.1f MB, %.1f MB/s", what, bar,
      (int)(share * 100), (double)done / mb, (double)total / mb,
      took_ms > 0 ? (double)done / mb * 1000 / (double)took_ms : 0.0);
}

/* --- a job --------------------------------------------------------------- */

typedef struct counts {
  int all, run, over;
} counts;

static counts count_tasks(const pai_json *job)
{
  counts c = { 0, 0, 0 };

  for (cli_each_task t = cli_tasks_of(job); cli_next_task(&t);) {
    const char *state = cli_json_text(job, t.task.at, "taskState");

    c.all++;
    c.run += strcmp(state, "RUNNING") == 0;
    c.over += cli_is_over(state);
  }
  return c;
}

static void add(char *out, size_t size, const char *text, const char *more)
{
  size_t len = strlen(out);

  (void)snprintf(out + len, size - len, "%s%s", text, more);
}

/* Adds the median estimate of the start or end. */
static void add_guess(char *out, size_t size, const pai_json *estimate,
                      int64_t age_ms, const char *key, const char *verb)
{
  int64_t now = cli_json_number(estimate, 0, "now", 0), half;
  char left[32];

  half = cli_json_number(estimate, cli_json_get(estimate, 0, key), "p50", 0);
  if (half == 0 || now == 0)
    return;
  add(out, size, verb, half - now - age_ms >= 1000 ? " in about " : " soon");
  if (half - now - age_ms < 1000)
    return;
  cli_duration(left, sizeof(left), half - now - age_ms);
  add(out, size, left, "");
}

void cli_in_line(char *out, size_t size, const pai_json *why)
{
  size_t line = cli_json_get(why, 0, "line");
  int64_t place, waiting;
  const char *vc;

  out[0] = '\0';
  if (pai_json_type(why, line) != PAI_VALUE_MAPPING)
    return;
  place = cli_json_number(why, line, "place", 0);
  waiting = cli_json_number(why, line, "waiting", 0);
  vc = cli_json_text(why, line, "virtualCluster");
  if (place > 0)
    (void)snprintf(out, size, "%lld%s of %lld in line of %s", (long long)place,
                   place % 100 / 10 == 1 ? "th"
                   : place % 10 == 1     ? "st"
                   : place % 10 == 2     ? "nd"
                   : place % 10 == 3     ? "rd"
                                         : "th",
                   (long long)waiting, vc);
  else if (waiting > 0) /* the policy has no order */
    (void)snprintf(out, size, "one of %lld waiting in %s", (long long)waiting,
                   vc);
}

void cli_progress_job(char *out, size_t size, const char *name,
                      const pai_json *job, const cli_known *known,
                      int64_t now_ms, int64_t age_ms)
{
  size_t s = cli_json_get(job, 0, "jobStatus");
  const char *state = cli_json_text(job, s, "state");
  bool runs = strcmp(state, "RUNNING") == 0;
  int64_t since =
    cli_json_number(job, s, runs ? "launchedTime" : "submissionTime", 0);
  const pai_json *estimate = known->estimate;
  char text[160];
  counts c;

  (void)snprintf(out, size, "%s %s", name, state);
  if (since > 0) { /* the server's clock may differ */
    cli_duration(text, sizeof(text), now_ms > since ? now_ms - since : 0);
    add(out, size, " for ", text);
  }
  if (runs && !known->brief) {
    c = count_tasks(job);
    (void)snprintf(text, sizeof(text), "%d of %d tasks run", c.run, c.all);
    if (c.all > 1)
      add(out, size, ", ", text);
    (void)snprintf(text, sizeof(text), "%d over", c.over);
    if (c.over > 0)
      add(out, size, ", ", text);
  }
  cli_in_line(text, sizeof(text), known->why);
  if (text[0] != '\0' && strcmp(state, "WAITING") == 0)
    add(out, size, ", ", text);

  /* Without similar jobs the estimate only repeats the time run so far, so it
   * is omitted. */
  if (runs && cli_json_has(estimate, 0, "alike"))
    add_guess(out, size, estimate, age_ms, "end", ", ends");
  if (strcmp(state, "WAITING") == 0)
    add_guess(out, size, estimate, age_ms, "start", ", starts");
}
