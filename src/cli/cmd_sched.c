/* cmd_sched.c - what is in the log of a scheduler: its decisions, its state at
 * the end, and why something waits */
#include "remote.h"
#include "sched_tables.h"

/* --- replay --------------------------------------------------------------- */

static int check_policy(const sched_log *log)
{
  if (log->options != NULL && log->policy == NULL) {
    cli_misused(&cli_sched_replay, "--options requires --policy",
                log->options);
    return CLI_USAGE;
  }
  if (log->check && log->policy != NULL) {
    cli_misused(&cli_sched_replay, "--check requires the log's own policy",
                "--check");
    return CLI_USAGE;
  }
  return CLI_OK;
}

static int replay(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = {
    { "json", 0, &json, NULL },           { "check", 0, &log.check, NULL },
    { "options", 0, NULL, &log.options }, { "policy", 0, NULL, &log.policy },
    { "root", 0, NULL, &cli_root },       { "until", 0, NULL, &until }
  };
  int words = cli_options(&cli_sched_replay, options, 6, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_replay, words, argv, 1, until, &log);
  if (code == CLI_OK)
    code = check_policy(&log);
  if (code == CLI_OK && log.name == NULL)
    code = sched_log_own(&log, false);
  if (code != CLI_OK) {
    sched_log_close(&log);
    return code;
  }
  json = json || !cli_is_terminal(stdout);
  log.decided = json ? sched_json_decisions : sched_show_decisions;
  if (!json)
    sched_show_head();
  code = sched_log_read(&log);
  if (pai_replay_skipped(log.replay) != 0)
    (void)fprintf(
      stderr,
      "%llu events were skipped: they do not fit the decisions of policy %s\n",
      (unsigned long long)pai_replay_skipped(log.replay), log.policy);
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_replay = {
  .name = "sched replay",
  .brief = "Repeat the decisions of a scheduler log",
  .usage = "[--json] [--check] [--policy P [--options O]] [--until N] "
           "[--root DIR] [LOG]",
  .help =
    "LOG, or - for standard input, starts with a snapshot; each further line "
    "is\n"
    "an event or a request to decide.  Print the decisions, which are the "
    "same\n"
    "on any machine.  Without LOG, read the platform's own log:\n"
    "ROOT/scheduler.log.1 and scheduler.log, or that of the server of\n"
    "--cluster.\n"
    "\n"
    "  --json       print one JSON object for each decision (default if\n"
    "               standard output is not a terminal)\n"
    "  --check      fail if a later snapshot differs, in any byte, from the\n"
    "               state that the lines before it make (default: skip these\n"
    "               snapshots)\n"
    "  --policy P   built-in policy that decides instead of the recorded "
    "one;\n"
    "               events that do not fit its decisions are skipped\n"
    "  --options O  options of that policy, a JSON object\n"
    "  --until N    last line to read\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT, or\n"
    "               $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "\n"
    "Exit status: 0 success, 1 an invalid line in the log, 2 the log\n"
    "cannot be read or usage error\n",
  .run = replay,
};

/* --- show ----------------------------------------------------------------- */

static int show(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root },
                                 { "until", 0, NULL, &until } };
  pai_error *err = NULL;
  int words = cli_options(&cli_sched_show, options, 3, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_show, words, argv, 1, until, &log);
  if (code == CLI_OK && log.name == NULL)
    code = sched_log_own(&log, until == NULL);
  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (code == CLI_OK && json) {
    if (pai_sched_save(log.sched, cli_write, stdout, &err) < 0)
      code = sched_log_fail(&log, err);
  } else if (code == CLI_OK) {
    sched_show_sums(&log);
    (void)putchar('\n');
    sched_show_vcs(log.sched);
    (void)putchar('\n');
    sched_show_nodes(log.sched);
    (void)putchar('\n');
    sched_show_requests(log.sched);
  }
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_show = {
  .name = "sched show",
  .brief = "Show the queue and the nodes at the end of a log",
  .usage = "[--json] [--until N] [--root DIR] [LOG]",
  .help =
    "For each node, show free and total capacity; for each request, how many\n"
    "instances wait and run, and what it lacks.  LOG is a scheduler log, - "
    "for\n"
    "standard input (default: the platform's own log, as for sched replay).\n"
    "\n"
    "  --json      print a snapshot, with which another log may start\n"
    "  --until N   last line to read\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "\n"
    "Exit status: 0 success, 1 an invalid line in the log, 2 the log\n"
    "cannot be read or usage error\n",
  .run = show,
};

/* --- explain -------------------------------------------------------------- */

static int explain(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root },
                                 { "until", 0, NULL, &until } };
  pai_error *err = NULL;
  uint64_t id = 0;
  int words = cli_options(&cli_sched_explain, options, 3, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_explain, words, argv, 2, until, &log);
  if (code == CLI_OK && log.name == NULL)
    code = sched_log_own(&log, until == NULL);
  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (code == CLI_OK)
    code = sched_log_request(&cli_sched_explain, &log, argv[words - 1], &id);
  if (code == CLI_OK &&
      pai_sched_explain(log.sched, id,
                        json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT, cli_write,
                        stdout, &err) < 0)
    code = sched_log_fail(&log, err);
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_explain = {
  .name = "sched explain",
  .brief = "Explain why a request is waiting at the end of a log",
  .usage = "[--json] [--until N] [--root DIR] [LOG] ID",
  .help =
    "Print what the request ID lacks, and which change would let it start.\n"
    "LOG is a scheduler log, - for standard input (default: the platform's "
    "own\n"
    "log, as for sched replay).\n"
    "\n"
    "  --json      print one JSON object\n"
    "  --until N   last line to read\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "\n"
    "Exit status: 0 success, 1 no such request or an invalid line in the\n"
    "log, 2 the log cannot be read or usage error\n",
  .run = explain,
};
