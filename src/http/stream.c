/*
 * stream.c - upgraded connection: a plain socket, or a connection of curl's
 * with its TLS and proxy
 *
 * The multi handle keeps curl's connection as long as its request exists.
 * After the upgrade only curl_easy_send() and curl_easy_recv() are used.
 */
#include "http/inside.h"

enum { PIECE = 16 << 10 }; /* size of a TLS record */

struct pai__http_stream {
  pai_alloc alloc;
  int fd;                     /* curl's, if it made the connection */
  pai__http *http;            /* of curl's connection, owned; NULL: plain
                                 socket */
  pai__http_request *request; /* of `http` */
  size_t held;
  char *piece; /* PIECE bytes, of which `held` could not be sent yet */
};

int pai__http_stream_new(pai__http_stream **out, const pai_alloc *alloc,
                         int fd)
{
  pai__http_stream *s = pai__zalloc(alloc, sizeof(*s));

  *out = s;
  if (s == NULL) {
    pai__http_end(fd);
    return PAI_ENOMEM;
  }
  s->alloc = *alloc;
  s->fd = fd;
  return PAI_OK;
}

int pai__http_stream_of(pai__http_stream **out, pai__http_request *request)
{
  pai__http *http = request->http;
  curl_socket_t fd = CURL_SOCKET_BAD;
  pai__http_stream *s = NULL;

  *out = NULL;
  (void)curl_easy_getinfo(request->easy, CURLINFO_ACTIVESOCKET, &fd);
  if (fd == CURL_SOCKET_BAD)
    return PAI_EIO; /* the connection broke meanwhile */
  s = pai__zalloc(&http->alloc, sizeof(*s));
  if (s == NULL)
    return PAI_ENOMEM;
  s->alloc = http->alloc;
  s->piece = pai__zalloc(&s->alloc, PIECE);
  if (s->piece == NULL) {
    pai__free(&http->alloc, s, sizeof(*s));
    return PAI_ENOMEM;
  }
  s->fd = fd;
  s->http = http;
  s->request = request;
  *out = s;
  return PAI_OK;
}

void pai__http_stream_close(pai__http_stream *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  alloc = s->alloc;
  if (s->http != NULL)
    pai__http_drop(s->http);
  else
    pai__http_end(s->fd);
  pai__free(&alloc, s->piece, PIECE);
  pai__free(&alloc, s, sizeof(*s));
}

int pai__http_stream_fd(const pai__http_stream *s)
{
  return s->fd;
}

bool pai__http_stream_holds(const pai__http_stream *s)
{
  return s->http != NULL;
}

/* TLS must send the same bytes at the same address again. */
static long send_held(pai__http_stream *s, const char *bytes, size_t len)
{
  CURLcode rc;
  size_t n = 0;

  if (s->held == 0) {
    s->held = len < PIECE ? len : PIECE;
    memcpy(s->piece, bytes, s->held);
  }
  rc = curl_easy_send(s->request->easy, s->piece, s->held, &n);
  if (rc == CURLE_AGAIN)
    return 0;
  s->held = 0;
  return rc == CURLE_OK ? (long)n : -1;
}

long pai__http_stream_send(pai__http_stream *s, const char *bytes, size_t len)
{
  if (len == 0)
    return 0;
  return s->http != NULL ? send_held(s, bytes, len)
                         : pai__http_send(s->fd, bytes, len);
}

long pai__http_stream_receive(pai__http_stream *s, char *bytes, size_t size)
{
  CURLcode rc;
  size_t n = 0;

  if (s->http == NULL)
    return pai__http_receive(s->fd, bytes, size);
  rc = curl_easy_recv(s->request->easy, bytes, size, &n);
  if (rc == CURLE_OK)
    return n > 0 ? (long)n : -1;
  return rc == CURLE_AGAIN ? 0 : -2;
}
