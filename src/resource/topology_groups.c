/*
 * topology_groups.c - which GPUs belong together, from the smallest group on
 *
 * There are up to seven ways to divide a machine.  They are tried by what they
 * mean to a job: links of GPUs first, then memory, then switches.  One that
 * cuts across a level that was kept is refused; one that is the same as
 * another, or leaves each GPU alone, says nothing.
 */
#include "resource/topology_groups.h"

/* Gives each GPU the number of a thing; equal numbers are one group. */
typedef void (*divide)(const pai_topology *t, uint32_t *group);

/* --- ways to divide --------------------------------------------------------- */

/* What is joined, directly or by way of others.  Numbers are the least GPU. */
static void by_link(const pai_topology *t, uint32_t *group, bool (*is)(int))
{
  pai_topology_link link = { .struct_size = sizeof(link) };

  for (uint32_t i = 0; i < t->ngpus; i++)
    group[i] = i;
  for (uint32_t a = 0; a < t->ngpus; a++)
    for (uint32_t b = 0; b < a; b++) {
      uint32_t from = group[a], to = group[b];
      (void)pai_topology_between(t, a, b, &link);
      if (!is(link.kind) || from == to)
        continue;
      for (uint32_t i = 0; i < t->ngpus; i++)
        if (group[i] == (from > to ? from : to))
          group[i] = from > to ? to : from;
    }
}

static bool is_nvlink(int kind)
{
  return kind == PAI_LINK_NVLINK || kind == PAI_LINK_NVSWITCH;
}

static bool is_xgmi(int kind)
{
  return kind == PAI_LINK_XGMI;
}

static bool is_xelink(int kind)
{
  return kind == PAI_LINK_XELINK;
}

static void by_nvlink(const pai_topology *t, uint32_t *group)
{
  by_link(t, group, is_nvlink);
}

static void by_xgmi(const pai_topology *t, uint32_t *group)
{
  by_link(t, group, is_xgmi);
}

static void by_xelink(const pai_topology *t, uint32_t *group)
{
  by_link(t, group, is_xelink);
}

/* One that nothing is around is alone. */
static void by_object(const pai_topology *t, uint32_t *group, int kind)
{
  for (uint32_t i = 0; i < t->ngpus; i++) {
    uint32_t g = t->gpus[i].object;
    uint32_t around = pai__topo_around(t, g, kind);
    group[i] = around != PAI_NONE ? around : g;
  }
}

static void by_numa(const pai_topology *t, uint32_t *group)
{
  by_object(t, group, PAI_OBJECT_NUMA);
}

static void by_package(const pai_topology *t, uint32_t *group)
{
  by_object(t, group, PAI_OBJECT_PACKAGE);
}

/* The nearest PCI bridge that leads to another GPU too, or the furthest. */
static void by_bridge(const pai_topology *t, uint32_t *group, bool furthest)
{
  for (uint32_t i = 0; i < t->ngpus; i++) {
    uint32_t g = t->gpus[i].object, up = t->objects[g].parent;
    group[i] = g;
    while (up != PAI_NONE && t->objects[up].kind == PAI_OBJECT_BRIDGE &&
           t->objects[up].level == PAI__BRIDGE_PCI) {
      if (pai__topo_count(t, up, PAI_OBJECT_GPU) > 1 &&
          (furthest || group[i] == g))
        group[i] = up;
      up = t->objects[up].parent;
    }
  }
}

static void by_switch(const pai_topology *t, uint32_t *group)
{
  by_bridge(t, group, false);
}

static void by_switches(const pai_topology *t, uint32_t *group)
{
  by_bridge(t, group, true);
}

static void by_machine(const pai_topology *t, uint32_t *group)
{
  memset(group, 0, t->ngpus * sizeof(*group));
}

/* --- levels ------------------------------------------------------------------ */

/* Numbers from 0, in the order of the groups' first GPUs, and what that is. */
static void count(pai__topo_level *level, size_t gpus)
{
  uint32_t least = UINT32_MAX;

  for (size_t i = 0; i < gpus; i++) {
    uint32_t was = level->group[i], size = 0;
    if ((was & 0x80000000u) != 0)
      continue; /* numbered already */
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

/* Puts a level where it belongs; false when it does not stay. */
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
} ways[] = {
  { "machine", by_machine }, { "nvlink", by_nvlink },
  { "xgmi", by_xgmi },       { "xelink", by_xelink },
  { "numa", by_numa },       { "package", by_package },
  { "switch", by_switch },   { "switches", by_switches },
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
    ways[i].divide(t, level.group);
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
