/*
 * settings.c - settings of a login provider, from a file and the caller's
 * options
 *
 * The file is YAML with the names of the options.  Errors give the place in
 * the file but no values, which may be secrets.
 */
#include "server/oidc/provider.h"
#include "server/oidc/settings.h"

#include "yaml/yaml.h"

#include <gnutls/gnutls.h>
#include <stddef.h>
#include <string.h>

/* What a setting is. */
enum { TEXT, URL, ITEMS, PAGES };

static const struct name {
  const char *name;
  size_t at, option; /* offsets in the settings and in the options */
  int kind;
} names[] = {
#define NAME(member, kind)                         \
  {                                                \
#member, offsetof(pai__oidc_settings, member), \
      offsetof(pai_oidc_options, member), kind     \
  }
  NAME(issuer, URL),         NAME(client_id, TEXT),
  NAME(client_secret, TEXT), NAME(client_secret_file, TEXT),
  NAME(redirect_uri, URL),   NAME(scope, TEXT),
  NAME(pages, PAGES),        NAME(groups_claim, TEXT),
  NAME(ca_file, TEXT),       NAME(domains, ITEMS),
  NAME(groups, ITEMS),
};

static char **text_at(pai__oidc_settings *s, size_t at)
{
  return (char **)(void *)((char *)s + at);
}

/* Erases and frees a secret. */
static void wipe(char *text, const pai_alloc *alloc)
{
  size_t size = text != NULL ? strlen(text) + 1 : 0;

  if (size > 0)
    gnutls_memset(text, 0, size);
  pai__free(alloc, text, size);
}

void pai__settings_dispose(pai__oidc_settings *s, const pai_alloc *alloc)
{
  wipe(s->client_secret, alloc);
  s->client_secret = NULL;
  for (size_t i = 0; i < PAI__LEN(names); i++)
    pai__strfree(alloc, *text_at(s, names[i].at));
  for (size_t i = 0; i < s->nadmins; i++)
    pai__strfree(alloc, s->admins[i]);
  if (s->admins != NULL)
    pai__free(alloc, s->admins, (s->nadmins + 1) * sizeof(*s->admins));
  *s = (pai__oidc_settings){ .nadmins = 0 };
}

/* Adds a rule for administrators. */
static int put_rule(pai__oidc_settings *s, const pai_alloc *alloc,
                    const char *rule)
{
  size_t old = s->admins != NULL ? s->nadmins + 1 : 0, n = s->nadmins + 2;
  char *text = pai__strdup(alloc, rule), **all;

  all =
    text != NULL ? pai__realloc(alloc, s->admins, old, n, sizeof(*all)) : NULL;
  if (all == NULL) {
    pai__strfree(alloc, text);
    return PAI_ENOMEM;
  }
  all[s->nadmins++] = text;
  all[s->nadmins] = NULL;
  s->admins = all;
  return PAI_OK;
}

/* --- the file ------------------------------------------------------------ */

typedef struct reading {
  pai__oidc_settings *out;
  const pai_alloc *alloc;
  const char *path;
  const pai__tree *t;
  pai_error **err;
} reading;

static int fail_at(const reading *r, pai__node n, const char *what,
                   const char *name)
{
  pai__pos pos = pai__tree_where(r->t, n);

  return pai__fail_at(r->err, PAI_EINVAL, pos, "%s:%u:%u: %s%s", r->path,
                      (unsigned)pos.line, (unsigned)pos.column, name, what);
}

/* Returns a text that is not empty; NULL if there is none, which is then
 * reported. */
static const char *need_text(const reading *r, pai__node n, const char *name)
{
  const char *text;
  size_t len = 0;

  if (pai__tree_type(r->t, n) != PAI__STRING) {
    (void)fail_at(r, n, " is not text", name);
    pai__error_help(r->err, "put numbers and dates in quotes");
    return NULL;
  }
  text = pai__tree_str(r->t, n, &len);
  if (len > 0 && strlen(text) == len && strpbrk(text, "\r\n") == NULL)
    return text;
  (void)fail_at(r, n, " is empty, or more than one line", name);
  return NULL;
}

static int add_rule(const reading *r, pai__node n, const char *text)
{
  if (!pai__claim_rule_is_one(text)) {
    (void)fail_at(r, n, " must be CLAIM=VALUE", "a rule of admins");
    pai__error_help(r->err, "examples: groups=pai-admins, sub=8f3a...");
    return PAI_EINVAL;
  }
  return put_rule(r->out, r->alloc, text) == PAI_OK ? PAI_OK
                                                    : pai__oom(r->err);
}

