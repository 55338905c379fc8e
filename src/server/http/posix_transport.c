/* posix_transport.c - the bytes of a connection, over TLS or not */
#include "server/http/conn.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include <unistd.h>

bool pai__transport_prepare(pai__server_listener *d)
{
  if (gnutls_priority_init(&d->priorities, PAI__TLS_PRIORITIES, NULL) < 0)
    return false;
  if (gnutls_certificate_allocate_credentials(&d->papers) < 0)
    return false;
  gnutls_certificate_set_retrieve_function2(d->papers, pai__certs_give);
  return true;
}

void pai__transport_forget(pai__server_listener *d)
{
  if (d->papers != NULL)
    gnutls_certificate_free_credentials(d->papers);
  if (d->priorities != NULL)
    gnutls_priority_deinit(d->priorities);
  d->papers = NULL;
  d->priorities = NULL;
}

bool pai__transport_begin(pai__conn *c)
{
  static const gnutls_datum_t protocol = { (unsigned char *)"http/1.1", 8 };
  pai__server_listener *d = c->listener;

  if (!d->tls)
    return true;
  if (gnutls_init(&c->tls,
                  GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) {
    c->tls = NULL;
    return false;
  }
  gnutls_transport_set_int(c->tls, c->fd);
  return gnutls_priority_set(c->tls, d->priorities) == 0 &&
         gnutls_alpn_set_protocols(c->tls, &protocol, 1, 0) == 0 &&
         gnutls_credentials_set(c->tls, GNUTLS_CRD_CERTIFICATE, d->papers) ==
           0;
}

enum { ALERTS = 16 }; /* read before others get their turn */

/* Warnings and other non-fatal alerts are no failure.  After many of them the
 * connection continues in the next step. */
static bool is_warning(pai__conn *c, ssize_t rc, int *seen)
{
  if (rc >= 0 || rc == GNUTLS_E_AGAIN || gnutls_error_is_fatal((int)rc) != 0)
    return false;
  if (++*seen == ALERTS)
    pai__conn_make_due(c);
  return true;
}

int pai__transport_greet(pai__conn *c)
{
  int rc, seen = 0;

  if (!c->readable && !c->writable)
    return 0;
  do
    rc = gnutls_handshake(c->tls);
  while (is_warning(c, rc, &seen) && seen < ALERTS);
  if (seen == ALERTS)
    return 0;
  if (rc != GNUTLS_E_AGAIN)
    return rc == 0 ? 1 : -1;
  /* Wait for the kernel to report that direction. */
  if (gnutls_record_get_direction(c->tls) == 0)
    c->readable = false;
  else
    c->writable = false;
  return 0;
}

static long read_tls(pai__conn *c, char *to, size_t size)
{
  int seen = 0;
  ssize_t n;

  do
    n = gnutls_record_recv(c->tls, to, size);
  while (is_warning(c, n, &seen) && seen < ALERTS);
  if (seen == ALERTS)
    return 0;
  if (n == GNUTLS_E_AGAIN)
    c->readable = false;
  return n > 0 ? (long)n : n == GNUTLS_E_AGAIN ? 0 : -1;
}

long pai__transport_read(pai__conn *c, char *to, size_t size)
{
  ssize_t n;

  if (c->tls != NULL)
    return read_tls(c, to, size);
  do
    n = recv(c->fd, to, size, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  /* A short read has drained the socket; epoll reports new bytes. */
  if (n < 0 || ((size_t)n < size && !c->hung_up))
    c->readable = false;
  if (n < 0)
    return errno == EAGAIN ? 0 : -1;
  return n > 0 ? (long)n : -1;
}

static long write_tls(pai__conn *c, const char *bytes, size_t len)
{
  ssize_t n;

  do
    n = gnutls_record_send(c->tls, bytes, len);
  while (n < 0 && n != GNUTLS_E_AGAIN && gnutls_error_is_fatal((int)n) == 0);
  if (n == GNUTLS_E_AGAIN)
    c->writable = false;
  return n >= 0 ? (long)n : n == GNUTLS_E_AGAIN ? 0 : -1;
}

/* Bytes that could not be sent over TLS are passed again unchanged. */
long pai__transport_write(pai__conn *c, const char *bytes, size_t len,
                          bool more)
{
  ssize_t n;

  if (c->tls != NULL)
    return write_tls(c, bytes, len);
  do
    n = send(c->fd, bytes, len,
             MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  while (n < 0 && errno == EINTR);
  if (n >= 0)
    return (long)n;
  c->writable = false;
  return errno == EAGAIN ? 0 : -1;
}

void pai__transport_bye(pai__conn *c)
{
  if (c->tls != NULL)
    (void)gnutls_bye(c->tls, GNUTLS_SHUT_WR);
  (void)shutdown(c->fd, SHUT_WR);
}

void pai__transport_end(pai__conn *c)
{
  if (c->tls != NULL)
    gnutls_deinit(c->tls);
  c->tls = NULL;
  (void)close(c->fd);
  c->fd = -1;
}
