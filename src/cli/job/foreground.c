/*
 * foreground.c - `run`: a job in the foreground, through the platform
 *
 * Output of several tasks goes to stdout line by line, each with the task's
 * name before it.  Output of a single task goes to stdout and stderr
 * unchanged.  Events go to stderr, only on a terminal; errors always.  If both
 * streams are a terminal, a table of the tasks is shown below the output.  The
 * job goes on if this process is killed.
 */
#include "follower.h"
#include "job_options.h"
#include "job_source.h"
#include "jobs.h"
#include "json.h"
#include "live.h"
#include "output.h"
#include "progress.h"
#include "requests.h"
#include "secrets.h"
#include "session.h"
#include "job_progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* State of a `run`; the spec and the kind of output are set by the caller. */
typedef struct cli_foreground {
  cli_remote remote;
  pai_spec *spec;
  char *name; /* of the submitted job */
  cli_output out;
  cli_follower follower;
  cli_job_progress at; /* of the waiting job */
  cli_live live;       /* table of its tasks, if the terminal can show one */
  cli_stream stream;
  char (*told)[160]; /* last reported state of the job, then of each task */
  bool json;
  bool quiet;       /* print no progress on stderr */
  bool interactive; /* attach to the only task and print nothing else */
  bool running;     /* a task runs */
  bool begun;       /* the task was attached to */
  bool waits;       /* the job waits: show its progress */
  bool open;        /* the JSON line of the last event is not ended yet */
  bool over;
  char state[16]; /* final state */
  char why[512];  /* what ended the job */
  int64_t started, ended;
  int requests;   /* requests to stop that were passed on */
  int stopped_by; /* last signal that asked for a stop, or 0 */
} cli_foreground;

/* Prints a JSON line as it came.  The job's last line is left open, without
 * its closing brace; returns whether it is. */
static bool cli_follow_print(const cli_followed *line, bool last)
{
  size_t len = strlen(line->line);
  bool open = last && len > 0;

  (void)printf("%.*s%s", (int)(open ? len - 1 : len), line->line,
               open ? "" : "\n");
  if (!open)
    (void)cli_written();
  return open;
}

/* Ends that line with the known failure of the job, which may be NULL. */
static void cli_follow_print_end(const pai_json *job)
{
  if (job != NULL && cli_has_failure(job)) {
    (void)printf(",\"failure\":");
    cli_write_failure(stdout, job);
  }
  (void)printf("}\n");
  (void)cli_written();
}

static bool shows_progress(const cli_foreground *r)
{
  return !r->quiet && !r->json;
}

/* Returns the stream for events: with a table, the same as task output, above
 * the table. */
static FILE *told_on(cli_foreground *r)
{
  if (r->live.open)
    return cli_live_output(&r->live);
  cli_output_break(&r->out);
  return stderr;
}

/* --- events -------------------------------------------------------------- */

/* Prints the result; of a failure also its cause, if known.  The output itself
 * is printed above. */
static void print_result(cli_foreground *r, const pai_json *job)
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

/* Reports that a job or task waits again after it failed or lost its
 * resources.  This is reported without a terminal too, because a job could
 * otherwise fail unnoticed for hours. */
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

/* The table shows the state of each task; with it only failures are
 * printed. */
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
  if (!shows_progress(r) || (r->live.open && !failed && line->text[0] == '\0'))
    return;
  to = told_on(r);
  (void)fprintf(to, "  %s[%u] %s", line->role, line->index, line->state);
  if (failed)
    (void)fprintf(to, " with code %lld", (long long)line->code);
  if (line->text[0] != '\0')
    (void)fprintf(to, ": %s", line->text);
  (void)fputc('\n', to);
}

/* The stream begins with the current states, so an event may come twice.  The
 * retries of a task stay within one attempt of its job; their number is in the
 * text. */
static bool is_news(cli_foreground *r, const cli_followed *line)
{
  bool retried = !line->is_job && strcmp(line->state, "waiting") == 0;
  size_t n =
    line->is_job ? 0 : 1 + cli_task_number(r->spec, line->role, line->index);
  char now[sizeof(*r->told)];

  if (n > pai_spec_task_count(r->spec))
    return true;
  (void)snprintf(now, sizeof(now), "%s %" PRId64 " %s", line->state,
                 line->attempt, retried ? line->text : "");
  if (strcmp(r->told[n], now) == 0)
    return false;
  memcpy(r->told[n], now, sizeof(now));
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
  if (r->live.open)
    r->out.to = cli_live_output(&r->live);
  else
    cli_progress_over(); /* before any other output */
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

/* The first request stops the job, the second one kills it. */
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
                  r->requests == 1 ? "stopping; repeat to kill" : "killing");
  (void)cli_stop_job(&r->remote, r->name, r->requests > 1);
}

static bool shows_live(const cli_foreground *r)
{
  return shows_progress(r) && cli_progress_wanted();
}

static void tick(void *user_data)
{
  cli_foreground *r = user_data;

  pass_requests_on(r);
  if (r->live.open) {
    cli_live_step(&r->live, !r->over);
    r->stream.every_ms = r->live.every_ms;
    return;
  }
  if (!r->waits || r->over || !shows_live(r))
    return;
  cli_job_progress_tell(&r->at);
  if (!r->waits) /* the event came while the progress was being read */
    cli_progress_over();
}

/* --- until the job is over ---------------------------------------------- */

