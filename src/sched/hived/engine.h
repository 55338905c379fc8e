/*
 * engine.h - internal to HiveD: all that it knows, in flat arrays
 *
 * Cells, views, groups and lists refer to each other by index, so that a clone
 * is a copy of each array.  The physical cells keep the numbers they have in
 * the cluster, depth first: the first child of a cell is the next one, the next
 * sibling is its `skip`.  So do the virtual cells, one virtual cluster after
 * the other.  Leaf cells have numbers of their own, in the same order.
 */
#ifndef PAI_SRC_SCHED_HIVED_ENGINE_H
#define PAI_SRC_SCHED_HIVED_ENGINE_H

#include "resource/cells.h"
#include "sched/hived/hived.h"

enum { PAI__FREE_PRIORITY = -2, PAI__OPPORTUNISTIC = -1 };

/* What a leaf cell is, PAI__LEAF_USED and PAI__LEAF_RESERVING with a group that
 * uses it, PAI__LEAF_RESERVING and PAI__LEAF_RESERVED with one that will. */
enum {
  PAI__LEAF_FREE,
  PAI__LEAF_USED,
  PAI__LEAF_RESERVING,
  PAI__LEAF_RESERVED
};

enum { PAI__CELL_SICK = 1, PAI__CELL_SPLIT = 2, PAI__CELL_PINNED = 4 };

typedef struct pai__pcell {
  uint32_t parent, skip;
  uint32_t bound;     /* the virtual cell it is, or PAI__NOTHING */
  uint32_t at_free;   /* its place in the lists, or PAI__NOTHING */
  uint32_t at_sick;   /* in the list of sick free ones */
  uint32_t at_doomed; /* in that of its virtual cluster */
  uint32_t opp;       /* leaves in it that are used opportunistically */
  uint32_t leaf;      /* its first leaf */
  uint32_t node;      /* or PAI__NOTHING for those above nodes */
  uint32_t sick;      /* children that are sick */
  int16_t priority;   /* the highest of its leaves */
  uint16_t chain;
  uint8_t level;
  uint8_t flags;
} pai__pcell;

typedef struct pai__pleaf {
  uint32_t cell;
  uint32_t vnode; /* of the view of its chain */
  uint32_t user;  /* groups, or PAI__NOTHING */
  uint32_t reserving;
  uint8_t state;
  bool guaranteed; /* it counts as its virtual cell's; a cell may also be bound
                      only because it is sick */
} pai__pleaf;

typedef struct pai__vcell {
  uint32_t parent, skip;
  uint32_t bound; /* the cell that it is, or PAI__NOTHING */
  uint32_t root;
  uint32_t leaf;   /* its first leaf */
  uint32_t number; /* the last part of its address */
  uint32_t pair;   /* which virtual cluster has it of which chain */
  uint32_t at;     /* of roots that are not pinned: in `roots` */
  int16_t priority;
  uint8_t level;
  bool pinned;
} pai__vcell;

typedef struct pai__vleaf {
  uint32_t cell;
  uint32_t vnode; /* of the view that shows it */
  uint8_t state;
} pai__vleaf;

/* One level of a chain, from its leaf cells up. */
typedef struct pai__hived_level {
  uint32_t type;
  uint32_t leaves;           /* in a cell of it, as its type says */
  uint32_t first;            /* the first cell of it */
  uint32_t children;         /* of that one */
  uint32_t free, nfree;      /* lists: where, and how many */
  uint32_t sick_free, nsick; /* likewise */
  uint32_t cap;              /* of each: all cells of the level */
  int32_t left;              /* in the free list, or in a cell that is */
  int32_t wanted;            /* that virtual clusters have free */
} pai__hived_level;

typedef struct pai__hived_chain {
  uint32_t type;
  uint32_t levels, level; /* how many, and the first in `levels` */
  uint32_t pair, npairs;  /* by the names of virtual clusters */
  uint32_t view;
} pai__hived_chain;

/* One level of what a virtual cluster has of a chain. */
typedef struct pai__pair_level {
  int32_t free;             /* preassigned cells that are not allocated */
  uint32_t roots, nroots;   /* in `roots`: those that are not pinned */
  uint32_t doomed, ndoomed; /* in `lists` */
} pai__pair_level;

typedef struct pai__hived_pair {
  uint32_t vc, chain;
  uint32_t level; /* the first in `pair_levels` */
  uint32_t view;  /* PAI__NOTHING without cells that are not pinned */
} pai__hived_pair;

