/* plugin.c - collects the plugins of a role and joins their script parts */
#include "job/plan/plugin.h"

#include "job/plan/names.h"

/* Prefix of `plugin` in a prerequisite. */
#define PREFIX "com.microsoft.pai.runtimeplugin."

typedef struct collector {
  pai__plugin plugin; /* the common part */
  pai__template_scope scopes[PAI__PLUGIN_SCOPES];
  pai__buf before;
  const char **after; /* the `after` parts, in order */
  size_t len, cap;
  bool failed;
} collector;

static const pai__tree *tree_of(const pai__plugin *p)
{
  return p->context->spec->tree;
}

/* --- helpers for plugins ------------------------------------------------- */

pai__node pai__plugin_get(const pai__plugin *p, const char *key)
{
  return pai__tree_look(tree_of(p), p->params, key);
}

bool pai__plugin_is(const pai__plugin *p, const char *key)
{
  pai__node n = pai__plugin_get(p, key);

  return n != PAI__NO_NODE && pai__tree_type(tree_of(p), n) == PAI__BOOL &&
         pai__tree_bool(tree_of(p), n);
}

/* A text that is not a valid template is taken as it is. */
const char *pai__plugin_text(pai__plugin_piece *out, const pai__plugin *p,
                             pai__node n)
{
  pai__template how = { .scopes = p->scopes, .nscopes = PAI__PLUGIN_SCOPES };
  const char *text = pai__tree_text(tree_of(p), n, NULL);
  pai__buf b;
  int rc;

  if (text == NULL || strstr(text, "<%") == NULL)
    return text;
  pai__buf_init(&b, p->arena->alloc);
  rc = pai__template_render(&b, text, strlen(text), &how, NULL);
  if (rc == PAI_OK)
    text = pai__arena_strndup(p->arena, pai__buf_text(&b), b.len);
  out->failed |= rc == PAI_ENOMEM || text == NULL;
  pai__buf_dispose(&b);
  return text;
}

void pai__plugin_refuse(pai__plugin_piece *out, const char *why)
{
  pai__buf_str(&out->before, "pai__fail 1 ");
  pai__put_word(&out->before, why);
  pai__buf_char(&out->before, '\n');
}

/* --- one part of the script ---------------------------------------------- */

/* A plugin's output goes to the runtime's log, its errors to the task's.  It
 * runs in a subshell, so it can set nothing and leave nothing.  A plugin that
 * fails the task says so, whether or not its commands did. */
static void put_piece(pai__buf *out, const pai__buf *text, const char *name,
                      bool ignore)
{
  static const char log[] = "pai__log() { printf '%s [openpai-runtime] %s\\n' "
                            "\"$(date '+%Y/%m/%d %H:%M:%S')\" \"$*\"; }\n";
  static const char loud[] =
    "pai__fail() { pai__log \"${*:2}\"; pai__told=1; "
    "printf 'openpai: %s\\n' \"${*:2}\" >&2; exit $1; }\n"
    "pai__end() { [ $1 = 0 ] || [ -n \"${pai__told-}\" ] || "
    "printf 'openpai: %s exited with code %d\\n' \"$2\" $1 >&2; }\n"
    "trap 'trap - EXIT; exit 143' TERM\n" /* the task is asked to end */
    "trap 'pai__end $? ";
  static const char quiet[] = "pai__fail() { pai__log \"${*:2}\"; exit $1; }\n"
                              "set +o errexit\n";

  if (text->len == 0)
    return;
  pai__buf_str(out, "(\n");
  pai__buf_str(out, log);
  pai__buf_str(out, ignore ? quiet : loud);
  if (!ignore && name != NULL)
    pai__buf_printf(out, "\"the plugin %s\"' EXIT\n", name);
  else if (!ignore)
    pai__buf_str(out, "\"preparing folders\"' EXIT\n");
  pai__buf_add(out, pai__buf_text(text), text->len);
  pai__buf_str(out, ") 2>&1 >> \"$pai__dir/runtime\"");
  pai__buf_str(out, ignore ? " || :\n" : "\n");
}

static const struct {
  const char *name;
  void (*make)(pai__plugin_piece *out, const pai__plugin *p);
} makers[] = { { "cmd", pai__plugin_cmd },
               { "git", pai__plugin_git },
               { "ssh", pai__plugin_ssh },
               { "tensorboard", pai__plugin_tensorboard } };

/* Returns a plugin's name that may stand in a script; unknown names are
 * reported otherwise. */
static const char *known(const char *name)
{
  for (size_t i = 0; i < PAI__LEN(makers); i++)
    if (strcmp(makers[i].name, name) == 0)
      return makers[i].name;
  return "of the job";
}

