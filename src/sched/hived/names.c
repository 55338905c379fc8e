/* names.c - names of the HiveD engine's objects, and reasons in HiveD's
 * words */
#include "json/writer.h"
#include "sched/hived/engine.h"

#include <stdlib.h>

static bool is_called(const char *name, const char *s, size_t len)
{
  return strlen(name) == len && memcmp(name, s, len) == 0;
}

const pai_cluster *pai__hived_cluster(const pai__hived *h)
{
  return h->cluster;
}

uint32_t pai__hived_find_vc(const pai__hived *h, const char *name, size_t len)
{
  for (uint32_t i = 0; i < h->nvcs; i++)
    if (is_called(h->vcs[i].name, name, len))
      return i;
  return PAI__HIVED_UNKNOWN;
}

uint32_t pai__hived_find_pin(const pai__hived *h, uint32_t vc,
                             const char *name, size_t len)
{
  if (vc >= h->nvcs)
    return PAI__HIVED_UNKNOWN;
  for (uint32_t i = h->vcs[vc].pin; i < h->vcs[vc].pin + h->vcs[vc].npins; i++)
    if (is_called(h->cluster->cells[h->pins[i].cell].pin, name, len))
      return i;
  return PAI__HIVED_UNKNOWN;
}

uint32_t pai__hived_find_leaf_type(const pai__hived *h, const char *name,
                                   size_t len)
{
  for (uint32_t i = 0; i < h->nleaf_types; i++) {
    uint32_t type = h->leaf_types[i].type;

    if (type != PAI__NOTHING &&
        is_called(h->cluster->types[type].name, name, len))
      return i;
  }
  return PAI__HIVED_UNKNOWN;
}

uint32_t pai__hived_find_chain(const pai__hived *h, const char *name,
                               size_t len)
{
  for (uint32_t i = 0; i < h->nchains; i++)
    if (is_called(h->cluster->types[h->chains[i].type].name, name, len))
      return i;
  return PAI__NOTHING;
}

uint32_t pai__hived_find_leaf(const pai__hived *h, uint32_t node,
                              uint32_t index, uint32_t chain)
{
  uint32_t found = PAI__NOTHING;

  if (node >= h->nnodes)
    return PAI__NOTHING;
  for (uint32_t i = h->node_first[node]; i < h->node_first[node + 1]; i++) {
    uint32_t leaf = h->node_leaves[i];

    if (pai__hived_leaf_index(h, leaf) != index)
      continue;
    if (h->pcells[h->pleaves[leaf].cell].chain == chain)
      return leaf;
    if (found == PAI__NOTHING)
      found = leaf;
  }
  return found;
}

uint32_t pai__hived_leaf_node(const pai__hived *h, uint32_t leaf)
{
  return h->pcells[h->pleaves[leaf].cell].node;
}

uint32_t pai__hived_leaf_index(const pai__hived *h, uint32_t leaf)
{
  const pai_cluster *c = h->cluster;

  return c->gpus[c->cells[h->pleaves[leaf].cell].gpu].number;
}

uint32_t pai__hived_leaf_chain(const pai__hived *h, uint32_t leaf)
{
  return h->chains[h->pcells[h->pleaves[leaf].cell].chain].type;
}

/* Type of the preassigned cell that contains a virtual cell. */
static uint32_t preassigned_type(const pai__hived *h, uint32_t vcell)
{
  const pai__vcell *root = &h->vcells[h->vcells[vcell].root];

  return h
    ->levels[h->chains[h->pairs[root->pair].chain].level + root->level - 1]
    .type;
}

uint32_t pai__hived_gang_type(const pai__hived *h, const pai__hived_gang *g,
                              uint32_t i)
{
  return g->vcell != NULL && g->vcell[i] != PAI__NOTHING
           ? preassigned_type(h, g->vcell[i])
           : PAI__NOTHING;
}

uint32_t pai__hived_group_type(const pai__hived *h, uint32_t group,
                               uint32_t leaf)
{
  const pai__hived_group *g;
  uint32_t i, vcell;

  if (group == PAI__NOTHING)
    return PAI__NOTHING;
  g = &h->groups[group];
  if (g->vcell == PAI__NOTHING)
    return PAI__NOTHING;
  i = pai__gang_place(h, group, leaf);
  if (i == PAI__NOTHING)
    return PAI__NOTHING;
  vcell = pai__words(h, g->vcell)[i];
  return vcell != PAI__NOTHING ? preassigned_type(h, vcell) : PAI__NOTHING;
}

const char *pai__hived_node_name(const pai__hived *h, uint32_t node)
{
  if (node == PAI__NOTHING)
    return "";
  return node < h->nnodes ? h->cluster->nodes[node].name
                          : pai__hived_name_text(h, node);
}

const char *pai__hived_type_name(const pai__hived *h, uint32_t type)
{
  if (type == PAI__NOTHING)
    return "";
  return type < h->cluster->ntypes ? h->cluster->types[type].name
                                   : pai__hived_name_text(h, type);
}

pai__hived_spot pai__hived_gang_spot(const pai__hived *h,
                                     const pai__hived_gang *g, uint32_t first,
                                     uint32_t n, uint32_t i)
{
  bool lost = false;

  for (uint32_t k = first; k < first + n; k++)
    lost = lost || g->leaves[k] == PAI__NOTHING;
  if (lost && g->spots != NULL)
    return g->spots[i];
  if (g->leaves[i] == PAI__NOTHING)
    return (pai__hived_spot){ PAI__NOTHING, 0, PAI__NOTHING, PAI__NOTHING };
  return (pai__hived_spot){ pai__hived_leaf_node(h, g->leaves[i]),
                            pai__hived_leaf_index(h, g->leaves[i]),
                            pai__hived_gang_type(h, g, i),
                            pai__hived_leaf_chain(h, g->leaves[i]) };
}

