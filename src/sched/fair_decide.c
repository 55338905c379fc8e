/* fair_decide.c - who has what, and who is next */
#include "sched/fair.h"

#include <inttypes.h>
#include <stdio.h>

enum { GPUS, CPUS, MEMORY, RESOURCES };

/* What somebody has. */
typedef struct member {
  uint64_t has[RESOURCES];
  uint64_t usage; /* that it had before */
  uint64_t key;   /* who has less goes first */
  uint32_t group, person;
  uint32_t next; /* of its group, that wait */
  /* What waits: in the list; or the first of its two lines, the second being of
     those that are opportunistic. */
  uint32_t at, end;
} member;

typedef struct group {
  uint64_t has[RESOURCES];
  uint64_t usage, key, weight;
  uint32_t first; /* of its members that wait, or PAI__NONE */
  uint32_t best;  /* of these */
} group;

/* A user in all virtual clusters. */
typedef struct person {
  uint64_t gpus, jobs;
} person;

typedef struct deciding {
  pai__fair *f;
  pai_sched *s;
  uint64_t all[RESOURCES];
  const pai__waiters *lines; /* of users; or NULL: all are listed */
  pai__flat waiting;         /* pai__entry, of which group is a member */
  pai__flat members, groups, persons;
  pai__lookup member_of, person_of;
} deciding;

static member *member_at(const deciding *d, uint32_t i)
{
  return (member *)d->members.data + i;
}

static group *group_at(const deciding *d, uint32_t i)
{
  return (group *)d->groups.data + i;
}

static person *person_at(const deciding *d, uint32_t i)
{
  return (person *)d->persons.data + i;
}

/* --- keys ----------------------------------------------------------------- */

/* 2^31 times a part of a whole; a little less where numbers are large. */
static uint64_t part_of(uint64_t has, uint64_t all)
{
  if (all == 0)
    return 0;
  while (all > UINT32_MAX) {
    all >>= 1;
    has >>= 1;
  }
  return (has << 31) / all;
}

static uint64_t key_for(const deciding *d, const uint64_t *has, uint64_t usage)
{
  uint64_t key = 0;

  if (d->f->mode == PAI__FAIR_DECAY)
    return pai__usage_more(usage, has[GPUS], d->f->usage.step);
  for (int i = 0; i < RESOURCES; i++) {
    uint64_t part = part_of(has[i], d->all[i]);

    key = part > key ? part : key;
  }
  return key;
}

/* a * b < c * d, of up to 128 bits. */
static bool is_less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  uint64_t low_ab = (a & UINT32_MAX) * b, low_cd = (c & UINT32_MAX) * d;
  uint64_t high_ab = (a >> 32) * b + (low_ab >> 32);
  uint64_t high_cd = (c >> 32) * d + (low_cd >> 32);

  return high_ab != high_cd ? high_ab < high_cd
                            : (low_ab & UINT32_MAX) < (low_cd & UINT32_MAX);
}

static void set_keys(const deciding *d, member *m)
{
  group *g = group_at(d, m->group);

  m->key = key_for(d, m->has, m->usage);
  g->key = key_for(d, g->has, g->usage);
}

/* --- who has what --------------------------------------------------------- */

static void sum_up(deciding *d)
{
  const pai__park *park = d->s->park;

  for (uint32_t i = 0; i < park->nspots; i++) {
    const pai__build *b = pai__build_of(park, i);

    d->all[GPUS] += b->gpus;
    d->all[CPUS] += b->cpus - b->first_cpu;
    d->all[MEMORY] += b->memory;
  }
}

static int make_groups(deciding *d)
{
  const pai__park *park = d->s->park;

  if (pai__flat_reserve(&d->groups, &d->s->alloc, park->ntenants) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&d->groups, park->ntenants);
  for (uint32_t i = 0; i < park->ntenants; i++) {
    group *g = group_at(d, i);

    for (uint32_t k = 0; park->tenants[i].own != NULL && k < park->nkinds; k++)
      g->weight += park->tenants[i].own[k];
    if (g->weight == 0)
      g->weight = 1;
    g->first = g->best = PAI__NONE;
  }
  return PAI_OK;
}

