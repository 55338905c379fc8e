/* bridge_gang.c - turns requests into HiveD groups, and binds runs to cells */
#include "sched/hived/bridge.h"

#include <stdlib.h>

/* --- requests ------------------------------------------------------------- */

static int by_leaves(const void *a, const void *b)
{
  const pai__hived_member *x = a, *y = b;

  return x->leaves < y->leaves ? -1 : x->leaves > y->leaves;
}

/* Counts tasks by number of GPUs.  Tasks without GPUs are no pods of the
 * group. */
static int find_members(pai__bridge *g, const pai_sched *s, const pai__req *r,
                        uint32_t *type)
{
  const pai__want *w = pai__wants_of(s, r);
  pai__hived_member *list;
  uint32_t n = 0;

  g->members.len = 0;
  if (pai__flat_reserve(&g->members, &g->alloc, r->nwants) < 0)
    return PAI_ENOMEM;
  list = g->members.data;
  for (uint32_t i = 0; i < r->nwants; i++) {
    uint32_t k = 0;

    if (w[i].gpus == 0)
      continue;
    if (n > 0 && w[i].type != *type)
      return PAI_EINVAL;
    *type = w[i].type;
    while (k < n && list[k].leaves != w[i].gpus)
      k++;
    if (k == n)
      list[n++] = (pai__hived_member){ .leaves = w[i].gpus };
    list[k].pods += w[i].tasks;
  }
  g->members.len = n;
  if (n > 1)
    qsort(list, n, sizeof(*list), by_leaves);
  return n > 0 ? PAI_OK : PAI_ENOTSUP;
}

int pai__bridge_request(pai__bridge *g, const pai_sched *s, uint32_t req,
                        const pai__bridge_name *name, pai__hived_request *out)
{
  const pai__req *r = pai__req_at(s, req);
  const char *vc = s->cluster->vcs[r->vc_index].name;
  const char *pin = pai__texts_text(&s->names, r->pin);
  uint32_t type = PAI__NONE;
  int rc = find_members(g, s, r, &type);

  if (rc < 0)
    return rc;
  *out = (pai__hived_request){ .group = name->text,
                               .group_len = name->len,
                               .members = g->members.data,
                               .nmembers = g->members.len,
                               .priority = r->priority,
                               .lazy = r->lazy != 0 };
  out->leaves = out->members[0].leaves;
  out->vc = pai__hived_find_vc(g->engine, vc, strlen(vc));
  out->pin = PAI__NOTHING;
  if (pin != NULL)
    out->pin = pai__hived_find_pin(g->engine, out->vc, pin, strlen(pin));
  out->leaf_type = PAI__NOTHING;
  if (type != PAI__NONE)
    out->leaf_type =
      type < s->cluster->nkinds
        ? pai__hived_find_leaf_type(g->engine, s->cluster->kinds[type],
                                    strlen(s->cluster->kinds[type]))
        : PAI__HIVED_UNKNOWN;
  return PAI_OK;
}

/* --- binding -------------------------------------------------------------- */

/* Returns the leaf of the lowest GPU of a mask, and clears it there. */
static uint32_t next_leaf(const pai__bridge *g, const pai_sched *s,
                          const pai__slot *slot, uint64_t *gpus)
{
  uint32_t bit = 0;

  while ((*gpus >> bit & 1) == 0)
    bit++;
  *gpus &= ~(UINT64_C(1) << bit);
  return ((uint32_t *)g->shared->leaves
            .data)[s->cluster->nodes[slot->node].first_gpu + bit];
}

/* Returns the type of the preassigned cell that a leaf of the group was in
 * before, found by name. */
static uint32_t former_type(const pai__bridge *g, const pai__bridge *before,
                            const pai__bridge_name *name, uint32_t leaf)
{
  const pai_cluster *old = before->shared->cluster, *c = g->shared->cluster;
  uint32_t group, own, type;
  size_t node;

  if (pai_cluster_find_node(
        old, c->nodes[pai__hived_leaf_node(g->engine, leaf)].name, &node) < 0)
    return PAI__HIVED_ANY_TYPE;
  group = pai__hived_find_group(before->engine, name->text, name->len);
  type = pai__hived_leaf_chain(g->engine, leaf);
  own = pai__hived_find_leaf(
    before->engine, (uint32_t)node, pai__hived_leaf_index(g->engine, leaf),
    pai__hived_find_chain(before->engine, c->types[type].name,
                          strlen(c->types[type].name)));
  type = pai__hived_group_type(before->engine, group, own);
  if (type == PAI__NOTHING)
    return PAI__HIVED_ANY_TYPE;
  type = pai__cluster_find_type(c, old->types[type].name,
                                strlen(old->types[type].name));
  return type != PAI__NOTHING ? type : PAI__HIVED_ANY_TYPE;
}

typedef struct binding {
  pai__bridge *g;
  const pai_sched *s;
  const pai__run *run;
  const pai__bridge *before; /* or NULL */
  pai__bridge_name name;
} binding;

static void add_leaf(const binding *b, uint32_t leaf)
{
  uint32_t type = PAI__HIVED_ANY_TYPE;

  if (pai__req_at(b->s, b->run->req)->priority < 0)
    type = PAI__NOTHING;
  else if (leaf != PAI__NONE && b->before != NULL)
    type = former_type(b->g, b->before, &b->name, leaf);
  ((uint32_t *)b->g->wanted.data)[b->g->wanted.len++] = leaf;
  ((uint32_t *)b->g->types.data)[b->g->types.len++] = type;
}

