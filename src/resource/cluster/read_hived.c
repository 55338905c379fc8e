/* read_hived.c - read HiveD's configuration, and its cell types */
#include "resource/cells.h"
#include "resource/cluster/write.h"

/* --- the types of HiveD's cells ------------------------------------------ */

/* Cell types while they are read, before the leaf types are known. */
typedef struct reading {
  pai__reader *r;
  pai__node *keys;        /* place of each type */
  pai__piece *children;   /* names of their child types */
  pai__type_facts *facts; /* also of the leaf types */
  size_t count;           /* number of types that are given */
} reading;

/* --- one type ------------------------------------------------------------- */

/* Reads a boolean of YAML 1.1, which HiveD uses. */
static void read_flag(pai__reader *r, pai__node n, void *record)
{
  static const char *const yes[] = { "yes", "Yes", "YES", "on", "On", "ON" };
  static const char *const no[] = { "no", "No", "NO", "off", "Off", "OFF" };
  bool *flag = &((pai__cell_type *)record)->is_node;
  int type = pai__tree_type(r->t, n);
  char text[PAI__VALUE_TEXT];

  if (type == PAI__BOOL)
    *flag = pai__tree_bool(r->t, n);
  if (type == PAI__BOOL || type == PAI__NULL)
    return;
  for (size_t i = 0; type == PAI__STRING && i < PAI__LEN(yes); i++) {
    *flag = strcmp(pai__tree_str(r->t, n, NULL), yes[i]) == 0;
    if (*flag || strcmp(pai__tree_str(r->t, n, NULL), no[i]) == 0)
      return;
  }
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                  "isNodeLevel must be true or false, not %s",
                  pai__value_text(text, r->f, n));
}

static void put_child(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__cell_type *type = record;

  pai__out_put_text(o, "childCellType", c->types[type->child].name);
}

enum { CHILD, TYPE_FIELDS = 3 };

static const pai__read_field type_fields[TYPE_FIELDS] = {
  PAI__FIELD("childCellType", KNOWN, .needed = true, .write = put_child,
             .names = PAI__READ_TYPE),
  PAI__FIELD("childCellNumber", NUMBER, .needed = true,
             .place = offsetof(pai__cell_type, children), .least = 1,
             .most = PAI__CLUSTER_MAX_GPUS),
  PAI__FIELD("isNodeLevel", OWN, .as = PAI__FIELD_FLAG,
             .place = offsetof(pai__cell_type, is_node), .read = read_flag),
};

static const pai__read_about type_about[TYPE_FIELDS] = {
  { "type of the cells in it", PAI__KIND_TEXT, NULL },
  { "number of the cells in it", PAI__KIND_ANY, NULL },
  { "true: it is a node", PAI__KIND_FLAG, NULL },
};
const pai__read_table pai__table_type =
  PAI__TABLE("a type of cell", type_fields, type_about);

/* Adds the type as its own child, which it remains if it has no valid
 * child. */
static void read_type(pai__reader *r, pai__node key, void *record)
{
  reading *g = record;
  pai__cell_type type = { .name = pai__read_copy(r, key, "a type of cell"),
                          .child = (uint32_t)r->c->ntypes };
  pai__node v[TYPE_FIELDS];
  pai__piece *child = &g->children[g->count];

  if (type.name == NULL)
    return;
  (void)pai__read_fields(r, pai__tree_value(r->t, key), "a type of cell",
                         type_fields, TYPE_FIELDS, v);
  *child = pai__read_text(r, v[CHILD], "childCellType");
  pai__read_values(r, type_fields, TYPE_FIELDS, v, &type);
  if (type.children == 0)
    child->s = NULL;
  if (pai__cluster_add_type(r->c, &type) < 0)
    r->f->failed = true;
  else
    g->keys[g->count++] = key;
}

/* Resolves child types.  Leaf types are added last, in the order in which they
 * are named. */
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

/* Reports each circle of types once, at its first type. */
static void check_circle(const reading *g, uint32_t type)
{
  const pai_cluster *c = g->r->c;
  uint32_t at = c->types[type].child;

  if (at == type && g->children[type].s == NULL)
    return; /* it has another error, which was reported */
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
    pai__find_help(g->r->f, "check the childCellNumber of the types below it");
  g->r->full = true;
}

