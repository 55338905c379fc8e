/*
 * show.c - HiveD extender: cells and affinity groups as JSON
 *
 * Only leaves have a state.  A larger cell has the common state of its leaves,
 * or Used if they differ.
 */
#include "sched/hived/extender/extender.h"
#include "yaml/scalar.h"

#include <stdlib.h>

typedef struct showing {
  pai_hived_extender *e;
  const pai__hived *h;
  pai__json_writer w;
  pai__buf text; /* an address or a time */
} showing;

static void begin(showing *s, pai_hived_extender *e)
{
  *s = (showing){ .e = e, .h = e->engine };
  pai__buf_init(&s->text, &e->alloc);
  pai__json_writer_init(&s->w, &e->body, false);
}

static int end(showing *s)
{
  s->e->body.failed |= !pai__buf_ok(&s->text);
  pai__buf_dispose(&s->text);
  return pai__json_finish(&s->w);
}

static const char *virtual_address(showing *s, uint32_t vcell)
{
  pai__buf_clear(&s->text);
  pai__hived_virtual_address(s->h, vcell, &s->text);
  s->e->body.failed |= !pai__buf_ok(&s->text);
  return pai__buf_text(&s->text);
}

static const char *vc_name(const pai__hived *h, uint32_t vc)
{
  return vc < h->nvcs ? h->vcs[vc].name : pai__hived_name_text(h, vc);
}

/* --- one cell ------------------------------------------------------------- */

static uint32_t join(uint32_t a, uint32_t b)
{
  return a == b ? a : PAI__LEAF_USED;
}

static uint32_t state_of(const pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];
  uint32_t i = c->leaf, state = h->pleaves[i].state;

  while (++i < h->npleaves && h->pleaves[i].cell < c->skip)
    state = join(state, h->pleaves[i].state);
  return state;
}

static uint32_t virtual_state(const pai__hived *h, uint32_t vcell)
{
  const pai__vcell *v = &h->vcells[vcell];
  uint32_t i = v->leaf, state = h->vleaves[i].state;

  while (++i < h->nvleaves && h->vleaves[i].cell < v->skip)
    state = join(state, h->vleaves[i].state);
  return state;
}

/* What physical and virtual cells have in common. */
typedef struct shown {
  uint32_t type;
  bool top; /* show the leaf type */
  const char *address;
  uint32_t state;
  bool sick;
  int32_t priority;
} shown;

static void put_head(showing *s, const shown *c)
{
  static const char *const states[] = { "Free", "Used", "Reserving",
                                        "Reserved" };
  const pai__cell_type *types = s->h->cluster->types;
  uint32_t leaf = c->type;

  while (types[leaf].child != PAI__NOTHING)
    leaf = types[leaf].child;
  if (c->top)
    pai__json_write(&s->w, "leafCellType:s", types[leaf].name);
  pai__json_write(&s->w, "cellType:s", types[c->type].name);
  if (types[c->type].is_node)
    pai__json_write(&s->w, "isNodeLevel:b", 1);
  pai__json_write(&s->w,
                  "cellAddress:s,cellState:s,cellHealthiness:s,cellPriority:i",
                  c->address, states[c->state], c->sick ? "Bad" : "Healthy",
                  (int)c->priority);
}

static void put_virtual_head(showing *s, uint32_t vcell)
{
  const pai__hived *h = s->h;
  const pai__vcell *v = &h->vcells[vcell];
  const pai__hived_chain *chain = &h->chains[h->pairs[v->pair].chain];
  bool sick = v->bound != PAI__NOTHING && pai__is_sick(&h->pcells[v->bound]);

  put_head(s, &(shown){ h->levels[chain->level + v->level - 1].type,
                        v->parent == PAI__NOTHING, virtual_address(s, vcell),
                        virtual_state(h, vcell), sick, v->priority });
}

static void put_physical_head(showing *s, uint32_t cell)
{
  const pai__hived *h = s->h;
  const pai__cell *c = &h->cluster->cells[cell];

  put_head(s, &(shown){ c->type, c->parent == PAI__NOTHING, c->address,
                        state_of(h, cell), pai__is_sick(&h->pcells[cell]),
                        h->pcells[cell].priority });
}

/* Returns the virtual cluster that uses a leaf opportunistically, or
 * PAI__NOTHING. */
