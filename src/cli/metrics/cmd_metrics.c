/* cmd_metrics.c - `metrics`: time series of a job, a node, a virtual cluster
 * or the queue, as charts on a terminal, else as a table */
#include "cells.h"
#include "chart.h"
#include "jobs.h"
#include "quantity.h"
#include "remote.h"
#include "screen.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- the call ------------------------------------------------------------- */

/* Reads --since or --until into milliseconds since 1970.  Returns false after
 * printing an error. */
static bool read_time(const char *option, const char *word, int64_t *ms)
{
  if (word == NULL)
    return true;
  if (!cli_read_since(ms, word)) {
    cli_fail("--%s: not a time: %s", option, word);
    cli_help(stderr, "as " CLI_SINCE_FORMS);
    return false;
  }
  if (*ms < 0)
    *ms += (int64_t)time(NULL) * 1000;
  return true;
}

static bool has_utf8(void)
{
  static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
  const char *value = NULL;

  for (size_t i = 0; i < 3 && (value == NULL || value[0] == '\0'); i++)
    value = getenv(names[i]);
  return value != NULL &&
         (strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL ||
          strstr(value, "utf-8") != NULL);
}

/* Prints the members of the call's arguments that are not its subject. */
static bool print_range(FILE *out, const cli_metrics_args *a)
{
  int64_t since = -1, until = -1;

  if (!read_time("since", a->since, &since) ||
      !read_time("until", a->until, &until))
    return false;
  if (a->since != NULL)
    cli_json_print(out, ",\"from\":%lld", (long long)since);
  if (a->until != NULL)
    cli_json_print(out, ",\"to\":%lld", (long long)until);
  if (a->step != NULL)
    (void)fprintf(out, ",\"step\":%s", a->step);
  if (a->series != NULL) {
    char *list = cli_json_list(a->series);
    (void)fprintf(out, ",\"series\":%s", list != NULL ? list : "[]");
    free(list);
  }
  if (a->tasks)
    (void)fputs(",\"tasks\":true", out);
  return true;
}

/* Makes the arguments of the call; NULL after printing an error. */
static char *make_arguments(const cli_metrics_args *a, const char **call)
{
  char *text = NULL, *job = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  bool valid;

  if (out == NULL)
    return NULL;
  if (a->node != NULL) {
    *call = "nodes.metrics";
    cli_json_print(out, "{\"node\":%s", a->node);
  } else if (a->vc != NULL) {
    *call = "vcs.metrics";
    cli_json_print(out, "{\"vc\":%s", a->vc);
  } else if (a->queue) {
    *call = "scheduler.metrics";
    (void)fputs("{\"step\":0", out);
  } else {
    *call = "jobs.metrics";
    job = cli_whole_name(a->words[0]);
    cli_json_print(out, "{\"job\":%s", job != NULL ? job : a->words[0]);
    free(job);
  }
  valid = print_range(out, a);
  (void)fputc('}', out);
  if (fclose(out) == 0 && valid)
    return text;
  free(text);
  return NULL;
}

/* --- output --------------------------------------------------------------- */

/* What a series is about: "gpu 0", "worker 3"; "" for the whole. */
static const char *label_of(char out[96], const pai_json *j, size_t series)
{
  out[0] = '\0';
  if (cli_json_has(j, series, "gpu"))
    (void)snprintf(out, 96, "gpu%lld ",
                   (long long)cli_json_number(j, series, "gpu", 0));
  if (cli_json_has(j, series, "role"))
    (void)snprintf(out, 96, "%.64s/%lld ", cli_json_text(j, series, "role"),
                   (long long)cli_json_number(j, series, "index", 0));
  return out;
}

/* Copies the values of a series, for free(); unknown ones are -1. */
static double *values_of(const pai_json *j, size_t series, size_t *n)
{
  size_t list = cli_json_get(j, series, "values");
  double *values;

  *n = pai_json_count(j, list);
  values = calloc(*n + 1, sizeof(*values));
  *n = 0;
  for (cli_each e = cli_each_of(j, list); values != NULL && cli_next(&e);)
    values[(*n)++] = pai_json_number(j, e.at, -1);
  return values;
}