typedef struct pai__hived_pin {
  uint32_t vc;
  uint32_t cell;
  uint32_t root; /* virtual */
  uint32_t view;
} pai__hived_pin;

typedef struct pai__hived_vc {
  const char *name;       /* the cluster's */
  uint32_t pin, npins;    /* by their names */
  uint32_t first, ncells; /* virtual ones */
} pai__hived_vc;

/* A type of leaf cells, and the chains that have it, in `type_chains`. */
typedef struct pai__leaf_type {
  uint32_t type;
  uint32_t first, count;
} pai__leaf_type;

/* --- views ---------------------------------------------------------------- */

/* What a placement takes for a node: a node's cell, or a smaller one that is
 * all there is. */
typedef struct pai__vnode {
  uint32_t cell;
  uint32_t view;
  uint32_t total;        /* leaves, as its type says */
  uint32_t used;         /* of them */
  uint32_t opp;          /* of these, opportunistically */
  uint32_t next, before; /* of its rank */
  uint32_t rank;         /* when the view was last sorted */
  bool dirty;            /* and may belong to another now */
  int64_t place;         /* in its rank: they grow from the first on */
} pai__vnode;

/* Nodes that are equal to a placement. */
typedef struct pai__rank {
  uint32_t first, last;
  int64_t low, high; /* places of these */
} pai__rank;

typedef struct pai__hived_view {
  uint32_t first, count; /* in `vnodes`; also in `order` and `dirty` */
  uint32_t total;        /* leaves of the largest */
  uint32_t rank, nranks; /* 0: too many; it is always sorted as a whole */
  uint32_t words;        /* in `rank_bits`, where ranks have nodes */
  uint32_t ndirty;
  bool physical;
  bool linked; /* the order is in the ranks, otherwise in `order` */
} pai__hived_view;

/* --- groups --------------------------------------------------------------- */

enum {
  PAI__GROUP_GONE,
  PAI__GROUP_ALLOCATED,
  PAI__GROUP_PREEMPTING,
  PAI__GROUP_PREEMPTED /* some of its cells are reserved by others */
};

/* Offsets are in the pool, PAI__NOTHING for none. */
typedef struct pai__hived_group {
  uint32_t name; /* in `names` */
  uint32_t vc;   /* or a name, PAI__HIVED_NAME set, of one that is no more */
  int32_t priority;
  uint8_t state;
  bool lazy;     /* may be lazily preempted */
  bool was_lazy; /* and has been, by: */
  uint32_t by;   /* a name */
  int64_t lazy_at;
  uint32_t nsizes, npods, nleaves;
  uint32_t sizes;     /* pairs: leaves a pod, pods */
  uint32_t physical;  /* a leaf cell each, or PAI__NOTHING where it was lost */
  uint32_t vcell;     /* likewise; PAI__NOTHING when it has none */
  uint32_t spots;     /* what a leaf that was lost was called; or nothing */
  uint32_t slots;     /* pai__hived_slot of each pod */
  uint32_t allocated; /* slots that are taken */
  uint32_t preempting, npreempting, preempting_cap; /* pods */
  uint32_t reserved_of; /* leaves of it that others reserve */
  uint32_t mark;
  bool was_preempted; /* and HiveD would not know that it is no more */
} pai__hived_group;

typedef struct pai__hived_slot {
  uint32_t low, high; /* the pod; 0: free */
  uint32_t node;
} pai__hived_slot;

enum {
  PAI__SLOT_WORDS = sizeof(pai__hived_slot) / sizeof(uint32_t),
  PAI__SPOT_WORDS = sizeof(pai__hived_spot) / sizeof(uint32_t)
};

typedef struct pai__hived_text {
  uint32_t at, len; /* in the pool, with a NUL behind it */
  uint32_t hash;
  uint32_t group; /* that is called so, or PAI__NOTHING */
  uint32_t uses;  /* 0: this entry is free */
} pai__hived_text;

/* Blocks of 2^k words, and lists of free ones. */
typedef struct pai__hived_pool {
  uint32_t *words;
  size_t used, cap;
  uint32_t free[32];
} pai__hived_pool;

/* --- what lives during one call ------------------------------------------- */

/* A virtual cell that has to be bound, with those in it that have to be. */
typedef struct pai__vertex {
  uint32_t cell;
  uint32_t to; /* the cell it is mapped to, of leaves */
  uint32_t child, last, next;
  uint32_t children;
} pai__vertex;

/* How to undo a change of a free list. */
typedef struct pai__undo {
  uint32_t level; /* in `levels` */
  uint32_t at;    /* where it was taken from, or PAI__NOTHING: it was added */
  uint32_t cell;
} pai__undo;

