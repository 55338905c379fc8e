/*
 * door.c - a door: connections on the platform's loop
 *
 * One descriptor of the door's tells the loop that connections have something to
 * do.  They do it one after the other, in turn with all else on the loop.
 */
#include "base/posix_errno.h"
#include "base/posix_socket.h"
#include "server/conn.h"
#include "server/peer.h"

#include <errno.h>

enum {
  MOST_LOCAL = 1000,
  MOST_REMOTE = 16384,
  AT_ONCE = 256,    /* that are taken before others have their turn */
  DROPPED = 16,     /* idle ones that make room */
  TURN = 10 * 1000, /* microseconds, before others on the loop have theirs */
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

/* At a full door of TCP, too: there it is seen whether somebody is idle. */
static void listen_again(pai__door *d)
{
  if (d->listening != NULL && (d->remote || d->lines < d->most))
    pai__poll_set(d->listening, PAI__READABLE);
}

pai__line *pai__door_line(pai__door *d, int fd)
{
  pai__line *l = pai__line_new(d, fd);

  if (l == NULL)
    return NULL;
  if (d->remote)
    pai__tcp_peer(l->peer, l->fd);
  else
    pai__unix_peer(&l->user, l->fd);
  count_line(l, true);
  return l;
}

void pai__door_line_gone(pai__door *d, pai__line *l)
{
  if (l != NULL)
    count_line(l, false);
  pai__line_free(l);
  d->lines--;
  listen_again(d);
}

/* --- the loop --------------------------------------------------------------------- */

void pai__door_run_soon(pai__door *d)
{
  d->run_due = true;
  pai__turn_ask(d->server->turn);
}

/* What becomes due meanwhile has its turn in the next one, and so have the last
 * of many: all else on the loop has its turn in between. */
static void run_due(pai__door *d)
{
  for (size_t n = d->due; n > 0 && d->first_due != NULL; n--) {
    pai__conn *c = d->first_due;

    d->first_due = c->next_due;
    if (d->first_due == NULL)
      d->last_due = &d->first_due;
    d->due--;
    c->due = false;
    pai__conn_run(c);
    if (pai__door_is_late(d))
      break;
  }
}

bool pai__door_is_late(const pai__door *d)
{
  return pai__loop_time() - d->now > TURN;
}

void pai__door_run(pai__door *d)
{
  d->run_due = false;
  d->now = pai__loop_time();
  pai__certs_ask(d->tls ? d->server->certs : NULL);
  pai__ready_look(d->ready_fd);
  run_due(d);
  pai__certs_ask(NULL);
  if (d->first_due != NULL)
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

static int start(pai__door *d, pai_error **err)
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
  d->ready_fd = -1;
  d->last_due = &d->first_due;
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
  if (pai__timer_new(&d->sweep, &s->alloc, s->loop, on_sweep, d) < 0)
    return pai__oom(err);
  rc = start(d, err);
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
  while (d->conns != NULL)
    pai__conn_free(d->conns);
  pai__poll_close(d->ready);
  pai__hand_close(d->ready_fd);
  pai__transport_forget(d);
  pai__timer_close(d->sweep);
  pai__map_dispose(&d->peers);
  pai__strfree(&alloc, d->name);
  pai__free(&alloc, d, sizeof(*d));
}
