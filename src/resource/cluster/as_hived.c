/*
 * as_hived.c - a cluster as HiveD's configuration would give it
 *
 * The writer of HiveD's form writes it; the policy `hived` is built from it.
 * Its nodes are numbered as a reader of the written text finds them, because
 * saved states of the policy name nodes by number.
 */
#include "resource/cluster/derive.h"

/* --- cells ---------------------------------------------------------------- */

/* Checks that there are not more types than the reader accepts. */
static int count_types(const pai_cluster *c, pai_error **err)
{
  size_t n = 0;

  for (size_t i = 0; i < c->ntypes; i++)
    n += c->types[i].child != PAI__NOTHING;
  if (n <= PAI__CELLS_MAX_TYPES)
    return PAI_OK;
  (void)pai__fail(err, PAI_ELIMIT,
                  "there are %zu types of cells; the limit is %d", n,
                  PAI__CELLS_MAX_TYPES);
  pai__error_help(err, "let similar machines share one SKU");
  return PAI_ELIMIT;
}

int pai__hived_cells(pai_cluster *c, pai_error **err)
{
  int rc = pai__cells_derive(c);

  if (rc == PAI_OK)
    return count_types(c, err);
  if (rc == PAI_ELIMIT) {
    (void)pai__fail(err, rc, PAI__CELLS_LIMIT, PAI__CLUSTER_MAX_GPUS,
                    PAI__CELLS_MAX_TEXT >> 20);
    pai__error_help(err, "split it into several clusters");
    return rc;
  }
  if (rc != PAI_ENOTFOUND)
    return pai__oom(err);
  (void)pai__fail(err, PAI_ENOTSUP, "this cluster has no GPUs");
  pai__error_help(err,
                  "HiveD's cells are made of GPUs; a SKU without them can "
                  "have `gpu: cpu` and as many as it has CPUs");
  return PAI_ENOTSUP;
}

/* --- chains that no virtual cluster names -------------------------------- */

/* HiveD does not start with a chain that no virtual cluster names.  So the
 * first virtual cluster gets 0 cells of it; if there is none, `default` gets
 * all cells. */

/* Counts the top cells of each type, and lists the names of types with
 * some. */
static size_t count_tops(const pai_cluster *c, uint32_t *tops,
                         pai__named *chains)
{
  size_t n = 0;

  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
    tops[c->cells[i].type]++;
  for (uint32_t i = 0; i < c->ntypes; i++)
    if (tops[i] > 0)
      chains[n++] = (pai__named){ c->types[i].name, i };
  pai__sort_names(chains, n);
  return n;
}

/* Marks the chains of pinned cells in shares as used. */
static void take_pinned(const pai_cluster *c, const pai__named *pins,
                        size_t npins, uint32_t *tops)
{
  for (uint32_t top = 0; top < c->ncells && npins > 0;
       top = c->cells[top].skip)
    for (uint32_t i = top; i < c->cells[top].skip; i++)
      if (c->cells[i].pin != NULL &&
          pai__named_find(pins, npins, c->cells[i].pin,
                          strlen(c->cells[i].pin)) != PAI__NOTHING)
        tops[c->cells[top].type] = 0;
}

static size_t count_shares(const pai_cluster *c)
{
  size_t n = 0;

  for (size_t i = 0; i < c->nvcs; i++)
    n += c->vcs[i].nshares;
  return n;
}

/* Returns for each type the number of its top cells, or 0 if a virtual cluster
 * names it; NULL if memory is short. */
static uint32_t *find_unused(const pai_cluster *c, pai__arena *a)
{
  uint32_t *tops = pai__arena_zalloc(a, c->ntypes + 1, sizeof(*tops));
  pai__named *chains = pai__arena_zalloc(a, c->ntypes + 1, sizeof(*chains));
  pai__named *pins = pai__arena_zalloc(a, count_shares(c) + 1, sizeof(*pins));
  size_t nchains, npins = 0;

  if (tops == NULL || chains == NULL || pins == NULL)
    return NULL;
  nchains = count_tops(c, tops, chains);
  for (size_t v = 0; v < c->nvcs; v++)
    for (uint32_t i = 0; i < c->vcs[v].nshares; i++) {
      const pai__share *s = &c->vcs[v].shares[i];
      uint32_t chain = PAI__NOTHING;

      if (s->pin != NULL)
        pins[npins++] = (pai__named){ s->pin, 0 };
      else /* by the first name of the path */
        chain =
          pai__named_find(chains, nchains, s->path, strcspn(s->path, "."));
      if (chain != PAI__NOTHING)
        tops[chain] = 0;
    }
  pai__sort_names(pins, npins);
  take_pinned(c, pins, npins, tops);
  return tops;
}

