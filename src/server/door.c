/*
 * door.c - a door: libmicrohttpd on the platform's loop
 *
 * We accept connections ourselves, so that who connects is looked at first,
 * and so that as many may wait at the socket as like.  libmicrohttpd's epoll
 * descriptor is readable when it has something to do, and it says how long it
 * may be left alone.  It never waits itself, and so does not fall into the trap
 * that 0.9.75 has at 128 and 256 busy connections: with a whole batch of 128
 * events its own loop waits once more, although there is work.
 */
#include "base/posix_socket.h"
#include "server/peer.h"

#include <stdio.h>

enum {
  MOST_LOCAL = 1000,
  MOST_REMOTE = 16384,
  /* Memory of each connection that has asked once: its head, and what is sent
   * at a time. */
  POOL_LOCAL = 32 << 10,
  POOL_REMOTE = 16 << 10,
  LOCAL_IDLE = 60, /* seconds without any bytes */
  AT_ONCE = 256,   /* that are taken before others have their turn */
  DROPPED = 16,    /* idle ones that make room */
  NO_DESCRIPTORS = 500 * 1000 /* until they are looked for again */
};

/* --- who has come --------------------------------------------------------------- */

size_t pai__door_count(const pai__door *door, const void *who, size_t len)
{
  return (uintptr_t)pai__map_get(&door->peers, who, len);
}

/* Without memory for it nobody is counted. */
static void count_peer(pai__door *door, const void *who, size_t len, bool more)
{
  uintptr_t n = pai__door_count(door, who, len);

  if (!more && n == 0)
    return;
  n = more ? n + 1 : n - 1;
  if (n == 0)
    (void)pai__map_remove(&door->peers, who, len);
  else
    (void)!pai__map_set(&door->peers, who, len, (void *)n);
}

static void count_line(const pai__line *l, bool more)
{
  pai__door *d = l->door;
  unsigned char key[16];

  if (!d->remote && d->server->system)
    count_peer(d, &l->user, sizeof(l->user), more);
  else if (d->remote && d->server->most_per_address > 0)
    count_peer(d, key, pai__peer_key(key, l->peer), more);
}

static pai__line *begin_line(pai__door *d, struct MHD_Connection *c)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
  pai__line *l;

  if (info == NULL)
    return NULL;
  l = pai__line_new(d, info->connect_fd);
  if (l == NULL) { /* it would be there for ever */
    pai__tcp_hang_up(info->connect_fd, true);
    return NULL;
  }
  if (d->remote)
    pai__tcp_peer(l->peer, l->fd);
  else
    pai__unix_peer(&l->user, l->fd);
  count_line(l, true);
  return l;
}

/* At a full door of TCP, too: there it is seen whether somebody is idle. */
static void listen_again(pai__door *d)
{
  if (d->listening != NULL && (d->remote || d->lines < d->most))
    pai__poll_set(d->listening, PAI__READABLE);
}

static void on_notice(void *user_data, struct MHD_Connection *c,
                      void **socket_data,
                      enum MHD_ConnectionNotificationCode what)
{
  pai__door *d = user_data;
  pai__line *l;

  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    *socket_data = begin_line(d, c);
    d->lines++;
    return;
  }
  l = *socket_data;
  if (l != NULL)
    count_line(l, false);
  pai__line_free(l);
  *socket_data = NULL;
  d->lines--;
  listen_again(d);
}

/* --- the loop --------------------------------------------------------------------- */

void pai__door_run_soon(pai__door *d)
{
  d->run_due = true;
  pai__turn_ask(d->server->turn);
}

void pai__door_run(pai__door *d)
{
  MHD_UNSIGNED_LONG_LONG ms = 0;
  bool due;

  d->run_due = false;
  d->now = pai__loop_time();
  pai__certs_ask(d->tls ? d->server->certs : NULL);
  (void)MHD_run(d->http);
  pai__certs_ask(NULL);
  due = MHD_get_timeout(d->http, &ms) == MHD_YES;
  if (!due)
    pai__timer_stop(d->timer);
  else if (ms > 0)
    pai__timer_start(d->timer, (pai_time)ms * 1000);
  else
    pai__door_run_soon(d);
  if (d->server->closing > 0)
    pai__server_check_end(d->server);
}

static void on_ready(void *user_data, int fd, int events)
{
  (void)fd;
  (void)events;
  pai__door_run(user_data);
}

static void on_timer(void *user_data)
{
  pai__door_run(user_data);
}

static void on_sweep(void *user_data)
{
  pai__door *d = user_data;

  (void)pai__lines_sweep(d, pai__loop_time());
  listen_again(d); /* there may be descriptors again */
}

/* Somebody waits, and no more can be taken.  An idle line of TCP is what he may
 * have: its client makes another one when it needs it.  If none is idle, or
 * on the UNIX socket, where no user can have all of them, he waits. */
static void make_room(pai__door *d)
{
  pai__poll_set(d->listening, 0);
  for (size_t i = 0; d->remote && i <= d->most / 64 && i < DROPPED; i++)
    if (!pai__lines_drop_idle(d))
      break;
}

static void on_connection(void *user_data, int listener, int events)
{
  pai__door *d = user_data;
  int rc = PAI__TAKEN;

  (void)listener;
  (void)events;
  d->now = pai__loop_time();
  if (d->lines >= d->most)
    make_room(d);
  for (int i = 0; i < AT_ONCE && d->lines < d->most && rc == PAI__TAKEN; i++)
    rc = d->remote ? pai__tcp_accept(d) : pai__unix_accept(d);
  if (!d->remote && d->lines >= d->most)
    pai__poll_set(d->listening, 0);
  if (rc == PAI__NO_ROOM) {
    make_room(d);
    d->sweeping = true;
    pai__timer_start(d->sweep, NO_DESCRIPTORS);
  }
  pai__door_run_soon(d);
}

