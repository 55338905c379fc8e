/*
 * listener.c - a listener: connections on the platform's loop
 *
 * One descriptor of the listener tells the loop that connections are ready.
 * They run one after the other, in turn with everything else on the loop.
 */
#include "base/os/posix_errno.h"
#include "base/os/posix_socket.h"
#include "server/http/conn.h"
#include "server/http/peer.h"

#include <errno.h>

enum {
  MOST_LOCAL = 1000,
  MOST_REMOTE = 16384,
  AT_ONCE = 256, /* accepted before others get their turn */
  DROPPED = 16,  /* idle connections closed at a time */
  /* microseconds, before the rest of the loop gets its turn */
  TURN = 10 * 1000,
  NO_DESCRIPTORS = 500 * 1000 /* microseconds until the next try */
};

/* --- accepting ----------------------------------------------------------- */

size_t pai__server_listener_count(const pai__server_listener *listener,
                                  const void *who, size_t len)
{
  return (uintptr_t)pai__map_get(&listener->peers, who, len);
}

/* If out of memory, the connection is not counted. */
static void count_peer(pai__server_listener *listener, const void *who,
                       size_t len, bool more)
{
  uintptr_t n = pai__server_listener_count(listener, who, len);

  if (!more && n == 0)
    return;
  n = more ? n + 1 : n - 1;
  if (n == 0)
    (void)pai__map_remove(&listener->peers, who, len);
  else
    (void)!pai__map_set(&listener->peers, who, len, (void *)n);
}

static void count_connection(const pai__server_deadline *l, bool more)
{
  pai__server_listener *d = l->listener;
  unsigned char key[16];

  if (!d->remote && d->server->system)
    count_peer(d, &l->user, sizeof(l->user), more);
  else if (d->remote && d->server->most_per_address > 0)
    count_peer(d, key, pai__peer_key(key, l->peer), more);
}

/* Also at a full TCP listener, where a new connection may replace an idle
 * one. */
static void listen_again(pai__server_listener *d)
{
  if (d->listening != NULL && (d->remote || d->connections < d->most))
    pai__poll_set(d->listening, PAI__READABLE);
}

pai__server_deadline *pai__server_listener_deadline(pai__server_listener *d,
                                                    int fd)
{
  pai__server_deadline *l = pai__server_deadline_new(d, fd);

  if (l == NULL)
    return NULL;
  if (d->remote)
    pai__tcp_peer(l->peer, l->fd);
  else
    pai__unix_peer(&l->user, l->fd);
  count_connection(l, true);
  return l;
}

void pai__server_listener_deadline_gone(pai__server_listener *d,
                                        pai__server_deadline *l)
{
  if (l != NULL)
    count_connection(l, false);
  pai__server_deadline_free(l);
  d->connections--;
  listen_again(d);
}

/* --- the loop ------------------------------------------------------------ */

void pai__server_listener_run_soon(pai__server_listener *d)
{
  d->run_due = true;
  pai__loop_step_ask(d->server->step);
}

/* Connections that become due meanwhile run in the next step, as do the last
 * of many, so that the rest of the loop gets its turn. */
static void run_due(pai__server_listener *d)
{
  for (size_t n = d->due; n > 0 && d->first_due != NULL; n--) {
    pai__conn *c = d->first_due;

    d->first_due = c->next_due;
    if (d->first_due == NULL)
      d->last_due = &d->first_due;
    d->due--;
    c->due = false;
    pai__conn_run(c);
    if (pai__server_listener_is_late(d))
      break;
  }
}

bool pai__server_listener_is_late(const pai__server_listener *d)
{
  return pai__loop_time() - d->now > TURN;
}

void pai__server_listener_run(pai__server_listener *d)
{
  d->run_due = false;
  d->now = pai__loop_time();
  pai__certs_ask(d->tls ? d->server->certs : NULL);
  pai__ready_look(d->ready_fd);
  run_due(d);
  pai__certs_ask(NULL);
  if (d->first_due != NULL)
    pai__server_listener_run_soon(d);
  if (d->server->closing > 0)
    pai__server_check_end(d->server);
}

static void on_ready(void *user_data, int fd, int events)
{
  (void)fd;
  (void)events;
  pai__server_listener_run(user_data);
}

static void on_sweep(void *user_data)
{
  pai__server_listener *d = user_data;

  (void)pai__server_deadlines_sweep(d, pai__loop_time());
  listen_again(d); /* descriptors may be available again */
}

