/**
 * @file openpai/gpu.h
 * The GPUs of this machine, as their drivers report them: NVIDIA's from NVML,
 * which is loaded at run time and never linked, AMD's from the kernel's files.
 *
 * A machine without GPUs gives an empty list, not an error, and so does one
 * whose driver cannot be queried; then a note says why.
 *
 * Unknown numbers are -1, unknown texts "".
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
  PAI_GPU_LOST = 4  /**< cannot be reached; it has mostly left the bus */
};

/** How many processes may use a GPU at a time (NVIDIA's compute mode). */
enum {
  PAI_GPU_SHARED = 0,
  PAI_GPU_EXCLUSIVE_THREAD = 1, /**< of old drivers */
  PAI_GPU_PROHIBITED = 2,
  PAI_GPU_EXCLUSIVE = 3 /**< by one process */
};

#define PAI_NO_GPU UINT32_MAX

/** Options of pai_gpus_new().  Zero-fill, or use PAI_GPUS_OPTIONS_INIT. */
typedef struct pai_gpus_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *nvml;       /**< NVML's file; NULL: libnvidia-ml.so.1;
                               "": do not look for NVIDIA's */
  const char *root;       /**< folder that holds sys and proc; NULL: / */
  const int32_t *pids;    /**< processes that are ours */
  size_t pid_count;
  const int32_t *groups; /**< process groups that are ours */
  size_t group_count;
} pai_gpus_options;

#define PAI_GPUS_OPTIONS_INIT                     \
  {                                               \
    sizeof(pai_gpus_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/** A GPU, or a MIG instance of one, which follows it in the list. */
typedef struct pai_gpu_view {
  size_t struct_size;
  int vendor;
  const char *model; /**< as "NVIDIA A100-SXM4-40GB" */
  const char *uuid;  /**< as "GPU-…", "MIG-…"; AMD: its serial number */
  const char *pci;   /**< as "0000:3b:00.0"; a MIG instance: its GPU's */
  uint32_t number;   /**< the driver's: NVML's index, AMD's card number; a MIG
                          instance: its number within its GPU */
  uint32_t parent;   /**< a MIG instance: its GPU's place in the list, else
                          PAI_NO_GPU */
  int32_t device;    /**< of /dev/nvidiaN or renderDN */
  int health;
  const char *reason;                     /**< one line, "" when healthy */
  int64_t memory_total, memory_used;      /**< bytes */
  int32_t compute_mode;                   /**< PAI_GPU_SHARED, ... */
  int32_t mig;                            /**< 1: cut into instances; 0: not */
  int32_t gpu_instance, compute_instance; /**< ids of a MIG instance */
  int32_t ecc;                            /**< 1: memory is checked */
  int64_t ecc_corrected;   /**< errors since the driver was loaded */
  int64_t ecc_uncorrected; /**< the same; also called double-bit errors */
  int32_t clock_mhz, clock_max_mhz;
  int32_t memory_clock_mhz, memory_clock_max_mhz;
  int32_t temperature;              /**< degrees Celsius */
  int64_t power_mw, power_limit_mw; /**< milliwatts */
  int32_t busy_percent;             /**< time any kernel ran */
  int32_t memory_busy_percent;      /**< time its memory was used */
  size_t processes;                 /**< pai_gpus_process() */
  size_t foreign;                   /**< of them not ours; 0 when the
                                             options name none as ours */
} pai_gpu_view;

/** A process that uses a GPU. */
typedef struct pai_gpu_process_view {
  size_t struct_size;
  int32_t pid;    /**< as the driver counts: those of the host */
  int64_t memory; /**< bytes */
  int foreign;    /**< 1: not ours */
} pai_gpu_process_view;

/** All links between two GPUs, or from one to a switch. */
typedef struct pai_gpu_link_view {
  size_t struct_size;
  uint32_t a, b;   /**< places in the list, a < b; PAI_NO_GPU for b: a switch,
                       which joins all that have one */
  uint32_t links;  /**< active ones, at least 1 */
  int32_t version; /**< in tenths: 30 is NVLink 3.0; xGMI: -1 */
  int64_t mbytes_per_second; /**< of all of them, each direction */
} pai_gpu_link_view;

/**
 * Asks for all GPUs.  Takes milliseconds, seconds where no other process keeps
 * NVIDIA's driver awake.
 *
 * @param[out] out  the list, owned by the caller; NULL on failure
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK, also when there is none; PAI_EINVAL, PAI_ENOTSUP: a bad or
 *         newer struct_size; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_gpus_new(pai_gpus **out,
                                       const pai_gpus_options *opts,
                                       pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_gpus_free(pai_gpus *gpus);

/** How many there are, MIG instances included.  @since 0.1 */
PAI_API size_t pai_gpus_count(const pai_gpus *gpus);

/** The i-th, from 0; its strings are the list's.
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

/** The i-th note, in one line, or NULL: what could not be queried, and so why a
 *  list is empty though there are GPUs.  @since 0.1 */
PAI_API const char *pai_gpus_note(const pai_gpus *gpus, size_t i);

PAI_END_DECLS

#endif /* OPENPAI_GPU_H */
