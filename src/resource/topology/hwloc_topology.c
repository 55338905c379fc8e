/*
 * hwloc_topology.c - read a machine with hwloc and copy it into a pai_topology
 *
 * This is the only file that uses hwloc. hwloc prints nothing about wrong XML
 * or descriptions unless the environment asks for it; tests check that.
 * Setting the environment here would race with the host's threads.
 */
#include "resource/topology/topology.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "resource/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 16 << 20, MOST_IN_MATRIX = 1024 };

/* --- devices ------------------------------------------------------------- */

static bool begins(const char *s, const char *prefix)
{
  return s != NULL && strncmp(s, prefix, strlen(prefix)) == 0;
}

static const char *info(hwloc_obj_t o, const char *name)
{
  return hwloc_obj_get_info_by_name(o, name);
}

/* Returns an info value in KiB as bytes. */
static uint64_t kib(hwloc_obj_t o, const char *name)
{
  const char *text = info(o, name);
  unsigned long long n = text != NULL ? strtoull(text, NULL, 10) : 0;

  return n <= PAI__TOPO_MAX_BYTES >> 10 ? (uint64_t)n << 10 : 0;
}

/* Returns the kind of an OS device that hwloc takes for a GPU or co-processor:
 * device files of displays belong to a GPU, OpenCL also lists CPUs, and X11's
 * screens are neither. */
static int kind_of_processor(hwloc_obj_t o)
{
  const char *backend = info(o, "Backend");
  const char *type = info(o, "OpenCLDeviceType");

  if (backend == NULL)
    return begins(o->name, "card") || begins(o->name, "renderD") ||
               begins(o->name, "controlD")
             ? PAI_OBJECT_GPU
             : PAI_OBJECT_OTHER;
  if (strcmp(backend, "OpenCL") == 0)
    return type != NULL && strcmp(type, "GPU") == 0 ? PAI_OBJECT_GPU
                                                    : PAI_OBJECT_OTHER;
  return strcmp(backend, "CUDA") == 0 || strcmp(backend, "NVML") == 0 ||
             strcmp(backend, "RSMI") == 0 || strcmp(backend, "LevelZero") == 0
           ? PAI_OBJECT_GPU
           : PAI_OBJECT_OTHER;
}

/* Returns the kind of a device; 0: of no interest. */
static int kind_of_device(hwloc_obj_t o)
{
  switch (o->attr->osdev.type) {
  case HWLOC_OBJ_OSDEV_BLOCK: return PAI_OBJECT_STORAGE;
  case HWLOC_OBJ_OSDEV_NETWORK: return PAI_OBJECT_NETWORK;
  case HWLOC_OBJ_OSDEV_OPENFABRICS: return PAI_OBJECT_INFINIBAND;
  case HWLOC_OBJ_OSDEV_GPU:
  case HWLOC_OBJ_OSDEV_COPROC: return kind_of_processor(o);
  case HWLOC_OBJ_OSDEV_DMA:
  default: return 0;
  }
}

static uint64_t bytes_of_gpu(hwloc_obj_t o)
{
  static const char *const names[] = {
    "CUDAGlobalMemorySize", "RSMIVRAMSize",        "LevelZeroHBMSize",
    "LevelZeroDDRSize",     "LevelZeroMemorySize", "OpenCLGlobalMemorySize"
  };
  uint64_t bytes = 0;

  for (size_t i = 0; bytes == 0 && i < PAI__LEN(names); i++)
    bytes = kib(o, names[i]);
  return bytes;
}

/* AMD's UUID gets "GPU-" before it, as ROCm's tools expect. */
static const char *uuid_of(hwloc_obj_t o, char *room, size_t size)
{
  const char *uuid = info(o, "NVIDIAUUID");

  if (uuid == NULL)
    uuid = info(o, "LevelZeroUUID");
  if (uuid == NULL && (uuid = info(o, "AMDUUID")) != NULL) {
    (void)snprintf(room, size, "GPU-%s", uuid);
    uuid = room;
  }
  return uuid;
}

