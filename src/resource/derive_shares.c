/* derive_shares.c - shares of cells that were derived */
#include "resource/derive.h"

#include "base/buf.h"
#include "resource/cells.h"

#include <stdlib.h>

/* Types by name, and the chain in which each is. */
typedef struct completing {
  pai_cluster *c;
  pai__named *names;
  uint32_t *chain_of; /* PAI__NOTHING: of none, or of several */
  bool *seen;         /* in a chain at all */
  bool *is_chain;
} completing;

/* --- what there is -------------------------------------------------------- */

/* A chain's types, once; its top cells come one after the other. */
static void add_chain(completing *k, uint32_t chain)
{
  const pai_cluster *c = k->c;

  if (k->is_chain[chain])
    return;
  k->is_chain[chain] = true;
  for (uint32_t t = chain; t != PAI__NOTHING; t = c->types[t].child) {
    k->chain_of[t] = k->seen[t] ? PAI__NOTHING : chain;
    k->seen[t] = true;
  }
}

static int prepare(completing *k, pai__arena *a)
{
  const pai_cluster *c = k->c;
  size_t n = c->ntypes + 1;

  k->names = pai__arena_zalloc(a, n, sizeof(*k->names));
  k->chain_of = pai__arena_zalloc(a, n, sizeof(*k->chain_of));
  k->seen = pai__arena_zalloc(a, n, sizeof(*k->seen));
  k->is_chain = pai__arena_zalloc(a, n, sizeof(*k->is_chain));
  if (k->names == NULL || k->chain_of == NULL || k->seen == NULL ||
      k->is_chain == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->ntypes; i++) {
    k->names[i] = (pai__named){ c->types[i].name, i };
    k->chain_of[i] = PAI__NOTHING;
  }
  pai__sort_names(k->names, c->ntypes);
  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
    add_chain(k, c->cells[i].type);
  return PAI_OK;
}

/* --- completing ----------------------------------------------------------- */

typedef struct piece {
  const char *s;
  size_t len;
} piece;

static int is_called(const void *key, const void *named)
{
  const piece *p = key;
  const char *name = ((const pai__named *)named)->name;
  int order = strncmp(p->s, name, p->len);

  return order != 0 ? order : name[p->len] == '\0' ? 0 : -1;
}

static uint32_t find_type(const completing *k, const char *s, size_t len)
{
  piece p = { s, len };
  const pai__named *found =
    bsearch(&p, k->names, k->c->ntypes, sizeof(*k->names), is_called);

  return found != NULL ? found->index : PAI__NOTHING;
}

/* "dgx" is short for "dgx-rack.dgx" where only one chain has it. */
static int complete(const completing *k, pai__share *share)
{
  pai_cluster *c = k->c;
  uint32_t type;
  pai__buf b;

  if (share->path == NULL)
    return PAI_OK;
  type = find_type(k, share->path, strcspn(share->path, "."));
  if (type != PAI__NOTHING && k->is_chain[type])
    return PAI_OK;
  type = find_type(k, share->path, strlen(share->path));
  if (type == PAI__NOTHING || k->chain_of[type] == PAI__NOTHING)
    return PAI_OK; /* checking tells of it */
  pai__buf_init(&b, &c->alloc);
  pai__buf_printf(&b, "%s.%s", c->types[k->chain_of[type]].name, share->path);
  if (pai__buf_ok(&b))
    share->path = pai__cluster_text(c, pai__buf_text(&b), b.len);
  else
    share->path = NULL;
  pai__buf_dispose(&b);
  return share->path != NULL ? PAI_OK : PAI_ENOMEM;
}

static int complete_vc(const completing *k, pai__vc *vc)
{
  pai__share *shares =
    pai__arena_zalloc(&k->c->arena, vc->nshares + 1, sizeof(*shares));

  if (shares == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < vc->nshares; i++) {
    shares[i] = vc->shares[i];
    if (complete(k, &shares[i]) < 0)
      return PAI_ENOMEM;
  }
  vc->shares = shares;
  return PAI_OK;
}

