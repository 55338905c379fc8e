/* read_cells.c - HiveD's cells: what is given, and what follows from it */
#include "resource/cells.h"

#include "base/utf8.h"
#include "resource/read.h"

#include <inttypes.h>
#include <stdlib.h>

/* On the way down from a top cell. */
typedef struct growing {
  pai__reader *r;
  const pai__type_facts *facts;
  pai__buf address; /* of the cell above, and a slash */
  size_t text;      /* bytes of all addresses */
  bool told;        /* this top cell has a node without a name */
} growing;

enum { TYPE, ADDRESS, PIN, CHILDREN, KEYS };

static void grow(growing *g, pai__node n, pai__node at, const pai__cell *as,
                 uint64_t number);

/* A text may be left out, or be empty. */
static bool is_left_out(const pai__reader *r, pai__node n)
{
  return n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL ||
         (pai__tree_type(r->t, n) == PAI__STRING &&
          *pai__tree_str(r->t, n, NULL) == '\0');
}

static pai__piece read_if_any(pai__reader *r, pai__node n, const char *what)
{
  pai__piece none = { NULL, 0 };

  return is_left_out(r, n) ? none : pai__read_text(r, n, what);
}

/* --- what goes wrong ------------------------------------------------------ */

static void too_many(growing *g, pai__node at, const char *what, int most)
{
  if (!g->r->full)
    (void)pai__find(g->r->f, PAI_SEVERITY_ERROR, "limit", at,
                    "there are more than %d %s", most, what);
  g->r->full = true;
}

/* HiveD asks nobody whether all children are there. */
static void other_count(growing *g, pai__node n, uint32_t given,
                        const pai__cell_type *type)
{
  if (given != type->children &&
      pai__find(g->r->f, PAI_SEVERITY_WARNING, "child-count", n,
                "this cell has %u cells in it, and one of type '%.80s' has "
                "%u",
                (unsigned)given, type->name, (unsigned)type->children))
    pai__find_help(g->r->f, "give all of them, as {} where nothing is special "
                            "about one");
}

static void no_name(growing *g, pai__node at, const char *name)
{
  if (!g->told &&
      pai__find(g->r->f, PAI_SEVERITY_WARNING, "node-without-name", at,
                "a node in this cell has no name here, so it is '%.80s'",
                name))
    pai__find_help(g->r->f, "give the cellAddress of each node: its name in "
                            "Kubernetes");
  g->told = true;
}

static void other_type(growing *g, pai__node n, const pai__cell_type *type)
{
  pai__piece given = read_if_any(g->r, n, "cellType");

  if (given.s != NULL &&
      (strlen(type->name) != given.len ||
       memcmp(type->name, given.s, given.len) != 0) &&
      pai__find(g->r->f, PAI_SEVERITY_WARNING, "no-effect", n,
                "this cell is of type '%.80s' whatever stands here",
                type->name))
    pai__find_help(g->r->f, "its type follows from the cell it is in");
}

/* --- the cells of one list ------------------------------------------------ */

typedef struct sibling {
  const char *address;
  uint32_t type, cell;
} sibling;

