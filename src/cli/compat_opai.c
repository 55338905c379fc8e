/* compat_opai.c - the clusters of `opai`, the program of OpenPAI's Python SDK,
 * and what its commands and pai's have in common */
#include "compat.h"

#include "cells.h"

#include <stdlib.h>
#include <string.h>

/* --- what commands have in common ------------------------------------------------- */

const char *cli_old_value(const cli_old *old, int option)
{
  if (old->value[option] != NULL || strcmp(old->command->tool, "opai") != 0)
    return old->value[option];
  return cli_old_setting(option, 0);
}

/* A folder that came from elsewhere may have settings in it: they name one of
 * this user's clusters, never a URL. */
static bool choose_cluster(const cli_old *old)
{
  const char *given = old->value[OLD_CLUSTER];

  if (strcmp(old->command->tool, "pai") == 0)
    given = old->words[0];
  if (given == NULL && cli_cluster == NULL && cli_root == NULL) {
    given = cli_old_setting(OLD_CLUSTER, 0);
    if (given != NULL && strcmp(given, CLI_HERE) != 0 &&
        !cli_alias_ok(given)) {
      cli_help(stderr, "opai set shows the settings: cluster-alias");
      return false;
    }
  }
  if (given != NULL)
    cli_cluster = given;
  return true;
}

bool cli_old_open(const cli_old *old, cli_remote *r)
{
  return choose_cluster(old) && cli_remote_open(r, true);
}

