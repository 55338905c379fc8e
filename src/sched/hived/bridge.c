/* bridge.c - state of the policy `hived`: cells and places of the scheduler's
 * cluster */
#include "sched/hived/bridge.h"

#include "json/json.h"
#include "resource/bits.h"
#include "sched/hived/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- names ---------------------------------------------------------------- */

void pai__bridge_name_of(pai__bridge_name *name, uint64_t id,
                         uint32_t instance)
{
  name->len = (size_t)snprintf(name->text, sizeof(name->text),
                               "%" PRIu64 ".%" PRIu32, id, instance);
}

bool pai__bridge_name_read(const char *text, uint64_t *id, uint32_t *instance)
{
  pai__bridge_name name;
  char *end;

  *id = strtoull(text, &end, 10);
  *instance = *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
  pai__bridge_name_of(&name, *id, *instance);
  return strcmp(name.text, text) == 0;
}

uint64_t pai__bridge_pod(uint64_t id, uint32_t instance, uint32_t task)
{
  uint64_t h = id * UINT64_C(0x9e3779b97f4a7c15) + instance;

  h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + task;
  return (h ^ h >> 32) | 1;
}

/* --- places --------------------------------------------------------------- */

static pai__leaf_place *place_of(const pai__bridge *g, uint32_t leaf)
{
  return (pai__leaf_place *)g->shared->places.data + leaf;
}

static uint32_t *leaf_at(const pai__bridge *g,
                         const pai__sched_cluster *cluster, uint32_t node,
                         uint32_t bit)
{
  return (uint32_t *)g->shared->leaves.data + cluster->nodes[node].first_gpu +
         bit;
}

/* Bit of a GPU on a node, by the device number that jobs see. */
static uint32_t bit_of(const pai__sched_cluster *cluster, uint32_t node,
                       uint32_t number)
{
  const uint16_t *numbers = cluster->numbers + cluster->nodes[node].first_gpu;
  uint32_t bit = 0, n = pai__sched_sku_of(cluster, node)->gpus;

  while (bit < n && numbers[bit] != number)
    bit++;
  return bit < n ? bit : PAI__NONE;
}

static uint32_t count_leaves(const pai_cluster *c)
{
  uint32_t n = 0;

  for (size_t i = 0; i < c->ncells; i++)
    n += c->cells[i].gpu != PAI__NOTHING;
  return n;
}

static int find_places(pai__bridge *g, const pai__sched_cluster *cluster)
{
  pai__bridge_shared *b = g->shared;
  const pai_cluster *c = b->cluster;
  uint32_t nleaves = count_leaves(c), ngpus = 0;

  for (uint32_t i = 0; i < cluster->nnodes; i++)
    ngpus += pai__sched_sku_of(cluster, i)->gpus;
  if (pai__flat_reserve(&b->places, &b->alloc, nleaves) < 0 ||
      pai__flat_reserve(&b->leaves, &b->alloc, ngpus) < 0 ||
      pai__flat_reserve(&b->nodes, &b->alloc, cluster->nnodes) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&b->places, nleaves);
  (void)pai__flat_push(&b->leaves, ngpus);
  (void)pai__flat_push(&b->nodes, cluster->nnodes);
  for (uint32_t i = 0; i < ngpus; i++)
    ((uint32_t *)b->leaves.data)[i] = PAI__NONE;
  for (uint32_t i = 0; i < cluster->nnodes; i++)
    ((uint32_t *)b->nodes.data)[i] = PAI__NONE;
  for (uint32_t i = 0; i < nleaves; i++) {
    uint32_t node = pai__hived_leaf_node(g->engine, i);
    pai__leaf_place *p = place_of(g, i);

    p->node = pai__sched_cluster_node(cluster, c->nodes[node].name);
    p->bit = p->node == PAI__NONE
               ? PAI__NONE
               : bit_of(cluster, p->node, pai__hived_leaf_index(g->engine, i));
    if (p->bit == PAI__NONE) {
      p->node = PAI__NONE;
      continue;
    }
    *leaf_at(g, cluster, p->node, p->bit) = i;
    ((uint32_t *)b->nodes.data)[p->node] = node;
  }
  return PAI_OK;
}

/* --- life ----------------------------------------------------------------- */

/* Copies the cluster in a form that HiveD can start with: with cells for
 * machines without any, and at least one virtual cluster. */
static int as_hived(pai__bridge *g, const pai__sched_cluster *cluster,
                    pai_error **err)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  int rc;

  o.alloc = &g->alloc;
  o.form = "openpai";
  rc = pai_cluster_parse(&g->shared->cluster, cluster->text, cluster->text_len,
                         &o, err);
  return rc == PAI_OK ? pai__cluster_as_hived(g->shared->cluster, err) : rc;
}

