/*
 * topology_build.c - build the topology of a machine object by object
 *
 * Objects come in preorder, so an object that turns out to be of no interest
 * is the last one and is removed again.
 */
#include "base/text/utf8.h"
#include "resource/topology/topology.h"

int pai__topo_new(pai_topology **out, const pai_alloc *alloc)
{
  pai_topology *t = pai__zalloc(alloc, sizeof(*t));

  *out = t;
  if (t == NULL)
    return PAI_ENOMEM;
  t->alloc = *alloc;
  atomic_init(&t->refs, 1);
  pai__buf_init(&t->strings, &t->alloc);
  pai__buf_char(&t->strings, '\0');
  if (pai__buf_ok(&t->strings))
    return PAI_OK;
  pai_topology_unref(t);
  *out = NULL;
  return PAI_ENOMEM;
}

static bool is_space(char c)
{
  return (unsigned char)c <= ' ' || c == 0x7f;
}

/* Adds a text as one line of valid UTF-8 with single spaces, because firmware
 * may contain anything. */
static void add_printable(pai__buf *b, const char *s)
{
  size_t left = strlen(s), start = b->len;

  while (left > 0) {
    size_t n = pai__utf8_len(s, left);
    if (n == 0) {
      pai__buf_char(b, '?');
      n = pai__utf8_bad(s, left);
    } else if (!is_space(*s)) {
      pai__buf_add(b, s, n);
    } else if (b->len > start && b->data[b->len - 1] != ' ') {
      pai__buf_char(b, ' ');
    }
    s += n;
    left -= n;
  }
  if (b->len > start && b->data[b->len - 1] == ' ')
    pai__buf_cut(b, b->len - 1);
}

int pai__topo_string(pai_topology *t, uint32_t *at, const char *s)
{
  size_t start = t->strings.len;

  *at = 0;
  if (s == NULL || *s == '\0')
    return PAI_OK;
  if (start > UINT32_MAX / 2)
    return PAI_ELIMIT;
  add_printable(&t->strings, s);
  pai__buf_char(&t->strings, '\0');
  if (!pai__buf_ok(&t->strings))
    return PAI_ENOMEM;
  *at = (uint32_t)start;
  return PAI_OK;
}

int pai__topo_begin(pai_topology *t, uint32_t *object, uint32_t parent,
                    int kind)
{
  int rc;

  *object = PAI_NONE;
  if (t->count == PAI__TOPO_MAX_OBJECTS)
    return PAI_ELIMIT;
  rc = PAI__VEC_ROOM(&t->alloc, t->objects, t->count, t->cap);
  if (rc < 0)
    return rc;
  t->objects[t->count] = (pai__topo_object){ .kind = (uint8_t)kind,
                                             .parent = parent,
                                             .pu = (uint32_t)t->npus,
                                             .os_index = PAI_NONE,
                                             .gpu = PAI_NONE };
  *object = (uint32_t)t->count++;
  return PAI_OK;
}

/* Whether a PCI device without an OS device is of interest. */
static bool is_of_interest(const pai__topo_object *o)
{
  unsigned base = o->pci_class >> 8;

  return o->is_switch || base == 0x02 /* network */ ||
         base == 0x0b /* processors */ || base == 0x12 /* accelerators */ ||
         o->pci_class == 0x0c06 /* InfiniBand */;
}

int pai__topo_end(pai_topology *t, uint32_t *object)
{
  static const pai__topo_device unknown = { .kind = PAI_OBJECT_GPU };
  pai__topo_object *o = &t->objects[*object];
  bool empty = t->count == (size_t)*object + 1;

  if (o->kind == PAI_OBJECT_PCI && pai__topo_is_gpu(o)) {
    int rc = pai__topo_fold(t, *object, &unknown);
    if (rc < 0)
      return rc;
  }
  if (empty && (o->kind == PAI_OBJECT_BRIDGE ||
                (o->kind == PAI_OBJECT_PCI && !is_of_interest(o)))) {
    t->count--;
    *object = PAI_NONE;
    return PAI_OK;
  }
  o->skip = (uint32_t)t->count;
  o->pus = (uint32_t)t->npus - o->pu;
  return PAI_OK;
}

