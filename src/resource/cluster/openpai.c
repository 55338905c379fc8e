/* openpai.c - the openpai form of a cluster, read and written by the same
 * tables: nodes, and the whole; see docs/guide/clusters.md */
#include "base/text/number.h"
#include "resource/cluster/write.h"

static bool is_openpai(const pai__tree *t)
{
  return pai__tree_type(t, 0) == PAI__MAPPING &&
         (pai__tree_get(t, 0, "nodes") != PAI__NO_NODE ||
          pai__tree_get(t, 0, "skus") != PAI__NO_NODE);
}

/* --- nodes ---------------------------------------------------------------- */

static uint32_t find_sku(pai__reader *r, pai__node n)
{
  pai__piece name = pai__read_text(r, n, "sku");
  uint32_t sku;
  pai__names names;

  if (name.s == NULL)
    return PAI__NOTHING;
  sku = pai__cluster_find_sku(r->c, name.s, name.len);
  if (sku != PAI__NOTHING)
    return sku;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-sku", n,
                 "there is no SKU '%.*s'", (int)name.len, name.s))
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name.s, name.len);
  names.made_up = true;
  for (size_t i = 0; i < r->c->nskus; i++)
    pai__names_add(&names, r->c->skus[i].name, strlen(r->c->skus[i].name));
  pai__names_help(&names, r->f, "the SKUs of this file");
  return PAI__NOTHING;
}

/* Accepts an empty value, which many of Kubernetes' labels have. */
static const char *read_label(pai__reader *r, pai__node n)
{
  size_t len = 1;

  if (pai__tree_type(r->t, n) == PAI__STRING)
    (void)pai__tree_str(r->t, n, &len);
  return len == 0 ? "" : pai__read_copy(r, n, "a label");
}

typedef struct labels_text {
  pai__label *list;
  uint32_t n;
} labels_text;

static void add_label(pai__reader *r, pai__node key, void *record)
{
  labels_text *labels = record;
  pai__label *l = &labels->list[labels->n];

  l->key = pai__read_copy(r, key, "a label");
  l->value = read_label(r, pai__tree_value(r->t, key));
  labels->n += l->key != NULL && l->value != NULL;
}

static void read_labels(pai__reader *r, pai__node n, void *record)
{
  pai__member *m = record;
  labels_text labels = { NULL, 0 };

  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    labels.list =
      pai__read_room(r, pai__tree_count(r->t, n), sizeof(*labels.list));
  pai__read_keys(r, n, "labels", add_label, &labels);
  m->labels = labels.list;
  m->nlabels = labels.n;
}

static void put_labels(pai__output *o, const pai_cluster *c,
                       const void *record)
{
  const pai__member *m = record;

  (void)c;
  if (m->nlabels == 0)
    return;
  pai__out_key(o, "labels");
  pai__out_begin_mapping(o);
  for (uint32_t i = 0; i < m->nlabels; i++)
    pai__out_put_text(o, m->labels[i].key, m->labels[i].value);
  pai__out_end_mapping(o);
}

static void read_sick(pai__reader *r, pai__node n, char **sick)
{
  const char *why = pai__read_copy(r, n, "sick");

  if (why != NULL && pai__cluster_set_sick(r->c, sick, why) < 0)
    r->f->failed = true;
}

static void read_node_sick(pai__reader *r, pai__node n, void *record)
{
  read_sick(r, n, &((pai__member *)record)->sick);
}

static void read_gpu_sick(pai__reader *r, pai__node n, void *record)
{
  read_sick(r, n, &((pai__gpu *)record)->sick);
}

static void read_gpu_number(pai__reader *r, pai__node n, void *record)
{
  pai__gpu *g = record;

  g->number =
    (uint16_t)pai__read_uint32(r, n, "number", 0, UINT16_MAX, g->number);
}

/* Returns the GPU of a node for the key "3"; PAI__NOTHING if there is none,
 * which is reported. */
