/*
 * cmd_run.c - runs one job in the foreground, through the platform
 *
 * Task output goes to stdout, line by line, with the task's name before it;
 * what happens goes to stderr, and only on a terminal; what went wrong always.
 * Where both are a terminal, how its tasks stand is below that.
 * The job goes on if this is killed.
 */
#include "follow.h"
#include "job_file.h"
#include "jobs.h"
#include "live.h"
#include "one_command.h"
#include "output.h"
#include "progress.h"
#include "requests.h"
#include "secrets.h"
#include "session.h"
#include "standing.h"

#include <stdlib.h>
#include <string.h>

enum { TIME_OVER = 124 }; /* as timeout(1) has it */

typedef struct run {
  cli_remote remote;
  pai_spec *spec;
  char *name; /* that the job was given */
  cli_output out;
  cli_follower follower;
  cli_standing at; /* of the job, while it waits */
  cli_live live;   /* and its tasks, on a terminal that can show them */
  cli_stream stream;
  char (*told)[2];  /* of the job, then of its tasks: what was told last */
  const char *time; /* --time, or NULL */
  bool json;
  bool quiet;       /* no progress on stderr */
  bool interactive; /* its task is attached to: nothing else is printed */
  bool running;     /* a task does; */
  bool begun;       /* and it was attached to */
  bool waits;       /* the job: how it stands is shown */
  bool over;
  char state[16]; /* the final one */
  char why[512];  /* and what ended it */
  int64_t started, ended;
  int requests;   /* to stop that were passed on */
  int stopped_by; /* the last signal that asked for it, or 0 */
} run_state;

static bool shows_progress(const run_state *r)
{
  return !r->quiet && !r->json;
}

static bool is_live(const run_state *r)
{
  return r->live.at != NULL;
}

/* What happens is told among what the tasks print where both are above the
 * table. */
static FILE *told_on(run_state *r)
{
  return is_live(r) ? cli_live_output(&r->live) : stderr;
}

/* --- what happens ------------------------------------------------------- */

/* Of a failure also what it means, where that is not for the user alone to
 * know; what was printed stands above. */
