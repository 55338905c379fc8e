/* pages.c - what the pages of a report have in common */
#include "sim/pages.h"

#include <stdlib.h>

/* --- figures ------------------------------------------------------------------ */

#define FIGURE(key, field, kind, better, label, hint)       \
  {                                                         \
    key, label, hint, offsetof(pai_sim_view, field),        \
      sizeof(((pai_sim_view *)NULL)->field), (kind), better \
  }

static const pai__figure figures[] = {
  FIGURE("makespan_s", makespan, PAI__TIME, -1, "makespan",
         "from the first submission to the last end"),
  FIGURE("utilization", utilization, PAI__PERCENT, 1, "utilization",
         "GPU time in use, or CPU time where there are no GPUs"),
  FIGURE("wait_mean_s", wait_mean, PAI__TIME, -1, "wait, mean",
         "from submission to the first start"),
  FIGURE("wait_p50_s", wait_p50, PAI__TIME, -1, "wait, P50",
         "half of the jobs waited no longer"),
  FIGURE("wait_p90_s", wait_p90, PAI__TIME, -1, "wait, P90",
         "90 of 100 jobs waited no longer"),
  FIGURE("wait_p99_s", wait_p99, PAI__TIME, -1, "wait, P99",
         "99 of 100 jobs waited no longer"),
  FIGURE("wait_max_s", wait_max, PAI__TIME, -1, "wait, longest",
         "of all jobs that started"),
  FIGURE("slowdown_mean", slowdown_mean, PAI__TIMES, -1, "slowdown, mean",
         "time in the system by time at work, at least 10 s"),
  FIGURE("slowdown_p50", slowdown_p50, PAI__TIMES, -1, "slowdown, P50",
         "half of the jobs were slowed down no more"),
  FIGURE("slowdown_p90", slowdown_p90, PAI__TIMES, -1, "slowdown, P90",
         "90 of 100 jobs were slowed down no more"),
  FIGURE("fairness", fairness, PAI__INDEX, 1, "fairness",
         "Jain's index over users; 1: all got alike"),
  FIGURE("fragmentation", fragmentation, PAI__PERCENT, -1, "fragmentation",
         "free GPUs that no task of eight, or of a whole node, can have"),
  FIGURE("preemptions", preemptions, PAI__COUNT, -1, "preemptions",
         "how often a job was stopped for another one"),
  FIGURE("retries", retries, PAI__COUNT, 0, "retries",
         "how often a job that had failed was tried again"),
  FIGURE("lost_gpu_s", lost, PAI__WORK, -1, "lost work",
         "work that was done in vain"),
  FIGURE("jobs", jobs, PAI__COUNT, 0, "jobs", "that came"),
  FIGURE("started", started, PAI__COUNT, 1, "started",
         "jobs that started at least once"),
  FIGURE("finished", finished, PAI__COUNT, 1, "finished",
         "jobs that ended by themselves, well or badly"),
  FIGURE("failed", failed, PAI__COUNT, 0, "failed",
         "jobs that ended badly by themselves"),
  FIGURE("killed", killed, PAI__COUNT, 0, "killed",
         "jobs that their owner ended, or their limit"),
  FIGURE("rejected", rejected, PAI__COUNT, -1, "rejected",
         "jobs that could never start"),
  FIGURE("left", left, PAI__COUNT, -1, "not ended", "jobs that were left"),
};

const pai__figure *pai__figure_at(size_t i)
{
  return i < PAI__LEN(figures) ? &figures[i] : NULL;
}

const pai__figure *pai__figure_of(const char *key)
{
  size_t i = 0;

  while (strcmp(figures[i].key, key) != 0)
    i++;
  return &figures[i];
}

int64_t pai__figure_value(const pai__figure *f, const pai_sim_report *r)
{
  const char *p = (const char *)&r->view + f->at;
  uint32_t small;
  uint64_t large;

  if (f->size == sizeof(small)) {
    memcpy(&small, p, sizeof(small));
    return small;
  }
  memcpy(&large, p, sizeof(large));
  return large < INT64_MAX ? (int64_t)large : INT64_MAX;
}

const char *pai__show_figure(char out[PAI__CELL], const pai__figure *f,
                             int64_t value)
{
  switch (f->kind) {
  case PAI__TIME: return pai__show_time(out, value);
  case PAI__PERCENT: return pai__show_percent(out, value);
  case PAI__INDEX: return pai__show_index(out, value);
  case PAI__TIMES: return pai__show_times(out, value);
  case PAI__WORK: return pai__show_hours(out, value);
  default: return pai__show_count(out, value);
  }
}

