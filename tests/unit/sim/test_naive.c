/*
 * test_naive.c - the simulator and its policies against simulations that are as
 * simple as can be: all is looked at anew at each second of the clock
 *
 * They are written after docs/guide/scheduling.md alone.
 */
#include "cases.h"
#include "simulated.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 40, TRACES = 1000, HORIZON = 4000, SHARES = 2 };

/* A machine room of `gpus`, of which each virtual cluster owns a part; a gang
 * takes any of them. */
typedef struct plain {
  test_job jobs[MOST];
  int64_t started[MOST];
  size_t count;
  int gpus[SHARES];
  size_t nvcs;
  bool bare; /* there is nothing but the first machine, for everybody */
} plain;

static const char *const vcs[SHARES] = { "one", "two" };

static size_t vc_of(const test_job *j)
{
  return j->vc == vcs[1] ? 1 : 0;
}

static int gpus_of(const test_job *j)
{
  return (int)(j->tasks * j->gpus);
}

/* GPUs of a virtual cluster that are free at `at`, when `now` those run that
 * have started; and it is promised[] what others will have. */
static int free_at(const plain *p, size_t vc, int64_t now, int64_t at,
                   const int64_t *promised)
{
  int free = p->gpus[vc];

  for (size_t i = 0; i < p->count; i++) {
    const test_job *j = &p->jobs[i];

    if (vc_of(j) != vc)
      continue;
    if (p->started[i] >= 0 && p->started[i] + j->duration > now &&
        p->started[i] + j->estimate > at)
      free -= gpus_of(j);
    if (promised != NULL && promised[i] >= 0 && promised[i] <= at &&
        promised[i] + j->estimate > at)
      free -= gpus_of(j);
  }
  return free;
}

static bool waits(const plain *p, size_t i, int64_t now)
{
  return p->jobs[i].time <= now && p->started[i] < 0;
}

/* --- fifo: in each virtual cluster nobody overtakes ------------------------- */

static void fifo(plain *p)
{
  for (int64_t now = 0; now < HORIZON; now++)
    for (size_t vc = 0; vc < p->nvcs; vc++)
      for (size_t i = 0; i < p->count; i++) {
        if (vc_of(&p->jobs[i]) != vc || !waits(p, i, now))
          continue;
        if (free_at(p, vc, now, now, NULL) < gpus_of(&p->jobs[i]))
          break;
        p->started[i] = now;
      }
}

/* --- backfill: as soon as it delays nobody who is promised a place ---------- */

/* The earliest time from now on at which it can run as long as it is believed
 * to, or -1 if that is behind `latest`. */
static int64_t earliest(const plain *p, size_t i, int64_t now, int64_t latest,
                        const int64_t *promised)
{
  const test_job *j = &p->jobs[i];

  for (int64_t at = now; at <= latest; at++) {
    bool fits = true;

    for (int64_t t = at; t < at + j->estimate && fits; t++)
      fits = free_at(p, vc_of(j), now, t, promised) >= gpus_of(j);
    if (fits)
      return at;
  }
  return -1;
}

/* Who is important comes first, then who came first. */
static bool comes_before(const plain *p, size_t a, size_t b)
{
  return p->jobs[a].priority != p->jobs[b].priority
           ? p->jobs[a].priority > p->jobs[b].priority
           : a < b;
}

static size_t in_order(const plain *p, size_t *order, int64_t now)
{
  size_t n = 0;

  for (size_t i = 0; i < p->count; i++) {
    size_t k = n;

    if (!waits(p, i, now))
      continue;
    for (; k > 0 && comes_before(p, i, order[k - 1]); k--)
      order[k] = order[k - 1];
    order[k] = i;
    n++;
  }
  return n;
}

/* Of all, or of the first of each virtual cluster, a place is kept; then the
 * others may start. */
static void decide_ahead(plain *p, int64_t now, bool all)
{
  size_t order[MOST], n = in_order(p, order, now);
  int64_t promised[MOST];
  bool has_first[SHARES] = { false };

  for (size_t i = 0; i < p->count; i++)
    promised[i] = -1;
  for (int round = 0; round < 2; round++)
    for (size_t k = 0; k < n; k++) {
      size_t i = order[k], vc = vc_of(&p->jobs[i]);
      int64_t at;

      if (p->started[i] >= 0 || promised[i] >= 0 ||
          (round == 0 && !all && has_first[vc]))
        continue;
      at = earliest(p, i, now, round == 0 ? 2 * HORIZON : now, promised);
      if (at == now)
        p->started[i] = now;
      else if (round == 0) {
        promised[i] = at;
        has_first[vc] = true;
      }
    }
}

/* Something has changed, so somebody decides. */
static bool is_moment(const plain *p, int64_t now)
{
  for (size_t i = 0; i < p->count; i++)
    if (p->jobs[i].time == now ||
        (p->started[i] >= 0 && p->started[i] + p->jobs[i].duration == now))
      return true;
  return false;
}

static void ahead(plain *p, bool all)
{
  for (int64_t now = 0; now < HORIZON; now++)
    if (is_moment(p, now))
      decide_ahead(p, now, all);
}

