/*
 * topology_affinity.c - CPUs and memory near some GPUs, in the forms of
 * cpusets, hwloc and taskset, and the variables that make those GPUs visible
 */
#include "base/arena.h"
#include "resource/bits.h"
#include "resource/topology/topology.h"

/* A bit set of the operating system's numbers. */
typedef uint64_t numbers[PAI__BITS_WORDS(PAI__TOPO_MAX_PUS)];

struct pai_affinity {
  pai_alloc alloc;
  pai__arena arena;
  pai_affinity_view view;
  pai_affinity_variable_view variables[3]; /* one for each vendor */
};

static bool has(const numbers n, uint32_t i)
{
  return pai__bits_has(n, PAI__BITS_WORDS(PAI__TOPO_MAX_PUS), i);
}

/* --- CPUs ---------------------------------------------------------------- */

typedef struct choice {
  const pai_topology *t;
  const uint32_t *gpus; /* empty: the whole machine */
  size_t count;
  numbers cpus, nodes;
  uint32_t cores, pus;
} choice;

/* All cores in order, and which are chosen. */
typedef struct store {
  uint32_t count;
  uint32_t *object;
  bool *taken;
} store;

/* Returns the smallest object that contains the CPUs near GPU i. */
static uint32_t place_of(const choice *c, size_t i)
{
  return c->count == 0 ? 0
                       : pai__topo_place(c->t, c->t->gpus[c->gpus[i]].object);
}

static void take_range(choice *c, const pai__topo_object *o)
{
  for (uint32_t i = o->pu; i < o->pu + o->pus; i++)
    if (!has(c->cpus, c->t->pus[i])) {
      pai__bits_set(c->cpus, c->t->pus[i], c->t->pus[i]);
      c->pus++;
    }
}

/* Uses processing units on machines without cores. */
static int core_kind(const pai_topology *t)
{
  return pai__topo_count(t, 0, PAI_OBJECT_CORE) > 0 ? PAI_OBJECT_CORE
                                                    : PAI_OBJECT_PU;
}

static void take_all(choice *c)
{
  int kind = core_kind(c->t);

  for (size_t i = 0; i < (c->count == 0 ? 1 : c->count); i++)
    take_range(c, &c->t->objects[place_of(c, i)]);
  for (size_t i = 0; i < c->t->count; i++)
    if (c->t->objects[i].kind == kind && c->t->objects[i].pus > 0 &&
        has(c->cpus, c->t->pus[c->t->objects[i].pu]))
      c->cores++;
}

/* Returns the number of cores of an object, and the first one in *first. */
static uint32_t cores_of(const choice *c, const store *s, uint32_t object,
                         uint32_t *first)
{
  uint32_t n = 0;

  *first = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    *first += s->object[i] < object;
    n += s->object[i] >= object && s->object[i] < c->t->objects[object].skip;
  }
  return n;
}

/* Returns where a GPU's share begins among the n cores of its place, so that
 * GPUs of one place start at different cores. */
static uint32_t begin_of(const choice *c, size_t i, uint32_t place, uint32_t n)
{
  uint32_t rank = 0, all = 0;

  if (c->count == 0)
    return 0;
  for (uint32_t g = 0; g < c->t->ngpus; g++)
    if (pai__topo_place(c->t, c->t->gpus[g].object) == place) {
      rank += g < c->gpus[i];
      all++;
    }
  return all > 0 ? (uint32_t)((uint64_t)n * rank / all) : 0;
}

/* Takes one more core near GPU i; returns false if none is left at all. */
static bool take_core(choice *c, store *s, size_t i)
{
  uint32_t place = place_of(c, i), first;
  uint32_t n = cores_of(c, s, place, &first);
  uint32_t begin = begin_of(c, i, place, n);

  for (;;) {
    for (uint32_t k = 0; k < n; k++) {
      uint32_t core = first + (begin + k) % n;
      if (!s->taken[core]) {
        s->taken[core] = true;
        c->cores++;
        take_range(c, &c->t->objects[s->object[core]]);
        return true;
      }
    }
    if (place == 0)
      return false;
    place = c->t->objects[place].parent;
    n = cores_of(c, s, place, &first);
    begin = 0;
  }
}

