/* write_openpai.c - a cluster in our own form, as YAML or as JSON */
#include "base/number.h"
#include "json/writer.h"
#include "resource/read.h"
#include "yaml/writer.h"

/* One of two writers. */
typedef struct output {
  bool json;
  pai__json_writer j;
  pai__yaml_writer y;
  pai__buf text;
} output;

static void begin_mapping(output *o)
{
  if (o->json)
    pai__json_begin_object(&o->j);
  else
    pai__yaml_begin_mapping(&o->y);
}

static void end_mapping(output *o)
{
  if (o->json)
    pai__json_end_object(&o->j);
  else
    pai__yaml_end_mapping(&o->y);
}

static void begin_list(output *o)
{
  if (o->json)
    pai__json_begin_array(&o->j);
  else
    pai__yaml_begin_sequence(&o->y);
}

static void end_list(output *o)
{
  if (o->json)
    pai__json_end_array(&o->j);
  else
    pai__yaml_end_sequence(&o->y);
}

static void key(output *o, const char *s)
{
  if (o->json)
    pai__json_key(&o->j, s, strlen(s));
  else
    pai__yaml_key(&o->y, s, strlen(s));
}

static void text(output *o, const char *s)
{
  if (o->json)
    pai__json_text(&o->j, s, strlen(s));
  else
    pai__yaml_text(&o->y, s, strlen(s));
}

static void number(output *o, int64_t v)
{
  if (o->json)
    pai__json_int(&o->j, v);
  else
    pai__yaml_int(&o->y, v);
}

static void put_text(output *o, const char *name, const char *s)
{
  if (s == NULL)
    return;
  key(o, name);
  text(o, s);
}

/* What nobody knows is left out. */
static void put_number(output *o, const char *name, uint32_t v)
{
  if (v == 0)
    return;
  key(o, name);
  number(o, v);
}

static void put_size(output *o, const char *name, uint64_t v)
{
  char size[PAI__SIZE_TEXT];

  if (v != 0)
    put_text(o, name, pai__size_text(size, v));
}

/* --- what stands before the nodes ----------------------------------------- */

static void put_kinds(output *o, const pai_cluster *c)
{
  bool begun = false;

  for (size_t i = 0; i < c->nkinds; i++) {
    const pai__gpu_kind *k = &c->kinds[i];

    if (k->resource == NULL && k->memory == 0)
      continue;
    if (!begun) {
      key(o, "gpus");
      begin_mapping(o);
    }
    begun = true;
    key(o, k->name);
    begin_mapping(o);
    put_text(o, "resource", k->resource);
    put_size(o, "memory", k->memory);
    end_mapping(o);
  }
  if (begun)
    end_mapping(o);
}

static void put_groups(output *o, const pai_cluster *c, const pai__sku *s)
{
  if (s->ngroups == 0)
    return;
  key(o, "gpu");
  if (s->ngroups == 1) {
    text(o, c->kinds[s->groups[0].kind].name);
    put_number(o, "gpus", s->gpus);
    return;
  }
  begin_mapping(o);
  for (uint32_t i = 0; i < s->ngroups; i++)
    put_number(o, c->kinds[s->groups[i].kind].name, s->groups[i].count);
  end_mapping(o);
}

static void put_sku(output *o, const pai_cluster *c, const pai__sku *s)
{
  key(o, s->name);
  begin_mapping(o);
  put_groups(o, c, s);
  if (s->numa > 1)
    put_number(o, "numa", s->numa);
  if (s->nnear > 0) {
    key(o, "near");
    begin_mapping(o);
    for (uint32_t i = 0; i < s->nnear; i++)
      put_number(o, s->near[i].name, s->near[i].gpus);
    end_mapping(o);
  }
  put_number(o, "cpus", s->cpus);
  put_size(o, "memory", s->memory);
  if (s->used_cpus != 0 || s->used_memory != 0) {
    key(o, "used");
    begin_mapping(o);
    put_number(o, "cpus", s->used_cpus);
    put_size(o, "memory", s->used_memory);
    end_mapping(o);
  }
  end_mapping(o);
}

static void put_skus(output *o, const pai_cluster *c)
{
  if (c->nskus == 0)
    return;
  key(o, "skus");
  begin_mapping(o);
  for (size_t i = 0; i < c->nskus; i++)
    put_sku(o, c, &c->skus[i]);
  end_mapping(o);
}

/* --- nodes ---------------------------------------------------------------- */

