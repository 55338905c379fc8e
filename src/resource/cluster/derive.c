/*
 * derive.c - derive the cells of a cluster from its nodes
 *
 * This is the only place that decides what levels a node has.  A level is kept
 * if its groups are equal, lie within those of the next level, and are neither
 * single cells nor the whole.
 */
#include "base/buf.h"
#include "resource/cluster/derive.h"

#include <stdlib.h>

/* --- the nodes of each SKU ----------------------------------------------- */

typedef struct placed {
  uint32_t rack, node;
} placed;

/* The nodes of each SKU, in the order of the cluster: those of a SKU are
 * list[first[sku]] to list[first[sku + 1] - 1]. */
typedef struct sku_nodes {
  const pai_cluster *c;
  placed *list;
  size_t *first;
} sku_nodes;

static int sku_nodes_init(sku_nodes *n, const pai_cluster *c)
{
  size_t from = 0;

  n->c = c;
  n->list = pai__realloc(&c->alloc, NULL, 0, c->nnodes + 1, sizeof(*n->list));
  n->first = pai__zalloc(&c->alloc, (c->nskus + 2) * sizeof(*n->first));
  if (n->list == NULL || n->first == NULL)
    return PAI_ENOMEM;
  /* While the list is filled, first[sku + 1] is the index of the SKU's next
   * node. */
  for (size_t i = 0; i < c->nnodes; i++)
    n->first[c->nodes[i].sku + 2]++;
  for (size_t s = 2; s <= c->nskus; s++)
    n->first[s] += n->first[s - 1];
  for (; from < c->nnodes; from++) {
    const pai__member *m = &c->nodes[from];

    n->list[n->first[m->sku + 1]++] = (placed){ m->rack, (uint32_t)from };
  }
  return PAI_OK;
}

/* Returns PAI_OK or PAI_ENOMEM; call sku_nodes_dispose() in either case. */
static void sku_nodes_dispose(sku_nodes *n)
{
  const pai_cluster *c = n->c;

  pai__free(&c->alloc, n->list, (c->nnodes + 1) * sizeof(*n->list));
  pai__free(&c->alloc, n->first, (c->nskus + 2) * sizeof(*n->first));
}

/* --- whether racks are cells --------------------------------------------- */

