/* clone.c - copies all that HiveD knows, and throws it away */
#include "sched/hived/engine.h"

/* An array of the state: where its address is, how many elements are in it and
 * for how many it has room. */
typedef struct array {
  void *vec; /* of the pointer */
  size_t n, *cap;
  size_t size;
} array;

enum { ARRAYS = 30 };

#define FIXED(h, vec, n)                       \
  {                                            \
    &(h)->vec, (h)->n, NULL, sizeof(*(h)->vec) \
  }
#define GROWN(h, vec, n, cap)                       \
  {                                                 \
    &(h)->vec, (h)->n, &(h)->cap, sizeof(*(h)->vec) \
  }

static size_t list_arrays(pai__hived *h, array *out)
{
  array all[] = {
    FIXED(h, pcells, npcells),
    FIXED(h, pleaves, npleaves),
    FIXED(h, vcells, nvcells),
    FIXED(h, vleaves, nvleaves),
    FIXED(h, vpriority, nvleaves),
    FIXED(h, chains, nchains),
    FIXED(h, levels, nlevels),
    FIXED(h, pairs, npairs),
    FIXED(h, pair_levels, npair_levels),
    FIXED(h, vcs, nvcs),
    FIXED(h, pins, npins),
    FIXED(h, leaf_types, nleaf_types),
    FIXED(h, type_chains, ntype_chains),
    FIXED(h, lists, nlists),
    FIXED(h, roots, nroots),
    FIXED(h, unbound, nunbound),
    FIXED(h, unbound_sums, nunbound_sums),
    FIXED(h, node_first, nnodes + 1),
    FIXED(h, node_leaves, nnode_leaves),
    FIXED(h, node_sick, nnodes),
    FIXED(h, views, nviews),
    FIXED(h, vnodes, nvnodes),
    FIXED(h, ranks, nranks),
    FIXED(h, rank_bits, nrank_words),
    FIXED(h, order, nvnodes),
    FIXED(h, dirty, nvnodes),
    GROWN(h, groups, ngroups, groups_cap),
    GROWN(h, names, nnames, names_cap),
    FIXED(h, name_slots, nname_slots),
    GROWN(h, pool.words, pool.used, pool.cap),
  };

  memcpy(out, all, sizeof(all));
  return PAI__LEN(all);
}

static void *pointer_at(const void *where)
{
  void *p;

  memcpy(&p, where, sizeof(p));
  return p;
}

int pai__scratch_init(pai__hived *h)
{
  pai__scratch *s = &h->s;
  size_t nodes = 0;

  for (size_t i = 0; i < h->nviews; i++)
    if (h->views[i].count > nodes)
      nodes = h->views[i].count;
  s->nkeys = nodes + 1;
  s->avail =
    pai__realloc(&h->alloc, NULL, 0, h->largest + 1, sizeof(uint32_t));
  s->count =
    pai__realloc(&h->alloc, NULL, 0, h->largest + 1, sizeof(uint32_t));
  s->vertex_of =
    pai__realloc(&h->alloc, NULL, 0, h->nvcells + 1, sizeof(uint32_t));
  s->keys = pai__realloc(&h->alloc, NULL, 0, s->nkeys, sizeof(*s->keys));
  for (int i = 0; i < 2; i++)
    s->sorted[i] =
      pai__realloc(&h->alloc, NULL, 0, s->nkeys, sizeof(uint32_t));
  if (s->avail == NULL || s->count == NULL || s->vertex_of == NULL ||
      s->keys == NULL || s->sorted[0] == NULL || s->sorted[1] == NULL)
    return PAI_ENOMEM;
  memset(s->vertex_of, 0xff, (h->nvcells + 1) * sizeof(uint32_t));
  return PAI_OK;
}

static void dispose_scratch(pai__hived *h)
{
  pai__scratch *s = &h->s;
  const pai_alloc *a = &h->alloc;

  pai__free(a, s->pods, s->pods_cap * sizeof(*s->pods));
  pai__free(a, s->nodes, s->nodes_cap * sizeof(*s->nodes));
  pai__free(a, s->vcell, s->vcell_cap * sizeof(*s->vcell));
  pai__free(a, s->physical, s->physical_cap * sizeof(*s->physical));
  pai__free(a, s->types, s->types_cap * sizeof(*s->types));
  pai__free(a, s->preempted, s->preempted_cap * sizeof(*s->preempted));
  pai__free(a, s->groups, s->groups_cap * sizeof(*s->groups));
  pai__free(a, s->others, s->others_cap * sizeof(*s->others));
  pai__free(a, s->vertices, s->vertices_cap * sizeof(*s->vertices));
  pai__free(a, s->tops, s->tops_cap * sizeof(*s->tops));
  pai__free(a, s->stack, s->stack_cap * sizeof(*s->stack));
  pai__free(a, s->undo, s->undo_cap * sizeof(*s->undo));
  pai__free(a, s->avail, (h->largest + 1) * sizeof(uint32_t));
  pai__free(a, s->count, (h->largest + 1) * sizeof(uint32_t));
  pai__free(a, s->vertex_of, (h->nvcells + 1) * sizeof(uint32_t));
  pai__free(a, s->keys, s->nkeys * sizeof(*s->keys));
  for (int i = 0; i < 2; i++)
    pai__free(a, s->sorted[i], s->nkeys * sizeof(uint32_t));
}

int pai__hived_clone(pai__hived **out, const pai__hived *h)
{
  pai__hived *made = pai__zalloc(&h->alloc, sizeof(*made));
  array all[ARRAYS];
  size_t n;
  int rc = PAI_OK;

  *out = NULL;
  if (made == NULL)
    return PAI_ENOMEM;
  *made = *h;
  memset(&made->s, 0, sizeof(made->s));
  n = list_arrays(made, all);
  for (size_t i = 0; i < n; i++) {
    void *copy = NULL;

    if (rc == PAI_OK && all[i].n > 0) {
      copy = pai__realloc(&h->alloc, NULL, 0, all[i].n, all[i].size);
      rc = copy != NULL ? PAI_OK : PAI_ENOMEM;
    }
    if (copy != NULL)
      memcpy(copy, pointer_at(all[i].vec), all[i].n * all[i].size);
    memcpy(all[i].vec, &copy, sizeof(copy));
    if (all[i].cap != NULL)
      *all[i].cap = copy != NULL ? all[i].n : 0;
  }
  if (rc == PAI_OK)
    rc = pai__scratch_init(made);
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
  dispose_scratch(h);
  n = list_arrays(h, all);
  for (size_t i = 0; i < n; i++)
    pai__free(&alloc, pointer_at(all[i].vec),
              (all[i].cap != NULL ? *all[i].cap : all[i].n) * all[i].size);
  pai__free(&alloc, h, sizeof(*h));
}
