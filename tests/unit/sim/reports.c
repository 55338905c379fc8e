/* reports.c - reports made by hand */
#include "reports.h"

#include "base/prng.h"
#include "sim/report/format.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>

static const char *const strange[] = {
  "<b>&amp;\"'</b>", "a\tb\nc\x1b[31m", "\xff\xfe broken",
  "東京の研究室",    "]]>-->",          "",
};

static char *kept(pai_sim_report *r, const char *text)
{
  char *copy = pai__arena_strndup(&r->arena, text, strlen(text));

  assert_non_null(copy);
  return copy;
}

static void *many(pai_sim_report *r, size_t n, size_t size)
{
  void *list = pai__arena_zalloc(&r->arena, n > 0 ? n : 1, size);

  assert_non_null(list);
  return list;
}

pai_sim_report *test_report_empty(const char *policy)
{
  pai_sim_report *r = calloc(1, sizeof(*r));

  assert_non_null(r);
  r->alloc = pai__libc_alloc;
  pai__arena_init(&r->arena, &pai__libc_alloc);
  r->view.struct_size = sizeof(r->view);
  r->view.policy = kept(r, policy);
  r->view.seed = 1;
  r->options = "";
  r->cluster = "2 nodes, 8 GPUs";
  r->trace = "jsonl";
  r->gpus = 8;
  r->cpus = 64;
  r->nodes = 2;
  r->bin = PAI__SECOND;
  return r;
}

void test_report_free(pai_sim_report *r)
{
  if (r == NULL)
    return;
  pai__arena_dispose(&r->arena);
  free(r);
}

/* --- one job ---------------------------------------------------------------- */

static void all_at(pai__spread *s, int64_t value)
{
  s->count = 1;
  s->sum = value;
  for (size_t i = 0; i < PAI__LEN(s->at); i++)
    s->at[i] = value;
}

static void one_group(pai_sim_report *r, pai__groups *g, const char *name)
{
  g->list = many(r, 1, sizeof(*g->list));
  g->count = 1;
  g->list[0] = (pai__sim_group){ .name = name,
                                 .jobs = 1,
                                 .started = 1,
                                 .finished = 1,
                                 .wait_sum = PAI__MINUTE,
                                 .wait_p50 = PAI__MINUTE,
                                 .wait_p90 = PAI__MINUTE,
                                 .wait_p99 = PAI__MINUTE,
                                 .wait_max = PAI__MINUTE,
                                 .slowdown_p50 = 1500,
                                 .slowdown_p90 = 1500,
                                 .used = 8 * PAI__MINUTE,
                                 .entitled = 24 * PAI__MINUTE };
}

pai_sim_report *test_report_one(const char *policy)
{
  pai_sim_report *r = test_report_empty(policy);
  pai_sim_view *v = &r->view;

  v->jobs = v->started = v->finished = 1;
  v->makespan = 3 * PAI__MINUTE;
  v->wait_mean = v->wait_p50 = v->wait_p90 = v->wait_p99 = v->wait_max =
    PAI__MINUTE;
  v->slowdown_mean = v->slowdown_p50 = v->slowdown_p90 = 1500;
  v->utilization = 333333;
  v->fragmentation = 125000;
  v->fairness = 1000000;
  all_at(&r->waits, PAI__MINUTE);
  all_at(&r->slowdowns, 1500);
  r->span = 3 * PAI__MINUTE;
  r->bin = PAI__MINUTE;
  r->nbins = 3;
  r->bins[0] = (pai__bin){ .up = 8 * PAI__MINUTE,
                           .wanted = 4 * PAI__MINUTE,
                           .waiting = PAI__MINUTE,
                           .came = 1 };
  r->bins[1] = (pai__bin){ .busy = 4 * PAI__MINUTE,
                           .up = 8 * PAI__MINUTE,
                           .fragmented = PAI__MINUTE,
                           .running = PAI__MINUTE,
                           .started = 1 };
  r->bins[2] = (pai__bin){ .busy = 4 * PAI__MINUTE,
                           .up = 6 * PAI__MINUTE,
                           .running = PAI__MINUTE,
                           .ended = 1 };
  one_group(r, &r->groups[PAI__BY_VC], "default");
  one_group(r, &r->groups[PAI__BY_SIZE], "4-7");
  one_group(r, &r->groups[PAI__BY_USER], "ann");
  r->node_list = many(r, 1, sizeof(*r->node_list));
  r->node_list[0] = (pai__sim_node){ "n1", 4 };
  r->nnode_list = 1;
  r->bars = many(r, 1, sizeof(*r->bars));
  r->bars[0] = (pai__bar){ .job = 1,
                           .gpus = 0xf,
                           .from = PAI__MINUTE,
                           .to = 3 * PAI__MINUTE,
                           .end = PAI_STATE_SUCCEEDED };
  r->nbars = 1;
  return r;
}

