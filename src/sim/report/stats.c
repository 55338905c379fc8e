/* stats.c - statistics of a running simulation */
#include "sim/report/stats.h"

#include "resource/bits.h"

#include <openpai/platform.h>

enum {
  MOST_ALL = 1 << 17, /* distinct values: all jobs, a group */
  MOST_GROUP = 1 << 12,
  EVEN = 1000, /* slowdown of 1: the job did not wait */
  SECOND = 1000000
};

/* --- making -------------------------------------------------------------- */

static void gather(pai__gathered *g, uint32_t most)
{
  *g = (pai__gathered){ .sums = { .name = "" } };
  pai__histogram_init(&g->waits, most, 0);
  pai__histogram_init(&g->slowdowns, most, EVEN);
}

static void scatter(pai__gathered *g, const pai_alloc *alloc)
{
  pai__histogram_dispose(&g->waits, alloc);
  pai__histogram_dispose(&g->slowdowns, alloc);
}

static int open_vcs(pai__stats *st, int64_t gpus)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(st->sched);
  int64_t *own = pai__zalloc(&st->alloc, cluster->nvcs * sizeof(*own));
  int rc = PAI_ENOMEM;

  st->vcs = pai__zalloc(&st->alloc, cluster->nvcs * sizeof(*st->vcs));
  st->nvcs = st->vcs != NULL ? cluster->nvcs : 0;
  for (uint32_t i = 0; i < st->nvcs && own != NULL; i++) {
    const pai__sched_vc *t = &cluster->vcs[i];

    gather(&st->vcs[i], MOST_GROUP);
    st->vcs[i].sums.name = t->name;
    own[i] = t->own != NULL && !st->cpus ? 0 : -1;
    for (uint32_t k = 0; own[i] >= 0 && k < cluster->nkinds; k++)
      own[i] += (int64_t)t->own[k];
  }
  if (st->vcs != NULL && own != NULL)
    rc = pai__ledger_init(&st->ledger, &st->alloc, own, st->nvcs, gpus);
  pai__free(&st->alloc, own, cluster->nvcs * sizeof(*own));
  return rc;
}

static int32_t all_of(const pai__stats *st, uint32_t node)
{
  const pai__sched_sku *b =
    pai__sched_sku_of(pai__sched_cluster_of(st->sched), node);

  return (int32_t)(st->cpus ? b->cpus - b->first_cpu : b->gpus);
}

static int open_nodes(pai__stats *st)
{
  uint32_t n = pai__sched_cluster_of(st->sched)->nnodes;

  st->nodes = pai__zalloc(&st->alloc, n * sizeof(*st->nodes));
  st->dirty = pai__zalloc(&st->alloc, n * sizeof(*st->dirty));
  st->nnodes = n;
  if (st->nodes == NULL || st->dirty == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < n; i++)
    pai__stats_node(st, i);
  return PAI_OK;
}

int pai__stats_init(pai__stats *st, const pai_alloc *alloc,
                    const pai_sched *sched, uint32_t bars)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(sched);
  uint32_t gpus = 0;
  int rc;

  *st = (pai__stats){
    .alloc = *alloc, .sched = sched, .bars = { .most = bars }, .first = -1
  };
  pai__map_init(&st->user_of, &st->alloc);
  st->ledger.alloc = &st->alloc;
  gather(&st->all, MOST_ALL);
  for (size_t i = 0; i < PAI__SIZES; i++)
    gather(&st->sizes[i], MOST_GROUP);
  for (uint32_t i = 0; i < cluster->nnodes; i++)
    gpus += pai__sched_sku_of(cluster, i)->gpus;
  st->cpus = gpus == 0;
  for (uint32_t i = 0; i < cluster->nnodes; i++)
    st->whole += all_of(st, i);
  rc = open_vcs(st, st->whole);
  return rc == PAI_OK ? open_nodes(st) : rc;
}

