/* job_progress.c - the progress of a job, read now and then and shown on the
 * terminal */
#include "job_progress.h"

#include "jobs.h"

#include <string.h>

enum {
  LOOK = 500, /* least ms between two reads of the job */
  /* and at least this many times the duration of a read */
  SHARE = 10,
  USAGE = 2 * 1000,      /* least ms between two reads of the tasks' usage */
  USAGE_FAR = 10 * 1000, /* the same for a shared server elsewhere */
  ESTIMATE = 30 * 1000,  /* least ms between two estimates, which cost more */
};

/* Returns false and keeps the old value if there is no valid answer. */
static bool read_quietly(const cli_job_progress *s, pai_json **out,
                         const char *call)
{
  pai_json *fresh;
  bool good =
    cli_call_quietly(s->r, &fresh, call, cli_job_arguments(s->name, ""));

  if (good) {
    pai_json_free(*out);
    *out = fresh;
  }
  return good;
}

static const char *state_of(const pai_json *job)
{
  return cli_json_text(job, 0, "jobStatus/state");
}

static void guess(cli_job_progress *s, int64_t now)
{
  if (s->guessed != 0 && now - s->guessed < ESTIMATE)
    return;
  s->guessed = now;
  if (cli_remote_is_original(s->r))
    return;
  if (!read_quietly(s, &s->estimate, "jobs.estimate"))
    cli_json_free(&s->estimate);
  if (strcmp(state_of(s->job), "WAITING") != 0 ||
      !read_quietly(s, &s->why, "jobs.why"))
    cli_json_free(&s->why);
}

static int64_t pause_after(int64_t took_ms, int64_t least_ms)
{
  return took_ms * SHARE > least_ms ? took_ms * SHARE : least_ms;
}

/* Reads what the tasks use while they run; before that only whether the job
 * requests GPUs. */
static bool measure(cli_job_progress *s, int64_t now)
{
  const char *state = state_of(s->job);

  if (now - s->used < s->usage_pause ||
      (s->usage.asked && strcmp(state, "RUNNING") != 0 &&
       strcmp(state, "STOPPING") != 0))
    return false;
  s->usage.r = s->r;
  s->usage.job = s->name;
  cli_usage_ask(&s->usage);
  s->used = cli_now();
  s->usage_pause =
    pause_after(s->used - now, s->r->root != NULL ? USAGE : USAGE_FAR);
  return true;
}

bool cli_job_progress_look(cli_job_progress *s, bool usage)
{
  int64_t now = cli_now();
  bool looks = s->changed && now - s->looked >= s->pause;

  if (looks) {
    s->changed = false;
    s->guessed = 0; /* a new state needs a new estimate */
    (void)read_quietly(s, &s->job, "jobs.show");
    s->looked = cli_now();
    s->pause = pause_after(s->looked - now, LOOK);
  }
  guess(s, now);
  return (usage && measure(s, now)) || looks;
}

bool cli_job_progress_ask(cli_job_progress *s)
{
  pai_json *fresh;

  if (!cli_job_read(s->r, &fresh, s->name))
    return false;
  if (strcmp(state_of(s->job), state_of(fresh)) != 0)
    s->guessed = 0; /* a changed job needs a new estimate */
  cli_json_free(&s->job);
  s->job = fresh;
  guess(s, cli_now());
  (void)measure(s, cli_now());
  return true;
}

cli_job_view cli_job_progress_view(const cli_job_progress *s)
{
  int64_t now = cli_now();

  return (cli_job_view){ .name = s->name,
                         .job = s->job,
                         .known = { .estimate = s->estimate, .why = s->why },
                         .usage = &s->usage,
                         .now_ms = now,
                         .age_ms = now - s->guessed };
}

void cli_job_progress_tell(cli_job_progress *s)
{
  char line[512];
  cli_job_view v;

  (void)cli_job_progress_look(s, false);
  v = cli_job_progress_view(s);
  cli_progress_job(line, sizeof(line), s->name, s->job, &v.known, v.now_ms,
                   v.age_ms);
  cli_progress(line);
}

void cli_job_progress_free(cli_job_progress *s)
{
  cli_usage_free(&s->usage);
  cli_json_free(&s->job);
  cli_json_free(&s->estimate);
  cli_json_free(&s->why);
}
