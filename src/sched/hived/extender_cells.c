/*
 * extender_cells.c - cells, as HiveD shows them
 *
 * Only leaves have a state.  A larger cell has that of all that is in it, and
 * is used where they differ.
 */
#include "sched/hived/extender.h"

static const char *const states[] = { "Free", "Used", "Reserving",
                                      "Reserved" };

static uint32_t join(uint32_t a, uint32_t b)
{
  return a == b ? a : PAI__LEAF_USED;
}

static uint32_t state_of(const pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];
  uint32_t i = c->leaf, state;

  state = h->pleaves[i].state;
  while (++i < h->npleaves && h->pleaves[i].cell < c->skip)
    state = join(state, h->pleaves[i].state);
  return state;
}

static uint32_t virtual_state(const pai__hived *h, uint32_t vcell)
{
  const pai__vcell *v = &h->vcells[vcell];
  uint32_t i = v->leaf, state;

  state = h->vleaves[i].state;
  while (++i < h->nvleaves && h->vleaves[i].cell < v->skip)
    state = join(state, h->vleaves[i].state);
  return state;
}

/* --- what both kinds have ------------------------------------------------- */

typedef struct shown {
  uint32_t type, leaf_type; /* PAI__NOTHING: it is not said */
  const char *address, *more;
  uint32_t state;
  bool sick;
  int32_t priority;
} shown;

static void put_head(const pai__hived *h, const shown *s, pai__json_writer *w,
                     pai__buf *text)
{
  const pai__cell_type *types = h->cluster->types;

  if (s->leaf_type != PAI__NOTHING)
    pai__ext_pair(w, "leafCellType", types[s->leaf_type].name);
  pai__ext_pair(w, "cellType", types[s->type].name);
  if (types[s->type].is_node) {
    pai__ext_key(w, "isNodeLevel");
    pai__json_bool(w, true);
  }
  pai__buf_clear(text);
  pai__buf_printf(text, "%s%s", s->address, s->more);
  pai__ext_pair(w, "cellAddress", pai__buf_text(text));
  if (!pai__buf_ok(text))
    w->out->failed = true;
  pai__ext_pair(w, "cellState", states[s->state]);
  pai__ext_pair(w, "cellHealthiness", s->sick ? "Bad" : "Healthy");
  pai__ext_key(w, "cellPriority");
  pai__json_int(w, s->priority);
}

typedef struct showing {
  pai_hived_extender *e;
  const pai__hived *h;
  pai__json_writer w;
  pai__buf text, address;
} showing;

static uint32_t leaf_type(const pai__hived *h, uint32_t type)
{
  while (h->cluster->types[type].child != PAI__NOTHING)
    type = h->cluster->types[type].child;
  return type;
}

static void put_virtual_head(showing *s, uint32_t vcell)
{
  const pai__hived *h = s->h;
  const pai__vcell *v = &h->vcells[vcell];
  const pai__hived_chain *chain = &h->chains[h->pairs[v->pair].chain];
  uint32_t type = h->levels[chain->level + v->level - 1].type;
  bool sick = v->bound != PAI__NOTHING && pai__is_sick(&h->pcells[v->bound]);

  pai__buf_clear(&s->address);
  pai__hived_virtual_address(h, vcell, &s->address);
  if (!pai__buf_ok(&s->address))
    s->w.out->failed = true;
  put_head(
    h,
    &(shown){ type,
              v->parent == PAI__NOTHING ? leaf_type(h, type) : PAI__NOTHING,
              pai__buf_text(&s->address), "", virtual_state(h, vcell), sick,
              v->priority },
    &s->w, &s->text);
}

static void put_physical_head(showing *s, uint32_t cell, const char *more)
{
  const pai__hived *h = s->h;
  const pai__cell *c = &h->cluster->cells[cell];

  put_head(
    h,
    &(shown){ c->type,
              c->parent == PAI__NOTHING ? leaf_type(h, c->type) : PAI__NOTHING,
              c->address, more, state_of(h, cell),
              pai__is_sick(&h->pcells[cell]), h->pcells[cell].priority },
    &s->w, &s->text);
}

static const char *vc_name(const pai__hived *h, uint32_t vc)
{
  return vc < h->nvcs ? h->vcs[vc].name : pai__hived_name_text(h, vc);
}

/* Who uses a leaf opportunistically, or PAI__NOTHING. */
static uint32_t opportunist(const pai__hived *h, uint32_t leaf)
{
  const pai__pleaf *l = &h->pleaves[leaf];

  return l->state == PAI__LEAF_USED && !l->guaranteed &&
             l->user != PAI__NOTHING
           ? h->groups[l->user].vc
           : PAI__NOTHING;
}

/* The virtual cluster that has a cell, if any. */
static void put_vc(showing *s, uint32_t cell)
{
  const pai__hived *h = s->h;
  const pai__pcell *c = &h->pcells[cell];
  uint32_t vc = PAI__NOTHING;

  if (c->level == 1)
    vc = opportunist(h, c->leaf);
  if (vc == PAI__NOTHING && c->bound != PAI__NOTHING)
    vc = h->pairs[h->vcells[c->bound].pair].vc;
  if (vc != PAI__NOTHING)
    pai__ext_pair(&s->w, "vc", vc_name(h, vc));
}

/* --- cells with all that is in them --------------------------------------- */