/* Whether a type is within the limits; of types that are too large, only the
 * smallest is reported. */
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
    pai__find_help(g->r->f, "of nested types, only one can have isNodeLevel");
  if (!is_small(&g->facts[type->child]))
    return;
  if (f->level > PAI__CELLS_MAX_LEVELS)
    too_large(g, i, "levels", PAI__CELLS_MAX_LEVELS);
  else if (f->cells > PAI__CLUSTER_MAX_GPUS)
    too_large(g, i, "cells", PAI__CLUSTER_MAX_GPUS);
  else if (type->is_node && f->leaves > PAI__NODE_MAX_GPUS)
    too_large(g, i, "leaf cells in a node", PAI__NODE_MAX_GPUS);
}

/* Warns if no type says which GPUs of a node are near each other. */
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
    pai__find_help(
      g->r->f,
      "add types for what they share, as '%.80s-SWITCH' of 2, so that jobs "
      "get GPUs that are near; or one of all %u, if they are equally near",
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
  if (!r->f->failed)
    pai__read_keys(r, n, "cellTypes", read_type, &g);
  if (!r->f->failed)
    find_children(&g);
  if (!r->f->failed)
    check_types(&g);
  pai__free(a, g.keys, (most + 1) * sizeof(*g.keys));
  pai__free(a, g.children, (most + 1) * sizeof(*g.children));
  pai__free(a, g.facts, (2 * most + 1) * sizeof(*g.facts));
}

void pai__out_put_types(pai__output *o, const pai_cluster *c)
{
  pai__out_key(o, "cellTypes");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->ntypes; i++)
    if (c->types[i].child != PAI__NOTHING)
      PAI__WRITE(o, c, c->types[i].name, type_fields, &c->types[i]);
  pai__out_end_mapping(o);
}

static bool is_hived(const pai__tree *t)
{
  return pai__tree_get(t, 0, "physicalCluster") != PAI__NO_NODE;
}

/* --- virtual clusters ----------------------------------------------------- */

static const pai__read_field share_fields[] = {
  PAI__FIELD("cellType", KNOWN, .needed = true, .names = PAI__READ_PATH),
  PAI__KNOWN("cellNumber")
};
static const pai__read_about share_about[] = {
  { "type of cells, as CHAIN or CHAIN.TYPE", PAI__KIND_TEXT, NULL },
  { "number of these cells", PAI__KIND_NUMBER, NULL },
};
static const pai__read_table share_table =
  PAI__TABLE("an item of virtualCells", share_fields, share_about);

static void read_cell(pai__reader *r, pai__node item, void *record)
{
  static const char what[] = "an item of virtualCells";
  pai__node v[2];

  (void)record;
  if (!pai__read_fields(r, item, what, share_fields, 2, v) ||
      v[0] == PAI__NO_NODE)
    return;
  if (v[1] == PAI__NO_NODE)
    pai__read_missing(r, item, what, "cellNumber");
  else
    pai__read_add_share(
      r, v[0], pai__read_copy(r, v[0], "cellType"), NULL,
      pai__read_uint32(r, v[1], "cellNumber", 0, PAI__CLUSTER_MAX_GPUS, 0));
}

static const pai__read_field pin_fields[] = { PAI__FIELD(
  "pinnedCellId", KNOWN, .needed = true, .names = PAI__READ_PIN) };
static const pai__read_about pin_about[] = {
  { "name of a pinned cell", PAI__KIND_TEXT, NULL },
};
static const pai__read_table pin_table =
  PAI__TABLE("an item of pinnedCells", pin_fields, pin_about);

static void read_pin(pai__reader *r, pai__node item, void *record)
{
  pai__node pin;

  (void)record;
  if (pai__read_fields(r, item, pin_table.what, pin_fields, 1, &pin))
    pai__read_add_share(r, pin, NULL, pai__read_copy(r, pin, "pinnedCellId"),
                        1);
}

