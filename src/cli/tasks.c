/* tasks.c - the tasks of one job as a table */
#include "tasks.h"

#include "cells.h"
#include "jobs.h"
#include "top.h"

#include <string.h>

enum {
  CELL = 64,
  NAME_LEAST = 4,
  NAME_MOST = 32,
  BAR_LEAST = 8,
  BAR_MOST = 30
};

/* In the order in which they are shown. */
static const char *const states[] = { "FAILED",  "RUNNING",   "STOPPING",
                                      "WAITING", "SUCCEEDED", "STOPPED" };

enum { STATES = sizeof(states) / sizeof(states[0]) };

typedef struct tally {
  unsigned all, of[STATES + 1]; /* the last: in none of these */
  unsigned name_width;
  bool tries, codes, gpus; /* that some have */
} tally;

typedef cli_task_row row;

static size_t state_of(const char *state)
{
  size_t i = 0;

  while (i < STATES && strcmp(states[i], state) != 0)
    i++;
  return i;
}

static unsigned cells_of(const char *text)
{
  cli_cell c = { .next = text, .left = strlen(text) };

  while (cli_next_cell(&c))
    ;
  return c.column;
}

/* A text in exactly so many cells. */
static void print_cell(FILE *to, const char *text, unsigned width)
{
  cli_cell c = { .next = text, .left = strlen(text) };
  unsigned at = 0;

  while (cli_next_cell(&c) && c.column <= width) {
    (void)fputs(c.shown, to);
    at = c.column;
  }
  (void)fprintf(to, "%*s", (int)(width - at), "");
}

static void task_name(char *out, size_t size, const row *r)
{
  (void)snprintf(out, size, "%s/%u", r->role, r->index);
}

/* --- all of them ------------------------------------------------------------------ */

bool cli_next_task(cli_task_row *r)
{
  const cli_json *j = r->v->job;

  if (r->task != 0) {
    r->task = cli_json_next(j, r->list, r->task);
    if (r->task == 0)
      r->at = cli_json_next(j, r->roles, r->at);
  } else {
    r->roles = j->count > 0 ? cli_json_get(j, 0, "taskRoles") : 0;
    r->at = r->roles != 0 ? cli_json_first(j, r->roles) : 0;
  }
  while (r->task == 0 && r->at != 0) {
    r->list = cli_json_get(j, r->at, "taskStatuses");
    r->task = r->list != 0 ? cli_json_first(j, r->list) : 0;
    if (r->task == 0)
      r->at = cli_json_next(j, r->roles, r->at);
  }
  if (r->task == 0)
    return false;
  r->role = j->values[r->at].key;
  r->state = cli_json_text(j, r->task, "taskState");
  r->index = (uint32_t)cli_json_number(j, r->task, "taskIndex", 0);
  return true;
}

void cli_task_find_use(cli_task_row *r)
{
  r->use = (cli_task_use){ .cpu = -1, .memory = -1 };
  if (strcmp(r->state, "RUNNING") == 0 || strcmp(r->state, "STOPPING") == 0)
    cli_usage_of(&r->use, r->v->usage, r->role, r->index);
}

static void count_all(tally *t, const cli_job_view *v)
{
  row r = { .v = v };
  char name[300];

  *t = (tally){ .name_width = NAME_LEAST };
  while (cli_next_task(&r)) {
    unsigned width;

    task_name(name, sizeof(name), &r);
    width = cells_of(name);
    t->name_width = width > t->name_width ? width : t->name_width;
    t->all++;
    t->of[state_of(r.state)]++;
    t->tries |= cli_json_number(v->job, r.task, "retries", 0) > 0;
    t->codes |= cli_told_task_code(v->job, r.task) != INT64_MIN &&
                strcmp(r.state, "FAILED") == 0;
  }
  t->gpus = v->usage->gpus > 0;
  for (size_t i = 0; i < v->usage->count; i++)
    t->gpus |= v->usage->rows[i].what >= 0;
  if (t->name_width > NAME_MOST)
    t->name_width = NAME_MOST;
}

