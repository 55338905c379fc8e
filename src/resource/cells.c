/* cells.c - cells of a cluster sorted into chains and levels */
#include "resource/cells.h"

/* --- types ---------------------------------------------------------------- */

static uint64_t less_than_all(uint64_t n)
{
  return n < UINT32_MAX ? n : UINT32_MAX;
}

/* Walks down from a type.  A walk longer than the number of types is a
 * circle. */
static void find_facts(const pai_cluster *c, uint32_t type, pai__type_facts *f)
{
  uint64_t steps = 0;

  *f = (pai__type_facts){ .leaves = 1, .cells = 1 };
  f->has_node = c->types[type].is_node;
  while (c->types[type].child != PAI__NOTHING) {
    f->leaves = less_than_all(f->leaves * c->types[type].children);
    f->cells = less_than_all(f->cells + f->leaves);
    type = c->types[type].child;
    f->multi_node |= c->types[type].is_node;
    if (++steps > c->ntypes)
      return;
  }
  f->has_node |= f->multi_node;
  f->leaf = type;
  f->level = (uint32_t)steps + 1;
}

void pai__cells_facts(const pai_cluster *c, pai__type_facts *facts)
{
  for (size_t i = 0; i < c->ntypes; i++)
    find_facts(c, (uint32_t)i, &facts[i]);
}

/* --- chains --------------------------------------------------------------- */

/* Lists the types of top cells, sorted; `is_top` has one entry for each
 * type. */
static size_t find_tops(const pai_cluster *c, bool *is_top, pai__named *tops)
{
  size_t n = 0;

  for (size_t i = 0; i < c->ncells; i = c->cells[i].skip)
    is_top[c->cells[i].type] = true;
  for (size_t i = 0; i < c->ntypes; i++)
    if (is_top[i])
      tops[n++] = (pai__named){ c->types[i].name, (uint32_t)i };
  pai__sort_names(tops, n);
  return n;
}

static int add_chain(pai__cells *cells, const pai_cluster *c, uint32_t type,
                     pai__chain *chain, uint32_t **at)
{
  uint32_t levels = cells->types[type].level;
  uint32_t *types = pai__arena_zalloc(&cells->arena, levels, sizeof(*types));

  *at = pai__arena_zalloc(&cells->arena, levels + 1, sizeof(**at));
  if (types == NULL || *at == NULL)
    return PAI_ENOMEM;
  *chain = (pai__chain){ type, levels, types, *at };
  for (uint32_t level = levels; level > 0; level--) {
    types[level - 1] = type;
    type = c->types[type].child;
  }
  return PAI_OK;
}

/* Returns the counter of a cell's level. */
static uint32_t *count_of(const pai__cells *cells, const pai_cluster *c,
                          uint32_t *const *at, size_t cell)
{
  size_t top = cell;

  while (c->cells[top].parent != PAI__NOTHING)
    top = c->cells[top].parent;
  return &at[cells->chain_of[c->cells[top].type]]
            [cells->types[c->cells[cell].type].level - 1];
}

/* Sorts the cells by chain and level, those of one level in the order of the
 * cluster: counts them, sets each level's entry to its end, and fills it from
 * there down. */
static void sort_cells(const pai__cells *cells, const pai_cluster *c,
                       uint32_t *const *at, uint32_t *list)
{
  uint32_t end = 0;

  for (size_t i = 0; i < c->ncells; i++)
    ++*count_of(cells, c, at, i);
  for (size_t k = 0; k < cells->nchains; k++)
    for (uint32_t level = 0; level <= cells->chains[k].levels; level++)
      end = at[k][level] += end;
  for (size_t i = c->ncells; i-- > 0;)
    list[--*count_of(cells, c, at, i)] = (uint32_t)i;
}

static int make_chains(pai__cells *cells, const pai_cluster *c,
                       uint32_t *chain_of, const pai__named *tops)
{
  size_t n = cells->nchains;
  pai__chain *chains =
    pai__arena_zalloc(&cells->arena, n + 1, sizeof(*chains));
  uint32_t **at = pai__arena_zalloc(&cells->arena, n + 1, sizeof(*at));
  uint32_t *list =
    pai__arena_zalloc(&cells->arena, c->ncells + 1, sizeof(*list));

  if (chains == NULL || at == NULL || list == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->ntypes; i++)
    chain_of[i] = PAI__NOTHING;
  for (size_t i = 0; i < n; i++) {
    chain_of[tops[i].index] = (uint32_t)i;
    if (add_chain(cells, c, tops[i].index, &chains[i], &at[i]) < 0)
      return PAI_ENOMEM;
  }
  cells->chains = chains;
  cells->list = list;
  sort_cells(cells, c, at, list);
  return PAI_OK;
}

int pai__cells_init(pai__cells *cells, const pai_cluster *c,
                    const pai_alloc *alloc)
{
  size_t n = c->ntypes + 1;
  pai__type_facts *facts;
  uint32_t *chain_of;
  bool *is_top;
  pai__named *tops;

  *cells = (pai__cells){ .nchains = 0 };
  pai__arena_init(&cells->arena, alloc);
  facts = pai__arena_zalloc(&cells->arena, n, sizeof(*facts));
  chain_of = pai__arena_zalloc(&cells->arena, n, sizeof(*chain_of));
  is_top = pai__arena_zalloc(&cells->arena, n, sizeof(*is_top));
  tops = pai__arena_zalloc(&cells->arena, n, sizeof(*tops));
  if (facts == NULL || chain_of == NULL || is_top == NULL || tops == NULL)
    return PAI_ENOMEM;
  pai__cells_facts(c, facts);
  cells->types = facts;
  cells->chain_of = chain_of;
  cells->nchains = find_tops(c, is_top, tops);
  return make_chains(cells, c, chain_of, tops);
}

void pai__cells_dispose(pai__cells *cells)
{
  pai__arena_dispose(&cells->arena);
}