/* --- traces ---------------------------------------------------------------- */

static uint32_t draw(pai__prng *r, uint32_t least, uint32_t most)
{
  return least + (uint32_t)pai__prng_below(r, most - least + 1);
}

static void make_up(plain *p, uint64_t seed, bool gangs, bool guesses,
                    bool importance)
{
  pai__prng r = { seed * 7919 + 1 };
  int64_t time = 0;

  memset(p, 0, sizeof(*p));
  p->nvcs = draw(&r, 1, SHARES); /* that have jobs */
  p->bare = p->nvcs == 1 && draw(&r, 0, 2) != 0;
  for (size_t i = 0; i < SHARES; i++)
    p->gpus[i] = (int)draw(&r, 1, 8);
  p->count = draw(&r, 1, MOST);
  for (size_t i = 0; i < p->count; i++) {
    test_job *j = &p->jobs[i];
    size_t vc = draw(&r, 0, (uint32_t)p->nvcs - 1);

    time += draw(&r, 0, 2) == 0 ? 0 : draw(&r, 0, 20);
    j->time = time;
    j->vc = vcs[vc];
    j->tasks = gangs ? draw(&r, 1, (uint32_t)p->gpus[vc]) : 1;
    j->gpus = gangs ? 1 : draw(&r, 1, (uint32_t)p->gpus[vc]);
    j->duration = draw(&r, 1, 60);
    j->estimate =
      guesses && draw(&r, 0, 1) ? j->duration + draw(&r, 0, 60) : j->duration;
    j->priority = importance ? (int)draw(&r, 0, 2) * 10 : 0;
    p->started[i] = -1;
  }
}

/* Each virtual cluster has a machine with GPUs of a kind of its own, of which
 * tasks take some; or all have nodes of one GPU, of which gangs take some.  So
 * it makes no difference which ones are taken. */
static void describe(const plain *p, bool gangs, char *out, size_t size)
{
  static const char *const machines =
    "skus: {boxa: {gpu: a100, gpus: %d, cpus: 640, memory: 1T}, boxb: {gpu: "
    "h100, gpus: %d, cpus: 640, memory: 1T}}\n"
    "nodes: [{name: a, sku: boxa}, {name: b, sku: boxb}]\n"
    "virtualClusters: {one: {cells: {boxa: 1}}, two: {cells: {boxb: 1}}}\n";
  static const char *const nodes =
    "skus: {box: {gpu: h100, gpus: 1, cpus: 64, memory: 1T}}\n"
    "nodes: [{name: \"n[1-%d]\", sku: box}]\n"
    "virtualClusters: {one: {cells: {box: %d}}, two: {cells: {box: %d}}}\n";

  if (p->bare)
    (void)snprintf(out, size, "nodes:%d gpu:%d:h100", gangs ? p->gpus[0] : 1,
                   gangs ? 1 : p->gpus[0]);
  else if (gangs)
    (void)snprintf(out, size, nodes, p->gpus[0] + p->gpus[1], p->gpus[0],
                   p->gpus[1]);
  else
    (void)snprintf(out, size, machines, p->gpus[0], p->gpus[1]);
}

static void compare(const plain *p, uint64_t seed, bool gangs,
                    const char *policy, const char *options)
{
  static test_sim t;
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *report;
  pai_error *err = NULL;
  char cluster[512];

  describe(p, gangs, cluster, sizeof(cluster));
  o.policy = policy;
  o.policy_options = options;
  if (test_sim_new(&t, cluster, p->jobs, p->count, &o, &err) < 0 ||
      test_sim_run(&t, &report, &err) < 0)
    fail_msg("seed %d: %s", (int)seed, pai_error_message(err));
  for (size_t i = 0; i < p->count; i++)
    if (t.fates[i].started != p->started[i] * 1000000)
      fail_msg("%s, seed %d, job %zu of %zu: it started at %lld us, and ought "
               "to at %lld s",
               policy, (int)seed, i + 1, p->count,
               (long long)t.fates[i].started, (long long)p->started[i]);
  pai_sim_report_free(report);
  test_sim_dispose(&t);
}

/* With gangs in each second trace; what is told is right in each second one, and
 * some are more important in each third. */
TEST(policies_start_jobs_as_the_naive_ones)
{
  static plain p;

  for (uint64_t seed = 0; seed < TRACES; seed++) {
    bool odd = seed % 2 != 0;

    make_up(&p, seed, odd, false, false);
    fifo(&p);
    compare(&p, seed, odd, "fifo", NULL);
    make_up(&p, seed, false, odd, seed % 3 == 0);
    ahead(&p, false);
    compare(&p, seed, false, "backfill", NULL);
    make_up(&p, seed, false, odd, seed % 3 == 0);
    ahead(&p, true);
    compare(&p, seed, false, "backfill", "{\"mode\":\"conservative\"}");
  }
  /* Somebody more important takes what was promised. */
  make_up(&p, 1287, false, true, true);
  ahead(&p, false);
  compare(&p, 1287, false, "backfill", NULL);
}
