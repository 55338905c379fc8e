/* waiters.c - index of waiting requests, by class and in order */

#include "sched/policy/waiters.h"
#include "sched/policy/guarantee.h"
#include "sched/policy/plan.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"

#include <stdlib.h>

void pai__waiters_init(pai__waiters *w, enum pai__alike alike)
{
  *w = (pai__waiters){ .alike = alike };
  pai__flat_init(&w->heads, sizeof(uint32_t));
  pai__flat_init(&w->list, sizeof(pai__waiter));
  pai__flat_init(&w->lines, sizeof(pai__waiter_line));
  pai__lookup_init(&w->line_at);
}

void pai__waiters_dispose(pai__waiters *w, const pai_alloc *alloc)
{
  pai__flat_dispose(&w->heads, alloc);
  pai__flat_dispose(&w->list, alloc);
  pai__flat_dispose(&w->lines, alloc);
  pai__flat_dispose(&w->line_at.slots, alloc);
}

/* True for a request that has to be tried by itself: whether it may begin has
 * to be checked, or its reason remains after it has begun. */
static bool is_odd(const pai_sched *s, const pai__req *r)
{
  return r->held || r->nafter != 0 || r->at_once != 0 || r->instances != 1 ||
         pai__sched_vc_at(s, r->vc_index)->stopped;
}

static int add(pai__waiters *w, const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint64_t key = pai__alike_key(w->alike, r);
  uint32_t known = w->lines.len, line;
  pai_time length = pai__req_length(r);

  if (pai__flat_reserve(&w->list, &s->alloc, 1) < 0)
    return PAI_ENOMEM;
  line = pai__lookup_push(&w->line_at, &w->lines, &s->alloc, key);
  if (line == PAI__NONE)
    return PAI_ENOMEM;
  if (line == known)
    ((pai__waiter_line *)w->lines.data)[line] =
      (pai__waiter_line){ .first = PAI__NONE, .last = PAI__NONE };
  w->odd += is_odd(s, r);
  w->elastic += pai__req_is_elastic(s, r);
  ((pai__waiter *)w->list.data)[pai__flat_push(&w->list, 1)] =
    (pai__waiter){ .turn = r->turn,
                   .length = length != 0 ? length : PAI__NEVER,
                   .priority = r->priority,
                   .req = req,
                   .line = line,
                   .next = PAI__NONE };
  return PAI_OK;
}

static void queue_up(pai__waiters *w, uint32_t i)
{
  pai__waiter_line *x = pai__waiter_line_of(w, pai__waiter_at(w, i));

  if (x->first == PAI__NONE)
    x->first = i;
  else
    ((pai__waiter *)w->list.data)[x->last].next = i;
  x->last = i;
}

