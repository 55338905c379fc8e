/*
 * foreground.c - a job in the foreground, through the platform
 *
 * Output of several tasks goes to stdout, line by line, with the task's name
 * before it; of one task to stdout and stderr, as that wrote it.  What happens
 * goes to stderr, and only on a terminal; what went wrong always.
 * Where both are a terminal, how its tasks stand is below that.
 * The job goes on if this is killed.
 */
#include "foreground.h"

#include "job_options.h"
#include "progress.h"
#include "requests.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

static bool shows_progress(const cli_foreground *r)
{
  return !r->quiet && !r->json;
}

static bool is_live(const cli_foreground *r)
{
  return r->live.open;
}

/* What happens is told among what the tasks print where both are above the
 * table. */
static FILE *told_on(cli_foreground *r)
{
  if (is_live(r))
    return cli_live_output(&r->live);
  cli_output_break(&r->out);
  return stderr;
}

/* --- what happens ------------------------------------------------------- */

/* Of a failure also what it means, where that is not for the user alone to
 * know; what was printed stands above. */
static void print_result(cli_foreground *r, const cli_json *job)
{
  double seconds = (double)(r->ended - r->started) / 1e6;
  bool good = strcmp(r->state, "succeeded") == 0;

  cli_output_break(&r->out);
  (void)fprintf(stderr, "%s%s %s%s after %.1f s%s%s\n",
                cli_style(stderr, good ? "\033[1;32m" : "\033[1;31m"), r->name,
                r->state, cli_style(stderr, "\033[0m"),
                seconds > 0 ? seconds : 0.0, r->why[0] != '\0' ? ": " : "",
                r->why);
  if (good)
    return;
  if (job != NULL && strcmp(r->state, "failed") == 0)
    cli_print_reason(stderr, job);
  if (r->remote.root != NULL)
    (void)fprintf(stderr, "  logs: %s/jobs/%s~%s\n", r->remote.root,
                  cli_user(), r->name);
  else
    (void)fprintf(stderr, "  logs: openpai logs %s\n", r->name);
}

static bool is_final(const char *state)
{
  return strcmp(state, "succeeded") == 0 || strcmp(state, "failed") == 0 ||
         strcmp(state, "stopped") == 0;
}

/* A job or a task that ran and waits again has failed or lost its room: that is
 * told also when nobody watches, for else a job could fail for hours unseen. */
static void tell_again(cli_foreground *r, const cli_followed *line)
{
  (void)fprintf(told_on(r), "%s waits again: %s\n", r->name, line->text);
}

static void on_job(cli_foreground *r, const cli_followed *line)
{
  r->waits = strcmp(line->state, "waiting") == 0;
  r->at.changed = true;
  if (is_final(line->state)) {
    (void)snprintf(r->state, sizeof(r->state), "%s", line->state);
    (void)snprintf(r->why, sizeof(r->why), "%s", line->text);
    r->over = true;
    r->ended = line->time_us;
  } else if (r->waits && r->running && line->text[0] != '\0') {
    if (!r->json)
      tell_again(r, line);
  } else if (shows_progress(r) && strcmp(line->state, "stopping") != 0) {
    (void)fprintf(told_on(r), "%s %s%s%s\n", r->name, line->state,
                  line->text[0] != '\0' ? ": " : "", line->text);
  }
}

/* In the table is how it stands: there remains what went wrong. */
static void on_task(cli_foreground *r, const cli_followed *line)
{
  bool failed = strcmp(line->state, "failed") == 0;
  FILE *to;

  r->at.changed = true;
  if (strcmp(line->state, "waiting") == 0 && line->text[0] != '\0') {
    if (!r->json)
      tell_again(r, line);
    return;
  }
  if (!shows_progress(r) || (is_live(r) && !failed && line->text[0] == '\0'))
    return;
  to = told_on(r);
  (void)fprintf(to, "  %s[%u] %s", line->role, line->index, line->state);
  if (failed)
    (void)fprintf(to, " with code %lld", (long long)line->code);
  if (line->text[0] != '\0')
    (void)fprintf(to, ": %s", line->text);
  (void)fputc('\n', to);
}

/* What is told first is how things stand: it may come twice. */
static bool is_news(cli_foreground *r, const cli_followed *line)
{
  size_t n =
    line->is_job ? 0 : 1 + cli_task_number(r->spec, line->role, line->index);
  /* Of "stopping" and "stopped", and of two that begin alike, the rest. */
  char now[2] = { line->state[strlen(line->state) - 1],
                  (char)(line->state[0] + line->attempt % 64) };

  if (n > pai_spec_task_count(r->spec))
    return true;
  if (memcmp(r->told[n], now, 2) == 0)
    return false;
  memcpy(r->told[n], now, 2);
  return true;
}