/* A client waits, and no connection can be accepted.  At a TCP listener an
 * idle connection is closed for it, as its client can reconnect.  It waits if
 * none is idle, or at the UNIX socket, where no user can take all
 * connections. */
static void make_room(pai__server_listener *d)
{
  pai__poll_set(d->listening, 0);
  for (size_t i = 0; d->remote && i <= d->most / 64 && i < DROPPED; i++)
    if (!pai__server_deadlines_drop_idle(d))
      break;
}

static void on_connection(void *user_data, int fd, int events)
{
  pai__server_listener *d = user_data;
  int rc = PAI__TAKEN;

  (void)fd;
  (void)events;
  d->now = pai__loop_time();
  if (d->connections >= d->most)
    make_room(d);
  for (int i = 0; i < AT_ONCE && d->connections < d->most && rc == PAI__TAKEN;
       i++)
    rc = d->remote ? pai__tcp_accept(d) : pai__unix_accept(d);
  if (!d->remote && d->connections >= d->most)
    pai__poll_set(d->listening, 0);
  if (rc == PAI__NO_ROOM) {
    make_room(d);
    d->sweeping = true;
    pai__timer_start(d->sweep, NO_DESCRIPTORS);
  }
  pai__server_listener_run_soon(d);
}

/* --- begin --------------------------------------------------------------- */

static int start(pai__server_listener *d, pai_error **err)
{
  if (d->tls && !pai__transport_prepare(d))
    return pai__fail(err, PAI_EIO, "cannot prepare TLS");
  d->ready_fd = pai__ready_new();
  if (d->ready_fd < 0)
    return pai__fail(err, PAI_EIO, "cannot wait for connections: %s",
                     PAI__ERRNO_TEXT(errno));
  return pai__poll_new(&d->ready, &d->server->alloc, d->server->loop,
                       d->ready_fd, on_ready, d, err);
}

int pai__server_listener_new(pai__server_listener **out, pai_server *server,
                             int fd, bool remote, pai_error **err)
{
  pai__server_listener *d = pai__zalloc(&server->alloc, sizeof(*d)), **at;

  *out = NULL;
  if (d == NULL) {
    pai__socket_end(fd);
    return pai__oom(err);
  }
  d->server = server;
  d->fd = fd;
  d->ready_fd = -1;
  d->last_due = &d->first_due;
  pai__fork_close(&d->fd_fork, fd);
  d->remote = remote;
  d->most = MOST_LOCAL;
  if (remote)
    d->most =
      pai__tcp_most(server->most > 0 ? server->most : (size_t)MOST_REMOTE);
  pai__map_init(&d->peers, &server->alloc);
  for (at = &server->listeners; *at != NULL; at = &(*at)->next)
    ;
  *at = d; /* the server frees it */
  *out = d;
  return PAI_OK;
}

int pai__server_listener_open(pai__server_listener *d, bool tls,
                              pai_error **err)
{
  pai_server *s = d->server;
  int rc;

  d->tls = tls;
  d->now = pai__loop_time();
  if (pai__timer_new(&d->sweep, &s->alloc, s->loop, on_sweep, d) < 0)
    return pai__oom(err);
  rc = start(d, err);
  if (rc == PAI_OK)
    rc = pai__poll_new(&d->listening, &s->alloc, s->loop, d->fd, on_connection,
                       d, err);
  if (rc < 0)
    return rc;
  pai__poll_set(d->listening, PAI__READABLE);
  pai__poll_set(d->ready, PAI__READABLE);
  return PAI_OK;
}

/* --- end ----------------------------------------------------------------- */

void pai__server_listener_shut(pai__server_listener *d)
{
  pai__poll_close(d->listening);
  d->listening = NULL;
  if (!d->remote)
    pai__unix_unlisten(d);
  pai__fork_keep(&d->fd_fork);
  if (d->fd >= 0)
    pai__socket_end(d->fd);
  d->fd = -1;
}

void pai__server_listener_free(pai__server_listener *d)
{
  pai_alloc alloc = d->server->alloc;

  pai__server_listener_shut(d);
  while (d->conns != NULL)
    pai__conn_free(d->conns);
  pai__poll_close(d->ready);
  pai__pass_fd_close(d->ready_fd);
  pai__transport_forget(d);
  pai__timer_close(d->sweep);
  pai__map_dispose(&d->peers);
  pai__strfree(&alloc, d->name);
  pai__free(&alloc, d, sizeof(*d));
}
