/* read_cells.c - read HiveD's physicalCluster: cells that are given, and cells
 * that their types imply */
#include "resource/cells.h"

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "resource/cluster/write.h"

#include <inttypes.h>
#include <stdlib.h>

/* The state of adding the cells below a top cell. */
typedef struct growing {
  pai__reader *r;
  const pai__type_facts *facts;
  pai__buf address; /* address of the parent, and a slash */
  size_t text;      /* bytes of all addresses */
  uint64_t tops;    /* number of top cells read */
  bool told;        /* reported: this top cell has a node without a name */
} growing;

enum { TYPE, ADDRESS, PIN, CHILDREN, CELL_FIELDS };

static const pai__read_field cell_fields[CELL_FIELDS] = {
  PAI__FIELD("cellType", KNOWN, .names = PAI__READ_TYPE),
  PAI__FIELD("cellAddress", KNOWN, .names = PAI__READ_NODE),
  PAI__FIELD("pinnedCellId", KNOWN, .names = PAI__READ_PIN, .declares = true),
  PAI__KNOWN("cellChildren")
};

static const pai__read_table cell_table;
static const pai__read_about cell_about[] = {
  { "its type, of cellTypes", PAI__KIND_TEXT, NULL },
  { "its address: of a node, its name; below, a number", PAI__KIND_TEXT,
    NULL },
  { "a name for shares of exactly this cell", PAI__KIND_TEXT, NULL },
  { "the cells in it, if their addresses are not 0, 1, 2, ...", PAI__KIND_LIST,
    &cell_table },
};
static const pai__read_table cell_table =
  PAI__TABLE("a cell", cell_fields, cell_about);

static void grow(growing *g, pai__node n, pai__node at, const pai__cell *as,
                 uint64_t number);

/* Whether a text is absent or empty. */
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

/* Warns about a wrong number of children, which HiveD does not check. */
static void other_count(growing *g, pai__node n, uint32_t given,
                        const pai__cell_type *type)
{
  if (given != type->children &&
      pai__find(g->r->f, PAI_SEVERITY_WARNING, "child-count", n,
                "this cell has %u children, but cells of type '%.80s' have %u",
                (unsigned)given, type->name, (unsigned)type->children))
    pai__find_help(
      g->r->f,
      "list all children, as {} for those without properties of their own");
}

static void no_name(growing *g, pai__node at, const char *name)
{
  if (!g->told &&
      pai__find(
        g->r->f, PAI_SEVERITY_WARNING, "node-without-name", at,
        "a node in this cell has no cellAddress, so its name is '%.80s'",
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
                "this cellType has no effect: the cell is of type '%.80s'",
                type->name))
    pai__find_help(g->r->f, "its type follows from its parent cell");
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
          "the cell at line %u has the same address '%.80s'",
          (unsigned)pai__tree_where(r->t, r->cell_at[list[i - 1].cell]).line,
          list[i].address))
      pai__find_help(r->f, "give one of them another cellAddress");
}

/* Reports equal addresses of siblings.  Names have no slash, so only siblings
 * can have equal addresses.  One node may be the top of two chains. */
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

/* Appends the cell's own part to its parent's address. */
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

/* Adds the children that are given, or as many as the type has.  The number of
 * a child follows from its parent's number, whatever the parent's name; within
 * a node, numbers start at 0. */
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
  pai__reader *r = g->r;
  pai__node v[CELL_FIELDS] = { PAI__NO_NODE, PAI__NO_NODE, PAI__NO_NODE,
                               PAI__NO_NODE };
  uint32_t index = (uint32_t)r->c->ncells;
  size_t before = g->address.len;
  pai__cell cell = *as;
  pai__piece pin;

  if (n != PAI__NO_NODE && pai__tree_type(r->t, n) != PAI__NULL &&
      !pai__read_fields(r, n, "a cell", cell_fields, CELL_FIELDS, v))
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

/* Returns the type of a top cell; PAI__NOTHING: it is not valid there. */
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
    return PAI__NOTHING; /* reported at the type */
  if (g->facts[type].has_node)
    return type;
  if (pai__find(r->f, PAI_SEVERITY_ERROR,
                g->facts[type].level == 1 ? "leaf-at-top" : "below-node", n,
                g->facts[type].level == 1
                  ? "'%.*s' is a leaf cell, which cannot be a top cell"
                  : "'%.*s' is a part of a node, which cannot be a top cell",
                (int)name.len, name.s))
    pai__find_help(r->f, "give the node that it is in, or, if it is a node, "
                         "its type isNodeLevel: true");
  return PAI__NOTHING;
}