static int find_cores(store *s, const pai_topology *t)
{
  int kind = core_kind(t);
  uint32_t n = pai__topo_count(t, 0, kind);

  s->object = pai__realloc(&t->alloc, NULL, 0, n, sizeof(*s->object));
  s->taken = pai__zalloc(&t->alloc, n * sizeof(*s->taken));
  if (s->object == NULL || s->taken == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->objects[i].kind == kind)
      s->object[s->count++] = i;
  return PAI_OK;
}

/* Takes one core for each GPU in turn, so that all get the same number. */
static int take_some(choice *c, uint32_t wanted, pai_error **err)
{
  uint32_t all = pai__topo_count(c->t, 0, core_kind(c->t));
  store s = { 0 };
  int rc;

  if (wanted > all)
    return pai__fail(err, PAI_ENOROOM, "%u cores requested, but there are %u",
                     wanted, all);
  rc = find_cores(&s, c->t);
  for (size_t i = 0; rc == PAI_OK && c->cores < wanted; i++)
    if (!take_core(c, &s, c->count > 0 ? i % c->count : 0))
      break;
  pai__free(&c->t->alloc, s.object, all * sizeof(*s.object));
  pai__free(&c->t->alloc, s.taken, all * sizeof(*s.taken));
  return rc == PAI_OK ? rc : pai__oom(err);
}

/* Takes all NUMA nodes that share CPUs with an object. */
static bool take_nodes_of(choice *c, const pai__topo_object *at)
{
  bool any = false;

  for (size_t i = 0; i < c->t->count; i++) {
    const pai__topo_object *o = &c->t->objects[i];
    if (o->kind != PAI_OBJECT_NUMA || o->os_index >= PAI__TOPO_MAX_PUS ||
        o->pu >= at->pu + at->pus || at->pu >= o->pu + o->pus)
      continue;
    pai__bits_set(c->nodes, o->os_index, o->os_index);
    any = true;
  }
  return any;
}

/* Takes the NUMA nodes near each GPU; if there is none, those of the objects
 * around it. */
static void take_nodes(choice *c)
{
  for (size_t i = 0; i < (c->count == 0 ? 1 : c->count); i++) {
    uint32_t at = place_of(c, i);
    while (!take_nodes_of(c, &c->t->objects[at]) && at != 0)
      at = c->t->objects[at].parent;
  }
}

/* --- variables ----------------------------------------------------------- */

static const char *const variables[] = { "CUDA_VISIBLE_DEVICES",
                                         "ROCR_VISIBLE_DEVICES",
                                         "ZE_AFFINITY_MASK" };

static const char *keep(pai_affinity *a, pai__buf *text)
{
  const char *kept = NULL;

  if (pai__buf_ok(text))
    kept = pai__arena_strndup(&a->arena, pai__buf_text(text), text->len);
  pai__buf_clear(text);
  return kept;
}

/* Lists the GPUs of a vendor; "" if the index or UUID of one is unknown. */
static const char *list_gpus(pai_affinity *a, const choice *c, int vendor,
                             bool by_uuid, pai__buf *text)
{
  bool known = !by_uuid || vendor != PAI__VENDOR_INTEL;

  for (size_t i = 0; i < c->count; i++) {
    const pai__topo_gpu *g = &c->t->gpus[c->gpus[i]];
    const char *comma = text->len > 0 ? "," : "";
    if (g->vendor != vendor)
      continue;
    known = known && (by_uuid ? g->uuid != 0 : g->index != PAI_NONE);
    if (by_uuid)
      pai__buf_printf(text, "%s%s", comma, pai__topo_text(c->t, g->uuid));
    else
      pai__buf_printf(text, "%s%u", comma, g->index);
  }
  if (!known)
    pai__buf_clear(text);
  return keep(a, text);
}

