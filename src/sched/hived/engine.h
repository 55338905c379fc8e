/*
 * engine.h - internal to HiveD: the state of its engine, in flat arrays
 *
 * Cells, views, groups and lists refer to each other by index, so a clone
 * copies each array.  Physical cells keep their numbers from the cluster,
 * depth first: the first child of a cell is the next cell, and `skip` is its
 * next sibling.  Virtual cells are numbered in the same way, one virtual
 * cluster after the other.  Leaf cells also have numbers of their own, in the
 * same order.
 */
#ifndef PAI_SRC_SCHED_HIVED_ENGINE_H
#define PAI_SRC_SCHED_HIVED_ENGINE_H

#include "resource/cells.h"
#include "base/flat.h"
#include "sched/hived/hived.h"

enum { PAI__FREE_PRIORITY = -2, PAI__OPPORTUNISTIC = -1 };

/* States of a leaf cell.  In use by a group: PAI__LEAF_USED, and
 * PAI__LEAF_RESERVING where another group has reserved it.
 * PAI__LEAF_RESERVED: reserved, and not in use. */
enum {
  PAI__LEAF_FREE,
  PAI__LEAF_USED,
  PAI__LEAF_RESERVING,
  PAI__LEAF_RESERVED
};

enum { PAI__CELL_SICK = 1, PAI__CELL_SPLIT = 2, PAI__CELL_PINNED = 4 };

typedef struct pai__pcell {
  uint32_t parent, skip;
  uint32_t bound;     /* virtual cell it is bound to, or PAI__NOTHING */
  uint32_t at_free;   /* index in the free list, or PAI__NOTHING */
  uint32_t at_sick;   /* index in the list of sick free cells */
  uint32_t at_doomed; /* index in the doomed list of its virtual cluster */
  uint32_t opp;       /* its leaves in opportunistic use */
  uint32_t leaf;      /* its first leaf */
  uint32_t node;      /* PAI__NOTHING above the node level */
  uint32_t sick;      /* number of sick children */
  int16_t priority;   /* highest of its leaves */
  uint16_t chain;
  uint8_t level;
  uint8_t flags;
} pai__pcell;

typedef struct pai__pleaf {
  uint32_t cell;
  uint32_t vnode; /* in the physical view of its chain */
  uint32_t user;  /* group, or PAI__NOTHING; so is `reserving` */
  uint32_t reserving;
  uint8_t state;
  bool guaranteed; /* it counts as use of its virtual cell; a leaf may also be
                      bound just because it is sick */
} pai__pleaf;

typedef struct pai__vcell {
  uint32_t parent, skip;
  uint32_t bound; /* physical cell it is bound to, or PAI__NOTHING */
  uint32_t root;
  uint32_t leaf;   /* its first leaf */
  uint32_t number; /* last part of its address */
  uint32_t pair;   /* index in `pairs` */
  uint32_t at;     /* of roots that are not pinned: index in `roots` */
  int16_t priority;
  uint8_t level;
  bool pinned;
} pai__vcell;

typedef struct pai__vleaf {
  uint32_t cell;
  uint32_t vnode; /* in the view that shows it */
  uint8_t state;
} pai__vleaf;

/* One level of a chain; level 1 is the leaf cells. */
typedef struct pai__hived_level {
  uint32_t type;
  uint32_t leaves;           /* leaves of a cell, by its type */
  uint32_t first;            /* first cell of the level */
  uint32_t children;         /* number of children of that cell */
  uint32_t free, nfree;      /* free list: offset in `lists`, and length */
  uint32_t sick_free, nsick; /* list of sick free cells: offset and length */
  uint32_t cap;   /* capacity of each list: all cells of the level */
  int32_t left;   /* cells in the free list, or inside a free cell */
  int32_t wanted; /* preassigned cells not allocated, of all owners */
} pai__hived_level;

typedef struct pai__hived_chain {
  uint32_t type;
  uint32_t levels, level; /* number of levels, and the first in `levels` */
  uint32_t pair, npairs;  /* in `pairs`, sorted by virtual cluster */
  uint32_t view;
} pai__hived_chain;

/* One level of the cells that a virtual cluster has of a chain. */
typedef struct pai__pair_level {
  int32_t free;             /* preassigned cells that are not allocated */
  uint32_t roots, nroots;   /* in `roots`: those that are not pinned */
  uint32_t doomed, ndoomed; /* doomed list: offset in `lists`, and length */
} pai__pair_level;

