/*
 * machines.c - make a cluster from the topologies of machines
 *
 * GPUs are ordered so that neighbours are adjacent, whatever their numbers
 * are; a locality level is then just a number of GPUs.
 */
#include "resource/machine.h"
#include "resource/cluster/read.h"
#include "resource/shape.h"
#include "resource/topology/topology_groups.h"

#include <stdio.h>

enum { KIND_TEXT = 128, MOST_KINDS = 32 };

/* One machine while it is added to the cluster. */
typedef struct machine {
  pai_cluster *c;
  const pai_topology *t;
  pai__topo_levels levels;
  /* GPU numbers in the order of the node's GPUs */
  uint32_t order[PAI__TOPO_MAX_GPUS];
  uint32_t kind[PAI__TOPO_MAX_GPUS]; /* kind by GPU number */
  pai__gpu_group groups[MOST_KINDS];
  pai__gpu_locality near[PAI__TOPO_LEVELS + 1];
  pai__sku sku; /* its hardware */
} machine;

/* --- kinds ---------------------------------------------------------------- */

size_t pai__kind_text(char *out, size_t size, const char *s, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len && n + 1 < size; i++) {
    char c = s[i];

    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '+')
      c = '-';
    if (c != '-' || (n > 0 && out[n - 1] != '-'))
      out[n++] = c;
  }
  while (n > 0 && out[n - 1] == '-')
    n--;
  out[n] = '\0';
  return n;
}

static int find_kind(pai_cluster *c, const pai_topology_gpu *g,
                     uint32_t *index)
{
  static const char *const resources[][2] = { { "NVIDIA", "nvidia.com/gpu" },
                                              { "AMD", "amd.com/gpu" } };
  const char *model = *g->model != '\0' ? g->model : "gpu";
  pai__gpu_kind kind = { NULL, NULL, g->bytes };
  char name[KIND_TEXT];
  size_t len = pai__kind_text(name, sizeof(name), model, strlen(model));

  *index = pai__cluster_find_kind(c, name, len);
  if (*index != PAI__NOTHING)
    return PAI_OK;
  kind.name = pai__cluster_text(c, name, len);
  for (size_t i = 0; i < PAI__LEN(resources); i++)
    if (strcmp(g->vendor, resources[i][0]) == 0)
      kind.resource = resources[i][1];
  return kind.name != NULL ? pai__cluster_add_kind(c, &kind, index)
                           : PAI_ENOMEM;
}

/* Sorts the groups by the number of their kind, the order in which the GPUs
 * will be; the machine may list them in another order. */
static void sort_groups(machine *m)
{
  for (uint32_t i = 1; i < m->sku.ngroups; i++) {
    pai__gpu_group group = m->groups[i];
    uint32_t at = i;

    for (; at > 0 && m->groups[at - 1].kind > group.kind; at--)
      m->groups[at] = m->groups[at - 1];
    m->groups[at] = group;
  }
}

static int find_kinds(machine *m, pai_error **err)
{
  pai__sku *s = &m->sku;

  for (uint32_t i = 0; i < m->t->ngpus; i++) {
    pai_topology_gpu g = { .struct_size = sizeof(g) };
    uint32_t k = 0;

    (void)pai_topology_view_gpu(m->t, i, &g);
    if (find_kind(m->c, &g, &m->kind[i]) < 0)
      return pai__oom(err);
    while (k < s->ngroups && m->groups[k].kind != m->kind[i])
      k++;
    if (k == MOST_KINDS)
      return pai__fail(err, PAI_ELIMIT,
                       "a machine has more than %d kinds of GPUs", MOST_KINDS);
    if (k == s->ngroups)
      m->groups[s->ngroups++] = (pai__gpu_group){ m->kind[i], 0 };
    m->groups[k].count++;
  }
  sort_groups(m);
  s->groups = m->groups;
  return PAI_OK;
}

/* --- order ---------------------------------------------------------------- */

/* Orders GPUs by kind, then by the groups they are in, from the largest to the
 * smallest. */
static bool is_before(const machine *m, uint32_t a, uint32_t b)
{
  if (m->kind[a] != m->kind[b])
    return m->kind[a] < m->kind[b];
  for (size_t i = m->levels.count; i-- > 0;) {
    const uint32_t *group = m->levels.level[i].group;

    if (group[a] != group[b])
      return group[a] < group[b];
  }
  return a < b;
}

