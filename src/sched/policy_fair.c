/*
 * policy_fair.c - whoever has least goes first: virtual clusters, and in each
 * its users
 *
 * "drf": who has the smallest dominant share, of GPUs, CPUs or memory.  "decay":
 * who used the fewest GPUs for the shortest time, of which half is forgotten in
 * each half-life; what is in use counts as if it went on for a 64th of one.
 * Virtual clusters are weighed by the GPUs they own.
 */
#include "sched/usage.h"
#include "sched/walk.h"

#include <inttypes.h>
#include <stdio.h>

enum { DRF, DECAY };
enum { GPUS, CPUS, MEMORY, RESOURCES };

typedef struct fair {
  pai_alloc alloc;
  const pai_sched *s;
  int place, mode;
  bool shares, greedy;
  int64_t half_life, user_max_gpus,
    user_max_jobs; /* 0: as many as there are */
  pai__usage usage;
} fair;

/* What somebody has. */
typedef struct member {
  uint64_t has[RESOURCES];
  uint64_t usage; /* that it had before */
  uint64_t key;   /* who has less goes first */
  uint32_t group, person;
  uint32_t at, end; /* what waits, in the list */
} member;

typedef struct group {
  uint64_t has[RESOURCES];
  uint64_t usage, key, weight;
  uint32_t pending;
} group;

/* A user in all virtual clusters. */
typedef struct person {
  uint64_t gpus, jobs;
} person;

typedef struct deciding {
  fair *f;
  pai_sched *s;
  uint64_t all[RESOURCES];
  pai__flat waiting; /* pai__entry, of which group is a member */
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

  if (d->f->mode == DECAY)
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

    for (uint32_t k = 0; park->tenants[i].gpus != NULL && k < park->nkinds;
         k++)
      g->weight += park->tenants[i].gpus[k];
    if (g->weight == 0)
      g->weight = 1;
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
  if (d->f->mode == DECAY)
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
    const pai__req *r = pai__req_at(d->s, e->req);

    e->group = find_member(d, r);
    if (e->group == PAI__NONE)
      return PAI_ENOMEM;
    group_at(d, r->tenant)->pending++;
  }
  if (rc < 0)
    return rc;
  pai__sort_waiting(&d->waiting);
  for (uint32_t i = d->waiting.len; i-- > 0;) {
    member *m = member_at(d, pai__entry_at(&d->waiting, i)->group);

    m->end = m->end != 0 ? m->end : i + 1;
    m->at = i;
  }
  for (uint32_t i = 0; i < d->members.len; i++)
    set_keys(d, member_at(d, i));
  return PAI_OK;
}

/* --- who is next ---------------------------------------------------------- */

static const pai__entry *head_of(const deciding *d, const member *m)
{
  return pai__entry_at(&d->waiting, m->at);
}

/* Of two that wait; of equals the one whose request came first. */
static bool is_before(const deciding *d, const member *a, const member *b)
{
  const group *of_a = group_at(d, a->group), *of_b = group_at(d, b->group);

  if (a->group != b->group) {
    if (is_less(of_a->key, of_b->weight, of_b->key, of_a->weight))
      return true;
    if (is_less(of_b->key, of_a->weight, of_a->key, of_b->weight))
      return false;
  } else if (a->key != b->key) {
    return a->key < b->key;
  }
  return head_of(d, a)->turn < head_of(d, b)->turn;
}

/* First the virtual cluster, then the user in it; NULL: nobody waits. */
static member *next_member(const deciding *d)
{
  member *first = NULL, *best = NULL;

  for (uint32_t i = 0; i < d->members.len; i++) {
    member *m = member_at(d, i);

    if (m->at != m->end && (first == NULL || is_before(d, m, first)))
      first = m;
  }
  for (uint32_t i = 0; first != NULL && i < d->members.len; i++) {
    member *m = member_at(d, i);

    if (m->at != m->end && m->group == first->group &&
        (best == NULL || is_before(d, m, best)))
      best = m;
  }
  return best;
}

