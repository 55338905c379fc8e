/* login.c - logging in for an editor, which keeps the token: nothing of it is
 * stored here */
#include "helper.h"

#include "browser.h"

#include <stdlib.h>
#include <string.h>

enum purpose { LOG_IN, MAKE_PAGE, FIND_SERVER };

/* What a login needs; it belongs to the call. */
typedef struct login {
  helper_call *call;
  pai_client *client;
  char *url, *ca_file;
  char *user, *password; /* or */
  char *token;           /* or */
  char *code, *verifier; /* of a login page */
  enum purpose purpose;
  bool below; /* the portal's REST server is tried */
} login;

static void wipe(char *text)
{
  volatile char *at = text;

  while (at != NULL && *at != '\0')
    *at++ = '\0';
  free(text);
}

static void drop(void *own)
{
  login *l = own;

  pai_client_close(l->client, NULL, NULL);
  free(l->url);
  free(l->ca_file);
  free(l->user);
  wipe(l->password);
  wipe(l->token);
  wipe(l->code);
  wipe(l->verifier);
  free(l);
}

/* --- answers -------------------------------------------------------------------- */

/* Answers or, for NULL, says that memory was short; frees the call. */
static void end(login *l, char *json)
{
  helper_call *c = l->call;

  if (c->editor->closing)
    free(json);
  else
    helper_respond(c->editor, c->request, json);
  helper_call_free(c);
}

static void refuse(login *l, const char *why)
{
  helper_call *c = l->call;

  if (!c->editor->closing)
    helper_refuse(c->editor, c->request, HELPER_FAILED, why);
  helper_call_free(c);
}

static void refuse_with(login *l, int status, const pai_client_answer *a)
{
  helper_call *c = l->call;

  if (c->editor->closing)
    ;
  else if (c->cancelled)
    helper_refuse(c->editor, c->request, HELPER_CANCELLED, "cancelled");
  else
    helper_refuse_with(c->editor, c->request, status, a->err, a->http_status,
                       a->code);
  helper_call_free(c);
}

/* --- the steps ------------------------------------------------------------------ */

/* Opens a client of the server, with the token if there is one. */
static bool open_client(login *l)
{
  pai_client_options o = PAI_CLIENT_OPTIONS_INIT;

  pai_client_close(l->client, NULL, NULL);
  l->client = NULL;
  o.url = l->url;
  o.ca_file = l->ca_file;
  o.token = l->token;
  return pai_client_new(&l->client, l->call->editor->of->loop, &o, NULL) ==
         PAI_OK;
}

/* The user and the token; both are in the answer of a login, but not in that
 * of a check. */
static void on_token(void *user_data, int status, const pai_client_answer *a)
{
  login *l = user_data;
  const char *token = l->token, *user = pai_client_user(l->client);
  pai_json *json = NULL;

  l->call->op = NULL;
  if (status != PAI_OK || l->call->cancelled) {
    refuse_with(l, status, a);
    return;
  }
  if (token == NULL && cli_json_read(&json, a->body, a->body_len)) {
    token = cli_json_text(json, 0, "token");
    user = cli_json_text(json, 0, "user");
  }
  if (token != NULL && token[0] != '\0')
    end(l, cli_json_make("{\"url\":%s,\"user\":%s,\"token\":%s}", l->url, user,
                         token));
  else
    refuse(l, "the server's answer to the login has no token");
  cli_json_free(&json);
}

static int redeem(login *l, pai_error **err)
{
  char *arguments =
    cli_json_make("{\"code\":%s,\"code_verifier\":%s}", l->code, l->verifier);
  int rc = PAI_ENOMEM;

  if (arguments != NULL)
    rc = pai_client_call(&l->call->op, l->client, "oidc.token", arguments,
                         on_token, l, err);
  wipe(arguments);
  return rc;
}

/* The API was found: gets the token, or checks that of the editor. */
static void get_token(login *l)
{
  pai_error *err = NULL;
  int rc;

  if (l->token != NULL)
    rc = pai_client_call(&l->call->op, l->client, "tokens.check", "{}",
                         on_token, l, &err);
  else if (l->code != NULL)
    rc = redeem(l, &err);
  else
    rc = pai_client_login(&l->call->op, l->client, l->user, l->password,
                          on_token, l, &err);
  helper_check_begun(l->call, rc, err);
}

