/* A stream into a task, from a server at a URL, and all that can go wrong. */
#define _GNU_SOURCE
#include "client/played.h"

#include <stdio.h>
#include <stdlib.h>

#define PATH "/api/v2/jobs/ann~j/taskRoles/w%20/taskIndex/3/stream"
#define HEAD                                                    \
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
  "Upgrade: openpai-stream\r\n\r\n"
/* It begins, says two words, and ends with 7. */
static const char said[] = HEAD "\x10\0\0\1\0"
                                "\x11\0\0\3out"
                                "\x12\0\0\3err"
                                "\x13\0\0\2\1\7";

enum { SAID = sizeof(said) - 1 };

typedef struct desk {
  played p;
  pai_loop *loop;
  pai_client *client;
  pai_session *session;
  int logins;
  bool slow_login, refuse;
  bool hurry; /* to give up: no answer comes, however slow this machine is */
  const char *token; /* that is taken; NULL: any */
  const char *given; /* to who logs in */
  int ends, status, closed, started;
  pai_session_end end;
  char text[512], code[64], out[64];
} desk;

/* --- the server -------------------------------------------------------------------- */

static void answer(played *p, const char *request, pai__buf *out)
{
  desk *d = p->user_data;
  char text[256];

  if (asks_for(request, "POST /api/v2/authn/basic/login ")) {
    d->logins++;
    (void)snprintf(text, sizeof(text), "{\"token\":\"%s\"}", d->given);
    if (!d->slow_login)
      say(out, "200 OK", text);
    return;
  }
  assert_true(asks_for(request, "GET " PATH " "));
  (void)snprintf(text, sizeof(text), "\r\nHost: 127.0.0.1:%d\r\n", p->port);
  assert_has(request, text);
  assert_has(request, "\r\nConnection: Upgrade\r\n");
  assert_has(request, "\r\nUpgrade: openpai-stream\r\n");
  (void)snprintf(text, sizeof(text), "\r\nAuthorization: Bearer %s\r\n",
                 d->token != NULL ? d->token : "");
  if (d->token != NULL && strstr(request, text) == NULL)
    say(out, "401 Unauthorized",
        "{\"code\":\"UnauthorizedUserError\",\"message\":\"bad token\"}");
  else if (d->refuse)
    say(out, "403 Forbidden",
        "{\"code\":\"ForbiddenUserError\",\"message\":\"it is not yours\"}");
  else
    pai__buf_add(out, said, SAID);
}

/* --- the client -------------------------------------------------------------------- */

static void on_started(void *user_data, int terminal)
{
  (void)terminal;
  ((desk *)user_data)->started++;
}

static void on_output(void *user_data, int stream, const char *bytes,
                      size_t len)
{
  desk *d = user_data;

  (void)stream;
  (void)strncat(d->out, bytes, len < 32 ? len : 32);
}

static void on_end(void *user_data, int status, const pai_session_end *end)
{
  desk *d = user_data;

  d->ends++;
  d->status = status;
  d->end = *end;
  d->session = NULL;
  (void)snprintf(d->text, sizeof(d->text), "%s", end->text);
  (void)snprintf(d->code, sizeof(d->code), "%s", end->api_code);
}

static void on_closed(void *user_data)
{
  ((desk *)user_data)->closed++;
}

static void open_desk(desk *d)
{
  memset(d, 0, sizeof(*d));
  d->loop = open_loop();
  played_open(&d->p, d->loop, answer);
  d->p.user_data = d;
}

static int come(desk *d, const pai_alloc *alloc, const char *user)
{
  pai_client_options o = PAI_CLIENT_OPTIONS_INIT;
  char url[96];

  (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/rest-server/",
                 d->p.port);
  o.url = url;
  o.alloc = alloc;
  o.user = user;
  o.password = user != NULL ? "secret" : NULL;
  o.token = user == NULL ? "abc" : NULL;
  o.idle_time = d->hurry ? 60 * 1000 : 60 * 1000 * 1000;
  return pai_client_new(&d->client, d->loop, &o, NULL);
}

static int go_in(desk *d)
{
  static const char *const words[] = { "ls", NULL };
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;

  o.command = words;
  o.user_data = d;
  o.on_started = on_started;
  o.on_output = on_output;
  o.on_end = on_end;
  return pai_client_enter(&d->session, d->client, "ann~j", "w ", 3, &o, NULL);
}

static void go(desk *d, const char *user, bool hurry)
{
  open_desk(d);
  d->hurry = hurry;
  assert_ok(come(d, NULL, user));
  assert_ok(go_in(d));
}

static void begin(desk *d, const char *user)
{
  go(d, user, false);
}

static void await_end(desk *d)
{
  while (d->ends == 0) {
    bool more = turn_loop(d->loop);
    assert_true(more || d->ends > 0);
  }
}

static void leave(desk *d)
{
  pai_session_close(d->session);
  if (d->client != NULL)
    pai_client_close(d->client, on_closed, d);
  while (d->client != NULL && d->closed == 0)
    (void)turn_loop(d->loop);
  played_close(&d->p);
  close_loop(d->loop);
}

static void expect_whole(const desk *d)
{
  assert_ok(d->status);
  assert_int_equal(d->end.how, PAI_SESSION_EXIT);
  assert_int_equal(d->end.code, 7);
  assert_string_equal(d->out, "outerr");
  assert_int_equal(d->started, 1);
}

/* --- the tests ---------------------------------------------------------------------- */