static int copy_device(pai_topology *t, uint32_t *object, uint32_t parent,
                       hwloc_obj_t o)
{
  char uuid[80];
  pai__topo_device d = { .kind = kind_of_device(o),
                         .name = o->name,
                         .backend = info(o, "Backend") };
  const char *hive = info(o, "XGMIHiveID");

  *object = PAI_NONE;
  if (d.kind == 0)
    return PAI_OK;
  if (d.kind == PAI_OBJECT_GPU) {
    d.vendor = info(o, "GPUVendor");
    d.model = info(o, "GPUModel");
    d.uuid = uuid_of(o, uuid, sizeof(uuid));
    d.serial = info(o, "NVIDIASerial");
    if (d.serial == NULL)
      d.serial = info(o, "AMDSerial");
    d.hive = hive != NULL ? strtoull(hive, NULL, 0) : 0;
    d.bytes = bytes_of_gpu(o);
  } else {
    d.bytes = kib(o, "Size");
  }
  return pai__topo_add_device(t, object, parent, &d);
}

/* --- objects ------------------------------------------------------------- */

static int copy_pci(pai_topology *t, uint32_t object,
                    const struct hwloc_pcidev_attr_s *pci, const char *subtype)
{
  pai__topo_object *o = &t->objects[object];
  float mbps = pci->linkspeed * 1000;
  char id[32];

  (void)snprintf(id, sizeof(id), "%04x:%02x:%02x.%01x", (unsigned)pci->domain,
                 pci->bus, pci->dev, pci->func);
  o->vendor_id = pci->vendor_id;
  o->device_id = pci->device_id;
  o->pci_class = pci->class_id;
  if (mbps > 0 && mbps < 1e9F)
    o->link_mbps = (uint32_t)(mbps + 0.5F);
  o->is_switch = subtype != NULL && strcmp(subtype, "NVSwitch") == 0;
  return pai__topo_string(t, &o->pci, id);
}

static int kind_of(hwloc_obj_t o)
{
  switch (o->type) {
  case HWLOC_OBJ_MACHINE: return PAI_OBJECT_MACHINE;
  case HWLOC_OBJ_PACKAGE: return PAI_OBJECT_PACKAGE;
  case HWLOC_OBJ_NUMANODE: return PAI_OBJECT_NUMA;
  case HWLOC_OBJ_CORE: return PAI_OBJECT_CORE;
  case HWLOC_OBJ_PU: return PAI_OBJECT_PU;
  case HWLOC_OBJ_BRIDGE: return PAI_OBJECT_BRIDGE;
  case HWLOC_OBJ_PCI_DEVICE: return PAI_OBJECT_PCI;
  default:
    return hwloc_obj_type_is_cache(o->type) ? PAI_OBJECT_CACHE
                                            : PAI_OBJECT_GROUP;
  }
}

static const char *name_of(hwloc_obj_t o)
{
  const char *name = NULL;

  switch (o->type) {
  case HWLOC_OBJ_MACHINE: name = info(o, "HostName"); break;
  case HWLOC_OBJ_PACKAGE: name = info(o, "CPUModel"); break;
  case HWLOC_OBJ_DIE: name = "die"; break;
  case HWLOC_OBJ_PCI_DEVICE:
    name = info(o, "PCIDevice");
    if (name == NULL)
      name = o->subtype;
    break;
  default: break;
  }
  return name;
}

