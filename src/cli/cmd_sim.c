/* cmd_sim.c - runs a trace through a cluster under one policy or several */
#include "cells.h"
#include "sim_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What was said, before it is understood. */
typedef struct words {
  const char *cluster, *trace, *form, *model;
  const char *csv, *html, *log, *events, *jobs;
  const char *seed, *until, *start, *restart, *stop, *checkpoint, *mtbf, *mttr,
    *fail, *patience, *stretch, *spread;
  bool json, strict, sort, estimates, verbose;
} words;

static int misused(const char *what, const char *word)
{
  cli_misused(&cli_sim_run, what, word);
  return CLI_USAGE;
}

/* --- numbers -------------------------------------------------------------- */

/* "1.5" with so many digits behind the point at most, as a whole number of the
 * last one; what follows it.  NULL: there is no number. */
static const char *parse_decimal(const char *text, unsigned digits,
                                 int64_t *out)
{
  bool point = false;

  *out = 0;
  if (*text < '0' || *text > '9')
    return NULL;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
    if (*text == '.') {
      point = true;
      continue;
    }
    if ((point && digits-- == 0) || *out > (INT64_MAX - 9) / 10)
      return NULL;
    *out = *out * 10 + (*text - '0');
  }
  for (; digits > 0; digits--) {
    if (*out > INT64_MAX / 10)
      return NULL;
    *out *= 10;
  }
  return text;
}

/* "90", "90s", "5m", "1.5h", "3d". */
static bool parse_time(const char *text, pai_time *out)
{
  static const struct {
    const char *name;
    int64_t seconds;
  } units[] = { { "", 1 },     { "s", 1 },     { "m", 60 },
                { "h", 3600 }, { "d", 86400 }, { "w", 604800 } };
  const char *unit = parse_decimal(text, 6, out);

  for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(*units); i++)
    if (strcmp(unit, units[i].name) == 0) {
      if (*out > INT64_MAX / 4 / units[i].seconds)
        return false;
      *out *= units[i].seconds;
      return true;
    }
  return false;
}

static int take_times(const words *w, sim_plan *p)
{
  const struct {
    const char *word, *name;
    pai_time *to;
    bool some; /* 0 would mean something else than was said */
  } times[] = {
    { w->until, "--until", &p->options.until, true },
    { w->start, "--start-cost", &p->options.start_cost, false },
    { w->restart, "--restart-cost", &p->options.restart_cost, true },
    { w->stop, "--stop-cost", &p->options.stop_cost, false },
    { w->checkpoint, "--checkpoint", &p->options.checkpoint, true },
    { w->mtbf, "--mtbf", &p->options.node_up, true },
    { w->mttr, "--mttr", &p->options.node_down, true },
    { w->patience, "--patience", &p->options.patience, true },
  };

  for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
    if (times[i].word != NULL && (!parse_time(times[i].word, times[i].to) ||
                                  (times[i].some && *times[i].to == 0))) {
      char what[96];

      (void)snprintf(what, sizeof(what),
                     "%s needs a time%s, as 90, 90s, 5m, 1.5h or 3d",
                     times[i].name, times[i].some ? " above 0" : "");
      return misused(what, times[i].word);
    }
  return CLI_OK;
}

/* Parts of one, which become thousandths. */
static int take_parts(const words *w, sim_plan *p)
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
    rest = parse_decimal(parts[i].word, 3, &value);
    if (rest == NULL || *rest != '\0' || value < parts[i].least ||
        value > parts[i].most)
      return misused(parts[i].what, parts[i].word);
    *parts[i].to = (uint32_t)value;
  }
  return CLI_OK;
}

static int take_seed(const words *w, sim_plan *p)
{
  char *rest;

  if (w->seed == NULL)
    return CLI_OK;
  errno = 0;
  p->options.seed = strtoull(w->seed, &rest, 10);
  return w->seed[0] < '0' || w->seed[0] > '9' || *rest != '\0' || errno != 0
           ? misused("--seed needs a number", w->seed)
           : CLI_OK;
}

static int take_form(const words *w, sim_plan *p)
{
  if (w->form == NULL)
    return CLI_OK;
  for (int form = 1; form < PAI_TRACE_GENERATED; form++) {
    const char *name = pai_trace_form_name(form);

    if (name != NULL && strcmp(name, w->form) == 0) {
      p->form = form;
      return CLI_OK;
    }
  }
  return misused("unknown format of a trace", w->form);
}

/* --- policies ------------------------------------------------------------- */

