/* cmd_sched.c - what is in the log of a scheduler: its decisions, its state at
 * the end, and why something waits */
#include "cells.h"
#include "sched_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- tables --------------------------------------------------------------- */

/* A text in a column, never so that it touches the next one. */
static void put_cell(const char *text, int width)
{
  int len = text != NULL ? (int)strlen(text) : 0;

  if (text != NULL)
    cli_print(stdout, text);
  (void)printf("%*s", len < width ? width - len + 1 : 1, "");
}

static void put_time(pai_time t)
{
  (void)printf("%12lld.%06lld  ", (long long)(t / 1000000),
               (long long)llabs(t % 1000000));
}

/* Bits as "0-3,6". */
static void put_bits(uint64_t bits)
{
  const char *comma = "";

  for (int i = 0, last; i < 64; i = last + 1) {
    last = i;
    if ((bits >> i & 1) == 0)
      continue;
    while (last < 63 && (bits >> (last + 1) & 1) != 0)
      last++;
    (void)printf(last > i ? "%s%d-%d" : "%s%d", comma, i, last);
    comma = ",";
  }
}

/* --- replay --------------------------------------------------------------- */

/* Node by node, with the GPUs it has there. */
static void put_places(const pai_sched *s, const pai_decision *d)
{
  pai_task_place p = { .struct_size = sizeof(p) }, next = p;
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  uint32_t i = 0, tasks;

  while (pai_sched_task(s, d->id, d->instance, i, &p) == PAI_OK) {
    uint64_t gpus = p.gpus;

    for (tasks = 1;
         pai_sched_task(s, d->id, d->instance, i + tasks, &next) == PAI_OK &&
         next.node == p.node;
         tasks++)
      gpus |= next.gpus;
    (void)pai_sched_view_node(s, p.node, &node);
    (void)putchar(' ');
    cli_print(stdout, node.name);
    if (gpus != 0) {
      (void)putchar('[');
      put_bits(gpus);
      (void)putchar(']');
    }
    i += tasks;
  }
}

static void put_decision(const pai_sched *s, const pai_decision *d)
{
  static const char *const kinds[] = { "", "start", "stop", "grow", "shrink" };
  static const char *const causes[] = { "", " preempted", " cancelled",
                                        " limit" };
  pai_sched_view view = { .struct_size = sizeof(view) };

  (void)pai_sched_view_sums(s, &view);
  put_time(view.now);
  (void)printf("%-6s %8llu %5u %6u ", kinds[d->kind],
               (unsigned long long)d->id, d->instance, d->tasks);
  if (d->kind != PAI_DECISION_STOP)
    put_places(s, d);
  else
    (void)printf("%s", causes[d->cause]);
  if (d->by != 0)
    (void)printf(" for %llu", (unsigned long long)d->by);
  (void)putchar('\n');
}

static void decided_json(const pai_sched *s, int n)
{
  for (int i = 0; i < n; i++)
    if (pai_sched_write_decision(s, (size_t)i, cli_write, stdout, NULL) < 0)
      cli_fail("out of memory");
}

static void decided_text(const pai_sched *s, int n)
{
  pai_decision d = { .struct_size = sizeof(d) };

  for (int i = 0; i < n; i++)
    if (pai_sched_decision(s, (size_t)i, &d) == PAI_OK)
      put_decision(s, &d);
}

