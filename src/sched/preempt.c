/*
 * preempt.c - room is made: who stops for whom
 *
 * Found on a copy of the rooms, from which as few candidates as possible are
 * taken away until the gang fits: claims of less important ones, then the least
 * important runs, and of these the youngest.  Then those that are not in its
 * way stay after all.
 */
#include "sched/victims.h"

#include "resource/bits.h"
#include "sched/guarantee.h"
#include "sched/refusal.h"

#include <stdlib.h>

/* --- victims -------------------------------------------------------------- */

enum { MOST_TRIED = 32 }; /* victims that are spared one by one */

typedef struct making_room {
  pai_sched *s;
  uint32_t req;
  pai__ask ask;
  const uint32_t
    *given; /* runs that may be stopped, the first one first; NULL:
                            those of lower priority */
  uint32_t ngiven;
  pai__victim *list;
  uint32_t n;
  uint32_t
    first; /* of those whose order counts; before it they stop already */
  pai__trial trial;
  pai__flat part;  /* what it may take to be guaranteed: guarantee.h */
  pai__flat found; /* slots: places with which it is known to fit */
} making_room;

static uint32_t gpus_of(const pai_sched *s, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t gpus = 0;

  for (uint32_t i = 0; i < run->tasks; i++)
    gpus += pai__bits_ones(slots[i].gpus);
  return gpus;
}

/* What was given, in its order. */
static void add_given(making_room *m)
{
  for (uint32_t i = 0; i < m->ngiven; i++)
    m->list[m->n++] =
      (pai__victim){ .order = pai__run_at(m->s, m->given[i])->order,
                     .priority = (int32_t)i,
                     .run = m->given[i] };
}

/* Those that stop already come first, and then who only waits for a place. */
static int32_t weight(const pai_sched *s, const pai__run *run)
{
  int32_t priority = pai__req_at(s, run->req)->priority;

  return run->state == PAI__RUN_STOPPING  ? INT32_MIN
         : run->state == PAI__RUN_CLAIMED ? INT32_MIN / 2 + priority
                                          : priority;
}

/* Those of lower priority, their claims as well, but what other virtual clusters
 * are guaranteed; or what was given; and those that stop already. */
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
                                     .gpus = gpus_of(s, run) };
    m->first += stops;
  }
  add_given(m);
  qsort(m->list, m->n, sizeof(*m->list), pai__victims_order);
  return PAI_OK;
}

/* With the first k gone but for the spared, does it fit?  Its slots stay
 * counted if it does. */
static int fits_without(making_room *m, uint32_t k, uint32_t *n)
{
  pai__why why;

  pai__trial_again(&m->trial, m->s);
  for (uint32_t i = 0; i < k; i++)
    if (!m->list[i].spared)
      pai__run_lift(m->s, m->list[i].run, true);
  return pai__fit(m->s, &m->ask, n, &why);
}

/* The fewest that must go; n + 1: it does not fit without all of them. */
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

/* Does what stays leave the share that is needed? */
static bool keeps_share(const making_room *m, uint32_t n)
{
  const pai__req *r = pai__req_at(m->s, m->req);

  return !pai__req_is_bound(m->s, r, m->ask.beyond_share) ||
         pai__victims_keep_share(m->s, r, n);
}

/* The most important first. */
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