void pai__stats_dispose(pai__stats *st)
{
  const pai_alloc *alloc = &st->alloc;

  scatter(&st->all, alloc);
  for (size_t i = 0; i < PAI__SIZES; i++)
    scatter(&st->sizes[i], alloc);
  for (uint32_t i = 0; i < st->nvcs; i++)
    scatter(&st->vcs[i], alloc);
  for (size_t i = 0; i < st->nusers; i++)
    scatter(&st->users[i], alloc);
  pai__free(alloc, st->vcs, st->nvcs * sizeof(*st->vcs));
  pai__free(alloc, st->users, st->user_cap * sizeof(*st->users));
  pai__free(alloc, st->nodes, st->nnodes * sizeof(*st->nodes));
  pai__free(alloc, st->dirty, st->nnodes * sizeof(*st->dirty));
  pai__map_dispose(&st->user_of);
  pai__bars_dispose(&st->bars, alloc);
  pai__ledger_dispose(&st->ledger);
}

/* --- owner and size ------------------------------------------------------ */

/* The map owns the names of users. */
static int find_user(pai__stats *st, const char *name, uint32_t *out)
{
  const char *text = name != NULL ? name : "";
  size_t len = strlen(text);
  uintptr_t i = (uintptr_t)pai__map_get(&st->user_of, text, len);

  if (i == 0) {
    if (PAI__VEC_ROOM(&st->alloc, st->users, st->nusers, st->user_cap) < 0 ||
        pai__map_set(&st->user_of, text, len, (void *)(st->nusers + 1)) < 0)
      return PAI_ENOMEM;
    gather(&st->users[st->nusers], MOST_GROUP);
    i = ++st->nusers;
    st->users[i - 1].sums.name = st->user_of.entries[st->user_of.len - 1].key;
  }
  *out = (uint32_t)i - 1;
  return PAI_OK;
}

static uint8_t size_of(uint64_t gpus)
{
  static const uint64_t least[PAI__SIZES] = { 0, 1, 2, 4, 8, 9, 17, 33, 65 };
  uint8_t i = PAI__SIZES - 1;

  while (gpus < least[i])
    i--;
  return i;
}

static void add_tasks(const pai__stats *st, pai__whose *of, uint32_t tasks,
                      uint32_t gpus, uint32_t cpus)
{
  of->tasks += tasks;
  of->gpus += (uint64_t)tasks * (st->cpus ? cpus : gpus);
}

int pai__stats_whose(pai__stats *st, const pai_request *request, uint32_t vc,
                     pai__whose *out)
{
  *out = (pai__whose){ .vc = vc };
  for (size_t i = 0; i < request->nwants; i++) {
    const pai_want *w = &request->wants[i];

    add_tasks(st, out, w->tasks, w->gpus, w->cpus + (w->cpu_millis != 0));
  }
  out->size = size_of(out->gpus);
  return find_user(st, request->user, &out->user);
}

void pai__stats_whose_again(const pai__stats *st, uint64_t id, uint32_t pair,
                            pai__whose *out)
{
  pai__request_info r;
  const pai__vc_use *u = pai__ledger_pair(&st->ledger, pair);

  *out = (pai__whose){ .vc = u->vc, .user = u->user };
  if (!pai__inspect_request(st->sched, id, &r))
    return;
  for (uint32_t i = 0; i < r.nwants; i++)
    add_tasks(st, out, r.wants[i].tasks, r.wants[i].gpus,
              (uint32_t)pai__milli_up(r.wants[i].cpu_millis));
  out->size = size_of(out->gpus);
}

/* --- time ---------------------------------------------------------------- */

void pai__stats_node(pai__stats *st, uint32_t node)
{
  if (st->nodes[node].dirty)
    return;
  st->nodes[node].dirty = true;
  st->dirty[st->ndirty++] = node;
}

