/**
 * @file openpai/allocation.h
 * Allocation sets: GPUs, CPUs, ports and memory of nodes.  The resources of a
 * job, the free resources and all resources of a cluster are such sets.
 *
 * A node is a number, 0 to PAI_ALLOCATION_NODES - 1.  GPUs, CPUs and ports of
 * a node are numbers, too; a slice of a GPU (MIG) has its own number.  An
 * allocation is a set of these numbers.  Memory is an amount: bytes per node.
 * Results for two sets a and b:
 *
 *                          GPUs, CPUs, ports    memory of each node
 *   unite, union           in a, b or both      the larger
 *   intersect, ...tion     in a and b           the smaller
 *   subtract, difference   in a only            the difference, at least 0
 *   give                   in a or b; none may  the sum
 *                          be in both
 *   take                   in a only; all of b  the difference; a must have
 *                          must be in a         enough
 *
 * When a job starts, take() its resources from the free set; when it ends,
 * give() them back.  A node without resources is not in the set.
 *
 * A function that fails leaves its set unchanged, also when memory runs out.
 * Both arguments may be the same set: subtract(a, a) empties it.
 *
 * As a text:
 *
 *   node 3: gpu 0-3,7 cpu 0-31 mem 64G port 15000-15003; node 7: gpu 0
 *
 * Threads: SERIAL; several threads may read a set that is not changed.
 */
#ifndef OPENPAI_ALLOCATION_H
#define OPENPAI_ALLOCATION_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_allocation pai_allocation; /**< pai_allocation_free() */

/** Kinds of numbered resources of a node. */
enum {
  PAI_ALLOCATION_GPU = 1,
  PAI_ALLOCATION_CPU = 2,
  PAI_ALLOCATION_PORT = 3
};

/** Limits; numbers begin with 0. */
enum {
  PAI_ALLOCATION_NODES = 100000, /**< in a set */
  PAI_ALLOCATION_GPUS = 4096,    /**< on a node, like those below */
  PAI_ALLOCATION_CPUS = 4096,
  PAI_ALLOCATION_PORTS = 65536
};

/** The most bytes of memory on one node: 128 TiB, so that sums fit. */
#define PAI_ALLOCATION_MAX_MEMORY ((uint64_t)1 << 47)

/* --- creation ------------------------------------------------------------- */

/**
 * Makes an empty set.
 *
 * @param[out] out  the set, owned by the caller; NULL on failure
 * @param alloc     NULL: malloc; copied
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_new(pai_allocation **out,
                                             const pai_alloc *alloc,
                                             pai_error **err);

/** Copies a set, with its allocator; the copy is owned by the caller.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_copy(pai_allocation **out,
                                              const pai_allocation *set,
                                              pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_allocation_free(pai_allocation *set);

/**
 * Parses the text form.  Nodes may come in any order, each at most once; so
 * may gpu, cpu, mem and port of a node.  A node ends with ; or a new line.
 * Memory is in bytes, or with K, M, G, T (also KiB, Ki, ...) in units of 1024,
 * 1024², ...
 *
 * @param[out] out  the set, owned by the caller; NULL on failure
 * @param text      need not end with NUL; not kept
 * @param len       its length in bytes
 * @param alloc     NULL: malloc; copied
 * @param[out] err  NULL, or receives the first error, with line and column
 * @return PAI_OK; PAI_EINVAL: not such a text; PAI_ELIMIT: a number is too
 *         large; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_parse(pai_allocation **out,
                                               const char *text, size_t len,
                                               const pai_alloc *alloc,
                                               pai_error **err);

/* --- changing ------------------------------------------------------------- */

/** Empties the set and frees its memory.  @since 0.1 */
PAI_API void pai_allocation_clear(pai_allocation *set);

/**
 * Adds the numbers @p first to @p last, inclusive; existing ones stay.  Nodes
 * are added fastest in ascending order.
 *
 * @param set   the set
 * @param node  0 to PAI_ALLOCATION_NODES - 1
 * @param kind  PAI_ALLOCATION_GPU, ...
 * @param first the first number
 * @param last  the last number, not below the first
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: no such kind, or @p last is below @p first;
 *         PAI_ELIMIT: a number is too large; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_add(pai_allocation *set,
                                             uint32_t node, int kind,
                                             uint32_t first, uint32_t last,
                                             pai_error **err);

/** Removes the numbers @p first to @p last; missing ones are ignored.
 *  @return as pai_allocation_add()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_remove(pai_allocation *set,
                                                uint32_t node, int kind,
                                                uint32_t first, uint32_t last,
                                                pai_error **err);

/** Sets the bytes of memory on a node; 0: none.
 *  @return PAI_OK; PAI_ELIMIT: the node or the amount is too large; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_set_memory(pai_allocation *set,
                                                    uint32_t node,
                                                    uint64_t bytes,
                                                    pai_error **err);

/** @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_unite(pai_allocation *set,
                                               const pai_allocation *other,
                                               pai_error **err);
/** @return PAI_OK; PAI_ENOMEM, only with many ports  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_intersect(pai_allocation *set,
                                                   const pai_allocation *other,
                                                   pai_error **err);
/** @return PAI_OK; PAI_ENOMEM, only with many ports  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_subtract(pai_allocation *set,
                                                  const pai_allocation *other,
                                                  pai_error **err);

/**
 * Adds a set.  Both sets must be disjoint, except for memory.
 * @return PAI_OK; PAI_EEXISTS: a device, CPU or port is already in the set,
 *         and the error names it; PAI_ELIMIT: too much memory on a node;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_give(pai_allocation *set,
                                              const pai_allocation *other,
                                              pai_error **err);

/**
 * Removes a set, which must be completely contained in @p set.
 * @return PAI_OK; PAI_ENOTFOUND: a device, CPU, port or memory is missing, and
 *         the error names it; PAI_ENOMEM, only with many ports
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_take(pai_allocation *set,
                                              const pai_allocation *other,
                                              pai_error **err);

/* --- new sets, owned by the caller, with the allocator of the first one ---- */

