/*
 * cmd_top.c - the platform's jobs, live
 *
 * On a terminal the picture is drawn over itself every second; else it is
 * printed once.
 */
#include "jobs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended_by; /* a signal, or 0 */

static void on_signal(int number)
{
  ended_by = number;
}

/* How many jobs fit. */
static size_t rows(void)
{
  struct winsize size;

  if (!cli_is_terminal(stdout))
    return SIZE_MAX;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 5)
    return (size_t)size.ws_row - 4;
  return 20;
}

static void print_head(const cli_json *s)
{
  size_t jobs = cli_json_get(s, 0, "jobs"),
         machine = cli_json_get(s, 0, "machine");

  (void)printf("%lld running, %lld waiting; free: %lld of %lld GPUs, %lld of "
               "%lld CPUs\n\n",
               (long long)cli_json_number(s, jobs, "running", 0),
               (long long)cli_json_number(s, jobs, "waiting", 0),
               (long long)cli_json_number(s, machine, "freeGpus", 0),
               (long long)cli_json_number(s, machine, "gpus", 0),
               (long long)cli_json_number(s, machine, "freeCpus", 0),
               (long long)cli_json_number(s, machine, "cpus", 0));
}

/* False, and told: it cannot be asked. */
static bool draw(cli_remote *r, bool live, bool all)
{
  cli_json status, list;
  bool good = cli_remote_get(r, &status, "/api/v2/status");

  if (good &&
      !cli_remote_get(
        r, &list,
        all ? "/api/v2/jobs?limit=200"
            : "/api/v2/jobs?limit=200&state=RUNNING,STOPPING,WAITING")) {
    cli_json_free(&status);
    good = false;
  }
  if (!good)
    return false;
  if (live)
    (void)fputs("\033[H\033[2J", stdout);
  print_head(&status);
  cli_print_jobs(stdout, &list, 0, rows());
  cli_json_free(&list);
  cli_json_free(&status);
  return cli_written();
}

static int show(cli_remote *r, bool once, bool all)
{
  const struct timespec second = { 1, 0 };
  struct sigaction action = { .sa_handler = on_signal };
  int code = CLI_OK;

  if (once)
    return draw(r, false, all) ? CLI_OK : CLI_NO;
  (void)sigaction(SIGINT, &action, NULL);
  (void)sigaction(SIGTERM, &action, NULL);
  (void)sigaction(SIGHUP, &action, NULL);
  (void)fputs("\033[?1049h\033[?25l", stdout);
  while (ended_by == 0 && code == CLI_OK) {
    if (!draw(r, true, all))
      code = CLI_NO;
    else
      (void)nanosleep(&second, NULL); /* a signal ends it */
  }
  (void)fputs("\033[?25h\033[?1049l", stdout);
  (void)fflush(stdout);
  if (code != CLI_OK) /* what was said of it went with the screen */
    cli_fail("the platform in %s cannot be asked any more",
             r->root != NULL ? r->root : r->site.url);
  return code;
}

static int run(int argc, char **argv)
{
  bool once = false, all = false;
  const cli_option options[] = { { "once", 0, &once, NULL },
                                 { "all", 'a', &all, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_top, options, 3, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words != 0) {
    if (words > 0)
      cli_misused(&cli_top, "top takes no argument", argv[0]);
    return CLI_USAGE;
  }
  if (cli_remote_open(&r, true)) {
    code = show(&r, once || !cli_is_terminal(stdout), all);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_top = {
  .name = "top",
  .brief = "Show the platform's jobs, live",
  .usage = "[--once] [--all] [--root DIR]",
  .help =
    "Every second, until Ctrl-C; once when it is not shown on a terminal.\n"
    "What the machine itself is doing shows 'openpai cluster top'.\n\n"
    "  --once           once, as plain lines\n"
    "  -a, --all        those that are over, too\n" JOBS_ROOT_HELP
    "\nExit code: 0, or 1 when the platform cannot be asked, 2 wrong usage.\n",
  .run = run,
};
