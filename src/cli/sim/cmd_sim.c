/* cmd_sim.c - `sim`: run a trace through a cluster under one or several
 * policies */
#include "cells.h"
#include "file.h"
#include "quantity.h"
#include "sim_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_times(const cli_sim_run_args *w, sim_plan *p)
{
  const struct {
    const char *word, *name;
    pai_time *to;
    bool some; /* reject 0, which means something else to pai_sim */
  } times[] = {
    { w->until, "--until", &p->options.until, true },
    { w->start_cost, "--start-cost", &p->options.start_cost, false },
    { w->restart_cost, "--restart-cost", &p->options.restart_cost, true },
    { w->stop_cost, "--stop-cost", &p->options.stop_cost, false },
    { w->checkpoint, "--checkpoint", &p->options.checkpoint, true },
    { w->mtbf, "--mtbf", &p->options.node_up, true },
    { w->mttr, "--mttr", &p->options.node_down, true },
    { w->patience, "--patience", &p->options.patience, true },
  };

  for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
    if (times[i].word != NULL && (!cli_read_span(times[i].word, times[i].to) ||
                                  (times[i].some && *times[i].to == 0))) {
      char what[96];

      (void)snprintf(what, sizeof(what),
                     "%s needs a time%s, as 90, 90s, 5m, 1.5h or 3d",
                     times[i].name, times[i].some ? " above 0" : "");
      return cli_misused(what, times[i].word);
    }
  return CLI_OK;
}

/* Parses fractions and factors into thousandths. */
static int take_parts(const cli_sim_run_args *w, sim_plan *p)
{
  const struct {
    const char *word, *what;
    uint32_t *to;
    int64_t least, most;
  } parts[] = {
    { w->fail, "--fail needs a part from 0 to 1, as 0.05", &p->options.fail, 0,
      1000 },
    { w->spread, "--spread needs a part from 0 to 1, as 0.2",
      &p->options.spread, 0, 1000 },
    { w->stretch, "--stretch needs a factor from 0.001 to 1000, as 1.25",
      &p->options.stretch, 1, 1000000 },
  };

  for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
    int64_t value = 0;
    const char *rest;

    if (parts[i].word == NULL)
      continue;
    rest = cli_read_decimal(parts[i].word, 3, &value);
    if (rest == NULL || *rest != '\0' || value < parts[i].least ||
        value > parts[i].most)
      return cli_misused(parts[i].what, parts[i].word);
    *parts[i].to = (uint32_t)value;
  }
  return CLI_OK;
}

/* --- policies ------------------------------------------------------------ */

/* Parses "fifo" or "fifo:{...}". */
static int take_policies(const cli_words *policies, sim_case *cases)
{
  for (size_t i = 0; i < policies->count; i++) {
    const char *word = policies->words[i], *colon = strchr(word, ':');
    size_t len = colon != NULL ? (size_t)(colon - word) : strlen(word);

    if (len == 0 || len >= sizeof(cases[i].name))
      return cli_misused("this is no policy", word);
    memcpy(cases[i].name, word, len);
    cases[i].options = colon != NULL ? colon + 1 : NULL;
  }
  return CLI_OK;
}

static int check_words(const cli_sim_run_args *w, size_t policies)
{
  const char *alone = w->log != NULL        ? "--log"
                      : w->events != NULL   ? "--events"
                      : w->jobs_csv != NULL ? "--jobs-csv"
                                            : NULL;

  if (w->json && w->csv != NULL && strcmp(w->csv, "-") == 0)
    return cli_misused("both would write to standard output",
                       "--json and --csv -");
  if (policies > 1 && alone != NULL) {
    cli_fail("%s requires one policy, and %zu are given", alone, policies);
    cli_help(stderr, "run that policy alone");
    return CLI_USAGE;
  }
  if (policies > 1 && strcmp(w->trace, "-") == 0) {
    cli_fail(
      "standard input can be read only once, but %zu policies are given",
      policies);
    cli_help(stderr, "write the trace to a file first");
    return CLI_USAGE;
  }
  return CLI_OK;
}

/* --- progress ------------------------------------------------------------ */

enum { WIDTH = 40 };

