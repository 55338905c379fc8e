/* cmd_at.c - a scheduler as it was at any second of its log */
#include "remote.h"
#include "sched_tables.h"

#include <stdlib.h>
#include <string.h>

typedef struct moment {
  sched_log log;
  const char *since; /* how much of what was before counts, for decisions */
  const char *job;
  bool json;
  pai_time time, before; /* and so much of what was before it */
} moment;

/* --- what can be seen ----------------------------------------------------- */

static int go(moment *m, pai_time time)
{
  pai_error *err = NULL;
  int rc = pai_replay_to(m->log.replay, time, &err);

  m->log.sched = pai_replay_sched(m->log.replay);
  return rc < 0 ? sched_log_fail(&m->log, err) : CLI_OK;
}

static void head(const moment *m)
{
  char when[PAI_REPLAY_TIME];

  (void)printf("at %s: ", pai_replay_show_time(m->log.replay, m->time, when));
  sched_show_sums(&m->log);
  (void)putchar('\n');
}

static int queue(moment *m)
{
  int code = go(m, m->time);

  if (code == CLI_OK && m->json) {
    sched_json_requests(m->log.sched);
  } else if (code == CLI_OK) {
    head(m);
    sched_show_requests(m->log.sched);
  }
  return code;
}

static int nodes(moment *m)
{
  int code = go(m, m->time);

  if (code == CLI_OK && m->json) {
    sched_json_nodes(m->log.sched);
  } else if (code == CLI_OK) {
    head(m);
    sched_show_nodes(m->log.sched);
  }
  return code;
}

static int vcs(moment *m)
{
  int code = go(m, m->time);

  if (code == CLI_OK && m->json) {
    sched_json_vcs(m->log.sched);
  } else if (code == CLI_OK) {
    head(m);
    sched_show_vcs(m->log.sched);
  }
  return code;
}

static int why(moment *m)
{
  pai_error *err = NULL;
  uint64_t id = 0;
  int code = go(m, m->time);

  if (code == CLI_OK)
    code = sched_log_request(&cli_at, &m->log, m->job, &id);
  if (code == CLI_OK &&
      pai_sched_explain(m->log.sched, id,
                        m->json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT, cli_write,
                        stdout, &err) < 0)
    code = sched_log_fail(&m->log, err);
  return code;
}

