/*
 * lint_names.c - finds template names without a value, and unused parameters
 */
#include "spec/commands.h"
#include "spec/scan/inside.h"
#include "spec/lint/lint.h"
#include "spec/fix/fix.h"

#include "base/text/utf8.h"

typedef struct names {
  pai__findings *f;
  const pai__index *index;
  pai__commands commands;
  pai__map used; /* "lr" of "$parameters.lr", in any text */
  bool all_used; /* "$parameters" itself is used */
  bool named[2]; /* the role uses [0] other values, [1] secrets */
  pai__buf out;  /* the result, which is ignored */
  pai__node at;  /* node of the text; PAI__NO_NODE: commands */
  pai__node role;
  bool find;        /* look for unresolved names rather than for used ones */
  bool secrets;     /* look at names that begin with $secrets, else at all
                       others */
  bool misspelt[2]; /* the section [0] parameters, [1] secrets */
} names;

/* Roots that stand for prerequisites of the role. */
static const char *const roots[] = { "$script", "$output", "$data" };

static bool begins(const char *s, size_t len, const char *with)
{
  size_t n = strlen(with);

  return len >= n && memcmp(s, with, n) == 0 && (len == n || s[n] == '.');
}

/* Returns whether a section is missing and another key of the root resembles
 * it.  That is reported already, and the section's names are under that
 * key. */
static bool is_misspelt(const pai__tree *t, const char *field)
{
  pai__word word = pai__word_of(field, strlen(field));
  pai__tree_walk walk = pai__tree_iter(t, 0);
  pai__node key;

  if (pai__tree_get(t, 0, field) != PAI__NO_NODE)
    return false;
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);
    pai__word its = pai__word_of(s, len);

    if (pai__word_like(&its, &word))
      return true;
  }
  return false;
}

/* Returns whether the root of a name is missing for a reason that is reported
 * already. */
static bool is_told(const names *n, const char *name, size_t len)
{
  const pai__tree *t = n->index->tree;
  pai__node field;
  size_t n_its;
  const char *its;

  if (n->f->errors == 0)
    return false;
  if (begins(name, len, "$parameters") || begins(name, len, "$secrets"))
    return n->misspelt[begins(name, len, "$secrets")];
  for (size_t i = 0; n->at == PAI__NO_NODE && i < PAI__LEN(roots); i++) {
    if (!begins(name, len, roots[i]))
      continue;
    field = pai__tree_get(t, n->role, roots[i] + 1);
    its = pai__text_at(t, field, &n_its);
    return field != PAI__NO_NODE &&
           (its == NULL || pai__index_find(n->index, roots[i] + 1, its,
                                           n_its) == PAI__NO_NODE);
  }
  return false;
}

/* Reports a name at byte `at` of the current text. */
static void find_name(names *n, const char *code, const char *name, size_t len,
                      size_t at)
{
  char piece[PAI__EXCERPT];
  pai__node node = n->at;
  uint32_t start, end;
  size_t inside = at;

  if (pai__findings_full(n->f, PAI_SEVERITY_WARNING))
    return;
  if (node == PAI__NO_NODE)
    node = pai__commands_at(&n->commands, at, &inside);
  if (!pai__inside_tag(n->f->tree, node, inside, &start, &end)) {
    start = n->f->tree->nodes[node].start;
    end = n->f->tree->nodes[node].end;
  }
  pai__find_part(n->f, PAI_SEVERITY_WARNING, code, node, start, end,
                 "<%% %s %%> has no value", pai__excerpt(piece, name, len));
}

static void find_unresolved(names *n, const char *name, size_t len, size_t at)
{
  bool secret = begins(name, len, "$secrets");

  if (secret != n->secrets || is_told(n, name, len))
    return;
  find_name(n, secret ? "unknown-secret" : "unresolved", name, len, at);
  if ((secret || n->at == PAI__NO_NODE) &&
      pai__lint_suggest(n->f, secret ? "secrets" : "parameters", name, len))
    return;
  if (secret) {
    pai__find_help(n->f, "declare it under secrets");
    return;
  }
  if (n->at != PAI__NO_NODE) {
    pai__find_help(n->f, "accounts of registries can name $secrets only");
    return;
  }
  if (begins(name, len, "$parameters")) {
    pai__find_help(n->f, "declare it under parameters");
    return;
  }
  for (size_t i = 0; i < PAI__LEN(roots); i++)
    if (begins(name, len, roots[i])) {
      pai__find_help(n->f, "the role has no such %s, or it has no such field",
                     roots[i] + 1);
      return;
    }
  pai__find_help(n->f, "use a name that begins with $parameters, $secrets, "
                       "$script, $output or $data");
}

