/* write_openpai.c - a cluster in our own form, as YAML or as JSON */
#include "base/number.h"
#include "resource/read.h"
#include "resource/write.h"

/* --- what stands before the nodes ----------------------------------------- */

static void put_kinds(pai__output *o, const pai_cluster *c)
{
  bool begun = false;

  for (size_t i = 0; i < c->nkinds; i++) {
    const pai__gpu_kind *k = &c->kinds[i];

    if (k->resource == NULL && k->memory == 0)
      continue;
    if (!begun) {
      pai__out_key(o, "gpus");
      pai__out_begin_mapping(o);
    }
    begun = true;
    pai__out_key(o, k->name);
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "resource", k->resource);
    pai__out_put_size(o, "memory", k->memory);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_mapping(o);
}

static void put_groups(pai__output *o, const pai_cluster *c, const pai__sku *s)
{
  if (s->ngroups == 0)
    return;
  pai__out_key(o, "gpu");
  if (s->ngroups == 1) {
    pai__out_text(o, c->kinds[s->groups[0].kind].name);
    pai__out_put_number(o, "gpus", s->gpus);
    return;
  }
  pai__out_begin_mapping(o);
  for (uint32_t i = 0; i < s->ngroups; i++)
    pai__out_put_number(o, c->kinds[s->groups[i].kind].name,
                        s->groups[i].count);
  pai__out_end_mapping(o);
}

static void put_sku(pai__output *o, const pai_cluster *c, const pai__sku *s)
{
  pai__out_key(o, s->name);
  pai__out_begin_mapping(o);
  put_groups(o, c, s);
  if (s->numa > 1)
    pai__out_put_number(o, "numa", s->numa);
  if (s->nnear > 0) {
    pai__out_key(o, "near");
    pai__out_begin_mapping(o);
    for (uint32_t i = 0; i < s->nnear; i++)
      pai__out_put_number(o, s->near[i].name, s->near[i].gpus);
    pai__out_end_mapping(o);
  }
  pai__out_put_number(o, "cpus", s->cpus);
  pai__out_put_size(o, "memory", s->memory);
  if (s->used_cpus != 0 || s->used_memory != 0) {
    pai__out_key(o, "used");
    pai__out_begin_mapping(o);
    pai__out_put_number(o, "cpus", s->used_cpus);
    pai__out_put_size(o, "memory", s->used_memory);
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
}

static void put_skus(pai__output *o, const pai_cluster *c)
{
  if (c->nskus == 0)
    return;
  pai__out_key(o, "skus");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->nskus; i++)
    put_sku(o, c, &c->skus[i]);
  pai__out_end_mapping(o);
}

/* --- nodes ---------------------------------------------------------------- */

static void put_labels(pai__output *o, const pai__member *m)
{
  if (m->nlabels == 0)
    return;
  pai__out_key(o, "labels");
  pai__out_begin_mapping(o);
  for (uint32_t i = 0; i < m->nlabels; i++)
    pai__out_put_text(o, m->labels[i].key, m->labels[i].value);
  pai__out_end_mapping(o);
}

static bool is_special(const pai__gpu *g, uint32_t place)
{
  return g->uuid != NULL || g->sick != NULL || g->number != place;
}

static void put_gpus(pai__output *o, const pai_cluster *c,
                     const pai__member *m)
{
  char place[PAI__DOUBLE_TEXT];
  bool begun = false;

  for (uint32_t i = 0; i < pai__sku_of(c, m)->gpus; i++) {
    const pai__gpu *g = &c->gpus[m->first_gpu + i];

    if (!is_special(g, i))
      continue;
    if (!begun) {
      pai__out_key(o, "gpus");
      pai__out_begin_mapping(o);
    }
    begun = true;
    (void)pai__format_int(place, i);
    pai__out_key(o, place);
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "uuid", g->uuid);
    if (g->number != i) {
      pai__out_key(o, "number");
      pai__out_number(o, g->number);
    }
    pai__out_put_text(o, "sick", g->sick);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_mapping(o);
}

