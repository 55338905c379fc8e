/*
 * map.c - maps virtual cells of a placement to physical cells
 *
 * The unbound leaf cells of a placement, with their parents up to a bound one,
 * form trees of vertices.  Physical cells are found from the top down: for
 * preassigned cells in the free list, which is split as needed; for others
 * among the children of the parent's cell.
 */
#include "sched/hived/map.h"

/* --- vertices ------------------------------------------------------------- */

static uint32_t add_vertex(pai__hived *h, uint32_t vcell)
{
  pai__scratch *s = &h->s;

  s->vertices[s->nvertices] = (pai__vertex){ .cell = vcell,
                                             .to = PAI__NOTHING,
                                             .child = PAI__NOTHING,
                                             .last = PAI__NOTHING,
                                             .next = PAI__NOTHING };
  s->vertex_of[vcell] = (uint32_t)s->nvertices;
  return (uint32_t)s->nvertices++;
}

static void add_child(pai__hived *h, uint32_t parent, uint32_t child)
{
  pai__vertex *p = &h->s.vertices[parent];

  if (p->child == PAI__NOTHING)
    p->child = child;
  else
    h->s.vertices[p->last].next = child;
  p->last = child;
  p->children++;
}

/* Adds vertices from a leaf cell up to a cell that is bound or already has a
 * vertex.  Bound cells become vertices only to hold their children. */
static void add_path(pai__hived *h, uint32_t vcell)
{
  pai__scratch *s = &h->s;
  uint32_t vertex = add_vertex(h, vcell), parent;

  for (;;) {
    vcell = h->vcells[vcell].parent;
    if (vcell == PAI__NOTHING) {
      s->tops[s->ntops++] = vertex;
      return;
    }
    parent = s->vertex_of[vcell];
    if (parent != PAI__NOTHING) {
      add_child(h, parent, vertex);
      return;
    }
    parent = add_vertex(h, vcell);
    add_child(h, parent, vertex);
    if (h->vcells[vcell].bound != PAI__NOTHING) {
      s->tops[s->ntops++] = parent;
      return;
    }
    vertex = parent;
  }
}

static void plant(pai__hived *h, uint32_t nleaves)
{
  h->s.nvertices = h->s.ntops = 0;
  for (uint32_t i = 0; i < nleaves; i++)
    if (h->vcells[h->s.vcell[i]].bound == PAI__NOTHING)
      add_path(h, h->s.vcell[i]);
}

static void uproot(pai__hived *h)
{
  for (size_t i = 0; i < h->s.nvertices; i++)
    h->s.vertex_of[h->s.vertices[i].cell] = PAI__NOTHING;
}

/* --- candidates ----------------------------------------------------------- */

/* Number of nodes in a cell: 1, or 2 for more. */
static unsigned count_nodes(const pai__hived *h, uint32_t cell)
{
  unsigned n = 0;

  for (uint32_t i = cell; i < h->pcells[cell].skip && n < 2;) {
    bool is_node = h->pcells[i].node != PAI__NOTHING;

    n += is_node;
    i = is_node ? h->pcells[i].skip : i + 1;
  }
  return n;
}

static bool has_suggested(const pai__mapping *m, uint32_t cell)
{
  const pai__hived *h = m->h;

  for (uint32_t i = cell; i < h->pcells[cell].skip;) {
    if (h->pcells[i].node == PAI__NOTHING) {
      i++;
      continue;
    }
    if (pai__is_suggested(m->suggested, h->pcells[i].node))
      return true;
    i = h->pcells[i].skip;
  }
  return false;
}

bool pai__map_is_usable(const pai__mapping *m, uint32_t cell)
{
  const pai__pcell *c = &m->h->pcells[cell];

  if (c->bound != PAI__NOTHING ||
      (pai__is_sick(c) && count_nodes(m->h, cell) == 1))
    return false;
  return m->suggested == NULL || has_suggested(m, cell);
}

bool pai__map_push(pai__mapping *m, uint32_t word)
{
  pai__hived *h = m->h;

  if (PAI__SCRATCH(h, stack, h->s.nstack + 1) < 0) {
    m->failed = true;
    return false;
  }
  h->s.stack[h->s.nstack++] = word;
  return true;
}

void pai__map_sort(const pai__hived *h, uint32_t *cells, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t cell = cells[i], k = i;

    for (; k > 0 && h->pcells[cells[k - 1]].opp > h->pcells[cell].opp; k--)
      cells[k] = cells[k - 1];
    cells[k] = cell;
  }
}

/* --- matching ------------------------------------------------------------- */

static bool match_children(pai__mapping *m, uint32_t vertex, uint32_t cell);

/* True if a cell is healthy, suggested and without opportunistic use: then the
 * first choice always fits. */
static bool is_clean(const pai__mapping *m, uint32_t cell)
{
  const pai__pcell *c = &m->h->pcells[cell];

  return m->suggested == NULL && c->opp == 0 && !pai__is_sick(c);
}

static bool map_clean(pai__mapping *m, uint32_t vertex, uint32_t cell)
{
  const pai__hived *h = m->h;
  pai__vertex *v = &h->s.vertices[vertex];
  uint32_t to = cell + 1;

  if (h->pcells[cell].level == 1) {
    v->to = cell;
    return true;
  }
  for (uint32_t i = v->child; i != PAI__NOTHING; i = h->s.vertices[i].next) {
    if (to >= h->pcells[cell].skip || !map_clean(m, i, to))
      return false;
    to = h->pcells[to].skip;
  }
  return true;
}