void pai__hived_virtual_address(const pai__hived *h, uint32_t vcell,
                                pai__buf *out)
{
  uint32_t path[PAI__CELLS_MAX_LEVELS], n = 0;

  pai__buf_str(out, h->vcs[h->pairs[h->vcells[vcell].pair].vc].name);
  for (; vcell != PAI__NOTHING; vcell = h->vcells[vcell].parent)
    path[n++] = h->vcells[vcell].number;
  while (n > 0)
    pai__buf_printf(out, "/%u", (unsigned)path[--n]);
}

/* --- reasons -------------------------------------------------------------- */

typedef struct named_root {
  pai__buf address;
  uint32_t root;
} named_root;

static int by_address(const void *a, const void *b)
{
  const named_root *x = a, *y = b;

  return strcmp(pai__buf_text(&x->address), pai__buf_text(&y->address));
}

static void put_leaves(const pai__hived *h, const named_root *r, uint32_t n,
                       pai__json_writer *w)
{
  pai__buf address;

  pai__buf_init(&address, &h->alloc);
  pai__json_key(w, pai__buf_text(&r->address), r->address.len);
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < n; i++) {
    if (h->vcells[h->s.vcell[i]].root != r->root)
      continue;
    pai__buf_clear(&address);
    pai__hived_virtual_address(h, h->s.vcell[i], &address);
    pai__json_text(w, pai__buf_text(&address), address.len);
  }
  pai__json_end_array(w);
  pai__buf_dispose(&address);
}

/* Writes the virtual placement that could not be mapped, by preassigned
 * cell. */
static void put_placement(const pai__hived *h, uint32_t n, pai__buf *out)
{
  named_root *roots = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*roots));
  pai__json_writer w;
  uint32_t count = 0;

  if (roots == NULL) {
    out->failed = true;
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t root = h->vcells[h->s.vcell[i]].root, k = 0;

    while (k < count && roots[k].root != root)
      k++;
    if (k < count)
      continue;
    pai__buf_init(&roots[count].address, &h->alloc);
    roots[count].root = root;
    pai__hived_virtual_address(h, root, &roots[count++].address);
  }
  qsort(roots, count, sizeof(*roots), by_address);
  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  for (uint32_t i = 0; i < count; i++) {
    put_leaves(h, &roots[i], n, &w);
    pai__buf_dispose(&roots[i].address);
  }
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0)
    out->failed = true;
  pai__free(&h->alloc, roots, n * sizeof(*roots));
}

static void tell_wait(const pai__hived *h, const pai__hived_why *why,
                      pai__buf *out)
{
  const char *address =
    why->cell < h->npcells ? h->cluster->cells[why->cell].address : "";

  switch (why->kind) {
  case PAI__WHY_CAPACITY: pai__buf_str(out, "insufficient capacity"); break;
  case PAI__WHY_SICK_NODE:
    pai__buf_printf(out, "have to use at least one bad node %s", address);
    break;
  case PAI__WHY_UNSUGGESTED_NODE:
    pai__buf_printf(out, "have to use at least one non-suggested node %s",
                    address);
    break;
  case PAI__WHY_MAPPING:
    pai__buf_printf(out,
                    "Mapping the virtual placement would need to use at least "
                    "one %s node (virtual placement : ",
                    why->suggested ? "bad or non-suggested" : "bad");
    put_placement(h, why->nvirtual, out);
    pai__buf_char(out, ')');
    return;
  default: break;
  }
  if (why->kind == PAI__WHY_NOTHING)
    return;
  if (why->vc < h->nvcs)
    pai__buf_printf(out, " when scheduling in VC %s", h->vcs[why->vc].name);
  else
    pai__buf_str(out, " when scheduling in physical cluster");
}

void pai__hived_tell(const pai__hived *h, const pai__hived_why *why,
                     const pai__hived_words *w, pai__buf *out)
{
  if (why->kind < PAI__WHY_NO_VC) {
    tell_wait(h, why, out);
    return;
  }
  if (why->kind != PAI__WHY_TOO_MANY_PODS)
    pai__buf_printf(out, "[%s]: ", w->pod);
  switch (why->kind) {
  case PAI__WHY_NO_VC:
    pai__buf_printf(out, "VC %s does not exists!", w->vc);
    break;
  case PAI__WHY_NO_PIN:
    pai__buf_printf(out, "VC %s does not have pinned cell %s", w->vc, w->pin);
    break;
  case PAI__WHY_OPPORTUNISTIC_PIN:
    pai__buf_printf(
      out, "opportunistic pod not supported to use pinned cell %s", w->pin);
    break;
  case PAI__WHY_NO_TYPE:
    pai__buf_printf(out,
                    "Pod requesting leaf cell type %s which the whole cluster "
                    "does not have",
                    w->leaf_type);
    break;
  case PAI__WHY_VC_WITHOUT_TYPE:
    pai__buf_printf(out,
                    "Pod requesting leaf cell type %s which VC %s does not "
                    "have",
                    w->leaf_type, w->vc);
    break;
  default:
    pai__buf_printf(out,
                    "Requesting more pods than the configured number for %u "
                    "leaf cells (%u pods) in affinity group %s",
                    (unsigned)why->leaves, (unsigned)why->pods, w->group);
    break;
  }
}
