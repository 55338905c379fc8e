/**
 * @file openpai/topology.h
 * A machine as it is built: packages, NUMA nodes, caches, cores, what hangs on
 * its PCI buses, and how near its GPUs are to one another and to the CPUs.
 *
 * A topology is read from this machine, from XML that hwloc's lstopo wrote, or
 * from hwloc's synthetic descriptions.  What was read is copied: it does not
 * follow the machine afterwards.
 *
 * GPUs are numbered from 0.  However many programming interfaces know a GPU
 * (cuda0, nvml0, opencl0d0), it is one GPU; one that only the PCI bus knows
 * counts too, if NVIDIA, AMD or Intel made it.  NVIDIA's come first, then
 * AMD's, Intel's, others; among those of one vendor, those with an index in
 * the order of it - NVML's, else CUDA's; RSMI's; Level Zero's - and then the
 * rest in the order of their PCI bus ids.
 *
 * Threads: a pai_topology and a pai_affinity are IMMUTABLE: any number of
 * threads may use one at once.  The functions are ANY.
 */
#ifndef OPENPAI_TOPOLOGY_H
#define OPENPAI_TOPOLOGY_H

#include <openpai/gpu.h>

PAI_BEGIN_DECLS

/** A machine; pai_topology_unref(). */
typedef struct pai_topology pai_topology;

/** In the place of a number: there is none. */
#define PAI_NONE UINT32_MAX

/** Options of the functions that make a topology; or use
 *  PAI_TOPOLOGY_OPTIONS_INIT. */
typedef struct pai_topology_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied; hwloc uses malloc */
  size_t max_bytes;       /**< of XML; 0: 16 MiB */
  int drivers; /**< 1: pai_topology_discover() also asks CUDA, OpenCL and
                    Level Zero, which load GPU drivers into this process */
  const pai_gpus *gpus; /**< NULL, or what drivers tell of GPUs: models,
                             memory and numbers where hwloc, as Debian builds
                             it, knows only the PCI bus; not kept */
} pai_topology_options;

#define PAI_TOPOLOGY_OPTIONS_INIT                  \
  {                                                \
    sizeof(pai_topology_options), NULL, 0, 0, NULL \
  }

/* --- making -------------------------------------------------------------- */

/**
 * Reads this machine: what this process may use of it.
 *
 * hwloc does this and heeds its own environment variables.  Where firmware
 * contradicts itself hwloc says so on standard error, unless the host has set
 * HWLOC_HIDE_ERRORS=2 in the environment before.
 *
 * @param[out] out  the topology, owned by the caller; NULL on failure
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for bad options; PAI_EIO: hwloc
 *         cannot read this machine; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_discover(
  pai_topology **out, const pai_topology_options *opts, pai_error **err);

/**
 * Reads XML of hwloc 1 or 2, as `lstopo file.xml` writes it.
 *
 * Not read are: more than 8,192 processing units, 65,536 objects, 256 GPUs;
 * documents with a DTD of their own.
 *
 * @param[out] out  the topology, owned by the caller; NULL on failure
 * @param text      UTF-8; not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure, with line and
 *                  column where the text is no XML
 * @return PAI_OK; PAI_EINVAL: no XML of hwloc; PAI_ELIMIT; PAI_ENOTSUP for
 *         newer options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_parse_xml(
  pai_topology **out, const char *text, size_t len,
  const pai_topology_options *opts, pai_error **err);

/** The same of a file.  @return as pai_topology_parse_xml(); PAI_ENOTFOUND,
 *  PAI_EPERM or PAI_EIO: the file cannot be read  @since 0.1 */
PAI_API PAI_NODISCARD int pai_topology_load(pai_topology **out,
                                            const char *path,
                                            const pai_topology_options *opts,
                                            pai_error **err);

/**
 * Makes a machine up, from hwloc's synthetic description, as
 * "pack:2 [numa(memory=64GB)] l3:4 core:4 pu:2".  It has no devices.
 *
 * @param[out] out     the topology, owned by the caller; NULL on failure
 * @param description  the levels from the outside, each with how many there
 *                     are in one of the level before, at most 1,024;
 *                     8,192 processing units in all
 * @param opts         options, or NULL for defaults; not kept
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL; PAI_ELIMIT; PAI_ENOTSUP for newer options;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_synthetic(
  pai_topology **out, const char *description,
  const pai_topology_options *opts, pai_error **err);

/** One more owner.  @return @p t  @since 0.1 */
PAI_API pai_topology *pai_topology_ref(pai_topology *t);

/** One owner less; the last one frees it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_topology_unref(pai_topology *t);

/* --- what there is ------------------------------------------------------- */