static void sort_gpus(machine *m)
{
  for (uint32_t i = 0; i < m->t->ngpus; i++) {
    uint32_t at = i;

    for (; at > 0 && is_before(m, i, m->order[at - 1]); at--)
      m->order[at] = m->order[at - 1];
    m->order[at] = i;
  }
}

/* Whether there is a locality level with groups of the size that `numa`
 * implies. */
static bool has_groups_of(const pai__sku *s, uint32_t gpus)
{
  for (uint32_t i = 0; i < s->nnear; i++)
    if (s->near[i].gpus == gpus)
      return true;
  return false;
}

/* Sets the locality levels with equal groups; none if there are several kinds.
 * If NUMA nodes do not have equal numbers of GPUs, the machine is the
 * level. */
static void find_near(machine *m)
{
  pai__sku *s = &m->sku;
  uint32_t gpus = (uint32_t)m->t->ngpus;

  s->near = m->near;
  if (s->ngroups != 1)
    return;
  for (size_t i = 0; i < m->levels.count; i++) {
    const pai__topo_level *l = &m->levels.level[i];

    if (l->equal && l->groups > 1)
      m->near[s->nnear++] = (pai__gpu_locality){ l->name, l->most };
  }
  if (s->numa > 1 && gpus % s->numa == 0 && gpus / s->numa > 1 &&
      !has_groups_of(s, gpus / s->numa))
    m->near[s->nnear++] = (pai__gpu_locality){ "machine", gpus };
}

/* Returns the SKU of the machine.  Names of several kinds are long. */
static uint32_t find_sku(pai__shapes *shapes, const machine *m)
{
  char name[32];
  int len = snprintf(name, sizeof(name), "mixed-%zu", m->t->ngpus);
  pai__piece mixed = { NULL, 0 };

  if (m->sku.ngroups > 1)
    mixed = (pai__piece){ name, (size_t)len };
  return pai__shapes_sku(shapes, mixed, &m->sku);
}

/* --- nodes ---------------------------------------------------------------- */

static int fill_node(machine *m, pai__member *node, const char *rack)
{
  pai_cluster *c = m->c;

  for (uint32_t i = 0; i < m->t->ngpus; i++) {
    pai__gpu *g = &c->gpus[node->first_gpu + i];
    pai_topology_gpu view = { .struct_size = sizeof(view) };

    (void)pai_topology_view_gpu(m->t, m->order[i], &view);
    g->number = (uint16_t)m->order[i];
    if (*view.uuid != '\0') {
      g->uuid = pai__cluster_text(c, view.uuid, strlen(view.uuid));
      if (g->uuid == NULL)
        return PAI_ENOMEM;
    }
  }
  return rack != NULL ? pai__cluster_rack(c, rack, strlen(rack), &node->rack)
                      : PAI_OK;
}

static int add_node(machine *m, pai__shapes *shapes, const char *name,
                    const char *rack)
{
  uint32_t sku = find_sku(shapes, m);
  pai__member *node;

  name = pai__cluster_text(m->c, name, strlen(name));
  if (name == NULL || sku == PAI__NOTHING ||
      pai__cluster_add_node(m->c, name, sku, &node) < 0)
    return PAI_ENOMEM;
  return fill_node(m, node, rack);
}

