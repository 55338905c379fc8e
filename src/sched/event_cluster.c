/* event_cluster.c - the cluster is another one */
#include "sched/event.h"
#include "sched/sched.h"
#include "sched/shelf.h"

#include "resource/bits.h"
#include "sched/check.h"

typedef struct moving {
  pai_sched *s;
  pai__park *park; /* the new one */
  uint32_t *to;    /* of each old node: the new one, or PAI__NONE */
  pai__flat nodes, cpus, used, lent;
  pai_error **err;
} moving;

/* A mark at each node that has a task, also one that takes nothing of it. */
static void mark_used(const moving *m)
{
  const pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots = pai__slots_of(s, run);

    for (uint32_t k = 0; pai__run_holds(run) && k < run->tasks; k++)
      m->to[slots[k].node] = 1;
  }
}

/* Of node `a` before and node `b` from now on. */
static bool is_alike(const moving *m, uint32_t a, uint32_t b)
{
  const pai__build *old = pai__build_of(m->s->park, a);
  const pai__build *new = pai__build_of(m->park, b);

  if (old->all != new->all || old->cpus != new->cpus ||
      old->first_cpu != new->first_cpu || old->memory != new->memory)
    return false;
  for (uint32_t k = 0; k < m->s->park->nkinds; k++) {
    uint32_t kind = pai__park_type(m->park, m->s->park->kinds[k]);

    if (old->kinds[k] != 0 &&
        (kind >= m->park->nkinds || old->kinds[k] != new->kinds[kind]))
      return false;
  }
  return true;
}

/* What runs keeps its place: so a node in use must be there, and as it was. */
static int match_nodes(moving *m)
{
  const pai_sched *s = m->s;

  mark_used(m);
  for (uint32_t i = 0; i < s->park->nspots; i++) {
    const char *name = s->park->spots[i].name;
    bool used = m->to[i] != 0;

    m->to[i] = pai__park_node(m->park, name);
    if (!used || (m->to[i] != PAI__NONE && is_alike(m, i, m->to[i])))
      continue;
    (void)pai__fail(m->err, PAI_EBUSY,
                    m->to[i] == PAI__NONE
                      ? "node '%s' is in use, and the new cluster has it not"
                      : "node '%s' is in use, and has other devices, CPUs or "
                        "memory in the new cluster",
                    name);
    pai__error_help(m->err, "first tell that what runs there has finished or "
                            "was returned");
    return PAI_EBUSY;
  }
  return PAI_OK;
}

static uint32_t tenant_in(const moving *m, const pai__req *r)
{
  const char *vc = pai__texts_text(&m->s->names, r->vc);
  uint32_t tenant = pai__park_tenant(m->park, vc != NULL ? vc : "default");

  return tenant == PAI__NONE && vc == NULL && m->park->ntenants == 1 ? 0
                                                                     : tenant;
}

static int match_tenants(const moving *m)
{
  const pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->reqs.len; i++) {
    const pai__req *r = pai__req_at(s, i);

    if (r->id == 0 || tenant_in(m, r) != PAI__NONE)
      continue;
    (void)pai__fail(m->err, PAI_EBUSY,
                    "virtual cluster '%s' has requests, and the new cluster "
                    "has it not",
                    s->park->tenants[r->tenant].name);
    pai__error_help(m->err, "first move them to another one, or cancel them");
    return PAI_EBUSY;
  }
  return PAI_OK;
}

/* --- the new state -------------------------------------------------------- */

