/* openpai_vcs.c - virtual clusters of the openpai form, read and written by the
 * same table */
#include "resource/cluster/write.h"

void pai__read_add_share(pai__reader *r, pai__node at, const char *path,
                         const char *pin, uint32_t count)
{
  if (path == NULL && pin == NULL)
    return;
  if (PAI__VEC_ROOM(&r->c->alloc, r->shares, r->nshares, r->share_cap) < 0)
    r->f->failed = true;
  else
    r->shares[r->nshares++] = (pai__share){ path, pin, count, at };
}

void pai__read_add_vc(pai__reader *r, pai__vc *vc)
{
  pai__share *shares = pai__read_room(r, r->nshares, sizeof(*shares));

  if (shares != NULL && r->nshares > 0)
    memcpy(shares, r->shares, r->nshares * sizeof(*shares));
  vc->shares = shares;
  vc->nshares = (uint32_t)r->nshares;
  r->nshares = 0;
  if (!r->f->failed && vc->name != NULL && pai__cluster_add_vc(r->c, vc) < 0)
    r->f->failed = true;
}

static void read_cell(pai__reader *r, pai__node key, void *record)
{
  const char *path = pai__read_copy(r, key, "a type of cell");

  (void)record;
  pai__read_add_share(r, key, path, NULL,
                      pai__read_uint32(r, pai__tree_value(r->t, key),
                                       "a number of cells", 0,
                                       PAI__CLUSTER_MAX_GPUS, 0));
}

static void read_cell_list(pai__reader *r, pai__node item, void *record)
{
  pai__read_keys(r, item, "an item of cells", read_cell, record);
}

static void read_cells(pai__reader *r, pai__node n, void *record)
{
  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    pai__read_keys(r, n, "cells", read_cell, record);
  else
    pai__read_items(r, n, "cells", read_cell_list, record);
}

static bool has_twice(const pai__vc *vc)
{
  for (uint32_t i = 0; i < vc->nshares; i++)
    for (uint32_t k = 0; k < i; k++)
      if (vc->shares[i].path != NULL && vc->shares[k].path != NULL &&
          strcmp(vc->shares[i].path, vc->shares[k].path) == 0)
        return true;
  return false;
}

/* Writes a mapping, or a list of mappings if a type occurs twice. */
static void put_cells(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__vc *vc = record;
  bool list = has_twice(vc), begun = false;

  (void)c;
  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].path == NULL || vc->parted)
      continue; /* shares of a part are derived from it */
    pai__out_begin_once(o, "cells", list, &begun);
    if (list)
      pai__out_begin_mapping(o);
    pai__out_key(o, vc->shares[i].path);
    pai__out_number(o, vc->shares[i].count);
    if (list)
      pai__out_end_mapping(o);
  }
  if (begun)
    (list ? pai__out_end_list : pai__out_end_mapping)(o);
}

static void read_pin(pai__reader *r, pai__node item, void *record)
{
  (void)record;
  pai__read_add_share(r, item, NULL, pai__read_copy(r, item, "a pin"), 1);
}

static void put_pins(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__vc *vc = record;
  bool begun = false;

  (void)c;
  for (uint32_t i = 0; i < vc->nshares; i++)
    if (vc->shares[i].pin != NULL && !vc->parted) {
      pai__out_begin_once(o, "pins", true, &begun);
      pai__out_text(o, vc->shares[i].pin);
    }
  if (begun)
    pai__out_end_list(o);
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
                "%s must be a percentage", what))
    pai__find_help(r->f, "write 25%% or 33.33%%; at most 100%%");
  return false;
}

static bool is_rest(const pai__reader *r, pai__node n)
{
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) == PAI__STRING &&
         strcmp(pai__tree_str(r->t, n, NULL), "rest") == 0;
}

