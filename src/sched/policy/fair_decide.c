/* fair_decide.c - fair-share policy: counts what users hold, and picks the
 * next request */
#include "sched/policy/fair.h"

#include <inttypes.h>
#include <stdio.h>

enum { GPUS, CPUS, MEMORY, RESOURCES };

/* A user of a virtual cluster. */
typedef struct member {
  uint64_t has[RESOURCES];
  uint64_t usage; /* decayed usage, before this decision */
  uint64_t key;   /* lowest goes first */
  uint32_t group, person;
  uint32_t next; /* next waiting member of the group */
  pai__pending waits;
} member;

typedef struct group {
  uint64_t has[RESOURCES];
  uint64_t usage, key, weight;
  uint32_t first; /* first waiting member, or PAI__NONE */
  uint32_t best;  /* waiting member that is next */
} group;

/* A user across virtual clusters. */
typedef struct person {
  uint64_t gpus, jobs;
} person;

typedef struct deciding {
  pai__fair *f;
  pai_sched *s;
  uint64_t all[RESOURCES];
  pai__backlog waits; /* by member */
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

/* Returns 2^31 * has / all, rounded down where numbers are large. */
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

/* Compares products of up to 128 bits. */
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

/* --- what members hold ---------------------------------------------------- */

static void sum_up(deciding *d)
{
  const pai__sched_cluster *cluster = d->s->cluster;

  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    const pai__sched_sku *b = pai__sched_sku_of(cluster, i);

    d->all[GPUS] += b->gpus;
    d->all[CPUS] += pai__sched_sku_cpu_millis(b);
    d->all[MEMORY] += b->memory;
  }
}

static int make_groups(deciding *d)
{
  const pai__sched_cluster *cluster = d->s->cluster;

  if (pai__flat_reset(&d->groups, &d->s->alloc, cluster->nvcs) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < cluster->nvcs; i++) {
    group *g = group_at(d, i);

    for (uint32_t k = 0; cluster->vcs[i].own != NULL && k < cluster->nkinds;
         k++)
      g->weight += cluster->vcs[i].own[k];
    if (g->weight == 0)
      g->weight = 1;
    g->first = g->best = PAI__NONE;
  }
  return PAI_OK;
}

/* Requests without a user count as one user. */
static uint32_t find_person(deciding *d, uint32_t user)
{
  return pai__lookup_push(&d->person_of, &d->persons, &d->s->alloc,
                          (uint64_t)user + 1);
}

/* Returns PAI__NONE if memory is short. */
static uint32_t find_member(deciding *d, const pai__req *r)
{
  uint64_t key = ((uint64_t)r->vc_index + 1) << 32 | r->user;
  uint32_t known = d->members.len, of = find_person(d, r->user), i = PAI__NONE;
  member *m;

  if (of != PAI__NONE)
    i = pai__lookup_push(&d->member_of, &d->members, &d->s->alloc, key);
  if (i == PAI__NONE || i < known)
    return i;
  m = member_at(d, i);
  m->group = r->vc_index;
  m->person = of;
  m->waits = PAI__NOTHING_PENDING;
  if (d->f->mode == PAI__FAIR_DECAY)
    m->usage = pai__usage_of(&d->f->usage, r->vc_index, r->user);
  group_at(d, r->vc_index)->usage =
    pai__usage_more(group_at(d, r->vc_index)->usage, m->usage, 1);
  return i;
}

static void add_run(deciding *d, member *m, const pai__run *run)
{
  const pai__want *wants = pai__wants_of(d->s, pai__req_at(d->s, run->req));
  const pai__slot *slots = pai__slots_of(d->s, run);
  person *p = person_at(d, m->person);

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];
    uint64_t more[RESOURCES] = { w->gpus, w->cpu_millis, w->memory };

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

static uint32_t member_of(void *ctx, const pai__req *r)
{
  return find_member(ctx, r);
}

static pai__pending *pending_of(void *ctx, uint32_t i)
{
  return &member_at(ctx, i)->waits;
}

/* --- which request is next ------------------------------------------------ */

static const pai__waiter *head_of(const deciding *d, const member *m)
{
  return pai__backlog_head(&d->waits, &m->waits);
}

