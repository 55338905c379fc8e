/* cmd_wait.c - `wait`: wait until jobs are over */
#include "job_select.h"
#include "live.h"
#include "progress.h"
#include "job_progress.h"

#include <stdlib.h>
#include <string.h>

enum { ORIGINAL_EVERY = 250 }; /* ms: an original server sends no events */

typedef struct waiting {
  cli_job_progress at; /* the job, as last read */
  bool over, failed;
  bool shown;    /* show progress on the terminal: as a line, */
  cli_live live; /* or as a table of the tasks */
  cli_stream stream;
} waiting;

/* Reads the job into at.job.  Returns whether it is over. */
static bool look(waiting *w)
{
  cli_json_free(&w->at.job);
  w->failed = !cli_job_read(w->at.r, &w->at.job, w->at.name);
  if (w->failed)
    return false;
  return cli_is_over(cli_json_text(w->at.job, 0, "jobStatus/state"));
}

static void tick(void *user_data)
{
  waiting *w = user_data;

  if (!w->live.open) {
    cli_job_progress_tell(&w->at);
    return;
  }
  cli_live_step(&w->live, true);
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

/* Waits until an event ends the stream, usually the end of the job. */
static void listen(waiting *w, const char *path)
{
  bool original = cli_remote_is_original(w->at.r);
  int every = !w->shown  ? 0
              : original ? ORIGINAL_EVERY
                         : CLI_JOB_PROGRESS_EVERY;
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
  s = cli_json_get(w.at.job, 0, "jobStatus");
  if (w.over && json) {
    cli_json_print(stdout,
                   "{\"name\":%s,\"state\":%s,\"code\":%lld,"
                   "\"outputLost\":%c,\"failure\":",
                   name, cli_json_text(w.at.job, s, "state"),
                   (long long)cli_result_code(w.at.job),
                   cli_truth(cli_json_true(w.at.job, s, "outputLost")));
    cli_write_failure(stdout, w.at.job);
    (void)printf("}\n");
  } else if (w.over && !quiet) {
    (void)printf("%s %s\n", name, cli_json_text(w.at.job, s, "state"));
    (void)fflush(stdout); /* before the reason of a failure */
  }
  if (w.over) {
    code = cli_exit_code(w.at.job);
    if (!json && !quiet &&
        strcmp(cli_json_text(w.at.job, s, "state"), "FAILED") == 0)
      cli_print_reason(stderr, w.at.job);
    cli_print_lost_output(stderr, "warning: ", w.at.job);
  }
  cli_job_progress_free(&w.at);
  free(path);
  return code;
}

int cli_do_wait(const cli_wait_args *a)
{
  cli_job_names jobs;
  cli_remote r;
  int code;

  if (!cli_remote_open(&r, true))
    return CLI_BROKEN;
  /* --tag also selects jobs that are over; --all only jobs that are not. */
  code = cli_jobs_select(&jobs, &r, &a->selection,
                         a->selection.all ? "WAITING,RUNNING,STOPPING" : NULL,
                         NULL, a->count, a->words);
  if (code != CLI_OK)
    code = CLI_BROKEN;
  for (size_t i = 0; i < jobs.count; i++) {
    int of_job = wait_for(&r, jobs.list[i], a->json, a->quiet);

    if (code == CLI_OK)
      code = of_job;
  }
  cli_job_names_free(&jobs);
  cli_remote_close(&r);
  return code;
}