/** What an object is.  Numbers are never reused. */
enum {
  PAI_OBJECT_MACHINE = 1,
  PAI_OBJECT_PACKAGE = 2,
  PAI_OBJECT_GROUP = 3, /**< a die, or what the system groups */
  PAI_OBJECT_NUMA = 4,  /**< memory; its CPUs are its parent's */
  PAI_OBJECT_CACHE = 5,
  PAI_OBJECT_CORE = 6,
  PAI_OBJECT_PU = 7,     /**< processing unit, or hardware thread */
  PAI_OBJECT_BRIDGE = 8, /**< host bridge, PCI bridge or a port of a switch */
  PAI_OBJECT_PCI = 9,    /**< a PCI device that is no GPU */
  PAI_OBJECT_GPU = 10,
  PAI_OBJECT_NETWORK = 11,
  PAI_OBJECT_INFINIBAND = 12,
  PAI_OBJECT_STORAGE = 13,
  PAI_OBJECT_OTHER = 14 /**< another device of the operating system */
};

/** An object; strings belong to the topology. */
typedef struct pai_topology_object {
  size_t struct_size; /**< set by the caller, as of all views */
  int kind;           /**< PAI_OBJECT_* */
  uint32_t parent;   /**< number of the object it is in; PAI_NONE: the first */
  uint32_t end;      /**< what it holds ends before this object */
  uint32_t os_index; /**< the operating system's number, or PAI_NONE */
  uint32_t pus;      /**< processing units in it, or near a device */
  uint32_t level;    /**< of a cache: 1 to 5 */
  uint32_t gpu;      /**< of a GPU: its number; else PAI_NONE */
  uint32_t link_mbps; /**< of PCI: MB/s to its parent now; 0: not known */
  uint64_t bytes;     /**< of memory and caches; 0: not known */
  const char *name;   /**< as "eth0", a model, a host name; "": none */
  const char *pci;    /**< "0000:34:00.0", or "" */
} pai_topology_object;

/** A machine in numbers. */
typedef struct pai_topology_summary {
  size_t struct_size;
  const char *name; /**< the host's, or "" */
  uint32_t objects, packages, numa_nodes, cores, pus, gpus;
  uint64_t bytes; /**< of memory */
} pai_topology_summary;

/** A GPU.  What nobody told is "", 0 or PAI_NONE. */
typedef struct pai_topology_gpu {
  size_t struct_size;
  uint32_t object;      /**< its number as an object */
  uint32_t index;       /**< its vendor's: NVML's or CUDA's, RSMI's, … */
  uint32_t numa_node;   /**< os_index of the nearest memory */
  uint32_t link_mbps;   /**< of its PCI link now */
  uint64_t bytes;       /**< of its memory */
  const char *vendor;   /**< "NVIDIA", "AMD", "Intel", or as it was told */
  const char *model;    /**< "Tesla V100-SXM3-32GB-H" */
  const char *uuid;     /**< "GPU-…" */
  const char *serial;   /**< of its board */
  const char *pci;      /**< "0000:34:00.0" */
  const char *backends; /**< who knows it: "cuda0 nvml0 opencl0d0 card0" */
} pai_topology_gpu;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_topology_summarize(const pai_topology *t,
                                   pai_topology_summary *view);
/** Object @p i, from 0; each comes before what it holds.  @return as above;
 *  PAI_ENOTFOUND: there are fewer  @since 0.1 */
PAI_API int pai_topology_view_object(const pai_topology *t, uint32_t i,
                                     pai_topology_object *view);
/** @return as above  @since 0.1 */
PAI_API int pai_topology_view_gpu(const pai_topology *t, uint32_t gpu,
                                  pai_topology_gpu *view);

/* --- how near GPUs are ---------------------------------------------------- */

/** The smallest thing two GPUs share; more is nearer. */
enum {
  PAI_NEAR_MACHINE = 1,
  PAI_NEAR_PACKAGE = 2,
  PAI_NEAR_NUMA = 3,   /**< NUMA node */
  PAI_NEAR_SWITCH = 4, /**< PCI switch, whatever lies between */
  PAI_NEAR_BOARD = 5,  /**< by their serial numbers, or one PCI slot */
  PAI_NEAR_SAME = 6    /**< it is the same GPU */
};

/** What joins two GPUs at best. */
enum {
  PAI_LINK_UNKNOWN = 0,
  PAI_LINK_PCI = 1,
  PAI_LINK_NVLINK = 2,   /**< directly */
  PAI_LINK_NVSWITCH = 3, /**< NVLink by way of switches */
  PAI_LINK_XGMI = 4,     /**< AMD's; also if only the same hive is known */
  PAI_LINK_XELINK = 5    /**< Intel's */
};

/** How near two GPUs are. */
typedef struct pai_topology_link {
  size_t struct_size;
  int closeness; /**< PAI_NEAR_*: by CPUs and PCI */
  int kind;      /**< PAI_LINK_* */
  int direct;    /**< 1: peers over NVLink, xGMI or Xe Link, with nothing in
                        between */
  uint32_t hops; /**< links from one to the other; 0: not known */
  uint32_t mbps; /**< MB/s one way; of PCI the slower GPU's own link; 0: not
                        known */
} pai_topology_link;

/** How near GPU @p a is to @p b.  What joins switches to one another is not
 *  told by hwloc: of GPUs on two boards of NVSwitches only PCI is known.
 *  @return PAI_OK; PAI_EINVAL: bad struct_size; PAI_ENOTFOUND: there are fewer
 *  GPUs  @since 0.1 */
