/* cmd_wait.c - waits until jobs are over */
#include "jobs.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum {
  TICK = 1000,          /* ms between two lines that tell how it stands */
  LOOK = 500,           /* the least between two looks at the job */
  ESTIMATE = 30 * 1000, /* and between two guesses, which cost more */
};

typedef struct waiting {
  cli_remote *r;
  const char *name;
  cli_json job; /* as it was last shown */
  bool over, failed;
  /* where somebody looks */
  bool shown;
  bool changed;      /* since it was last looked at */
  cli_json estimate; /* empty: none is known */
  int64_t looked, guessed;
} waiting;

/* Whether the job is over.  It is in `job` then. */
static bool look(waiting *w)
{
  char *path = cli_job_path(w->name, "");
  const char *state;

  cli_json_free(&w->job);
  w->failed = !cli_remote_get(w->r, &w->job, path);
  free(path);
  if (w->failed)
    return false;
  state =
    cli_json_text(&w->job, cli_json_get(&w->job, 0, "jobStatus"), "state");
  return cli_is_over(state);
}

/* --- how it stands, on the terminal ------------------------------------------ */

/* False: there is no answer that is any good, and the old one stays. */
static bool read_quietly(const waiting *w, cli_json *out, const char *rest)
{
  char *path = cli_job_path(w->name, rest);
  cli_json fresh = { 0 };
  cli_answer a;
  bool good;

  cli_remote_ask(w->r, &a, "GET", path, NULL, NULL, 0);
  good = a.status == PAI_OK && cli_json_read(&fresh, a.body, a.len);
  if (good) {
    cli_json_free(out);
    *out = fresh;
  }
  cli_answer_free(&a);
  free(path);
  return good;
}

static void guess(waiting *w, int64_t now)
{
  if (w->guessed != 0 && now - w->guessed < ESTIMATE)
    return;
  w->guessed = now;
  if (!cli_remote_is_original(w->r) &&
      !read_quietly(w, &w->estimate, "/estimate"))
    cli_json_free(&w->estimate);
}

static void show(const waiting *w, int64_t now)
{
  char line[512];

  cli_progress_job(line, sizeof(line), w->name, &w->job, &w->estimate, now,
                   now - w->guessed);
  cli_progress(line);
}

static void tick(void *user_data)
{
  waiting *w = user_data;
  int64_t now = cli_now();

  if (w->changed && now - w->looked >= LOOK) {
    w->changed = false;
    w->looked = now;
    w->guessed = 0; /* another state has another time to be guessed */
    (void)read_quietly(w, &w->job, "");
  }
  guess(w, now);
  show(w, now);
}

/* --- until it is over ------------------------------------------------------------ */

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  waiting *w = user_data;

  (void)bytes;
  (void)len;
  w->changed = true;
  return PAI_OK;
}

static int on_change(void *user_data, const pai_client_change *change)
{
  waiting *w = user_data;

  (void)change;
  w->changed = true;
  return PAI_OK;
}

/* Until something was told that ends the stream: mostly the job's end. */
static void listen(waiting *w, const char *path)
{
  int every = w->shown ? TICK : 0;
  const cli_stream stream = { on_bytes, w->shown ? tick : NULL, w, every };
  const cli_watch asked = { w->name, on_change, w->shown ? tick : NULL, w,
                            every };
  cli_answer a;

  if (cli_remote_is_original(w->r))
    cli_remote_watch(w->r, &a, &asked);
  else
    cli_remote_stream(w->r, &a, path, &stream);
  cli_progress_over();
  w->failed = a.status < 0;
  if (w->failed)
    cli_answer_tell(&a);
  cli_answer_free(&a);
}

static int wait_for(cli_remote *r, const char *name, bool json, bool quiet)
{
  waiting w = { .r = r,
                .name = name,
                .shown = !quiet && !json && cli_progress_wanted() };
  char *path = cli_job_path(name, "/follow?output=false");
  size_t s;
  int code = CLI_BROKEN;

  while (path != NULL && !(w.over = look(&w)) && !w.failed)
    listen(&w, path);
  s = cli_json_get(&w.job, 0, "jobStatus");
  if (w.over && json) {
    (void)printf("{\"name\":");
    cli_json_string(stdout, name, strlen(name));
    (void)printf(",\"state\":\"%s\",\"code\":%lld}\n",
                 cli_json_text(&w.job, s, "state"),
                 (long long)cli_told_code(&w.job));
  } else if (w.over && !quiet) {
    (void)printf("%s %s\n", name, cli_json_text(&w.job, s, "state"));
  }
  if (w.over)
    code = cli_exit_code(&w.job);
  cli_json_free(&w.job);
  cli_json_free(&w.estimate);
  free(path);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false, quiet = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "quiet", 'q', &quiet, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_wait, options, 3, argc, argv), code = CLI_OK;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_wait, words, argv, argc))
    return CLI_BROKEN;
  if (!cli_remote_open(&r, true))
    return CLI_BROKEN;
  for (int i = 0; i < words; i++) {
    int of_job = wait_for(&r, argv[i], json, quiet);
    if (code == CLI_OK)
      code = of_job;
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_wait = {
  .name = "wait",
  .brief = "Wait until jobs are over",
  .usage = "[--json] [--quiet] [--root DIR] JOB...",
  .help =
    "Prints each job with the state that it ended in.  On a terminal a line "
    "tells\nmeanwhile how it stands.\n\n"
    "  --json           a line of JSON for each: name, state, code\n"
    "  -q, --quiet      print nothing, and tell nothing "
    "meanwhile\n" JOBS_ROOT_HELP
    "\nExit code: that of the first job that did not succeed, as of 'openpai\n"
    "run': 0 all succeeded, 1..255 the code of the task that decided, 125\n"
    "also when there is no such job, or openpai itself failed.\n",
  .run = run,
};
