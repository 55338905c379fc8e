/*
 * job_screen.c - `top`: the jobs of a platform on the terminal, with keys
 *
 * Running jobs come first.  The platform is asked for those and for the others
 * apart, and for no more than some beyond the chosen one.
 */
#include "job_screen.h"

#include "cells.h"
#include "job_table.h"
#include "jobs.h"
#include "screen.h"

#include <stdlib.h>
#include <string.h>

enum {
  AHEAD = 200, /* jobs that are asked for beyond the chosen one, */
  MOST = 50000 /* and that a server tells of at a time */
};

static const char keys[] =
  "Up/Down choose  Enter tasks  k stop  / filter  a all jobs  q quit";

/* --- asking ----------------------------------------------------------------- */

/* GET of the jobs in these states. */
static void ask_jobs(const cli_job_screen *s, cli_answer *a,
                     const char *states)
{
  char path[400];
  char *filter = cli_escape(s->filter);
  size_t limit = s->chosen + AHEAD < MOST ? s->chosen + AHEAD : MOST;

  (void)snprintf(path, sizeof(path),
                 "/api/v2/jobs?withTotalCount=true&limit=%zu&state=%s%s%s",
                 limit, states, s->filter[0] ? "&keyword=" : "",
                 filter != NULL ? filter : "");
  free(filter);
  cli_remote_ask(s->r, a, "GET", path, NULL, NULL, 0);
}

/* Both answers as one array. */
static bool join(cli_json *out, const cli_answer *busy, const cli_answer *rest)
{
  size_t size = busy->len + rest->len + 4;
  char *text = malloc(size);
  bool good =
    text != NULL && cli_json_read(out, text,
                                  (size_t)snprintf(text, size, "[%s,%s]",
                                                   busy->body, rest->body));

  free(text);
  return good;
}

static void keep_items(cli_job_screen *s)
{
  const cli_json *j = &s->jobs;
  size_t n = 0;

  s->total = 0;
  for (size_t part = cli_json_first(j, 0); part != 0;
       part = cli_json_next(j, 0, part)) {
    size_t data = cli_json_get(j, part, "data");

    s->total += (size_t)cli_json_number(j, part, "totalCount", 0);
    for (size_t i = data != 0 ? cli_json_first(j, data) : 0; i != 0;
         i = cli_json_next(j, data, i))
      s->items[n++] = i;
  }
  s->count = n;
  if (s->total < n)
    s->total = n;
}

static void name_of(char *out, size_t size, const cli_job_screen *s,
                    size_t row)
{
  (void)snprintf(out, size, "%s~%s",
                 cli_json_text(&s->jobs, s->items[row], "username"),
                 cli_json_text(&s->jobs, s->items[row], "name"));
}

static void choose(cli_job_screen *s, size_t row)
{
  s->chosen = s->count == 0 ? 0 : row < s->count ? row : s->count - 1;
  s->name[0] = '\0';
  if (s->count > 0)
    name_of(s->name, sizeof(s->name), s, s->chosen);
}

/* The chosen job stays that, wherever it is now; unless it is gone. */
static void find_chosen(cli_job_screen *s)
{
  char name[sizeof(s->name)];

  for (size_t i = 0; i < s->count && s->name[0] != '\0'; i++) {
    name_of(name, sizeof(name), s, i);
    if (strcmp(name, s->name) == 0) {
      s->chosen = i;
      return;
    }
  }
  if (s->asks) {
    s->asks = false;
    (void)snprintf(s->note, sizeof(s->note), "%s has ended", s->name);
  }
  choose(s, s->chosen);
}

static bool take_jobs(cli_job_screen *s, const cli_answer *busy,
                      const cli_answer *rest)
{
  cli_json fresh;
  size_t *items;

  if (busy->status != PAI_OK || rest->status != PAI_OK) {
    cli_answer_tell(busy->status != PAI_OK ? busy : rest);
    return false;
  }
  if (!join(&fresh, busy, rest)) {
    cli_fail("the platform's answer cannot be read");
    return false;
  }
  items = realloc(s->items, (fresh.count + 1) * sizeof(*items));
  if (items == NULL) {
    cli_json_free(&fresh);
    cli_fail("out of memory");
    return false;
  }
  cli_json_free(&s->jobs);
  s->jobs = fresh;
  s->items = items;
  keep_items(s);
  find_chosen(s);
  return true;
}