/* --- its beginning ------------------------------------------------------------------ */

static void on_log(void *user_data, const char *fmt, va_list ap)
{
  pai_server *s = ((pai__door *)user_data)->server;

  (void)vsnprintf(s->complaint, sizeof(s->complaint), fmt, ap);
  s->complaint[strcspn(s->complaint, "\n")] = '\0';
  pai__log_line(&s->log, PAI_LOG_DEBUG, "%s", s->complaint);
}

/* Its options, but for those of the log, which come first. */
static void put_options(const pai__door *d, struct MHD_OptionItem *o)
{
  *o++ = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_LIMIT,
                                  (intptr_t)d->most, NULL };
  *o++ = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_TIMEOUT,
                                  d->remote ? 0 : LOCAL_IDLE, NULL };
  *o++ = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                  d->remote ? POOL_REMOTE : POOL_LOCAL, NULL };
  if (d->tls)
    *o++ = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
                                    PAI__TLS_PRIORITIES };
  *o = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
}

static int start_http(pai__door *d, pai_error **err)
{
  const union MHD_DaemonInfo *info;
  struct MHD_OptionItem options[8];
  /* Of each request on a UNIX socket it says that this is not TCP. */
  bool talks = d->tls || (d->server->log.cb != NULL &&
                          d->server->log.level <= PAI_LOG_DEBUG);

  d->server->complaint[0] = '\0';
  put_options(d, options);
  d->http = MHD_start_daemon(
    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
      MHD_ALLOW_UPGRADE | (talks ? MHD_USE_ERROR_LOG : 0U) |
      (d->tls ? MHD_USE_TLS : 0U),
    0, NULL, NULL, pai__request_go_on, d,
    /* first, so that what the others say is heard */
    MHD_OPTION_EXTERNAL_LOGGER, on_log, d, MHD_OPTION_URI_LOG_CALLBACK,
    pai__request_begin, d, MHD_OPTION_NOTIFY_COMPLETED, pai__request_end, d,
    MHD_OPTION_NOTIFY_CONNECTION, on_notice, d, MHD_OPTION_ARRAY, options,
    d->tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, pai__certs_give,
    MHD_OPTION_END);
  if (d->http == NULL)
    return pai__fail(err, PAI_EIO, "cannot start libmicrohttpd: %s",
                     d->server->complaint);
  info = MHD_get_daemon_info(d->http, MHD_DAEMON_INFO_EPOLL_FD);
  if (info == NULL || info->epoll_fd < 0)
    return pai__fail(err, PAI_ENOTSUP,
                     "this libmicrohttpd was built without epoll");
  return pai__poll_new(&d->ready, &d->server->alloc, d->server->loop,
                       info->epoll_fd, on_ready, d, err);
}

int pai__door_new(pai__door **out, pai_server *server, int listener,
                  bool remote, pai_error **err)
{
  pai__door *d = pai__zalloc(&server->alloc, sizeof(*d)), **at;

  *out = NULL;
  if (d == NULL) {
    pai__socket_end(listener);
    return pai__oom(err);
  }
  d->server = server;
  d->listener = listener;
  pai__fork_close(&d->listener_fork, listener);
  d->remote = remote;
  d->most = MOST_LOCAL;
  if (remote)
    d->most =
      pai__tcp_most(server->most > 0 ? server->most : (size_t)MOST_REMOTE);
  pai__map_init(&d->peers, &server->alloc);
  for (at = &server->doors; *at != NULL; at = &(*at)->next)
    ;
  *at = d; /* which frees it */
  *out = d;
  return PAI_OK;
}

int pai__door_open(pai__door *d, bool tls, pai_error **err)
{
  pai_server *s = d->server;
  int rc;

  d->tls = tls;
  d->now = pai__loop_time();
  if (pai__timer_new(&d->timer, &s->alloc, s->loop, on_timer, d) < 0 ||
      pai__timer_new(&d->sweep, &s->alloc, s->loop, on_sweep, d) < 0)
    return pai__oom(err);
  rc = start_http(d, err);
  if (rc == PAI_OK)
    rc = pai__poll_new(&d->listening, &s->alloc, s->loop, d->listener,
                       on_connection, d, err);
  if (rc < 0)
    return rc;
  pai__poll_set(d->listening, PAI__READABLE);
  pai__poll_set(d->ready, PAI__READABLE);
  return PAI_OK;
}

/* --- its end -------------------------------------------------------------------------- */

void pai__door_shut(pai__door *d)
{
  pai__poll_close(d->listening);
  d->listening = NULL;
  if (!d->remote)
    pai__unix_unlisten(d);
  pai__fork_keep(&d->listener_fork);
  if (d->listener >= 0)
    pai__socket_end(d->listener);
  d->listener = -1;
}

void pai__door_free(pai__door *d)
{
  pai_alloc alloc = d->server->alloc;

  pai__door_shut(d);
  if (d->http != NULL)
    MHD_stop_daemon(d->http);
  pai__poll_close(d->ready);
  pai__timer_close(d->timer);
  pai__timer_close(d->sweep);
  pai__map_dispose(&d->peers);
  pai__strfree(&alloc, d->name);
  pai__free(&alloc, d, sizeof(*d));
}
