/* convert_exports.c - exports v1's folders and variables to v2's commands */
#include "spec/convert/convert_parts.h"

enum { MAX_RESULT = 64 << 20 }; /* limit of the YAML reader */

/* v1 ran commands without the bash options that v2 sets. */
static const char options_off[] = "set +o errexit +o nounset +o pipefail";

const pai__conv_dir pai__conv_dirs[PAI__CONV_DIRS] = {
  { "dataDir", "data", "default_data", "PAI_DATA_DIR", "$data.uri[0]", true },
  { "outputDir", "output", "default_output", "PAI_OUTPUT_DIR", "$output.uri",
    false },
  { "codeDir", "script", "default_script", "PAI_CODE_DIR", "$script.uri",
    false },
};

/* Variables that v1 expanded in folders.  v2 has them in the environment. */
static const char *const variables[] = { "$PAI_DEFAULT_FS_URI",
                                         "$PAI_JOB_NAME", "$PAI_USER_NAME",
                                         "$PAI_USERNAME" };

/* --- "<%" ---------------------------------------------------------------- */

/* The name must differ from those of the job's variables. */
void pai__conv_name_open(pai__conv *c)
{
  c->open = (pai__conv_str){ "template_open", 13 };
  for (unsigned n = 2; c->envs != PAI__NO_NODE && c->rc == PAI_OK &&
                       pai__tree_find(c->tree, c->envs, c->open.s,
                                      c->open.len) != PAI__NO_NODE;
       n++) {
    pai__buf b;

    pai__buf_init(&b, c->alloc);
    pai__buf_printf(&b, "template_open_%u", n);
    c->open = pai__conv_take(c, &b);
  }
}

/* Returns where "<%" is in s, from a place on, or s.len. */
static size_t find_open(pai__conv_str s, size_t from)
{
  for (; from + 1 < s.len; from++)
    if (s.s[from] == '<' && s.s[from + 1] == '%')
      return from;
  return s.len;
}

/* Replaces each "<%" by a template whose value is "<%". */
pai__conv_str pai__conv_literally(pai__conv *c, pai__conv_str command)
{
  size_t at = find_open(command, 0), from = 0;
  pai__buf b;

  if (at == command.len)
    return command;
  c->hides = true;
  pai__buf_init(&b, c->alloc);
  for (; at < command.len; from = at + 2, at = find_open(command, from)) {
    pai__buf_add(&b, command.s + from, at - from);
    pai__buf_printf(&b, "<%% $parameters.%s %%>", c->open.s);
  }
  pai__buf_add(&b, command.s + from, command.len - from);
  return pai__conv_take(c, &b);
}

/* --- folders ------------------------------------------------------------ */

pai__conv_str pai__conv_folder(const pai__conv *c, size_t dir)
{
  return pai__conv_text(c,
                        pai__tree_get(c->tree, 0, pai__conv_dirs[dir].field));
}

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* Returns whether one of v1's variables is at s, which is NUL-terminated. */
static bool is_variable(const char *s)
{
  for (size_t i = 0; i < PAI__LEN(variables); i++) {
    size_t len = strlen(variables[i]);
    if (strncmp(s, variables[i], len) == 0 && !is_word(s[len]))
      return true;
  }
  return false;
}

/* Makes the command that exports a folder's uri.  The shell expands v1's
 * variables in it, and all else is escaped.  If that takes escapes, the
 * command has the uri itself rather than its template. */
static pai__conv_str export_uri(pai__conv *c, const pai__conv_dir *dir,
                                pai__conv_str uri)
{
  size_t escapes = 0;
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  pai__buf_printf(&b, "export %s=\"", dir->variable);
  for (size_t i = 0; i < uri.len; i++) {
    char ch = uri.s[i];

    if (ch == '"' || ch == '\\' || ch == '`' ||
        (ch == '$' && !is_variable(uri.s + i))) {
      pai__buf_char(&b, '\\');
      escapes++;
    }
    pai__buf_char(&b, ch);
  }
  if (escapes == 0) {
    pai__buf_clear(&b);
    pai__buf_printf(&b, "export %s=\"<%% %s %%>", dir->variable, dir->path);
  }
  pai__buf_char(&b, '"');
  uri = pai__conv_take(c, &b);
  return escapes != 0 ? pai__conv_literally(c, uri) : uri;
}

