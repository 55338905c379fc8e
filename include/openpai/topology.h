/**
 * @file openpai/topology.h
 * Topology of a machine: packages, NUMA nodes, caches, cores, PCI devices, and
 * how near its GPUs are to each other and to the CPUs.
 *
 * A topology is read from this machine, from XML that hwloc's lstopo wrote, or
 * from hwloc's synthetic descriptions.  It is a copy: later changes of the
 * machine do not affect it.
 *
 * GPUs are numbered from 0.  A GPU that several programming interfaces know
 * (cuda0, nvml0, opencl0d0) is one GPU.  A device of NVIDIA, AMD or Intel that
 * only the PCI bus knows is a GPU, too.  NVIDIA's GPUs come first, then AMD's,
 * Intel's, others.  Within a vendor, GPUs with an index (of NVML, else CUDA;
 * RSMI; Level Zero) come first, in its order, then the others, by PCI bus id.
 *
 * Threads: IMMUTABLE for pai_topology and pai_affinity; ANY for the functions.
 */
#ifndef OPENPAI_TOPOLOGY_H
#define OPENPAI_TOPOLOGY_H

#include <openpai/gpu.h>

PAI_BEGIN_DECLS

/** A machine; pai_topology_unref(). */
typedef struct pai_topology pai_topology;

/** Number that means "none". */
#define PAI_NONE UINT32_MAX

/** Options of the functions that make a topology; or use
 *  PAI_TOPOLOGY_OPTIONS_INIT. */
typedef struct pai_topology_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied; hwloc uses malloc */
  size_t max_bytes;       /**< of XML; 0: 16 MiB */
  int drivers; /**< 1: pai_topology_discover() also asks CUDA, OpenCL and
                    Level Zero, which load GPU drivers into this process */
  const pai_gpus *gpus; /**< NULL, or GPUs as their drivers list them: adds
                             models, memory and numbers if hwloc, as in Debian,
                             knows only the PCI bus; not kept */
} pai_topology_options;

#define PAI_TOPOLOGY_OPTIONS_INIT                  \
  {                                                \
    sizeof(pai_topology_options), NULL, 0, 0, NULL \
  }

/* --- reading ------------------------------------------------------------- */

/**
 * Reads the part of this machine that this process may use.
 *
 * hwloc's environment variables apply.  If the firmware contradicts itself,
 * hwloc prints a message to standard error, unless HWLOC_HIDE_ERRORS=2 was set
 * in the environment before.
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
 * Limits: 8,192 processing units, 65,536 objects, 256 GPUs.  A document with
 * its own DTD is refused.
 *
 * @param[out] out  the topology, owned by the caller; NULL on failure
 * @param text      UTF-8; not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure, with line and
 *                  column if the text is not XML
 * @return PAI_OK; PAI_EINVAL: not XML of hwloc; PAI_ELIMIT; PAI_ENOTSUP for
 *         newer options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_parse_xml(
  pai_topology **out, const char *text, size_t len,
  const pai_topology_options *opts, pai_error **err);

/** Reads a file.  @return as pai_topology_parse_xml(); PAI_ENOTFOUND,
 *  PAI_EPERM or PAI_EIO: the file cannot be read  @since 0.1 */
PAI_API PAI_NODISCARD int pai_topology_load(pai_topology **out,
                                            const char *path,
                                            const pai_topology_options *opts,
                                            pai_error **err);

/**
 * Creates a topology from hwloc's synthetic description, such as "pack:2
 * [numa(memory=64GB)] l3:4 core:4 pu:2".  It has no devices.
 *
 * @param[out] out     the topology, owned by the caller; NULL on failure
 * @param description  the levels from the outermost, each with its number
 *                     within one object of the level before, at most 1,024;
 *                     at most 8,192 processing units in all
 * @param opts         options, or NULL for defaults; not kept
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL; PAI_ELIMIT; PAI_ENOTSUP for newer options;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_synthetic(
  pai_topology **out, const char *description,
  const pai_topology_options *opts, pai_error **err);

/** Adds a reference.  @return @p t  @since 0.1 */
PAI_API pai_topology *pai_topology_ref(pai_topology *t);

/** Drops a reference; the last one frees the topology.  NULL is allowed.
 *  @since 0.1 */
PAI_API void pai_topology_unref(pai_topology *t);

/* --- objects ------------------------------------------------------------- */

