/* cmd_down.c - the platform of this user: ended, and what it is and does */
#include "disk.h"
#include "remote.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 60 * 1000, PAUSE = 10 }; /* ms */

/* The number of jobs that are not over. */
static long long count_jobs(const cli_json *status)
{
  size_t jobs = cli_json_get(status, 0, "jobs");
  long long sum = 0;

  for (size_t i = cli_json_first(status, jobs); jobs != 0 && i != 0;
       i = cli_json_next(status, jobs, i))
    if (status->values[i].type == '0')
      sum += strtoll(status->values[i].text, NULL, 10);
  return sum;
}

/* Whether a process is there, and no zombie. */
static bool lives(long long pid)
{
  char path[64], text[512] = "";
  const char *state;
  FILE *file;

  (void)snprintf(path, sizeof(path), "/proc/%lld/stat", pid);
  file = fopen(path, "r");
  if (file == NULL)
    return false;
  (void)!fread(text, 1, sizeof(text) - 1, file);
  (void)fclose(file);
  state = strrchr(text, ')'); /* "PID (NAME) STATE ..." */
  return state != NULL && state[1] == ' ' && state[2] != 'Z';
}

/* Waits until nobody listens any more, and the process has left the root. */
static bool wait_for_end(cli_remote *r, long long pid)
{
  const struct timespec pause = { 0, PAUSE * 1000 * 1000 };
  cli_answer a;

  for (int ms = 0; ms < PATIENCE; ms += PAUSE) {
    cli_remote_ask(r, &a, "GET", "/api/v2/info", NULL, NULL, 0);
    cli_answer_free(&a);
    if (a.status == PAI_ENOTFOUND && a.http == 0 && !lives(pid))
      return true;
    (void)nanosleep(&pause, NULL);
  }
  cli_fail("the platform does not stop");
  cli_help(stderr, "see ROOT/log");
  return false;
}

