/*
 * server.c - a server: its listeners, start and end
 */
#include "server/calls/quotas.h"
#include "server/streams/reading.h"
#include "server/alerts/alerts.h"
#include "server/http/listener.h"
#include "server/streams/feed.h"
#include "server/oidc/provider.h"
#include "server/http/peer.h"
#include "server/monitor/observed.h"
#include "server/monitor/sampling.h"

enum {
  GRACE = 5 * 1000 * 1000,
  MINUTE = 60 * 1000 * 1000,
  MOST_STREAMS = 4096
};

/* --- end ----------------------------------------------------------------- */

static void free_listeners(pai_server *server)
{
  while (server->listeners != NULL) {
    pai__server_listener *listener = server->listeners;
    server->listeners = listener->next;
    pai__server_listener_free(listener);
  }
}

static void free_server(pai_server *server)
{
  pai_alloc alloc = server->alloc;
  pai_closed_cb closed = server->closed;
  void *closed_data = server->closed_data;

  free_listeners(server);
  pai__certs_free(server->certs);
  pai__oidc_free(server->oidc);
  pai__timer_close(server->grace);
  pai__loop_step_close(server->step);
  pai__limit_dispose(&server->all);
  pai__limit_dispose(&server->lists);
  pai__limit_dispose(&server->submits);
  pai__nets_free(server->nets, &alloc);
  pai__strfree(&alloc, server->root);
  pai__strfree(&alloc, server->uploads);
  pai__strfree(&alloc, server->prefix);
  pai__strfree(&alloc, server->cors);
  pai__strfree(&alloc, server->self);
  pai__packer_free(server);
  pai__alerts_free(server);
  pai__sampling_free(server);
  pai__usage_sampler_free(server->usage_sampler);
  pai__count_free(server);
  pai__quota_forget_uploads(server);
  pai__feed_free(server);
  pai__map_dispose(&server->streams_of);
  pai__free(&alloc, server, sizeof(*server));
  if (closed != NULL)
    closed(closed_data);
}

/* Returns whether the server can be stopped: nothing works for a request. */
static bool is_idle(const pai_server *server)
{
  for (const pai__request *r = server->first; r != NULL; r = r->after)
    if (server->closing == 1 || r->suspended)
      return false;
  return pai__oidc_is_over(server->oidc) && pai__reading_is_over(server) &&
         pai__alerts_are_over(server);
}

void pai__server_check_end(pai_server *server)
{
  /* The server is freed in a loop step, when no listener is running. */
  if (is_idle(server))
    pai__loop_step_ask(server->step);
}

static void end_streams(pai_server *server)
{
  for (pai__request *r = server->first; r != NULL; r = r->after) {
    if (r->stream != NULL)
      pai__stream_over(r->stream, r->stream->ops->has_end);
    if (r->relay != NULL)
      pai__proxy_stream_end(r->relay);
  }
}

static void run_all(pai_server *server, bool all)
{
  for (pai__server_listener *d = server->listeners; d != NULL; d = d->next)
    if (all || d->run_due)
      pai__server_listener_run(d);
}

static void on_grace_over(void *user_data)
{
  pai_server *server = user_data;

  server->closing = 2;
  for (pai__request *r = server->first; r != NULL; r = r->after)
    if (r->suspended)
      pai__request_give_up(r);
  run_all(server, true);
}

static void on_step(void *user_data)
{
  pai_server *server = user_data;

  if (server->closing > 0 && is_idle(server)) {
    free_server(server);
    return;
  }
  if (server->shutdown_due) {
    server->shutdown_due = false;
    run_all(server, true); /* sends the answer of the shutdown call */
    server->on_shutdown(server->user_data, server->shutdown_kill);
  }
  run_all(server, false);
}

void pai_server_close(pai_server *server, pai_closed_cb closed,
                      void *user_data)
{
  if (server == NULL || PAI__IS_FORKED(server))
    return;
  if (server->closed == NULL) {
    server->closed = closed;
    server->closed_data = user_data;
  }
  if (server->closing > 0)
    return;
  server->closing = 1;
  for (pai__server_listener *d = server->listeners; d != NULL; d = d->next) {
    pai__server_listener_shut(d);
    d->run_due = true;
  }
  end_streams(server);
  pai__oidc_shut(server->oidc);
  pai__alerts_shut(server);
  pai__timer_start(server->grace, GRACE);
  pai__loop_step_ask(server->step);
}

/* --- addresses ----------------------------------------------------------- */