static void make(pai__plugin_piece *piece, const pai__plugin *p)
{
  for (size_t i = 0; i < PAI__LEN(makers); i++)
    if (strcmp(makers[i].name, p->name) == 0) {
      makers[i].make(piece, p);
      return;
    }
  if (strcmp(p->name, "teamwise_storage") == 0)
    pai__buf_str(&piece->before,
                 "pai__log 'teamwise_storage does nothing: storages are those "
                 "of extras.storages'\n");
  else
    pai__plugin_refuse(piece, "unknown runtime plugin; plugins are cmd, git, "
                              "ssh, teamwise_storage, tensorboard");
}

static void add_after(collector *c, const pai__buf *piece)
{
  char *copy =
    pai__arena_strndup(c->plugin.arena, pai__buf_text(piece), piece->len);

  if (copy == NULL ||
      PAI__VEC_ROOM(c->plugin.arena->alloc, c->after, c->len, c->cap) < 0)
    c->failed = true;
  else
    c->after[c->len++] = copy;
}

static void begin_piece(pai__plugin_piece *piece, const pai_alloc *alloc)
{
  piece->failed = false;
  pai__buf_init(&piece->before, alloc);
  pai__buf_init(&piece->sets, alloc);
  pai__buf_init(&piece->after, alloc);
}

static void end_piece(collector *c, pai__plugin_piece *piece, const char *name)
{
  pai__buf after;

  pai__buf_init(&after, c->plugin.arena->alloc);
  put_piece(&c->before, &piece->before, name, c->plugin.ignore);
  pai__buf_add(&c->before, pai__buf_text(&piece->sets), piece->sets.len);
  put_piece(&after, &piece->after, name, c->plugin.ignore);
  c->failed |= piece->failed || !pai__buf_ok(&piece->before) ||
               !pai__buf_ok(&piece->sets) || !pai__buf_ok(&piece->after) ||
               !pai__buf_ok(&after);
  if (after.len > 0 && !c->failed)
    add_after(c, &after);
  pai__buf_dispose(&after);
  pai__buf_dispose(&piece->after);
  pai__buf_dispose(&piece->sets);
  pai__buf_dispose(&piece->before);
}

static void add(collector *c, const char *name, pai__node params, bool ignore)
{
  pai__plugin_piece piece;

  c->plugin.name = name;
  c->plugin.params = params;
  c->plugin.ignore = ignore;
  begin_piece(&piece, c->plugin.arena->alloc);
  make(&piece, &c->plugin);
  end_piece(c, &piece, known(name));
}

/* --- finding plugins ----------------------------------------------------- */

static bool is_ignored(const pai__tree *t, pai__node n)
{
  const char *policy = pai__tree_look_text(t, n, "failurePolicy", NULL);

  return policy != NULL && strcmp(policy, "ignore") == 0;
}

/* Finds a prerequisite by name; of several the last counts.  `type` NULL: any
 * type. */
static pai__node find_prerequisite(const pai__tree *t, const char *type,
                                   const char *name)
{
  pai__node list = pai__tree_look(t, 0, "prerequisites"), found = PAI__NO_NODE,
            item;
  pai__tree_walk walk;

  if (name == NULL || !pai__tree_is(t, list, PAI__SEQUENCE))
    return PAI__NO_NODE;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *its = pai__tree_look_text(t, item, "name", NULL);
    const char *kind = pai__tree_look_text(t, item, "type", NULL);

    if (its != NULL && strcmp(its, name) == 0 &&
        (type == NULL || (kind != NULL && strcmp(kind, type) == 0)))
      found = item;
  }
  return found;
}

/* --- folders ------------------------------------------------------------- */

/* Returns the folder of a role of a job config v1 for data, output or code. */
static const char *v1_folder(const collector *c, const char *type)
{
  const pai__tree *t = tree_of(&c->plugin);
  pai__node n = find_prerequisite(
    t, type, pai__tree_look_text(t, c->plugin.role->node, type, NULL));
  pai__node uri = pai__tree_look(t, n, "uri");

  if (pai__tree_is(t, uri, PAI__SEQUENCE)) {
    pai__tree_walk walk = pai__tree_iter(t, uri);

    uri = pai__tree_next(&walk);
  }
  return pai__tree_text(t, uri, NULL);
}

static void add_v1(const collector *c, pai__plugin_piece *piece)
{
  pai__plugin_v1(piece, v1_folder(c, "data"), v1_folder(c, "output"),
                 v1_folder(c, "script"));
}

/* Adds storages, and the folders of a job config v1. */
static void add_folders(collector *c, const pai__plan_role *role)
{
  pai__plugin_piece piece;

  begin_piece(&piece, c->plugin.arena->alloc);
  if (role->nmounts > 0)
    pai__plugin_storages(&piece, role->mounts, role->nmounts);
  if (c->plugin.context->spec->was_v1)
    add_v1(c, &piece);
  end_piece(c, &piece, NULL);
}

