/* openpai_skus.c - kinds of GPUs and SKUs of the openpai form, read and written
 * by the same tables */
#include "resource/cluster/write.h"

/* --- kinds of GPUs -------------------------------------------------------- */

static const pai__read_field kind_fields[] = {
  PAI__TEXT("resource", pai__gpu_kind, resource),
  PAI__SIZE("memory", pai__gpu_kind, memory),
};

static const pai__read_about kind_about[] = {
  { "its resource in Kubernetes, as nvidia.com/gpu", PAI__KIND_ANY, NULL },
  { "memory of each GPU, as 80G", PAI__KIND_ANY, NULL },
};
const pai__read_table pai__table_kind =
  PAI__TABLE("a kind of GPU", kind_fields, kind_about);

void pai__openpai_read_kind(pai__reader *r, pai__node key, void *record)
{
  pai__piece name = pai__read_text(r, key, "a kind of GPU");
  pai__node v[PAI__LEN(kind_fields)];
  uint32_t kind;

  (void)record;
  if (name.s == NULL ||
      !pai__read_fields(r, pai__tree_value(r->t, key), "a kind of GPU",
                        kind_fields, PAI__LEN(kind_fields), v))
    return;
  kind = pai__read_kind(r, key, name.s, name.len);
  if (kind != PAI__NOTHING)
    pai__read_values(r, kind_fields, PAI__LEN(kind_fields), v,
                     &r->c->kinds[kind]);
}

void pai__openpai_put_kinds(pai__output *o, const pai_cluster *c,
                            const void *record)
{
  bool begun = false;

  (void)record;
  for (size_t i = 0; i < c->nkinds; i++) {
    const pai__gpu_kind *k = &c->kinds[i];

    if (k->resource == NULL && k->memory == 0)
      continue;
    pai__out_begin_once(o, "gpus", false, &begun);
    PAI__WRITE(o, c, k->name, kind_fields, k);
  }
  if (begun)
    pai__out_end_mapping(o);
}

/* --- GPUs of a SKU -------------------------------------------------------- */

/* A SKU while it is read, and its lists. */
typedef struct sku_text {
  pai__sku sku; /* first member: the field tables fill it */
  pai__gpu_group *groups;
  pai__gpu_locality *near;
} sku_text;

static uint32_t read_gpu_count(pai__reader *r, pai__node n)
{
  return pai__read_uint32(r, n, "a number of GPUs", 1, PAI__NODE_MAX_GPUS, 0);
}

/* Adds `count` GPUs of a kind, up to the limit of a node; `at` is the kind's
 * place in the text. */
static void add_group(pai__reader *r, pai__node at, pai__piece name,
                      uint32_t count, sku_text *text)
{
  pai__sku *sku = &text->sku;
  uint32_t kind;

  if (pai__sku_count(sku) + count > PAI__NODE_MAX_GPUS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", at,
                    "a machine cannot have more than %d GPUs",
                    PAI__NODE_MAX_GPUS);
    return;
  }
  kind = pai__read_kind(r, at, name.s, name.len);
  if (kind != PAI__NOTHING)
    text->groups[sku->ngroups++] = (pai__gpu_group){ kind, count };
}

/* Reads one kind of {h100: 4, t4: 2}. */
static void read_kind_of(pai__reader *r, pai__node key, void *record)
{
  pai__piece name = pai__read_text(r, key, "gpu");
  uint32_t count = read_gpu_count(r, pai__tree_value(r->t, key));

  if (name.s != NULL && count > 0)
    add_group(r, key, name, count, record);
}

