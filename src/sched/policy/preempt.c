/*
 * preempt.c - preemption: which runs are stopped for a request
 *
 * Candidates are removed from a copy of the free capacity until the gang fits:
 * claims of lower priority first, then runs, lowest priority and youngest
 * first.  As few as possible are removed.  Candidates that are not in the way
 * then stay.
 */
#include "sched/policy/victims.h"

#include "sched/policy/guarantee.h"
#include "sched/queue.h"

#include <stdlib.h>

/* --- victims -------------------------------------------------------------- */

enum { MOST_TRIED = 32 }; /* victims that are spared one by one */

typedef struct making_room {
  pai_sched *s;
  uint32_t req;
  pai__ask ask;
  const uint32_t *given; /* runs to stop, in order; NULL: lower priority */
  uint32_t ngiven;
  bool only_looks; /* only check whether it fits without all of them */
  pai__victim *list;
  uint32_t n;
  uint32_t first; /* number of runs at the front that stop already */
  pai__trial trial;
  pai__flat part;  /* what it may take and be guaranteed: guarantee.h */
  pai__flat found; /* slots with which it is known to fit */
} making_room;

static void add_given(making_room *m)
{
  for (uint32_t i = 0; i < m->ngiven; i++)
    m->list[m->n++] =
      (pai__victim){ .order = pai__run_at(m->s, m->given[i])->order,
                     .priority = (int32_t)i,
                     .run = m->given[i] };
}

/* Runs that are stopping come first, then claims, then other runs. */
static int32_t weight(const pai_sched *s, const pai__run *run)
{
  int32_t priority = pai__req_at(s, run->req)->priority;

  return run->state == PAI__RUN_STOPPING  ? INT32_MIN
         : run->state == PAI__RUN_CLAIMED ? INT32_MIN / 2 + priority
                                          : priority;
}

/* Lists candidates: runs and claims of lower priority, except what other
 * virtual clusters are guaranteed; or the given runs; and runs that are
 * stopping. */
static int find_candidates(making_room *m)
{
  pai_sched *s = m->s;
  int32_t priority = pai__req_at(s, m->req)->priority;

  if (pai__guarantee_counts(s) && m->given == NULL &&
      pai__guarantee_mark(s) < 0)
    return PAI_ENOMEM;
  m->list = pai__zalloc(&s->alloc, (s->runs.len + 1) * sizeof(*m->list));
  if (m->list == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    bool stops = run->state == PAI__RUN_STOPPING;

    if (!pai__run_holds(run) ||
        (!stops &&
         (m->given != NULL || pai__req_at(s, run->req)->priority >= priority ||
          pai__guarantee_binds(s, pai__req_at(s, m->req), run))))
      continue;
    m->list[m->n++] = (pai__victim){ .order = run->order,
                                     .priority = weight(s, run),
                                     .run = i,
                                     .gpus = (uint32_t)pai__run_gpus(s, run) };
    m->first += stops;
  }
  add_given(m);
  qsort(m->list, m->n, sizeof(*m->list), pai__victims_order);
  return PAI_OK;
}

/* Tries to fit without the first k candidates that are not spared.  If it
 * fits, its slots stay counted. */
static int fits_without(making_room *m, uint32_t k, uint32_t *n)
{
  pai__sched_reason reason;

  pai__trial_again(&m->trial, m->s);
  for (uint32_t i = 0; i < k; i++)
    if (!m->list[i].spared)
      pai__run_lift(m->s, m->list[i].run, true);
  return pai__fit_elastic(m->s, &m->ask, n, &reason);
}

/* Finds the smallest number of candidates to remove; n + 1 if the request does
 * not fit without all of them. */
static int find_fewest(making_room *m, uint32_t *fewest, uint32_t *n)
{
  uint32_t low = m->first, high = m->n;
  int rc = fits_without(m, high, n);

  if (rc <= 0) {
    *fewest = m->n + 1;
    return rc < 0 ? rc : PAI_OK;
  }
  while (low < high && rc >= 0) {
    uint32_t middle = low + (high - low) / 2;

    rc = fits_without(m, middle, n);
    if (rc > 0)
      high = middle;
    else
      low = middle + 1;
  }
  *fewest = high;
  return rc < 0 ? rc : fits_without(m, high, n);
}

