/* A server that is come to over TCP: who it lets in, what it says around its
 * answers, how often somebody may ask, and what addresses and files are. */
#define _GNU_SOURCE
#include "asked.h"
#include "files.h"

#include "server/http/limit.h"
#include "server/http/peer.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAR(s, path) \
  ask_far(s, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path)

static void begin_far(scene *s)
{
  begin_empty(s);
  s->options.listen = "127.0.0.1:0";
  s->options.prefix = "/team/pai/";
}

static void start(scene *s)
{
  assert_ok(new_server(s, NULL));
}

/* --- who, and where ------------------------------------------------------------------- */

IN_SCENE(begin_far, who_comes_by_tcp_is_nobody)
{
  char address[64];

  start(s);
  expect(FAR(s, "/healthz"), 200, "ok");
  expect(FAR(s, "/api/v2/info"), 200, "launcherType");
  expect(FAR(s, "/api/v2"), 200, "OpenPAI RESTful API");
  expect(FAR(s, "/api/v2/jobs"), 401, "\"code\":\"UnauthorizedUserError\"");
  expect(FAR(s, "/api/v2/status"), 401, "Guest is not allowed");
  expect(FAR(s, "/api/v2/jobs/alice~mnist/config"), 401, "");
  expect(ask_far(s, "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\n"
                    "Connection: close\r\nContent-Length: 2\r\n\r\n{}"),
         401, "");
  expect(FAR(s, "/nothing"), 404, "\"code\":\"NoApiError\"");
  expect(GET(s, "/api/v2/jobs"), 200, "mnist"); /* at the socket he is */
  (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d",
                 pai_server_port(s->server, 0));
  assert_string_equal(pai_server_address(s->server, 0), address);
  assert_int_equal(pai_server_port(s->server, 1), 0);
  assert_null(pai_server_address(s->server, 1));
  assert_null(pai_server_address(NULL, 0));
}

#define FAR_AS(s, token, method, path, body)                           \
  ask_far(s,                                                           \
          "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"         \
          "Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s", \
          method, path, token, strlen(body), body)

IN_SCENE(begin_far, who_has_a_token_is_somebody)
{
  const char *answer;

  start(s);
  answer = FAR_AS(s, "alice", "GET", "/api/v2/jobs", "");
  expect(answer, 200, "mnist");
  assert_has(answer, "ETag: W/");
  expect(FAR_AS(s, "alice", "GET", "/rest-server/api/v2/jobs/alice~mnist", ""),
         200, "attemptId");
  expect(FAR_AS(s, "revoked", "GET", "/api/v2/jobs", ""), 401,
         "Your token is invalid.");
  expect(FAR_AS(s, "bob", "PUT", "/api/v2/jobs/alice~mnist/executionType",
                "{\"value\":\"STOP\"}"),
         403, "ForbiddenUserError");
  expect(FAR_AS(s, "alice", "PUT", "/api/v2/shutdown", "{}"), 404, "");
  /* What has secrets is kept by nobody. */
  answer = FAR_AS(s, "alice", "GET", "/api/v2/tokens", "");
  assert_has(answer, "Cache-Control: no-store\r\n");
  assert_null(strstr(answer, "ETag"));
  answer = FAR_AS(s, "alice", "GET", "/api/v1/user/alice", "");
  assert_has(answer, "Cache-Control: no-store\r\n");
}

IN_SCENE(begin_far, users_are_counted)
{
  const char *answer;

  s->options.rate_requests = 100;
  s->options.rate_lists = 2;
  s->options.rate_submits = 1;
  start(s);
  for (int i = 0; i < 3; i++) {
    answer = FAR_AS(s, "alice", "GET", "/api/v2/jobs?limit=1", "");
    expect(answer, i < 2 ? 200 : 429, "");
    assert_has(answer, "X-RateLimit-Limit: 2\r\n");
  }
  expect(FAR_AS(s, "alice.app", "GET", "/api/v2/jobs", ""), 429, "");
  expect(FAR_AS(s, "bob", "GET", "/api/v2/jobs", ""), 200, ""); /* another */
  expect(FAR_AS(s, "alice", "GET", "/api/v2/jobs/alice~mnist", ""), 200, "");
  expect(FAR_AS(s, "alice", "POST", "/api/v2/jobs", "{}"), 400, "");
  expect(FAR_AS(s, "alice", "POST", "/api/v2/jobs", "{}"), 429, "");
  expect(GET(s, "/api/v2/jobs"), 200, "");
}