static int by_rack(const void *a, const void *b)
{
  const placed *x = a, *y = b;

  if (x->rack != y->rack)
    return x->rack < y->rack ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static int by_node(const void *a, const void *b)
{
  const placed *x = a, *y = b;

  return x->node < y->node ? -1 : x->node > y->node;
}

/* Returns the number of nodes in each rack of a sorted list; 0: they
 * differ. */
static size_t equal_runs(const placed *list, size_t n)
{
  size_t equal = 0, run = 1;

  for (size_t i = 1; i <= n; i++, run++) {
    if (i < n && list[i].rack == list[i - 1].rack)
      continue;
    if (equal != 0 && run != equal)
      return 0;
    equal = run;
    run = 0;
  }
  return equal;
}

/* Returns the number of nodes of a SKU in each of its racks, and sorts them by
 * rack.  Returns 0 if it is 1, if racks differ, or if some nodes have no
 * rack. */
static uint32_t sku_nodes_rack(sku_nodes *n, uint32_t sku)
{
  placed *list = n->list + n->first[sku];
  size_t count = n->first[sku + 1] - n->first[sku], equal;

  if (count < 2)
    return 0;
  qsort(list, count, sizeof(*list), by_rack);
  equal = list[count - 1].rack != PAI__NOTHING ? equal_runs(list, count) : 0;
  if (equal < 2)
    qsort(list, count, sizeof(*list), by_node);
  return equal < 2 ? 0 : (uint32_t)equal;
}

enum { MOST_LEVELS = 8 }; /* below the node; others are ignored */

/* A level of one chain: each of its cells has `size` GPUs. */
typedef struct level {
  const char *name; /* "switch" */
  uint32_t size;
  uint32_t type;
} level;

/* The state of deriving all chains. */
typedef struct deriving {
  pai_cluster *c;
  sku_nodes nodes;
  /* names of types and kinds of GPUs -> 1 + the leaf type of that name, or
   * another number but 0 if there is none */
  pai__map names;
  uint64_t cells, text; /* number of cells so far; bytes of their addresses */
  bool begun;           /* a chain exists */
} deriving;

/* A chain: nodes of one SKU, and one kind of their GPUs. */
typedef struct chain {
  deriving *d;
  pai_cluster *c; /* its cluster */
  uint32_t sku;
  uint32_t group; /* group of the SKU's GPUs */
  uint32_t first; /* index of the group's first GPU in a node */
  uint32_t gpus;
  level levels[MOST_LEVELS];
  size_t nlevels;
  uint32_t node_type, rack_type; /* rack_type: PAI__NOTHING without racks */
  uint32_t leaf_type;
  uint32_t in_rack; /* nodes in each rack; 0 without racks */
  bool first_chain;
} chain;

/* --- types ---------------------------------------------------------------- */

static const uintptr_t no_leaf = UINTPTR_MAX;

static void put_leaf_name(pai__buf *out, const char *kind)
{
  for (; *kind != '\0'; kind++)
    pai__buf_char(out, pai__leaf_char(*kind));
}

static bool is_taken(const deriving *d, const char *name, size_t len)
{
  return pai__map_get(&d->names, name, len) != NULL;
}

/* Returns "sku" or "sku-what"; "sku-node" if a kind of GPU has the SKU's name;
 * with a number appended if the name is taken. */
static const char *type_name(deriving *d, const char *sku, const char *what)
{
  const char *name = NULL;
  pai__buf b;

  pai__buf_init(&b, &d->c->alloc);
  if (*what == '\0' && is_taken(d, sku, strlen(sku)))
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
    if (is_taken(d, b.data, b.len))
      continue;
    name = pai__cluster_text(d->c, b.data, b.len);
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

  type.name = type_name(ch->d, c->skus[ch->sku].name, what);
  if (type.name == NULL ||
      pai__map_set(&ch->d->names, type.name, strlen(type.name),
                   (void *)no_leaf) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->ntypes;
  return pai__cluster_add_type(c, &type);
}

/* Finds or adds the leaf type of a kind of GPU; all chains of that kind share
 * it. */
static int find_leaf(chain *ch, const char *name, size_t len, uint32_t *index)
{
  pai_cluster *c = ch->c;
  pai__cell_type type = { .child = PAI__NOTHING, .in_node = true };
  uintptr_t known = (uintptr_t)pai__map_get(&ch->d->names, name, len);

  if (known != no_leaf) { /* no other type has a kind's name */
    *index = (uint32_t)known - 1;
    return PAI_OK;
  }
  *index = (uint32_t)c->ntypes;
  type.name = pai__cluster_text(c, name, len);
  if (type.name == NULL ||
      pai__map_set(&ch->d->names, name, len, (void *)(c->ntypes + 1)) < 0)
    return PAI_ENOMEM;
  return pai__cluster_add_type(c, &type);
}

static int leaf_type(chain *ch, uint32_t *index)
{
  const pai_cluster *c = ch->c;
  uint32_t kind = c->skus[ch->sku].groups[ch->group].kind;
  int rc = PAI_ENOMEM;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  put_leaf_name(&b, c->kinds[kind].name);
  if (pai__buf_ok(&b))
    rc = find_leaf(ch, b.data, b.len, index);
  pai__buf_dispose(&b);
  return rc;
}

/* --- levels --------------------------------------------------------------- */

/* Adds a level; the list is sorted by size. */
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

/* Drops levels that would cut across a lower one. */
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

/* Whether NUMA nodes are a level: they have equal numbers of GPUs, unless a
 * level "numa" or "machine" is given. */
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
  if (add_type(ch, whole ? "" : ch->c->types[ch->leaf_type].name, below,
               ch->gpus / size, &ch->node_type) < 0)
    return PAI_ENOMEM;
  ch->c->types[ch->node_type].is_node = true;
  ch->rack_type = PAI__NOTHING;
  if (ch->in_rack > 0)
    return add_type(ch, "rack", ch->node_type, ch->in_rack, &ch->rack_type);
  return PAI_OK;
}

/* --- cells ---------------------------------------------------------------- */

/* Returns "above/name" or "above/7"; NULL if memory is short. */
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

static int add_cell(deriving *d, pai__cell cell, uint32_t *index)
{
  if (cell.address == NULL)
    return PAI_ENOMEM;
  d->text += strlen(cell.address) + 1;
  if (d->text > PAI__CELLS_MAX_TEXT)
    return PAI_ELIMIT;
  *index = (uint32_t)d->c->ncells;
  cell.skip = *index + 1;
  return pai__cluster_add_cell(d->c, &cell);
}

/* Adds the cells of `size` GPUs from GPU `from` of a node on, below a parent;
 * HiveD numbers the cells of a level throughout the node. */
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
    int rc;

    cell.address = address(c, c->cells[parent].address, NULL,
                           nlevel > 0 ? at / step : g->number);
    rc = add_cell(ch->d, cell, &index);
    if (rc == PAI_OK && nlevel > 0)
      rc = add_parts(ch, m, index, nlevel - 1, at, step);
    if (rc < 0)
      return rc;
    c->cells[index].skip = (uint32_t)c->ncells;
  }
  return PAI_OK;
}

