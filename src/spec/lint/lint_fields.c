/*
 * lint_fields.c - finds legal fields that no program reads: misspelt names,
 * values without effect, keys that a plugin ignores
 */
#include "spec/lint/lint.h"

#include "base/fixes.h"
#include "base/text/utf8.h"
#include "spec/check.h"

#include <stdio.h>

#define PLUGINS "com.microsoft.pai.runtimeplugin"

/* --- names -------------------------------------------------------------- */

static bool is_one_of(const char *const *names, const char *s)
{
  for (; *names != NULL; names++)
    if (strcmp(*names, s) == 0)
      return true;
  return false;
}

/* Offers to rename a key, unless the mapping has the other key or gets it by
 * another fix. */
static void rename_key(pai__findings *f, pai__node mapping, pai__node key,
                       const char *name)
{
  size_t len = strlen(name);
  const char *pointer, *slash;

  if (f->failed || f->left_out > 0 ||
      pai__tree_find(f->tree, mapping, name, len) != PAI__NO_NODE)
    return;
  pointer = f->list[f->len - 1].pointer;
  slash = strrchr(pointer, '/');
  if (slash != NULL &&
      !pai__fix_offered(f, pointer, (size_t)(slash - pointer), name, len))
    pai__fix_word(f, true, key, name, len);
}

/* Reports a key that is not read and resembles one that is.  If they differ in
 * more than case, the other key must be missing. */
static void lint_key(pai__findings *f, pai__node mapping, pai__node key,
                     const char *const *names)
{
  size_t len;
  const char *s = pai__tree_str(f->tree, key, &len);
  pai__word word = pai__word_of(s, len);
  char piece[PAI__EXCERPT];

  for (size_t i = 0; names[i] != NULL; i++) {
    pai__word name = pai__word_of(names[i], strlen(names[i]));

    if (!pai__word_like(&word, &name) ||
        (!pai__word_within(&word, &name, 0) &&
         pai__tree_find(f->tree, mapping, name.s, name.len) != PAI__NO_NODE))
      continue;
    s = pai__key_shown(f, key, &len);
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", key, "%s has no effect",
              pai__excerpt(piece, s, len));
    pai__find_help(f, "did you mean '%s'?", names[i]);
    rename_key(f, mapping, key, names[i]);
    return;
  }
}

/* Checks the keys of a mapping that may have any keys. */
static void lint_keys(pai__findings *f, pai__node mapping,
                      const char *const *names)
{
  pai__tree_walk walk;
  pai__node key;

  if (!pai__tree_is(f->tree, mapping, PAI__MAPPING))
    return;
  walk = pai__tree_iter(f->tree, mapping);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (!is_one_of(names, pai__tree_str(f->tree, key, NULL)))
      lint_key(f, mapping, key, names);
}

/* --- prerequisites ------------------------------------------------------ */

/* Reports templates in a uri that no plugin fetches: only plugins fill them
 * in. */
static void lint_uri(pai__findings *f, pai__node uri)
{
  size_t len;
  const char *s = pai__text_at(f->tree, uri, &len);

  if (s == NULL || len < 2 || strstr(s, "<%") == NULL)
    return;
  pai__find(f, PAI_SEVERITY_WARNING, "no-effect", uri,
            "templates in a uri are not replaced");
  pai__find_help(f, "write the final text");
}

static void lint_prerequisite(pai__findings *f, pai__node item)
{
  static const char *const names[] = {
    "protocolVersion", "name", "type",   "version", "contributor",
    "description",     "uri",  "plugin", "require", NULL
  };
  const pai__tree *t = f->tree;
  pai__node uri = pai__tree_get(t, item, "uri");
  pai__tree_walk walk;
  pai__node one;

  if (strcmp(pai__tree_look_text(t, item, "type", ""), "dockerimage") != 0)
    lint_keys(f, item, names); /* an image has no other keys */
  if (uri == PAI__NO_NODE || pai__tree_get(t, item, "plugin") != PAI__NO_NODE)
    return;
  if (pai__tree_type(t, uri) != PAI__SEQUENCE) {
    lint_uri(f, uri);
    return;
  }
  walk = pai__tree_iter(t, uri);
  while ((one = pai__tree_next(&walk)) != PAI__NO_NODE)
    lint_uri(f, one);
}

/* --- extras ------------------------------------------------------------- */

static void no_effect(pai__findings *f, pai__node n, const char *what,
                      const char *help)
{
  pai__find(f, PAI_SEVERITY_WARNING, "no-effect", n, "%s", what);
  pai__find_help(f, "%s", help);
}