/* Calls itself no deeper than there are levels. */
static void put_physical(showing *s, uint32_t cell)
{
  const pai__pcell *cells = s->h->pcells;

  pai__json_begin_object(&s->w);
  put_physical_head(s, cell, "");
  if (cells[cell].level > 1) {
    pai__ext_key(&s->w, "cellChildren");
    pai__json_begin_array(&s->w);
    for (uint32_t i = cell + 1; i < cells[cell].skip; i = cells[i].skip)
      put_physical(s, i);
    pai__json_end_array(&s->w);
  }
  put_vc(s, cell);
  if (cells[cell].bound != PAI__NOTHING) {
    pai__ext_key(&s->w, "virtualCell");
    pai__json_begin_object(&s->w);
    put_virtual_head(s, cells[cell].bound);
    pai__json_end_object(&s->w);
  }
  pai__json_end_object(&s->w);
}

/* The cell that a virtual one is. */
static void put_what_it_is(showing *s, uint32_t cell)
{
  pai__ext_key(&s->w, "physicalCell");
  pai__json_begin_object(&s->w);
  put_physical_head(s, cell, "");
  put_vc(s, cell);
  pai__json_end_object(&s->w);
}

static void put_virtual(showing *s, uint32_t vcell)
{
  const pai__vcell *cells = s->h->vcells;

  pai__json_begin_object(&s->w);
  put_virtual_head(s, vcell);
  if (cells[vcell].level > 1) {
    pai__ext_key(&s->w, "cellChildren");
    pai__json_begin_array(&s->w);
    for (uint32_t i = vcell + 1; i < cells[vcell].skip; i = cells[i].skip)
      put_virtual(s, i);
    pai__json_end_array(&s->w);
  }
  if (cells[vcell].bound != PAI__NOTHING)
    put_what_it_is(s, cells[vcell].bound);
  pai__json_end_object(&s->w);
}

/* --- lists ---------------------------------------------------------------- */

static void put_cluster(showing *s)
{
  const pai__hived *h = s->h;

  pai__json_begin_array(&s->w);
  for (uint32_t chain = 0; chain < h->nchains; chain++)
    for (uint32_t i = 0; i < h->npcells; i = h->pcells[i].skip)
      if (h->pcells[i].chain == chain)
        put_physical(s, i);
  pai__json_end_array(&s->w);
}

/* What a virtual cluster uses without a right to it. */
static void put_opportunistic(showing *s, uint32_t vc)
{
  const pai__hived *h = s->h;

  for (uint32_t i = 0; i < h->npleaves; i++) {
    uint32_t cell = h->pleaves[i].cell;

    if (opportunist(h, i) != vc)
      continue;
    pai__json_begin_object(&s->w);
    put_head(h,
             &(shown){ h->cluster->cells[cell].type, PAI__NOTHING,
                       h->cluster->cells[cell].address, "-opp", PAI__LEAF_USED,
                       pai__is_sick(&h->pcells[cell]), PAI__OPPORTUNISTIC },
             &s->w, &s->text);
    put_what_it_is(s, cell);
    pai__json_end_object(&s->w);
  }
}

/* Its cells by chain and level, then the pinned ones; vc may be the name of one
 * that is no more. */
static void put_vc_cells(showing *s, uint32_t vc)
{
  const pai__hived *h = s->h;

  pai__json_begin_array(&s->w);
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
  pai__json_end_array(&s->w);
}

/* Those that are no more, of groups that run on opportunistically, once each:
 * `vc` is of the group before, or PAI__NOTHING. */
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

  pai__json_begin_object(&s->w);
  for (uint32_t vc = 0; vc < h->nvcs; vc++) {
    pai__ext_key(&s->w, h->vcs[vc].name);
    put_vc_cells(s, vc);
  }
  while ((lost = next_lost(h, lost)) != PAI__NOTHING) {
    pai__ext_key(&s->w, vc_name(h, lost));
    put_vc_cells(s, lost);
  }
  pai__json_end_object(&s->w);
}

/* --- requests ------------------------------------------------------------- */

static void begin(showing *s, pai_hived_extender *e)
{
  *s = (showing){ .e = e, .h = e->engine };
  pai__buf_init(&s->text, &e->alloc);
  pai__buf_init(&s->address, &e->alloc);
  pai__json_writer_init(&s->w, &e->body, false);
}

static int end(showing *s)
{
  pai__buf_dispose(&s->text);
  pai__buf_dispose(&s->address);
  return pai__json_finish(&s->w);
}

int pai__ext_show_cluster(pai_hived_extender *e, const char *rest)
{
  showing s;

  (void)rest;
  begin(&s, e);
  pai__json_begin_object(&s.w);
  pai__ext_key(&s.w, "physicalCluster");
  put_cluster(&s);
  pai__ext_key(&s.w, "virtualClusters");
  put_vcs(&s);
  pai__json_end_object(&s.w);
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
  uint32_t vc = PAI__NOTHING;
  showing s;

  if (rest[0] != '\0') {
    vc = find_vc(e->engine, rest);
    if (vc == PAI__NOTHING) {
      pai__buf_printf(&e->why, "VC %s not found", rest);
      return PAI_EINVAL;
    }
  }
  begin(&s, e);
  if (vc != PAI__NOTHING)
    put_vc_cells(&s, vc);
  else
    put_vcs(&s);
  return end(&s);
}
