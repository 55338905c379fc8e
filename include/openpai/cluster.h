/**
 * @file openpai/cluster.h
 * Clusters: machines with their GPUs, what is sick, and the virtual clusters
 * that share them.
 *
 * A cluster is read from a text of one of these forms, told by its content:
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
 * or is made of a description in one line, as "racks:2 nodes:16 gpu:8:h100".
 *
 * Nodes, SKUs and all else are counted from 0 and keep the order of the text.
 *
 * Threads: SERIAL.  Reading alone may go on in many threads.
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
  const char *form;       /**< one of the above; NULL: told by the content */
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
 * @param[out] err  NULL, or receives the first error, with line, column,
 *                  JSON pointer and, mostly, a help line
 * @return PAI_OK; PAI_EINVAL: not a valid text of its form; PAI_ELIMIT;
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
 * Makes a cluster of a description: words of the form KEY:VALUE, in any order,
 * of which only nodes is needed.
 *
 *   nodes:16       machines, of all racks; node0001, node0002, ...
 *   racks:2        they stand in, as equally many as can be in each; not more
 *                  than nodes
 *   gpu:8          GPUs of each machine; gpu:8:h100 also says of which kind
 *   cpus:128       CPUs of each machine
 *   mem:1T         its memory: bytes, or with K, M, G or T
 *   numa:2         its NUMA nodes
 *   switch:4       GPUs below one PCI switch; all are parted equally
 *   link:8         GPUs that NVLink joins; likewise
 *
 * @param[out] out     the cluster, owned by the caller; NULL on failure
 * @param description  not kept
 * @param opts         options, or NULL for defaults; not kept
 * @param[out] err     NULL, or receives the error; columns are the
 *                     description's
 * @return PAI_OK; PAI_EINVAL; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_synthetic(
  pai_cluster **out, const char *description, const pai_cluster_options *opts,
  pai_error **err);

/** A machine of a cluster to be; strings are copied.  All of an array have
 *  the same struct_size. */
typedef struct pai_cluster_machine {
  size_t struct_size;
  const char *name; /**< NULL: as its topology is called */
  const char *rack; /**< where it stands, or NULL */
  const pai_topology *topology;
} pai_cluster_machine;

/**
 * Makes a cluster of machines as they are: machines of equal build are one
 * SKU, kinds of GPUs are called as their models ("tesla-v100-sxm3-32gb"), and
 * GPUs stand in the order in which neighbours are together.
 *
 * @param[out] out  the cluster, owned by the caller; NULL on failure
 * @param machines  an array; not kept
 * @param n         how many, at least one
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error
 * @return PAI_OK; PAI_EINVAL: one has no name, or the name of another, or one
 *         that files of clusters could not hold;
 *         PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_from_machines(
  pai_cluster **out, const pai_cluster_machine *machines, size_t n,
  const pai_cluster_options *opts, pai_error **err);

/**
 * Finds the problems of a cluster's text, in the order of the text; see
 * <openpai/report.h>.
 *
 * @param[out] out      what was found, owned by the caller; NULL on failure
 * @param[out] cluster  NULL, or receives the cluster of a valid text
 * @param text          as pai_cluster_parse()
 * @param len           its length in bytes
 * @param opts          options, or NULL for defaults; not kept
 * @param[out] err      NULL, or receives the error of a failure
 * @return PAI_OK, whether the text is valid or not; PAI_EINVAL for a broken
 *         call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_check(pai_report **out,
                                            pai_cluster **cluster,
                                            const char *text, size_t len,
                                            const pai_cluster_options *opts,
                                            pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_cluster_free(pai_cluster *cluster);

/* --- what there is -------------------------------------------------------- */

/** Sums over a cluster. */
typedef struct pai_cluster_view {
  size_t struct_size; /**< set by the caller, as of all views */
  const char *name;   /**< "" when it has none; strings are the cluster's */
  const char *form;   /**< what it was read from; "synthetic", "machines" */
  size_t nodes, gpus, racks, skus, virtual_clusters;
  size_t sick_nodes, sick_gpus; /**< all GPUs of a sick node are sick */
  uint64_t cpus;                /**< of all nodes, as far as known */
  uint64_t memory;              /**< likewise, in bytes; at most INT64_MAX */
} pai_cluster_view;

/** A machine. */
typedef struct pai_node_view {
  size_t struct_size;
  const char *name;
  const char *address; /**< how to reach it; the name if nothing else */
  const char *rack;    /**< NULL: not known */
  const char *sick;    /**< why it is out of use, or NULL */
  const char *pin;     /**< a name for shares of just this node, or NULL */
  size_t sku;
  size_t gpus;
  size_t labels;
} pai_node_view;

/** A GPU of a node. */
typedef struct pai_node_gpu_view {
  size_t struct_size;
  const char *kind; /**< what jobs ask for, as "h100" */
  const char *uuid; /**< NULL: not known */
  const char *sick; /**< why it is out of use, or NULL; its node's, too */
  uint32_t number;  /**< its device, as in CUDA_VISIBLE_DEVICES */
} pai_node_gpu_view;

