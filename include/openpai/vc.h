/**
 * @file openpai/vc.h
 * Virtual clusters of a durable platform: shares of its GPUs, CPUs and memory.
 * A job uses the virtual cluster that `defaults.virtualCluster` of its file
 * names, and is limited to the capacity of that virtual cluster.  Virtual
 * clusters can be created, changed, stopped and removed while jobs run.
 *
 * The virtual cluster `default` always exists and has the capacity that no
 * other virtual cluster has.  As long as it is the only virtual cluster, no
 * use is counted.
 *
 * Changes take effect at once.  They are durable when pai_platform_sync()
 * calls back with PAI_OK.  All functions return PAI_ENOTSUP on a platform that
 * is not durable.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_VC_H
#define OPENPAI_VC_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

enum {
  PAI_VC_WHOLE = 10000, /**< all of the machine: hundredths of a percent */
  PAI_VC_MOST = 256,    /**< most virtual clusters, including `default` */
  PAI_VC_NEVER = -1     /**< as a number of minutes */
};

/** Settings of a virtual cluster; zero-fill, or use PAI_VC_OPTIONS_INIT. */
typedef struct pai_vc_options {
  size_t struct_size;
  uint32_t capacity;         /**< its share, of PAI_VC_WHOLE */
  uint32_t max_capacity;     /**< most it may use, including idle capacity of
                                  other virtual clusters; 0: its own
                                  capacity */
  const char *description;   /**< up to 1024 bytes; NULL: unchanged, or "" */
  const char *external_name; /**< as description; stored without further
                                  effect */
  /** Minutes after which a host warns a job whose GPUs do nothing, and after
   *  which it stops it; PAI_VC_NEVER: it does not; 0: unchanged, or 60 and
   *  never.  The server of this library does so.  @since 0.1 */
  int32_t idle_warn_minutes, idle_stop_minutes;
} pai_vc_options;

#define PAI_VC_OPTIONS_INIT                  \
  {                                          \
    sizeof(pai_vc_options), 0, 0, 0, 0, 0, 0 \
  }

/**
 * Creates a virtual cluster, or changes one.  Running jobs continue, even if
 * they use more than the new capacity; the new capacity limits waiting jobs
 * only.
 *
 * @param name  1 to 64 letters, digits and _
 * @return PAI_OK; PAI_EINVAL: an invalid name or capacity; PAI_ENOROOM: more
 *         than the other virtual clusters leave; PAI_EPERM: the name is
 *         "default"; PAI_ELIMIT: too many virtual clusters; PAI_EIO: the
 *         database cannot be written now; PAI_EBUSY: the platform is closing;
 *         PAI_ENOMEM.  After a failure nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_put_vc(pai_platform *platform,
                                              const char *name,
                                              const pai_vc_options *opts,
                                              pai_error **err);

/**
 * Keeps the jobs of a virtual cluster from starting; with @p stopped 0, lets
 * them start again.  Running jobs continue; new jobs are accepted and wait.
 * @return as pai_platform_put_vc(); PAI_ENOTFOUND: no such virtual cluster
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_stop_vc(pai_platform *platform,
                                               const char *name, int stopped,
                                               pai_error **err);

/**
 * Removes a virtual cluster without live jobs.
 * @return as pai_platform_stop_vc(); PAI_EBUSY: it has live jobs; the error
 *         names some of them
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_remove_vc(pai_platform *platform,
                                                 const char *name,
                                                 pai_error **err);

/** The name of virtual cluster @p i, from 0; the first is "default"; NULL
 *  beyond the last.  The text belongs to the platform, and is valid until the
 *  virtual cluster is removed.  @since 0.1 */
PAI_API const char *pai_platform_vc_name(const pai_platform *platform,
                                         size_t i);

/**
 * Writes virtual clusters as `GET /virtual-clusters` of OpenPAI's API does:
 * the capacity, use and state of each.
 *
 * @param name  write only this virtual cluster, as an object; NULL: all, as an
 *              object with their names as keys
 * @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM; the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_write_vcs(pai_platform *platform,
                                                 const char *name,
                                                 pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/** Writes the numbers of used, free and all GPUs, by the names of nodes, as
 *  `GET /virtual-clusters?nodes`.  @return as pai_platform_write_vcs()
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_write_vc_nodes(pai_platform *platform,
                                                      pai_write_cb write,
                                                      void *user_data,
                                                      pai_error **err);

/**
 * Writes the CPUs and memory that come with a GPU of each type (or, without
 * GPUs, the memory that comes with a CPU), as `GET /cluster/sku-types`.
 * @param name  only types of this virtual cluster; NULL: all
 * @return as pai_platform_write_vcs()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_write_skus(pai_platform *platform,
                                                  const char *name,
                                                  pai_write_cb write,
                                                  void *user_data,
                                                  pai_error **err);

/* --- nodes ---------------------------------------------------------------- */

/**
 * Writes the platform's nodes: name, state and reason, total and free
 * resources.
 * @param name  write only this node, as an object; NULL: all nodes, as a list
 * @return as pai_platform_write_vcs()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_write_nodes(pai_platform *platform,
                                                   const char *name,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/**
 * Keeps tasks from starting on a node; with @p drain 0, lets them start again.
 * Running tasks continue; new jobs are accepted and wait.  The setting survives
 * a restart of the platform.
 *
 * @param why  reason, one line, cut after 253 bytes; NULL: none
 * @return PAI_OK; PAI_ENOTFOUND: no such node; PAI_EBUSY; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_drain(pai_platform *platform,
                                             const char *node, int drain,
                                             const char *why, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_VC_H */