int pai__topo_add_pu(pai_topology *t, uint32_t object, uint32_t os_index)
{
  int rc;

  if (t->npus == PAI__TOPO_MAX_PUS || os_index >= PAI__TOPO_MAX_PUS)
    return PAI_ELIMIT;
  rc = PAI__VEC_ROOM(&t->alloc, t->pus, t->npus, t->pus_cap);
  if (rc < 0)
    return rc;
  t->pus[t->npus++] = os_index;
  t->objects[object].os_index = os_index;
  return PAI_OK;
}

int pai__topo_add_device(pai_topology *t, uint32_t *object, uint32_t parent,
                         const pai__topo_device *device)
{
  pai__topo_object *in = &t->objects[parent];
  bool gpu = device->kind == PAI_OBJECT_GPU;
  int rc;

  *object = PAI_NONE;
  if (gpu && (in->kind == PAI_OBJECT_GPU || in->kind == PAI_OBJECT_PCI)) {
    if (device->backend == NULL && !pai__topo_is_gpu(in))
      return PAI_OK; /* a display controller that cannot compute */
    *object = parent;
    return pai__topo_fold(t, parent, device);
  }
  if (gpu && device->backend == NULL)
    return PAI_OK;
  for (uint32_t i = parent + 1; gpu && i < t->count; i++)
    if (t->objects[i].parent == parent && pai__topo_same_gpu(t, i, device)) {
      *object = i;
      return pai__topo_fold(t, i, device);
    }
  rc = pai__topo_begin(t, object, parent, device->kind);
  if (rc == PAI_OK && gpu)
    return pai__topo_fold(t, *object, device);
  if (rc == PAI_OK)
    rc = pai__topo_string(t, &t->objects[*object].name, device->name);
  if (rc == PAI_OK)
    t->objects[*object].bytes = device->bytes;
  return rc;
}

static bool is_beside(const pai__topo_object *o)
{
  return o->kind == PAI_OBJECT_NUMA || o->kind >= PAI_OBJECT_BRIDGE;
}

int pai__topo_finish(pai_topology *t)
{
  if (t->npus == 0)
    return PAI_EINVAL;
  for (size_t i = 1; i < t->count; i++) {
    pai__topo_object *o = &t->objects[i];
    if (o->kind == PAI_OBJECT_NUMA && o->level != 0) {
      o->pus = 0; /* memory without its own CPUs */
    } else if (is_beside(o)) {
      o->pu = t->objects[o->parent].pu;
      o->pus = t->objects[o->parent].pus;
    }
  }
  return pai__topo_number_gpus(t);
}

/* --- asking --------------------------------------------------------------- */

uint32_t pai__topo_count(const pai_topology *t, uint32_t object, int kind)
{
  uint32_t n = 0;

  for (uint32_t i = object; i < t->objects[object].skip; i++)
    n += t->objects[i].kind == kind;
  return n;
}

uint32_t pai__topo_common(const pai_topology *t, uint32_t a, uint32_t b)
{
  while (a != b) {
    if (a > b)
      a = t->objects[a].parent;
    else
      b = t->objects[b].parent;
  }
  return a;
}

uint32_t pai__topo_place(const pai_topology *t, uint32_t object)
{
  while (is_beside(&t->objects[object]))
    object = t->objects[object].parent;
  return object;
}

static bool is_within(const pai__topo_object *inner,
                      const pai__topo_object *outer)
{
  return inner->pu >= outer->pu &&
         inner->pu + inner->pus <= outer->pu + outer->pus;
}

uint32_t pai__topo_around(const pai_topology *t, uint32_t object, int kind)
{
  uint32_t best = PAI_NONE;

  for (uint32_t i = 0; i < t->count; i++) {
    const pai__topo_object *o = &t->objects[i];
    if (o->kind == kind && o->pus > 0 && is_within(&t->objects[object], o) &&
        (best == PAI_NONE || o->pus < t->objects[best].pus))
      best = i;
  }
  return best;
}

/* --- public views -------------------------------------------------------- */

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
