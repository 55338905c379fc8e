/* derive_shares.c - shares of cells that were derived */
#include "resource/derive.h"

#include "base/buf.h"

/* --- without virtual clusters --------------------------------------------- */

/* One virtual cluster gets all top cells. */
static int add_default(pai_cluster *c)
{
  pai__share *shares =
    pai__arena_zalloc(&c->arena, c->ntypes + 1, sizeof(*shares));
  pai__vc vc = { .name = "default", .shares = shares };
  uint32_t type = PAI__NOTHING;

  if (shares == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip) {
    if (c->cells[i].type != type) { /* chains come one after the other */
      type = c->cells[i].type;
      shares[vc.nshares++].path = c->types[type].name;
    }
    shares[vc.nshares - 1].count++;
  }
  return pai__cluster_add_vc(c, &vc);
}

/* --- with virtual clusters ------------------------------------------------ */

/* Is there a cell of this type at or below the top cell's? */
static bool is_below(const pai_cluster *c, uint32_t chain, const char *name)
{
  for (uint32_t t = chain; t != PAI__NOTHING; t = c->types[t].child)
    if (strcmp(c->types[t].name, name) == 0)
      return true;
  return false;
}

static bool is_chain(const pai_cluster *c, const char *s, size_t len)
{
  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip) {
    const char *name = c->types[c->cells[i].type].name;

    if (strlen(name) == len && memcmp(name, s, len) == 0)
      return true;
  }
  return false;
}

/* The one chain that has cells of a type; PAI__NOTHING: none, or several. */
static uint32_t chain_of(const pai_cluster *c, const char *type)
{
  uint32_t found = PAI__NOTHING, last = PAI__NOTHING;

  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip) {
    uint32_t chain = c->cells[i].type;

    if (chain == last)
      continue;
    last = chain;
    if (!is_below(c, chain, type))
      continue;
    if (found != PAI__NOTHING)
      return PAI__NOTHING;
    found = chain;
  }
  return found;
}

/* "dgx" is short for "dgx-rack.dgx" where only one chain has it. */
static int complete(pai_cluster *c, pai__share *share)
{
  uint32_t chain;
  pai__buf b;

  if (share->path == NULL ||
      is_chain(c, share->path, strcspn(share->path, ".")))
    return PAI_OK;
  chain = chain_of(c, share->path);
  if (chain == PAI__NOTHING)
    return PAI_OK; /* checking tells of it */
  pai__buf_init(&b, &c->alloc);
  pai__buf_printf(&b, "%s.%s", c->types[chain].name, share->path);
  if (pai__buf_ok(&b))
    share->path = pai__cluster_text(c, pai__buf_text(&b), b.len);
  else
    share->path = NULL;
  pai__buf_dispose(&b);
  return share->path != NULL ? PAI_OK : PAI_ENOMEM;
}

int pai__derive_shares(pai_cluster *c)
{
  if (c->nvcs == 0)
    return add_default(c);
  for (size_t v = 0; v < c->nvcs; v++) {
    pai__vc *vc = &c->vcs[v];
    pai__share *shares =
      pai__arena_zalloc(&c->arena, vc->nshares + 1, sizeof(*shares));

    if (shares == NULL)
      return PAI_ENOMEM;
    for (uint32_t i = 0; i < vc->nshares; i++) {
      shares[i] = vc->shares[i];
      if (complete(c, &shares[i]) < 0)
        return PAI_ENOMEM;
    }
    vc->shares = shares;
  }
  return PAI_OK;
}
