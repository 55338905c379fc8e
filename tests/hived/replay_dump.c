/* replay_dump.c - what a configuration makes: types, cells, views */
#include "hived/replaying.h"

static void begin(pai__json_writer *w, const char *key, bool list)
{
  hived_replay_put_key(w, key);
  (list ? pai__json_begin_array : pai__json_begin_object)(w);
}

static const char *type_name(const pai__hived *h, uint32_t type)
{
  return h->cluster->types[type].name;
}

static const char *chain_name(const pai__hived *h, uint32_t chain)
{
  return type_name(h, h->chains[chain].type);
}

static void put_address(const hived_replay *r, const char *key, uint32_t vcell,
                        pai__json_writer *w)
{
  pai__buf b;

  pai__buf_init(&b, &r->alloc);
  pai__hived_virtual_address(r->engine, vcell, &b);
  if (key != NULL)
    hived_replay_put_key(w, key);
  pai__json_text(w, pai__buf_text(&b), b.len);
  if (!pai__buf_ok(&b))
    w->out->failed = true;
  pai__buf_dispose(&b);
}

static void put_types(const pai__hived *h, pai__json_writer *w)
{
  begin(w, "chainLevelTypes", false);
  for (uint32_t i = 0; i < h->nchains; i++) {
    begin(w, chain_name(h, i), true);
    for (uint32_t l = 0; l < h->chains[i].levels; l++)
      hived_replay_put_text(
        w, type_name(h, h->levels[h->chains[i].level + l].type));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
  begin(w, "chainLevelLeafNums", false);
  for (uint32_t i = 0; i < h->nchains; i++) {
    begin(w, chain_name(h, i), true);
    for (uint32_t l = 0; l < h->chains[i].levels; l++)
      pai__json_int(w, h->levels[h->chains[i].level + l].leaves);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
  begin(w, "leafTypeToChains", false);
  for (uint32_t i = 0; i < h->nleaf_types; i++) {
    const pai__leaf_type *t = &h->leaf_types[i];

    if (t->type == PAI__NOTHING)
      break;
    begin(w, type_name(h, t->type), true);
    for (uint32_t k = 0; k < t->count; k++)
      hived_replay_put_text(w, chain_name(h, h->type_chains[t->first + k]));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* --- physical cells ------------------------------------------------------- */

static void put_nodes(const pai__hived *h, uint32_t cell, pai__json_writer *w)
{
  const pai__pcell *c = &h->pcells[cell];

  begin(w, "nodes", true);
  for (uint32_t i = cell; i < c->skip;) {
    if (h->pcells[i].node == PAI__NOTHING) {
      i++;
      continue;
    }
    hived_replay_put_text(w, h->cluster->nodes[h->pcells[i].node].name);
    i = h->pcells[i].skip;
  }
  pai__json_end_array(w);
  begin(w, "indices", true);
  if (c->node == PAI__NOTHING)
    pai__json_int(w, -1);
  for (uint32_t i = cell; c->node != PAI__NOTHING && i < c->skip; i++)
    if (h->pcells[i].level == 1)
      pai__json_int(w, pai__hived_leaf_index(h, h->pcells[i].leaf));
  pai__json_end_array(w);
}

static void put_flag(pai__json_writer *w, const char *key, bool on)
{
  if (!on)
    return;
  hived_replay_put_key(w, key);
  pai__json_bool(w, true);
}

static void put_physical_cell(const pai__hived *h, uint32_t cell,
                              pai__json_writer *w)
{
  const pai__cell *from = &h->cluster->cells[cell];

  pai__json_begin_object(w);
  hived_replay_put_key(w, "address");
  hived_replay_put_text(w, from->address);
  hived_replay_put_key(w, "level");
  pai__json_int(w, h->pcells[cell].level);
  hived_replay_put_key(w, "type");
  hived_replay_put_text(w, type_name(h, from->type));
  put_nodes(h, cell, w);
  put_flag(w, "pinned", from->pin != NULL);
  put_flag(w, "isNodeLevel", h->cluster->types[from->type].is_node);
  if (from->parent != PAI__NOTHING) {
    hived_replay_put_key(w, "parent");
    hived_replay_put_text(w, h->cluster->cells[from->parent].address);
  }
  pai__json_end_object(w);
}

static void put_physical(const pai__hived *h, pai__json_writer *w)
{
  begin(w, "physical", false);
  for (uint32_t i = 0; i < h->nchains; i++) {
    begin(w, chain_name(h, i), true);
    for (uint32_t l = h->chains[i].levels; l > 0; l--)
      for (uint32_t k = 0; k < h->npcells; k++)
        if (h->pcells[k].chain == i && h->pcells[k].level == l)
          put_physical_cell(h, k, w);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* --- virtual cells -------------------------------------------------------- */

static void put_virtual_cell(const hived_replay *r, uint32_t cell,
                             pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const pai__vcell *v = &h->vcells[cell];
  uint32_t type =
    h->levels[h->chains[h->pairs[v->pair].chain].level + v->level - 1].type;

  pai__json_begin_object(w);
  put_address(r, "address", cell, w);
  hived_replay_put_key(w, "level");
  pai__json_int(w, v->level);
  hived_replay_put_key(w, "type");
  hived_replay_put_text(w, type_name(h, type));
  put_flag(w, "isNodeLevel", h->cluster->types[type].is_node);
  if (v->parent != PAI__NOTHING)
    put_address(r, "parent", v->parent, w);
  put_address(r, "preassigned", v->root, w);
  pai__json_end_object(w);
}

/* By level, from the top; those below one root, or those that are not pinned
 * of a chain. */
static void put_level_order(const hived_replay *r, uint32_t vc, uint32_t pair,
                            uint32_t root, pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  uint32_t first = h->vcs[vc].first, end = first + h->vcs[vc].ncells;

  for (uint32_t level = PAI__CELLS_MAX_LEVELS; level > 0; level--)
    for (uint32_t i = first; i < end; i++) {
      const pai__vcell *v = &h->vcells[i];

      if (v->level == level && v->pair == pair &&
          (root != PAI__NOTHING ? v->root == root : !v->pinned))
        put_virtual_cell(r, i, w);
    }
}

static void put_virtuals(const hived_replay *r, bool pinned,
                         pai__json_writer *w)
{
  const pai__hived *h = r->engine;

  begin(w, pinned ? "virtualPinned" : "virtualNonPinned", false);
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    const pai__hived_vc *v = &h->vcs[vc];

    begin(w, v->name, false);
    for (uint32_t i = 0; !pinned && i < h->npairs; i++) {
      if (h->pairs[i].vc != vc || h->pairs[i].view == PAI__NOTHING)
        continue;
      begin(w, chain_name(h, h->pairs[i].chain), true);
      put_level_order(r, vc, i, PAI__NOTHING, w);
      pai__json_end_array(w);
    }
    for (uint32_t i = v->pin; pinned && i < v->pin + v->npins; i++) {
      uint32_t root = h->pins[i].root;

      begin(w, h->cluster->cells[h->pins[i].cell].pin, true);
      put_level_order(r, vc, h->vcells[root].pair, root, w);
      pai__json_end_array(w);
    }
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* --- views ---------------------------------------------------------------- */

static void put_view(const hived_replay *r, const char *key, uint32_t view,
                     pai__json_writer *w)
{
  const pai__hived *h = r->engine;
  const pai__hived_view *v = &h->views[view];

  begin(w, key, true);
  for (uint32_t i = 0; i < v->count; i++) {
    uint32_t cell = h->vnodes[v->first + i].cell;

    if (v->physical)
      hived_replay_put_text(w, h->cluster->cells[cell].address);
    else
      put_address(r, NULL, cell, w);
  }
  pai__json_end_array(w);
}

static void put_views(const hived_replay *r, pai__json_writer *w)
{
  const pai__hived *h = r->engine;

  begin(w, "clusterViewPhysical", false);
  for (uint32_t i = 0; i < h->nchains; i++)
    put_view(r, chain_name(h, i), h->chains[i].view, w);
  pai__json_end_object(w);
  begin(w, "clusterViewNonPinned", false);
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    begin(w, h->vcs[vc].name, false);
    for (uint32_t i = 0; i < h->npairs; i++)
      if (h->pairs[i].vc == vc && h->pairs[i].view != PAI__NOTHING)
        put_view(r, chain_name(h, h->pairs[i].chain), h->pairs[i].view, w);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
  begin(w, "clusterViewPinned", false);
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    const pai__hived_vc *v = &h->vcs[vc];

    begin(w, v->name, false);
    for (uint32_t i = v->pin; i < v->pin + v->npins; i++)
      put_view(r, h->cluster->cells[h->pins[i].cell].pin, h->pins[i].view, w);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

void hived_replay_put_parsed(const hived_replay *r, pai__json_writer *w)
{
  pai__json_begin_object(w);
  put_types(r->engine, w);
  put_physical(r->engine, w);
  put_virtuals(r, false, w);
  put_virtuals(r, true, w);
  put_views(r, w);
  pai__json_end_object(w);
}
