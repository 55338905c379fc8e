/* write_hived.c - write a cluster as HiveD's configuration */
#include "resource/cluster/derive.h"
#include "resource/cluster/write.h"

static const char header[] =
  "# HiveD's configuration, written by libopenpai.\n"
  "# What is not written follows from the rest: the children of a cell from\n"
  "# its type, addresses and GPUs from their order.\n";

/* --- units of leaf cells ------------------------------------------------- */

enum { MOST_CPUS = 100000 };

/* Lowers a unit to a GPU's share of a node: it must fit on each node with GPUs
 * of its kind, so the least counts.  Unknown amounts are ignored. */
static void fit_unit(pai__unit *u, const pai__sku *s)
{
  uint32_t cpus = s->cpus > s->used_cpus ? s->cpus - s->used_cpus : 0;
  uint64_t memory =
    s->memory > s->used_memory ? s->memory - s->used_memory : 0;

  cpus /= s->gpus;
  memory = memory / s->gpus >> 20 << 20;
  if (s->cpus != 0 && cpus < u->cpus)
    u->cpus = cpus;
  if (s->memory != 0 && memory < u->memory)
    u->memory = memory;
}

/* Makes a unit for each kind of GPU; UINT32_MAX and UINT64_MAX: unknown. */
static int find_units(const pai_cluster *c, pai__arena *a, pai__unit **units)
{
  bool *is_there = pai__arena_zalloc(a, c->nskus + 1, sizeof(*is_there));
  pai__unit *list = pai__arena_zalloc(a, c->nkinds + 1, sizeof(*list));

  if (is_there == NULL || list == NULL)
    return PAI_ENOMEM;
  *units = list;
  for (size_t i = 0; i < c->nkinds; i++) {
    list[i].cpus = UINT32_MAX;
    list[i].memory = UINT64_MAX;
  }
  for (size_t i = 0; i < c->nnodes; i++)
    is_there[c->nodes[i].sku] = true;
  for (size_t i = 0; i < c->nskus; i++)
    for (uint32_t k = 0; k < c->skus[i].ngroups && is_there[i]; k++)
      fit_unit(&list[c->skus[i].groups[k].kind], &c->skus[i]);
  return PAI_OK;
}

/* Whether a leaf type is of a kind; given leaf types have exactly the kind's
 * name. */
static bool is_leaf_of(const char *type, const char *kind)
{
  while (*kind != '\0' && (*type == *kind || *type == pai__leaf_char(*kind))) {
    type++;
    kind++;
  }
  return *type == *kind;
}

/* Returns false if a leaf cell of this type has no unit. */
static bool get_unit(const pai_cluster *c, const pai__unit *units,
                     const char *name, pai__unit *u)
{
  size_t kind = 0;

  while (kind < c->nkinds && !is_leaf_of(name, c->kinds[kind].name))
    kind++;
  if (kind == c->nkinds)
    return false;
  *u = units[kind];
  u->name = name;
  u->gpus = 1;
  if (u->cpus == UINT32_MAX)
    u->cpus = 0;
  else if (u->cpus > MOST_CPUS)
    u->cpus = MOST_CPUS;
  if (u->memory == UINT64_MAX)
    u->memory = 0;
  else if (u->memory > PAI__MOST_MEMORY)
    u->memory = PAI__MOST_MEMORY;
  return u->cpus > 0 || u->memory > 0;
}

/* Writes the units that were given, or those computed from the SKUs. */
static int put_units(pai__output *o, const pai_cluster *c)
{
  pai__unit *units, *list;
  pai__arena a;
  size_t n = 0;
  int rc;

  if (c->nunits > 0) {
    pai__out_put_units(o, c->units, c->nunits);
    return PAI_OK;
  }
  pai__arena_init(&a, &c->alloc);
  rc = find_units(c, &a, &units);
  list = pai__arena_zalloc(&a, c->ntypes + 1, sizeof(*list));
  if (rc == PAI_OK && list != NULL) {
    for (size_t i = 0; i < c->ntypes; i++)
      if (c->types[i].child == PAI__NOTHING)
        n += get_unit(c, units, c->types[i].name, &list[n]);
    pai__out_put_units(o, list, n);
  }
  pai__arena_dispose(&a);
  return list != NULL ? rc : PAI_ENOMEM;
}

/* --- virtual clusters ----------------------------------------------------- */

static void put_cells(pai__output *o, const pai__vc *vc)
{
  bool begun = false;

  for (uint32_t i = 0; i < vc->nshares; i++) {
    if (vc->shares[i].path == NULL)
      continue;
    pai__out_begin_once(o, "virtualCells", true, &begun);
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
    pai__out_begin_once(o, "pinnedCells", true, &begun);
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "pinnedCellId", vc->shares[i].pin);
    pai__out_end_mapping(o);
  }
  if (begun)
    pai__out_end_list(o);
}

static int put_vcs(pai__output *o, const pai_cluster *c)
{
  pai__vc *vcs;
  size_t n;
  pai__arena a;
  int rc;

  pai__arena_init(&a, &c->alloc);
  rc = pai__hived_vcs(c, &a, &vcs, &n);
  pai__out_key(o, "virtualClusters");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < n; i++) {
    pai__out_key(o, vcs[i].name);
    pai__out_begin_mapping(o);
    put_cells(o, &vcs[i]);
    put_pins(o, &vcs[i]);
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
  pai__arena_dispose(&a);
  return rc;
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
  if (rc == PAI_OK)
    rc = put_vcs(o, c);
  pai__out_end_mapping(o);
  return rc;
}

int pai_cluster_write_hived(pai_cluster *c, int format, pai_write_cb write,
                            void *user_data, pai_error **err)
{
  pai__output o;
  int rc;

  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  rc = pai__hived_cells(c, err);
  if (rc == PAI_OK)
    rc = pai__out_begin(&o, c, format, err);
  if (rc < 0)
    return rc;
  o.text.failed |= put_config(&o, c) < 0;
  return pai__out_end(&o, write, user_data, err);
}
