/* cmd_sched.c - what is in the log of a scheduler: its decisions, its state at
 * the end, and why something waits */
#include "remote.h"
#include "sched_tables.h"

/* --- replay --------------------------------------------------------------- */

static int check_policy(const sched_log *log)
{
  if (log->options != NULL && log->policy == NULL) {
    cli_misused(&cli_sched_replay, "--options are those of --policy",
                log->options);
    return CLI_USAGE;
  }
  if (log->check && log->policy != NULL) {
    cli_misused(&cli_sched_replay, "snapshots are of the log's own policy",
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
    (void)fprintf(stderr,
                  "%llu events were left out: they tell of what policy %s did "
                  "not do\n",
                  (unsigned long long)pai_replay_skipped(log.replay),
                  log.policy);
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_replay = {
  .name = "sched replay",
  .brief = "Repeat the decisions of a scheduler's log",
  .usage = "[--json] [--check] [--policy P [--options O]] [--until N] "
           "[--root DIR] [LOG]",
  .help =
    "LOG, or - for standard input, begins with a snapshot; each line behind "
    "it\n"
    "is an event, or says that the scheduler was to decide.  Prints the\n"
    "decisions: the same as then, on any machine.  Without LOG it is the\n"
    "platform's own, ROOT/scheduler.log.1 and scheduler.log, or fetched from\n"
    "the server that --cluster names.\n\n"
    "  --json       one JSON object for each decision; so it is also when\n"
    "               standard output is no terminal\n"
    "  --check      a snapshot in the middle has to be what the lines before "
    "it\n"
    "               make, byte for byte; else it is skipped\n"
    "  --policy P   another policy decides, a built-in one; events that tell\n"
    "               of what it did not do are left out\n"
    "  --options O  its options, a JSON object\n"
    "  --until N    no further than line N\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT, or\n"
    "               $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n\n"
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
    "LOG, or - for standard input, is a scheduler's log: see sched replay;\n"
    "without it, it is the platform's own, here or with --cluster elsewhere.\n"
    "Of nodes it says what is free and what there is; of requests how many\n"
    "instances wait and run, and what they lack.\n\n"
    "  --json      a snapshot, with which another log may begin\n"
    "  --until N   no further than line N\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n\n"
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
    "LOG, or - for standard input, is a scheduler's log: see sched replay;\n"
    "without it, it is the platform's own, here or with --cluster elsewhere.\n"
    "Says what request ID lacks, and which change would let it start.\n\n"
    "  --json      the same as one JSON object\n"
    "  --until N   no further than line N\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n\n"
    "Exit status: 0 success, 1 no such request or an invalid line in the\n"
    "log, 2 the log cannot be read or usage error\n",
  .run = explain,
};