static void put_labels(output *o, const pai__member *m)
{
  if (m->nlabels == 0)
    return;
  key(o, "labels");
  begin_mapping(o);
  for (uint32_t i = 0; i < m->nlabels; i++)
    put_text(o, m->labels[i].key, m->labels[i].value);
  end_mapping(o);
}

static bool is_special(const pai__gpu *g, uint32_t place)
{
  return g->uuid != NULL || g->sick != NULL || g->number != place;
}

static void put_gpus(output *o, const pai_cluster *c, const pai__member *m)
{
  char place[PAI__DOUBLE_TEXT];
  bool begun = false;

  for (uint32_t i = 0; i < pai__sku_of(c, m)->gpus; i++) {
    const pai__gpu *g = &c->gpus[m->first_gpu + i];

    if (!is_special(g, i))
      continue;
    if (!begun) {
      key(o, "gpus");
      begin_mapping(o);
    }
    begun = true;
    (void)pai__format_int(place, i);
    key(o, place);
    begin_mapping(o);
    put_text(o, "uuid", g->uuid);
    if (g->number != i) {
      key(o, "number");
      number(o, g->number);
    }
    put_text(o, "sick", g->sick);
    end_mapping(o);
  }
  if (begun)
    end_mapping(o);
}

static void put_node(output *o, const pai_cluster *c, const pai__member *m)
{
  begin_mapping(o);
  put_text(o, "name", m->name);
  put_text(o, "sku", pai__sku_of(c, m)->name);
  if (m->rack != PAI__NOTHING)
    put_text(o, "rack", c->racks[m->rack]);
  put_text(o, "address", m->address);
  put_text(o, "pin", m->pin);
  put_labels(o, m);
  put_text(o, "sick", m->sick);
  put_gpus(o, c, m);
  end_mapping(o);
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
static void put_cells(output *o, const pai__vc *vc)
{
  bool list = has_twice(vc);

  key(o, "cells");
  (list ? begin_list : begin_mapping)(o);
  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].path == NULL)
      continue;
    if (list)
      begin_mapping(o);
    key(o, vc->shares[i].path);
    number(o, vc->shares[i].count);
    if (list)
      end_mapping(o);
  }
  (list ? end_list : end_mapping)(o);
}

static void put_vc(output *o, const pai__vc *vc)
{
  size_t cells = count_cells(vc);

  key(o, vc->name);
  begin_mapping(o);
  if (cells > 0)
    put_cells(o, vc);
  if (cells < vc->nshares) {
    key(o, "pins");
    begin_list(o);
    for (uint32_t i = 0; i < vc->nshares; i++)
      if (vc->shares[i].pin != NULL)
        text(o, vc->shares[i].pin);
    end_list(o);
  }
  end_mapping(o);
}

static void put_vcs(output *o, const pai_cluster *c)
{
  if (c->nvcs == 0)
    return;
  key(o, "virtualClusters");
  begin_mapping(o);
  for (size_t i = 0; i < c->nvcs; i++)
    put_vc(o, &c->vcs[i]);
  end_mapping(o);
}

/* --- the whole ------------------------------------------------------------ */

static int put_cluster(output *o, const pai_cluster *c)
{
  begin_mapping(o);
  if (*c->name != '\0')
    put_text(o, "name", c->name);
  put_kinds(o, c);
  put_skus(o, c);
  key(o, "nodes");
  begin_list(o);
  for (size_t i = 0; i < c->nnodes; i++)
    put_node(o, c, &c->nodes[i]);
  end_list(o);
  put_vcs(o, c);
  end_mapping(o);
  return o->json ? pai__json_finish(&o->j) : pai__yaml_finish(&o->y);
}

int pai_cluster_write(const pai_cluster *c, int format, pai_write_cb write,
                      void *user_data, pai_error **err)
{
  output o = { .json = format == PAI_FORMAT_JSON };
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  if (format != 0 && format != PAI_FORMAT_YAML && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "a cluster is written as YAML or JSON");
  pai__buf_init(&o.text, &c->alloc);
  if (o.json)
    pai__json_writer_init(&o.j, &o.text, true);
  else
    pai__yaml_writer_init(&o.y, &o.text);
  rc = put_cluster(&o, c);
  if (rc == PAI_OK)
    rc = write(user_data, pai__buf_text(&o.text), o.text.len);
  else
    rc = rc == PAI_ENOMEM ? pai__oom(err)
                          : pai__fail(err, rc, "a name cannot be written");
  pai__buf_dispose(&o.text);
  return rc;
}
