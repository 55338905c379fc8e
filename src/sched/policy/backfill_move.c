/*
 * backfill_move.c - starts a request on promised nodes if the promises can
 * move to other nodes
 *
 * A promise is a time, and its nodes are those that were found for it.  A
 * request that finds no room beside the promises may take some of their nodes
 * if each promise can be kept elsewhere.  First one promise at a time, then
 * all together, are given back; the request takes its places; and the promises
 * are planned again, none later than before.  If there is one promise only,
 * easy_move.c does this without a plan.
 */
#include "sched/policy/backfill.h"

enum {
  MOST_PROMISES = 16,
  MOST_MOVES = 16, /* requests tried in one decision */
  MOST_NODES = 8   /* nodes tried for each request */
};

/* Ways to plan promises again, the earliest first: at their old places if
 * possible; packed, to leave most room to others; or packed, and of promises
 * with the same start the last one first. */
enum way { AS_BEFORE, PACKED, PACKED_BACKWARDS, WAYS };

typedef struct moving {
  pai__backfill *b;
  pai_sched *s;
  uint32_t req;
  uint32_t first, n; /* range of promises that are given back */
  pai_time start;    /* start found in the plan before */
  pai__flat sites;   /* places found in the plan before */
  pai__flat own;     /* places of the request */
  uint32_t moved;    /* number of promises planned again, in b->moved */
  enum way way;      /* how they are planned again */
  uint32_t order[MOST_PROMISES]; /* the order in which they are */
} moving;

static uint32_t req_at(const moving *m, uint32_t i)
{
  return pai__req_find(m->s, pai__promise_at(&m->b->new, i)->id);
}

static int copy_sites(pai__flat *to, const pai__flat *from,
                      const pai_alloc *alloc)
{
  to->len = 0;
  return pai__flat_copy(to, from, alloc);
}

/* --- the plan ------------------------------------------------------------- */

static int give_promises(const moving *m)
{
  int rc = PAI_OK;

  for (uint32_t i = m->first; i < m->first + m->n && rc == PAI_OK; i++) {
    pai__hint hint =
      pai__promise_hint(&m->b->new, pai__promise_at(&m->b->new, i));

    rc = pai__plan_give_hint(&m->b->plan, m->s, req_at(m, i), &hint);
  }
  return rc;
}

static int take_promises(const moving *m)
{
  int rc = PAI_OK;

  for (uint32_t i = m->first; i < m->first + m->n && rc >= 0; i++) {
    pai__hint hint =
      pai__promise_hint(&m->b->new, pai__promise_at(&m->b->new, i));

    rc = pai__plan_take_hint(&m->b->plan, m->s, req_at(m, i), &hint);
  }
  return rc < 0 ? rc : PAI_OK;
}

static int give_moved(moving *m)
{
  int rc = PAI_OK;

  while (m->moved != 0 && rc == PAI_OK) {
    pai__hint hint = pai__promise_hint(
      &m->b->moved, pai__promise_at(&m->b->moved, --m->moved));

    rc = pai__plan_give_hint(&m->b->plan, m->s, req_at(m, m->order[m->moved]),
                             &hint);
  }
  return rc;
}

static int give_own(const moving *m)
{
  pai__hint hint = { m->own.data, m->own.len, m->s->m.now };

  return pai__plan_give_hint(&m->b->plan, m->s, m->req, &hint);
}

/* Plans one promise again, no later than before.  Returns 1, 0 or
 * PAI_ENOMEM. */
static int plan_again(moving *m, uint32_t i)
{
  pai__backfill *b = m->b;
  pai__hint hint = pai__promise_hint(&b->new, pai__promise_at(&b->new, i));
  uint32_t req = req_at(m, i);
  bool packed = m->way != AS_BEFORE;
  int rc = pai__plan_find(&b->plan, m->s, req,
                          packed ? PAI_PLACE_PACK : b->plain.place, hint.start,
                          packed ? NULL : &hint);

  if (rc <= 0 || b->plan.start <= m->s->m.now)
    return rc < 0 ? rc : 0;
  if (pai__promises_add(&b->moved, &b->plan, m->s, req) < 0)
    return PAI_ENOMEM;
  m->moved++;
  return pai__plan_take(&b->plan, m->s, req) < 0 ? PAI_ENOMEM : 1;
}