/* Those who name no user are one. */
static uint32_t find_person(deciding *d, uint32_t user)
{
  uint64_t key = (uint64_t)user + 1;
  uint32_t i = pai__lookup_get(&d->person_of, key);

  if (i != PAI__NONE)
    return i;
  if (pai__flat_reserve(&d->persons, &d->s->alloc, 1) < 0 ||
      pai__lookup_reserve(&d->person_of, &d->s->alloc) < 0)
    return PAI__NONE;
  i = pai__flat_push(&d->persons, 1);
  pai__lookup_add(&d->person_of, key, i);
  return i;
}

/* PAI__NONE without memory. */
static uint32_t find_member(deciding *d, const pai__req *r)
{
  uint64_t key = ((uint64_t)r->tenant + 1) << 32 | r->user;
  uint32_t i = pai__lookup_get(&d->member_of, key);
  uint32_t of;
  member *m;

  if (i != PAI__NONE)
    return i;
  of = find_person(d, r->user);
  if (of == PAI__NONE || pai__flat_reserve(&d->members, &d->s->alloc, 1) < 0 ||
      pai__lookup_reserve(&d->member_of, &d->s->alloc) < 0)
    return PAI__NONE;
  i = pai__flat_push(&d->members, 1);
  pai__lookup_add(&d->member_of, key, i);
  m = member_at(d, i);
  m->group = r->tenant;
  m->person = of;
  if (d->lines != NULL)
    m->at = m->end = PAI__NONE;
  if (d->f->mode == PAI__FAIR_DECAY)
    m->usage = pai__usage_of(&d->f->usage, r->tenant, r->user);
  group_at(d, r->tenant)->usage =
    pai__usage_more(group_at(d, r->tenant)->usage, m->usage, 1);
  return i;
}

/* One instance more of a member. */
static void add_run(deciding *d, member *m, const pai__run *run)
{
  const pai__want *wants = pai__wants_of(d->s, pai__req_at(d->s, run->req));
  const pai__slot *slots = pai__slots_of(d->s, run);
  person *p = person_at(d, m->person);

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];
    uint64_t more[RESOURCES] = { w->gpus, w->cpus, w->memory };

    for (int k = 0; k < RESOURCES; k++) {
      m->has[k] += more[k];
      group_at(d, m->group)->has[k] += more[k];
    }
    p->gpus += w->gpus;
  }
  p->jobs++;
}

static int count_runs(deciding *d)
{
  for (uint32_t i = 0; i < d->s->runs.len; i++) {
    const pai__run *run = pai__run_at(d->s, i);
    uint32_t of;

    if (!pai__run_holds(run))
      continue;
    of = find_member(d, pai__req_at(d->s, run->req));
    if (of == PAI__NONE)
      return PAI_ENOMEM;
    add_run(d, member_at(d, of), run);
  }
  return PAI_OK;
}

static int list_waiting(deciding *d)
{
  int rc = pai__list_waiting(d->s, &d->waiting);

  for (uint32_t i = 0; i < d->waiting.len && rc == PAI_OK; i++) {
    pai__entry *e = pai__entry_at(&d->waiting, i);

    e->group = find_member(d, pai__req_at(d->s, e->req));
    if (e->group == PAI__NONE)
      return PAI_ENOMEM;
  }
  if (rc < 0)
    return rc;
  pai__sort_waiting(&d->waiting);
  for (uint32_t i = d->waiting.len; i-- > 0;) {
    member *m = member_at(d, pai__entry_at(&d->waiting, i)->group);

    m->end = m->end != 0 ? m->end : i + 1;
    m->at = i;
  }
  return PAI_OK;
}

/* Each user has two lines. */
static int find_lines(deciding *d)
{
  const pai__waiters *w = d->lines;
  const uint32_t *heads = w->heads.data;

  for (uint32_t i = 0; i < w->heads.len; i++) {
    const pai__req *r = pai__req_at(d->s, pai__waiter_at(w, heads[i])->req);
    uint32_t of = find_member(d, r);

    if (of == PAI__NONE)
      return PAI_ENOMEM;
    *(r->priority < 0 ? &member_at(d, of)->end : &member_at(d, of)->at) =
      heads[i];
  }
  return PAI_OK;
}

/* --- who is next ---------------------------------------------------------- */

static bool has_more(const deciding *d, const member *m)
{
  return d->lines != NULL ? m->at != PAI__NONE || m->end != PAI__NONE
                          : m->at != m->end;
}

