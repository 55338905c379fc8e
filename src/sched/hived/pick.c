/* pick.c - picks a node for each pod, and leaf cells on it */
#include "sched/hived/engine.h"

/* Available leaf cells of a node: free ones first, then those of lower
 * priority. */
typedef struct picking {
  pai__hived *h;
  const pai__hived_view *v;
  uint32_t base; /* first leaf of the node */
  uint32_t *avail, n;
} picking;

static uint32_t up(const picking *p, uint32_t cell)
{
  return p->v->physical ? p->h->pcells[cell].parent
                        : p->h->vcells[cell].parent;
}

static uint32_t leaf_of(const picking *p, uint32_t cell)
{
  return (p->v->physical ? p->h->pcells[cell].leaf : p->h->vcells[cell].leaf) -
         p->base;
}

static int priority_of(const picking *p, uint32_t leaf)
{
  const pai__hived *h = p->h;

  return p->v->physical ? h->pcells[h->pleaves[leaf].cell].priority
                        : h->vpriority[leaf];
}

static uint32_t cell_of(const picking *p, uint32_t leaf)
{
  return p->v->physical ? p->h->pleaves[leaf].cell : p->h->vleaves[leaf].cell;
}

static void enter_node(picking *p, uint32_t vnode, int32_t priority)
{
  const pai__hived *h = p->h;
  uint32_t cell = h->vnodes[vnode].cell, end;

  p->n = 0;
  if (p->v->physical) {
    p->base = h->pcells[cell].leaf;
    cell = h->pcells[cell].skip;
    end = cell < h->npcells ? h->pcells[cell].leaf : (uint32_t)h->npleaves;
  } else {
    p->base = h->vcells[cell].leaf;
    cell = h->vcells[cell].skip;
    end = cell < h->nvcells ? h->vcells[cell].leaf : (uint32_t)h->nvleaves;
  }
  for (uint32_t i = p->base; i < end; i++)
    if (priority_of(p, i) == PAI__FREE_PRIORITY)
      p->avail[p->n++] = cell_of(p, i);
  if (priority < 0)
    return;
  for (uint32_t i = p->base; i < end; i++) {
    int x = priority_of(p, i);

    if (x > PAI__FREE_PRIORITY && x < priority)
      p->avail[p->n++] = cell_of(p, i);
  }
}

/* Finds the lowest cell that contains k of the available leaf cells; on that
 * level, the first one in their order.  HiveD finds the same by trying all
 * combinations in order.  Returns how many levels it is above the leaves;
 * PAI__NOTHING if there is none. */
static uint32_t find_nearest(const picking *p, uint32_t k, uint32_t *cell)
{
  uint32_t *count = p->h->s.count;

  for (uint32_t ups = 1;; ups++) {
    uint32_t best = PAI__NOTHING;

    memset(count, 0, (p->h->largest + 1) * sizeof(*count));
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t above = p->avail[i];

      for (uint32_t j = 0; j < ups && above != PAI__NOTHING; j++)
        above = up(p, above);
      if (above == PAI__NOTHING)
        return PAI__NOTHING;
      count[leaf_of(p, above)]++;
    }
    for (uint32_t i = 0; i < p->n && best == PAI__NOTHING; i++) {
      uint32_t above = p->avail[i];

      for (uint32_t j = 0; j < ups; j++)
        above = up(p, above);
      if (count[leaf_of(p, above)] >= k)
        best = above;
    }
    if (best != PAI__NOTHING) {
      *cell = best;
      return ups;
    }
  }
}

static bool is_in(const picking *p, uint32_t leaf, uint32_t cell)
{
  uint32_t skip =
    p->v->physical ? p->h->pcells[cell].skip : p->h->vcells[cell].skip;

  return leaf >= cell && leaf < skip;
}

/* Moves k leaf cells to `out`; the others keep their order. */
static void take(picking *p, uint32_t k, uint32_t *out)
{
  uint32_t left = 0, cell = PAI__NOTHING, taken = 0;

  if (k > 1 && k < p->n && find_nearest(p, k, &cell) == PAI__NOTHING)
    cell = PAI__NOTHING;
  for (uint32_t i = 0; i < p->n; i++) {
    if (taken < k && (cell == PAI__NOTHING || is_in(p, p->avail[i], cell)))
      out[taken++] = p->avail[i];
    else
      p->avail[left++] = p->avail[i];
  }
  p->n = left;
}

/* --- nodes ---------------------------------------------------------------- */

static bool fail(const pai__attempt *a, int kind, uint32_t cell)
{
  a->why->kind = kind;
  a->why->cell = cell;
  return false;
}

/* Chooses a node for each pod, in one pass. */
static bool choose_nodes(pai__hived *h, const pai__attempt *a,
                         int32_t priority)
{
  const pai__hived_view *v = &h->views[a->view];
  pai__cursor c = { v, PAI__NOTHING, PAI__NOTHING, priority };
  uint32_t node = PAI__NOTHING, left = 0;

  for (uint32_t i = 0; i < a->npods; i++) {
    uint32_t need = h->s.pods[i], cell;

    if (node == PAI__NOTHING || left < need) {
      node = pai__view_next(h, &c, need);
      if (node == PAI__NOTHING) {
        a->why->leaves = need;
        a->why->pods = i;
        return fail(a, PAI__WHY_CAPACITY, PAI__NOTHING);
      }
      left = pai__vnode_free(h, v, node, priority);
      cell = pai__vnode_cell(h, v, node);
      if (cell != PAI__NOTHING && pai__is_sick(&h->pcells[cell]))
        return fail(a, PAI__WHY_SICK_NODE, cell);
      if (cell != PAI__NOTHING &&
          !pai__is_suggested(a->suggested, h->pcells[cell].node))
        return fail(a, PAI__WHY_UNSUGGESTED_NODE, cell);
    }
    h->s.nodes[i] = node;
    left -= need;
  }
  return true;
}

bool pai__pick(pai__hived *h, const pai__attempt *a, uint32_t *out)
{
  picking p = { .h = h, .v = &h->views[a->view], .avail = h->s.avail };
  uint32_t node = PAI__NOTHING;
  int32_t priority = PAI__OPPORTUNISTIC;

  pai__view_sort(h, a->view, a->suggested);
  if (!choose_nodes(h, a, priority)) {
    /* No priority is below the lowest guaranteed one. */
    if (a->priority <= 0)
      return false;
    priority = a->priority;
    if (!choose_nodes(h, a, priority))
      return false;
  }
  for (uint32_t i = 0; i < a->npods; i++) {
    if (h->s.nodes[i] != node) {
      node = h->s.nodes[i];
      enter_node(&p, node, priority);
    }
    take(&p, h->s.pods[i], out);
    out += h->s.pods[i];
  }
  return true;
}
