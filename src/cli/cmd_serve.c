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
    { "--system", wish->system, false },
    { "--runtime", wish->runtime != NULL, false },
    { "--policy", wish->policy != NULL, false },
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
  cli_serving wish = { .server = PAI_SERVER_OPTIONS_INIT };
  pai_server_options *o = &wish.server;
  cli_oidc login = { .options = PAI_OIDC_OPTIONS_INIT };
  const char *rate = NULL, *connections = NULL, *each = NULL;
  unsigned requests = 600;
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
    { "system", 0, &wish.system, NULL },
    { "runtime", 0, NULL, &wish.runtime },
    { "policy", 0, NULL, &wish.policy },
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
      !read_number(each, "--most-per-address", &o->most_per_address))
    return CLI_USAGE;
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
    "                     [--system] [--runtime NAME] [--policy NAME] [--root "
    "DIR] "
    "[--verbose]\n"
    "                     [--oidc FILE] [--oidc-issuer URL] [--oidc-client-id "
    "ID]\n"
    "                     [--oidc-redirect URL] [--oidc-client-secret-file "
    "FILE]\n"
    "                     [--oidc-scope SCOPES] [--oidc-pages LIST]\n"
    "                     [--oidc-groups-claim NAME] [--oidc-admins LIST]\n"
    "                     [--oidc-ca-file FILE]",
  .help =
    "The platform of its root, as 'openpai up --foreground' runs it, and "
    "OpenPAI's\n"
    "REST API at addresses of TCP beside its socket.  Who comes so needs an\n"
    "account.  The first user is admin, whose password is said once, or is "
    "the "
    "one\n"
    "in $OPENPAI_ADMIN_PASSWORD.  A signal ends it, and its tasks go on.\n\n"
    "  --listen HOST:PORT  where (default: 127.0.0.1:9186); [::1]:9186, or "
    ":9186\n"
    "                      for all addresses of this machine; port 0 is any\n"
    "  --tls-cert FILE     speak TLS: the certificate, in PEM, and those "
    "that\n"
    "                      signed it; both are read again when they "
    "change\n"
    "  --tls-key FILE      its key\n"
    "  --prefix PATH       what paths may begin with, beside /rest-server\n"
    "  --cors ORIGIN       pages of which origin may ask (default: *, all)\n"
    "  --trusted-proxies LIST\n"
    "                      whose X-Forwarded-For is believed: addresses and\n"
    "                      networks (default: 127.0.0.0/8,::1)\n"
    "  --rate-limit N      requests a minute of one address (default: 600);\n"
    "                      0: no limits, nor of lists and submissions\n"
    "  --connections N     as many of each address of --listen (default: "
    "16,384)\n"
    "  --most-per-address N\n"
    "                      as many of those by one address (default: any "
    "number)\n"
    "  --system            a platform of all users of this machine, by root\n"
    "  --runtime NAME      what tasks run in: auto, process, bwrap, podman "
    "or\n"
    "                      docker (default: $OPENPAI_RUNTIME, or auto)\n"
    "  --policy NAME       who is next, and who gives way: fifo, priority, "
    "...\n"
    "                      (default: $OPENPAI_POLICY, or fifo)\n"
    "  --root DIR          the root (default: $OPENPAI_ROOT, or\n"
    "                      $XDG_STATE_HOME/openpai, or "
    "~/.local/state/openpai)\n"
    "  -v, --verbose       say what happens\n"
    "  -h, --help\n\n"
    "With --oidc, or --oidc-issuer, users log in at a provider of OpenID "
    "Connect, and\n"
    "have no passwords here:\n\n"
    "  --oidc FILE         all of this in YAML; what is said beside it goes "
    "before it\n"
    "                      (default: oidc.yaml in the root, if it is there)\n"
    "  --oidc-issuer URL   what the provider calls itself\n"
    "  --oidc-client-id ID as whom this platform is registered there\n"
    "  --oidc-client-secret-file FILE\n"
    "                      its secret, which others cannot read (default:\n"
    "                      $OPENPAI_OIDC_CLIENT_SECRET, or a public client)\n"
    "  --oidc-redirect URL /api/v1/authn/oidc/return of this server, as "
    "browsers\n"
    "                      reach it\n"
    "  --oidc-scope SCOPES (default: 'openid profile email')\n"
    "  --oidc-pages LIST   URLs that a login may lead to with a token, with "
    "commas; one\n"
    "                      that ends with / stands for all below it, and\n"
    "                      http://localhost/ for all ports of the browser's\n"
    "                      machine\n"
    "  --oidc-groups-claim NAME\n"
    "                      the claim whose names are externalName of groups\n"
    "  --oidc-admins LIST  rules CLAIM=VALUE, with commas, of who is an\n"
    "                      administrator; a value with commas or = is said "
    "in\n"
    "                      oidc.yaml\n"
    "  --oidc-ca-file FILE whom to trust that it is it, in PEM\n\n"
    "With --extender there is no platform: it is HiveD's web server, which "
    "answers\n"
    "Kubernetes' scheduler where pods go, and binds them.  It ends when its\n"
    "configuration changes, to be begun anew.  Of the options above "
    "--listen,\n"
    "--tls-cert, --tls-key, --connections, --most-per-address and --verbose\n"
    "count, and\n\n"
    "  --extender CONFIG   HiveD's configuration, whose webServerAddress is "
    "where it\n"
    "                      listens by default\n"
    "  --kube-url URL      Kubernetes' API server (default: as CONFIG, "
    "$KUBECONFIG or\n"
    "                      ~/.kube/config say, or of the pod it is in)\n"
    "  --kube-token-file FILE\n"
    "                      a token for it, which may change\n"
    "  --kube-ca-file FILE whom to trust that it is it, in PEM\n"
    "  --kube-config FILE  a kubeconfig file, in the place of all these\n\n"
    "Exit code: 0 it was ended, 1 it could not begin, 2 wrong usage.\n",
  .run = run,
};