static int replay(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "options", 0, NULL, &log.options },
                                 { "policy", 0, NULL, &log.policy },
                                 { "until", 0, NULL, &until } };
  int words = cli_options(&cli_sched_replay, options, 4, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_replay, words, argv, 1, until, &log);
  if (code != CLI_OK)
    return code;
  if (log.options != NULL && log.policy == NULL) {
    cli_misused(&cli_sched_replay, "--options are those of --policy",
                log.options);
    return CLI_USAGE;
  }
  json = json || !cli_is_terminal(stdout);
  log.decided = json ? decided_json : decided_text;
  if (!json)
    (void)printf("%19s  %-6s %8s %5s %6s  %s\n", "TIME", "WHAT", "REQUEST",
                 "INST", "TASKS", "WHERE OR WHY");
  code = sched_log_read(&log);
  if (log.skipped != 0)
    (void)fprintf(stderr,
                  "%lu events were left out: they tell of what policy %s did "
                  "not do\n",
                  log.skipped, log.policy);
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_replay = {
  .name = "sched replay",
  .brief = "Repeat the decisions of a scheduler's log",
  .usage = "[--json] [--policy P [--options O]] [--until N] LOG",
  .help =
    "LOG, or - for standard input, begins with a snapshot; each line behind "
    "it\n"
    "is an event, or says that the scheduler was to decide.  Prints the\n"
    "decisions: the same as then, on any machine.\n\n"
    "  --json       one JSON object for each decision; so it is also when\n"
    "               standard output is no terminal\n"
    "  --policy P   another policy decides, a built-in one; events that tell\n"
    "               of what it did not do are left out\n"
    "  --options O  its options, a JSON object\n"
    "  --until N    no further than line N\n\n"
    "Exits with 0 when all was read, 1 when a line is wrong, and 2 when LOG\n"
    "cannot be read or the verb was called wrongly.\n",
  .run = replay,
};

/* --- show ----------------------------------------------------------------- */

static void show_sums(const pai_sched *s)
{
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)pai_sched_view_sums(s, &v);
  (void)printf("policy %s", v.policy);
  if (v.shadow != NULL)
    (void)printf(", beside it %s (%llu of its %llu decisions were the same)",
                 v.shadow, (unsigned long long)v.shadow_agreed,
                 (unsigned long long)v.shadow_decisions);
  (void)printf("; %llu events, until ", (unsigned long long)v.events);
  (void)printf("%lld.%06lld\n", (long long)(v.now / 1000000),
               (long long)llabs(v.now % 1000000));
  (void)printf("%llu of %llu GPUs free on %zu nodes; requests: %u, of them "
               "wait %u; instances that run: %u\n\n",
               (unsigned long long)v.free_gpus, (unsigned long long)v.gpus,
               v.nodes, v.requests, v.waiting, v.running);
}

static void show_vcs(const pai_sched *s)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  (void)printf("%-16s %6s %6s %6s %8s %8s\n", "VIRTUAL CLUSTER", "GPUS",
               "USED", "LENT", "WAITING", "RUNNING");
  for (size_t i = 0; pai_sched_view_vc(s, i, &v) == PAI_OK; i++) {
    put_cell(v.name, 16);
    if (v.limited)
      (void)printf("%6llu", (unsigned long long)v.gpus);
    else
      (void)printf("%6s", "all");
    (void)printf(" %6llu %6llu %8u %8u\n", (unsigned long long)v.used,
                 (unsigned long long)v.lent, v.waiting, v.running);
  }
}

static void show_nodes(const pai_sched *s)
{
  static const char *const states[] = { "up", "drain", "sick" };
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)printf("\n%-16s %-5s %9s %9s %17s\n", "NODE", "STATE", "GPUS", "CPUS",
               "MEMORY, MiB");
  for (size_t i = 0; pai_sched_view_node(s, i, &v) == PAI_OK; i++) {
    put_cell(v.name, 16);
    (void)printf("%-5s %4u/%-4u %4u/%-4u %8llu/%-8llu", states[v.state],
                 v.free_gpus, v.gpus, v.free_cpus, v.cpus,
                 (unsigned long long)v.free_memory >> 20,
                 (unsigned long long)v.memory >> 20);
    if (v.sick_gpus != 0) {
      (void)printf(" sick: ");
      put_bits(v.sick_mask);
    }
    if (v.why != NULL) {
      (void)putchar(' ');
      cli_print(stdout, v.why);
    }
    (void)putchar('\n');
  }
}