static bool keeps_share(const making_room *m, uint32_t n)
{
  const pai__req *r = pai__req_at(m->s, m->req);

  return !pai__req_is_bound(m->s, r, m->ask.beyond_share) ||
         pai__victims_keep_share(m->s, r, n);
}

/* Spares candidates that are not in the way, highest priority first. */
static void spare(making_room *m, uint32_t fewest, uint32_t n)
{
  for (uint32_t i = fewest; i-- > m->first;) {
    pai__victim *v = &m->list[i];

    v->spared = pai__victim_may_stay(m->s, v->run);
    if (v->spared && !keeps_share(m, n)) {
      pai__run_lift(m->s, v->run, true);
      v->spared = false;
    }
  }
}

/* Remembers s->slots: they suit the candidates spared so far. */
static int keep_found(making_room *m, uint32_t n)
{
  pai_sched *s = m->s;

  if (pai__flat_reset(&m->found, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  memcpy(m->found.data, s->slots.data, n * sizeof(pai__slot));
  return PAI_OK;
}

static int take_found(making_room *m, uint32_t *n)
{
  pai_sched *s = m->s;

  *n = m->found.len;
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, *n) < 0)
    return PAI_ENOMEM;
  memcpy(s->slots.data, m->found.data, *n * sizeof(pai__slot));
  return 1;
}

/* The request may fit elsewhere with fewer victims: tries to spare each of
 * them, at most MOST_TRIED, highest priority first.  Finds the places anew;
 * returns the codes of fits_without().  A gang that is searched for in another
 * order of nodes may find no place though one is known: then the known one is
 * used. */
static int spare_more(making_room *m, uint32_t fewest, uint32_t *n)
{
  uint32_t left = 0, tried = 0;
  int rc = 1;

  for (uint32_t i = m->first; i < fewest; i++)
    left += !m->list[i].spared;
  if (left < 2)
    return 1;
  if (keep_found(m, *n) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = fewest; i-- > m->first && rc >= 0 && tried < MOST_TRIED;)
    if (!m->list[i].spared) {
      tried++;
      m->list[i].spared = true;
      rc = fits_without(m, fewest, n);
      m->list[i].spared = rc > 0;
      if (rc > 0)
        rc = keep_found(m, *n);
    }
  if (rc >= 0)
    rc = fits_without(m, fewest, n);
  return rc == 0 ? take_found(m, n) : rc;
}

/* --- claiming ------------------------------------------------------------- */

static int stop_victims(making_room *m, uint32_t fewest, uint64_t by)
{
  for (uint32_t i = m->first; i < fewest; i++)
    if (!m->list[i].spared &&
        pai__stop(m->s, m->list[i].run, PAI_STOP_PREEMPTED, by) < 0)
      return PAI_ENOMEM;
  return PAI_OK;
}

/* Withdraws claims of victims before their places are claimed anew. */
static void drop_claims(making_room *m, uint32_t fewest)
{
  pai_sched *s = m->s;

  for (uint32_t i = m->first; i < fewest; i++) {
    uint32_t run = m->list[i].run, req = pai__run_at(s, run)->req;

    if (m->list[i].spared || pai__run_at(s, run)->state != PAI__RUN_CLAIMED)
      continue;
    pai__release(s, run);
    pai__req_update(s, req);
    m->list[i].spared = true; /* it need not be stopped */
    pai__refuse_turn(s, req, m->req);
  }
}