const char *pai__plugin_image(const pai_spec *spec, uint32_t role)
{
  const pai__tree *t = spec->tree;
  pai__node n;

  if (t == NULL)
    return NULL;
  n = pai__tree_look(t, spec->roles[role].node, "dockerImage");
  n = find_prerequisite(t, "dockerimage", pai__tree_text(t, n, NULL));
  return pai__tree_look_text(t, n, "uri", NULL);
}

/* Adds prerequisites of the role that are plugins. */
static void add_prerequisites(collector *c)
{
  const pai__tree *t = tree_of(&c->plugin);
  pai__node list = pai__tree_look(t, c->plugin.role->node, "prerequisites"),
            item;
  pai__tree_walk walk;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node n = find_prerequisite(t, NULL, pai__tree_text(t, item, NULL));
    const char *plugin = pai__tree_look_text(t, n, "plugin", NULL);

    if (plugin != NULL && strncmp(plugin, PREFIX, sizeof(PREFIX) - 1) == 0)
      add(c, plugin + sizeof(PREFIX) - 1, n, is_ignored(t, n));
  }
}

/* Returns whether the plugin is for this role.  Names may be in the runtime's
 * spelling. */
static bool is_for(collector *c, pai__node roles)
{
  const pai__tree *t = tree_of(&c->plugin);
  const char *name = c->plugin.role->name;
  bool found = false;
  pai__tree_walk walk;
  pai__node item;
  pai__buf old;

  if (!pai__tree_is(t, roles, PAI__SEQUENCE))
    return true;
  pai__buf_init(&old, c->plugin.arena->alloc);
  pai__name_role(&old, name);
  walk = pai__tree_iter(t, roles);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *its = pai__tree_text(t, item, NULL);

    found |= its != NULL &&
             (strcmp(its, name) == 0 || strcmp(its, pai__buf_text(&old)) == 0);
  }
  c->failed |= !pai__buf_ok(&old);
  pai__buf_dispose(&old);
  return found;
}

static void add_extras(collector *c)
{
  const pai__tree *t = tree_of(&c->plugin);
  pai__node list = pai__tree_look(t, pai__tree_look(t, 0, "extras"),
                                  "com.microsoft.pai.runtimeplugin"),
            item;
  pai__tree_walk walk;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *plugin = pai__tree_look_text(t, item, "plugin", NULL);

    if (plugin != NULL && is_for(c, pai__tree_look(t, item, "taskroles")))
      add(c, plugin, pai__tree_look(t, item, "parameters"),
          is_ignored(t, item));
  }
}

/* --- all plugins --------------------------------------------------------- */

static void init_scopes(collector *c)
{
  static const char *const roots[] = { "$parameters", "$secrets", "$script",
                                       "$output", "$data" };
  const pai__tree *t = tree_of(&c->plugin);

  for (size_t i = 0; i < PAI__LEN(roots); i++) {
    const char *field = roots[i] + 1;
    pai__node n = pai__tree_look(t, 0, field);

    if (i >= 2) /* the prerequisite that the role names */
      n = find_prerequisite(
        t, field, pai__tree_look_text(t, c->plugin.role->node, field, NULL));
    c->scopes[i] = (pai__template_scope){ roots[i], t, n };
  }
  c->plugin.scopes = c->scopes;
}

/* Joins them in reverse order. */
static const char *join_after(collector *c)
{
  const char *text = NULL;
  pai__buf b;

  pai__buf_init(&b, c->plugin.arena->alloc);
  for (size_t i = c->len; i > 0; i--)
    pai__buf_str(&b, c->after[i - 1]);
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(c->plugin.arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return text;
}

int pai__plugin_scripts(pai__plan_role *role, pai__arena *arena,
                        const pai__plan_context *context, uint32_t number)
{
  collector c = { .plugin = { .context = context,
                              .arena = arena,
                              .role = &context->spec->roles[number] } };

  role->before = role->after = "";
  if (context->spec->tree == NULL)
    return PAI_OK;
  pai__buf_init(&c.before, arena->alloc);
  init_scopes(&c);
  add_folders(&c, role);
  add_prerequisites(&c);
  add_extras(&c);
  role->after = join_after(&c);
  role->before = NULL;
  if (pai__buf_ok(&c.before))
    role->before =
      pai__arena_strndup(arena, pai__buf_text(&c.before), c.before.len);
  pai__buf_dispose(&c.before);
  pai__free(arena->alloc, c.after, c.cap * sizeof(*c.after));
  return c.failed || role->before == NULL || role->after == NULL ? PAI_ENOMEM
                                                                 : PAI_OK;
}
