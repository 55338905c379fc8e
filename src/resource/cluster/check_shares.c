/* check_shares.c - check that the cells of virtual clusters' shares exist, by
 * type or pin, and are enough */
#include "base/text/utf8.h"
#include "resource/cells.h"
#include "resource/cluster/derive.h"
#include "resource/cluster/read.h"

#include <stdlib.h>

/* Demand of all shares for one level of a chain. */
typedef struct wanted {
  uint64_t count;
  bool named;     /* some share names it, maybe with count 0 */
  pai__node last; /* the last share that names it */
  const char *vc; /* virtual cluster of that share */
} wanted;

typedef struct pin {
  const char *name;
  uint32_t cell;
  pai__node used; /* place of the share that has it, or PAI__NO_NODE */
} pin;

typedef struct checking {
  pai__reader *r;
  pai__cells cells;
  wanted **wanted; /* [chain][level - 1] */
  uint64_t *left;  /* GPUs of each chain that no share has */
  pin *pins;       /* sorted by name */
  size_t npins;
  pai__named *types; /* sorted by name */
  unsigned helped;   /* findings with a similar name in their help */
  const char *vc;    /* virtual cluster whose shares are checked */
} checking;

/* Returns the place of a cell in the text; for a derived cell, the place of
 * its first node. */
static pai__node place_of(const checking *k, uint32_t cell)
{
  const pai_cluster *c = k->r->c;

  if (!c->derived)
    return k->r->cell_at[cell];
  while (c->cells[cell].node == PAI__NOTHING)
    cell++;
  return k->r->places[c->cells[cell].node];
}

/* --- whether there are enough -------------------------------------------- */

/* The same check as HiveD's at its start: level by level, from the top of each
 * chain down, cells that no share has are split for shares of lower levels. */

/* Returns the number of children of the level's first cell. */
static uint64_t children_of(const checking *k, const pai__chain *chain,
                            uint32_t level)
{
  const pai_cluster *c = k->r->c;
  uint32_t count, n = 0;
  const uint32_t *list = pai__cells_of(&k->cells, chain, level, &count);

  if (count == 0)
    return 0;
  for (uint32_t i = list[0] + 1; i < c->cells[list[0]].skip;
       i = c->cells[i].skip)
    n++;
  return n;
}

static void not_enough(checking *k, const pai__chain *chain, uint32_t level,
                       const wanted *w, uint64_t left, bool given_above)
{
  const char *top = k->r->c->types[chain->type].name;
  const char *name = k->r->c->types[chain->types[level - 1]].name;

  if (pai__find(k->r->f, PAI_SEVERITY_ERROR, "not-enough-cells", w->last,
                "in '%.80s', virtual clusters need %llu '%.80s' ('%.80s' is "
                "the first that does not fit), but there are %llu",
                top, (unsigned long long)w->count, name, w->vc,
                (unsigned long long)left))
    pai__find_help(k->r->f, !given_above
                              ? "reduce a share, or add cells"
                              : "parts of larger cells that are shares do not "
                                "count; reduce a share, or add cells");
}

/* HiveD requires that each chain is named by some virtual cluster. */
static bool is_used(const checking *k, size_t index)
{
  for (uint32_t level = k->cells.chains[index].levels; level > 0; level--)
    if (k->wanted[index][level - 1].named)
      return true;
  return false;
}

static void check_chain(checking *k, size_t index)
{
  const pai__chain *chain = &k->cells.chains[index];
  uint64_t left =
    chain->first[chain->levels] - chain->first[chain->levels - 1];
  bool given_above = false;

  for (uint32_t level = chain->levels; level > 0; level--) {
    const wanted *w = &k->wanted[index][level - 1];

    if (w->count > left) {
      not_enough(k, chain, level, w, left, given_above);
      return;
    }
    given_above = given_above || w->count > 0;
    left -= w->count;
    if (level > 1)
      left *= children_of(k, chain, level);
  }
  k->left[index] = left;
}

static void unshared(checking *k, const pai__chain *chain, uint64_t left)
{
  const pai_cluster *c = k->r->c;

  if (pai__find(k->r->f, PAI_SEVERITY_WARNING, "unshared", c->vcs[0].at,
                "%llu '%.80s' of '%.80s' belong to no virtual cluster",
                (unsigned long long)left, c->types[chain->types[0]].name,
                c->types[chain->type].name))
    pai__find_help(k->r->f, "only jobs that can be preempted will use them");
}