static uint32_t find_gpu(pai__reader *r, pai__node key, uint32_t gpus)
{
  const char *s = pai__tree_str(r->t, key, NULL), *p = s;
  uint32_t place = 0;

  for (; *p >= '0' && *p <= '9' && place < gpus; p++)
    place = place * 10 + (uint32_t)(*p - '0');
  if (p > s && *p == '\0' && place < gpus && (*s != '0' || p == s + 1))
    return place;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-gpu", key,
                "this node has no such GPU"))
    pai__find_help(r->f,
                   gpus == 0 ? "the node has none" : "its GPUs are 0 to %u",
                   gpus - 1);
  return PAI__NOTHING;
}

/* Reports GPUs of one kind with the same device number in a node.  GPUs of
 * different kinds may share a number, because each vendor counts its own.
 * Given cells are checked where they are read. */
static void check_numbers(pai__reader *r, pai__node n, const pai__member *m)
{
  const pai__sku *sku = pai__sku_of(r->c, m);
  const pai__gpu *g = r->c->gpus;

  if (sku->gpus == 0)
    return; /* the node may have no GPU at all */
  g += m->first_gpu;
  for (uint32_t k = 0; k < sku->ngroups; k++) {
    uint8_t seen[(UINT16_MAX + 1) / 8] = { 0 };

    for (uint32_t i = 0; i < sku->groups[k].count; i++, g++) {
      uint8_t bit = (uint8_t)(1u << g->number % 8);

      if ((seen[g->number / 8] & bit) != 0) {
        if (pai__find(r->f, PAI_SEVERITY_ERROR, "duplicate", n,
                      "two GPUs of '%.80s' have number %u", m->name,
                      g->number))
          pai__find_help(
            r->f, "a GPU without a number has the number of its position");
        return;
      }
      seen[g->number / 8] |= bit;
    }
  }
}

static const pai__read_field gpu_fields[] = {
  PAI__TEXT("uuid", pai__gpu, uuid),
  PAI__OWN("number", read_gpu_number),
  PAI__OWN("sick", read_gpu_sick),
};

static const pai__read_about gpu_about[] = {
  { "the driver's identifier", PAI__KIND_ANY, NULL },
  { "the driver's number, if it is not the position", PAI__KIND_NUMBER, NULL },
  { "why it cannot be used", PAI__KIND_TEXT, NULL },
};
static const pai__read_table gpu_table =
  PAI__TABLE("a GPU", gpu_fields, gpu_about);

/* Reads the settings of one GPU, by its index. */
static void read_gpu(pai__reader *r, pai__node key, void *record)
{
  const pai__member *m = record;
  uint32_t place = find_gpu(r, key, pai__sku_of(r->c, m)->gpus);

  if (place != PAI__NOTHING)
    (void)PAI__READ(r, pai__tree_value(r->t, key), "a GPU", gpu_fields,
                    &r->c->gpus[m->first_gpu + place]);
}

static void read_gpus(pai__reader *r, pai__node n, void *record)
{
  pai__read_keys(r, n, "gpus", read_gpu, record);
  if (pai__tree_type(r->t, n) == PAI__MAPPING &&
      pai__tree_get(r->t, 0, "physicalCluster") == PAI__NO_NODE)
    check_numbers(r, n, record);
}

static bool is_special(const pai__gpu *g, uint32_t place)
{
  return g->uuid != NULL || g->sick != NULL || g->number != place;
}

/* Writes the GPUs that have something of their own. */
static void put_gpus(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__member *m = record;
  char place[PAI__DOUBLE_TEXT];
  bool begun = false;

  for (uint32_t i = 0; i < pai__sku_of(c, m)->gpus; i++) {
    const pai__gpu *g = &c->gpus[m->first_gpu + i];

    if (!is_special(g, i))
      continue;
    pai__out_begin_once(o, "gpus", false, &begun);
    (void)pai__format_int(place, i);
    pai__out_key(o, place);
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "uuid", g->uuid);
    if (g->number != i) {
      pai__out_key(o, "number");
      pai__out_number(o, g->number);
    }
    pai__out_put_text(o, "sick", g->sick);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_mapping(o);
}

