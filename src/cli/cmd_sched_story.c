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
  .brief = "Show the history of one request",
  .usage = "[--json] [--policy P] [--root DIR] [LOG] JOB",
  .help =
    "Show when the request JOB (number or name) arrived, what it lacked from\n"
    "when to when, which requests had the missing resources meanwhile, and\n"
    "when it started and ended.  LOG is a scheduler log, - for standard "
    "input\n"
    "(default: the platform's own log, as for sched replay).\n"
    "\n"
    "  --json       print one JSON object, with reasons hour by hour\n"
    "  --policy P   also show when the request would have started under\n"
    "               another built-in policy, P or P:OPTIONS with a JSON\n"
    "               object, if everything else had happened as recorded\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT, or\n"
    "               $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "\n"
    "Exit status: 0 success, 1 no such request or an invalid line in the\n"
    "log, 2 the log cannot be read or usage error\n",
  .run = story,
};
