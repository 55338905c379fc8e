/* cmd_serve.c - `serve`: the platform over TCP, and the HiveD scheduler
 * extender */
#include "cli.h"
#include "file.h"
#include "remote.h"
#include "serve.h"
#include "serve_oidc.h"
#include "source.h"

#include <openpai/server.h>

#include <stdlib.h>
#include <sys/stat.h>

typedef struct cli_extender {
  const char *config;          /* HiveD's configuration; NULL: no extender */
  pai_hived_host_options host; /* address of the API server */
  pai_server_options server;   /* where it listens; NULL: as in `config` */
  bool verbose;
} cli_extender;

typedef struct extender {
  const cli_extender *o;
  pai_loop *loop;
  pai_cluster *cluster;
  pai_cluster *tried; /* a new configuration that is being loaded */
  pai_hived_host *host;
  pai_server *server;
  struct stat config; /* status of the file when it was last read or checked */
  bool ending;
} extender;

/* --- log ----------------------------------------------------------------- */

static void on_log(void *user_data, int level, const char *line)
{
  const extender *e = user_data;

  if (level < PAI_LOG_INFO && !e->o->verbose)
    return;
  cli_say(level, line);
}

static void say(const extender *e, const char *fmt, const char *what)
{
  char line[512];

  (void)snprintf(line, sizeof(line), fmt, what);
  on_log((void *)(uintptr_t)e, PAI_LOG_INFO, line);
}

/* --- configuration ------------------------------------------------------- */