/** @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_union(pai_allocation **out,
                                               const pai_allocation *a,
                                               const pai_allocation *b,
                                               pai_error **err);
/** @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_intersection(pai_allocation **out,
                                                      const pai_allocation *a,
                                                      const pai_allocation *b,
                                                      pai_error **err);
/** @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_difference(pai_allocation **out,
                                                    const pai_allocation *a,
                                                    const pai_allocation *b,
                                                    pai_error **err);

/* --- queries -------------------------------------------------------------- */

/** Returns 1 if the set is empty.  @since 0.1 */
PAI_API int pai_allocation_is_empty(const pai_allocation *set);

/** Returns 1 if the number is in the set; 0 also for impossible numbers.
 *  @since 0.1 */
PAI_API int pai_allocation_has(const pai_allocation *set, uint32_t node,
                               int kind, uint32_t number);

/** Bytes on a node.  @since 0.1 */
PAI_API uint64_t pai_allocation_memory(const pai_allocation *set,
                                       uint32_t node);

/** Bytes on all nodes.  @since 0.1 */
PAI_API uint64_t pai_allocation_total_memory(const pai_allocation *set);

/** Number of nodes in the set.  @since 0.1 */
PAI_API uint32_t pai_allocation_nodes(const pai_allocation *set);

/** Number of resources of a kind on a node; 0 for an unknown kind.
 *  @since 0.1 */
PAI_API uint32_t pai_allocation_count(const pai_allocation *set, uint32_t node,
                                      int kind);

/** Number of resources of a kind on all nodes.  @since 0.1 */
PAI_API uint64_t pai_allocation_total(const pai_allocation *set, int kind);

/** Returns 1 if @p set contains all of @p part, including memory.
 *  @since 0.1 */
PAI_API int pai_allocation_contains(const pai_allocation *set,
                                    const pai_allocation *part);

/** Returns 1 if a device, CPU or port is in both sets.  Memory is an amount
 *  and is not compared.  @since 0.1 */
PAI_API int pai_allocation_overlaps(const pai_allocation *a,
                                    const pai_allocation *b);

/** Returns 1 if both sets are equal.  @since 0.1 */
PAI_API int pai_allocation_equal(const pai_allocation *a,
                                 const pai_allocation *b);

/** Compares two sets in a total order that is the same on every machine.
 *  Returns a negative number, 0 or a positive number.  @since 0.1 */
PAI_API int pai_allocation_compare(const pai_allocation *a,
                                   const pai_allocation *b);

/** Returns a hash, which is the same on every machine and in every version
 *  0.x.  It does not resist sets chosen by an attacker.  @since 0.1 */
PAI_API uint64_t pai_allocation_hash(const pai_allocation *set);

/* --- iteration ------------------------------------------------------------ */

/**
 * An iterator over nodes and their resources:
 *
 *   pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
 *
 *   while (pai_allocation_next_node(set, &it))
 *     while (pai_allocation_next_range(set, &it, PAI_ALLOCATION_GPU))
 *       use(it.node, it.first, it.last);
 *
 * A call for another kind begins with its first number.  An iterator needs no
 * cleanup; if the set is changed meanwhile, it continues after its position.
 * FROZEN: this struct never grows.
 */
typedef struct pai_allocation_iter {
  uint32_t node;    /**< the node */
  uint32_t first;   /**< first number of the range, or the number */
  uint32_t last;    /**< last number of the range, or the number */
  int32_t kind;     /**< the requested kind */
  uint32_t next[2]; /**< internal */
} pai_allocation_iter;

#define PAI_ALLOCATION_ITER_INIT \
  {                              \
    0, 0, 0, 0,                  \
    {                            \
      0, 0                       \
    }                            \
  }

/** Goes to the next node, in ascending order; 0 when there is none.
 *  @since 0.1 */
PAI_API int pai_allocation_next_node(const pai_allocation *set,
                                     pai_allocation_iter *it);

/** Goes to the next range of numbers on the node, of maximal length; 0 when
 *  there is none.  @since 0.1 */
PAI_API int pai_allocation_next_range(const pai_allocation *set,
                                      pai_allocation_iter *it, int kind);

/** Goes to the next number on the node and sets first and last to it; 0 when
 *  there is none.
 *  @since 0.1 */
PAI_API int pai_allocation_next_item(const pai_allocation *set,
                                     pai_allocation_iter *it, int kind);

/* --- writing -------------------------------------------------------------- */

/**
 * Writes the text form on one line, without a newline; for the empty set, an
 * empty text.  Equal sets give the same bytes.  pai_allocation_parse() reads
 * the text back.
 *
 * @param set    the set
 * @param write  receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOMEM; or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_write(const pai_allocation *set,
                                               pai_write_cb write,
                                               void *user_data,
                                               pai_error **err);

/**
 * Writes one JSON object on one line:
 * {"nodes":[{"node":3,"gpu":"0-3,7","cpu":"0-31","memory":68719476736,
 * "port":"15000-15003"}]}; members without a value are left out.
 * @return as pai_allocation_write()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_write_json(const pai_allocation *set,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_ALLOCATION_H */
