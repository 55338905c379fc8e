/*
 * preempt.c - room is made: who stops for whom
 *
 * Found on a copy of the rooms, from which as few candidates as possible are
 * taken away until the gang fits: the least important first, and of these the
 * youngest.  Then those that are not in its way stay after all.
 */
#include "sched/policy.h"
#include "sched/trial.h"

#include "resource/bits.h"

#include <stdlib.h>

/* --- places that the policy chose ----------------------------------------- */

/* Wants that leave it open get one kind: that of the first, in *kind. */
static bool is_of_kind(const pai_sched *s, const pai__want *w,
                       const pai_task_place *p, uint32_t *kind)
{
  const uint64_t *kinds = pai__build_of(s->park, p->node)->kinds;
  uint32_t k = 0;

  if (w->type != PAI__NONE || w->gpus == 0)
    return true;
  while (k < s->park->nkinds && (p->gpus & ~kinds[k]) != 0)
    k++;
  if (*kind == PAI__NONE)
    *kind = k;
  return k < s->park->nkinds && k == *kind;
}

/* Is it what a want is for? */
static bool is_wanted(const pai_sched *s, const pai__req *r,
                      const pai__want *w, const pai_task_place *p,
                      uint32_t *kind)
{
  uint32_t pin = PAI__NONE, lack;
  uint64_t may;

  if (p->node >= s->rooms.len || pai__bits_ones(p->gpus) != w->gpus)
    return false;
  if (r->pin != PAI__NONE) {
    pin = pai__park_pin(s->park, pai__texts_text(&s->names, r->pin));
    if (pin == PAI__NONE)
      return false;
  }
  may = pai__want_gpus(s, w, PAI__NONE, pin, p->node, &lack);
  return lack == PAI_LACK_NOTHING && (p->gpus & ~may) == 0 &&
         is_of_kind(s, w, p, kind);
}

/* Is it to be had? */
static int check_place(const pai_sched *s, const pai__req *r,
                       const pai__want *w, const pai_task_place *p,
                       bool claimed)
{
  const pai__room *room = pai__room_at(s, p->node);
  uint64_t held = ((const uint64_t *)s->held.data)[p->node];

  if (pai__req_node_lack(s, r, p->node) != PAI_LACK_NOTHING ||
      (p->gpus & (room->sick | room->promised)) != 0)
    return PAI_EBUSY;
  if (claimed) /* of itself it can have it once */
    return (p->gpus & ~(room->gpus | held)) != 0 ? PAI_EBUSY : PAI_OK;
  return (p->gpus & ~room->gpus) != 0 || room->cpus < (int32_t)w->cpus ||
             room->memory < (int64_t)w->memory ||
             room->ports < (int32_t)w->ports
           ? PAI_EBUSY
           : PAI_OK;
}

static uint32_t total_tasks(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r);
  uint32_t n = 0;

  for (uint32_t i = 0; i < r->nwants; i++)
    n += w[i].tasks;
  return n;
}

int pai__take_places(pai_sched *s, uint32_t req, const pai_task_place *places,
                     size_t n, bool claimed)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *wants = pai__wants_of(s, r);
  uint32_t want = 0, in_want = 0, done = 0, kind = PAI__NONE;
  int rc = PAI_OK;

  if (places == NULL || n != total_tasks(s, r))
    return PAI_EINVAL;
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, (uint32_t)n) < 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    pai_task_place p = { 0 };

    if (in_want == wants[want].tasks) {
      want++;
      in_want = 0;
    }
    in_want++;
    rc = PAI__COPY_IN(&p, (const char *)places + i * places->struct_size,
                      pai_task_place, nports);
    if (rc == PAI_OK && !is_wanted(s, r, &wants[want], &p, &kind))
      rc = PAI_EINVAL;
    if (rc == PAI_OK)
      rc = check_place(s, r, &wants[want], &p, claimed);
    if (rc < 0)
      break;
    ((pai__slot *)s->slots.data)[done++] =
      (pai__slot){ .gpus = p.gpus, .node = p.node, .want = want };
    pai__room_count(pai__room_touch(s, p.node), &wants[want], p.gpus);
  }
  if (rc < 0)
    pai__unfit(s, r, done);
  return rc;
}

/* --- victims -------------------------------------------------------------- */

enum { MOST_TRIED = 32 }; /* victims that are spared one by one */

typedef struct victim {
  uint64_t order;
  int32_t priority;
  uint32_t run;
  uint32_t gpus;
  bool spared;
} victim;