static uint32_t opportunist(const pai__hived *h, uint32_t leaf)
{
  const pai__pleaf *l = &h->pleaves[leaf];

  return l->state == PAI__LEAF_USED && !l->guaranteed &&
             l->user != PAI__NOTHING
           ? h->groups[l->user].vc
           : PAI__NOTHING;
}

/* Writes the virtual cluster that has a cell, if any. */
static void put_vc(showing *s, uint32_t cell)
{
  const pai__hived *h = s->h;
  const pai__pcell *c = &h->pcells[cell];
  uint32_t vc = c->level == 1 ? opportunist(h, c->leaf) : PAI__NOTHING;

  if (vc == PAI__NOTHING && c->bound != PAI__NOTHING)
    vc = h->pairs[h->vcells[c->bound].pair].vc;
  if (vc != PAI__NOTHING)
    pai__json_write(&s->w, "vc:s", vc_name(h, vc));
}

/* --- cells with their children -------------------------------------------- */

/* Recursion is limited by the number of levels. */
static void put_physical(showing *s, uint32_t cell)
{
  const pai__pcell *cells = s->h->pcells;

  pai__json_write(&s->w, "{");
  put_physical_head(s, cell);
  if (cells[cell].level > 1) {
    pai__json_write(&s->w, "cellChildren:[");
    for (uint32_t i = cell + 1; i < cells[cell].skip; i = cells[i].skip)
      put_physical(s, i);
    pai__json_write(&s->w, "]");
  }
  put_vc(s, cell);
  if (cells[cell].bound != PAI__NOTHING) {
    pai__json_write(&s->w, "virtualCell:{");
    put_virtual_head(s, cells[cell].bound);
    pai__json_write(&s->w, "}");
  }
  pai__json_write(&s->w, "}");
}

/* Writes the physical cell that a virtual cell is bound to. */
static void put_bound(showing *s, uint32_t cell)
{
  pai__json_write(&s->w, "physicalCell:{");
  put_physical_head(s, cell);
  put_vc(s, cell);
  pai__json_write(&s->w, "}");
}

static void put_virtual(showing *s, uint32_t vcell)
{
  const pai__vcell *cells = s->h->vcells;

  pai__json_write(&s->w, "{");
  put_virtual_head(s, vcell);
  if (cells[vcell].level > 1) {
    pai__json_write(&s->w, "cellChildren:[");
    for (uint32_t i = vcell + 1; i < cells[vcell].skip; i = cells[i].skip)
      put_virtual(s, i);
    pai__json_write(&s->w, "]");
  }
  if (cells[vcell].bound != PAI__NOTHING)
    put_bound(s, cells[vcell].bound);
  pai__json_write(&s->w, "}");
}

/* --- lists of cells ------------------------------------------------------- */

static void put_cluster(showing *s)
{
  const pai__hived *h = s->h;

  pai__json_write(&s->w, "[");
  for (uint32_t chain = 0; chain < h->nchains; chain++)
    for (uint32_t i = 0; i < h->npcells; i = h->pcells[i].skip)
      if (h->pcells[i].chain == chain)
        put_physical(s, i);
  pai__json_write(&s->w, "]");
}

/* Writes the leaves that a virtual cluster uses opportunistically. */
static void put_opportunistic(showing *s, uint32_t vc)
{
  const pai__hived *h = s->h;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    uint32_t cell = h->pleaves[i].cell;

    if (opportunist(h, i) != vc)
      continue;
    pai__buf_clear(&s->text);
    pai__buf_printf(&s->text, "%s-opp", h->cluster->cells[cell].address);
    pai__json_write(&s->w, "{");
    put_head(s,
             &(shown){ h->cluster->cells[cell].type, false,
                       pai__buf_text(&s->text), PAI__LEAF_USED,
                       pai__is_sick(&h->pcells[cell]), PAI__OPPORTUNISTIC });
    put_bound(s, cell);
    pai__json_write(&s->w, "}");
  }
}

/* Writes its cells by chain and level, then pinned cells.  `vc` may be the
 * name of a removed virtual cluster. */