/* Reads `gpu: h100` with `gpus: 8`, or several kinds. */
static void read_groups(pai__reader *r, pai__node gpu, pai__node gpus,
                        sku_text *text)
{
  bool many = gpu != PAI__NO_NODE && pai__tree_type(r->t, gpu) == PAI__MAPPING;
  pai__piece name = { "gpu", 3 };
  uint32_t count;

  text->groups = pai__read_room(r, many ? pai__tree_count(r->t, gpu) : 0,
                                sizeof(*text->groups));
  text->sku.groups = text->groups;
  if (text->groups == NULL)
    return;
  if (many) {
    if (gpus != PAI__NO_NODE)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", gpus,
                      "'gpus' is for one kind of GPU; with several kinds, "
                      "'gpu' has a number for each");
    pai__read_keys(r, gpu, "gpu", read_kind_of, text);
    return;
  }
  if (gpus == PAI__NO_NODE) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key", gpu,
                  "a SKU with gpu needs 'gpus'"))
      pai__find_help(r->f,
                     "give the number of GPUs of each machine, as gpus: 8");
    return;
  }
  count = pai__read_uint32(r, gpus, "gpus", 0, PAI__NODE_MAX_GPUS, 0);
  if (gpu != PAI__NO_NODE)
    name = pai__read_text(r, gpu, "gpu");
  if (name.s != NULL && count > 0)
    add_group(r, gpu != PAI__NO_NODE ? gpu : gpus, name, count, text);
}

/* Writes both `gpu` and `gpus`. */
static void put_groups(pai__output *o, const pai_cluster *c,
                       const void *record)
{
  const pai__sku *s = record;

  if (s->ngroups == 0)
    return;
  pai__out_key(o, "gpu");
  if (s->ngroups == 1) {
    pai__out_text(o, c->kinds[s->groups[0].kind].name);
    pai__out_put_number(o, "gpus", s->gpus);
    return;
  }
  pai__out_begin_mapping(o);
  for (uint32_t i = 0; i < s->ngroups; i++)
    pai__out_put_number(o, c->kinds[s->groups[i].kind].name,
                        s->groups[i].count);
  pai__out_end_mapping(o);
}

/* Reads one entry of {switch: 2, nvlink: 8}: how many GPUs share it. */
static void add_near(pai__reader *r, pai__node key, void *record)
{
  sku_text *text = record;
  pai__gpu_locality *g = &text->near[text->sku.nnear];

  g->name = pai__read_cell_name(r, key, "what GPUs share");
  g->gpus = read_gpu_count(r, pai__tree_value(r->t, key));
  text->sku.nnear += g->name != NULL && g->gpus != 0;
}

static void read_near(pai__reader *r, pai__node n, void *record)
{
  sku_text *text = record;

  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    text->sku.near = text->near =
      pai__read_room(r, pai__tree_count(r->t, n), sizeof(*text->near));
  pai__read_keys(r, n, "near", add_near, text);
}

static void put_near(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__sku *s = record;
  bool begun = false;

  (void)c;
  for (uint32_t i = 0; i < s->nnear; i++) {
    pai__out_begin_once(o, "near", false, &begun);
    pai__out_put_number(o, s->near[i].name, s->near[i].gpus);
  }
  if (begun)
    pai__out_end_mapping(o);
}

/* Reports impossible groups, which will not become cells. */
static void check_near(pai__reader *r, pai__node near, pai__node numa,
                       const pai__sku *sku)
{
  uint32_t gpus = pai__sku_count(sku);

  if (gpus == 0 || sku->ngroups > 1)
    return;
  for (uint32_t i = 0; i < sku->nnear; i++)
    if (gpus % sku->near[i].gpus != 0 &&
        pai__find(r->f, PAI_SEVERITY_WARNING, "odd-group", near,
                  "%u GPUs cannot be divided into groups of %u", gpus,
                  sku->near[i].gpus))
      pai__find_help(r->f, "say how many GPUs share one %s",
                     sku->near[i].name);
  if (numa != PAI__NO_NODE && gpus % sku->numa != 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "odd-group", numa,
                "%u GPUs cannot be spread over %u NUMA nodes equally", gpus,
                sku->numa))
    pai__find_help(r->f, "there will be no cells for NUMA nodes");
}

/* --- a SKU ---------------------------------------------------------------- */

