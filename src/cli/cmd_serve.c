/* cmd_serve.c - the platform for those who come over TCP, too */
#include "file.h"
#include "serve.h"
#include "serve_extender.h"
#include "serve_oidc.h"

#include "remote.h"

#include <stdlib.h>
#include <string.h>

static const char usual[] = "127.0.0.1:9186";

/* A number of an option; false, and told: it is none. */
static bool read_number(const char *word, const char *option, unsigned *out)
{
  char *end;
  unsigned long n;

  if (word == NULL)
    return true;
  n = strtoul(word, &end, 10);
  if (word[0] < '0' || word[0] > '9' || *end != '\0' || n > 1000000000) {
    char what[64];
    (void)snprintf(what, sizeof(what), "%s needs a number, not", option);
    cli_misused(&cli_serve_verb, what, word);
    return false;
  }
  *out = (unsigned)n;
  return true;
}

/* An option of the other kind of server, a platform or an extender, or NULL. */
static const char *find_stray(const cli_serving *wish, const char *rate,
                              const cli_extender *e)
{
  const pai_server_options *o = &wish->server;
  const pai_hived_host_options *h = &e->host;
  const struct {
    const char *name;
    bool given, of_extender;
  } options[] = {
    { "--kube-url", h->kube_url != NULL, true },
    { "--kube-token-file", h->kube_token_file != NULL, true },
    { "--kube-ca-file", h->kube_ca_file != NULL, true },
    { "--kube-config", h->kube_config != NULL, true },
    { "--prefix", o->prefix != NULL, false },
    { "--cors", o->cors_origin != NULL, false },
    { "--trusted-proxies", o->trusted_proxies != NULL, false },
    { "--rate-limit", rate != NULL, false },
    { "--least-password", wish->accounts.least_password != 0, false },
    { "--reveal-tokens", wish->accounts.reveal_tokens != 0, false },
    { "--system", wish->system, false },
    { "--jobs-as-root", wish->jobs_as_root, false },
    { "--runtime", wish->runtime != NULL, false },
    { "--policy", wish->policy != NULL, false },
    { "--refuse-impossible", wish->refuse_impossible, false },
    { "--pass-env", wish->pass_env != NULL, false },
    { "--keep", wish->keep.time != NULL, false },
    { "--keep-jobs", wish->keep.jobs != NULL, false },
    { "--keep-size", wish->keep.size != NULL, false },
    { "--root", cli_root != NULL, false },
  };

  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
    if (options[i].given && options[i].of_extender != (e->config != NULL))
      return options[i].name;
  return NULL;
}

static int serve_extender(cli_extender *e, const cli_serving *wish)
{
  char *listen = cli_join_addresses(usual);
  int code;

  if (listen == NULL)
    return CLI_NO;
  e->server = wish->server;
  e->verbose = wish->verbose;
  if (cli_values.count > 0)
    e->server.listen = listen;
  code = cli_serve_extender(e);
  free(listen);
  return code;
}

/* True, and told: options that mean nothing so. */
static bool is_oidc_misused(const cli_oidc *login, bool extender)
{
  const char *stray = cli_oidc_stray(login), *provider;

  provider = login->options.file != NULL     ? "--oidc"
             : login->options.issuer != NULL ? "--oidc-issuer"
                                             : NULL;
  if (stray != NULL)
    cli_misused(&cli_serve_verb,
                extender ? "not with --extender"
                         : "without --oidc, --oidc-issuer or the root's "
                           "oidc.yaml",
                stray);
  else if (extender && provider != NULL)
    cli_misused(&cli_serve_verb, "with --extender", provider);
  return stray != NULL || (extender && provider != NULL);
}

