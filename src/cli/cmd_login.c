/* cmd_login.c - logs in at a server elsewhere, and out of it */
#include "accounts.h"
#include "browser.h"
#include "file.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16384 };

typedef struct login_options {
  const char *alias, *user, *ca_file;
  bool token_in, password_in;
  bool oidc, no_browser; /* a browser, and one that may be anywhere */
} login_options;

/* --- which server ---------------------------------------------------------------- */

/* An alias made of a URL: its host. */
static char *alias_of(const char *url)
{
  const char *host = strstr(url, "://") + 3;
  char *alias = strndup(host, strcspn(host, "/:?#"));

  if (alias != NULL && (alias[0] == '\0' || alias[0] == '[')) {
    free(alias);
    alias = strdup("server");
  }
  return alias;
}

/* The one that has the URL, or whose alias the word is; NULL. */
static const cli_site *find_known(const cli_sites *sites, const char *word,
                                  const char *alias)
{
  if (!cli_is_url(word))
    return cli_sites_find(sites, word);
  for (size_t i = 0; i < sites->count; i++)
    if (alias != NULL ? strcmp(sites->items[i].alias, alias) == 0
                      : strcmp(sites->items[i].url, word) == 0)
      return &sites->items[i];
  return NULL;
}

static void replace(char **text, const char *with)
{
  if (with == NULL)
    return;
  free(*text);
  *text = strdup(with);
}

/* What is known of the server that the word means.  False, and told. */
static bool make_site(cli_site *out, const char *word, const login_options *o)
{
  const cli_site *known;
  cli_sites sites;
  bool good = cli_sites_load(&sites);

  *out = (cli_site){ 0 };
  if (!good)
    return false;
  if (word == NULL)
    word = cli_cluster != NULL ? cli_cluster : sites.current;
  known = word != NULL ? find_known(&sites, word, o->alias) : NULL;
  if (word == NULL || (known == NULL && !cli_is_url(word))) {
    good = false;
    if (word != NULL)
      cli_sites_unknown(&sites, word);
    else
      cli_misused(&cli_login, "which server?", "a URL, or an alias");
  } else if (known != NULL) {
    good = cli_site_copy(out, known);
  }
  if (good && cli_is_url(word)) {
    replace(&out->url, word);
    if (out->alias == NULL)
      out->alias = o->alias != NULL ? strdup(o->alias) : alias_of(word);
  }
  replace(&out->alias, o->alias);
  replace(&out->user, o->user);
  replace(&out->ca_file, o->ca_file);
  cli_sites_free(&sites);
  if (good && (out->url == NULL || out->alias == NULL)) {
    cli_fail("out of memory");
    good = false;
  }
  return good && cli_alias_ok(out->alias);
}

/* --- where its API is ------------------------------------------------------------- */

/* 1: it is there, *oidc says how one logs in; 0: something else is; -1: nothing
 * answers, and told. */
static int probe(const cli_site *site, bool *oidc)
{
  cli_remote r;
  cli_answer a;
  cli_json j = { 0 };
  int found = 0;

  if (!cli_remote_open_site(&r, site, NULL))
    return -1;
  cli_remote_ask(&r, &a, "GET", "/api/v2/info", NULL, NULL, 0);
  if (a.http == 0) {
    cli_answer_tell(&a);
    found = -1;
  } else if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    found = cli_json_get(&j, 0, "version") != 0 ||
            cli_json_get(&j, 0, "authnMethod") != 0;
    *oidc = strcmp(cli_json_text(&j, 0, "authnMethod"), "OIDC") == 0;
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  cli_remote_close(&r);
  return found;
}

/* The original's API is below the portal, at /rest-server. */
static bool find_api(cli_site *site, bool *oidc)
{
  size_t size;
  char *below;
  int found = probe(site, oidc);

  if (found != 0 || site->url == NULL)
    return found > 0 && site->url != NULL;
  while (site->url[strlen(site->url) - 1] == '/')
    site->url[strlen(site->url) - 1] = '\0';
  size = strlen(site->url) + 16;
  below = malloc(size);
  if (below == NULL)
    return false;
  (void)snprintf(below, size, "%s/rest-server", site->url);
  free(site->url);
  site->url = below;
  found = probe(site, oidc);
  if (found == 0) {
    cli_fail("there is no OpenPAI at %.*s",
             (int)(strlen(below) - strlen("/rest-server")), below);
    cli_help(stderr, "give the URL of its portal or of its REST server");
  }
  return found > 0;
}

/* --- who ------------------------------------------------------------------------------ */

/* The first line of standard input, for free(); NULL, and told. */
static char *read_line(const char *what)
{
  char *text = NULL, *line;
  size_t len = 0;

  if (cli_read_file(&text, &len, "-", MOST) != 0 || len == 0) {
    cli_fail("standard input has no %s", what);
    free(text);
    return NULL;
  }
  line = strndup(text, len);
  free(text);
  if (line != NULL)
    line[strcspn(line, "\r\n")] = '\0';
  return line;
}

