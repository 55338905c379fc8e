/*
 * cells_nodes.c - make the nodes of a cluster from HiveD's cells, or bind
 * cells to nodes that are given
 *
 * All cells with the same name at the node level are one node: it has GPUs of
 * several kinds, or was split into several cells.
 */
#include "resource/cluster/read.h"
#include "resource/shape.h"

#include <stdlib.h>

/* --- cells bound to given nodes ------------------------------------------ */

/* Returns the GPU of that number and kind that no cell has yet. */
static uint32_t find_gpu(const pai_cluster *c, const pai__member *m,
                         const char *kind, uint16_t number, const bool *taken)
{
  uint32_t n = c->skus[m->sku].gpus;

  for (uint32_t i = 0; i < n; i++) {
    /* usually its index is its number */
    uint32_t place = m->first_gpu + (uint32_t)((number + i) % n);

    if (c->gpus[place].number == number && !taken[place] &&
        strcmp(c->kinds[c->gpus[place].kind].name, kind) == 0)
      return place;
  }
  return PAI__NOTHING;
}

static void bind_gpu(pai__reader *r, uint32_t cell, bool *taken)
{
  pai_cluster *c = r->c;
  pai__cell *leaf = &c->cells[cell];
  const pai__member *m = &c->nodes[leaf->node];
  const char *kind = c->types[leaf->type].name;
  uint16_t number;

  if (!pai__read_device(r, cell, &number))
    return;
  leaf->gpu = find_gpu(c, m, kind, number, taken);
  if (leaf->gpu != PAI__NOTHING)
    taken[leaf->gpu] = true;
  else if (pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-gpu", r->cell_at[cell],
                     "node '%.80s' has no GPU %u of kind '%.80s' for this "
                     "cell",
                     m->name, (unsigned)number, kind))
    pai__find_help(r->f,
                   "it has %u GPUs; a cell's address is the number of "
                   "one that is in no other cell",
                   (unsigned)c->skus[m->sku].gpus);
}

/* With more names, or after that many findings, no similar name is
 * suggested. */
enum { MOST_HELPED = 20, MOST_NAMES = 1000 };

static uint32_t bind_node(pai__reader *r, uint32_t cell)
{
  const char *name = pai__cell_own(r->c, cell);
  size_t node;
  pai__names names;

  if (pai_cluster_find_node(r->c, name, &node) == PAI_OK)
    return (uint32_t)node;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-node", r->cell_at[cell],
                 "there is no node '%.80s' for this cell", name) ||
      r->c->nnodes > MOST_NAMES || r->f->errors > MOST_HELPED)
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name, strlen(name));
  names.made_up = true;
  for (size_t i = 0; i < r->c->nnodes; i++)
    pai__names_add(&names, r->c->nodes[i].name, strlen(r->c->nodes[i].name));
  pai__names_help(&names, r->f, "the nodes of this file");
  return PAI__NOTHING;
}

/* --- nodes without cells ------------------------------------------------- */

enum { MOST_NAMED = 3 };

/* Nodes with the same finding; the first ones are named. */
typedef struct told {
  pai__node at; /* place of the first node */
  size_t count;
  pai__buf names;
} told;

static void told_init(told *t, const pai_cluster *c)
{
  *t = (told){ .at = PAI__NO_NODE };
  pai__buf_init(&t->names, &c->alloc);
}

static void add_told(told *t, const pai__reader *r, size_t node)
{
  if (t->count == 0)
    t->at = r->places[node];
  if (t->count++ < MOST_NAMED)
    pai__buf_printf(&t->names, "%s'%.80s'", t->count > 1 ? ", " : "",
                    r->c->nodes[node].name);
}

/* Returns their names after "node " or "nodes ". */
static const char *told_names(told *t)
{
  if (t->count > MOST_NAMED)
    pai__buf_str(&t->names, ", …");
  return pai__buf_text(&t->names);
}

/* Reports the nodes.  `one` and `more` are the text before the names, a NUL,
 * and the text after them. */
static void tell(pai__reader *r, told *t, const char *code, const char *one,
                 const char *more, const char *help)
{
  if (t->count > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, code, t->at, "%s%s%s",
                t->count == 1 ? one : more, told_names(t),
                t->count == 1 ? strchr(one, '\0') + 1
                              : strchr(more, '\0') + 1))
    pai__find_help(r->f, "%s", help);
  pai__buf_dispose(&t->names);
}