static int open_certs(pai_server *server, const pai_server_options *o,
                      pai_error **err)
{
  if (o->tls_cert == NULL && o->tls_key == NULL)
    return PAI_OK;
  if (o->tls_cert == NULL || o->tls_key == NULL) {
    (void)pai__fail(err, PAI_EINVAL, "TLS needs a certificate and its key");
    pai__error_help(err, "set both, as PEM files");
    return PAI_EINVAL;
  }
  return pai__certs_new(&server->certs, server, o->tls_cert, o->tls_key, err);
}

/* Names the listener, like "http://127.0.0.1:9186": the host as given, with
 * the actual port. */
static bool name_listener(pai__server_listener *d, const char *text,
                          size_t len, bool tls)
{
  pai__buf b;

  while (len > 0 && text[len - 1] != ':')
    len--;
  pai__buf_init(&b, &d->server->alloc);
  pai__buf_printf(&b, "%s://%.*s:%d", tls ? "https" : "http",
                  len > 1 ? (int)(len - 1) : 7, len > 1 ? text : "0.0.0.0",
                  d->port);
  d->name = pai__buf_take(&b);
  return d->name != NULL;
}

static int open_tcp(pai_server *server, const char *text, size_t len,
                    pai_error **err)
{
  pai__server_listener *listener;
  int rc = pai__tcp_listen(server, text, len, &listener, err);

  if (rc < 0)
    return rc;
  if (!name_listener(listener, text, len, server->certs != NULL))
    return pai__oom(err);
  return pai__server_listener_open(listener, server->certs != NULL, err);
}

/* Opens all addresses of a list. */
static int open_addresses(pai_server *server, const pai_server_options *o,
                          pai_error **err)
{
  const char *list = o->listen;
  int rc = list != NULL ? open_certs(server, o, err) : PAI_OK;

  while (rc == PAI_OK && list != NULL && *list != '\0') {
    size_t len = strcspn(list, ", ");
    if (len > 0)
      rc = open_tcp(server, list, len, err);
    list += len + (list[len] != '\0' ? 1 : 0);
  }
  return rc;
}

/* Returns the listener of the N-th address; NULL: there are fewer. */
static const pai__server_listener *find_door(const pai_server *server,
                                             size_t n)
{
  const pai__server_listener *d = server != NULL ? server->listeners : NULL;

  for (; d != NULL; d = d->next)
    if (d->remote && n-- == 0)
      break;
  return d;
}

int pai_server_port(const pai_server *server, size_t n)
{
  const pai__server_listener *d = find_door(server, n);

  return d != NULL ? d->port : 0;
}

const char *pai_server_address(const pai_server *server, size_t n)
{
  const pai__server_listener *d = find_door(server, n);

  return d != NULL ? d->name : NULL;
}

/* --- start --------------------------------------------------------------- */

static bool copy_texts(pai_server *server, const pai_server_options *o)
{
  const char *slash = o->socket != NULL ? strrchr(o->socket, '/') : NULL;
  size_t prefix = o->prefix != NULL ? strlen(o->prefix) : 0;
  pai__buf b;

  pai__buf_init(&b, &server->alloc);
  if (o->root != NULL)
    pai__buf_str(&b, o->root);
  else if (slash != NULL)
    pai__buf_add(&b, o->socket, (size_t)(slash - o->socket));
  server->root = pai__strdup(&server->alloc, pai__buf_text(&b));
  pai__buf_str(&b, "/code");
  server->uploads = pai__buf_take(&b);
  while (prefix > 0 && o->prefix[prefix - 1] == '/')
    prefix--;
  if (prefix > 0)
    server->prefix = pai__strndup(&server->alloc, o->prefix, prefix);
  /* An extender does not authenticate clients, so no web page may call it. */
  server->cors =
    pai__strdup(&server->alloc, o->cors_origin != NULL ? o->cors_origin
                                : o->hived != NULL     ? ""
                                                       : "*");
  return server->root != NULL && server->uploads != NULL &&
         server->cors != NULL && (prefix == 0 || server->prefix != NULL);
}

static int make_limits(pai_server *s, const pai_server_options *o)
{
  const pai_alloc *a = &s->alloc;

  if (pai__limit_init(&s->all, a, o->rate_requests, MINUTE, pai__loop_seed()) <
        0 ||
      pai__limit_init(&s->lists, a, o->rate_lists, MINUTE, pai__loop_seed()) <
        0 ||
      pai__limit_init(&s->submits, a, o->rate_submits, (pai_time)60 * MINUTE,
                      pai__loop_seed()) < 0)
    return PAI_ENOMEM;
  return PAI_OK;
}

