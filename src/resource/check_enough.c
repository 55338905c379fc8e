/*
 * check_enough.c - whether there are as many cells as virtual clusters want
 *
 * As HiveD checks it when it starts: level by level, from the top of each
 * chain down, what nobody was given is divided for those who want less.
 */
#include "resource/checking.h"

/* As many as the first cell of the level has. */
static uint64_t children_of(const pai__checking *k, const pai__chain *chain,
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

static void not_enough(pai__checking *k, const pai__chain *chain,
                       uint32_t level, const pai__wanted *w, uint64_t left,
                       bool given_above)
{
  const char *top = k->r->c->types[chain->type].name;
  const char *name = k->r->c->types[chain->types[level - 1]].name;

  if (pai__find(k->r->f, PAI_SEVERITY_ERROR, "not-enough-cells", w->last,
                "of '%.80s', virtual clusters want %llu '%.80s', '%.80s' the "
                "last of them, and %llu are there",
                top, (unsigned long long)w->count, name, w->vc,
                (unsigned long long)left))
    pai__find_help(k->r->f, !given_above
                              ? "give away less, or add cells"
                              : "what was given away in larger cells does not "
                                "count; give away less, or add cells");
}

/* HiveD asks that each chain is named by some virtual cluster. */
static bool is_used(const pai__checking *k, size_t index)
{
  for (uint32_t level = k->cells.chains[index].levels; level > 0; level--)
    if (k->wanted[index][level - 1].named)
      return true;
  return false;
}

static void check_chain(pai__checking *k, size_t index)
{
  const pai__chain *chain = &k->cells.chains[index];
  uint64_t left =
    chain->first[chain->levels] - chain->first[chain->levels - 1];
  bool given_above = false;

  for (uint32_t level = chain->levels; level > 0; level--) {
    const pai__wanted *w = &k->wanted[index][level - 1];

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

static void unshared(pai__checking *k, const pai__chain *chain, uint64_t left)
{
  const pai_cluster *c = k->r->c;

  if (pai__find(k->r->f, PAI_SEVERITY_WARNING, "unshared", c->vcs[0].at,
                "%llu '%.80s' of '%.80s' belong to no virtual cluster",
                (unsigned long long)left, c->types[chain->types[0]].name,
                c->types[chain->type].name))
    pai__find_help(k->r->f, "only jobs that can be preempted will use them");
}

static void check_used(pai__checking *k, size_t index)
{
  const pai__chain *chain = &k->cells.chains[index];

  if (is_used(k, index)) {
    if (k->left[index] > 0)
      unshared(k, chain, k->left[index]);
    return;
  }
  if (pai__find(
        k->r->f, PAI_SEVERITY_WARNING, "unused-chain",
        pai__checking_place(k, k->cells.list[chain->first[chain->levels - 1]]),
        "no virtual cluster has anything of '%.80s'",
        k->r->c->types[chain->type].name))
    pai__find_help(k->r->f, "HiveD itself does not start with this; give it "
                            "to a virtual cluster");
}

void pai__check_enough(pai__checking *k)
{
  const pai_cluster *c = k->r->c;

  for (size_t i = 0; i < k->cells.nchains; i++)
    check_chain(k, i);
  /* Without virtual clusters, machines are all given to one when written. */
  for (size_t i = 0; i < k->cells.nchains && k->r->f->errors == 0; i++)
    if (c->nvcs > 0 || !c->derived)
      check_used(k, i);
}
