/* cmd_stop.c - ends jobs */
#include "jobs.h"

static int run_stop(int argc, char **argv)
{
  bool now = false;
  const cli_option options[] = { { "now", 0, &now, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_stop, options, 2, argc, argv), code = CLI_OK;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_stop, words, argv, argc))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (int i = 0; i < words; i++)
    if (!cli_stop_job(&r, argv[i], now))
      code = CLI_NO;
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_stop = {
  .name = "stop",
  .brief = "Stop jobs",
  .usage = "[--now] [--root DIR] JOB...",
  .help =
    "Send SIGTERM to the tasks of a job, and SIGKILL to those that are still\n"
    "there five seconds later.  A waiting job never starts; a job that is "
    "over\n"
    "stays as it is.  This does not wait for the end: 'openpai wait' does.\n\n"
    "  --now            send SIGKILL at once\n" JOBS_ROOT_HELP
    "\nExit status: 0 the jobs are stopping, 1 no such job, 2 usage error\n",
  .run = run_stop,
};