static void make_page(login *l)
{
  char *page;
  cli_pkce pkce;

  if (!cli_pkce_draw(&pkce)) {
    refuse(l, "no random numbers are available");
    return;
  }
  page = cli_login_page(l->url, &pkce, NULL);
  end(l, page != NULL
           ? cli_json_make(
               "{\"url\":%s,\"page\":%s,\"words\":%s,\"verifier\":%s}", l->url,
               page, pkce.words, pkce.verifier)
           : NULL);
  free(page);
  memset(&pkce, 0, sizeof(pkce));
}

/* What was found at the URL. */
static void take_info(login *l, const pai_json *info)
{
  bool browser = strcmp(cli_json_text(info, 0, "authnMethod"), "OIDC") == 0,
       own = strcmp(cli_json_text(info, 0, "server"), "libopenpai") == 0;

  if (l->purpose == FIND_SERVER)
    end(l, cli_json_make("{\"url\":%s,\"browser\":%c}", l->url,
                         cli_truth(browser)));
  else if (l->purpose == MAKE_PAGE && !browser)
    refuse(l, "users of this server log in with a password");
  else if (l->purpose == MAKE_PAGE && !own)
    refuse(l, "this server is an original OpenPAI, which sends the browser "
              "to a program on its own machine: use 'openpai login' in a "
              "terminal, or a token of its portal");
  else if (l->purpose == MAKE_PAGE)
    make_page(l);
  else if (browser && l->token == NULL && l->code == NULL)
    refuse(l, "users of this server log in with a browser");
  else
    get_token(l);
}

static void ask_info(login *l);

/* The API of an original OpenPAI is below its portal. */
static void look_below(login *l)
{
  size_t len = strlen(l->url), size;
  char *url;

  while (len > 0 && l->url[len - 1] == '/')
    len--;
  size = len + sizeof("/rest-server");
  url = malloc(size);
  if (url == NULL) {
    end(l, NULL);
    return;
  }
  (void)snprintf(url, size, "%.*s/rest-server", (int)len, l->url);
  free(l->url);
  l->url = url;
  l->below = true;
  if (open_client(l))
    ask_info(l);
  else
    end(l, NULL);
}

static void on_info(void *user_data, int status, const pai_client_answer *a)
{
  login *l = user_data;
  pai_json *json = NULL;

  l->call->op = NULL;
  if (l->call->cancelled || l->call->editor->closing || a->http_status == 0)
    refuse_with(l, status < 0 ? status : PAI_ECANCELED, a);
  else if (status == PAI_OK && cli_json_read(&json, a->body, a->body_len) &&
           (cli_json_has(json, 0, "version") ||
            cli_json_has(json, 0, "authnMethod")))
    take_info(l, json);
  else if (!l->below)
    look_below(l);
  else
    refuse(l, "there is no OpenPAI at this address: give that of its portal "
              "or of its REST server");
  cli_json_free(&json);
}

static void ask_info(login *l)
{
  pai_error *err = NULL;
  int rc = pai_client_call(&l->call->op, l->client, "server.info", "{}",
                           on_info, l, &err);

  helper_check_begun(l->call, rc, err);
}

/* --- beginning ------------------------------------------------------------------ */

static char *take(const pai_json *params, const char *name)
{
  const char *text = cli_json_text(params, 0, name);

  return text[0] != '\0' ? strdup(text) : NULL;
}

static void begin(helper_editor *e, uint64_t request, const pai_json *params,
                  enum purpose purpose)
{
  helper_call *c = helper_call_new(e, request);
  login *l = c != NULL ? calloc(1, sizeof(*l)) : NULL;

  if (l == NULL) {
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
    if (c != NULL)
      helper_call_free(c);
    return;
  }
  *l = (login){ .call = c,
                .purpose = purpose,
                .url = take(params, "url"),
                .ca_file = take(params, "caFile"),
                .user = take(params, "user"),
                .password = take(params, "password"),
                .token = take(params, "token"),
                .code = take(params, "code"),
                .verifier = take(params, "verifier") };
  c->own = l;
  c->drop = drop;
  if (l->code != NULL)
    cli_code_clean(l->code);
  if (purpose == LOG_IN && l->token == NULL &&
      (l->user == NULL || l->password == NULL) &&
      (l->code == NULL || l->verifier == NULL))
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "give a user and a password, a token, or the code of a "
                  "login page and its verifier");
  else if (l->url == NULL || !open_client(l))
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "the address of the server is missing or wrong");
  else {
    ask_info(l);
    return;
  }
  helper_call_free(c);
}

HELPER_METHOD(login)
{
  begin(e, request, params, LOG_IN);
}

HELPER_METHOD(login_page)
{
  begin(e, request, params, MAKE_PAGE);
}

HELPER_METHOD(find_server)
{
  begin(e, request, params, FIND_SERVER);
}
