/*
 * topology_links.c - links and distances between GPUs, and groups of GPUs
 *
 * The matrices are hwloc's.  They may have only some of the GPUs, have a GPU
 * under several names, and contain switches and packages beside GPUs.
 */
#include "resource/topology/topology.h"
#include "resource/topology/topology_groups.h"

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

static uint64_t lower(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Returns the value of a pair.  Some matrices have one direction only; if both
 * have a value, it is the slower bandwidth and the larger number of hops, so
 * that a pair has one link whichever GPU comes first. */
static uint64_t value(const pai__topo_matrix *m, uint32_t i, uint32_t j,
                      bool hops)
{
  uint64_t there = m->values[(size_t)i * m->count + j];
  uint64_t back = m->values[(size_t)j * m->count + i];

  if (there == 0 || back == 0)
    return there | back;
  return hops ? higher(there, back) : lower(there, back);
}

/* Returns the bandwidth of all switches together between two GPUs. */
static uint64_t through_switches(const pai_topology *t,
                                 const pai__topo_matrix *m, uint32_t i,
                                 uint32_t j)
{
  uint64_t sum = 0;

  for (uint32_t s = 0; s < m->count; s++) {
    if (m->objects[s] == PAI_NONE ||
        t->objects[m->objects[s]].kind != PAI_OBJECT_PCI)
      continue;
    sum +=
      clamp(lower(value(m, i, s, false), value(m, s, j, false)), UINT32_MAX);
  }
  return sum;
}

static void add_bandwidth(const pai_topology *t, const pai__topo_matrix *m,
                          uint32_t i, uint32_t j, pai__topo_link *link)
{
  int kind = kind_of(m->name);
  uint64_t mbps = value(m, i, j, false);

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
  uint64_t hops = value(m, i, j, true);

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

/* --- asking -------------------------------------------------------------- */

/* Whether two GPUs are on one board: same serial number, or functions of one
 * PCI device. */
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

/* Whether the same object of a kind is the nearest one around both. */
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

/* --- groups of GPUs ------------------------------------------------------ */

/* Levels are sorted from the smallest groups.  There are up to seven ways to
 * divide a machine, tried by their value to a job: links of GPUs first, then
 * memory, then switches.  A way that cuts across a level that was kept is
 * refused; one that equals another, or leaves each GPU alone, is dropped. */

/* Sets a number for each GPU; GPUs with equal numbers are one group.  `what`
 * selects the links, objects or bridges. */
typedef void (*divide)(const pai_topology *t, uint32_t *group, int what);

/* --- ways to divide ------------------------------------------------------- */

/* Groups GPUs that are connected, directly or through others, by links of the
 * kinds in the bit mask `kinds`.  A group's number is its lowest GPU. */
static void by_link(const pai_topology *t, uint32_t *group, int kinds)
{
  pai_topology_link link = { .struct_size = sizeof(link) };

  for (uint32_t i = 0; i < t->ngpus; i++)
    group[i] = i;
  for (uint32_t a = 0; a < t->ngpus; a++)
    for (uint32_t b = 0; b < a; b++) {
      uint32_t from = group[a], to = group[b];
      (void)pai_topology_between(t, a, b, &link);
      if ((kinds >> link.kind & 1) == 0 || from == to)
        continue;
      for (uint32_t i = 0; i < t->ngpus; i++)
        if (group[i] == (from > to ? from : to))
          group[i] = from > to ? to : from;
    }
}

/* Groups GPUs by the nearest object of a kind; a GPU without one is alone. */
static void by_object(const pai_topology *t, uint32_t *group, int kind)
{
  for (uint32_t i = 0; i < t->ngpus; i++) {
    uint32_t g = t->gpus[i].object;
    uint32_t around = pai__topo_around(t, g, kind);
    group[i] = around != PAI_NONE ? around : g;
  }
}

enum { NEAREST, FURTHEST };

/* Groups GPUs by the nearest PCI bridge that another GPU is below too, or by
 * the furthest. */
static void by_bridge(const pai_topology *t, uint32_t *group, int which)
{
  for (uint32_t i = 0; i < t->ngpus; i++) {
    uint32_t g = t->gpus[i].object, up = t->objects[g].parent;
    group[i] = g;
    while (up != PAI_NONE && t->objects[up].kind == PAI_OBJECT_BRIDGE &&
           t->objects[up].level == PAI__BRIDGE_PCI) {
      if (pai__topo_count(t, up, PAI_OBJECT_GPU) > 1 &&
          (which == FURTHEST || group[i] == g))
        group[i] = up;
      up = t->objects[up].parent;
    }
  }
}

static void by_machine(const pai_topology *t, uint32_t *group, int what)
{
  (void)what;
  memset(group, 0, t->ngpus * sizeof(*group));
}

/* --- levels -------------------------------------------------------------- */

/* Renumbers the groups from 0 in the order of their first GPUs, and sets the
 * level's counts. */
static void count(pai__topo_level *level, size_t gpus)
{
  uint32_t least = UINT32_MAX;

  for (size_t i = 0; i < gpus; i++) {
    uint32_t was = level->group[i], size = 0;
    if ((was & 0x80000000u) != 0)
      continue; /* already renumbered */
    for (size_t k = i; k < gpus; k++)
      if (level->group[k] == was) {
        level->group[k] = 0x80000000u | level->groups;
        size++;
      }
    level->groups++;
    level->most = size > level->most ? size : level->most;
    least = size < least ? size : least;
  }
  for (size_t i = 0; i < gpus; i++)
    level->group[i] &= 0x7fffffffu;
  level->equal = least == level->most;
}

/* Whether each group of `inner` lies within one of `outer`. */
static bool nests(const pai__topo_level *inner, const pai__topo_level *outer,
                  size_t gpus)
{
  for (size_t a = 0; a < gpus; a++)
    for (size_t b = 0; b < a; b++)
      if (inner->group[a] == inner->group[b] &&
          outer->group[a] != outer->group[b])
        return false;
  return true;
}

/* Inserts a level in order; returns false if it is dropped. */
static bool keep(pai__topo_levels *l, const pai__topo_level *level)
{
  size_t at = l->count;

  if (l->count > 0 && level->most < 2)
    return false;
  for (size_t i = l->count; i-- > 0;) {
    const pai__topo_level *old = &l->level[i];
    if (old->groups == level->groups && nests(level, old, l->gpus))
      return false;
    if (nests(level, old, l->gpus)) {
      at = i;
    } else if (!nests(old, level, l->gpus)) {
      l->refused[l->refused_count].name = level->name;
      l->refused[l->refused_count++].kept = old->name;
      return false;
    }
  }
  memmove(&l->level[at + 1], &l->level[at],
          (l->count - at) * sizeof(l->level[0]));
  l->level[at] = *level;
  l->count++;
  return true;
}

static const struct {
  const char *name;
  divide divide;
  int what;
} ways[] = {
  { "machine", by_machine, 0 },
  { "nvlink", by_link, 1 << PAI_LINK_NVLINK | 1 << PAI_LINK_NVSWITCH },
  { "xgmi", by_link, 1 << PAI_LINK_XGMI },
  { "xelink", by_link, 1 << PAI_LINK_XELINK },
  { "numa", by_object, PAI_OBJECT_NUMA },
  { "package", by_object, PAI_OBJECT_PACKAGE },
  { "switch", by_bridge, NEAREST },
  { "switches", by_bridge, FURTHEST },
};

int pai__topo_levels_init(pai__topo_levels *l, const pai_topology *t)
{
  *l = (pai__topo_levels){ .alloc = &t->alloc, .gpus = t->ngpus };
  for (size_t i = 0; t->ngpus > 0 && i < PAI__LEN(ways); i++) {
    pai__topo_level level = { .name = ways[i].name };
    level.group =
      pai__realloc(l->alloc, NULL, 0, l->gpus, sizeof(*level.group));
    if (level.group == NULL) {
      pai__topo_levels_dispose(l);
      return PAI_ENOMEM;
    }
    ways[i].divide(t, level.group, ways[i].what);
    count(&level, l->gpus);
    if (!keep(l, &level))
      pai__free(l->alloc, level.group, l->gpus * sizeof(*level.group));
  }
  return PAI_OK;
}

void pai__topo_levels_dispose(pai__topo_levels *l)
{
  for (size_t i = 0; i < l->count; i++)
    pai__free(l->alloc, l->level[i].group,
              l->gpus * sizeof(*l->level[i].group));
  l->count = 0;
}
