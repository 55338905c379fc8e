/* read_hived.c - HiveD's configuration */
#include "resource/read.h"

static bool is_hived(const pai__tree *t)
{
  return pai__tree_get(t, 0, "physicalCluster") != PAI__NO_NODE;
}

/* --- virtual clusters ----------------------------------------------------- */

static bool is_there(pai__reader *r, pai__node n, const char *what,
                     const char *key, pai__node value)
{
  if (value != PAI__NO_NODE)
    return true;
  if (pai__tree_type(r->t, n) == PAI__MAPPING)
    pai__read_missing(r, n, what, key);
  return false;
}

static void read_cells(pai__reader *r, pai__node list, pai__share *shares,
                       uint32_t *nshares)
{
  enum { TYPE, NUMBER, KEYS };
  static const char *const keys[] = { "cellType", "cellNumber" };
  pai__tree_walk walk = pai__tree_iter(r->t, list);
  pai__node item, v[KEYS];

  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__share *s = &shares[*nshares];

    if (!pai__read_fields(r, item, "an item of virtualCells", keys, KEYS, v) ||
        !is_there(r, item, "an item of virtualCells", "cellType", v[TYPE]) ||
        !is_there(r, item, "an item of virtualCells", "cellNumber", v[NUMBER]))
      continue;
    s->at = v[TYPE];
    s->path = pai__read_copy(r, v[TYPE], "cellType");
    s->count = pai__read_uint32(r, v[NUMBER], "cellNumber", 0,
                                PAI__CLUSTER_MAX_GPUS, 0);
    *nshares += s->path != NULL;
  }
}

static void read_pins(pai__reader *r, pai__node list, pai__share *shares,
                      uint32_t *nshares)
{
  static const char *const keys[] = { "pinnedCellId" };
  pai__tree_walk walk = pai__tree_iter(r->t, list);
  pai__node item, v[1];

  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__share *s = &shares[*nshares];

    if (!pai__read_fields(r, item, "an item of pinnedCells", keys, 1, v) ||
        !is_there(r, item, "an item of pinnedCells", "pinnedCellId", v[0]))
      continue;
    s->at = v[0];
    s->pin = pai__read_copy(r, v[0], "pinnedCellId");
    s->count = 1;
    *nshares += s->pin != NULL;
  }
}

static void read_vc(pai__reader *r, pai__node name, pai__node n)
{
  enum { CELLS, PINS, KEYS };
  static const char *const keys[] = { "virtualCells", "pinnedCells" };
  pai__vc vc = { .name = pai__read_copy(r, name, "a virtual cluster"),
                 .at = name };
  pai__node v[KEYS] = { PAI__NO_NODE, PAI__NO_NODE };
  bool cells, pins;
  pai__share *shares;
  size_t count = 1;

  if (pai__tree_type(r->t, n) != PAI__NULL &&
      !pai__read_fields(r, n, "a virtual cluster", keys, KEYS, v))
    return;
  cells = pai__read_is_list(r, v[CELLS], "virtualCells");
  pins = pai__read_is_list(r, v[PINS], "pinnedCells");
  count += cells ? pai__tree_count(r->t, v[CELLS]) : 0;
  count += pins ? pai__tree_count(r->t, v[PINS]) : 0;
  shares = pai__arena_zalloc(&r->c->arena, count, sizeof(*shares));
  r->f->failed |= shares == NULL;
  if (shares == NULL || vc.name == NULL)
    return;
  vc.shares = shares;
  if (cells)
    read_cells(r, v[CELLS], shares, &vc.nshares);
  if (pins)
    read_pins(r, v[PINS], shares, &vc.nshares);
  if (!r->f->failed && pai__cluster_add_vc(r->c, &vc) < 0)
    r->f->failed = true;
}

static void read_vcs(pai__reader *r, pai__node n)
{
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_is_mapping(r, n, "virtualClusters"))
    return;
  walk = pai__tree_iter(r->t, n);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE && !r->f->failed)
    read_vc(r, key, pai__tree_value(r->t, key));
}

/* --- settings of HiveD's own ---------------------------------------------- */

static const char *const settings[] = {
  "kubeApiServerAddress", "kubeConfigFilePath", "webServerAddress",
  "forcePodBindThreshold", "waitingPodSchedulingBlockMilliSec"
};

/* They say nothing about the cluster, and are only kept. */
static void read_settings(pai__reader *r, const pai__node *v)
{
  pai__setting *list =
    pai__arena_zalloc(&r->c->arena, PAI__LEN(settings), sizeof(*list));

  if (list == NULL) {
    r->f->failed = true;
    return;
  }
  r->c->settings = list;
  for (size_t i = 0; i < PAI__LEN(settings); i++) {
    int type = v[i] != PAI__NO_NODE ? pai__tree_type(r->t, v[i]) : PAI__NULL;
    size_t len;
    const char *s;

    if (type != PAI__INT && type != PAI__STRING)
      continue;
    list->key = settings[i];
    if (type == PAI__INT) {
      list->number = pai__tree_int(r->t, v[i]);
    } else {
      s = pai__tree_str(r->t, v[i], &len);
      list->text = pai__cluster_text(r->c, s, len);
      r->f->failed |= list->text == NULL;
    }
    list++;
    r->c->nsettings++;
  }
}

/* --- the whole ------------------------------------------------------------ */

static void read_hived(pai__reader *r)
{
  enum { PHYSICAL, VCS, SETTINGS, KEYS = SETTINGS + PAI__LEN(settings) };
  const char *keys[KEYS] = { "physicalCluster", "virtualClusters" };
  pai__node v[KEYS];

  for (size_t i = 0; i < PAI__LEN(settings); i++)
    keys[SETTINGS + i] = settings[i];
  r->lenient = true;
  if (!pai__read_fields(r, 0, "HiveD's configuration", keys, KEYS, v))
    return;
  read_settings(r, v + SETTINGS);
  if (v[PHYSICAL] == PAI__NO_NODE)
    pai__read_missing(r, 0, "HiveD's configuration", "physicalCluster");
  else if (!r->f->failed)
    pai__read_cells(r, v[PHYSICAL]);
  if (!r->f->failed && !r->full && r->f->errors == 0)
    pai__read_cells_nodes(r);
  if (v[VCS] != PAI__NO_NODE && !r->f->failed)
    read_vcs(r, v[VCS]);
}

const pai__cluster_form pai__form_hived = { "hived", is_hived, read_hived,
                                            NULL };