static int remember_used(names *n, const char *name, size_t len)
{
  size_t before = strlen("$parameters.");
  const char *dot;

  if (!begins(name, len, "$parameters"))
    return PAI_OK;
  n->all_used |= len < before;
  if (len < before)
    return PAI_OK;
  name += before;
  len -= before;
  dot = memchr(name, '.', len);
  return pai__map_set(&n->used, name, dot != NULL ? (size_t)(dot - name) : len,
                      n);
}

static int on_name(void *user_data, const char *name, size_t len, size_t at)
{
  names *n = user_data;

  if (!n->find) {
    n->named[begins(name, len, "$secrets")] = true;
    return remember_used(n, name, len);
  }
  find_unresolved(n, name, len, at);
  return PAI_OK;
}

/* Calls on_name() for each name of a text that the scopes lack; without
 * scopes, for all names. */
static void look(names *n, const char *s, size_t len,
                 const pai__template_scope *scopes, size_t nscopes)
{
  pai__template t = {
    .scopes = scopes, .nscopes = nscopes, .unresolved = on_name, .user_data = n
  };

  pai__buf_clear(&n->out);
  if (pai__template_render(&n->out, s, len, &t, NULL) == PAI_ENOMEM)
    n->f->failed = true;
}

/* JavaScript's text of a mapping, which no command needs. */
static const char object[] = "[object Object]";

/* Finds the commands of the role that contain it when rendered with the
 * scopes. */
static void find_objects(names *n, const pai__template_scope *scopes,
                         size_t nscopes)
{
  const pai__template t = { .scopes = scopes, .nscopes = nscopes };
  const pai__commands *c = &n->commands;

  for (size_t i = 0; i < c->len; i++) {
    const char *s = pai__buf_text(&c->text) + c->list[i].at;
    size_t end = i + 1 < c->len ? c->list[i + 1].at : c->text.len;
    size_t len = end - c->list[i].at;

    pai__buf_clear(&n->out);
    if (memchr(s, '<', len) == NULL ||
        pai__template_render(&n->out, s, len, &t, NULL) < 0 ||
        strstr(pai__buf_text(&n->out), object) == NULL)
      continue;
    pai__find(n->f, PAI_SEVERITY_WARNING, "object-text", c->list[i].node,
              "a mapping is inserted here as %s", object);
    pai__find_help(n->f,
                   "use one of its values: <%% $parameters.NAME.KEY %%>");
  }
}

static void look_at_role(names *n, pai__node key)
{
  pai__template_scope scopes[PAI__ROLE_SCOPES];
  pai__template_scope secrets = pai__secrets_scope(n->index->tree);
  const char *s;
  size_t len;
  int rc;

  rc = pai__commands_join(&n->commands, n->index, key);
  if (rc < 0) { /* a limit is reported already */
    n->f->failed |= rc == PAI_ENOMEM;
    return;
  }
  s = pai__buf_text(&n->commands.text);
  len = n->commands.text.len;
  if (memchr(s, '<', len) == NULL)
    return;
  n->at = PAI__NO_NODE;
  n->role = pai__tree_value(n->index->tree, key);
  n->find = n->named[0] = n->named[1] = false;
  look(n, s, len, NULL, 0);
  n->find = true;
  n->secrets = false;
  pai__role_scopes(scopes, n->index, n->role);
  if (n->named[0]) {
    look(n, s, len, scopes, PAI__ROLE_SCOPES);
    if (pai__buf_ok(&n->out) && strstr(pai__buf_text(&n->out), object) != NULL)
      find_objects(n, scopes, PAI__ROLE_SCOPES);
  }
  n->secrets = true;
  if (n->named[1])
    look(n, s, len, &secrets, 1);
}

