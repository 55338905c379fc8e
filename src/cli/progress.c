/*
 * progress.c - a line on the terminal that is written anew again and again
 *
 * Blanks take the old one away, no sequence of a terminal's: so it is the same
 * with NO_COLOR, and on terminals that know none.
 */
#include "progress.h"

#include "block.h"
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { BAR = 24, MOST = 240 };

static char stands[MOST + 1]; /* there now */

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

/* What would act on the terminal, or has another width than a byte, is not
 * shown; the last column stays free, for some go to the next line there. */
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

/* --- bytes -------------------------------------------------------------------- */

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

/* --- a job ---------------------------------------------------------------------- */

typedef struct counts {
  int all, run, over;
} counts;

static counts count_tasks(const cli_json *job)
{
  size_t roles = cli_json_get(job, 0, "taskRoles"), list;
  counts c = { 0, 0, 0 };

  for (size_t r = roles != 0 ? cli_json_first(job, roles) : 0; r != 0;
       r = cli_json_next(job, roles, r)) {
    list = cli_json_get(job, r, "taskStatuses");
    for (size_t t = list != 0 ? cli_json_first(job, list) : 0; t != 0;
         t = cli_json_next(job, list, t)) {
      const char *state = cli_json_text(job, t, "taskState");
      c.all++;
      c.run += strcmp(state, "RUNNING") == 0;
      c.over += strcmp(state, "SUCCEEDED") == 0 ||
                strcmp(state, "FAILED") == 0 || strcmp(state, "STOPPED") == 0;
    }
  }
  return c;
}

static void add(char *out, size_t size, const char *text, const char *more)
{
  size_t len = strlen(out);

  (void)snprintf(out + len, size - len, "%s%s", text, more);
}

/* When half of all guesses have it start, or end. */
static void add_guess(char *out, size_t size, const cli_json *estimate,
                      int64_t age_ms, const char *key, const char *verb)
{
  int64_t now = cli_json_number(estimate, 0, "now", 0), half;
  size_t of = cli_json_get(estimate, 0, key);
  char left[32];

  half = of != 0 ? cli_json_number(estimate, of, "p50", 0) : 0;
  if (half == 0 || now == 0)
    return;
  add(out, size, verb, half - now - age_ms >= 1000 ? " in about " : " soon");
  if (half - now - age_ms < 1000)
    return;
  cli_duration(left, sizeof(left), half - now - age_ms);
  add(out, size, left, "");
}

void cli_in_line(char *out, size_t size, const cli_json *why)
{
  size_t line = why->count > 0 ? cli_json_get(why, 0, "line") : 0;
  int64_t place, waiting;
  const char *vc;

  out[0] = '\0';
  if (line == 0 || why->values[line].type != '{')
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
  else if (waiting > 0) /* its policy has no line */
    (void)snprintf(out, size, "one of %lld waiting in %s", (long long)waiting,
                   vc);
}

void cli_progress_job(char *out, size_t size, const char *name,
                      const cli_json *job, const cli_known *known,
                      int64_t now_ms, int64_t age_ms)
{
  size_t s = job->count > 0 ? cli_json_get(job, 0, "jobStatus") : 0, like;
  const char *state = s != 0 ? cli_json_text(job, s, "state") : "";
  bool runs = strcmp(state, "RUNNING") == 0;
  int64_t since =
    s == 0
      ? 0
      : cli_json_number(job, s, runs ? "launchedTime" : "submissionTime", 0);
  const cli_json *estimate = known->estimate;
  char text[160];
  counts c;

  (void)snprintf(out, size, "%s %s", name, state);
  if (since > 0) { /* its clock may be another */
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
  if (estimate->count == 0)
    return;
  /* Without jobs like it the guess is as long again as it has run: no news. */
  like = cli_json_get(estimate, 0, "alike");
  if (runs && like != 0 && estimate->values[like].type != 'n')
    add_guess(out, size, estimate, age_ms, "end", ", ends");
  if (strcmp(state, "WAITING") == 0)
    add_guess(out, size, estimate, age_ms, "start", ", starts");
}
