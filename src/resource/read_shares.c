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

    s->at = key;
    s->path = pai__read_copy(r, key, "a type of cell");
    s->count =
      pai__read_uint32(r, pai__tree_value(r->t, key), "a number of cells", 0,
                       PAI__CLUSTER_MAX_GPUS, 0);
    *nshares += s->path != NULL;
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

    s->at = item;
    s->pin = pai__read_copy(r, item, "a pin");
    s->count = 1;
    *nshares += s->pin != NULL;
  }
}

/* --- parts ---------------------------------------------------------------- */

static bool read_part(pai__reader *r, pai__node n, const char *what,
                      uint32_t *part)
{
  pai__piece p = pai__read_text(r, n, what);

  if (p.s == NULL)
    return false;
  if (pai__part_parse(part, p.s, p.len))
    return true;
  if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", n,
                "%s is no part of the cluster", what))
    pai__find_help(r->f, "as 25%% or 33.33%%, up to 100%%");
  return false;
}

static bool is_rest(const pai__reader *r, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__STRING &&
         strcmp(pai__tree_str(r->t, n, NULL), "rest") == 0;
}

/* What it has of the whole, if that is said. */
static void read_parts(pai__reader *r, pai__vc *vc, pai__node part,
                       pai__node most)
{
  vc->parted = part != PAI__NO_NODE;
  vc->rest = is_rest(r, part);
  if (vc->parted && !vc->rest && read_part(r, part, "a part", &vc->part))
    vc->most = vc->part;
  if (most == PAI__NO_NODE)
    return;
  if (!vc->parted || vc->rest) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", most,
                    "\"max\" is for a virtual cluster with a part of its own");
    return;
  }
  if (read_part(r, most, "what it may have at most", &vc->most) &&
      vc->most < vc->part)
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", most,
                    "it may have less than the part that it has");
}

static void read_stopped(pai__reader *r, pai__vc *vc, pai__node n)
{
  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(r->t, n) == PAI__BOOL)
    vc->stopped = pai__tree_bool(r->t, n);
  else
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "wrong-type", n,
                    "\"stopped\" is true or false");
}

/* Of all together no more than there is; and cells beside parts would be given
 * away twice. */
static void check_parts(pai__reader *r)
{
  const pai_cluster *c = r->c;
  uint64_t sum = 0;
  size_t rests = 0;

  for (size_t i = 0; i < c->nvcs; i++) {
    const pai__vc *vc = &c->vcs[i];

    sum += vc->part;
    rests += vc->rest;
    if (vc->parted != c->vcs[0].parted &&
        pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                  "some virtual clusters have a part, and others have not"))
      pai__find_help(r->f, "give each of them a part, or none");
    if (vc->parted && vc->nshares > 0)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                      "a virtual cluster has a part or cells, not both");
    if (sum > PAI__WHOLE) {
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                      "with this one more than the whole cluster is given "
                      "away");
      return;
    }
    if (vc->rest && rests > 1)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                      "only one virtual cluster can have the rest");
  }
}

/* --- the whole ------------------------------------------------------------ */

static void read_vc(pai__reader *r, pai__node name, pai__node n)
{
  enum { CELLS, PINS, PART, MOST, STOPPED, KEYS };
  static const char *const keys[] = { "cells", "pins", "part", "max",
                                      "stopped" };
  pai__vc vc = { .name = pai__read_copy(r, name, "a virtual cluster"),
                 .at = name };
  pai__share *shares;
  pai__node v[KEYS] = { PAI__NO_NODE, PAI__NO_NODE, PAI__NO_NODE, PAI__NO_NODE,
                        PAI__NO_NODE };
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
  read_parts(r, &vc, v[PART], v[MOST]);
  read_stopped(r, &vc, v[STOPPED]);
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
  check_parts(r);
}