/* After the end of the job, asks for what its events do not contain. */
static int finish(cli_foreground *r)
{
  bool good = strcmp(r->state, "succeeded") == 0, found;
  int code = CLI_OK;
  pai_json *job;

  found = cli_job_read(&r->remote, &job, r->name);
  if (found && r->why[0] == '\0')
    cli_end_why(r->why, sizeof(r->why), job);
  /* A failure is reported even with --quiet. */
  if (!r->json && (!r->quiet || !good))
    print_result(r, found ? job : NULL);
  if (r->open)
    cli_follow_print_end(found ? job : NULL);
  if (found)
    cli_print_lost_output(stderr, "warning: ", job);
  if (strcmp(r->state, "stopped") == 0 && r->stopped_by > 0)
    code = 128 + r->stopped_by;
  else if (!good)
    code = found ? cli_exit_code(job) : CLI_BROKEN;
  pai_json_free(job);
  if (r->out.lost != 0 && code == CLI_OK) {
    cli_fail("cannot write standard error: %s", strerror(r->out.lost));
    code = CLI_BROKEN;
  }
  return code;
}

/* Lines that tasks are redrawing are shown above the table. */
static unsigned paint(void *data, FILE *to, unsigned width, unsigned rows)
{
  return cli_output_paint(&((const cli_foreground *)data)->out, to, width,
                          rows);
}

/* Prints what the job does until it is over. */
static int follow(cli_foreground *r)
{
  char *path =
    cli_job_path(r->name, r->interactive ? "/follow?output=false" : "/follow");
  cli_answer a;

  r->follower = (cli_follower){ .on_line = on_line, .user_data = r };
  r->stream = (cli_stream){ on_bytes, tick, r,
                            shows_live(r) ? CLI_JOB_PROGRESS_EVERY : 0 };
  if (shows_live(r) && !r->interactive &&
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
  cli_json_free(&r->follower.json);
  free(r->follower.kept);

  free(path);
  if (!r->over && r->interactive && a.status == PAI_EUSER) {
    r->begun = true; /* on_bytes() ended the stream */
  } else if (!r->over) {
    if (a.status < 0)
      cli_answer_tell(&a);
    else
      cli_fail("the platform has ended; job %s continues without it", r->name);
    cli_help(stderr,
             "restart it with openpai up; then openpai show shows the job");
  }
  cli_answer_free(&a);
  return r->over ? finish(r) : CLI_BROKEN;
}

/* For a server without event stream, which is polled. */
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
                        shows_live(r) ? CLI_JOB_PROGRESS_EVERY : 0 };
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

/* Attaches this terminal to the only task, then waits for the end of the
 * job. */
static int interact(cli_foreground *r)
{
  cli_attached a = { .requests = r->requests };
  cli_task task;
  int code = follow(r); /* until the task runs */

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
    cli_request_make(a.killed); /* the signal came to the attached session */
  pass_requests_on(r);          /* does nothing without new requests */
  return follow(r);
}

/* Submits and follows a checked job.  Returns the exit code. */
static int cli_run_job(cli_foreground *r, cli_submission *s)
{
  const char *note;
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
  /* A waiting user must hear at once that the job can never start. */
  s->refuse = true;

  r->told = calloc(pai_spec_task_count(r->spec) + 1, sizeof(*r->told));
  if (r->told == NULL || !cli_output_init(&r->out, r->spec, r->json)) {
    cli_fail("out of memory");
    free(r->told);
    return code;
  }
  for (size_t i = 0; !r->quiet && (note = pai_spec_note(r->spec, i)) != NULL;
       i++)
    cli_say(PAI_LOG_INFO, note);

  if (cli_remote_open(&r->remote, true)) {
    cli_requests_hear(r->remote.loop);
    if (cli_submit(&r->remote, s, &r->name) == CLI_OK) {
      if (!cli_job_tag(&r->remote, r->name))
        cli_say(PAI_LOG_WARNING,
                "the job was accepted without all of its tags");
      r->at = (cli_job_progress){ .r = &r->remote, .name = r->name };
      code = r->interactive                       ? interact(r)
             : cli_remote_is_original(&r->remote) ? watch(r)
                                                  : follow(r);
      cli_job_progress_free(&r->at);
    }
    cli_requests_hear(NULL); /* a signal may still come */
    cli_remote_close(&r->remote);
  }
  free(r->name);
  free(r->told);
  cli_output_dispose(&r->out);
  return code;
}

static int run_job(cli_foreground *r, cli_submission *s,
                   const cli_job_source *source)
{
  cli_job_file file;
  int code = CLI_BROKEN;

  if (cli_job_source_open(&file, source, r->quiet) == CLI_OK) {
    r->spec = file.spec;
    s->text = file.text;
    s->len = file.len;
    code = cli_run_job(r, s);
  }
  cli_job_file_close(&file);
  return code;
}

int cli_do_run(const cli_run_args *a)
{
  cli_job_source source = { .command = a->command,
                            .words = a->ncommand,
                            .secrets = a->secrets,
                            .copied = a->code != NULL,
                            .env = &a->environment };
  cli_submission s = {
    .name = a->name, .code = a->code, .input = a->interactive, .tty = a->tty
  };
  cli_foreground r = { .json = a->json,
                       .interactive = a->interactive || a->tty };

  if (!cli_job_source_check(&source, a->count, a->words) ||
      !cli_own_job_name(s.name))
    return CLI_BROKEN;
  r.quiet = a->quiet || (!a->verbose && !cli_is_terminal(stderr));
  s.quiet = r.quiet;
  s.no_notes = a->quiet;
  if (a->detach)
    return cli_submit_source(&source, &s, r.json) == 0 ? CLI_OK : CLI_BROKEN;
  return run_job(&r, &s, &source);
}
