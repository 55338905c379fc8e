/* tasks.c - the tasks of one job as a table and as JSON */
#include "cells.h"
#include "jobs.h"
#include "tasks.h"
#include "top.h"

#include <string.h>

enum {
  CELL = 64,
  NAME_LEAST = 4,
  NAME_MOST = 32,
  BAR_LEAST = 8,
  BAR_MOST = 30
};

/* In display order. */
static const char *const states[] = { "FAILED",  "RUNNING",   "STOPPING",
                                      "WAITING", "SUCCEEDED", "STOPPED" };

enum { STATES = sizeof(states) / sizeof(states[0]) };

typedef struct tally {
  unsigned all, of[STATES + 1]; /* the last element counts other states */
  unsigned name_width;
  /* whether some task has them: their columns are shown */
  bool tries, codes, gpus;
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

/* Prints a text in exactly `width` cells. */
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

/* --- iterator ------------------------------------------------------------ */

static cli_task_row cli_rows_of(const cli_job_view *v)
{
  return (cli_task_row){ .v = v, .each = cli_tasks_of(v->job) };
}

static bool cli_next_row(cli_task_row *r)
{
  const pai_json *j = r->v->job;

  if (!cli_next_task(&r->each))
    return false;
  r->task = r->each.task.at;
  r->role = r->each.role.key;
  r->state = cli_json_text(j, r->task, "taskState");
  r->index = (uint32_t)cli_json_number(j, r->task, "taskIndex", 0);
  return true;
}

static void cli_task_find_use(cli_task_row *r)
{
  r->use = (cli_task_use){ .cpu = -1, .memory = -1 };
  if (strcmp(r->state, "RUNNING") == 0 || strcmp(r->state, "STOPPING") == 0)
    cli_usage_of(&r->use, r->v->usage, r->role, r->index);
}

static void count_all(tally *t, const cli_job_view *v)
{
  row r = cli_rows_of(v);
  char name[300];

  *t = (tally){ .name_width = NAME_LEAST };
  while (cli_next_row(&r)) {
    unsigned width;

    task_name(name, sizeof(name), &r);
    width = cells_of(name);
    t->name_width = width > t->name_width ? width : t->name_width;
    t->all++;
    t->of[state_of(r.state)]++;
    t->tries |= cli_json_number(v->job, r.task, "retries", 0) > 0;
    t->codes |= cli_result_task_code(v->job, r.task) != INT64_MIN &&
                strcmp(r.state, "FAILED") == 0;
  }
  t->gpus = v->usage->gpus > 0;
  for (size_t i = 0; i < v->usage->count; i++)
    t->gpus |= v->usage->rows[i].what >= 0;
  if (t->name_width > NAME_MOST)
    t->name_width = NAME_MOST;
}

/* --- cells --------------------------------------------------------------- */

static void put_number(char out[CELL], int64_t n, const char *unit)
{
  if (n < 0)
    (void)snprintf(out, CELL, "-");
  else
    (void)snprintf(out, CELL, "%lld%s", (long long)n, unit);
}

/* How long the latest start of the task has waited, has been running, or
 * ran. */
static void put_time(char out[CELL], const row *r)
{
  const pai_json *j = r->v->job;
  int64_t created =
            cli_json_number(j, r->task, "currentAttemptCreatedTime", -1),
          from = cli_json_number(j, r->task, "currentAttemptLaunchedTime", -1),
          to = cli_json_number(j, r->task, "currentAttemptCompletedTime", -1);

  if (from < 0)
    from = created >= 0
             ? created
             : cli_json_number(j, 0, "jobStatus/submissionTime", -1);
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
  int64_t code = cli_result_task_code(r->v->job, r->task);

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

/* Formats "0-3,6". */
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

/* Formats "90%", or "12-97%" for the least and the most busy GPU. */
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

/* Memory of all its GPUs, if known of each. */
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

/* --- rows ---------------------------------------------------------------- */

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

/* Prints the heading, or the cells of a row; only columns that fit. */
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

/* --- the job ------------------------------------------------------------- */

/* Prints "3 running, 1 waiting" and returns its cells; with to == NULL only
 * counts them. */
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

/* Prints "[=====>    ] 3 of 10 done: 1 failed, ..."; the bar takes the
 * remaining width. */
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

/* Prints the job's line, with the state in its colour. */
static void print_job(FILE *to, const cli_job_view *v, bool brief)
{
  cli_known known = v->known;
  const pai_json *j = v->job;
  const char *state = cli_json_text(j, 0, "jobStatus/state");
  int64_t attempt = cli_json_number(j, 0, "jobStatus/attemptId", 0);
  size_t len = strlen(v->name), state_len = strlen(state);
  char line[512];

  known.brief = brief;
  cli_progress_job(line, sizeof(line), v->name, j, &known, v->now_ms,
                   v->age_ms);
  (void)fputs(cli_style(stdout, "\033[1m"), to);
  cli_print(to, v->name);
  (void)fprintf(to, "%s ", cli_style(stdout, "\033[0m"));
  if (strlen(line) >= len + 1 + state_len) { /* the state was not cut off */
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

/* Prints at most `left` rows; afterwards `t` counts the tasks without a
 * row. */
static void print_rows(FILE *to, tally *t, const cli_job_view *v,
                       unsigned width, unsigned left)
{
  unsigned skip = v->first < t->all - left ? v->first : t->all - left;

  for (size_t state = 0; state <= STATES && left > 0; state++) {
    row r = cli_rows_of(v);
    unsigned more = t->of[state];

    while (left > 0 && more > 0 && cli_next_row(&r)) {
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

/* Prints a member; -1 as null. */
static void member(FILE *to, const char *key, int64_t value)
{
  cli_json_print(to, ",%s:%lld", key, (long long)cli_known_or_null(value));
}

/* Prints the known GPUs, or null if the job has GPUs and none is known. */
static void print_gpus_json(FILE *to, const cli_task_row *r)
{
  if (r->use.count == 0 && r->v->usage->gpus != 0) {
    (void)fputs(",\"gpus\":null", to);
    return;
  }
  (void)fputs(",\"gpus\":[", to);
  for (size_t i = 0; i < r->use.count; i++) {
    const cli_gpu_use *g = &r->use.gpus[i];

    (void)fprintf(to, "%s{\"number\":%d", i > 0 ? "," : "", g->number);
    member(to, "busyPercent", g->busy);
    member(to, "memoryUsed", g->memory);
    member(to, "memoryTotal", g->memory_total);
    (void)fputc('}', to);
  }
  (void)fputc(']', to);
}

static void print_task_json(FILE *to, cli_task_row *r)
{
  static const char *const times[][2] = {
    { "createdTime", "currentAttemptCreatedTime" },
    { "launchedTime", "currentAttemptLaunchedTime" },
    { "completedTime", "currentAttemptCompletedTime" },
  };
  const pai_json *j = r->v->job;
  int64_t code = cli_result_task_code(j, r->task);

  cli_task_find_use(r);
  cli_json_print(to, "{\"role\":%s,\"index\":%u,\"state\":%s", r->role,
                 r->index, r->state);
  member(to, "retries", cli_json_number(j, r->task, "retries", -1));
  for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
    member(to, times[i][0], cli_json_number(j, r->task, times[i][1], -1));
  cli_json_print(to, ",\"code\":%lld", (long long)code);
  member(to, "cpuPercent", r->use.cpu);
  member(to, "memory", r->use.memory);
  print_gpus_json(to, r);
  (void)fputc('}', to);
}

void cli_print_tasks_json(FILE *to, const cli_job_view *v)
{
  const char *state = cli_json_text(v->job, 0, "jobStatus/state");
  const char *comma = "";
  cli_task_row r = cli_rows_of(v);

  cli_json_print(to, "{\"name\":%s,\"state\":%s,\"tasks\":[", v->name, state);
  for (; cli_next_row(&r); comma = ",") {
    (void)fputs(comma, to);
    print_task_json(to, &r);
  }
  (void)fputs("]}\n", to);
}
