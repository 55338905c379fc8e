/* read_types.c - the types of HiveD's cells */
#include "resource/cells.h"
#include "resource/read.h"

/* What is read of the types, while the leaf types are not known yet. */
typedef struct reading {
  pai__reader *r;
  pai__node *keys;        /* where each type stands */
  pai__piece *children;   /* the names of what they contain */
  pai__type_facts *facts; /* of the leaf types, too */
  size_t count;           /* of those that are given */
} reading;

/* --- one type ------------------------------------------------------------- */

/* As YAML 1.1 has it, HiveD's YAML. */
static bool read_flag(pai__reader *r, pai__node n)
{
  static const char *const yes[] = { "yes", "Yes", "YES", "on", "On", "ON" };
  static const char *const no[] = { "no", "No", "NO", "off", "Off", "OFF" };
  char text[PAI__VALUE_TEXT];

  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) == PAI__NULL)
    return false;
  if (pai__tree_type(r->t, n) == PAI__BOOL)
    return pai__tree_bool(r->t, n);
  if (pai__tree_type(r->t, n) == PAI__STRING)
    for (size_t i = 0; i < PAI__LEN(yes); i++) {
      if (strcmp(pai__tree_str(r->t, n, NULL), yes[i]) == 0)
        return true;
      if (strcmp(pai__tree_str(r->t, n, NULL), no[i]) == 0)
        return false;
    }
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                  "isNodeLevel must be true or false, not %s",
                  pai__value_text(text, r->f, n));
  return false;
}

/* Adds the type as its own child, which it stays if there is no other. */
static void read_type(reading *g, pai__node key)
{
  enum { CHILD, CHILDREN, IS_NODE, KEYS };
  static const char *const keys[] = { "childCellType", "childCellNumber",
                                      "isNodeLevel" };
  pai__reader *r = g->r;
  pai__cell_type type = { .name = pai__read_copy(r, key, "a type of cell"),
                          .child = (uint32_t)r->c->ntypes };
  pai__node n = pai__tree_value(r->t, key), v[KEYS];
  pai__piece *child = &g->children[g->count];

  if (type.name == NULL)
    return;
  if (pai__read_fields(r, n, "a type of cell", keys, KEYS, v)) {
    if (v[CHILD] == PAI__NO_NODE)
      pai__read_missing(r, n, "a type of cell", "childCellType");
    if (v[CHILDREN] == PAI__NO_NODE)
      pai__read_missing(r, n, "a type of cell", "childCellNumber");
  }
  *child = pai__read_text(r, v[CHILD], "childCellType");
  type.children = pai__read_uint32(r, v[CHILDREN], "childCellNumber", 1,
                                   PAI__CLUSTER_MAX_GPUS, 0);
  type.is_node = read_flag(r, v[IS_NODE]);
  if (type.children == 0)
    child->s = NULL;
  if (pai__cluster_add_type(r->c, &type) < 0)
    r->f->failed = true;
  else
    g->keys[g->count++] = key;
}

/* Leaf types come last, in the order in which they are named. */
static void find_children(reading *g)
{
  pai_cluster *c = g->r->c;

  for (size_t i = 0; i < g->count && !g->r->f->failed; i++) {
    pai__piece name = g->children[i];
    pai__cell_type leaf = { .child = PAI__NOTHING };
    uint32_t child;

    if (name.s == NULL)
      continue;
    child = pai__cluster_find_type(c, name.s, name.len);
    if (child == PAI__NOTHING) {
      child = (uint32_t)c->ntypes;
      leaf.name = pai__cluster_text(c, name.s, name.len);
      if (leaf.name == NULL || pai__cluster_add_type(c, &leaf) < 0)
        g->r->f->failed = true;
    }
    c->types[i].child = child;
  }
}

/* --- all of them ---------------------------------------------------------- */

/* Tells of each circle once, at its first type. */
static void check_circle(const reading *g, uint32_t type)
{
  const pai_cluster *c = g->r->c;
  uint32_t at = c->types[type].child;

  if (at == type && g->children[type].s == NULL)
    return; /* something else is wrong with it, and was told */
  for (size_t i = 0; at != type; i++) {
    if (i > c->ntypes || at < type || at == PAI__NOTHING)
      return;
    at = c->types[at].child;
  }
  at = c->types[type].child;
  if (pai__find(g->r->f, PAI_SEVERITY_ERROR, "cycle", g->keys[type],
                at == type ? "a cell of type '%.80s' would contain itself"
                           : "a cell of type '%.80s' would contain itself, "
                             "in a '%.80s'",
                c->types[type].name, c->types[at].name))
    pai__find_help(g->r->f, "give one of them another childCellType");
}