typedef struct pai__hived_pair {
  uint32_t vc, chain;
  uint32_t level; /* the first in `pair_levels` */
  uint32_t view;  /* PAI__NOTHING if all its cells are pinned */
} pai__hived_pair;

typedef struct pai__hived_pin {
  uint32_t vc;
  uint32_t cell;
  uint32_t root; /* virtual cell */
  uint32_t view;
} pai__hived_pin;

typedef struct pai__hived_vc {
  const char *name;       /* owned by the cluster */
  uint32_t pin, npins;    /* range in `pins`, sorted by name */
  uint32_t first, ncells; /* range in `vcells` */
} pai__hived_vc;

/* A type of leaf cells, and its chains: a range in `type_chains`. */
typedef struct pai__leaf_type {
  uint32_t type;
  uint32_t first, count;
} pai__leaf_type;

/* --- views ---------------------------------------------------------------- */

/* A node as placement sees it: the cell of a node, or a smaller root cell. */
typedef struct pai__vnode {
  uint32_t cell;
  uint32_t view;
  uint32_t total;        /* leaves, by the type of the cell */
  uint32_t used;         /* of them */
  uint32_t opp;          /* leaves in opportunistic use; part of `used` */
  uint32_t next, before; /* neighbours in its rank */
  uint32_t rank;         /* when the view was last sorted */
  bool dirty;            /* its rank may have changed since */
  int64_t place;         /* position in its rank; ascending from the first */
} pai__vnode;

/* Nodes with equal sort keys. */
typedef struct pai__rank {
  uint32_t first, last;
  int64_t low, high; /* lowest and highest `place` in it */
} pai__rank;

typedef struct pai__hived_view {
  uint32_t first, count; /* range in `vnodes`, `order` and `dirty` */
  uint32_t total;        /* leaves of its largest node */
  uint32_t rank, nranks; /* in `ranks`; nranks 0: sorted as a whole */
  uint32_t words;        /* offset in `rank_bits`: ranks that have nodes */
  uint32_t ndirty;
  bool physical;
  bool linked; /* ranks hold the order; else `order` does */
} pai__hived_view;

/* --- groups --------------------------------------------------------------- */

enum {
  PAI__GROUP_GONE,
  PAI__GROUP_ALLOCATED,
  PAI__GROUP_PREEMPTING,
  PAI__GROUP_PREEMPTED /* others have reserved some of its cells */
};

/* Block offsets are in the pool; PAI__NOTHING for none. */
typedef struct pai__hived_group {
  uint32_t name; /* in `names` */
  uint32_t vc;   /* or a removed one: a name with PAI__HIVED_NAME set */
  int32_t priority;
  uint8_t state;
  bool lazy;     /* may be lazily preempted */
  bool was_lazy; /* was lazily preempted, by `by` at `lazy_at` */
  uint32_t by;   /* name of a group */
  int64_t lazy_at;
  uint32_t nsizes, npods, nleaves;
  uint32_t sizes;    /* pairs: leaves of a pod, number of such pods */
  uint32_t physical; /* leaf cell for each leaf, or PAI__NOTHING if lost */
  uint32_t vcell; /* virtual cell for each leaf; PAI__NOTHING: it has none */
  uint32_t spots; /* pai__hived_spot of each leaf, if one was lost */
  uint32_t slots; /* pai__hived_slot for each pod */
  uint32_t allocated;                               /* slots in use */
  uint32_t preempting, npreempting, preempting_cap; /* waiting pods */
  uint32_t tried;       /* `vcell` while a lazy preemption is not settled */
  uint32_t reserved_of; /* its leaves that others have reserved */
  uint32_t mark;
  bool was_preempted; /* it was being preempted at some time: HiveD would fail
                         to bind its pods */
} pai__hived_group;

typedef struct pai__hived_slot {
  uint32_t low, high; /* number of the pod; 0: free */
  uint32_t node;
} pai__hived_slot;

enum {
  PAI__SLOT_WORDS = sizeof(pai__hived_slot) / sizeof(uint32_t),
  PAI__SPOT_WORDS = sizeof(pai__hived_spot) / sizeof(uint32_t)
};

typedef struct pai__hived_text {
  uint32_t at, len; /* in the pool, with a terminating NUL */
  uint32_t group;   /* group of that name, or PAI__NOTHING */
  uint32_t uses;    /* reference count; 0: the entry is free */
  uint32_t older;   /* next name with the same hash, or PAI__NOTHING */
  uint64_t hash;
} pai__hived_text;

/* --- scratch of one call -------------------------------------------------- */