static void look_at_nodes(pai__reader *r, const bool *taken)
{
  const pai_cluster *c = r->c;
  told nodes, gpus, pins;

  told_init(&nodes, c);
  told_init(&gpus, c);
  told_init(&pins, c);
  for (size_t i = 0; i < c->nnodes; i++) {
    uint32_t n = pai__sku_of(c, &c->nodes[i])->gpus, used = 0;

    for (uint32_t k = 0; k < n; k++)
      used += taken[c->nodes[i].first_gpu + k];
    if (used < n)
      add_told(used == 0 ? &nodes : &gpus, r, i);
    if (c->nodes[i].pin != NULL)
      add_told(&pins, r, i);
  }
  tell(r, &nodes, "in-no-cell", "node \0 is in no cell: no job can get it",
       "nodes \0 are in no cell: no job can get them",
       "add a cell for each to physicalCells, or leave physicalCluster out: "
       "cells then follow from the nodes");
  tell(r, &gpus, "in-no-cell",
       "some GPUs of node \0 are in no cell: no job can get them",
       "some GPUs of nodes \0 are in no cell: no job can get them",
       "the cells of a node should have as many leaf cells as it has GPUs, of "
       "each kind");
  tell(r, &pins, "no-effect", "the pin of node \0 has no effect",
       "the pins of nodes \0 have no effect",
       "cells are given here; pin the node's cell, with pinnedCellId");
}

/* --- all ------------------------------------------------------------------ */

void pai__read_cells_bind(pai__reader *r)
{
  pai_cluster *c = r->c;
  size_t size = (c->ngpus + 1) * sizeof(bool);
  bool *taken = pai__zalloc(&c->alloc, size);

  if (taken == NULL) {
    r->f->failed = true;
    return;
  }
  for (size_t i = 0; i < c->ncells && !r->f->failed; i++) {
    pai__cell *cell = &c->cells[i];
    const pai__cell_type *type = &c->types[cell->type];

    if (type->is_node)
      cell->node = bind_node(r, (uint32_t)i);
    else if (type->in_node)
      cell->node = c->cells[cell->parent].node;
    if (type->child == PAI__NOTHING && cell->node != PAI__NOTHING)
      bind_gpu(r, (uint32_t)i, taken);
  }
  if (r->f->errors == 0 && !r->f->failed)
    look_at_nodes(r, taken);
  pai__free(&c->alloc, taken, size);
}

/* A cell at the node level; the list is in the order of the cells. */
typedef struct node_cell {
  const char *name;
  uint32_t cell;
  uint32_t same; /* next cell of that name, or PAI__NOTHING */
  bool first;    /* first cell of its name */
} node_cell;

typedef struct leaf {
  uint32_t cell, kind;
  uint32_t rank; /* kinds are ordered by their lowest number */
  uint16_t number;
} leaf;

typedef struct making {
  pai__reader *r;
  node_cell *nodes;
  size_t nnodes;
  leaf *leaves; /* of the node being made */
  size_t nleaves, leaf_cap;
  uint32_t *kind_of; /* kind of each type, or PAI__NOTHING */
  uint32_t *rank_of; /* rank of each kind in this node */
  pai__shapes shapes;
  pai__gpu_group *groups; /* of the node being made */
} making;

/* --- grouping cells into nodes ------------------------------------------- */

static void join_same(making *m, pai__named *list)
{
  size_t n = m->nnodes;

  for (size_t i = 0; i < n; i++)
    list[i] = (pai__named){ m->nodes[i].name, (uint32_t)i };
  pai__sort_names(list, n);
  for (size_t i = 0; i < n; i++) {
    node_cell *cell = &m->nodes[list[i].index];

    cell->first = i == 0 || strcmp(list[i - 1].name, cell->name) != 0;
    cell->same = i + 1 < n && strcmp(list[i + 1].name, cell->name) == 0
                   ? (uint32_t)list[i + 1].index
                   : PAI__NOTHING;
  }
}

static int find_node_cells(making *m)
{
  const pai_cluster *c = m->r->c;
  size_t n = 0;
  pai__named *list;

  for (size_t i = 0; i < c->ncells; i++)
    n += c->types[c->cells[i].type].is_node;
  m->nodes = pai__realloc(&c->alloc, NULL, 0, n + 1, sizeof(*m->nodes));
  m->nnodes = n;
  list = pai__realloc(&c->alloc, NULL, 0, n + 1, sizeof(*list));
  if (m->nodes == NULL || list == NULL) {
    pai__free(&c->alloc, list, (n + 1) * sizeof(*list));
    return PAI_ENOMEM;
  }
  n = 0;
  for (size_t i = 0; i < c->ncells; i++)
    if (c->types[c->cells[i].type].is_node)
      m->nodes[n++] = (node_cell){ .name = pai__cell_own(c, (uint32_t)i),
                                   .cell = (uint32_t)i };
  join_same(m, list);
  pai__free(&c->alloc, list, (n + 1) * sizeof(*list));
  return PAI_OK;
}

/* --- the GPUs of a node --------------------------------------------------- */

