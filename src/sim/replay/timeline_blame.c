/* timeline_blame.c - finds what a request lacks at a time, and its blockers */
#include "sim/replay/timeline.h"

#include "resource/bits.h"

#include <stdlib.h>

bool pai__cause_same(const pai__cause *a, const pai__cause *b)
{
  return a->lack == b->lack && a->of == b->of && a->text == b->text;
}

/* --- blockers ------------------------------------------------------------ */

static pai__blocker *list_of(const pai__blame *b)
{
  return b->blockers.data;
}

void pai__blame_init(pai__blame *b)
{
  *b = (pai__blame){ .cause = { .text = PAI__NONE } };
  pai__flat_init(&b->blockers, sizeof(pai__blocker));
  pai__lookup_init(&b->by_id);
}

static int add(pai__blame *b, const pai__blocker *more, const pai_alloc *alloc)
{
  uint32_t i = pai__lookup_get(&b->by_id, more->id);

  if (i != PAI__NONE) {
    list_of(b)[i].weight += more->weight;
    if (more->most > list_of(b)[i].most)
      list_of(b)[i].most = more->most;
    return PAI_OK;
  }
  if (pai__flat_reserve(&b->blockers, alloc, 1) < 0 ||
      pai__lookup_reserve(&b->by_id, alloc) < 0)
    return PAI_ENOMEM;
  i = pai__flat_push(&b->blockers, 1);
  list_of(b)[i] = *more;
  pai__lookup_add(&b->by_id, more->id, i);
  return PAI_OK;
}

/* Adds a blocker that holds `devices` devices; 0: it is only before the
 * request. */
static int blame(pai__blame *b, pai__timeline *timeline, const pai_sched *s,
                 uint64_t id, uint32_t devices)
{
  pai__blocker more = { .id = id, .name = PAI__NONE, .most = devices };
  pai__request_info r;
  const char *name = pai__inspect_request(s, id, &r) ? r.name : NULL;

  if (pai__texts_add(&timeline->texts, timeline->alloc, name, &more.name) < 0)
    return PAI_ENOMEM;
  return add(b, &more, timeline->alloc);
}

/* --- holders of devices -------------------------------------------------- */

/* Devices that the request could use, and the runs that count as holders. */
typedef struct shortage {
  const pai_sched *s;
  const pai__sched_cluster *cluster;
  uint32_t type, pin; /* PAI__NONE: any */
  uint32_t vc_index;  /* only runs of this one; PAI__NONE: all */
  bool cpus;
} shortage;

static uint64_t mask_of(const shortage *w, uint32_t node)
{
  uint64_t mask = pai__sched_cluster_mask(w->cluster, node, w->type);

  return w->pin != PAI__NONE
           ? mask & pai__sched_cluster_pinned(w->cluster, w->pin, node)
           : mask;
}

static uint32_t held_by(const shortage *w, const pai__run_info *run)
{
  const pai__slot *slots = run->slots;
  uint64_t millis = 0;
  uint32_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++) {
    uint64_t mask = mask_of(w, slots[i].node);

    if (!w->cpus)
      n += pai__bits_ones(slots[i].gpus & mask);
    else if (mask != 0 ||
             pai__sched_sku_of(w->cluster, slots[i].node)->gpus == 0)
      millis += run->wants[slots[i].want].cpu_millis;
  }
  return w->cpus ? (uint32_t)pai__milli_up(millis) : n;
}

static uint32_t all_of(const shortage *w)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < w->cluster->nnodes; i++)
    n += w->cpus ? pai__sched_sku_of(w->cluster, i)->cpus
                 : pai__bits_ones(mask_of(w, i));
  return n;
}

/* Sums up the devices that other runs hold; with `names`, also adds each
 * holder as a blocker. */
static int blame_holders(pai__blame *b, pai__timeline *timeline,
                         const shortage *w, bool names)
{
  pai__run_info run;

  b->cause.cpus = w->cpus;
  for (uint32_t i = 0; pai__inspect_next_run(w->s, &i, &run);) {
    uint32_t n;

    if (run.id == timeline->id ||
        (w->vc_index != PAI__NONE &&
         (run.vc_index != w->vc_index || run.borrowed)))
      continue;
    n = held_by(w, &run);
    if (n != 0 && names && blame(b, timeline, w->s, run.id, n) < 0)
      return PAI_ENOMEM;
    b->cause.held += n;
  }
  if (w->vc_index == PAI__NONE)
    b->cause.all = all_of(w);
  return PAI_OK;
}

/* --- lacks --------------------------------------------------------------- */

/* Returns whether others hold what is lacking. */
static bool is_of_devices(const pai_reason *r)
{
  switch (r->lack) {
  case PAI_LACK_GPU:
  case PAI_LACK_CPU:
  case PAI_LACK_MEMORY:
  case PAI_LACK_PORT:
  case PAI_LACK_TOPOLOGY:
  case PAI_LACK_GANG:
  case PAI_LACK_PREEMPTION:
  case PAI_LACK_VICTIMS:
  case PAI_LACK_LATER:
  case PAI_LACK_TURN:
  case PAI_LACK_QUOTA: return true;
  default: return false;
  }
}

