/* cmd_login.c - `login` and `logout` at a server */
#include "accounts.h"
#include "browser.h"
#include "file.h"
#include "remote.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16384 };

/* --- choice of the server ------------------------------------------------ */

/* Makes an alias of a URL: its host. */
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

/* Returns the context with this URL or alias, or NULL. */
static const cli_context *find_known(const cli_contexts *contexts,
                                     const char *word, const char *alias)
{
  if (!cli_is_url(word))
    return cli_contexts_find(contexts, word);
  for (size_t i = 0; i < contexts->count; i++)
    if (alias != NULL ? strcmp(contexts->items[i].alias, alias) == 0
                      : strcmp(contexts->items[i].url, word) == 0)
      return &contexts->items[i];
  return NULL;
}

static void replace(char **text, const char *with)
{
  if (with == NULL)
    return;
  free(*text);
  *text = strdup(with);
}

/* Fills in what is known of the server that the word means.  Returns false
 * after printing an error. */
static bool make_context(cli_context *out, const char *word,
                         const cli_login_args *o)
{
  const cli_context *known;
  cli_contexts contexts;
  bool good = cli_contexts_load(&contexts);

  *out = (cli_context){ 0 };
  if (!good)
    return false;
  if (word == NULL)
    word = cli_cluster != NULL ? cli_cluster : contexts.current;
  known = word != NULL ? find_known(&contexts, word, o->alias) : NULL;
  if (word == NULL || (known == NULL && !cli_is_url(word))) {
    good = false;
    if (word != NULL)
      cli_contexts_unknown(&contexts, word);
    else
      cli_misused("which server?", "a URL, or an alias");
  } else if (known != NULL) {
    good = cli_context_copy(out, known);
  }
  if (good && cli_is_url(word)) {
    replace(&out->url, word);
    if (out->alias == NULL)
      out->alias = o->alias != NULL ? strdup(o->alias) : alias_of(word);
  }
  replace(&out->alias, o->alias);
  replace(&out->user, o->user);
  replace(&out->ca_file, o->ca_file);
  cli_contexts_free(&contexts);
  if (good && (out->url == NULL || out->alias == NULL)) {
    cli_fail("out of memory");
    good = false;
  }
  return good && cli_alias_ok(out->alias);
}

/* --- URL of the API ------------------------------------------------------ */

/* Returns 1 if the API is at this URL, with *oidc; 0 if something else
 * answers; -1, after printing an error, if nothing answers. */
static int probe(const cli_context *context, bool *oidc)
{
  cli_remote r;
  cli_answer a;
  pai_json *j = NULL;
  int found = 0;

  if (!cli_remote_open_context(&r, context, NULL))
    return -1;
  cli_call(&r, &a, "server.info", cli_no_arguments());
  if (a.http == 0) {
    cli_answer_tell(&a);
    found = -1;
  } else if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    found = cli_json_has(j, 0, "version") || cli_json_has(j, 0, "authnMethod");
    *oidc = strcmp(cli_json_text(j, 0, "authnMethod"), "OIDC") == 0;
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  cli_remote_close(&r);
  return found;
}

/* The API of an original OpenPAI is below its portal, at /rest-server. */
static bool find_api(cli_context *context, bool *oidc)
{
  size_t size;
  char *below;
  int found = probe(context, oidc);

  if (found != 0 || context->url == NULL)
    return found > 0 && context->url != NULL;
  while (context->url[strlen(context->url) - 1] == '/')
    context->url[strlen(context->url) - 1] = '\0';
  size = strlen(context->url) + 16;
  below = malloc(size);
  if (below == NULL)
    return false;
  (void)snprintf(below, size, "%s/rest-server", context->url);
  free(context->url);
  context->url = below;
  found = probe(context, oidc);
  if (found == 0) {
    cli_fail("there is no OpenPAI at %.*s",
             (int)(strlen(below) - strlen("/rest-server")), below);
    cli_help(stderr, "give the URL of its portal or of its REST server");
  }
  return found > 0;
}

/* --- tokens -------------------------------------------------------------- */

/* Reads the first line of standard input, for free(); NULL after printing an
 * error. */
static char *read_line(const char *what)
{
  char *text = NULL;
  size_t len = 0;

  if (cli_read_file(&text, &len, "-", MOST) != 0 || len == 0) {
    cli_fail("standard input has no %s", what);
    free(text);
    return NULL;
  }
  text[strcspn(text, "\r\n")] = '\0';
  return text;
}

/* Whether a login with a browser, here or elsewhere, was asked for. */
static bool wants_browser(const cli_login_args *a)
{
  return a->oidc || a->no_browser;
}

