/*
 * cells_nodes.c - the nodes of a cluster that is given as cells
 *
 * All cells that are called the same at the level of nodes are one node: it
 * has GPUs of several kinds, or was cut into pieces.
 */
#include "resource/read.h"
#include "resource/shape.h"

#include <stdlib.h>

/* A cell at the level of nodes; they lie in the order of the cells. */
typedef struct node_cell {
  const char *name;
  uint32_t cell;
  uint32_t same; /* the next one of that name, or PAI__NOTHING */
  bool first;    /* of those of its name */
} node_cell;

typedef struct leaf {
  uint32_t cell, kind;
  uint32_t rank; /* kinds go by their least number */
  uint16_t number;
} leaf;

typedef struct making {
  pai__reader *r;
  node_cell *nodes;
  size_t nnodes;
  leaf *leaves; /* of the node that is made now */
  size_t nleaves, leaf_cap;
  uint32_t *kind_of; /* each type's, or PAI__NOTHING */
  uint32_t *rank_of; /* each kind's, in this node */
  pai__shapes shapes;
  pai__gpu_group *groups; /* of the node that is made now */
} making;

/* --- which cells are one node --------------------------------------------- */

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

/* HiveD would give one GPU to two jobs. */
static void check_shared(making *m, const node_cell *node)
{
  pai__reader *r = m->r;

  for (size_t i = 1; i < m->nleaves; i++)
    if (m->leaves[i - 1].number == m->leaves[i].number) {
      if (pai__find(r->f, PAI_SEVERITY_WARNING, "shared-gpu",
                    r->cell_at[node->cell],
                    "two cells of node '%.80s' are its GPU %u", node->name,
                    (unsigned)m->leaves[i].number))
        pai__find_help(r->f, "two jobs may be given it; give the leaf cells "
                             "a cellAddress each");
      return;
    }
}

/* Kind by kind, and in each by number, so that most have the number of their
 * place. */
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

/* What the node's cells are called, once each; cut where that gets long. */
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

/* A machine has what its leaf cells come with. */
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

/* The SKU of the node's cells and what is in them. */
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

/* The rack is the cell right above the first that has one. */
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

/* Cells, node and GPUs get to know each other. */
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
