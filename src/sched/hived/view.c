/*
 * view.c - views: nodes in the order in which placement tries them
 *
 * At each attempt HiveD sorts the list of a view in place, with a stable sort:
 * sick nodes last, before them nodes that were not suggested; else the most
 * used nodes first.  In the view of the whole cluster that is the most
 * opportunistic use, then the least other use.  The next attempt starts from
 * this order, so the order is part of the state.
 *
 * If all nodes are suggested, nodes with equal keys form a rank, and only
 * nodes whose key has changed since the last attempt are moved: to the front
 * of the new rank if they stood before it, else to its end, in their old
 * order.  The result is that of a stable sort.  With a set of suggested nodes
 * the keys differ for one attempt, and the whole list is sorted.
 */
#include "sched/hived/engine.h"

static uint32_t cell_of(const pai__hived *h, const pai__hived_view *v,
                        const pai__vnode *n)
{
  return v->physical ? n->cell : h->vcells[n->cell].bound;
}

uint32_t pai__vnode_cell(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode)
{
  return cell_of(h, v, &h->vnodes[vnode]);
}

static bool is_sick(const pai__hived *h, const pai__hived_view *v,
                    const pai__vnode *n)
{
  uint32_t cell = cell_of(h, v, n);

  return cell != PAI__NOTHING && pai__is_sick(&h->pcells[cell]);
}

/* --- ranks ---------------------------------------------------------------- */

static uint32_t rank_of(const pai__hived *h, const pai__hived_view *v,
                        const pai__vnode *n)
{
  uint32_t most = v->total + 1, rank;

  if (v->physical)
    rank = (v->total - n->opp) * most + n->used - n->opp;
  else
    rank = v->total - n->used;
  return is_sick(h, v, n) ? v->nranks / 2 + rank : rank;
}

/* Most leaves that a node of a rank may have free. */
static uint32_t most_free(const pai__hived_view *v, uint32_t rank)
{
  uint32_t most = v->total + 1, k = rank % (v->nranks / 2);

  if (!v->physical)
    return k;
  return k / most > k % most ? k / most - k % most : 0;
}

/* First rank, from this one on, that has nodes; or PAI__NOTHING. */
static uint32_t next_rank(const pai__hived *h, const pai__hived_view *v,
                          uint32_t rank)
{
  while (rank < v->nranks) {
    uint64_t word = h->rank_bits[v->words + rank / 64] >> rank % 64;

    if (word != 0)
      return rank + pai__lowest_bit(word);
    rank = (rank / 64 + 1) * 64;
  }
  return PAI__NOTHING;
}

static void take_out(pai__hived *h, const pai__hived_view *v, pai__vnode *n)
{
  pai__rank *rank = &h->ranks[v->rank + n->rank];

  if (n->before != PAI__NOTHING)
    h->vnodes[n->before].next = n->next;
  else
    rank->first = n->next;
  if (n->next != PAI__NOTHING)
    h->vnodes[n->next].before = n->before;
  else
    rank->last = n->before;
  if (rank->first == PAI__NOTHING)
    h->rank_bits[v->words + n->rank / 64] &= ~((uint64_t)1 << n->rank % 64);
}

static void put_in(pai__hived *h, const pai__hived_view *v, uint32_t vnode,
                   uint32_t to, bool front)
{
  pai__vnode *n = &h->vnodes[vnode];
  pai__rank *rank = &h->ranks[v->rank + to];

  n->rank = to;
  if (rank->first == PAI__NOTHING) {
    h->rank_bits[v->words + to / 64] |= (uint64_t)1 << to % 64;
    rank->first = rank->last = vnode;
    rank->low = rank->high = n->place = 0;
    n->next = n->before = PAI__NOTHING;
  } else if (front) {
    n->place = --rank->low;
    n->before = PAI__NOTHING;
    n->next = rank->first;
    h->vnodes[rank->first].before = vnode;
    rank->first = vnode;
  } else {
    n->place = ++rank->high;
    n->next = PAI__NOTHING;
    n->before = rank->last;
    h->vnodes[rank->last].next = vnode;
    rank->last = vnode;
  }
}