/* Checks a text, or an item of a list. */
static int check_text(const reading *r, pai__node n, const char *text,
                      const struct name *name)
{
  bool url = name->kind == URL || name->kind == PAGES;

  if (url && !pai__url_is_safe(text)) {
    (void)fail_at(r, n, " is not a URL that begins with https://", name->name);
    pai__error_help(
      r->err, name->kind == PAGES
                ? "http://localhost/ means all ports of the browser's machine"
                : "http:// is allowed only for this machine, as "
                  "http://127.0.0.1:8080");
    return PAI_EINVAL;
  }
  return name->kind >= ITEMS && strchr(text, ',') != NULL
           ? fail_at(r, n, " has a comma: write a YAML list", name->name)
           : PAI_OK;
}

/* Sets a text, or appends an item to a list with commas. */
static int set_text(const reading *r, pai__node n, const struct name *name)
{
  char **to = text_at(r->out, name->at);
  const char *text = need_text(r, n, name->name);
  pai__buf b;

  if (text == NULL || check_text(r, n, text, name) < 0)
    return PAI_EINVAL;
  pai__buf_init(&b, r->alloc);
  if (*to != NULL)
    pai__buf_printf(&b, "%s,", *to);
  pai__buf_str(&b, text);
  pai__strfree(r->alloc, *to);
  *to = pai__buf_take(&b);
  return *to != NULL ? PAI_OK : pai__oom(r->err);
}

/* Sets one value; `name` NULL: a rule for administrators. */
static int set_one(const reading *r, pai__node n, const struct name *name)
{
  const char *rule;

  if (name != NULL)
    return set_text(r, n, name);
  rule = need_text(r, n, "admins");
  return rule != NULL ? add_rule(r, n, rule) : PAI_EINVAL;
}

static int set(const reading *r, pai__node key)
{
  const char *text = pai__tree_str(r->t, key, NULL);
  pai__node value = pai__tree_value(r->t, key), item;
  pai__tree_walk w = pai__tree_iter(r->t, value);
  const struct name *name = NULL;
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strcmp(text, names[i].name) == 0)
      name = &names[i];
  if (name == NULL && strcmp(text, "admins") != 0) {
    (void)fail_at(r, key, " is not a setting of OpenID Connect", text);
    pai__error_help(r->err,
                    "settings are issuer, client_id, client_secret_file, "
                    "client_secret, redirect_uri, scope, pages, groups_claim, "
                    "admins, domains, groups and ca_file");
    return PAI_EINVAL;
  }
  if ((name != NULL && name->kind < ITEMS) ||
      pai__tree_type(r->t, value) != PAI__SEQUENCE)
    return set_one(r, value, name);
  while (rc == PAI_OK && (item = pai__tree_next(&w)) != PAI__NO_NODE)
    rc = set_one(r, item, name);
  return rc;
}

static int set_all(const reading *r)
{
  pai__tree_walk w;
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(r->t, 0) == PAI__NULL)
    return PAI_OK; /* the file has only comments */
  if (pai__tree_type(r->t, 0) != PAI__MAPPING)
    return fail_at(r, 0, "\"issuer: https://...\" is missing", "");
  w = pai__tree_iter(r->t, 0);
  while (rc == PAI_OK && (key = pai__tree_next(&w)) != PAI__NO_NODE)
    rc = set(r, key);
  if (rc == PAI_OK && r->out->client_secret != NULL &&
      r->out->client_secret_file != NULL)
    rc =
      fail_at(r, pai__tree_find(r->t, 0, "client_secret", 13),
              " and client_secret_file exclude each other", "client_secret");
  return rc;
}

int pai__settings_parse(pai__oidc_settings *out, const pai_alloc *alloc,
                        const char *path, const char *text, size_t len,
                        pai_error **err)
{
  const pai__yaml_options o = { .mode = PAI__YAML_CORE,
                                .max_depth = 8,
                                .alloc = alloc };
  reading r = { out, alloc, path, NULL, err };
  pai__tree *t = NULL;
  pai_error *why = NULL;
  int rc = pai__yaml_parse(&t, text, len, &o, &why);

  *out = (pai__oidc_settings){ .nadmins = 0 };
  if (rc == PAI_ENOMEM) {
    rc = pai__oom(err);
  } else if (rc < 0) {
    pai__pos pos = { pai_error_line(why), pai_error_column(why) };
    rc = pai__fail_at(err, PAI_EINVAL, pos, "%s:%u:%u: %s", path,
                      (unsigned)pos.line, (unsigned)pos.column,
                      pai_error_message(why));
  } else if (t != NULL) {
    r.t = t;
    rc = set_all(&r);
  }
  pai_error_free(why);
  pai__tree_free(t);
  if (rc < 0)
    pai__settings_dispose(out, alloc);
  return rc;
}