PAI_API int pai_topology_between(const pai_topology *t, uint32_t a, uint32_t b,
                                 pai_topology_link *link);

/** "NVLink", "NVSwitch", "xGMI", "Xe Link", "PCI", "unknown".  @since 0.1 */
PAI_API const char *pai_link_name(int kind);

/* --- what is near GPUs ----------------------------------------------------- */

/** CPUs and memory near some GPUs, and how to give those GPUs to a process;
 *  pai_affinity_free(). */
typedef struct pai_affinity pai_affinity;

/** What pai_affinity_get() tells; strings belong to the affinity. */
typedef struct pai_affinity_view {
  size_t struct_size;     /**< set by the library */
  uint32_t cores;         /**< how many are in the CPU set */
  uint32_t pus;           /**< processing units */
  const char *cpus;       /**< a list, as cpusets take it: "0-3,8" */
  const char *bitmap;     /**< as hwloc writes it: "0x000000ff,0x00000001" */
  const char *mask;       /**< as taskset takes it: "ff" */
  const char *numa_nodes; /**< a list: "0,2" */
  uint32_t variables;     /**< how many: pai_affinity_variable() */
} pai_affinity_view;

/** An environment variable that shows a process certain GPUs of a vendor. */
typedef struct pai_affinity_variable_view {
  size_t struct_size;   /**< set by the library */
  const char *name;     /**< CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or
                             ZE_AFFINITY_MASK */
  const char *by_index; /**< "0,3": of CUDA with
                             CUDA_DEVICE_ORDER=PCI_BUS_ID; "" if the index of
                             one is not known */
  const char *by_uuid; /**< "GPU-…,GPU-…"; "" if one is not known, or if the
                             variable takes none */
} pai_affinity_variable_view;

/**
 * Finds what is nearest to some GPUs.
 *
 * With @p cores 0 it is all CPUs near any of them.  Else so many whole cores:
 * as many near each GPU as near the others, those of GPUs that share their
 * CPUs beginning at different places, so that tasks with other GPUs get other
 * cores as long as there are enough; further away only when the near ones are
 * used up.  A GPU of which no place is known is near to all CPUs.
 *
 * @param[out] out  the answer, owned by the caller; NULL on failure
 * @param t         the machine
 * @param gpus      numbers of GPUs, in the order a process shall see them
 * @param count     how many; 0: all CPUs are near
 * @param cores     how many cores are wanted; 0: all that are near
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: a GPU is named twice; PAI_ENOTFOUND: there are
 *         fewer GPUs; PAI_ENOROOM: there are fewer cores; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_affinity(pai_affinity **out,
                                                const pai_topology *t,
                                                const uint32_t *gpus,
                                                size_t count, uint32_t cores,
                                                pai_error **err);

/** What was found, never NULL.  @since 0.1 */
PAI_API const pai_affinity_view *pai_affinity_get(const pai_affinity *a);

/** Variable @p i, from 0: one for each vendor; NULL beyond the last.
 *  ROCR_VISIBLE_DEVICES stands for HIP_VISIBLE_DEVICES too: to set both would
 *  choose among the chosen.  @since 0.1 */
PAI_API const pai_affinity_variable_view *pai_affinity_variable(
  const pai_affinity *a, size_t i);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_affinity_free(pai_affinity *a);

/* --- pictures --------------------------------------------------------------- */

/** In what state a GPU is shown. */
enum {
  PAI_MARK_NONE = 0, /**< nothing is said of it */
  PAI_MARK_FREE = 1,
  PAI_MARK_USED = 2,
  PAI_MARK_SICK = 3
};

/** How a GPU is marked. */
typedef struct pai_gpu_mark {
  int state;        /**< PAI_MARK_* */
  const char *text; /**< who uses it, or why it is sick; NULL: nothing */
} pai_gpu_mark;

/** Options of pai_topology_write(); or use PAI_TOPOLOGY_WRITE_OPTIONS_INIT. */
typedef struct pai_topology_write_options {
  size_t struct_size;
  int format; /**< PAI_FORMAT_TEXT or 0: a tree; PAI_FORMAT_JSON;
                   PAI_FORMAT_SVG */
  const pai_gpu_mark *marks; /**< one for each GPU, or NULL */
  size_t mark_count;         /**< how many; GPUs beyond have none */
} pai_topology_write_options;

#define PAI_TOPOLOGY_WRITE_OPTIONS_INIT            \
  {                                                \
    sizeof(pai_topology_write_options), 0, NULL, 0 \
  }

/**
 * Writes a machine.  The same machine and marks give the same bytes.  Text and
 * SVG are for people and may change.
 *
 * @param t     the machine
 * @param opts  options, or NULL for defaults; not kept
 * @param write takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for bad options; PAI_ELIMIT: it
 *         is nested too deep; PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_write(
  const pai_topology *t, const pai_topology_write_options *opts,
  pai_write_cb write, void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_TOPOLOGY_H */
