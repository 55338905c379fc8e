/*
 * topology_links.c - how near two GPUs are, and what joins them
 *
 * Matrices are hwloc's.  They may be of some GPUs only, know a GPU by several
 * names, and hold switches and packages beside GPUs.
 */
#include "resource/topology.h"

static bool has(const char *name, const char *part)
{
  return strstr(name, part) != NULL;
}

static int kind_of(const char *name)
{
  return has(name, "NVLink")   ? PAI_LINK_NVLINK
         : has(name, "XGMI")   ? PAI_LINK_XGMI
         : has(name, "XeLink") ? PAI_LINK_XELINK
                               : PAI_LINK_UNKNOWN;
}

static uint32_t gpu_at(const pai_topology *t, const pai__topo_matrix *m,
                       uint32_t i)
{
  return m->objects[i] != PAI_NONE ? t->objects[m->objects[i]].gpu : PAI_NONE;
}

static uint32_t clamp(uint64_t n, uint32_t most)
{
  return n < most ? (uint32_t)n : most;
}

/* Some matrices are told from one side only. */
static uint64_t value(const pai__topo_matrix *m, uint32_t i, uint32_t j)
{
  uint64_t there = m->values[(size_t)i * m->count + j];

  return there != 0 ? there : m->values[(size_t)j * m->count + i];
}

/* What all switches together carry from one to the other. */
static uint64_t through_switches(const pai_topology *t,
                                 const pai__topo_matrix *m, uint32_t i,
                                 uint32_t j)
{
  uint64_t sum = 0;

  for (uint32_t s = 0; s < m->count; s++) {
    uint64_t in, out;
    if (m->objects[s] == PAI_NONE ||
        t->objects[m->objects[s]].kind != PAI_OBJECT_PCI)
      continue;
    in = clamp(value(m, i, s), UINT32_MAX);
    out = clamp(value(m, s, j), UINT32_MAX);
    sum += in < out ? in : out;
  }
  return sum;
}

static void add_bandwidth(const pai_topology *t, const pai__topo_matrix *m,
                          uint32_t i, uint32_t j, pai__topo_link *link)
{
  int kind = kind_of(m->name);
  uint64_t mbps = value(m, i, j);

  if (mbps != 0) {
    if (link->kind != kind)
      *link = (pai__topo_link){ .kind = (uint8_t)kind, .hops = link->hops };
    if (mbps > link->mbps)
      link->mbps = clamp(mbps, UINT32_MAX);
    return;
  }
  if (kind != PAI_LINK_NVLINK || link->kind == PAI_LINK_NVLINK)
    return;
  mbps = through_switches(t, m, i, j);
  if (mbps > link->mbps) {
    link->kind = PAI_LINK_NVSWITCH;
    link->mbps = clamp(mbps, UINT32_MAX);
  }
}

static void add_hops(const pai__topo_matrix *m, uint32_t i, uint32_t j,
                     pai__topo_link *link)
{
  uint64_t hops = value(m, i, j);

  if (hops == 0)
    return;
  if (link->kind == PAI_LINK_UNKNOWN)
    link->kind = (uint8_t)kind_of(m->name);
  link->hops = (uint16_t)clamp(hops, UINT16_MAX);
}

int pai__topo_add_matrix(pai_topology *t, const pai__topo_matrix *m)
{
  bool hops = has(m->name, "Hops");

  if (kind_of(m->name) == PAI_LINK_UNKNOWN ||
      (!hops && !has(m->name, "Bandwidth")) || t->ngpus == 0)
    return PAI_OK;
  if (t->links == NULL)
    t->links = pai__zalloc(&t->alloc, t->ngpus * t->ngpus * sizeof(*t->links));
  if (t->links == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < m->count; i++) {
    uint32_t a = gpu_at(t, m, i);
    for (uint32_t j = 0; a != PAI_NONE && j < m->count; j++) {
      uint32_t b = gpu_at(t, m, j);
      if (b == PAI_NONE || a == b)
        continue;
      if (hops)
        add_hops(m, i, j, &t->links[a * t->ngpus + b]);
      else
        add_bandwidth(t, m, i, j, &t->links[a * t->ngpus + b]);
    }
  }
  return PAI_OK;
}

