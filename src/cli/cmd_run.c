/*
 * cmd_run.c - runs one job file in the foreground
 *
 * Task output goes to stdout, line by line, with the task's name before it;
 * what happens goes to stderr, and only on a terminal; what went wrong always.
 */
#include "cli.h"
#include "job_file.h"
#include "output.h"

#include <signal.h>
#include <sys/resource.h>
#include <string.h>

typedef struct run {
  pai_platform *platform;
  pai_spec *spec;
  cli_output out;
  bool json;
  bool quiet; /* no progress on stderr */
  pai_job_id job;
  int state; /* the final one, or 0 */
  int code;
  int requests;   /* to stop that were passed on */
  int stopped_by; /* the last signal that asked for it, or 0 */
  pai_time started;
} run_state;

static bool shows_progress(const run_state *r)
{
  return !r->quiet && !r->json;
}

/* --- what happens ------------------------------------------------------- */

static void print_result(const run_state *r, const pai_event *event)
{
  double seconds = (double)(pai_event_time(event) - r->started) / 1e6;
  const char *why = pai_event_text(event, NULL);
  bool good = r->state == PAI_STATE_SUCCEEDED;

  (void)fprintf(stderr, "%s%s %s%s after %.1f s%s%s\n",
                cli_style(stderr, good ? "\033[1;32m" : "\033[1;31m"),
                pai_spec_name(r->spec), pai_state_name(r->state),
                cli_style(stderr, "\033[0m"), seconds,
                why[0] != '\0' ? ": " : "", why);
  if (!good)
    (void)fprintf(stderr, "  logs: %s\n",
                  pai_platform_job_dir(r->platform, r->job));
}

static void on_job(run_state *r, const pai_event *event)
{
  int state = pai_event_state(event);
  const char *text = pai_event_text(event, NULL);

  if (state >= PAI_STATE_SUCCEEDED) {
    r->state = state;
    r->code = pai_event_code(event);
    /* A failure is told also when nobody watches. */
    if (!r->json && (!r->quiet || state != PAI_STATE_SUCCEEDED))
      print_result(r, event);
    pai_platform_close(r->platform, NULL, NULL);
  } else if (shows_progress(r) && state != PAI_STATE_STOPPING) {
    (void)fprintf(stderr, "%s %s%s%s\n", pai_spec_name(r->spec),
                  pai_state_name(state), text[0] != '\0' ? ": " : "", text);
  }
}

static void on_task(const run_state *r, const pai_event *event)
{
  int state = pai_event_state(event);

  if (!shows_progress(r))
    return;
  (void)fprintf(stderr, "  %s[%u] %s", pai_event_role(event),
                pai_event_index(event), pai_state_name(state));
  if (state == PAI_STATE_FAILED)
    (void)fprintf(stderr, " with code %d", pai_event_code(event));
  (void)fputc('\n', stderr);
}

static int on_event(void *user_data, const pai_event *event)
{
  int type = pai_event_type(event);
  run_state *r = user_data;

  if (r->started == 0)
    r->started = pai_event_time(event);
  if (type == PAI_EVENT_OUTPUT)
    cli_output_add(&r->out, event);
  if (type != PAI_EVENT_JOB && type != PAI_EVENT_TASK)
    return 0;
  if (pai_event_state(event) >= PAI_STATE_SUCCEEDED)
    cli_output_end(&r->out, event);
  if (r->json)
    cli_output_state(event);
  if (type == PAI_EVENT_JOB)
    on_job(r, event);
  else
    on_task(r, event);
  return 0;
}

static void on_log(void *user_data, int level, const char *line)
{
  if (level >= PAI_LOG_WARNING ||
      (level == PAI_LOG_INFO && shows_progress(user_data)))
    cli_say(level, line);
}

/* --- signals: requests to stop ------------------------------------------ */

/* Written by the signal handler alone, so that no request is lost. */
static volatile sig_atomic_t requests;
static volatile sig_atomic_t last_signal;
static pai_loop *volatile loop_to_wake; /* for the signal handler alone */

static void on_signal(int number)
{
  /* Each write to a reader that has gone raises it: no further request. */
  if (number == SIGPIPE && requests > 0)
    return;
  last_signal = number;
  requests = requests + (number == SIGQUIT ? 2 : 1);
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

static void catch_signals(pai_loop *loop)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
  struct sigaction old, action = { .sa_handler = on_signal };
  sigset_t none;

  loop_to_wake = loop;
  /* A caller may have blocked SIGCHLD, without which no end is noticed. */
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)signal(SIGXFSZ, SIG_IGN);    /* then the write says what is wrong */
  (void)sigfillset(&action.sa_mask); /* one at a time may count */
  action.sa_flags = SA_RESTART;      /* a write cut short loses output */
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    /* What nohup or a shell's & has ignored stays ignored. */
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      (void)sigaction(numbers[i], &action, NULL);
}

/* The first request stops the job, the second kills it. */
static void pass_requests_on(run_state *r)
{
  if (r->requests == requests || r->job == 0 || r->state != 0)
    return;
  for (; r->requests < requests; r->requests++)
    /* It fails when the job is over: that is told next, and counts. */
    if (pai_platform_stop(r->platform, r->job) == PAI_OK)
      r->stopped_by = last_signal;
  if (!r->quiet)
    (void)fprintf(stderr, "%s\n",
                  r->requests == 1 ? "stopping; once more to kill"
                                   : "killing");
}

