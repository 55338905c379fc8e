/* stats_report.c - makes the report of a simulation from its statistics */
#include "sim/report/stats.h"

#include <openpai/platform.h>

#include <stdlib.h>

static const char *const size_names[PAI__SIZES] = {
  "0", "1", "2-3", "4-7", "8", "9-16", "17-32", "33-64", "65+",
};

/* --- distributions ------------------------------------------------------- */

static int fill_spread(pai__spread *out, const pai__histogram *t,
                       const pai_alloc *alloc)
{
  uint32_t at[1001];

  for (uint32_t i = 0; i <= 1000; i++)
    at[i] = i;
  out->count = t->count;
  out->sum = (int64_t)pai__wide_quotient(t->sum, 1);
  if (out->sum < 0)
    out->sum = INT64_MAX;
  return pai__histogram_at(t, alloc, at, 1001, out->at);
}

static int fill_group(pai__sim_group *out, const pai__gathered *g,
                      pai_sim_report *r)
{
  static const uint32_t wait_at[] = { 500, 900, 990, 1000 };
  static const uint32_t slow_at[] = { 500, 900 };
  int64_t waits[4], slow[2];

  if (pai__histogram_at(&g->waits, &r->alloc, wait_at, 4, waits) < 0 ||
      pai__histogram_at(&g->slowdowns, &r->alloc, slow_at, 2, slow) < 0)
    return PAI_ENOMEM;
  *out = g->sums;
  out->name = pai__arena_strndup(&r->arena, out->name, strlen(out->name));
  out->wait_sum = (int64_t)pai__wide_quotient(g->waits.sum, 1);
  if (out->wait_sum < 0)
    out->wait_sum = INT64_MAX;
  out->wait_p50 = waits[0];
  out->wait_p90 = waits[1];
  out->wait_p99 = waits[2];
  out->wait_max = waits[3];
  out->slowdown_p50 = (uint64_t)slow[0];
  out->slowdown_p90 = (uint64_t)slow[1];
  out->left = out->jobs - out->rejected - out->finished - out->killed;
  return out->name != NULL ? PAI_OK : PAI_ENOMEM;
}

/* --- groups -------------------------------------------------------------- */

/* Fills the groups by `what`. */
static int fill_groups(pai_sim_report *r, int what, const pai__gathered *from,
                       size_t n)
{
  pai__groups *g = &r->groups[what];
  int rc = PAI_OK;

  g->list = pai__arena_zalloc(&r->arena, n, sizeof(*g->list));
  g->count = n;
  if (g->list == NULL && n != 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n && rc == PAI_OK; i++)
    rc = fill_group(&g->list[i], &from[i], r);
  return rc;
}

static int fill_vcs(const pai__stats *st, pai_sim_report *r)
{
  int rc = fill_groups(r, PAI__BY_VC, st->vcs, st->nvcs);

  for (uint32_t i = 0; i < st->nvcs && rc == PAI_OK; i++) {
    pai__account_vc a = pai__ledger_vc(&st->ledger, i, st->series.at);
    pai__sim_group *g = &r->groups[PAI__BY_VC].list[i];

    g->entitled =
      a.own >= 0 ? pai__times(a.own, st->series.at - st->series.begin) : 0;
    g->borrowed = a.time_borrowed;
    g->lent = a.time_lent;
  }
  return rc;
}

/* Leaves out sizes without jobs. */
static int fill_sizes(const pai__stats *st, pai_sim_report *r)
{
  pai__groups *g = &r->groups[PAI__BY_SIZE];
  int rc = fill_groups(r, PAI__BY_SIZE, st->sizes, PAI__SIZES);

  g->count = 0;
  for (uint32_t i = 0; i < PAI__SIZES && rc == PAI_OK; i++)
    if (g->list[i].jobs != 0) {
      g->list[g->count] = g->list[i];
      g->list[g->count++].name = size_names[i];
    }
  return rc;
}