/* What is said of logins may be more than the root's file, so that is first. */
static int serve_platform(cli_serving *wish, cli_oidc *login)
{
  char *listen = cli_join_addresses(usual);
  int code = CLI_NO;

  cli_oidc_find(login);
  wish->server.listen = listen;
  if (is_oidc_misused(login, false))
    code = CLI_USAGE;
  else if (listen != NULL && cli_oidc_read(login, &wish->server))
    code = cli_serve(wish);
  free(listen);
  cli_oidc_free(login);
  return code;
}

static int run(int argc, char **argv)
{
  cli_extender e = { .host = PAI_HIVED_HOST_OPTIONS_INIT };
  cli_serving wish = { .accounts = PAI_ACCOUNTS_OPTIONS_INIT,
                       .server = PAI_SERVER_OPTIONS_INIT };
  pai_server_options *o = &wish.server;
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };
  const char *rate = NULL, *connections = NULL, *each = NULL, *password = NULL;
  unsigned requests = 600;
  bool reveal = false;
  const cli_option options[] = {
    { "listen", 0, NULL, cli_values.words },
    { "tls-cert", 0, NULL, &o->tls_cert },
    { "tls-key", 0, NULL, &o->tls_key },
    { "prefix", 0, NULL, &o->prefix },
    { "cors", 0, NULL, &o->cors_origin },
    { "trusted-proxies", 0, NULL, &o->trusted_proxies },
    { "rate-limit", 0, NULL, &rate },
    { "connections", 0, NULL, &connections },
    { "most-per-address", 0, NULL, &each },
    { "least-password", 0, NULL, &password },
    { "reveal-tokens", 0, &reveal, NULL },
    { "system", 0, &wish.system, NULL },
    { "jobs-as-root", 0, &wish.jobs_as_root, NULL },
    { "runtime", 0, NULL, &wish.runtime },
    { "policy", 0, NULL, &wish.policy },
    { "refuse-impossible", 0, &wish.refuse_impossible, NULL },
    { "pass-env", 0, NULL, &wish.pass_env },
    KEEP_OPTIONS(wish.keep),
    { "root", 0, NULL, &cli_root },
    { "oidc-issuer", 0, NULL, &login.options.issuer },
    { "oidc-client-id", 0, NULL, &login.options.client_id },
    { "oidc-client-secret-file", 0, NULL, &login.options.client_secret_file },
    { "oidc-redirect", 0, NULL, &login.options.redirect_uri },
    { "oidc-scope", 0, NULL, &login.options.scope },
    { "oidc-pages", 0, NULL, &login.options.pages },
    { "oidc-groups-claim", 0, NULL, &login.options.groups_claim },
    { "oidc-ca-file", 0, NULL, &login.options.ca_file },
    { "oidc-admins", 0, NULL, &login.admins },
    { "oidc-domains", 0, NULL, &login.options.domains },
    { "oidc-groups", 0, NULL, &login.options.groups },
    { "oidc", 0, NULL, &login.options.file },
    { "verbose", 'v', &wish.verbose, NULL },
    { "extender", 0, NULL, &e.config },
    { "kube-url", 0, NULL, &e.host.kube_url },
    { "kube-token-file", 0, NULL, &e.host.kube_token_file },
    { "kube-ca-file", 0, NULL, &e.host.kube_ca_file },
    { "kube-config", 0, NULL, &e.host.kube_config },
  };
  int words = cli_options(&cli_serve_verb, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);
  const char *stray;

  if (words == -2)
    return CLI_OK;
  if (words > 0)
    cli_misused(&cli_serve_verb, "serve takes no argument", argv[0]);
  if (words != 0 || !read_number(rate, "--rate-limit", &requests) ||
      !read_number(connections, "--connections", &o->most_connections) ||
      !read_number(each, "--most-per-address", &o->most_per_address) ||
      !read_number(password, "--least-password",
                   &wish.accounts.least_password) ||
      !cli_keep_good(&cli_serve_verb, &wish.keep))
    return CLI_USAGE;
  wish.accounts.reveal_tokens = reveal;
  stray = find_stray(&wish, rate, &e);
  if (stray != NULL) {
    cli_misused(&cli_serve_verb,
                e.config != NULL ? "not with --extender" : "with --extender",
                stray);
    return CLI_USAGE;
  }
  if (e.config != NULL)
    return is_oidc_misused(&login, true) ? CLI_USAGE
                                         : serve_extender(&e, &wish);
  if (!cli_choose_root(wish.system))
    return CLI_NO;
  cli_set_rates(o, requests);
  return serve_platform(&wish, &login);
}