static int add_leaf(making *m, uint32_t cell)
{
  const pai_cluster *c = m->r->c;
  leaf *l;

  if (PAI__VEC_ROOM(&c->alloc, m->leaves, m->nleaves, m->leaf_cap) < 0)
    return PAI_ENOMEM;
  l = &m->leaves[m->nleaves];
  *l = (leaf){ .cell = cell, .kind = m->kind_of[c->cells[cell].type] };
  m->nleaves += pai__read_device(m->r, cell, &l->number);
  return PAI_OK;
}

static int find_leaves(making *m, const node_cell *node)
{
  const pai_cluster *c = m->r->c;

  for (m->nleaves = 0;; node = &m->nodes[node->same]) {
    for (uint32_t i = node->cell; i < c->cells[node->cell].skip; i++)
      if (c->types[c->cells[i].type].child == PAI__NOTHING &&
          add_leaf(m, i) < 0)
        return PAI_ENOMEM;
    if (node->same == PAI__NOTHING)
      return PAI_OK;
  }
}

static int by_rank(const void *a, const void *b)
{
  const leaf *x = a, *y = b;

  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* HiveD would give one GPU to two jobs if two cells share it. */
static void check_shared(making *m, const node_cell *node)
{
  pai__reader *r = m->r;

  for (size_t i = 1; i < m->nleaves; i++)
    if (m->leaves[i - 1].number == m->leaves[i].number) {
      if (pai__find(r->f, PAI_SEVERITY_WARNING, "shared-gpu",
                    r->cell_at[node->cell],
                    "two cells of node '%.80s' have the same GPU %u",
                    node->name, (unsigned)m->leaves[i].number))
        pai__find_help(
          r->f,
          "two jobs could get it; give each leaf cell its own cellAddress");
      return;
    }
}

/* Sorts by kind, and within a kind by number, so that most GPUs have their
 * index as number. */
static void sort_leaves(making *m, const node_cell *node)
{
  uint32_t rank = 0;

  if (m->nleaves < 2)
    return;
  qsort(m->leaves, m->nleaves, sizeof(*m->leaves), by_rank);
  check_shared(m, node);
  for (size_t i = 0; i < m->nleaves; i++)
    m->rank_of[m->leaves[i].kind] = PAI__NOTHING;
  for (size_t i = 0; i < m->nleaves; i++)
    if (m->rank_of[m->leaves[i].kind] == PAI__NOTHING)
      m->rank_of[m->leaves[i].kind] = rank++;
  for (size_t i = 0; i < m->nleaves; i++)
    m->leaves[i].rank = m->rank_of[m->leaves[i].kind];
  if (rank > 1)
    qsort(m->leaves, m->nleaves, sizeof(*m->leaves), by_rank);
}

/* --- SKUs ----------------------------------------------------------------- */

/* Writes the type names of the node's cells, each once; cut if long. */
static void put_sku_name(making *m, const node_cell *node, pai__buf *out)
{
  const pai_cluster *c = m->r->c;
  uint32_t last = PAI__NOTHING;

  for (;; node = &m->nodes[node->same]) {
    uint32_t type = c->cells[node->cell].type;

    if (type != last && out->len < PAI__SHAPE_NAME) {
      if (out->len > 0)
        pai__buf_char(out, '+');
      pai__buf_str(out, c->types[type].name);
    }
    last = type;
    if (node->same == PAI__NOTHING)
      break;
  }
  if (out->len > PAI__SHAPE_NAME && !out->failed) {
    size_t len = PAI__SHAPE_NAME;

    while (len > 0 && ((unsigned char)out->data[len] & 0xc0) == 0x80)
      len--;
    pai__buf_cut(out, len);
  }
}

static const pai__unit *find_unit(const pai_cluster *c, const char *kind)
{
  for (size_t i = 0; i < c->nunits; i++)
    if (strcmp(c->units[i].name, kind) == 0)
      return &c->units[i];
  return NULL;
}

/* Sums up the units of the leaf cells as the hardware of the node. */
static void add_units(const pai_cluster *c, pai__sku *sku)
{
  for (uint32_t i = 0; i < sku->ngroups; i++) {
    const pai__gpu_group *g = &sku->groups[i];
    const pai__unit *u = find_unit(c, c->kinds[g->kind].name);

    if (u == NULL)
      continue;
    sku->cpus += u->cpus * g->count;
    sku->memory += u->memory * g->count;
    if (sku->memory > PAI__MOST_MEMORY)
      sku->memory = PAI__MOST_MEMORY;
  }
}

static void put_groups(making *m, pai__sku *sku)
{
  sku->groups = m->groups;
  for (size_t i = 0; i < m->nleaves; i++) {
    if (i == 0 || m->leaves[i].rank != m->leaves[i - 1].rank)
      m->groups[sku->ngroups++] = (pai__gpu_group){ m->leaves[i].kind, 0 };
    m->groups[sku->ngroups - 1].count++;
  }
}

/* Finds or adds the SKU for the node's cells. */
static uint32_t find_sku(making *m, const node_cell *node, pai__buf *name)
{
  pai__sku sku = { .name = NULL };

  pai__buf_clear(name);
  put_sku_name(m, node, name);
  if (!pai__buf_ok(name))
    return PAI__NOTHING;
  put_groups(m, &sku);
  add_units(m->r->c, &sku);
  return pai__shapes_sku(&m->shapes, (pai__piece){ name->data, name->len },
                         &sku);
}

/* --- nodes ---------------------------------------------------------------- */

/* The rack is the parent of the node's first cell that has a parent. */
static int find_rack(making *m, const node_cell *node, uint32_t *rack)
{
  pai_cluster *c = m->r->c;

  for (*rack = PAI__NOTHING;; node = &m->nodes[node->same]) {
    uint32_t parent = c->cells[node->cell].parent;

    if (parent != PAI__NOTHING)
      return pai__cluster_rack(c, c->cells[parent].address,
                               strlen(c->cells[parent].address), rack);
    if (node->same == PAI__NOTHING)
      return PAI_OK;
  }
}

/* Links cells, node and GPUs. */
static void connect(making *m, const node_cell *node, pai__member *member)
{
  pai_cluster *c = m->r->c;
  uint32_t index = (uint32_t)(member - c->nodes);

  for (;; node = &m->nodes[node->same]) {
    for (uint32_t i = node->cell; i < c->cells[node->cell].skip; i++)
      c->cells[i].node = index;
    if (node->same == PAI__NOTHING)
      break;
  }
  for (size_t i = 0; i < m->nleaves; i++) {
    c->cells[m->leaves[i].cell].gpu = member->first_gpu + (uint32_t)i;
    c->gpus[member->first_gpu + i].number = m->leaves[i].number;
  }
}

static int make_node(making *m, const node_cell *node, pai__buf *name)
{
  pai__reader *r = m->r;
  pai__member *member;
  uint32_t sku, rack;

  if (find_leaves(m, node) < 0)
    return PAI_ENOMEM;
  if (m->nleaves > PAI__NODE_MAX_GPUS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "limit", r->cell_at[node->cell],
                    "node '%.80s' has more than %d GPUs", node->name,
                    PAI__NODE_MAX_GPUS);
    return PAI_OK;
  }
  sort_leaves(m, node);
  sku = find_sku(m, node, name);
  if (sku == PAI__NOTHING || find_rack(m, node, &rack) < 0)
    return PAI_ENOMEM;
  member = pai__read_add_node(r, r->cell_at[node->cell], node->name, sku);
  if (member != NULL) {
    member->rack = rack;
    connect(m, node, member);
  }
  return PAI_OK;
}