/* The places in s->slots are good with those who are spared now. */
static int keep_found(making_room *m, uint32_t n)
{
  pai_sched *s = m->s;

  m->found.len = 0;
  if (pai__flat_reserve(&m->found, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&m->found, n);
  memcpy(m->found.data, s->slots.data, n * sizeof(pai__slot));
  return PAI_OK;
}

/* These are so again. */
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

/* It may fit elsewhere, too, without stopping all of them: tried one by one, of
 * very many the most important ones.  Finds the places anew; as fits_without().
 * Where a gang is looked for in another order of nodes it may find no place
 * though one is known: then that one is taken. */
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

/* Claims that are taken back, before their places are claimed anew. */
static void drop_claims(making_room *m, uint32_t fewest)
{
  pai_sched *s = m->s;

  for (uint32_t i = m->first; i < fewest; i++) {
    uint32_t run = m->list[i].run, req = pai__run_at(s, run)->req;

    if (m->list[i].spared || pai__run_at(s, run)->state != PAI__RUN_CLAIMED)
      continue;
    pai__release(s, run);
    pai__req_update(s, req);
    m->list[i].spared = true; /* of those that stop */
    *pai__why_make(s, req) = (pai__why){ .lack = PAI_LACK_TURN,
                                         .behind = pai__req_at(s, m->req)->id,
                                         .node = PAI__NONE,
                                         .text = PAI__NONE };
  }
}

/* What was found on the copy is claimed of the real rooms. */
static int claim(making_room *m, uint32_t fewest, uint32_t n)
{
  pai_sched *s = m->s;
  const pai__req *r = pai__req_at(s, m->req);
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = s->slots.data;
  uint64_t by = r->id;
  uint32_t victims = 0;
  int rc;

  if (pai__flat_reserve(&s->decisions, &s->alloc, fewest + 1) < 0)
    return PAI_ENOMEM;
  drop_claims(m, fewest);
  for (uint32_t i = 0; i < n; i++)
    pai__room_count(pai__room_touch(s, slots[i].node), &wants[slots[i].want],
                    slots[i].gpus);
  rc = pai__claim(s, m->req, n);
  pai__refusals_forget(s);
  if (rc != 0)
    return pai__set_aside(s, m->req, rc);
  for (uint32_t i = m->first; i < fewest; i++)
    victims += !m->list[i].spared;
  *pai__why_make(s, m->req) = (pai__why){ .lack = PAI_LACK_VICTIMS,
                                          .found = victims,
                                          .node = PAI__NONE,
                                          .text = PAI__NONE };
  return stop_victims(m, fewest, by);
}

/* In the order of the list: those who have to go, of the first `fewest`. */
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

/* How many go, and how important the most important one is: less is better. */
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

/* The youngest first; and if several have to go, the largest first, or those of
 * one node after the other, if that is better. */
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

/* --- what is guaranteed --------------------------------------------------- */

/* Would it stop what is guaranteed, of its own virtual cluster, without being
 * guaranteed itself? */
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

/* Only those that stop already, and what is borrowed. */
static void leave_guaranteed(making_room *m)
{
  uint32_t n = 0;

  (void)sort(m, YOUNGEST);
  for (uint32_t i = 0; i < m->n; i++)
    if (i < m->first || pai__run_at(m->s, m->list[i].run)->beyond)
      m->list[n++] = m->list[i];
  m->n = n;
}

/* As find_best().  A borrower stops borrowers only: what is guaranteed makes
 * room for what will be guaranteed itself.  Else two could stop each other for
 * ever: docs/internals/sched-policies.md has the proof. */
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

  if (rc < 0 || m->n == 0)
    return rc;
  rc = pai__trial_begin(&m->trial, m->s);
  if (rc == PAI_OK)
    rc = find_lawful(m, &fewest, &n);
  pai__trial_end(&m->trial, m->s);
  return rc <= 0 ? rc : claim(m, fewest, n);
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

/* For whom nobody can make room: until something is placed, claimed or stopped
 * that holds for all of the same shape and importance. */
static uint64_t over_key(const pai_sched *s, const pai__refusal *how)
{
  const pai__req *r = pai__req_at(s, how->req);
  uint64_t key =
    pai__mix(pai__mix(r->shape, (uint64_t)r->priority), how->orders);

  key = pai__mix(pai__mix(key, how->decisions), how->claims);
  return pai__mix(key, (uint64_t)how->strategy << 1 | how->beyond_share) | 1;
}

static bool is_as_important(const pai_sched *s, uint32_t a, uint32_t b)
{
  const pai__req *x = pai__req_at(s, a), *y = pai__req_at(s, b);

  return x->priority == y->priority && pai__req_fits_alike(s, x, y);
}

int pai__try_over(pai_sched *s, uint32_t req, int strategy, bool beyond_share)
{
  making_room m = {
    .s = s,
    .req = req,
    .ask = { .req = req, .strategy = strategy, .beyond_share = beyond_share }
  };
  int rc = pai__try(s, req, strategy, beyond_share);
  const pai__refusal how = { .kind = PAI__REFUSAL_VICTIMS,
                             .orders = s->m.orders,
                             .decisions = s->decisions.len,
                             .claims = s->claims.len,
                             .strategy = (uint32_t)strategy,
                             .req = req,
                             .beyond_share = beyond_share };
  uint64_t key = over_key(s, &how);
  uint32_t other = pai__refusal_find(s, key, &how);

  /* Reservations tell those of a shape apart. */
  if (rc != 0 || (other != PAI__NONE && is_as_important(s, req, other)))
    return rc;
  rc = make_room(&m);
  if (rc == 0 && s->m.orders == how.orders && s->kept.len == 0 &&
      other == PAI__NONE)
    pai__refusal_keep(s, key, &how);
  return rc;
}

int pai__try_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                     uint32_t n)
{
  static const uint32_t none = 0;
  making_room m = { .s = s,
                    .req = ask->req,
                    .ask = *ask,
                    .given = n != 0 ? runs : &none,
                    .ngiven = n };

  return make_room(&m);
}

int pai__fits_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                      uint32_t n)
{
  static const uint32_t none = 0;
  making_room m = { .s = s,
                    .req = ask->req,
                    .ask = *ask,
                    .given = n != 0 ? runs : &none,
                    .ngiven = n };
  size_t most = s->runs.len + 1;
  uint32_t tasks;
  int rc = find_candidates(&m);

  if (rc < 0)
    return rc;
  rc = pai__trial_begin(&m.trial, s);
  if (rc == PAI_OK)
    rc = fits_without(&m, m.n, &tasks);
  pai__trial_end(&m.trial, s);
  pai__free(&s->alloc, m.list, most * sizeof(*m.list));
  return rc;
}
