/* story_blame.c - what a request lacks at a time, and who has it */
#include "sim/story.h"

#include "sched/queue.h"

#include <stdlib.h>

bool pai__cause_same(const pai__cause *a, const pai__cause *b)
{
  return a->lack == b->lack && a->of == b->of && a->text == b->text;
}

/* --- blockers ------------------------------------------------------------- */

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

/* A request that has so many devices, or just stands before it. */
static int blame(pai__blame *b, pai__story *story, const pai_sched *s,
                 uint64_t id, uint32_t devices)
{
  pai__blocker more = { .id = id, .name = PAI__NONE, .most = devices };
  uint32_t req = pai__req_find(s, id);
  const pai__req *r = req != PAI__NONE ? pai__req_at(s, req) : NULL;
  const char *name = r != NULL ? pai__name_of(s, r) : NULL;

  if (pai__texts_add(&story->texts, story->alloc, name, &more.name) < 0)
    return PAI_ENOMEM;
  return add(b, &more, story->alloc);
}

/* --- who has devices ------------------------------------------------------ */

/* What the request could use, and of whom it counts. */
typedef struct wish {
  const pai_sched *s;
  uint32_t type, pin; /* PAI__NONE: any */
  uint32_t tenant;    /* of whom; PAI__NONE: of all */
  bool cpus;
} wish;

static uint64_t mask_of(const wish *w, uint32_t node)
{
  uint64_t mask = pai__park_mask(w->s->park, node, w->type);

  return w->pin != PAI__NONE
           ? mask & pai__park_pinned(w->s->park, w->pin, node)
           : mask;
}

static uint32_t bits(uint64_t mask)
{
  uint32_t n = 0;

  for (; mask != 0; mask &= mask - 1)
    n++;
  return n;
}

static uint32_t held_by(const wish *w, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(w->s, run);
  const pai__req *r = pai__req_at(w->s, run->req);
  uint32_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++) {
    uint64_t mask = mask_of(w, slots[i].node);

    if (!w->cpus)
      n += bits(slots[i].gpus & mask);
    else if (mask != 0 || pai__build_of(w->s->park, slots[i].node)->gpus == 0)
      n += pai__wants_of(w->s, r)[slots[i].want].cpus;
  }
  return n;
}

static uint32_t all_of(const wish *w)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < w->s->park->nspots; i++)
    n += w->cpus ? pai__build_of(w->s->park, i)->cpus : bits(mask_of(w, i));
  return n;
}

/* With `names` each of them is blamed; else they are only counted. */
static int blame_holders(pai__blame *b, pai__story *story, const wish *w,
                         bool names)
{
  const pai_sched *s = w->s;

  b->cause.cpus = w->cpus;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    uint32_t n;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        pai__req_at(s, run->req)->id == story->id ||
        (w->tenant != PAI__NONE &&
         (pai__req_at(s, run->req)->tenant != w->tenant || run->borrowed)))
      continue;
    n = held_by(w, run);
    if (n != 0 && names &&
        blame(b, story, s, pai__req_at(s, run->req)->id, n) < 0)
      return PAI_ENOMEM;
    b->cause.held += n;
  }
  if (w->tenant == PAI__NONE)
    b->cause.all = all_of(w);
  return PAI_OK;
}

/* --- what it lacks -------------------------------------------------------- */

/* Lacks of what others have. */
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

static int find_holders(pai__blame *b, pai__story *story, const pai_sched *s,
                        const pai_reason *reason)
{
  const pai__req *r = pai__req_at(s, pai__req_find(s, story->id));
  const pai__want *want = &pai__wants_of(s, r)[reason->want];
  wish w = {
    .s = s, .type = want->type, .pin = PAI__NONE, .tenant = PAI__NONE
  };

  if (w.type == PAI__NO_TYPE)
    return PAI_OK;
  w.cpus = want->gpus == 0;
  if (r->pin != PAI__NONE)
    w.pin = pai__park_pin(s->park, pai__texts_text(&s->names, r->pin));
  if (reason->lack == PAI_LACK_QUOTA)
    w.tenant = r->tenant;
  return blame_holders(b, story, &w, reason->lack != PAI_LACK_TURN);
}

/* What the first of those lacks who wait for one another. */
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

int pai__blame_find(pai__blame *b, pai__story *story, const pai_sched *s)
{
  pai_reason r = { .struct_size = sizeof(r) };
  int rc = pai_sched_reason(s, story->id, &r);

  if (rc < 0)
    return PAI_ENOTFOUND;
  b->cause = (pai__cause){ .lack = (uint32_t)r.lack,
                           .of = (uint32_t)r.of,
                           .wanted = r.wanted,
                           .found = r.found,
                           .placed = r.placed,
                           .tasks = r.tasks };
  if (pai__texts_add(&story->texts, story->alloc, r.text, &b->cause.text) < 0)
    return PAI_ENOMEM;
  if (r.lack == PAI_LACK_TURN)
    b->cause.front = front_of(s, r.behind);
  if (r.behind != 0)
    rc = blame(b, story, s, r.behind, 0);
  if (rc == PAI_OK && is_of_devices(&r))
    rc = find_holders(b, story, s, &r);
  return rc;
}

/* --- sums ----------------------------------------------------------------- */

void pai__blame_weigh(pai__blame *b, pai_time time)
{
  b->cause.time = time;
  for (uint32_t i = 0; i < b->blockers.len; i++) {
    pai__blocker *k = &list_of(b)[i];
    int64_t n = k->most != 0 ? (int64_t)k->most : 1;

    k->weight = time <= INT64_MAX / 4 / n ? time * n : INT64_MAX / 4;
  }
}

int pai__blame_add(pai__blame *b, const pai__blame *more,
                   const pai_alloc *alloc)
{
  int rc = PAI_OK;

  b->cause.time += more->cause.time;
  if (more->cause.held > b->cause.held)
    b->cause.held = more->cause.held;
  if (more->cause.all > b->cause.all)
    b->cause.all = more->cause.all;
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

  cause->time = pai__later(cause->time, more->time);
  if (more->held > cause->held)
    cause->held = more->held;
  if (more->all > cause->all)
    cause->all = more->all;
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