/* Builds the ranks from the order, which sorts it. */
static void link_all(pai__hived *h, pai__hived_view *v)
{
  for (uint32_t i = 0; i < v->nranks; i++)
    h->ranks[v->rank + i] = (pai__rank){ PAI__NOTHING, PAI__NOTHING, 0, 0 };
  memset(&h->rank_bits[v->words], 0,
         (v->nranks / 64 + 1) * sizeof(*h->rank_bits));
  for (uint32_t i = 0; i < v->count; i++) {
    uint32_t vnode = h->order[v->first + i];

    put_in(h, v, vnode, rank_of(h, v, &h->vnodes[vnode]), false);
  }
  v->linked = true;
}

void pai__view_list(const pai__hived *h, const pai__hived_view *v,
                    uint32_t *out)
{
  uint32_t rank = 0;

  if (!v->linked) {
    memmove(out, h->order + v->first, v->count * sizeof(*out));
    return;
  }
  for (; (rank = next_rank(h, v, rank)) != PAI__NOTHING; rank++)
    for (uint32_t i = h->ranks[v->rank + rank].first; i != PAI__NOTHING;
         i = h->vnodes[i].next)
      *out++ = i;
}

/* --- moving nodes --------------------------------------------------------- */

void pai__view_touch(pai__hived *h, uint32_t vnode)
{
  pai__vnode *n = &h->vnodes[vnode];
  pai__hived_view *v = &h->views[n->view];

  if (!v->linked || n->dirty)
    return;
  n->dirty = true;
  h->dirty[v->first + v->ndirty++] = vnode;
}

void pai__view_touch_virtual(pai__hived *h, uint32_t vcell)
{
  uint32_t vnode = h->vleaves[h->vcells[vcell].leaf].vnode;

  if (h->vnodes[vnode].cell == vcell)
    pai__view_touch(h, vnode);
}

void pai__view_touch_physical(pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];
  uint32_t vnode = h->pleaves[c->leaf].vnode;

  if (h->vnodes[vnode].cell == cell)
    pai__view_touch(h, vnode);
  if (c->bound != PAI__NOTHING)
    pai__view_touch_virtual(h, c->bound);
}

static bool stands_before(const pai__vnode *a, const pai__vnode *b)
{
  return a->rank != b->rank ? a->rank < b->rank : a->place < b->place;
}

static void sort_movers(const pai__vnode *nodes, uint32_t *list, uint32_t n)
{
  uint32_t gap = 1;

  while (gap < n / 3)
    gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (uint32_t i = gap; i < n; i++) {
      uint32_t mover = list[i], k = i;

      for (; k >= gap && stands_before(&nodes[mover], &nodes[list[k - gap]]);
           k -= gap)
        list[k] = list[k - gap];
      list[k] = mover;
    }
}

static void move_dirty(pai__hived *h, pai__hived_view *v)
{
  uint32_t *list = h->dirty + v->first, n = 0;

  for (uint32_t i = 0; i < v->ndirty; i++) {
    pai__vnode *node = &h->vnodes[list[i]];

    node->dirty = false;
    if (rank_of(h, v, node) != node->rank)
      list[n++] = list[i];
  }
  v->ndirty = 0;
  sort_movers(h->vnodes, list, n);
  for (uint32_t i = 0; i < n; i++) {
    pai__vnode *node = &h->vnodes[list[i]];
    uint32_t to = rank_of(h, v, node);

    if (to > node->rank)
      continue;
    take_out(h, v, node);
    put_in(h, v, list[i], to, false);
    list[i] = PAI__NOTHING;
  }
  for (uint32_t i = n; i-- > 0;) {
    pai__vnode *node;

    if (list[i] == PAI__NOTHING)
      continue;
    node = &h->vnodes[list[i]];
    take_out(h, v, node);
    put_in(h, v, list[i], rank_of(h, v, node), true);
  }
}

/* --- sorting the whole list ----------------------------------------------- */

static uint64_t key_of(const pai__hived *h, const pai__hived_view *v,
                       const pai__vnode *n, const uint64_t *suggested)
{
  uint32_t cell = cell_of(h, v, n), same = v->physical ? n->opp : n->used;
  bool unsuggested = cell != PAI__NOTHING &&
                     !pai__is_suggested(suggested, h->pcells[cell].node);

  return (uint64_t)is_sick(h, v, n) << 63 | (uint64_t)unsuggested << 62 |
         (uint64_t)(PAI__HIVED_MAX_LEAVES - same) << 31 | (n->used - same);
}