static pai__bridge_shared *new_shared(const pai_alloc *alloc)
{
  pai__bridge_shared *b = pai__zalloc(alloc, sizeof(*b));

  if (b == NULL)
    return NULL;
  atomic_init(&b->owners, 1);
  b->alloc = *alloc;
  pai__flat_init(&b->places, sizeof(pai__leaf_place));
  pai__flat_init(&b->leaves, sizeof(uint32_t));
  pai__flat_init(&b->nodes, sizeof(uint32_t));
  return b;
}

static void unref_shared(pai__bridge_shared *b)
{
  pai_alloc alloc;

  if (b == NULL ||
      atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) != 1)
    return;
  pai_cluster_free(b->cluster);
  pai__flat_dispose(&b->places, &b->alloc);
  pai__flat_dispose(&b->leaves, &b->alloc);
  pai__flat_dispose(&b->nodes, &b->alloc);
  alloc = b->alloc;
  pai__free(&alloc, b, sizeof(*b));
}

static pai__bridge *new_bridge(const pai_alloc *alloc)
{
  pai__bridge *g = pai__zalloc(alloc, sizeof(*g));

  if (g == NULL)
    return NULL;
  g->alloc = *alloc;
  pai__flat_init(&g->reserving, sizeof(pai__reserving));
  pai__flat_init(&g->members, sizeof(pai__hived_member));
  pai__flat_init(&g->wanted, sizeof(uint32_t));
  pai__flat_init(&g->types, sizeof(uint32_t));
  pai__flat_init(&g->suggested, sizeof(uint64_t));
  pai__flat_init(&g->tasks, sizeof(pai_task_place));
  pai__flat_init(&g->beside, sizeof(pai__beside));
  pai__waiters_init(&g->waiters, PAI__ALIKE_RANK);
  return g;
}

static void dispose(pai__bridge *g)
{
  pai__flat *list[] = { &g->reserving, &g->members, &g->wanted, &g->types,
                        &g->suggested, &g->tasks,   &g->beside };

  pai__hived_free(g->engine);
  unref_shared(g->shared);
  for (size_t i = 0; i < PAI__LEN(list); i++)
    pai__flat_dispose(list[i], &g->alloc);
  pai__waiters_dispose(&g->waiters, &g->alloc);
}

void pai__bridge_free(pai__bridge *g)
{
  pai_alloc alloc;

  if (g == NULL)
    return;
  dispose(g);
  alloc = g->alloc;
  pai__free(&alloc, g, sizeof(*g));
}