/* "fifo" or "fifo:{...}". */
static int take_policies(sim_case *cases, size_t *count)
{
  static const char *const usual = "fifo";

  if (cli_values.count == 0)
    cli_values.words[cli_values.count++] = usual;
  for (size_t i = 0; i < cli_values.count; i++) {
    const char *colon = strchr(cli_values.words[i], ':');
    size_t len = colon != NULL ? (size_t)(colon - cli_values.words[i])
                               : strlen(cli_values.words[i]);

    if (len == 0 || len >= sizeof(cases[i].name))
      return misused("this is no policy", cli_values.words[i]);
    memcpy(cases[i].name, cli_values.words[i], len);
    cases[i].options = colon != NULL ? colon + 1 : NULL;
  }
  *count = cli_values.count;
  return CLI_OK;
}

static int check_words(const words *w, int rest, char **argv, size_t policies)
{
  const char *alone = w->log != NULL      ? "--log"
                      : w->events != NULL ? "--events"
                      : w->jobs != NULL   ? "--jobs-csv"
                                          : NULL;

  if (rest > 0)
    return misused("this verb takes no argument", argv[0]);
  if (w->cluster == NULL || w->trace == NULL)
    return misused("a required option is missing",
                   w->cluster == NULL ? "--cluster" : "--trace");
  if (w->json && w->csv != NULL && strcmp(w->csv, "-") == 0)
    return misused("both would write to standard output",
                   "--json and --csv -");
  if (policies > 1 && alone != NULL) {
    cli_fail("%s requires one policy, and %zu are given", alone, policies);
    cli_help(stderr, "run that policy once more, alone");
    return CLI_USAGE;
  }
  if (policies > 1 && strcmp(w->trace, "-") == 0) {
    cli_fail(
      "standard input can be read only once, but %zu policies are given",
      policies);
    cli_help(stderr, "write it to a file first, and name that");
    return CLI_USAGE;
  }
  return CLI_OK;
}

/* --- progress ------------------------------------------------------------- */

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

/* --- the answer ----------------------------------------------------------- */