/* A virtual cell to bind, and those of its children that must be bound. */
typedef struct pai__vertex {
  uint32_t cell;
  uint32_t to; /* for a leaf: the physical cell it is mapped to */
  uint32_t child, last, next;
  uint32_t children;
} pai__vertex;

/* One change of a free list, to undo it. */
typedef struct pai__undo {
  uint32_t level; /* in `levels` */
  uint32_t at;    /* index it was removed from; PAI__NOTHING: it was added */
  uint32_t cell;
} pai__undo;

typedef struct pai__scratch {
  uint32_t *pods;                     /* leaves of each pod, ascending */
  uint32_t *nodes;                    /* vnode of each pod */
  uint32_t *vcell, *physical, *types; /* of each leaf, in the order of pods */
  uint32_t *preempted; /* groups preempted lazily, until pai__lazy_settle() */
  uint32_t *groups;    /* victims found */
  uint32_t *others;    /* groups that have reserved the same leaves */
  size_t pods_cap, nodes_cap, vcell_cap, physical_cap, types_cap,
    preempted_cap, groups_cap, others_cap;
  uint32_t ngroups, nothers, npreempted;
  uint32_t *avail, *count; /* for the leaves of one node */
  pai__vertex *vertices;
  size_t nvertices, vertices_cap;
  uint32_t *tops; /* vertices to map, in this order */
  size_t ntops, tops_cap;
  uint32_t *vertex_of; /* vertex of each virtual cell, or PAI__NOTHING */
  uint32_t *stack;     /* candidate cells */
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
  int16_t *vpriority; /* of each virtual leaf */
  pai__hived_chain *chains;
  pai__hived_level *levels;
  pai__hived_pair *pairs;
  pai__pair_level *pair_levels;
  pai__hived_vc *vcs;
  pai__hived_pin *pins;
  pai__leaf_type *leaf_types; /* sorted by name */
  uint32_t *type_chains;
  uint32_t *lists;
  uint32_t *roots;
  uint64_t *unbound;      /* a bit for each root that is not bound */
  uint64_t *unbound_sums; /* a bit for each word of `unbound` that is not 0 */
  uint32_t *node_first;   /* offset of each node's leaves in: */
  uint32_t *node_leaves;
  bool *node_sick;
  pai__hived_view *views;
  pai__vnode *vnodes;
  pai__rank *ranks;
  uint64_t *rank_bits;
  uint32_t *order, *dirty;
  pai__hived_group *groups;
  pai__hived_text *names;
  size_t npcells, npleaves, nvcells, nvleaves, nchains, nlevels, npairs,
    npair_levels, nvcs, npins, nleaf_types, ntype_chains, nlists, nroots,
    nunbound, nunbound_sums, nnodes, nnode_leaves, nviews, nvnodes, nranks,
    nrank_words;
  size_t ngroups, groups_cap, nnames, names_cap;
  size_t live_groups;
  uint32_t free_group, free_name; /* lists, linked by `name` and `group` */
  uint32_t marks;                 /* last mark given to groups */
  uint32_t largest;               /* leaves of the largest node of any view */
  int64_t now;
  uint32_t mended;        /* defects of HiveD that made a difference: bits */
  pai__pool pool;         /* blocks of groups and names */
  pai__lookup name_index; /* by hash: the newest name with it */
  pai__scratch s;
  void *block; /* of a clone: holds the arrays that do not grow */
  size_t block_size;
};

/* The word must not be 0. */
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

/* --- memory (memory.c) ---------------------------------------------------- */

/* Makes a vector of n zeroed elements; NULL for 0.  Returns PAI_OK or
 * PAI_ENOMEM. */
#define PAI__MAKE(h, vec, n) \
  pai__make(&(h)->alloc, &(h)->vec, (n), sizeof(*(h)->vec))
int pai__make(const pai_alloc *a, void *where, size_t n, size_t size);

/* Reserves memory for `blocks` blocks of `words` 32-bit words in total.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__hived_pool_reserve(pai__hived *h, size_t words, size_t blocks);
uint32_t pai__hived_pool_take(pai__hived *h, size_t words);
void pai__hived_pool_give(pai__hived *h, uint32_t at, size_t words);
static inline uint32_t *pai__words(const pai__hived *h, uint32_t at)
{
  return (uint32_t *)h->pool.words.data + 2 * (size_t)at;
}

/* Reserves memory for one more name of that length. */
int pai__names_reserve(pai__hived *h, size_t len);
uint32_t pai__name_find(const pai__hived *h, const char *s, size_t len);
/* Finds or adds a name, and counts one more use.  Needs
 * pai__names_reserve(). */
