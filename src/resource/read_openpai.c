/* read_openpai.c - our own form of a cluster: docs/guide/clusters.md */
#include "resource/read.h"

static bool is_openpai(const pai__tree *t)
{
  return pai__tree_type(t, 0) == PAI__MAPPING &&
         (pai__tree_get(t, 0, "nodes") != PAI__NO_NODE ||
          pai__tree_get(t, 0, "skus") != PAI__NO_NODE);
}

/* --- kinds of GPUs, and SKUs ---------------------------------------------- */

static void read_kinds(pai__reader *r, pai__node n)
{
  enum { RESOURCE, MEMORY, KEYS };
  static const char *const keys[] = { "resource", "memory" };
  pai__tree_walk walk;
  pai__node key, v[KEYS];

  if (!pai__read_is_mapping(r, n, "gpus"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed) {
    pai__piece name = pai__read_text(r, key, "a kind of GPU");
    uint32_t kind;

    if (name.s == NULL || !pai__read_fields(r, pai__tree_value(r->t, key),
                                            "a kind of GPU", keys, KEYS, v))
      continue;
    kind = pai__read_kind(r, key, name.s, name.len);
    if (kind == PAI__NOTHING)
      return;
    r->c->kinds[kind].resource = pai__read_copy(r, v[RESOURCE], "resource");
    r->c->kinds[kind].memory = pai__read_size(r, v[MEMORY], "memory");
  }
}

/* So many GPUs of a kind that stands at `at`, more than which a node cannot
 * have. */
static void add_group(pai__reader *r, pai__node at, pai__piece name,
                      uint32_t count, pai__gpu_group *groups, pai__sku *sku)
{
  uint32_t all = count, kind;

  for (uint32_t i = 0; i < sku->ngroups; i++)
    all += groups[i].count;
  if (all > PAI__NODE_MAX_GPUS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", at,
                    "a machine cannot have more than %d GPUs",
                    PAI__NODE_MAX_GPUS);
    return;
  }
  kind = pai__read_kind(r, at, name.s, name.len);
  if (kind != PAI__NOTHING)
    groups[sku->ngroups++] = (pai__gpu_group){ kind, count };
}

/* {h100: 4, t4: 2}: one kind after the other. */
static void read_kinds_of(pai__reader *r, pai__node gpu,
                          pai__gpu_group *groups, pai__sku *sku)
{
  pai__tree_walk walk = pai__tree_iter(r->t, gpu);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed) {
    pai__piece name = pai__read_text(r, key, "gpu");
    uint32_t count =
      pai__read_uint32(r, pai__tree_value(r->t, key), "a number of GPUs", 1,
                       PAI__NODE_MAX_GPUS, 0);

    if (name.s != NULL && count > 0)
      add_group(r, key, name, count, groups, sku);
  }
}

/* `gpu: h100` with `gpus: 8`; or several kinds. */
static void read_groups(pai__reader *r, pai__node gpu, pai__node gpus,
                        pai__sku *sku)
{
  bool many = gpu != PAI__NO_NODE && pai__tree_type(r->t, gpu) == PAI__MAPPING;
  pai__piece name = { "gpu", 3 };
  uint32_t count;
  pai__gpu_group *groups = pai__arena_zalloc(
    &r->c->arena, many ? pai__tree_count(r->t, gpu) + 1 : 1, sizeof(*groups));

  r->f->failed |= groups == NULL;
  sku->groups = groups;
  if (groups == NULL)
    return;
  if (many) {
    if (gpus != PAI__NO_NODE)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", gpus,
                      "gpus says how many there are of one kind; here gpu "
                      "does, for each kind");
    read_kinds_of(r, gpu, groups, sku);
    return;
  }
  if (gpus == PAI__NO_NODE) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key", gpu,
                  "a SKU with gpu needs 'gpus'"))
      pai__find_help(r->f, "say how many each machine has, as gpus: 8");
    return;
  }
  count = pai__read_uint32(r, gpus, "gpus", 0, PAI__NODE_MAX_GPUS, 0);
  if (gpu != PAI__NO_NODE)
    name = pai__read_text(r, gpu, "gpu");
  if (name.s != NULL && count > 0)
    add_group(r, gpu != PAI__NO_NODE ? gpu : gpus, name, count, groups, sku);
}