static void on_line(void *user_data, const cli_followed *line,
                    const char *bytes, size_t len)
{
  cli_foreground *r = user_data;
  cli_piece piece = { .role = line->is_job ? NULL : line->role,
                      .index = line->index,
                      .stream = line->stream,
                      .attempt = line->attempt,
                      .time_us = line->time_us,
                      .text = bytes,
                      .len = len };

  if (r->started == 0)
    r->started = line->time_us;
  if (is_live(r))
    r->out.to = cli_live_output(&r->live);
  else
    cli_progress_over(); /* before anything else is said */
  if (line->is_output) {
    cli_output_add(&r->out, piece);
    return;
  }
  if (!is_news(r, line))
    return;
  if (is_final(line->state))
    cli_output_end(&r->out, &piece);
  if (r->json)
    r->open = cli_follow_print(line, line->is_job && is_final(line->state));
  if (line->is_job)
    on_job(r, line);
  else
    on_task(r, line);
  r->running |= !line->is_job && strcmp(line->state, "running") == 0;
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  cli_foreground *r = user_data;
  int rc = cli_follow_add(&r->follower, bytes, len);

  return rc == PAI_OK && r->interactive && r->running && !r->begun ? PAI_EUSER
                                                                   : rc;
}

/* --- signals: requests to stop ------------------------------------------ */

/* The first request stops the job, the second kills it. */
static void pass_requests_on(void *user_data)
{
  cli_foreground *r = user_data;

  if (r->requests == cli_requests() || r->over)
    return;
  cli_live_clear(&r->live);
  cli_progress_over();
  cli_output_break(&r->out);
  r->waits = false;
  r->requests = cli_requests();
  r->stopped_by = cli_request_last();
  if (!r->quiet)
    (void)fprintf(stderr, "%s\n",
                  r->requests == 1 ? "stopping; once more to kill"
                                   : "killing");
  (void)cli_stop_job(&r->remote, r->name, r->requests > 1);
}

static bool shows_standing(const cli_foreground *r)
{
  return shows_progress(r) && cli_progress_wanted();
}

static void tick(void *user_data)
{
  cli_foreground *r = user_data;

  pass_requests_on(r);
  if (is_live(r)) {
    cli_live_turn(&r->live, !r->over);
    r->stream.every_ms = r->live.every_ms;
    return;
  }
  if (!r->waits || r->over || !shows_standing(r))
    return;
  cli_standing_tell(&r->at);
  if (!r->waits) /* it was told while that was asked for */
    cli_progress_over();
}

/* --- until it is over --------------------------------------------------- */

/* Of a job that is over: asks for what its events do not tell. */
static int finish(cli_foreground *r)
{
  bool good = strcmp(r->state, "succeeded") == 0, found;
  char *path = cli_job_path(r->name, "");
  int code = CLI_OK;
  cli_json job;

  found = cli_remote_get(&r->remote, &job, path);
  if (found && r->why[0] == '\0')
    cli_end_why(r->why, sizeof(r->why), &job);
  free(path);
  /* A failure is told also when nobody watches. */
  if (!r->json && (!r->quiet || !good))
    print_result(r, found ? &job : NULL);
  if (r->open)
    cli_follow_print_end(found ? &job : NULL);
  if (found)
    cli_print_lost_output(stderr, "warning: ", &job);
  if (strcmp(r->state, "stopped") == 0 && r->stopped_by > 0)
    code = 128 + r->stopped_by;
  else if (!good)
    code = found ? cli_exit_code(&job) : CLI_BROKEN;
  if (found)
    cli_json_free(&job);
  if (r->out.lost != 0 && code == CLI_OK) {
    cli_fail("cannot write standard error: %s", strerror(r->out.lost));
    code = CLI_BROKEN;
  }
  return code;
}

/* What tasks are redrawing is shown above how they stand. */
static unsigned paint(void *data, FILE *to, unsigned width, unsigned rows)
{
  return cli_output_paint(&((const cli_foreground *)data)->out, to, width,
                          rows);
}

/* Shows what the job does until it is over. */
static int follow(cli_foreground *r)
{
  char *path =
    cli_job_path(r->name, r->interactive ? "/follow?output=false" : "/follow");
  cli_answer a;

  r->follower = (cli_follower){ .on_line = on_line, .user_data = r };
  r->stream = (cli_stream){ on_bytes, tick, r,
                            shows_standing(r) ? CLI_STANDING_EVERY : 0 };
  if (shows_standing(r) && !r->interactive &&
      cli_live_open(&r->live, r->remote.loop, &r->at)) {
    r->live.paint = paint;
    r->live.data = r;
    r->stream.every_ms = r->live.every_ms;
  }
  cli_remote_stream(&r->remote, &a, path, &r->stream);
  cli_live_close(&r->live);
  r->out.to = stdout;
  cli_progress_over();
  cli_output_break(&r->out);
  cli_follow_end(&r->follower);
  free(path);
  if (!r->over && r->interactive && a.status == PAI_EUSER) {
    r->begun = true; /* on_bytes() has ended it */
  } else if (!r->over) {
    if (a.status < 0)
      cli_answer_tell(&a);
    else
      cli_fail("the platform has ended; job %s goes on without it", r->name);
    cli_help(stderr, "openpai up starts it again; openpai show tells of the "
                     "job then");
  }
  cli_answer_free(&a);
  return r->over ? finish(r) : CLI_BROKEN;
}

