/**
 * @file openpai/sample.h
 * Samples of the use of this machine: processors, memory, disks, network, file
 * systems, GPUs and groups of processes; cheap enough for one sample a second.
 *
 * Rates are means since the previous sample.  Unknown numbers are -1.  Rates
 * are -1 in the first sample, for new objects, and for counters that went
 * backwards.  A counter of 32 or 64 bits may wrap.
 *
 * Threads: SERIAL.  A pai_sample belongs to its pai_sampler.
 */
#ifndef OPENPAI_SAMPLE_H
#define OPENPAI_SAMPLE_H

#include <openpai/gpu.h>

PAI_BEGIN_DECLS

typedef struct pai_sampler pai_sampler; /**< opaque; pai_sampler_free() */
typedef struct pai_sample pai_sample;   /**< opaque; valid until the next
                                             sample */

/** Used as an index: the sum over all objects. */
#define PAI_SAMPLE_SUM SIZE_MAX

/** Kinds of groups of processes that are sampled together. */
enum {
  PAI_SAMPLE_GROUP = 1,   /**< a process group */
  PAI_SAMPLE_SESSION = 2, /**< a session */
  PAI_SAMPLE_CGROUP = 3   /**< a cgroup with its descendants */
};

/** Options of pai_sampler_new(); zero-fill, or PAI_SAMPLER_OPTIONS_INIT. */
typedef struct pai_sampler_options {
  size_t struct_size;
  const pai_alloc *alloc;   /**< NULL: malloc; copied */
  const char *root;         /**< folder that holds proc and sys; NULL: / */
  const char *nvml;         /**< as in pai_gpus_options */
  const char *const *paths; /**< file systems to sample: for each, any path in
                                 it, not relative to `root`; copied */
  size_t path_count;
  int all_groups; /**< 1: also sample every process group of the machine */
} pai_sampler_options;

#define PAI_SAMPLER_OPTIONS_INIT                  \
  {                                               \
    sizeof(pai_sampler_options), 0, 0, 0, 0, 0, 0 \
  }

/** The machine as a whole. */
typedef struct pai_sample_machine {
  size_t struct_size;
  pai_time time;   /**< `now` of pai_sampler_sample() */
  int64_t elapsed; /**< microseconds since the previous sample; 0 for the
                        first */
  uint32_t cpus;   /**< online */
  int32_t load[3]; /**< hundredths, over 1, 5 and 15 minutes */
  int32_t threads, running;                            /**< of all processes */
  int64_t memory_total, memory_available, memory_free; /**< bytes */
  int64_t buffers, cached;
  int64_t swap_total, swap_free;
  int64_t memory_limit; /**< lowest limit of the cgroups of this process; -1:
                             none */
  int64_t memory_used;  /**< used memory that counts towards this limit */
  size_t disks, networks, file_systems, gpus, groups; /**< numbers of
                                                           objects */
} pai_sample_machine;

/** A processor, or the sum of all; rates in thousandths of one processor. */
typedef struct pai_sample_cpu {
  size_t struct_size;
  uint32_t number;
  uint64_t user, system, iowait, idle; /**< microseconds since the start */
  int32_t busy_rate;                   /**< all but idle and iowait */
  int32_t user_rate, system_rate, iowait_rate;
} pai_sample_cpu;

/** A disk, including its partitions. */
typedef struct pai_sample_disk {
  size_t struct_size;
  const char *name; /**< such as "nvme0n1"; "" for the sum */
  int counted;      /**< 1: part of the sum; 0: its traffic is counted for
                         another disk, such as for "dm-0" and "md0" */
  uint64_t read_bytes, write_bytes, reads, writes;
  int64_t read_bytes_rate, write_bytes_rate; /**< per second, as all rates */
  int64_t reads_rate, writes_rate;
  int32_t busy_permille; /**< share of time in use; not for the sum */
} pai_sample_disk;

/** A network interface. */
typedef struct pai_sample_network {
  size_t struct_size;
  const char *name; /**< such as "eth0"; "" for the sum */
  int counted;      /**< 1: part of the sum; 0: "lo", and interfaces on top of
                         others, such as "docker0" and "bond0" */
  uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets, rx_errors, tx_errors;
  int64_t rx_bytes_rate, tx_bytes_rate, rx_packets_rate, tx_packets_rate;
  int64_t rx_errors_rate, tx_errors_rate;
} pai_sample_network;

/** A file system. */
typedef struct pai_sample_file_system {
  size_t struct_size;
  const char *path;    /**< as in the options */
  int64_t total, free; /**< bytes; free for this user */
} pai_sample_file_system;