char *cli_old_job(const cli_old *old, const char *job)
{
  const char *user = old->value[OLD_USER];
  size_t size = strlen(job) + (user != NULL ? strlen(user) : 0) + 2;
  char *whole = malloc(size);

  if (whole == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  (void)snprintf(whole, size, "%s%s%s", user != NULL ? user : "",
                 user != NULL ? "~" : "", job);
  if (cli_job_name(whole))
    return whole;
  free(whole);
  return NULL;
}

int cli_old_become(const char *const *words, size_t count)
{
  char *copy[8 + 1] = { NULL };

  for (size_t i = 0; i < count && i < 8; i++)
    copy[i] = (char *)words[i];
  return cli_dispatch((int)count, copy);
}

/* --- what is known of clusters ------------------------------------------------------- */

static void add_heads(cli_table *t)
{
  static const char *const heads[] = { "cluster",         "uri",  "user",
                                       "virtual-cluster", "GPUs", "vCores",
                                       "memory" };

  cli_table_begin(t, sizeof(heads) / sizeof(heads[0]), heads);
}

static void add_site(cli_table *t, const cli_site *s, const char *vc,
                     size_t len)
{
  char *name = strndup(vc, len);

  cli_table_add(t, s->alias);
  cli_table_add(t, s->url);
  cli_table_add(t, s->user != NULL ? s->user : "");
  cli_table_add(t, name != NULL ? name : "");
  for (int i = 0; i < 3; i++)
    cli_table_add(t, "-");
  free(name);
}

int cli_opai_cluster_list(cli_old *old)
{
  cli_table t = { 0 };
  cli_sites sites;

  (void)old;
  if (!cli_sites_load(&sites))
    return CLI_NO;
  add_heads(&t);
  for (size_t i = 0; i < sites.count; i++) {
    const char *vc = sites.items[i].vcs != NULL ? sites.items[i].vcs : "-";

    while (*vc != '\0') {
      size_t len = strcspn(vc, ",");
      add_site(&t, &sites.items[i], vc, len);
      vc += len + (vc[len] == ',');
    }
  }
  cli_old_columns(&t);
  cli_sites_free(&sites);
  return CLI_OK;
}

/* Asks a cluster which virtual clusters one may use.  False, and told. */
static bool ask_vcs(cli_site *site)
{
  char *token = cli_token_find(site), *path;
  cli_remote r;
  cli_json j;
  cli_text t;
  bool good = cli_remote_open_site(&r, site, token);
  size_t list;

  free(token);
  if (!good)
    return false;
  path = cli_path("/api/v2/users", cli_user(), "");
  good = cli_remote_get(&r, &j, path);
  free(path);
  if (good) {
    free(site->vcs);
    site->vcs = NULL;
    list = cli_json_get(&j, 0, "virtualCluster");
    if (cli_text_begin(&t)) {
      for (size_t i = list != 0 ? cli_json_first(&j, list) : 0, n = 0; i != 0;
           i = cli_json_next(&j, list, i))
        (void)fprintf(t.out, "%s%s", n++ > 0 ? "," : "",
                      j.values[i].text != NULL ? j.values[i].text : "");
      site->vcs = cli_text_end(&t);
    }
    cli_json_free(&j);
  }
  cli_remote_close(&r);
  return good;
}

static bool update(cli_site *site)
{
  (void)printf("try to connect cluster %s\n", site->alias);
  (void)fflush(stdout);
  return ask_vcs(site) && cli_site_put(site);
}

int cli_opai_cluster_update(cli_old *old)
{
  int code = CLI_OK;
  cli_sites sites;

  (void)old;
  if (!cli_sites_load(&sites))
    return CLI_NO;
  for (size_t i = 0; i < sites.count; i++)
    if (update(&sites.items[i]))
      (void)printf("OrganizedList: cluster_alias = %s already exists, replace "
                   "it\n",
                   sites.items[i].alias);
    else
      code = CLI_NO;
  cli_sites_free(&sites);
  return code;
}

/* --- what is free there ----------------------------------------------------------------- */

/* What of `all` is not in use; -1: the cluster does not say. */
static void add_free(cli_table *t, const cli_json *j, size_t vc,
                     const char *v1, const char *v2)
{
  size_t all = cli_json_get(j, vc, "resourcesTotal");
  size_t used = cli_json_get(j, vc, "resourcesUsed");
  int64_t n = -1;
  char text[32];

  if (all != 0 && used != 0) {
    n = cli_json_number(j, all, v1, cli_json_number(j, all, v2, 0)) -
        cli_json_number(j, used, v1, cli_json_number(j, used, v2, 0));
    n = n > 0 ? n : 0;
  }
  (void)snprintf(text, sizeof(text), "%lld", (long long)n);
  cli_table_add(t, text);
}

static bool is_in_list(const char *list, const char *name)
{
  size_t len = strlen(name);

  while (list != NULL && *list != '\0') {
    size_t n = strcspn(list, ",");
    if (n == len && strncmp(list, name, n) == 0)
      return true;
    list += n + (list[n] == ',');
  }
  return list == NULL;
}

static bool add_resources(cli_table *t, cli_remote *r, const char *alias,
                          const char *vcs)
{
  cli_json j;

  if (!cli_remote_get(r, &j, "/api/v2/virtual-clusters"))
    return false;
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i)) {
    const char *name = j.values[i].key;
    if (name == NULL || !is_in_list(vcs, name))
      continue;
    cli_table_add(t, alias);
    cli_table_add(t, "");
    cli_table_add(t, "");
    cli_table_add(t, name);
    add_free(t, &j, i, "GPUs", "gpu");
    add_free(t, &j, i, "vCores", "cpu");
    add_free(t, &j, i, "memory", "memory");
  }
  cli_json_free(&j);
  return true;
}

/* Of all clusters, or of one. */
static int all_resources(cli_table *t)
{
  int code = CLI_OK;
  cli_sites sites;

  if (!cli_sites_load(&sites))
    return CLI_NO;
  for (size_t i = 0; i < sites.count; i++) {
    char *token = cli_token_find(&sites.items[i]);
    cli_remote r;
    bool good = cli_remote_open_site(&r, &sites.items[i], token);

    free(token);
    if (good) {
      good = add_resources(t, &r, sites.items[i].alias, sites.items[i].vcs);
      cli_remote_close(&r);
    }
    code = good ? code : CLI_NO;
  }
  cli_sites_free(&sites);
  return code;
}