static pai__conv_str export_folder(pai__conv *c, size_t i)
{
  const pai__conv_dir *dir = &pai__conv_dirs[i];
  pai__node n = pai__tree_get(c->tree, 0, dir->field);
  pai__conv_str uri = pai__conv_folder(c, i);

  if (strstr(uri.s, "$PAI_DEFAULT_FS_URI") != NULL ||
      strstr(uri.s, "$PAI_JOB_NAME") != NULL) {
    pai__find(c->found, PAI_SEVERITY_WARNING, "folder-variables", n,
              "a shell expands the variables of %s: PAI_DEFAULT_FS_URI is now "
              "empty, and PAI_JOB_NAME begins with the user's name",
              dir->field);
    pai__find_help(c->found, "write the full address of the folder");
  }
  if (i == PAI__CONV_DIRS - 1) {
    pai__find(c->found, PAI_SEVERITY_WARNING, "code-dir", n,
              "v2 only sets PAI_CODE_DIR and does not copy the code folder to "
              "the task");
    pai__find_help(c->found,
                   "fetch the code by a command, or put it on a storage");
  }
  return export_uri(c, dir, uri);
}

/* --- variables ---------------------------------------------------------- */

bool pai__conv_exports(pai__conv *c, pai__node key)
{
  pai__conv_str value = pai__conv_string(c, pai__tree_value(c->tree, key));

  return pai__conv_is_name(pai__conv_text(c, key)) &&
         (value.len == 0 || memchr(value.s, '\0', value.len) == NULL);
}

/* Makes export NAME='value'. */
static pai__conv_str export_variable(pai__conv *c, pai__node key)
{
  pai__conv_str value = pai__conv_string(c, pai__tree_value(c->tree, key));
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  pai__buf_printf(&b, "export %s='", pai__conv_text(c, key).s);
  for (size_t i = 0; i < value.len; i++) {
    if (value.s[i] == '\'')
      pai__buf_str(&b, "'\\'");
    pai__buf_char(&b, value.s[i]);
  }
  pai__buf_char(&b, '\'');
  return pai__conv_literally(c, pai__conv_take(c, &b));
}

void pai__conv_put_parameters(pai__conv *c)
{
  pai__tree_walk w = pai__tree_iter(c->tree, c->envs);
  bool any = c->hides;
  pai__node key;

  while (!any && (key = pai__tree_next(&w)) != PAI__NO_NODE)
    any = pai__conv_exports(c, key);
  if (!any)
    return;
  pai__conv_key(c, "parameters");
  pai__yaml_begin_mapping(&c->w);
  w = pai__tree_iter(c->tree, c->envs);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (pai__conv_exports(c, key))
      pai__conv_put_entry(c, key);
  if (c->hides)
    pai__conv_put_string(c, c->open.s, "<%");
  pai__yaml_end_mapping(&c->w);
}

/* --- the deployment ----------------------------------------------------- */

/* Lists the commands that run before those of every role. */
static pai__conv_str *list_exports(pai__conv *c, size_t *count)
{
  size_t room = 1 + PAI__CONV_DIRS + pai__tree_size(c->tree, c->envs), n = 0;
  pai__conv_str *list = pai__conv_alloc(c, room, sizeof(*list));
  pai__tree_walk w = pai__tree_iter(c->tree, c->envs);
  pai__node key;

  *count = 0;
  if (list == NULL)
    return NULL;
  list[n++] = (pai__conv_str){ options_off, strlen(options_off) };
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    if (pai__conv_folder(c, i).len != 0)
      list[n++] = export_folder(c, i);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && c->rc == PAI_OK)
    if (pai__conv_exports(c, key))
      list[n++] = export_variable(c, key);
  *count = n;
  return list;
}

void pai__conv_put_deployments(pai__conv *c)
{
  size_t n;
  pai__conv_str *list = list_exports(c, &n);

  pai__conv_key(c, "deployments");
  pai__yaml_begin_sequence(&c->w);
  pai__yaml_begin_mapping(&c->w);
  pai__conv_put_string(c, "name", "default");
  pai__conv_key(c, "taskRoles");
  pai__yaml_begin_mapping(&c->w);
  for (size_t i = 0; i < c->nroles && c->rc == PAI_OK; i++) {
    pai__yaml_key(&c->w, c->names[i].s, c->names[i].len);
    pai__yaml_begin_mapping(&c->w);
    pai__conv_key(c, "preCommands");
    pai__yaml_begin_sequence(&c->w);
    for (size_t k = 0; k < n; k++)
      pai__yaml_text(&c->w, list[k].s, list[k].len);
    pai__yaml_end_sequence(&c->w);
    pai__yaml_end_mapping(&c->w);
    if (c->w.out->len > MAX_RESULT) /* every role repeats every variable */
      c->rc = PAI_ELIMIT;
  }
  pai__yaml_end_mapping(&c->w);
  pai__yaml_end_mapping(&c->w);
  pai__yaml_end_sequence(&c->w);
}