typedef struct pai__scratch {
  uint32_t *pods;                     /* leaves of each pod, ascending */
  uint32_t *nodes;                    /* vnode of each */
  uint32_t *vcell, *physical, *types; /* of each leaf, in their order */
  uint32_t *preempted; /* pairs: a group, and its virtual placement */
  uint32_t *groups;    /* that are found: victims */
  uint32_t *others;    /* overlapping preemptors */
  size_t pods_cap, nodes_cap, vcell_cap, physical_cap, types_cap,
    preempted_cap, groups_cap, others_cap;
  uint32_t ngroups, nothers, npreempted;
  uint32_t *avail, *count; /* leaves of one node */
  pai__vertex *vertices;
  size_t nvertices, vertices_cap;
  uint32_t *tops; /* vertices that are to be mapped, in this order */
  size_t ntops, tops_cap;
  uint32_t *vertex_of; /* of each virtual cell, or PAI__NOTHING */
  uint32_t *stack;     /* candidates */
  size_t nstack, stack_cap;
  pai__undo *undo;
  size_t nundo, undo_cap;
  uint64_t *keys; /* for sorting a view */
  size_t nkeys;
  uint32_t *sorted[2];
} pai__scratch;

struct pai__hived {
  pai_alloc alloc;
  const pai_cluster *cluster; /* borrowed */
  pai__pcell *pcells;
  pai__pleaf *pleaves;
  pai__vcell *vcells;
  pai__vleaf *vleaves;
  int16_t *vpriority; /* of each leaf */
  pai__hived_chain *chains;
  pai__hived_level *levels;
  pai__hived_pair *pairs;
  pai__pair_level *pair_levels;
  pai__hived_vc *vcs;
  pai__hived_pin *pins;
  pai__leaf_type *leaf_types; /* by their names */
  uint32_t *type_chains;
  uint32_t *lists;
  uint32_t *roots;
  uint64_t *unbound;      /* a bit of each of these */
  uint64_t *unbound_sums; /* a bit of each such word */
  uint32_t *node_first;   /* where its leaves begin in: */
  uint32_t *node_leaves;
  bool *node_sick;
  pai__hived_view *views;
  pai__vnode *vnodes;
  pai__rank *ranks;
  uint64_t *rank_bits;
  uint32_t *order, *dirty;
  pai__hived_group *groups;
  pai__hived_text *names;
  uint32_t *name_slots; /* name + 1, or 0 */
  size_t npcells, npleaves, nvcells, nvleaves, nchains, nlevels, npairs,
    npair_levels, nvcs, npins, nleaf_types, ntype_chains, nlists, nroots,
    nunbound, nunbound_sums, nnodes, nnode_leaves, nviews, nvnodes, nranks,
    nrank_words;
  size_t ngroups, groups_cap, nnames, names_cap, nname_slots;
  size_t live_groups, live_names;
  uint32_t free_group, free_name; /* lists, linked by `name` and `group` */
  uint32_t marks;                 /* groups with a smaller one have none */
  uint32_t largest;               /* leaves of a view's node */
  int64_t now;
  uint32_t mended; /* defects of HiveD that made a difference: bits */
  pai__hived_pool pool;
  pai__scratch s;
};

/* Of a word that is not 0. */
static inline uint32_t pai__lowest_bit(uint64_t word)
{
  uint32_t n = 0;

  for (unsigned half = 32; half > 0; half /= 2)
    if ((word & (((uint64_t)1 << half) - 1)) == 0) {
      word >>= half;
      n += half;
    }
  return n;
}

/* --- memory (pool.c) ------------------------------------------------------ */

/* n zeroed elements of a vector, and none for 0. */
#define PAI__MAKE(h, vec, n) \
  pai__make(&(h)->alloc, &(h)->vec, (n), sizeof(*(h)->vec))
int pai__make(const pai_alloc *a, void *where, size_t n, size_t size);

/* Makes sure that blocks of so many words in all, in so many pieces, can be
 * had.  PAI_OK or PAI_ENOMEM. */
int pai__hived_pool_reserve(pai__hived *h, size_t words, size_t blocks);
uint32_t pai__hived_pool_take(pai__hived_pool *p, size_t words);
void pai__hived_pool_give(pai__hived_pool *p, uint32_t at, size_t words);

