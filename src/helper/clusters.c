/* clusters.c - the clusters that editors work with: this user's platform, the
 * servers that `openpai login` knows, and those that an editor has added */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a scheduler and what was learned are used for forecasts. */
enum { FRESH_MS = 5000, LEARNED_MS = 600000 };

/* A cluster with a client. */
struct helper_cluster {
  helper_cluster *next;
  /* The editor that has added it and logged in, which alone uses it; NULL: of
   * the program, shared by all. */
  const helper_editor *owner;
  char *alias; /* CLI_HERE: the platform of this machine */
  char *url;   /* of an owner's, as `user`, which may be NULL */
  char *user;
  pai_client *client;
  pai_sched *sched;     /* NULL: not asked for */
  pai_history *history; /* of its jobs; NULL: not asked for */
  uint64_t kept;        /* when, by the loop's clock */
  uint64_t learned;
};

static void free_cluster(helper_cluster *c)
{
  pai_client_close(c->client, NULL, NULL);
  pai_sched_free(c->sched);
  pai_history_free(c->history);
  free(c->alias);
  free(c->url);
  free(c->user);
  free(c);
}

/* Frees the clusters of an owner with an alias, or all of the owner's for
 * NULL. */
static void drop(helper *h, const helper_editor *owner, const char *alias)
{
  helper_cluster **at = &h->clusters, *c;

  while ((c = *at) != NULL)
    if (c->owner == owner && (alias == NULL || strcmp(c->alias, alias) == 0)) {
      *at = c->next;
      free_cluster(c);
    } else {
      at = &c->next;
    }
}

void helper_clusters_leave(helper_editor *e)
{
  drop(e->of, e, NULL);
}

void helper_clusters_close(helper *h)
{
  while (h->clusters != NULL) {
    helper_cluster *c = h->clusters;

    h->clusters = c->next;
    free_cluster(c);
  }
}

static helper_cluster *find_of(const helper *h, const helper_editor *owner,
                               const char *alias)
{
  helper_cluster *c = h->clusters;

  while (c != NULL && (c->owner != owner || strcmp(c->alias, alias) != 0))
    c = c->next;
  return c;
}

/* The editor's own cluster of that name goes first. */
static helper_cluster *find_open(const helper_editor *e, const char *alias)
{
  helper_cluster *own = find_of(e->of, e, alias);

  return own != NULL ? own : find_of(e->of, NULL, alias);
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
  const helper_cluster *c = find_open(e, alias);

  return c != NULL && uv_now(&e->of->uv) - c->kept < FRESH_MS ? c->sched
                                                              : NULL;
}

const pai_history *helper_cluster_history(const helper_editor *e,
                                          const char *alias)
{
  const helper_cluster *c = find_open(e, alias);

  return c != NULL && uv_now(&e->of->uv) - c->learned < LEARNED_MS ? c->history
                                                                   : NULL;
}

void helper_cluster_keep(const helper_editor *e, const char *alias,
                         pai_sched *sched, pai_history *history)
{
  helper_cluster *c = find_open(e, alias);

  if (c == NULL) {
    pai_sched_free(sched);
    pai_history_free(history);
    return;
  }
  if (sched != NULL) {
    pai_sched_free(c->sched);
    c->sched = sched;
    c->kept = uv_now(&e->of->uv);
  }
  if (history != NULL) {
    pai_history_free(c->history);
    c->history = history;
    c->learned = uv_now(&e->of->uv);
  }
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
  c = find_open(e, alias);
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

static void put_server(FILE *out, const helper_editor *e, const char *alias,
                       const char *url, const char *user, bool own)
{
  cli_json_print(
    out, ",{\"name\":%s,\"url\":%s,\"user\":%s,\"chosen\":%c,\"owner\":%s}",
    alias, url, user, cli_truth(strcmp(alias, e->cluster) == 0),
    own ? "editor" : "program");
}

static void put_clusters(FILE *out, const helper_editor *e,
                         const cli_contexts *contexts)
{
  cli_json_print(out,
                 "[{\"name\":%s,\"url\":null,\"user\":%s,\"chosen\":%c,"
                 "\"owner\":\"program\"}",
                 CLI_HERE, cli_user(),
                 cli_truth(strcmp(CLI_HERE, e->cluster) == 0));
  for (const helper_cluster *c = e->of->clusters; c != NULL; c = c->next)
    if (c->owner == e)
      put_server(out, e, c->alias, c->url, c->user, true);
  for (size_t i = 0; i < contexts->count; i++) {
    const cli_context *c = &contexts->items[i];

    if (find_of(e->of, e, c->alias) == NULL)
      put_server(out, e, c->alias, c->url, c->user, false);
  }
  (void)fputs("]", out);
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
    put_clusters(out, e, &contexts);
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

/* What an estimate knows of the chosen cluster may have changed. */
static void tell_change(helper_editor *e, const char *alias)
{
  if (e->cluster == NULL || strcmp(e->cluster, alias) != 0)
    return;
  e->forget = true;
  helper_editor_wake(e);
}

static char *text_or_null(const pai_json *params, const char *name)
{
  const char *text = cli_json_text(params, 0, name);

  return text[0] != '\0' ? strdup(text) : NULL;
}

/* The token is in the client alone. */
static helper_cluster *new_own(helper_editor *e, const pai_json *params,
                               const char **why)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  const char *ca_file = cli_json_text(params, 0, "caFile"),
             *token = cli_json_text(params, 0, "token");
  helper_cluster *c = calloc(1, sizeof(*c));

  if (c == NULL)
    return NULL;
  c->owner = e;
  c->alias = text_or_null(params, "name");
  c->url = text_or_null(params, "url");
  c->user = text_or_null(params, "user");
  options.url = c->url;
  options.ca_file = ca_file[0] != '\0' ? ca_file : NULL;
  options.token = token[0] != '\0' ? token : NULL;
  if (c->alias != NULL && c->url != NULL)
    c->client = open_client(e->of, &options, why);
  if (c->client != NULL)
    return c;
  free_cluster(c);
  return NULL;
}

HELPER_METHOD(add_cluster)
{
  const char *why = "out of memory", *alias = cli_json_text(params, 0, "name");
  helper_cluster *c;

  if (cli_json_text(params, 0, "url")[0] == '\0' || !cli_alias_ok(alias)) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "a cluster needs a url and a name of letters, digits, '.', "
                  "'_' and '-'");
    return;
  }
  c = new_own(e, params, &why);
  if (c == NULL) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS, why);
    return;
  }
  drop(e->of, e, alias);
  c->next = e->of->clusters;
  e->of->clusters = c;
  tell_change(e, alias);
  helper_respond(e, request, strdup("null"));
}

/* One of the program is opened again with the token that is stored then. */
HELPER_METHOD(forget_cluster)
{
  const char *alias = cli_json_text(params, 0, "name");

  if (find_of(e->of, e, alias) != NULL)
    drop(e->of, e, alias);
  else
    drop(e->of, NULL, alias);
  tell_change(e, alias);
  helper_respond(e, request, strdup("null"));
}