/* Claims the places found on the copy in the real free capacity. */
static int claim(making_room *m, uint32_t fewest, uint32_t n)
{
  pai_sched *s = m->s;
  const pai__req *r = pai__req_at(s, m->req);
  uint64_t by = r->id;
  uint32_t victims = 0;
  int rc;

  if (pai__flat_reserve(&s->decisions, &s->alloc, fewest + 1) < 0)
    return PAI_ENOMEM;
  drop_claims(m, fewest);
  pai__fit_again(s, r, n);
  rc = pai__claim(s, m->req, n);
  pai__refusals_forget(s);
  if (rc != 0)
    return pai__set_aside(s, m->req, rc);
  for (uint32_t i = m->first; i < fewest; i++)
    victims += !m->list[i].spared;
  pai__sched_reason_say(s, m->req, PAI_LACK_VICTIMS)->found = victims;
  return stop_victims(m, fewest, by);
}

/* Finds which of the first `fewest` candidates have to stop, in the order of
 * the list. */
static int find_victims(making_room *m, uint32_t *fewest, uint32_t *n)
{
  int rc;

  for (uint32_t i = 0; i < m->n; i++)
    m->list[i].spared = false;
  rc = find_fewest(m, fewest, n);
  if (rc > 0) {
    spare(m, *fewest, *n);
    rc = spare_more(m, *fewest, n);
  }
  return rc;
}

/* Cost of a set of victims: highest priority, then number. */
static uint64_t harm(const making_room *m, uint32_t fewest)
{
  int64_t most = INT32_MIN;
  uint32_t victims = 0;

  for (uint32_t i = m->first; i < fewest; i++)
    if (!m->list[i].spared) {
      victims++;
      most = m->list[i].priority > most ? m->list[i].priority : most;
    }
  return (uint64_t)(most - INT32_MIN) << 32 | victims;
}

enum { YOUNGEST, LARGEST, NODES, ORDERS };

static int sort(making_room *m, int order)
{
  if (order == NODES) {
    pai__trial_again(&m->trial, m->s);
    return pai__victims_by_node(m->s, pai__req_at(m->s, m->req), m->list,
                                m->first, m->n);
  }
  qsort(m->list, m->n, sizeof(*m->list),
        order == LARGEST ? pai__victims_by_size : pai__victims_order);
  return PAI_OK;
}

/* Tries the youngest first; if several have to stop, also the largest first
 * and node by node, and keeps the best order. */
static int find_best(making_room *m, uint32_t *fewest, uint32_t *n)
{
  int rc = find_victims(m, fewest, n), best = YOUNGEST, order = YOUNGEST;
  uint64_t least;

  if (rc <= 0 || m->given != NULL)
    return rc;
  least = harm(m, *fewest);
  while (rc > 0 && order + 1 < ORDERS && (uint32_t)least >= 2) {
    rc = sort(m, ++order);
    if (rc == PAI_OK)
      rc = find_victims(m, fewest, n);
    if (rc > 0 && harm(m, *fewest) < least) {
      least = harm(m, *fewest);
      best = order;
    }
  }
  if (rc <= 0 || order == best)
    return rc;
  rc = sort(m, best);
  return rc < 0 ? rc : find_victims(m, fewest, n);
}

/* --- guaranteed runs ------------------------------------------------------ */

/* True if it would stop guaranteed runs of its own virtual cluster without
 * being guaranteed itself. */
static bool breaks_guarantee(const making_room *m, uint32_t fewest, uint32_t n)
{
  const pai_sched *s = m->s;
  const pai__req *r = pai__req_at(s, m->req);
  const uint64_t *part = m->part.data;
  bool stops = false, goes_beyond = false;

  for (uint32_t i = m->first; i < fewest; i++)
    stops |= !m->list[i].spared && !pai__run_at(s, m->list[i].run)->beyond;
  for (uint32_t k = 0; stops && k < m->part.len; k++) {
    uint64_t taken = pai__share_taken(s, r, n, k);

    goes_beyond |= taken != 0 && taken > part[k];
  }
  return goes_beyond;
}

/* Keeps only stopping and borrowed runs as candidates. */
static void leave_guaranteed(making_room *m)
{
  uint32_t n = 0;

  (void)sort(m, YOUNGEST);
  for (uint32_t i = 0; i < m->n; i++)
    if (i < m->first || pai__run_at(m->s, m->list[i].run)->beyond)
      m->list[n++] = m->list[i];
  m->n = n;
}

