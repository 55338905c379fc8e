/* standing.c - how a job that one waits for stands */
#include "standing.h"

#include "jobs.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum {
  LOOK = 500,           /* ms at least between two looks at the job */
  ESTIMATE = 30 * 1000, /* and between two guesses, which cost more */
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

static bool is_waiting(const cli_json *job)
{
  size_t s = job->count > 0 ? cli_json_get(job, 0, "jobStatus") : 0;

  return s != 0 && strcmp(cli_json_text(job, s, "state"), "WAITING") == 0;
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
  if (!is_waiting(&s->job) || !read_quietly(s, &s->why, "/why"))
    cli_json_free(&s->why);
}

void cli_standing_tell(cli_standing *s)
{
  int64_t now = cli_now();
  char line[512];

  if (s->changed && now - s->looked >= LOOK) {
    s->changed = false;
    s->looked = now;
    s->guessed = 0; /* another state has another time to be guessed */
    (void)read_quietly(s, &s->job, "");
  }
  guess(s, now);
  cli_progress_job(line, sizeof(line), s->name, &s->job,
                   &(cli_known){ &s->estimate, &s->why }, now,
                   now - s->guessed);
  cli_progress(line);
}

void cli_standing_free(cli_standing *s)
{
  cli_json_free(&s->job);
  cli_json_free(&s->estimate);
  cli_json_free(&s->why);
}