/* --- one placement -------------------------------------------------------- */

/* Stores the new places in the promises. */
static int keep_moved(const moving *m)
{
  pai__promises *new = &m->b->new;

  for (uint32_t i = 0; i < m->n; i++) {
    const pai__promise *from = pai__promise_at(&m->b->moved, i);
    pai__promise *to = pai__promise_at(new, m->order[i]);

    if (pai__flat_reserve(&new->sites, &m->b->plain.alloc, from->count) < 0)
      return PAI_ENOMEM;
    to->first = pai__flat_push(&new->sites, from->count);
    to->count = from->count;
    memcpy((pai__site *)new->sites.data + to->first,
           (const pai__site *)m->b->moved.sites.data + from->first,
           from->count * sizeof(pai__site));
    if (from->start < to->start)
      pai__sched_reason_make(m->s, req_at(m, m->order[i]))->until =
        from->start;
    to->start = from->start;
  }
  return PAI_OK;
}

static int start(const moving *m)
{
  pai__plan *p = &m->b->plan;

  if (copy_sites(&p->sites, &m->own, &m->b->plain.alloc) < 0)
    return PAI_ENOMEM;
  p->start = m->s->m.now;
  return pai__plan_start(p, m->s, m->req);
}

static void set_order(moving *m)
{
  const pai__promises *x = &m->b->new;

  for (uint32_t i = 0; i < m->n; i++) {
    pai_time at = pai__promise_at(x, m->first + i)->start;
    uint32_t k = i;

    for (; k > 0; k--) {
      pai_time before = pai__promise_at(x, m->order[k - 1])->start;

      if (before < at || (before == at && m->way != PACKED_BACKWARDS))
        break;
      m->order[k] = m->order[k - 1];
    }
    m->order[k] = m->first + i;
  }
}

/* Returns 1 if all promises are planned again; 0, with none planned; or
 * PAI_ENOMEM. */
static int plan_all_again(moving *m, enum way way)
{
  int rc = 1;

  m->way = way;
  set_order(m);
  pai__promises_clear(&m->b->moved);
  for (uint32_t i = 0; i < m->n && rc > 0; i++)
    rc = plan_again(m, m->order[i]);
  return rc == 0 && give_moved(m) < 0 ? PAI_ENOMEM : rc;
}

/* Takes the places just found if the promises can be kept.  Returns 1; 0, with
 * the plan as before; or PAI_ENOMEM. */
static int try_found(moving *m)
{
  pai__backfill *b = m->b;
  int rc = 0;

  if (copy_sites(&m->own, &b->plan.sites, &b->plain.alloc) < 0 ||
      pai__plan_take(&b->plan, m->s, m->req) < 0)
    return PAI_ENOMEM;
  for (int way = 0; way < (m->n == 1 ? PACKED : WAYS) && rc == 0; way++)
    rc = plan_all_again(m, (enum way)way);
  if (rc > 0)
    rc = start(m);
  if (rc > 0)
    return keep_moved(m) < 0 ? PAI_ENOMEM : 1;
  if (rc == 0 && (give_moved(m) < 0 || give_own(m) < 0))
    rc = PAI_ENOMEM;
  return rc;
}

/* --- places to try -------------------------------------------------------- */