static int by_order(const void *a, const void *b)
{
  const pai__run *x = *(const pai__run *const *)a;
  const pai__run *y = *(const pai__run *const *)b;

  return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_known(const pai__bridge *g, const pai_sched *s,
                     const pai__run *run)
{
  pai__bridge_name name;

  pai__bridge_name_of(&name, pai__req_at(s, run->req)->id, run->instance);
  return pai__hived_find_group(g->engine, name.text, name.len) != PAI__NOTHING;
}

/* Binds current runs that the engine does not know, in the order of their
 * start. */
static int bind_all(pai__bridge *g, const pai_sched *s,
                    const pai__bridge *before)
{
  size_t most = s->runs.len + 1, n = 0;
  const pai__run **runs = pai__zalloc(&g->alloc, most * sizeof(*runs));
  int rc = runs != NULL ? PAI_OK : PAI_ENOMEM;

  for (uint32_t i = 0; runs != NULL && i < s->runs.len; i++)
    if (pai__run_at(s, i)->req != PAI__NONE &&
        pai__run_at(s, i)->state >= PAI__RUN_PLACED &&
        !is_known(g, s, pai__run_at(s, i)))
      runs[n++] = pai__run_at(s, i);
  if (n > 1)
    qsort(runs, n, sizeof(*runs), by_order);
  for (size_t i = 0; i < n && rc == PAI_OK; i++)
    rc = pai__bridge_bind(g, s, (uint32_t)(runs[i] - (pai__run *)s->runs.data),
                          NULL, before);
  if (runs != NULL)
    pai__free(&g->alloc, runs, most * sizeof(*runs));
  return rc;
}

static int make(pai__bridge *g, const pai_sched *s, pai_error **err)
{
  int rc;

  g->shared = new_shared(&g->alloc);
  if (g->shared == NULL)
    return PAI_ENOMEM;
  rc = as_hived(g, s->cluster, err);
  if (rc == PAI_OK)
    rc = pai__hived_new(&g->engine, g->shared->cluster, &g->alloc, err);
  return rc == PAI_OK ? find_places(g, s->cluster) : rc;
}

int pai__bridge_catch_up(pai__bridge *g, const pai_sched *s)
{
  int rc = PAI_OK;

  if (g->claims)
    rc = bind_all(g, s, NULL);
  g->claims = g->claims && s->claims.len != 0;
  return rc;
}

/* --- saving --------------------------------------------------------------- */

int pai__bridge_save(const pai__bridge *g, pai__buf *out)
{
  const pai__reserving *list = g->reserving.data;
  pai__json_writer w;
  bool ok;

  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  pai__json_member(&w, "cells");
  ok = pai__hived_save(g->engine, &w);
  pai__json_put_array(&w, "reserving");
  for (uint32_t i = 0; i < g->reserving.len; i++) {
    pai__bridge_name name;

    pai__bridge_name_of(&name, list[i].id, list[i].instance);
    pai__json_text(&w, name.text, name.len);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  return ok && pai__json_finish(&w) == PAI_OK ? PAI_OK : PAI_ENOMEM;
}

static int load_reserving(pai__bridge *g, const pai__tree *t, pai__node list)
{
  pai__tree_walk walk;
  pai__node item;
  int rc = PAI_OK;

  if (list == PAI__NO_NODE || pai__tree_type(t, list) != PAI__SEQUENCE)
    return PAI_EINVAL;
  walk = pai__tree_iter(t, list);
  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    uint64_t id;
    uint32_t instance;

    if (pai__tree_type(t, item) != PAI__STRING ||
        !pai__bridge_name_read(pai__tree_str(t, item, NULL), &id, &instance))
      return PAI_EINVAL;
    rc = pai__bridge_list(g, id, instance);
  }
  return rc;
}

static int load_state(pai__bridge *g, const char *saved, size_t len,
                      pai_error **err)
{
  pai__json_options how = { .alloc = &g->alloc };
  const char *wrong = "reserving";
  pai__tree *t;
  pai__node cells;
  int rc = pai__json_parse(&t, saved, len, &how, err);

  if (rc < 0)
    return rc;
  cells = pai__tree_get(t, 0, "cells");
  rc = cells == PAI__NO_NODE ? PAI_EINVAL
                             : pai__hived_restore(g->engine, t, cells, &wrong);
  if (rc == PAI_OK)
    rc = load_reserving(g, t, pai__tree_get(t, 0, "reserving"));
  pai__tree_free(t);
  return rc == PAI_EINVAL
           ? pai__fail(err, rc, "\"%s\" of HiveD's state cannot be", wrong)
           : rc;
}

int pai__bridge_new(pai__bridge **out, const pai_policy_host *host,
                    const pai__bridge *before, const char *saved, size_t len)
{
  const pai_sched *s = host->sched;
  pai__bridge *g = new_bridge(&s->alloc);
  pai_error *err = NULL;
  int rc;

  *out = NULL;
  if (g == NULL)
    return PAI_ENOMEM;
  rc = make(g, s, &err);
  for (uint32_t i = 0; rc == PAI_OK && saved == NULL && i < s->cluster->nnodes;
       i++)
    pai__bridge_see_node(g, s, i);
  if (rc == PAI_OK)
    rc =
      saved != NULL ? load_state(g, saved, len, &err) : bind_all(g, s, before);
  g->claims = s->claims.len != 0;
  if (rc == PAI_OK) {
    *out = g;
    return rc;
  }
  if (err != NULL)
    (void)host->give_up(host, rc, pai_error_message(err));
  pai_error_free(err);
  pai__bridge_free(g);
  return rc;
}

int pai__bridge_clone(pai__bridge **out, const pai__bridge *g,
                      const pai_alloc *alloc)
{
  pai__bridge *copy = new_bridge(alloc);
  int rc;

  *out = NULL;
  if (copy == NULL)
    return PAI_ENOMEM;
  copy->shared = g->shared;
  copy->claims = g->claims;
  atomic_fetch_add_explicit(&g->shared->owners, 1, memory_order_relaxed);
  rc = pai__flat_copy(&copy->reserving, &g->reserving, alloc);
  if (rc == PAI_OK)
    rc = pai__hived_clone(&copy->engine, g->engine);
  if (rc < 0)
    pai__bridge_free(copy);
  else
    *out = copy;
  return rc;
}

void pai__bridge_see_node(pai__bridge *g, const pai_sched *s, uint32_t node)
{
  const pai__free_capacity *capacity = pai__free_capacity_at(s, node);
  uint32_t own = ((uint32_t *)g->shared->nodes.data)[node];

  if (own != PAI__NONE)
    pai__hived_set_node(g->engine, own,
                        capacity->state == PAI_NODE_UP && capacity->sick == 0);
}