/* The first to go is the least important one, and the youngest of these. */
static int by_weight(const void *a, const void *b)
{
  const victim *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

/* Likewise the least important one, but the largest of these. */
static int by_size(const void *a, const void *b)
{
  const victim *x = a, *y = b;

  if (x->priority == y->priority && x->gpus != y->gpus)
    return x->gpus > y->gpus ? -1 : 1;
  return by_weight(a, b);
}

typedef struct making_room {
  pai_sched *s;
  uint32_t req;
  pai__ask ask;
  const uint32_t
    *given; /* runs that may be stopped, the first one first; NULL:
                            those of lower priority */
  uint32_t ngiven;
  victim *list;
  uint32_t n;
  uint32_t
    first; /* of those whose order counts; before it they stop already */
  pai__trial trial;
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
    m->list[m->n++] = (victim){ pai__run_at(m->s, m->given[i])->order,
                                (int32_t)i, m->given[i], 0, false };
}

/* Those of lower priority, or what was given; and those that stop already,
 * which come first. */
static int find_candidates(making_room *m)
{
  pai_sched *s = m->s;
  int32_t priority = pai__req_at(s, m->req)->priority;

  m->list = pai__zalloc(&s->alloc, (s->runs.len + 1) * sizeof(*m->list));
  if (m->list == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    bool stops = run->state == PAI__RUN_STOPPING;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        (!stops &&
         (m->given != NULL || pai__req_at(s, run->req)->priority >= priority)))
      continue;
    m->list[m->n++] =
      (victim){ run->order,
                stops ? INT32_MIN : pai__req_at(s, run->req)->priority, i,
                gpus_of(s, run), false };
    m->first += stops;
  }
  add_given(m);
  qsort(m->list, m->n, sizeof(*m->list), by_weight);
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
      pai__run_lift(m->s, pai__run_at(m->s, m->list[i].run), true);
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

/* Would nothing be missing if it stayed?  Then it does. */
static bool may_stay(making_room *m, const victim *v)
{
  pai_sched *s = m->s;
  const pai__run *run = pai__run_at(s, v->run);
  const pai__slot *slots = pai__slots_of(s, run);

  pai__run_lift(m->s, pai__run_at(m->s, v->run), false);
  for (uint32_t i = 0; i < run->tasks; i++)
    if (!pai__room_settled(pai__room_at(s, slots[i].node), slots[i].gpus)) {
      pai__run_lift(m->s, pai__run_at(m->s, v->run), true);
      return false;
    }
  return true;
}

/* Does what stays leave the share that is needed? */
static bool keeps_share(const making_room *m, uint32_t n)
{
  const pai_sched *s = m->s;
  const pai__req *r = pai__req_at(s, m->req);
  const pai__slot *slots = s->slots.data;

  if (m->ask.beyond_share || r->priority < 0)
    return true;
  for (uint32_t k = 0; k < s->park->nkinds; k++) {
    uint64_t taken = 0;

    for (uint32_t i = 0; i < n; i++)
      taken += pai__bits_ones(slots[i].gpus &
                              pai__build_of(s->park, slots[i].node)->kinds[k]);
    if (taken > pai__share_left(s, r->tenant, k))
      return false;
  }
  return true;
}

/* The most important first. */
static void spare(making_room *m, uint32_t fewest, uint32_t n)
{
  for (uint32_t i = fewest; i-- > m->first;) {
    victim *v = &m->list[i];

    v->spared = may_stay(m, v);
    if (v->spared && !keeps_share(m, n)) {
      pai__run_lift(m->s, pai__run_at(m->s, v->run), true);
      v->spared = false;
    }
  }
}

/* It may fit elsewhere, too, without stopping all of them: tried one by one, if
 * there are few.  Finds the places anew; as fits_without(). */
static int spare_more(making_room *m, uint32_t fewest, uint32_t *n)
{
  uint32_t left = 0;
  int rc = 1;

  for (uint32_t i = m->first; i < fewest; i++)
    left += !m->list[i].spared;
  if (left < 2 || left > MOST_TRIED)
    return 1;
  for (uint32_t i = fewest; i-- > m->first && rc >= 0;)
    if (!m->list[i].spared) {
      m->list[i].spared = true;
      rc = fits_without(m, fewest, n);
      m->list[i].spared = rc > 0;
    }
  return rc < 0 ? rc : fits_without(m, fewest, n);
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
  for (uint32_t i = 0; i < n; i++)
    pai__room_count(pai__room_touch(s, slots[i].node), &wants[slots[i].want],
                    slots[i].gpus);
  rc = pai__claim(s, m->req, n);
  pai__lookup_clear(&s->refused);
  if (rc != 0)
    return rc;
  for (uint32_t i = m->first; i < fewest; i++)
    victims += !m->list[i].spared;
  *pai__why_of(s, m->req) = (pai__why){ .lack = PAI_LACK_VICTIMS,
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

/* The youngest first; and if several have to go, the largest first, if that is
 * better. */
static int find_best(making_room *m, uint32_t *fewest, uint32_t *n)
{
  int rc = find_victims(m, fewest, n);
  uint64_t young;

  if (rc <= 0 || m->given != NULL || (uint32_t)harm(m, *fewest) < 2)
    return rc;
  young = harm(m, *fewest);
  qsort(m->list, m->n, sizeof(*m->list), by_size);
  rc = find_victims(m, fewest, n);
  if (rc <= 0 || harm(m, *fewest) < young)
    return rc;
  qsort(m->list, m->n, sizeof(*m->list), by_weight);
  return find_victims(m, fewest, n);
}

static int try_over(making_room *m)
{
  uint32_t fewest = 0, n = 0;
  int rc = find_candidates(m);

  if (rc < 0 || m->n == 0)
    return rc;
  rc = pai__trial_begin(&m->trial, m->s);
  if (rc == PAI_OK)
    rc = find_best(m, &fewest, &n);
  pai__trial_end(&m->trial, m->s);
  if (rc < 0 || fewest > m->n)
    return rc;
  return claim(m, fewest, n);
}

static int make_room(making_room *m)
{
  size_t most = m->s->runs.len + 1;
  int rc = try_over(m);

  if (m->list != NULL)
    pai__free(&m->s->alloc, m->list, most * sizeof(*m->list));
  return rc;
}

int pai__try_over(pai_sched *s, uint32_t req, int strategy, bool beyond_share)
{
  making_room m = {
    .s = s,
    .req = req,
    .ask = { .req = req, .strategy = strategy, .beyond_share = beyond_share }
  };
  int rc = pai__try(s, req, strategy, beyond_share);

  return rc != 0 ? rc : make_room(&m);
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

static bool overlaps(const pai_sched *s, const pai__run *run, uint32_t claimed)
{
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    for (uint32_t k = 0; k < claimed; k++)
      if (slots[i].node == ((pai__slot *)s->slots.data)[k].node &&
          (slots[i].gpus & ((pai__slot *)s->slots.data)[k].gpus) != 0)
        return true;
  return false;
}

/* Without those that stop, or will for it: does it keep to its share?  And if
 * all were gone, would the nodes have what is claimed of them?  PAI_OK,
 * PAI_EBUSY or PAI_ENOMEM. */
static int check_claim(pai_sched *s, uint32_t req, uint32_t n)
{
  const pai__slot *slots = s->slots.data;
  making_room m = { .s = s,
                    .req = req,
                    .ask = { .req = req,
                             .beyond_share = s->lends || s->own_shares } };
  int rc = pai__trial_begin(&m.trial, s);

  for (int stay = 0; rc == PAI_OK && stay <= 1; stay++) {
    for (uint32_t i = 0; i < s->runs.len; i++) {
      const pai__run *run = pai__run_at(s, i);

      if (run->req != PAI__NONE && run->state >= PAI__RUN_PLACED &&
          stay == (run->state != PAI__RUN_STOPPING && !overlaps(s, run, n)))
        pai__run_lift(s, run, true);
    }
    if (stay == 0 && !keeps_share(&m, n))
      rc = PAI_EBUSY;
  }
  for (uint32_t i = 0; rc == PAI_OK && i < n; i++)
    if (!pai__room_settled(pai__room_at(s, slots[i].node), 0))
      rc = PAI_EBUSY;
  pai__trial_end(&m.trial, s);
  return rc;
}

int pai__claim_over(pai_sched *s, uint32_t req, uint32_t n)
{
  making_room m = { .s = s, .req = req };
  uint64_t by = pai__req_at(s, req)->id;
  size_t most = s->runs.len + 1;
  int rc = check_claim(s, req, n);

  if (rc < 0) {
    pai__unfit(s, pai__req_at(s, req), n);
    return rc;
  }
  rc = PAI_ENOMEM;
  m.list = pai__zalloc(&s->alloc, most * sizeof(*m.list));
  for (uint32_t i = 0; m.list != NULL && i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE && run->state >= PAI__RUN_PLACED &&
        run->state != PAI__RUN_STOPPING && overlaps(s, run, n))
      m.list[m.n++] = (victim){ run->order, 0, i, 0, false };
  }
  if (m.list == NULL ||
      pai__flat_reserve(&s->decisions, &s->alloc, m.n + 1) < 0)
    pai__unfit(s, pai__req_at(s, req), n);
  else
    rc = pai__claim(s, req, n);
  if (rc == 0) {
    qsort(m.list, m.n, sizeof(*m.list), by_weight);
    rc = stop_victims(&m, m.n, by);
  }
  if (m.list != NULL)
    pai__free(&s->alloc, m.list, most * sizeof(*m.list));
  return rc;
}