static const pai__read_field used_fields[] = {
  PAI__NUMBER("cpus", pai__sku, used_cpus, 0, UINT32_MAX),
  PAI__SIZE("memory", pai__sku, used_memory),
};

static const pai__read_about used_about[] = {
  { "CPUs of system services", PAI__KIND_ANY, NULL },
  { "memory of system services, as 64G", PAI__KIND_ANY, NULL },
};
static const pai__read_table used_table =
  PAI__TABLE("used", used_fields, used_about);

static void read_used(pai__reader *r, pai__node n, void *record)
{
  const pai__sku *sku = record;

  if (PAI__READ(r, n, "used", used_fields, record) &&
      ((sku->cpus != 0 && sku->used_cpus > sku->cpus) ||
       (sku->memory != 0 && sku->used_memory > sku->memory)))
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n,
                    "'used' is more than the machine has");
}

static void put_used(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__sku *s = record;

  if (s->used_cpus != 0 || s->used_memory != 0)
    PAI__WRITE(o, c, "used", used_fields, s);
}

enum { GPU, GPUS, NUMA, NEAR };

static const pai__read_field sku_fields[] = {
  PAI__BOTH("gpu", KNOWN, NULL, put_groups),
  PAI__KNOWN("gpus"),
  PAI__FIELD("numa", NUMBER, .place = offsetof(pai__sku, numa), .least = 1,
             .most = 1024, .usual = 1),
  PAI__BOTH("near", OWN, read_near, put_near),
  PAI__NUMBER("cpus", pai__sku, cpus, 1, UINT32_MAX),
  PAI__SIZE("memory", pai__sku, memory),
  PAI__BOTH("used", OWN, read_used, put_used),
};

static const pai__read_about sku_about[] = {
  { "kind of its GPUs; or kinds and numbers: {v100: 2, mi50: 4}",
    PAI__KIND_ANY, NULL },
  { "number of GPUs", PAI__KIND_NUMBER, NULL },
  { "NUMA nodes, over which the GPUs are spread", PAI__KIND_ANY, NULL },
  { "number of GPUs that share a switch or a link: {switch: 2, nvlink: 8}",
    PAI__KIND_MAPPING, NULL },
  { "CPUs", PAI__KIND_ANY, NULL },
  { "memory, as 2T", PAI__KIND_ANY, NULL },
  { "what system services of each node use", PAI__KIND_MAPPING, &used_table },
};
const pai__read_table pai__table_sku =
  PAI__TABLE("a SKU", sku_fields, sku_about);

void pai__openpai_read_sku(pai__reader *r, pai__node name, void *record)
{
  sku_text text = { .sku.numa = 1, .sku.at = name };
  pai__node v[PAI__LEN(sku_fields)];
  uint32_t index;

  (void)record;
  text.sku.name = pai__read_cell_name(r, name, "the name of a SKU");
  if (!pai__read_fields(r, pai__tree_value(r->t, name), "a SKU", sku_fields,
                        PAI__LEN(sku_fields), v) ||
      text.sku.name == NULL)
    return;
  if (v[GPU] != PAI__NO_NODE || v[GPUS] != PAI__NO_NODE)
    read_groups(r, v[GPU], v[GPUS], &text);
  pai__read_values(r, sku_fields, PAI__LEN(sku_fields), v, &text);
  check_near(r, v[NEAR], v[NUMA], &text.sku);
  if (!r->f->failed && pai__cluster_add_sku(r->c, &text.sku, &index) < 0)
    r->f->failed = true;
}

void pai__openpai_put_skus(pai__output *o, const pai_cluster *c,
                           const void *record)
{
  bool begun = false;

  (void)record;
  for (size_t i = 0; i < c->nskus; i++) {
    pai__out_begin_once(o, "skus", false, &begun);
    PAI__WRITE(o, c, c->skus[i].name, sku_fields, &c->skus[i]);
  }
  if (begun)
    pai__out_end_mapping(o);
}
