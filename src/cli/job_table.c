/* job_table.c - jobs of the list route as a table */
#include "job_table.h"

#include "cells.h"
#include "jobs.h"

#include <string.h>
#include <time.h>

typedef struct column column;

/* A cell of the list's item `i`. */
typedef struct cell {
  const cli_json *list;
  size_t i;
  const cli_job_detail *detail; /* NULL: it was not asked */
  char text[300];
} cell;

struct column {
  const char *name, *head;
  int width; /* at least that of the heading; of names: as they need */
  bool right;
  void (*fill)(cell *c);
  unsigned needs; /* CLI_DETAIL_* */
};

/* --- cells ------------------------------------------------------------------ */

static void put(cell *c, const char *text)
{
  (void)snprintf(c->text, sizeof(c->text), "%s", text);
}

static void put_number(cell *c, const char *key)
{
  (void)snprintf(c->text, sizeof(c->text), "%lld",
                 (long long)cli_json_number(c->list, c->i, key, 0));
}

static void put_since(cell *c, int64_t ms)
{
  cli_duration(c->text, sizeof(c->text), ms);
}

static void fill_name(cell *c)
{
  put(c, cli_json_text(c->list, c->i, "name"));
}

static void fill_user(cell *c)
{
  put(c, cli_json_text(c->list, c->i, "username"));
}

static void fill_state(cell *c)
{
  put(c, cli_json_text(c->list, c->i, "state"));
}

static void fill_code(cell *c)
{
  int64_t code = cli_json_number(c->list, c->i, "appExitCode", INT64_MIN);

  /* One that has not ended has none, whatever else was asked of it. */
  if (code != INT64_MIN && c->detail != NULL && c->detail->code != INT64_MIN)
    code = c->detail->code;
  if (code == INT64_MIN)
    put(c, "-");
  else
    (void)snprintf(c->text, sizeof(c->text), "%lld", (long long)code);
}

static void fill_vc(cell *c)
{
  put(c, cli_json_text(c->list, c->i, "virtualCluster"));
}

static void fill_priority(cell *c)
{
  const char *class = cli_json_text(c->list, c->i, "jobPriority");

  put(c, *class != '\0' ? class : "-");
}

static void fill_tags(cell *c)
{
  size_t tags = cli_json_get(c->list, c->i, "tags"), len = 0;

  put(c, "-");
  for (size_t t = tags != 0 ? cli_json_first(c->list, tags) : 0; t != 0;
       t = cli_json_next(c->list, tags, t)) {
    int n = snprintf(c->text + len, sizeof(c->text) - len, "%s%s",
                     len > 0 ? "," : "", c->list->values[t].text);

    if (n < 0 || (size_t)n >= sizeof(c->text) - len)
      return;
    len += (size_t)n;
  }
}

static void fill_submitted(cell *c)
{
  time_t at =
    (time_t)(cli_json_number(c->list, c->i, "submissionTime", 0) / 1000);
  struct tm tm;

  if (localtime_r(&at, &tm) == NULL ||
      strftime(c->text, sizeof(c->text), "%Y-%m-%d %H:%M", &tm) == 0)
    put(c, "-");
}

static void fill_age(cell *c)
{
  put_since(c,
            cli_now() - cli_json_number(c->list, c->i, "submissionTime", 0));
}

/* How long it ran, or has been running. */
static void fill_ran(cell *c)
{
  int64_t from = cli_json_number(c->list, c->i, "launchedTime", -1),
          to = cli_json_number(c->list, c->i, "completedTime", -1);

  if (to < 0)
    to = cli_now();
  put_since(c, from < 0 ? -1 : to > from ? to - from : 0);
}

static void fill_gpus(cell *c)
{
  put_number(c, "totalGpuNumber");
}

static void fill_tasks(cell *c)
{
  put_number(c, "totalTaskNumber");
}

static void put_known(cell *c, const char *text)
{
  put(c, text != NULL && text[0] != '\0' ? text : "-");
}

static void fill_node(cell *c)
{
  put_known(c, c->detail != NULL ? c->detail->node : NULL);
}

static void fill_command(cell *c)
{
  put_known(c, c->detail != NULL ? c->detail->command : NULL);
}

static void fill_retries(cell *c)
{
  put_number(c, "retries");
}

