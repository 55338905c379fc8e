/* read_layout.c - OpenPAI's layout.yaml
 *
 * What OpenPAI's own check refuses is refused here, in words and all at once.
 * Only workers become nodes: nothing of a job runs on the other machines. */
#include "resource/layout.h"

static bool is_layout(const pai__tree *t)
{
  return pai__tree_get(t, 0, "machine-list") != PAI__NO_NODE ||
         pai__tree_get(t, 0, "machine-sku") != PAI__NO_NODE;
}

/* --- types of machines ---------------------------------------------------- */

/* As Kubernetes has it.  Layouts before OpenPAI 1.5 write 60GB, those before
 * 1.0 also 60. */
static uint64_t read_memory(const pai__layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__piece s = pai__import_text(r, n);
  uint64_t size = 0;

  if (l->is_old && n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__INT)
    return (uint64_t)pai__read_uint32(r, n, "mem", 1, PAI__MOST_MEMORY >> 30,
                                      0)
           << 30;
  if (s.s != NULL && s.len > 1 && s.s[s.len - 1] == 'B' &&
      pai__quantity_parse(&size, s.s, s.len - 1, false)) {
    if (size <= PAI__MOST_MEMORY &&
        pai__find(r->f, PAI_SEVERITY_WARNING, "old-unit", n,
                  "'%.*s' is how old layouts write it", (int)s.len, s.s))
      pai__find_help(r->f, "write '%.*s', as it is read here, or '%.*si'",
                     (int)s.len - 1, s.s, (int)s.len - 1, s.s);
    if (size <= PAI__MOST_MEMORY)
      return size;
  }
  if (n != PAI__NO_NODE && pai__tree_type(r->t, n) != PAI__STRING) {
    char text[PAI__VALUE_TEXT];

    if (pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                  "mem must be a text with a unit, not %s",
                  pai__value_text(text, r->f, n)))
      pai__find_help(r->f, "write 512Gi, say");
    return 0;
  }
  return pai__read_quantity(r, n, "mem", false, PAI__MOST_MEMORY, &size) ? size
                                                                         : 0;
}

static void read_device(pai__reader *r, pai__node n, pai__sku *sku)
{
  enum { TYPE, MODEL, COUNT, KEYS };
  static const char *const keys[] = { "type", "model", "count" };
  pai__gpu_group *group;
  const char *resource;
  pai__node v[KEYS];
  pai__piece model;

  if (!pai__read_fields(r, n, "computing-device", keys, KEYS, v))
    return;
  for (size_t i = 0; i < KEYS; i++)
    if (v[i] == PAI__NO_NODE)
      pai__read_missing(r, n, "computing-device", keys[i]);
  resource = pai__read_copy(r, v[TYPE], "type");
  model = pai__read_text(r, v[MODEL], "model");
  group = pai__arena_zalloc(&r->c->arena, 1, sizeof(*group));
  r->f->failed |= group == NULL;
  if (group == NULL || model.s == NULL)
    return;
  group->count =
    pai__read_uint32(r, v[COUNT], "count", 1, PAI__NODE_MAX_GPUS, 0);
  group->kind = pai__import_kind(r, v[MODEL], model);
  if (group->count == 0 || group->kind == PAI__NOTHING)
    return;
  if (r->c->kinds[group->kind].resource == NULL)
    r->c->kinds[group->kind].resource = resource;
  sku->groups = group;
  sku->ngroups = 1;
}

/* Of layouts before OpenPAI 1.0, which knew no other vendor. */
static void read_old_gpu(pai__reader *r, pai__node n, pai__sku *sku)
{
  enum { TYPE, COUNT, KEYS };
  static const char *const keys[] = { "type", "count" };
  pai__gpu_group *group = pai__arena_zalloc(&r->c->arena, 1, sizeof(*group));
  pai__node v[KEYS];
  pai__piece type;

  r->f->failed |= group == NULL;
  if (group == NULL || !pai__read_fields(r, n, "gpu", keys, KEYS, v))
    return;
  type = pai__read_text(r, v[TYPE], "type");
  group->count =
    pai__read_uint32(r, v[COUNT], "count", 0, PAI__NODE_MAX_GPUS, 0);
  if (type.s == NULL || group->count == 0)
    return;
  group->kind = pai__import_kind(r, v[TYPE], type);
  if (group->kind == PAI__NOTHING)
    return;
  r->c->kinds[group->kind].resource = "nvidia.com/gpu";
  sku->groups = group;
  sku->ngroups = 1;
}

static void read_def(pai__layout *l, pai__node key)
{
  enum { DEVICE, MEM, CPU, GPU, KEYS };
  static const char *const keys[] = { "computing-device", "mem", "cpu",
                                      "gpu" };
  static const char *const cpu_keys[] = { "vcore" };
  pai__reader *r = l->r;
  pai__layout_sku *def = &l->defs[l->ndefs];
  pai__node n = pai__tree_value(r->t, key), v[KEYS], vcore;
  pai__piece name = pai__read_text(r, key, "the name of a machine type");

  if (name.s == NULL)
    return;
  *def = (pai__layout_sku){ .index = PAI__NOTHING };
  def->sku.name = pai__cluster_text(r->c, name.s, name.len);
  if (def->sku.name == NULL ||
      pai__map_set(&l->by_name, name.s, name.len,
                   (void *)(uintptr_t)(l->ndefs + 1)) < 0)
    r->f->failed = true;
  l->ndefs++;
  if (!pai__read_fields(r, n, "a machine type", keys, KEYS, v))
    return;
  if (v[DEVICE] != PAI__NO_NODE)
    read_device(r, v[DEVICE], &def->sku);
  else if (v[GPU] != PAI__NO_NODE)
    read_old_gpu(r, v[GPU], &def->sku);
  if (v[MEM] == PAI__NO_NODE)
    pai__read_missing(r, n, "a machine type", "mem");
  if (v[CPU] == PAI__NO_NODE)
    pai__read_missing(r, n, "a machine type", "cpu");
  def->sku.memory = read_memory(l, v[MEM]);
  if (v[CPU] == PAI__NO_NODE ||
      !pai__read_fields(r, v[CPU], "cpu", cpu_keys, 1, &vcore))
    return;
  if (vcore == PAI__NO_NODE)
    pai__read_missing(r, v[CPU], "cpu", "vcore");
  def->sku.cpus = pai__read_uint32(r, vcore, "vcore", 1, PAI__IMPORT_CPUS, 0);
}