static void check_used(checking *k, size_t index)
{
  const pai__chain *chain = &k->cells.chains[index];

  if (is_used(k, index)) {
    if (k->left[index] > 0)
      unshared(k, chain, k->left[index]);
    return;
  }
  if (pai__find(k->r->f, PAI_SEVERITY_WARNING, "unused-chain",
                place_of(k, k->cells.list[chain->first[chain->levels - 1]]),
                "no virtual cluster has a share of '%.80s'",
                k->r->c->types[chain->type].name))
    pai__find_help(
      k->r->f,
      "HiveD does not start with this; give a virtual cluster a share of it");
}

/* Checks that there are enough cells for all shares. */
static void check_enough(checking *k)
{
  const pai_cluster *c = k->r->c;

  for (size_t i = 0; i < k->cells.nchains; i++)
    check_chain(k, i);
  /* Without virtual clusters, the writer gives all derived chains to
   * `default`. */
  for (size_t i = 0; i < k->cells.nchains && k->r->f->errors == 0; i++)
    if (c->nvcs > 0 || !c->derived)
      check_used(k, i);
}

/* With more names, or after that many findings, no similar name is
 * suggested. */
enum { MOST_HELPED = 20, MOST_NAMES = 1000 };

static bool may_help(checking *k, size_t names)
{
  return names <= MOST_NAMES && k->helped++ < MOST_HELPED;
}

static void want(checking *k, const pai__share *s, pai__node at,
                 uint32_t chain, uint32_t level)
{
  wanted *w = &k->wanted[chain][level - 1];

  w->named = true;
  w->count += s->count;
  if (s->count > 0) {
    w->last = at;
    w->vc = k->vc;
  }
}

/* --- types of cells ------------------------------------------------------- */

static uint32_t find_type(const checking *k, const char *s, size_t len)
{
  return pai__named_find(k->types, k->r->c->ntypes, s, len);
}

/* Whether a name is of a type that several chains contain below their top. */
static bool is_unclear(const checking *k, const char *s, size_t len)
{
  return s[len] == '\0' && find_type(k, s, len) != PAI__NOTHING;
}

/* Returns the SKU in a name "sku-rack", or PAI__NOTHING. */
static uint32_t rack_of(const pai_cluster *c, const char *s, size_t len)
{
  static const char rack[] = "-rack";
  size_t tail = sizeof(rack) - 1;

  if (!c->derived || c->nracks == 0 || len <= tail ||
      memcmp(s + len - tail, rack, tail) != 0)
    return PAI__NOTHING;
  return pai__cluster_find_sku(c, s, len - tail);
}

static void help_with_types(checking *k, const char *s, size_t len)
{
  const pai_cluster *c = k->r->c;
  size_t n = c->derived ? c->ntypes : k->cells.nchains;
  pai__names names;

  if (!may_help(k, n))
    return;
  pai__names_init(&names, &c->alloc, s, len);
  names.made_up = true;
  for (size_t i = 0; i < n; i++) {
    const char *name = c->types[c->derived ? i : k->cells.chains[i].type].name;

    pai__names_add(&names, name, strlen(name));
  }
  pai__names_help(&names, k->r->f,
                  c->derived ? "types of cells" : "types of cells at the top");
}

static void unknown_chain(checking *k, pai__node at, const char *s, size_t len)
{
  pai__reader *r = k->r;
  char piece[PAI__EXCERPT];
  uint32_t sku;

  if (r->c->derived && is_unclear(k, s, len)) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "unclear-cell", at,
                  "cells of several types contain '%s'",
                  pai__excerpt(piece, s, len)))
      pai__find_help(r->f, "say which, as CELL.%s", piece);
    return;
  }
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-chain", at,
                 r->c->derived ? "there is no cell of type '%s'"
                               : "no cell of type '%s' stands at the top",
                 pai__excerpt(piece, s, len)))
    return;
  sku = rack_of(r->c, s, len);
  if (sku != PAI__NOTHING)
    pai__find_help(r->f,
                   "racks are cells only when all have equally many machines "
                   "of SKU '%.80s', and two at least",
                   r->c->skus[sku].name);
  else
    help_with_types(k, s, len);
}