/** A GPU or MIG instance, at the same place as in pai_sampler_gpus(). */
typedef struct pai_sample_gpu {
  size_t struct_size;
  int lost; /**< 1: no longer reachable */
  int32_t busy_percent, memory_busy_percent;
  int64_t memory_total, memory_used; /**< bytes */
  int32_t temperature;               /**< degrees Celsius */
  int64_t power_mw, power_limit_mw;  /**< milliwatts */
} pai_sample_gpu;

/** A group of processes.  Processes that began and ended between two samples
 *  are missed, except in a cgroup. */
typedef struct pai_sample_group {
  size_t struct_size;
  int kind;          /**< PAI_SAMPLE_GROUP, ... */
  int watched;       /**< 1: by pai_sampler_watch(); 0: by all_groups */
  int64_t id;        /**< process group or session; a cgroup: 0 */
  const char *name;  /**< name of its first process; a cgroup: its path */
  int32_t processes; /**< now */
  uint64_t cpu;      /**< observed microseconds */
  int32_t cpu_rate;  /**< thousandths of a processor */
  int64_t memory;    /**< resident bytes; shared memory counts for each
                          process */
  int64_t read_bytes, write_bytes; /**< observed disk traffic; only for watched
                                        groups */
  int64_t read_bytes_rate, write_bytes_rate;
  int64_t gpu_memory; /**< bytes, of all GPUs; -1 without GPUs */
} pai_sample_group;

/**
 * Creates a sampler and opens the files that it will read.
 *
 * @param[out] out  the sampler, owned by the caller; NULL on failure
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTSUP: this machine has no proc file system, or
 *         @p opts sets a field this library does not know; PAI_EINVAL;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sampler_new(pai_sampler **out,
                                          const pai_sampler_options *opts,
                                          pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_sampler_free(pai_sampler *sampler);

/** The GPUs that the machine had when the sampler was created.  @since 0.1 */
PAI_API const pai_gpus *pai_sampler_gpus(const pai_sampler *sampler);

/**
 * Adds a group of processes to the following samples.
 *
 * @param sampler  unchanged after a failure
 * @param kind     PAI_SAMPLE_GROUP, PAI_SAMPLE_SESSION
 * @param id       the process group or session; 1 and up
 * @param[out] err NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL; PAI_EEXISTS; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sampler_watch(pai_sampler *sampler, int kind,
                                            int64_t id, pai_error **err);

/** Adds a cgroup to the following samples, by its path from the root of the
 *  hierarchy, such as "/a/b".
 *  @return as pai_sampler_watch(); PAI_ENOTFOUND: no such cgroup
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sampler_watch_cgroup(pai_sampler *sampler,
                                                   const char *path,
                                                   pai_error **err);

/** Removes a group from the following samples.  @p path is for cgroups, @p id
 *  for others.
 *  @return PAI_OK; PAI_ENOTFOUND  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sampler_unwatch(pai_sampler *sampler, int kind,
                                              int64_t id, const char *path);

/**
 * Takes a sample.
 *
 * @param[out] out  the sample, valid until the next call with this sampler;
 *                  NULL on failure
 * @param sampler   usable after a failure
 * @param now       microseconds of a clock that does not go backwards
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EIO: the kernel's files of processors or memory cannot
 *         be read; PAI_ELIMIT: one of these files is too long; PAI_EINVAL: the
 *         time is not after the previous sample; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sampler_take(const pai_sample **out,
                                           pai_sampler *sampler, pai_time now,
                                           pai_error **err);

/** @return PAI_OK; PAI_EINVAL: struct_size is not set  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get(const pai_sample *sample,
                                         pai_sample_machine *view);

/** The i-th processor, or PAI_SAMPLE_SUM.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: struct_size is not set
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_cpu(const pai_sample *sample,
                                             size_t i, pai_sample_cpu *view);

/** As pai_sample_get_cpu(), for disks, in the kernel's order.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_disk(const pai_sample *sample,
                                              size_t i, pai_sample_disk *view);

/** As pai_sample_get_cpu(), for networks.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_network(const pai_sample *sample,
                                                 size_t i,
                                                 pai_sample_network *view);

/** As pai_sample_get_cpu(), without a sum.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_file_system(
  const pai_sample *sample, size_t i, pai_sample_file_system *view);

/** As pai_sample_get_cpu(), without a sum.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_gpu(const pai_sample *sample,
                                             size_t i, pai_sample_gpu *view);

/** As pai_sample_get_cpu(), without a sum: watched groups in the order in
 *  which they were added, then the others by id.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sample_get_group(const pai_sample *sample,
                                               size_t i,
                                               pai_sample_group *view);

PAI_END_DECLS

#endif /* OPENPAI_SAMPLE_H */