/* Checks an account of a registry, which can use secrets only. */
static void look_at_auth(names *n, pai__node auth)
{
  const pai__tree *t = n->index->tree;
  pai__template_scope secrets = pai__secrets_scope(t);
  pai__tree_walk walk = pai__tree_iter(t, auth);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__text_at(t, pai__tree_value(t, key), &len);

    if (s == NULL)
      continue;
    n->at = pai__tree_value(t, key);
    n->find = n->secrets = true;
    look(n, s, len, &secrets, 1);
    n->secrets = false;
    look(n, s, len, &secrets, 1);
  }
}

/* Records the names in all texts below a node as used.  Plugins fill in their
 * own parameters. */
static void look_below(names *n, pai__node from)
{
  const pai__tree *t = n->index->tree;

  n->find = false;
  for (pai__node i = from; i < t->nodes[from].skip; i++) {
    size_t len;
    const char *s;

    if (t->nodes[i].type != PAI__STRING)
      continue;
    s = pai__tree_str(t, i, &len);
    if (memchr(s, '<', len) != NULL)
      look(n, s, len, NULL, 0);
  }
}

static void find_unused(names *n)
{
  static const char name[] = "parameters";
  const pai__tree *t = n->index->tree;
  pai__node parameters = pai__tree_find(t, 0, name, sizeof(name) - 1);
  pai__place root = { NULL, PAI__NO_NODE, 0 };
  pai__place all = { &root, parameters, 0 }, here = { &all, PAI__NO_NODE, 0 };
  pai__tree_walk walk;

  if (parameters == PAI__NO_NODE || n->all_used ||
      pai__tree_type(t, pai__tree_value(t, parameters)) != PAI__MAPPING)
    return;
  n->f->place = &here;
  walk = pai__tree_iter(t, pai__tree_value(t, parameters));
  while ((here.key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__tree_str(t, here.key, &len);
    char piece[PAI__EXCERPT];

    if (pai__map_get(&n->used, s, len) != NULL)
      continue;
    s = pai__key_shown(n->f, here.key, &len);
    (void)pai__excerpt(piece, s, len);
    pai__find(n->f, PAI_SEVERITY_WARNING, "unused-parameter", here.key,
              "nothing uses parameter '%s'", piece);
    pai__find_help(
      n->f, "use <%% $parameters.%s %%> in a command, or remove it", piece);
    if (!t->repeats)
      pai__mend_remove(n->f, false, pai__tree_value(t, parameters), here.key,
                       "remove it");
  }
  n->f->place = NULL;
}

static void look_at_prerequisites(names *n, pai__node list)
{
  const pai__tree *t = n->index->tree;
  pai__tree_walk walk;
  pai__node item, auth;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    auth = pai__tree_get(t, item, "auth");
    if (pai__tree_is(t, auth, PAI__MAPPING))
      look_at_auth(n, auth);
    look_below(n, item);
  }
}

void pai__lint_names(pai__findings *f, const pai__index *index)
{
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), n;
  pai__node extras = pai__tree_get(t, 0, "extras");
  names all = { .f = f, .index = index };
  pai__tree_walk walk;

  all.misspelt[0] = f->errors > 0 && is_misspelt(t, "parameters");
  all.misspelt[1] = f->errors > 0 && is_misspelt(t, "secrets");
  pai__commands_init(&all.commands, f->arena->alloc);
  pai__buf_init(&all.out, f->arena->alloc);
  pai__map_init(&all.used, f->arena->alloc);
  if (pai__tree_is(t, roles, PAI__MAPPING)) {
    walk = pai__tree_iter(t, roles);
    while (!f->failed && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
      look_at_role(&all, n);
  }
  look_at_prerequisites(&all, pai__tree_get(t, 0, "prerequisites"));
  if (extras != PAI__NO_NODE)
    look_below(&all, extras);
  if (f->errors > 0) /* misplaced commands use names too */
    look_below(&all, 0);
  find_unused(&all);
  pai__map_dispose(&all.used);
  pai__buf_dispose(&all.out);
  pai__commands_dispose(&all.commands);
}
