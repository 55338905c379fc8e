/*
 * topology_gpus.c - detect GPUs, merge devices that are the same GPU, number
 * the GPUs
 */
#include "resource/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>

/* Reliability of an API: index and texts of the higher rank are kept. */
enum { RANK_NONE = 0, RANK_OPENCL = 1, RANK_COMPUTE = 2, RANK_MANAGEMENT = 3 };

typedef struct backend {
  const char *name; /* hwloc's name of the API */
  const char *device;
  int rank, vendor;
} backend;

static const backend backends[] = {
  { "NVML", "nvml", RANK_MANAGEMENT, PAI__VENDOR_NVIDIA },
  { "CUDA", "cuda", RANK_COMPUTE, PAI__VENDOR_NVIDIA },
  { "RSMI", "rsmi", RANK_MANAGEMENT, PAI__VENDOR_AMD },
  { "LevelZero", "ze", RANK_COMPUTE, PAI__VENDOR_INTEL },
};

static const backend *find_backend(const pai__topo_device *device)
{
  for (size_t i = 0; device->backend != NULL && i < PAI__LEN(backends); i++)
    if (strcmp(device->backend, backends[i].name) == 0)
      return &backends[i];
  return NULL;
}

bool pai__topo_is_gpu(const pai__topo_object *o)
{
  unsigned base = o->pci_class >> 8;

  if (base != 0x03 /* display */ && base != 0x12 /* accelerators */)
    return false;
  /* AMD's ES1000 is the display chip of server management boards. */
  return o->vendor_id == 0x10de || o->vendor_id == 0x8086 ||
         (o->vendor_id == 0x1002 && o->device_id != 0x515e);
}

static int vendor_of(const pai__topo_object *o, const backend *b,
                     const char *text)
{
  switch (o->vendor_id) {
  case 0x10de: return PAI__VENDOR_NVIDIA;
  case 0x1002: return PAI__VENDOR_AMD;
  case 0x8086: return PAI__VENDOR_INTEL;
  default: break;
  }
  if (b != NULL)
    return b->vendor;
  if (text == NULL)
    return PAI__VENDOR_OTHER;
  return strstr(text, "NVIDIA") != NULL ? PAI__VENDOR_NVIDIA
         : strstr(text, "AMD") != NULL ||
             strstr(text, "Advanced Micro") != NULL
           ? PAI__VENDOR_AMD
         : strstr(text, "Intel") != NULL ? PAI__VENDOR_INTEL
                                         : PAI__VENDOR_OTHER;
}

/* Returns 12 for "nvml12"; PAI_NONE if there are other characters than digits,
 * or too many digits. */
static uint32_t index_of(const char *name, const char *prefix)
{
  size_t len = strlen(prefix);
  uint32_t n = 0;

  if (name == NULL || strncmp(name, prefix, len) != 0 || name[len] == '\0' ||
      strlen(name + len) > 6)
    return PAI_NONE;
  for (const char *s = name + len; *s != '\0'; s++) {
    if (*s < '0' || *s > '9')
      return PAI_NONE;
    n = n * 10 + (uint32_t)(*s - '0');
  }
  return n;
}

/* Adds the record of a GPU. */
static int make(pai_topology *t, uint32_t object)
{
  static const char *const names[] = { "NVIDIA", "AMD", "Intel" };
  pai__topo_object *o = &t->objects[object];
  pai__topo_gpu g = { .object = object, .index = PAI_NONE };
  int rc;

  if (t->ngpus == PAI__TOPO_MAX_GPUS)
    return PAI_ELIMIT;
  rc = PAI__VEC_ROOM(&t->alloc, t->gpus, t->ngpus, t->gpus_cap);
  g.vendor = vendor_of(o, NULL, NULL);
  g.model = o->name; /* its name in the PCI database, if known */
  if (rc == PAI_OK && g.vendor != PAI__VENDOR_OTHER)
    rc = pai__topo_string(t, &g.vendor_name, names[g.vendor]);
  if (rc < 0)
    return rc;
  o->kind = PAI_OBJECT_GPU;
  o->gpu = (uint32_t)t->ngpus;
  t->gpus[t->ngpus++] = g;
  return PAI_OK;
}