static int by_address(const void *a, const void *b)
{
  const sibling *x = a, *y = b;
  int order = strcmp(x->address, y->address);

  if (order != 0)
    return order;
  if (x->type != y->type)
    return x->type < y->type ? -1 : 1;
  return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void find_same(pai__reader *r, sibling *list, size_t n)
{
  if (n > 1)
    qsort(list, n, sizeof(*list), by_address);
  for (size_t i = 1; i < n; i++)
    if (strcmp(list[i - 1].address, list[i].address) == 0 &&
        list[i - 1].type == list[i].type &&
        pai__find(
          r->f, PAI_SEVERITY_ERROR, "duplicate", r->cell_at[list[i].cell],
          "the cell at line %u has the address '%.80s', too",
          (unsigned)pai__tree_where(r->t, r->cell_at[list[i - 1].cell]).line,
          list[i].address))
      pai__find_help(r->f, "give one of them another cellAddress");
}

/* No address has a slash of its own, so equal ones are siblings.  One node may
 * stand at the top of two chains. */
static void check_siblings(pai__reader *r, uint32_t first)
{
  const pai_cluster *c = r->c;
  size_t n = 0, k = 0;
  sibling *list;

  for (size_t i = first; i < c->ncells; i = c->cells[i].skip)
    n++;
  list = pai__realloc(&c->alloc, NULL, 0, n + 1, sizeof(*list));
  if (list == NULL) {
    r->f->failed = true;
    return;
  }
  for (size_t i = first; i < c->ncells; i = c->cells[i].skip)
    list[k++] =
      (sibling){ c->cells[i].address, c->cells[i].type, (uint32_t)i };
  find_same(r, list, n);
  pai__free(&c->alloc, list, (n + 1) * sizeof(*list));
}

/* --- one cell ------------------------------------------------------------- */

/* Puts the cell's own part behind the address of the one above it. */
static void put_address(growing *g, pai__node n, pai__node at,
                        const pai__cell *as, uint64_t number)
{
  pai__piece own = read_if_any(g->r, n, "cellAddress");
  size_t before = g->address.len;

  if (own.s == NULL) {
    pai__buf_printf(&g->address, "%" PRIu64, number);
    if (g->r->c->types[as->type].is_node && is_left_out(g->r, n) &&
        pai__buf_ok(&g->address))
      no_name(g, at, pai__buf_text(&g->address) + before);
    return;
  }
  if (memchr(own.s, '/', own.len) != NULL)
    (void)pai__find(g->r->f, PAI_SEVERITY_ERROR, "bad-name", n,
                    "a cellAddress cannot have a '/'");
  pai__buf_add(&g->address, own.s, own.len);
}

static bool add_cell(growing *g, pai__node at, pai__cell *cell)
{
  pai__reader *r = g->r;
  pai_cluster *c = r->c;

  g->text += g->address.len + 1;
  if (c->ncells >= PAI__CLUSTER_MAX_GPUS)
    too_many(g, at, "cells", PAI__CLUSTER_MAX_GPUS);
  if (g->text > PAI__CELLS_MAX_TEXT)
    too_many(g, at, "bytes of addresses of cells", PAI__CELLS_MAX_TEXT);
  if (r->full || !pai__buf_ok(&g->address)) {
    r->f->failed |= !pai__buf_ok(&g->address);
    return false;
  }
  cell->address =
    pai__cluster_text(c, pai__buf_text(&g->address), g->address.len);
  if (cell->address == NULL ||
      PAI__VEC_ROOM(&c->alloc, r->cell_at, c->ncells, r->cell_at_cap) < 0) {
    r->f->failed = true;
    return false;
  }
  r->cell_at[c->ncells] = at;
  if (pai__cluster_add_cell(c, cell) < 0)
    r->f->failed = true;
  return !r->f->failed;
}

/* Those given, or as many as the type says.  The number of a child follows
 * from its parent's, whatever that one is called; nodes count from 0. */
static void grow_children(growing *g, pai__node n, pai__node at,
                          uint32_t parent, uint64_t number)
{
  pai__reader *r = g->r;
  uint32_t type = r->c->cells[parent].type, first = parent + 1;
  const pai__cell_type *t = &r->c->types[type];
  bool given =
    pai__read_is_list(r, n, "cellChildren") && pai__tree_count(r->t, n) > 0;
  uint32_t count = given ? pai__tree_count(r->t, n) : t->children;
  pai__tree_walk walk = pai__tree_iter(r->t, given ? n : 0);
  pai__cell child = { .type = t->child, .parent = parent };

  number = (t->is_node ? 0 : number) * t->children;
  if (given)
    other_count(g, n, count, t);
  else if (r->c->ncells + g->facts[type].cells > PAI__CLUSTER_MAX_GPUS + 1)
    too_many(g, at, "cells", PAI__CLUSTER_MAX_GPUS);
  pai__buf_char(&g->address, '/');
  for (uint32_t i = 0; i < count && !r->full && !r->f->failed; i++) {
    pai__node item = given ? pai__tree_next(&walk) : PAI__NO_NODE;

    grow(g, item, given ? item : at, &child, number + i);
  }
  if (given && !r->f->failed)
    check_siblings(r, first);
}

static void grow(growing *g, pai__node n, pai__node at, const pai__cell *as,
                 uint64_t number)
{
  static const char *const keys[] = { "cellType", "cellAddress",
                                      "pinnedCellId", "cellChildren" };
  pai__reader *r = g->r;
  pai__node v[KEYS] = { PAI__NO_NODE, PAI__NO_NODE, PAI__NO_NODE,
                        PAI__NO_NODE };
  uint32_t index = (uint32_t)r->c->ncells;
  size_t before = g->address.len;
  pai__cell cell = *as;
  pai__piece pin;

  if (n != PAI__NO_NODE && pai__tree_type(r->t, n) != PAI__NULL &&
      !pai__read_fields(r, n, "a cell", keys, KEYS, v))
    return;
  if (cell.parent != PAI__NOTHING)
    other_type(g, v[TYPE], &r->c->types[cell.type]);
  cell.node = cell.gpu = PAI__NOTHING;
  pin = read_if_any(r, v[PIN], "pinnedCellId");
  if (pin.s != NULL) {
    cell.pin = pai__cluster_text(r->c, pin.s, pin.len);
    r->f->failed |= cell.pin == NULL;
  }
  put_address(g, v[ADDRESS], at, &cell, number);
  if (add_cell(g, at, &cell) && g->facts[cell.type].level > 1)
    grow_children(g, v[CHILDREN], at, index, number);
  if (index < r->c->ncells)
    r->c->cells[index].skip = (uint32_t)r->c->ncells;
  pai__buf_cut(&g->address, before);
}

/* --- top cells ------------------------------------------------------------ */

static void unknown_type(pai__reader *r, pai__node n, pai__piece name)
{
  pai__names names;

  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-cell-type", n,
                 "there is no type of cell '%.*s'", (int)name.len, name.s))
    return;
  pai__names_init(&names, &r->c->alloc, name.s, name.len);
  names.made_up = true;
  for (size_t i = 0; i < r->c->ntypes; i++)
    if (r->c->types[i].child != PAI__NOTHING)
      pai__names_add(&names, r->c->types[i].name, strlen(r->c->types[i].name));
  pai__names_help(&names, r->f, "the cellTypes of this file");
}