/* --- a cell --------------------------------------------------------------------------- */

static void put_number(char out[CELL], int64_t n, const char *unit)
{
  if (n < 0)
    (void)snprintf(out, CELL, "-");
  else
    (void)snprintf(out, CELL, "%lld%s", (long long)n, unit);
}

/* How long it has been waiting, or has been running, or ran; of the start that
 * is its last. */
static void put_time(char out[CELL], const row *r)
{
  const cli_json *j = r->v->job;
  int64_t created =
            cli_json_number(j, r->task, "currentAttemptCreatedTime", -1),
          from = cli_json_number(j, r->task, "currentAttemptLaunchedTime", -1),
          to = cli_json_number(j, r->task, "currentAttemptCompletedTime", -1);

  if (from < 0)
    from = created >= 0 ? created
                        : cli_json_number(j, cli_json_get(j, 0, "jobStatus"),
                                          "submissionTime", -1);
  if (to < 0)
    to = r->v->now_ms;
  cli_duration(out, CELL, from < 0 ? -1 : to > from ? to - from : 0);
}

static void put_try(char out[CELL], const row *r)
{
  put_number(out, cli_json_number(r->v->job, r->task, "retries", -2) + 1, "");
}

static void put_code(char out[CELL], const row *r)
{
  int64_t code = cli_told_task_code(r->v->job, r->task);

  if (code == INT64_MIN)
    (void)snprintf(out, CELL, "-");
  else
    (void)snprintf(out, CELL, "%lld", (long long)code);
}

static void put_cpu(char out[CELL], const row *r)
{
  put_number(out, r->use.cpu, "%");
}

static void put_memory(char out[CELL], const row *r)
{
  if (r->use.memory < 0)
    (void)snprintf(out, CELL, "-");
  else
    (void)cli_bytes(out, CELL, r->use.memory);
}

/* "0-3,6". */
static void put_gpus(char out[CELL], const row *r)
{
  const cli_task_use *u = &r->use;
  size_t len = 0;

  (void)snprintf(out, CELL, "-");
  for (size_t i = 0, last; i < u->count && len + 1 < CELL; i = last + 1) {
    for (last = i; last + 1 < u->count &&
                   u->gpus[last + 1].number == u->gpus[last].number + 1;)
      last++;
    (void)snprintf(out + len, CELL - len, "%s%d", len > 0 ? "," : "",
                   u->gpus[i].number);
    len += strlen(out + len);
    if (last == i)
      continue;
    (void)snprintf(out + len, CELL - len, "-%d", u->gpus[last].number);
    len += strlen(out + len);
  }
}

/* "90%"; "12-97%": the idlest, the busiest. */
static void put_busy(char out[CELL], const row *r)
{
  const cli_task_use *u = &r->use;
  int64_t least = -1, most = -1;

  for (size_t i = 0; i < u->count; i++) {
    int64_t busy = u->gpus[i].busy;

    least = i == 0 || busy < least ? busy : least;
    most = busy > most ? busy : most;
  }
  put_number(out, most, "%");
  if (least != most)
    (void)snprintf(out, CELL, "%lld-%lld%%", (long long)least,
                   (long long)most);
}

/* Of all its GPUs, if that is known of each. */
static void put_gpu_memory(char out[CELL], const row *r)
{
  const cli_task_use *u = &r->use;
  int64_t used = 0, total = 0;
  char a[CELL / 4], b[CELL / 4];

  (void)snprintf(out, CELL, "-");
  for (size_t i = 0; i < u->count; i++) {
    if (u->gpus[i].memory < 0 || u->gpus[i].memory_total <= 0)
      return;
    used += u->gpus[i].memory;
    total += u->gpus[i].memory_total;
  }
  if (total > 0)
    (void)snprintf(out, CELL, "%s of %s", cli_bytes(a, sizeof(a), used),
                   cli_bytes(b, sizeof(b), total));
}

