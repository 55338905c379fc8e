/*
 * topology.h - internal: a machine as a tree that never changes
 *
 * Objects lie in preorder, so that what one holds follows it, up to `skip`.
 * Processing units are numbered in that order too: what is in an object is a
 * range of them, and no object has a bitmap of its own.  The operating
 * system's numbers of them are in `pus`.
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_H
#define PAI_SRC_RESOURCE_TOPOLOGY_H

#include <openpai/topology.h>

#include "base/buf.h"

#include <stdatomic.h>

#define PAI__TOPO_MAX_BYTES (UINT64_C(1) << 50) /* of a memory */

enum {
  PAI__TOPO_MAX_PUS = 8192, /* the most Linux can be built for */
  PAI__TOPO_MAX_OBJECTS = 65536,
  PAI__TOPO_MAX_GPUS = 256,
  PAI__TOPO_MAX_DEPTH = 128
};

/* Makers of GPUs, in the order of numbers. */
enum {
  PAI__VENDOR_NVIDIA = 0,
  PAI__VENDOR_AMD = 1,
  PAI__VENDOR_INTEL = 2,
  PAI__VENDOR_OTHER = 3
};

/* What a bridge leads from. */
enum { PAI__BRIDGE_HOST = 1, PAI__BRIDGE_PCI = 2 };

typedef struct pai__topo_object {
  uint8_t kind;       /* PAI_OBJECT_* */
  uint8_t level;      /* of a cache; PAI__BRIDGE_* of a bridge */
  char cache;         /* 'u' unified, 'd' data, 'i' instructions */
  bool is_switch;     /* a PCI device that joins NVLinks */
  uint32_t parent;    /* PAI_NONE: the machine */
  uint32_t skip;      /* the first object behind what it holds */
  uint32_t pu, pus;   /* its range of processing units */
  uint32_t os_index;  /* or PAI_NONE */
  uint32_t gpu;       /* or PAI_NONE */
  uint32_t link_mbps; /* or 0 */
  uint16_t vendor_id, device_id, pci_class;
  uint64_t bytes; /* of memory or a cache */
  uint32_t name;  /* in strings; 0: "" */
  uint32_t pci;   /* in strings, as "0000:34:00.0" */
} pai__topo_object;

typedef struct pai__topo_gpu {
  uint32_t object;
  uint32_t index; /* its vendor's, or PAI_NONE */
  int rank;       /* how well the index is known: see topology_gpus.c */
  int vendor;     /* PAI__VENDOR_* */
  uint64_t bytes;
  uint64_t hive;                                       /* xGMI's; 0: none */
  uint32_t vendor_name, model, uuid, serial, backends; /* in strings */
} pai__topo_gpu;

/* A pair of GPUs, as far as matrices know it. */
typedef struct pai__topo_link {
  uint8_t kind; /* PAI_LINK_*; PAI_LINK_UNKNOWN: no matrix does */
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
  pai__topo_link *links; /* ngpus * ngpus, or NULL: no matrix knows any */
  pai__buf strings;      /* each with its NUL; "" at 0 */
};

static inline const char *pai__topo_text(const pai_topology *t, uint32_t at)
{
  return t->strings.data + at;
}

/* How many processing units, cores ... an object holds. */
uint32_t pai__topo_count(const pai_topology *t, uint32_t object, int kind);
/* The smallest object that holds both. */
uint32_t pai__topo_common(const pai_topology *t, uint32_t a, uint32_t b);
/* The smallest one around it that is neither a device nor memory. */
uint32_t pai__topo_place(const pai_topology *t, uint32_t object);
/* Whether anything but PCI joins GPUs. */
bool pai__topo_has_links(const pai_topology *t);
/* The smallest NUMA node, or another kind of object, of which the CPUs hold
 * those near an object; or PAI_NONE. */
uint32_t pai__topo_around(const pai_topology *t, uint32_t object, int kind);

/* --- building (topology_build.c, topology_gpus.c, topology_links.c) ------- */

/* A device of the operating system, or of a programming interface. */
typedef struct pai__topo_device {
  int kind; /* PAI_OBJECT_GPU, NETWORK, ... */
  const char *name, *backend, *vendor, *model, *uuid, *serial; /* or NULL */
  uint64_t bytes, hive;
} pai__topo_device;

/* Distances between `count` objects, some of which may be PAI_NONE. */
typedef struct pai__topo_matrix {
  const char *name; /* hwloc's, as "NVLinkBandwidth" */
  uint32_t count;
  const uint32_t *objects;
  const uint64_t *values; /* from objects[i] to objects[j]: [i * count + j] */
} pai__topo_matrix;

int pai__topo_new(pai_topology **out, const pai_alloc *alloc);
/* The place of a text, made printable, among the strings. */
int pai__topo_string(pai_topology *t, uint32_t *at, const char *s);
/* Begins an object in `parent`; the last one that was begun and not ended. */
int pai__topo_begin(pai_topology *t, uint32_t *object, uint32_t parent,
                    int kind);
/* Ends it.  A bridge that leads nowhere and a PCI device of no interest go
 * again, and *object is PAI_NONE. */
int pai__topo_end(pai_topology *t, uint32_t *object);
int pai__topo_add_pu(pai_topology *t, uint32_t object, uint32_t os_index);
/* A device in `parent`: an object of its own, or part of a GPU. */
int pai__topo_add_device(pai_topology *t, uint32_t *object, uint32_t parent,
                         const pai__topo_device *device);
/* What a list of GPUs tells of those found by the PCI bus. */
int pai__topo_tell_gpus(pai_topology *t, const pai_gpus *gpus);
/* Numbers the GPUs, and gives devices and memory the CPUs around them; the
 * matrices follow. */
int pai__topo_finish(pai_topology *t);
int pai__topo_add_matrix(pai_topology *t, const pai__topo_matrix *m);
/* Counts links where no matrix does. */
void pai__topo_end_matrices(pai_topology *t);

/* Parts of the above (topology_gpus.c). */
bool pai__topo_is_gpu(const pai__topo_object *o);
int pai__topo_fold(pai_topology *t, uint32_t object,
                   const pai__topo_device *device);
bool pai__topo_same_gpu(const pai_topology *t, uint32_t object,
                        const pai__topo_device *device);
int pai__topo_number_gpus(pai_topology *t);

/* --- before hwloc reads it (topology_guard.c, topology_describe.c) ----------------------------- */

/* Writes what is used of a well-formed XML document to `out`, in a form that
 * hwloc reads without a crash and without allocating much.  Whether a
 * description is of a machine of bearable size. */
int pai__topo_guard_xml(pai__buf *out, const char *text, size_t len,
                        pai_error **err);
int pai__topo_guard_synthetic(const char *text, pai_error **err);

#endif