IN_SCENE(begin_far, prefixes)
{
  static const struct {
    const char *path;
    int status;
  } rows[] = {
    { "/rest-server/api/v2/info", 200 },
    { "/rest-server/healthz", 200 },
    { "/team/pai/api/v2/info?a=b", 200 },
    { "/team/pai/rest-server/API/V2/Info/", 200 },
    { "/rest-serverapi/v2/info", 404 },
    { "/rest-server", 200 }, /* the portal */
    { "/team/pai?x", 200 },
    { "/team/paix/api/v2/info", 404 },
    { "/rest-server/team/pai/api/v2/info", 404 },
  };

  start(s);
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(FAR(s, rows[i].path), rows[i].status, "");
}

/* --- around an answer --------------------------------------------------------------------- */

static void has(const char *answer, const char *line)
{
  if (strstr(answer, line) == NULL)
    print_error("no '%s' in: %s\n", line, answer);
  assert_has(answer, line);
}

IN_SCENE(begin_far, other_origins)
{
  const char *preflight =
    "OPTIONS /api/v2/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Access-Control-Request-Headers: authorization,x\r\n\r\n";
  const char *answer;

  start(s);
  answer = FAR(s, "/api/v2/jobs");
  has(answer, "Access-Control-Allow-Origin: *\r\n");
  has(answer, "X-Content-Type-Options: nosniff\r\n");
  has(answer, "Cache-Control: no-store\r\n");
  assert_null(strstr(answer, "X-Powered-By"));
  answer = ask_far(s, "%s", preflight);
  has(answer, "HTTP/1.1 204 ");
  has(answer, "Methods: GET,HEAD,PUT,PATCH,POST,DELETE\r\n");
  has(answer, "Access-Control-Allow-Headers: authorization,x\r\n");
  /* Nobody's browser speaks to a UNIX socket. */
  answer = GET(s, "/api/v2/info");
  assert_null(strstr(answer, "Access-Control"));
  expect(ask(s, "%s", preflight), 404, "NoApiError");
  close_server(s);
  s->options.cors_origin = "https://pai.example";
  start(s);
  answer = FAR(s, "/api/v2/info");
  has(answer, "Access-Control-Allow-Origin: https://pai.example\r\n");
  has(answer, "Vary: Origin\r\n");
  close_server(s);
  s->options.cors_origin = "";
  start(s);
  assert_null(strstr(FAR(s, "/api/v2/info"), "Access-Control"));
  expect(ask_far(s, "%s", preflight), 404, "NoApiError");
}

