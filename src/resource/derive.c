/*
 * derive.c - cells made of machines
 *
 * The one place that decides what levels a machine has.  A level is kept when
 * its groups are equal, lie within those of the next, and are neither single
 * cells nor all of it.
 */
#include "resource/derive.h"

#include "base/buf.h"

enum { MOST_LEVELS = 8 }; /* below the node; more are not offered */

/* A level of one chain: `size` GPUs, or nodes, in each of its cells. */
typedef struct level {
  const char *name; /* "switch" */
  uint32_t size;
  uint32_t type;
} level;

/* The nodes of each rack, as lists. */
typedef struct racks {
  uint32_t *first, *next;
  uint32_t *count; /* of nodes of one SKU */
} racks;

/* Nodes of equal build, by one kind of their GPUs. */
typedef struct chain {
  pai_cluster *c;
  uint32_t sku;
  uint32_t group; /* of the SKU */
  uint32_t first; /* place of the group's first GPU in a node */
  uint32_t gpus;
  level levels[MOST_LEVELS];
  size_t nlevels;
  uint32_t node_type, rack_type; /* rack_type: PAI__NOTHING without racks */
  uint32_t leaf_type;
  uint32_t in_rack; /* nodes */
  bool first_chain;
} chain;

/* --- types ---------------------------------------------------------------- */

static bool is_type(const pai_cluster *c, const char *name)
{
  for (size_t i = 0; i < c->ntypes; i++)
    if (strcmp(c->types[i].name, name) == 0)
      return true;
  return pai__cluster_find_kind(c, name, strlen(name)) != PAI__NOTHING;
}

/* "sku" or "sku-what"; "sku-node" where a kind of GPU has the SKU's name, and
 * with a number behind it where that is there already. */
static const char *type_name(pai_cluster *c, const char *sku, const char *what)
{
  const char *name = NULL;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  if (*what == '\0' && is_type(c, sku))
    what = "node";
  for (unsigned n = 1;; n++) {
    pai__buf_clear(&b);
    pai__buf_str(&b, sku);
    if (*what != '\0')
      pai__buf_printf(&b, "-%s", what);
    if (n > 1)
      pai__buf_printf(&b, "-%u", n);
    if (!pai__buf_ok(&b))
      break;
    if (is_type(c, pai__buf_text(&b)))
      continue;
    name = pai__cluster_text(c, pai__buf_text(&b), b.len);
    break;
  }
  pai__buf_dispose(&b);
  return name;
}

