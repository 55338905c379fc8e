/* write_hived.c - a cluster as HiveD's configuration */
#include "resource/read.h"
#include "resource/derive.h"
#include "resource/write.h"

#include <stdlib.h>

static const char header[] =
  "# HiveD's configuration, written by libopenpai.\n"
  "# What is not written follows from the rest: the children of a cell from\n"
  "# its type, addresses and GPUs from their order.\n";

/* --- what comes with a leaf cell ------------------------------------------ */

enum { MOST_CPUS = 100000 };

/* A GPU's part of a machine; the least of all machines that have one of its
 * kind, since it must fit on each.  What is not known of a machine does not
 * count. */
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

/* A unit of each kind of GPU; UINT32_MAX and UINT64_MAX: nobody knows. */
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

/* Those that are given have the very name of their kind. */
static bool is_leaf_of(const char *type, const char *kind)
{
  while (*kind != '\0' && (*type == *kind || *type == pai__leaf_char(*kind))) {
    type++;
    kind++;
  }
  return *type == *kind;
}

/* False: nothing comes with a leaf cell of this type. */
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

/* Those that were given, or what follows from the SKUs. */
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

/* --- chains of no virtual cluster ----------------------------------------- */

/* HiveD does not start with a chain that no virtual cluster names.  So the
 * first gets 0 of it; where there is none, `default` gets all.  The cluster
 * itself stays as it is. */

static int is_pin(const void *pin, const void *named)
{
  return strcmp(pin, ((const pai__named *)named)->name);
}

/* A chain by the first name of a path. */
static int is_chain(const void *path, const void *named)
{
  const char *name = ((const pai__named *)named)->name;
  size_t len = strcspn(path, ".");
  int order = strncmp(path, name, len);

  return order != 0 ? order : name[len] == '\0' ? 0 : -1;
}

/* How many top cells each type has; fills in the names of those with some. */
static size_t count_tops(const pai_cluster *c, uint32_t *tops,
                         pai__named *chains)
{
  size_t n = 0;

  for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
    tops[c->cells[i].type]++;
  for (uint32_t i = 0; i < c->ntypes; i++)
    if (tops[i] > 0)
      chains[n++] = (pai__named){ c->types[i].name, i };
  pai__sort_names(chains, n);
  return n;
}

/* Chains that are in a pinned cell's way up have a user. */
static void take_pinned(const pai_cluster *c, const pai__named *pins,
                        size_t npins, uint32_t *tops)
{
  for (uint32_t top = 0; top < c->ncells && npins > 0;
       top = c->cells[top].skip)
    for (uint32_t i = top; i < c->cells[top].skip; i++)
      if (c->cells[i].pin != NULL &&
          bsearch(c->cells[i].pin, pins, npins, sizeof(*pins), is_pin) != NULL)
        tops[c->cells[top].type] = 0;
}

static size_t count_shares(const pai_cluster *c)
{
  size_t n = 0;

  for (size_t i = 0; i < c->nvcs; i++)
    n += c->vcs[i].nshares;
  return n;
}

/* Of each type: how many top cells are of it, or 0 if a virtual cluster names
 * it.  NULL: no memory. */
static uint32_t *find_unused(const pai_cluster *c, pai__arena *a)
{
  uint32_t *tops = pai__arena_zalloc(a, c->ntypes + 1, sizeof(*tops));
  pai__named *chains = pai__arena_zalloc(a, c->ntypes + 1, sizeof(*chains));
  pai__named *pins = pai__arena_zalloc(a, count_shares(c) + 1, sizeof(*pins));
  size_t nchains, npins = 0;

  if (tops == NULL || chains == NULL || pins == NULL)
    return NULL;
  nchains = count_tops(c, tops, chains);
  for (size_t v = 0; v < c->nvcs; v++)
    for (uint32_t i = 0; i < c->vcs[v].nshares; i++) {
      const pai__share *s = &c->vcs[v].shares[i];
      const pai__named *chain = NULL;

      if (s->pin != NULL)
        pins[npins++] = (pai__named){ s->pin, 0 };
      else if (nchains > 0)
        chain = bsearch(s->path, chains, nchains, sizeof(*chains), is_chain);
      if (chain != NULL)
        tops[chain->index] = 0;
    }
  pai__sort_names(pins, npins);
  take_pinned(c, pins, npins, tops);
  return tops;
}

/* --- virtual clusters ----------------------------------------------------- */

static void put_share(pai__output *o, const char *path, uint32_t count,
                      bool *begun)
{
  if (!*begun) {
    pai__out_key(o, "virtualCells");
    pai__out_begin_list(o);
  }
  *begun = true;
  pai__out_begin_mapping(o);
  pai__out_put_text(o, "cellType", path);
  pai__out_key(o, "cellNumber");
  pai__out_number(o, count);
  pai__out_end_mapping(o);
}

/* vc: NULL for `default`; unused: NULL for all but the first. */
static void put_cells(pai__output *o, const pai_cluster *c, const pai__vc *vc,
                      const uint32_t *unused)
{
  bool begun = false;

  for (uint32_t i = 0; vc != NULL && i < vc->nshares; i++)
    if (vc->shares[i].path != NULL)
      put_share(o, vc->shares[i].path, vc->shares[i].count, &begun);
  for (size_t i = 0; unused != NULL && i < c->ntypes; i++)
    if (unused[i] > 0)
      put_share(o, c->types[i].name, vc != NULL ? 0 : unused[i], &begun);
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

static int put_vcs(pai__output *o, const pai_cluster *c)
{
  const uint32_t *unused;
  pai__arena a;

  pai__arena_init(&a, &c->alloc);
  unused = find_unused(c, &a);
  pai__out_key(o, "virtualClusters");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->nvcs; i++) {
    pai__out_key(o, c->vcs[i].name);
    pai__out_begin_mapping(o);
    put_cells(o, c, &c->vcs[i], i == 0 ? unused : NULL);
    put_pins(o, &c->vcs[i]);
    pai__out_end_mapping(o);
  }
  if (c->nvcs == 0) {
    pai__out_key(o, "default");
    pai__out_begin_mapping(o);
    put_cells(o, c, NULL, unused);
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
  pai__arena_dispose(&a);
  return unused != NULL ? PAI_OK : PAI_ENOMEM;
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

/* As many types as can be read again. */
static int count_types(const pai_cluster *c, pai_error **err)
{
  size_t n = 0;

  for (size_t i = 0; i < c->ntypes; i++)
    n += c->types[i].child != PAI__NOTHING;
  if (n <= PAI__CELLS_MAX_TYPES)
    return PAI_OK;
  (void)pai__fail(err, PAI_ELIMIT,
                  "there are %zu types of cells, and not "
                  "more than %d can be",
                  n, PAI__CELLS_MAX_TYPES);
  pai__error_help(err, "let machines that differ little be of one SKU");
  return PAI_ELIMIT;
}

static int need_cells(pai_cluster *c, pai_error **err)
{
  int rc = pai__cells_derive(c);

  if (rc == PAI_OK)
    return count_types(c, err);
  if (rc == PAI_ELIMIT) {
    (void)pai__fail(err, rc, PAI__CELLS_LIMIT, PAI__CLUSTER_MAX_GPUS,
                    PAI__CELLS_MAX_TEXT >> 20);
    pai__error_help(err, "part it into several clusters");
    return rc;
  }
  if (rc != PAI_ENOTFOUND)
    return pai__oom(err);
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