/** Kinds of objects.  Numbers are never reused. */
enum {
  PAI_OBJECT_MACHINE = 1,
  PAI_OBJECT_PACKAGE = 2,
  PAI_OBJECT_GROUP = 3, /**< a die, or another group of the system */
  PAI_OBJECT_NUMA = 4,  /**< memory; it has the CPUs of its parent */
  PAI_OBJECT_CACHE = 5,
  PAI_OBJECT_CORE = 6,
  PAI_OBJECT_PU = 7,     /**< processing unit, or hardware thread */
  PAI_OBJECT_BRIDGE = 8, /**< host bridge, PCI bridge or a port of a switch */
  PAI_OBJECT_PCI = 9,    /**< a PCI device that is not a GPU */
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
  uint32_t parent;    /**< number of its parent; PAI_NONE: it is the root */
  uint32_t end;       /**< its descendants end before this object */
  uint32_t os_index;  /**< the operating system's number, or PAI_NONE */
  uint32_t pus;       /**< number of processing units in it, or near a
                           device */
  uint32_t level;     /**< of a cache: 1 to 5 */
  uint32_t gpu;       /**< of a GPU: its number; else PAI_NONE */
  uint32_t link_mbps; /**< of PCI: current MB/s to its parent; 0: unknown */
  uint64_t bytes;     /**< of memory and caches; 0: unknown */
  const char *name;   /**< such as "eth0", a model, a host name; "": none */
  const char *pci;    /**< "0000:34:00.0", or "" */
} pai_topology_object;

/** Totals of a machine. */
typedef struct pai_topology_summary {
  size_t struct_size;
  const char *name; /**< name of the host, or "" */
  uint32_t objects, packages, numa_nodes, cores, pus, gpus;
  uint64_t bytes; /**< of memory */
} pai_topology_summary;

/** A GPU.  Unknown values are "", 0 or PAI_NONE. */
typedef struct pai_topology_gpu {
  size_t struct_size;
  uint32_t object;      /**< its number as an object */
  uint32_t index;       /**< index of NVML or CUDA, RSMI, or Level Zero */
  uint32_t numa_node;   /**< os_index of the nearest memory */
  uint32_t link_mbps;   /**< current speed of its PCI link */
  uint64_t bytes;       /**< of its memory */
  const char *vendor;   /**< "NVIDIA", "AMD", "Intel", or as hwloc says */
  const char *model;    /**< "Tesla V100-SXM3-32GB-H" */
  const char *uuid;     /**< "GPU-…" */
  const char *serial;   /**< of its board */
  const char *pci;      /**< "0000:34:00.0" */
  const char *backends; /**< names in programming interfaces: "cuda0 nvml0
                             opencl0d0 card0" */
} pai_topology_gpu;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_topology_summarize(const pai_topology *t,
                                   pai_topology_summary *view);
/** Object @p i, from 0; a parent comes before its children.  @return as
 *  above; PAI_ENOTFOUND: no such object  @since 0.1 */
PAI_API int pai_topology_view_object(const pai_topology *t, uint32_t i,
                                     pai_topology_object *view);
/** @return as above  @since 0.1 */
PAI_API int pai_topology_view_gpu(const pai_topology *t, uint32_t gpu,
                                  pai_topology_gpu *view);

/* --- links of GPUs ------------------------------------------------------- */

/** The smallest unit that two GPUs share; a higher value is nearer. */
enum {
  PAI_NEAR_MACHINE = 1,
  PAI_NEAR_PACKAGE = 2,
  PAI_NEAR_NUMA = 3,   /**< NUMA node */
  PAI_NEAR_SWITCH = 4, /**< PCI switch, perhaps over further switches */
  PAI_NEAR_BOARD = 5,  /**< by their serial numbers, or one PCI slot */
  PAI_NEAR_SAME = 6    /**< the same GPU */
};

/** The best connection of two GPUs. */
enum {
  PAI_LINK_UNKNOWN = 0,
  PAI_LINK_PCI = 1,
  PAI_LINK_NVLINK = 2,   /**< directly */
  PAI_LINK_NVSWITCH = 3, /**< NVLink over switches */
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
  uint32_t hops; /**< links from one to the other; 0: unknown */
  uint32_t mbps; /**< MB/s in one direction; for PCI that of the slower GPU's
                      own link; 0: unknown */
} pai_topology_link;

/** How near GPU @p a is to @p b.  hwloc does not report links between
 *  switches: for GPUs on different NVSwitch boards only PCI is known.  A pair
 *  has the same link in both directions: where hwloc reports two values, the
 *  slower bandwidth and the larger number of hops.
 *  @return PAI_OK; PAI_EINVAL: bad struct_size; PAI_ENOTFOUND: no such GPU
 *  @since 0.1 */
PAI_API int pai_topology_between(const pai_topology *t, uint32_t a, uint32_t b,
                                 pai_topology_link *link);