static void draw_bar(void *data, unsigned part)
{
  unsigned *shown = data, full = part * WIDTH / 1000;

  if (part == *shown)
    return;
  *shown = part;
  (void)fprintf(stderr, "\r[%.*s%*s] %3u %%", (int)full,
                "########################################",
                (int)(WIDTH - full), "", part / 10);
  (void)fflush(stderr);
}

static void wipe_bar(unsigned shown)
{
  if (shown != 0)
    (void)fprintf(stderr, "\r%*s\r", WIDTH + 10, "");
}

/* --- results ------------------------------------------------------------- */

static int save_as(const pai_sim_report *const *reports, size_t n, int format,
                   const char *name)
{
  cli_text text = { 0 };
  pai_error *err = NULL;
  int code = CLI_OK;

  if (name == NULL)
    return CLI_OK;
  if (pai_sim_write(reports, n, format, cli_text_add, &text, &err) < 0) {
    code = cli_fail_with(NULL, err);
  } else {
    code = cli_save(name, text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

static int print_reports(const cli_sim_run_args *w, const sim_case *cases,
                         size_t count)
{
  const pai_sim_report *reports[CLI_VALUES];
  bool to_stdout = (w->csv != NULL && strcmp(w->csv, "-") == 0) ||
                   (w->html != NULL && strcmp(w->html, "-") == 0);
  size_t n = 0;
  int code;

  for (size_t i = 0; i < count; i++)
    if (cases[i].report != NULL)
      reports[n++] = cases[i].report;
  if (n == 0)
    return CLI_NO;
  code = save_as(reports, n, PAI_FORMAT_CSV, w->csv);
  if (code == CLI_OK)
    code = save_as(reports, n, PAI_FORMAT_HTML, w->html);
  if (code == CLI_OK && !to_stdout)
    code =
      save_as(reports, n, w->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT, "-");
  return code;
}

/* Checked before a run of hours; an existing file is not changed. */
static bool can_write(const char *name)
{
  FILE *file;

  if (name == NULL || strcmp(name, "-") == 0)
    return true;
  file = fopen(name, "ab");
  if (file == NULL)
    (void)cli_write_fail(name, errno);
  else
    (void)fclose(file);
  return file != NULL;
}

static int simulate(const cli_sim_run_args *w, sim_plan *p, sim_case *cases,
                    size_t count)
{
  unsigned shown = 0;
  sim_progress progress = cli_is_terminal(stderr) ? draw_bar : NULL;
  int code = count == 1 ? sim_run(p, &cases[0], progress, &shown)
                        : sim_run_all(p, cases, count, progress, &shown),
      said;

  wipe_bar(shown);
  said = code == CLI_USAGE ? code : print_reports(w, cases, count);
  for (size_t i = 0; i < count; i++)
    pai_sim_report_free(cases[i].report);
  return code != CLI_OK ? code : said;
}

static int run_words(const cli_sim_run_args *w, sim_case *cases, size_t count)
{
  sim_plan p = { .trace = w->trace,
                 .model = w->model,
                 .sort = w->sort,
                 .options = PAI_SIM_OPTIONS_INIT,
                 .log = w->log,
                 .events = w->events,
                 .jobs = w->jobs_csv };
  cli_source source;
  int code = take_times(w, &p);

  if (code == CLI_OK)
    code = take_parts(w, &p);
  if (code == CLI_OK)
    code = cli_trace_form(w->as, &p.form);
  if (code != CLI_OK)
    return code;
  p.options.seed = cli_number(w->seed, 0);
  p.options.strict = w->strict;
  p.options.estimates = w->estimates;
  p.verbose = w->verbose;
  if (!can_write(w->csv) || !can_write(w->html))
    return CLI_USAGE;
  code = cli_source_cluster(&source, w->cluster);
  p.cluster = source.cluster;
  if (code == CLI_OK)
    code = simulate(w, &p, cases, count);
  cli_source_close(&source);
  return code;
}

int cli_do_sim_run(const cli_sim_run_args *a)
{
  static const cli_words usual = { 1, { "fifo" } };
  static sim_case cases[CLI_VALUES];
  const cli_words *policies = a->policy.count > 0 ? &a->policy : &usual;
  int code = take_policies(policies, cases);

  if (code == CLI_OK)
    code = check_words(a, policies->count);
  return code == CLI_OK ? run_words(a, cases, policies->count) : code;
}
