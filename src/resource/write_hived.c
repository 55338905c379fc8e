/* write_hived.c - a cluster as HiveD's configuration */
#include "resource/read.h"
#include "resource/derive.h"
#include "resource/write.h"

static const char header[] =
  "# HiveD's configuration, written by libopenpai.\n"
  "# What is not written follows from the rest: the children of a cell from\n"
  "# its type, addresses and GPUs from their order.\n";

/* --- what comes with a leaf cell ------------------------------------------ */

enum { MOST_CPUS = 100000 };
static const uint64_t most_memory = UINT64_C(1) << 50;

/* Its part of a machine that has only such ones; the least of all machines,
 * since it must fit on each. */
static void find_unit(const pai_cluster *c, pai__unit *u)
{
  uint32_t kind = pai__cluster_find_kind(c, u->name, strlen(u->name));
  bool found = false;

  for (size_t i = 0; i < c->nskus; i++) {
    const pai__sku *s = &c->skus[i];
    uint32_t cpus = s->cpus > s->used_cpus ? s->cpus - s->used_cpus : 0;
    uint64_t memory =
      s->memory > s->used_memory ? s->memory - s->used_memory : 0;

    if (s->ngroups != 1 || s->groups[0].kind != kind || s->gpus == 0)
      continue;
    cpus /= s->gpus;
    memory = memory / s->gpus >> 20 << 20;
    if (!found || cpus < u->cpus)
      u->cpus = cpus < MOST_CPUS ? cpus : MOST_CPUS;
    if (!found || memory < u->memory)
      u->memory = memory < most_memory ? memory : most_memory;
    found = true;
  }
}

/* Those that were given, or what follows from the SKUs. */
static int put_units(pai__output *o, const pai_cluster *c)
{
  pai__unit *list;
  size_t n = 0;

  if (c->nunits > 0) {
    pai__out_put_units(o, c->units, c->nunits);
    return PAI_OK;
  }
  list = pai__realloc(&c->alloc, NULL, 0, c->ntypes + 1, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->ntypes; i++) {
    list[n] = (pai__unit){ .name = c->types[i].name, .gpus = 1 };
    if (c->types[i].child == PAI__NOTHING)
      find_unit(c, &list[n]);
    n += list[n].cpus > 0 || list[n].memory > 0;
  }
  pai__out_put_units(o, list, n);
  pai__free(&c->alloc, list, (c->ntypes + 1) * sizeof(*list));
  return PAI_OK;
}

/* --- virtual clusters ----------------------------------------------------- */

static void put_cells(pai__output *o, const pai__vc *vc)
{
  bool begun = false;

  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].path == NULL)
      continue;
    if (!begun) {
      pai__out_key(o, "virtualCells");
      pai__out_begin_list(o);
    }
    begun = true;
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "cellType", vc->shares[i].path);
    pai__out_key(o, "cellNumber");
    pai__out_number(o, vc->shares[i].count);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_list(o);
}

static void put_pins(pai__output *o, const pai__vc *vc)
{
  bool begun = false;

  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].pin == NULL)
      continue;
    if (!begun) {
      pai__out_key(o, "pinnedCells");
      pai__out_begin_list(o);
    }
    begun = true;
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "pinnedCellId", vc->shares[i].pin);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_list(o);
}

static void put_vcs(pai__output *o, const pai_cluster *c)
{
  pai__out_key(o, "virtualClusters");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->nvcs; i++) {
    pai__out_key(o, c->vcs[i].name);
    pai__out_begin_mapping(o);
    put_cells(o, &c->vcs[i]);
    put_pins(o, &c->vcs[i]);
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
}

/* --- the whole ------------------------------------------------------------ */

static void put_settings(pai__output *o, const pai_cluster *c)
{
  for (size_t i = 0; i < c->nsettings; i++) {
    const pai__setting *s = &c->settings[i];

    pai__out_key(o, s->key);
    if (s->text != NULL)
      pai__out_text(o, s->text);
    else
      pai__out_number(o, s->number);
  }
}

static int put_config(pai__output *o, const pai_cluster *c)
{
  int rc;

  if (!o->json)
    pai__buf_str(&o->text, header);
  pai__out_begin_mapping(o);
  put_settings(o, c);
  pai__out_key(o, "physicalCluster");
  pai__out_begin_mapping(o);
  rc = put_units(o, c);
  if (rc == PAI_OK)
    rc = pai__out_put_cells(o, c);
  pai__out_end_mapping(o);
  put_vcs(o, c);
  pai__out_end_mapping(o);
  return rc;
}

static int need_cells(pai_cluster *c, pai_error **err)
{
  int rc = pai__cells_derive(c);

  if (rc != PAI_ENOTFOUND)
    return rc < 0 ? pai__oom(err) : PAI_OK;
  (void)pai__fail(err, PAI_ENOTSUP, "this cluster has no GPUs");
  pai__error_help(err,
                  "HiveD's cells are made of GPUs; a SKU without them can "
                  "have `gpu: cpu` and as many as it has CPUs");
  return PAI_ENOTSUP;
}

int pai_cluster_write_hived(pai_cluster *c, int format, pai_write_cb write,
                            void *user_data, pai_error **err)
{
  pai__output o;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  rc = need_cells(c, err);
  if (rc == PAI_OK)
    rc = pai__out_begin(&o, c, format, err);
  if (rc < 0)
    return rc;
  o.text.failed |= put_config(&o, c) < 0;
  return pai__out_end(&o, write, user_data, err);
}