bool cli_job_screen_ask(cli_job_screen *s)
{
  cli_answer busy = { 0 }, rest = { 0 };
  bool good;

  cli_json_free(&s->status);
  if (!cli_remote_get(s->r, &s->status, "/api/v2/status"))
    return false;
  ask_jobs(s, &busy, "RUNNING,STOPPING");
  if (busy.status == PAI_OK)
    ask_jobs(s, &rest,
             s->all ? "WAITING,SUCCEEDED,FAILED,STOPPED" : "WAITING");
  good = take_jobs(s, &busy, &rest);
  cli_answer_free(&busy);
  cli_answer_free(&rest);
  return good;
}

void cli_job_screen_free(cli_job_screen *s)
{
  cli_json_free(&s->status);
  cli_json_free(&s->jobs);
  free(s->items);
}

/* --- drawing ----------------------------------------------------------------- */

static void print_head(FILE *to, const cli_job_screen *s)
{
  const cli_json *j = &s->status;
  size_t jobs = cli_json_get(j, 0, "jobs"),
         machine = cli_json_get(j, 0, "machine");

  (void)fprintf(to,
                "%lld running, %lld waiting; free: %lld of %lld GPUs, %lld of "
                "%lld CPUs\n",
                (long long)cli_json_number(j, jobs, "running", 0),
                (long long)cli_json_number(j, jobs, "waiting", 0),
                (long long)cli_json_number(j, machine, "freeGpus", 0),
                (long long)cli_json_number(j, machine, "gpus", 0),
                (long long)cli_json_number(j, machine, "freeCpus", 0),
                (long long)cli_json_number(j, machine, "cpus", 0));
}

/* Rows of jobs below three lines, above the line of keys, and above one that
 * tells how many are not shown. */
static size_t rows_of(const cli_job_screen *s, unsigned rows)
{
  size_t left = rows > 4 ? rows - 3 - (s->live ? 1 : 0) : 1;

  return s->total > left && left > 1 ? left - 1 : left;
}

static void scroll(cli_job_screen *s, size_t room)
{
  if (s->chosen < s->first)
    s->first = s->chosen;
  if (s->chosen >= s->first + room)
    s->first = s->chosen - room + 1;
  if (s->first + room > s->count)
    s->first = s->count > room ? s->count - room : 0;
}

static void print_footer(FILE *to, const cli_job_screen *s)
{
  if (s->filters)
    (void)fprintf(to, "/%s_", s->filter);
  else if (s->note[0] != '\0')
    cli_print(to, s->note);
  else
    (void)fprintf(to, "%s%s%s", cli_style(stdout, "\033[2m"), keys,
                  cli_style(stdout, "\033[0m"));
}

void cli_job_screen_print(cli_job_screen *s, FILE *to, unsigned rows)
{
  size_t room = rows_of(s, rows), shown, below;

  scroll(s, room);
  shown = s->count - s->first < room ? s->count - s->first : room;
  below = s->total - s->first - shown;
  print_head(to, s);
  if (s->filter[0] != '\0')
    (void)fprintf(to, "filter: %s (Esc: none)", s->filter);
  (void)fputc('\n', to);
  cli_print_jobs(to, &s->jobs, s->items + s->first, shown, NULL, NULL,
                 s->live ? s->chosen - s->first : SIZE_MAX);
  if (s->total > shown && s->first > 0)
    (void)fprintf(to, "... %zu above, %zu more below\n", s->first, below);
  else if (s->total > shown)
    (void)fprintf(to, "... and %zu more\n", below);
  if (s->live && rows > 4)
    print_footer(to, s);
}

/* --- keys ---------------------------------------------------------------------- */