/* Lists the leaves of a run, tasks by ascending GPUs.  Tasks that an elastic
 * gang lacks get PAI__NONE. */
static int list_leaves(const binding *b)
{
  pai__bridge *g = b->g;
  const pai__hived_member *members = g->members.data;
  const pai__want *w = pai__wants_of(b->s, pai__req_at(b->s, b->run->req));
  const pai__slot *slots = pai__slots_of(b->s, b->run);
  uint32_t total = pai__hived_before(members, g->members.len, 0).leaves;

  g->wanted.len = g->types.len = 0;
  if (pai__flat_reserve(&g->wanted, &g->alloc, total) < 0 ||
      pai__flat_reserve(&g->types, &g->alloc, total) < 0)
    return PAI_ENOMEM;
  total = 0;
  for (uint32_t m = 0; m < g->members.len; m++) {
    total += members[m].leaves * members[m].pods;
    for (uint32_t i = 0; i < b->run->tasks; i++) {
      uint64_t gpus = slots[i].gpus;

      if (w[slots[i].want].gpus != members[m].leaves)
        continue;
      while (gpus != 0)
        add_leaf(b, next_leaf(g, b->s, &slots[i], &gpus));
    }
    while (g->wanted.len < total)
      add_leaf(b, PAI__NONE);
  }
  return PAI_OK;
}

/* Adds all pods of a group to the engine. */
static int add_pods(const binding *b, pai__hived_request *q,
                    const pai__hived_info *info)
{
  uint64_t id = pai__req_at(b->s, b->run->req)->id;
  uint32_t first = 0, task = 0;
  int rc = PAI_OK;

  for (uint32_t m = 0; m < q->nmembers; m++)
    for (uint32_t i = 0; i < q->members[m].pods && rc == PAI_OK; i++) {
      uint32_t leaf = info->leaves[first];

      q->leaves = q->members[m].leaves;
      rc = pai__hived_add(
        b->g->engine, q, pai__bridge_pod(id, b->run->instance, task++),
        leaf != PAI__NONE ? pai__hived_leaf_node(b->g->engine, leaf)
                          : PAI__NONE,
        i, info);
      first += q->leaves;
    }
  return rc;
}

int pai__bridge_bind(pai__bridge *g, const pai_sched *s, uint32_t run,
                     const pai__hived_info *info, const pai__bridge *before)
{
  binding b = { .g = g, .s = s, .run = pai__run_at(s, run), .before = before };
  uint64_t id = pai__req_at(s, b.run->req)->id;
  pai__hived_info found = { 0 };
  pai__hived_request q = { 0 };
  int rc;

  pai__bridge_name_of(&b.name, id, b.run->instance);
  rc = pai__bridge_request(g, s, b.run->req, &b.name, &q);
  if (rc == PAI_ENOTSUP || rc == PAI_EINVAL)
    return PAI_OK; /* not placed by cells */
  if (rc == PAI_OK && info == NULL) {
    rc = list_leaves(&b);
    found.leaves = g->wanted.data;
    found.types = g->types.data;
    info = &found;
  }
  return rc == PAI_OK ? add_pods(&b, &q, info) : rc;
}

void pai__bridge_drop(pai__bridge *g, uint64_t id, uint32_t instance)
{
  pai__bridge_name name;
  uint32_t group;

  pai__bridge_name_of(&name, id, instance);
  group = pai__hived_find_group(g->engine, name.text, name.len);
  if (group != PAI__NOTHING)
    pai__hived_drop_group(g->engine, group);
}

static uint32_t find_reserving(const pai__bridge *g, uint64_t id,
                               uint32_t instance)
{
  const pai__reserving *list = g->reserving.data;
  uint32_t i = 0;

  while (i < g->reserving.len &&
         (list[i].id != id || list[i].instance != instance))
    i++;
  return i < g->reserving.len ? i : PAI__NONE;
}

int pai__bridge_list(pai__bridge *g, uint64_t id, uint32_t instance)
{
  uint32_t i;

  if (find_reserving(g, id, instance) != PAI__NONE)
    return PAI_OK;
  if (pai__flat_reserve(&g->reserving, &g->alloc, 1) < 0)
    return PAI_ENOMEM;
  i = pai__flat_push(&g->reserving, 1);
  ((pai__reserving *)g->reserving.data)[i] = (pai__reserving){ id, instance };
  return PAI_OK;
}

void pai__bridge_unlist(pai__bridge *g, uint64_t id, uint32_t instance)
{
  uint32_t i = find_reserving(g, id, instance);
  pai__reserving *list = g->reserving.data;

  if (i == PAI__NONE)
    return;
  g->reserving.len--;
  memmove(list + i, list + i + 1, (g->reserving.len - i) * sizeof(*list));
}

void pai__bridge_forget(pai__bridge *g, uint64_t id)
{
  pai__reserving *list = g->reserving.data;

  for (uint32_t i = 0; i < g->reserving.len;) {
    pai__bridge_name name;

    if (list[i].id != id) {
      i++;
      continue;
    }
    pai__bridge_name_of(&name, id, list[i].instance);
    (void)pai__hived_delete_unallocated(
      g->engine, name.text, name.len,
      pai__bridge_pod(id, list[i].instance, 0));
    g->reserving.len--;
    memmove(list + i, list + i + 1, (g->reserving.len - i) * sizeof(*list));
  }
}