IN_SCENE(begin_far, what_is_known_is_not_sent_again)
{
  static const char *const known[] = { "%s", "W/\"1-0\", %s", "*",
                                       "%s,\"x\"" };
  char tag[64], list[128];
  const char *answer, *at;

  start(s);
  answer = FAR(s, "/api/v2/info");
  has(answer, "Cache-Control: private, no-cache\r\n");
  at = strstr(answer, "ETag: W/\"");
  assert_non_null(at);
  (void)snprintf(tag, sizeof(tag), "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
  for (size_t i = 0; i < PAI__LEN(known); i++) {
    (void)snprintf(list, sizeof(list), known[i], tag);
    answer = ask_far(s,
                     "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n"
                     "Connection: close\r\nIf-None-Match: %s\r\n\r\n",
                     list);
    has(answer, "HTTP/1.1 304 ");
    has(answer, tag);
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
  }
  answer = ask_far(s, "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n"
                      "Connection: close\r\nIf-None-Match: W/\"1-0\"\r\n\r\n");
  expect(answer, 200, "launcherType");
  answer = ask_far(s, "HEAD /api/v2/info HTTP/1.1\r\nHost: x\r\n"
                      "Connection: close\r\n\r\n");
  has(answer, "HTTP/1.1 200 ");
  has(answer, tag);
  assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
  assert_null(strstr(FAR(s, "/nothing"), "ETag"));
  assert_null(strstr(GET(s, "/api/v2/info"), "ETag"));
}

/* --- how often ------------------------------------------------------------------------------ */

#define BEHIND(s, forwarded)                                 \
  ask_far(s,                                                 \
          "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: " \
          "close\r\nX-Forwarded-For: %s\r\n\r\n",            \
          forwarded)

IN_SCENE(begin_far, too_often)
{
  const char *answer;

  s->options.rate_requests = 2;
  s->options.trusted_proxies = "127.0.0.0/8,::1";
  start(s);
  answer = FAR(s, "/api/v2/info");
  expect(answer, 200, "");
  has(answer, "X-RateLimit-Limit: 2\r\n");
  has(answer, "X-RateLimit-Remaining: 1\r\n");
  has(answer, "X-RateLimit-Reset: ");
  assert_null(strstr(answer, "Retry-After"));
  expect(FAR(s, "/nothing"), 404, ""); /* that counts, too */
  for (int i = 0; i < 3; i++) {
    answer = FAR(s, "/api/v2/info");
    expect(answer, 429, "Too many requests");
    has(answer, "Content-Type: text/html; charset=utf-8\r\n");
    has(answer, "X-RateLimit-Remaining: 0\r\n");
    has(answer, "Retry-After: ");
    has(answer, "Access-Control-Allow-Origin: *\r\n");
  }
  for (int i = 0; i < 5; i++)
    expect(GET(s, "/api/v2/info"), 200, ""); /* the socket has no limit */
  /* A proxy that is named is believed whose request it brings. */
  for (int i = 0; i < 2; i++) {
    expect(BEHIND(s, "9.9.9.9, 10.1.1.1"), 200, "");
    expect(BEHIND(s, "10.1.1.2"), 200, "");
    expect(BEHIND(s, i == 0 ? "2001:db8::1" : "2001:db8::2:1"), 200, "");
  }
  expect(BEHIND(s, "8.8.8.8, 10.1.1.1"), 429, ""); /* whatever he says */
  expect(BEHIND(s, "2001:db8::3"), 429, "");       /* one network */
  expect(BEHIND(s, "garbage"), 429, "");           /* it is this machine */
}

TEST(proxies_that_are_not_believed)
{
  static const char *const lists[] = { NULL, "10.0.0.0/8" };

  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    scene s;

    begin_far(&s);
    s.options.rate_requests = 2;
    s.options.trusted_proxies = lists[i];
    start(&s);
    expect(BEHIND(&s, "1.1.1.1"), 200, "");
    expect(BEHIND(&s, "1.1.1.2"), 200, "");
    expect(BEHIND(&s, "1.1.1.3"), 429, "");
    end(&s);
  }
}

TEST(limits)
{
  const pai_time minute = 60000000;
  pai__allowance a = { 0 };
  pai__limit l;

  assert_int_equal(pai__limit_init(&l, &pai__libc_alloc, 0, minute, 7), 0);
  for (int i = 0; i < 10; i++) /* none */
    assert_true(pai__limit_take(&l, "a", 1, 5, &a));
  assert_int_equal(a.most, 0);
  assert_int_equal(pai__limit_init(&l, &pai__libc_alloc, 3, minute, 7), 0);
  for (int i = 0; i < 3; i++)
    assert_true(pai__limit_take(&l, "a", 1, 5 + i, &a));
  assert_int_equal(a.left, 0);
  assert_int_equal(a.end, 5 + minute);
  assert_false(pai__limit_take(&l, "a", 1, 5 + minute - 1, &a));
  assert_true(a.over);
  assert_true(pai__limit_take(&l, "b", 1, 6, &a));
  assert_int_equal(a.left, 2);
  assert_true(pai__limit_take(&l, "a", 1, 5 + minute, &a)); /* anew */
  assert_int_equal(a.left, 2);
  assert_true(pai__limit_take(&l, "a", 1, 0, &a)); /* the clock was set back */
  /* More who ask than there is room for: nobody is refused for that, and who
   * has asked most is not forgotten for those who have asked once. */
  for (int i = 0; i < 3; i++)
    (void)pai__limit_take(&l, "a", 1, 10, &a);
  for (int i = 0; i < 200000; i++)
    assert_true(pai__limit_take(&l, &i, sizeof(i), 11, &a));
  assert_false(pai__limit_take(&l, "a", 1, 12, &a));
  pai__limit_dispose(&l);
}

