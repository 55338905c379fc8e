/*
 * map.c - which physical cells virtual cells become
 *
 * The leaf cells of a placement that are not bound yet, and what they are in up
 * to a cell that is, make trees of vertices.  Cells are found for them from the
 * top down: for preassigned cells in the free list, which is divided as needed,
 * and for others among the children of the cell that their parent is.
 *
 * This changes the free list itself, and puts it back in the end.
 */
#include "sched/hived/engine.h"

typedef struct mapping {
  pai__hived *h;
  const pai__hived_chain *chain;
  const uint64_t *suggested;
  int32_t wanted[PAI__CELLS_MAX_LEVELS + 1]; /* of each level */
  bool failed;                               /* memory was short */
} mapping;

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

/* From a leaf cell up to one that is bound, or was met already.  Cells that are
 * bound become vertices only to hold their children. */
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

/* How many nodes a cell has: 1, or 2 for more. */
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

static bool has_suggested(const mapping *m, uint32_t cell)
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

static bool is_usable(const mapping *m, uint32_t cell)
{
  const pai__pcell *c = &m->h->pcells[cell];

  if (c->bound != PAI__NOTHING ||
      (pai__is_sick(c) && count_nodes(m->h, cell) == 1))
    return false;
  return m->suggested == NULL || has_suggested(m, cell);
}

static bool push(mapping *m, uint32_t word)
{
  pai__hived *h = m->h;

  if (PAI__SCRATCH(h, stack, h->s.nstack + 1) < 0) {
    m->failed = true;
    return false;
  }
  h->s.stack[h->s.nstack++] = word;
  return true;
}

/* Cells that are less used opportunistically first, else as they are. */
static void sort_cells(const pai__hived *h, uint32_t *cells, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t cell = cells[i], k = i;

    for (; k > 0 && h->pcells[cells[k - 1]].opp > h->pcells[cell].opp; k--)
      cells[k] = cells[k - 1];
    cells[k] = cell;
  }
}

/* --- matching ------------------------------------------------------------- */

static bool match_children(mapping *m, uint32_t vertex, uint32_t cell);

/* A cell that is well, and all free: every choice is the first. */
static bool is_clean(const mapping *m, uint32_t cell)
{
  const pai__pcell *c = &m->h->pcells[cell];

  return m->suggested == NULL && c->opp == 0 && !pai__is_sick(c);
}

static bool map_clean(mapping *m, uint32_t vertex, uint32_t cell)
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

static bool fits(mapping *m, uint32_t vertex, uint32_t cell)
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

/* Vertex i of those in `vertex`. */
static uint32_t nth_child(const pai__hived *h, uint32_t vertex, uint32_t i)
{
  uint32_t at = h->s.vertices[vertex].child;

  while (i-- > 0)
    at = h->s.vertices[at].next;
  return at;
}

/* Where the search of a later vertex began is not forgotten when that of an
 * earlier one goes on, as HiveD does it: so it may miss what there is.  The stack has n candidates from `base` on, then
 * whether each is taken, then where each vertex's search stands. */
