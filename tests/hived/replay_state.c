/* replay_state.c - the inner state, as HiveD's was recorded */
#include "hived/replaying.h"

#include <stdio.h>
#include <stdlib.h>

void hived_replay_put_key(pai__json_writer *w, const char *key)
{
  pai__json_member(w, key);
}

void hived_replay_put_text(pai__json_writer *w, const char *s)
{
  pai__json_string(w, s);
}

static void begin(pai__json_writer *w, const char *key)
{
  hived_replay_put_key(w, key);
  pai__json_begin_object(w);
}

static void begin_list(pai__json_writer *w, const char *key)
{
  hived_replay_put_key(w, key);
  pai__json_begin_array(w);
}

static void begin_level(pai__json_writer *w, uint32_t level, bool list)
{
  char key[16];

  (void)snprintf(key, sizeof(key), "%u", (unsigned)level);
  if (list)
    begin_list(w, key);
  else
    hived_replay_put_key(w, key);
}

static const char *chain_name(const pai__hived *h, uint32_t chain)
{
  return h->cluster->types[h->chains[chain].type].name;
}

static const char *address_of(const pai__hived *h, uint32_t cell)
{
  return h->cluster->cells[cell].address;
}

static void put_virtual(const hived_replay *r, uint32_t vcell,
                        pai__json_writer *w, bool key)
{
  pai__buf b;

  pai__buf_init(&b, &r->alloc);
  pai__hived_virtual_address(r->engine, vcell, &b);
  if (key)
    pai__json_key(w, pai__buf_text(&b), b.len);
  else
    pai__json_text(w, pai__buf_text(&b), b.len);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

/* --- groups --------------------------------------------------------------- */

/* Devices by node, in the order of the placement. */
static void put_physical(const hived_replay *r, const pai__hived_group *g,
                         pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const uint32_t *leaves = pai__words(h, g->physical);

  begin(w, "physical");
  for (uint32_t i = 0; i < g->nleaves; i++) {
    uint32_t node, k = 0;

    if (leaves[i] == PAI__NOTHING)
      continue;
    node = pai__hived_leaf_node(h, leaves[i]);
    while (leaves[k] == PAI__NOTHING ||
           pai__hived_leaf_node(h, leaves[k]) != node)
      k++;
    if (k < i)
      continue;
    begin_list(w, h->cluster->nodes[node].name);
    for (; k < g->nleaves; k++)
      if (leaves[k] != PAI__NOTHING &&
          pai__hived_leaf_node(h, leaves[k]) == node)
        pai__json_int(w, pai__hived_leaf_index(h, leaves[k]));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_virtuals(const hived_replay *r, const pai__hived_group *g,
                         pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const uint32_t *cells;

  if (g->vcell == PAI__NOTHING)
    return;
  cells = pai__words(h, g->vcell);
  begin(w, "virtual");
  for (uint32_t i = 0; i < g->nleaves; i++) {
    uint32_t root, k = 0;

    if (cells[i] == PAI__NOTHING)
      continue;
    root = h->vcells[cells[i]].root;
    while (cells[k] == PAI__NOTHING || h->vcells[cells[k]].root != root)
      k++;
    if (k < i)
      continue;
    put_virtual(r, root, w, true);
    pai__json_begin_array(w);
    for (; k < g->nleaves; k++)
      if (cells[k] != PAI__NOTHING && h->vcells[cells[k]].root == root)
        put_virtual(r, cells[k], w, false);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static const char *pod_name(const hived_replay *r, uint64_t pod)
{
  return pod - 1 < r->npods ? r->by_number[pod - 1]->name : "?";
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_pods(const hived_replay *r, uint32_t group,
                     pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const pai__hived_group *g = &h->groups[group];
  uint32_t i = 0, node;
  uint64_t pod;

  begin_list(w, "allocatedPods");
  while (pai__hived_next_pod(h, group, &i, &pod, &node))
    hived_replay_put_text(w, pod_name(r, pod));
  pai__json_end_array(w);
  if (g->npreempting > 0) {
    const uint32_t *list = pai__words(h, g->preempting);
    const char **names =
      pai__realloc(&r->alloc, NULL, 0, g->npreempting, sizeof(*names));

    begin_list(w, "preemptingPods");
    for (i = 0; names != NULL && i < g->npreempting; i++)
      names[i] = pod_name(r, list[2u * i] | (uint64_t)list[2u * i + 1] << 32);
    if (names != NULL)
      qsort(names, g->npreempting, sizeof(*names), by_name);
    else
      w->out->failed = true;
    for (i = 0; names != NULL && i < g->npreempting; i++)
      hived_replay_put_text(w, names[i]);
    pai__free(&r->alloc, names, g->npreempting * sizeof(*names));
    pai__json_end_array(w);
  }
}

static void put_groups(const hived_replay *r, pai__json_writer *w)
{
  static const char *const states[] = { "", "Allocated", "Preempting",
                                        "BeingPreempted" };
  const pai__hived *h = r->engine;

  begin(w, "groups");
  for (uint32_t i = 0; i < h->ngroups; i++) {
    const pai__hived_group *g = &h->groups[i];

    if (g->state == PAI__GROUP_GONE)
      continue;
    begin(w, pai__hived_group_name(h, i));
    hived_replay_put_key(w, "state");
    hived_replay_put_text(w, states[g->state]);
    hived_replay_put_key(w, "vc");
    hived_replay_put_text(w, g->vc < h->nvcs ? h->vcs[g->vc].name
                                             : pai__hived_name_text(h, g->vc));
    hived_replay_put_key(w, "priority");
    pai__json_int(w, g->priority);
    put_physical(r, g, w);
    put_virtuals(r, g, w);
    if (g->was_lazy) {
      hived_replay_put_key(w, "lazyPreemptedBy");
      hived_replay_put_text(w, pai__name_text(h, g->by));
    }
    put_pods(r, i, w);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* --- cells ---------------------------------------------------------------- */

static void put_leaf(const hived_replay *r, uint32_t leaf, pai__json_writer *w)
{
  static const char *const states[] = { "Free", "Used", "Reserving",
                                        "Reserved" };
  const pai__hived *h = r->engine;
  const pai__pleaf *l = &h->pleaves[leaf];
  const pai__pcell *c = &h->pcells[l->cell];
  pai__buf b;

  if (l->state == PAI__LEAF_FREE && c->priority == PAI__FREE_PRIORITY &&
      !pai__is_sick(c) && c->bound == PAI__NOTHING)
    return;
  pai__buf_init(&b, &r->alloc);
  pai__buf_printf(&b, "%s:%s", chain_name(h, c->chain),
                  address_of(h, l->cell));
  pai__json_key(w, pai__buf_text(&b), b.len);
  pai__buf_clear(&b);
  pai__buf_printf(&b, "%s|%d|%s|", states[l->state], c->priority,
                  pai__is_sick(c) ? "bad" : "ok");
  if (c->bound != PAI__NOTHING)
    pai__hived_virtual_address(h, c->bound, &b);
  pai__buf_printf(
    &b, "|%s|%s",
    l->user != PAI__NOTHING ? pai__hived_group_name(h, l->user) : "",
    l->reserving != PAI__NOTHING ? pai__hived_group_name(h, l->reserving)
                                 : "");
  pai__json_text(w, pai__buf_text(&b), b.len);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

static void put_cells(const hived_replay *r, uint32_t level,
                      const uint32_t *list, uint32_t n, pai__json_writer *w)
{
  if (n == 0)
    return;
  begin_level(w, level, true);
  for (uint32_t i = 0; i < n; i++)
    hived_replay_put_text(w, address_of(r->engine, list[i]));
  pai__json_end_array(w);
}

static void put_free(const hived_replay *r, bool sick, pai__json_writer *w)
{
  const pai__hived *h = r->engine;

  begin(w, sick ? "badFreeCells" : "freeList");
  for (uint32_t i = 0; i < h->nchains; i++) {
    begin(w, chain_name(h, i));
    for (uint32_t k = 1; k <= h->chains[i].levels; k++) {
      const pai__hived_level *l = &h->levels[h->chains[i].level + k - 1];

      put_cells(r, k, h->lists + (sick ? l->sick_free : l->free),
                sick ? l->nsick : l->nfree, w);
    }
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

static void put_counts(const hived_replay *r, const char *key, bool left,
                       pai__json_writer *w)
{
  const pai__hived *h = r->engine;

  begin(w, key);
  for (uint32_t i = 0; i < h->nchains; i++) {
    begin(w, chain_name(h, i));
    for (uint32_t k = 1; k <= h->chains[i].levels; k++) {
      const pai__hived_level *l = &h->levels[h->chains[i].level + k - 1];

      begin_level(w, k, false);
      pai__json_int(w, left ? l->left : l->wanted);
    }
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* Of each virtual cluster and chain: free cells, or doomed ones. */
static void put_pairs(const hived_replay *r, bool doomed, pai__json_writer *w)
{
  const pai__hived *h = r->engine;

  begin(w, doomed ? "vcDoomedBadCells" : "vcFreeCellNum");
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    begin(w, h->vcs[vc].name);
    for (uint32_t i = 0; i < h->npairs; i++) {
      const pai__hived_pair *pair = &h->pairs[i];

      if (pair->vc != vc)
        continue;
      begin(w, chain_name(h, pair->chain));
      for (uint32_t k = 1; k <= h->chains[pair->chain].levels; k++) {
        const pai__pair_level *l = &h->pair_levels[pair->level + k - 1];

        if (doomed) {
          put_cells(r, k, h->lists + l->doomed, l->ndoomed, w);
        } else {
          begin_level(w, k, false);
          pai__json_int(w, l->free);
        }
      }
      pai__json_end_object(w);
    }
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* In the order of their names, those included that the cluster does not have. */
static void put_sick_nodes(const hived_replay *r, pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  size_t n = 0, k = 0, count = h->nnodes + r->sick.live;
  const char **names =
    pai__realloc(&r->alloc, NULL, 0, count + 1, sizeof(*names));
  const pai__map_entry *e;

  if (names == NULL) {
    w->out->failed = true;
    return;
  }
  for (size_t i = 0; i < h->nnodes; i++)
    if (h->node_sick[i])
      names[n++] = h->cluster->nodes[i].name;
  while ((e = pai__map_next(&r->sick, &k)) != NULL)
    names[n++] = e->key;
  if (n > 1)
    qsort(names, n, sizeof(*names), by_name);
  begin_list(w, "badNodes");
  for (size_t i = 0; i < n; i++)
    hived_replay_put_text(w, names[i]);
  pai__json_end_array(w);
  pai__free(&r->alloc, names, (count + 1) * sizeof(*names));
}

void hived_replay_put_state(const hived_replay *r, pai__json_writer *w)
{
  pai__json_begin_object(w);
  put_groups(r, w);
  begin(w, "leaf");
  for (uint32_t i = 0; i < r->engine->npleaves; i++)
    put_leaf(r, i, w);
  pai__json_end_object(w);
  put_free(r, false, w);
  put_free(r, true, w);
  put_pairs(r, false, w);
  put_pairs(r, true, w);
  put_counts(r, "allVCFreeCellNum", false, w);
  put_counts(r, "totalLeftCellNum", true, w);
  put_sick_nodes(r, w);
  pai__json_end_object(w);
}

/* --- views ---------------------------------------------------------------- */

static void put_view(const hived_replay *r, const char *key, uint32_t view,
                     pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const pai__hived_view *v = &h->views[view];
  uint32_t *list =
    pai__realloc(&r->alloc, NULL, 0, v->count + 1u, sizeof(*list));

  if (list == NULL) {
    w->out->failed = true;
    return;
  }
  pai__view_list(h, v, list);
  begin_list(w, key);
  for (uint32_t i = 0; i < v->count; i++) {
    uint32_t cell = h->vnodes[list[i]].cell;

    if (v->physical)
      hived_replay_put_text(w, address_of(h, cell));
    else
      put_virtual(r, cell, w, false);
  }
  pai__json_end_array(w);
  pai__free(&r->alloc, list, (v->count + 1u) * sizeof(*list));
}

void hived_replay_put_views(const hived_replay *r, pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  pai__buf b;

  pai__buf_init(&b, &r->alloc);
  pai__json_begin_object(w);
  for (uint32_t i = 0; i < h->nchains; i++) {
    pai__buf_clear(&b);
    pai__buf_printf(&b, "phys:%s", chain_name(h, i));
    put_view(r, pai__buf_text(&b), h->chains[i].view, w);
  }
  for (uint32_t i = 0; i < h->npairs; i++) {
    if (h->pairs[i].view == PAI__NOTHING)
      continue;
    pai__buf_clear(&b);
    pai__buf_printf(&b, "vc:%s:%s", h->vcs[h->pairs[i].vc].name,
                    chain_name(h, h->pairs[i].chain));
    put_view(r, pai__buf_text(&b), h->pairs[i].view, w);
  }
  for (uint32_t i = 0; i < h->npins; i++) {
    pai__buf_clear(&b);
    pai__buf_printf(&b, "pin:%s:%s", h->vcs[h->pins[i].vc].name,
                    h->cluster->cells[h->pins[i].cell].pin);
    put_view(r, pai__buf_text(&b), h->pins[i].view, w);
  }
  pai__json_end_object(w);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

void hived_replay_put_health(const hived_replay *r, uint32_t vc,
                             uint32_t chain, uint32_t level,
                             pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  uint32_t pair = pai__pair_of(h, vc, chain);
  const pai__pair_level *l;
  char text[32];

  pai__json_begin_object(w);
  if (pair != PAI__NOTHING && level > 0 && level <= h->chains[chain].levels) {
    l = &h->pair_levels[h->pairs[pair].level + level - 1];
    for (uint32_t i = 0; i < l->nroots; i++) {
      const pai__vcell *v = &h->vcells[h->roots[l->roots + i]];
      bool sick =
        v->bound != PAI__NOTHING && pai__is_sick(&h->pcells[v->bound]);

      put_virtual(r, h->roots[l->roots + i], w, true);
      (void)snprintf(text, sizeof(text), "%s/%d", sick ? "Bad" : "Healthy",
                     v->priority);
      hived_replay_put_text(w, text);
    }
  }
  pai__json_end_object(w);
}