/* {switch: 2, nvlink: 8}: how many GPUs share such a thing. */
static void read_near(pai__reader *r, pai__node n, pai__sku *sku)
{
  pai__near_group *near;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, n, "near"))
    return;
  near = pai__arena_zalloc(&r->c->arena, pai__tree_count(r->t, n) + 1,
                           sizeof(*near));
  sku->near = near;
  r->f->failed |= near == NULL;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__near_group *g = &near[sku->nnear];

    g->name = pai__read_cell_name(r, key, "what GPUs share");
    g->gpus = pai__read_uint32(r, pai__tree_value(r->t, key),
                               "a number of GPUs", 1, PAI__NODE_MAX_GPUS, 0);
    sku->nnear += g->name != NULL && g->gpus != 0;
  }
}

/* Groups that cannot be, and so will be no cells. */
static void check_near(pai__reader *r, pai__node near, pai__node numa,
                       const pai__sku *sku)
{
  uint32_t gpus = 0;

  for (uint32_t i = 0; i < sku->ngroups; i++)
    gpus += sku->groups[i].count;
  if (gpus == 0 || sku->ngroups > 1)
    return;
  for (uint32_t i = 0; i < sku->nnear; i++)
    if (gpus % sku->near[i].gpus != 0 &&
        pai__find(r->f, PAI_SEVERITY_WARNING, "odd-group", near,
                  "%u GPUs cannot be parted into groups of %u", gpus,
                  sku->near[i].gpus))
      pai__find_help(r->f, "say how many GPUs share one %s",
                     sku->near[i].name);
  if (numa != PAI__NO_NODE && gpus % sku->numa != 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "odd-group", numa,
                "%u GPUs cannot be spread over %u NUMA nodes equally", gpus,
                sku->numa))
    pai__find_help(r->f, "cells will not tell of NUMA nodes");
}

static void read_used(pai__reader *r, pai__node n, pai__sku *sku)
{
  static const char *const keys[] = { "cpus", "memory" };
  pai__node v[2];

  if (n == PAI__NO_NODE || !pai__read_fields(r, n, "used", keys, 2, v))
    return;
  sku->used_cpus = pai__read_uint32(r, v[0], "cpus", 0, UINT32_MAX, 0);
  sku->used_memory = pai__read_size(r, v[1], "memory");
  if ((sku->cpus != 0 && sku->used_cpus > sku->cpus) ||
      (sku->memory != 0 && sku->used_memory > sku->memory))
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n,
                    "more is used than a machine has");
}

static void read_sku(pai__reader *r, pai__node name, pai__node n)
{
  enum { GPU, GPUS, NUMA, NEAR, CPUS, MEMORY, USED, KEYS };
  static const char *const keys[] = { "gpu",  "gpus",   "numa", "near",
                                      "cpus", "memory", "used" };
  pai__sku sku = { .name = pai__read_cell_name(r, name, "the name of a SKU"),
                   .at = name };
  pai__node v[KEYS];
  uint32_t index;

  if (!pai__read_fields(r, n, "a SKU", keys, KEYS, v) || sku.name == NULL)
    return;
  if (v[GPU] != PAI__NO_NODE || v[GPUS] != PAI__NO_NODE)
    read_groups(r, v[GPU], v[GPUS], &sku);
  sku.numa = pai__read_uint32(r, v[NUMA], "numa", 1, 1024, 1);
  if (v[NEAR] != PAI__NO_NODE)
    read_near(r, v[NEAR], &sku);
  sku.cpus = pai__read_uint32(r, v[CPUS], "cpus", 1, UINT32_MAX, 0);
  sku.memory = pai__read_size(r, v[MEMORY], "memory");
  if (v[USED] != PAI__NO_NODE)
    read_used(r, v[USED], &sku);
  check_near(r, v[NEAR], v[NUMA], &sku);
  if (!r->f->failed && pai__cluster_add_sku(r->c, &sku, &index) < 0)
    r->f->failed = true;
}