/* False: there was no platform, or it cannot be asked; code says which. */
static bool find_platform(cli_remote *r, cli_json *status, int *code)
{
  cli_answer a;
  bool there;

  cli_remote_ask(r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  there = a.status == PAI_OK && cli_json_read(status, a.body, a.len);
  *code = CLI_NO;
  if (!there && a.status == PAI_ENOTFOUND && a.http == 0) {
    *code = CLI_OK;
  } else if (!there) {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return there;
}

int cli_end_platform(cli_remote *r, bool kill, bool quiet)
{
  const char *body = kill ? "{\"kill\":true}" : "{\"kill\":false}";
  cli_json status;
  cli_answer a;
  long long jobs, pid;
  int code;

  if (!find_platform(r, &status, &code)) {
    if (code == CLI_OK && !quiet)
      (void)printf("no platform runs in %s\n", r->root);
    return code;
  }
  jobs = count_jobs(&status);
  pid = cli_json_number(&status, 0, "pid", 0);
  cli_json_free(&status);
  cli_remote_ask(r, &a, "POST", "/api/v2/shutdown", NULL, body, strlen(body));
  code = a.status == PAI_OK ? CLI_OK : CLI_NO;
  if (code != CLI_OK)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  if (code != CLI_OK || !wait_for_end(r, pid))
    return CLI_NO;
  if (quiet)
    return CLI_OK;
  (void)printf("the platform has stopped\n");
  if (jobs > 0 && !kill)
    (void)fprintf(stderr,
                  "note: %lld job%s go%s on; openpai up finds %s, and "
                  "--kill would have ended %s\n",
                  jobs, jobs == 1 ? "" : "s", jobs == 1 ? "es" : "",
                  jobs == 1 ? "it" : "them", jobs == 1 ? "it" : "them");
  return CLI_OK;
}

static int run_down(int argc, char **argv)
{
  bool kill = false, leave = false, quiet = false, system = false,
       disable = false;
  const cli_option options[] = {
    { "kill", 0, &kill, NULL },     { "leave", 0, &leave, NULL },
    { "quiet", 'q', &quiet, NULL }, { "root", 0, NULL, &cli_root },
    { "system", 0, &system, NULL }, { "disable", 0, &disable, NULL },
  };
  int words = cli_options(&cli_down, options, 6, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words != 0 || (kill && leave)) {
    if (words > 0)
      cli_misused(&cli_down, "down takes no argument", argv[0]);
    else if (words == 0)
      cli_misused(&cli_down, "these options exclude each other",
                  "--kill --leave");
    return CLI_USAGE;
  }
  if (system && cli_root == NULL)
    cli_root = cli_system_root();
  if (cli_remote_open(&r, false)) {
    code = cli_end_platform(&r, kill, quiet);
    cli_remote_close(&r);
  }
  return disable && code == CLI_OK ? cli_unit_disable(system) : code;
}

const cli_verb cli_down = {
  .name = "down",
  .brief = "Stop this user's platform",
  .usage = "[--kill|--leave] [--quiet] [--disable] [--system] [--root DIR]",
  .help =
    "Running jobs continue without the platform.  The next platform of the\n"
    "same root finds them, with their output and results.  Waiting jobs wait\n"
    "until then.\n"
    "\n"
    "  --kill       kill the tasks of all jobs at once\n"
    "  --leave      let running jobs continue (the default)\n"
    "  -q, --quiet  print nothing\n"
    "  --disable    also remove the systemd service of 'up --enable'\n"
    "  --system     stop the platform of all users\n"
    "  --root DIR   the root (default: $OPENPAI_ROOT, or\n"
    "               $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 no platform runs, 1 the platform could not be stopped, 2\n"
    "usage error\n",
  .run = run_down,
};

/* --- status ---------------------------------------------------------------------------- */

static void print_status(const cli_json *s)
{
  size_t jobs = cli_json_get(s, 0, "jobs"),
         machine = cli_json_get(s, 0, "machine");
  const char *trouble = cli_json_text(s, 0, "trouble"),
             *warning = cli_json_text(s, 0, "warning");

  (void)printf("platform  process %lld, version %s\n",
               (long long)cli_json_number(s, 0, "pid", 0),
               cli_json_text(s, 0, "version"));
  if (cli_json_text(s, 0, "root")[0] != '\0') /* administrators are told */
    (void)printf("root      %s%s\n", cli_json_text(s, 0, "root"),
                 cli_json_true(s, 0, "system") ? ", of all users" : "");
  (void)printf("jobs      %lld running, %lld waiting, %lld stopping\n",
               (long long)cli_json_number(s, jobs, "running", 0),
               (long long)cli_json_number(s, jobs, "waiting", 0),
               (long long)cli_json_number(s, jobs, "stopping", 0));
  if (machine != 0)
    (void)printf("free      %lld of %lld CPUs, %lld of %lld GPUs\n",
                 (long long)cli_json_number(s, machine, "freeCpus", 0),
                 (long long)cli_json_number(s, machine, "cpus", 0),
                 (long long)cli_json_number(s, machine, "freeGpus", 0),
                 (long long)cli_json_number(s, machine, "gpus", 0));
  if (cli_json_text(s, 0, "policy")[0] != '\0')
    (void)printf("policy    %s\n", cli_json_text(s, 0, "policy"));
  if (cli_json_text(s, 0, "runtime")[0] != '\0')
    (void)printf("runtime   %s\n", cli_json_text(s, 0, "runtime"));
  if (cli_json_text(s, 0, "limits")[0] != '\0')
    (void)printf("limits    %s\n", cli_json_text(s, 0, "limits"));
  if (warning[0] != '\0')
    cli_say(PAI_LOG_WARNING, warning);
  if (trouble[0] != '\0')
    cli_say(PAI_LOG_WARNING, trouble);
}

static int show_status(cli_remote *r, bool json)
{
  cli_json status;
  cli_answer a;
  int code = CLI_NO;

  cli_remote_ask(r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  if (a.status == PAI_ENOTFOUND && a.http == 0 && r->root != NULL) {
    if (json)
      (void)printf("null\n");
    else
      (void)printf("no platform runs in %s\n", r->root);
  } else if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else if (cli_json_read(&status, a.body, a.len)) {
    print_status(&status);
    if (r->root != NULL)
      cli_print_disk(r->root);
    cli_json_free(&status);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  return code;
}

static int run_status(int argc, char **argv)
{
  bool json = false, system = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "system", 0, &system, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_status, options, 3, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words != 0) {
    if (words > 0)
      cli_misused(&cli_status, "status takes no argument", argv[0]);
    return CLI_USAGE;
  }
  if (system && cli_root == NULL)
    cli_root = cli_system_root();
  if (cli_remote_open(&r, false)) {
    code = show_status(&r, json);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_status = {
  .name = "status",
  .brief = "Show whether a platform runs, and its jobs and limits",
  .usage = "[--json] [--system] [--root DIR]",
  .help =
    "Also show what the platform's root takes of the disk.  This verb does\n"
    "not start a platform.\n"
    "\n"
    "  --json      print one JSON object: pid, root, jobs by state, machine,\n"
    "              policy, runtime and limits; or null if no platform runs\n"
    "  --system    show the platform of all users, even if this user's own\n"
    "              platform runs\n"
    "  --root DIR  the root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 a platform runs, 1 no platform runs, 2 usage error\n",
  .run = run_status,
};
