/* derive_shares.c - shares of cells that were derived */
#include "resource/derive.h"

#include "base/buf.h"

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

int pai__derive_shares(pai_cluster *c)
{
  completing k = { .c = c };
  pai__arena arena;
  int rc;

  if (c->nvcs == 0)
    return PAI_OK;
  pai__arena_init(&arena, &c->alloc);
  rc = prepare(&k, &arena);
  for (size_t v = 0; v < c->nvcs && rc == PAI_OK; v++)
    rc = complete_vc(&k, &c->vcs[v]);
  pai__arena_dispose(&arena);
  return rc;
}
