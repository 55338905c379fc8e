/* cmd_sched.c - `sched`: decisions, state and waiting requests in a scheduler
 * log */
#include "remote.h"
#include "sched_log.h"
#include "sched_tables.h"

#include <string.h>

/* Finds the log of a verb.  `late`: only its last state is needed. */
static int find_log(sched_log *log, int words, char **argv, const char *option,
                    sched_takes takes, bool late, const char **job)
{
  int code = sched_log_words(log, words, argv, option, takes, job);

  return code == CLI_OK && log->name == NULL ? sched_log_own(log, late) : code;
}

/* --- replay -------------------------------------------------------------- */

int cli_do_sched_replay(const cli_sched_replay_args *a)
{
  bool json = a->log.json || !cli_is_terminal(stdout);
  sched_log log = { .policy = a->policy,
                    .options = a->options,
                    .check = a->check,
                    .until = cli_number(a->until, 0),
                    .decided =
                      json ? sched_json_decisions : sched_show_decisions };
  const char *job;
  int code =
    find_log(&log, a->count, a->words, a->log.log, SCHED_NO_JOB, false, &job);

  if (code == CLI_OK && !json)
    sched_show_head();
  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (pai_replay_skipped(log.replay) != 0)
    (void)fprintf(
      stderr,
      "%llu events were skipped: they do not fit the decisions of policy %s\n",
      (unsigned long long)pai_replay_skipped(log.replay), log.policy);
  sched_log_close(&log);
  return code;
}

/* --- show ---------------------------------------------------------------- */

int cli_do_sched_show(const cli_sched_show_args *a)
{
  sched_log log = { .until = cli_number(a->until, 0) };
  pai_error *err = NULL;
  const char *job;
  int code = find_log(&log, a->count, a->words, a->log.log, SCHED_NO_JOB,
                      a->until == NULL, &job);

  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (code == CLI_OK && a->log.json) {
    if (pai_sched_save(log.sched, cli_write, stdout, &err) < 0)
      code = sched_log_fail(&log, err);
  } else if (code == CLI_OK) {
    sched_show_sums(&log);
    for (size_t i = 0; i < SCHED_TABLES; i++) {
      (void)putchar('\n');
      sched_show(log.sched, &sched_tables[i]);
    }
  }
  sched_log_close(&log);
  return code;
}

/* --- explain ------------------------------------------------------------- */

static int explain(sched_log *log, const char *job, bool json)
{
  pai_error *err = NULL;
  uint64_t id = 0;
  int code = sched_log_request(log, job, &id);

  if (code == CLI_OK &&
      pai_sched_explain(log->sched, id,
                        json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT, cli_write,
                        stdout, &err) < 0)
    code = sched_log_fail(log, err);
  return code;
}

int sched_explain(int words, char **argv, const cli_log_options *o,
                  const char *until)
{
  sched_log log = { .until = cli_number(until, 0) };
  const char *job;
  int code =
    find_log(&log, words, argv, o->log, SCHED_NEEDS_JOB, until == NULL, &job);

  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (code == CLI_OK)
    code = explain(&log, job, o->json);
  sched_log_close(&log);
  return code;
}

int cli_do_sched_explain(const cli_sched_explain_args *a)
{
  return sched_explain(a->count, a->words, &a->log, a->until);
}

int cli_do_sched_story(const cli_sched_story_args *a)
{
  char *colon = a->policy != NULL ? strchr(a->policy, ':') : NULL;
  pai_story_options o = { .struct_size = sizeof(o), .policy = a->policy };
  sched_log log = { .name = NULL };
  pai_error *err = NULL;
  const char *job;
  uint64_t id = 0;
  int code = find_log(&log, a->count, a->words, a->log.log, SCHED_NEEDS_JOB,
                      false, &job);

  if (colon != NULL) { /* points into argv */
    *colon = '\0';
    o.policy_options = colon + 1;
  }
  if (code == CLI_OK)
    code = sched_log_request(&log, job, &id);
  if (code == CLI_OK)
    code = sched_log_open(&log);
  if (code == CLI_OK &&
      pai_replay_story(log.replay, id, &o,
                       a->log.json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                       cli_write, stdout, &err) < 0)
    code = sched_log_fail(&log, err);
  sched_log_close(&log);
  return code;
}

typedef struct moment {
  sched_log log;
  const char *since; /* --since: how long before `time` decisions are shown */
  const char *job;
  bool json;
  pai_time time, before; /* `since` as a duration */
} moment;

/* --- views --------------------------------------------------------------- */

static int go(moment *m, pai_time time)
{
  pai_error *err = NULL;
  int rc = pai_replay_to(m->log.replay, time, &err);

  m->log.sched = pai_replay_sched(m->log.replay);
  return rc < 0 ? sched_log_fail(&m->log, err) : CLI_OK;
}

/* Shows a table of the state at that time. */
static int show_table(moment *m, const sched_table *table)
{
  char when[PAI_REPLAY_TIME];
  int code = go(m, m->time);

  if (code == CLI_OK && m->json) {
    sched_json(stdout, m->log.sched, table);
  } else if (code == CLI_OK) {
    (void)printf("at %s: ",
                 pai_replay_show_time(m->log.replay, m->time, when));
    sched_show_sums(&m->log);
    (void)putchar('\n');
    sched_show(m->log.sched, table);
  }
  return code;
}

static int why(moment *m)
{
  int code = go(m, m->time);

  return code == CLI_OK ? explain(&m->log, m->job, m->json) : code;
}

/* Parses --since like a time of the log, as the duration after its
 * beginning. */
