/*
 * storages.c - storages that jobs request by name (extras.storages)
 *
 * job-spec 1.6 and rest-api 3.5.  A job with the old plugin teamwise_storage
 * and without extras.storages requests that plugin's storages.  Also folders
 * in /tmp that keep their place (extras.openpai.folders).
 */
#include "job/plan/plan.h"

#include "spec/rules.h"

#define PLUGINS "com.microsoft.pai.runtimeplugin"

/* A requested storage. */
typedef struct asked {
  const char *name;
  const char *at; /* or NULL */
} asked;

typedef struct asker {
  const pai__tree *tree;
  pai__node list; /* PAI__NO_NODE: none */
  bool usual;     /* those for everybody */
  pai__tree_walk walk;
} asker;

/* Reads the list of the old plugin; without a list it means the storages for
 * everybody. */
static void ask_plugin(asker *a, pai__node extras)
{
  const pai__tree *t = a->tree;
  pai__node list = pai__tree_look(t, extras, PLUGINS), item;
  pai__tree_walk walk;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_look_text(t, item, "plugin", NULL);

    if (name == NULL || strcmp(name, "teamwise_storage") != 0)
      continue;
    a->list = pai__tree_look(t, pai__tree_look(t, item, "parameters"),
                             "storageConfigNames");
    a->usual = !pai__tree_is(t, a->list, PAI__SEQUENCE);
    return;
  }
}

static asker ask(const pai_spec *spec)
{
  asker a = { .tree = spec->tree, .list = PAI__NO_NODE };
  pai__node extras;

  if (spec->tree == NULL)
    return a;
  extras = pai__tree_look(a.tree, 0, "extras");
  a.list = pai__tree_look(a.tree, extras, "storages");
  if (a.list == PAI__NO_NODE)
    ask_plugin(&a, extras);
  if (pai__tree_is(a.tree, a.list, PAI__SEQUENCE)) {
    a.usual = pai__tree_count(a.tree, a.list) == 0;
    a.walk = pai__tree_iter(a.tree, a.list);
  } else {
    a.list = PAI__NO_NODE;
  }
  return a;
}

/* Reads the next item, a name or an object with a name; others are skipped. */
static bool next(asker *a, asked *out)
{
  pai__node item;

  while (a->list != PAI__NO_NODE &&
         (item = pai__tree_next(&a->walk)) != PAI__NO_NODE) {
    out->name = pai__tree_text(a->tree, item, NULL);
    out->at = NULL;
    if (pai__tree_type(a->tree, item) == PAI__MAPPING) {
      out->name = pai__tree_look_text(a->tree, item, "name", NULL);
      out->at = pai__tree_look_text(a->tree, item, "mountPath", NULL);
    }
    if (out->name != NULL)
      return true;
  }
  return false;
}

static const pai__storage *find(const pai__storage *all, size_t n,
                                const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(all[i].name, name) == 0)
      return &all[i];
  return NULL;
}

bool pai__storages_are_asked(const pai_spec *spec)
{
  asker a = ask(spec);

  return a.list != PAI__NO_NODE || a.usual;
}

int pai__storages_check(const pai_spec *spec, const pai__storage *storages,
                        size_t n, pai_error **err)
{
  asker a = ask(spec);
  asked s;

  while (next(&a, &s)) {
    if (find(storages, n, s.name) == NULL) {
      (void)pai__fail(err, PAI_ENOTFOUND, "there is no storage \"%s\"",
                      s.name);
      return PAI_ENOTFOUND;
    }
    if (s.at != NULL && s.at[0] != '/') {
      (void)pai__fail(
        err, PAI_EINVAL,
        "storage \"%s\" cannot be mounted at \"%s\": not an absolute path",
        s.name, s.at);
      return PAI_EINVAL;
    }
  }
  return PAI_OK;
}

/* --- mounts -------------------------------------------------------------- */

static const char *join(pai__arena *arena, const char *a, const char *b)
{
  size_t len = strlen(a);
  char *text = pai__arena_zalloc(arena, len + strlen(b) + 2, 1);

  if (text == NULL)
    return NULL;
  memcpy(text, a, len);
  text[len] = '/';
  memcpy(text + len + 1, b, strlen(b));
  return text;
}

static bool mount(pai_launch_mount *out, pai__arena *arena, const char *user,
                  const pai__storage *s, const char *at)
{
  out->source = s->shared
                  ? s->path
                  : join(arena, s->path, s->folder != NULL ? s->folder : user);
  out->target = at != NULL ? at : join(arena, "/mnt", s->name);
  out->readonly = s->readonly;
  return out->source != NULL && out->target != NULL;
}

int pai__storages_mount(const pai_launch_mount **out, size_t *n,
                        pai__arena *arena, const pai__plan_context *c)
{
  asker a = ask(c->spec);
  size_t most = c->nstorages;
  pai_launch_mount *list;
  asked s;

  *out = NULL;
  *n = 0;
  if (a.list != PAI__NO_NODE)
    most += pai__tree_count(a.tree, a.list);
  else if (!a.usual)
    return PAI_OK;
  list = pai__arena_zalloc(arena, most + 1, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  while (next(&a, &s)) {
    const pai__storage *its = find(c->storages, c->nstorages, s.name);

    if (its == NULL || (s.at != NULL && s.at[0] != '/'))
      continue; /* reported when the job was submitted */
    if (!mount(&list[(*n)++], arena, c->user, its, s.at))
      return PAI_ENOMEM;
  }
  for (size_t i = 0; a.usual && i < c->nstorages; i++)
    if (c->storages[i].usual &&
        !mount(&list[(*n)++], arena, c->user, &c->storages[i], NULL))
      return PAI_ENOMEM;
  *out = list;
  return PAI_OK;
}

/* The stored job file may have anything there. */
int pai__storages_folders(const char *const **out, pai__arena *arena,
                          const pai_spec *spec)
{
  const pai__tree *t = spec->tree;
  pai__node list = pai__spec_own(t, "folders"), item;
  pai__tree_walk walk;
  const char **paths;
  size_t n = 0;

  *out = NULL;
  if (list == PAI__NO_NODE || !pai__tree_is(t, list, PAI__SEQUENCE))
    return PAI_OK;
  paths =
    pai__arena_zalloc(arena, pai__tree_count(t, list) + 1, sizeof(*paths));
  if (paths == NULL)
    return PAI_ENOMEM;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *path = pai__tree_text(t, item, NULL);

    if (path != NULL && pai__form_fits(PAI__FORM_TMP, path, strlen(path)))
      paths[n++] = path;
  }
  *out = paths;
  return PAI_OK;
}