static bool search(mapping *m, uint32_t vertex, size_t base, uint32_t n)
{
  pai__hived *h = m->h;
  uint32_t k = h->s.vertices[vertex].children, i = 0;
  size_t taken = base + n, pos = taken + n;
  uint32_t child = h->s.vertices[vertex].child;

  for (;;) {
    uint32_t at = h->s.stack[pos + i];

    while (at < n && (h->s.stack[taken + at] != 0 ||
                      !fits(m, child, h->s.stack[base + at])))
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

/* The vertices in `vertex` to cells in `cell`. */
static bool match_children(mapping *m, uint32_t vertex, uint32_t cell)
{
  pai__hived *h = m->h;
  uint32_t k = h->s.vertices[vertex].children, n = 0;
  size_t base = h->s.nstack;
  bool found = false;

  for (uint32_t i = cell + 1; i < h->pcells[cell].skip; i = h->pcells[i].skip)
    if (is_usable(m, i)) {
      if (!push(m, i))
        return false;
      n++;
    }
  if (n >= k) {
    sort_cells(h, h->s.stack + base, n);
    for (uint32_t i = 0; i < n + k; i++)
      if (!push(m, 0))
        return false;
    found = search(m, vertex, base, n);
  }
  h->s.nstack = base;
  return found;
}

/* --- the free list while it is divided ------------------------------------ */

static pai__hived_level *level_at(const mapping *m, uint32_t level)
{
  return &m->h->levels[m->chain->level + level - 1];
}

static bool note(mapping *m, uint32_t level, uint32_t at, uint32_t cell)
{
  pai__hived *h = m->h;

  if (PAI__SCRATCH(h, undo, h->s.nundo + 1) < 0) {
    m->failed = true;
    return false;
  }
  h->s.undo[h->s.nundo++] =
    (pai__undo){ m->chain->level + level - 1, at, cell };
  return true;
}

static bool list_add(mapping *m, uint32_t level, uint32_t cell)
{
  pai__hived_level *l = level_at(m, level);

  if (!note(m, level, PAI__NOTHING, cell))
    return false;
  m->h->lists[l->free + l->nfree++] = cell;
  return true;
}

static bool list_remove(mapping *m, uint32_t level, uint32_t at)
{
  pai__hived_level *l = level_at(m, level);
  uint32_t *list = m->h->lists + l->free;

  if (!note(m, level, at, list[at]))
    return false;
  list[at] = list[--l->nfree];
  return true;
}

static void undo_all(pai__hived *h)
{
  while (h->s.nundo > 0) {
    const pai__undo *u = &h->s.undo[--h->s.nundo];
    pai__hived_level *l = &h->levels[u->level];
    uint32_t *list = h->lists + l->free;

    if (u->at == PAI__NOTHING) {
      l->nfree--;
    } else {
      list[l->nfree++] = list[u->at];
      list[u->at] = u->cell;
    }
  }
}

/* n cells, which the stack holds from `base` on, go to the front. */
static bool list_prepend(mapping *m, uint32_t level, size_t base, size_t n)
{
  pai__hived *h = m->h;
  pai__hived_level *l = level_at(m, level);

  for (uint32_t i = 0; i < l->nfree; i++)
    if (!push(m, h->lists[l->free + i]))
      return false;
  n += l->nfree;
  while (l->nfree > 0)
    if (!list_remove(m, level, l->nfree - 1))
      return false;
  for (size_t i = 0; i < n; i++)
    if (!list_add(m, level, h->s.stack[base + i]))
      return false;
  h->s.nstack = base;
  return true;
}

/* --- preassigned cells ---------------------------------------------------- */

/* A cell of the free list for a vertex; its place there, or PAI__NOTHING.
 * Those without opportunistic use are tried as they come, and only when none
 * of them fits the others are sorted. */
static uint32_t match_free(mapping *m, uint32_t vertex, uint32_t level)
{
  pai__hived *h = m->h;
  const pai__hived_level *l = level_at(m, level);
  const uint32_t *list = h->lists + l->free;
  size_t base = h->s.nstack;
  uint32_t n = 0, found = PAI__NOTHING;

  for (uint32_t i = 0; i < l->nfree; i++) {
    if (!is_usable(m, list[i]))
      continue;
    if (h->pcells[list[i]].opp == 0) {
      if (fits(m, vertex, list[i]))
        return i;
    } else if (!push(m, list[i])) {
      return PAI__NOTHING;
    } else {
      n++;
    }
  }
  sort_cells(h, h->s.stack + base, n);
  for (uint32_t i = 0; i < n && found == PAI__NOTHING && !m->failed; i++)
    if (fits(m, vertex, h->s.stack[base + i]))
      found = h->s.stack[base + i];
  h->s.nstack = base;
  for (uint32_t i = 0; i < l->nfree && found != PAI__NOTHING; i++)
    if (list[i] == found)
      return i;
  return PAI__NOTHING;
}

static bool find_buddy(mapping *m, uint32_t vertex, uint32_t level);

/* One of a level, divided. */
static bool divide(mapping *m, uint32_t vertex, uint32_t level, uint32_t cell)
{
  const pai__hived *h = m->h;
  pai__hived_level *below = level_at(m, level - 1);

  for (uint32_t i = cell + 1; i < h->pcells[cell].skip; i = h->pcells[i].skip)
    if (!list_add(m, level - 1, i))
      return false;
  if (find_buddy(m, vertex, level - 1)) {
    const pai__hived_level *l = level_at(m, level);
    uint32_t at = 0;

    while (at < l->nfree && h->lists[l->free + at] != cell)
      at++;
    return list_remove(m, level, at);
  }
  while (below->nfree > 0)
    if (!list_remove(m, level - 1, below->nfree - 1))
      return false;
  return false;
}

static bool find_buddy(mapping *m, uint32_t vertex, uint32_t level)
{
  pai__hived *h = m->h;
  const pai__hived_level *l = level_at(m, level);
  size_t base = h->s.nstack;
  uint32_t n = 0;
  bool found = false;

  if (level == h->vcells[h->s.vertices[vertex].cell].level) {
    uint32_t at = match_free(m, vertex, level);

    return at != PAI__NOTHING && list_remove(m, level, at);
  }
  for (uint32_t i = 0; i < l->nfree; i++) {
    uint32_t cell = h->lists[l->free + i];

    if (!is_usable(m, cell))
      continue;
    if (h->pcells[cell].opp == 0) {
      if (divide(m, vertex, level, cell))
        return true;
    } else if (push(m, cell)) {
      n++;
    }
    if (m->failed)
      return false;
  }
  sort_cells(h, h->s.stack + base, n);
  for (uint32_t i = 0; i < n && !found && !m->failed; i++)
    found = divide(m, vertex, level, h->s.stack[base + i]);
  h->s.nstack = base;
  return found;
}

/* --- cells that are divided although smaller ones were promised ----------- */

/* How many cells of each level above may be divided; false where that is less
 * than none, and virtual clusters were promised too much. */
static bool count_divisible(mapping *m, uint32_t level, int64_t *divisible)
{
  const pai__hived *h = m->h;
  uint32_t like = PAI__NOTHING; /* a free cell, and then what is in it */

  for (uint32_t i = m->chain->levels; i > level; i--) {
    const pai__hived_level *l = level_at(m, i);

    divisible[i] = (int64_t)l->nfree - m->wanted[i];
    if (like != PAI__NOTHING) {
      for (uint32_t k = like + 1; k < h->pcells[like].skip;
           k = h->pcells[k].skip)
        divisible[i] += divisible[i + 1];
      like++;
    } else if (l->nfree > 0) {
      like = h->lists[l->free];
    }
    if (divisible[i] < 0)
      return false;
  }
  return true;
}

/* What is of a level in a cell, onto the stack. */
static bool push_parts(mapping *m, uint32_t cell, uint32_t level)
{
  const pai__hived *h = m->h;

  for (uint32_t i = cell; i < h->pcells[cell].skip;) {
    if (h->pcells[i].level > level) {
      i++;
      continue;
    }
    if (!push(m, i))
      return false;
    i = h->pcells[i].skip;
  }
  return true;
}

static bool find_relaxed(mapping *m, uint32_t vertex)
{
  pai__hived *h = m->h;
  uint32_t level = h->vcells[h->s.vertices[vertex].cell].level;
  int64_t divisible[PAI__CELLS_MAX_LEVELS + 2] = { 0 };

  if (!count_divisible(m, level, divisible))
    return false;
  for (uint32_t i = level + 1; i <= m->chain->levels; i++) {
    const pai__hived_level *l = level_at(m, i);
    int64_t n = l->nfree < divisible[i] ? l->nfree : divisible[i];
    size_t base = h->s.nstack;
    uint32_t at;

    if (n <= 0)
      continue;
    for (; n > 0; n--)
      if (!push_parts(m, h->lists[l->free], level) || !list_remove(m, i, 0))
        return false;
    if (!list_prepend(m, level, base, h->s.nstack - base))
      return false;
    at = match_free(m, vertex, level);
    if (at != PAI__NOTHING)
      return list_remove(m, level, at);
  }
  return false;
}

/* --- the whole ------------------------------------------------------------ */

static bool find_preassigned(mapping *m, uint32_t vertex)
{
  uint32_t own = m->h->vcells[m->h->s.vertices[vertex].cell].level;
  uint32_t level = own;

  while (level <= m->chain->levels && level_at(m, level)->nfree == 0)
    level++;
  if (level > m->chain->levels)
    return false;
  if (find_buddy(m, vertex, level)) {
    m->wanted[own]--;
    return true;
  }
  return !m->failed && find_relaxed(m, vertex);
}

static bool map_tops(mapping *m)
{
  const pai__hived *h = m->h;

  for (size_t i = 0; i < h->s.ntops; i++)
    if (h->vcells[h->s.vertices[h->s.tops[i]].cell].bound == PAI__NOTHING &&
        !find_preassigned(m, h->s.tops[i]))
      return false;
  for (size_t i = 0; i < h->s.ntops; i++) {
    uint32_t bound = h->vcells[h->s.vertices[h->s.tops[i]].cell].bound;

    if (bound != PAI__NOTHING && !match_children(m, h->s.tops[i], bound))
      return false;
  }
  return true;
}

/* None was when the placement was made; but groups that were preempted lazily
 * then may have made room for somebody to be doomed to what is sick. */
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
  mapping m = { .h = h, .chain = &h->chains[chain], .suggested = suggested };
  bool found;

  for (uint32_t i = 1; i <= m.chain->levels; i++)
    m.wanted[i] = level_at(&m, i)->wanted;
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
  undo_all(h);
  uproot(h);
  if (m.failed)
    return PAI_ENOMEM;
  return found ? PAI_OK : PAI_ENOROOM;
}