static void pass(const deciding *d, member *m, uint32_t n)
{
  m->at += n;
  group_at(d, m->group)->pending -= n;
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
static bool is_beyond(const deciding *d, uint32_t req)
{
  return d->f->user_max_gpus != 0 &&
         pai__gpus_wanted(d->s, req) > (uint64_t)d->f->user_max_gpus;
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
    uint32_t req = head_of(d, m)->req;

    rc = try_one(d, m, req);
    if (rc == 0 && !d->f->greedy && !is_beyond(d, req))
      pass(d, m, pai__refuse_behind(d->s, &d->waiting, m->at, m->end) - m->at);
    else if (rc == 0 || (rc == 1 && !pai__may_begin(d->s, req)))
      pass(d, m, 1);
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

static int decide_all(deciding *d)
{
  int rc;

  pai__flat_init(&d->waiting, sizeof(pai__entry));
  pai__flat_init(&d->members, sizeof(member));
  pai__flat_init(&d->groups, sizeof(group));
  pai__flat_init(&d->persons, sizeof(person));
  pai__lookup_init(&d->member_of);
  pai__lookup_init(&d->person_of);
  sum_up(d);
  rc = make_groups(d);
  if (rc == PAI_OK)
    rc = count_runs(d);
  if (rc == PAI_OK)
    rc = list_waiting(d);
  if (rc == PAI_OK)
    rc = serve(d);
  dispose(d);
  return rc;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  fair *f = state;
  deciding d = { .f = f, .s = host->sched };
  int rc = PAI_OK, counted = PAI_OK;

  (void)data;
  if (f->mode == DECAY) {
    pai__usage_advance(&f->usage, d.s->m.now);
    rc = pai__usage_count(&f->usage, d.s);
  }
  if (rc == PAI_OK)
    rc = decide_all(&d);
  if (f->mode == DECAY)
    counted = pai__usage_count(&f->usage, d.s);
  return rc < 0 ? rc : counted;
}

/* More than a user may ever have is refused at once. */
static int admit(void *state, void *data, const pai_policy_host *host,
                 uint64_t id)
{
  deciding d = { .f = state, .s = host->sched };
  uint32_t req = pai__req_find(d.s, id);
  char text[120];

  (void)data;
  if (!is_beyond(&d, req))
    return PAI_OK;
  (void)snprintf(text, sizeof(text),
                 "it asks for %llu GPUs, and a user has at most %llu",
                 (unsigned long long)pai__gpus_wanted(d.s, req),
                 (unsigned long long)d.f->user_max_gpus);
  return host->give_up(host, PAI_ENOROOM, text);
}

static int event(void *state, void *data, const pai_policy_host *host,
                 const pai_sched_event *e)
{
  fair *f = state;

  (void)data;
  if (f->mode != DECAY)
    return PAI_OK;
  pai__usage_advance(&f->usage, e->time);
  switch (e->kind) {
  case PAI_SCHED_CLUSTER: f->usage.stale = true; break;
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_RETURNED:
  case PAI_SCHED_RESIZED:
  case PAI_SCHED_CANCEL: break;
  default: return PAI_OK;
  }
  return pai__usage_count(&f->usage, host->sched);
}

/* --- the state ------------------------------------------------------------ */

static const fair defaults = { .place = PAI_PLACE_TOPO,
                               .shares = true,
                               .half_life = 7 * 24 * 3600 };

static const char *const modes[] = { "drf", "decay", NULL };

#define NUMBER(member, least, most)                                  \
  {                                                                  \
    .key = #member, .kind = PAI__OPTION_NUMBER,                      \
    .offset = offsetof(fair, member), .low = (least), .high = (most) \
  }

static const pai__option options_of_it[] = {
  { .key = "mode",
    .kind = PAI__OPTION_CHOICE,
    .offset = offsetof(fair, mode),
    .choices = modes },
  { .key = "shares",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(fair, shares) },
  { .key = "greedy",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(fair, greedy) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(fair, place) },
  NUMBER(half_life, 1, 1000000000),
  NUMBER(user_max_gpus, 0, INT32_MAX),
  NUMBER(user_max_jobs, 0, INT32_MAX),
};

static const pai__plain_type type = { .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it) };

static void close_it(void *state)
{
  fair *f = state;
  pai_alloc alloc;

  if (f == NULL)
    return;
  alloc = f->alloc;
  pai__usage_dispose(&f->usage, &alloc);
  pai__free(&alloc, f, sizeof(*f));
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *options)
{
  pai_sched *s = host->sched;
  fair *f = pai__zalloc(&s->alloc, sizeof(*f));
  pai__tree *tree;
  int rc;

  (void)data;
  (void)cluster;
  if (f == NULL)
    return PAI_ENOMEM;
  *f = defaults;
  f->alloc = s->alloc;
  rc = pai__options_read(host, options, &type, f, &tree);
  if (rc < 0) {
    pai__free(&s->alloc, f, sizeof(*f));
    return rc;
  }
  pai__tree_free(tree);
  f->s = s;
  s->lends = !f->shares;
  pai__usage_init(&f->usage, s->m.now, f->half_life);
  if (f->mode == DECAY)
    rc = pai__usage_count(&f->usage, s);
  if (rc < 0)
    close_it(f);
  else
    *state = f;
  return rc;
}

static int clone(void **copy, const void *state, void *data,
                 const pai_policy_host *host)
{
  const fair *from = state;
  fair *f = pai__zalloc(&host->sched->alloc, sizeof(*f));

  (void)data;
  if (f == NULL)
    return PAI_ENOMEM;
  *f = *from;
  f->alloc = host->sched->alloc;
  f->s = host->sched;
  pai__usage_init(&f->usage, 0, 1);
  if (pai__usage_copy(&f->usage, &from->usage, &f->alloc) < 0) {
    close_it(f);
    return PAI_ENOMEM;
  }
  *copy = f;
  return PAI_OK;
}

static int save(const void *state, void *data, pai_write_cb write,
                void *user_data)
{
  const fair *f = state;

  (void)data;
  return pai__usage_write(&f->usage, f->s, write, user_data);
}

static int load(void **state, void *data, const pai_policy_host *host,
                const pai_cluster *cluster, const char *options,
                const char *saved, size_t len)
{
  int rc = open_it(state, data, host, cluster, options);

  if (rc < 0)
    return rc;
  rc = pai__usage_read(&((fair *)*state)->usage, host->sched, saved, len);
  if (rc < 0) {
    close_it(*state);
    *state = NULL;
  }
  return rc == PAI_EINVAL
           ? host->give_up(host, rc, "this is not what policy 'fair' saves")
           : rc;
}

const pai_policy pai__policy_fair = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "fair",
  .about = "whoever has, or lately had, least goes first: virtual clusters, "
           "and users in them",
  .lends = 1,
  .open = open_it,
  .close = close_it,
  .decide = decide,
  .event = event,
  .clone = clone,
  .save = save,
  .load = load,
  .admit = admit,
};
