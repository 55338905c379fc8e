/* sched.c - the scheduler core: forks against building by events, backfill,
 * events, and what the safety checks cost */
#include "bench.h"

#include "base/prng.h"

#include <openpai/policy.h>

#include <stdlib.h>

#define HOUR INT64_C(3600000000)

enum { PLACED = 1024 };

typedef struct yard {
  pai_cluster *cluster;
  pai_sched *s;
  pai__prng random;
  uint64_t ids;
  pai_time now;
  uint64_t first; /* of those that run */
  uint64_t running[PLACED];
  uint32_t oldest, nrunning;
} yard;

static yard one, other;

static int open_yard(yard *y, const char *description, const char *policy,
                     const char *options, int unchecked)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;

  *y = (yard){ .random = { 1 }, .first = 1 };
  o.policy = policy;
  o.policy_options = options;
  o.unchecked = unchecked;
  return pai_cluster_synthetic(&y->cluster, description, NULL, NULL) < 0 ||
             pai_sched_new(&y->s, y->cluster, &o, NULL) < 0
           ? PAI_ENOMEM
           : PAI_OK;
}

static void close_yard(void *data)
{
  yard *y = data;

  pai_sched_free(y->s);
  pai_cluster_free(y->cluster);
  *y = (yard){ 0 };
}

static int submit_to(yard *y, const char *vc, uint32_t gpus, pai_time duration)
{
  pai_want want = {
    .struct_size = sizeof(want), .tasks = 1, .gpus = gpus, .cpus = gpus * 4
  };
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++y->ids,
                    .vc = vc,
                    .wants = &want,
                    .nwants = 1,
                    .duration = duration };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_SUBMIT,
                        .time = y->now,
                        .request = &q };

  return pai_sched_send(y->s, &e, NULL);
}

static int submit(yard *y, uint32_t gpus, pai_time duration)
{
  return submit_to(y, NULL, gpus, duration);
}

static int tell(yard *y, int kind, uint64_t id)
{
  pai_sched_event e = {
    .struct_size = sizeof(e), .kind = kind, .time = y->now, .id = id
  };

  return pai_sched_send(y->s, &e, NULL);
}

/* --- backfill ------------------------------------------------------------- */

enum { QUEUE = 10000, BUSY = 64 };

static pai_time any_duration(yard *y)
{
  return HOUR / 60 + (pai_time)pai__prng_below(&y->random, 48 * HOUR);
}

/* 64 nodes of 8 GPUs are busy, and 10,000 jobs of 1, 2, 4 and 8 GPUs wait. */
static void *setup_backfill(void)
{
  int rc = open_yard(&one, "nodes:64 gpu:8 cpus:64 mem:512G", "backfill",
                     "{\"mode\":\"conservative\"}", 0);

  for (int i = 0; i < BUSY && rc >= 0; i++)
    rc = submit(&one, 8, any_duration(&one));
  if (rc >= 0)
    rc = pai_sched_decide(one.s, 0, NULL);
  for (int i = 0; i < QUEUE && rc >= 0; i++)
    rc =
      submit(&one, 1u << pai__prng_below(&one.random, 4), any_duration(&one));
  return rc >= 0 ? &one : NULL;
}

/* An hour's work is planned anew each time. */
/* --- backfill, easily ----------------------------------------------------- */

/* Nobody is ever released, and so each has to be looked at. */
static int hold_one(yard *y)
{
  pai_want want = { .struct_size = sizeof(want), .tasks = 1, .gpus = 1 };
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++y->ids,
                    .wants = &want,
                    .nwants = 1,
                    .held = 1 };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_SUBMIT,
                        .time = y->now,
                        .request = &q };

  return pai_sched_send(y->s, &e, NULL);
}

/* Who has started is remembered. */
static int decide_easy(yard *y)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(y->s, y->now, NULL);

  for (int i = 0; i < n; i++) {
    if (pai_sched_decision(y->s, (size_t)i, &d) < 0 || y->nrunning == PLACED)
      return PAI_ELIMIT;
    y->running[(y->oldest + y->nrunning++) % PLACED] = d.id;
  }
  return n;
}