/* Copies the attributes of one kind of object. */
static int copy_facts(pai_topology *t, uint32_t object, hwloc_obj_t o)
{
  pai__topo_object *to = &t->objects[object];
  int rc;

  if (o->os_index != HWLOC_UNKNOWN_INDEX)
    to->os_index = o->os_index;
  if (o->type == HWLOC_OBJ_NUMANODE) {
    to->bytes = o->attr->numanode.local_memory;
    to->level = (uint8_t)hwloc_bitmap_iszero(o->cpuset);
  } else if (hwloc_obj_type_is_cache(o->type)) {
    to->bytes = o->attr->cache.size;
    to->level = (uint8_t)o->attr->cache.depth;
    to->cache = o->attr->cache.type == HWLOC_OBJ_CACHE_DATA          ? 'd'
                : o->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? 'i'
                                                                     : 'u';
  }
  rc = pai__topo_string(t, &to->name, name_of(o));
  if (rc == PAI_OK && o->type == HWLOC_OBJ_PCI_DEVICE)
    rc = copy_pci(t, object, &o->attr->pcidev, o->subtype);
  if (rc < 0 || o->type != HWLOC_OBJ_BRIDGE)
    return rc;
  to->os_index = PAI_NONE;
  if (o->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI) {
    to->level = PAI__BRIDGE_HOST;
    return PAI_OK;
  }
  to->level = PAI__BRIDGE_PCI;
  return copy_pci(t, object, &o->attr->bridge.upstream.pci, NULL);
}

/* Stores our index in hwloc's object. hwloc has a pointer for that, but our
 * objects move when the array grows: so the pointer is the index plus one, and
 * is never followed. */
static void remember(hwloc_obj_t o, uint32_t object)
{
  o->userdata = (void *)((uintptr_t)object + 1);
}

static uint32_t recall(hwloc_obj_t o)
{
  return o != NULL && o->userdata != NULL
           ? (uint32_t)((uintptr_t)o->userdata - 1)
           : PAI_NONE;
}

static int copy(pai_topology *t, uint32_t parent, hwloc_obj_t o,
                unsigned depth);

static int copy_all(pai_topology *t, uint32_t parent, hwloc_obj_t first,
                    unsigned depth)
{
  int rc = PAI_OK;

  for (; rc == PAI_OK && first != NULL; first = first->next_sibling)
    rc = copy(t, parent, first, depth);
  return rc;
}

/* Copies an object and all within it. hwloc's objects keep our indices, for
 * the matrices. */
static int copy(pai_topology *t, uint32_t parent, hwloc_obj_t o,
                unsigned depth)
{
  bool device = o->type == HWLOC_OBJ_OS_DEVICE;
  uint32_t object;
  int rc;

  o->userdata = NULL;
  if (depth > PAI__TOPO_MAX_DEPTH)
    return PAI_ELIMIT;
  if (o->type == HWLOC_OBJ_MEMCACHE) /* only the memory behind it is copied */
    return copy_all(t, parent, o->memory_first_child, depth + 1);
  if (device)
    rc = copy_device(t, &object, parent, o);
  else
    rc = pai__topo_begin(t, &object, parent, kind_of(o));
  if (rc < 0 || object == PAI_NONE)
    return rc;
  if (!device)
    rc = o->type == HWLOC_OBJ_PU ? pai__topo_add_pu(t, object, o->os_index)
                                 : copy_facts(t, object, o);
  if (rc == PAI_OK)
    rc = copy_all(t, object, o->memory_first_child, depth + 1);
  if (rc == PAI_OK)
    rc = copy_all(t, object, o->first_child, depth + 1);
  if (rc == PAI_OK)
    rc = copy_all(t, object, o->io_first_child, depth + 1);
  if (rc == PAI_OK && object != parent)
    rc = pai__topo_end(t, &object);
  if (rc == PAI_OK && object != PAI_NONE)
    remember(o, object);
  return rc;
}

/* --- matrices ------------------------------------------------------------ */

static int copy_matrix(pai_topology *t, hwloc_topology_t from,
                       struct hwloc_distances_s *d)
{
  const char *name = hwloc_distances_get_name(from, d);
  pai__topo_matrix m = { .name = name, .count = d->nbobjs };
  uint32_t *objects;
  int rc;

  if (name == NULL || d->nbobjs == 0 || d->nbobjs > MOST_IN_MATRIX)
    return PAI_OK;
  objects = pai__realloc(&t->alloc, NULL, 0, d->nbobjs, sizeof(*objects));
  if (objects == NULL)
    return PAI_ENOMEM;
  for (unsigned i = 0; i < d->nbobjs; i++)
    objects[i] = recall(d->objs[i]);
  m.objects = objects;
  m.values = d->values;
  rc = pai__topo_add_matrix(t, &m);
  pai__free(&t->alloc, objects, d->nbobjs * sizeof(*objects));
  return rc;
}

