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
  if (cli_value_count > 0)
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
  const char *rate = NULL, *connections = NULL, *each = NULL;
  const char *password = NULL;
  unsigned requests = 600;
  bool reveal = false;
  const cli_option options[] = {
    { "listen", 0, NULL, cli_values },
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
                   &wish.accounts.least_password))
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
  .brief = "Serve a platform to others, over TCP",
  .usage =
    "[--extender CONFIG]\n"
    "                     [--listen HOST:PORT]... [--tls-cert FILE --tls-key "
    "FILE]\n"
    "                     [--prefix PATH] [--cors ORIGIN] "
    "[--trusted-proxies LIST]\n"
    "                     [--rate-limit N] [--connections N] "
    "[--most-per-address N]\n"
    "                     [--least-password N] [--reveal-tokens]\n"
    "                     [--system] [--jobs-as-root] [--refuse-impossible]\n"
    "                     [--runtime NAME] [--policy NAME] "
    "[--pass-env NAMES]\n"
    "                     [--root DIR] [--verbose]\n"
    "                     [--oidc FILE] [--oidc-issuer URL] [--oidc-client-id "
    "ID]\n"
    "                     [--oidc-redirect URL] [--oidc-client-secret-file "
    "FILE]\n"
    "                     [--oidc-scope SCOPES] [--oidc-pages LIST]\n"
    "                     [--oidc-groups-claim NAME] [--oidc-admins LIST]\n"
    "                     [--oidc-domains LIST] [--oidc-groups LIST]\n"
    "                     [--oidc-ca-file FILE]",
  .help =
    "Serve the platform of a root, as 'openpai up --foreground' does, and "
    "OpenPAI's\n"
    "REST API over TCP.  Users over TCP need an account.  The first one is "
    "admin,\n"
    "whose password is printed once, or is $OPENPAI_ADMIN_PASSWORD.  A "
    "signal ends\n"
    "the server; its tasks go on.\n\n"
    "  --listen HOST:PORT  where (default: 127.0.0.1:9186); [::1]:9186, or "
    ":9186\n"
    "                      for all addresses of this machine; port 0 is any\n"
    "  --tls-cert FILE     speak TLS: the certificate and its chain, in PEM\n"
    "  --tls-key FILE      its key\n"
    "  --prefix PATH       what paths may begin with, beside /rest-server\n"
    "  --cors ORIGIN       pages of which origin may ask (default: *)\n"
    "  --trusted-proxies LIST\n"
    "                      whose X-Forwarded-For is believed: addresses and\n"
    "                      networks, as 127.0.0.1,::1 (default: none)\n"
    "  --rate-limit N      requests a minute of one address (default: 600);\n"
    "                      0: no limits, nor of lists and submissions\n"
    "  --connections N     as many of each address of --listen (default: "
    "16,384)\n"
    "  --most-per-address N\n"
    "                      as many of those by one address (default: any "
    "number)\n"
    "  --least-password N  fewest characters of a new password (default: 8)\n"
    "  --reveal-tokens     show tokens whole in GET /tokens, as OpenPAI "
    "does\n"
    "  --system            a platform of all users of this machine, by root\n"
    "  --jobs-as-root      root serves several accounts, all jobs run as "
    "root\n"
    "  --runtime NAME      what tasks run in: auto, process, bwrap, podman "
    "or\n"
    "                      docker (default: $OPENPAI_RUNTIME, or auto)\n"
    "  --refuse-impossible refuse a job that asks for more than the machine "
    "has\n"
    "                      (default: it waits)\n"
    "  --policy NAME       who is next, and who gives way: fifo, priority, "
    "...\n"
    "                      (default: $OPENPAI_POLICY, or fifo)\n"
    "  --pass-env NAMES    variables of its own that tasks get\n"
    "  --root DIR          the root (default: $OPENPAI_ROOT, or as of up)\n"
    "  -v, --verbose       say what happens\n"
    "  -h, --help\n\n"
    "With --oidc, or --oidc-issuer, users log in at a provider of OpenID "
    "Connect, and\n"
    "have no passwords here:\n\n"
    "  --oidc FILE         all of this in YAML; what is said beside it goes "
    "before it\n"
    "                      (default: oidc.yaml in the root, if it is there)\n"
    "  --oidc-issuer URL   the provider's issuer\n"
    "  --oidc-client-id ID client id of this platform there\n"
    "  --oidc-client-secret-file FILE\n"
    "                      its secret, which others cannot read (default:\n"
    "                      $OPENPAI_OIDC_CLIENT_SECRET, or a public client)\n"
    "  --oidc-redirect URL /api/v1/authn/oidc/return of this server, as "
    "browsers\n"
    "                      reach it\n"
    "  --oidc-scope SCOPES (default: 'openid profile email')\n"
    "  --oidc-pages LIST   pages that a login may lead to with a token, with "
    "commas;\n"
    "                      URL/ is all below it\n"
    "  --oidc-groups-claim NAME\n"
    "                      the claim whose names are externalName of groups\n"
    "  --oidc-admins LIST  rules CLAIM=VALUE, with commas, of who is an\n"
    "                      administrator\n"
    "  --oidc-domains LIST mail domains whose users may log in; * is all "
    "users\n"
    "                      (default: users with an account)\n"
    "  --oidc-groups LIST  groups that may log in\n"
    "  --oidc-ca-file FILE trusted CA certificates of it, in PEM\n\n"
    "With --extender it is HiveD's web server instead: it answers "
    "Kubernetes'\n"
    "scheduler and binds pods.  A changed CONFIG is applied if it is safe.  "
    "Of the\n"
    "options above --listen, --tls-cert, --tls-key, --connections,\n"
    "--most-per-address and --verbose count, and\n\n"
    "  --extender CONFIG   HiveD's configuration (--listen defaults to its\n"
    "                      webServerAddress)\n"
    "  --kube-url URL      Kubernetes' API server (default: as CONFIG, "
    "$KUBECONFIG or\n"
    "                      ~/.kube/config say, or of the pod it is in)\n"
    "  --kube-token-file FILE\n"
    "                      a token for it, which may change\n"
    "  --kube-ca-file FILE whom to trust that it is it, in PEM\n"
    "  --kube-config FILE  a kubeconfig file, in the place of all these\n\n"
    "Exit status: 0 ended, 1 cannot start, 2 usage error\n",
  .run = run,
};