/* Room for one more name and group, and for n elements of scratch. */
int pai__names_reserve(pai__hived *h, size_t more);
uint32_t pai__name_find(const pai__hived *h, const char *s, size_t len);
/* After reserving. */
uint32_t pai__name_use(pai__hived *h, const char *s, size_t len);
void pai__name_drop(pai__hived *h, uint32_t name);
static inline const char *pai__name_text(const pai__hived *h, uint32_t name)
{
  return (const char *)(h->pool.words + h->names[name].at);
}

/* What does not depend on the request (clone.c). */
int pai__scratch_init(pai__hived *h);
int pai__scratch_reserve(pai__hived *h, size_t pods, size_t leaves);
#define PAI__SCRATCH(h, vec, n)                                            \
  ((n) <= (h)->s.vec##_cap                                                 \
     ? PAI_OK                                                              \
     : pai__scratch_grow((h), (void *)&(h)->s.vec, &(h)->s.vec##_cap, (n), \
                         sizeof(*(h)->s.vec)))
int pai__scratch_grow(pai__hived *h, void *vec, size_t *cap, size_t n,
                      size_t size);

/* Whether what virtual clusters are given is there; and the views of a new
 * one (build_views.c). */
int pai__hived_make_views(pai__hived *h, const pai__cells *cells);

/* --- cells ---------------------------------------------------------------- */

static inline bool pai__is_sick(const pai__pcell *c)
{
  return (c->flags & PAI__CELL_SICK) != 0;
}

static inline bool pai__is_split(const pai__pcell *c)
{
  return (c->flags & PAI__CELL_SPLIT) != 0;
}

static inline bool pai__is_pinned(const pai__pcell *c)
{
  return (c->flags & PAI__CELL_PINNED) != 0;
}

static inline pai__hived_level *pai__level_of(pai__hived *h,
                                              const pai__pcell *c)
{
  return &h->levels[h->chains[c->chain].level + c->level - 1];
}

/* What a virtual cluster has of a chain, or PAI__NOTHING. */
uint32_t pai__pair_of(const pai__hived *h, uint32_t vc, uint32_t chain);

static inline void pai__mend(pai__hived *h, uint32_t defect)
{
  h->mended |= 1u << defect;
}

/* --- free_list.c ---------------------------------------------------------- */

bool pai__is_in_free(const pai__hived *h, uint32_t cell);
/* Both return the level of the cell that really was or is in the list. */
uint32_t pai__free_take(pai__hived *h, uint32_t cell);
uint32_t pai__free_give(pai__hived *h, uint32_t cell);
void pai__sick_add(pai__hived *h, uint32_t cell);
void pai__sick_remove(pai__hived *h, uint32_t cell);

/* --- bind.c --------------------------------------------------------------- */

void pai__connect(pai__hived *h, uint32_t cell, uint32_t vcell);
void pai__disconnect(pai__hived *h, uint32_t cell);
void pai__bind(pai__hived *h, uint32_t cell, uint32_t vcell);
/* The first child of a virtual cell that is not bound, or PAI__NOTHING. */
uint32_t pai__unbound_child(const pai__hived *h, uint32_t vcell);
/* The first root of a level that is not bound, or PAI__NOTHING. */
uint32_t pai__unbound_root(const pai__hived *h, const pai__pair_level *l);

/* Whether a virtual cell is a cell, or can be bound to it with all they are
 * in. */
bool pai__may_be(const pai__hived *h, uint32_t cell, uint32_t vcell);

/* A leaf is used: by what a virtual cell stands for, or opportunistically for
 * PAI__NOTHING.  False where that leaves virtual clusters less than they were
 * promised, or where the leaf is bound to another cell and so is used
 * opportunistically, too. */
bool pai__allocate_leaf(pai__hived *h, uint32_t leaf, uint32_t vcell,
                        int32_t priority);
void pai__release_leaf(pai__hived *h, uint32_t leaf);
void pai__set_leaf_state(pai__hived *h, uint32_t leaf, uint8_t state);

/* --- preassigned.c -------------------------------------------------------- */

bool pai__preassigned_take(pai__hived *h, uint32_t cell, uint32_t pair,
                           bool doomed);
void pai__preassigned_give(pai__hived *h, uint32_t cell, uint32_t pair,
                           bool doomed);
void pai__doomed_bind(pai__hived *h, uint32_t chain, uint32_t level);
void pai__doomed_unbind(pai__hived *h, uint32_t chain, uint32_t level);
void pai__doomed_remove(pai__hived *h, uint32_t cell, uint32_t root);

/* --- view.c, pick.c ------------------------------------------------------- */

void pai__view_touch(pai__hived *h, uint32_t vnode);
/* What is sick of these may show. */
void pai__view_touch_virtual(pai__hived *h, uint32_t vcell);
void pai__view_touch_physical(pai__hived *h, uint32_t cell);

