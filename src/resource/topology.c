/* topology.c - a machine, as others may look at it */
#include "resource/topology.h"

pai_topology *pai_topology_ref(pai_topology *t)
{
  atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
  return t;
}

void pai_topology_unref(pai_topology *t)
{
  pai_alloc alloc;

  if (t == NULL ||
      atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
    return;
  alloc = t->alloc;
  pai__free(&alloc, t->objects, t->cap * sizeof(*t->objects));
  pai__free(&alloc, t->pus, t->pus_cap * sizeof(*t->pus));
  if (t->links != NULL)
    pai__free(&alloc, t->links, t->ngpus * t->ngpus * sizeof(*t->links));
  pai__free(&alloc, t->gpus, t->gpus_cap * sizeof(*t->gpus));
  pai__buf_dispose(&t->strings);
  pai__free(&alloc, t, sizeof(*t));
}

int pai_topology_summarize(const pai_topology *t, pai_topology_summary *view)
{
  pai_topology_summary full = { 0 };

  PAI__CHECK_ARG(t != NULL && view != NULL);
  full.name = pai__topo_text(t, t->objects[0].name);
  full.objects = (uint32_t)t->count;
  full.packages = pai__topo_count(t, 0, PAI_OBJECT_PACKAGE);
  full.numa_nodes = pai__topo_count(t, 0, PAI_OBJECT_NUMA);
  full.cores = pai__topo_count(t, 0, PAI_OBJECT_CORE);
  full.pus = (uint32_t)t->npus;
  full.gpus = (uint32_t)t->ngpus;
  for (size_t i = 0; i < t->count; i++)
    if (t->objects[i].kind == PAI_OBJECT_NUMA)
      full.bytes += t->objects[i].bytes;
  return PAI__FILL_VIEW(view, full, pai_topology_summary, bytes);
}

int pai_topology_view_object(const pai_topology *t, uint32_t i,
                             pai_topology_object *view)
{
  pai_topology_object full = { 0 };
  const pai__topo_object *o;

  PAI__CHECK_ARG(t != NULL && view != NULL);
  if (i >= t->count)
    return PAI_ENOTFOUND;
  o = &t->objects[i];
  full.kind = o->kind;
  full.parent = o->parent;
  full.end = o->skip;
  full.os_index = o->os_index;
  full.pus = o->pus;
  full.level = o->kind == PAI_OBJECT_CACHE ? o->level : 0;
  full.gpu = o->gpu;
  full.link_mbps = o->link_mbps;
  full.bytes = o->bytes;
  full.name = pai__topo_text(t, o->name);
  full.pci = pai__topo_text(t, o->pci);
  return PAI__FILL_VIEW(view, full, pai_topology_object, pci);
}

int pai_topology_view_gpu(const pai_topology *t, uint32_t gpu,
                          pai_topology_gpu *view)
{
  pai_topology_gpu full = { 0 };
  const pai__topo_gpu *g;
  const pai__topo_object *o;
  uint32_t numa;

  PAI__CHECK_ARG(t != NULL && view != NULL);
  if (gpu >= t->ngpus)
    return PAI_ENOTFOUND;
  g = &t->gpus[gpu];
  o = &t->objects[g->object];
  numa = pai__topo_around(t, g->object, PAI_OBJECT_NUMA);
  full.object = g->object;
  full.index = g->index;
  full.numa_node = numa != PAI_NONE ? t->objects[numa].os_index : PAI_NONE;
  full.link_mbps = o->link_mbps;
  full.bytes = g->bytes;
  full.vendor = pai__topo_text(t, g->vendor_name);
  full.model = pai__topo_text(t, g->model);
  full.uuid = pai__topo_text(t, g->uuid);
  full.serial = pai__topo_text(t, g->serial);
  full.pci = pai__topo_text(t, o->pci);
  full.backends = pai__topo_text(t, g->backends);
  return PAI__FILL_VIEW(view, full, pai_topology_gpu, backends);
}
