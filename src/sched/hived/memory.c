/* memory.c - memory of the HiveD engine: arrays and their copies, blocks,
 * names */
#include "sched/hived/engine.h"

/* --- arrays --------------------------------------------------------------- */

/* An array of the state: address of its pointer, number of elements, and
 * capacity. */
typedef struct array {
  void *vec; /* address of the pointer */
  size_t n, *cap;
  size_t size;
} array;

enum { ARRAYS = 50 };

#define FIXED(vec, n)                   \
  {                                     \
    &h->vec, (n), NULL, sizeof(*h->vec) \
  }
#define GROWN(vec, n, cap)                 \
  {                                        \
    &h->vec, (n), &h->cap, sizeof(*h->vec) \
  }
/* Scratch array: empty between calls. */
#define SCRATCH(vec) GROWN(s.vec, 0, s.vec##_cap)

static size_t list_arrays(pai__hived *h, array *out)
{
  array all[] = {
    FIXED(pcells, h->npcells),
    FIXED(pleaves, h->npleaves),
    FIXED(vcells, h->nvcells),
    FIXED(vleaves, h->nvleaves),
    FIXED(vpriority, h->nvleaves),
    FIXED(chains, h->nchains),
    FIXED(levels, h->nlevels),
    FIXED(pairs, h->npairs),
    FIXED(pair_levels, h->npair_levels),
    FIXED(vcs, h->nvcs),
    FIXED(pins, h->npins),
    FIXED(leaf_types, h->nleaf_types),
    FIXED(type_chains, h->ntype_chains),
    FIXED(lists, h->nlists),
    FIXED(roots, h->nroots),
    FIXED(unbound, h->nunbound),
    FIXED(unbound_sums, h->nunbound_sums),
    FIXED(node_first, h->nnodes + 1),
    FIXED(node_leaves, h->nnode_leaves),
    FIXED(node_sick, h->nnodes),
    FIXED(views, h->nviews),
    FIXED(vnodes, h->nvnodes),
    FIXED(ranks, h->nranks),
    FIXED(rank_bits, h->nrank_words),
    FIXED(order, h->nvnodes),
    FIXED(dirty, h->nvnodes),
    GROWN(groups, h->ngroups, groups_cap),
    GROWN(names, h->nnames, names_cap),
    FIXED(s.avail, h->largest + 1),
    FIXED(s.count, h->largest + 1),
    FIXED(s.vertex_of, h->nvcells + 1),
    FIXED(s.keys, h->s.nkeys),
    FIXED(s.sorted[0], h->s.nkeys),
    FIXED(s.sorted[1], h->s.nkeys),
    SCRATCH(pods),
    SCRATCH(nodes),
    SCRATCH(vcell),
    SCRATCH(physical),
    SCRATCH(types),
    SCRATCH(preempted),
    SCRATCH(groups),
    SCRATCH(others),
    SCRATCH(vertices),
    SCRATCH(tops),
    SCRATCH(stack),
    SCRATCH(undo),
  };

  _Static_assert(PAI__LEN(all) <= ARRAYS, "there is room for all");
  memcpy(out, all, sizeof(all));
  return PAI__LEN(all);
}

static void *pointer_at(const void *where)
{
  void *p;

  memcpy(&p, where, sizeof(p));
  return p;
}

static size_t bytes_of(const array *a)
{
  return (a->n * a->size + 15) & ~(size_t)15;
}

/* Copies the arrays that do not grow into one block: most of the time goes into
 * touching new memory, and a single block is more likely to be reused. */
static int copy_block(pai__hived *made, const pai__hived *h, const array *all,
                      size_t n)
{
  size_t at = 0;

  made->block_size =
    pai__flat_bytes(&h->pool.words) + pai__flat_bytes(&h->name_index.slots);
  for (size_t i = 0; i < n; i++)
    made->block_size += all[i].cap == NULL ? bytes_of(&all[i]) : 0;
  made->block = pai__realloc(&h->alloc, NULL, 0, made->block_size, 1);
  if (made->block == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    void *copy = (char *)made->block + at;

    if (all[i].cap != NULL || all[i].n == 0)
      continue;
    memcpy(copy, pointer_at(all[i].vec), all[i].n * all[i].size);
    memcpy(all[i].vec, &copy, sizeof(copy));
    at += bytes_of(&all[i]);
  }
  pai__flat_copy_in(&made->pool.words, &h->pool.words, made->block, &at);
  pai__flat_copy_in(&made->name_index.slots, &h->name_index.slots, made->block,
                    &at);
  return PAI_OK;
}