static void put_vc_cells(showing *s, uint32_t vc)
{
  const pai__hived *h = s->h;

  pai__json_write(&s->w, "[");
  for (uint32_t i = 0; vc < h->nvcs && i < h->npairs; i++) {
    const pai__hived_pair *pair = &h->pairs[i];

    for (uint32_t l = 0; pair->vc == vc && l < h->chains[pair->chain].levels;
         l++) {
      const pai__pair_level *level = &h->pair_levels[pair->level + l];

      for (uint32_t k = 0; k < level->nroots; k++)
        put_virtual(s, h->roots[level->roots + k]);
    }
  }
  for (uint32_t i = 0; vc < h->nvcs && i < h->vcs[vc].npins; i++)
    put_virtual(s, h->pins[h->vcs[vc].pin + i].root);
  put_opportunistic(s, vc);
  pai__json_write(&s->w, "]");
}

/* Iterates over removed virtual clusters whose groups still run,
 * opportunistically.  `vc` is the previous one, or PAI__NOTHING. */
static uint32_t next_lost(const pai__hived *h, uint32_t vc)
{
  uint32_t next = PAI__NOTHING;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    uint32_t other = opportunist(h, i);

    if (other != PAI__NOTHING && other >= h->nvcs && other < next &&
        (vc == PAI__NOTHING || other > vc))
      next = other;
  }
  return next;
}

static void put_vcs(showing *s)
{
  const pai__hived *h = s->h;
  uint32_t lost = PAI__NOTHING;

  pai__json_write(&s->w, "{");
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    pai__json_write(&s->w, "*:", h->vcs[vc].name);
    put_vc_cells(s, vc);
  }
  while ((lost = next_lost(h, lost)) != PAI__NOTHING) {
    pai__json_write(&s->w, "*:", vc_name(h, lost));
    put_vc_cells(s, lost);
  }
  pai__json_write(&s->w, "}");
}

int pai__ext_show_cluster(pai_hived_extender *e, const char *rest)
{
  showing s;

  (void)rest;
  begin(&s, e);
  pai__json_write(&s.w, "{physicalCluster:");
  put_cluster(&s);
  pai__json_write(&s.w, "virtualClusters:");
  put_vcs(&s);
  pai__json_write(&s.w, "}");
  return end(&s);
}

int pai__ext_show_physical(pai_hived_extender *e, const char *rest)
{
  showing s;

  (void)rest;
  begin(&s, e);
  put_cluster(&s);
  return end(&s);
}

static uint32_t find_vc(const pai__hived *h, const char *name)
{
  uint32_t vc = pai__hived_find_vc(h, name, strlen(name)), lost = PAI__NOTHING;

  if (vc != PAI__HIVED_UNKNOWN)
    return vc;
  while ((lost = next_lost(h, lost)) != PAI__NOTHING)
    if (strcmp(vc_name(h, lost), name) == 0)
      return lost;
  return PAI__NOTHING;
}

int pai__ext_show_vcs(pai_hived_extender *e, const char *rest)
{
  uint32_t vc = *rest != '\0' ? find_vc(e->engine, rest) : PAI__NOTHING;
  showing s;

  if (*rest != '\0' && vc == PAI__NOTHING) {
    pai__buf_printf(&e->why, "VC %s not found", rest);
    return PAI_EINVAL;
  }
  begin(&s, e);
  if (vc != PAI__NOTHING)
    put_vc_cells(&s, vc);
  else
    put_vcs(&s);
  return end(&s);
}

/* --- placements of groups ------------------------------------------------- */

/* A leaf of a placement, with the key it is shown under. */
typedef struct under {
  uint32_t key, i;
} under;

static int by_key(const void *a, const void *b)
{
  const under *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->i < y->i ? -1 : x->i > y->i;
}

/* Sorts the leaves that exist by node or by preassigned cell. */
static under *arrange(const showing *s, const uint32_t *leaves, uint32_t n,
                      bool physical, uint32_t *found)
{
  const pai__hived *h = s->h;
  under *out = pai__arena_zalloc(&s->e->arena, n + 1u, sizeof(*out));

  *found = 0;
  s->e->body.failed |= out == NULL;
  for (uint32_t i = 0; out != NULL && i < n; i++)
    if (leaves[i] != PAI__NOTHING)
      out[(*found)++] = (under){ physical ? pai__hived_leaf_node(h, leaves[i])
                                          : h->vcells[leaves[i]].root,
                                 i };
  if (*found > 1)
    qsort(out, *found, sizeof(*out), by_key);
  return out;
}