/* Returns the address of a rack: its name, after the type of its nodes if
 * another chain or a node may have that name.  A / in it would be a
 * separator. */
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
  int rc;

  cell.address = address(
    c, parent != PAI__NOTHING ? c->cells[parent].address : NULL, m->name, 0);
  rc = add_cell(ch->d, cell, &index);
  if (rc == PAI_OK)
    rc = add_parts(ch, m, index, ch->nlevels, 0, ch->gpus);
  if (rc < 0)
    return rc;
  c->cells[index].skip = (uint32_t)c->ncells;
  return PAI_OK;
}

static int add_rack(chain *ch, uint32_t rack, uint32_t *index)
{
  pai__cell cell = { .type = ch->rack_type,
                     .parent = PAI__NOTHING,
                     .node = PAI__NOTHING,
                     .gpu = PAI__NOTHING };

  cell.address = rack_address(ch, ch->c->racks[rack]);
  return add_cell(ch->d, cell, index);
}

/* Adds the cells of all nodes, rack by rack if racks are cells. */
static int add_nodes(chain *ch)
{
  const sku_nodes *n = &ch->d->nodes;
  uint32_t above = PAI__NOTHING;
  int rc = PAI_OK;

  for (size_t i = n->first[ch->sku]; i < n->first[ch->sku + 1]; i++) {
    const placed *p = &n->list[i];

    if (ch->in_rack > 0 && (i - n->first[ch->sku]) % ch->in_rack == 0)
      rc = add_rack(ch, p->rack, &above);
    if (rc == PAI_OK)
      rc = add_node(ch, p->node, above);
    if (rc < 0)
      return rc;
    if (above != PAI__NOTHING)
      ch->c->cells[above].skip = (uint32_t)ch->c->ncells;
  }
  return PAI_OK;
}

/* --- all chains ----------------------------------------------------------- */

/* Returns the number of cells that a chain will have. */
static uint64_t count_cells(const chain *ch)
{
  const sku_nodes *n = &ch->d->nodes;
  uint64_t nodes = n->first[ch->sku + 1] - n->first[ch->sku];
  uint64_t in_node = 1 + ch->gpus;

  for (size_t i = 0; i < ch->nlevels; i++)
    in_node += ch->gpus / ch->levels[i].size;
  return nodes * in_node + (ch->in_rack > 0 ? nodes / ch->in_rack : 0);
}

static int add_chain(chain *ch)
{
  int rc = make_types(ch);

  if (rc < 0)
    return rc;
  ch->d->begun = true;
  ch->d->cells += count_cells(ch);
  return ch->d->cells <= PAI__CLUSTER_MAX_GPUS ? add_nodes(ch) : PAI_ELIMIT;
}

static int add_sku(deriving *d, uint32_t sku)
{
  uint32_t first = 0, in_rack;

  if (d->nodes.first[sku] == d->nodes.first[sku + 1])
    return PAI_OK;
  in_rack = sku_nodes_rack(&d->nodes, sku);
  for (uint32_t g = 0; g < d->c->skus[sku].ngroups; g++) {
    uint32_t gpus = d->c->skus[sku].groups[g].count;
    chain ch = { .d = d,
                 .c = d->c,
                 .sku = sku,
                 .group = g,
                 .first = first,
                 .gpus = gpus,
                 .in_rack = in_rack,
                 .first_chain = !d->begun };
    int rc = add_chain(&ch);

    if (rc < 0)
      return rc;
    first += gpus;
  }
  return PAI_OK;
}

/* Reserves the names of kinds for leaf types. */
static int take_kinds(deriving *d)
{
  const pai_cluster *c = d->c;
  int rc = PAI_OK;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  for (size_t i = 0; i < c->nkinds && rc == PAI_OK; i++) {
    pai__buf_clear(&b);
    put_leaf_name(&b, c->kinds[i].name);
    rc = pai__buf_ok(&b)
           ? pai__map_set(&d->names, b.data, b.len, (void *)no_leaf)
           : PAI_ENOMEM;
  }
  pai__buf_dispose(&b);
  return rc;
}

static int add_chains(deriving *d)
{
  const pai_cluster *c = d->c;
  int rc = take_kinds(d);

  for (uint32_t sku = 0; sku < c->nskus && rc == PAI_OK; sku++)
    rc = add_sku(d, sku);
  return rc == PAI_OK && !d->begun ? PAI_ENOTFOUND : rc;
}

/* --- the whole ------------------------------------------------------------ */

int pai__cells_derive(pai_cluster *c)
{
  deriving d = { .c = c };
  int rc;

  if (c->ntypes > 0)
    return PAI_OK;
  pai__map_init(&d.names, &c->alloc);
  rc = sku_nodes_init(&d.nodes, c);
  if (rc == PAI_OK)
    rc = add_chains(&d);
  sku_nodes_dispose(&d.nodes);
  pai__map_dispose(&d.names);
  if (rc == PAI_OK)
    rc = pai__derive_shares(c);
  if (rc < 0) {
    c->ntypes = c->ncells = 0;
    return rc;
  }
  c->derived = true;
  return PAI_OK;
}