static void put_sku(pai__output *o, const pai_cluster *c, const void *record)
{
  pai__out_put_text(o, "sku", pai__sku_of(c, record)->name);
}

static void put_rack(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__member *m = record;

  if (m->rack != PAI__NOTHING)
    pai__out_put_text(o, "rack", c->racks[m->rack]);
}

/* --- a node --------------------------------------------------------------- */

enum { NAME, SKU, RACK, NODE_FIELDS = 8 };

static const pai__read_field node_fields[NODE_FIELDS] = {
  PAI__FIELD("name", KNOWN, .as = PAI__FIELD_TEXT, .needed = true,
             .place = offsetof(pai__member, name), .names = PAI__READ_NODE,
             .declares = true),
  PAI__FIELD("sku", KNOWN, .needed = true, .write = put_sku,
             .names = PAI__READ_TYPE),
  PAI__BOTH("rack", KNOWN, NULL, put_rack),
  PAI__TEXT("address", pai__member, address),
  PAI__FIELD("pin", TEXT, .place = offsetof(pai__member, pin),
             .names = PAI__READ_PIN, .declares = true),
  PAI__BOTH("labels", OWN, read_labels, put_labels),
  PAI__FIELD("sick", OWN, .as = PAI__FIELD_TEXT,
             .place = offsetof(pai__member, sick), .read = read_node_sick),
  PAI__BOTH("gpus", OWN, read_gpus, put_gpus),
};

static const pai__read_about node_about[] = {
  { "its name; gpu[01-16] for many nodes at once", PAI__KIND_TEXT, NULL },
  { "its type of machine, of skus", PAI__KIND_TEXT, NULL },
  { "its rack", PAI__KIND_TEXT, NULL },
  { "its address (default: the name)", PAI__KIND_ANY, NULL },
  { "a name for shares of exactly this node", PAI__KIND_ANY, NULL },
  { "labels for constraints of jobs", PAI__KIND_MAPPING, NULL },
  { "why it cannot be used", PAI__KIND_TEXT, NULL },
  { "facts about single GPUs, by their position from 0", PAI__KIND_KEYS,
    &gpu_table },
};
static const pai__read_table node_table =
  PAI__TABLE("a node", node_fields, node_about);

static void bad_range(pai__reader *r, pai__node n)
{
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-range", n,
                "the brackets in this name are invalid"))
    pai__find_help(r->f, "write node[01-16,20] for many nodes at once");
}

/* Adds one node, or all nodes of a name with brackets. */
static void add_nodes(pai__reader *r, pai__node at, pai__piece name,
                      uint32_t sku, const pai__node *v)
{
  pai__range_names names;
  uint32_t rack = PAI__NOTHING;
  pai__piece in = pai__read_text(r, v[RACK], "rack");
  pai__buf text;

  if (in.s != NULL && pai__cluster_rack(r->c, in.s, in.len, &rack) < 0)
    r->f->failed = true;
  if (!pai__range_begin(&names, name.s, name.len)) {
    bad_range(r, v[NAME]);
    return;
  }
  pai__buf_init(&text, &r->c->alloc);
  while (!r->f->failed && pai__range_next(&names, &text)) {
    const char *copy = NULL;
    pai__member *m;

    if (pai__buf_ok(&text))
      copy = pai__cluster_text(r->c, text.data, text.len);
    r->f->failed |= copy == NULL;
    if (r->f->failed || (m = pai__read_add_node(r, at, copy, sku)) == NULL)
      break;
    m->rack = rack;
    pai__read_values(r, node_fields, NODE_FIELDS, v, m);
  }
  pai__buf_dispose(&text);
}

