/*
 * render.c - renders the commands of each role
 *
 * The first rendering is without secrets, and gives the script, which anybody
 * may see.  The second one fills in the secrets, and gives the command that
 * runs.  Names without a value stay as they are.
 */
#include "spec/notes.h"

#include "spec/commands.h"
#include "spec/secrets.h"

typedef struct renderer {
  pai_spec *spec;
  pai__index index;
  pai__commands commands;
  pai__secrets secrets;
  pai__buf out;
  pai__map unresolved; /* a set of names */
  bool remember;
} renderer;

static int on_unresolved(void *user_data, const char *name, size_t len,
                         size_t at)
{
  renderer *r = user_data;

  (void)at;
  return r->remember ? pai__map_set(&r->unresolved, name, len, r) : PAI_OK;
}

/* Renders a text into the spec's arena.  Returns NULL without memory.  A text
 * that is no template, or that becomes too long, is left as it was. */
static const char *fill_in(renderer *r, const char *text, size_t len,
                           const pai__template_scope *scopes, size_t nscopes,
                           bool remember)
{
  pai__template t = { .scopes = scopes,
                      .nscopes = nscopes,
                      .unresolved = on_unresolved,
                      .user_data = r };
  int rc;

  r->remember = remember;
  pai__buf_clear(&r->out);
  rc = pai__template_render(&r->out, text, len, &t, NULL);
  if (rc == PAI_ENOMEM)
    return NULL;
  if (rc == PAI_OK) {
    text = pai__buf_text(&r->out);
    len = r->out.len;
  } else if (strstr(text, "$secrets") != NULL && r->spec->obstacle == NULL) {
    /* A value made it a template: only the text without values was checked. */
    r->spec->obstacle = "a parameter's value makes the template of a command "
                        "invalid, so its secrets cannot be inserted";
  }
  pai__template_trim(&text, &len);
  if (memchr(text, '\0', len) != NULL && r->spec->obstacle == NULL)
    r->spec->obstacle = "a command contains a NUL character";
  return pai__arena_strndup(&r->spec->arena, text, len);
}

/* Renders the commands of a role without secrets.  Returns NULL without
 * memory. */
static const char *render_script(renderer *r, pai__node key)
{
  pai__template_scope scopes[PAI__ROLE_SCOPES];

  if (pai__commands_join(&r->commands, &r->index, key) < 0)
    return NULL;
  pai__role_scopes(scopes, &r->index, pai__tree_value(r->spec->tree, key));
  return fill_in(r, pai__buf_text(&r->commands.text), r->commands.text.len,
                 scopes, PAI__ROLE_SCOPES, false);
}

/* Returns whether one of the joined commands is a secret, by way of an
 * alias. */
static bool has_secret(const renderer *r)
{
  for (size_t i = 0; r->secrets.len > 0 && i < r->commands.len; i++)
    if (pai__secrets_hide(&r->secrets, r->commands.list[i].node))
      return true;
  return false;
}

static int render_role(renderer *r, pai__node key, pai__role *role)
{
  pai__template_scope secrets = pai__secrets_scope(r->spec->tree);
  size_t left;

  role->script = render_script(r, key);
  if (role->script == NULL)
    return PAI_ENOMEM;
  role->command =
    fill_in(r, role->script, strlen(role->script), &secrets, 1, true);
  if (role->command != NULL && has_secret(r)) {
    left = r->commands.left;
    r->commands.left = PAI__MOST_COMMANDS;
    r->commands.hide = &r->secrets;
    role->script = render_script(r, key);
    r->commands.hide = NULL;
    r->commands.left = left;
  }
  return role->command != NULL && role->script != NULL ? PAI_OK : PAI_ENOMEM;
}

/* Keeps the names without a value. */
static int keep_unresolved(renderer *r)
{
  pai_spec *spec = r->spec;
  const pai__map_entry *e;
  size_t count = r->unresolved.live;

  spec->unresolved =
    pai__arena_zalloc(&spec->arena, count + 1, sizeof(*spec->unresolved));
  if (spec->unresolved == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; (e = pai__map_next(&r->unresolved, &i)) != NULL;) {
    const char *name = pai__arena_strndup(&spec->arena, e->key, e->len);
    if (name == NULL)
      return PAI_ENOMEM;
    spec->unresolved[spec->nunresolved++] = name;
  }
  return PAI_OK;
}

int pai__spec_scripts(pai_spec *spec)
{
  renderer r = { .spec = spec };
  const pai__tree *t = spec->tree;
  pai__tree_walk walk = pai__tree_iter(t, pai__tree_get(t, 0, "taskRoles"));
  size_t i = 0;
  pai__node key;
  int rc = pai__index_init(&r.index, t, &spec->alloc, NULL, NULL);

  if (rc < 0)
    return rc;
  pai__commands_init(&r.commands, &spec->alloc);
  pai__buf_init(&r.out, &spec->alloc);
  pai__map_init(&r.unresolved, &spec->alloc);
  rc = pai__secrets_find(&r.secrets, t);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = render_role(&r, key, &spec->roles[i++]);
  if (rc == PAI_OK)
    rc = keep_unresolved(&r);
  pai__secrets_dispose(&r.secrets);
  pai__map_dispose(&r.unresolved);
  pai__buf_dispose(&r.out);
  pai__commands_dispose(&r.commands);
  pai__index_dispose(&r.index);
  return rc;
}