static char *need_password(const cli_context *context, const cli_login_args *o)
{
  char what[320], *password;

  if (o->password_stdin)
    return read_line("password");
  (void)snprintf(what, sizeof(what), "Password for %.100s at %.150s",
                 context->user, context->url);
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

/* Gets a token for a password, for free(); NULL after printing an error. */
static char *log_in(cli_context *context, const char *password)
{
  credentials c = { context->user, password };
  char *token = NULL;
  cli_remote r;
  cli_answer a;
  pai_json *j;

  if (!cli_remote_open_context(&r, context, NULL))
    return NULL;
  cli_remote_call(&r, &a, start_login, &c, NULL);
  /* The server's help, "log in again", would be useless here. */
  if (a.http == 401 || a.http == 400)
    (void)snprintf(
      a.help, sizeof(a.help),
      "check user name and password; --user NAME sets the user name");
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    token = strdup(cli_json_text(j, 0, "token"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  cli_remote_close(&r);
  return token;
}

/* Whether the server accepts the token; if not, prints an error. */
static bool is_taken(const cli_context *context, const char *token)
{
  cli_remote r;
  cli_answer a;
  bool good;

  if (!cli_remote_open_context(&r, context, token))
    return false;
  cli_call(&r, &a, "tokens.check", cli_no_arguments());
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

/* Stores a server and a verified token.  Returns false after printing an
 * error. */
static bool keep_context(cli_context *context, const char *token)
{
  if (!is_taken(context, token))
    return false;
  if (context->user == NULL)
    context->user = cli_token_user(token);
  return cli_context_put(context) && cli_token_keep(context, token);
}

/* Revokes the token on the server, if possible. */
static void cli_context_leave(const cli_context *context, const char *token)
{
  cli_remote r;
  cli_answer a;

  if (!cli_remote_open_context(&r, context, token))
    return;
  cli_call(&r, &a, "authn.logout", cli_no_arguments());
  if (a.status != PAI_OK && a.http != 401)
    cli_say(PAI_LOG_WARNING, "the token could not be revoked on the server: "
                             "it stays valid until it expires");
  cli_answer_free(&a);
  cli_remote_close(&r);
}

/* --- the verbs ----------------------------------------------------------- */

/* A script without a terminal must ask for the browser explicitly, since it
 * could wait for one in vain. */
static char *get_browser_token(cli_context *context, const cli_login_args *o)
{
  char *token, *user;

  if (!wants_browser(o) &&
      !(cli_is_terminal(stdin) && cli_is_terminal(stderr))) {
    cli_fail("users of %s log in with a browser", context->url);
    cli_help(stderr, "use --oidc, or --no-browser for a browser on another "
                     "machine; or create an application token, and give it to "
                     "openpai login --token-stdin");
    return NULL;
  }
  token = cli_browser_login(context, o->no_browser);
  user = token != NULL ? cli_token_user(token) : NULL;
  if (user != NULL && o->user != NULL && strcmp(user, o->user) != 0) {
    cli_fail("user %s logged in instead of %s: no token is stored", user,
             o->user);
    cli_context_leave(context, token);
    free(token);
    token = NULL;
  }
  if (token != NULL && user != NULL)
    replace(&context->user, user);
  free(user);
  return token;
}

/* Returns a token for this server, for free(); NULL after printing an
 * error. */
static char *get_token(cli_context *context, const cli_login_args *o,
                       bool oidc)
{
  char *password, *token;

  if (o->token_stdin) {
    token = read_line("token");
    /* The token may be another user's than the stored one. */
    if (token != NULL && o->user == NULL) {
      free(context->user);
      context->user = cli_token_user(token);
    }
    return token;
  }
  if (oidc)
    return get_browser_token(context, o);
  if (wants_browser(o)) {
    cli_fail("users of %s log in with a password", context->url);
    cli_help(stderr, "omit --oidc and --no-browser");
    return NULL;
  }
  if (context->user == NULL)
    context->user = strdup(cli_user());
  password = context->user != NULL ? need_password(context, o) : NULL;
  token = password != NULL ? log_in(context, password) : NULL;
  free(password);
  return token;
}

static void warn_plain(const cli_context *context)
{
  if (strncmp(context->url, "http://", 7) == 0 &&
      strncmp(context->url + 7, "127.", 4) != 0 &&
      strncmp(context->url + 7, "localhost", 9) != 0)
    cli_say(PAI_LOG_WARNING, "the URL is http, not https: the network can "
                             "read the password and the token");
}

int cli_do_login(const cli_login_args *a)
{
  const char *word = a->count > 0 ? a->words[0] : NULL;
  cli_context context;
  bool oidc = false, good = false;
  char *token = NULL;

  if (make_context(&context, word, a) && find_api(&context, &oidc)) {
    warn_plain(&context);
    token = get_token(&context, a, oidc);
    good = token != NULL && keep_context(&context, token);
  }
  if (good)
    (void)printf("logged in to %s as %s: use it with --cluster %s\n",
                 context.url, context.user != NULL ? context.user : "somebody",
                 context.alias);
  free(token);
  cli_context_free(&context);
  return good ? CLI_OK : CLI_NO;
}

int cli_do_logout(const cli_logout_args *a)
{
  int chosen;
  cli_context context;
  char *token;

  if (a->count == 1)
    cli_cluster = a->words[0];
  chosen = cli_context_choose(&context);
  if (chosen == 0)
    cli_misused("which server?", "an alias");
  if (chosen <= 0)
    return chosen == 0 ? CLI_USAGE : CLI_NO;
  token = cli_token_find(&context);
  if (token != NULL)
    cli_context_leave(&context, token);
  cli_token_forget(&context);
  free(token);
  cli_context_free(&context);
  return CLI_OK;
}