static int make(moving *m)
{
  const pai_sched *s = m->s;
  uint32_t sums = m->park->ntenants * pai__park_shares(m->park);

  pai__flat_init(&m->nodes, sizeof(pai__room));
  pai__flat_init(&m->cpus, sizeof(uint64_t));
  pai__flat_init(&m->used, sizeof(uint64_t));
  pai__flat_init(&m->lent, sizeof(uint64_t));
  if (pai__flat_reserve(&m->nodes, &s->alloc, m->park->nspots) < 0 ||
      pai__flat_reserve(&m->cpus, &s->alloc, m->park->cpu_words) < 0 ||
      pai__flat_reserve(&m->used, &s->alloc, sums) < 0 ||
      pai__flat_reserve(&m->lent, &s->alloc, sums) < 0 ||
      pai__flat_reserve(&m->s->held, &s->alloc, pai__check_words(m->park)) <
        0 ||
      pai__flat_reserve(&m->s->queued, &s->alloc, m->park->ntenants) < 0)
    return pai__oom(m->err);
  (void)pai__flat_push(&m->nodes, m->park->nspots);
  (void)pai__flat_push(&m->cpus, m->park->cpu_words);
  (void)pai__flat_push(&m->used, sums);
  (void)pai__flat_push(&m->lent, sums);
  return PAI_OK;
}

static void give_ports(pai_sched *s, const pai__port_list *l)
{
  if (l->cap != 0)
    pai__pool_give(&s->pool, l->at, l->cap / 2);
}

/* What it has of the old one; sick is what either says. */
static void move_room(pai__room *new, const pai__room *old)
{
  pai__room was = *new;

  *new = *old;
  new->sick |= was.sick;
  if (was.state != PAI_NODE_UP) {
    new->why = was.why;
    new->state = was.state;
  }
}

/* Nodes that were there keep what is taken of them. */
static void move_nodes(moving *m)
{
  pai_sched *s = m->s;
  pai__room *nodes = m->nodes.data;

  for (uint32_t i = 0; i < s->park->nspots; i++) {
    uint32_t to = m->to[i];
    const pai__build *b = pai__build_of(s->park, i);

    if (to == PAI__NONE || !is_alike(m, i, to)) {
      give_ports(s, &pai__room_at(s, i)->used);
      give_ports(s, &pai__room_at(s, i)->lost);
      continue;
    }
    move_room(&nodes[to], pai__room_at(s, i));
    if (b->cpu_words != 0)
      memcpy((uint64_t *)m->cpus.data + m->park->spots[to].first_cpu_word,
             (uint64_t *)s->cpus.data + s->park->spots[i].first_cpu_word,
             b->cpu_words * sizeof(uint64_t));
  }
}

static void move_runs(moving *m)
{
  pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    pai__slot *slots = pai__slots_of(s, run);
    bool holds = run->req != PAI__NONE && run->state != PAI__RUN_RETURNED;

    for (uint32_t k = 0; holds && k < run->tasks; k++)
      slots[k].node = m->to[slots[k].node];
  }
}

/* Of each reservation the nodes that are still there; there is room. */
static void move_kept(moving *m)
{
  pai_sched *s = m->s;
  uint32_t words = PAI__BITS_WORDS(m->park->nspots);

  for (uint32_t i = 0; i < s->kept.len; i++) {
    pai__kept *k = (pai__kept *)s->kept.data + i;
    uint32_t at;
    uint64_t *bits;

    if (k->nodes == PAI__NONE)
      continue;
    at = pai__pool_take(&s->pool, &s->alloc, words);
    bits = pai__pool_at(&s->pool, at);
    memset(bits, 0, words * sizeof(*bits));
    for (uint32_t n = 0; n < s->park->nspots; n++)
      if (m->to[n] != PAI__NONE &&
          pai__bits_has(pai__pool_at(&s->pool, k->nodes), k->words, n))
        pai__bits_set(bits, m->to[n], m->to[n]);
    pai__pool_give(&s->pool, k->nodes, k->words);
    k->nodes = at;
    k->words = words;
  }
}

/* In a virtual cluster that has a part, opportunistic ones count as well; they
 * would do so if they had begun in it. */
static void count_borrowed(pai_sched *s)
{
  for (uint32_t i = 0; i < s->runs.len; i++) {
    pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        pai__tenant_at(s, pai__req_at(s, run->req)->tenant)->parted)
      run->borrowed = 0;
  }
}