/* --- files and options --------------------------------------------------- */

/* A relative path is relative to the folder of the settings file. */
static int from_folder(char **path, const pai_alloc *alloc, const char *file,
                       pai_error **err)
{
  const char *slash = strrchr(file, '/');
  pai__buf b;

  if (*path == NULL || (*path)[0] == '/' || slash == NULL)
    return PAI_OK;
  pai__buf_init(&b, alloc);
  pai__buf_add(&b, file, (size_t)(slash + 1 - file));
  pai__buf_str(&b, *path);
  pai__strfree(alloc, *path);
  *path = pai__buf_take(&b);
  return *path != NULL ? PAI_OK : pai__oom(err);
}

static int read_file(pai__oidc_settings *out, const pai_alloc *alloc,
                     const char *path, pai_error **err)
{
  char *text = NULL;
  bool open = false;
  int rc = pai__settings_load(&text, alloc, path, false, &open, err);

  if (rc == PAI_OK && text != NULL)
    rc = pai__settings_parse(out, alloc, path, text, strlen(text), err);
  wipe(text, alloc);
  if (rc == PAI_OK && out->client_secret != NULL && open) {
    rc = pai__fail(
      err, PAI_EPERM,
      "%s has a client_secret, but other users can read it or own it", path);
    pai__error_help(err,
                    "run chmod 600 %s, or move the secret to a file of its "
                    "own, named by client_secret_file",
                    path);
  }
  if (rc == PAI_OK)
    rc = from_folder(&out->client_secret_file, alloc, path, err);
  if (rc == PAI_OK)
    rc = from_folder(&out->ca_file, alloc, path, err);
  return rc;
}

static const char *option(const pai_oidc_options *o, size_t at)
{
  const char *text =
    *(const char *const *)(const void *)((const char *)o + at);

  return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Options override the file.  A secret in the options replaces both forms of
 * the file's secret. */
static int take_options(pai__oidc_settings *s, const pai_alloc *alloc,
                        const pai_oidc_options *o, pai_error **err)
{
  int rc = PAI_OK;

  if (option(o, offsetof(pai_oidc_options, client_secret)) != NULL ||
      option(o, offsetof(pai_oidc_options, client_secret_file)) != NULL) {
    wipe(s->client_secret, alloc);
    s->client_secret = NULL;
    pai__strfree(alloc, s->client_secret_file);
    s->client_secret_file = NULL;
  }
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    const char *text = option(o, names[i].option);
    char **to = text_at(s, names[i].at);
    if (text == NULL)
      continue;
    pai__strfree(alloc, *to);
    *to = pai__strdup(alloc, text);
    if (*to == NULL)
      return pai__oom(err);
  }
  for (size_t i = 0; rc == PAI_OK && o->admins != NULL && o->admins[i] != NULL;
       i++) {
    if (!pai__claim_rule_is_one(o->admins[i]))
      return pai__fail(err, PAI_EINVAL,
                       "a rule of admins must be CLAIM=VALUE, not \"%.64s\"",
                       o->admins[i]);
    rc = put_rule(s, alloc, o->admins[i]);
  }
  return rc == PAI_OK ? PAI_OK : pai__oom(err);
}

/* Reads one line. */
static int read_secret(pai__oidc_settings *s, const pai_alloc *alloc,
                       pai_error **err)
{
  const char *path = s->client_secret_file;
  char *text = NULL;
  bool open = false;
  size_t len;
  int rc;

  if (s->client_secret != NULL || path == NULL)
    return PAI_OK;
  rc = pai__settings_load(&text, alloc, path, true, &open, err);
  if (rc < 0 || text == NULL)
    return rc;
  len = strcspn(text, "\r\n");
  if (len == 0 || text[len + strspn(text + len, "\r\n")] != '\0')
    rc = pai__fail(err, PAI_EINVAL, "%s must be one line with a secret", path);
  else if ((s->client_secret = pai__strndup(alloc, text, len)) == NULL)
    rc = pai__oom(err);
  wipe(text, alloc);
  return rc;
}

int pai__settings_read(pai__oidc_settings *out, const pai_alloc *alloc,
                       const pai_oidc_options *opts, pai_error **err)
{
  int rc = PAI_OK;

  *out = (pai__oidc_settings){ .nadmins = 0 };
  if (opts->file != NULL && opts->file[0] != '\0')
    rc = read_file(out, alloc, opts->file, err);
  if (rc == PAI_OK)
    rc = take_options(out, alloc, opts, err);
  if (rc == PAI_OK)
    rc = read_secret(out, alloc, err);
  if (rc < 0)
    pai__settings_dispose(out, alloc);
  return rc;
}