void pai__put_label(pai__buf *out, const pai_sim_report *const *reports,
                    size_t i)
{
  size_t same = 1;

  for (size_t k = 0; k < i; k++)
    same += strcmp(reports[k]->view.policy, reports[i]->view.policy) == 0;
  pai__buf_str(out, reports[i]->view.policy);
  if (same > 1)
    pai__buf_printf(out, " #%zu", same);
}

bool pai__is_best(const pai__figure *f, const pai_sim_report *const *reports,
                  size_t n, size_t i)
{
  int64_t mine = pai__figure_value(f, reports[i]);
  bool differ = false;

  for (size_t k = 0; k < n; k++) {
    int64_t other = pai__figure_value(f, reports[k]);

    if (f->better < 0 ? other < mine : other > mine)
      return false;
    differ = differ || other != mine;
  }
  return f->better != 0 && differ;
}

/* --- time ---------------------------------------------------------------------- */

int64_t pai__capacity(const pai_sim_report *r)
{
  uint64_t all = r->gpus > 0 ? r->gpus : r->cpus;

  return all < INT64_MAX ? (int64_t)all : INT64_MAX;
}

const char *pai__unit(const pai_sim_report *r)
{
  return r->gpus > 0 || r->cpus == 0 ? "GPU" : "CPU";
}

pai_time pai__bin_length(const pai_sim_report *r, size_t i)
{
  pai_time rest = r->span - (pai_time)i * r->bin;

  return rest < 0 ? 0 : rest < r->bin ? rest : r->bin;
}

pai_time pai__longest(const pai_sim_report *const *reports, size_t n)
{
  pai_time longest = 0;

  for (size_t i = 0; i < n; i++)
    if (reports[i]->span > longest)
      longest = reports[i]->span;
  return longest;
}

static int64_t amount(const pai_sim_report *r, int what, size_t i)
{
  const pai__bin *b = &r->bins[i];

  switch (what) {
  case PAI__BUSY: return b->busy;
  case PAI__FRAGMENTED: return b->fragmented;
  case PAI__WANTED: return b->wanted;
  case PAI__WAITING: return b->waiting;
  case PAI__RUNNING: return b->running;
  case PAI__UP: return b->up;
  default: {
    int64_t all = pai__capacity(r);

    all =
      all < INT64_MAX / (r->bin + 1) ? all * pai__bin_length(r, i) : INT64_MAX;
    return all > b->up ? all - b->up : 0;
  }
  }
}

int64_t pai__level(const pai_sim_report *r, int what, pai_time from,
                   pai_time to)
{
  pai_time known = 0;
  int64_t sum = 0, more;

  for (size_t i = r->bin > 0 ? (size_t)(from / r->bin) : r->nbins;
       i < r->nbins && (pai_time)i * r->bin < to; i++) {
    pai_time length = pai__bin_length(r, i), begin = (pai_time)i * r->bin;
    pai_time end = begin + length < to ? begin + length : to, part;

    part = end - (begin > from ? begin : from);
    if (part <= 0)
      continue;
    more = pai__portion(amount(r, what, i), part, length);
    sum = more < INT64_MAX - sum ? sum + more : INT64_MAX;
    known += part;
  }
  return known > 0 ? pai__portion(sum, 1000, known) : -1;
}

/* --- distributions -------------------------------------------------------------- */

static const struct {
  pai_time end;
  const char *name;
} classes[PAI__CLASSES] = {
  { PAI__SECOND, "< 1 s" },         { PAI__MINUTE, "< 1 min" },
  { 10 * PAI__MINUTE, "< 10 min" }, { PAI__HOUR, "< 1 h" },
  { 6 * PAI__HOUR, "< 6 h" },       { PAI__DAY, "< 1 d" },
  { 7 * PAI__DAY, "< 1 week" },     { 28 * PAI__DAY, "< 4 weeks" },
  { INT64_MAX, "longer" },
};

const char *pai__class_name(size_t i)
{
  return classes[i].name;
}

/* How many of a thousand are below a value. */
static int below(const pai__spread *s, int64_t value)
{
  int n = 0;

  if (value == INT64_MAX)
    return 1000;
  while (n <= 1000 && s->at[n] < value)
    n++;
  return n > 0 ? n - 1 : 0;
}