static int by_order(const void *a, const void *b)
{
  const pai__waiter *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static int read_queue(pai__waiters *w, const pai_sched *s)
{
  w->list.len = w->lines.len = 0;
  w->first = w->odd = w->elastic = 0;
  pai__lookup_clear(&w->line_at);
  if (pai__flat_reserve(&w->list, &s->alloc, s->m.nqueued) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = s->m.first; i != PAI__NONE; i = pai__req_at(s, i)->behind)
    if (add(w, s, i) < 0)
      return PAI_ENOMEM;
  for (uint32_t i = 1; i < w->list.len; i++)
    if (by_order(pai__waiter_at(w, i - 1), pai__waiter_at(w, i)) > 0) {
      qsort(w->list.data, w->list.len, w->list.size, by_order);
      break;
    }
  for (uint32_t i = 0; i < w->list.len; i++)
    queue_up(w, i);
  w->known = true;
  w->linked = s->linked;
  return PAI_OK;
}

static bool is_long(const pai__waiters *w, const pai_sched *s)
{
  enum { SPARE = 64 };

  return w->list.len / 2 > s->m.nqueued + SPARE;
}

void pai__waiters_event(pai__waiters *w, const pai_sched *s,
                        const pai_sched_event *event)
{
  uint32_t req;

  switch (event->kind) {
  case PAI_SCHED_STARTED:
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_CANCEL:
  case PAI_SCHED_TIME: return;
  case PAI_SCHED_SUBMIT: break;
  default: w->known = false;
  }
  /* An index that is not used does not grow for ever. */
  w->known = w->known && !is_long(w, s);
  if (!w->known)
    return;
  w->linked++;
  req = pai__req_find(s, event->request->id);
  w->known = req != PAI__NONE && add(w, s, req) == PAI_OK;
  if (w->known)
    queue_up(w, w->list.len - 1);
  if (w->known && w->list.len > 1 &&
      by_order(pai__waiter_at(w, w->list.len - 2),
               pai__waiter_at(w, w->list.len - 1)) > 0)
    w->known = false;
}

int pai__waiters_ready(pai__waiters *w, const pai_sched *s)
{
  if ((!w->known || w->linked != s->linked || is_long(w, s)) &&
      read_queue(w, s) < 0)
    return PAI_ENOMEM;
  while (w->first < w->list.len &&
         !pai__waiter_is_there(s, pai__waiter_at(w, w->first)))
    w->first++;
  return w->odd == 0;
}

/* --- lines ---------------------------------------------------------------- */

static uint32_t *heads_of(const pai__waiters *w)
{
  return w->heads.data;
}

/* Moves head i of the heap down to its place. */
static void sink(const pai__waiters *w, uint32_t i)
{
  uint32_t *heads = heads_of(w), head = heads[i];

  for (uint32_t k = 2 * i + 1; k < w->heads.len; i = k, k = 2 * i + 1) {
    k += k + 1 < w->heads.len && heads[k + 1] < heads[k];
    if (heads[k] > head)
      break;
    heads[i] = heads[k];
  }
  heads[i] = head;
}

uint32_t pai__waiters_first(const pai__waiters *w, const pai_sched *s,
                            uint32_t i)
{
  while (i != PAI__NONE && !pai__waiter_is_there(s, pai__waiter_at(w, i)))
    i = pai__waiter_at(w, i)->next;
  return i;
}

int pai__waiters_line_up(pai__waiters *w, const pai_sched *s)
{
  pai__waiter_line *lines = w->lines.data;

  w->heads.len = 0;
  if (pai__flat_reserve(&w->heads, &s->alloc, w->lines.len) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < w->lines.len; i++) {
    lines[i].first = pai__waiters_first(w, s, lines[i].first);
    if (lines[i].first != PAI__NONE)
      heads_of(w)[pai__flat_push(&w->heads, 1)] = lines[i].first;
  }
  for (uint32_t i = w->heads.len / 2; i-- > 0;)
    sink(w, i);
  return PAI_OK;
}

/* Removes the line at the top of the heap. */
static void send_away(pai__waiters *w)
{
  w->heads.len--;
  if (w->heads.len != 0) {
    heads_of(w)[0] = heads_of(w)[w->heads.len];
    sink(w, 0);
  }
}

/* Replaces the top of the heap with the next waiter of its line. */
static void pass(pai__waiters *w, const pai_sched *s)
{
  uint32_t next =
    pai__waiters_first(w, s, pai__waiter_at(w, pai__waiters_head(w))->next);

  if (next == PAI__NONE) {
    send_away(w);
    return;
  }
  heads_of(w)[0] = next;
  sink(w, 0);
}

int pai__waiters_walk(pai__waiters *w, pai_sched *s, bool alike,
                      int (*visit)(void *ctx, pai_sched *s, uint32_t req),
                      void *ctx)
{
  int rc = PAI_OK;
  uint32_t head;

  if (alike) {
    pai__alike_begin(s, w->alike);
    s->effort -= s->m.nqueued;
  }
  while (rc >= 0 && (head = pai__waiters_head(w)) != PAI__NONE) {
    uint32_t req = pai__waiter_at(w, head)->req;

    if (!alike && !pai__is_looked_at(s, req)) {
      pass(w, s);
      continue;
    }
    s->effort += alike;
    rc = visit(ctx, s, req);
    if (rc == 0 && alike) {
      rc = pai__alike_refuse_as_told(s, req);
      send_away(w);
    } else {
      pass(w, s);
    }
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- starting, and the queue as a list ------------------------------------ */

int pai__start_all(pai_sched *s, uint32_t req, const pai__how *how)
{
  int rc = 1;

  while (rc == 1 && pai__may_begin(s, req))
    rc = how->over ? pai__try_over(s, req, how->strategy, how->beyond_share)
                   : pai__try(s, req, how->strategy, how->beyond_share);
  return rc;
}

/* --- the queue ------------------------------------------------------------ */

int pai__list_waiting(const pai_sched *s, pai__flat *list)
{
  uint32_t req;

  if (pai__flat_reserve(list, &s->alloc, s->m.nqueued) < 0)
    return PAI_ENOMEM;
  for (req = pai__next_waiting(s, PAI__NONE); req != PAI__NONE;
       req = pai__next_waiting(s, req)) {
    const pai__req *r = pai__req_at(s, req);

    *pai__entry_at(list, pai__flat_push(list, 1)) =
      (pai__entry){ .turn = r->turn, .priority = r->priority, .req = req };
  }
  return PAI_OK;
}

static int by_group(const void *a, const void *b)
{
  const pai__entry *x = a, *y = b;

  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void pai__sort_waiting(pai__flat *list)
{
  if (list->len != 0)
    qsort(list->data, list->len, list->size, by_group);
}

uint64_t pai__gpus_wanted(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  uint64_t gpus = 0;

  for (uint32_t i = 0; i < r->nwants; i++)
    gpus += (uint64_t)w[i].tasks * w[i].gpus;
  return gpus;
}

/* --- growing -------------------------------------------------------------- */

typedef struct grower {
  uint64_t order;
  uint32_t run;
} grower;

static int by_placing(const void *a, const void *b)
{
  const grower *x = a, *y = b;

  return x->order < y->order ? -1 : x->order > y->order;
}

static bool may_grow(const pai_sched *s, const pai__run *run)
{
  return run->req != PAI__NONE && run->leaving == 0 &&
         (run->state == PAI__RUN_PLACED || run->state == PAI__RUN_STARTED) &&
         run->tasks < pai__req_tasks(s, pai__req_at(s, run->req));
}

/* Grows each want to the most tasks that there is room for. */
static int grow(pai_sched *s, uint32_t run)
{
  uint32_t nwants = pai__req_at(s, pai__run_at(s, run)->req)->nwants;

  for (uint32_t want = 0; want < nwants; want++) {
    uint32_t first;
    uint32_t have = pai__run_tasks(s, pai__run_at(s, run), want, &first);
    uint32_t high =
      pai__wants_of(s, pai__req_at(s, pai__run_at(s, run)->req))[want].tasks;

    for (int rc = 0; high > have && rc == 0; high = have + (high - have) / 2) {
      rc = pai__resize(s, run, want, high);
      if (rc < 0)
        return rc;
    }
  }
  return PAI_OK;
}

/* A gang that grows may exceed what is guaranteed, and a request that preempts
 * will need what the gang takes. */
static bool may_all_grow(const pai_sched *s)
{
  if (s->keeping || pai__next_waiting(s, PAI__NONE) != PAI__NONE)
    return false;
  for (uint32_t i = 0; pai__guarantee_counts(s) && i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        (run->state == PAI__RUN_CLAIMED || (run->state == PAI__RUN_STOPPING &&
                                            run->cause == PAI_STOP_PREEMPTED)))
      return false;
  }
  return true;
}

int pai__grow_all(pai_sched *s)
{
  pai__flat list;
  int rc = PAI_OK;

  if (!may_all_grow(s))
    return PAI_OK;
  pai__flat_init(&list, sizeof(grower));
  for (uint32_t i = 0; i < s->runs.len && rc == PAI_OK; i++)
    if (may_grow(s, pai__run_at(s, i))) {
      grower g = { pai__run_at(s, i)->order, i };

      rc = pai__flat_add(&list, &s->alloc, &g);
    }
  if (list.len != 0)
    qsort(list.data, list.len, sizeof(grower), by_placing);
  for (uint32_t i = 0; i < list.len && rc == PAI_OK; i++)
    rc = grow(s, ((grower *)list.data)[i].run);
  pai__flat_dispose(&list, &s->alloc);
  return rc;
}
