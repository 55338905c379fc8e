/* cmd_when.c - when what waits will start, and in which shape sooner */
#include "future.h"

#include <string.h>

/* --- when ----------------------------------------------------------------- */

static int tell(const future *f)
{
  pai_forecast *forecast;
  pai_error *err = NULL;
  int rc =
    pai_forecast_new(&forecast, f->sched, f->learned, &f->options, &err);

  if (rc < 0)
    return future_fail(err);
  if (f->options.only != 0 && pai_forecast_next(forecast, 0) == 0) {
    cli_fail("request %llu is not waiting",
             (unsigned long long)f->options.only);
    pai_forecast_free(forecast);
    return CLI_NO;
  }
  rc =
    pai_forecast_write(forecast, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                       cli_write, stdout, &err);
  pai_forecast_free(forecast);
  return rc < 0 ? future_fail(err) : CLI_OK;
}

static int when(int argc, char **argv)
{
  future f = { .log = NULL };
  const cli_option options[] = { FUTURE_OPTIONS(f) };
  int words = cli_options(&cli_when, options,
                          sizeof(options) / sizeof(*options), argc, argv),
      code;
  const char *job;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = future_words(&cli_when, &f, words, argv, FUTURE_MAY_JOB, &job);
  if (code != CLI_OK)
    return code;
  code = future_open(&cli_when, &f);
  if (code == CLI_OK && job != NULL)
    code = future_find(&f, job, &f.options.only);
  if (code == CLI_OK)
    code = tell(&f);
  future_close(&f);
  return code;
}

const cli_verb cli_when = {
  .name = "when",
  .brief = "Forecast when waiting jobs will start",
  .usage = "[OPTION]... [LOG] [JOB]",
  .help =
    "Print the time range in which each waiting request will start; eight of\n"
    "ten requests start within it.  The scheduler is run through many "
    "simulated\n"
    "futures, in which jobs take as long as similar jobs did.\n"
    "\n"
    "LOG is a scheduler log or a snapshot, - for standard input; its end is\n"
    "now.  Without LOG, the platform is asked for the present state of its\n"
    "scheduler.  JOB is a request's number or name, in the platform that of "
    "a\n"
    "job (default: all waiting requests).  A single argument that is no file "
    "is\n"
    "a JOB.\n"
    "\n" FUTURE_HELP "\n"
    "Exit status: 0 success, 1 an invalid line in the log, JOB does not\n"
    "wait, or no platform answers, 2 the log cannot be read or usage error\n",
  .run = when,
};

/* --- fit ------------------------------------------------------------------ */

static int tell_shapes(const future *f, uint64_t id)
{
  pai_shapes *shapes;
  pai_error *err = NULL;
  int rc = pai_shapes_new(&shapes, f->sched, f->learned, id, cli_values.words,
                          cli_values.count, &f->options, &err);

  if (rc < 0)
    return future_fail(err);
  rc = pai_shapes_write(shapes, f->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                        cli_write, stdout, &err);
  pai_shapes_free(shapes);
  return rc < 0 ? future_fail(err) : CLI_OK;
}

static int fit(int argc, char **argv)
{
  future f = { .log = NULL };
  const cli_option options[] = { { "vc", 0, NULL, cli_values.words },
                                 FUTURE_OPTIONS(f) };
  int words = cli_options(&cli_fit, options,
                          sizeof(options) / sizeof(*options), argc, argv),
      code;
  const char *job;
  uint64_t id;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = future_words(&cli_fit, &f, words, argv, FUTURE_NEEDS_JOB, &job);
  if (code != CLI_OK)
    return code;
  code = future_open(&cli_fit, &f);
  if (code == CLI_OK)
    code = future_find(&f, job, &id);
  if (code == CLI_OK)
    code = tell_shapes(&f, id);
  future_close(&f);
  return code;
}

const cli_verb cli_fit = {
  .name = "fit",
  .brief = "Find requests with which a waiting job would start sooner",
  .usage = "[--vc NAME]... [OPTION]... [LOG] JOB",
  .help =
    "JOB is the number or name of a waiting request; LOG is as for when.  On\n"
    "copies of the scheduler, try fewer GPUs for each task, fewer tasks, "
    "more\n"
    "and smaller tasks, other GPUs and other virtual clusters.  The best\n"
    "proposals come first: those that start sooner with more of the "
    "requested\n"
    "resources.\n"
    "\n"
    "  --vc NAME        further virtual cluster that the user may use;\n"
    "                   repeatable\n" FUTURE_HELP "\n"
    "Exit status: 0 success, 1 an invalid line in the log, JOB does not\n"
    "wait, or no platform answers, 2 the log cannot be read or usage error\n",
  .run = fit,
};