static int add_type(chain *ch, const char *what, uint32_t child,
                    uint32_t children, uint32_t *index)
{
  pai_cluster *c = ch->c;
  pai__cell_type type = { .child = child, .children = children };

  type.name = type_name(c, c->skus[ch->sku].name, what);
  if (type.name == NULL ||
      PAI__VEC_ROOM(&c->alloc, c->types, c->ntypes, c->type_cap) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->ntypes;
  c->types[c->ntypes++] = type;
  return PAI_OK;
}

/* The type of a kind of GPU, which all chains of that kind share. */
static int leaf_type(chain *ch, uint32_t *index)
{
  pai_cluster *c = ch->c;
  const pai__sku *s = &c->skus[ch->sku];
  const char *kind = c->kinds[s->groups[ch->group].kind].name;
  char *name = pai__arena_strndup(&c->arena, kind, strlen(kind));

  if (name == NULL)
    return PAI_ENOMEM;
  for (char *p = name; *p != '\0'; p++)
    if (*p == '.' || *p == '/')
      *p = '-';
  for (size_t i = 0; i < c->ntypes; i++)
    if (c->types[i].children == 0 && strcmp(c->types[i].name, name) == 0) {
      *index = (uint32_t)i;
      return PAI_OK;
    }
  if (PAI__VEC_ROOM(&c->alloc, c->types, c->ntypes, c->type_cap) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->ntypes;
  c->types[c->ntypes++] =
    (pai__cell_type){ .name = name, .child = PAI__NOTHING, .in_node = true };
  return PAI_OK;
}

/* --- levels --------------------------------------------------------------- */

/* Keeps the list in order of size. */
static void offer_level(chain *ch, const char *name, uint32_t size)
{
  size_t i = ch->nlevels;

  if (size < 2 || size >= ch->gpus || ch->gpus % size != 0 ||
      ch->nlevels == MOST_LEVELS)
    return;
  for (size_t k = 0; k < ch->nlevels; k++)
    if (ch->levels[k].size == size)
      return;
  for (; i > 0 && ch->levels[i - 1].size > size; i--)
    ch->levels[i] = ch->levels[i - 1];
  ch->levels[i] = (level){ name, size, 0 };
  ch->nlevels++;
}

/* Drops those that would cut through one below. */
static void nest_levels(chain *ch)
{
  size_t kept = 0;
  uint32_t below = 1;

  for (size_t i = 0; i < ch->nlevels; i++)
    if (ch->levels[i].size % below == 0) {
      below = ch->levels[i].size;
      ch->levels[kept++] = ch->levels[i];
    }
  ch->nlevels = kept;
}

/* NUMA nodes have equally many GPUs, unless it is said that they have not, or
 * that the machine is what they share. */
static bool has_numa(const pai__sku *s)
{
  for (uint32_t i = 0; i < s->nnear; i++)
    if (strcmp(s->near[i].name, "numa") == 0 ||
        strcmp(s->near[i].name, "machine") == 0)
      return false;
  return s->numa > 1 && s->ngroups == 1 && s->gpus % s->numa == 0;
}

static int make_types(chain *ch)
{
  const pai__sku *s = &ch->c->skus[ch->sku];
  uint32_t below, size = 1;
  bool whole = s->ngroups == 1;

  if (leaf_type(ch, &below) < 0)
    return PAI_ENOMEM;
  ch->leaf_type = below;
  for (uint32_t i = 0; i < s->nnear; i++)
    offer_level(ch, s->near[i].name, s->near[i].gpus);
  if (has_numa(s))
    offer_level(ch, "numa", s->gpus / s->numa);
  nest_levels(ch);
  for (size_t i = 0; i < ch->nlevels; i++) {
    level *l = &ch->levels[i];

    if (add_type(ch, l->name, below, l->size / size, &l->type) < 0)
      return PAI_ENOMEM;
    ch->c->types[l->type].in_node = true;
    below = l->type;
    size = l->size;
  }
  if (add_type(ch, whole ? "" : ch->c->kinds[s->groups[ch->group].kind].name,
               below, ch->gpus / size, &ch->node_type) < 0)
    return PAI_ENOMEM;
  ch->c->types[ch->node_type].is_node = true;
  ch->rack_type = PAI__NOTHING;
  if (ch->in_rack > 1)
    return add_type(ch, "rack", ch->node_type, ch->in_rack, &ch->rack_type);
  return PAI_OK;
}

/* --- cells ---------------------------------------------------------------- */

/* "above/name", or "above/7"; NULL without memory. */
static const char *address(pai_cluster *c, const char *above, const char *name,
                           uint32_t number)
{
  const char *copy = NULL;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  if (above != NULL)
    pai__buf_printf(&b, "%s/", above);
  if (name != NULL)
    pai__buf_str(&b, name);
  else
    pai__buf_printf(&b, "%u", (unsigned)number);
  if (pai__buf_ok(&b))
    copy = pai__cluster_text(c, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return copy;
}

static int add_cell(pai_cluster *c, pai__cell cell, uint32_t *index)
{
  if (cell.address == NULL ||
      PAI__VEC_ROOM(&c->alloc, c->cells, c->ncells, c->cell_cap) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->ncells;
  cell.skip = *index + 1;
  c->cells[c->ncells++] = cell;
  return PAI_OK;
}

/* The cells of `size` GPUs from place `from` of a node on, below a parent;
 * HiveD numbers those of a level through the node. */
static int add_parts(chain *ch, const pai__member *m, uint32_t parent,
                     size_t nlevel, uint32_t from, uint32_t size)
{
  pai_cluster *c = ch->c;
  uint32_t step = nlevel > 0 ? ch->levels[nlevel - 1].size : 1;

  for (uint32_t at = from; at < from + size; at += step) {
    const pai__gpu *g = &c->gpus[m->first_gpu + ch->first + at];
    pai__cell cell = {
      .type = nlevel > 0 ? ch->levels[nlevel - 1].type : ch->leaf_type,
      .parent = parent,
      .node = (uint32_t)(m - c->nodes),
      .gpu = nlevel > 0 ? PAI__NOTHING : (uint32_t)(g - c->gpus)
    };
    uint32_t index;

    cell.address = address(c, c->cells[parent].address, NULL,
                           nlevel > 0 ? at / step : g->number);
    if (add_cell(c, cell, &index) < 0)
      return PAI_ENOMEM;
    if (nlevel > 0 && add_parts(ch, m, index, nlevel - 1, at, step) < 0)
      return PAI_ENOMEM;
    c->cells[index].skip = (uint32_t)c->ncells;
  }
  return PAI_OK;
}

/* The address of a rack: its name, with the type of its nodes before it where
 * another chain, or a node, may have that name.  A / would part it. */
static const char *rack_address(const chain *ch, const char *name)
{
  pai_cluster *c = ch->c;
  const char *copy = NULL;
  size_t node;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  if (!ch->first_chain || pai_cluster_find_node(c, name, &node) == PAI_OK)
    pai__buf_printf(&b, "%s-", c->types[ch->node_type].name);
  for (; *name != '\0'; name++)
    pai__buf_char(&b, *name == '/' ? '-' : *name);
  if (pai__buf_ok(&b))
    copy = pai__cluster_text(c, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return copy;
}

static int add_node(chain *ch, uint32_t node, uint32_t parent)
{
  pai_cluster *c = ch->c;
  const pai__member *m = &c->nodes[node];
  pai__cell cell = { .type = ch->node_type,
                     .parent = parent,
                     .node = node,
                     .gpu = PAI__NOTHING,
                     .pin = ch->group == 0 ? m->pin : NULL };
  uint32_t index;

  cell.address = address(
    c, parent != PAI__NOTHING ? c->cells[parent].address : NULL, m->name, 0);
  if (add_cell(c, cell, &index) < 0 ||
      add_parts(ch, m, index, ch->nlevels, 0, ch->gpus) < 0)
    return PAI_ENOMEM;
  c->cells[index].skip = (uint32_t)c->ncells;
  return PAI_OK;
}

static int add_nodes(chain *ch)
{
  for (size_t i = 0; i < ch->c->nnodes; i++)
    if (ch->c->nodes[i].sku == ch->sku &&
        add_node(ch, (uint32_t)i, PAI__NOTHING) < 0)
      return PAI_ENOMEM;
  return PAI_OK;
}

static int add_rack(chain *ch, const racks *r, uint32_t rack)
{
  pai_cluster *c = ch->c;
  pai__cell cell = { .type = ch->rack_type,
                     .parent = PAI__NOTHING,
                     .node = PAI__NOTHING,
                     .gpu = PAI__NOTHING };
  uint32_t index = PAI__NOTHING;

  if (r->first == NULL)
    return PAI_OK; /* and there is no rack */
  for (uint32_t n = r->first[rack]; n != PAI__NOTHING; n = r->next[n]) {
    if (c->nodes[n].sku != ch->sku)
      continue;
    if (index == PAI__NOTHING) {
      cell.address = rack_address(ch, c->racks[rack]);
      if (add_cell(c, cell, &index) < 0)
        return PAI_ENOMEM;
    }
    if (add_node(ch, n, index) < 0)
      return PAI_ENOMEM;
    c->cells[index].skip = (uint32_t)c->ncells;
  }
  return PAI_OK;
}

/* --- racks ---------------------------------------------------------------- */

static void dispose_racks(racks *r, const pai_cluster *c)
{
  pai__free(&c->alloc, r->next, c->nnodes * sizeof(*r->next));
  pai__free(&c->alloc, r->first, c->nracks * sizeof(*r->first));
  pai__free(&c->alloc, r->count, c->nracks * sizeof(*r->count));
}

/* The nodes of each rack, in their order. */
static int find_racks(racks *r, const pai_cluster *c)
{
  *r = (racks){ NULL, NULL, NULL };
  if (c->nracks == 0 || c->nnodes == 0)
    return PAI_OK;
  r->next = pai__realloc(&c->alloc, NULL, 0, c->nnodes, sizeof(*r->next));
  r->first = pai__realloc(&c->alloc, NULL, 0, c->nracks, sizeof(*r->first));
  r->count = pai__realloc(&c->alloc, NULL, 0, c->nracks, sizeof(*r->count));
  if (r->next == NULL || r->first == NULL || r->count == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->nracks; i++)
    r->first[i] = PAI__NOTHING;
  for (size_t i = c->nnodes; i-- > 0;) {
    uint32_t rack = c->nodes[i].rack;

    if (rack == PAI__NOTHING)
      continue;
    r->next[i] = r->first[rack];
    r->first[rack] = (uint32_t)i;
  }
  return PAI_OK;
}

/* How many nodes of a SKU each rack has that has any; 0: they differ, or some
 * are in none. */
static uint32_t nodes_in_rack(const racks *r, const pai_cluster *c,
                              uint32_t sku)
{
  uint32_t equal = 0;

  if (r->count == NULL)
    return 0;
  memset(r->count, 0, c->nracks * sizeof(*r->count));
  for (size_t i = 0; i < c->nnodes; i++) {
    if (c->nodes[i].sku != sku)
      continue;
    if (c->nodes[i].rack == PAI__NOTHING)
      return 0;
    r->count[c->nodes[i].rack]++;
  }
  for (size_t i = 0; i < c->nracks; i++) {
    if (r->count[i] != 0 && equal != 0 && r->count[i] != equal)
      return 0;
    equal = r->count[i] != 0 ? r->count[i] : equal;
  }
  return equal;
}

/* --- all chains ----------------------------------------------------------- */

static int add_chain(chain *ch, const racks *r)
{
  int rc;

  ch->in_rack = nodes_in_rack(r, ch->c, ch->sku);
  rc = make_types(ch);
  if (rc < 0 || ch->rack_type == PAI__NOTHING)
    return rc < 0 ? rc : add_nodes(ch);
  for (size_t rack = 0; rc == PAI_OK && rack < ch->c->nracks; rack++)
    rc = add_rack(ch, r, (uint32_t)rack);
  return rc;
}

static bool has_nodes(const pai_cluster *c, uint32_t sku)
{
  for (size_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].sku == sku)
      return true;
  return false;
}

static int add_chains(pai_cluster *c, const racks *r)
{
  size_t nchains = 0;

  for (uint32_t sku = 0; sku < c->nskus; sku++) {
    uint32_t first = 0;

    if (!has_nodes(c, sku))
      continue;
    for (uint32_t g = 0; g < c->skus[sku].ngroups; g++) {
      uint32_t gpus = c->skus[sku].groups[g].count;
      chain ch = { .c = c,
                   .sku = sku,
                   .group = g,
                   .first = first,
                   .gpus = gpus,
                   .first_chain = nchains++ == 0 };

      if (add_chain(&ch, r) < 0)
        return PAI_ENOMEM;
      first += gpus;
    }
  }
  return nchains > 0 ? PAI_OK : PAI_ENOTFOUND;
}

/* --- the whole ------------------------------------------------------------ */

int pai__cells_derive(pai_cluster *c)
{
  racks r;
  int rc;

  if (c->ntypes > 0)
    return PAI_OK;
  rc = find_racks(&r, c);
  if (rc == PAI_OK)
    rc = add_chains(c, &r);
  dispose_racks(&r, c);
  if (rc == PAI_OK)
    rc = pai__derive_shares(c);
  if (rc < 0) {
    c->ntypes = c->ncells = 0;
    return rc;
  }
  c->derived = true;
  return PAI_OK;
}
