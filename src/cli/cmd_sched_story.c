/* cmd_sched_story.c - how a job waited, as its log tells it */
#include "remote.h"
#include "sched_log.h"

#include <string.h>

static int story(int argc, char **argv)
{
  bool json = false;
  const char *policy = NULL;
  char *colon;
  pai_story_options o = { .struct_size = sizeof(o) };
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "policy", 0, NULL, &policy },
                                 { "root", 0, NULL, &cli_root } };
  pai_error *err = NULL;
  uint64_t id = 0;
  int words = cli_options(&cli_sched_story, options, 3, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  colon = policy != NULL ? strchr(policy, ':') : NULL;
  if (colon != NULL) { /* of argv */
    *colon = '\0';
    o.policy_options = colon + 1;
  }
  o.policy = policy;
  code = sched_log_words(&cli_sched_story, words, argv, 2, NULL, &log);
  if (code == CLI_OK && log.name == NULL)
    code = sched_log_own(&log, false);
  if (code == CLI_OK)
    code = sched_log_request(&cli_sched_story, &log, argv[words - 1], &id);
  if (code == CLI_OK)
    code = sched_log_open(&log);
  if (code == CLI_OK &&
      pai_replay_story(log.replay, id, &o,
                       json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT, cli_write,
                       stdout, &err) < 0)
    code = sched_log_fail(&log, err);
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_story = {
  .name = "sched story",
  .brief = "Tell how a job waited, and what another policy would have done",
  .usage = "[--json] [--policy P] [--root DIR] [LOG] JOB",
  .help =
    "LOG, or - for standard input, is a scheduler's log: see sched replay;\n"
    "without it, it is the platform's own, ROOT/scheduler.log.1 and\n"
    "scheduler.log, or fetched from the server that --cluster names.  Tells\n"
    "of request JOB, a number or a name, when it came, what it lacked from\n"
    "when to when, who had it meanwhile, when it started and when it ended.\n"
    "\n"
    "  --json       one JSON object; reasons hour by hour, also of long "
    "waits\n"
    "  --policy P   also when it would have started under another policy, a\n"
    "               built-in one, or P:OPTIONS with a JSON object, if all "
    "else\n"
    "               had come as it did: who ran in the log runs as long as "
    "it\n"
    "               did there\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT, or\n"
    "               $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n\n"
    "Exit status: 0 success, 1 no such request or an invalid line in the\n"
    "log, 2 the log cannot be read or usage error\n",
  .run = story,
};