/* --- a line ------------------------------------------------------------------------------ */

enum { ALWAYS, OF_TRIES, OF_CODES, OF_GPUS };

static const struct column {
  const char *title;
  unsigned width;
  int when;
  void (*put)(char out[CELL], const row *r);
} columns[] = {
  { "TIME", 6, ALWAYS, put_time },
  { "TRY", 3, OF_TRIES, put_try },
  { "CODE", 4, OF_CODES, put_code },
  { "GPUS", 7, OF_GPUS, put_gpus },
  { "BUSY", 7, OF_GPUS, put_busy },
  { "GPU MEMORY", 22, OF_GPUS, put_gpu_memory },
  { "CPU", 5, ALWAYS, put_cpu },
  { "MEMORY", 10, ALWAYS, put_memory },
};

/* Head, or with a row its cells; only columns that fit. */
static void print_columns(FILE *to, const tally *t, unsigned left,
                          const row *r)
{
  for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
    const struct column *c = &columns[i];
    char text[CELL];

    if ((c->when == OF_TRIES && !t->tries) ||
        (c->when == OF_CODES && !t->codes) || (c->when == OF_GPUS && !t->gpus))
      continue;
    if (left < c->width + 2)
      return;
    left -= c->width + 2;
    if (r != NULL)
      c->put(text, r);
    else
      (void)snprintf(text, sizeof(text), "%s", c->title);
    (void)fprintf(to, "  %*s", (int)c->width, text);
  }
}

enum { STATE_WIDTH = 9 };

static unsigned name_width(const tally *t, unsigned width)
{
  unsigned most = width > STATE_WIDTH + 10 ? width - STATE_WIDTH - 10 : 1;

  return t->name_width < most ? t->name_width : most;
}

static unsigned rest_of(const tally *t, unsigned width)
{
  unsigned taken = name_width(t, width) + 2 + STATE_WIDTH;

  return width > taken ? width - taken : 0;
}

static void print_head(FILE *to, const tally *t, unsigned width)
{
  (void)fputs(cli_style(stdout, "\033[1m"), to);
  print_cell(to, "TASK", name_width(t, width));
  (void)fprintf(to, "  %-*s", STATE_WIDTH, "STATE");
  print_columns(to, t, rest_of(t, width), NULL);
  (void)fprintf(to, "%s\n", cli_style(stdout, "\033[0m"));
}

static void print_row(FILE *to, const tally *t, row *r, unsigned width)
{
  char name[300];

  cli_task_find_use(r);
  task_name(name, sizeof(name), r);
  print_cell(to, name, name_width(t, width));
  (void)fprintf(to, "  %s", cli_state_style(stdout, r->state));
  print_cell(to, r->state, STATE_WIDTH);
  (void)fputs(cli_style(stdout, "\033[0m"), to);
  print_columns(to, t, rest_of(t, width), r);
  (void)fputc('\n', to);
}

/* --- the job ------------------------------------------------------------------------------ */

/* "3 running, 1 waiting".  Returns its cells; with a NULL that is all. */
static unsigned print_tally(FILE *to, const unsigned of[STATES])
{
  static const char *const words[STATES] = { "failed",    "running",
                                             "stopping",  "waiting",
                                             "succeeded", "stopped" };
  unsigned cells = 0;
  char number[16];

  for (size_t i = 0; i < STATES; i++) {
    if (of[i] == 0)
      continue;
    (void)snprintf(number, sizeof(number), "%s%u ", cells > 0 ? ", " : "",
                   of[i]);
    cells += (unsigned)(strlen(number) + strlen(words[i]));
    if (to != NULL)
      (void)fprintf(to, "%s%s%s%s", number, cli_state_style(stdout, states[i]),
                    words[i], cli_style(stdout, "\033[0m"));
  }
  return cells;
}

