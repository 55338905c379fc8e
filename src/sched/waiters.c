/* waiters.c - those who wait, in their order, in little memory */
#include "sched/waiters.h"

#include "sched/plan.h"
#include "sched/policy.h"
#include "sched/queue.h"

#include <stdlib.h>

void pai__waiters_init(pai__waiters *w, enum pai__alike alike)
{
  *w = (pai__waiters){ .alike = alike };
  pai__flat_init(&w->heads, sizeof(uint32_t));
  pai__flat_init(&w->list, sizeof(pai__waiter));
  pai__flat_init(&w->shapes, sizeof(pai__shape));
  pai__lookup_init(&w->shape_at);
}

void pai__waiters_dispose(pai__waiters *w, const pai_alloc *alloc)
{
  pai__flat_dispose(&w->heads, alloc);
  pai__flat_dispose(&w->list, alloc);
  pai__flat_dispose(&w->shapes, alloc);
  pai__flat_dispose(&w->shape_at.slots, alloc);
}

/* Of others it has to be asked whether they may begin, or what was said of them
 * stays when they have begun. */
static bool is_odd(const pai_sched *s, const pai__req *r)
{
  return r->held || r->nafter != 0 || r->at_once != 0 || r->instances != 1 ||
         pai__tenant_at(s, r->tenant)->stopped;
}

/* A request of a line that still waits, or PAI__NONE: nobody does. */
static uint32_t one_of(const pai__waiters *w, const pai_sched *s,
                       pai__shape *x)
{
  if (pai__req_at(s, x->req)->id == x->id && pai__req_at(s, x->req)->queued)
    return x->req;
  x->first = pai__waiters_first(w, s, x->first);
  return x->first != PAI__NONE ? pai__waiter_at(w, x->first)->req : PAI__NONE;
}

/* The line of those that are alike, or PAI__NONE; *key is where it is, or is to
 * be: others that are not alike may have the same hash. */
static uint32_t find_line(const pai__waiters *w, const pai_sched *s,
                          const pai__req *r, uint64_t *key)
{
  uint32_t shape;

  *key = pai__alike_key(w->alike, r);
  while ((shape = pai__lookup_get(&w->shape_at, *key)) != PAI__NONE) {
    pai__shape *x = (pai__shape *)w->shapes.data + shape;
    uint32_t other = one_of(w, s, x);

    if (other == PAI__NONE) /* it may become that of others */
      x->refused = x->later = x->looked_at = 0;
    if (other == PAI__NONE ||
        pai__req_is_alike(s, w->alike, r, pai__req_at(s, other)))
      break;
    *key = pai__mix(*key, 1) | 1;
  }
  return shape;
}

static int add(pai__waiters *w, const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint64_t key;
  uint32_t shape = find_line(w, s, r, &key);
  pai_time length = pai__req_length(r);

  if (pai__flat_reserve(&w->list, &s->alloc, 1) < 0 ||
      pai__flat_reserve(&w->shapes, &s->alloc, 1) < 0 ||
      pai__lookup_reserve(&w->shape_at, &s->alloc) < 0)
    return PAI_ENOMEM;
  if (shape == PAI__NONE) {
    shape = pai__flat_push(&w->shapes, 1);
    ((pai__shape *)w->shapes.data)[shape] =
      (pai__shape){ .first = PAI__NONE, .last = PAI__NONE };
    pai__lookup_add(&w->shape_at, key, shape);
  }
  ((pai__shape *)w->shapes.data)[shape].req = req;
  ((pai__shape *)w->shapes.data)[shape].id = r->id;
  w->odd += is_odd(s, r);
  w->elastic += pai__req_is_elastic(s, r);
  ((pai__waiter *)w->list.data)[pai__flat_push(&w->list, 1)] =
    (pai__waiter){ .turn = r->turn,
                   .length = length != 0 ? length : PAI__NEVER,
                   .priority = r->priority,
                   .req = req,
                   .shape = shape,
                   .next = PAI__NONE };
  return PAI_OK;
}

/* It is the last of its line. */
static void queue_up(pai__waiters *w, uint32_t i)
{
  pai__shape *x = pai__shape_of(w, pai__waiter_at(w, i));

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
  w->list.len = w->shapes.len = 0;
  w->first = w->odd = w->elastic = 0;
  pai__lookup_clear(&w->shape_at);
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

/* Are most of them gone? */
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
  /* Nobody may ask for it for long. */
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

/* --- in lines ------------------------------------------------------------- */

static uint32_t *heads_of(const pai__waiters *w)
{
  return w->heads.data;
}

/* The first of those whose heads are above i comes down to its place. */
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
  pai__shape *lines = w->shapes.data;

  w->heads.len = 0;
  if (pai__flat_reserve(&w->heads, &s->alloc, w->shapes.len) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < w->shapes.len; i++) {
    lines[i].first = pai__waiters_first(w, s, lines[i].first);
    if (lines[i].first != PAI__NONE)
      heads_of(w)[pai__flat_push(&w->heads, 1)] = lines[i].first;
  }
  for (uint32_t i = w->heads.len / 2; i-- > 0;)
    sink(w, i);
  return PAI_OK;
}

void pai__waiters_send_away(pai__waiters *w)
{
  w->heads.len--;
  if (w->heads.len != 0) {
    heads_of(w)[0] = heads_of(w)[w->heads.len];
    sink(w, 0);
  }
}

void pai__waiters_pass(pai__waiters *w, const pai_sched *s)
{
  uint32_t next =
    pai__waiters_first(w, s, pai__waiter_at(w, pai__waiters_head(w))->next);

  if (next == PAI__NONE) {
    pai__waiters_send_away(w);
    return;
  }
  heads_of(w)[0] = next;
  sink(w, 0);
}

int pai__try_lines(pai_sched *s, pai__waiters *w, int strategy,
                   bool beyond_share)
{
  int rc = PAI_OK;
  uint32_t head;

  pai__alike_begin(s, PAI__ALIKE_SHAPE);
  s->effort -= s->m.nqueued;
  while (rc >= 0 && (head = pai__waiters_head(w)) != PAI__NONE) {
    uint32_t req = pai__waiter_at(w, head)->req;

    s->effort++;
    rc = pai__try(s, req, strategy, beyond_share);
    if (rc != 0) {
      pai__waiters_pass(w, s);
    } else {
      rc = pai__shape_refuse(s, req);
      pai__waiters_send_away(w);
    }
  }
  return rc < 0 ? rc : PAI_OK;
}