/* Copies the arrays that grow; the other ones are in the block, or NULL. */
static int copy_arrays(const pai__hived *made, const array *all, size_t n,
                       int rc)
{
  for (size_t i = 0; i < n; i++) {
    void *copy = NULL;

    if (all[i].cap == NULL && rc == PAI_OK)
      continue;
    if (rc == PAI_OK && all[i].n > 0) {
      copy = pai__realloc(&made->alloc, NULL, 0, all[i].n, all[i].size);
      rc = copy != NULL ? PAI_OK : PAI_ENOMEM;
    }
    if (copy != NULL)
      memcpy(copy, pointer_at(all[i].vec), all[i].n * all[i].size);
    memcpy(all[i].vec, &copy, sizeof(copy));
    if (all[i].cap != NULL)
      *all[i].cap = copy != NULL ? all[i].n : 0;
  }
  return rc;
}

int pai__hived_clone(pai__hived **out, const pai__hived *h)
{
  pai__hived *made = pai__zalloc(&h->alloc, sizeof(*made));
  array all[ARRAYS];
  size_t n;
  int rc;

  *out = NULL;
  if (made == NULL)
    return PAI_ENOMEM;
  *made = *h;
  pai__flat_init(&made->pool.words, h->pool.words.size);
  pai__flat_init(&made->name_index.slots, h->name_index.slots.size);
  n = list_arrays(made, all);
  rc = copy_block(made, h, all, n);
  rc = copy_arrays(made, all, n, rc);
  if (rc < 0)
    pai__hived_free(made);
  else
    *out = made;
  return rc;
}

void pai__hived_free(pai__hived *h)
{
  array all[ARRAYS];
  pai_alloc alloc;
  size_t n;

  if (h == NULL)
    return;
  alloc = h->alloc;
  n = list_arrays(h, all);
  for (size_t i = 0; i < n; i++)
    if (all[i].cap != NULL)
      pai__free(&alloc, pointer_at(all[i].vec), *all[i].cap * all[i].size);
    else if (h->block == NULL)
      pai__free(&alloc, pointer_at(all[i].vec), all[i].n * all[i].size);
  pai__flat_dispose(&h->pool.words, &alloc);
  pai__flat_dispose(&h->name_index.slots, &alloc);
  pai__free(&alloc, h->block, h->block_size);
  pai__free(&alloc, h, sizeof(*h));
}

int pai__make(const pai_alloc *a, void *where, size_t n, size_t size)
{
  void *p = NULL;

  if (n > 0) {
    p = pai__realloc(a, NULL, 0, n, size);
    if (p == NULL)
      return PAI_ENOMEM;
    memset(p, 0, n * size);
  }
  memcpy(where, &p, sizeof(p));
  return PAI_OK;
}

int pai__scratch_init(pai__hived *h)
{
  size_t nodes = 0;

  for (size_t i = 0; i < h->nviews; i++)
    if (h->views[i].count > nodes)
      nodes = h->views[i].count;
  h->s.nkeys = nodes + 1;
  if (PAI__MAKE(h, s.avail, h->largest + 1) < 0 ||
      PAI__MAKE(h, s.count, h->largest + 1) < 0 ||
      PAI__MAKE(h, s.vertex_of, h->nvcells + 1) < 0 ||
      PAI__MAKE(h, s.keys, h->s.nkeys) < 0 ||
      PAI__MAKE(h, s.sorted[0], h->s.nkeys) < 0 ||
      PAI__MAKE(h, s.sorted[1], h->s.nkeys) < 0)
    return PAI_ENOMEM;
  memset(h->s.vertex_of, 0xff, (h->nvcells + 1) * sizeof(uint32_t));
  return PAI_OK;
}

int pai__scratch_grow(pai__hived *h, void *vec, size_t *cap, size_t n,
                      size_t size)
{
  void *old, *grown;

  memcpy(&old, vec, sizeof(old));
  n += n / 2;
  grown = pai__realloc(&h->alloc, old, *cap, n, size);
  if (grown == NULL)
    return PAI_ENOMEM;
  memcpy(vec, &grown, sizeof(grown));
  *cap = n;
  return PAI_OK;
}

/* Reserves all scratch that a placement of this size may need, except for
 * candidates and undo. */
int pai__scratch_reserve(pai__hived *h, size_t pods, size_t leaves)
{
  size_t all = leaves * PAI__CELLS_MAX_LEVELS;

  if (all > h->nvcells * 2)
    all = h->nvcells * 2;
  if (PAI__SCRATCH(h, pods, pods) < 0 || PAI__SCRATCH(h, nodes, pods) < 0 ||
      PAI__SCRATCH(h, vcell, leaves) < 0 ||
      PAI__SCRATCH(h, physical, leaves) < 0 ||
      PAI__SCRATCH(h, types, leaves) < 0 ||
      PAI__SCRATCH(h, preempted, leaves) < 0 ||
      PAI__SCRATCH(h, groups, leaves) < 0 ||
      PAI__SCRATCH(h, others, leaves) < 0 ||
      PAI__SCRATCH(h, vertices, all) < 0 || PAI__SCRATCH(h, tops, all) < 0)
    return PAI_ENOMEM;
  return PAI_OK;
}

