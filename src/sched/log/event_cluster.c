/* event_cluster.c - the event that replaces the cluster */
#include "sched/log/event.h"
#include "sched/sched.h"
#include "sched/node_class.h"

#include "resource/bits.h"
#include "sched/start.h"

typedef struct moving {
  pai_sched *s;
  pai__sched_cluster *cluster; /* new cluster */
  uint32_t *to;                /* new index of each old node, or PAI__NONE */
  pai__cluster_parts parts;
  pai_error **err;
} moving;

/* Marks each node that has a task, even if the task takes nothing of it. */
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

/* Compares node `a` of the old cluster with node `b` of the new one. */
static bool is_alike(const moving *m, uint32_t a, uint32_t b)
{
  const pai__sched_sku *old = pai__sched_sku_of(m->s->cluster, a);
  const pai__sched_sku *new = pai__sched_sku_of(m->cluster, b);

  if (old->all != new->all || old->cpus != new->cpus ||
      old->first_cpu != new->first_cpu || old->memory != new->memory)
    return false;
  for (uint32_t k = 0; k < m->s->cluster->nkinds; k++) {
    uint32_t kind =
      pai__sched_cluster_type(m->cluster, m->s->cluster->kinds[k]);

    if (old->kinds[k] != 0 &&
        (kind >= m->cluster->nkinds || old->kinds[k] != new->kinds[kind]))
      return false;
  }
  return true;
}

/* Runs keep their places, so a node in use must exist in the new cluster
 * unchanged. */