int pai__class_share(const pai__spread *s, size_t i)
{
  if (s->count == 0)
    return 0;
  return below(s, classes[i].end) - (i > 0 ? below(s, classes[i - 1].end) : 0);
}

/* --- groups ---------------------------------------------------------------------- */

const pai__groups *pai__groups_of(const pai_sim_report *r, int kind)
{
  return kind == PAI__VCS     ? &r->vcs
         : kind == PAI__SIZES ? &r->sizes
                              : &r->users;
}

const pai__group *pai__group_named(const pai__groups *g, const char *name)
{
  for (size_t i = 0; i < g->count; i++)
    if (strcmp(g->list[i].name, name) == 0)
      return &g->list[i];
  return NULL;
}

static bool is_known(const pai_sim_report *const *reports, size_t n, int kind,
                     const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (pai__group_named(pai__groups_of(reports[i], kind), name) != NULL)
      return true;
  return false;
}

int pai__names_collect(pai__names *names, const pai_alloc *alloc,
                       const pai_sim_report *const *reports, size_t n,
                       int kind)
{
  *names = (pai__names){ 0 };
  for (size_t k = 0; k < n; k++) {
    const pai__groups *g = pai__groups_of(reports[k], kind);

    for (size_t i = 0; i < g->count; i++) {
      if (is_known(reports, k, kind, g->list[i].name))
        continue;
      if (PAI__VEC_ROOM(alloc, names->list, names->count, names->cap) < 0)
        return PAI_ENOMEM;
      names->list[names->count++] = g->list[i].name;
    }
  }
  return PAI_OK;
}

typedef struct used {
  const char *name;
  int64_t used;
} used;

static int by_use(const void *a, const void *b)
{
  const used *x = a, *y = b;

  if (x->used != y->used)
    return x->used < y->used ? 1 : -1;
  return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const used *)a)->name, ((const used *)b)->name);
}

/* All groups of all reports, those of one name made one; a mean of what was
 * used is enough, and does not overflow. */
static size_t merge(used *list, const pai_sim_report *const *reports, size_t n,
                    int kind)
{
  size_t count = 0, merged = 0;

  for (size_t k = 0; k < n; k++) {
    const pai__groups *g = pai__groups_of(reports[k], kind);

    for (size_t i = 0; i < g->count; i++)
      list[count++] = (used){ g->list[i].name, g->list[i].used / (int64_t)n };
  }
  qsort(list, count, sizeof(*list), by_name);
  for (size_t i = 0; i < count; i++) {
    if (merged > 0 && strcmp(list[merged - 1].name, list[i].name) == 0)
      list[merged - 1].used += list[i].used;
    else
      list[merged++] = list[i];
  }
  qsort(list, merged, sizeof(*list), by_use);
  return merged;
}

int pai__names_by_use(pai__names *names, const pai_alloc *alloc,
                      const pai_sim_report *const *reports, size_t n, int kind)
{
  size_t all = 0;
  used *list;

  *names = (pai__names){ 0 };
  for (size_t k = 0; k < n; k++)
    all += pai__groups_of(reports[k], kind)->count;
  if (all == 0)
    return PAI_OK;
  list = pai__realloc(alloc, NULL, 0, all, sizeof(*list));
  names->list = pai__realloc(alloc, NULL, 0, all, sizeof(*names->list));
  names->cap = names->list != NULL ? all : 0;
  if (list != NULL && names->list != NULL) {
    names->count = merge(list, reports, n, kind);
    for (size_t i = 0; i < names->count; i++)
      names->list[i] = list[i].name;
  }
  pai__free(alloc, list, all * sizeof(*list));
  return names->count > 0 ? PAI_OK : PAI_ENOMEM;
}

void pai__names_dispose(pai__names *names, const pai_alloc *alloc)
{
  pai__free(alloc, names->list, names->cap * sizeof(*names->list));
  *names = (pai__names){ 0 };
}

/* --- the end ---------------------------------------------------------------------- */

int pai__page_write(pai__buf *page, int rc, pai_write_cb write,
                    void *user_data, pai_error **err)
{
  if (rc == PAI_OK && !pai__buf_ok(page))
    rc = PAI_ENOMEM;
  rc = rc == PAI_OK ? write(user_data, pai__buf_text(page), page->len)
                    : pai__oom(err);
  pai__buf_dispose(page);
  return rc;
}
