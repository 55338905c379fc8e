/* standing.c - how a job that one waits for stands */
#include "standing.h"

#include "jobs.h"

#include <stdlib.h>
#include <string.h>

enum {
  LOOK = 500,            /* ms at least between two looks at the job, */
  SHARE = 10,            /* and so many times as long as one takes */
  USAGE = 2 * 1000,      /* between two at what its tasks use, */
  USAGE_FAR = 10 * 1000, /* of a server that many ask, and likewise */
  ESTIMATE = 30 * 1000,  /* and between two guesses, which cost more */
};

/* False: there is no answer that is any good, and the old one stays. */
static bool read_quietly(const cli_standing *s, cli_json *out,
                         const char *rest)
{
  char *path = cli_job_path(s->name, rest);
  cli_json fresh = { 0 };
  cli_answer a;
  bool good;

  cli_remote_ask(s->r, &a, "GET", path, NULL, NULL, 0);
  good = a.status == PAI_OK && cli_json_read(&fresh, a.body, a.len);
  if (good) {
    cli_json_free(out);
    *out = fresh;
  }
  cli_answer_free(&a);
  free(path);
  return good;
}

static const char *state_of(const cli_json *job)
{
  size_t s = job->count > 0 ? cli_json_get(job, 0, "jobStatus") : 0;

  return s != 0 ? cli_json_text(job, s, "state") : "";
}

static void guess(cli_standing *s, int64_t now)
{
  if (s->guessed != 0 && now - s->guessed < ESTIMATE)
    return;
  s->guessed = now;
  if (cli_remote_is_original(s->r))
    return;
  if (!read_quietly(s, &s->estimate, "/estimate"))
    cli_json_free(&s->estimate);
  if (strcmp(state_of(&s->job), "WAITING") != 0 ||
      !read_quietly(s, &s->why, "/why"))
    cli_json_free(&s->why);
}

static int64_t pause_after(int64_t took_ms, int64_t least_ms)
{
  return took_ms * SHARE > least_ms ? took_ms * SHARE : least_ms;
}

/* What its tasks use, while they run; before, whether it asks for GPUs. */
static bool measure(cli_standing *s, int64_t now)
{
  const char *state = state_of(&s->job);

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

bool cli_standing_look(cli_standing *s, bool usage)
{
  int64_t now = cli_now();
  bool looks = s->changed && now - s->looked >= s->pause;

  if (looks) {
    s->changed = false;
    s->guessed = 0; /* another state has another time to be guessed */
    (void)read_quietly(s, &s->job, "");
    s->looked = cli_now();
    s->pause = pause_after(s->looked - now, LOOK);
  }
  guess(s, now);
  return (usage && measure(s, now)) || looks;
}

bool cli_standing_ask(cli_standing *s)
{
  char *path = cli_job_path(s->name, "");
  cli_json fresh;
  bool good = path != NULL && cli_remote_get(s->r, &fresh, path);

  free(path);
  if (!good)
    return false;
  if (strcmp(state_of(&s->job), state_of(&fresh)) != 0)
    s->guessed = 0; /* another one has another time to be guessed */
  cli_json_free(&s->job);
  s->job = fresh;
  guess(s, cli_now());
  (void)measure(s, cli_now());
  return true;
}

cli_job_view cli_standing_view(const cli_standing *s)
{
  int64_t now = cli_now();

  return (cli_job_view){ .name = s->name,
                         .job = &s->job,
                         .known = { .estimate = &s->estimate, .why = &s->why },
                         .usage = &s->usage,
                         .now_ms = now,
                         .age_ms = now - s->guessed };
}

void cli_standing_tell(cli_standing *s)
{
  char line[512];
  cli_job_view v;

  (void)cli_standing_look(s, false);
  v = cli_standing_view(s);
  cli_progress_job(line, sizeof(line), s->name, &s->job, &v.known, v.now_ms,
                   v.age_ms);
  cli_progress(line);
}

void cli_standing_free(cli_standing *s)
{
  cli_usage_free(&s->usage);
  cli_json_free(&s->job);
  cli_json_free(&s->estimate);
  cli_json_free(&s->why);
}