static void read_skus(pai__reader *r, pai__node n)
{
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, n, "skus"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed)
    read_sku(r, key, pai__tree_value(r->t, key));
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

/* Kubernetes has many labels whose value is empty. */
static const char *read_label(pai__reader *r, pai__node n)
{
  size_t len = 1;

  if (pai__tree_type(r->t, n) == PAI__STRING)
    (void)pai__tree_str(r->t, n, &len);
  return len == 0 ? "" : pai__read_copy(r, n, "a label");
}

static void read_labels(pai__reader *r, pai__node n, pai__member *m)
{
  pai__tree_walk walk;
  pai__node key;
  pai__label *labels;

  if (!pai__read_is_mapping(r, n, "labels"))
    return;
  labels = pai__arena_zalloc(&r->c->arena, pai__tree_count(r->t, n) + 1,
                             sizeof(*labels));
  m->labels = labels;
  r->f->failed |= labels == NULL;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__label *l = &labels[m->nlabels];

    l->key = pai__read_copy(r, key, "a label");
    l->value = read_label(r, pai__tree_value(r->t, key));
    m->nlabels += l->key != NULL && l->value != NULL;
  }
}

static void read_sick(pai__reader *r, pai__node n, char **sick)
{
  const char *why = pai__read_copy(r, n, "sick");

  if (why != NULL && pai__cluster_set_sick(r->c, sick, why) < 0)
    r->f->failed = true;
}

/* The GPU of a node that "3" means; PAI__NOTHING: tells that there is none. */
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
    pai__find_help(r->f, gpus == 0 ? "it has none" : "they are 0 to %u",
                   gpus - 1);
  return PAI__NOTHING;
}

/* No two GPUs of a kind may be the same device of a node; of other kinds they
 * may have the same number, for each maker counts its own.  Cells that are
 * given are looked at where they are read. */
static void check_numbers(pai__reader *r, pai__node n, const pai__member *m)
{
  const pai__sku *sku = pai__sku_of(r->c, m);
  const pai__gpu *g = r->c->gpus;

  if (sku->gpus == 0)
    return; /* and there may be no GPU at all */
  g += m->first_gpu;
  for (uint32_t k = 0; k < sku->ngroups; k++) {
    uint8_t seen[(UINT16_MAX + 1) / 8] = { 0 };

    for (uint32_t i = 0; i < sku->groups[k].count; i++, g++) {
      uint8_t bit = (uint8_t)(1u << g->number % 8);

      if ((seen[g->number / 8] & bit) != 0) {
        if (pai__find(r->f, PAI_SEVERITY_ERROR, "duplicate", n,
                      "two GPUs of '%.80s' have number %u", m->name,
                      g->number))
          pai__find_help(r->f, "a GPU without a number has that of its place");
        return;
      }
      seen[g->number / 8] |= bit;
    }
  }
}

/* What is special about single GPUs, by their place. */
static void read_gpus(pai__reader *r, pai__node n, pai__member *m)
{
  enum { UUID, SICK, NUMBER, KEYS };
  static const char *const keys[] = { "uuid", "sick", "number" };
  uint32_t gpus = pai__sku_of(r->c, m)->gpus, place;
  pai__tree_walk walk;
  pai__node key, v[KEYS];

  if (!pai__read_is_mapping(r, n, "gpus"))
    return;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__gpu *g;

    place = find_gpu(r, key, gpus);
    if (place == PAI__NOTHING ||
        !pai__read_fields(r, pai__tree_value(r->t, key), "a GPU", keys, KEYS,
                          v))
      continue;
    g = &r->c->gpus[m->first_gpu + place];
    g->uuid = pai__read_copy(r, v[UUID], "uuid");
    g->number =
      (uint16_t)pai__read_uint32(r, v[NUMBER], "number", 0, UINT16_MAX, place);
    read_sick(r, v[SICK], &g->sick);
  }
  if (pai__tree_get(r->t, 0, "physicalCluster") == PAI__NO_NODE)
    check_numbers(r, n, m);
}

