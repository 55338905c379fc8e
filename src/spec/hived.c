/*
 * hived.c - checks extras.hivedScheduler, for clusters with HiveD (job-spec
 * 1.8)
 *
 * Only checks that need no description of the cluster.
 */
#include "base/map.h"
#include "base/text/utf8.h"
#include "spec/check.h"
#include "spec/scan/index.h"
#include "spec/fix/fix.h"

/* Returns a text of the role, or NULL.  HiveD ignores an empty one. */
static const char *text_of(const pai__tree *t, pai__node role,
                           const char *field, size_t *len)
{
  const char *s = pai__text_at(t, pai__tree_get(t, role, field), len);

  return s != NULL && *len > 0 ? s : NULL;
}

static bool is_same(const pai__tree *t, pai__node a, pai__node b,
                    const char *field)
{
  size_t na, nb;
  const char *sa = text_of(t, a, field, &na), *sb = text_of(t, b, field, &nb);

  if (sa == NULL || sb == NULL)
    return sa == sb;
  return na == nb && memcmp(sa, sb, na) == 0;
}

/* Moves f->place to a field of the role, which must exist.  Returns its
 * value. */
static pai__node enter(pai__findings *f, pai__place *here, pai__node role,
                       const char *field)
{
  *here =
    (pai__place){ f->place,
                  pai__tree_find(f->tree, role, field, strlen(field)), 0 };
  f->place = here;
  return pai__tree_value(f->tree, here->key);
}

/* Checks that all roles of an affinity group agree.  `groups` has the first
 * role of each group. */
static void check_group(pai__findings *f, pai__map *groups, pai__node key)
{
  const pai__tree *t = f->tree;
  pai__node role = pai__tree_value(t, key), first, n;
  char piece[PAI__EXCERPT];
  pai__place here;
  const void *found;
  size_t len;
  const char *name = text_of(t, role, "affinityGroupName", &len);

  if (name == NULL)
    return;
  found = pai__map_get(groups, name, len);
  if (found == NULL) {
    f->failed |=
      pai__map_set(groups, name, len, (void *)((uintptr_t)key + 1)) < 0;
    return;
  }
  first = (pai__node)((uintptr_t)found - 1);
  if (is_same(t, role, pai__tree_value(t, first), "skuType") &&
      is_same(t, role, pai__tree_value(t, first), "pinnedCellId"))
    return;
  n = enter(f, &here, role, "affinityGroupName");
  name = pai__key_shown(f, first, &len);
  pai__find(f, PAI_SEVERITY_ERROR, "group-mismatch", n,
            "%s has another skuType or pinnedCellId in this group",
            pai__excerpt(piece, name, len));
  pai__find_help(f, "use the same for all roles of a group");
  f->place = here.up;
}

static void check_role(pai__findings *f, pai__map *groups, pai__node roles,
                       pai__node key)
{
  const pai__tree *t = f->tree;
  pai__node role = pai__tree_value(t, key);
  char piece[PAI__EXCERPT];
  pai__place here;
  size_t len;
  const char *name = pai__tree_str(t, key, &len);

  if (roles != PAI__NO_NODE && pai__form_fits(PAI__FORM_SKU, name, len) &&
      pai__tree_find(t, roles, name, len) == PAI__NO_NODE) {
    name = pai__key_shown(f, key, &len);
    pai__find(f, PAI_SEVERITY_ERROR, "unknown-name", key,
              "there is no task role '%s'", pai__excerpt(piece, name, len));
    pai__find_help(f, "use a role of taskRoles, or remove this");
  }
  if (text_of(t, role, "skuType", &len) != NULL &&
      text_of(t, role, "pinnedCellId", &len) != NULL) {
    pai__find(f, PAI_SEVERITY_ERROR, "not-allowed",
              enter(f, &here, role, "pinnedCellId"),
              "skuType and pinnedCellId cannot be given together");
    pai__find_help(f, "remove skuType: a pinned cell has its own nodes");
    f->place = here.up;
  }
  check_group(f, groups, key);
}

static void check_roles(pai__findings *f, pai__node hived)
{
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles");
  pai__place all, here;
  pai__tree_walk walk;
  pai__map groups;

  if (pai__tree_get(t, hived, "taskRoles") == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(t, enter(f, &all, hived, "taskRoles"));
  here = (pai__place){ &all, PAI__NO_NODE, 0 };
  f->place = &here;
  pai__map_init(&groups, f->arena->alloc);
  while (!f->failed && (here.key = pai__tree_next(&walk)) != PAI__NO_NODE)
    check_role(f, &groups, roles, here.key);
  pai__map_dispose(&groups);
  f->place = all.up;
}

/* HiveD adds up the instances as they are written, without a default. */
static void lint_instances(pai__findings *f)
{
  const pai__tree *t = f->tree;
  pai__tree_walk walk = pai__tree_iter(t, pai__tree_get(t, 0, "taskRoles"));
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_get(t, pai__tree_value(t, key), "instances") ==
        PAI__NO_NODE) {
      pai__find(f, PAI_SEVERITY_WARNING, "hived-instances", key,
                "HiveD has no default for instances");
      pai__find_help(f, "write instances: 1");
      pai__mend_add(f, pai__tree_value(t, key), "instances", "1", false);
    }
}

void pai__check_hived(pai__findings *f)
{
  pai__place places[PAI__EXTRAS_PLACES];
  pai__node n =
    pai__check_extras(f, places, "hivedScheduler", &pai__rules_hived);

  if (n == PAI__NO_NODE)
    return;
  check_roles(f, n);
  f->place = NULL;
  if (f->errors == 0)
    lint_instances(f);
}
