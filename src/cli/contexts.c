/* contexts.c - server contexts: clusters.yaml, and the choice of a server */
#include "contexts.h"

#include "file.h"
#include "remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, MOST_ALIAS = 64, MOST_VCS = 16384 };

const char *cli_cluster;

/* --- one context --------------------------------------------------------- */

void cli_context_free(cli_context *s)
{
  free(s->alias);
  free(s->url);
  free(s->user);
  free(s->ca_file);
  free(s->vcs);
  *s = (cli_context){ 0 };
}

static char *copy_or_null(const char *text)
{
  return text != NULL && text[0] != '\0' ? strdup(text) : NULL;
}

bool cli_context_copy(cli_context *to, const cli_context *from)
{
  *to = (cli_context){ .alias = copy_or_null(from->alias),
                       .url = copy_or_null(from->url),
                       .user = copy_or_null(from->user),
                       .ca_file = copy_or_null(from->ca_file),
                       .vcs = copy_or_null(from->vcs) };
  if (to->url != NULL)
    return true;
  cli_context_free(to);
  cli_fail("out of memory");
  return false;
}

bool cli_alias_ok(const char *alias)
{
  static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789._-";
  size_t len = strlen(alias);

  if (len > 0 && len <= MOST_ALIAS && alias[strspn(alias, good)] == '\0' &&
      alias[0] != '-' && strcmp(alias, CLI_HERE) != 0)
    return true;
  cli_fail("invalid alias of a server: '%s'", alias);
  cli_help(stderr, "letters, digits, '.', '_' and '-', up to 64; " CLI_HERE
                   " is this machine");
  return false;
}

bool cli_is_url(const char *word)
{
  return strstr(word, "://") != NULL;
}

/* --- reading ------------------------------------------------------------- */

void cli_contexts_free(cli_contexts *s)
{
  for (size_t i = 0; i < s->count; i++)
    cli_context_free(&s->items[i]);
  free(s->items);
  free(s->current);
  *s = (cli_contexts){ 0 };
}

const cli_context *cli_contexts_find(const cli_contexts *s, const char *alias)
{
  for (size_t i = 0; i < s->count; i++)
    if (strcmp(s->items[i].alias, alias) == 0)
      return &s->items[i];
  return NULL;
}

void cli_contexts_unknown(const cli_contexts *s, const char *alias)
{
  cli_fail("there is no server with the alias '%s'", alias);
  for (size_t i = 0; i < s->count; i++)
    if (cli_is_misspelling(alias, strlen(alias), s->items[i].alias)) {
      (void)fprintf(stderr, "  help: did you mean '%s'?\n", s->items[i].alias);
      return;
    }
  cli_help(stderr, "openpai remote list shows them; openpai login URL --alias "
                   "NAME adds one");
}

/* Opens the file as a draft, without a text if there is no file.  Returns NULL
 * after printing an error. */
static pai_draft *open_file(const char *path)
{
  char *text = NULL;
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, path, MOST);

  if (error != 0 && error != ENOENT) {
    (void)cli_read_fail(path, error);
    return NULL;
  }
  if (pai_draft_new(&draft, len > 0 ? text : NULL, len, NULL, &err) < 0)
    (void)cli_fail_with(path, err);
  free(text);
  return draft;
}

/* Reads a place of the draft; returns false if there is nothing. */
static bool get(const pai_draft *draft, const char *path, pai_json **out)
{
  char *text = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&text, &len);
  bool good =
    to != NULL && pai_draft_get(draft, path, cli_write, to, NULL) == PAI_OK;

  if (to != NULL)
    (void)fclose(to);
  good = good && cli_json_read(out, text, len);
  free(text);
  return good;
}

/* Lists the virtual clusters that fit into the buffer. */
static void take_vcs(char *out, size_t size, const pai_json *j, size_t context)
{
  size_t len = 0;

  out[0] = '\0';
  for (cli_each i =
         cli_each_of(j, cli_json_get(j, context, "virtual_clusters"));
       cli_next(&i);) {
    const char *name = cli_json_text(j, i.at, "");
    size_t more = strlen(name);

    if (more == 0 || more + 2 > size - len)
      continue;
    (void)snprintf(out + len, size - len, "%s%s", len > 0 ? "," : "", name);
    len += more + (len > 0);
  }
}

static bool take_context(cli_contexts *out, const pai_json *j,
                         const char *alias, size_t i)
{
  char vcs[MOST_VCS];
  cli_context *more,
    context = { .url = (char *)cli_json_text(j, i, "url"),
                .user = (char *)cli_json_text(j, i, "user"),
                .ca_file = (char *)cli_json_text(j, i, "ca_file"),
                .alias = (char *)alias,
                .vcs = vcs };

  if (context.alias == NULL || context.url[0] == '\0')
    return true;
  take_vcs(vcs, sizeof(vcs), j, i);
  more = realloc(out->items, (out->count + 1) * sizeof(*more));
  if (more == NULL) {
    cli_fail("out of memory");
    return false;
  }
  out->items = more;
  if (!cli_context_copy(&more[out->count], &context))
    return false;
  out->count++;
  return true;
}

static bool take_contexts(cli_contexts *out, const pai_json *j)
{
  for (cli_each i = cli_each_of(j, 0); cli_next(&i);)
    if (!take_context(out, j, i.key, i.at))
      return false;
  return true;
}