/* For a single task: tries each node of the promises that are given back. */
static int try_nodes(moving *m)
{
  pai__backfill *b = m->b;
  pai__plan *p = &b->plan;
  uint32_t tried[MOST_NODES], n = 0;
  int rc = 0;

  for (uint32_t i = m->first; i < m->first + m->n; i++) {
    const pai__hint hint =
      pai__promise_hint(&b->new, pai__promise_at(&b->new, i));

    for (uint32_t k = 0; k < hint.n && rc == 0 && n < MOST_NODES; k++) {
      uint32_t node = pai__promise_hint(&b->new, pai__promise_at(&b->new, i))
                        .sites[k]
                        .node,
               j = 0;

      while (j < n && tried[j] != node)
        j++;
      if (j < n)
        continue;
      tried[n++] = node;
      p->only = node;
      pai__plan_forget_rows(p);
      rc = pai__plan_find(p, m->s, m->req, b->plain.place, m->s->m.now, NULL);
      p->only = PAI__NONE;
      pai__plan_forget_rows(p);
      if (rc > 0)
        rc = try_found(m);
    }
  }
  return rc;
}

static int try_strategies(moving *m)
{
  static const int all[] = { PAI_PLACE_TOPO, PAI_PLACE_FIRST, PAI_PLACE_PACK,
                             PAI_PLACE_SPREAD };
  pai__plan *p = &m->b->plan;
  int rc = 0;

  for (size_t i = 0; i < PAI__LEN(all) && rc == 0; i++) {
    rc = pai__plan_find(p, m->s, m->req, all[i], m->s->m.now, NULL);
    if (rc > 0)
      rc = try_found(m);
  }
  return rc;
}

/* Tries with n promises given back, from `first` on. */
static int try_some(moving *m, uint32_t first, uint32_t n)
{
  const pai__req *r = pai__req_at(m->s, m->req);
  int rc;

  m->first = first;
  m->n = n;
  if (give_promises(m) < 0)
    return PAI_ENOMEM;
  rc = r->nwants == 1 && pai__wants_of(m->s, r)->tasks == 1 ? try_nodes(m) : 0;
  if (rc == 0)
    rc = try_strategies(m);
  if (rc == 0 && take_promises(m) < 0)
    rc = PAI_ENOMEM;
  return rc;
}

/* --- which requests ------------------------------------------------------- */

/* True if a request that fits alike and takes no longer was tried in vain. */
static bool is_hopeless(const pai__backfill *b, const pai_sched *s,
                        uint32_t req)
{
  uint32_t other = pai__found_alike(s, &b->unmoved, req);

  return other != PAI__NONE &&
         pai__plan_length(&b->plan, pai__req_at(s, req)) >=
           pai__plan_length(&b->plan, pai__req_at(s, other));
}

static bool may_move(const pai__backfill *b, const pai_sched *s, uint32_t req)
{
  return b->mode == PAI__BACKFILL_EASY && !s->keeping &&
         b->new.list.len != 0 && b->new.list.len <= MOST_PROMISES &&
         b->moves < MOST_MOVES && s->reservations.len == 0 &&
         !is_hopeless(b, s, req);
}

static int try_all(moving *m)
{
  uint32_t n = m->b->new.list.len;
  int rc = 0;

  for (uint32_t i = 0; i < n && rc == 0; i++)
    rc = try_some(m, i, 1);
  return rc == 0 && n > 1 ? try_some(m, 0, n) : rc;
}

int pai__backfill_move(pai__backfill *b, pai_sched *s, uint32_t req)
{
  moving m = { .b = b, .s = s, .req = req, .start = b->plan.start };
  int rc;

  if (!may_move(b, s, req))
    return 0;
  rc = pai__has_room(s, req, b->plain.place, false);
  if (rc <= 0)
    return rc;
  b->moves++;
  pai__flat_init(&m.sites, sizeof(pai__site));
  pai__flat_init(&m.own, sizeof(pai__site));
  rc = copy_sites(&m.sites, &b->plan.sites, &b->plain.alloc);
  if (rc == PAI_OK)
    rc = try_all(&m);
  if (rc == 0 && copy_sites(&b->plan.sites, &m.sites, &b->plain.alloc) < 0)
    rc = PAI_ENOMEM;
  if (rc == 0)
    pai__found_keep(s, &b->unmoved, req);
  b->plan.start = m.start;
  pai__flat_dispose(&m.sites, &b->plain.alloc);
  pai__flat_dispose(&m.own, &b->plain.alloc);
  return rc;
}