static const pai__read_field vc_fields[] = {
  PAI__ITEMS("virtualCells", read_cell), PAI__ITEMS("pinnedCells", read_pin)
};
static const pai__read_about vc_about[] = {
  { "cells that it owns, by type", PAI__KIND_ANY, &share_table },
  { "pinned cells that it owns", PAI__KIND_ANY, &pin_table },
};
static const pai__read_table vc_table =
  PAI__TABLE("a virtual cluster", vc_fields, vc_about);

static void read_vc(pai__reader *r, pai__node name, void *record)
{
  pai__vc vc = { .name = pai__read_copy(r, name, "a virtual cluster"),
                 .at = name };
  pai__node n = pai__tree_value(r->t, name);

  (void)record;
  if (pai__tree_type(r->t, n) == PAI__NULL ||
      PAI__READ(r, n, "a virtual cluster", vc_fields, &vc))
    pai__read_add_vc(r, &vc);
}

/* --- settings of HiveD's own ---------------------------------------------- */

enum { PHYSICAL, VCS, SETTINGS, CONFIG_FIELDS = 7 };

static const pai__read_field config_fields[CONFIG_FIELDS] = {
  PAI__NEEDED("physicalCluster"),
  PAI__KNOWN("virtualClusters"),
  PAI__KNOWN("kubeApiServerAddress"),
  PAI__KNOWN("kubeConfigFilePath"),
  PAI__KNOWN("webServerAddress"),
  PAI__KNOWN("forcePodBindThreshold"),
  PAI__KNOWN("waitingPodSchedulingBlockMilliSec"),
};

static const pai__read_about config_about[CONFIG_FIELDS] = {
  { "the machines, as cells", PAI__KIND_MAPPING, &pai__table_cells },
  { "virtual clusters, and the cells they own", PAI__KIND_KEYS, &vc_table },
  { "address of Kubernetes' API server", PAI__KIND_TEXT, NULL },
  { "Kubernetes' configuration file", PAI__KIND_TEXT, NULL },
  { "address at which HiveD listens", PAI__KIND_TEXT, NULL },
  { "attempts after which a pod is bound by force", PAI__KIND_NUMBER, NULL },
  { "pause between attempts to place a waiting pod, in milliseconds",
    PAI__KIND_NUMBER, NULL },
};
const pai__read_table pai__table_hived =
  PAI__TABLE("a configuration of HiveD", config_fields, config_about);

/* Reads HiveD's own settings, which are kept but not used. */
static void read_settings(pai__reader *r, const pai__node *v)
{
  pai__setting *list = pai__read_room(r, CONFIG_FIELDS, sizeof(*list));

  r->c->settings = list;
  for (size_t i = SETTINGS; i < CONFIG_FIELDS && list != NULL; i++) {
    int type = v[i] != PAI__NO_NODE ? pai__tree_type(r->t, v[i]) : PAI__NULL;
    size_t len;
    const char *s;

    if (type != PAI__INT && type != PAI__STRING)
      continue;
    list->key = config_fields[i].key;
    if (type == PAI__INT) {
      list->number = pai__tree_int(r->t, v[i]);
    } else {
      s = pai__tree_str(r->t, v[i], &len);
      list->text = pai__cluster_text(r->c, s, len);
      r->f->failed |= list->text == NULL;
    }
    list++;
    r->c->nsettings++;
  }
}

/* --- the whole ------------------------------------------------------------ */

static void read_hived(pai__reader *r)
{
  pai__node v[CONFIG_FIELDS];

  r->lenient = true;
  if (!pai__read_fields(r, 0, "HiveD's configuration", config_fields,
                        CONFIG_FIELDS, v))
    return;
  read_settings(r, v);
  if (v[PHYSICAL] != PAI__NO_NODE && !r->f->failed)
    pai__read_cells(r, v[PHYSICAL]);
  if (!r->f->failed && !r->full && r->f->errors == 0)
    pai__read_cells_nodes(r);
  pai__read_keys(r, v[VCS], "virtualClusters", read_vc, NULL);
}

const pai__cluster_form pai__form_hived = { "hived", is_hived, read_hived,
                                            NULL };