uint32_t pai__name_use(pai__hived *h, const char *s, size_t len);
void pai__name_drop(pai__hived *h, uint32_t name);
static inline const char *pai__name_text(const pai__hived *h, uint32_t name)
{
  return (const char *)pai__words(h, h->names[name].at);
}

/* Allocate scratch: of fixed size, and for a request with so many pods and
 * leaves. */
int pai__scratch_init(pai__hived *h);
int pai__scratch_reserve(pai__hived *h, size_t pods, size_t leaves);
#define PAI__SCRATCH(h, vec, n)                                            \
  ((n) <= (h)->s.vec##_cap                                                 \
     ? PAI_OK                                                              \
     : pai__scratch_grow((h), (void *)&(h)->s.vec, &(h)->s.vec##_cap, (n), \
                         sizeof(*(h)->s.vec)))
int pai__scratch_grow(pai__hived *h, void *vec, size_t *cap, size_t n,
                      size_t size);

/* Makes the views of a new engine.  Returns PAI_OK or PAI_ENOMEM
 * (build_views.c). */
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

/* Kinds of cell lists.  Each cell stores its index in the list. */
enum { PAI__LIST_FREE, PAI__LIST_SICK, PAI__LIST_DOOMED, PAI__LISTS };

static inline uint32_t *pai__list_place(pai__pcell *c, int kind)
{
  return kind == PAI__LIST_FREE   ? &c->at_free
         : kind == PAI__LIST_SICK ? &c->at_sick
                                  : &c->at_doomed;
}

static inline void pai__list_add(pai__hived *h, int kind, uint32_t first,
                                 uint32_t *n, uint32_t cell)
{
  *pai__list_place(&h->pcells[cell], kind) = *n;
  h->lists[first + (*n)++] = cell;
}

/* Moves the last cell into the gap, as HiveD does. */
static inline void pai__list_remove(pai__hived *h, int kind, uint32_t first,
                                    uint32_t *n, uint32_t cell)
{
  uint32_t *at = pai__list_place(&h->pcells[cell], kind);
  uint32_t last = h->lists[first + --*n];

  h->lists[first + *at] = last;
  *pai__list_place(&h->pcells[last], kind) = *at;
  *at = PAI__NOTHING;
}

/* Index in `pairs` of a virtual cluster and a chain, or PAI__NOTHING. */
uint32_t pai__pair_of(const pai__hived *h, uint32_t vc, uint32_t chain);

static inline void pai__mend(pai__hived *h, uint32_t defect)
{
  h->mended |= 1u << defect;
}

/* --- free_list.c ---------------------------------------------------------- */

bool pai__is_in_free(const pai__hived *h, uint32_t cell);
/* Take a cell out of the free list, or put it back.  Return the level of the
 * cell that was removed or added: a parent that was split or merged. */
uint32_t pai__free_take(pai__hived *h, uint32_t cell);
uint32_t pai__free_give(pai__hived *h, uint32_t cell);
void pai__sick_add(pai__hived *h, uint32_t cell);
void pai__sick_remove(pai__hived *h, uint32_t cell);

/* --- bind.c --------------------------------------------------------------- */

void pai__connect(pai__hived *h, uint32_t cell, uint32_t vcell);
void pai__disconnect(pai__hived *h, uint32_t cell);
void pai__bind(pai__hived *h, uint32_t cell, uint32_t vcell);
/* First unbound child of a virtual cell, or PAI__NOTHING. */
uint32_t pai__unbound_child(const pai__hived *h, uint32_t vcell);
/* First unbound root of a level, or PAI__NOTHING. */
uint32_t pai__unbound_root(const pai__hived *h, const pai__pair_level *l);

/* True if a virtual cell is bound to a cell, or could be, together with its
 * parents. */
bool pai__may_be(const pai__hived *h, uint32_t cell, uint32_t vcell);

/* Marks a leaf as used by a virtual cell, or opportunistically if `vcell` is
 * PAI__NOTHING.  Returns false if virtual clusters are left with less than
 * they were promised, or if the leaf is bound to another virtual cell and so
 * is used opportunistically too. */
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
/* Note that the sick state of a cell has changed. */
void pai__view_touch_virtual(pai__hived *h, uint32_t vcell);
void pai__view_touch_physical(pai__hived *h, uint32_t cell);