static int copy_matrices(pai_topology *t, hwloc_topology_t from)
{
  struct hwloc_distances_s *all[32];
  unsigned n = PAI__LEN(all);
  int rc = PAI_OK;

  if (hwloc_distances_get(from, &n, all, 0, 0) < 0)
    return PAI_OK; /* a machine without distances */
  n = n < PAI__LEN(all) ? n : (unsigned)PAI__LEN(all);
  for (unsigned i = 0; i < n; i++) {
    if (rc == PAI_OK)
      rc = copy_matrix(t, from, all[i]);
    hwloc_distances_release(from, all[i]);
  }
  pai__topo_end_matrices(t);
  return rc;
}

/* --- the calls ----------------------------------------------------------- */

/* What hwloc reads. */
typedef struct source {
  const char *what; /* name in messages */
  const char *xml;
  size_t len;
  const char *synthetic;
} source;

static int fail(int code, const char *what, pai_error **err)
{
  switch (code) {
  case PAI_ENOMEM: return pai__oom(err);
  case PAI_ELIMIT:
    (void)pai__fail(err, code,
                    "%s has more than %d processing units, %d objects or %d "
                    "GPUs",
                    what, PAI__TOPO_MAX_PUS, PAI__TOPO_MAX_OBJECTS,
                    PAI__TOPO_MAX_GPUS);
    return code;
  default: return pai__fail(err, code, "%s has no processing unit", what);
  }
}

static bool is_here(const source *src)
{
  return src->xml == NULL && src->synthetic == NULL;
}

/* Virtual machines whose memory can grow report less memory for their only
 * NUMA node than they have. */
static void correct_memory(pai_topology *t)
{
  pai__topo_object *node = NULL;
  uint64_t bytes = (uint64_t)pai__machine_memory_mb() << 20;
  unsigned nodes = 0;

  for (size_t i = 0; i < t->count; i++)
    if (t->objects[i].kind == PAI_OBJECT_NUMA) {
      node = &t->objects[i];
      nodes++;
    }
  if (nodes == 1 && node->bytes < bytes)
    node->bytes = bytes;
}

static int take(pai_topology **out, hwloc_topology_t from,
                const pai_topology_options *o, const source *src,
                pai_error **err)
{
  int rc = pai__topo_new(out, o->alloc);

  if (rc == PAI_OK)
    rc = copy(*out, PAI_NONE, hwloc_get_root_obj(from), 0);
  if (rc == PAI_OK && is_here(src))
    correct_memory(*out);
  if (rc == PAI_OK && o->gpus != NULL)
    rc = pai__topo_tell_gpus(*out, o->gpus);
  if (rc == PAI_OK)
    rc = pai__topo_finish(*out);
  if (rc == PAI_OK)
    rc = copy_matrices(*out, from);
  if (rc == PAI_OK)
    return PAI_OK;
  pai_topology_unref(*out);
  *out = NULL;
  return fail(rc, src->what, err);
}