/* --- the verb ----------------------------------------------------------- */

static int exit_code(const run_state *r)
{
  if (r->state == 0) {
    cli_fail("the job came to no end: a bug in openpai, please report it");
    return CLI_BROKEN;
  }
  if (r->state == PAI_STATE_SUCCEEDED)
    return CLI_OK;
  if (r->state == PAI_STATE_STOPPED && r->stopped_by > 0)
    return 128 + r->stopped_by;
  return r->code > 0 && r->code <= 255 ? r->code : CLI_BROKEN;
}

/* Each task takes some descriptors: as many as we may have. */
static void raise_limits(void)
{
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int run_job(run_state *r, const char *root, pai_error **err)
{
  pai_platform_options options = PAI_PLATFORM_OPTIONS_INIT;
  pai_loop *loop;
  int rc;

  options.root = root;
  options.on_event = on_event;
  options.on_log = on_log;
  options.user_data = r;
  rc = pai_loop_new(&loop, NULL, err);
  if (rc < 0)
    return rc;
  catch_signals(loop);
  raise_limits();
  rc = pai_platform_new(&r->platform, loop, &options, err);
  if (rc == PAI_OK) {
    rc = pai_platform_submit(&r->job, r->platform, r->spec, err);
    if (rc < 0)
      pai_platform_close(r->platform, NULL, NULL);
    while (pai_loop_run_once(loop) > 0)
      pass_requests_on(r);
  }
  loop_to_wake = NULL; /* a signal may still come */
  pai_loop_free(loop);
  return rc;
}

static void print_notes(const run_state *r)
{
  const char *note;

  if (r->quiet)
    return;
  for (size_t i = 0; (note = pai_spec_note(r->spec, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
}

/* Returns the exit code. */
static int run_file(run_state *r, const char *name, const char *root)
{
  cli_job_file file;
  pai_error *err = NULL;
  int code = CLI_BROKEN;

  if (cli_job_file_need(&file, name) == CLI_OK) {
    r->spec = file.spec;
    if (!cli_output_init(&r->out, r->spec, r->json)) {
      cli_fail("out of memory");
    } else {
      int rc;
      print_notes(r);
      rc = run_job(r, root, &err);
      cli_output_dispose(&r->out);
      if (rc < 0)
        cli_error(rc == PAI_ENOROOM ? name : NULL, err);
      else
        code = exit_code(r);
    }
  }
  pai_error_free(err);
  cli_job_file_close(&file);
  return code;
}

static int run(int argc, char **argv)
{
  const char *root = NULL;
  bool quiet = false, verbose = false;
  run_state r = { 0 };
  const cli_option options[] = {
    { "json", 0, &r.json, NULL },       { "quiet", 'q', &quiet, NULL },
    { "verbose", 'v', &verbose, NULL }, { "root", 0, NULL, &root },
    { "param", 'p', NULL, NULL },
  };
  int words = cli_options(&cli_run, options, 5, argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0) {
      cli_fail(words == 0 ? "run: which job file?"
                          : "run takes one job file, not %d",
               words);
      (void)fprintf(stderr, "  help: openpai run --help\n");
    }
    return CLI_BROKEN;
  }
  r.quiet = quiet || (!verbose && !cli_is_terminal(stderr));
  return run_file(&r, argv[0], root);
}

const cli_verb cli_run = {
  .name = "run",
  .brief = "Run a job file on this machine and wait for its result",
  .usage = "[--json] [--quiet|--verbose] [--root DIR] [-p NAME=VALUE]... FILE",
  .help =
    "FILE is a job of OpenPAI's job protocol v2, YAML or JSON, or a job\n"
    "config v1; - reads standard input.  Its tasks run as processes of this\n"
    "user.  What they print is shown with the task's name before each line\n"
    "and kept in files.  The first Ctrl-C stops the job, the second kills "
    "it;\n"
    "Ctrl-\\ kills it at once.  A reader of its output that goes away stops\n"
    "it, too.\n\n"
    "  --json         print every event as one line of JSON\n"
    "  -q, --quiet    only what the tasks print, warnings and failures; the\n"
    "                 default when stderr is not a terminal\n"
    "  -v, --verbose  say what happens also when stderr is not a terminal\n"
    "  --root DIR     keep the job's files under DIR\n"
    "                 (default: $XDG_STATE_HOME/openpai, or\n"
    "                 ~/.local/state/openpai)\n"
    "  -p, --param NAME=VALUE\n"
    "                 a parameter in the place of the file's; may be given\n"
    "                 several times.  VALUE is text as it stands, 007 and "
    "1.10\n"
    "                 too; JSON's numbers, true, false, null, \"texts\", "
    "lists\n"
    "                 and objects are what they are there\n"
    "  -h, --help\n\n"
    "Exit code: 0 the job succeeded; 1..255 the code of the task that\n"
    "decided its failure; 125 also when openpai itself failed: a bad file,\n"
    "no room, no folder, output that cannot be written; 128+n also when\n"
    "signal n stopped the job.\n",
  .run = run,
};