bool cli_contexts_load(cli_contexts *out)
{
  char *path = cli_settings_path("clusters.yaml");
  pai_draft *draft = path != NULL ? open_file(path) : NULL;
  bool good = draft != NULL;
  pai_json *j;

  *out = (cli_contexts){ 0 };
  if (good && get(draft, "/clusters", &j)) {
    good = take_contexts(out, j);
    cli_json_free(&j);
  }
  if (good && get(draft, "/current", &j)) {
    out->current = copy_or_null(pai_json_text(j, 0, NULL));
    cli_json_free(&j);
  }
  pai_draft_free(draft);
  free(path);
  if (!good)
    cli_contexts_free(out);
  return good;
}

/* --- writing ------------------------------------------------------------- */

/* The draft keeps the user's own comments and layout of the file. */
static bool save(const char *path, const pai_draft *draft)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return cli_write_private(path, text, len);
}

static int set_member(pai_draft *draft, const char *alias, const char *name,
                      const char *value, pai_error **err)
{
  char path[MOST_ALIAS + 64];

  (void)snprintf(path, sizeof(path), "/clusters/%s/%s", alias, name);
  if (value != NULL)
    return pai_draft_set_text(draft, path, value, strlen(value), err);
  (void)!pai_draft_unset(draft, path, NULL);
  return PAI_OK;
}

/* The path is made absolute: later calls have other current folders. */
static int put_ca_file(pai_draft *draft, const cli_context *s, pai_error **err)
{
  char *path = s->ca_file != NULL ? cli_absolute(s->ca_file) : NULL;
  int rc = s->ca_file != NULL && path == NULL
             ? PAI_ENOMEM
             : set_member(draft, s->alias, "ca_file", path, err);

  free(path);
  return rc;
}

static int put_vcs(pai_draft *draft, const cli_context *s, pai_error **err)
{
  char path[MOST_ALIAS + 64], *list;
  int rc;

  if (s->vcs == NULL)
    return PAI_OK;
  list = cli_json_list(s->vcs);
  (void)snprintf(path, sizeof(path), "/clusters/%s/virtual_clusters",
                 s->alias);
  rc = list != NULL ? pai_draft_set(draft, path, list, err) : PAI_ENOMEM;
  free(list);
  return rc;
}

static int put_context(pai_draft *draft, const void *data, pai_error **err)
{
  const cli_context *s = data;
  int rc = set_member(draft, s->alias, "url", s->url, err);

  if (rc == PAI_OK)
    rc = set_member(draft, s->alias, "user", s->user, err);
  if (rc == PAI_OK)
    rc = put_ca_file(draft, s, err);
  return rc == PAI_OK ? put_vcs(draft, s, err) : rc;
}

static int drop_context(pai_draft *draft, const void *data, pai_error **err)
{
  char path[MOST_ALIAS + 64];

  (void)snprintf(path, sizeof(path), "/clusters/%s", (const char *)data);
  return pai_draft_unset(draft, path, err);
}

static int use_context(pai_draft *draft, const void *data, pai_error **err)
{
  const char *alias = data;

  if (alias != NULL)
    return pai_draft_set_text(draft, "/current", alias, strlen(alias), err);
  (void)!pai_draft_unset(draft, "/current", NULL);
  return PAI_OK;
}

static bool change(int (*how)(pai_draft *, const void *, pai_error **),
                   const void *data)
{
  char *path = cli_settings_path("clusters.yaml");
  pai_draft *draft = path != NULL ? open_file(path) : NULL;
  pai_error *err = NULL;
  bool good = draft != NULL;

  if (good && how(draft, data, &err) < 0) {
    cli_error(path, err);
    good = false;
  }
  good = good && save(path, draft);
  pai_error_free(err);
  pai_draft_free(draft);
  free(path);
  return good;
}

bool cli_context_put(const cli_context *context)
{
  return cli_alias_ok(context->alias) && change(put_context, context);
}

bool cli_context_drop(const char *alias)
{
  return change(drop_context, alias);
}

bool cli_context_use(const char *alias)
{
  return change(use_context, alias);
}

/* --- choice of a context ------------------------------------------------- */

static const char *filled(const char *name)
{
  const char *value = getenv(name);

  return value != NULL && value[0] != '\0' ? value : NULL;
}

static int choose_named(cli_context *out, const char *name)
{
  cli_context only = { .url = (char *)name,
                       .ca_file = (char *)filled("OPENPAI_CA_FILE") };
  const cli_context *found;
  cli_contexts contexts;
  int rc = -1;

  if (strcmp(name, CLI_HERE) == 0)
    return 0;
  if (cli_is_url(name))
    return cli_context_copy(out, &only) ? 1 : -1;
  if (!cli_contexts_load(&contexts))
    return -1;
  found = cli_contexts_find(&contexts, name);
  if (found == NULL)
    cli_contexts_unknown(&contexts, name);
  else if (cli_context_copy(out, found))
    rc = 1;
  cli_contexts_free(&contexts);
  return rc;
}

int cli_context_choose(cli_context *out)
{
  const char *name = cli_cluster;
  cli_contexts contexts;
  int rc;

  *out = (cli_context){ 0 };
  if (name != NULL && cli_root != NULL && strcmp(name, CLI_HERE) != 0) {
    cli_fail("--root and --cluster exclude each other: --cluster with --root");
    cli_help(stderr, "leave out one of them");
    return -1;
  }
  if (name == NULL && cli_root == NULL)
    name = filled("OPENPAI_CLUSTER");
  if (name != NULL)
    return choose_named(out, name);
  /* Without a home folder there are no contexts, which is not an error
   * here. */
  if (cli_root != NULL || filled("OPENPAI_ROOT") != NULL ||
      (filled("HOME") == NULL && filled("XDG_CONFIG_HOME") == NULL))
    return 0;
  if (!cli_contexts_load(&contexts))
    return -1;
  rc = contexts.current != NULL ? choose_named(out, contexts.current) : 0;
  cli_contexts_free(&contexts);
  return rc;
}
