/*
 * topology.h - internal: the topology of a machine as an immutable tree
 *
 * Objects are stored in preorder: the objects within an object follow it, up
 * to `skip`.  Processing units are numbered in that order too, so that the
 * units of an object are a range, and no object needs a bitmap.  `pus` has the
 * operating system's numbers of the units.
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_H
#define PAI_SRC_RESOURCE_TOPOLOGY_H

#include <openpai/topology.h>

#include "base/buf.h"

#include <stdatomic.h>

#define PAI__TOPO_MAX_BYTES (UINT64_C(1) << 50) /* most bytes of a memory */

enum {
  PAI__TOPO_MAX_PUS = 8192, /* the most that Linux supports */
  PAI__TOPO_MAX_OBJECTS = 65536,
  PAI__TOPO_MAX_GPUS = 256,
  PAI__TOPO_MAX_DEPTH = 128
};

/* Vendors of GPUs, in the order in which GPUs are numbered. */
enum {
  PAI__VENDOR_NVIDIA = 0,
  PAI__VENDOR_AMD = 1,
  PAI__VENDOR_INTEL = 2,
  PAI__VENDOR_OTHER = 3
};

/* Upstream side of a bridge. */
enum { PAI__BRIDGE_HOST = 1, PAI__BRIDGE_PCI = 2 };

typedef struct pai__topo_object {
  uint8_t kind;       /* PAI_OBJECT_* */
  uint8_t level;      /* level of a cache, or PAI__BRIDGE_* */
  char cache;         /* 'u' unified, 'd' data, 'i' instructions */
  bool is_switch;     /* an NVSwitch on the PCI bus */
  uint32_t parent;    /* PAI_NONE for the machine */
  uint32_t skip;      /* first object after those within it */
  uint32_t pu, pus;   /* first processing unit, and how many */
  uint32_t os_index;  /* OS number, or PAI_NONE */
  uint32_t gpu;       /* or PAI_NONE */
  uint32_t link_mbps; /* speed of the PCI link, or 0 */
  uint16_t vendor_id, device_id, pci_class;
  uint64_t bytes; /* size of a memory or a cache */
  uint32_t name;  /* offset in strings; 0: "" */
  uint32_t pci;   /* offset in strings, as "0000:34:00.0" */
} pai__topo_object;

typedef struct pai__topo_gpu {
  uint32_t object;
  uint32_t index; /* the vendor's index, or PAI_NONE */
  int rank;       /* how reliable the index is, see topology_gpus.c */
  int vendor;     /* PAI__VENDOR_* */
  uint64_t bytes;
  uint64_t hive;                                       /* xGMI hive; 0: none */
  uint32_t vendor_name, model, uuid, serial, backends; /* offsets in strings */
} pai__topo_gpu;

/* The link between two GPUs, if a distance matrix has it. */
typedef struct pai__topo_link {
  uint8_t kind; /* PAI_LINK_*; PAI_LINK_UNKNOWN: in no matrix */
  bool direct;
  uint16_t hops;
  uint32_t mbps;
} pai__topo_link;

struct pai_topology {
  pai_alloc alloc;
  atomic_uint refs;
  pai__topo_object *objects;
  size_t count, cap;
  uint32_t *pus; /* the operating system's numbers */
  size_t npus, pus_cap;
  pai__topo_gpu *gpus;
  size_t ngpus, gpus_cap;
  pai__topo_link *links; /* ngpus * ngpus, or NULL if no matrix has links */
  pai__buf strings;      /* NUL-terminated strings; "" at 0 */
};

static inline const char *pai__topo_text(const pai_topology *t, uint32_t at)
{
  return t->strings.data + at;
}

/* Returns the number of processing units, cores and the like within an
 * object. */
uint32_t pai__topo_count(const pai_topology *t, uint32_t object, int kind);
/* Returns the smallest object that contains both. */
uint32_t pai__topo_common(const pai_topology *t, uint32_t a, uint32_t b);
/* Returns the smallest object that contains `object` and is neither a device
 * nor memory. */
uint32_t pai__topo_place(const pai_topology *t, uint32_t object);
/* Whether any GPUs are connected by more than PCI. */
bool pai__topo_has_links(const pai_topology *t);
/* Returns the smallest object of a kind, such as a NUMA node, whose CPUs
 * include the CPUs near `object`; or PAI_NONE. */
uint32_t pai__topo_around(const pai_topology *t, uint32_t object, int kind);

/* --- building (topology_build.c, topology_gpus.c, topology_links.c) ------- */

/* A device of the operating system, or of an API such as CUDA or NVML. */
typedef struct pai__topo_device {
  int kind; /* PAI_OBJECT_GPU, NETWORK, ... */
  const char *name, *backend, *vendor, *model, *uuid, *serial; /* or NULL */
  uint64_t bytes, hive;
} pai__topo_device;

/* Distances between `count` objects, some of which may be PAI_NONE. */
typedef struct pai__topo_matrix {
  const char *name; /* hwloc's name, as "NVLinkBandwidth" */
  uint32_t count;
  const uint32_t *objects;
  const uint64_t *values; /* from objects[i] to objects[j]: [i * count + j] */
} pai__topo_matrix;

int pai__topo_new(pai_topology **out, const pai_alloc *alloc);
/* Adds a text to the strings, made printable, and sets *at to its offset. */
int pai__topo_string(pai_topology *t, uint32_t *at, const char *s);
/* Begins an object in `parent`, which must be the last object that was begun
 * and not ended. */
int pai__topo_begin(pai_topology *t, uint32_t *object, uint32_t parent,
                    int kind);
/* Ends the object.  A bridge without devices, or a PCI device of no interest,
 * is removed again, and *object is set to PAI_NONE. */
int pai__topo_end(pai_topology *t, uint32_t *object);
int pai__topo_add_pu(pai_topology *t, uint32_t object, uint32_t os_index);
/* Adds a device in `parent`: as an object of its own, or as data of a GPU. */
int pai__topo_add_device(pai_topology *t, uint32_t *object, uint32_t parent,
                         const pai__topo_device *device);
/* Adds the data of a list of GPUs to the GPUs of the topology, which are found
 * by their PCI address. */
int pai__topo_tell_gpus(pai_topology *t, const pai_gpus *gpus);
/* Numbers the GPUs, and sets the CPUs of devices and memory to those around
 * them.  Call it before pai__topo_add_matrix(). */
int pai__topo_finish(pai_topology *t);
int pai__topo_add_matrix(pai_topology *t, const pai__topo_matrix *m);
/* Completes the links after the last matrix: counts hops where no matrix
 * does. */
void pai__topo_end_matrices(pai_topology *t);

/* Parts of the above (topology_gpus.c). */
bool pai__topo_is_gpu(const pai__topo_object *o);
int pai__topo_fold(pai_topology *t, uint32_t object,
                   const pai__topo_device *device);
bool pai__topo_same_gpu(const pai_topology *t, uint32_t object,
                        const pai__topo_device *device);
int pai__topo_number_gpus(pai_topology *t);

/* --- checks of hwloc's input (topology_guard.c, topology_describe.c) ----- */

/* pai__topo_guard_xml() writes the used part of a well-formed XML document to
 * `out`, in a form that hwloc reads without crashing and without allocating
 * much. pai__topo_guard_synthetic() checks that a synthetic description is not
 * of too large a machine. */
int pai__topo_guard_xml(pai__buf *out, const char *text, size_t len,
                        pai_error **err);
int pai__topo_guard_synthetic(const char *text, pai_error **err);

#endif
