/**
 * @file openpai/gpu.h
 * The GPUs of this machine, as reported by their drivers: NVIDIA's by NVML,
 * which is loaded at run time and never linked, AMD's by files of the kernel.
 *
 * A machine without GPUs gives an empty list, not an error.  A machine whose
 * driver cannot be queried gives an empty list, too, and a note with the
 * reason.
 *
 * An unknown number is -1, an unknown text is "".
 *
 * Threads: a pai_gpus is IMMUTABLE.
 */
#ifndef OPENPAI_GPU_H
#define OPENPAI_GPU_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_gpus pai_gpus; /**< opaque; pai_gpus_free() */

/** Vendor of a GPU. */
enum { PAI_GPU_NVIDIA = 1, PAI_GPU_AMD = 2 };

/** Health of a GPU. */
enum {
  PAI_GPU_HEALTHY = 1,
  PAI_GPU_WORN = 2, /**< works, but needs a reset or repair; see `reason` */
  PAI_GPU_SICK = 3, /**< should get no job; see `reason` */
  PAI_GPU_LOST = 4  /**< not reachable; the GPU has usually dropped off the
                         bus */
};

/** How many processes may use a GPU at a time (NVIDIA's compute mode). */
enum {
  PAI_GPU_SHARED = 0,
  PAI_GPU_EXCLUSIVE_THREAD = 1, /**< only old drivers */
  PAI_GPU_PROHIBITED = 2,
  PAI_GPU_EXCLUSIVE = 3 /**< one process */
};

#define PAI_NO_GPU UINT32_MAX

/** Options of pai_gpus_new().  Zero-fill, or use PAI_GPUS_OPTIONS_INIT. */
typedef struct pai_gpus_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *nvml;       /**< NVML's file; NULL: libnvidia-ml.so.1;
                               "": do not look for NVIDIA's */
  const char *root;       /**< folder that holds sys and proc; NULL: / */
  const int32_t *pids;    /**< process ids that are not foreign */
  size_t pid_count;
  const int32_t *groups; /**< process groups that are not foreign */
  size_t group_count;
} pai_gpus_options;

#define PAI_GPUS_OPTIONS_INIT                     \
  {                                               \
    sizeof(pai_gpus_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/** A GPU, or a MIG instance.  A MIG instance follows its GPU in the list. */
typedef struct pai_gpu_view {
  size_t struct_size;
  int vendor;
  const char *model; /**< such as "NVIDIA A100-SXM4-40GB" */
  const char *uuid; /**< such as "GPU-…", "MIG-…"; AMD: its serial number */
  const char *pci;  /**< such as "0000:3b:00.0"; a MIG instance: that of its
                         GPU */
  uint32_t number;  /**< number of the driver: NVML's index, AMD's card number;
                         a MIG instance: its number within its GPU */
  uint32_t parent;  /**< a MIG instance: index of its GPU in the list; else
                         PAI_NO_GPU */
  int32_t device;   /**< N of /dev/nvidiaN or renderDN */
  int health;
  const char *reason;                     /**< one line, "" when healthy */
  int64_t memory_total, memory_used;      /**< bytes */
  int32_t compute_mode;                   /**< PAI_GPU_SHARED, ... */
  int32_t mig;                            /**< 1: divided into MIG instances */
  int32_t gpu_instance, compute_instance; /**< ids of a MIG instance */
  int32_t ecc;                            /**< 1: memory is checked */
  int64_t ecc_corrected;   /**< errors since the driver was loaded */
  int64_t ecc_uncorrected; /**< since the driver was loaded; also called
                                double-bit errors */
  int32_t clock_mhz, clock_max_mhz;
  int32_t memory_clock_mhz, memory_clock_max_mhz;
  int32_t temperature;              /**< degrees Celsius */
  int64_t power_mw, power_limit_mw; /**< milliwatts */
  int32_t busy_percent;             /**< share of time in which a kernel ran */
  int32_t memory_busy_percent;      /**< share of time in which its memory was
                                         used */
  size_t processes;                 /**< pai_gpus_process() */
  size_t foreign;                   /**< number of processes that are not in
                                         `pids` or `groups` of the options; 0
                                         if both are empty */
} pai_gpu_view;

/** A process that uses a GPU. */
typedef struct pai_gpu_process_view {
  size_t struct_size;
  int32_t pid;    /**< pid on the host, as the driver reports it */
  int64_t memory; /**< bytes */
  int foreign;    /**< 1: not in `pids` or `groups` of the options */
} pai_gpu_process_view;

/** All links between two GPUs, or from a GPU to a switch. */
typedef struct pai_gpu_link_view {
  size_t struct_size;
  uint32_t a, b;   /**< indices in the list, a < b; b PAI_NO_GPU: a switch,
                        which joins all GPUs with such a link */
  uint32_t links;  /**< number of active links, at least 1 */
  int32_t version; /**< in tenths: 30 is NVLink 3.0; xGMI: -1 */
  int64_t mbytes_per_second; /**< of all links, each direction */
} pai_gpu_link_view;

/**
 * Queries all GPUs.  Takes milliseconds, or seconds if no other process keeps
 * NVIDIA's driver loaded.
 *
 * @param[out] out  the list, owned by the caller; NULL on failure
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK, also if there are no GPUs; PAI_EINVAL, PAI_ENOTSUP: a bad or
 *         newer struct_size; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_gpus_new(pai_gpus **out,
                                       const pai_gpus_options *opts,
                                       pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_gpus_free(pai_gpus *gpus);

/** Number of GPUs, including MIG instances.  @since 0.1 */
PAI_API size_t pai_gpus_count(const pai_gpus *gpus);

/** Fills a view of GPU i, from 0; its strings belong to the list.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: struct_size is not set
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_gpus_get(const pai_gpus *gpus, size_t i,
                                       pai_gpu_view *view);

/** The j-th process of the i-th GPU, by pid.  @return as pai_gpus_get()
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_gpus_process(const pai_gpus *gpus, size_t i,
                                           size_t j,
                                           pai_gpu_process_view *view);

/** The i-th pair of GPUs with links, ordered by a, then b.
 *  @return as pai_gpus_get()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_gpus_link(const pai_gpus *gpus, size_t i,
                                        pai_gpu_link_view *view);

/** The version of NVIDIA's driver, "" when unknown.  @since 0.1 */
PAI_API const char *pai_gpus_driver(const pai_gpus *gpus);

/** The i-th note, in one line, or NULL.  A note names what could not be
 *  queried, which may be why the list is empty although the machine has GPUs.
 *  @since 0.1 */
PAI_API const char *pai_gpus_note(const pai_gpus *gpus, size_t i);

PAI_END_DECLS

#endif /* OPENPAI_GPU_H */