int cli_opai_cluster_resources(cli_old *old)
{
  cli_table t = { 0 };
  cli_remote r;
  int code = CLI_NO;

  add_heads(&t);
  if (old->value[OLD_CLUSTER] == NULL && cli_cluster == NULL) {
    code = all_resources(&t);
  } else if (cli_old_open(old, &r)) {
    if (add_resources(&t, &r, cli_cluster, r.site.vcs))
      code = CLI_OK;
    cli_remote_close(&r);
  }
  cli_old_columns(&t);
  return code;
}

/* --- changing the list of them ------------------------------------------------------------- */

/* A site of the list; false: there is none, or that is told. */
static bool find_site(cli_site *out, const char *alias)
{
  const cli_site *found;
  cli_sites sites;
  bool good;

  *out = (cli_site){ 0 };
  if (!cli_sites_load(&sites))
    return false;
  found = cli_sites_find(&sites, alias);
  good = found != NULL && cli_site_copy(out, found);
  cli_sites_free(&sites);
  return good;
}

int cli_opai_cluster_add(cli_old *old)
{
  const cli_site_login login = { .url = old->value[OLD_PAI_URI],
                                 .alias = old->value[OLD_CLUSTER],
                                 .user = old->value[OLD_USER],
                                 .token = old->value[OLD_TOKEN],
                                 .password = old->value[OLD_PASSWORD] };
  bool known;
  cli_site site;

  if (login.url == NULL || login.alias == NULL || login.user == NULL)
    return cli_old_refuse(old, "an option is missing",
                          "--cluster-alias, --pai-uri and --user");
  if (login.token == NULL && login.password == NULL)
    return cli_old_refuse(old, "an option is missing",
                          "--token or --password");
  if (!cli_is_url(login.url))
    return cli_old_refuse(old, "this is no URL", login.url);
  known = find_site(&site, login.alias);
  cli_site_free(&site);
  if (!cli_site_log_in(&login) || !find_site(&site, login.alias))
    return CLI_NO;
  if (!update(&site)) /* one can use it all the same */
    cli_help(stderr, "opai cluster update asks once more");
  (void)printf("OrganizedList: cluster_alias = %s %s\n", login.alias,
               known ? "already exists, replace it" : "added");
  cli_site_free(&site);
  return CLI_OK;
}

int cli_opai_cluster_delete(cli_old *old)
{
  const char *alias = old->words[0];
  const char *words[] = { "remote", "remove", alias };

  if (cli_old_become(words, 3) != CLI_OK || !cli_old_forget_cluster(alias))
    return CLI_NO;
  (void)printf("OrganizedList: cluster_alias = %s removed\n"
               "cluster %s deleted\n",
               alias, alias);
  return CLI_OK;
}

/* Everywhere means the other verbs, too. */
int cli_opai_cluster_select(cli_old *old)
{
  const char *alias = old->words[0];
  const char *words[] = { "remote", "use", alias };
  bool everywhere = old->value[OLD_GLOBAL] != NULL;
  cli_sites sites;

  if (everywhere && cli_old_become(words, 3) != CLI_OK)
    return CLI_NO;
  if (!everywhere && strcmp(alias, CLI_HERE) != 0) {
    if (!cli_sites_load(&sites))
      return CLI_NO;
    if (cli_sites_find(&sites, alias) == NULL) {
      cli_sites_unknown(&sites, alias);
      cli_sites_free(&sites);
      return CLI_NO;
    }
    cli_sites_free(&sites);
  }
  return cli_old_set(everywhere, "cluster-alias", alias) ? CLI_OK : CLI_NO;
}

int cli_opai_cluster_edit(cli_old *old)
{
  const char *editor = old->value[OLD_EDITOR];
  char *path = cli_settings_path("clusters.yaml");
  int code;

  if (editor == NULL)
    editor = getenv("VISUAL");
  if (editor == NULL || editor[0] == '\0')
    editor = getenv("EDITOR");
  if (editor == NULL || editor[0] == '\0')
    editor = "code"; /* as the old program */
  code = path != NULL ? cli_old_edit(editor, path) : CLI_NO;
  free(path);
  return code;
}