/* "[=====>    ] 3 of 10 done: 1 failed, ..."; the bar has what is left. */
static void print_bar(FILE *to, const tally *t, unsigned width)
{
  unsigned done = t->of[0] + t->of[4] + t->of[5], room = BAR_MOST, full, rest;
  char text[CELL];

  (void)snprintf(text, sizeof(text), "] %u of %u done: ", done, t->all);
  rest = 1 + (unsigned)strlen(text) + print_tally(NULL, t->of);
  if (width < rest + BAR_MOST)
    room = width > rest + BAR_LEAST ? width - rest : BAR_LEAST;
  full = t->all > 0 ? done * room / t->all : 0;
  (void)fputc('[', to);
  for (unsigned i = 0; i < room; i++)
    (void)fputc(i + 1 == full && full < room ? '>' : i < full ? '=' : '.', to);
  (void)fputs(text, to);
  (void)print_tally(to, t->of);
  (void)fputc('\n', to);
}

/* Its line; the state in its colour. */
static void print_job(FILE *to, const cli_job_view *v, bool brief)
{
  cli_known known = v->known;
  const cli_json *j = v->job;
  size_t s = j->count > 0 ? cli_json_get(j, 0, "jobStatus") : 0;
  const char *state = s != 0 ? cli_json_text(j, s, "state") : "";
  int64_t attempt = s != 0 ? cli_json_number(j, s, "attemptId", 0) : 0;
  size_t len = strlen(v->name), state_len = strlen(state);
  char line[512];

  known.brief = brief;
  cli_progress_job(line, sizeof(line), v->name, j, &known, v->now_ms,
                   v->age_ms);
  (void)fputs(cli_style(stdout, "\033[1m"), to);
  cli_print(to, v->name);
  (void)fprintf(to, "%s ", cli_style(stdout, "\033[0m"));
  if (strlen(line) >= len + 1 + state_len) { /* it was not cut */
    cli_print_state(to, stdout, state);
    cli_print(to, line + len + 1 + state_len);
  }
  if (attempt > 0)
    (void)fprintf(to, ", attempt %lld", (long long)attempt + 1);
  (void)fputc('\n', to);
}

static void print_rest(FILE *to, const unsigned left[STATES + 1])
{
  unsigned sum = 0;

  for (size_t i = 0; i <= STATES; i++)
    sum += left[i];
  (void)fprintf(to, "... and %u more: ", sum);
  (void)print_tally(to, left);
  (void)fputc('\n', to);
}

/* So many rows; `t` counts what has none then. */
static void print_rows(FILE *to, tally *t, const cli_job_view *v,
                       unsigned width, unsigned left)
{
  unsigned skip = v->first < t->all - left ? v->first : t->all - left;

  for (size_t state = 0; state <= STATES && left > 0; state++) {
    row r = { .v = v };
    unsigned more = t->of[state];

    while (left > 0 && more > 0 && cli_next_task(&r)) {
      if (state_of(r.state) != state)
        continue;
      more--;
      if (skip > 0) {
        skip--;
        continue;
      }
      print_row(to, t, &r, width);
      t->of[state]--;
      left--;
    }
  }
}

unsigned cli_count_tasks(const cli_job_view *v)
{
  tally t;

  count_all(&t, v);
  return t.all;
}

void cli_print_tasks(FILE *to, const cli_job_view *v, unsigned width,
                     unsigned rows)
{
  tally t;
  unsigned left;

  count_all(&t, v);
  print_job(to, v, rows > 1 && t.all > 1);
  if (rows < 2 || t.all == 0)
    return;
  rows--;
  if (t.all > 1) {
    print_bar(to, &t, width);
    rows--;
  }
  if (rows > 3) {
    print_head(to, &t, width);
    rows--;
  }
  left = t.all <= rows ? t.all : rows > 0 ? rows - 1 : 0;
  print_rows(to, &t, v, width, left);
  if (t.all > rows && rows > 0)
    print_rest(to, t.of);
}