/* As find_best(), but a borrower stops borrowed runs only, and guaranteed runs
 * stop only for a request that will be guaranteed.  Otherwise two requests
 * could stop each other for ever: see the proof in docs/internals/sched.md. */
static int find_lawful(making_room *m, uint32_t *fewest, uint32_t *n)
{
  pai_sched *s = m->s;
  int rc = find_best(m, fewest, n);

  if (rc <= 0 || m->given != NULL || !pai__guarantee_counts(s))
    return rc;
  if (pai__guarantee_left(s, m->req, &m->part) < 0)
    return PAI_ENOMEM;
  if (!breaks_guarantee(m, *fewest, *n))
    return rc;
  m->ask.part = m->part.data;
  rc = sort(m, YOUNGEST);
  if (rc == PAI_OK)
    rc = find_best(m, fewest, n);
  if (rc != 0)
    return rc;
  m->ask.part = NULL;
  leave_guaranteed(m);
  return m->n != 0 ? find_best(m, fewest, n) : 0;
}

static int try_over(making_room *m)
{
  uint32_t fewest = 0, n = 0;
  int rc = find_candidates(m);

  if (rc < 0 || (m->n == 0 && !m->only_looks))
    return rc;
  rc = pai__trial_begin(&m->trial, m->s);
  if (rc == PAI_OK)
    rc =
      m->only_looks ? fits_without(m, m->n, &n) : find_lawful(m, &fewest, &n);
  pai__trial_end(&m->trial, m->s);
  return rc <= 0 || m->only_looks ? rc : claim(m, fewest, n);
}

static int make_room(making_room *m)
{
  size_t most = m->s->runs.len + 1;
  int rc;

  pai__flat_init(&m->part, sizeof(uint64_t));
  pai__flat_init(&m->found, sizeof(pai__slot));
  rc = try_over(m);
  pai__flat_dispose(&m->part, &m->s->alloc);
  pai__flat_dispose(&m->found, &m->s->alloc);
  if (m->list != NULL)
    pai__free(&m->s->alloc, m->list, most * sizeof(*m->list));
  return rc;
}

/* There are no victims for a request: so it is for all of its class and
 * priority, until something is placed, claimed or stopped. */
static pai__refusal refusal_of(const pai_sched *s, const pai__ask *ask)
{
  const pai__req *r = pai__req_at(s, ask->req);

  return (pai__refusal){
    .like = { PAI__REFUSAL_VICTIMS,
              (uint64_t)r->class << 32 | (uint16_t)r->priority,
              (uint64_t)ask->strategy << 1 | ask->beyond_share, s->m.orders,
              (uint64_t)s->decisions.len << 32 | s->claims.len },
    .req = ask->req
  };
}

int pai__try_over(pai_sched *s, uint32_t req, int strategy, bool beyond_share)
{
  making_room m = {
    .s = s,
    .req = req,
    .ask = { .req = req, .strategy = strategy, .beyond_share = beyond_share }
  };
  int rc = pai__try(s, req, strategy, beyond_share);
  const pai__refusal how = refusal_of(s, &m.ask);
  uint64_t orders = s->m.orders;

  if (rc != 0 || pai__refusal_find(s, &how) != PAI__NONE)
    return rc;
  rc = make_room(&m);
  /* Reservations treat requests of one class differently. */
  if (rc == 0 && s->m.orders == orders && s->reservations.len == 0)
    pai__refusal_keep(s, &how);
  return rc;
}

static int make_room_without(pai_sched *s, const pai__ask *ask,
                             const uint32_t *runs, uint32_t n, bool only_looks)
{
  static const uint32_t none = 0;
  making_room m = { .s = s,
                    .req = ask->req,
                    .ask = *ask,
                    .given = n != 0 ? runs : &none,
                    .ngiven = n,
                    .only_looks = only_looks };

  return make_room(&m);
}

int pai__try_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                     uint32_t n)
{
  return make_room_without(s, ask, runs, n, false);
}

int pai__fits_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                      uint32_t n)
{
  return make_room_without(s, ask, runs, n, true);
}