TEST(who_is_behind)
{
  static const struct {
    const char *peer, *forwarded, *is;
  } rows[] = {
    { "127.0.0.1", NULL, "127.0.0.1" },
    { "127.0.0.1", "", "127.0.0.1" },
    { "127.0.0.1", "1.2.3.4", "1.2.3.4" },
    { "127.0.0.1", " 1.2.3.4 ,\t", "1.2.3.4" },
    { "127.0.0.1", "5.6.7.8, 1.2.3.4", "1.2.3.4" },
    { "127.0.0.1", "1.2.3.4, 10.9.8.7", "1.2.3.4" },
    { "127.0.0.1", "10.9.8.7,10.1.1.1", "10.9.8.7" },
    { "127.0.0.1", "1.2.3.4, unknown, 10.1.1.1", "10.1.1.1" },
    { "127.0.0.1", "1.2.3.4:80", "127.0.0.1" },
    { "127.0.0.1", "999.2.3.4", "127.0.0.1" },
    { "11.0.0.1", "1.2.3.4", "11.0.0.1" },
    { "2001:db8::5", "::1", "::1" },
    { "2001:db9::5", "::1", "2001:db9::5" },
    { "", "1.2.3.4", "" },
  };
  static const char *const bad[] = { "x", "1.2.3.4/33", "::1/129", "1.2.3",
                                     "1.2.3.4/x" };
  unsigned char key[16], other[16];
  pai_error *err = NULL;
  pai__nets *nets;

  assert_ok(pai__nets_new(&nets, &pai__libc_alloc,
                          "127.0.0.0/8, 10.0.0.0/8,2001:db8::/32", NULL));
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    char who[PAI__PEER];
    (void)snprintf(who, sizeof(who), "%s", rows[i].peer);
    pai__peer_behind(nets, who, sizeof(who), rows[i].forwarded);
    assert_string_equal(who, rows[i].is);
  }
  pai__nets_free(nets, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_int_equal(pai__nets_new(&nets, &pai__libc_alloc, bad[i], &err),
                     PAI_EINVAL);
    assert_has(pai_error_message(err), "is not an address");
    assert_non_null(pai_error_help(err));
    pai_error_free(err);
    pai__nets_free(nets, &pai__libc_alloc);
  }
  assert_int_equal(pai__peer_key(key, "1.2.3.4"), 16);
  assert_int_equal(pai__peer_key(key, "2001:db8::1"), 8);
  assert_int_equal(pai__peer_key(other, "2001:db8::2"), 8);
  assert_memory_equal(key, other, 8);
  assert_int_equal(pai__peer_key(key, ""), 0);
  /* IPv4 as IPv6 writes it: each is one, and not all of them are. */
  assert_int_equal(pai__peer_key(key, "::ffff:1.2.3.4"), 16);
  assert_int_equal(pai__peer_key(other, "::ffff:5.6.7.8"), 16);
  assert_memory_not_equal(key, other, 16);
}

/* --- what is wrong ------------------------------------------------------------------------------ */

static void refused(scene *s, int rc, const char *what)
{
  pai_error *err = NULL;

  assert_int_equal(new_server(s, &err), rc);
  assert_null(s->server);
  if (strstr(pai_error_message(err), what) == NULL)
    print_error("want %s, have %s\n", what, pai_error_message(err));
  assert_has(pai_error_message(err), what);
  assert_non_null(pai_error_help(err));
  pai_error_free(err);
}