/* Returns false after printing an error. */
static bool read_config(pai_cluster **out, const char *path)
{
  cli_file file;

  *out = NULL;
  cli_cluster_file_open(&file, out, path, NULL);
  if (file.report == NULL)
    cli_fail("%s", file.why);
  else
    cli_print_findings(stderr, path, file.report);
  pai_report_free(file.report);
  return *out != NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
         a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* --- reload -------------------------------------------------------------- */

static void on_reloaded(void *user_data, int status, const pai_error *err)
{
  extender *e = user_data;
  pai_cluster *old = status == PAI_OK ? e->cluster : e->tried;

  if (status == PAI_OK) {
    e->cluster = e->tried;
    say(e, "the new configuration %s is applied", e->o->config);
  } else if (status != PAI_ECANCELED) {
    char line[1024];

    (void)snprintf(line, sizeof(line),
                   "the old configuration stays: %s; change %s again to try "
                   "again",
                   pai_error_message(err), e->o->config);
    cli_say(PAI_LOG_WARNING, line);
  }
  e->tried = NULL;
  pai_cluster_free(old);
}

/* Whether the file has changed since it was last read. */
static bool has_changed(extender *e)
{
  struct stat st;

  if (stat(e->o->config, &st) != 0 || is_same(&st, &e->config))
    return false;
  e->config = st;
  return true;
}

/* Called after each step of the loop, which wakes at least once a minute. */
static void reload_if_changed(extender *e)
{
  pai_error *err = NULL;

  if (e->tried != NULL || !pai_hived_host_ready(e->host) || !has_changed(e))
    return;
  if (!read_config(&e->tried, e->o->config)) {
    cli_say(PAI_LOG_WARNING,
            "the new configuration is invalid: the old one stays in use");
    return;
  }
  if (pai_hived_host_reload(e->host, e->tried, on_reloaded, e, &err) < 0)
    on_reloaded(e, pai_error_code(err), err);
  pai_error_free(err);
}

/* --- main loop ----------------------------------------------------------- */

static void on_server_closed(void *user_data)
{
  extender *e = user_data;

  pai_hived_host_close(e->host, NULL, NULL);
}

/* Closes the server first, which answers pending requests. */
static void end(extender *e)
{
  if (!e->ending)
    pai_server_close(e->server, on_server_closed, e);
  e->ending = true;
}

static int begin(extender *e, pai_error **err)
{
  pai_hived_host_options h = e->o->host;
  pai_server_options s = e->o->server;
  int rc = pai_loop_new(&e->loop, NULL, err);

  if (rc < 0)
    return rc;
  h.on_log = s.on_log = on_log;
  h.user_data = s.user_data = e;
  rc = pai_hived_host_new(&e->host, e->loop, e->cluster, &h, err);
  if (rc < 0)
    return rc;
  s.hived = e->host;
  if (s.listen == NULL)
    s.listen = pai_hived_host_address(e->host);
  s.cors_origin = "";
  rc = pai_server_new(&e->server, e->loop, NULL, &s, err);
  if (rc < 0)
    pai_hived_host_close(e->host, NULL, NULL);
  return rc;
}

static int serve(extender *e)
{
  pai_error *err = NULL;
  const char *address;
  int rc;

  cli_raise_limits();
  rc = begin(e, &err);
  if (rc == PAI_OK) {
    cli_end_by_signals(e->loop, true);
    for (size_t i = 0; (address = pai_server_address(e->server, i)) != NULL;
         i++)
      say(e, "the extender serves at %s", address);
  } else {
    cli_error(NULL, err);
  }
  pai_error_free(err);
  while (e->loop != NULL && pai_loop_run_once(e->loop) > 0) {
    if (rc < 0 || e->ending)
      continue;
    if (cli_asked_to_end())
      end(e);
    else
      reload_if_changed(e);
  }
  cli_end_by_signals(NULL, false);
  pai_loop_free(e->loop);
  if (rc == PAI_OK)
    say(e, "the extender has %s", "ended");
  return rc == PAI_OK ? CLI_OK : CLI_NO;
}

/* Serves until a signal ends it, and reloads a changed configuration.  Returns
 * an exit code. */
static int cli_serve_extender(const cli_extender *wanted)
{
  extender e = { .o = wanted };
  int code = CLI_NO;

  (void)stat(wanted->config, &e.config);
  if (read_config(&e.cluster, wanted->config))
    code = serve(&e);
  pai_cluster_free(e.cluster);
  return code;
}

static const char usual[] = "127.0.0.1:9186";

static int serve_extender(const cli_serve_args *a, const cli_serving *wanted)
{
  cli_extender e = { .config = a->extender,
                     .host = PAI_HIVED_HOST_OPTIONS_INIT,
                     .server = wanted->server,
                     .verbose = a->verbose };
  char *listen = cli_join_addresses(&a->listen, usual);
  int code;

  if (listen == NULL)
    return CLI_NO;
  e.host.kube_url = a->kube_url;
  e.host.kube_token_file = a->kube_token_file;
  e.host.kube_ca_file = a->kube_ca_file;
  e.host.kube_config = a->kube_config;
  if (a->listen.count > 0)
    e.server.listen = listen;
  code = cli_serve_extender(&e);
  free(listen);
  return code;
}

/* Login options may come from the root's file, so cli_oidc_find() is first. */
static int serve_platform(cli_serving *wanted, cli_oidc *login)
{
  char *listen = cli_join_addresses(wanted->listen, usual);
  const char *stray;
  int code = CLI_NO;

  cli_oidc_find(login);
  wanted->server.listen = listen;
  stray = cli_oidc_stray(login);
  if (stray != NULL)
    code = cli_misused("without --oidc, --oidc-issuer or the root's oidc.yaml",
                       stray);
  else if (listen != NULL && cli_oidc_read(login, &wanted->server))
    code = cli_serve(wanted);
  free(listen);
  cli_oidc_free(login);
  return code;
}

/* Copies the OpenID Connect options. */
static void take_oidc(cli_oidc *login, const cli_serve_args *a)
{
  pai_oidc_options *o = &login->options;

  o->file = a->oidc;
  o->issuer = a->oidc_issuer;
  o->client_id = a->oidc_client_id;
  o->client_secret_file = a->oidc_client_secret_file;
  o->redirect_uri = a->oidc_redirect;
  o->scope = a->oidc_scope;
  o->pages = a->oidc_pages;
  o->groups_claim = a->oidc_groups_claim;
  o->ca_file = a->oidc_ca_file;
  o->domains = a->oidc_domains;
  o->groups = a->oidc_groups;
  login->admins = a->oidc_admins;
}

int cli_do_serve(const cli_serve_args *a)
{
  cli_serving wanted = { .platform = a->platform,
                         .keep = a->keep,
                         .listen = &a->listen,
                         .verbose = a->verbose,
                         .accounts = PAI_ACCOUNTS_OPTIONS_INIT,
                         .server = PAI_SERVER_OPTIONS_INIT };
  pai_server_options *o = &wanted.server;
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };

  o->tls_cert = a->tls_cert;
  o->tls_key = a->tls_key;
  o->prefix = a->prefix;
  o->cors_origin = a->cors;
  o->trusted_proxies = a->trusted_proxies;
  o->most_connections =
    (unsigned)cli_number(a->connections, o->most_connections);
  o->most_per_address =
    (unsigned)cli_number(a->most_per_address, o->most_per_address);
  if (a->extender != NULL)
    return serve_extender(a, &wanted);
  wanted.accounts.least_password =
    (unsigned)cli_number(a->least_password, wanted.accounts.least_password);
  wanted.accounts.reveal_tokens = a->reveal_tokens;
  if (!cli_keep_good(&a->keep))
    return CLI_USAGE;
  if (!cli_choose_root(a->platform.system))
    return CLI_NO;
  take_oidc(&login, a);
  cli_set_rates(o, (unsigned)cli_number(a->rate_limit, 600));
  return serve_platform(&wanted, &login);
}