static int match_nodes(moving *m)
{
  const pai_sched *s = m->s;

  mark_used(m);
  for (uint32_t i = 0; i < s->cluster->nnodes; i++) {
    const char *name = s->cluster->nodes[i].name;
    bool used = m->to[i] != 0;

    m->to[i] = pai__sched_cluster_node(m->cluster, name);
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

static uint32_t vc_in(const moving *m, const pai__req *r)
{
  return pai__sched_cluster_default(m->cluster,
                                    pai__texts_text(&m->s->names, r->vc));
}

static int match_vcs(const moving *m)
{
  const pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->reqs.len; i++) {
    const pai__req *r = pai__req_at(s, i);

    if (r->id == 0 || vc_in(m, r) != PAI__NONE)
      continue;
    (void)pai__fail(m->err, PAI_EBUSY,
                    "virtual cluster '%s' has requests, and the new cluster "
                    "has it not",
                    s->cluster->vcs[r->vc_index].name);
    pai__error_help(m->err, "first move them to another one, or cancel them");
    return PAI_EBUSY;
  }
  return PAI_OK;
}

/* --- the new state -------------------------------------------------------- */

static void give_ports(pai_sched *s, const pai__port_list *l)
{
  if (l->cap != 0)
    pai__pool_give(&s->pool, l->at, l->cap / 2);
}

/* Takes over the old state.  A GPU or node is sick if either cluster says
 * so. */
static void move_capacity(pai__free_capacity *new,
                          const pai__free_capacity *old)
{
  pai__free_capacity was = *new;

  *new = *old;
  new->sick |= was.sick;
  if (was.state != PAI_NODE_UP) {
    new->reason = was.reason;
    new->state = was.state;
  }
}

/* Moves the used resources of nodes that are in both clusters. */
static void move_nodes(moving *m)
{
  pai_sched *s = m->s;
  pai__free_capacity *nodes = m->parts.free_capacity.data;

  for (uint32_t i = 0; i < s->cluster->nnodes; i++) {
    uint32_t to = m->to[i];
    const pai__sched_sku *b = pai__sched_sku_of(s->cluster, i);

    if (to == PAI__NONE || !is_alike(m, i, to)) {
      give_ports(s, &pai__free_capacity_at(s, i)->used);
      give_ports(s, &pai__free_capacity_at(s, i)->lost);
      continue;
    }
    move_capacity(&nodes[to], pai__free_capacity_at(s, i));
    if (b->cpu_words != 0)
      memcpy((uint64_t *)m->parts.cpus.data +
               m->cluster->nodes[to].first_cpu_word,
             (uint64_t *)s->cpus.data + s->cluster->nodes[i].first_cpu_word,
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

/* Moves the nodes of reservations, of those that still exist.  Memory is
 * reserved. */
static void move_reservations(moving *m)
{
  pai_sched *s = m->s;
  uint32_t words = PAI__BITS_WORDS(m->cluster->nnodes);

  for (uint32_t i = 0; i < s->reservations.len; i++) {
    pai__sched_reservation *k =
      (pai__sched_reservation *)s->reservations.data + i;
    uint32_t at;
    uint64_t *bits;

    if (k->nodes == PAI__NONE)
      continue;
    at = pai__pool_take(&s->pool, &s->alloc, words);
    bits = pai__pool_at(&s->pool, at);
    memset(bits, 0, words * sizeof(*bits));
    for (uint32_t n = 0; n < s->cluster->nnodes; n++)
      if (m->to[n] != PAI__NONE &&
          pai__bits_has(pai__pool_at(&s->pool, k->nodes), k->words, n))
        pai__bits_set(bits, m->to[n], m->to[n]);
    pai__pool_give(&s->pool, k->nodes, k->words);
    k->nodes = at;
    k->words = words;
  }
}

/* In a virtual cluster with a part of the whole, opportunistic runs count as
 * used, as if they had started there. */
static void count_borrowed(pai_sched *s)
{
  for (uint32_t i = 0; i < s->runs.len; i++) {
    pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        pai__sched_vc_at(s, pai__req_at(s, run->req)->vc_index)->parted)
      run->borrowed = 0;
  }
}

static void move_requests(moving *m)
{
  pai_sched *s = m->s;

  for (uint32_t i = 0; i < s->reqs.len; i++) {
    pai__req *r = pai__req_at(s, i);

    pai__sched_reason_drop(s, i);
    if (r->id != 0)
      pai__class_of(s, r)->vc_index = r->vc_index = vc_in(m, r);
  }
  pai__classes_move(s, m->cluster);
}

static void swap_in(moving *m)
{
  pai_sched *s = m->s;

  pai__sched_cluster_unref(s->cluster);
  s->cluster = pai__sched_cluster_ref(m->cluster);
  pai__parts_use(s, &m->parts);
  pai__node_classes_drop(s);
  s->vc_reasons.len = 0;
  pai__queue_recount(s);
  s->needs_known = 0;
  count_borrowed(s);
  pai__shares_recount(s);
  pai__check_again(s);
  pai__sched_reservation_recount(s);
}

static int move(moving *m, const pai_cluster *c)
{
  pai_sched *s = m->s;
  int rc = match_nodes(m);

  if (rc == PAI_OK)
    rc = match_vcs(m);
  if (rc == PAI_OK &&
      pai__pool_reserve(&s->pool, &s->alloc, s->reservations.len,
                        PAI__BITS_WORDS(m->cluster->nnodes)) < 0)
    rc = pai__oom(m->err);
  if (rc == PAI_OK)
    rc = pai__parts_make(s, m->cluster, c, &m->parts, m->err);
  if (rc < 0)
    return rc;
  move_nodes(m);
  move_reservations(m);
  move_runs(m);
  move_requests(m);
  swap_in(m);
  return PAI_OK;
}

/* If `lost` is not NULL, finds the nodes that could not be moved.  Else moves
 * to the new cluster. */
static int look_or_move(pai_sched *s, const pai_cluster *c, uint8_t *lost,
                        pai_error **err)
{
  moving m = { .s = s, .err = err };
  uint32_t n = s->cluster->nnodes;
  size_t size = (n != 0 ? n : 1) * sizeof(*m.to);
  int rc = pai__sched_cluster_new(&m.cluster, c, &s->alloc, err);

  if (rc < 0)
    return rc;
  m.to = pai__zalloc(&s->alloc, size);
  if (m.to == NULL) {
    rc = pai__oom(err);
  } else if (lost == NULL) {
    rc = move(&m, c);
  } else {
    mark_used(&m);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t to =
        pai__sched_cluster_node(m.cluster, s->cluster->nodes[i].name);

      lost[i] = m.to[i] != 0 && (to == PAI__NONE || !is_alike(&m, i, to));
    }
  }
  pai__free(&s->alloc, m.to, size);
  pai__sched_cluster_unref(m.cluster);
  return rc;
}

int pai__cluster_lost(pai_sched *s, const pai_cluster *c, uint8_t *lost,
                      pai_error **err)
{
  return look_or_move(s, c, lost, err);
}

int pai__on_cluster(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  PAI__CHECK_ARG_ERR(e->cluster != NULL, err);
  return look_or_move(s, e->cluster, NULL, err);
}