enum { NAME, SKU, RACK, ADDRESS, LABELS, SICK, GPUS, PIN, NODE_KEYS };

static void fill_node(pai__reader *r, const pai__node v[NODE_KEYS],
                      uint32_t rack, pai__member *m)
{
  m->rack = rack;
  if (v[ADDRESS] != PAI__NO_NODE)
    m->address = pai__read_copy(r, v[ADDRESS], "address");
  if (v[LABELS] != PAI__NO_NODE)
    read_labels(r, v[LABELS], m);
  if (v[SICK] != PAI__NO_NODE)
    read_sick(r, v[SICK], &m->sick);
  if (v[GPUS] != PAI__NO_NODE)
    read_gpus(r, v[GPUS], m);
  if (v[PIN] != PAI__NO_NODE)
    m->pin = pai__read_copy(r, v[PIN], "pin");
}

static void bad_range(pai__reader *r, pai__node n)
{
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-range", n,
                "the brackets of this name make no sense"))
    pai__find_help(r->f, "write node[01-16,20] for many nodes at once");
}

/* One node, or as many as its name has in brackets. */
static void add_nodes(pai__reader *r, pai__node at, pai__piece name,
                      uint32_t sku, const pai__node v[NODE_KEYS])
{
  pai__range_names names;
  uint32_t rack = PAI__NOTHING;
  pai__piece in;
  pai__buf text;

  if (v[RACK] != PAI__NO_NODE) {
    in = pai__read_text(r, v[RACK], "rack");
    if (in.s != NULL && pai__cluster_rack(r->c, in.s, in.len, &rack) < 0)
      r->f->failed = true;
  }
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
    fill_node(r, v, rack, m);
  }
  pai__buf_dispose(&text);
}

static void read_node(pai__reader *r, pai__node n)
{
  static const char *const keys[] = { "name",   "sku",  "rack", "address",
                                      "labels", "sick", "gpus", "pin" };
  pai__node v[NODE_KEYS];
  pai__piece name;
  uint32_t sku;

  if (!pai__read_fields(r, n, "a node", keys, NODE_KEYS, v))
    return;
  if (v[NAME] == PAI__NO_NODE)
    pai__read_missing(r, n, "a node", "name");
  if (v[SKU] == PAI__NO_NODE)
    pai__read_missing(r, n, "a node", "sku");
  name = pai__read_text(r, v[NAME], "the name of a node");
  sku = find_sku(r, v[SKU]);
  if (name.s != NULL && sku != PAI__NOTHING)
    add_nodes(r, n, name, sku, v);
}

static void read_nodes(pai__reader *r, pai__node n)
{
  pai__tree_walk walk;
  pai__node item;

  if (!pai__read_is_list(r, n, "nodes"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed &&
         !r->full)
    read_node(r, item);
}

/* --- the whole ------------------------------------------------------------ */

static void read_openpai(pai__reader *r)
{
  enum { CLUSTER, KINDS, SKUS, NODES, PHYSICAL, VCS, KEYS };
  static const char *const keys[] = {
    "name", "gpus", "skus", "nodes", "physicalCluster", "virtualClusters"
  };
  pai__node v[KEYS];
  const char *name;

  if (!pai__read_fields(r, 0, "a cluster", keys, KEYS, v))
    return;
  name = pai__read_copy(r, v[CLUSTER], "name");
  if (name != NULL)
    r->c->name = name;
  read_kinds(r, v[KINDS]);
  read_skus(r, v[SKUS]);
  read_nodes(r, v[NODES]);
  if (v[PHYSICAL] != PAI__NO_NODE && !r->f->failed)
    pai__read_cells(r, v[PHYSICAL]);
  if (v[VCS] != PAI__NO_NODE && !r->f->failed)
    pai__read_vcs(r, v[VCS]);
}

/* Cells that are given refer to nodes by their names. */
static void finish(pai__reader *r)
{
  if (r->c->ncells > 0)
    pai__read_cells_bind(r);
}

const pai__cluster_form pai__form_openpai = { "openpai", is_openpai,
                                              read_openpai, finish };
