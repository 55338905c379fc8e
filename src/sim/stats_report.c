/* stats_report.c - a report is made of what was watched */
#include "sim/stats.h"

#include <openpai/platform.h>

#include <stdlib.h>

static const char *const size_names[PAI__SIZES] = {
  "0", "1", "2-3", "4-7", "8", "9-16", "17-32", "33-64", "65+",
};

/* --- distributions -------------------------------------------------------- */

static int fill_spread(pai__spread *out, const pai__tally *t,
                       const pai_alloc *alloc)
{
  uint32_t at[1001];

  for (uint32_t i = 0; i <= 1000; i++)
    at[i] = i;
  out->count = t->count;
  out->sum = (int64_t)pai__wide_quotient(t->sum, 1);
  if (out->sum < 0)
    out->sum = INT64_MAX;
  return pai__tally_at(t, alloc, at, 1001, out->at);
}

static int fill_group(pai__group *out, const pai__gathered *g,
                      const pai_alloc *alloc)
{
  static const uint32_t wait_at[] = { 500, 900, 990, 1000 };
  static const uint32_t slow_at[] = { 500, 900 };
  int64_t waits[4], slow[2];
  int rc = pai__tally_at(&g->waits, alloc, wait_at, 4, waits);

  if (rc == PAI_OK)
    rc = pai__tally_at(&g->slowdowns, alloc, slow_at, 2, slow);
  if (rc < 0)
    return rc;
  *out = g->sums;
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
  return PAI_OK;
}

/* --- groups --------------------------------------------------------------- */

static int new_groups(pai__groups *g, pai__arena *arena, size_t n)
{
  g->list = pai__arena_zalloc(arena, n, sizeof(*g->list));
  g->count = n;
  return g->list != NULL || n == 0 ? PAI_OK : PAI_ENOMEM;
}

static int name_group(pai__group *g, pai__arena *arena)
{
  g->name = pai__arena_strndup(arena, g->name, strlen(g->name));
  return g->name != NULL ? PAI_OK : PAI_ENOMEM;
}

static int fill_vcs(const pai__stats *st, pai_sim_report *r)
{
  int rc = new_groups(&r->vcs, &r->arena, st->nvcs);

  for (uint32_t i = 0; i < st->nvcs && rc == PAI_OK; i++) {
    pai__account_vc a = pai__ledger_vc(&st->ledger, i, st->series.at);
    pai__group *g = &r->vcs.list[i];

    rc = fill_group(g, &st->vcs[i], &st->alloc);
    if (rc == PAI_OK)
      rc = name_group(g, &r->arena);
    g->entitled =
      a.own >= 0 ? pai__times(a.own, st->series.at - st->series.begin) : 0;
    g->borrowed = a.time_borrowed;
    g->lent = a.time_lent;
  }
  return rc;
}

/* Those that had jobs. */
static int fill_sizes(const pai__stats *st, pai_sim_report *r)
{
  size_t n = 0;
  int rc = new_groups(&r->sizes, &r->arena, PAI__SIZES);

  for (uint32_t i = 0; i < PAI__SIZES && rc == PAI_OK; i++)
    if (st->sizes[i].sums.jobs != 0) {
      rc = fill_group(&r->sizes.list[n], &st->sizes[i], &st->alloc);
      r->sizes.list[n++].name = size_names[i];
    }
  r->sizes.count = n;
  return rc;
}