/* Reports keys that a plugin ignores: all but the fields of its rule. */
static void lint_all_keys(pai__findings *f, pai__node mapping,
                          const pai__spec_rule *rule)
{
  const pai__spec_field *fields = rule->fields;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__tree_is(f->tree, mapping, PAI__MAPPING))
    return;
  walk = pai__tree_iter(f->tree, mapping);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    char piece[PAI__EXCERPT], all[200] = "";
    pai__word word, name;
    size_t len, i = 0, n = 0;
    const char *s = pai__tree_str(f->tree, key, &len);

    if (pai__spec_rule_field(rule, s, len) != NULL)
      continue;
    word = pai__word_of(s, len);
    for (; fields[i].name != NULL; i++) {
      name = pai__word_of(fields[i].name, strlen(fields[i].name));
      if (pai__word_like(&word, &name))
        break;
      n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s",
                            i > 0 ? ", " : "", fields[i].name);
    }
    s = pai__key_shown(f, key, &len);
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", key,
              "%s has no effect: %s has no such key",
              pai__excerpt(piece, s, len), rule->what);
    if (fields[i].name == NULL) {
      pai__find_help(f, "it takes: %s", all);
      continue;
    }
    pai__find_help(f, "did you mean '%s'?", fields[i].name);
    rename_key(f, mapping, key, fields[i].name);
  }
}

static void lint_plugin(pai__findings *f, pai__node item)
{
  const pai__spec_shape *shapes = pai__rules_plugin.shapes;
  const pai__spec_rule *rule =
    pai__spec_rule_inside(&pai__rules_plugin, f->tree, item);
  const pai__tree *t = f->tree;
  pai__node n = pai__tree_get(t, item, "plugin");
  char value[PAI__VALUE_TEXT];
  size_t len;
  const char *s = pai__text_at(t, n, &len);
  pai__word word;

  if (s == NULL) {
    no_effect(f, n != PAI__NO_NODE ? n : item,
              "a runtime plugin needs its name in the field plugin",
              "write - plugin: NAME");
    return;
  }
  lint_all_keys(f, item, rule != NULL ? rule : shapes->rule);
  if (rule != NULL) {
    lint_all_keys(f, pai__tree_get(t, item, "parameters"),
                  pai__spec_rule_field(rule, "parameters", 10)->rule);
    return;
  }
  word = pai__word_of(s, len);
  for (; shapes->type != NULL; shapes++) {
    pai__word name = pai__word_of(shapes->type, strlen(shapes->type));

    if (pai__word_like(&word, &name)) {
      pai__find(f, PAI_SEVERITY_WARNING, "unknown-plugin", n,
                "OpenPAI has no plugin %s", pai__value_text(value, f, n));
      pai__find_help(f, "did you mean '%s'?", shapes->type);
      pai__fix_word(f, true, n, name.s, name.len);
      return;
    }
  }
}

/* Checks each item of a list in extras. */
static void lint_list(pai__findings *f, pai__node list, const char *no_list,
                      void (*lint)(pai__findings *f, pai__node item))
{
  pai__tree_walk walk;
  pai__node item;

  if (list == PAI__NO_NODE || pai__tree_type(f->tree, list) == PAI__NULL)
    return;
  if (pai__tree_type(f->tree, list) != PAI__SEQUENCE) {
    no_effect(f, list, no_list, "begin each item with a dash");
    return;
  }
  walk = pai__tree_iter(f->tree, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    lint(f, item);
}

static void lint_storage(pai__findings *f, pai__node item)
{
  if (pai__tree_get(f->tree, item, "name") == PAI__NO_NODE)
    no_effect(f, item, "a storage without a name is ignored",
              "write - name: STORAGE");
}

/* Checks a mapping that may have other keys than those of its rule. */
static void lint_open(pai__findings *f, pai__node mapping,
                      const pai__spec_rule *rule)
{
  const char *names[24];
  size_t n = 0;

  for (const pai__spec_field *field = rule->fields;
       field->name != NULL && n + 1 < PAI__LEN(names); field++)
    if (!field->rule->never)
      names[n++] = field->name;
  names[n] = NULL;
  lint_keys(f, mapping, names);
}

static void lint_extras(pai__findings *f, pai__node extras)
{
  if (extras == PAI__NO_NODE)
    return;
  lint_open(f, extras, &pai__rules_extras);
  lint_open(f, pai__tree_get(f->tree, extras, "openpai"), &pai__rules_openpai);
  lint_list(f, pai__tree_get(f->tree, extras, PLUGINS),
            "the runtime plugins are not a list", lint_plugin);
  lint_list(f, pai__tree_get(f->tree, extras, "storages"),
            "storages is not a list", lint_storage);
}

/* --- all ---------------------------------------------------------------- */

void pai__lint_fields(pai__findings *f)
{
  static const char *const container[] = { "shmMB", "infiniband", NULL };
  static const char *const defaults[] = { "deployment", "virtualCluster",
                                          NULL };
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), n;
  pai__node list = pai__tree_get(t, 0, "prerequisites");
  pai__tree_walk walk;

  if (pai__tree_is(t, roles, PAI__MAPPING)) {
    walk = pai__tree_iter(t, roles);
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      lint_keys(
        f, pai__tree_get(t, pai__tree_value(t, n), "extraContainerOptions"),
        container);
  }
  lint_keys(f, pai__tree_get(t, 0, "defaults"), defaults);
  lint_extras(f, pai__tree_get(t, 0, "extras"));
  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    lint_prerequisite(f, n);
}
