/* derive_shares.c - convert parts of a cluster to shares, and complete the
 * paths of shares, for derived cells */
#include "resource/cluster/derive.h"

#include "base/buf.h"
#include "resource/cells.h"

#include <stdio.h>

/* --- parts ---------------------------------------------------------------- */

bool pai__part_parse(uint32_t *out, const char *s, size_t len)
{
  uint32_t n = 0, digits = 0, behind = 0;
  bool point = false;
  size_t i = 0;

  for (; i < len && s[i] != '%'; i++) {
    if (s[i] == '.' && !point && digits > 0) {
      point = true;
      continue;
    }
    if (s[i] < '0' || s[i] > '9' || n > PAI__WHOLE || behind == 2)
      return false;
    n = n * 10 + (uint32_t)(s[i] - '0');
    digits++;
    behind += point;
  }
  if (digits == 0 || (point && behind == 0) || i + 1 != len || s[i] != '%')
    return false;
  for (; behind < 2; behind++)
    n *= 10;
  *out = n;
  return n <= PAI__WHOLE;
}

void pai__part_text(char *out, uint32_t part)
{
  if (part % 100 == 0)
    (void)snprintf(out, PAI__PART_TEXT, "%u%%", part / 100);
  else if (part % 10 == 0)
    (void)snprintf(out, PAI__PART_TEXT, "%u.%u%%", part / 100, part / 10 % 10);
  else
    (void)snprintf(out, PAI__PART_TEXT, "%u.%02u%%", part / 100, part % 100);
}

/* Avoids an overflow of whole * part. */
static uint64_t part_of(uint64_t whole, uint32_t part)
{
  return whole / PAI__WHOLE * part + whole % PAI__WHOLE * part / PAI__WHOLE;
}

uint64_t pai__part_amount(const pai_cluster *c, size_t vc, uint64_t whole,
                          bool most)
{
  const pai__vc *v = &c->vcs[vc];
  uint64_t left = whole;

  if (!v->rest)
    return part_of(whole, most ? v->most : v->part);
  for (size_t i = 0; i < c->nvcs; i++)
    if (!c->vcs[i].rest)
      left -= part_of(whole, c->vcs[i].part);
  return left;
}

bool pai__cluster_has_parts(const pai_cluster *c)
{
  return c->nvcs > 0 && c->vcs[0].parted;
}

/* --- shares --------------------------------------------------------------- */

/* Types sorted by name, and the chain of each. */
typedef struct completing {
  pai_cluster *c;
  pai__named *names;
  uint32_t *chain_of; /* PAI__NOTHING: in no chain, or in several */
  bool *seen;         /* is in some chain */
  bool *is_chain;
} completing;

/* --- what there is -------------------------------------------------------- */

/* Records the types of a chain, once for all its top cells. */
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

uint32_t pai__named_find(const pai__named *list, size_t n, const char *s,
                         size_t len)
{
  size_t low = 0, high = n;

  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int order = strncmp(list[mid].name, s, len);

    if (order == 0 && list[mid].name[len] == '\0')
      return list[mid].index;
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return PAI__NOTHING;
}

static uint32_t find_type(const completing *k, const char *s, size_t len)
{
  return pai__named_find(k->names, k->c->ntypes, s, len);
}

/* Completes "dgx" to "dgx-rack.dgx" if only one chain has that type. */
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
    return PAI_OK; /* check_shares.c reports it */
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

/* Converts a part to cells: in each chain as many of the largest cells as fit,
 * then smaller ones.  All virtual clusters do the same, so there are enough
 * cells of each size. */
typedef struct parting {
  const completing *k;
  const pai__type_facts *facts;
  /* GPUs of the chain whose top is the type, if there is one */
  const uint64_t *gpus;
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