static int by_use(const void *a, const void *b)
{
  const pai__sim_group *x = a, *y = b;

  if (x->used != y->used)
    return x->used > y->used ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Returns the use of a current run that is not counted yet. */
static int64_t use_of(const pai__stats *st, const pai__counted *job)
{
  return job->held == 0
           ? 0
           : pai__times((int64_t)job->held, st->series.at - job->counted);
}

/* Sorts users by use, the greatest first. */
static int fill_users(const pai__stats *st, const pai__drive *d,
                      pai_sim_report *r)
{
  int rc = fill_groups(r, PAI__BY_USER, st->users, st->nusers);
  pai__sim_group *list = r->groups[PAI__BY_USER].list;
  const pai__counted *job;

  for (uint32_t i = 0; i < st->ledger.users.len && rc == PAI_OK; i++) {
    pai__vc_use u = pai__ledger_user(&st->ledger, i, st->series.at);
    int64_t *to = &list[u.user].entitled;

    *to = pai__sum(*to, u.entitled);
  }
  for (uint32_t i = 0;
       rc == PAI_OK &&
       (job = (const pai__counted *)pai__drive_each(d, &i)) != NULL;) {
    int64_t *used = &list[job->of.user].used;

    *used = pai__sum(*used, use_of(st, job));
  }
  if (rc == PAI_OK && st->nusers != 0)
    qsort(list, st->nusers, sizeof(*list), by_use);
  return rc;
}

/* --- jobs that still run ------------------------------------------------- */

static void add_use(const pai__stats *st, const pai__counted *job,
                    pai_sim_report *r)
{
  const pai__groups *sizes = &r->groups[PAI__BY_SIZE];
  pai__sim_group *groups[2] = { &r->groups[PAI__BY_VC].list[job->of.vc],
                                NULL };

  for (size_t i = 0; i < sizes->count; i++)
    if (strcmp(sizes->list[i].name, size_names[job->of.size]) == 0)
      groups[1] = &sizes->list[i];
  for (int i = 0; i < 2; i++)
    if (groups[i] != NULL)
      groups[i]->used = pai__sum(groups[i]->used, use_of(st, job));
}

static int fill_bars(const pai__stats *st, const pai__drive *d,
                     pai_sim_report *r)
{
  pai__bars bars = { .most = st->bars.most };
  const pai__counted *job;
  pai__run_info run;
  int rc = PAI_OK;

  for (size_t i = 0; i < st->bars.len && rc == PAI_OK; i++) {
    rc = PAI__VEC_ROOM(&r->alloc, bars.list, bars.len, bars.cap);
    if (rc == PAI_OK)
      bars.list[bars.len++] = st->bars.list[i];
  }
  for (uint32_t i = 0;
       rc == PAI_OK &&
       (job = (const pai__counted *)pai__drive_each(d, &i)) != NULL;) {
    pai__bar bar = pai__stats_bar(job, st->series.at, PAI_STATE_RUNNING);

    if (job->d.tasks != 0 && job->barred && pai__drive_place(d, &job->d, &run))
      rc = pai__bars_add(&bars, &r->alloc, &run, &bar);
  }
  if (rc == PAI_OK && bars.len != 0) {
    r->bars = pai__arena_zalloc(&r->arena, bars.len, sizeof(*r->bars));
    rc = r->bars != NULL ? PAI_OK : PAI_ENOMEM;
  }
  if (rc == PAI_OK && bars.len != 0) {
    pai__bars_sort(bars.list, bars.len);
    memcpy(r->bars, bars.list, bars.len * sizeof(*r->bars));
    r->nbars = bars.len;
  }
  r->bars_cut = st->bars.cut;
  pai__bars_dispose(&bars, &r->alloc);
  return rc;
}

/* Lists the nodes that have bars, in the cluster's order, and renumbers the
 * bars' nodes. */
static int fill_nodes(const pai__stats *st, pai_sim_report *r)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(st->sched);
  uint32_t *number = pai__zalloc(&r->alloc, st->nnodes * sizeof(*number));
  size_t n = 0;
  int rc = number != NULL ? PAI_OK : PAI_ENOMEM;

  for (size_t i = 0; i < r->nbars && rc == PAI_OK; i++)
    number[r->bars[i].node] = 1;
  for (uint32_t i = 0; i < st->nnodes && rc == PAI_OK; i++)
    n += number[i];
  if (rc == PAI_OK && n != 0) {
    r->node_list = pai__arena_zalloc(&r->arena, n, sizeof(*r->node_list));
    rc = r->node_list != NULL ? PAI_OK : PAI_ENOMEM;
  }
  for (uint32_t i = 0; i < st->nnodes && rc == PAI_OK; i++) {
    const char *name = cluster->nodes[i].name;
    pai__sim_node *to = &r->node_list[r->nnode_list];

    if (number[i] == 0)
      continue;
    number[i] = (uint32_t)r->nnode_list++;
    to->name = pai__arena_strndup(&r->arena, name, strlen(name));
    to->gpus = pai__sched_sku_of(cluster, i)->gpus;
    rc = to->name != NULL ? PAI_OK : PAI_ENOMEM;
  }
  for (size_t i = 0; i < r->nbars && rc == PAI_OK; i++)
    r->bars[i].node = number[r->bars[i].node];
  pai__free(&r->alloc, number, st->nnodes * sizeof(*number));
  return rc;
}

/* --- summary ------------------------------------------------------------- */

/* Returns Jain's fairness index in millionths, (sum of x)^2 / (n * sum of
 * x^2), where x is what a user got divided by what they were entitled to.
 * Users who were entitled to nothing do not count. */