/* Reads the part of the whole that a virtual cluster has, if given. */
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
                    "'max' needs a 'part' of the same virtual cluster");
    return;
  }
  if (read_part(r, most, "what it may have at most", &vc->most) &&
      vc->most < vc->part)
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", most,
                    "'max' is less than 'part'");
}

/* Writes both `part` and `max`. */
static void put_part(pai__output *o, const pai_cluster *c, const void *record)
{
  const pai__vc *vc = record;
  char text[PAI__PART_TEXT];

  (void)c;
  if (!vc->parted)
    return;
  pai__part_text(text, vc->part);
  pai__out_put_text(o, "part", vc->rest ? "rest" : text);
  pai__part_text(text, vc->most);
  if (vc->most != vc->part)
    pai__out_put_text(o, "max", text);
}

/* Checks that all parts add up to at most the whole, and that no virtual
 * cluster has cells besides parts, which would be given away twice. */
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
                  "some virtual clusters have a part, and others do not"))
      pai__find_help(r->f, "give each virtual cluster a part, or none");
    if (vc->parted && vc->nshares > 0)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                      "a virtual cluster cannot have both a part and cells");
    if (sum > PAI__WHOLE) {
      (void)pai__find(
        r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
        "the parts of the virtual clusters add up to more than 100%%");
      return;
    }
    if (vc->rest && rests > 1)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "bad-part", vc->at,
                      "only one virtual cluster can have 'part: rest'");
  }
}

/* --- the whole ------------------------------------------------------------ */

enum { CELLS, PINS, PART, MOST };

static const pai__read_field fields[] = {
  PAI__FIELD("cells", OWN, .read = read_cells, .write = put_cells,
             .names = PAI__READ_PATH),
  PAI__FIELD("pins", ITEMS, .read = read_pin, .write = put_pins,
             .names = PAI__READ_PIN),
  PAI__BOTH("part", KNOWN, NULL, put_part),
  PAI__KNOWN("max"),
  PAI__FLAG("stopped", pai__vc, stopped),
};

static const pai__read_about about[] = {
  { "numbers of cells that it owns, by their type", PAI__KIND_MAPPING, NULL },
  { "pinned nodes that it owns", PAI__KIND_ANY, NULL },
  { "share of the cluster, as 50%, or rest", PAI__KIND_TEXT, NULL },
  { "most it may use, including idle capacity of others, as 75%",
    PAI__KIND_TEXT, NULL },
  { "true: none of its jobs starts", PAI__KIND_ANY, NULL },
};
const pai__read_table pai__table_vc =
  PAI__TABLE("a virtual cluster", fields, about);

static void read_vc(pai__reader *r, pai__node name, void *record)
{
  pai__vc vc = { .name = pai__read_copy(r, name, "a virtual cluster"),
                 .at = name };
  pai__node n = pai__tree_value(r->t, name), v[PAI__LEN(fields)];

  (void)record;
  if (vc.name == NULL)
    return;
  if (pai__tree_type(r->t, n) != PAI__NULL) {
    if (!pai__read_fields(r, n, "a virtual cluster", fields, PAI__LEN(fields),
                          v))
      return;
    pai__read_values(r, fields, PAI__LEN(fields), v, &vc);
    read_parts(r, &vc, v[PART], v[MOST]);
  }
  pai__read_add_vc(r, &vc);
}

void pai__openpai_read_vcs(pai__reader *r, pai__node n, void *record)
{
  pai__read_keys(r, n, "virtualClusters", read_vc, record);
  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    check_parts(r);
}

void pai__openpai_put_vcs(pai__output *o, const pai_cluster *c,
                          const void *record)
{
  bool begun = false;

  (void)record;
  for (size_t i = 0; i < c->nvcs; i++) {
    pai__out_begin_once(o, "virtualClusters", false, &begun);
    PAI__WRITE(o, c, c->vcs[i].name, fields, &c->vcs[i]);
  }
  if (begun)
    pai__out_end_mapping(o);
}