static void too_large(const reading *g, size_t type, const char *what,
                      uint64_t most)
{
  if (pai__find(g->r->f, PAI_SEVERITY_ERROR, "limit", g->keys[type],
                "a cell of type '%.80s' would have more than %u %s",
                g->r->c->types[type].name, (unsigned)most, what))
    pai__find_help(g->r->f, "look at the childCellNumber of those below it");
  g->r->full = true;
}

/* Of what is too large, only the smallest is told. */
static bool is_small(const pai__type_facts *f)
{
  return f->level <= PAI__CELLS_MAX_LEVELS &&
         f->cells <= PAI__CLUSTER_MAX_GPUS;
}

static void check_type(const reading *g, size_t i)
{
  const pai_cluster *c = g->r->c;
  const pai__cell_type *type = &c->types[i];
  const pai__type_facts *f = &g->facts[i];

  if (f->level == 0) {
    check_circle(g, (uint32_t)i);
    return;
  }
  if (type->is_node && f->multi_node &&
      pai__find(g->r->f, PAI_SEVERITY_ERROR, "two-nodes", g->keys[i],
                "a cell of type '%.80s' is a node, and contains nodes",
                type->name))
    pai__find_help(g->r->f, "of types one in the other only one can have "
                            "isNodeLevel");
  if (!is_small(&g->facts[type->child]))
    return;
  if (f->level > PAI__CELLS_MAX_LEVELS)
    too_large(g, i, "levels", PAI__CELLS_MAX_LEVELS);
  else if (f->cells > PAI__CLUSTER_MAX_GPUS)
    too_large(g, i, "cells", PAI__CLUSTER_MAX_GPUS);
  else if (type->is_node && f->leaves > PAI__NODE_MAX_GPUS)
    too_large(g, i, "leaf cells in a node", PAI__NODE_MAX_GPUS);
}

/* Nothing would tell which GPUs of a node are near. */
static void check_flat(const reading *g, size_t i)
{
  const pai_cluster *c = g->r->c;
  const pai__cell_type *type = &c->types[i], *leaf = &c->types[type->child];

  if (!type->is_node || leaf->child != PAI__NOTHING ||
      type->children < PAI__FLAT || type->children > PAI__NODE_MAX_GPUS ||
      pai__is_cpu_kind(c, leaf->name))
    return;
  if (pai__find(g->r->f, PAI_SEVERITY_WARNING, "flat-node", g->keys[i],
                "all %u '%.80s' of a '%.80s' seem equally near to each other",
                type->children, leaf->name, type->name))
    pai__find_help(g->r->f,
                   "put types between for what they share, as '%.80s-SWITCH' "
                   "of 2, so that jobs get GPUs that are near; or one of all "
                   "%u, if they are",
                   leaf->name, type->children);
}

static void check_types(reading *g)
{
  pai_cluster *c = g->r->c;

  pai__cells_facts(c, g->facts);
  for (size_t i = 0; i < c->ntypes; i++)
    c->types[i].in_node = !g->facts[i].has_node;
  for (size_t i = 0; i < g->count; i++) {
    check_type(g, i);
    check_flat(g, i);
  }
}

void pai__read_types(pai__reader *r, pai__node n)
{
  const pai_alloc *a = &r->c->alloc;
  reading g = { .r = r };
  pai__tree_walk walk;
  pai__node key;
  size_t most;

  if (!pai__read_is_mapping(r, n, "cellTypes"))
    return;
  most = pai__tree_count(r->t, n);
  if (most > PAI__CELLS_MAX_TYPES) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "limit", n,
                    "there are more than %d types of cells",
                    PAI__CELLS_MAX_TYPES);
    r->full = true;
    return;
  }
  g.keys = pai__realloc(a, NULL, 0, most + 1, sizeof(*g.keys));
  g.children = pai__realloc(a, NULL, 0, most + 1, sizeof(*g.children));
  g.facts = pai__realloc(a, NULL, 0, 2 * most + 1, sizeof(*g.facts));
  r->f->failed |= g.keys == NULL || g.children == NULL || g.facts == NULL;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_type(&g, key);
  if (!r->f->failed)
    find_children(&g);
  if (!r->f->failed)
    check_types(&g);
  pai__free(a, g.keys, (most + 1) * sizeof(*g.keys));
  pai__free(a, g.children, (most + 1) * sizeof(*g.children));
  pai__free(a, g.facts, (2 * most + 1) * sizeof(*g.facts));
}