static int read_since(moment *m)
{
  char text[64];
  pai_time begin, end;
  const char *since = m->since != NULL ? m->since : "1h";
  int n = snprintf(text, sizeof(text), "+%s", since);

  if (n > 0 && (size_t)n < sizeof(text) &&
      pai_replay_time(m->log.replay, text, &m->before, NULL) == PAI_OK &&
      pai_replay_range(m->log.replay, &begin, &end, NULL) == PAI_OK) {
    m->before -= begin;
    return CLI_OK;
  }
  return cli_misused("--since is how long, as 30m or 2h", since);
}

static int show_until(moment *m, pai_time time)
{
  pai_error *err = NULL;
  int rc;

  do {
    rc = pai_replay_step_until(m->log.replay, time, &err);
    m->log.sched = pai_replay_sched(m->log.replay);
    if (rc == 1)
      (m->json ? sched_json_decisions : sched_show_decisions)(
        &m->log, (int)pai_replay_decisions(m->log.replay));
  } while (rc == 1 && cli_written());
  return rc < 0 ? sched_log_fail(&m->log, err) : CLI_OK;
}

/* An invalid time is reported before any output.  If --since reaches the
 * beginning of the log, the log is shown from its first line. */
static int decisions(moment *m)
{
  pai_time begin, end;
  bool inside;
  int code = CLI_OK;

  inside = pai_replay_range(m->log.replay, &begin, &end, NULL) == PAI_OK &&
           m->time >= begin && m->time <= end;
  if (!inside)
    code = go(m, m->time);
  else if (m->before < m->time - begin)
    code = go(m, m->time - m->before);
  if (code == CLI_OK && !m->json)
    sched_show_head();
  return code == CLI_OK ? show_until(m, m->time) : code;
}

/* --- the verb ------------------------------------------------------------ */

static const struct {
  const char *word;
  int words; /* number of words, including TIME and the view itself */
  int (*show)(moment *m);
  const sched_table *table; /* or this */
} views[] = {
  { "queue", 2, NULL, &sched_tables[SCHED_REQUESTS] },
  { "nodes", 2, NULL, &sched_tables[SCHED_NODES] },
  { "vcs", 2, NULL, &sched_tables[SCHED_VCS] },
  { "why", 3, why, NULL },
  { "decisions", 2, decisions, NULL },
};

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static int find_view(int words, char **argv, size_t *view)
{
  if (words < 2)
    return cli_misused("this verb requires",
                       words == 0 ? "TIME, and what to show"
                                  : "queue, nodes, vcs, why or decisions");
  for (*view = 0; *view < VIEWS; ++*view)
    if (strcmp(views[*view].word, argv[1]) == 0)
      break;
  if (*view == VIEWS) {
    cli_fail("no such view: '%s'", argv[1]);
    for (size_t i = 0; i < VIEWS; i++)
      if (cli_is_misspelling(argv[1], strlen(argv[1]), views[i].word)) {
        (void)fprintf(stderr, "  help: did you mean %s?\n", views[i].word);
        return CLI_USAGE;
      }
    cli_help(stderr, "queue, nodes, vcs, why JOB, decisions");
    return CLI_USAGE;
  }
  if (words == views[*view].words)
    return CLI_OK;
  if (words < views[*view].words)
    cli_misused("why needs", "JOB");
  else {
    cli_fail("too many words: %s", argv[views[*view].words]);
    cli_help(
      stderr,
      "name a log with --log LOG or OPENPAI_LOG; see openpai at --help");
  }
  return CLI_USAGE;
}

/* Whether a time counts from the beginning, so that the whole log is
 * needed. */
static bool is_from_beginning(const char *text)
{
  return text[0] == '+' || strcmp(text, "begin") == 0;
}

static int read_time(moment *m, const char *text)
{
  pai_error *err = NULL;
  int rc;

  if (pai_replay_time(m->log.replay, text, &m->time, &err) == PAI_OK)
    return CLI_OK;
  rc = pai_error_line(err) == 0 ? CLI_USAGE : CLI_NO;
  (void)sched_log_fail(&m->log, err);
  return rc;
}

/* Whether the time is before the part of the log that was read. */
static bool is_older(const moment *m)
{
  pai_time begin, end;

  return m->log.late &&
         pai_replay_range(m->log.replay, &begin, &end, NULL) == PAI_OK &&
         (m->time < begin || m->time - begin < m->before);
}

static int read_moment(moment *m, const char *text, bool with_before)
{
  int code = sched_log_open(&m->log);

  if (code == CLI_OK)
    code = read_time(m, text);
  if (code == CLI_OK && with_before)
    code = read_since(m);
  if (code != CLI_OK || !is_older(m))
    return code;
  code = sched_log_whole(&m->log);
  return code == CLI_OK ? sched_log_open(&m->log) : code;
}

int cli_do_at(const cli_at_args *a)
{
  moment m = { .since = a->since,
               .job = a->count > 2 ? a->words[2] : NULL,
               .json = a->log.json };
  const char *job;
  size_t view = 0;
  int code = find_view(a->count, a->words, &view);

  if (code == CLI_OK && m.since != NULL && views[view].show != decisions)
    code = cli_misused("only the view decisions has", "--since");
  if (code == CLI_OK)
    code = find_log(&m.log, 0, NULL, a->log.log, SCHED_NO_JOB,
                    !is_from_beginning(a->words[0]), &job);
  if (code == CLI_OK)
    code = read_moment(&m, a->words[0], views[view].show == decisions);
  if (code == CLI_OK)
    code = views[view].show != NULL ? views[view].show(&m)
                                    : show_table(&m, views[view].table);
  sched_log_close(&m.log);
  return code;
}