/* --- blocks --------------------------------------------------------------- */

/* Words of the pool have 64 bits.  A block of more than 16 of them may be
 * twice as large as requested. */
int pai__hived_pool_reserve(pai__hived *h, size_t words, size_t blocks)
{
  size_t most = words + 2 * blocks;

  return most < PAI__NOTHING
           ? pai__flat_reserve(&h->pool.words, &h->alloc, (uint32_t)most)
           : PAI_ENOMEM;
}

uint32_t pai__hived_pool_take(pai__hived *h, size_t words)
{
  return pai__pool_take(&h->pool, &h->alloc, (uint32_t)(words + 1) / 2);
}

void pai__hived_pool_give(pai__hived *h, uint32_t at, size_t words)
{
  pai__pool_give(&h->pool, at, (uint32_t)(words + 1) / 2);
}

/* --- names ---------------------------------------------------------------- */

static size_t words_for(size_t len)
{
  return (len + sizeof(uint32_t)) / sizeof(uint32_t);
}

int pai__names_reserve(pai__hived *h, size_t len)
{
  if (pai__hived_pool_reserve(h, words_for(len), 1) < 0 ||
      pai__lookup_reserve(&h->name_index, &h->alloc) < 0)
    return PAI_ENOMEM;
  return PAI__VEC_ROOM(&h->alloc, h->names, h->nnames, h->names_cap);
}

/* Searches the names with one hash, from the newest on. */
static uint32_t find(const pai__hived *h, uint32_t name, const char *s,
                     size_t len)
{
  while (name != PAI__NOTHING &&
         (h->names[name].len != len ||
          memcmp(pai__name_text(h, name), s, len) != 0))
    name = h->names[name].older;
  return name;
}

uint32_t pai__name_find(const pai__hived *h, const char *s, size_t len)
{
  return find(h, pai__lookup_get(&h->name_index, pai__map_hash(s, len) | 1), s,
              len);
}

uint32_t pai__name_use(pai__hived *h, const char *s, size_t len)
{
  uint64_t hash = pai__map_hash(s, len) | 1;
  uint32_t older = pai__lookup_get(&h->name_index, hash);
  uint32_t name = find(h, older, s, len);
  pai__hived_text *t;

  if (name != PAI__NOTHING) {
    h->names[name].uses++;
    return name;
  }
  name = h->free_name;
  if (name != PAI__NOTHING)
    h->free_name = h->names[name].group;
  else
    name = (uint32_t)h->nnames++;
  t = &h->names[name];
  *t = (pai__hived_text){ .at = pai__hived_pool_take(h, words_for(len)),
                          .len = (uint32_t)len,
                          .hash = hash,
                          .group = PAI__NOTHING,
                          .uses = 1,
                          .older = older };
  memcpy(pai__words(h, t->at), s, len);
  ((char *)pai__words(h, t->at))[len] = '\0';
  if (older != PAI__NOTHING)
    pai__lookup_remove(&h->name_index, hash);
  pai__lookup_add(&h->name_index, hash, name);
  return name;
}

void pai__name_drop(pai__hived *h, uint32_t name)
{
  pai__hived_text *t = &h->names[name];
  uint32_t newer;

  if (--t->uses > 0)
    return;
  newer = pai__lookup_get(&h->name_index, t->hash);
  if (newer == name) {
    pai__lookup_remove(&h->name_index, t->hash);
    if (t->older != PAI__NOTHING)
      pai__lookup_add(&h->name_index, t->hash, t->older);
  } else {
    while (h->names[newer].older != name)
      newer = h->names[newer].older;
    h->names[newer].older = t->older;
  }
  pai__hived_pool_give(h, t->at, words_for(t->len));
  t->group = h->free_name;
  h->free_name = name;
}

int pai__hived_name(pai__hived *h, const char *s, size_t len, uint32_t *name)
{
  if (pai__names_reserve(h, len) < 0)
    return PAI_ENOMEM;
  *name = pai__name_use(h, s, len) | PAI__HIVED_NAME;
  return PAI_OK;
}

const char *pai__hived_name_text(const pai__hived *h, uint32_t name)
{
  return pai__name_text(h, name & ~PAI__HIVED_NAME);
}