/** A type of machine; 0 is what nobody knows. */
typedef struct pai_sku_view {
  size_t struct_size;
  const char *name;
  size_t nodes;        /**< there are of it */
  size_t gpus;         /**< of each node */
  const char *gpu;     /**< their kind, or NULL: none, or of several */
  uint64_t gpu_memory; /**< of each GPU, in bytes */
  uint32_t numa;       /**< NUMA nodes */
  size_t near;         /**< groups of GPUs: pai_cluster_sku_near() */
  uint32_t cpus;
  uint64_t memory;      /**< bytes */
  uint32_t used_cpus;   /**< by what runs on each node anyway */
  uint64_t used_memory; /**< likewise */
} pai_sku_view;

/** A virtual cluster. */
typedef struct pai_vc_view {
  size_t struct_size;
  const char *name;
  size_t shares;
  uint32_t part; /**< of the cluster, in hundredths of a percent; */
  uint32_t most; /**< and the most that it may have */
  int parted;    /**< 1: it has a part, and no shares */
  int rest;      /**< 1: its part is what the others leave */
  int stopped;   /**< 1: nothing of it starts */
} pai_vc_view;

/** A part of a virtual cluster: so many cells of a type, or one by name. */
typedef struct pai_share_view {
  size_t struct_size;
  const char *cells; /**< their type, "CHAIN.TYPE" or short; NULL: by name */
  const char *pin;   /**< the cell's name, or NULL */
  size_t count;
} pai_share_view;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size, or no view;
 *  PAI_ENOTFOUND: there are fewer  @since 0.1 */
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

/** What groups of GPUs of a SKU share, as "switch", and how many are in each.
 *  @return as the views  @since 0.1 */
PAI_API int pai_cluster_sku_near(const pai_cluster *cluster, size_t sku,
                                 size_t i, const char **name, uint32_t *gpus);

/** Finds a node by its name.  @return PAI_OK; PAI_ENOTFOUND  @since 0.1 */
PAI_API int pai_cluster_find_node(const pai_cluster *cluster, const char *name,
                                  size_t *node);

/**
 * Takes a node or one of its GPUs out of use, or back.
 *
 * @param cluster  unchanged after a failure
 * @param node     which
 * @param gpu      one of its GPUs, or -1 for all of the node
 * @param why      a line for people, of which 253 bytes are kept; NULL: it is
 *                 well again
 * @return PAI_OK; PAI_ENOTFOUND: there is no such node or GPU; PAI_EINVAL for
 *         a broken call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_set_sick(pai_cluster *cluster,
                                               size_t node, long gpu,
                                               const char *why);

/* --- writing -------------------------------------------------------------- */

/**
 * Writes a cluster in our own form: the same cluster gives the same bytes.
 *
 * @param cluster    the cluster
 * @param format     PAI_FORMAT_YAML or 0, or PAI_FORMAT_JSON
 * @param write      takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for another format; PAI_ENOMEM; or what @p write
 *         answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_write(const pai_cluster *cluster,
                                            int format, pai_write_cb write,
                                            void *user_data, pai_error **err);

/**
 * Writes a cluster as HiveD's configuration: its cells, their types, and what
 * virtual clusters have of them; the settings of HiveD's own that it was read
 * with, and skuTypes as far as CPUs and memory are known.  What HiveD infers
 * is left out.  The same cluster gives the same bytes.
 *
 * HiveD starts only if each chain is named by a virtual cluster: where there is
 * none, `default` is given all, and a chain that nobody has is given to the
 * first one with 0 cells.  The cluster itself stays without them.
 *
 * What HiveD has no word for is not written: labels, what is sick, racks that
 * are no cells.
 *
 * @param cluster    one without cells gets those that its machines are: GPUs,
 *                   what they share, machines, racks
 * @param format     PAI_FORMAT_YAML or 0, or PAI_FORMAT_JSON
 * @param write      takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for another format; PAI_ENOTSUP for a cluster
 *         without GPUs; PAI_ENOMEM; or what @p write answered
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
  int colour;                /**< 1: text has a terminal's escape sequences */
  const pai_gpu_mark *marks; /**< of all GPUs, node by node; or NULL */
  size_t mark_count;         /**< how many; GPUs beyond have none */
} pai_cluster_draw_options;

#define PAI_CLUSTER_DRAW_OPTIONS_INIT               \
  {                                                 \
    sizeof(pai_cluster_draw_options), 0, 0, NULL, 0 \
  }

/**
 * Draws a cluster: its racks, nodes and GPUs, coloured by who uses them and
 * what is sick.  The same cluster and marks give the same bytes; the look may
 * change.
 *
 * @param cluster    the cluster; what is sick of it needs no mark
 * @param opts       options, or NULL for defaults; not kept
 * @param write      takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for bad options; PAI_ENOMEM; or
 *         what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_cluster_draw(
  const pai_cluster *cluster, const pai_cluster_draw_options *opts,
  pai_write_cb write, void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_CLUSTER_H */