/* Compares two waiting users of a virtual cluster; at equal keys the older
 * request goes first. */
static bool is_before(const deciding *d, const member *a, const member *b)
{
  return a->key != b->key ? a->key < b->key
                          : head_of(d, a)->turn < head_of(d, b)->turn;
}

/* Compares two virtual clusters; at equal keys the older next request goes
 * first. */
static bool is_poorer(const deciding *d, const group *a, const group *b)
{
  if (is_less(a->key, b->weight, b->key, a->weight))
    return true;
  return !is_less(b->key, a->weight, a->key, b->weight) &&
         head_of(d, member_at(d, a->best))->turn <
           head_of(d, member_at(d, b->best))->turn;
}

/* Finds the next waiting member of a virtual cluster, and unlinks members that
 * do not wait any more. */
static void find_best(const deciding *d, group *g)
{
  uint32_t *link = &g->first;

  g->best = PAI__NONE;
  while (*link != PAI__NONE) {
    member *m = member_at(d, *link);

    if (pai__pending_count(&m->waits) == 0) {
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

/* Returns the next member of the next virtual cluster; NULL if no request
 * waits. */
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

/* --- trying --------------------------------------------------------------- */

static int refuse(deciding *d, uint32_t req, uint64_t wanted, uint64_t found,
                  uint64_t most, const char *things)
{
  char text[100];
  uint32_t name;
  pai__sched_reason *reason;

  (void)snprintf(text, sizeof(text),
                 "a user has at most %" PRIu64 " %s at a time", most, things);
  if (pai__texts_add(&d->s->names, &d->s->alloc, text, &name) < 0)
    return PAI_ENOMEM;
  reason = pai__sched_reason_say(d->s, req, PAI_LACK_QUOTA);
  reason->wanted = wanted;
  reason->found = found;
  reason->text = name;
  return 0;
}

/* Returns 1 if the limits of the user allow one more instance; 0 if not, with
 * the reason set; or a code. */
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

/* Such a request is never allowed, so no request waits for it. */
bool pai__fair_is_beyond(const pai__fair *f, const pai_sched *s, uint32_t req)
{
  return f->user_max_gpus != 0 &&
         pai__gpus_wanted(s, req) > (uint64_t)f->user_max_gpus;
}

/* Counts the run that was placed last; a gang may have started with fewer
 * tasks. */
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
    rc = pai__try(d->s, req, d->f->plain.place, !d->f->plain.shares);
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
    uint32_t req = head_of(d, m)->req;

    rc = try_one(d, m, req);
    if (rc == 0 && !d->f->greedy && !pai__fair_is_beyond(d->f, d->s, req))
      rc = pai__backlog_pass_all(&d->waits, &m->waits);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      pai__backlog_pass(&d->waits, &m->waits);
    find_best(d, group_at(d, m->group));
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- deciding ------------------------------------------------------------- */

static void dispose(deciding *d)
{
  const pai_alloc *alloc = &d->s->alloc;

  pai__flat_dispose(&d->members, alloc);
  pai__flat_dispose(&d->groups, alloc);
  pai__flat_dispose(&d->persons, alloc);
  pai__flat_dispose(&d->member_of.slots, alloc);
  pai__flat_dispose(&d->person_of.slots, alloc);
}

int pai__fair_decide(pai__fair *f, pai_sched *s)
{
  deciding own = { .f = f, .s = s }, *d = &own;
  int rc;

  pai__flat_init(&d->members, sizeof(member));
  pai__flat_init(&d->groups, sizeof(group));
  pai__flat_init(&d->persons, sizeof(person));
  pai__lookup_init(&d->member_of);
  pai__lookup_init(&d->person_of);
  sum_up(d);
  rc = pai__backlog_begin(&d->waits, s, &f->plain.waiters, f->greedy);
  if (rc == PAI_OK)
    rc = make_groups(d);
  if (rc == PAI_OK)
    rc = count_runs(d);
  if (rc == PAI_OK)
    rc = pai__backlog_fill(&d->waits, d, member_of, pending_of);
  if (rc == PAI_OK) {
    rank_all(d);
    rc = serve(d);
  }
  dispose(d);
  return rc;
}