/* Layouts before OpenPAI 1.0 have other keys for GPUs, and more of them. */
static void find_age(pai__layout *l, pai__node defs)
{
  static const char *const keys[] = { "gpu", "os" };
  pai__reader *r = l->r;
  pai__tree_walk walk = pai__tree_iter(r->t, defs);
  pai__node key, old = PAI__NO_NODE;

  while (old == PAI__NO_NODE && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    for (size_t i = 0; i < PAI__LEN(keys) && old == PAI__NO_NODE; i++)
      old = pai__import_get(r, pai__tree_value(r->t, key), keys[i]);
  if (old == PAI__NO_NODE)
    return;
  l->is_old = r->lenient = true;
  if (pai__find(r->f, PAI_SEVERITY_WARNING, "old-layout", old,
                "this layout is of OpenPAI before 1.0, and later ones refuse "
                "it"))
    pai__find_help(r->f, "it is read all the same; later ones write "
                         "computing-device: {type: nvidia.com/gpu, model: "
                         "K80, count: 4}, and nothing of accounts");
}

static void read_defs(pai__layout *l, pai__node n)
{
  pai__reader *r = l->r;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, n, "machine-sku"))
    return;
  find_age(l, n);
  l->def_room = pai__tree_count(r->t, n);
  l->defs =
    pai__realloc(&r->c->alloc, NULL, 0, l->def_room + 1, sizeof(*l->defs));
  r->f->failed |= l->defs == NULL;
  walk = pai__tree_iter(r->t, n);
  while (!r->f->failed && !r->full &&
         (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_def(l, key);
}

/* --- into the cluster ----------------------------------------------------- */

/* SKUs in the order of the text, if a worker has them. */
static void add_skus(pai__layout *l)
{
  for (size_t i = 0; i < l->nmachines; i++)
    if (l->machines[i].is_worker && l->machines[i].def != PAI__NOTHING)
      l->defs[l->machines[i].def].is_used = true;
  for (size_t i = 0; i < l->ndefs; i++)
    if (l->defs[i].is_used &&
        pai__cluster_add_sku(l->r->c, &l->defs[i].sku, &l->defs[i].index) < 0)
      l->r->f->failed = true;
}

static void add_worker(pai__layout *l, const pai__layout_machine *m)
{
  static const pai__label storage[] = { { "pai-storage", "true" } };
  pai_cluster *c = l->r->c;
  const char *name = pai__cluster_text(c, m->name.s, m->name.len);
  pai__member *node;

  l->r->f->failed |= name == NULL;
  if (name == NULL)
    return;
  node = pai__read_add_node(l->r, m->at, name, l->defs[m->def].index);
  if (node == NULL)
    return;
  if (m->address.s != NULL) {
    node->address = pai__cluster_text(c, m->address.s, m->address.len);
    l->r->f->failed |= node->address == NULL;
  }
  if (m->is_storage) {
    node->labels = storage;
    node->nlabels = 1;
  }
}

static void add_workers(pai__layout *l)
{
  const pai__layout_machine *m = l->machines;

  for (size_t i = 0; i < l->nmachines && !l->r->f->failed && !l->r->full;
       i++, m++)
    if (m->is_worker && !m->is_twice && m->name.s != NULL &&
        m->def != PAI__NOTHING)
      add_worker(l, m);
}

static void read_layout(pai__reader *r)
{
  enum { SKUS, MACHINES, KUBERNETES, KEYS };
  static const char *const keys[] = { "machine-sku", "machine-list",
                                      "kubernetes" };
  pai__layout l = { .r = r };
  pai__node v[KEYS];

  if (!pai__read_fields(r, 0, "a layout", keys, KEYS, v))
    return;
  pai__map_init(&l.by_name, &r->c->alloc);
  for (size_t i = 0; i <= MACHINES; i++)
    if (v[i] == PAI__NO_NODE)
      pai__read_missing(r, 0, "a layout", keys[i]);
  read_defs(&l, v[SKUS]);
  if (!r->f->failed)
    pai__layout_machines(&l, v[MACHINES]);
  if (!r->f->failed)
    add_skus(&l);
  if (!r->f->failed)
    add_workers(&l);
  pai__free(&r->c->alloc, l.defs, (l.def_room + 1) * sizeof(*l.defs));
  pai__free(&r->c->alloc, l.machines,
            (l.machine_room + 1) * sizeof(*l.machines));
  pai__map_dispose(&l.by_name);
}

const pai__cluster_form pai__form_layout = { "layout", is_layout, read_layout,
                                             NULL };