static int by_use(const void *a, const void *b)
{
  const pai__group *x = a, *y = b;

  if (x->used != y->used)
    return x->used > y->used ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* What runs counts as if it ended now. */
static int64_t use_of(const pai__stats *st, const pai__counted *job)
{
  return job->held == 0
           ? 0
           : pai__times((int64_t)job->held, st->series.at - job->counted);
}

/* Who used most comes first. */
static int fill_users(const pai__stats *st, const pai__drive *d,
                      pai_sim_report *r)
{
  const pai__counted *job;
  int rc = new_groups(&r->users, &r->arena, st->nusers);

  for (size_t i = 0; i < st->nusers && rc == PAI_OK; i++) {
    rc = fill_group(&r->users.list[i], &st->users[i], &st->alloc);
    if (rc == PAI_OK)
      rc = name_group(&r->users.list[i], &r->arena);
  }
  for (uint32_t i = 0; i < st->ledger.users.len && rc == PAI_OK; i++) {
    pai__account_user u = pai__ledger_user(&st->ledger, i, st->series.at);
    int64_t *to = &r->users.list[u.user].entitled;

    *to = pai__sum(*to, u.entitled);
  }
  for (uint32_t i = 0;
       rc == PAI_OK &&
       (job = (const pai__counted *)pai__drive_each(d, &i)) != NULL;) {
    int64_t *used = &r->users.list[job->of.user].used;

    *used = pai__sum(*used, use_of(st, job));
  }
  if (rc == PAI_OK && st->nusers != 0)
    qsort(r->users.list, st->nusers, sizeof(*r->users.list), by_use);
  return rc;
}

/* --- what still runs ------------------------------------------------------ */

static void add_use(const pai__stats *st, const pai__counted *job,
                    pai_sim_report *r)
{
  pai__group *groups[2] = { &r->vcs.list[job->of.vc], NULL };

  for (size_t i = 0; i < r->sizes.count; i++)
    if (strcmp(r->sizes.list[i].name, size_names[job->of.size]) == 0)
      groups[1] = &r->sizes.list[i];
  for (int i = 0; i < 2; i++)
    if (groups[i] != NULL)
      groups[i]->used = pai__sum(groups[i]->used, use_of(st, job));
}

static int fill_bars(const pai__stats *st, const pai__drive *d,
                     pai_sim_report *r)
{
  pai__bars bars = { .most = st->bars.most };
  const pai__counted *job;
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

    if (job->d.tasks != 0 && job->barred)
      rc = pai__bars_add(&bars, &r->alloc, st->sched, pai__stats_run(st, job),
                         &bar);
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

/* Nodes that have bars, in the cluster's order; bars name them by that. */
static int fill_nodes(const pai__stats *st, pai_sim_report *r)
{
  const pai__park *park = st->sched->park;
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
    const char *name = park->spots[i].name;
    pai__sim_node *to = &r->node_list[r->nnode_list];

    if (number[i] == 0)
      continue;
    number[i] = (uint32_t)r->nnode_list++;
    to->name = pai__arena_strndup(&r->arena, name, strlen(name));
    to->gpus = pai__build_of(park, i)->gpus;
    rc = to->name != NULL ? PAI_OK : PAI_ENOMEM;
  }
  for (size_t i = 0; i < r->nbars && rc == PAI_OK; i++)
    r->bars[i].node = number[r->bars[i].node];
  pai__free(&r->alloc, number, st->nnodes * sizeof(*number));
  return rc;
}

/* --- the main numbers ----------------------------------------------------- */

/* (sum of x)^2 / (n times the sum of x^2), of what users got by what they were
 * entitled to, in millionths; users with nothing to expect do not count. */
static uint32_t fairness_of(const pai__groups *users)
{
  int64_t most = 0, sum = 0, squares = 0, n = 0;

  for (size_t i = 0; i < users->count; i++) {
    const pai__group *u = &users->list[i];
    int64_t x = pai__scale(u->used, 1 << 20, (uint64_t)u->entitled);

    if (u->entitled > 0)
      most = x > most ? x : most;
  }
  for (size_t i = 0; i < users->count; i++) {
    const pai__group *u = &users->list[i];
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

static void fill_view(const pai__stats *st, const pai__group *all,
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
  v->wait_mean = pai__tally_mean(&st->all.waits);
  v->wait_p50 = all->wait_p50;
  v->wait_p90 = all->wait_p90;
  v->wait_p99 = all->wait_p99;
  v->wait_max = all->wait_max;
  v->slowdown_mean = (uint64_t)pai__tally_mean(&st->all.slowdowns);
  v->slowdown_p50 = all->slowdown_p50;
  v->slowdown_p90 = all->slowdown_p90;
  v->lost = all->lost;
  v->fairness = fairness_of(&r->users);
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
  pai__group all;
  int rc = fill_group(&all, &st->all, &st->alloc);

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
    const pai__build *b = pai__build_of(st->sched->park, i);

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