/* Sets a text if it is not empty and no better one is set. */
static int tell(pai_topology *t, uint32_t *at, const char *text, bool better)
{
  if (text == NULL || *text == '\0' || (*at != 0 && !better))
    return PAI_OK;
  return pai__topo_string(t, at, text);
}

static int add_name(pai_topology *t, pai__topo_gpu *g, const char *name)
{
  pai__buf all;
  int rc;

  if (name == NULL)
    return PAI_OK;
  pai__buf_init(&all, &t->alloc);
  pai__buf_printf(&all, "%s%s%s", pai__topo_text(t, g->backends),
                  g->backends != 0 ? " " : "", name);
  rc = pai__buf_ok(&all)
         ? pai__topo_string(t, &g->backends, pai__buf_text(&all))
         : PAI_ENOMEM;
  pai__buf_dispose(&all);
  return rc;
}

int pai__topo_fold(pai_topology *t, uint32_t object,
                   const pai__topo_device *device)
{
  const backend *b = find_backend(device);
  int rank = b != NULL ? b->rank : device->backend != NULL ? RANK_OPENCL : 0;
  pai__topo_gpu *g;
  bool better;
  int rc = PAI_OK;

  if (t->objects[object].kind != PAI_OBJECT_GPU ||
      t->objects[object].gpu == PAI_NONE)
    rc = make(t, object);
  if (rc < 0)
    return rc;
  g = &t->gpus[t->objects[object].gpu];
  better = rank > RANK_NONE && rank >= g->rank;
  if (g->vendor == PAI__VENDOR_OTHER) {
    g->vendor = vendor_of(&t->objects[object], b, device->vendor);
    rc = tell(t, &g->vendor_name, device->vendor, better);
  }
  if (b != NULL && index_of(device->name, b->device) != PAI_NONE &&
      (better || g->index == PAI_NONE))
    g->index = index_of(device->name, b->device);
  if (better)
    g->rank = rank;
  if (device->bytes > g->bytes)
    g->bytes = device->bytes;
  if (device->hive != 0)
    g->hive = device->hive;
  if (rc == PAI_OK)
    rc = tell(t, &g->model, device->model, better);
  if (rc == PAI_OK)
    rc = tell(t, &g->uuid, device->uuid, better);
  if (rc == PAI_OK)
    rc = tell(t, &g->serial, device->serial, better);
  return rc == PAI_OK ? add_name(t, g, device->name) : rc;
}

/* Whether devices without a PCI device are the same GPU: same number in
 * another API, and same model. */
bool pai__topo_same_gpu(const pai_topology *t, uint32_t object,
                        const pai__topo_device *device)
{
  const backend *b = find_backend(device);
  const pai__topo_object *o = &t->objects[object];
  const pai__topo_gpu *g;

  if (o->gpu == PAI_NONE || o->pci != 0 || b == NULL || device->model == NULL)
    return false;
  g = &t->gpus[o->gpu];
  return g->vendor == b->vendor &&
         g->index == index_of(device->name, b->device) &&
         strcmp(pai__topo_text(t, g->model), device->model) == 0;
}

/* --- numbers ------------------------------------------------------------- */

/* An element for qsort(), which passes no context. */
typedef struct sorted {
  pai__topo_gpu gpu;
  const char *pci;
} sorted;

static int compare(const void *p, const void *q)
{
  const sorted *a = p, *b = q;
  const pai__topo_gpu *x = &a->gpu, *y = &b->gpu;
  int order;

  if (x->vendor != y->vendor)
    return x->vendor < y->vendor ? -1 : 1;
  if ((x->index == PAI_NONE) != (y->index == PAI_NONE))
    return x->index != PAI_NONE ? -1 : 1;
  if (x->index != PAI_NONE && x->rank != y->rank)
    return x->rank > y->rank ? -1 : 1;
  if (x->index != y->index)
    return x->index < y->index ? -1 : 1;
  order = strcmp(a->pci, b->pci);
  return order != 0 ? order : x->object < y->object ? -1 : 1;
}

