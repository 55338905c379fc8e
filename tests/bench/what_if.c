/*
 * what_if.c - openpai-bench what-if POLICY FIRST LAST
 *
 * Compares what pai_what_if_new() tells with what then happens.  A made-up trace
 * of each seed from FIRST to LAST runs under a policy up to three moments.  There
 * changes are made, in a what-if and in truth: the trace goes on with and without
 * them.  Compared is by how much longer the requests wait that wait then, in the
 * mean.  A line for each answer, and then a row for each kind of change: answers;
 * hours told and true, in the mean; the sum of all amounts told through the sum
 * of all true ones; and how often the direction was right, of those answers where
 * the truth was more than a hundredth of the wait.
 */
#include "bench.h"
#include "truth.h"

#include "sim/forecast/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HOUR 3600e6

enum { NODES = 8, JOBS = 4500, FEW = 10, RUNS = 15, MOST_EVENTS = 4 };

static const char *const names[] = { "drain", "add",   "kill",
                                     "first", "share", "policy" };
enum { DRAIN, ADD, KILL, FIRST, SHARE, POLICY, CHANGES };

/* Loads that make queues, which do not only grow. */
static const struct way {
  const char *policy, *other; /* that it is changed to */
  uint32_t load, vcs;
  bool mixed;
} ways[] = {
  { "fifo", "backfill", 750, 0, false },
  { "backfill", "fifo", 800, 0, false },
  { "priority", "fifo", 620, 0, true },
  { "fair", "fifo", 700, 0, false },
  { "k8s", "backfill", 700, 0, true },
  { "hived", "backfill", 400, 2, true },
  { "capacity", "backfill", 550, 2, true },
};

typedef struct sums {
  unsigned scenes, right, clear; /* in `clear` of them there is a difference */
  double told, real, far_told, far_real; /* hours; of each amount */
} sums;

typedef struct scene {
  const struct way *way;
  const truth *t;
  truth_now now;
  pai_time at;
  pai_time *plain, *changed; /* starts */
  pai_sched_event events[MOST_EVENTS];
  size_t n;
  pai_cluster *cluster;
} scene;

/* --- changes -------------------------------------------------------------- */

static pai_sched_event *event(scene *s, int kind)
{
  pai_sched_event *e = &s->events[s->n++];

  *e = (pai_sched_event){ .struct_size = sizeof(*e),
                          .kind = kind,
                          .time = s->at,
                          .instance = PAI_SCHED_ALL,
                          .gpu = -1 };
  return e;
}

/* The largest that waits, or runs; 0: none. */
static uint64_t largest(const scene *s, bool waits)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  uint64_t best = 0, most = 0;

  for (uint64_t id = 0; (id = pai_sched_next(s->now.sched, id)) != 0;) {
    const pai_request *q = &s->t->jobs[id - 1].request;
    uint64_t gpus = 0;

    (void)pai_sched_view_request(s->now.sched, id, &v);
    if ((v.waiting != 0) != waits || v.state == PAI_REQUEST_STOPPING)
      continue;
    for (size_t i = 0; i < q->nwants; i++)
      gpus += (uint64_t)q->wants[i].tasks * q->wants[i].gpus;
    if (gpus > most) {
      most = gpus;
      best = id;
    }
  }
  return best;
}

static bool change_cluster(scene *s, const char *nodes, bool share)
{
  const pai_cluster_change changes[] = {
    { sizeof(*changes), nodes, share ? "vc1" : NULL, share ? "box:2" : NULL },
    { sizeof(*changes), NULL, share ? "vc2" : NULL, share ? "box:6" : NULL },
  };

  if (pai_what_if_cluster_changes(&s->cluster, s->now.sched, NULL, changes,
                                  share ? 2 : 1, NULL) < 0)
    return false;
  event(s, PAI_SCHED_CLUSTER)->cluster = s->cluster;
  return true;
}