static char *need_password(const cli_site *site, const login_options *o)
{
  char what[320], *password;

  if (o->password_in)
    return read_line("password");
  (void)snprintf(what, sizeof(what), "Password for %.100s at %.150s",
                 site->user, site->url);
  password = cli_prompt(what);
  if (password == NULL) {
    cli_fail("cannot ask for a password: standard input is not a terminal");
    cli_help(stderr, "--password-stdin or --token-stdin reads it from a pipe");
  }
  return password;
}

typedef struct credentials {
  const char *user, *password;
} credentials;

static int start_login(cli_remote *r, void *data, pai_client_cb cb,
                       void *user_data, pai_error **err)
{
  const credentials *c = data;

  return pai_client_login(NULL, r->client, c->user, c->password, cb, user_data,
                          err);
}

/* Gets a token for a password, for free(); NULL, and told. */
static char *log_in(cli_site *site, const char *password)
{
  credentials c = { site->user, password };
  char *token = NULL;
  cli_remote r;
  cli_answer a;
  cli_json j;

  if (!cli_remote_open_site(&r, site, NULL))
    return NULL;
  cli_remote_call(&r, &a, start_login, &c, NULL);
  if (a.http == 401 || a.http == 400) /* "log in again" is no help here */
    (void)snprintf(
      a.help, sizeof(a.help),
      "check user name and password; --user NAME sets the user name");
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    token = strdup(cli_json_text(&j, 0, "token"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  cli_remote_close(&r);
  return token;
}

/* Whether the server takes the token; if not, that is told. */
static bool is_taken(const cli_site *site, const char *token)
{
  cli_remote r;
  cli_answer a;
  bool good;

  if (!cli_remote_open_site(&r, site, token))
    return false;
  cli_remote_ask(&r, &a, "GET", "/api/v2/tokens/check", NULL, NULL, 0);
  good = a.status == PAI_OK;
  if (!good && a.http == 401)
    (void)snprintf(
      a.help, sizeof(a.help),
      "it has expired, was revoked, or belongs to another server");
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  cli_remote_close(&r);
  return good;
}

/* Keeps a server and a token for it that it has been asked about.  False, and
 * told. */
static bool keep_site(cli_site *site, const char *token)
{
  if (!is_taken(site, token))
    return false;
  if (site->user == NULL)
    site->user = cli_token_user(token);
  return cli_site_put(site) && cli_token_keep(site, token);
}

/* --- the verbs --------------------------------------------------------------------------- */

/* Where users log in with a browser.  A script is not kept waiting for one
 * unless it says so. */
static char *get_browser_token(cli_site *site, const login_options *o)
{
  char *token, *user;

  if (!o->oidc && !(cli_is_terminal(stdin) && cli_is_terminal(stderr))) {
    cli_fail("users of %s log in with a browser", site->url);
    cli_help(stderr, "--oidc does, and --no-browser with one elsewhere; or "
                     "make an application token, and give it to openpai login "
                     "--token-stdin");
    return NULL;
  }
  token = cli_browser_login(site, o->no_browser);
  user = token != NULL ? cli_token_user(token) : NULL;
  if (user != NULL && o->user != NULL && strcmp(user, o->user) != 0) {
    cli_fail("user %s logged in instead of %s: no token is stored", user,
             o->user);
    cli_site_leave(site, token);
    free(token);
    token = NULL;
  }
  if (token != NULL && user != NULL)
    replace(&site->user, user);
  free(user);
  return token;
}

/* A token for this server, for free(); NULL, and told. */
static char *get_token(cli_site *site, const login_options *o, bool oidc)
{
  char *password, *token;

  if (o->token_in) {
    token = read_line("token");
    if (token != NULL && o->user == NULL) { /* it may be another's now */
      free(site->user);
      site->user = cli_token_user(token);
    }
    return token;
  }
  if (oidc)
    return get_browser_token(site, o);
  if (o->oidc) {
    cli_fail("users of %s log in with a password", site->url);
    cli_help(stderr, "leave --oidc and --no-browser out");
    return NULL;
  }
  if (site->user == NULL)
    site->user = strdup(cli_user());
  password = site->user != NULL ? need_password(site, o) : NULL;
  token = password != NULL ? log_in(site, password) : NULL;
  free(password);
  return token;
}

static void warn_plain(const cli_site *site)
{
  if (strncmp(site->url, "http://", 7) == 0 &&
      strncmp(site->url + 7, "127.", 4) != 0 &&
      strncmp(site->url + 7, "localhost", 9) != 0)
    cli_say(PAI_LOG_WARNING, "the URL is http, not https: the network can "
                             "read the password and the token");
}

static int login(const char *word, const login_options *o)
{
  cli_site site;
  bool oidc = false, good = false;
  char *token = NULL;

  if (make_site(&site, word, o) && find_api(&site, &oidc)) {
    warn_plain(&site);
    token = get_token(&site, o, oidc);
    good = token != NULL && keep_site(&site, token);
  }
  if (good)
    (void)printf("logged in to %s as %s: use it with --cluster %s\n", site.url,
                 site.user != NULL ? site.user : "somebody", site.alias);
  free(token);
  cli_site_free(&site);
  return good ? CLI_OK : CLI_NO;
}

static int run_login(int argc, char **argv)
{
  login_options o = { 0 };
  const cli_option options[] = {
    { "alias", 0, NULL, &o.alias },
    { "user", 0, NULL, &o.user },
    { "ca-file", 0, NULL, &o.ca_file },
    { "token-stdin", 0, &o.token_in, NULL },
    { "password-stdin", 0, &o.password_in, NULL },
    { "oidc", 0, &o.oidc, NULL },
    { "no-browser", 0, &o.no_browser, NULL },
  };
  int words = cli_options(&cli_login, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words > 1)
    cli_misused(&cli_login, "only one server can be given", argv[1]);
  if (words < 0 || words > 1)
    return CLI_USAGE;
  if (o.token_in && o.password_in) {
    cli_misused(&cli_login, "only one of these can read standard input",
                "--token-stdin with --password-stdin");
    return CLI_USAGE;
  }
  o.oidc = o.oidc || o.no_browser;
  if (o.oidc && (o.token_in || o.password_in)) {
    cli_misused(&cli_login, "a login with a browser reads no standard input",
                o.token_in ? "--token-stdin" : "--password-stdin");
    return CLI_USAGE;
  }
  return login(words == 1 ? argv[0] : NULL, &o);
}

const cli_verb cli_login = {
  .name = "login",
  .brief = "Log in to a remote server and give it an alias",
  .usage = "[--alias NAME] [--user NAME] [--ca-file FILE]\n"
           "             [--token-stdin | --password-stdin | --oidc | "
           "--no-browser]\n"
           "             [URL|ALIAS]",
  .help =
    "The server runs openpai serve, or is an original OpenPAI.  To use it, "
    "put\n"
    "--cluster ALIAS before or after a verb, or make it the default with\n"
    "'openpai remote use ALIAS'.  Without URL and ALIAS, log in again to the\n"
    "default server.\n"
    "\n"
    "  --alias NAME     alias of the server (default: its host name)\n"
    "  --user NAME      user name on the server (default: your local user "
    "name)\n"
    "  --ca-file FILE   certificate authorities to trust, in PEM (default:\n"
    "                   those of the system)\n"
    "  --token-stdin    read a token from standard input; tokens are created\n"
    "                   with 'openpai token create' or in a portal\n"
    "  --password-stdin read the password from standard input (default: ask\n"
    "                   for it)\n"
    "  --oidc           log in with a browser, if the server uses OpenID\n"
    "                   Connect (the default at a terminal).  Check that the\n"
    "                   page shows the same code as this terminal\n"
    "  --no-browser     log in with a browser on any machine: its page shows "
    "a\n"
    "                   code, which you type here (default without a "
    "desktop)\n"
    "  -h, --help\n"
    "\n"
    "The token is stored in the desktop's keyring if secret-tool works, else "
    "in\n"
    "~/.config/openpai/credentials; aliases are stored in clusters.yaml "
    "there.\n"
    "$OPENPAI_CLUSTER and $OPENPAI_TOKEN replace --cluster and the stored "
    "token.\n"
    "\n"
    "Exit status: 0 logged in, 1 login failed, 2 usage error\n",
  .run = run_login,
};

/* --- what stands on a command line --------------------------------------------------------- */

static bool enter_given(cli_site *site, const cli_site_login *l)
{
  char *token = NULL;
  bool oidc = false, good;

  if (!find_api(site, &oidc))
    return false;
  warn_plain(site);
  if (l->token != NULL)
    token = strdup(l->token);
  else if (oidc)
    cli_fail("users of %s log in with a browser: give a token", site->url);
  else
    token = log_in(site, l->password);
  good = token != NULL && keep_site(site, token);
  free(token);
  return good;
}

bool cli_site_log_in(const cli_site_login *l)
{
  char *alias = l->alias != NULL ? strdup(l->alias) : alias_of(l->url);
  const cli_site given = { .alias = alias,
                           .url = (char *)l->url,
                           .user = (char *)l->user };
  cli_site site;
  bool good = false;

  cli_say(PAI_LOG_WARNING,
          "other users can read a token or password on a command line: use "
          "openpai login, which asks for it");
  if (alias != NULL && cli_alias_ok(alias) && cli_site_copy(&site, &given)) {
    good = enter_given(&site, l);
    cli_site_free(&site);
  }
  free(alias);
  return good;
}