/* --- virtual clusters ----------------------------------------------------- */

static void copy_shares(pai__vc *to, pai__share *shares, const pai__vc *from,
                        bool pins)
{
  for (uint32_t i = 0; i < from->nshares; i++)
    if ((from->shares[i].pin != NULL) == pins)
      shares[to->nshares++] = from->shares[i];
}

int pai__hived_vcs(const pai_cluster *c, pai__arena *a, pai__vc **vcs,
                   size_t *n)
{
  static const pai__vc all = { .name = "default" };
  const uint32_t *unused = find_unused(c, a);

  *n = 0;
  *vcs = pai__arena_zalloc(a, c->nvcs + 1, sizeof(**vcs));
  if (unused == NULL || *vcs == NULL)
    return PAI_ENOMEM;
  do {
    const pai__vc *from = c->nvcs != 0 ? &c->vcs[*n] : &all;
    pai__vc *to = &(*vcs)[*n];
    pai__share *shares =
      pai__arena_zalloc(a, from->nshares + c->ntypes, sizeof(*shares));

    if (shares == NULL)
      return PAI_ENOMEM;
    *to = (pai__vc){ .name = from->name, .shares = shares };
    copy_shares(to, shares, from, false);
    for (size_t i = 0; *n == 0 && i < c->ntypes; i++)
      if (unused[i] > 0)
        shares[to->nshares++] =
          (pai__share){ .path = c->types[i].name,
                        .count = c->nvcs != 0 ? 0 : unused[i] };
    copy_shares(to, shares, from, true);
  } while (++*n < c->nvcs);
  return PAI_OK;
}

/* --- nodes ---------------------------------------------------------------- */

/* Numbers the nodes in the order of their first cells; nodes without cells are
 * dropped. */
static int order_nodes(pai_cluster *c)
{
  size_t size = (c->nnodes + 1) * sizeof(pai__member);
  uint32_t *number =
    pai__arena_zalloc(&c->arena, c->nnodes + 1, sizeof(*number));
  pai__member *nodes = pai__zalloc(&c->alloc, size);
  uint32_t n = 0, same[2];

  if (number == NULL || nodes == NULL) {
    pai__free(&c->alloc, nodes, size);
    return PAI_ENOMEM;
  }
  for (size_t i = 0; i < c->ncells; i++) {
    pai__cell *cell = &c->cells[i];

    if (cell->node == PAI__NOTHING)
      continue;
    if (number[cell->node] == 0) {
      nodes[n] = c->nodes[cell->node];
      number[cell->node] = ++n;
    }
    cell->node = number[cell->node] - 1;
  }
  pai__free(&c->alloc, c->by_name, c->nnodes * sizeof(*c->by_name));
  pai__free(&c->alloc, c->nodes, c->node_cap * sizeof(*c->nodes));
  c->by_name = NULL;
  c->nodes = nodes;
  c->node_cap = c->nnodes + 1;
  c->nnodes = n;
  return pai__cluster_end(c, same);
}

int pai__cluster_as_hived(pai_cluster *c, pai_error **err)
{
  pai__vc *vcs;
  size_t n;
  int rc = pai__hived_cells(c, err);

  if (rc < 0)
    return rc;
  for (size_t i = 0; i < c->nnodes && c->nsick > 0; i++)
    (void)pai__cluster_set_sick(c, &c->nodes[i].sick, NULL);
  if (pai__hived_vcs(c, &c->arena, &vcs, &n) < 0 || order_nodes(c) < 0)
    return pai__oom(err);
  c->nvcs = 0;
  for (size_t i = 0; i < n; i++)
    if (pai__cluster_add_vc(c, &vcs[i]) < 0)
      return pai__oom(err);
  return PAI_OK;
}