static bool list_vendors(pai_affinity *a, const choice *c, pai__buf *text)
{
  for (int vendor = 0; vendor < (int)PAI__LEN(variables); vendor++) {
    pai_affinity_variable_view *v = &a->variables[a->view.variables];
    bool any = false;
    for (size_t i = 0; i < c->count; i++)
      any = any || c->t->gpus[c->gpus[i]].vendor == vendor;
    if (!any)
      continue;
    v->struct_size = sizeof(*v);
    v->name = variables[vendor];
    v->by_index = list_gpus(a, c, vendor, false, text);
    v->by_uuid = list_gpus(a, c, vendor, true, text);
    if (v->by_index == NULL || v->by_uuid == NULL)
      return false;
    a->view.variables++;
  }
  return true;
}

/* --- the calls ----------------------------------------------------------- */

static bool fill(pai_affinity *a, const choice *c)
{
  pai_affinity_view *v = &a->view;
  pai__buf text;
  bool ok;

  pai__buf_init(&text, &a->alloc);
  v->struct_size = sizeof(*v);
  v->cores = c->cores;
  v->pus = c->pus;
  pai__bits_write_list(&text, c->cpus, PAI__LEN(c->cpus));
  v->cpus = keep(a, &text);
  pai__bits_write_hwloc(&text, c->cpus, PAI__LEN(c->cpus));
  v->bitmap = keep(a, &text);
  pai__bits_write_mask(&text, c->cpus, PAI__LEN(c->cpus));
  v->mask = keep(a, &text);
  pai__bits_write_list(&text, c->nodes, PAI__LEN(c->nodes));
  v->numa_nodes = keep(a, &text);
  ok = v->cpus != NULL && v->bitmap != NULL && v->mask != NULL &&
       v->numa_nodes != NULL && list_vendors(a, c, &text);
  pai__buf_dispose(&text);
  return ok;
}

static int check_gpus(const pai_topology *t, const uint32_t *gpus,
                      size_t count, pai_error **err)
{
  for (size_t i = 0; i < count; i++) {
    if (gpus[i] >= t->ngpus)
      return pai__fail(err, PAI_ENOTFOUND, "there is no GPU %u, of %zu",
                       gpus[i], t->ngpus);
    for (size_t k = 0; k < i; k++)
      if (gpus[k] == gpus[i])
        return pai__fail(err, PAI_EINVAL, "GPU %u is named twice", gpus[i]);
  }
  return PAI_OK;
}

int pai_topology_affinity(pai_affinity **out, const pai_topology *t,
                          const uint32_t *gpus, size_t count, uint32_t cores,
                          pai_error **err)
{
  choice c = { .t = t, .gpus = gpus, .count = count };
  pai_affinity *a;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(t != NULL && (gpus != NULL || count == 0), err);
  rc = check_gpus(t, gpus, count, err);
  if (rc == PAI_OK && cores > 0)
    rc = take_some(&c, cores, err);
  else if (rc == PAI_OK)
    take_all(&c);
  if (rc < 0)
    return rc;
  take_nodes(&c);
  a = pai__zalloc(&t->alloc, sizeof(*a));
  if (a == NULL)
    return pai__oom(err);
  a->alloc = t->alloc;
  pai__arena_init(&a->arena, &a->alloc);
  if (!fill(a, &c)) {
    pai_affinity_free(a);
    return pai__oom(err);
  }
  *out = a;
  return PAI_OK;
}

const pai_affinity_view *pai_affinity_get(const pai_affinity *a)
{
  return &a->view;
}

const pai_affinity_variable_view *pai_affinity_variable(const pai_affinity *a,
                                                        size_t i)
{
  return i < a->view.variables ? &a->variables[i] : NULL;
}

void pai_affinity_free(pai_affinity *a)
{
  pai_alloc alloc;

  if (a == NULL)
    return;
  alloc = a->alloc;
  pai__arena_dispose(&a->arena);
  pai__free(&alloc, a, sizeof(*a));
}