/* The type of a top cell; PAI__NOTHING: it cannot be one. */
static uint32_t top_type(growing *g, pai__node n)
{
  pai__reader *r = g->r;
  pai__piece name = pai__read_text(r, n, "cellType");
  uint32_t type;

  if (name.s == NULL)
    return PAI__NOTHING;
  type = pai__cluster_find_type(r->c, name.s, name.len);
  if (type == PAI__NOTHING) {
    unknown_type(r, n, name);
    return type;
  }
  if (g->facts[type].level == 0)
    return PAI__NOTHING; /* told where the type stands */
  if (g->facts[type].has_node)
    return type;
  if (pai__find(r->f, PAI_SEVERITY_ERROR,
                g->facts[type].level == 1 ? "leaf-at-top" : "below-node", n,
                g->facts[type].level == 1
                  ? "'%.*s' is a leaf cell, which cannot stand alone"
                  : "'%.*s' is a part of a node, which cannot stand alone",
                (int)name.len, name.s))
    pai__find_help(r->f, "give the node that it is in, or, if it is a node, "
                         "its type isNodeLevel: true");
  return PAI__NOTHING;
}

static void grow_top(growing *g, pai__node item, uint64_t number)
{
  pai__reader *r = g->r;
  pai__cell top = { .parent = PAI__NOTHING };
  pai__node type = pai__tree_get(r->t, item, "cellType");

  if (type == PAI__NO_NODE && pai__tree_type(r->t, item) == PAI__MAPPING)
    pai__read_missing(r, item, "a cell that is in no other", "cellType");
  top.type = top_type(g, type);
  g->told = false;
  if (top.type != PAI__NOTHING)
    grow(g, item, item, &top, number);
  else if (type == PAI__NO_NODE)
    (void)pai__read_is_mapping(r, item, "a cell");
}

static void read_tops(growing *g, pai__node n)
{
  pai__reader *r = g->r;
  pai__tree_walk walk;
  uint64_t number = 0;
  pai__node item;

  if (!pai__read_is_list(r, n, "physicalCells"))
    return;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && !r->full &&
         (item = pai__tree_next(&walk)) != PAI__NO_NODE)
    grow_top(g, item, number++);
  if (!r->f->failed && r->c->ncells > 0)
    check_siblings(r, 0);
}

/* --- what comes with a leaf cell ------------------------------------------ */

