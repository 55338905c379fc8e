/**
 * @file openpai/vc.h
 * Virtual clusters of a durable platform: parts of its machine, of GPUs, CPUs
 * and memory alike, that jobs are held to by `defaults.virtualCluster` of
 * their file.  They are made, changed, stopped and removed while jobs run.
 *
 * `default` is always there and has what the others leave.  As long as there
 * is no other, nothing is counted.
 *
 * What is said here is done at once, and durable when pai_platform_sync() says
 * so.  All functions answer PAI_ENOTSUP on a platform that is not durable.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_VC_H
#define OPENPAI_VC_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

enum {
  PAI_VC_WHOLE = 10000, /**< all of the machine: hundredths of a percent */
  PAI_VC_MOST = 256     /**< so many there may be, `default` counted */
};

/** What a virtual cluster is to be; zero-fill, or use PAI_VC_OPTIONS_INIT. */
typedef struct pai_vc_options {
  size_t struct_size;
  uint32_t capacity;       /**< its part, of PAI_VC_WHOLE */
  uint32_t max_capacity;   /**< what it may have of what others leave idle; 0:
                              its part alone */
  const char *description; /**< up to 1024 bytes; NULL: as it was, or "" */
  const char *external_name; /**< likewise; of no meaning here */
} pai_vc_options;

#define PAI_VC_OPTIONS_INIT            \
  {                                    \
    sizeof(pai_vc_options), 0, 0, 0, 0 \
  }

/**
 * Makes a virtual cluster, or changes one.  What runs goes on, also where it
 * is more than the new part; what waits is held to that.
 *
 * @param name  1 to 64 letters, digits and _
 * @return PAI_OK; PAI_EINVAL: not such a name, or no such part; PAI_ENOROOM:
 *         more than the others leave; PAI_EPERM: it is "default";
 *         PAI_ELIMIT: there are too many; PAI_EIO: the database cannot be
 *         written now; PAI_EBUSY: the platform is closing; PAI_ENOMEM.  Then
 *         nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_put_vc(pai_platform *platform,
                                              const char *name,
                                              const pai_vc_options *opts,
                                              pai_error **err);

/**
 * From now on nothing of it starts, or with @p stopped 0 again.  What runs
 * goes on, and jobs are taken, which wait.
 * @return as pai_platform_put_vc(); PAI_ENOTFOUND: there is none of that name
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_stop_vc(pai_platform *platform,
                                               const char *name, int stopped,
                                               pai_error **err);

/**
 * Removes one that no live job belongs to.
 * @return as pai_platform_stop_vc(); PAI_EBUSY: there are such jobs, of which
 *         the error names some
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_remove_vc(pai_platform *platform,
                                                 const char *name,
                                                 pai_error **err);

/** The name of virtual cluster @p i, "default" being the first; NULL beyond
 *  the last.  The platform's, until it is removed.  @since 0.1 */
PAI_API const char *pai_platform_vc_name(const pai_platform *platform,
                                         size_t i);

/**
 * Writes virtual clusters as `GET /virtual-clusters` of OpenPAI's API does:
 * what each has, what of it is in use, and its state.
 *
 * @param name  one, as an object; NULL: all, by their names
 * @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_write_vcs(pai_platform *platform,
                                                 const char *name,
                                                 pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/** Writes GPUs in use, free and in all, by the names of nodes, as
 *  `GET /virtual-clusters?nodes`.  @return as pai_platform_write_vcs()
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_write_vc_nodes(pai_platform *platform,
                                                      pai_write_cb write,
                                                      void *user_data,
                                                      pai_error **err);

/**
 * Writes what comes with a GPU of each kind, or without any with a CPU, as
 * `GET /cluster/sku-types`.
 * @param name  a virtual cluster: kinds of which it has something; NULL: all
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
 * Writes the platform's machine: its name, state and why, what it has and what
 * of that is free.
 * @param name  that node, as an object; NULL: all, as a list
 * @return as pai_platform_write_vcs()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_write_nodes(pai_platform *platform,
                                                   const char *name,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/**
 * From now on nothing starts on a node, or with @p drain 0 again.  What runs
 * goes on, and jobs are taken, which wait; that outlives the platform.
 *
 * @param why  a line for people, of which 253 bytes are kept; NULL: none
 * @return PAI_OK; PAI_ENOTFOUND: there is no such node; PAI_EBUSY; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_drain(pai_platform *platform,
                                             const char *node, int drain,
                                             const char *why, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_VC_H */