static uint32_t fairness_of(const pai__groups *users)
{
  int64_t most = 0, sum = 0, squares = 0, n = 0;

  for (size_t i = 0; i < users->count; i++) {
    const pai__sim_group *u = &users->list[i];
    int64_t x = pai__scale(u->used, 1 << 20, (uint64_t)u->entitled);

    if (u->entitled > 0)
      most = x > most ? x : most;
  }
  for (size_t i = 0; i < users->count; i++) {
    const pai__sim_group *u = &users->list[i];
    int64_t x;

    if (u->entitled <= 0)
      continue;
    x = pai__scale(u->used, 1 << 20, (uint64_t)u->entitled);
    x = most > 1 << 20 ? pai__scale(x, 1 << 20, (uint64_t)most) : x;
    n++;
    sum += x;
    squares += x * x;
  }
  return n == 0 || squares == 0
           ? 1000000
           : (uint32_t)(pai__scale(sum * 1000000, (uint64_t)sum,
                                   (uint64_t)squares) /
                        n);
}

static uint32_t millionths(int64_t part, int64_t whole)
{
  return whole > 0 ? (uint32_t)pai__scale(part, 1000000, (uint64_t)whole) : 0;
}

static void fill_shares(const pai__stats *st, pai_sim_report *r)
{
  pai_time span = st->series.at - st->series.begin;
  int64_t busy = 0, up = 0, fragmented = 0, whole;

  for (size_t i = 0; i < r->nbins; i++) {
    busy = pai__sum(busy, r->bins[i].busy);
    up = pai__sum(up, r->bins[i].up);
    fragmented = pai__sum(fragmented, r->bins[i].fragmented);
  }
  whole = pai__times(st->whole, span > 0 ? span : 0);
  r->outside = whole > up ? whole - up : 0;
  r->view.utilization = millionths(busy, whole);
  r->view.fragmentation = up > busy ? millionths(fragmented, up - busy) : 0;
}

static void fill_view(const pai__stats *st, const pai__sim_group *all,
                      pai_sim_report *r)
{
  pai_sim_view *v = &r->view;

  v->jobs = all->jobs;
  v->rejected = all->rejected;
  v->started = all->started;
  v->finished = all->finished;
  v->failed = all->failed;
  v->killed = all->killed;
  v->left = all->left;
  v->preemptions = all->preemptions;
  v->retries = all->retries;
  v->begin = st->series.begin;
  v->makespan = st->last_end > v->begin ? st->last_end - v->begin : 0;
  v->wait_mean = pai__histogram_mean(&st->all.waits);
  v->wait_p50 = all->wait_p50;
  v->wait_p90 = all->wait_p90;
  v->wait_p99 = all->wait_p99;
  v->wait_max = all->wait_max;
  v->slowdown_mean = (uint64_t)pai__histogram_mean(&st->all.slowdowns);
  v->slowdown_p50 = all->slowdown_p50;
  v->slowdown_p90 = all->slowdown_p90;
  v->lost = all->lost;
  v->fairness = fairness_of(&r->groups[PAI__BY_USER]);
}

static int fill_lists(const pai__stats *st, const pai__drive *d,
                      pai_sim_report *r)
{
  const pai__counted *job;
  int rc = fill_vcs(st, r);

  if (rc == PAI_OK)
    rc = fill_sizes(st, r);
  if (rc == PAI_OK)
    rc = fill_users(st, d, r);
  for (uint32_t i = 0;
       rc == PAI_OK &&
       (job = (const pai__counted *)pai__drive_each(d, &i)) != NULL;)
    if (job->held != 0)
      add_use(st, job, r);
  if (rc == PAI_OK)
    rc = fill_bars(st, d, r);
  return rc == PAI_OK ? fill_nodes(st, r) : rc;
}

int pai__stats_report(const pai__stats *st, const pai__drive *d,
                      pai_sim_report *r)
{
  pai__sim_group all;
  int rc = fill_group(&all, &st->all, r);

  if (rc == PAI_OK)
    rc = fill_lists(st, d, r);
  if (rc == PAI_OK)
    rc = fill_spread(&r->waits, &st->all.waits, &st->alloc);
  if (rc == PAI_OK)
    rc = fill_spread(&r->slowdowns, &st->all.slowdowns, &st->alloc);
  if (rc < 0)
    return rc;
  r->nodes = st->nnodes;
  for (uint32_t i = 0; i < st->nnodes; i++) {
    const pai__sched_sku *b =
      pai__sched_sku_of(pai__sched_cluster_of(st->sched), i);

    r->gpus += b->gpus;
    r->cpus += b->cpus - b->first_cpu;
  }
  r->span = st->series.width > 0 ? st->series.at - st->series.begin : 0;
  r->bin = st->series.width;
  r->nbins = pai__series_count(&st->series);
  memcpy(r->bins, st->series.bins, sizeof(r->bins));
  fill_shares(st, r);
  fill_view(st, &all, r);
  return PAI_OK;
}