static void unknown_type(checking *k, pai__node at, const pai__chain *chain,
                         const char *s, size_t len, bool known)
{
  pai__reader *r = k->r;
  char piece[PAI__EXCERPT];
  pai__names names;

  if (!pai__find(r->f, PAI_SEVERITY_ERROR,
                 known ? "not-in-chain" : "unknown-cell-type", at,
                 known ? "a cell of type '%.80s' contains no '%s'"
                       : "cells of type '%.80s': there is no type '%s'",
                 r->c->types[chain->type].name, pai__excerpt(piece, s, len)))
    return;
  pai__names_init(&names, &r->c->alloc, s, len);
  names.made_up = true;
  for (uint32_t i = chain->levels; i-- > 0;) {
    const char *name = r->c->types[chain->types[i]].name;

    pai__names_add(&names, name, strlen(name));
  }
  pai__names_help(&names, r->f, "what it contains");
}

static bool is_type(const checking *k, uint32_t type, const char *s,
                    size_t len)
{
  const char *name = k->r->c->types[type].name;

  return strlen(name) == len && memcmp(name, s, len) == 0;
}

/* HiveD uses only the first and the last name of a path. */
static void check_middle(checking *k, pai__node at, const pai__chain *chain,
                         uint32_t level, const char *path, const char *last)
{
  uint32_t above = chain->levels;
  char piece[PAI__EXCERPT];
  size_t len;

  for (path += strcspn(path, "."); ++path < last; path += len) {
    len = strcspn(path, ".");
    do
      above--;
    while (above > level && !is_type(k, chain->types[above - 1], path, len));
    if (above > level)
      continue;
    if (pai__find(k->r->f, PAI_SEVERITY_WARNING, "odd-path", at,
                  "there is no '%s' at this place between '%.80s' and '%.80s'",
                  pai__excerpt(piece, path, len),
                  k->r->c->types[chain->type].name, last))
      pai__find_help(k->r->f, "it is ignored; remove it");
    return;
  }
}

static void check_path(checking *k, const pai__share *share, pai__node at)
{
  const char *path = share->path, *dot = strrchr(path, '.');
  const char *last = dot != NULL ? dot + 1 : path;
  size_t len = strcspn(path, ".");
  uint32_t top = find_type(k, path, len), type, level;
  const pai__chain *chain;

  if (top == PAI__NOTHING || k->cells.chain_of[top] == PAI__NOTHING) {
    unknown_chain(k, at, path, len);
    return;
  }
  chain = &k->cells.chains[k->cells.chain_of[top]];
  type = find_type(k, last, strlen(last));
  for (level = chain->levels; level > 0; level--)
    if (chain->types[level - 1] == type)
      break;
  if (level == 0) {
    unknown_type(k, at, chain, last, strlen(last), type != PAI__NOTHING);
    return;
  }
  check_middle(k, at, chain, level, path, last);
  want(k, share, at, k->cells.chain_of[top], level);
}

/* --- pins ----------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  const pin *x = a, *y = b;
  int order = strcmp(x->name, y->name);

  if (order != 0)
    return order;
  return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void same_pin(pai__reader *r, pai__node at, const char *name,
                     pai__node other, const char *what)
{
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "duplicate", at,
                "the pin '%.80s' is already %s at line %u", name, what,
                (unsigned)pai__tree_where(r->t, other).line))
    pai__find_help(r->f, "a pin is one cell, of one virtual cluster");
}

static int find_pins(checking *k)
{
  const pai_cluster *c = k->r->c;
  size_t n = 0;

  for (size_t i = 0; i < c->ncells; i++)
    n += c->cells[i].pin != NULL;
  k->pins = pai__arena_zalloc(&k->cells.arena, n + 1, sizeof(*k->pins));
  if (k->pins == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL)
      k->pins[k->npins++] =
        (pin){ c->cells[i].pin, (uint32_t)i, PAI__NO_NODE };
  if (n > 1)
    qsort(k->pins, n, sizeof(*k->pins), by_name);
  for (size_t i = 1; i < n; i++)
    if (strcmp(k->pins[i - 1].name, k->pins[i].name) == 0)
      same_pin(k->r, place_of(k, k->pins[i].cell), k->pins[i].name,
               place_of(k, k->pins[i - 1].cell), "defined");
  return PAI_OK;
}

static int is_called(const void *name, const void *p)
{
  return strcmp(name, ((const pin *)p)->name);
}

static void unknown_pin(checking *k, pai__node at, const char *name)
{
  pai__names names;

  if (!pai__find(k->r->f, PAI_SEVERITY_ERROR, "unknown-pin", at,
                 "no cell is pinned as '%.80s'", name) ||
      !may_help(k, k->npins))
    return;
  pai__names_init(&names, &k->r->c->alloc, name, strlen(name));
  names.made_up = true;
  for (size_t i = 0; i < k->npins; i++)
    pai__names_add(&names, k->pins[i].name, strlen(k->pins[i].name));
  pai__names_help(&names, k->r->f, "those there are");
}

static void check_pin(checking *k, const pai__share *share, pai__node at)
{
  const pai_cluster *c = k->r->c;
  pin *p = k->npins == 0 ? NULL
                         : bsearch(share->pin, k->pins, k->npins,
                                   sizeof(*k->pins), is_called);
  uint32_t top;

  if (p == NULL) {
    unknown_pin(k, at, share->pin);
    return;
  }
  if (p->used != PAI__NO_NODE) {
    same_pin(k->r, at, share->pin, p->used, "used");
    return;
  }
  p->used = at;
  for (top = p->cell; c->cells[top].parent != PAI__NOTHING;)
    top = c->cells[top].parent;
  want(k, share, at, k->cells.chain_of[c->cells[top].type],
       k->cells.types[c->cells[p->cell].type].level);
}

/* A pinned cell within another pinned cell that is in use would be given away
 * twice. */