/* Where to look, and for what. */
typedef struct pai__attempt {
  uint32_t view;
  int32_t priority;
  const uint64_t *suggested; /* NULL: all */
  uint32_t npods;            /* scratch.pods says of how many leaves */
  pai__hived_why *why;
} pai__attempt;

/* Fills `out` with the leaf cells of each pod.  False, and told why. */
bool pai__pick(pai__hived *h, const pai__attempt *a, uint32_t *out);

/* Sorts a view as an attempt does; view.c for pick.c. */
typedef struct pai__cursor {
  const pai__hived_view *v;
  uint32_t rank; /* of a linked view */
  uint32_t at;   /* the vnode, or the place in the order */
  int32_t priority;
} pai__cursor;

void pai__view_sort(pai__hived *h, uint32_t view, const uint64_t *suggested);
/* The first node from the cursor on that has so many leaves, or
 * PAI__NOTHING. */
uint32_t pai__view_next(const pai__hived *h, pai__cursor *c, uint32_t leaves);
uint32_t pai__vnode_free(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode, int32_t priority);
uint32_t pai__vnode_cell(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode);
/* All nodes of a view in their order. */
void pai__view_list(const pai__hived *h, const pai__hived_view *v,
                    uint32_t *out);

static inline bool pai__is_suggested(const uint64_t *set, uint32_t node)
{
  return set == NULL || (set[node / 64] >> (node % 64) & 1) != 0;
}

/* --- map.c ---------------------------------------------------------------- */

/* Finds cells for the leaves of scratch.virtual, into scratch.physical.
 * PAI_OK, or PAI_ENOROOM. */
int pai__map_cells(pai__hived *h, uint32_t chain, uint32_t nleaves,
                   const uint64_t *suggested);

/* --- groups (group.c), preemption (preempt.c) ----------------------------- */

uint32_t pai__gang_find(const pai__hived *h, const char *name, size_t len);
/* A group without placements, after reserving. */
int pai__gang_reserve(pai__hived *h, const pai__hived_request *r);
uint32_t pai__gang_add(pai__hived *h, const pai__hived_request *r);
void pai__gang_remove(pai__hived *h, uint32_t group);
void pai__gang_drop_virtual(pai__hived *h, uint32_t group);
pai__hived_slot *pai__gang_slots(const pai__hived *h, uint32_t group);
/* The slot of a pod, or PAI__NOTHING. */
uint32_t pai__gang_slot(const pai__hived *h, uint32_t group, uint32_t size,
                        uint32_t index);
/* Which leaf of a group it is, or PAI__NOTHING. */
uint32_t pai__gang_place(const pai__hived *h, uint32_t group, uint32_t leaf);
/* Allocates leaf i of a group as the virtual cell that it has for it, or a
 * like one when another cell is that already; opportunistically when it has
 * none (pods.c). */
void pai__gang_allocate(pai__hived *h, uint32_t group, uint32_t i);
/* Of those that wait for victims; each once. */
int pai__gang_add_preempting(pai__hived *h, uint32_t group, uint64_t pod);
bool pai__gang_remove_preempting(pai__hived *h, uint32_t group, uint64_t pod);
/* Sorts groups by their names. */
void pai__groups_sort(const pai__hived *h, uint32_t *groups, uint32_t n);

static inline uint32_t *pai__words(const pai__hived *h, uint32_t at)
{
  return h->pool.words + at;
}

/* Lazily preempts a group; the name of the other is counted as used. */
void pai__lazy_preempt(pai__hived *h, uint32_t group, uint32_t by);
/* Likewise, and keeps what it had in scratch.preempted, until it is settled:
 * undone, or not. */
void pai__lazy_try(pai__hived *h, uint32_t group, uint32_t by);
void pai__lazy_settle(pai__hived *h, bool undo);
/* Groups that use leaves, into scratch.groups; those that will use them, into
 * scratch.others. */
void pai__find_victims(pai__hived *h, const uint32_t *leaves, uint32_t n);
void pai__preempt_begin(pai__hived *h, uint32_t group);
void pai__preempt_cancel(pai__hived *h, uint32_t group);
void pai__preempt_complete(pai__hived *h, uint32_t group);

/* --- check.c -------------------------------------------------------------- */

/* Whether all that is counted is what a count gives, and what belongs together
 * knows of each other.  PAI_OK; PAI_EINVAL with what is wrong; PAI_ENOMEM. */
int pai__hived_check(const pai__hived *h, const char **wrong);

#endif