bool pai__map_fits(pai__mapping *m, uint32_t vertex, uint32_t cell)
{
  pai__hived *h = m->h;

  if (h->pcells[cell].level == 1) {
    h->s.vertices[vertex].to = cell;
    return true;
  }
  if (is_clean(m, cell) && map_clean(m, vertex, cell))
    return true;
  return match_children(m, vertex, cell);
}

/* Returns child i of a vertex. */
static uint32_t nth_child(const pai__hived *h, uint32_t vertex, uint32_t i)
{
  uint32_t at = h->s.vertices[vertex].child;

  while (i-- > 0)
    at = h->s.vertices[at].next;
  return at;
}

/* Like HiveD, does not reset the position of a later vertex when the search
 * goes back to an earlier one, so it may miss a solution.  The stack has n
 * candidates from `base` on, then a flag for each that is taken, then the
 * position of each vertex. */
static bool search(pai__mapping *m, uint32_t vertex, size_t base, uint32_t n)
{
  pai__hived *h = m->h;
  uint32_t k = h->s.vertices[vertex].children, i = 0;
  size_t taken = base + n, pos = taken + n;
  uint32_t child = h->s.vertices[vertex].child;

  for (;;) {
    uint32_t at = h->s.stack[pos + i];

    while (at < n && (h->s.stack[taken + at] != 0 ||
                      !pai__map_fits(m, child, h->s.stack[base + at])))
      at++;
    if (m->failed)
      return false;
    if (at < n) {
      h->s.stack[pos + i] = at;
      h->s.stack[taken + at] = 1;
      if (++i == k)
        return true;
      child = h->s.vertices[child].next;
      continue;
    }
    if (i-- == 0)
      return false;
    child = nth_child(h, vertex, i);
    h->s.stack[taken + h->s.stack[pos + i]] = 0;
    h->s.stack[pos + i]++;
  }
}

/* Maps the children of a vertex to children of a cell. */
static bool match_children(pai__mapping *m, uint32_t vertex, uint32_t cell)
{
  pai__hived *h = m->h;
  uint32_t k = h->s.vertices[vertex].children, n = 0;
  size_t base = h->s.nstack;
  bool found = false;

  for (uint32_t i = cell + 1; i < h->pcells[cell].skip; i = h->pcells[i].skip)
    if (pai__map_is_usable(m, i)) {
      if (!pai__map_push(m, i))
        return false;
      n++;
    }
  if (n >= k) {
    pai__map_sort(h, h->s.stack + base, n);
    for (uint32_t i = 0; i < n + k; i++)
      if (!pai__map_push(m, 0))
        return false;
    found = search(m, vertex, base, n);
  }
  h->s.nstack = base;
  return found;
}

/* --- the whole ------------------------------------------------------------ */

static bool map_tops(pai__mapping *m)
{
  const pai__hived *h = m->h;

  for (size_t i = 0; i < h->s.ntops; i++)
    if (h->vcells[h->s.vertices[h->s.tops[i]].cell].bound == PAI__NOTHING &&
        !pai__map_find_free(m, h->s.tops[i]))
      return false;
  for (size_t i = 0; i < h->s.ntops; i++) {
    uint32_t bound = h->vcells[h->s.vertices[h->s.tops[i]].cell].bound;

    if (bound != PAI__NOTHING && !match_children(m, h->s.tops[i], bound))
      return false;
  }
  return true;
}

/* No cell was sick when the placement was made.  But groups that were lazily
 * preempted since may have made room for dooming a virtual cluster to a sick
 * cell. */
static bool has_sick(const pai__hived *h, uint32_t nleaves)
{
  for (uint32_t i = 0; i < nleaves; i++) {
    uint32_t cell = h->vcells[h->s.vcell[i]].bound;

    if (cell != PAI__NOTHING && pai__is_sick(&h->pcells[cell]))
      return true;
  }
  return false;
}

int pai__map_cells(pai__hived *h, uint32_t chain, uint32_t nleaves,
                   const uint64_t *suggested)
{
  pai__mapping m = { .h = h,
                     .chain = &h->chains[chain],
                     .suggested = suggested };
  bool found;

  for (uint32_t i = 1; i <= m.chain->levels; i++)
    m.wanted[i] = h->levels[m.chain->level + i - 1].wanted;
  h->s.nstack = h->s.nundo = 0;
  if (has_sick(h, nleaves)) {
    pai__mend(h, PAI__MENDED_Q21);
    return PAI_ENOROOM;
  }
  plant(h, nleaves);
  found = map_tops(&m);
  for (uint32_t i = 0; found && i < nleaves; i++) {
    uint32_t vcell = h->s.vcell[i], cell = h->vcells[vcell].bound;

    if (cell == PAI__NOTHING)
      cell = h->s.vertices[h->s.vertex_of[vcell]].to;
    h->s.physical[i] = h->pcells[cell].leaf;
  }
  pai__map_undo(h);
  uproot(h);
  if (m.failed)
    return PAI_ENOMEM;
  return found ? PAI_OK : PAI_ENOROOM;
}