static void read_node(pai__reader *r, pai__node n, void *record)
{
  pai__node v[NODE_FIELDS];
  pai__piece name;
  uint32_t sku;

  (void)record;
  if (!pai__read_fields(r, n, "a node", node_fields, NODE_FIELDS, v))
    return;
  name = pai__read_text(r, v[NAME], "the name of a node");
  sku = find_sku(r, v[SKU]);
  if (name.s != NULL && sku != PAI__NOTHING)
    add_nodes(r, n, name, sku, v);
}

static void put_nodes(pai__output *o, const pai_cluster *c, const void *record)
{
  (void)record;
  pai__out_key(o, "nodes");
  pai__out_begin_list(o);
  for (size_t i = 0; i < c->nnodes; i++)
    PAI__WRITE(o, c, NULL, node_fields, &c->nodes[i]);
  pai__out_end_list(o);
}

/* --- the whole ------------------------------------------------------------ */

static void read_name(pai__reader *r, pai__node n, void *record)
{
  const char *name = pai__read_copy(r, n, "name");

  if (name != NULL)
    ((pai_cluster *)record)->name = name;
}

static void put_cluster_name(pai__output *o, const pai_cluster *c,
                             const void *record)
{
  (void)record;
  if (*c->name != '\0')
    pai__out_put_text(o, "name", c->name);
}

static void read_physical(pai__reader *r, pai__node n, void *record)
{
  (void)record;
  pai__read_cells(r, n);
}

/* Cells derived from the nodes are not written. */
static void put_physical(pai__output *o, const pai_cluster *c,
                         const void *record)
{
  (void)record;
  if (c->ncells == 0 || c->derived)
    return;
  pai__out_key(o, "physicalCluster");
  pai__out_begin_mapping(o);
  pai__out_put_units(o, c->units, c->nunits);
  o->text.failed |= pai__out_put_cells(o, c) < 0;
  pai__out_end_mapping(o);
}

static const pai__read_field fields[] = {
  PAI__BOTH("name", OWN, read_name, put_cluster_name),
  PAI__BOTH("gpus", KEYS, pai__openpai_read_kind, pai__openpai_put_kinds),
  PAI__FIELD("skus", KEYS, .read = pai__openpai_read_sku,
             .write = pai__openpai_put_skus, .names = PAI__READ_TYPE,
             .declares = true),
  PAI__BOTH("nodes", ITEMS, read_node, put_nodes),
  PAI__BOTH("physicalCluster", OWN, read_physical, put_physical),
  PAI__BOTH("virtualClusters", OWN, pai__openpai_read_vcs,
            pai__openpai_put_vcs),
};

static const pai__read_about about[] = {
  { "name of the cluster", PAI__KIND_TEXT, NULL },
  { "facts about kinds of GPUs", PAI__KIND_ANY, &pai__table_kind },
  { "types of machines", PAI__KIND_ANY, &pai__table_sku },
  { "the machines", PAI__KIND_ANY, &node_table },
  { "cells that are given, with HiveD's keys", PAI__KIND_MAPPING,
    &pai__table_cells },
  { "virtual clusters, and what they own", PAI__KIND_KEYS, &pai__table_vc },
};
const pai__read_table pai__table_openpai =
  PAI__TABLE("a cluster", fields, about);

static void read_openpai(pai__reader *r)
{
  (void)PAI__READ(r, 0, "a cluster", fields, r->c);
}

/* Given cells refer to nodes by name. */
static void finish(pai__reader *r)
{
  if (r->c->ncells > 0)
    pai__read_cells_bind(r);
}

const pai__cluster_form pai__form_openpai = { "openpai", is_openpai,
                                              read_openpai, finish };

int pai_cluster_write(const pai_cluster *c, int format, pai_write_cb write,
                      void *user_data, pai_error **err)
{
  pai__output o;
  int rc;

  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  rc = pai__out_begin(&o, c, format, err);
  if (rc < 0)
    return rc;
  PAI__WRITE(&o, c, NULL, fields, c);
  return pai__out_end(&o, write, user_data, err);
}