ON_LOOPS(a_session)
{
  static desk d;

  begin(&d, NULL);
  d.token = "abc";
  await_end(&d);
  expect_whole(&d);
  assert_int_equal(d.p.requests, 1);
  leave(&d);
  assert_int_equal(d.ends, 1);
}

ON_LOOPS(refusals)
{
  static desk d;

  begin(&d, NULL);
  d.refuse = true;
  await_end(&d);
  assert_int_equal(d.status, PAI_EPERM);
  assert_int_equal(d.end.how, 0);
  assert_string_equal(d.text, "it is not yours");
  assert_int_equal(d.end.http_status, 403);
  assert_string_equal(d.code, "ForbiddenUserError");
  leave(&d);
  begin(&d, NULL); /* a token alone is not made new */
  d.token = "other";
  await_end(&d);
  assert_int_equal(d.status, PAI_EPERM);
  assert_string_equal(d.text, "bad token");
  assert_int_equal(d.p.requests, 1);
  leave(&d);
}

ON_LOOPS(logins)
{
  static desk d;

  begin(&d, "ann");
  d.token = d.given = "new";
  await_end(&d);
  expect_whole(&d);
  assert_int_equal(d.logins, 1);
  /* One that is not taken any more. */
  d.token = d.given = "newer";
  d.ends = d.started = 0;
  d.out[0] = '\0';
  assert_ok(go_in(&d));
  await_end(&d);
  expect_whole(&d);
  assert_int_equal(d.logins, 2);
  /* And never again. */
  d.token = "newest";
  d.ends = 0;
  assert_ok(go_in(&d));
  await_end(&d);
  assert_int_equal(d.status, PAI_EPERM);
  assert_int_equal(d.logins, 3);
  leave(&d);
}

ON_LOOPS(nobody_listens)
{
  static desk d;

  open_desk(&d);
  assert_ok(come(&d, NULL, NULL));
  played_close(&d.p);
  assert_ok(go_in(&d));
  await_end(&d);
  assert_int_equal(d.status, PAI_ENOTFOUND);
  assert_has(d.text, "cannot connect to http://127.0.0.1:");
  pai_client_close(d.client, on_closed, &d);
  while (d.closed == 0)
    (void)turn_loop(d.loop);
  close_loop(d.loop);
}

/* At each byte of what is said and of what is asked. */
ON_LOOPS(faults)
{
  static desk d;

  for (int fault = NO_FAULT; fault < FAULTS; fault++)
    for (size_t at = fault == CUT_REQUEST ? 1 : 0; at < SAID; at += 3) {
      bool stall = fault == STALL && at >= sizeof(HEAD) - 1;

      go(&d, NULL, fault == STALL);
      d.p.fault = (enum fault)fault;
      d.p.at = at;
      d.p.hang_up = fault == DOUBLE;
      while (d.ends == 0 && !(stall && d.p.requests > 0))
        assert_true(turn_loop(d.loop));
      if (fault == NO_FAULT || fault == DELAY)
        expect_whole(&d);
      else if (!stall && fault != DOUBLE)
        assert_true(d.status == PAI_EIO ||
                    (d.status == PAI_OK && d.end.how == PAI_SESSION_LOST));
      leave(&d);
      assert_int_equal(d.ends, stall ? d.ends : 1);
    }
}

/* After so many turns; each ends once, or without a word. */
ON_LOOPS(the_client_is_closed)
{
  static desk d;

  for (int login = 0; login < 2; login++)
    for (int turns = 0; turns < 12; turns++) {
      begin(&d, login ? "ann" : NULL);
      d.given = "x";
      d.slow_login = turns % 2 == 1;
      for (int i = 0; i < turns && d.ends == 0 && !(d.slow_login && d.logins);
           i++)
        assert_true(turn_loop(d.loop));
      pai_client_close(d.client, on_closed, &d);
      while (d.closed == 0)
        (void)turn_loop(d.loop);
      d.client = NULL;
      if (d.session != NULL) /* it had begun, and needs no client */
        await_end(&d);
      assert_int_equal(d.ends, 1);
      assert_true(d.status == PAI_ECANCELED || d.status == PAI_OK);
      leave(&d);
    }
}

ON_LOOPS(the_session_is_closed)
{
  static desk d;
  int before;

  for (int login = 0; login < 2; login++)
    for (int turns = 0; turns < 12; turns++) {
      begin(&d, login ? "ann" : NULL);
      d.given = "x";
      for (int i = 0; i < turns && d.ends == 0; i++)
        assert_true(turn_loop(d.loop));
      if (d.ends == 0) {
        pai_session_close(d.session);
        d.session = NULL;
      }
      before = d.ends;
      d.started = 0;
      leave(&d);
      assert_int_equal(d.started, 0);
      assert_int_equal(d.ends, before); /* no word after that */
    }
}

/* Each allocation fails: it cannot be made, or ends, or goes on. */
static int without_memory(const pai_alloc *alloc, void *user_data)
{
  static desk d;
  int rc;

  (void)user_data;
  open_desk(&d);
  d.given = "x";
  rc = come(&d, alloc, "ann");
  if (rc == PAI_OK)
    rc = go_in(&d);
  if (rc == PAI_OK) {
    await_end(&d);
    rc = d.status;
    if (rc == PAI_OK)
      expect_whole(&d);
    else
      assert_int_equal(d.end.how, 0);
  }
  leave(&d);
  return rc == PAI_EIO ? PAI_ENOMEM : rc;
}

ON_LOOPS(no_memory_is_survived)
{
  test_faults(without_memory, NULL);
}