const cli_verb cli_serve_verb = {
  .name = "serve",
  .brief = "Serve a platform over TCP",
  .usage =
    "[--listen HOST:PORT]... [--tls-cert FILE --tls-key FILE]\n"
    "            [--prefix PATH] [--cors ORIGIN] [--trusted-proxies LIST]\n"
    "            [--rate-limit N] [--connections N] [--most-per-address N]\n"
    "            [--least-password N] [--reveal-tokens] [--system]\n"
    "            [--jobs-as-root] [--refuse-impossible] [--runtime NAME]\n"
    "            [--policy NAME] [--pass-env NAMES] [--keep TIME]\n"
    "            [--keep-jobs N] [--keep-size SIZE] [--root DIR] [--verbose]\n"
    "            [--oidc FILE] [--oidc-issuer URL] [--oidc-client-id ID]\n"
    "            [--oidc-client-secret-file FILE] [--oidc-redirect URL]\n"
    "            [--oidc-scope SCOPES] [--oidc-pages LIST]\n"
    "            [--oidc-groups-claim NAME] [--oidc-admins LIST]\n"
    "            [--oidc-domains LIST] [--oidc-groups LIST]\n"
    "            [--oidc-ca-file FILE]\n"
    "       openpai serve --extender CONFIG [--listen HOST:PORT]...\n"
    "            [--tls-cert FILE --tls-key FILE] [--connections N]\n"
    "            [--most-per-address N] [--verbose] [--kube-config FILE]\n"
    "            [--kube-url URL] [--kube-token-file FILE]\n"
    "            [--kube-ca-file FILE]",
  .help =
    "Serve the platform of a root, as 'openpai up --foreground' does, and\n"
    "OpenPAI's REST API over TCP.  Users over TCP need an account.  The "
    "first\n"
    "account is admin; its password is $OPENPAI_ADMIN_PASSWORD, or is "
    "generated\n"
    "and printed once.  A signal ends the server; its tasks continue.\n"
    "\n"
    "  --listen HOST:PORT  address to listen at; repeatable (default:\n"
    "                      127.0.0.1:9186).  :9186 is all addresses of this\n"
    "                      machine, [::1]:9186 an IPv6 address; port 0 is "
    "any\n"
    "                      free port\n"
    "  --tls-cert FILE     certificate and its chain, in PEM; enables TLS\n"
    "  --tls-key FILE      key of the certificate\n"
    "  --prefix PATH       prefix of paths to accept, besides /rest-server\n"
    "  --cors ORIGIN       origin of web pages that may use the API "
    "(default:\n"
    "                      *, all)\n"
    "  --trusted-proxies LIST\n"
    "                      addresses and networks of proxies whose\n"
    "                      X-Forwarded-For is trusted, as 127.0.0.1,::1\n"
    "                      (default: none)\n"
    "  --rate-limit N      requests a minute from one address (default: "
    "600);\n"
    "                      0 disables all rate limits\n"
    "  --connections N     most connections to each listening address\n"
    "                      (default: 16,384)\n"
    "  --most-per-address N\n"
    "                      most connections from one client address "
    "(default:\n"
    "                      any number)\n"
    "  --least-password N  fewest characters of a new password (default: 8)\n"
    "  --reveal-tokens     show whole tokens in GET /tokens, as OpenPAI does\n"
    "  --system            serve all users of this machine; needs root\n"
    "  --jobs-as-root      let root serve several accounts, and run all "
    "their\n"
    "                      jobs as root\n"
    "  --runtime NAME      how tasks run: auto, process, bwrap, podman or\n"
    "                      docker (default: $OPENPAI_RUNTIME, or auto)\n"
    "  --refuse-impossible refuse a job that asks for more than the machine "
    "has\n"
    "                      (default: the job waits)\n"
    "  --policy NAME       scheduling policy: fifo, backfill, priority,\n"
    "                      capacity, fair, k8s or hived (default:\n"
    "                      $OPENPAI_POLICY, or fifo)\n"
    "  --pass-env NAMES    variables of the server's environment that tasks\n"
    "                      get, separated by commas (default:\n"
    "                      $OPENPAI_PASS_ENV)\n"
    "  --keep TIME         remove jobs that ended longer ago, as 30d\n"
    "  --keep-jobs N       remove finished jobs but for the N that ended "
    "last\n"
    "  --keep-size SIZE    remove the oldest finished jobs while all logs,\n"
    "                      also of running jobs, are larger, as 20G\n"
    "  --root DIR          the root (default: $OPENPAI_ROOT, or as of up)\n"
    "  -v, --verbose       print what happens\n"
    "  -h, --help\n"
    "\n",
  .more =
    "With --oidc or --oidc-issuer, users log in with an OpenID Connect "
    "provider\n"
    "and have no passwords here:\n"
    "\n"
    "  --oidc FILE         these settings in YAML; options override the file\n"
    "                      (default: oidc.yaml in the root, if it exists)\n"
    "  --oidc-issuer URL   issuer of the provider\n"
    "  --oidc-client-id ID client id of this platform at the provider\n"
    "  --oidc-client-secret-file FILE\n"
    "                      file of the client secret, readable by its owner\n"
    "                      only (default: $OPENPAI_OIDC_CLIENT_SECRET, or a\n"
    "                      public client)\n"
    "  --oidc-redirect URL URL of /api/v1/authn/oidc/return on this server, "
    "as\n"
    "                      browsers reach it\n"
    "  --oidc-scope SCOPES scopes to request (default: 'openid profile "
    "email')\n"
    "  --oidc-pages LIST   pages to which a login may redirect with a token,\n"
    "                      separated by commas; URL/ includes everything "
    "below\n"
    "  --oidc-groups-claim NAME\n"
    "                      claim with the external names of a user's groups\n"
    "  --oidc-admins LIST  rules CLAIM=VALUE, separated by commas; a user "
    "who\n"
    "                      matches a rule is an administrator\n"
    "  --oidc-domains LIST mail domains of users who may log in; * is all "
    "users\n"
    "                      (default: users with an account)\n"
    "  --oidc-groups LIST  groups whose members may log in\n"
    "  --oidc-ca-file FILE certificate authorities to trust for the "
    "provider,\n"
    "                      in PEM\n"
    "\n"
    "With --extender, run HiveD's web server instead: answer the Kubernetes\n"
    "scheduler and bind pods.  A changed CONFIG is applied if that is safe.  "
    "The\n"
    "only other options are --listen, --tls-cert, --tls-key, --connections,\n"
    "--most-per-address, --verbose and these:\n"
    "\n"
    "  --extender CONFIG   HiveD's configuration; --listen defaults to its\n"
    "                      webServerAddress\n"
    "  --kube-url URL      Kubernetes API server (default: that of CONFIG,\n"
    "                      $KUBECONFIG, ~/.kube/config, or of the pod that "
    "runs\n"
    "                      this program)\n"
    "  --kube-token-file FILE\n"
    "                      file of the token for the API server; read for "
    "each\n"
    "                      request\n"
    "  --kube-ca-file FILE certificate authorities to trust for the API "
    "server,\n"
    "                      in PEM\n"
    "  --kube-config FILE  kubeconfig file, instead of the other --kube "
    "options\n"
    "\n"
    "Exit status: 0 ended, 1 cannot start, 2 usage error\n",
  .run = run,
};
