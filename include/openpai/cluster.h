/**
 * @file openpai/cluster.h
 * Clusters: nodes with their GPUs and health, and the virtual clusters that
 * share them.
 *
 * A cluster is read from a text in one of these formats, which is detected
 * from the content:
 *
 *   openpai     our own YAML or JSON: docs/guide/clusters.md
 *   hived       HiveD's configuration
 *   layout      OpenPAI's layout.yaml
 *   kubernetes  `kubectl get nodes -o json`
 *   slurm       `scontrol show nodes --json` (of 22.05: `sinfo --json`), and
 *               slurmrestd's answer
 *   alibaba     openb_node_list_*.csv of Alibaba's trace of 2023, and
 *               pai_machine_spec.csv of 2020
 *
 * or is created from a one-line description, such as "racks:2 nodes:16
 * gpu:8:h100".
 *
 * Nodes, SKUs and all other objects are counted from 0 in the order of the
 * text.
 *
 * Threads: SERIAL.  Several threads may read a cluster at the same time.
 */
#ifndef OPENPAI_CLUSTER_H
#define OPENPAI_CLUSTER_H

#include <openpai/report.h>
#include <openpai/topology.h>

PAI_BEGIN_DECLS

typedef struct pai_cluster pai_cluster; /**< opaque; pai_cluster_free() */

/** Options for reading; zero-fill, or use PAI_CLUSTER_OPTIONS_INIT. */
typedef struct pai_cluster_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *form;       /**< one of the formats above; NULL: detected from
                               the content */
  size_t max_bytes;       /**< longest text; 0: 64 MiB */
  uint32_t max_nodes;     /**< 0: 100,000 */
} pai_cluster_options;

#define PAI_CLUSTER_OPTIONS_INIT            \
  {                                         \
    sizeof(pai_cluster_options), 0, 0, 0, 0 \
  }

/**
 * Reads a cluster.
 *
 * @param[out] out  the cluster, owned by the caller; NULL on failure
 * @param text      UTF-8, YAML or JSON; not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the first error, with line, column, JSON
 *                  pointer and usually a help line
 * @return PAI_OK; PAI_EINVAL: not a valid text of its format; PAI_ELIMIT;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_parse(pai_cluster **out,
                                            const char *text, size_t len,
                                            const pai_cluster_options *opts,
                                            pai_error **err);

/**
 * Reads the file at @p path, or standard input for "-".
 * @return as pai_cluster_parse(); PAI_ENOTFOUND, PAI_EPERM or PAI_EIO when
 *         the file cannot be read
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_load(pai_cluster **out, const char *path,
                                           const pai_cluster_options *opts,
                                           pai_error **err);

/**
 * Creates a cluster from a description: words of the form KEY:VALUE, in any
 * order.  Only nodes is required.
 *
 *   nodes:16       number of machines, named node0001, node0002, ...
 *   racks:2        number of racks, at most as many as nodes; machines are
 *                  distributed among them as evenly as possible
 *   gpu:8          GPUs of each machine; gpu:8:h100 also sets their type
 *   cpus:128       CPUs of each machine
 *   mem:1T         memory of each machine: bytes, or with K, M, G or T
 *   numa:2         NUMA nodes of each machine
 *   switch:4       GPUs of each PCI switch; must divide the GPUs of a machine
 *   link:8         GPUs joined by NVLink; must divide the GPUs of a machine
 *
 * @param[out] out     the cluster, owned by the caller; NULL on failure
 * @param description  not kept
 * @param opts         options, or NULL for defaults; not kept
 * @param[out] err     NULL, or receives the error; columns refer to the
 *                     description
 * @return PAI_OK; PAI_EINVAL; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_synthetic(
  pai_cluster **out, const char *description, const pai_cluster_options *opts,
  pai_error **err);

/** A machine for pai_cluster_from_machines(); strings are copied.  All
 *  elements of an array have the same struct_size. */
typedef struct pai_cluster_machine {
  size_t struct_size;
  const char *name; /**< NULL: the name of its topology */
  const char *rack; /**< its rack, or NULL */
  const pai_topology *topology;
} pai_cluster_machine;