static int find_holders(pai__blame *b, pai__timeline *timeline,
                        const pai_sched *s, const pai_reason *reason)
{
  shortage w = { .s = s, .cluster = pai__sched_cluster_of(s) };
  pai__request_info r;

  if (!pai__inspect_request(s, timeline->id, &r) ||
      r.wants[reason->want].type == PAI__NO_TYPE)
    return PAI_OK;
  w.type = r.wants[reason->want].type;
  w.pin = r.pin;
  w.vc_index = reason->lack == PAI_LACK_QUOTA ? r.vc_index : PAI__NONE;
  w.cpus = r.wants[reason->want].gpus == 0;
  return blame_holders(b, timeline, &w, reason->lack != PAI_LACK_TURN);
}

/* Returns the lack of the first request in the chain of requests that wait for
 * each other. */
static uint32_t front_of(const pai_sched *s, uint64_t behind)
{
  pai_reason r = { .struct_size = sizeof(r) };
  uint32_t lack = PAI_LACK_NOTHING;

  for (int i = 0; i < 1000 && behind != 0; i++) {
    if (pai_sched_reason(s, behind, &r) < 0)
      break;
    lack = (uint32_t)r.lack;
    behind = r.lack == PAI_LACK_TURN ? r.behind : 0;
  }
  return lack;
}

int pai__blame_find(pai__blame *b, pai__timeline *timeline, const pai_sched *s)
{
  pai_reason r = { .struct_size = sizeof(r) };
  int rc = pai_sched_reason(s, timeline->id, &r);

  if (rc < 0)
    return PAI_ENOTFOUND;
  b->cause = (pai__cause){ .lack = (uint32_t)r.lack,
                           .of = (uint32_t)r.of,
                           .wanted = pai__reason_wanted(&r),
                           .found = pai__reason_found(&r),
                           .placed = r.placed,
                           .tasks = r.tasks };
  if (pai__texts_add(&timeline->texts, timeline->alloc, r.text,
                     &b->cause.text) < 0)
    return PAI_ENOMEM;
  if (r.lack == PAI_LACK_TURN)
    b->cause.front = front_of(s, r.behind);
  if (r.behind != 0)
    rc = blame(b, timeline, s, r.behind, 0);
  if (rc == PAI_OK && is_of_devices(&r))
    rc = find_holders(b, timeline, s, &r);
  return rc;
}

/* --- sums ---------------------------------------------------------------- */

void pai__blame_weigh(pai__blame *b, pai_time time)
{
  b->cause.time = time;
  for (uint32_t i = 0; i < b->blockers.len; i++) {
    pai__blocker *k = &list_of(b)[i];
    int64_t n = k->most != 0 ? (int64_t)k->most : 1;

    k->weight = time <= INT64_MAX / 4 / n ? time * n : INT64_MAX / 4;
  }
}

void pai__cause_go_on(pai__cause *cause, const pai__cause *more)
{
  cause->time = pai__later(cause->time, more->time);
  if (more->held > cause->held)
    cause->held = more->held;
  if (more->all > cause->all)
    cause->all = more->all;
}

int pai__blame_add(pai__blame *b, const pai__blame *more,
                   const pai_alloc *alloc)
{
  int rc = PAI_OK;

  pai__cause_go_on(&b->cause, &more->cause);
  for (uint32_t i = 0; i < more->blockers.len && rc == PAI_OK; i++)
    rc = add(b, &list_of(more)[i], alloc);
  return rc;
}

static int by_weight(const void *a, const void *b)
{
  const pai__blocker *x = a, *y = b;

  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static void join_blocker(pai__cause *c, uint32_t *n, const pai__blocker *more)
{
  uint32_t i = 0;

  while (i < *n && c->blockers[i].id != more->id)
    i++;
  if (i < *n) {
    c->blockers[i].weight = pai__later(c->blockers[i].weight, more->weight);
    if (more->most > c->blockers[i].most)
      c->blockers[i].most = more->most;
  } else if (*n < PAI__BLOCKERS) {
    c->blockers[(*n)++] = *more;
  } else {
    c->others = true;
    if (by_weight(more, &c->blockers[*n - 1]) < 0)
      c->blockers[*n - 1] = *more;
  }
  qsort(c->blockers, *n, sizeof(c->blockers[0]), by_weight);
}

void pai__cause_join(pai__cause *cause, const pai__cause *more)
{
  uint32_t n =
    cause->nblockers < PAI__BLOCKERS ? cause->nblockers : PAI__BLOCKERS;

  pai__cause_go_on(cause, more);
  cause->others = cause->others || more->others || cause->nblockers > n ||
                  more->nblockers > PAI__BLOCKERS;
  for (uint32_t i = 0; i < more->nblockers && i < PAI__BLOCKERS; i++)
    join_blocker(cause, &n, &more->blockers[i]);
  cause->nblockers = n;
}

void pai__blame_rank(pai__blame *b)
{
  uint32_t n = b->blockers.len;

  if (n != 0)
    qsort(b->blockers.data, n, sizeof(pai__blocker), by_weight);
  b->cause.nblockers = n;
  if (n > PAI__BLOCKERS)
    n = PAI__BLOCKERS;
  for (uint32_t i = 0; i < n; i++)
    b->cause.blockers[i] = list_of(b)[i];
}

void pai__blame_dispose(pai__blame *b, const pai_alloc *alloc)
{
  pai__flat_dispose(&b->blockers, alloc);
  pai__flat_dispose(&b->by_id.slots, alloc);
}