static bool change(scene *s, int what)
{
  static const char *const drained[] = { "n001", "n002" };
  pai_sched_event *e;

  s->n = 0;
  switch (what) {
  case DRAIN:
    for (size_t i = 0; i < PAI__LEN(drained); i++) {
      e = event(s, PAI_SCHED_NODE);
      e->node = drained[i];
      e->number = PAI_NODE_DRAIN;
    }
    return true;
  case ADD: return s->way->vcs == 0 && change_cluster(s, "2x box", false);
  case SHARE: return s->way->vcs != 0 && change_cluster(s, NULL, true);
  case KILL:
    e = event(s, PAI_SCHED_CANCEL);
    return (e->id = largest(s, false)) != 0;
  case FIRST:
    e = event(s, PAI_SCHED_CHANGE);
    e->key = "priority";
    e->number = 100;
    return (e->id = largest(s, true)) != 0;
  default: event(s, PAI_SCHED_POLICY)->text = s->way->other; return true;
  }
}

/* --- one scene ------------------------------------------------------------ */

static int look(const scene *s, bool changed, pai_time *starts)
{
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, s->now.sched, NULL);

  for (size_t i = 0; i < s->n && changed && rc == PAI_OK; i++)
    rc = pai_sched_send(fork, &s->events[i], NULL);
  if (rc == PAI_OK)
    rc = truth_go_on(s->t, fork, s->now.came, starts);
  pai_sched_free(fork);
  return rc;
}

/* Hours that those wait longer which wait, in the mean. */
static double difference(const scene *s, double *wait)
{
  double sum = 0, n = 0;

  *wait = 0;
  for (size_t i = 0; i < s->now.came; i++)
    if (s->plain[i] != TRUTH_RUNS && s->changed[i] != TRUTH_RUNS &&
        s->plain[i] != INT64_MAX && s->changed[i] != INT64_MAX) {
      sum += (double)(s->changed[i] - s->plain[i]) / HOUR;
      *wait += (double)(s->plain[i] - s->at) / HOUR;
      n++;
    }
  if (n > 0)
    *wait /= n;
  return n > 0 ? sum / n : 0;
}

static int compare(const scene *s, int what, sums *sum)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if_view v = { .struct_size = sizeof(v) };
  pai_what_if *w;
  double told, real, wait;
  pai_error *err = NULL;
  int rc = look(s, true, s->changed);

  o.runs = RUNS;
  o.seed = s->now.came;
  if (rc == PAI_OK)
    rc = pai_what_if_new(&w, s->now.sched, s->now.history, s->events, s->n, &o,
                         &err);
  if (rc < 0) {
    (void)fprintf(stderr, "%s: %s\n", names[what], pai_error_message(err));
    pai_error_free(err);
    return rc;
  }
  (void)pai_what_if_look(w, &v);
  told = (double)(v.wait_after - v.wait_before) / HOUR;
  real = difference(s, &wait);
  pai_what_if_free(w);
  sum->scenes++;
  sum->told += told;
  sum->real += real;
  sum->far_told += fabs(told);
  sum->far_real += fabs(real);
  if (fabs(real) > wait / 100) {
    sum->clear++;
    sum->right += (told > 0) == (real > 0);
  }
  (void)printf("%s %s after %zu jobs: told %.2f h (of %.2f), true %.2f h (of "
               "%.2f)\n",
               s->way->policy, names[what], s->now.came, told,
               (double)v.wait_before / HOUR, real, wait);
  return PAI_OK;
}

static unsigned waiting(const scene *s)
{
  unsigned n = 0;

  for (size_t i = 0; i < s->now.came; i++)
    n += s->plain[i] != TRUTH_RUNS;
  return n;
}

static int try_changes(scene *s, sums *all)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  int rc = look(s, false, s->plain);

  (void)pai_sched_view_sums(s->now.sched, &view);
  s->at = view.now;
  for (int i = 0; i < CHANGES && rc == PAI_OK && waiting(s) >= FEW; i++) {
    s->cluster = NULL;
    if (change(s, i))
      rc = compare(s, i, &all[i]);
    pai_cluster_free(s->cluster);
  }
  return rc;
}

