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
    cli_fail("request %llu does not wait",
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
  .brief = "Tell when what waits will start",
  .usage = "[OPTION]... [LOG] [JOB]",
  .help =
    "LOG is the log of a scheduler, or a snapshot alone, or - for standard\n"
    "input; its end is now.  Without it the platform is asked for its\n"
    "scheduler as it is; a single word that is no file is a JOB.  That is a\n"
    "request's number or name, which of the platform are the job's; else all\n"
    "that wait are told.  The scheduler is driven into many futures, in "
    "which\n"
    "jobs take as long as others like them did; eight of ten requests start\n"
    "within the times told.\n\n" FUTURE_HELP
    "\nExit status: 0 success, 1 an invalid line in the log, JOB does not\n"
    "wait, or no platform answers, 2 the log cannot be read or usage error\n",
  .run = when,
};

/* --- fit ------------------------------------------------------------------ */

static int tell_shapes(const future *f, uint64_t id)
{
  pai_shapes *shapes;
  pai_error *err = NULL;
  int rc = pai_shapes_new(&shapes, f->sched, f->learned, id, cli_values,
                          cli_value_count, &f->options, &err);

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
  const cli_option options[] = { { "vc", 0, NULL, cli_values },
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
  .brief = "Find shapes in which a waiting job would start sooner",
  .usage = "[--vc NAME]... [OPTION]... [LOG] JOB",
  .help =
    "LOG is as for when, JOB the number or name of a request that waits.\n"
    "Fewer GPUs for each task, fewer tasks, more and smaller ones, other "
    "GPUs\n"
    "and other virtual clusters are tried on copies of the scheduler; the "
    "best\n"
    "comes first: who starts sooner with more of what was wanted.\n\n"
    "  --vc NAME        a virtual cluster that its user may use "
    "besides\n" FUTURE_HELP
    "\nExit status: 0 success, 1 an invalid line in the log, JOB does not\n"
    "wait, or no platform answers, 2 the log cannot be read or usage error\n",
  .run = fit,
};