static void check_nested(checking *k)
{
  const pai_cluster *c = k->r->c;

  for (size_t i = 0; i < k->npins; i++) {
    uint32_t cell = k->pins[i].cell;

    if (k->pins[i].used == PAI__NO_NODE)
      continue;
    while ((cell = c->cells[cell].parent) != PAI__NOTHING) {
      const pin *p = c->cells[cell].pin == NULL
                       ? NULL
                       : bsearch(c->cells[cell].pin, k->pins, k->npins,
                                 sizeof(*k->pins), is_called);

      if (p == NULL || p->used == PAI__NO_NODE)
        continue;
      if (pai__find(k->r->f, PAI_SEVERITY_ERROR, "pin-in-pin", k->pins[i].used,
                    "the pinned cell '%.80s' is in the pinned cell '%.80s'",
                    k->pins[i].name, p->name))
        pai__find_help(k->r->f, "give only one of them to a virtual cluster");
      break;
    }
  }
}

/* --- the whole ------------------------------------------------------------ */

static int prepare(checking *k)
{
  pai__reader *r = k->r;
  pai__arena *a = &k->cells.arena;
  int rc = pai__cells_init(&k->cells, r->c, &r->c->alloc);

  if (rc < 0)
    return rc;
  k->wanted = pai__arena_zalloc(a, k->cells.nchains + 1, sizeof(*k->wanted));
  k->left = pai__arena_zalloc(a, k->cells.nchains + 1, sizeof(*k->left));
  k->types = pai__arena_zalloc(a, r->c->ntypes + 1, sizeof(*k->types));
  if (k->wanted == NULL || k->left == NULL || k->types == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < r->c->ntypes; i++)
    k->types[i] = (pai__named){ r->c->types[i].name, i };
  pai__sort_names(k->types, r->c->ntypes);
  for (size_t i = 0; i < k->cells.nchains; i++) {
    k->wanted[i] =
      pai__arena_zalloc(a, k->cells.chains[i].levels, sizeof(**k->wanted));
    if (k->wanted[i] == NULL)
      return PAI_ENOMEM;
  }
  return find_pins(k);
}

static void check_name(checking *k, const char *name)
{
  const pai__tree *t = k->r->t;
  pai__node vcs = pai__tree_get(t, 0, "virtualClusters");

  if (strchr(name, '/') != NULL)
    (void)pai__find(k->r->f, PAI_SEVERITY_ERROR, "bad-name",
                    pai__tree_find(t, vcs, name, strlen(name)),
                    "the name of a virtual cluster cannot have a '/'");
}

void pai__read_check_shares(pai__reader *r)
{
  checking k = { .r = r };

  if (prepare(&k) < 0) {
    r->f->failed = true;
    pai__cells_dispose(&k.cells);
    return;
  }
  for (size_t i = 0; i < r->c->nvcs; i++) {
    const pai__vc *vc = &r->c->vcs[i];

    k.vc = vc->name;
    check_name(&k, vc->name);
    for (uint32_t j = 0; j < vc->nshares; j++) {
      if (vc->shares[j].path != NULL)
        check_path(&k, &vc->shares[j], vc->shares[j].at);
      else
        check_pin(&k, &vc->shares[j], vc->shares[j].at);
    }
  }
  check_nested(&k);
  check_enough(&k);
  pai__cells_dispose(&k.cells);
}
