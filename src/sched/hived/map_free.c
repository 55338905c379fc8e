/*
 * map_free.c - finds free physical cells for preassigned cells, splitting
 * larger ones as needed
 *
 * The free list itself is changed, with a log that restores it at the end:
 * nothing is taken before a pod is bound.
 */
#include "sched/hived/map.h"

/* --- the free list while it is split -------------------------------------- */

static pai__hived_level *level_at(const pai__mapping *m, uint32_t level)
{
  return &m->h->levels[m->chain->level + level - 1];
}

static bool note(pai__mapping *m, uint32_t level, uint32_t at, uint32_t cell)
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

static bool list_add(pai__mapping *m, uint32_t level, uint32_t cell)
{
  pai__hived_level *l = level_at(m, level);

  if (!note(m, level, PAI__NOTHING, cell))
    return false;
  m->h->lists[l->free + l->nfree++] = cell;
  return true;
}

static bool list_remove(pai__mapping *m, uint32_t level, uint32_t at)
{
  pai__hived_level *l = level_at(m, level);
  uint32_t *list = m->h->lists + l->free;

  if (!note(m, level, at, list[at]))
    return false;
  list[at] = list[--l->nfree];
  return true;
}

void pai__map_undo(pai__hived *h)
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

/* Moves n cells from the stack, from `base` on, to the front of the list. */
static bool list_prepend(pai__mapping *m, uint32_t level, size_t base,
                         size_t n)
{
  pai__hived *h = m->h;
  pai__hived_level *l = level_at(m, level);

  for (uint32_t i = 0; i < l->nfree; i++)
    if (!pai__map_push(m, h->lists[l->free + i]))
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

/* Finds a cell of the free list for a vertex.  Returns its index there, or
 * PAI__NOTHING.  Cells without opportunistic use are tried in order; the
 * others are sorted and tried only if none of these fits. */
static uint32_t match_free(pai__mapping *m, uint32_t vertex, uint32_t level)
{
  pai__hived *h = m->h;
  const pai__hived_level *l = level_at(m, level);
  const uint32_t *list = h->lists + l->free;
  size_t base = h->s.nstack;
  uint32_t n = 0, found = PAI__NOTHING;

  for (uint32_t i = 0; i < l->nfree; i++) {
    if (!pai__map_is_usable(m, list[i]))
      continue;
    if (h->pcells[list[i]].opp == 0) {
      if (pai__map_fits(m, vertex, list[i]))
        return i;
    } else if (!pai__map_push(m, list[i])) {
      return PAI__NOTHING;
    } else {
      n++;
    }
  }
  pai__map_sort(h, h->s.stack + base, n);
  for (uint32_t i = 0; i < n && found == PAI__NOTHING && !m->failed; i++)
    if (pai__map_fits(m, vertex, h->s.stack[base + i]))
      found = h->s.stack[base + i];
  h->s.nstack = base;
  for (uint32_t i = 0; i < l->nfree && found != PAI__NOTHING; i++)
    if (list[i] == found)
      return i;
  return PAI__NOTHING;
}

static bool find_buddy(pai__mapping *m, uint32_t vertex, uint32_t level);

/* Splits a cell and searches its parts. */
static bool divide(pai__mapping *m, uint32_t vertex, uint32_t level,
                   uint32_t cell)
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

static bool find_buddy(pai__mapping *m, uint32_t vertex, uint32_t level)
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

    if (!pai__map_is_usable(m, cell))
      continue;
    if (h->pcells[cell].opp == 0) {
      if (divide(m, vertex, level, cell))
        return true;
    } else if (pai__map_push(m, cell)) {
      n++;
    }
    if (m->failed)
      return false;
  }
  pai__map_sort(h, h->s.stack + base, n);
  for (uint32_t i = 0; i < n && !found && !m->failed; i++)
    found = divide(m, vertex, level, h->s.stack[base + i]);
  h->s.nstack = base;
  return found;
}

/* --- splitting cells although smaller ones were promised ------------------ */

/* Sets how many cells of each level above `level` may be split.  Returns false
 * if a number is negative: virtual clusters were promised too much. */
static bool count_divisible(pai__mapping *m, uint32_t level,
                            int64_t *divisible)
{
  const pai__hived *h = m->h;
  uint32_t like = PAI__NOTHING; /* a free cell, then its children */

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

/* Pushes the parts of a cell that are of a level. */
static bool push_parts(pai__mapping *m, uint32_t cell, uint32_t level)
{
  const pai__hived *h = m->h;

  for (uint32_t i = cell; i < h->pcells[cell].skip;) {
    if (h->pcells[i].level > level) {
      i++;
      continue;
    }
    if (!pai__map_push(m, i))
      return false;
    i = h->pcells[i].skip;
  }
  return true;
}

static bool find_relaxed(pai__mapping *m, uint32_t vertex)
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

/* --- either way ----------------------------------------------------------- */

bool pai__map_find_free(pai__mapping *m, uint32_t vertex)
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