/* How many links there are where no matrix counts them. */
void pai__topo_end_matrices(pai_topology *t)
{
  for (size_t i = 0; t->links != NULL && i < t->ngpus * t->ngpus; i++) {
    pai__topo_link *link = &t->links[i];
    if (link->kind == PAI_LINK_NVSWITCH)
      link->hops = 2;
    else if (link->kind != PAI_LINK_UNKNOWN && link->hops == 0)
      link->hops = 1;
    link->direct = link->hops == 1;
  }
}

/* --- asking ----------------------------------------------------------------- */

/* By what is printed on it, or by the slot: functions of one PCI device. */
static bool on_one_board(const pai_topology *t, const pai__topo_gpu *a,
                         const pai__topo_gpu *b)
{
  const char *x = pai__topo_text(t, t->objects[a->object].pci);
  const char *y = pai__topo_text(t, t->objects[b->object].pci);
  const char *dot = strchr(x, '.');

  if (a->serial != 0 && a->vendor == b->vendor &&
      strcmp(pai__topo_text(t, a->serial), pai__topo_text(t, b->serial)) == 0)
    return true;
  return dot != NULL && strncmp(x, y, (size_t)(dot - x) + 1) == 0;
}

/* Whether the same one is nearest to both: memory may be around all. */
static bool in_one(const pai_topology *t, uint32_t x, uint32_t y, int kind)
{
  uint32_t around = pai__topo_around(t, x, kind);

  return around != PAI_NONE && around == pai__topo_around(t, y, kind);
}

static int closeness(const pai_topology *t, uint32_t a, uint32_t b)
{
  uint32_t x = t->gpus[a].object, y = t->gpus[b].object;
  const pai__topo_object *common = &t->objects[pai__topo_common(t, x, y)];

  if (a == b)
    return PAI_NEAR_SAME;
  if (on_one_board(t, &t->gpus[a], &t->gpus[b]))
    return PAI_NEAR_BOARD;
  if (common->kind == PAI_OBJECT_BRIDGE && common->level == PAI__BRIDGE_PCI)
    return PAI_NEAR_SWITCH;
  if (in_one(t, x, y, PAI_OBJECT_NUMA))
    return PAI_NEAR_NUMA;
  return in_one(t, x, y, PAI_OBJECT_PACKAGE) ? PAI_NEAR_PACKAGE
                                             : PAI_NEAR_MACHINE;
}

static void join(const pai_topology *t, uint32_t a, uint32_t b,
                 pai_topology_link *link)
{
  const pai__topo_gpu *g = &t->gpus[a], *h = &t->gpus[b];
  const pai__topo_object *x = &t->objects[g->object];
  const pai__topo_object *y = &t->objects[h->object];
  const pai__topo_link *known =
    t->links != NULL ? &t->links[a * t->ngpus + b] : NULL;

  if (known != NULL && known->kind != PAI_LINK_UNKNOWN) {
    link->kind = known->kind;
    link->direct = known->direct;
    link->hops = known->hops;
    link->mbps = known->mbps;
  } else if (g->hive != 0 && g->hive == h->hive) {
    link->kind = PAI_LINK_XGMI;
  } else if (x->pci != 0 && y->pci != 0) {
    link->kind = PAI_LINK_PCI;
    link->mbps = x->link_mbps < y->link_mbps ? x->link_mbps : y->link_mbps;
  }
}

int pai_topology_between(const pai_topology *t, uint32_t a, uint32_t b,
                         pai_topology_link *link)
{
  pai_topology_link full = { 0 };

  PAI__CHECK_ARG(t != NULL && link != NULL);
  if (a >= t->ngpus || b >= t->ngpus)
    return PAI_ENOTFOUND;
  full.closeness = closeness(t, a, b);
  if (a != b)
    join(t, a, b, &full);
  return PAI__FILL_VIEW(link, full, pai_topology_link, mbps);
}

const char *pai_link_name(int kind)
{
  static const char *const names[] = { "unknown",  "PCI",  "NVLink",
                                       "NVSwitch", "xGMI", "Xe Link" };

  return kind > 0 && kind < (int)PAI__LEN(names) ? names[kind] : names[0];
}

bool pai__topo_has_links(const pai_topology *t)
{
  pai_topology_link link = { .struct_size = sizeof(link) };

  for (uint32_t a = 0; a < t->ngpus; a++)
    for (uint32_t b = 0; b < a; b++)
      if (pai_topology_between(t, a, b, &link) == PAI_OK &&
          link.kind > PAI_LINK_PCI)
        return true;
  return false;
}