/**
 * Creates a cluster from the topologies of machines: machines with equal
 * hardware form one SKU, GPU types are named after their models
 * ("tesla-v100-sxm3-32gb"), and GPUs are ordered so that neighbours are
 * adjacent.
 *
 * @param[out] out  the cluster, owned by the caller; NULL on failure
 * @param machines  an array; not kept
 * @param n         number of machines, at least one
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error
 * @return PAI_OK; PAI_EINVAL: a machine has no name, a duplicate name, or a
 *         name that is invalid in a cluster file; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_from_machines(
  pai_cluster **out, const pai_cluster_machine *machines, size_t n,
  const pai_cluster_options *opts, pai_error **err);

/**
 * Finds the problems of a cluster's text, in the order of the text; see
 * <openpai/report.h>.
 *
 * @param[out] out      the report, owned by the caller; NULL on failure
 * @param[out] cluster  NULL, or receives the cluster of a valid text
 * @param text          as pai_cluster_parse()
 * @param len           its length in bytes
 * @param opts          options, or NULL for defaults; not kept
 * @param[out] err      NULL, or receives the error of a failure
 * @return PAI_OK, whether the text is valid or not; PAI_EINVAL: invalid
 *         arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_check(pai_report **out,
                                            pai_cluster **cluster,
                                            const char *text, size_t len,
                                            const pai_cluster_options *opts,
                                            pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_cluster_free(pai_cluster *cluster);

/* --- views --------------------------------------------------------------- */

/** Sums over a cluster. */
typedef struct pai_cluster_view {
  size_t struct_size; /**< set by the caller, as in all views */
  const char *name;   /**< "" when the cluster has no name; strings belong to
                           the cluster */
  const char *form;   /**< format that the cluster was read from, or
                           "synthetic" or "machines" */
  size_t nodes, gpus, racks, skus, virtual_clusters;
  size_t sick_nodes, sick_gpus; /**< all GPUs of a sick node are sick */
  uint64_t cpus;                /**< of all nodes, as far as known */
  uint64_t memory;              /**< of all nodes, as far as known, in bytes;
                                     at most INT64_MAX */
} pai_cluster_view;

/** A node. */
typedef struct pai_node_view {
  size_t struct_size;
  const char *name;
  const char *address; /**< its address, or its name if the address is not
                            known */
  const char *rack;    /**< NULL: not known */
  const char *sick;    /**< why it is out of use, or NULL */
  const char *pin;     /**< name of the pinned cell of this node, or NULL */
  size_t sku;
  size_t gpus;
  size_t labels;
} pai_node_view;

/** A GPU of a node. */
typedef struct pai_node_gpu_view {
  size_t struct_size;
  const char *kind; /**< GPU type that jobs ask for, such as "h100" */
  const char *uuid; /**< NULL: not known */
  const char *sick; /**< why it is out of use, or NULL; includes the reason of
                         its node */
  uint32_t number;  /**< device number, as in CUDA_VISIBLE_DEVICES */
} pai_node_gpu_view;

/** A SKU: a type of machine; values of 0 are not known. */
typedef struct pai_sku_view {
  size_t struct_size;
  const char *name;
  size_t nodes;        /**< number of its nodes */
  size_t gpus;         /**< of each node */
  const char *gpu;     /**< their type; NULL: no GPUs, or several types */
  uint64_t gpu_memory; /**< of each GPU, in bytes */
  uint32_t numa;       /**< NUMA nodes */
  size_t near;         /**< number of kinds of GPU groups:
                            pai_cluster_sku_near() */
  uint32_t cpus;
  uint64_t memory;      /**< bytes */
  uint32_t used_cpus;   /**< CPUs in use on each node by other programs */
  uint64_t used_memory; /**< memory in use on each node by other programs */
} pai_sku_view;

/** A virtual cluster. */
typedef struct pai_vc_view {
  size_t struct_size;
  const char *name;
  size_t shares;
  uint32_t part; /**< its share of the cluster, in hundredths of a percent */
  uint32_t most; /**< most that it may use, in the same unit */
  int parted;    /**< 1: its share is `part`, and there are no shares by
                      cells */
  int rest;      /**< 1: its part is the remainder that other virtual clusters
                      leave */
  int stopped;   /**< 1: stopped: its jobs do not start */
} pai_vc_view;

/** A share of a virtual cluster: a number of cells of a type, or one cell by
 *  name. */
typedef struct pai_share_view {
  size_t struct_size;
  const char *cells; /**< type of the cells, "CHAIN.TYPE" or short; NULL: see
                          pin */
  const char *pin;   /**< name of the pinned cell, or NULL */
  size_t count;
} pai_share_view;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size, or no view;
 *  PAI_ENOTFOUND: no such object  @since 0.1 */
PAI_API int pai_cluster_view_sums(const pai_cluster *cluster,
                                  pai_cluster_view *view);
/** @since 0.1 */
PAI_API int pai_cluster_view_node(const pai_cluster *cluster, size_t node,
                                  pai_node_view *view);
/** @since 0.1 */
PAI_API int pai_cluster_view_gpu(const pai_cluster *cluster, size_t node,
                                 size_t gpu, pai_node_gpu_view *view);
/** @since 0.1 */
PAI_API int pai_cluster_view_sku(const pai_cluster *cluster, size_t sku,
                                 pai_sku_view *view);