/* A UUID that two GPUs of a machine share identifies neither; some drivers
 * report 0 if they know none. */
static void drop_same_uuids(pai_topology *t)
{
  for (size_t i = 0; i < t->ngpus; i++) {
    const char *uuid = pai__topo_text(t, t->gpus[i].uuid);
    bool same = false;

    for (size_t k = i + 1; k < t->ngpus && *uuid != '\0'; k++)
      if (strcmp(uuid, pai__topo_text(t, t->gpus[k].uuid)) == 0) {
        t->gpus[k].uuid = 0;
        same = true;
      }
    if (same)
      t->gpus[i].uuid = 0;
  }
}

int pai__topo_number_gpus(pai_topology *t)
{
  sorted *all;

  if (t->ngpus == 0)
    return PAI_OK;
  all = pai__realloc(&t->alloc, NULL, 0, t->ngpus, sizeof(*all));
  if (all == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < t->ngpus; i++) {
    const pai__topo_object *o = &t->objects[t->gpus[i].object];
    all[i] = (sorted){ t->gpus[i], pai__topo_text(t, o->pci) };
  }
  qsort(all, t->ngpus, sizeof(*all), compare);
  for (size_t i = 0; i < t->ngpus; i++) {
    t->gpus[i] = all[i].gpu;
    t->objects[all[i].gpu.object].gpu = (uint32_t)i;
    t->objects[all[i].gpu.object].name = all[i].gpu.model;
    t->objects[all[i].gpu.object].bytes = all[i].gpu.bytes;
  }
  pai__free(&t->alloc, all, t->ngpus * sizeof(*all));
  drop_same_uuids(t);
  return PAI_OK;
}

/* --- data from the list of GPUs ------------------------------------------ */

/* GPUs of which only the PCI address is known.  They are matched with the list
 * of GPUs by address, and get the data that hwloc would have found if built
 * with the vendor's library. */

static uint32_t find_pci(const pai_topology *t, const char *pci)
{
  for (uint32_t i = 0; i < t->count; i++)
    if ((t->objects[i].kind == PAI_OBJECT_GPU ||
         t->objects[i].kind == PAI_OBJECT_PCI) &&
        t->objects[i].pci != 0 &&
        strcmp(pai__topo_text(t, t->objects[i].pci), pci) == 0)
      return i;
  return PAI_NONE;
}

static int tell_gpu(pai_topology *t, const pai_gpu_view *gpu)
{
  bool nvidia = gpu->vendor == PAI_GPU_NVIDIA;
  char name[24] = "";
  pai__topo_device d = { .kind = PAI_OBJECT_GPU,
                         .backend = nvidia ? "NVML" : "RSMI",
                         .model = gpu->model,
                         .uuid = gpu->uuid };
  uint32_t object = gpu->pci[0] != '\0' ? find_pci(t, gpu->pci) : PAI_NONE;

  if (object == PAI_NONE)
    return PAI_OK; /* hidden from this process, or on another machine */
  if (gpu->memory_total > 0)
    d.bytes = (uint64_t)gpu->memory_total;
  if (nvidia) { /* these numbers are NVML's; AMD's are not */
    (void)snprintf(name, sizeof(name), "nvml%u", (unsigned)gpu->number);
    d.name = name;
  }
  return pai__topo_fold(t, object, &d);
}

/* Whether hwloc knew the GPU already: it has a model and its vendor's
 * index. */
static bool is_told(const pai_topology *t, const char *pci)
{
  uint32_t object = find_pci(t, pci);

  return object != PAI_NONE && t->objects[object].kind == PAI_OBJECT_GPU &&
         t->objects[object].gpu != PAI_NONE &&
         t->gpus[t->objects[object].gpu].model != 0 &&
         t->gpus[t->objects[object].gpu].index != PAI_NONE;
}

int pai__topo_tell_gpus(pai_topology *t, const pai_gpus *gpus)
{
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && pai_gpus_get(gpus, i, &gpu) == PAI_OK;
       i++)
    if (gpu.parent == PAI_NO_GPU && !is_told(t, gpu.pci))
      rc = tell_gpu(t, &gpu);
  return rc;
}