/* --- of a part ------------------------------------------------------------ */

/* What a part comes to in cells: of each chain the largest ones that it has
 * whole, then smaller ones.  As all do so, there are enough of each size. */
typedef struct parting {
  const completing *k;
  const pai__type_facts *facts;
  const uint64_t *gpus; /* of each type's chain, if one is called after it */
  pai__vc *vc;
  pai__share *shares;
  uint32_t n;
} parting;

static int add_share(parting *x, uint32_t chain, uint32_t type, uint64_t count)
{
  pai_cluster *c = x->k->c;
  const char *path;
  pai__buf b;

  pai__buf_init(&b, &c->alloc);
  pai__buf_str(&b, c->types[chain].name);
  if (type != chain)
    pai__buf_printf(&b, ".%s", c->types[type].name);
  path =
    pai__buf_ok(&b) ? pai__cluster_text(c, pai__buf_text(&b), b.len) : NULL;
  pai__buf_dispose(&b);
  if (path == NULL)
    return PAI_ENOMEM;
  x->shares[x->n++] = (pai__share){ .path = path, .count = (uint32_t)count };
  return PAI_OK;
}

static int part_chain(parting *x, uint32_t chain)
{
  const pai_cluster *c = x->k->c;
  uint64_t left =
    pai__part_amount(c, (size_t)(x->vc - c->vcs), x->gpus[chain], false);
  int rc = PAI_OK;

  for (uint32_t t = chain; t != PAI__NOTHING && rc == PAI_OK;
       t = c->types[t].child) {
    uint64_t leaves = x->facts[t].leaves, count = left / leaves;

    if (count != 0)
      rc = add_share(x, chain, t, count);
    left -= count * leaves;
  }
  return rc;
}

static int part_vc(const completing *k, pai__vc *vc,
                   const pai__type_facts *facts, const uint64_t *gpus)
{
  pai__share *shares =
    pai__arena_zalloc(&k->c->arena, k->c->ntypes + 1, sizeof(*shares));
  parting x = {
    .k = k, .facts = facts, .gpus = gpus, .vc = vc, .shares = shares
  };
  int rc = shares != NULL ? PAI_OK : PAI_ENOMEM;

  for (uint32_t t = 0; t < k->c->ntypes && rc == PAI_OK; t++)
    if (k->is_chain[t])
      rc = part_chain(&x, t);
  vc->shares = shares;
  vc->nshares = x.n;
  return rc;
}

static int part_all(const completing *k, pai__arena *a)
{
  pai_cluster *c = k->c;
  pai__type_facts *facts = pai__arena_zalloc(a, c->ntypes, sizeof(*facts));
  uint64_t *gpus = pai__arena_zalloc(a, c->ntypes, sizeof(*gpus));
  int rc = facts != NULL && gpus != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc < 0)
    return rc;
  pai__cells_facts(c, facts);
  for (size_t i = 0; i < c->ncells; i = c->cells[i].skip)
    gpus[c->cells[i].type] += facts[c->cells[i].type].leaves;
  for (size_t v = 0; v < c->nvcs && rc == PAI_OK; v++)
    rc = part_vc(k, &c->vcs[v], facts, gpus);
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

int pai__derive_shares(pai_cluster *c)
{
  completing k = { .c = c };
  pai__arena arena;
  int rc;

  if (c->nvcs == 0)
    return PAI_OK;
  pai__arena_init(&arena, &c->alloc);
  rc = prepare(&k, &arena);
  if (rc == PAI_OK && pai__cluster_has_parts(c)) {
    rc = part_all(&k, &arena);
    pai__arena_dispose(&arena);
    return rc;
  }
  for (size_t v = 0; v < c->nvcs && rc == PAI_OK; v++)
    rc = complete_vc(&k, &c->vcs[v]);
  pai__arena_dispose(&arena);
  return rc;
}