static void print_result(const run_state *r, const cli_json *job)
{
  double seconds = (double)(r->ended - r->started) / 1e6;
  bool good = strcmp(r->state, "succeeded") == 0;

  (void)fprintf(stderr, "%s%s %s%s after %.1f s%s%s\n",
                cli_style(stderr, good ? "\033[1;32m" : "\033[1;31m"), r->name,
                r->state, cli_style(stderr, "\033[0m"),
                seconds > 0 ? seconds : 0.0, r->why[0] != '\0' ? ": " : "",
                r->why);
  if (good)
    return;
  if (r->time != NULL && job != NULL && cli_told_code(job) == TIME_OVER)
    (void)fprintf(stderr, "  its time was over: --time %s\n", r->time);
  if (job != NULL && strcmp(r->state, "failed") == 0 &&
      cli_end_is_known(job)) {
    (void)fprintf(stderr, "  %s\n", cli_end_reason(job));
    cli_print_cures(stderr, "  help: ", job);
  }
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

static void on_job(run_state *r, const cli_followed *line)
{
  r->waits = strcmp(line->state, "waiting") == 0;
  r->at.changed = true;
  if (is_final(line->state)) {
    (void)snprintf(r->state, sizeof(r->state), "%s", line->state);
    (void)snprintf(r->why, sizeof(r->why), "%s", line->text);
    r->over = true;
    r->ended = line->time_us;
  } else if (shows_progress(r) && strcmp(line->state, "stopping") != 0) {
    (void)fprintf(told_on(r), "%s %s%s%s\n", r->name, line->state,
                  line->text[0] != '\0' ? ": " : "", line->text);
  }
}

/* In the table is how it stands: there remains what went wrong. */
static void on_task(run_state *r, const cli_followed *line)
{
  bool failed = strcmp(line->state, "failed") == 0;
  FILE *to;

  r->at.changed = true;
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
static bool is_news(run_state *r, const cli_followed *line)
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
  run_state *r = user_data;
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
  if (r->json) {
    (void)printf("%s\n", line->line);
    (void)cli_written();
  }
  if (line->is_job)
    on_job(r, line);
  else
    on_task(r, line);
  r->running |= !line->is_job && strcmp(line->state, "running") == 0;
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  run_state *r = user_data;
  int rc = cli_follow_add(&r->follower, bytes, len);

  return rc == PAI_OK && r->interactive && r->running && !r->begun ? PAI_EUSER
                                                                   : rc;
}

/* --- signals: requests to stop ------------------------------------------ */

/* The first request stops the job, the second kills it. */
static void pass_requests_on(void *user_data)
{
  run_state *r = user_data;

  if (r->requests == cli_requests() || r->over)
    return;
  cli_live_clear(&r->live);
  cli_progress_over();
  r->waits = false;
  r->requests = cli_requests();
  r->stopped_by = cli_request_last();
  if (!r->quiet)
    (void)fprintf(stderr, "%s\n",
                  r->requests == 1 ? "stopping; once more to kill"
                                   : "killing");
  (void)cli_stop_job(&r->remote, r->name, r->requests > 1);
}

static bool shows_standing(const run_state *r)
{
  return shows_progress(r) && cli_progress_wanted();
}

static void tick(void *user_data)
{
  run_state *r = user_data;

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

/* --- the verb ----------------------------------------------------------- */

/* Of a job that is over: asks for what its events do not tell. */
static int finish(run_state *r)
{
  bool good = strcmp(r->state, "succeeded") == 0, found = false;
  char *path = cli_job_path(r->name, "");
  int code = CLI_OK;
  cli_json job;

  if (!good)
    found = cli_remote_get(&r->remote, &job, path);
  if (found && r->why[0] == '\0')
    cli_end_why(r->why, sizeof(r->why), &job);
  free(path);
  /* A failure is told also when nobody watches. */
  if (!r->json && (!r->quiet || !good))
    print_result(r, found ? &job : NULL);
  if (strcmp(r->state, "stopped") == 0 && r->stopped_by > 0)
    code = 128 + r->stopped_by;
  else if (!good)
    code = found ? cli_exit_code(&job) : CLI_BROKEN;
  if (found)
    cli_json_free(&job);
  return code;
}

/* Shows what the job does until it is over. */
static int follow(run_state *r)
{
  char *path =
    cli_job_path(r->name, r->interactive ? "/follow?output=false" : "/follow");
  cli_answer a;

  r->follower = (cli_follower){ .on_line = on_line, .user_data = r };
  r->stream = (cli_stream){ on_bytes, tick, r,
                            shows_standing(r) ? CLI_STANDING_EVERY : 0 };
  if (shows_standing(r) && !r->interactive && cli_live_open(&r->live, &r->at))
    r->stream.every_ms = r->live.every_ms;
  cli_remote_stream(&r->remote, &a, path, &r->stream);
  cli_live_close(&r->live);
  r->out.to = stdout;
  cli_progress_over();
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
  run_state *r = user_data;
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

static int watch(run_state *r)
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
static int interact(run_state *r)
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

static void print_notes(const run_state *r)
{
  const char *note;

  if (r->quiet)
    return;
  for (size_t i = 0; (note = pai_spec_note(r->spec, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
}

/* A job that is checked: submits and follows it.  Returns the exit code. */
static int run_spec(run_state *r, cli_submission *s)
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

static int run_file(run_state *r, cli_submission *s, const char *name,
                    const char *secrets)
{
  cli_job_file file;
  int code = CLI_BROKEN;

  if (cli_job_file_need(&file, name) == CLI_OK &&
      cli_secrets_fill(&file, secrets, false) == CLI_OK) {
    r->spec = file.spec;
    s->text = file.text;
    s->len = file.len;
    code = run_spec(r, s);
  }
  cli_job_file_close(&file);
  return code;
}

/* The words behind "--" are a command. */
static int run_command(run_state *r, cli_submission *s,
                       const cli_one_command *c)
{
  pai_error *err = NULL;
  char *text = cli_one_command_job(c);
  int code = CLI_BROKEN;

  if (text == NULL)
    return code;
  s->text = text;
  s->len = strlen(text);
  if (pai_spec_parse(&r->spec, text, s->len, NULL, &err) == PAI_OK)
    code = run_spec(r, s);
  else
    cli_error(NULL, err);
  pai_error_free(err);
  pai_spec_unref(r->spec);
  free(text);
  return code;
}

static int misused(const char *what, const char *word)
{
  cli_misused(&cli_run, what, word);
  return CLI_BROKEN;
}

static bool needs_image(const cli_one_command *c)
{
  return c->image == NULL && cli_job_runtime != NULL &&
         (strcmp(cli_job_runtime, "podman") == 0 ||
          strcmp(cli_job_runtime, "docker") == 0);
}

static int run(int argc, char **argv)
{
  bool quiet = false, verbose = false;
  const char *secrets = NULL;
  run_state r = { 0 };
  cli_submission s = { 0 };
  cli_one_command c = { 0 };
  const cli_option options[] = {
    { "json", 0, &r.json, NULL },
    { "quiet", 'q', &quiet, NULL },
    { "verbose", 'v', &verbose, NULL },
    { "root", 0, NULL, &cli_root },
    { "param", 'p', NULL, NULL },
    { "name", 0, NULL, &s.name },
    { "code", 0, NULL, &s.code },
    { "gpus", 0, NULL, &c.gpus },
    { "cpus", 0, NULL, &c.cpus },
    { "memory", 0, NULL, &c.memory },
    { "time", 0, NULL, &c.time },
    { "image", 0, NULL, &c.image },
    { "runtime", 0, NULL, &cli_job_runtime },
    { "interactive", 'i', &s.input, NULL },
    { "tty", 't', &s.tty, NULL },
    SECRETS_OPTIONS(secrets),
  };
  int behind, words;

  c.nwords = cli_cut_command(&argc, argv);
  c.words = argv + argc + 1;
  behind = c.nwords;
  words = cli_options(&cli_run, options, 17, argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words < 0)
    return CLI_BROKEN;
  if (s.name != NULL && (!cli_job_name(s.name) || strchr(s.name, '~') != NULL))
    return CLI_BROKEN;
  if (!cli_job_runtime_good(&cli_run))
    return CLI_BROKEN;
  r.time = c.time;
  r.interactive = s.input || s.tty;
  if (r.interactive && r.json)
    return misused("with --interactive there are no lines of JSON", "--json");
  r.quiet = quiet || (!verbose && !cli_is_terminal(stderr));
  if (behind > 0 && words > 0)
    return misused("run takes a job file or a command, not both", argv[0]);
  if (behind > 0 && needs_image(&c))
    return misused("a container is of an image: --image NAME",
                   cli_job_runtime);
  if (behind > 0 && (secrets != NULL || cli_secret_file_count > 0))
    return misused("a command has no secrets of a job file",
                   "--secrets, --secret-file");
  if (behind > 0)
    return run_command(&r, &s, &c);
  if (c.gpus != NULL || c.cpus != NULL || c.memory != NULL || c.time != NULL ||
      c.image != NULL)
    return misused("this is for a command behind --",
                   "--gpus, --cpus, --memory, --time, --image");
  if (words == 1)
    return run_file(&r, &s, argv[0], secrets);
  cli_fail(words == 0 ? "run: which job file?"
                      : "run takes one job file, not %d",
           words);
  (void)fprintf(stderr, "  help: openpai run --help\n");
  return CLI_BROKEN;
}

const cli_verb cli_run = {
  .name = "run",
  .brief = "Run a job file, or a command, and wait for its result",
  .usage =
    "[--json] [--quiet|--verbose] [-i|-t] [--name NAME] [--code DIR]\n"
    "            [-p NAME=VALUE]... [--secrets FILE]\n"
    "            [--secret-file NAME=FILE]... [--runtime NAME] [--root DIR] "
    "FILE\n"
    "       openpai run [--gpus N] [--cpus N] [--memory SIZE] "
    "[--time TIME]\n"
    "            [--image NAME] ... -- COMMAND...",
  .help =
    "FILE is a job of OpenPAI's job protocol v2, YAML or JSON, or a job\n"
    "config v1; - reads standard input.  The platform of this user runs it,\n"
    "and is started if need be.  What its tasks print is shown with the "
    "task's\n"
    "name before each line and kept in files; on a terminal a table of the\n"
    "tasks stands below it.  The first Ctrl-C stops the job,\n"
    "the second kills it; Ctrl-\\ kills it at once.  A reader of its output\n"
    "that goes away stops it, too.  If this is killed, the job goes on.\n\n"
    "  --json         print every event as one line of JSON\n"
    "  -q, --quiet    only what the tasks print, warnings and failures; the\n"
    "                 default when stderr is not a terminal\n"
    "  -v, --verbose  say what happens also when stderr is not a terminal\n"
    "  --name NAME    call the job so; without it, a name that is taken gets\n"
    "                 _2, _3, ... behind it\n"
    "  --code DIR     give it a copy of a folder, in which its commands "
    "begin\n"
    "  -i, --interactive\n"
    "                 its one task's standard input stays open, and has what "
    "is\n"
    "                 typed here; its output comes as it is.  See openpai "
    "attach\n"
    "  -t, --tty      the same, and it has this terminal\n"
    "  --root DIR     the platform's root (default: $OPENPAI_ROOT, or\n"
    "                 $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -p, --param NAME=VALUE\n"
    "                 a parameter in the place of the file's; may be given\n"
    "                 several times.  VALUE is text as it stands, 007 and "
    "1.10\n"
    "                 too; JSON's numbers, true, false, null, \"texts\", "
    "lists\n"
    "                 and objects are what they are there\n" SECRETS_HELP
    "  --runtime NAME in what it runs, in the place of what the file says in\n"
    "                 extras.openpai.runtime and the platform otherwise has:\n"
    "                 podman, docker: containers of its images; bwrap: in a\n"
    "                 sandbox; process: as plain processes; auto: in a\n"
    "                 container if its image is at hand, else as bwrap where\n"
    "                 that works, else as process\n"
    "  -h, --help\n\n"
    "Of a command, which has PATH and the other variables of its present\n"
    "Python or Conda environment:\n\n"
    "  --gpus N       GPUs that it gets; 0 without it\n"
    "  --cpus N       CPUs; 1 without it\n"
    "  --memory SIZE  as 512M or 16G; 4G without it\n"
    "  --image NAME   its image, for containers\n"
    "  --time TIME    it is ended after that, with code 124: 90s, 30m, 2h, "
    "1d\n\n"
    "Exit code: 0 the job succeeded; 1..255 what OpenPAI's exit spec makes\n"
    "of the task that decided its failure, or its own code where that knows\n"
    "nothing; 125 also when openpai itself failed: a bad file,\n"
    "no room, no folder, output that cannot be written; 128+n also when\n"
    "signal n stopped the job.\n",
  .run = run,
};