static int begin(pai_server *server, const pai_server_options *o,
                 pai_error **err)
{
  int rc;

  server->on_shutdown = o->on_shutdown;
  server->user_data = o->user_data;
  if (server->platform != NULL && server->accounts == NULL)
    return pai__fail(err, PAI_EINVAL, "the platform has no database");
  server->log = (pai__log){ o->on_log, o->user_data, PAI_LOG_DEBUG };
  server->system = o->system != 0;
  server->tokens = o->tokens != 0;
  rc = pai__self_name(&server->self, &server->alloc, err);
  if (rc < 0)
    return rc;
  server->most = o->most_connections;
  server->most_per_address = o->most_per_address;
  server->most_streams = o->most_streams > 0 ? o->most_streams : MOST_STREAMS;
  server->most_streams_per_user = o->most_streams_per_user;
  server->idle_timeout = o->idle_timeout > 0 ? o->idle_timeout : MINUTE;
  server->request_timeout =
    o->request_timeout > 0 ? o->request_timeout : MINUTE / 2;
  if (!copy_texts(server, o) || make_limits(server, o) < 0 ||
      pai__timer_new(&server->grace, &server->alloc, server->loop,
                     on_grace_over, server) < 0 ||
      pai__loop_step_new(&server->step, &server->alloc, server->loop, on_step,
                         server) < 0 ||
      (server->platform != NULL && pai__sampling_begin(server, true) < 0))
    return pai__oom(err);
  if (server->platform != NULL &&
      (rc = pai__alerts_begin(server, server->root, err)) < 0)
    return rc;
  rc =
    pai__nets_new(&server->nets, &server->alloc,
                  o->trusted_proxies != NULL ? o->trusted_proxies : "", err);
  if (rc == PAI_OK && server->accounts != NULL)
    rc = pai__groups_begin(server->accounts, err);
  if (rc == PAI_OK && o->oidc != NULL)
    rc = pai__oidc_new(&server->oidc, server, o->oidc, err);
  if (rc == PAI_OK && o->socket != NULL)
    rc = pai__unix_listen(server, o->socket, err);
  if (rc == PAI_OK)
    rc = open_addresses(server, o, err);
  if (rc == PAI_OK && server->oidc != NULL)
    pai__oidc_tell(server->oidc);
  return rc;
}

static int check(const pai_server_options *o, pai_error **err)
{
  bool oidc = o->authn != NULL && strcmp(o->authn, "OIDC") == 0;

  if (oidc != (o->oidc != NULL))
    return pai__fail(
      err, PAI_EINVAL,
      "pai_server_options: oidc needs authn OIDC, and authn OIDC needs oidc");
  if (o->authn != NULL && !oidc && strcmp(o->authn, "basic") != 0)
    return pai__fail(err, PAI_ENOTSUP,
                     "pai_server_options: there is no authn '%s'", o->authn);
  if (o->socket != NULL && o->socket[0] != '/')
    return pai__fail(err, PAI_EINVAL,
                     "pai_server_options: socket is not an absolute path");
  if (o->socket == NULL &&
      (o->listen == NULL || (o->root == NULL && o->hived == NULL)))
    return pai__fail(
      err, PAI_EINVAL,
      "pai_server_options: set a socket, or an address and a root");
  if (o->prefix != NULL && o->prefix[0] != '\0' && o->prefix[0] != '/')
    return pai__fail(err, PAI_EINVAL,
                     "pai_server_options: prefix does not begin with /");
  if (o->cors_origin != NULL && strpbrk(o->cors_origin, "\r\n") != NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_server_options: cors_origin has a line break");
  return PAI_OK;
}

int pai_server_new(pai_server **out, pai_loop *loop, pai_platform *platform,
                   const pai_server_options *opts, pai_error **err)
{
  pai_server_options o;
  pai_server *server;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_server_options, user_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_server_options");
  if ((platform != NULL) == (o.hived != NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_server_new() requires either a platform or "
                     "pai_server_options.hived");
  rc = check(&o, err);
  if (rc == PAI_OK)
    rc = pai__loop_check(loop, err);
  if (rc < 0)
    return rc;
  o.alloc = pai__alloc_or_libc(o.alloc);
  server = pai__zalloc(o.alloc, sizeof(*server));
  if (server == NULL)
    return pai__oom(err);
  server->alloc = *o.alloc;
  pai__map_init(&server->streams_of, &server->alloc);
  server->forks = pai__forks();
  server->loop = loop;
  server->platform = platform;
  server->hived = o.hived;
  pai__signed_open(server);
  if (platform != NULL)
    server->accounts = pai_platform_accounts(platform);
  rc = begin(server, &o, err);
  if (rc < 0) {
    server->closed = NULL;
    free_server(server);
    return rc;
  }
  *out = server;
  return PAI_OK;
}
