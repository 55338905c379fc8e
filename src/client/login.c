/*
 * login.c - credentials of a client: tokens and logging in
 *
 * With a user and a password the client logs in when it first needs to, before
 * its token expires, and when the server refuses it.  All requests that wait
 * share one login.
 */
#include "client/inside.h"

#include "json/writer.h"

/* Wipes and frees a text; NULL is allowed. */
static void wipe(const pai_alloc *alloc, char *text)
{
  volatile char *p = text;

  if (text == NULL)
    return;
  for (size_t i = 0, len = strlen(text); i < len; i++)
    p[i] = 'x';
  pai__strfree(alloc, text);
}

/* --- the token ----------------------------------------------------------- */

static void forget_token(pai_client *client)
{
  const pai_alloc *alloc = &client->alloc;

  wipe(alloc, client->token);
  wipe(alloc, client->authorization);
  pai__strfree(alloc, client->token_user);
  client->token = client->authorization = client->token_user = NULL;
  client->token_until = 0;
  client->token_number++;
}

void pai__client_forget(pai_client *client)
{
  forget_token(client);
  wipe(&client->alloc, client->user);
  wipe(&client->alloc, client->password);
  client->user = client->password = NULL;
}

/* Returns whether a text cannot end a line of the request. */
static bool is_plain(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (text[i] <= ' ' || text[i] >= 0x7f)
      return false;
  return len > 0;
}

int pai__client_set_token(pai_client *client, const char *token, size_t len)
{
  const pai_alloc *alloc = &client->alloc;
  pai__client_token says = { 0 };
  pai__buf line;

  if (!is_plain(token, len))
    return PAI_EINVAL;
  forget_token(client);
  client->token = pai__strndup(alloc, token, len);
  pai__buf_init(&line, alloc);
  pai__buf_str(&line, "Bearer ");
  pai__buf_add(&line, token, len);
  client->authorization = pai__buf_take(&line);
  if (client->token == NULL || client->authorization == NULL ||
      pai__token_read(&says, alloc, client->token) < 0) {
    forget_token(client);
    return PAI_ENOMEM;
  }
  client->token_user = says.user;
  /* Clocks differ, so only the lifetime counts, from now on and less a
   * tenth. */
  if (says.expires > says.issued && says.issued > 0 &&
      says.expires - says.issued < INT32_MAX)
    client->token_until =
      pai__loop_time() + (says.expires - says.issued) * 900000;
  return PAI_OK;
}

int pai__client_set_user(pai_client *client, const char *user,
                         const char *password)
{
  char *name = pai__strdup(&client->alloc, user),
       *word = pai__strdup(&client->alloc, password);

  if (name == NULL || word == NULL) {
    wipe(&client->alloc, name);
    wipe(&client->alloc, word);
    return PAI_ENOMEM;
  }
  wipe(&client->alloc, client->user);
  wipe(&client->alloc, client->password);
  client->user = name;
  client->password = word;
  return PAI_OK;
}

const char *pai_client_token(const pai_client *client)
{
  return client != NULL ? client->token : NULL;
}

const char *pai_client_user(const pai_client *client)
{
  if (client == NULL)
    return NULL;
  return client->token_user != NULL ? client->token_user : client->user;
}

/* --- logging in ---------------------------------------------------------- */

static int ask_login(pai__client_ask **out, pai_client *client,
                     const char *user, const char *password, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  pai__call call = pai__call_of(client, "POST", "/api/v2/authn/basic/login");
  pai__json_writer w;
  pai__buf body;
  int rc;

  pai__buf_init(&body, &client->alloc);
  pai__json_writer_init(&w, &body, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "username", user);
  pai__json_put_text(&w, "password", password);
  pai__json_end_object(&w);
  call.body = pai__buf_text(&body);
  call.body_len = body.len;
  call.again = call.nobody = call.secret = true;
  rc = pai__json_finish(&w) == PAI_OK
         ? pai__ask_new(out, client, &call, cb, user_data, err)
         : pai__oom(err);
  pai__buf_wipe(&body);
  return rc;
}

/* Stores the answer's token in the client. */
static int take_token(pai_client *client, int status,
                      const pai_client_answer *a, pai_error **err)
{
  pai__tree *tree;
  const char *token;
  int rc = status;

  if (status == PAI_EINVAL) { /* the API's code for wrong credentials */
    rc = pai__fail(err, PAI_EPERM, "%s", pai_error_message(a->err));
    pai__error_help(err,
                    "use the name and password of an account on the server");
    return rc;
  }
  if (status < 0)
    return rc;
  tree = pai__answer_tree(&client->alloc, a->body, a->body_len);
  token = pai__tree_look_text(tree, 0, "token", "");
  rc = pai__client_set_token(client, token, strlen(token));
  if (rc == PAI_EINVAL)
    rc =
      pai__fail(err, PAI_EIO, "the server's answer to the login has no token");
  else if (rc < 0)
    rc = pai__oom(err);
  pai__tree_free(tree);
  return rc;
}