static void print_charts(const pai_json *j, bool utf8)
{
  unsigned width, height;
  char label[96], title[160];

  cli_screen_size(&width, &height);
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "series"));
       cli_next(&e);) {
    size_t n;
    double *values = values_of(j, e.at, &n);
    cli_chart chart = { .title = title,
                        .unit = cli_json_text(j, e.at, "unit"),
                        .values = values,
                        .count = n,
                        .from = cli_json_number(j, 0, "from", 0),
                        .to = cli_json_number(j, 0, "to", 0),
                        .width = width,
                        .utf8 = utf8 };

    (void)snprintf(title, sizeof(title), "%s%s", label_of(label, j, e.at),
                   cli_json_text(j, e.at, "name"));
    if (values != NULL)
      cli_chart_print(stdout, &chart);
    free(values);
  }
}

static void print_head(const pai_json *j)
{
  char label[96];

  (void)printf("TIME               ");
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "series"));
       cli_next(&e);) {
    char title[160];

    (void)snprintf(title, sizeof(title), "%s%s", label_of(label, j, e.at),
                   cli_json_text(j, e.at, "name"));
    (void)printf("  %12s", title);
  }
  (void)printf("\n");
}

/* Rows without a known value are left out. */
static void print_row(const pai_json *j, size_t i)
{
  int64_t step = cli_json_number(j, 0, "step", 1) * 1000;
  char row[8192], date[32], text[32];
  size_t len = 0;
  bool known = false;

  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "series"));
       cli_next(&e) && len + 64 < sizeof(row);) {
    size_t at = pai_json_item(j, cli_json_get(j, e.at, "values"), i);
    double value = pai_json_number(j, at, -1);

    known = known || value >= 0;
    len += (size_t)snprintf(
      row + len, sizeof(row) - len, "  %12s",
      cli_chart_value(text, value, cli_json_text(j, e.at, "unit")));
  }
  if (known)
    (void)printf("%s%s\n",
                 cli_chart_date(date, cli_json_number(j, 0, "from", 0) +
                                        (int64_t)i * step),
                 row);
}

static void print_rows(const pai_json *j)
{
  size_t first = pai_json_item(j, cli_json_get(j, 0, "series"), 0);
  size_t n = pai_json_count(j, cli_json_get(j, first, "values"));

  print_head(j);
  for (size_t i = 0; i < n; i++)
    print_row(j, i);
}

static void put_percent(const pai_json *j, const char *path, const char *what)
{
  size_t at = cli_json_get(j, 0, path);

  if (at != PAI_JSON_NONE)
    (void)printf("  %s %.1f%%", what, pai_json_number(j, at, 0));
}

/* What the job used of what it held. */
static void print_use(const pai_json *j)
{
  char text[32];

  if (!cli_json_has(j, 0, "use"))
    return;
  (void)printf("used of what it asked for:");
  put_percent(j, "use/gpuUse", "GPUs");
  put_percent(j, "use/cpuUse", "CPUs");
  put_percent(j, "use/memoryUse", "memory");
  if (cli_json_has(j, 0, "use/memoryMost"))
    (void)printf("  at most %s",
                 cli_bytes(text, sizeof(text),
                           cli_json_number(j, 0, "use/memoryMost", 0)));
  (void)printf("\n");
}

int cli_do_metrics(const cli_metrics_args *a)
{
  const char *call;
  char *arguments;
  int code = CLI_NO;
  cli_remote r;
  cli_answer answer;
  pai_json *j;

  if (a->node == NULL && a->vc == NULL && !a->queue &&
      !cli_want_jobs(a->count, a->words))
    return CLI_USAGE;
  if ((a->node != NULL || a->vc != NULL || a->queue) && a->count > 0)
    return cli_misused("a job and another subject are given", a->words[0]);
  arguments = make_arguments(a, &call);
  if (arguments == NULL)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true)) {
    free(arguments);
    return CLI_NO;
  }
  cli_call(&r, &answer, call, arguments);
  if (answer.status != PAI_OK) {
    cli_answer_tell(&answer);
  } else if (a->json) {
    (void)printf("%s\n", answer.body);
    code = CLI_OK;
  } else if (cli_json_read(&j, answer.body, answer.len)) {
    if (cli_is_terminal(stdout))
      print_charts(j, has_utf8());
    else
      print_rows(j);
    print_use(j);
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_answer_free(&answer);
  cli_remote_close(&r);
  return code;
}