TEST(addresses)
{
  static const char *const bad[] = {
    "127.0.0.1", "127.0.0.1:",  ":x",           ":99999",       "::1:80",
    "[::1]",     "1.2.3.4.5:1", "a.example:80", "127.0.0.1:0,x"
  };
  static const char *const good[] = { ":0", "localhost:0", " 127.0.0.1:0 ,",
                                      "127.0.0.1:0,127.0.0.1:0" };
  char taken[64];
  scene s, other;

  begin_empty(&s);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    s.options.listen = bad[i];
    refused(&s, PAI_EINVAL, "is not an address to listen on");
    assert_int_equal(access(s.path, F_OK), -1); /* nothing is left */
  }
  s.options.listen = "192.0.2.1:0"; /* of nobody */
  refused(&s, PAI_EIO, "cannot listen on 192.0.2.1:0");
  for (size_t i = 0; i < PAI__LEN(good); i++) {
    s.options.listen = good[i];
    start(&s);
    expect(FAR(&s, "/healthz"), 200, "ok");
    close_server(&s);
  }
  begin_far(&other);
  start(&other);
  (void)snprintf(taken, sizeof(taken), "127.0.0.1:%d",
                 pai_server_port(other.server, 0));
  s.options.listen = taken;
  refused(&s, PAI_EEXISTS, "another program already listens on 127.0.0.1:");
  end(&other);
  start(&s); /* it is free */
  end(&s);
}

IN_SCENE(begin_empty, files_of_tls)
{
  char path[128], none[128];

  (void)snprintf(path, sizeof(path), "%s/pem", s->dir);
  (void)snprintf(none, sizeof(none), "%s/none", s->dir);
  s->options.listen = "127.0.0.1:0";
  s->options.tls_cert = none;
  refused(s, PAI_EINVAL, "TLS needs a certificate and its key");
  s->options.tls_key = none;
  refused(s, PAI_ENOTFOUND, "the certificate ");
  s->options.tls_cert = path;
  test_write_file(path, "garbage\n");
  refused(s, PAI_EINVAL, "it is not in PEM");
  test_write_file(path, "-----BEGIN CERTIFICATE-----\nAAAA\n"
                        "-----END CERTIFICATE-----\n");
  refused(s, PAI_ENOTFOUND, "the key ");
  s->options.tls_key = path;
  refused(s, PAI_EINVAL, "cannot be used for TLS");
  (void)unlink(path);
}

IN_SCENE(begin_far, options)
{
  s->options.prefix = "pai";
  assert_int_equal(new_server(s, NULL), PAI_EINVAL);
  s->options.prefix = "/";
  s->options.cors_origin = "a\r\nb: c";
  assert_int_equal(new_server(s, NULL), PAI_EINVAL);
  s->options.cors_origin = NULL;
  s->options.trusted_proxies = "x";
  refused(s, PAI_EINVAL, "is not an address of a proxy");
}

IN_SCENE(begin_empty, without_a_socket)
{
  pai_server_options o = PAI_SERVER_OPTIONS_INIT;

  o.listen = "127.0.0.1:0";
  assert_int_equal(pai_server_new(&s->server, s->loop, &s->platform, &o, NULL),
                   PAI_EINVAL);
  o.root = s->dir;
  assert_ok(pai_server_new(&s->server, s->loop, &s->platform, &o, NULL));
  expect(FAR(s, "/healthz"), 200, "ok");
}

static bool is_launcher_told(scene *s)
{
  const char *answer = FAR(s, "/rest-server/api/v2/info");

  return strstr(answer, "launcherType") != NULL;
}

IN_SCENE(begin_far, no_memory_is_survived)
{
  s->options.rate_requests = s->options.rate_lists = 1000;
  s->options.most_per_address = 10;
  serve_faults(s, is_launcher_told);
}