static void read_units(pai__reader *r, pai__node n)
{
  enum { GPU, CPU, MEMORY, GPU_TYPE, UNIT_KEYS };
  static const char *const keys[] = { "gpu", "cpu", "memory", "gpuType" };
  enum { MOST = 100000 };
  pai__node key, v[UNIT_KEYS];
  pai__tree_walk walk;
  pai__unit *u;

  if (!pai__read_is_mapping(r, n, "skuTypes"))
    return;
  u =
    pai__arena_zalloc(&r->c->arena, pai__tree_count(r->t, n) + 1, sizeof(*u));
  r->f->failed |= u == NULL;
  r->c->units = u;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    u->name = pai__read_copy(r, key, "the name of a SKU");
    if (u->name == NULL || !pai__read_fields(r, pai__tree_value(r->t, key),
                                             "a SKU", keys, UNIT_KEYS, v))
      continue;
    u->gpus = pai__read_uint32(r, v[GPU], "gpu", 0, PAI__NODE_MAX_GPUS, 0);
    u->cpus = pai__read_uint32(r, v[CPU], "cpu", 0, MOST, 0);
    u->memory = pai__read_size(r, v[MEMORY], "memory");
    u->gpu_type = pai__read_copy(r, v[GPU_TYPE], "gpuType");
    u++;
    r->c->nunits++;
  }
}

/* What comes with leaf cells that there are not is mostly misspelt. */
static void check_units(pai__reader *r, pai__node n)
{
  const pai_cluster *c = r->c;
  pai__tree_walk walk;
  pai__node key;

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) != PAI__MAPPING ||
      c->ntypes == 0)
    return;
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(r->t, key, &len);
    uint32_t type = pai__cluster_find_type(c, name, len);
    char piece[PAI__EXCERPT];
    pai__names names;

    if ((type != PAI__NOTHING && c->types[type].child == PAI__NOTHING) ||
        !pai__find(r->f, PAI_SEVERITY_WARNING, "unused-sku", key,
                   "no leaf cell is of type '%s'",
                   pai__excerpt(piece, name, len)))
      continue;
    pai__names_init(&names, &c->alloc, name, len);
    names.made_up = true;
    for (size_t i = 0; i < c->ntypes; i++)
      if (c->types[i].child == PAI__NOTHING)
        pai__names_add(&names, c->types[i].name, strlen(c->types[i].name));
    pai__names_help(&names, r->f, "types of leaf cells");
  }
}

/* --- the whole ------------------------------------------------------------ */

void pai__read_cells(pai__reader *r, pai__node n)
{
  enum { UNITS, TYPES, CELLS, PHYSICAL_KEYS };
  static const char *const keys[] = { "skuTypes", "cellTypes",
                                      "physicalCells" };
  pai__node v[PHYSICAL_KEYS];
  pai__type_facts *facts;
  growing g = { .r = r };

  if (!pai__read_fields(r, n, "physicalCluster", keys, PHYSICAL_KEYS, v))
    return;
  read_units(r, v[UNITS]);
  pai__read_types(r, v[TYPES]);
  facts =
    pai__realloc(&r->c->alloc, NULL, 0, r->c->ntypes + 1, sizeof(*facts));
  r->f->failed |= facts == NULL;
  if (!r->f->failed) {
    check_units(r, v[UNITS]);
    pai__cells_facts(r->c, facts);
    g.facts = facts;
    pai__buf_init(&g.address, &r->c->alloc);
    read_tops(&g, v[CELLS]);
    pai__buf_dispose(&g.address);
  }
  pai__free(&r->c->alloc, facts, (r->c->ntypes + 1) * sizeof(*facts));
}

const char *pai__cell_own(const pai_cluster *c, uint32_t cell)
{
  const char *slash = strrchr(c->cells[cell].address, '/');

  return slash != NULL ? slash + 1 : c->cells[cell].address;
}

/* As HiveD reads them: a sign, and zeros before them, are allowed. */
bool pai__read_device(pai__reader *r, uint32_t cell, uint16_t *number)
{
  const char *own = pai__cell_own(r->c, cell), *s = own;
  uint32_t value = 0;

  s += *s == '+';
  while (*s >= '0' && *s <= '9' && value <= UINT16_MAX)
    value = value * 10 + (uint32_t)(*s++ - '0');
  *number = (uint16_t)value;
  if (*s == '\0' && s > own && s[-1] != '+' && value <= UINT16_MAX)
    return true;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-device", r->cell_at[cell],
                "'%.80s' is not the number of a device", own))
    pai__find_help(r->f, "a leaf cell's address is what its GPU is called in "
                         "CUDA_VISIBLE_DEVICES: 0 to 65535");
  return false;
}
