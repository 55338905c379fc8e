/**
 * @file openpai/allocation.h
 * Allocation sets: devices, CPUs, ports and memory, node by node.  What a job
 * holds is one, what is free is one, what a cluster has is one.
 *
 * A node is a number, 0 to PAI_ALLOCATION_NODES - 1, and so are the GPUs, CPUs
 * and ports on it; a slice of a GPU (MIG) has a number of its own.  Of these
 * an allocation is a set.  Memory is an amount: bytes per node.  Therefore
 *
 *                          GPUs, CPUs, ports    memory of each node
 *   unite, union           in one or the other  the larger
 *   intersect, ...tion     in both              the smaller
 *   subtract, difference   in the first only    what is left, at least 0
 *   give                   as unite, and none   the sum
 *                          may be in both
 *   take                   as subtract, and     what is left; there must be
 *                          all must be there    enough
 *
 * A job starts: take() what it gets from what is free; it ends: give() it back.
 * A node with nothing is not in the set.
 *
 * A function that fails leaves its set as it was, also when memory runs out.
 * A set may be changed by itself: subtract(a, a) empties it.
 *
 * As a text:
 *
 *   node 3: gpu 0-3,7 cpu 0-31 mem 64G port 15000-15003; node 7: gpu 0
 *
 * Threads: SERIAL; a set that nobody changes may be read by many.
 */
#ifndef OPENPAI_ALLOCATION_H
#define OPENPAI_ALLOCATION_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_allocation pai_allocation; /**< pai_allocation_free() */

/** What a number on a node is a number of. */
enum {
  PAI_ALLOCATION_GPU = 1,
  PAI_ALLOCATION_CPU = 2,
  PAI_ALLOCATION_PORT = 3
};

/** How many there can be: numbers begin with 0. */
enum {
  PAI_ALLOCATION_NODES = 100000, /**< in a set */
  PAI_ALLOCATION_GPUS = 4096,    /**< on a node, like those below */
  PAI_ALLOCATION_CPUS = 4096,
  PAI_ALLOCATION_PORTS = 65536
};

/** The most bytes of memory on one node: 128 TiB, so that sums fit. */
#define PAI_ALLOCATION_MAX_MEMORY ((uint64_t)1 << 47)

/* --- making --------------------------------------------------------------- */

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

/** Makes a set with the same content and allocator, owned by the caller.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_allocation_copy(pai_allocation **out,
                                              const pai_allocation *set,
                                              pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_allocation_free(pai_allocation *set);

/**
 * Reads the text form.  Nodes may come in any order, each once, and so may
 * gpu, cpu, mem and port of a node; nodes end with ; or a new line.  Memory is
 * bytes, or with K, M, G, T (also KiB, Ki, ...) that many times 1024, 1024², ...
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

/** Empties the set and gives its memory back.  @since 0.1 */
PAI_API void pai_allocation_clear(pai_allocation *set);

/**
 * Adds @p first to @p last, both included; those that are there stay.  Nodes
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

/** Removes @p first to @p last; those that are not there stay away.
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
 * Adds what must not be there: nothing may be given twice.
 * @return PAI_OK; PAI_EEXISTS: a device, CPU or port is there already, and the
 *         error names it; PAI_ELIMIT: too much memory on a node; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_give(pai_allocation *set,
                                              const pai_allocation *other,
                                              pai_error **err);

/**
 * Removes what must be there.
 * @return PAI_OK; PAI_ENOTFOUND: a device, CPU, port or memory is not there,
 *         and the error names it; PAI_ENOMEM, only with many ports
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_take(pai_allocation *set,
                                              const pai_allocation *other,
                                              pai_error **err);

/* --- new sets of two, owned by the caller, with the first one's allocator -- */

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

/* --- asking --------------------------------------------------------------- */

/** 1 when there is nothing in it.  @since 0.1 */
PAI_API int pai_allocation_is_empty(const pai_allocation *set);

