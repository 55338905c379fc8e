/* Who asks: tokens, logins and their renewal, and who is told of them. */
#define _GNU_SOURCE
#include "client/played.h"

#include <stdio.h>

/* A token whose claims are {"username":"ann","iat":1000,"exp":...}. */
#define TOKEN_OF_ANN \
  "h.eyJ1c2VybmFtZSI6ImFubiIsImlhdCI6MTAwMCwiZXhwIjo1MDAwfQ.s"
/* The same, issued and expired in the same second. */
#define TOKEN_FOR_A_SECOND \
  "h.eyJ1c2VybmFtZSI6ImFubiIsImlhdCI6MTAwMCwiZXhwIjoxMDAxfQ.s"

typedef struct desk {
  played p;
  pai_loop *loop;
  pai_client *client;
  int logins, logouts;
  const char *token;   /* that is given and taken */
  const char *refusal; /* of a login; NULL: none */
  bool deaf;           /* no token is taken */
  bool slow_login;     /* no answer to it yet */
} desk;

static bool has_line(const char *request, const char *line)
{
  return strcasestr(request, line) != NULL;
}

static void answer(played *p, const char *request, pai__buf *out)
{
  desk *d = p->user_data;
  char text[512];

  if (asks_for(request, "POST /api/v2/authn/basic/login ")) {
    d->logins++;
    assert_null(strcasestr(request, "authorization:"));
    assert_has(request, "\"password\":\"se\\\"cret\"");
    (void)snprintf(text, sizeof(text),
                   "{\"user\":\"ann\",\"token\":\"%s\",\"admin\":false}",
                   d->token);
    if (d->refusal != NULL)
      say(out, "400 Bad Request", d->refusal);
    else if (!d->slow_login)
      say(out, "200 OK", text);
    return;
  }
  (void)snprintf(text, sizeof(text), "\r\nAuthorization: Bearer %s\r\n",
                 d->token);
  if (d->deaf || !has_line(request, text)) {
    say(out, "401 Unauthorized",
        "{\"code\":\"UnauthorizedUserError\",\"message\":\"Your token is "
        "invalid.\"}");
    return;
  }
  d->logouts += asks_for(request, "DELETE /api/v2/authn/basic/logout ");
  say(out, "200 OK", "{}");
}

static void begin_as(desk *d, pai_client_options *options)
{
  memset(d, 0, sizeof(*d));
  d->loop = open_loop();
  d->token = TOKEN_OF_ANN;
  played_open(&d->p, d->loop, answer);
  d->p.user_data = d;
  options->url = d->p.url;
  options->first_wait = 1;
  assert_ok(pai_client_new(&d->client, d->loop, options, NULL));
}

static void begin_with_password(desk *d)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  options.user = "ann";
  options.password = "se\"cret";
  begin_as(d, &options);
}

static void end(desk *d)
{
  if (d->client != NULL)
    close_client(d->loop, d->client);
  played_close(&d->p);
  close_loop(d->loop);
}

static void get(desk *d, outcome *o)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  q.path = "/api/v2/x";
  assert_ok(pai_client_ask(NULL, d->client, &q, on_outcome, o, NULL));
}

/* --- the tests --------------------------------------------------------------------- */

ON_LOOPS(many_wait_for_one_login)
{
  static desk d;
  outcome o = { 0 };

  begin_with_password(&d);
  assert_null(pai_client_token(d.client));
  assert_string_equal(pai_client_user(d.client), "ann");
  for (int i = 0; i < 20; i++)
    get(&d, &o);
  wait_for(d.loop, &o, 20);
  assert_ok(o.status);
  assert_int_equal(d.logins, 1);
  assert_string_equal(pai_client_token(d.client), TOKEN_OF_ANN);
  end(&d);
}

ON_LOOPS(a_token_that_is_no_longer_good)
{
  static desk d;
  outcome o = { 0 };

  begin_with_password(&d);
  get(&d, &o);
  wait_for(d.loop, &o, 1);
  d.token = TOKEN_OF_ANN "2"; /* the server takes only a new one */
  for (int i = 0; i < 5; i++)
    get(&d, &o);
  wait_for(d.loop, &o, 6);
  assert_ok(o.status);
  assert_int_equal(o.tries, 1);
  assert_int_equal(d.logins, 2);

  d.deaf = true; /* however often: it is told, not tried for ever */
  get(&d, &o);
  wait_for(d.loop, &o, 7);
  assert_int_equal(o.status, PAI_EPERM);
  assert_int_equal(o.http_status, 401);
  assert_string_equal(o.code, "UnauthorizedUserError");
  assert_int_equal(d.logins, 3);
  end(&d);
}

/* Before it expires there is another one; nobody has to refuse it. */
ON_LOOPS(a_token_that_expires)
{
  static desk d;
  outcome o = { 0 };

  begin_with_password(&d);
  d.token = TOKEN_FOR_A_SECOND;
  while (d.logins < 2) {
    get(&d, &o);
    wait_for(d.loop, &o, o.calls + 1);
    assert_ok(o.status);
  }
  end(&d);
}

ON_LOOPS(a_token_alone)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  static desk d;
  outcome o = { 0 };

  options.token = TOKEN_OF_ANN;
  begin_as(&d, &options);
  assert_string_equal(pai_client_user(d.client), "ann");
  get(&d, &o);
  wait_for(d.loop, &o, 1);
  assert_ok(o.status);
  d.deaf = true;
  get(&d, &o);
  wait_for(d.loop, &o, 2);
  assert_int_equal(o.status, PAI_EPERM);
  assert_null(strstr(o.message, TOKEN_OF_ANN));
  assert_int_equal(d.logins, 0);
  end(&d);
}