/* Of those of a member that wait; in lines: which of these. */
static uint32_t line_of(const member *m)
{
  return m->at != PAI__NONE ? m->at : m->end;
}

static uint32_t head_of(const deciding *d, const member *m)
{
  return d->lines != NULL ? pai__waiter_at(d->lines, line_of(m))->req
                          : pai__entry_at(&d->waiting, m->at)->req;
}

static uint64_t turn_of(const deciding *d, const member *m)
{
  return d->lines != NULL ? pai__waiter_at(d->lines, line_of(m))->turn
                          : pai__entry_at(&d->waiting, m->at)->turn;
}

/* Of two users of a virtual cluster that wait; of equals the one whose request
 * came first. */
static bool is_before(const deciding *d, const member *a, const member *b)
{
  return a->key != b->key ? a->key < b->key : turn_of(d, a) < turn_of(d, b);
}

/* Likewise of two virtual clusters, by the requests that would be next. */
static bool is_poorer(const deciding *d, const group *a, const group *b)
{
  if (is_less(a->key, b->weight, b->key, a->weight))
    return true;
  return !is_less(b->key, a->weight, a->key, b->weight) &&
         turn_of(d, member_at(d, a->best)) < turn_of(d, member_at(d, b->best));
}

/* Of those of a virtual cluster that wait; who does not any more is left out. */
static void find_best(const deciding *d, group *g)
{
  uint32_t *link = &g->first;

  g->best = PAI__NONE;
  while (*link != PAI__NONE) {
    member *m = member_at(d, *link);

    if (!has_more(d, m)) {
      *link = m->next;
      continue;
    }
    if (g->best == PAI__NONE || is_before(d, m, member_at(d, g->best)))
      g->best = *link;
    link = &m->next;
  }
}

static void rank_all(const deciding *d)
{
  for (uint32_t i = 0; i < d->members.len; i++) {
    member *m = member_at(d, i);
    group *g = group_at(d, m->group);

    set_keys(d, m);
    m->next = g->first;
    g->first = i;
  }
  for (uint32_t i = 0; i < d->groups.len; i++)
    find_best(d, group_at(d, i));
}

/* First the virtual cluster, then the user in it; NULL: nobody waits. */
static member *next_member(const deciding *d)
{
  const group *best = NULL;

  for (uint32_t i = 0; i < d->groups.len; i++) {
    const group *g = group_at(d, i);

    if (g->best != PAI__NONE && (best == NULL || is_poorer(d, g, best)))
      best = g;
  }
  return best != NULL ? member_at(d, best->best) : NULL;
}

static void pass(const deciding *d, member *m)
{
  uint32_t *line = m->at != PAI__NONE ? &m->at : &m->end;

  if (d->lines == NULL)
    m->at++;
  else
    *line = pai__waiters_first(d->lines, d->s,
                               pai__waiter_at(d->lines, *line)->next);
}

/* Its head could not start, and those behind it do not overtake it, but
 * opportunistic ones. */
static int pass_all(deciding *d, member *m)
{
  const pai__why why = { .lack = PAI_LACK_TURN,
                         .behind = pai__req_at(d->s, head_of(d, m))->id,
                         .node = PAI__NONE,
                         .text = PAI__NONE };
  int rc;

  if (d->lines == NULL) {
    m->at = pai__refuse_behind(d->s, &d->waiting, m->at, m->end);
    return PAI_OK;
  }
  rc = pai__alike_refuse(d->s, head_of(d, m), &why);
  *(m->at != PAI__NONE ? &m->at : &m->end) = PAI__NONE;
  return rc;
}

/* --- trying --------------------------------------------------------------- */

static int refuse(deciding *d, uint32_t req, uint64_t wanted, uint64_t found,
                  uint64_t most, const char *things)
{
  char text[100];
  uint32_t name;

  (void)snprintf(text, sizeof(text),
                 "a user has at most %" PRIu64 " %s at a time", most, things);
  if (pai__texts_add(&d->s->names, &d->s->alloc, text, &name) < 0)
    return PAI_ENOMEM;
  *pai__why_make(d->s, req) = (pai__why){ .lack = PAI_LACK_QUOTA,
                                          .wanted = wanted,
                                          .found = found,
                                          .node = PAI__NONE,
                                          .text = name };
  return 0;
}