/** 1 when the number is there; 0 also for what cannot be.  @since 0.1 */
PAI_API int pai_allocation_has(const pai_allocation *set, uint32_t node,
                               int kind, uint32_t number);

/** Bytes on a node.  @since 0.1 */
PAI_API uint64_t pai_allocation_memory(const pai_allocation *set,
                                       uint32_t node);

/** Bytes on all nodes.  @since 0.1 */
PAI_API uint64_t pai_allocation_total_memory(const pai_allocation *set);

/** Nodes on which there is anything.  @since 0.1 */
PAI_API uint32_t pai_allocation_nodes(const pai_allocation *set);

/** How many of a kind on a node; 0 for no kind.  @since 0.1 */
PAI_API uint32_t pai_allocation_count(const pai_allocation *set, uint32_t node,
                                      int kind);

/** How many of a kind on all nodes.  @since 0.1 */
PAI_API uint64_t pai_allocation_total(const pai_allocation *set, int kind);

/** 1 when all of @p part is in @p set, memory included.  @since 0.1 */
PAI_API int pai_allocation_contains(const pai_allocation *set,
                                    const pai_allocation *part);

/** 1 when a device, CPU or port is in both.  Memory is not looked at: of an
 *  amount nobody can tell which part is whose.  @since 0.1 */
PAI_API int pai_allocation_overlaps(const pai_allocation *a,
                                    const pai_allocation *b);

/** 1 when both hold the same.  @since 0.1 */
PAI_API int pai_allocation_equal(const pai_allocation *a,
                                 const pai_allocation *b);

/** Negative, 0 or positive: some total order, the same on every machine, for
 *  sorting and for keys.  @since 0.1 */
PAI_API int pai_allocation_compare(const pai_allocation *a,
                                   const pai_allocation *b);

/** The same for equal sets, on every machine and in every version 0.x; not for
 *  sets that an attacker chooses.  @since 0.1 */
PAI_API uint64_t pai_allocation_hash(const pai_allocation *set);

/* --- walking -------------------------------------------------------------- */

/**
 * Where a walk is.  Ask for nodes, and for what is on each:
 *
 *   pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
 *
 *   while (pai_allocation_next_node(set, &it))
 *     while (pai_allocation_next_range(set, &it, PAI_ALLOCATION_GPU))
 *       use(it.node, it.first, it.last);
 *
 * Asking for another kind begins with its first number.  A walk needs no end,
 * and goes on behind its place when the set is changed meanwhile.  FROZEN:
 * this struct never grows.
 */
typedef struct pai_allocation_iter {
  uint32_t node;    /**< the node */
  uint32_t first;   /**< of the range, or the number */
  uint32_t last;    /**< of the range, or the number */
  int32_t kind;     /**< what was asked for */
  uint32_t next[2]; /**< the library's */
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

/** Goes to the next range on the node, as long as can be; 0 when there is
 *  none.  @since 0.1 */
PAI_API int pai_allocation_next_range(const pai_allocation *set,
                                      pai_allocation_iter *it, int kind);

/** Goes to the next number on the node, first and last; 0 when there is none.
 *  @since 0.1 */
PAI_API int pai_allocation_next_item(const pai_allocation *set,
                                     pai_allocation_iter *it, int kind);

/* --- writing -------------------------------------------------------------- */

/**
 * Writes the text form on one line without its end; nothing for the empty
 * set.  The same set gives the same bytes, and pai_allocation_parse() the
 * same set.
 *
 * @param set    the set
 * @param write  takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_write(const pai_allocation *set,
                                               pai_write_cb write,
                                               void *user_data,
                                               pai_error **err);

/**
 * Writes one JSON object on one line:
 * {"nodes":[{"node":3,"gpu":"0-3,7","cpu":"0-31","memory":68719476736,
 * "port":"15000-15003"}]}; what a node lacks is left out.
 * @return as pai_allocation_write()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_allocation_write_json(const pai_allocation *set,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_ALLOCATION_H */