/* Loads a source into hwloc; returns 0 or errno. */
static int load(hwloc_topology_t from, const source *src, int drivers)
{
  static const char *const loads_drivers[] = { "cuda", "opencl", "levelzero" };
  int rc = 0;

  if (src->xml != NULL)
    rc = hwloc_topology_set_xmlbuffer(from, src->xml, (int)src->len + 1);
  else if (src->synthetic != NULL)
    rc = hwloc_topology_set_synthetic(from, src->synthetic);
  /* The "gl" component asks an X server, which may be on another machine. */
  (void)hwloc_topology_set_components(
    from, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
  for (size_t i = 0; !drivers && i < PAI__LEN(loads_drivers); i++)
    (void)hwloc_topology_set_components(
      from, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, loads_drivers[i]);
  if (rc == 0)
    rc = hwloc_topology_set_io_types_filter(from, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (rc == 0)
    rc = hwloc_topology_load(from);
  return rc == 0 ? 0 : errno != 0 ? errno : EINVAL;
}

static int refuse(const source *src, int why, pai_error **err)
{
  if (why == ENOMEM)
    return pai__oom(err);
  if (is_here(src))
    return pai__fail(err, PAI_EIO, "hwloc cannot read this machine: %s",
                     PAI__ERRNO_TEXT(why));
  (void)pai__fail(err, PAI_EINVAL, "hwloc does not understand %s", src->what);
  if (src->xml != NULL)
    pai__error_help(err, "write it again with `lstopo FILE.xml`");
  else
    pai__error_help(err, "levels are written TYPE:COUNT from the outside, as "
                         "in \"pack:2 core:8 pu:2\"");
  return PAI_EINVAL;
}

static int read_source(pai_topology **out, const source *src,
                       const pai_topology_options *o, pai_error **err)
{
  hwloc_topology_t from;
  int why;
  int rc;

  if (hwloc_topology_init(&from) < 0)
    return pai__oom(err);
  errno = 0;
  why = load(from, src, o->drivers);
  rc = why != 0 ? refuse(src, why, err) : take(out, from, o, src, err);
  pai__keep_libraries(); /* hwloc would unload them with its last topology */
  hwloc_topology_destroy(from);
  return rc;
}

static int get_options(pai_topology_options *o,
                       const pai_topology_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_topology_options, drivers);

  o->alloc = pai__alloc_or_libc(o->alloc);
  if (o->max_bytes == 0 || o->max_bytes > INT32_MAX / 2)
    o->max_bytes = o->max_bytes == 0 ? MOST_BYTES : INT32_MAX / 2;
  return rc < 0 ? pai__fail_struct(err, rc, opts, "pai_topology_options")
                : PAI_OK;
}

int pai_topology_discover(pai_topology **out, const pai_topology_options *opts,
                          pai_error **err)
{
  static const source here = { .what = "this machine" };
  pai_topology_options o;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = get_options(&o, opts, err);
  return rc == PAI_OK ? read_source(out, &here, &o, err) : rc;
}

static int read_xml(pai_topology **out, const char *text, size_t len,
                    const pai_topology_options *o, pai_error **err)
{
  source src = { .what = "this XML" };
  pai__buf checked;
  int rc;

  pai__buf_init(&checked, o->alloc);
  rc = pai__topo_guard_xml(&checked, text, len, err);
  if (rc == PAI_OK) {
    src.xml = pai__buf_text(&checked);
    src.len = checked.len;
    rc = read_source(out, &src, o, err);
  }
  pai__buf_dispose(&checked);
  return rc;
}

int pai_topology_parse_xml(pai_topology **out, const char *text, size_t len,
                           const pai_topology_options *opts, pai_error **err)
{
  pai_topology_options o;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = get_options(&o, opts, err);
  if (rc < 0)
    return rc;
  if (len > o.max_bytes)
    return pai__fail(err, PAI_ELIMIT,
                     "the XML has %zu bytes; the limit is %zu", len,
                     o.max_bytes);
  return read_xml(out, text, len, &o, err);
}

int pai_topology_load(pai_topology **out, const char *path,
                      const pai_topology_options *opts, pai_error **err)
{
  pai_topology_options o;
  pai__buf text;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  rc = get_options(&o, opts, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&text, o.alloc);
  rc = pai__fs_read(&text, path, o.max_bytes, err);
  if (rc == PAI_OK)
    rc = read_xml(out, pai__buf_text(&text), text.len, &o, err);
  pai__buf_dispose(&text);
  return rc;
}

int pai_topology_synthetic(pai_topology **out, const char *description,
                           const pai_topology_options *opts, pai_error **err)
{
  source src = { .what = "this description", .synthetic = description };
  pai_topology_options o;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(description != NULL, err);
  rc = get_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = pai__topo_guard_synthetic(description, err);
  return rc == PAI_OK ? read_source(out, &src, &o, err) : rc;
}