static const column columns[] = {
  { "name", "NAME", 4, false, fill_name, 0 },
  { "user", "USER", 10, false, fill_user, 0 },
  { "state", "STATE", 9, false, fill_state, 0 },
  { "code", "CODE", 4, true, fill_code, CLI_DETAIL_CODE },
  { "vc", "VC", 8, false, fill_vc, 0 },
  { "priority", "PRIORITY", 8, false, fill_priority, 0 },
  { "tags", "TAGS", 4, false, fill_tags, 0 },
  { "submitted", "SUBMITTED", 16, false, fill_submitted, 0 },
  { "age", "AGE", 8, true, fill_age, 0 },
  { "ran", "RAN", 8, true, fill_ran, 0 },
  { "gpus", "GPUS", 4, true, fill_gpus, 0 },
  { "tasks", "TASKS", 5, true, fill_tasks, 0 },
  { "retries", "RETRIES", 7, true, fill_retries, 0 },
  { "node", "NODE", 4, false, fill_node, CLI_DETAIL_NODE },
  { "command", "COMMAND", 7, false, fill_command, CLI_DETAIL_COMMAND },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), WIDEST = 40 };

static const char usual[] = "name,user,state,age,ran,gpus,tasks,retries";
const char cli_job_columns_wide[] =
  "name,user,state,code,vc,priority,age,ran,gpus,tasks,retries,tags,node,"
  "command";

/* --- the table ---------------------------------------------------------------- */

/* The column that a list begins with, and the rest of the list; NULL: none. */
static const column *next_column(const char **list)
{
  size_t len = strcspn(*list, ",");
  const char *name = *list;

  *list += len + (name[len] == ',');
  for (size_t i = 0; i < COLUMNS; i++)
    if (strlen(columns[i].name) == len &&
        strncmp(columns[i].name, name, len) == 0)
      return &columns[i];
  return NULL;
}

const char *cli_job_columns_wrong(const char *list)
{
  while (*list != '\0') {
    const char *name = list;

    if (next_column(&list) == NULL)
      return name;
  }
  return NULL;
}

unsigned cli_job_columns_need(const char *list)
{
  unsigned needs = 0;

  while (*list != '\0') {
    const column *of = next_column(&list);

    needs |= of != NULL ? of->needs : 0;
  }
  return needs;
}

/* Texts that differ in length take what they need. */
static int width_of(const column *of, const cli_json *list,
                    const size_t *items, size_t count,
                    const cli_job_detail *details)
{
  int width = of->width;
  cell c = { .list = list };

  if (of->right || of->fill == fill_state)
    return width;
  for (size_t k = 0; k < count; k++) {
    int len;

    c.i = items[k];
    c.detail = details != NULL ? &details[k] : NULL;
    of->fill(&c);
    len = cli_width(c.text);
    if (len > width)
      width = len < WIDEST ? len : WIDEST;
  }
  return width;
}

/* One that is highlighted has one colour. */
static void print_cell(FILE *out, const column *of, const char *text,
                       int width, bool last, bool chosen)
{
  int left = width - cli_width(text);

  if (of->right)
    (void)fprintf(out, "%*s", left > 0 ? left : 0, "");
  if (of->fill == fill_state && !chosen)
    cli_print_state(out, out, text);
  else
    cli_print_padded(out, text, 0);
  if (!of->right && !last)
    (void)fprintf(out, "%*s", left > 0 ? left : 0, "");
  if (!last)
    (void)fputs("  ", out);
}

void cli_print_jobs(FILE *out, const cli_json *list, const size_t *items,
                    size_t count, const cli_job_detail *details,
                    const char *asked, size_t chosen)
{
  const column *shown[COLUMNS];
  int widths[COLUMNS], n = 0;
  cell c = { .list = list };

  if (asked == NULL)
    asked = usual;
  while (*asked != '\0' && n < COLUMNS)
    if ((shown[n] = next_column(&asked)) != NULL)
      n++;
  for (int k = 0; k < n; k++) {
    widths[k] = width_of(shown[k], list, items, count, details);
    (void)fprintf(out, shown[k]->right ? "%*s%s" : "%-*s%s",
                  k + 1 == n && !shown[k]->right ? 0 : widths[k],
                  shown[k]->head, k + 1 == n ? "\n" : "  ");
  }
  for (size_t i = 0; i < count; i++) {
    c.i = items[i];
    c.detail = details != NULL ? &details[i] : NULL;
    (void)fputs(i == chosen ? "\033[7m" : "", out);
    for (int k = 0; k < n; k++) {
      shown[k]->fill(&c);
      print_cell(out, shown[k], c.text, widths[k], k + 1 == n, i == chosen);
    }
    (void)fprintf(out, "%s%s\n",
                  cli_json_true(list, c.i, "outputLost") ? "  output lost"
                                                         : "",
                  i == chosen ? "\033[0m" : "");
  }
}