/* 1: a user may have one more; 0: no, and the reason is kept; or a code. */
static int check_caps(deciding *d, const member *m, uint32_t req)
{
  const person *p = person_at(d, m->person);
  uint64_t gpus = pai__gpus_wanted(d->s, req);
  uint64_t most_gpus = (uint64_t)d->f->user_max_gpus;
  uint64_t most_jobs = (uint64_t)d->f->user_max_jobs;

  if (most_gpus != 0 && gpus != 0 && p->gpus + gpus > most_gpus)
    return refuse(d, req, gpus, most_gpus > p->gpus ? most_gpus - p->gpus : 0,
                  most_gpus, "GPUs");
  if (most_jobs != 0 && p->jobs >= most_jobs)
    return refuse(d, req, 1, 0, most_jobs, "jobs");
  return 1;
}

/* It will never be allowed: nobody waits for it. */
bool pai__fair_is_beyond(const pai__fair *f, const pai_sched *s, uint32_t req)
{
  return f->user_max_gpus != 0 &&
         pai__gpus_wanted(s, req) > (uint64_t)f->user_max_gpus;
}

/* What the run that was placed last has: a gang may have begun smaller. */
static void add_newest(deciding *d, member *m, uint32_t req)
{
  const pai__req *r = pai__req_at(d->s, req);
  uint32_t run = r->last_run;

  while (pai__run_at(d->s, run)->order != d->s->m.orders)
    run = pai__run_at(d->s, run)->before;
  add_run(d, m, pai__run_at(d->s, run));
}

static int try_one(deciding *d, member *m, uint32_t req)
{
  int rc = check_caps(d, m, req);

  if (rc == 1)
    rc = pai__try(d->s, req, d->f->place, !d->f->shares);
  if (rc == 1) {
    add_newest(d, m, req);
    set_keys(d, m);
  }
  return rc;
}

static int serve(deciding *d)
{
  member *m;
  int rc = PAI_OK;

  while (rc >= 0 && (m = next_member(d)) != NULL) {
    uint32_t req = head_of(d, m);

    rc = try_one(d, m, req);
    if (rc == 0 && !d->f->greedy && !pai__fair_is_beyond(d->f, d->s, req))
      rc = pass_all(d, m);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      pass(d, m);
    find_best(d, group_at(d, m->group));
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- deciding ------------------------------------------------------------- */

static void dispose(deciding *d)
{
  const pai_alloc *alloc = &d->s->alloc;

  pai__flat_dispose(&d->waiting, alloc);
  pai__flat_dispose(&d->members, alloc);
  pai__flat_dispose(&d->groups, alloc);
  pai__flat_dispose(&d->persons, alloc);
  pai__flat_dispose(&d->member_of.slots, alloc);
  pai__flat_dispose(&d->person_of.slots, alloc);
}

/* In lines, unless each has to be looked at.  PAI_OK or PAI_ENOMEM. */
static int line_up(deciding *d)
{
  pai__waiters *w = &d->f->waiters;
  int rc = d->f->greedy ? 0 : pai__waiters_ready(w, d->s);

  if (rc <= 0)
    return rc;
  d->lines = w;
  pai__alike_begin(d->s, PAI__ALIKE_USER);
  d->s->effort -= d->s->m.nqueued;
  rc = pai__waiters_line_up(w, d->s);
  d->s->effort += w->heads.len;
  return rc;
}

int pai__fair_decide(pai__fair *f, pai_sched *s)
{
  deciding own = { .f = f, .s = s }, *d = &own;
  int rc;

  pai__flat_init(&d->waiting, sizeof(pai__entry));
  pai__flat_init(&d->members, sizeof(member));
  pai__flat_init(&d->groups, sizeof(group));
  pai__flat_init(&d->persons, sizeof(person));
  pai__lookup_init(&d->member_of);
  pai__lookup_init(&d->person_of);
  sum_up(d);
  rc = line_up(d);
  if (rc == PAI_OK)
    rc = make_groups(d);
  if (rc == PAI_OK)
    rc = count_runs(d);
  if (rc == PAI_OK)
    rc = d->lines != NULL ? find_lines(d) : list_waiting(d);
  if (rc == PAI_OK) {
    rank_all(d);
    rc = serve(d);
  }
  dispose(d);
  return rc;
}