static int fill_easy(yard *y, bool held)
{
  int rc =
    open_yard(y, "nodes:64 gpu:8 cpus:64 mem:512G", "backfill", NULL, 0);

  if (rc >= 0 && held)
    rc = hold_one(y);
  for (int i = 0; i < 2 * QUEUE && rc >= 0; i++)
    rc = submit(y, 1u << pai__prng_below(&y->random, 4), any_duration(y));
  return rc >= 0 ? decide_easy(y) : rc;
}

static void *setup_easy(void)
{
  return fill_easy(&one, false) >= 0 && fill_easy(&other, true) >= 0 ? &one
                                                                     : NULL;
}

static void close_easy(void *data)
{
  (void)data;
  close_yard(&one);
  close_yard(&other);
}

/* The one that has run for longest has ended, another comes. */
static int turn_easy(yard *y)
{
  int rc = PAI_OK;

  y->now += HOUR / 60;
  if (y->nrunning != 0) {
    rc = tell(y, PAI_SCHED_FINISHED, y->running[y->oldest]);
    y->oldest = (y->oldest + 1) % PLACED;
    y->nrunning--;
  }
  if (rc >= 0)
    rc = submit(y, 1u << pai__prng_below(&y->random, 4), any_duration(y));
  return rc >= 0 ? decide_easy(y) : rc;
}

static int easy(void *data)
{
  (void)data;
  return turn_easy(&one);
}

static int easy_by_each(void *data)
{
  (void)data;
  return turn_easy(&other);
}

/* --- planning ------------------------------------------------------------- */

static int backfill(void *data)
{
  yard *y = data;

  return pai_sched_decide(y->s, 0, NULL);
}

/* --- parts ---------------------------------------------------------------- */

/* 125 nodes of 8 GPUs, of which two virtual clusters have 40 % each. */
static int open_parted(yard *y, const char *options)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai__buf text;
  int rc;

  *y = (yard){ .random = { 1 }, .first = 1 };
  o.policy = "backfill";
  o.policy_options = options;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_printf(&text,
                  "skus: {box: {gpu: a100, gpus: 8, cpus: 64}}\nnodes:\n");
  for (int i = 0; i < 125; i++)
    pai__buf_printf(&text, "- {name: n%03d, sku: box}\n", i);
  pai__buf_printf(&text, "virtualClusters: {default: {part: rest},\n"
                         "  left: {part: 40%%, max: 100%%},\n"
                         "  right: {part: 40%%, max: 100%%}}\n");
  rc =
    pai_cluster_parse(&y->cluster, pai__buf_text(&text), text.len, NULL, NULL);
  pai__buf_dispose(&text);
  return rc < 0 ? rc : pai_sched_new(&y->s, y->cluster, &o, NULL);
}

/* Each node has guaranteed ones, so that the last one of the queue, who keeps to
 * his part, finds none that he could have to himself. */
static int fill_parted(yard *y, const char *options)
{
  static const char *const names[] = { "left", "right", NULL };
  int rc = open_parted(y, options);

  for (int i = 0; i < 125 * 5 && rc >= 0; i++)
    rc = submit_to(y, names[i % 5 / 2], 1 + (uint32_t)(i % 5 % 2),
                   any_duration(y));
  if (rc >= 0)
    rc = pai_sched_decide(y->s, 0, NULL);
  for (int i = 0; i < QUEUE && rc >= 0; i++)
    rc = submit_to(y, names[pai__prng_below(&y->random, 2)],
                   1u << pai__prng_below(&y->random, 4), any_duration(y));
  return rc >= 0 ? submit_to(y, NULL, 8, HOUR) : rc;
}

static void *setup_parts(void)
{
  static const char *const options[] = {
    "{\"mode\":\"conservative\",\"place\":\"spread\"}",
    "{\"mode\":\"conservative\",\"place\":\"spread\",\"reclaim\":false}"
  };

  return fill_parted(&one, options[0]) >= 0 &&
             fill_parted(&other, options[1]) >= 0
           ? &one
           : NULL;
}

static int without_parts(void *data)
{
  (void)data;
  return backfill(&other);
}

/* --- forks ---------------------------------------------------------------- */

enum { RUNNING = 10000 };

static int build(yard *y)
{
  int rc = open_yard(y, "nodes:1000 gpu:16 cpus:128 mem:512G racks:50", "fifo",
                     "{\"place\":\"first\"}", 0);

  for (int i = 0; i < RUNNING && rc >= 0; i++) {
    rc = submit(y, 1, HOUR);
    if (rc >= 0)
      rc = pai_sched_decide(y->s, y->now, NULL);
    if (rc >= 0)
      rc = tell(y, PAI_SCHED_STARTED, y->ids);
  }
  return rc < 0 ? rc : PAI_OK;
}