static int save_as(const pai_sim_report *const *reports, size_t n, int format,
                   const char *name)
{
  cli_text text = { 0 };
  pai_error *err = NULL;
  int code = CLI_OK;

  if (name == NULL)
    return CLI_OK;
  if (pai_sim_write(reports, n, format, cli_text_add, &text, &err) < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
    code = CLI_NO;
  } else {
    code = cli_save(name, text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

static int print_reports(const words *w, const sim_case *cases, size_t count)
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

/* Before it takes hours: what is there already stays as it is. */
static bool can_write(const char *name)
{
  FILE *file;

  if (name == NULL || strcmp(name, "-") == 0)
    return true;
  file = fopen(name, "ab");
  if (file == NULL)
    cli_fail("cannot write %s: %s", name, strerror(errno));
  else
    (void)fclose(file);
  return file != NULL;
}

static int simulate(const words *w, sim_plan *p, sim_case *cases, size_t count)
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

static int run_words(const words *w, sim_case *cases, size_t count)
{
  sim_plan p = { .trace = w->trace,
                 .model = w->model,
                 .sort = w->sort,
                 .options = PAI_SIM_OPTIONS_INIT,
                 .log = w->log,
                 .events = w->events,
                 .jobs = w->jobs };
  cli_source source;
  const char *name = w->cluster;
  int code = take_times(w, &p);

  if (code == CLI_OK)
    code = take_parts(w, &p);
  if (code == CLI_OK)
    code = take_seed(w, &p);
  if (code == CLI_OK)
    code = take_form(w, &p);
  if (code != CLI_OK)
    return code;
  p.options.strict = w->strict;
  p.options.estimates = w->estimates;
  p.verbose = w->verbose;
  if (!can_write(w->csv) || !can_write(w->html))
    return CLI_USAGE;
  code = cli_source_open(&source, &name, 1, NULL, false);
  if (code == CLI_OK && source.cluster == NULL)
    code = cli_source_to_cluster(&source, NULL);
  p.cluster = source.cluster;
  if (code == CLI_OK)
    code = simulate(w, &p, cases, count);
  cli_source_close(&source);
  return code;
}

static int run(int argc, char **argv)
{
  static sim_case cases[CLI_VALUES];
  words w = { .cluster = NULL };
  const cli_option options[] = {
    { "cluster", 'c', NULL, &w.cluster },
    { "trace", 't', NULL, &w.trace },
    { "policy", 'p', NULL, cli_values.words },
    { "as", 0, NULL, &w.form },
    { "model", 0, NULL, &w.model },
    { "sort", 0, &w.sort, NULL },
    { "strict", 0, &w.strict, NULL },
    { "verbose", 'v', &w.verbose, NULL },
    { "seed", 0, NULL, &w.seed },
    { "until", 0, NULL, &w.until },
    { "estimates", 0, &w.estimates, NULL },
    { "start-cost", 0, NULL, &w.start },
    { "restart-cost", 0, NULL, &w.restart },
    { "stop-cost", 0, NULL, &w.stop },
    { "checkpoint", 0, NULL, &w.checkpoint },
    { "mtbf", 0, NULL, &w.mtbf },
    { "mttr", 0, NULL, &w.mttr },
    { "fail", 0, NULL, &w.fail },
    { "patience", 0, NULL, &w.patience },
    { "stretch", 0, NULL, &w.stretch },
    { "spread", 0, NULL, &w.spread },
    { "json", 0, &w.json, NULL },
    { "csv", 0, NULL, &w.csv },
    { "html", 0, NULL, &w.html },
    { "log", 0, NULL, &w.log },
    { "events", 0, NULL, &w.events },
    { "jobs-csv", 0, NULL, &w.jobs },
  };
  size_t count = 0;
  int rest = cli_options(&cli_sim_run, options,
                         sizeof(options) / sizeof(*options), argc, argv),
      code;

  if (rest < 0)
    return rest == -2 ? CLI_OK : CLI_USAGE;
  code = take_policies(cases, &count);
  if (code == CLI_OK)
    code = check_words(&w, rest, argv, count);
  return code == CLI_OK ? run_words(&w, cases, count) : code;
}

const cli_verb cli_sim_run = {
  .name = "sim run",
  .brief = "Simulate a cluster with a trace of jobs",
  .usage = "--cluster C --trace T [--policy P]... [OPTION]...",
  .help =
    "C is a cluster file, or a description as \"nodes:16 gpu:8:h100\".  T is "
    "a\n"
    "trace, or - for standard input.  Print a report; several policies are\n"
    "compared side by side.  The word run may be left out.\n"
    "\n"
    "  -c, --cluster C     the cluster\n"
    "  -t, --trace T       the trace\n"
    "  -p, --policy P      policy, or P:OPTIONS with a JSON object; "
    "repeatable,\n"
    "                      all run at the same time (default: fifo)\n"
    "  --as FORM           format of the trace (default: detected)\n"
    "  --model M           GPU model of jobs for which the trace names none\n"
    "  --sort              sort the trace by time first\n"
    "  --strict            fail at an unusable line, and at a job that could\n"
    "                      never start or that names an unknown virtual "
    "cluster\n"
    "                      or SKU (default: skip and count them)\n"
    "  -v, --verbose       report each such job, and lines that were "
    "corrected\n"
    "  --seed N            seed of random numbers (default: 0)\n"
    "  --until T           time of the trace at which to stop\n"
    "  --estimates         tell the policy how long jobs will take\n"
    "  --start-cost T      delay between placement and work (default: 0)\n"
    "  --restart-cost T    the same for a job that ran before (default: the\n"
    "                      start cost)\n"
    "  --stop-cost T       delay between a stop request and the free node\n"
    "                      (default: 0)\n"
    "  --checkpoint T      interval at which jobs save their work (default:\n"
    "                      never)\n"
    "  --mtbf T            mean time between failures of a node (default: no\n"
    "                      failures)\n"
    "  --mttr T            mean time to repair a node (default: 4h)\n"
    "  --fail P            part of all attempts that fail (default: 0)\n"
    "  --patience T        mean time until a user gives up a waiting job\n"
    "                      (default: never)\n"
    "  --stretch F         factor for all durations (default: 1)\n"
    "  --spread P          random variation of durations (default: 0)\n"
    "  --json              print one JSON object; several policies are in\n"
    "                      \"runs\"\n"
    "  --csv FILE          write a row for each policy\n"
    "  --html FILE         write a self-contained page with charts\n"
    "  --log FILE          write the scheduler log, for sched replay\n"
    "  --events FILE       write the events of jobs, as lines of JSON\n"
    "  --jobs-csv FILE     write a row for each job\n"
    "  -h, --help\n"
    "\n"
    "T (times) are as 90, 90s, 5m, 1.5h or 3d; P (parts) from 0 to 1, as "
    "0.05.\n"
    "FILE - is standard output.\n"
    "\n"
    "Exit status: 0 success, 1 a simulation failed or a file is invalid, 2\n"
    "a file cannot be read or usage error\n",
  .run = run,
};