static void show_requests(const pai_sched *s)
{
  uint64_t id = 0;

  (void)printf("\n%8s %-16s %5s %5s %5s %-12s %s\n", "REQUEST",
               "VIRTUAL CLUSTER", "PRIO", "WAIT", "RUN", "LACKS", "USER NAME");
  while ((id = pai_sched_next(s, id)) != 0) {
    pai_request_view v = { .struct_size = sizeof(v) };
    pai_reason r = { .struct_size = sizeof(r) };
    bool waits = pai_sched_reason(s, id, &r) == PAI_OK;

    (void)pai_sched_view_request(s, id, &v);
    (void)printf("%8llu ", (unsigned long long)id);
    put_cell(v.vc, 16);
    (void)printf("%5d %5u %5u %-12s ", v.priority, v.waiting, v.running,
                 waits ? pai_lack_name(r.lack) : "");
    put_cell(v.user != NULL ? v.user : "-", 1);
    if (v.name != NULL)
      cli_print(stdout, v.name);
    (void)putchar('\n');
  }
}

static int show(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "until", 0, NULL, &until } };
  pai_error *err = NULL;
  int words = cli_options(&cli_sched_show, options, 2, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_show, words, argv, 1, until, &log);
  if (code == CLI_OK)
    code = sched_log_read(&log);
  if (code == CLI_OK && json) {
    if (pai_sched_save(log.sched, cli_write, stdout, &err) < 0)
      code = sched_log_fail(&log, err);
  } else if (code == CLI_OK) {
    show_sums(log.sched);
    show_vcs(log.sched);
    show_nodes(log.sched);
    show_requests(log.sched);
  }
  sched_log_close(&log);
  return code;
}

const cli_verb cli_sched_show = {
  .name = "sched show",
  .brief = "Show the queue and the nodes at the end of a log",
  .usage = "[--json] [--until N] LOG",
  .help =
    "LOG, or - for standard input, is a scheduler's log: see sched replay.\n"
    "Of nodes it says what is free and what there is; of requests how many\n"
    "instances wait and run, and what they lack.\n\n"
    "  --json      a snapshot, with which another log may begin\n"
    "  --until N   no further than line N\n\n"
    "Exits with 0 when all was read, 1 when a line is wrong, and 2 when LOG\n"
    "cannot be read or the verb was called wrongly.\n",
  .run = show,
};

/* --- explain -------------------------------------------------------------- */

static bool read_id(const char *word, uint64_t *id)
{
  char *end;

  errno = 0;
  *id = strtoull(word, &end, 10);
  return word[0] >= '1' && word[0] <= '9' && *end == '\0' && errno == 0;
}

static int explain(int argc, char **argv)
{
  bool json = false;
  const char *until = NULL;
  sched_log log = { .name = NULL };
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "until", 0, NULL, &until } };
  pai_error *err = NULL;
  uint64_t id = 0;
  int words = cli_options(&cli_sched_explain, options, 2, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  code = sched_log_words(&cli_sched_explain, words, argv, 2, until, &log);
  if (code == CLI_OK && !read_id(argv[1], &id)) {
    cli_misused(&cli_sched_explain, "this is no request's number", argv[1]);
    code = CLI_USAGE;
  }
  if (code == CLI_OK)
    code = sched_log_read(&log);
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
  .brief = "Say why a request waits at the end of a log",
  .usage = "[--json] [--until N] LOG ID",
  .help =
    "LOG, or - for standard input, is a scheduler's log: see sched replay.\n"
    "Says what request ID lacks, and which change would let it start.\n\n"
    "  --json      the same as one JSON object\n"
    "  --until N   no further than line N\n\n"
    "Exits with 0 when it was said, 1 when a line is wrong or there is no "
    "such\n"
    "request, and 2 when LOG cannot be read or the verb was called wrongly.\n",
  .run = explain,
};