/* --- some days ---------------------------------------------------------------- */

static int64_t below(pai__prng *rng, int64_t n)
{
  return n > 0 ? (int64_t)pai__prng_below(rng, (uint64_t)n) : 0;
}

/* Mostly short ones, and few long ones. */
static int64_t some_time(pai__prng *rng, int64_t most)
{
  int64_t n = below(rng, most);

  for (int64_t i = below(rng, 9); i > 0; i--)
    n /= 4;
  return n;
}

static int by_value(const void *a, const void *b)
{
  const int64_t *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static void make_spread(pai__spread *s, pai__prng *rng, int64_t most)
{
  for (size_t i = 0; i < PAI__LEN(s->at); i++) {
    s->at[i] = some_time(rng, most);
    s->sum += s->at[i];
  }
  qsort(s->at, PAI__LEN(s->at), sizeof(s->at[0]), by_value);
  s->count = PAI__LEN(s->at);
}

static void make_groups(pai_sim_report *r, pai__groups *g, pai__prng *rng,
                        const char *prefix, size_t n, bool odd)
{
  int64_t all = (int64_t)(r->gpus > 0 ? r->gpus : r->cpus);
  int64_t share = all * (r->view.makespan / (int64_t)(n > 0 ? n : 1));
  char name[32];

  g->list = many(r, n, sizeof(*g->list));
  g->count = n;
  for (size_t i = 0; i < n; i++) {
    pai__sim_group *x = &g->list[i];

    (void)snprintf(name, sizeof(name), "%s%zu", prefix, i);
    x->name = kept(r, odd && i < PAI__LEN(strange) ? strange[i] : name);
    x->jobs = (uint64_t)below(rng, 20000) / (i + 1) + 1;
    x->started = x->jobs - (uint64_t)below(rng, 3) % x->jobs;
    x->preemptions = (uint64_t)below(rng, 40);
    x->wait_p50 = some_time(rng, PAI__HOUR);
    x->wait_p90 = x->wait_p50 * 4 + some_time(rng, 6 * PAI__HOUR);
    x->wait_p99 = x->wait_p90 * 3 + some_time(rng, PAI__DAY);
    x->wait_max = x->wait_p99 * 2;
    x->slowdown_p50 = 1000 + (uint64_t)below(rng, 800);
    x->slowdown_p90 = x->slowdown_p50 * 4;
    x->entitled = share;
    x->used = share / 1000 * (200 + below(rng, 900));
    x->borrowed = x->used > share ? x->used - share : x->used / 20;
    x->lent = x->used < share ? (share - x->used) / 2 : 0;
    x->lost = x->used / 300;
  }
}

static void make_sizes(pai_sim_report *r, pai__prng *rng)
{
  static const char *const names[] = { "0",    "1",     "2-3",   "4-7", "8",
                                       "9-16", "17-32", "33-64", "65+" };

  make_groups(r, &r->groups[PAI__BY_SIZE], rng, "", PAI__LEN(names), false);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    r->groups[PAI__BY_SIZE].list[i].name = names[i];
}

static void make_bins(pai_sim_report *r, pai__prng *rng, int64_t busy)
{
  int64_t all = (int64_t)(r->gpus > 0 ? r->gpus : r->cpus), queue = 0;

  r->nbins = PAI__BINS - 17;
  r->span = r->view.makespan;
  r->bin = r->view.makespan / (int64_t)r->nbins + 1;
  for (size_t i = 0; i < r->nbins; i++) {
    pai__bin *b = &r->bins[i];
    int64_t hour = (int64_t)i % 36, day = hour < 18 ? hour : 36 - hour;
    int64_t down = i > 60 && i < 90 ? all / 16 : 0;
    int64_t use = busy - 150 + day * 14 + below(rng, 90);
    pai_time length =
      i + 1 < r->nbins ? r->bin : r->view.makespan - (pai_time)i * r->bin;

    use = i + 8 > r->nbins ? use / 3 : use > 985 ? 985 : use;
    b->up = (all - down) * length;
    b->busy = b->up / 1000 * use;
    b->fragmented = b->up / 1000 * below(rng, 1000 - use) / 4;
    queue += below(rng, 41) - 20 + (use > 960 ? 25 : -queue / 6);
    queue = queue < 0 ? 0 : queue;
    b->waiting = queue * length;
    b->wanted = queue * length * 5;
    b->running = use * length;
  }
}

/* GPU after GPU, one job after the other. */
static void make_bars(pai_sim_report *r, pai__prng *rng, const test_made *made)
{
  static const int ends[] = { PAI_STATE_SUCCEEDED, PAI_STATE_SUCCEEDED,
                              PAI_STATE_SUCCEEDED, PAI_STATE_SUCCEEDED,
                              PAI_STATE_FAILED,    PAI_STATE_STOPPED,
                              PAI_STATE_WAITING,   PAI_STATE_RUNNING };
  uint32_t lanes = made->gpus > 0 ? made->gpus : 3;
  size_t per = made->bars / made->nodes + 1;
  char name[32];

  r->node_list = many(r, made->nodes, sizeof(*r->node_list));
  r->nnode_list = made->nodes;
  r->bars = many(r, made->bars, sizeof(*r->bars));
  for (uint32_t node = 0; node < made->nodes; node++) {
    pai_time ends_at[64] = { 0 };

    (void)snprintf(name, sizeof(name), "node%04u", (unsigned)node);
    r->node_list[node] = (pai__sim_node){ kept(r, name), made->gpus };
    for (size_t i = 0; i < per && r->nbars < made->bars; i++) {
      pai__bar *b = &r->bars[r->nbars++];
      uint32_t lane = (uint32_t)below(rng, lanes), wide = 1;

      while (made->gpus > 0 && lane % (wide * 2) == 0 &&
             lane + wide * 2 <= lanes && below(rng, 3) > 0)
        wide *= 2;
      b->job = r->nbars;
      b->node = node;
      b->vc = (uint32_t)below(rng, made->vcs);
      for (uint32_t k = lane; k < lane + wide; k++) {
        b->gpus |= made->gpus > 0 ? UINT64_C(1) << k : 0;
        b->from = ends_at[k] > b->from ? ends_at[k] : b->from;
      }
      b->from += some_time(rng, r->view.makespan / 40);
      b->to = b->from + some_time(rng, r->view.makespan / 6) + PAI__MINUTE;
      for (uint32_t k = lane; k < lane + wide; k++)
        ends_at[k] = b->to;
      b->from += r->view.begin;
      b->to += r->view.begin;
      b->end = ends[below(rng, PAI__LEN(ends))];
    }
  }
}

pai_sim_report *test_report_made(const test_made *made)
{
  pai_sim_report *r = test_report_empty(made->policy);
  pai__prng rng = { made->seed };
  pai_sim_view *v = &r->view;
  char cluster[64];

  r->nodes = made->nodes;
  r->gpus = (uint64_t)made->nodes * made->gpus;
  r->cpus = (uint64_t)made->nodes * 64;
  (void)snprintf(cluster, sizeof(cluster), "%u nodes, %llu GPUs",
                 (unsigned)made->nodes, (unsigned long long)r->gpus);
  r->cluster = kept(r, cluster);
  r->trace = made->strange ? "<trace> & \x1b[2J" : "philly";
  v->begin = made->strange ? 20000 * PAI__DAY : 0;
  v->jobs = 117325 + (uint64_t)below(&rng, 5);
  v->rejected = (uint64_t)below(&rng, 400);
  v->started = v->finished = v->jobs - v->rejected;
  v->failed = v->jobs / 9;
  v->killed = (uint64_t)below(&rng, 9000);
  v->lines_skipped = made->strange ? 12 : 0;
  v->preemptions = (uint64_t)below(&rng, 3000);
  v->retries = (uint64_t)below(&rng, 900);
  v->makespan = 9 * PAI__DAY + below(&rng, PAI__DAY);
  make_spread(&r->waits, &rng, 2 * PAI__DAY);
  v->wait_mean = r->waits.sum / (int64_t)r->waits.count;
  v->wait_p50 = r->waits.at[500];
  v->wait_p90 = r->waits.at[900];
  v->wait_p99 = r->waits.at[990];
  v->wait_max = r->waits.at[1000];
  v->slowdown_mean = 2345 + (uint64_t)below(&rng, 900);
  v->slowdown_p50 = 1012;
  v->slowdown_p90 = 8123;
  v->utilization = (uint32_t)(made->busy * 1000 + below(&rng, 1000));
  v->fragmentation = (uint32_t)below(&rng, 90000);
  v->fairness = (uint32_t)(800000 + below(&rng, 200000));
  v->lost = 700 * PAI__HOUR + below(&rng, 900 * PAI__HOUR);
  make_groups(r, &r->groups[PAI__BY_VC], &rng, "vc", made->vcs, made->strange);
  make_sizes(r, &rng);
  make_groups(r, &r->groups[PAI__BY_USER], &rng, "user", made->users,
              made->strange);
  make_bins(r, &rng, made->busy);
  if (made->nodes > 0 && made->vcs > 0)
    make_bars(r, &rng, made);
  return r;
}

/* --- too much --------------------------------------------------------------------- */

static void huge_group(pai_sim_report *r, pai__groups *g)
{
  one_group(r, g,
            "of a name that is much too long for any column of any page");
  memset(&g->list[0].jobs, 0x7f,
         sizeof(*g->list) - offsetof(pai__sim_group, jobs));
}

pai_sim_report *test_report_huge(void)
{
  pai_sim_report *r = test_report_empty("huge");
  pai_sim_view view = r->view;

  memset(&r->view, 0x7f, sizeof(r->view));
  r->view.struct_size = view.struct_size;
  r->view.policy = "huge";
  r->view.begin = 0;
  r->gpus = r->cpus = UINT64_MAX;
  r->nbins = PAI__BINS;
  r->span = r->view.makespan;
  r->bin = r->view.makespan / PAI__BINS;
  for (size_t i = 0; i < PAI__BINS; i++)
    r->bins[i] =
      (pai__bin){ INT64_MAX, INT64_MAX,  INT64_MAX,  INT64_MAX,  INT64_MAX,
                  INT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
  all_at(&r->waits, INT64_MAX);
  all_at(&r->slowdowns, INT64_MAX);
  huge_group(r, &r->groups[PAI__BY_VC]);
  huge_group(r, &r->groups[PAI__BY_SIZE]);
  huge_group(r, &r->groups[PAI__BY_USER]);
  r->node_list = many(r, 1, sizeof(*r->node_list));
  r->node_list[0] = (pai__sim_node){ "n1", UINT32_MAX };
  r->nnode_list = 1;
  r->bars = many(r, 1, sizeof(*r->bars));
  r->bars[0] = (pai__bar){ UINT64_MAX, UINT64_MAX, 0, INT64_MAX, 0, 0, 99 };
  r->nbars = 1;
  return r;
}

/* --- sets --------------------------------------------------------------------------- */

size_t test_reports_of(const char *name, pai_sim_report *out[8])
{
  static const test_made large = { "backfill", 7,    120, 8,    12,
                                   300,        4000, 800, false };
  static const test_made few = { "hived", 5, 4, 8, 3, 12, 160, 850, false };
  static const test_made cpus = { "fifo", 3, 6, 0, 2, 5, 120, 700, false };
  static const test_made odd = { "<i>&", 4, 3, 4, 7, 9, 60, 600, true };
  static const char *const policies[] = { "fifo", "backfill", "hived",
                                          "fifo" };
  size_t n = 1;

  if (strcmp(name, "empty") == 0)
    out[0] = test_report_empty("fifo");
  else if (strcmp(name, "one") == 0)
    out[0] = test_report_one("fifo");
  else if (strcmp(name, "large") == 0)
    out[0] = test_report_made(&large);
  else if (strcmp(name, "few") == 0)
    out[0] = test_report_made(&few);
  else if (strcmp(name, "cpus") == 0)
    out[0] = test_report_made(&cpus);
  else if (strcmp(name, "strange") == 0)
    out[0] = test_report_made(&odd);
  else if (strcmp(name, "huge") == 0)
    out[0] = test_report_huge();
  else if (strcmp(name, "compared") == 0)
    for (n = 0; n < PAI__LEN(policies); n++) {
      test_made made = few;

      made.policy = policies[n];
      made.seed += n;
      made.busy -= 70 * (int64_t)n;
      out[n] = test_report_made(&made);
      if (n == 3)
        out[n]->options = "{\"greedy\":true}";
    }
  else
    n = 0;
  return n;
}