static void put_placement(showing *s, const pai__hived_group *g, bool physical)
{
  const pai__hived *h = s->h;
  uint32_t at = physical ? g->physical : g->vcell, n;
  const uint32_t *leaves;
  const under *list;

  if (at == PAI__NOTHING)
    return;
  leaves = pai__words(h, at);
  list = arrange(s, leaves, g->nleaves, physical, &n);
  if (n == 0)
    return;
  pai__json_write(&s->w,
                  physical ? "physicalPlacement:{" : "virtualPlacement:{");
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || list[i].key != list[i - 1].key)
      pai__json_write(&s->w, "*:[",
                      physical ? pai__hived_node_name(h, list[i].key)
                               : virtual_address(s, list[i].key));
    if (physical)
      pai__json_int(&s->w, pai__hived_leaf_index(h, leaves[list[i].i]));
    else
      pai__json_write(&s->w, "s", virtual_address(s, leaves[list[i].i]));
    if (i + 1 == n || list[i + 1].key != list[i].key)
      pai__json_write(&s->w, "]");
  }
  pai__json_write(&s->w, "}");
}

static void put_uid(showing *s, const char *list, uint64_t number, bool first)
{
  const pai__ext_pod *p = pai__ext_numbered(s->e, number);

  if (first)
    pai__json_write(&s->w, "*:[", list);
  if (p != NULL)
    pai__json_write(&s->w, "s", p->uid);
}

static void put_pods(showing *s, uint32_t group)
{
  const pai__hived_group *g = &s->h->groups[group];
  uint32_t i = 0, node;
  uint64_t number;
  bool any = false;

  for (; pai__hived_next_pod(s->h, group, &i, &number, &node); any = true)
    put_uid(s, "allocatedPods", number, !any);
  if (any)
    pai__json_write(&s->w, "]");
  for (i = 0; i < g->npreempting; i++) {
    const uint32_t *pod = pai__words(s->h, g->preempting) + 2u * i;

    put_uid(s, "preemptingPods", pod[0] | (uint64_t)pod[1] << 32, i == 0);
  }
  if (g->npreempting > 0)
    pai__json_write(&s->w, "]");
}

/* --- groups --------------------------------------------------------------- */

static void put_group(showing *s, uint32_t group)
{
  static const char *const states[] = { "", "Allocated", "Preempting",
                                        "BeingPreempted" };
  const pai__hived *h = s->h;
  const pai__hived_group *g = &h->groups[group];

  pai__json_write(&s->w, "{metadata:{name:s},status:{vc:s,priority:i,state:s",
                  pai__hived_group_name(h, group), vc_name(h, g->vc),
                  (int)g->priority, states[g->state]);
  put_placement(s, g, true);
  put_placement(s, g, false);
  put_pods(s, group);
  if (g->was_lazy) {
    pai__buf_clear(&s->text);
    pai__date_iso(&s->text, g->lazy_at * 1000);
    if (pai__buf_ok(&s->text)) /* without milliseconds */
      pai__buf_cut(&s->text, s->text.len - strlen(".000Z"));
    pai__buf_char(&s->text, 'Z');
    pai__json_write(&s->w,
                    "lazyPreemptionStatus:{preemptor:s,preemptionTime:s}",
                    pai__name_text(h, g->by), pai__buf_text(&s->text));
  }
  pai__json_write(&s->w, "}}");
}

static int show_group(pai_hived_extender *e, const char *name)
{
  uint32_t group = pai__hived_find_group(e->engine, name, strlen(name));
  showing s;

  if (group == PAI__NOTHING) {
    pai__buf_printf(&e->why,
                    "Affinity group %s does not exist since it is not "
                    "allocated or preempting",
                    name);
    return PAI_EINVAL;
  }
  begin(&s, e);
  put_group(&s, group);
  return end(&s);
}

/* Lists groups by name; items is null if there are none. */
int pai__ext_show_groups(pai_hived_extender *e, const char *rest)
{
  pai__named *list;
  size_t n;
  showing s;

  if (*rest != '\0')
    return show_group(e, rest);
  list =
    pai__arena_zalloc(&e->arena, e->engine->live_groups + 1, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  n = pai__groups_named(e->engine, list);
  begin(&s, e);
  pai__json_write(&s.w, n > 0 ? "{items:[" : "{items:null}");
  for (size_t i = 0; i < n; i++)
    put_group(&s, list[i].index);
  if (n > 0)
    pai__json_write(&s.w, "]}");
  return end(&s);
}
