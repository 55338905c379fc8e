/* cmd_wait.c - waits until jobs are over */
#include "job_select.h"
#include "live.h"
#include "progress.h"
#include "standing.h"

#include <stdlib.h>
#include <string.h>

enum { ORIGINAL_EVERY = 250 }; /* ms: it is not told how soon */

typedef struct waiting {
  cli_standing at; /* its job: as it was last shown */
  bool over, failed;
  bool shown;    /* somebody looks: at a line, */
  cli_live live; /* or at a table of the tasks */
  cli_stream stream;
} waiting;

/* Whether the job is over.  It is in `job` then. */
static bool look(waiting *w)
{
  char *path = cli_job_path(w->at.name, "");
  cli_json *job = &w->at.job;
  const char *state;

  cli_json_free(job);
  w->failed = !cli_remote_get(w->at.r, job, path);
  free(path);
  if (w->failed)
    return false;
  state = cli_json_text(job, cli_json_get(job, 0, "jobStatus"), "state");
  return cli_is_over(state);
}

static void tick(void *user_data)
{
  waiting *w = user_data;

  if (!w->live.open) {
    cli_standing_tell(&w->at);
    return;
  }
  cli_live_turn(&w->live, true);
  w->stream.every_ms = w->live.every_ms;
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  waiting *w = user_data;

  (void)bytes;
  (void)len;
  w->at.changed = true;
  return PAI_OK;
}

static int on_change(void *user_data, const pai_client_change *change)
{
  waiting *w = user_data;

  (void)change;
  w->at.changed = true;
  return PAI_OK;
}

/* Until something was told that ends the stream: mostly the job's end. */
static void listen(waiting *w, const char *path)
{
  bool original = cli_remote_is_original(w->at.r);
  int every = !w->shown ? 0 : original ? ORIGINAL_EVERY : CLI_STANDING_EVERY;
  const cli_watch asked = { w->at.name, on_change, w->shown ? tick : NULL, w,
                            every };
  cli_answer a;

  w->stream = (cli_stream){ on_bytes, w->shown ? tick : NULL, w, every };
  if (w->shown && cli_live_open(&w->live, w->at.r->loop, &w->at))
    w->stream.every_ms = w->live.every_ms;
  if (original)
    cli_remote_watch(w->at.r, &a, &asked);
  else
    cli_remote_stream(w->at.r, &a, path, &w->stream);
  cli_live_close(&w->live);
  cli_progress_over();
  w->failed = a.status < 0;
  if (w->failed)
    cli_answer_tell(&a);
  cli_answer_free(&a);
}

static int wait_for(cli_remote *r, const char *name, bool json, bool quiet)
{
  waiting w = { .at = { .r = r, .name = name },
                .shown = !quiet && !json && cli_progress_wanted() };
  char *path = cli_job_path(name, "/follow?output=false");
  size_t s;
  int code = CLI_BROKEN;

  while (path != NULL && !(w.over = look(&w)) && !w.failed)
    listen(&w, path);
  s = cli_json_get(&w.at.job, 0, "jobStatus");
  if (w.over && json) {
    (void)printf("{\"name\":");
    cli_json_string(stdout, name, strlen(name));
    (void)printf(",\"state\":\"%s\",\"code\":%lld,\"outputLost\":%s,"
                 "\"failure\":",
                 cli_json_text(&w.at.job, s, "state"),
                 (long long)cli_told_code(&w.at.job),
                 cli_json_true(&w.at.job, s, "outputLost") ? "true" : "false");
    cli_write_failure(stdout, &w.at.job);
    (void)printf("}\n");
  } else if (w.over && !quiet) {
    (void)printf("%s %s\n", name, cli_json_text(&w.at.job, s, "state"));
    (void)fflush(stdout); /* before why it failed */
  }
  if (w.over) {
    code = cli_exit_code(&w.at.job);
    if (!json && !quiet &&
        strcmp(cli_json_text(&w.at.job, s, "state"), "FAILED") == 0)
      cli_print_reason(stderr, &w.at.job);
    cli_print_lost_output(stderr, "warning: ", &w.at.job);
  }
  cli_standing_free(&w.at);
  free(path);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false, quiet = false;
  cli_selection s = { 0 };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "quiet", 'q', &quiet, NULL },
                                 FILTER_OPTIONS(s),
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_wait, options, 6, argc, argv), code;
  cli_job_names jobs;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_remote_open(&r, true))
    return CLI_BROKEN;
  /* Of those with a tag also what is over counts; of all what is not. */
  code = cli_jobs_select(&jobs, &r, &cli_wait, &s,
                         s.all ? "WAITING,RUNNING,STOPPING" : NULL, NULL,
                         words, argv);
  if (code != CLI_OK)
    code = CLI_BROKEN;
  for (size_t i = 0; i < jobs.count; i++) {
    int of_job = wait_for(&r, jobs.list[i], json, quiet);
    if (code == CLI_OK)
      code = of_job;
  }
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_wait = {
  .name = "wait",
  .brief = "Wait until jobs are over",
  .usage = "[--json] [--quiet] [--root DIR] JOB...\n"
           "       openpai wait " FILTER_USAGE " [JOB...]",
  .help =
    "Print each job with the state in which it ended, and why it failed if "
    "that is\n"
    "known.  On a terminal, a table shows the jobs' tasks "
    "meanwhile.\n" FILTER_HELP
    "  --json           print a line of JSON for each job: name, state, "
    "code,\n"
    "                   outputLost, failure\n"
    "  -q, --quiet      print nothing\n" JOBS_ROOT_HELP "\n"
    "Exit status:\n"
    "  0      all jobs succeeded\n"
    "  1-255  exit status of the first job that did not, as of 'openpai run'\n"
    "  125    also: no such job, or openpai itself failed\n",
  .run = run,
};