static int try_at(const struct way *way, const truth *t,
                  const pai_cluster *cluster, size_t jobs, sums *all)
{
  scene s = { .way = way, .t = t };
  int rc = truth_run(&s.now, t, cluster, way->policy, jobs);

  s.plain = calloc(2 * t->n, sizeof(*s.plain));
  if (s.plain == NULL)
    rc = PAI_ENOMEM;
  if (rc == PAI_OK) {
    s.changed = s.plain + t->n;
    rc = try_changes(&s, all);
  }
  free(s.plain);
  truth_close(&s.now);
  return rc;
}

/* --- all ------------------------------------------------------------------ */

static int make_cluster(pai_cluster **out, uint32_t vcs)
{
  char text[400];
  int len =
    snprintf(text, sizeof(text),
             "skus: {box: {gpu: v100, gpus: 8, cpus: 512, memory: 8T}}\n"
             "nodes: [{name: 'n[001-%03d]', sku: box}]\n",
             NODES);

  if (vcs != 0)
    len += snprintf(text + len, sizeof(text) - (size_t)len,
                    "virtualClusters: {vc1: {cells: {box: %d}}, vc2: {cells: "
                    "{box: %d}}}\n",
                    NODES / 2, NODES / 2);
  return pai_cluster_parse(out, text, (size_t)len, NULL, NULL);
}

static int make_trace(truth *t, const struct way *way, uint64_t seed)
{
  pai_generate_options g = PAI_GENERATE_OPTIONS_INIT;
  pai_trace *trace;
  int rc;

  g.like = PAI_LIKE_HELIOS;
  g.gpus = NODES * 8;
  g.load = way->load;
  g.jobs = JOBS;
  g.seed = seed;
  g.virtual_clusters = way->vcs;
  rc = pai_trace_generate(&trace, &g, NULL);
  return rc < 0 ? rc : truth_read(t, trace, way->vcs != 0, way->mixed);
}

/* At 30, 40 and 50 % of it: as many come behind that as into a future. */
static int try_seed(const struct way *way, uint64_t seed, sums *all)
{
  pai_cluster *cluster = NULL;
  truth t = { 0 };
  int rc = make_cluster(&cluster, way->vcs);

  if (rc == PAI_OK)
    rc = make_trace(&t, way, seed);
  for (size_t part = 3; part <= 5 && rc >= 0; part++)
    rc = try_at(way, &t, cluster, t.n * part / 10, all);
  truth_free(&t);
  pai_cluster_free(cluster);
  return rc;
}

static void print_line(const struct way *way, const char *what, const sums *s)
{
  double n = s->scenes;

  (void)printf("| `%s` | %s | %u | %.1f | %.1f | %.2f | %u of %u |\n",
               way->policy, what, s->scenes, s->told / n, s->real / n,
               s->far_told / s->far_real, s->right, s->clear);
}

static void print(const struct way *way, const sums *all)
{
  sums whole = { 0 };

  for (int i = 0; i < CHANGES; i++) {
    const sums *s = &all[i];

    if (s->scenes == 0)
      continue;
    print_line(way, names[i], s);
    whole.scenes += s->scenes;
    whole.right += s->right;
    whole.clear += s->clear;
    whole.told += s->told;
    whole.real += s->real;
    whole.far_told += s->far_told;
    whole.far_real += s->far_real;
  }
  if (whole.scenes != 0)
    print_line(way, "all", &whole);
}

int bench_what_if(int argc, char **argv)
{
  sums all[CHANGES] = { { 0 } };
  const struct way *way = NULL;
  uint64_t seed, last;
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(ways) && argc == 3; i++)
    if (strcmp(argv[0], ways[i].policy) == 0)
      way = &ways[i];
  if (way == NULL) {
    (void)fprintf(stderr, "usage: openpai-bench what-if POLICY FIRST LAST\n");
    return 2;
  }
  seed = strtoull(argv[1], NULL, 10);
  last = strtoull(argv[2], NULL, 10);
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  for (; seed <= last && rc >= 0; seed++)
    rc = try_seed(way, seed, all);
  print(way, all);
  return rc < 0;
}
