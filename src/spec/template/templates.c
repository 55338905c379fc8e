/*
 * templates.c - finds invalid templates in commands and registry accounts
 *
 * The file may break its tables: values of a wrong type are skipped.
 */
#include "spec/check.h"
#include "spec/commands.h"
#include "spec/scan/inside.h"

typedef struct checker {
  pai__findings *f;
  const pai__index *index;
  pai__commands commands;
  pai__buf script, command; /* only their lengths are used */
  size_t left;              /* bytes left of PAI__MOST_COMMANDS */
} checker;

/* Reports an error at byte `inside` of a node's value. */
static void find_fault(checker *c, pai__node at, size_t inside,
                       const char *what)
{
  const pai__tree_node *n = &c->f->tree->nodes[at];
  uint32_t start = n->start, end = n->end;

  if (!pai__inside_tag(c->f->tree, at, inside, &start, &end)) {
    start = n->start;
    end = n->end;
  }
  pai__find_part(c->f, PAI_SEVERITY_ERROR, "bad-template", at, start, end,
                 "this is not a template: %s", what);
  pai__find_help(c->f,
                 "close each <%% with %%> and each section with its end");
}

static int render(checker *c, pai__buf *out, const char *s, size_t len,
                  const pai__template_scope *scopes, size_t nscopes,
                  pai__template_fault *fault)
{
  pai__template t = { .scopes = scopes, .nscopes = nscopes };
  int rc;

  pai__buf_clear(out);
  rc = pai__template_render(out, s, len, &t, fault);
  c->f->failed |= rc == PAI_ENOMEM;
  return rc;
}

static bool has_tags(const pai__buf *text)
{
  return memchr(pai__buf_text(text), '<', text->len) != NULL;
}

static int take(checker *c, size_t len)
{
  if (len > c->left)
    return PAI_ELIMIT;
  c->left -= len;
  return PAI_OK;
}

/* Renders in two steps, as the job will: without secrets, then with them. */
static int check_commands(checker *c, pai__node key,
                          pai__template_fault *fault)
{
  const pai__tree *t = c->f->tree;
  pai__template_scope scopes[PAI__ROLE_SCOPES];
  pai__template_scope secrets = pai__secrets_scope(t);
  int rc = pai__commands_join(&c->commands, c->index, key);

  if (rc < 0)
    return rc;
  if (!has_tags(&c->commands.text))
    return take(c, 2 * c->commands.text.len);
  pai__role_scopes(scopes, c->index, pai__tree_value(t, key));
  rc = render(c, &c->script, pai__buf_text(&c->commands.text),
              c->commands.text.len, scopes, PAI__ROLE_SCOPES, fault);
  if (rc < 0)
    return rc;
  rc = render(c, &c->command, pai__buf_text(&c->script), c->script.len,
              &secrets, 1, NULL);
  if (rc < 0 && rc != PAI_EINVAL) /* values can look like tags */
    return rc;
  return take(c, c->script.len + c->command.len);
}

/* Returns false if no other role need be checked. */
static bool check_role(checker *c, pai__node key)
{
  pai__template_fault fault;
  pai__node at;
  size_t inside;

  switch (check_commands(c, key, &fault)) {
  case PAI_OK: return true;
  case PAI_EINVAL:
    at = pai__commands_at(&c->commands, fault.at, &inside);
    find_fault(c, at, inside, fault.what);
    return true;
  case PAI_ELIMIT:
    pai__find(c->f, PAI_SEVERITY_ERROR, "limit", key,
              "the commands of the task roles become too long here");
    pai__find_help(c->f, "use fewer repetitions by aliases and parameters");
    return false;
  default: c->f->failed = true; return false;
  }
}

static void check_auth(checker *c, pai__node auth)
{
  const pai__tree *t = c->f->tree;
  pai__tree_walk walk = pai__tree_iter(t, auth);
  pai__template_fault fault;
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__text_at(t, pai__tree_value(t, key), &len);

    if (s != NULL &&
        render(c, &c->script, s, len, NULL, 0, &fault) == PAI_EINVAL)
      find_fault(c, pai__tree_value(t, key), fault.at, fault.what);
  }
}

static void check_all(checker *c)
{
  const pai__tree *t = c->f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), n;
  pai__node list = pai__tree_get(t, 0, "prerequisites");
  pai__tree_walk walk;

  if (pai__tree_is(t, roles, PAI__MAPPING)) {
    walk = pai__tree_iter(t, roles);
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      if (!check_role(c, n))
        return;
  }
  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_get(t, n, "auth");
    if (pai__tree_is(t, auth, PAI__MAPPING))
      check_auth(c, auth);
  }
}

void pai__check_templates(pai__findings *f, const pai__index *index)
{
  const pai_alloc *alloc = f->arena->alloc;
  checker c = { .f = f, .index = index, .left = PAI__MOST_COMMANDS };

  pai__commands_init(&c.commands, alloc);
  pai__buf_init(&c.script, alloc);
  pai__buf_init(&c.command, alloc);
  check_all(&c);
  pai__buf_dispose(&c.command);
  pai__buf_dispose(&c.script);
  pai__commands_dispose(&c.commands);
}