/** @since 0.1 */
PAI_API int pai_cluster_view_vc(const pai_cluster *cluster, size_t vc,
                                pai_vc_view *view);
/** @since 0.1 */
PAI_API int pai_cluster_view_share(const pai_cluster *cluster, size_t vc,
                                   size_t share, pai_share_view *view);

/** Label @p i of a node, as key and value.  @return as the views
 *  @since 0.1 */
PAI_API int pai_cluster_node_label(const pai_cluster *cluster, size_t node,
                                   size_t i, const char **key,
                                   const char **value);

/** Kind @p i of the GPU groups of a SKU: the unit that the GPUs of a group
 *  share, such as "switch", and the number of GPUs of a group.
 *  @return as the views  @since 0.1 */
PAI_API int pai_cluster_sku_near(const pai_cluster *cluster, size_t sku,
                                 size_t i, const char **name, uint32_t *gpus);

/** Finds a node by its name.  @return PAI_OK; PAI_ENOTFOUND  @since 0.1 */
PAI_API int pai_cluster_find_node(const pai_cluster *cluster, const char *name,
                                  size_t *node);

/**
 * Marks a node or one of its GPUs as sick, or as healthy again.
 *
 * @param cluster  unchanged after a failure
 * @param node     index of the node
 * @param gpu      a GPU of the node, or -1 for the whole node
 * @param why      reason, one line for people, cut after 253 bytes; NULL:
 *                 healthy again
 * @return PAI_OK; PAI_ENOTFOUND: no such node or GPU; PAI_EINVAL: invalid
 *         arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_set_sick(pai_cluster *cluster,
                                               size_t node, long gpu,
                                               const char *why);

/* --- writing -------------------------------------------------------------- */

/**
 * Writes a cluster in the format "openpai".  The same cluster always gives the
 * same bytes.
 *
 * @param cluster    the cluster
 * @param format     PAI_FORMAT_YAML or 0, or PAI_FORMAT_JSON
 * @param write      receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: another format; PAI_ENOMEM; or the return value
 *         of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_write(const pai_cluster *cluster,
                                            int format, pai_write_cb write,
                                            void *user_data, pai_error **err);

/**
 * Writes a cluster as HiveD's configuration: its cells, their types, and the
 * shares of virtual clusters; settings of HiveD that the cluster was read
 * with; and skuTypes as far as CPUs and memory are known.  Values that HiveD
 * infers are left out.  The same cluster always gives the same bytes.
 *
 * HiveD starts only if each chain is named by a virtual cluster.  If there are
 * no virtual clusters, `default` gets all cells; a chain without a share is
 * given to the first virtual cluster with 0 cells.  These additions are only
 * in the text, not in @p cluster.
 *
 * Labels, sickness, and racks that are not cells are not written, because
 * HiveD's configuration cannot express them.
 *
 * @param cluster    a cluster without cells gets cells for its GPUs, GPU
 *                   groups, nodes and racks
 * @param format     PAI_FORMAT_YAML or 0, or PAI_FORMAT_JSON
 * @param write      receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: another format; PAI_ENOTSUP: a cluster without
 *         GPUs; PAI_ENOMEM; or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_write_hived(pai_cluster *cluster,
                                                  int format,
                                                  pai_write_cb write,
                                                  void *user_data,
                                                  pai_error **err);

/* --- pictures ------------------------------------------------------------- */

/** Options of pai_cluster_draw(); or use PAI_CLUSTER_DRAW_OPTIONS_INIT. */
typedef struct pai_cluster_draw_options {
  size_t struct_size;
  int format;                /**< PAI_FORMAT_TEXT or 0; PAI_FORMAT_SVG */
  int colour;                /**< 1: text with escape sequences for
                                  terminals */
  const pai_gpu_mark *marks; /**< marks of all GPUs, node by node; or NULL */
  size_t mark_count;         /**< number of marks; further GPUs have none */
} pai_cluster_draw_options;

#define PAI_CLUSTER_DRAW_OPTIONS_INIT               \
  {                                                 \
    sizeof(pai_cluster_draw_options), 0, 0, NULL, 0 \
  }

/**
 * Draws the racks, nodes and GPUs of a cluster, coloured by use and sickness.
 * The same cluster and marks give the same bytes; the look may change between
 * versions.
 *
 * @param cluster    the cluster; its sick nodes and GPUs need no marks
 * @param opts       options, or NULL for defaults; not kept
 * @param write      receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP: bad options; PAI_ENOMEM; or the
 *         return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_draw(
  const pai_cluster *cluster, const pai_cluster_draw_options *opts,
  pai_write_cb write, void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_CLUSTER_H */