/* One attempt to place pods in a view. */
typedef struct pai__attempt {
  uint32_t view;
  int32_t priority;
  const uint64_t *suggested; /* nodes, as bits; NULL: all */
  uint32_t npods;            /* their sizes are in scratch.pods */
  pai__hived_why *why;
} pai__attempt;

/* Fills `out` with the leaf cells of each pod.  Returns false, and fills
 * a->why, if there is no place. */
bool pai__pick(pai__hived *h, const pai__attempt *a, uint32_t *out);

/* Position in a sorted view. */
typedef struct pai__cursor {
  const pai__hived_view *v;
  uint32_t rank; /* in a linked view */
  uint32_t at;   /* vnode, or index in `order` */
  int32_t priority;
} pai__cursor;

void pai__view_sort(pai__hived *h, uint32_t view, const uint64_t *suggested);
/* Returns the next node after the cursor with so many leaves available, or
 * PAI__NOTHING. */
uint32_t pai__view_next(const pai__hived *h, pai__cursor *c, uint32_t leaves);
uint32_t pai__vnode_free(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode, int32_t priority);
uint32_t pai__vnode_cell(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode);
/* Lists all nodes of a view in their order. */
void pai__view_list(const pai__hived *h, const pai__hived_view *v,
                    uint32_t *out);

static inline bool pai__is_suggested(const uint64_t *set, uint32_t node)
{
  return set == NULL || (set[node / 64] >> (node % 64) & 1) != 0;
}

/* --- map.c ---------------------------------------------------------------- */

/* Maps the virtual leaves in scratch.vcell to physical leaves in
 * scratch.physical.  Returns PAI_OK, PAI_ENOROOM or PAI_ENOMEM. */
int pai__map_cells(pai__hived *h, uint32_t chain, uint32_t nleaves,
                   const uint64_t *suggested);

/* --- groups (group.c), preemption (preempt.c) ----------------------------- */

/* Add and remove groups.  A new group has no placement; pai__gang_reserve()
 * comes first. */
int pai__gang_reserve(pai__hived *h, const pai__hived_request *r);
uint32_t pai__gang_add(pai__hived *h, const pai__hived_request *r);
void pai__gang_remove(pai__hived *h, uint32_t group);
void pai__gang_drop_virtual(pai__hived *h, uint32_t group);
pai__hived_slot *pai__gang_slots(const pai__hived *h, uint32_t group);
/* Slot of a pod, or PAI__NOTHING. */
uint32_t pai__gang_slot(const pai__hived *h, uint32_t group, uint32_t size,
                        uint32_t index);
/* Index of a leaf in a group, or PAI__NOTHING. */
uint32_t pai__gang_place(const pai__hived *h, uint32_t group, uint32_t leaf);
/* Allocates leaf i of a group as its virtual cell; as a similar one if that is
 * bound to another cell; opportunistically if it has none (pods.c). */
void pai__gang_allocate(pai__hived *h, uint32_t group, uint32_t i);
/* Pods of a group that wait for victims.  Adding a pod twice has no effect. */
int pai__gang_add_preempting(pai__hived *h, uint32_t group, uint64_t pod);
bool pai__gang_remove_preempting(pai__hived *h, uint32_t group, uint64_t pod);
/* Sorts groups by name. */
void pai__groups_sort(const pai__hived *h, uint32_t *groups, uint32_t n);
/* Lists all `live_groups` groups, sorted by name.  Returns their number. */
size_t pai__groups_named(const pai__hived *h, pai__named *out);

/* Preempts a group lazily: it keeps its leaves and loses its virtual cells.
 * Counts one more use of the name `by`. */
void pai__lazy_preempt(pai__hived *h, uint32_t group, uint32_t by);
/* As pai__lazy_preempt(), but can be undone until pai__lazy_settle(). */
void pai__lazy_try(pai__hived *h, uint32_t group, uint32_t by);
void pai__lazy_settle(pai__hived *h, bool undo);
/* Collects the groups that use leaves in scratch.groups, and those that have
 * reserved them in scratch.others. */
void pai__find_victims(pai__hived *h, const uint32_t *leaves, uint32_t n);
void pai__preempt_begin(pai__hived *h, uint32_t group);
void pai__preempt_cancel(pai__hived *h, uint32_t group);
void pai__preempt_complete(pai__hived *h, uint32_t group);

/* --- check.c -------------------------------------------------------------- */

/* Checks all counters and cross references against a recount.  Returns PAI_OK;
 * PAI_EINVAL, with *wrong set; or PAI_ENOMEM. */
int pai__hived_check(const pai__hived *h, const char **wrong);

#endif
