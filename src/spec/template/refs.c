/*
 * refs.c - checks names that refer to prerequisites and deployments (job-spec
 * 1.7)
 *
 * Values that the tables refused may be of any type, and are skipped.
 */
#include "spec/check.h"
#include "spec/scan/index.h"

#include <stdio.h>

enum { MOST_COMPARED = 1000 }; /* limit of the names to compare */

static const char *const types[] = { "dockerimage", "script", "output",
                                     "data" };

/* The fields of a role that name a prerequisite, in OpenPAI's order. */
static const struct {
  const char *field, *type;
} references[] = { { "script", "script" },
                   { "output", "output" },
                   { "data", "data" },
                   { "dockerImage", "dockerimage" } };

static void on_twice(void *user_data, pai__node name, const char *type)
{
  pai__findings *f = user_data;
  char value[PAI__VALUE_TEXT];

  pai__find(f, PAI_SEVERITY_ERROR, "duplicate-name", name,
            "the %s %s already exists", type, pai__value_text(value, f, name));
  pai__find_help(f, "use a different name for each %s", type);
}

static bool is_type(const char *s)
{
  for (size_t i = 0; s != NULL && i < PAI__LEN(types); i++)
    if (strcmp(types[i], s) == 0)
      return true;
  return false;
}

/* Returns whether the name at `n` may be that of a prerequisite or deployment
 * that the tables refused.  The name is not reported then. */
static bool may_be_there(const pai__tree *t, pai__node n, pai__node list)
{
  pai__tree_walk walk;
  const char *s = pai__tree_str(t, n, NULL);

  if (list == PAI__NO_NODE)
    return false;
  if (pai__tree_type(t, list) != PAI__SEQUENCE)
    return true;
  walk = pai__tree_iter(t, list);
  for (int i = 0; i < MOST_COMPARED; i++) {
    pai__node item = pai__tree_next(&walk);
    const char *name;
    size_t len;

    if (item == PAI__NO_NODE)
      return false;
    name = pai__text_at(t, pai__tree_get(t, item, "name"), &len);
    if (name != NULL && strcmp(name, s) == 0 &&
        !is_type(pai__text_at(t, pai__tree_get(t, item, "type"), &len)))
      return true;
  }
  return false;
}

/* Reports that nothing has the name at `n`, and suggests names from a list of
 * the root; only those of one type, unless `type` is NULL. */
static void not_found(pai__findings *f, const char *what, pai__node n,
                      const char *list, const char *type)
{
  const pai__tree *t = f->tree;
  char value[PAI__VALUE_TEXT];
  pai__node all = pai__tree_get(t, 0, list), item;
  pai__tree_walk walk;
  pai__names names;
  const char *s;
  size_t len;

  if (type != NULL || strcmp(list, "prerequisites") == 0)
    if (may_be_there(t, n, all))
      return;
  if (!pai__find(f, PAI_SEVERITY_ERROR, "unknown-name", n, "there is no %s %s",
                 what, pai__value_text(value, f, n)))
    return;
  s = pai__tree_str(t, n, &len);
  if (pai__secrets_hide(pai__findings_secrets(f), n))
    len = 0; /* similar names would reveal a part of it */
  pai__names_init(&names, f->arena->alloc, s, len);
  names.made_up = true;
  walk = pai__tree_iter(t, all != PAI__NO_NODE ? all : n);
  for (int i = 0; i < MOST_COMPARED; i++) {
    const char *its;

    item = pai__tree_next(&walk);
    if (item == PAI__NO_NODE)
      break;
    its = pai__text_at(t, pai__tree_get(t, item, "type"), &len);
    if (type != NULL && (its == NULL || strcmp(its, type) != 0))
      continue;
    item = pai__tree_get(t, item, "name");
    s = pai__text_at(t, item, &len);
    if (s != NULL && !pai__secrets_hide(pai__findings_secrets(f), item))
      pai__names_add(&names, s, len);
  }
  pai__names_help(&names, f, "there are");
}

static bool has_any(const pai__index *index, const char *name, size_t len)
{
  for (size_t i = 0; i < PAI__LEN(types); i++)
    if (pai__index_find(index, types[i], name, len) != PAI__NO_NODE)
      return true;
  return false;
}

static void check_list(pai__findings *f, const pai__index *index, pai__node n)
{
  pai__place here = { f->place, PAI__NO_NODE, 0 };
  pai__tree_walk walk;
  pai__node item;

  if (pai__tree_type(f->tree, n) != PAI__SEQUENCE)
    return;
  f->place = &here;
  walk = pai__tree_iter(f->tree, n);
  for (; (item = pai__tree_next(&walk)) != PAI__NO_NODE; here.index++) {
    size_t len;
    const char *name = pai__text_at(f->tree, item, &len);

    if (name != NULL && !has_any(index, name, len))
      not_found(f, "prerequisite", item, "prerequisites", NULL);
  }
  f->place = here.up;
}

/* Moves f->place to a field of the current mapping.  Returns its value, or
 * PAI__NO_NODE. */
static pai__node enter(pai__findings *f, pai__place *here, pai__node mapping,
                       const char *field)
{
  here->up = f->place;
  here->index = 0;
  here->key = pai__tree_find(f->tree, mapping, field, strlen(field));
  if (here->key == PAI__NO_NODE)
    return PAI__NO_NODE;
  f->place = here;
  return pai__tree_value(f->tree, here->key);
}

static void check_role(pai__findings *f, const pai__index *index,
                       pai__node role)
{
  pai__place here;
  pai__node n = enter(f, &here, role, "prerequisites");

  if (n != PAI__NO_NODE)
    check_list(f, index, n);
  for (size_t i = 0; i < PAI__LEN(references); i++) {
    char what[32];
    const char *name;
    size_t len;

    f->place = here.up;
    n = enter(f, &here, role, references[i].field);
    name = pai__text_at(f->tree, n, &len);
    if (name == NULL ||
        pai__index_find(index, references[i].type, name, len) != PAI__NO_NODE)
      continue;
    (void)snprintf(what, sizeof(what), "%s prerequisite", references[i].type);
    not_found(f, what, n, "prerequisites", references[i].type);
  }
  f->place = here.up;
}

static void check_roles(pai__findings *f, const pai__index *index)
{
  const pai__tree *t = f->tree;
  pai__place root = { NULL, PAI__NO_NODE, 0 }, here, role;
  pai__tree_walk walk;
  pai__node roles;

  f->place = &root;
  roles = enter(f, &here, 0, "taskRoles");
  if (pai__tree_is(t, roles, PAI__MAPPING)) {
    walk = pai__tree_iter(t, roles);
    role = (pai__place){ &here, PAI__NO_NODE, 0 };
    while ((role.key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      f->place = &role;
      check_role(f, index, pai__tree_value(t, role.key));
    }
  }
  f->place = NULL;
}

static void check_default(pai__findings *f, const pai__index *index)
{
  pai__node n = pai__tree_get(f->tree, 0, "defaults");
  const char *name;
  size_t len;

  if (n == PAI__NO_NODE)
    return;
  n = pai__tree_get(f->tree, n, "deployment");
  name = pai__text_at(f->tree, n, &len);
  if (name != NULL &&
      pai__index_find(index, "deployment", name, len) == PAI__NO_NODE)
    not_found(f, "deployment", n, "deployments", NULL);
}

void pai__check_refs(pai__findings *f, pai__index *index)
{
  if (pai__index_init(index, f->tree, f->arena->alloc, on_twice, f) < 0) {
    f->failed = true;
    return;
  }
  check_roles(f, index);
  check_default(f, index);
}