static void stop_chosen(cli_job_screen *s, bool now)
{
  cli_answer a;

  cli_ask_to_stop(s->r, &a, s->name, now);
  (void)snprintf(s->note, sizeof(s->note), "%s%s",
                 a.status == PAI_OK ? "stopping " : "error: ",
                 a.status == PAI_OK ? s->name : a.message);
  cli_answer_free(&a);
}

static cli_job_screen_wish answer_question(cli_job_screen *s, int key)
{
  s->asks = false;
  s->note[0] = '\0';
  if (key != 'y' && key != 'Y' && key != 'K')
    return CLI_SCREEN_DRAW;
  stop_chosen(s, key == 'K');
  return CLI_SCREEN_ASK;
}

static void ask_question(cli_job_screen *s)
{
  const char *state =
    s->count > 0 ? cli_json_text(&s->jobs, s->items[s->chosen], "state") : "";

  if (s->count == 0)
    return;
  s->asks = !cli_is_over(state);
  (void)snprintf(s->note, sizeof(s->note),
                 s->asks ? "stop %s? y: yes, K: kill at once, other keys: no"
                         : "%s has ended already",
                 s->name);
}

/* Text is typed: each character asks anew. */
static cli_job_screen_wish type_filter(cli_job_screen *s, int key)
{
  size_t len = strlen(s->filter);

  if (key == '\r' || key == '\n' || key == CLI_KEY_ESCAPE)
    s->filters = false;
  if (key == CLI_KEY_ESCAPE) {
    s->filter[0] = '\0';
  } else if (key == CLI_KEY_BACKSPACE && len > 0) {
    s->filter[len - 1] = '\0';
  } else if (key > ' ' && key < CLI_KEY_BACKSPACE &&
             len + 1 < sizeof(s->filter)) { /* names have no others */
    s->filter[len] = (char)key;
    s->filter[len + 1] = '\0';
  } else {
    return CLI_SCREEN_DRAW;
  }
  return CLI_SCREEN_ASK;
}

/* The row that a key leads to; SIZE_MAX: it is none of these keys. */
static size_t row_of(const cli_job_screen *s, int key, size_t page)
{
  size_t at = s->chosen;

  switch (key) {
  case CLI_KEY_UP: return at > 0 ? at - 1 : 0;
  case CLI_KEY_DOWN: return at + 1;
  case CLI_KEY_PAGE_UP: return at > page ? at - page : 0;
  case CLI_KEY_PAGE_DOWN: return at + page;
  case CLI_KEY_HOME: return 0;
  case CLI_KEY_END: return s->total;
  default: return SIZE_MAX;
  }
}

/* Beyond what was asked for, the platform is asked again. */
static cli_job_screen_wish move(cli_job_screen *s, size_t row)
{
  bool more = row >= s->count && s->count < s->total;

  if (row >= s->total)
    row = s->total > 0 ? s->total - 1 : 0;
  if (!more) {
    choose(s, row);
    return CLI_SCREEN_DRAW;
  }
  s->chosen = row;
  s->name[0] = '\0';
  return CLI_SCREEN_ASK;
}

cli_job_screen_wish cli_job_screen_key(cli_job_screen *s, int key,
                                       unsigned rows)
{
  size_t row = row_of(s, key, rows_of(s, rows));

  if (s->asks)
    return answer_question(s, key);
  s->note[0] = '\0';
  if (s->filters)
    return type_filter(s, key);
  if (row != SIZE_MAX)
    return move(s, row);
  switch (key) {
  case 'q':
  case 'Q': return CLI_SCREEN_QUIT;
  case '/': s->filters = true; return CLI_SCREEN_DRAW;
  case CLI_KEY_ESCAPE: s->filter[0] = '\0'; return CLI_SCREEN_ASK;
  case 'a': s->all = !s->all; return CLI_SCREEN_ASK;
  case 'k': ask_question(s); return CLI_SCREEN_DRAW;
  case '\r':
  case '\n': return s->count > 0 ? CLI_SCREEN_OPEN : CLI_SCREEN_DRAW;
  default: return CLI_SCREEN_DRAW;
  }
}