/* Counts whole CPUs: a task has each CPU that it has a part of. */
static int32_t free_cpus(const pai__node_info *info)
{
  int64_t n = info->free_millis / PAI__CPU;

  return n <= 0 ? 0 : n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

static void look_at(pai__stats *st, uint32_t node)
{
  pai__node_info info = pai__inspect_node(st->sched, node);
  pai__node_book *book = &st->nodes[node], was = *book;
  int32_t all = all_of(st, node), large = all < 8 ? all : 8;

  *book = (pai__node_book){ 0 };
  if (info.state == PAI_NODE_UP) {
    book->up = st->cpus ? all : (int32_t)pai__bits_ones(info.healthy);
    book->free =
      st->cpus ? free_cpus(&info) : (int32_t)pai__bits_ones(info.free);
    book->fragmented = book->free < large ? book->free : 0;
  }
  st->now.up += book->up - was.up;
  st->now.fragmented += book->fragmented - was.fragmented;
}

void pai__stats_pass(pai__stats *st, pai_time now)
{
  if (st->series.width == 0 || now == st->series.at)
    return;
  while (st->ndirty > 0)
    look_at(st, st->dirty[--st->ndirty]);
  pai__ledger_settle(&st->ledger, st->series.at);
  pai__series_pass(&st->series, now, &st->now);
}

static void mark_nodes(pai__stats *st, const pai__run_info *run)
{
  for (uint32_t i = 0; i < run->tasks; i++)
    pai__stats_node(st, run->slots[i].node);
}

/* --- jobs ---------------------------------------------------------------- */

/* The four groups that a job is in. */
static void groups_of(pai__stats *st, const pai__whose *of,
                      pai__gathered *groups[4])
{
  groups[0] = &st->all;
  groups[1] = &st->vcs[of->vc];
  groups[2] = &st->sizes[of->size];
  groups[3] = &st->users[of->user];
}

static void wait(pai__stats *st, const pai__whose *of, bool waits)
{
  st->now.waiting += waits ? 1 : -1;
  st->now.wanted += waits ? (int64_t)of->gpus : -(int64_t)of->gpus;
}

static void come(pai__stats *st, const pai__whose *of, bool refused)
{
  pai__gathered *groups[4];

  groups_of(st, of, groups);
  for (int i = 0; i < 4; i++) {
    groups[i]->sums.jobs++;
    groups[i]->sums.rejected += refused;
  }
  pai__series_bin(&st->series)->came++;
}

int pai__stats_come(pai__stats *st, const pai__whose *of, uint32_t *pair)
{
  come(st, of, false);
  wait(st, of, true);
  return pai__ledger_come(&st->ledger, of->vc, of->user, st->series.at, pair);
}

void pai__stats_refused(pai__stats *st, const pai__whose *of)
{
  come(st, of, true);
}

/* Returns the run of a job that has a place. */
static pai__run_info run_of(const pai__stats *st, const pai__counted *job)
{
  pai__run_info run = { .id = 0 };

  (void)pai__inspect_run(st->sched, job->d.id, job->d.instance, &run);
  return run;
}

/* Returns the GPUs or CPUs that the run holds; fewer than `of.gpus` only if it
 * runs with fewer tasks. */
static uint64_t held_by(const pai__stats *st, const pai__counted *job,
                        const pai__run_info *run)
{
  const pai__slot *slots = run->slots;
  uint64_t held = 0;

  if (run->tasks == job->of.tasks)
    return job->of.gpus;
  for (uint32_t i = 0; i < run->tasks; i++)
    held += st->cpus ? pai__milli_up(run->wants[slots[i].want].cpu_millis)
                     : pai__bits_ones(slots[i].gpus);
  return held;
}

/* Changes the amount that the job holds from now on. */
static void hold(pai__stats *st, pai__counted *job, uint64_t held)
{
  int64_t more = (int64_t)held - (int64_t)job->held;

  job->held = held;
  st->now.busy += more;
  pai__ledger_use(&st->ledger, job->of.vc, more, st->series.at);
}

int pai__stats_started(pai__stats *st, pai__counted *job)
{
  pai__run_info run = run_of(st, job);
  pai__gathered *groups[4];
  int rc = PAI_OK;

  mark_nodes(st, &run);
  wait(st, &job->of, false);
  job->waits = false;
  st->now.running++;
  job->counted = st->series.at;
  hold(st, job, held_by(st, job, &run));
  job->barred = pai__bars_want(&st->bars, run.tasks);
  pai__series_bin(&st->series)->started++;
  if (job->d.runs > 1)
    return PAI_OK;
  groups_of(st, &job->of, groups);
  for (int i = 0; i < 4 && rc == PAI_OK; i++) {
    groups[i]->sums.started++;
    rc = pai__histogram_add(&groups[i]->waits, &st->alloc,
                            job->d.started - job->d.submitted);
  }
  return rc;
}

/* Counts the use up to now, with the amount that it holds. */
static void count_use(pai__stats *st, pai__counted *job)
{
  pai__gathered *groups[4];
  int64_t used = pai__times((int64_t)job->held, st->series.at - job->counted);

  job->counted = st->series.at;
  groups_of(st, &job->of, groups);
  for (int i = 0; i < 4; i++)
    groups[i]->sums.used = pai__sum(groups[i]->sums.used, used);
}

int pai__stats_resized(pai__stats *st, pai__counted *job)
{
  pai__run_info run = run_of(st, job);

  mark_nodes(st, &run);
  count_use(st, job);
  hold(st, job, held_by(st, job, &run));
  return PAI_OK;
}

static int bar_end(const pai__counted *job, enum pai__left how)
{
  if (how == PAI__LEFT_PREEMPTED)
    return PAI_STATE_WAITING;
  if (job->killed)
    return PAI_STATE_STOPPED;
  return how != PAI__LEFT_OVER || job->d.life.code != 0 ? PAI_STATE_FAILED
                                                        : PAI_STATE_SUCCEEDED;
}

pai__bar pai__stats_bar(const pai__counted *job, pai_time to, int end)
{
  return (pai__bar){ .job = job->d.id,
                     .from = job->d.since,
                     .to = to,
                     .vc = job->of.vc,
                     .end = end };
}

int pai__stats_stopped(pai__stats *st, pai__counted *job, enum pai__left how,
                       pai_time in_vain)
{
  pai__run_info run = run_of(st, job);
  int64_t lost = pai__times(in_vain, (int64_t)job->held);
  pai__gathered *groups[4];
  pai__bar bar = pai__stats_bar(job, st->series.at, bar_end(job, how));

  mark_nodes(st, &run);
  count_use(st, job);
  hold(st, job, 0);
  job->lost = pai__sum(job->lost, lost);
  st->now.running--;
  job->waits = how != PAI__LEFT_OVER;
  if (job->waits)
    wait(st, &job->of, true);
  pai__series_bin(&st->series)->preempted += how == PAI__LEFT_PREEMPTED;
  groups_of(st, &job->of, groups);
  for (int i = 0; i < 4; i++) {
    groups[i]->sums.lost = pai__sum(groups[i]->sums.lost, lost);
    groups[i]->sums.preemptions += how == PAI__LEFT_PREEMPTED;
    groups[i]->sums.retries += how == PAI__LEFT_AGAIN || how == PAI__LEFT_NODE;
  }
  return job->barred ? pai__bars_add(&st->bars, &st->alloc, &run, &bar)
                     : PAI_OK;
}

/* Returns the time since submission divided by the run time, which counts as
 * ten seconds at least; in thousandths. */
static int64_t slowdown_of(const pai__stats *st, const pai__counted *job)
{
  pai_time work = job->d.ran > 10 * SECOND ? job->d.ran : 10 * SECOND;
  int64_t s =
    pai__scale(st->series.at - job->d.submitted, 1000, (uint64_t)work);

  return s > EVEN ? s : EVEN;
}

int pai__stats_ended(pai__stats *st, pai__counted *job)
{
  pai__gathered *groups[4];
  int rc = PAI_OK;

  if (job->waits)
    wait(st, &job->of, false);
  st->last_end = st->series.at;
  pai__series_bin(&st->series)->ended++;
  pai__ledger_leave(&st->ledger, job->pair, st->series.at);
  groups_of(st, &job->of, groups);
  for (int i = 0; i < 4 && rc == PAI_OK; i++) {
    groups[i]->sums.killed += job->killed;
    groups[i]->sums.finished += !job->killed;
    groups[i]->sums.failed += !job->killed && job->d.life.code != 0;
    if (!job->killed)
      rc = pai__histogram_add(&groups[i]->slowdowns, &st->alloc,
                              slowdown_of(st, job));
  }
  return rc;
}