/* Resumes waiting operations.  Those that a callback adds wait for a later
 * login. */
static void on_login(void *user_data, int status, const pai_client_answer *a)
{
  pai_client *client = user_data;
  uint64_t number = client->logins;
  pai_error *err = NULL;
  pai__client_op *after;
  int rc = take_token(client, status, a, &err);

  client->login = NULL;
  for (pai__client_op *op = client->first; op != NULL; op = after) {
    after = op->after;
    if (op->login != number)
      continue;
    op->login = 0;
    op->resume(op, rc, err != NULL ? err : a->err);
  }
  pai_error_free(err);
}

static bool can_log_in(const pai_client *client)
{
  return client->user != NULL && client->password != NULL;
}

int pai__client_admit(pai_client *client, pai__client_op *op, pai_error **err)
{
  bool old =
    client->token_until != 0 && pai__loop_time() >= client->token_until;
  int rc;

  if (!can_log_in(client) || (client->token != NULL && !old))
    return 1;
  if (client->login == NULL) {
    client->logins++;
    rc = ask_login(&client->login, client, client->user, client->password,
                   on_login, client, err);
    if (rc < 0)
      return rc;
  }
  op->login = client->logins;
  return 0;
}

bool pai__client_renew(pai_client *client, uint64_t number)
{
  if (!can_log_in(client))
    return false;
  if (number == client->token_number) /* no newer token was received
                                         meanwhile */
    forget_token(client);
  return true;
}

/* --- public functions ---------------------------------------------------- */

typedef struct login_sequence {
  pai__client_sequence sequence;
  char *user, *password;
} login_sequence;

static void dispose_login(pai__client_sequence *c)
{
  login_sequence *l = (login_sequence *)c;

  wipe(&c->op.client->alloc, l->user);
  wipe(&c->op.client->alloc, l->password);
}

static void on_asked_login(void *user_data, int status,
                           const pai_client_answer *a)
{
  pai__client_sequence *c = user_data;
  login_sequence *l = user_data;
  pai_client *client = c->op.client;
  pai_client_answer out = *a;
  pai_error *err = NULL;
  int rc;

  c->child = NULL;
  rc = c->canceled ? PAI_ECANCELED : take_token(client, status, a, &err);
  if (rc == PAI_OK && pai__client_set_user(client, l->user, l->password) < 0)
    rc = pai__oom(&err);
  if (err != NULL)
    out.err = err;
  pai__client_sequence_end(c, rc, &out);
  pai_error_free(err);
}

int pai_client_login(pai_op **op, pai_client *client, const char *user,
                     const char *password, pai_client_cb cb, void *user_data,
                     pai_error **err)
{
  pai__client_sequence *c;
  login_sequence *l;
  pai__client_ask *ask;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(user != NULL && password != NULL, err);
  rc = pai__client_sequence_new(&c, client, sizeof(*l), dispose_login, cb,
                                user_data, err);
  if (rc < 0)
    return rc;
  l = (login_sequence *)c;
  l->user = pai__strdup(&client->alloc, user);
  l->password = pai__strdup(&client->alloc, password);
  rc = l->user == NULL || l->password == NULL
         ? pai__oom(err)
         : ask_login(&ask, client, user, password, on_asked_login, c, err);
  if (rc == PAI_OK)
    c->child = pai__ask_op(ask);
  return pai__client_sequence_started(c, rc, op);
}

static void on_logout(pai__client_sequence *c, int status,
                      const pai_client_answer *a)
{
  if (status == PAI_OK || a->http_status == 401) {
    pai__client_forget(c->op.client);
    status = PAI_OK; /* a token that the server refuses counts as revoked */
  }
  pai__client_sequence_end(c, status, a);
}

int pai_client_logout(pai_op **op, pai_client *client, pai_client_cb cb,
                      void *user_data, pai_error **err)
{
  pai__call call;
  pai__client_sequence *c;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  if (client->token == NULL)
    return pai__fail(err, PAI_EINVAL, "the client is not logged in");
  rc =
    pai__client_sequence_new(&c, client, sizeof(*c), NULL, cb, user_data, err);
  if (rc < 0)
    return rc;
  call = pai__call_of(client, "DELETE", "/api/v2/authn/basic/logout");
  rc = pai__client_sequence_ask(c, &call, on_logout, err);
  return pai__client_sequence_started(c, rc, op);
}