static void *setup_fork(void)
{
  return build(&one) < 0 ? NULL : &one;
}

static int fork_it(void *data)
{
  const yard *y = data;
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, y->s, NULL);

  pai_sched_free(fork);
  return rc;
}

static int build_it(void *data)
{
  int rc = build(&other);

  (void)data;
  close_yard(&other);
  return rc;
}

/* --- events --------------------------------------------------------------- */

static int open_busy(yard *y, int unchecked)
{
  int rc = open_yard(y, "nodes:64 gpu:8 cpus:64 mem:512G racks:4", "fifo",
                     NULL, unchecked);

  for (int i = 0; i < 400 && rc >= 0; i++)
    rc = submit(y, 1, HOUR);
  if (rc >= 0)
    rc = pai_sched_decide(y->s, 0, NULL);
  for (uint64_t id = 1; id <= y->ids && rc >= 0; id++)
    rc = tell(y, PAI_SCHED_STARTED, id);
  return rc < 0 ? rc : PAI_OK;
}

static void *setup_fifo(void)
{
  return open_busy(&one, 0) < 0 || open_busy(&other, 1) < 0 ? NULL : &one;
}

static void teardown_both(void *data)
{
  (void)data;
  close_yard(&one);
  close_yard(&other);
}

/* One job ends, one comes and starts: three events and a decision. */
static int turn_over(yard *y)
{
  int rc;

  y->now++;
  rc = tell(y, PAI_SCHED_FINISHED, y->first++);
  if (rc >= 0)
    rc = submit(y, 1, HOUR);
  if (rc >= 0)
    rc = pai_sched_decide(y->s, y->now, NULL);
  return rc != 1 ? PAI_EINTERNAL : tell(y, PAI_SCHED_STARTED, y->ids);
}

static int turn_checked(void *data)
{
  (void)data;
  return turn_over(&one);
}

static int turn_unchecked(void *data)
{
  (void)data;
  return turn_over(&other);
}

/* --- the log -------------------------------------------------------------- */

static int drop(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return PAI_OK;
}

/* The first one has a log, the other has none. */
static void *setup_log(void)
{
  static size_t bytes;

  return open_busy(&one, 0) < 0 || open_busy(&other, 0) < 0 ||
             pai_sched_set_log(one.s, drop, &bytes, NULL) < 0
           ? NULL
           : &one;
}

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

static int save_and_load(void *data)
{
  const yard *y = data;
  pai_sched *again = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &pai__libc_alloc);
  rc = pai_sched_save(y->s, collect, &text, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_load(&again, pai__buf_text(&text), text.len, NULL, NULL);
  pai_sched_free(again);
  pai__buf_dispose(&text);
  return rc;
}

const bench bench_sched[] = {
  { "sched-log", "3 events and a decision with a log, against without", "job",
    0.3, setup_log, teardown_both, turn_checked, turn_unchecked },
  { "sched-save",
    "10,000 jobs on 1,000 nodes saved and loaded, against "
    "building by events",
    "state", 0.5, setup_fork, close_yard, save_and_load, build_it },
  { "sched-backfill", "10,000 jobs on 512 busy GPUs planned, conservatively",
    "plan", 0, setup_backfill, close_yard, backfill, NULL },
  { "sched-easy",
    "backfill where 20,000 wait, against looking at each of them", "job", 8,
    setup_easy, close_easy, easy, easy_by_each },
  { "sched-parts",
    "10,000 wait, one of them for his part, against nobody being guaranteed "
    "it",
    "plan", 0.4, setup_parts, close_easy, backfill, without_parts },
  { "sched-fork", "10,000 jobs on 1,000 nodes, against building by events",
    "fork", 20, setup_fork, close_yard, fork_it, build_it },
  { "sched-fifo", "a job ends, one comes and starts: 3 events, a decision",
    "job", 0, setup_fifo, teardown_both, turn_checked, NULL },
  { "sched-checks", "the same, against without safety checks", "job", 0.97,
    setup_fifo, teardown_both, turn_checked, turn_unchecked },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