/* At a server that tells nothing of itself: it is asked again and again. */
static int on_change(void *user_data, const pai_client_change *change)
{
  cli_foreground *r = user_data;
  cli_followed line = { .is_job = true, .role = "", .text = "" };
  char state[sizeof(r->state)];
  size_t i = 0;

  for (; change->state[i] != '\0' && i + 1 < sizeof(state); i++)
    state[i] = (char)(change->state[i] >= 'A' && change->state[i] <= 'Z'
                        ? change->state[i] + ('a' - 'A')
                        : change->state[i]);
  state[i] = '\0';
  line.state = state;
  line.time_us = cli_now() * 1000;
  if (r->started == 0)
    r->started = line.time_us;
  cli_progress_over();
  if (r->json) {
    (void)printf("{\"event\":\"job\",\"state\":\"%s\"}\n", state);
    (void)cli_written();
  }
  on_job(r, &line);
  return PAI_OK;
}

static int watch(cli_foreground *r)
{
  const cli_watch w = { r->name, on_change, tick, r,
                        shows_standing(r) ? CLI_STANDING_EVERY : 0 };
  cli_answer a;

  if (shows_progress(r))
    cli_say(PAI_LOG_INFO, "this server is an original OpenPAI: openpai logs "
                          "shows what the tasks print");
  cli_remote_watch(&r->remote, &a, &w);
  cli_progress_over();
  if (!r->over)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return r->over ? finish(r) : CLI_BROKEN;
}

/* Its one task has this terminal; then the job's end is awaited. */
static int interact(cli_foreground *r)
{
  cli_attached a = { .requests = r->requests };
  cli_task task;
  int code;

  code = follow(r); /* until it runs */
  if (r->over || !r->begun)
    return code;
  if (!cli_task_find(&task, &r->remote, r->name, NULL))
    return CLI_BROKEN;
  (void)cli_attach_to(&a, &r->remote, &task, "0",
                      r->quiet ? CLI_ATTACH_QUIET : CLI_ATTACH_TOLD);
  cli_task_free(&task);
  if (a.detached)
    return CLI_OK;
  cli_requests_hear(r->remote.loop);
  if (a.killed != 0 && cli_requests() == r->requests)
    cli_request_make(a.killed); /* it did not come here */
  pass_requests_on(r);          /* of none it does nothing */
  return follow(r);
}

static void print_notes(const cli_foreground *r)
{
  const char *note;

  if (r->quiet)
    return;
  for (size_t i = 0; (note = pai_spec_note(r->spec, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
}

int cli_run_job(cli_foreground *r, cli_submission *s)
{
  int code = CLI_BROKEN;

  if (r->interactive && pai_spec_task_count(r->spec) != 1) {
    cli_fail("--interactive and --tty are for jobs with one task; this one "
             "has %zu",
             pai_spec_task_count(r->spec));
    cli_help(stderr, "openpai submit --stdin, then openpai attach --task");
    return code;
  }
  s->wanted = pai_spec_name(r->spec);
  s->quiet = r->quiet;
  s->refuse =
    true; /* who waits for its end hears at once that there is none */
  r->told = calloc(pai_spec_task_count(r->spec) + 1, sizeof(*r->told));
  if (r->told == NULL || !cli_output_init(&r->out, r->spec, r->json)) {
    cli_fail("out of memory");
    free(r->told);
    return code;
  }
  print_notes(r);
  if (cli_remote_open(&r->remote, true)) {
    cli_requests_hear(r->remote.loop);
    if (cli_submit(&r->remote, s, &r->name) == CLI_OK) {
      if (!cli_job_tag(&r->remote, r->name))
        cli_say(PAI_LOG_WARNING,
                "the job was accepted without all of its tags");
      r->at = (cli_standing){ .r = &r->remote, .name = r->name };
      code = r->interactive                       ? interact(r)
             : cli_remote_is_original(&r->remote) ? watch(r)
                                                  : follow(r);
      cli_standing_free(&r->at);
    }
    cli_requests_hear(NULL); /* a signal may still come */
    cli_remote_close(&r->remote);
  }
  free(r->name);
  free(r->told);
  cli_output_dispose(&r->out);
  return code;
}
