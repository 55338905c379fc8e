/* clusters.c - the clusters that editors work with: this user's platform, and
 * the servers that `openpai login` knows */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRESH_MS = 5000 }; /* how long a scheduler is used for estimates */

/* A cluster with a client; the list is shared by all editors. */
struct helper_cluster {
  helper_cluster *next;
  char *alias; /* CLI_HERE: the platform of this machine */
  pai_client *client;
  pai_sched *sched; /* NULL: not asked for */
  uint64_t kept;    /* when, by the loop's clock */
};

static void free_cluster(helper_cluster *c)
{
  pai_client_close(c->client, NULL, NULL);
  pai_sched_free(c->sched);
  free(c->alias);
  free(c);
}

void helper_clusters_close(helper *h)
{
  while (h->clusters != NULL) {
    helper_cluster *c = h->clusters;

    h->clusters = c->next;
    free_cluster(c);
  }
}

static helper_cluster *find_open(const helper *h, const char *alias)
{
  helper_cluster *c = h->clusters;

  while (c != NULL && strcmp(c->alias, alias) != 0)
    c = c->next;
  return c;
}

/* --- opening ------------------------------------------------------------------ */

static pai_client *open_client(helper *h, const pai_client_options *options,
                               const char **why)
{
  pai_client *client;

  if (pai_client_new(&client, h->loop, options, NULL) == PAI_OK)
    return client;
  *why = "the client of this cluster cannot be made: check its URL";
  return NULL;
}

static pai_client *open_here(helper *h, const char **why)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  char *root = cli_find_root(),
       *socket = root != NULL ? cli_socket_path(root) : NULL;
  pai_client *client = NULL;

  options.socket = socket;
  if (socket != NULL)
    client = open_client(h, &options, why);
  else
    *why = "there is no folder for the platform: HOME is not set";
  free(socket);
  free(root);
  return client;
}

static pai_client *open_server(helper *h, const cli_context *context,
                               const char **why)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  char *token = cli_token_find(context);
  pai_client *client;

  options.url = context->url;
  options.ca_file = context->ca_file;
  options.token = token;
  client = open_client(h, &options, why);
  free(token);
  return client;
}

/* Returns why there is no cluster, valid until the next call. */
static const char *unknown(const char *alias)
{
  static char why[400];
  size_t len = strlen(alias) < 200 ? strlen(alias) : 200;

  len -= cli_utf8_cut(alias, len);
  (void)snprintf(why, sizeof(why),
                 "there is no cluster '%.*s': openpai/clusters lists them",
                 (int)len, alias);
  return why;
}

static pai_client *open_alias(helper *h, const char *alias, const char **why)
{
  const cli_context *context;
  cli_contexts contexts;
  pai_client *client = NULL;

  if (strcmp(alias, CLI_HERE) == 0)
    return open_here(h, why);
  if (!cli_contexts_load(&contexts)) {
    *why = "the list of servers cannot be read";
    return NULL;
  }
  context = cli_contexts_find(&contexts, alias);
  if (context != NULL)
    client = open_server(h, context, why);
  else
    *why = unknown(alias);
  cli_contexts_free(&contexts);
  return client;
}

static char *copy_default(void)
{
  cli_context chosen;
  char *alias = NULL;
  int found = cli_context_choose(&chosen);

  if (found > 0) {
    alias = strdup(chosen.alias != NULL ? chosen.alias : chosen.url);
    cli_context_free(&chosen);
  }
  return found == 0 ? strdup(CLI_HERE) : alias;
}

const char *helper_cluster_name(helper_editor *e)
{
  if (e->cluster == NULL)
    e->cluster = copy_default();
  return e->cluster;
}

const pai_sched *helper_cluster_sched(const helper_editor *e,
                                      const char *alias)
{
  const helper_cluster *c = find_open(e->of, alias);

  return c != NULL && uv_now(&e->of->uv) - c->kept < FRESH_MS ? c->sched
                                                              : NULL;
}

void helper_cluster_keep(const helper_editor *e, const char *alias,
                         pai_sched *sched)
{
  helper_cluster *c = find_open(e->of, alias);

  if (c == NULL) {
    pai_sched_free(sched);
    return;
  }
  pai_sched_free(c->sched);
  c->sched = sched;
  c->kept = uv_now(&e->of->uv);
}

pai_client *helper_cluster_find(helper_editor *e, const char *alias,
                                const char **why)
{
  helper_cluster *c;

  if (alias == NULL || alias[0] == '\0')
    alias = helper_cluster_name(e);
  *why = "out of memory";
  if (alias == NULL)
    return NULL;
  c = find_open(e->of, alias);
  if (c != NULL)
    return c->client;
  c = calloc(1, sizeof(*c));
  if (c == NULL)
    return NULL;
  c->alias = strdup(alias);
  if (c->alias != NULL)
    c->client = open_alias(e->of, alias, why);
  if (c->client == NULL) {
    free_cluster(c);
    return NULL;
  }
  c->next = e->of->clusters;
  e->of->clusters = c;
  return c->client;
}

/* --- methods ------------------------------------------------------------------------ */

static void put_server(FILE *out, const cli_context *c, const char *chosen)
{
  cli_json_print(out, ",{\"name\":%s,\"url\":%s,\"user\":%s,\"chosen\":%c}",
                 c->alias, c->url, c->user,
                 cli_truth(strcmp(c->alias, chosen) == 0));
}

HELPER_METHOD(clusters)
{
  cli_contexts contexts = { 0 };
  char *text = NULL;
  size_t len = 0;
  FILE *out;

  (void)params;
  if (helper_cluster_name(e) == NULL || !cli_contexts_load(&contexts)) {
    helper_refuse(e, request, HELPER_FAILED,
                  "the list of servers cannot be read");
    return;
  }
  out = open_memstream(&text, &len);
  if (out != NULL) {
    cli_json_print(
      out, "[{\"name\":%s,\"url\":null,\"user\":%s,\"chosen\":%c}", CLI_HERE,
      cli_user(), cli_truth(strcmp(CLI_HERE, e->cluster) == 0));
    for (size_t i = 0; i < contexts.count; i++)
      put_server(out, &contexts.items[i], e->cluster);
    (void)fputs("]", out);
    if (fclose(out) != 0) {
      free(text);
      text = NULL;
    }
  }
  cli_contexts_free(&contexts);
  helper_respond(e, request, text);
}

bool helper_cluster_choose(helper_editor *e, const char *alias)
{
  char *copy = alias[0] != '\0' ? strdup(alias) : NULL;

  if (alias[0] != '\0' && copy == NULL)
    return false;
  free(e->cluster);
  e->cluster = copy;
  e->forget = true;
  helper_editor_wake(e);
  return true;
}

HELPER_METHOD(use)
{
  const char *why = NULL, *alias = cli_json_text(params, 0, "cluster");

  if (alias[0] != '\0' && helper_cluster_find(e, alias, &why) == NULL)
    helper_refuse(e, request, HELPER_INVALID_PARAMS, why);
  else if (helper_cluster_choose(e, alias))
    helper_respond(e, request, strdup("null"));
  else
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
}