/* Stable merge sort of indices by their keys. */
static void sort_keys(const uint64_t *keys, uint32_t *list, uint32_t *other,
                      uint32_t n)
{
  uint32_t *from = list, *to = other;

  for (uint32_t width = 1; width < n; width *= 2) {
    uint32_t *swap = from;

    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t mid = n - low > width ? low + width : n;
      uint32_t end = n - low > 2 * width ? low + 2 * width : n;
      uint32_t a = low, b = mid;

      for (uint32_t i = low; i < end; i++)
        to[i] = a < mid && (b == end || keys[from[a]] <= keys[from[b]])
                  ? from[a++]
                  : from[b++];
    }
    from = to;
    to = swap;
  }
  if (from != list)
    memcpy(list, from, n * sizeof(*list));
}

static void sort_all(pai__hived *h, pai__hived_view *v,
                     const uint64_t *suggested)
{
  uint32_t *order = h->order + v->first, *places = h->s.sorted[0];

  if (v->linked) {
    pai__view_list(h, v, order);
    for (uint32_t i = 0; i < v->ndirty; i++)
      h->vnodes[h->dirty[v->first + i]].dirty = false;
    v->ndirty = 0;
    v->linked = false;
  }
  for (uint32_t i = 0; i < v->count; i++) {
    h->s.keys[i] = key_of(h, v, &h->vnodes[order[i]], suggested);
    places[i] = i;
  }
  sort_keys(h->s.keys, places, h->s.sorted[1], v->count);
  for (uint32_t i = 0; i < v->count; i++)
    places[i] = order[places[i]];
  memcpy(order, places, v->count * sizeof(*order));
}

void pai__view_sort(pai__hived *h, uint32_t view, const uint64_t *suggested)
{
  pai__hived_view *v = &h->views[view];

  if (suggested != NULL || v->nranks == 0)
    sort_all(h, v, suggested);
  else if (v->linked)
    move_dirty(h, v);
  else
    link_all(h, v);
}

/* --- iteration ------------------------------------------------------------ */

uint32_t pai__vnode_free(const pai__hived *h, const pai__hived_view *v,
                         uint32_t vnode, int32_t priority)
{
  const pai__vnode *n = &h->vnodes[vnode];
  uint32_t first, end, kept = 0;

  if (v->physical || priority < 0)
    return n->total - n->used;
  first = h->vcells[n->cell].skip;
  end = first < h->nvcells ? h->vcells[first].leaf : (uint32_t)h->nvleaves;
  for (uint32_t i = h->vcells[n->cell].leaf; i < end; i++)
    kept += h->vpriority[i] >= priority;
  return n->total - kept;
}

static uint32_t next_linked(const pai__hived *h, pai__cursor *c,
                            uint32_t leaves)
{
  const pai__hived_view *v = c->v;
  bool all = c->priority >= 0 && !v->physical;
  uint32_t rank = 0, at = PAI__NOTHING;

  if (c->rank != PAI__NOTHING) {
    rank = c->rank + 1;
    at = h->vnodes[c->at].next;
  }
  for (;;) {
    for (; at != PAI__NOTHING; at = h->vnodes[at].next)
      if (pai__vnode_free(h, v, at, c->priority) >= leaves) {
        c->rank = h->vnodes[at].rank;
        c->at = at;
        return at;
      }
    rank = next_rank(h, v, rank);
    while (rank != PAI__NOTHING && !all && most_free(v, rank) < leaves)
      rank = next_rank(h, v, rank + 1);
    if (rank == PAI__NOTHING)
      return PAI__NOTHING;
    at = h->ranks[v->rank + rank++].first;
  }
}

uint32_t pai__view_next(const pai__hived *h, pai__cursor *c, uint32_t leaves)
{
  const pai__hived_view *v = c->v;

  if (v->linked)
    return next_linked(h, c, leaves);
  for (c->at++; c->at < v->count; c->at++) {
    uint32_t vnode = h->order[v->first + c->at];

    if (pai__vnode_free(h, v, vnode, c->priority) >= leaves)
      return vnode;
  }
  return PAI__NOTHING;
}