static void move_requests(moving *m)
{
  pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->reqs.len; i++) {
    pai__req *r = pai__req_at(s, i);
    pai__want *w = r->id != 0 ? pai__wants_of(s, r) : NULL;

    pai__why_drop(s, i);
    if (w == NULL)
      continue;
    r->tenant = tenant_in(m, r);
    for (uint32_t k = 0; k < r->nwants; k++)
      if (w[k].type_name != PAI__NONE) {
        w[k].type =
          pai__park_type(m->park, pai__texts_text(&s->names, w[k].type_name));
        if (w[k].type == PAI__NONE)
          w[k].type = PAI__NO_TYPE;
      }
    pai__req_set_shape(s, i);
  }
}

static void swap_in(moving *m)
{
  pai_sched *s = m->s;

  pai__park_unref(s->park);
  s->park = pai__park_ref(m->park);
  pai__flat_dispose(&s->rooms, &s->alloc);
  pai__flat_dispose(&s->cpus, &s->alloc);
  pai__flat_dispose(&s->shares_used, &s->alloc);
  pai__flat_dispose(&s->shares_lent, &s->alloc);
  s->rooms = m->nodes;
  pai__shelves_drop(s);
  s->cpus = m->cpus;
  s->shares_used = m->used;
  s->shares_lent = m->lent;
  s->rules.len = 0;
  s->queued.len = 0;
  (void)pai__flat_push(&s->queued, s->park->ntenants);
  pai__queue_recount(s);
  s->needs_known = 0;
  pai__lookup_clear(&s->possible);
  count_borrowed(s);
  pai__tally_again(s);
  pai__check_again(s);
  pai__kept_recount(s);
}

static int move(moving *m, const pai_cluster *c)
{
  pai_sched *s = m->s;
  int rc = match_nodes(m);

  if (rc == PAI_OK)
    rc = match_tenants(m);
  if (rc == PAI_OK)
    rc = make(m);
  if (rc == PAI_OK)
    rc = pai__rooms_of_cluster(s, m->park, c, m->nodes.data, m->err);
  if (rc == PAI_OK && pai__pool_reserve(&s->pool, &s->alloc, s->kept.len,
                                        PAI__BITS_WORDS(m->park->nspots)) < 0)
    rc = pai__oom(m->err);
  if (rc < 0) {
    pai__flat_dispose(&m->nodes, &s->alloc);
    pai__flat_dispose(&m->cpus, &s->alloc);
    pai__flat_dispose(&m->used, &s->alloc);
    pai__flat_dispose(&m->lent, &s->alloc);
    return rc;
  }
  pai__cpus_init(m->park, m->cpus.data);
  move_nodes(m);
  move_kept(m);
  move_runs(m);
  move_requests(m);
  swap_in(m);
  return PAI_OK;
}

int pai__cluster_lost(pai_sched *s, const pai_cluster *c, uint8_t *lost,
                      pai_error **err)
{
  moving m = { .s = s, .err = err };
  uint32_t n = s->park->nspots != 0 ? s->park->nspots : 1;
  int rc = pai__park_new(&m.park, c, &s->alloc, err);

  if (rc < 0)
    return rc;
  m.to = pai__zalloc(&s->alloc, n * sizeof(*m.to));
  if (m.to == NULL) {
    pai__park_unref(m.park);
    return pai__oom(err);
  }
  mark_used(&m);
  for (uint32_t i = 0; i < s->park->nspots; i++) {
    uint32_t to = pai__park_node(m.park, s->park->spots[i].name);

    lost[i] = m.to[i] != 0 && (to == PAI__NONE || !is_alike(&m, i, to));
  }
  pai__free(&s->alloc, m.to, n * sizeof(*m.to));
  pai__park_unref(m.park);
  return PAI_OK;
}

int pai__on_cluster(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  moving m = { .s = s, .err = err };
  uint32_t n = s->park->nspots != 0 ? s->park->nspots : 1;
  int rc;

  PAI__CHECK_ARG_ERR(e->cluster != NULL, err);
  rc = pai__park_new(&m.park, e->cluster, &s->alloc, err);
  if (rc < 0)
    return rc;
  m.to = pai__zalloc(&s->alloc, n * sizeof(*m.to));
  rc = m.to != NULL ? move(&m, e->cluster) : pai__oom(err);
  pai__free(&s->alloc, m.to, n * sizeof(*m.to));
  pai__park_unref(m.park);
  return rc;
}