static int add_machine(pai__shapes *shapes, const pai_cluster_machine *from,
                       size_t i, pai_error **err)
{
  pai_topology_summary sum = { .struct_size = sizeof(sum) };
  machine m = { .c = shapes->c, .t = from->topology };
  const char *name;
  int rc;

  (void)pai_topology_summarize(m.t, &sum);
  name = from->name != NULL ? from->name : sum.name;
  if (*name == '\0') {
    (void)pai__fail(err, PAI_EINVAL, "machine %zu has no name", i);
    pai__error_help(err, "its topology has none; give the machine a name");
    return PAI_EINVAL;
  }
  if (!pai__is_node_name(name, strlen(name)) ||
      (from->rack != NULL &&
       !pai__is_node_name(from->rack, strlen(from->rack))))
    return pai__fail(err, PAI_EINVAL,
                     "invalid name or rack of machine %zu: one line of 1 to "
                     "253 characters, without / and brackets",
                     i);
  m.sku.cpus = sum.pus;
  m.sku.memory = sum.bytes < PAI__MOST_MEMORY ? sum.bytes : PAI__MOST_MEMORY;
  m.sku.numa = sum.numa_nodes;
  rc = find_kinds(&m, err);
  if (rc < 0)
    return rc;
  if (pai__topo_levels_init(&m.levels, m.t) < 0)
    return pai__oom(err);
  sort_gpus(&m);
  find_near(&m);
  rc = add_node(&m, shapes, name, from->rack);
  pai__topo_levels_dispose(&m.levels);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

static int add_machines(pai__shapes *shapes,
                        const pai_cluster_machine *machines, size_t n,
                        pai_error **err)
{
  for (size_t i = 0; i < n; i++) {
    const char *at = (const char *)machines + i * machines->struct_size;
    pai_cluster_machine m;
    int rc = PAI__COPY_IN(&m, at, pai_cluster_machine, topology);
    if (rc < 0)
      return pai__fail(err, rc, "machine %zu: bad or newer struct_size", i);
    if (m.topology == NULL)
      return pai__fail(err, PAI_EINVAL, "machine %zu has no topology", i);
    rc = add_machine(shapes, &m, i, err);
    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

static int add_all(pai_cluster *c, const pai_cluster_machine *machines,
                   size_t n, pai_error **err)
{
  pai__shapes shapes;
  uint32_t same[2];
  int rc;

  pai__shapes_init(&shapes, c);
  rc = add_machines(&shapes, machines, n, err);
  pai__shapes_dispose(&shapes);
  if (rc < 0)
    return rc;
  rc = pai__cluster_end(c, same);
  if (rc != PAI_EEXISTS)
    return rc < 0 ? pai__oom(err) : PAI_OK;
  (void)pai__fail(
    err, PAI_EINVAL, "machines %u and %u are both called '%.80s'",
    (unsigned)same[0], (unsigned)same[1], c->nodes[same[0]].name);
  pai__error_help(err, "give one of them another name");
  return PAI_EINVAL;
}

int pai_cluster_from_machines(pai_cluster **out,
                              const pai_cluster_machine *machines, size_t n,
                              const pai_cluster_options *opts, pai_error **err)
{
  pai_cluster_options o;
  pai_cluster *c;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(machines != NULL, err);
  rc = pai__cluster_options(&o, opts, err);
  if (rc < 0)
    return rc;
  if (n == 0 || n > o.max_nodes)
    return pai__fail(err, n == 0 ? PAI_EINVAL : PAI_ELIMIT,
                     "a cluster has 1 to %u machines", (unsigned)o.max_nodes);
  rc = pai__cluster_new(&c, o.alloc);
  if (rc < 0)
    return pai__oom(err);
  c->form = "machines";
  rc = add_all(c, machines, n, err);
  if (rc < 0) {
    pai_cluster_free(c);
    return rc;
  }
  *out = c;
  return PAI_OK;
}

/* --- this machine --------------------------------------------------------- */

static int fill_cluster(pai_cluster *c, const pai__machine *from)
{
  static const pai__gpu_kind kind = { .name = "gpu" };
  const char *name = pai__cluster_text(c, from->name, strlen(from->name));
  pai__gpu_group *group = pai__arena_zalloc(&c->arena, 1, sizeof(*group));
  pai__sku sku = { .name = "machine",
                   .groups = group,
                   .ngroups = from->gpus != 0,
                   .gpus = from->gpus,
                   .numa = 1,
                   .cpus = from->cpus,
                   .memory = (uint64_t)from->memory_mb << 20 };
  uint32_t same[2], index;
  pai__member *node;

  if (name == NULL || group == NULL ||
      pai__cluster_add_kind(c, &kind, &group->kind) < 0)
    return PAI_ENOMEM;
  group->count = from->gpus;
  if (pai__cluster_add_sku(c, &sku, &index) < 0 ||
      pai__cluster_add_node(c, name, index, &node) < 0)
    return PAI_ENOMEM;
  return pai__cluster_end(c, same);
}

int pai__machine_cluster(pai_cluster **out, const pai__machine *from,
                         const pai_alloc *alloc)
{
  int rc = pai__cluster_new(out, alloc);

  if (rc < 0)
    return rc;
  (*out)->form = "machines";
  rc = fill_cluster(*out, from);
  if (rc < 0) {
    pai_cluster_free(*out);
    *out = NULL;
  }
  return rc;
}