static void grow_top(pai__reader *r, pai__node item, void *record)
{
  growing *g = record;
  pai__cell top = { .parent = PAI__NOTHING };
  pai__node type = pai__tree_get(r->t, item, "cellType");

  if (type == PAI__NO_NODE && pai__tree_type(r->t, item) == PAI__MAPPING)
    pai__read_missing(r, item, "a cell that is in no other", "cellType");
  top.type = top_type(g, type);
  g->told = false;
  if (top.type != PAI__NOTHING)
    grow(g, item, item, &top, g->tops);
  else if (type == PAI__NO_NODE)
    (void)pai__read_is_mapping(r, item, "a cell");
  g->tops++;
}

/* --- units of leaf cells ------------------------------------------------- */

enum { MOST_CPUS = 100000 };

/* Writes memory as Kubernetes reads it, whose units differ from ours. */
static void put_memory(pai__output *o, const pai_cluster *c,
                       const void *record)
{
  uint64_t memory = ((const pai__unit *)record)->memory;
  char text[PAI__DOUBLE_TEXT + 2];
  int shift = memory % (1 << 20) == 0 ? 20 : memory % 1024 == 0 ? 10 : 0;
  size_t len = pai__format_int(text, (int64_t)(memory >> shift));

  (void)c;
  if (memory == 0)
    return;
  if (shift > 0) {
    text[len++] = shift == 20 ? 'M' : 'K';
    text[len++] = 'i';
  }
  text[len] = '\0';
  pai__out_put_text(o, "memory", text);
}

static const pai__read_field unit_fields[] = {
  PAI__NUMBER("gpu", pai__unit, gpus, 0, PAI__NODE_MAX_GPUS),
  PAI__NUMBER("cpu", pai__unit, cpus, 0, MOST_CPUS),
  PAI__FIELD("memory", SIZE, .place = offsetof(pai__unit, memory),
             .write = put_memory),
  PAI__TEXT("gpuType", pai__unit, gpu_type),
};

static const pai__read_about unit_about[] = {
  { "GPUs", PAI__KIND_ANY, NULL },
  { "CPUs", PAI__KIND_ANY, NULL },
  { "memory, as 32Gi", PAI__KIND_ANY, NULL },
  { "kind of its GPU", PAI__KIND_ANY, NULL },
};
static const pai__read_table unit_table =
  PAI__TABLE("a SKU", unit_fields, unit_about);

static void read_unit(pai__reader *r, pai__node key, void *record)
{
  pai__unit *u = (pai__unit *)record + r->c->nunits;

  u->name = pai__read_copy(r, key, "the name of a SKU");
  r->c->nunits += u->name != NULL && PAI__READ(r, pai__tree_value(r->t, key),
                                               "a SKU", unit_fields, u);
}

static void read_units(pai__reader *r, pai__node n)
{
  pai__unit *units =
    n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__MAPPING
      ? pai__read_room(r, pai__tree_count(r->t, n), sizeof(*units))
      : NULL;

  r->c->units = units;
  pai__read_keys(r, n, "skuTypes", read_unit, units);
}

void pai__out_put_units(pai__output *o, const pai__unit *units, size_t n)
{
  bool begun = false;

  for (size_t i = 0; i < n; i++) {
    pai__out_begin_once(o, "skuTypes", false, &begun);
    PAI__WRITE(o, NULL, units[i].name, unit_fields, &units[i]);
  }
  if (begun)
    pai__out_end_mapping(o);
}

/* Reports units of leaf types that do not exist, which are probably
 * misspelt. */
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

enum { UNITS, TYPES, CELLS, FIELDS };

static const pai__read_field fields[FIELDS] = {
  PAI__FIELD("skuTypes", KNOWN, .names = PAI__READ_TYPE, .declares = true),
  PAI__FIELD("cellTypes", KNOWN, .names = PAI__READ_TYPE, .declares = true),
  PAI__KNOWN("physicalCells")
};

static const pai__read_about about[FIELDS] = {
  { "CPUs and memory of a leaf cell of each type", PAI__KIND_KEYS,
    &unit_table },
  { "types of cells that have cells in them", PAI__KIND_KEYS,
    &pai__table_type },
  { "the cells at the top", PAI__KIND_LIST, &cell_table },
};
const pai__read_table pai__table_cells =
  PAI__TABLE("physicalCluster", fields, about);

void pai__read_cells(pai__reader *r, pai__node n)
{
  pai__node v[FIELDS];
  pai__type_facts *facts;
  growing g = { .r = r };

  if (!pai__read_fields(r, n, "physicalCluster", fields, FIELDS, v))
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
    pai__read_items(r, v[CELLS], "physicalCells", grow_top, &g);
    if (!r->f->failed && r->c->ncells > 0)
      check_siblings(r, 0);
    pai__buf_dispose(&g.address);
  }
  pai__free(&r->c->alloc, facts, (r->c->ntypes + 1) * sizeof(*facts));
}

const char *pai__cell_own(const pai_cluster *c, uint32_t cell)
{
  const char *slash = strrchr(c->cells[cell].address, '/');

  return slash != NULL ? slash + 1 : c->cells[cell].address;
}

/* Accepts a plus sign and leading zeros, as HiveD does. */
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