static void put_node(pai__output *o, const pai_cluster *c,
                     const pai__member *m)
{
  pai__out_begin_mapping(o);
  pai__out_put_text(o, "name", m->name);
  pai__out_put_text(o, "sku", pai__sku_of(c, m)->name);
  if (m->rack != PAI__NOTHING)
    pai__out_put_text(o, "rack", c->racks[m->rack]);
  pai__out_put_text(o, "address", m->address);
  pai__out_put_text(o, "pin", m->pin);
  put_labels(o, m);
  pai__out_put_text(o, "sick", m->sick);
  put_gpus(o, c, m);
  pai__out_end_mapping(o);
}

/* --- virtual clusters ----------------------------------------------------- */

static size_t count_cells(const pai__vc *vc)
{
  size_t n = 0;

  for (uint32_t i = 0; i < vc->nshares; i++)
    n += vc->shares[i].path != NULL;
  return n;
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

/* A mapping; where a type comes twice, a list of mappings. */
static void put_cells(pai__output *o, const pai__vc *vc)
{
  bool list = has_twice(vc);

  pai__out_key(o, "cells");
  (list ? pai__out_begin_list : pai__out_begin_mapping)(o);
  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].path == NULL)
      continue;
    if (list)
      pai__out_begin_mapping(o);
    pai__out_key(o, vc->shares[i].path);
    pai__out_number(o, vc->shares[i].count);
    if (list)
      pai__out_end_mapping(o);
  }
  (list ? pai__out_end_list : pai__out_end_mapping)(o);
}

/* Its shares follow from it. */
static void put_part(pai__output *o, const pai__vc *vc)
{
  char text[PAI__PART_TEXT];

  pai__part_text(text, vc->part);
  pai__out_put_text(o, "part", vc->rest ? "rest" : text);
  pai__part_text(text, vc->most);
  if (vc->most != vc->part)
    pai__out_put_text(o, "max", text);
}

static void put_shares(pai__output *o, const pai__vc *vc)
{
  size_t cells = count_cells(vc);

  if (cells > 0)
    put_cells(o, vc);
  if (cells < vc->nshares) {
    pai__out_key(o, "pins");
    pai__out_begin_list(o);
    for (uint32_t i = 0; i < vc->nshares; i++)
      if (vc->shares[i].pin != NULL)
        pai__out_text(o, vc->shares[i].pin);
    pai__out_end_list(o);
  }
}

static void put_vc(pai__output *o, const pai__vc *vc)
{
  pai__out_key(o, vc->name);
  pai__out_begin_mapping(o);
  if (vc->parted)
    put_part(o, vc);
  else
    put_shares(o, vc);
  if (vc->stopped) {
    pai__out_key(o, "stopped");
    pai__out_flag(o, true);
  }
  pai__out_end_mapping(o);
}

static void put_vcs(pai__output *o, const pai_cluster *c)
{
  if (c->nvcs == 0)
    return;
  pai__out_key(o, "virtualClusters");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->nvcs; i++)
    put_vc(o, &c->vcs[i]);
  pai__out_end_mapping(o);
}

/* --- cells ---------------------------------------------------------------- */

/* Cells that follow from the nodes are not told. */
static int put_physical(pai__output *o, const pai_cluster *c)
{
  int rc;

  if (c->ncells == 0 || c->derived)
    return PAI_OK;
  pai__out_key(o, "physicalCluster");
  pai__out_begin_mapping(o);
  pai__out_put_units(o, c->units, c->nunits);
  rc = pai__out_put_cells(o, c);
  pai__out_end_mapping(o);
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

static int put_cluster(pai__output *o, const pai_cluster *c)
{
  int rc;

  pai__out_begin_mapping(o);
  if (*c->name != '\0')
    pai__out_put_text(o, "name", c->name);
  put_kinds(o, c);
  put_skus(o, c);
  pai__out_key(o, "nodes");
  pai__out_begin_list(o);
  for (size_t i = 0; i < c->nnodes; i++)
    put_node(o, c, &c->nodes[i]);
  pai__out_end_list(o);
  rc = put_physical(o, c);
  put_vcs(o, c);
  pai__out_end_mapping(o);
  return rc;
}

int pai_cluster_write(const pai_cluster *c, int format, pai_write_cb write,
                      void *user_data, pai_error **err)
{
  pai__output o;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  rc = pai__out_begin(&o, c, format, err);
  if (rc < 0)
    return rc;
  o.text.failed |= put_cluster(&o, c) < 0;
  return pai__out_end(&o, write, user_data, err);
}