/* --- all of them ---------------------------------------------------------- */

static int find_kinds(making *m)
{
  pai_cluster *c = m->r->c;

  m->kind_of =
    pai__arena_zalloc(&c->arena, c->ntypes + 1, sizeof(*m->kind_of));
  m->rank_of =
    pai__arena_zalloc(&c->arena, c->ntypes + 1, sizeof(*m->rank_of));
  m->groups = pai__arena_zalloc(&c->arena, c->ntypes + 1, sizeof(*m->groups));
  if (m->kind_of == NULL || m->rank_of == NULL || m->groups == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->ntypes; i++)
    if (c->types[i].child == PAI__NOTHING) {
      m->kind_of[i] =
        pai__read_kind(m->r, 0, c->types[i].name, strlen(c->types[i].name));
      if (m->r->f->failed)
        return PAI_ENOMEM;
    }
  return PAI_OK;
}

void pai__read_cells_nodes(pai__reader *r)
{
  const pai_alloc *a = &r->c->alloc;
  making m = { .r = r };
  pai__buf name;
  int rc;

  pai__buf_init(&name, a);
  pai__shapes_init(&m.shapes, r->c);
  rc = find_kinds(&m);
  if (rc == PAI_OK)
    rc = find_node_cells(&m);
  for (size_t i = 0; rc == PAI_OK && i < m.nnodes && !r->full; i++)
    if (m.nodes[i].first)
      rc = make_node(&m, &m.nodes[i], &name);
  r->f->failed |= rc < 0;
  pai__shapes_dispose(&m.shapes);
  pai__buf_dispose(&name);
  pai__free(a, m.leaves, m.leaf_cap * sizeof(*m.leaves));
  pai__free(a, m.nodes, (m.nnodes + 1) * sizeof(*m.nodes));
}