/** "NVLink", "NVSwitch", "xGMI", "Xe Link", "PCI", "unknown".  @since 0.1 */
PAI_API const char *pai_link_name(int kind);

/* --- affinity ------------------------------------------------------------ */

/** CPUs and memory near some GPUs, and how to give those GPUs to a process;
 *  pai_affinity_free(). */
typedef struct pai_affinity pai_affinity;

/** CPUs and memory as lists and masks; strings belong to the affinity. */
typedef struct pai_affinity_view {
  size_t struct_size;     /**< set by the library */
  uint32_t cores;         /**< number of cores in the CPU set */
  uint32_t pus;           /**< processing units */
  const char *cpus;       /**< a list for cpusets: "0-3,8" */
  const char *bitmap;     /**< in hwloc's form: "0x000000ff,0x00000001" */
  const char *mask;       /**< for taskset: "ff" */
  const char *numa_nodes; /**< a list: "0,2" */
  uint32_t variables;     /**< number of variables: pai_affinity_variable() */
} pai_affinity_view;

/** An environment variable that limits a process to certain GPUs of a
 *  vendor. */
typedef struct pai_affinity_variable_view {
  size_t struct_size;   /**< set by the library */
  const char *name;     /**< CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or
                             ZE_AFFINITY_MASK */
  const char *by_index; /**< "0,3": of CUDA with
                             CUDA_DEVICE_ORDER=PCI_BUS_ID; "" if an index is
                             unknown */
  const char *by_uuid; /**< "GPU-…,GPU-…"; "" if a UUID is unknown, or if the
                            variable takes no UUIDs */
} pai_affinity_variable_view;

/**
 * Finds the CPUs and memory that are nearest to some GPUs.
 *
 * With @p cores 0, all CPUs near any of the GPUs.  Else this number of whole
 * cores, divided equally among the GPUs.  For GPUs that share their CPUs, the
 * choice starts at different cores, so that tasks with different GPUs get
 * different cores as long as there are enough.  Remote cores are used only
 * when the near ones are used up.  A GPU without a known place is near all
 * CPUs.
 *
 * @param[out] out  the result, owned by the caller; NULL on failure
 * @param t         the machine
 * @param gpus      numbers of GPUs, in the order for the process
 * @param count     number of GPUs; 0: all CPUs are near
 * @param cores     number of cores; 0: all near cores
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: a GPU is named twice; PAI_ENOTFOUND: no such
 *         GPU; PAI_ENOROOM: the machine has fewer cores; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_affinity(pai_affinity **out,
                                                const pai_topology *t,
                                                const uint32_t *gpus,
                                                size_t count, uint32_t cores,
                                                pai_error **err);

/** The result, never NULL.  @since 0.1 */
PAI_API const pai_affinity_view *pai_affinity_get(const pai_affinity *a);

/** Variable @p i, from 0: one for each vendor; NULL beyond the last.
 *  Do not set HIP_VISIBLE_DEVICES in addition to ROCR_VISIBLE_DEVICES: it
 *  would select among the GPUs that ROCR_VISIBLE_DEVICES has selected.
 *  @since 0.1 */
PAI_API const pai_affinity_variable_view *pai_affinity_variable(
  const pai_affinity *a, size_t i);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_affinity_free(pai_affinity *a);

/* --- pictures --------------------------------------------------------------- */

/** States of a GPU in a picture. */
enum {
  PAI_MARK_NONE = 0, /**< no state */
  PAI_MARK_FREE = 1,
  PAI_MARK_USED = 2,
  PAI_MARK_SICK = 3
};

/** The mark of a GPU. */
typedef struct pai_gpu_mark {
  int state;        /**< PAI_MARK_* */
  const char *text; /**< its user, or why it is sick; NULL: none */
} pai_gpu_mark;

/** Options of pai_topology_write(); or use PAI_TOPOLOGY_WRITE_OPTIONS_INIT. */
typedef struct pai_topology_write_options {
  size_t struct_size;
  int format; /**< PAI_FORMAT_TEXT or 0: a tree; PAI_FORMAT_JSON;
                   PAI_FORMAT_SVG */
  const pai_gpu_mark *marks; /**< one for each GPU, or NULL */
  size_t mark_count;         /**< number of marks; further GPUs have none */
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
 * @param write receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for bad options; PAI_ELIMIT: the
 *         machine is nested too deeply; PAI_ENOMEM; or the return value of
 *         @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_topology_write(
  const pai_topology *t, const pai_topology_write_options *opts,
  pai_write_cb write, void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_TOPOLOGY_H */
