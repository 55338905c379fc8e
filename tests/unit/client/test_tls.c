/* TLS: whom the client trusts, and what it says of others. */
#include "client/certificates.h"
#include "client/played.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOUR = 3600 };

/* --- a server ----------------------------------------------------------------------- */

static enum MHD_Result answer(void *data, struct MHD_Connection *c,
                              const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *len, void **request)
{
  struct MHD_Response *r = MHD_create_response_from_buffer(
    2, (void *)(uintptr_t) "{}", MHD_RESPMEM_PERSISTENT);
  enum MHD_Result rc;

  (void)data;
  (void)url;
  (void)method;
  (void)version;
  (void)upload;
  (void)len;
  (void)request;
  rc = MHD_queue_response(c, 200, r);
  MHD_destroy_response(r);
  return rc;
}

static struct MHD_Daemon *serve(const certificate *c, const char *clients,
                                int *port)
{
  struct MHD_Daemon *d = MHD_start_daemon(
    MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL, answer, NULL,
    MHD_OPTION_HTTPS_MEM_CERT, c->pem, MHD_OPTION_HTTPS_MEM_KEY, c->key_pem,
    clients != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, clients,
    MHD_OPTION_END);

  assert_non_null(d);
  *port = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port;
  return d;
}

/* --- a call ---------------------------------------------------------------------------- */

static void ask(outcome *o, const pai_client_options *options)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_loop *loop = open_loop();
  pai_client *client;

  memset(o, 0, sizeof(*o));
  assert_ok(pai_client_new(&client, loop, options, NULL));
  q.path = "/api/v2/info";
  for (int i = 1; i <= 2; i++) { /* the second on the same connection */
    assert_ok(pai_client_ask(NULL, client, &q, on_outcome, o, NULL));
    wait_for(loop, o, i);
  }
  close_client(loop, client);
  close_loop(loop);
}

/* A server with this certificate; the client knows an authority. */
static void meet(outcome *o, const certificate *server, const char *host,
                 const char *ca_file)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  char url[64];
  int port;
  struct MHD_Daemon *d = serve(server, NULL, &port);

  (void)snprintf(url, sizeof(url), "https://%s:%d", host, port);
  options.url = url;
  options.ca_file = ca_file;
  ask(o, &options);
  MHD_stop_daemon(d);
}

typedef struct papers {
  char dir[64], ca_file[96];
  certificate ca;
} papers;

static void begin(papers *p)
{
  (void)snprintf(p->dir, sizeof(p->dir), "/tmp/test-tls-XXXXXX");
  assert_non_null(mkdtemp(p->dir));
  certificate_make(&p->ca, NULL, NULL, -HOUR, HOUR);
  certificate_save(p->ca_file, p->dir, "ca.pem", p->ca.pem);
}

static void end(papers *p)
{
  (void)unlink(p->ca_file);
  assert_int_equal(rmdir(p->dir), 0);
  certificate_free(&p->ca);
}

static void refused(const outcome *o, const char *message, const char *help)
{
  bool untrusted = strcmp(help, "ca_file") == 0;

  assert_int_equal(o->no_answer, untrusted ? PAI_NO_ANSWER_UNTRUSTED : 0);
  assert_int_equal(o->status, PAI_EPERM);
  assert_int_equal(o->tries, 1); /* it will not be better */
  assert_false(o->retriable);
  assert_has(o->message, "cannot be trusted");
  assert_has(o->message, message);
  assert_has(o->help, help);
}

/* --- the tests -------------------------------------------------------------------------- */

ON_LOOPS(a_server_that_is_known)
{
  certificate c;
  outcome o;
  papers p;

  begin(&p);
  certificate_make(&c, &p.ca, "127.0.0.1", -HOUR, HOUR);
  meet(&o, &c, "127.0.0.1", p.ca_file);
  assert_ok(o.status);
  assert_string_equal(o.body, "{}");
  certificate_free(&c);
  end(&p);
}

