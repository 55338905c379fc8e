/* sites.c - the list of servers, clusters.yaml, and which one is meant */
#include "sites.h"

#include "accounts.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, MOST_ALIAS = 64, MOST_VCS = 16384 };

const char *cli_cluster;

/* --- one of them ---------------------------------------------------------------- */

void cli_site_free(cli_site *s)
{
  free(s->alias);
  free(s->url);
  free(s->user);
  free(s->ca_file);
  free(s->vcs);
  *s = (cli_site){ 0 };
}

static char *copy_or_null(const char *text)
{
  return text != NULL && text[0] != '\0' ? strdup(text) : NULL;
}

bool cli_site_copy(cli_site *to, const cli_site *from)
{
  *to = (cli_site){ .alias = copy_or_null(from->alias),
                    .url = copy_or_null(from->url),
                    .user = copy_or_null(from->user),
                    .ca_file = copy_or_null(from->ca_file),
                    .vcs = copy_or_null(from->vcs) };
  if (to->url != NULL)
    return true;
  cli_site_free(to);
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

/* --- reading --------------------------------------------------------------------- */

void cli_sites_free(cli_sites *s)
{
  for (size_t i = 0; i < s->count; i++)
    cli_site_free(&s->items[i]);
  free(s->items);
  free(s->current);
  *s = (cli_sites){ 0 };
}

const cli_site *cli_sites_find(const cli_sites *s, const char *alias)
{
  for (size_t i = 0; i < s->count; i++)
    if (strcmp(s->items[i].alias, alias) == 0)
      return &s->items[i];
  return NULL;
}

void cli_sites_unknown(const cli_sites *s, const char *alias)
{
  cli_fail("there is no server with the alias '%s'", alias);
  for (size_t i = 0; i < s->count; i++)
    if (cli_is_slip(alias, strlen(alias), s->items[i].alias)) {
      (void)fprintf(stderr, "  help: did you mean '%s'?\n", s->items[i].alias);
      return;
    }
  cli_help(stderr, "openpai remote list shows them; openpai login URL --alias "
                   "NAME adds one");
}

/* All of the file as a draft; one without a text if there is no file.  NULL,
 * and told. */
static pai_draft *open_file(const char *path)
{
  char why[512], *text = NULL;
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, path, MOST);

  if (error != 0 && error != ENOENT) {
    cli_read_why(why, sizeof(why), path, error);
    cli_fail("%s", why);
    return NULL;
  }
  if (pai_draft_new(&draft, len > 0 ? text : NULL, len, NULL, &err) < 0)
    cli_error(path, err);
  pai_error_free(err);
  free(text);
  return draft;
}

/* A place of it, read; false: there is nothing. */
static bool get(const pai_draft *draft, const char *path, cli_json *out)
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

/* At most as many of its virtual clusters as there is room for. */
static void take_vcs(char *out, size_t size, const cli_json *j, size_t site)
{
  size_t list = cli_json_get(j, site, "virtual_clusters"), len = 0;

  out[0] = '\0';
  for (size_t i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
       i = cli_json_next(j, list, i)) {
    const char *name = j->values[i].text;
    size_t more = name != NULL ? strlen(name) : 0;

    if (more == 0 || more + 2 > size - len)
      continue;
    (void)snprintf(out + len, size - len, "%s%s", len > 0 ? "," : "", name);
    len += more + (len > 0);
  }
}

static bool take_site(cli_sites *out, const cli_json *j, size_t i)
{
  char vcs[MOST_VCS];
  cli_site *more, site = { .url = (char *)cli_json_text(j, i, "url"),
                           .user = (char *)cli_json_text(j, i, "user"),
                           .ca_file = (char *)cli_json_text(j, i, "ca_file"),
                           .alias = (char *)j->values[i].key,
                           .vcs = vcs };

  if (site.alias == NULL || site.url[0] == '\0')
    return true;
  take_vcs(vcs, sizeof(vcs), j, i);
  more = realloc(out->items, (out->count + 1) * sizeof(*more));
  if (more == NULL) {
    cli_fail("out of memory");
    return false;
  }
  out->items = more;
  if (!cli_site_copy(&more[out->count], &site))
    return false;
  out->count++;
  return true;
}

static bool take_sites(cli_sites *out, const cli_json *j)
{
  for (size_t i = cli_json_first(j, 0); i != 0; i = cli_json_next(j, 0, i))
    if (!take_site(out, j, i))
      return false;
  return true;
}

