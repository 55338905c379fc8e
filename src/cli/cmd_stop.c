/* cmd_stop.c - ends jobs */
#include "job_select.h"

static int run_stop(int argc, char **argv)
{
  bool now = false;
  cli_selection s = { 0 };
  const cli_option options[] = { { "now", 0, &now, NULL },
                                 SELECTION_OPTIONS(s),
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_stop, options, 6, argc, argv), code;
  cli_job_names jobs;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = cli_jobs_select(&jobs, &r, &cli_stop, &s, "WAITING,RUNNING,STOPPING",
                         "stop", words, argv);
  for (size_t i = 0; i < jobs.count; i++)
    if (!cli_stop_job(&r, jobs.list[i], now))
      code = CLI_NO;
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_stop = {
  .name = "stop",
  .brief = "Stop jobs",
  .usage = "[--now] [--root DIR] JOB...\n"
           "       openpai stop " SELECTION_USAGE " [JOB...]",
  .help =
    "Send SIGTERM to the tasks of each job, and SIGKILL to tasks that still "
    "run\n"
    "five seconds later.  A waiting job never starts; a finished job is not\n"
    "changed.  This verb does not wait for the jobs to end; 'openpai wait'\n"
    "does.  " SELECTION_HELP
    "  --now            send SIGKILL at once\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 the jobs are stopping, 1 no such job, 2 usage error\n",
  .run = run_stop,
};
