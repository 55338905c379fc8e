/* read_shares.c - virtual clusters of our own form */
#include "resource/read.h"

/* How many cells are told of in a mapping, or a list of mappings. */
static size_t count_cells(pai__reader *r, pai__node n)
{
  pai__tree_walk walk;
  pai__node item;
  size_t count = 0;

  if (n == PAI__NO_NODE)
    return 0;
  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    return pai__tree_count(r->t, n);
  if (!pai__read_is_list(r, n, "cells"))
    return 0;
  walk = pai__tree_iter(r->t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__read_is_mapping(r, item, "an item of cells"))
      count += pai__tree_count(r->t, item);
  return count;
}

static void read_counts(pai__reader *r, pai__node n, pai__share *shares,
                        uint32_t *nshares)
{
  pai__tree_walk walk = pai__tree_iter(r->t, n);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__share *s = &shares[*nshares];

    s->path = pai__read_copy(r, key, "a type of cell");
    s->count =
      pai__read_number(r, pai__tree_value(r->t, key), "a number of cells", 0,
                       PAI__CLUSTER_MAX_GPUS, 0);
    if (s->path == NULL)
      continue;
    pai__read_share_at(r, key);
    ++*nshares;
  }
}

static void read_cells(pai__reader *r, pai__node n, pai__share *shares,
                       uint32_t *nshares)
{
  pai__tree_walk walk;
  pai__node item;

  if (pai__tree_type(r->t, n) == PAI__MAPPING) {
    read_counts(r, n, shares, nshares);
    return;
  }
  walk = pai__tree_iter(r->t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(r->t, item) == PAI__MAPPING)
      read_counts(r, item, shares, nshares);
}

static void read_pins(pai__reader *r, pai__node n, pai__share *shares,
                      uint32_t *nshares)
{
  pai__tree_walk walk = pai__tree_iter(r->t, n);
  pai__node item;

  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__share *s = &shares[*nshares];

    s->pin = pai__read_copy(r, item, "a pin");
    s->count = 1;
    if (s->pin == NULL)
      continue;
    pai__read_share_at(r, item);
    ++*nshares;
  }
}

static void read_vc(pai__reader *r, pai__node name, pai__node n)
{
  enum { CELLS, PINS, KEYS };
  static const char *const keys[] = { "cells", "pins" };
  pai__vc vc = { .name = pai__read_copy(r, name, "a virtual cluster") };
  pai__share *shares;
  pai__node v[KEYS] = { PAI__NO_NODE, PAI__NO_NODE };
  size_t count;
  bool pins;

  if (pai__tree_type(r->t, n) != PAI__NULL &&
      !pai__read_fields(r, n, "a virtual cluster", keys, KEYS, v))
    return;
  count = count_cells(r, v[CELLS]);
  pins = pai__read_is_list(r, v[PINS], "pins");
  shares = pai__arena_zalloc(
    &r->c->arena, count + (pins ? pai__tree_count(r->t, v[PINS]) : 0) + 1,
    sizeof(*shares));
  if (shares == NULL || vc.name == NULL) {
    r->f->failed |= shares == NULL;
    return;
  }
  vc.shares = shares;
  if (count > 0)
    read_cells(r, v[CELLS], shares, &vc.nshares);
  if (pins)
    read_pins(r, v[PINS], shares, &vc.nshares);
  if (!r->f->failed && pai__cluster_add_vc(r->c, &vc) < 0)
    r->f->failed = true;
}

void pai__read_vcs(pai__reader *r, pai__node n)
{
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, n, "virtualClusters"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed)
    read_vc(r, key, pai__tree_value(r->t, key));
}