ON_LOOPS(a_wrong_password)
{
  static desk d;
  outcome o = { 0 };

  begin_with_password(&d);
  d.refusal = "{\"code\":\"IncorrectPasswordError\",\"message\":\"Password is "
              "incorrect.\"}";
  get(&d, &o);
  get(&d, &o);
  wait_for(d.loop, &o, 2);
  assert_int_equal(o.status, PAI_EPERM);
  assert_string_equal(o.message, "Password is incorrect.");
  assert_int_equal(d.logins, 1);
  d.refusal = NULL; /* it can be asked again */
  get(&d, &o);
  wait_for(d.loop, &o, 3);
  assert_ok(o.status);
  end(&d);
}

ON_LOOPS(logging_in_and_out)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  static desk d;
  outcome o = { 0 };
  pai_error *err = NULL;

  begin_as(&d, &options);
  assert_fails(pai_client_logout(NULL, d.client, on_outcome, &o, &err), err,
               PAI_EINVAL, "not logged in");
  assert_ok(
    pai_client_login(NULL, d.client, "ann", "se\"cret", on_outcome, &o, NULL));
  wait_for(d.loop, &o, 1);
  assert_ok(o.status);
  assert_has(o.body, "\"admin\":false");
  get(&d, &o);
  wait_for(d.loop, &o, 2);
  assert_ok(o.status);
  assert_ok(pai_client_logout(NULL, d.client, on_outcome, &o, NULL));
  wait_for(d.loop, &o, 3);
  assert_ok(o.status);
  assert_int_equal(d.logouts, 1);
  assert_null(pai_client_token(d.client));
  get(&d, &o);
  wait_for(d.loop, &o, 4);
  assert_int_equal(o.status, PAI_EPERM); /* and not logged in again */
  assert_int_equal(d.logins, 1);

  d.refusal = "{\"message\":\"no\"}";
  assert_ok(
    pai_client_login(NULL, d.client, "ann", "se\"cret", on_outcome, &o, NULL));
  wait_for(d.loop, &o, 5);
  assert_int_equal(o.status, PAI_EPERM);
  d.refusal = NULL;
  d.token = "";
  assert_ok(
    pai_client_login(NULL, d.client, "ann", "se\"cret", on_outcome, &o, NULL));
  wait_for(d.loop, &o, 6);
  assert_int_equal(o.status, PAI_EIO);
  assert_has(o.message, "no token");
  end(&d);
}

/* One waits for the login, and goes, or all do. */
ON_LOOPS(cancelled_while_it_waits)
{
  static desk d;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  outcome o = { 0 }, other = { 0 };
  pai_op *op;

  begin_with_password(&d);
  d.slow_login = true;
  q.path = "/x";
  assert_ok(pai_client_ask(&op, d.client, &q, on_outcome, &o, NULL));
  get(&d, &other);
  while (d.logins == 0)
    assert_true(turn_loop(d.loop));
  pai_op_cancel(op);
  wait_for(d.loop, &o, 1);
  assert_int_equal(o.status, PAI_ECANCELED);
  assert_int_equal(other.calls, 0);
  close_client(d.loop, d.client);
  assert_int_equal(other.calls, 1);
  assert_int_equal(other.status, PAI_ECANCELED);
  d.client = NULL;
  end(&d);
}

/* --- whom it is not told ------------------------------------------------------------- */

static char location[128];

static void lead_away(played *p, const char *request, pai__buf *out)
{
  (void)p;
  if (asks_for(request, "GET /api/v2/away") ||
      asks_for(request, "POST /api/v2/away"))
    pai__buf_printf(out,
                    "HTTP/1.1 302 Found\r\nLocation: %s\r\n"
                    "Content-Length: 0\r\n\r\n",
                    location);
  else
    say(out, "200 OK", "{}");
}

ON_LOOPS(another_server_is_not_told)
{
  static played first, other;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_loop *loop = open_loop();
  pai_client *client;
  outcome o = { 0 };

  played_open(&first, loop, lead_away);
  played_open(&other, loop, lead_away);
  options.url = first.url;
  options.token = "top.secret";
  assert_ok(pai_client_new(&client, loop, &options, NULL));

  (void)snprintf(location, sizeof(location), "%s/api/v2/home", first.url);
  q.path = "/api/v2/away";
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &o, NULL));
  wait_for(loop, &o, 1);
  assert_ok(o.status); /* the same one is told again */
  assert_has(strstr(first.seen.data, "/home"), "top.secret");

  (void)snprintf(location, sizeof(location), "%s/api/v2/there", other.url);
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &o, NULL));
  wait_for(loop, &o, 2);
  assert_ok(o.status);
  assert_has(other.seen.data, "/there");
  assert_null(strstr(other.seen.data, "top.secret"));

  q.method = "POST"; /* what would be done there is not */
  q.body = "body";
  q.body_len = 4;
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &o, NULL));
  wait_for(loop, &o, 3);
  assert_int_equal(o.status, PAI_EIO);
  assert_int_equal(o.http_status, 302);
  assert_has(o.help, "/there");
  assert_int_equal(other.requests, 1);

  q = (pai_client_request)PAI_CLIENT_REQUEST_INIT; /* not to files */
  q.path = "/api/v2/away";
  (void)snprintf(location, sizeof(location), "file:///etc/passwd");
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &o, NULL));
  wait_for(loop, &o, 4);
  assert_int_equal(o.status, PAI_EPERM);
  close_client(loop, client);
  played_close(&first);
  played_close(&other);
  close_loop(loop);
}