/* How much before it: --since is read as a time of the log is. */
static int read_since(moment *m)
{
  char text[64];
  pai_time begin, end;
  int n =
    snprintf(text, sizeof(text), "+%s", m->since != NULL ? m->since : "1h");

  if (n > 0 && (size_t)n < sizeof(text) &&
      pai_replay_time(m->log.replay, text, &m->before, NULL) == PAI_OK &&
      pai_replay_range(m->log.replay, &begin, &end, NULL) == PAI_OK) {
    m->before -= begin;
    return CLI_OK;
  }
  cli_misused(&cli_at, "--since is how long, as 30m or 2h", m->since);
  return CLI_USAGE;
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

/* A time that is wrong is told of before anything is shown.  Up to the log's
 * beginning all counts: then it is read from its first line. */
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

/* --- the verb ------------------------------------------------------------- */

static const struct {
  const char *word;
  int words; /* with TIME and itself */
  int (*show)(moment *m);
} views[] = {
  { "queue", 2, queue }, { "nodes", 2, nodes },         { "vcs", 2, vcs },
  { "why", 3, why },     { "decisions", 2, decisions },
};

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static int find_view(int words, char **argv, size_t *view)
{
  if (words < 2) {
    cli_misused(&cli_at, "this verb requires",
                words == 0 ? "TIME, and what to show"
                           : "queue, nodes, vcs, why or decisions");
    return CLI_USAGE;
  }
  for (*view = 0; *view < VIEWS; ++*view)
    if (strcmp(views[*view].word, argv[1]) == 0)
      break;
  if (*view == VIEWS) {
    cli_fail("no such view: '%s'", argv[1]);
    for (size_t i = 0; i < VIEWS; i++)
      if (cli_is_slip(argv[1], strlen(argv[1]), views[i].word)) {
        (void)fprintf(stderr, "  help: did you mean %s?\n", views[i].word);
        return CLI_USAGE;
      }
    cli_help(stderr, "queue, nodes, vcs, why JOB, decisions");
    return CLI_USAGE;
  }
  if (words == views[*view].words)
    return CLI_OK;
  if (words < views[*view].words)
    cli_misused(&cli_at, "why needs", "JOB");
  else {
    cli_fail("too many words: %s", argv[views[*view].words]);
    cli_help(stderr, "a log is named with --log LOG, or in OPENPAI_LOG; "
                     "openpai at --help tells more");
  }
  return CLI_USAGE;
}

/* What counts from the beginning needs all of it. */
static bool is_from_beginning(const char *text)
{
  return text[0] == '+' || strcmp(text, "begin") == 0;
}

static int find_log(moment *m, const char *text)
{
  if (m->log.name == NULL || m->log.name[0] == '\0')
    return sched_log_own(&m->log, !is_from_beginning(text));
  if (!cli_is_named())
    return CLI_OK;
  cli_misused(&cli_at, "--root and a log exclude each other", m->log.name);
  return CLI_USAGE;
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

/* Whether it was before the file that the log now ends with began. */
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

static int at(int argc, char **argv)
{
  moment m = { .json = false };
  const cli_option options[] = { { "json", 0, &m.json, NULL },
                                 { "log", 0, NULL, &m.log.name },
                                 { "since", 0, NULL, &m.since },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_at, options, 4, argc, argv), code;
  size_t view = 0;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = find_view(words, argv, &view);
  if (code == CLI_OK && m.since != NULL && views[view].show != decisions) {
    cli_misused(&cli_at, "only the view decisions has", "--since");
    code = CLI_USAGE;
  }
  if (code == CLI_OK)
    code = find_log(&m, argv[0]);
  if (code == CLI_OK)
    code = read_moment(&m, argv[0], views[view].show == decisions);
  m.job = words > 2 ? argv[2] : NULL;
  if (code == CLI_OK)
    code = views[view].show(&m);
  sched_log_close(&m.log);
  return code;
}

const cli_verb cli_at = {
  .name = "at",
  .brief = "Show the state of a scheduler at any time of its log",
  .usage = "[--log LOG|--root DIR] [--json] [--since D] TIME WHAT [JOB]",
  .help =
    "TIME is one of:\n"
    "\n"
    "  2026-05-01 14:05  date and time, with or without seconds and a time "
    "zone\n"
    "                    (default: UTC)\n"
    "  @SECONDS          seconds of the log's clock\n"
    "  +2h               time after the beginning of the log\n"
    "  -30m              time before the end of the log\n"
    "  begin, end        first and last moment of the log\n"
    "\n"
    "WHAT is one of:\n"
    "\n"
    "  queue       requests, and what each of them lacks\n"
    "  nodes       free capacity of the nodes\n"
    "  vcs         use of the virtual clusters\n"
    "  why JOB     why the request JOB (number or name) waits, and what "
    "would\n"
    "              let it start\n"
    "  decisions   decisions of the hour before TIME\n"
    "\n"
    "  --log LOG   scheduler log, - for standard input (default: "
    "$OPENPAI_LOG,\n"
    "              or the platform's own log: ROOT/scheduler.log.1 and\n"
    "              ROOT/scheduler.log, or that of the server of --cluster)\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  --json      print JSON\n"
    "  --since D   period before TIME for decisions, as 30m or 2h (default: "
    "1h)\n"
    "\n"
    "Exit status: 0 success, 1 no such time or job or an invalid line in\n"
    "the log, 2 the log cannot be read or usage error\n",
  .run = at,
};