ON_LOOPS(servers_that_are_refused)
{
  certificate good, other, old, early, own;
  outcome o;
  papers p;

  begin(&p);
  certificate_make(&good, &p.ca, "127.0.0.1", -HOUR, HOUR);
  certificate_make(&other, &p.ca, "pai.example.org", -HOUR, HOUR);
  certificate_make(&old, &p.ca, "127.0.0.1", -2 * HOUR, -HOUR);
  certificate_make(&early, &p.ca, "127.0.0.1", HOUR, 2 * HOUR);
  certificate_make(&own, NULL, "127.0.0.1", -HOUR, HOUR);
  meet(&o, &good, "127.0.0.1", NULL); /* the system does not know it */
  refused(&o, "issuer certificate", "ca_file");
  meet(&o, &own, "127.0.0.1", p.ca_file);
  refused(&o, "self", "ca_file");
  meet(&o, &other, "127.0.0.1", p.ca_file);
  refused(&o, "127.0.0.1", "use the host name");
  meet(&o, &old, "127.0.0.1", p.ca_file);
  refused(&o, "expired", "renew");
  meet(&o, &early, "127.0.0.1", p.ca_file);
  refused(&o, "not yet valid", "clock");
  certificate_free(&good);
  certificate_free(&other);
  certificate_free(&old);
  certificate_free(&early);
  certificate_free(&own);
  end(&p);
}

ON_LOOPS(files_that_are_none)
{
  certificate c;
  outcome o;
  papers p;

  begin(&p);
  certificate_make(&c, &p.ca, "127.0.0.1", -HOUR, HOUR);
  meet(&o, &c, "127.0.0.1", "/nowhere/ca.pem");
  assert_int_equal(o.status, PAI_EINVAL);
  assert_has(o.message, "/nowhere/ca.pem");
  certificate_free(&c);
  end(&p);
}

ON_LOOPS(a_certificate_of_the_clients)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  char url[64], cert_file[96], key_file[96];
  certificate server, me;
  struct MHD_Daemon *d;
  outcome o;
  papers p;
  int port;

  begin(&p);
  certificate_make(&server, &p.ca, "127.0.0.1", -HOUR, HOUR);
  certificate_make(&me, &p.ca, NULL, -HOUR, HOUR);
  certificate_save(cert_file, p.dir, "me.pem", me.pem);
  certificate_save(key_file, p.dir, "me.key", me.key_pem);
  d = serve(&server, p.ca.pem, &port);
  (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
  options.url = url;
  options.ca_file = p.ca_file;
  options.cert_file = cert_file;
  options.key_file = key_file;
  ask(&o, &options);
  assert_ok(o.status);
  options.cert_file = key_file; /* which is none */
  ask(&o, &options);
  assert_int_equal(o.status, PAI_EINVAL);
  MHD_stop_daemon(d);
  (void)unlink(cert_file);
  (void)unlink(key_file);
  certificate_free(&server);
  certificate_free(&me);
  end(&p);
}

/* What speaks no TLS. */
static void plain(played *p, const char *request, pai__buf *out)
{
  (void)p;
  (void)request;
  say(out, "200 OK", "{}");
}

ON_LOOPS(a_server_without_it)
{
  static played p;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_loop *loop = open_loop();
  pai_client *client;
  outcome o = { 0 };
  char url[64];

  played_open(&p, loop, plain);
  p.fault = CUT_REQUEST; /* what it gets is no request */
  p.at = 1;
  (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", p.port);
  options.url = url;
  options.most_tries = 1;
  options.token = "secret";
  assert_ok(pai_client_new(&client, loop, &options, NULL));
  q.path = "/x";
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &o, NULL));
  wait_for(loop, &o, 1);
  assert_int_equal(o.status, PAI_EIO);
  assert_int_equal(p.requests, 0);
  close_client(loop, client);
  played_close(&p);
  close_loop(loop);
}
