/* cpus.c - choose CPUs for one task, near its GPUs */
#include "resource/cpus.h"

#include "resource/topology/topology.h"

typedef struct choice {
  const pai_topology *t;
  const pai__cpus *free;
  pai__cpus *out;
  uint32_t left; /* CPUs still to take */
} choice;

/* Passes over the cores, in this order. */
enum { WHOLE, OF_BEGUN, OF_ANY, PASSES };

static bool has(const pai__cpus *cpus, uint32_t cpu)
{
  return pai__bits_has(cpus->at, PAI__LEN(cpus->at), cpu);
}

static bool is_free(const choice *c, uint32_t cpu)
{
  return has(c->free, cpu) && !has(c->out, cpu);
}

static uint32_t count_free(const choice *c, const pai__topo_object *o)
{
  uint32_t n = 0;

  for (uint32_t i = o->pu; i < o->pu + o->pus; i++)
    n += is_free(c, c->t->pus[i]);
  return n;
}

/* Takes at most `left` CPUs of a core; returns how many. */
static uint32_t take_core(choice *c, const pai__topo_object *core, int pass,
                          uint32_t left)
{
  uint32_t n = count_free(c, core), taken = 0;

  if (n == 0 || (pass == WHOLE && (n < core->pus || left < n)) ||
      (pass == OF_BEGUN && n == core->pus))
    return 0;
  for (uint32_t i = core->pu; i < core->pu + core->pus && taken < left; i++)
    if (is_free(c, c->t->pus[i])) {
      pai__bits_set(c->out->at, c->t->pus[i], c->t->pus[i]);
      taken++;
    }
  return taken;
}

/* Takes up to n CPUs within an object. */
static void take(choice *c, uint32_t object, uint32_t n)
{
  const pai__topo_object *in = &c->t->objects[object];
  int kind = pai__topo_count(c->t, 0, PAI_OBJECT_CORE) > 0 ? PAI_OBJECT_CORE
                                                           : PAI_OBJECT_PU;

  c->left -= n;
  for (int pass = WHOLE; pass < PASSES; pass++)
    for (size_t i = 0; n > 0 && i < c->t->count; i++) {
      const pai__topo_object *o = &c->t->objects[i];

      if (o->kind == kind && o->pu >= in->pu &&
          o->pu + o->pus <= in->pu + in->pus)
        n -= take_core(c, o, pass, n);
    }
  c->left += n;
}

/* --- CPUs near GPUs or in a NUMA node ------------------------------------ */

static bool is_one_of(size_t gpu, uint64_t gpus)
{
  return gpu < 64 && (gpus >> gpu & 1) != 0;
}

/* Takes the same number near each GPU, then the nearest to any of them. */
static void take_near(choice *c, uint64_t gpus)
{
  uint32_t known = 0;

  for (size_t i = 0; i < c->t->ngpus; i++)
    known += is_one_of(i, gpus);
  for (size_t i = 0; known > 0 && i < c->t->ngpus; i++)
    if (is_one_of(i, gpus)) {
      take(c, pai__topo_place(c->t, c->t->gpus[i].object),
           c->left / (known > 0 ? known : 1));
      known--;
    }
  for (size_t i = 0; i < c->t->ngpus; i++)
    if (is_one_of(i, gpus)) {
      uint32_t at = pai__topo_place(c->t, c->t->gpus[i].object);

      for (; c->left > 0 && at != 0; at = c->t->objects[at].parent)
        take(c, at, c->left);
    }
}

/* Takes from the NUMA node that has enough free CPUs and the fewest more. */
static void take_of_a_node(choice *c)
{
  uint32_t least = UINT32_MAX;
  size_t best = 0;

  for (size_t i = 0; i < c->t->count; i++) {
    uint32_t n;

    if (c->t->objects[i].kind != PAI_OBJECT_NUMA)
      continue;
    n = count_free(c, &c->t->objects[i]);
    if (n >= c->left && n < least) {
      least = n;
      best = i;
    }
  }
  if (best != 0)
    take(c, (uint32_t)best, c->left);
}

static void take_lowest(choice *c)
{
  for (uint32_t cpu = 0; c->left > 0 && cpu < PAI__MAX_CPUS; cpu++)
    if (is_free(c, cpu)) {
      pai__bits_set(c->out->at, cpu, cpu);
      c->left--;
    }
}

bool pai__cpus_choose(pai__cpus *out, const pai_topology *t, uint64_t gpus,
                      const pai__cpus *free, uint32_t n)
{
  choice c = { t, free, out, n };

  memset(out, 0, sizeof(*out));
  if (pai__bits_count(free->at, PAI__LEN(free->at)) < n)
    return false;
  if (t != NULL) {
    if (gpus != 0)
      take_near(&c, gpus);
    else
      take_of_a_node(&c);
    if (c.left > 0)
      take(&c, 0, c.left);
  }
  take_lowest(&c); /* CPUs that are not in the topology */
  return c.left == 0;
}

void pai__cpus_nodes(pai__buf *out, const pai_topology *t,
                     const pai__cpus *cpus)
{
  pai__cpus nodes = { { 0 } };

  if (t == NULL || pai__topo_count(t, 0, PAI_OBJECT_NUMA) < 2)
    return;
  for (size_t i = 0; i < t->count; i++) {
    const pai__topo_object *o = &t->objects[i];

    if (o->kind != PAI_OBJECT_NUMA || o->os_index >= PAI__MAX_CPUS)
      continue;
    for (uint32_t k = o->pu; k < o->pu + o->pus; k++)
      if (has(cpus, t->pus[k]))
        pai__bits_set(nodes.at, o->os_index, o->os_index);
  }
  pai__bits_write_list(out, nodes.at, PAI__LEN(nodes.at));
}