bool cli_sites_load(cli_sites *out)
{
  char *path = cli_settings_path("clusters.yaml");
  pai_draft *draft = path != NULL ? open_file(path) : NULL;
  bool good = draft != NULL;
  cli_json j;

  *out = (cli_sites){ 0 };
  if (good && get(draft, "/clusters", &j)) {
    good = take_sites(out, &j);
    cli_json_free(&j);
  }
  if (good && get(draft, "/current", &j)) {
    out->current = copy_or_null(j.values[0].text);
    cli_json_free(&j);
  }
  pai_draft_free(draft);
  free(path);
  if (!good)
    cli_sites_free(out);
  return good;
}

/* --- writing --------------------------------------------------------------------- */

/* The file is kept as its owner has written it, but for what changes. */
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

/* It is read from whatever folder is the present one then. */
static int put_ca_file(pai_draft *draft, const cli_site *s, pai_error **err)
{
  char *path = s->ca_file != NULL ? cli_absolute(s->ca_file) : NULL;
  int rc = s->ca_file != NULL && path == NULL
             ? PAI_ENOMEM
             : set_member(draft, s->alias, "ca_file", path, err);

  free(path);
  return rc;
}

static int put_vcs(pai_draft *draft, const cli_site *s, pai_error **err)
{
  char path[MOST_ALIAS + 64];
  cli_text t;
  char *list;
  int rc;

  if (s->vcs == NULL || !cli_text_begin(&t))
    return s->vcs == NULL ? PAI_OK : PAI_ENOMEM;
  cli_put_items(&t, s->vcs);
  list = cli_text_end(&t);
  (void)snprintf(path, sizeof(path), "/clusters/%s/virtual_clusters",
                 s->alias);
  rc = list != NULL ? pai_draft_set(draft, path, list, err) : PAI_ENOMEM;
  free(list);
  return rc;
}

static int put_site(pai_draft *draft, const void *data, pai_error **err)
{
  const cli_site *s = data;
  int rc = set_member(draft, s->alias, "url", s->url, err);

  if (rc == PAI_OK)
    rc = set_member(draft, s->alias, "user", s->user, err);
  if (rc == PAI_OK)
    rc = put_ca_file(draft, s, err);
  return rc == PAI_OK ? put_vcs(draft, s, err) : rc;
}

static int drop_site(pai_draft *draft, const void *data, pai_error **err)
{
  char path[MOST_ALIAS + 64];

  (void)snprintf(path, sizeof(path), "/clusters/%s", (const char *)data);
  return pai_draft_unset(draft, path, err);
}

static int use_site(pai_draft *draft, const void *data, pai_error **err)
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

bool cli_site_put(const cli_site *site)
{
  return cli_alias_ok(site->alias) && change(put_site, site);
}

bool cli_site_drop(const char *alias)
{
  return change(drop_site, alias);
}

bool cli_site_use(const char *alias)
{
  return change(use_site, alias);
}

/* --- which one is meant ------------------------------------------------------------ */

static const char *filled(const char *name)
{
  const char *value = getenv(name);

  return value != NULL && value[0] != '\0' ? value : NULL;
}

static int choose_named(cli_site *out, const char *name)
{
  cli_site only = { .url = (char *)name };
  const cli_site *found;
  cli_sites sites;
  int rc = -1;

  if (strcmp(name, CLI_HERE) == 0)
    return 0;
  if (cli_is_url(name))
    return cli_site_copy(out, &only) ? 1 : -1;
  if (!cli_sites_load(&sites))
    return -1;
  found = cli_sites_find(&sites, name);
  if (found == NULL)
    cli_sites_unknown(&sites, name);
  else if (cli_site_copy(out, found))
    rc = 1;
  cli_sites_free(&sites);
  return rc;
}

int cli_site_choose(cli_site *out)
{
  const char *name = cli_cluster;
  cli_sites sites;
  int rc;

  *out = (cli_site){ 0 };
  if (name != NULL && cli_root != NULL && strcmp(name, CLI_HERE) != 0) {
    cli_fail("--root and --cluster exclude each other: --cluster with --root");
    cli_help(stderr, "leave out one of them");
    return -1;
  }
  if (name == NULL && cli_root == NULL)
    name = filled("OPENPAI_CLUSTER");
  if (name != NULL)
    return choose_named(out, name);
  /* Without a home there is no list, and nothing was asked of it. */
  if (cli_root != NULL || filled("OPENPAI_ROOT") != NULL ||
      (filled("HOME") == NULL && filled("XDG_CONFIG_HOME") == NULL))
    return 0;
  if (!cli_sites_load(&sites))
    return -1;
  rc = sites.current != NULL ? choose_named(out, sites.current) : 0;
  cli_sites_free(&sites);
  return rc;
}
