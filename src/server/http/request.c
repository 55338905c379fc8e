/*
 * request.c - a request from its first line to its end
 *
 * A request without an answer is suspended, and nothing happens to it until it
 * is resumed.  So it stays alive as long as something works for it.
 */
#include "server/http/reply.h"

#include "server/calls/extender.h"
#include "server/http/peer.h"
#include "server/calls/upload.h"

#include <strings.h>

enum { MOST_BODIES = 256 << 20 }; /* bytes of all unfinished bodies */

/* --- routing ------------------------------------------------------------- */

static int hex(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Decodes `len` bytes to *to, and adds a NUL.  Returns false for an invalid
 * escape or a NUL. */
static bool decode(char **to, const char *text, size_t len, bool plus)
{
  char *p = *to;

  for (size_t i = 0; i < len; i++) {
    int c = (unsigned char)text[i];
    if (c == '%') {
      if (len - i < 3 || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
        return false;
      c = hex(text[i + 1]) * 16 + hex(text[i + 2]);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (c == '\0')
      return false;
    *p++ = (char)c;
  }
  *p++ = '\0';
  *to = p;
  return true;
}

/* Splits a path at slashes and decodes the parts; empty ones are skipped. */
static bool decode_path(char **to, const char *path, size_t len)
{
  const char *end = path + len;

  while (path < end) {
    const char *slash = memchr(path, '/', (size_t)(end - path));
    size_t n = (size_t)((slash != NULL ? slash : end) - path);
    if (n > 0 && !decode(to, path, n, false))
      return false;
    path += n + (slash != NULL ? 1 : 0);
  }
  *(*to)++ = '\0';
  return true;
}

static bool decode_query(pai__request *r, char **to, const char *query)
{
  while (*query != '\0') {
    size_t len = strcspn(query, "&"), name = strcspn(query, "=&");
    if (len > 0 && r->nquery < PAI__QUERIES) {
      r->query[r->nquery].name = *to;
      if (!decode(to, query, name, true))
        return false;
      r->query[r->nquery].value = *to;
      if (name == len)
        *(*to)++ = '\0';
      else if (!decode(to, query + name + 1, len - name - 1, true))
        return false;
      r->nquery++;
    }
    query += len + (query[len] == '&' ? 1 : 0);
  }
  return true;
}

/* Removes the prefix that a proxy leaves in the path. */
static const char *without(const char *uri, const char *prefix)
{
  size_t len = prefix != NULL ? strlen(prefix) : 0;

  if (len == 0 || strncmp(uri, prefix, len) != 0 ||
      strchr("/?", uri[len]) == NULL)
    return uri;
  return uri + len;
}

/* Parses the URI and finds the route; returns false if the request was
 * refused. */
static bool find_route(pai__request *r)
{
  const char *uri =
    without(without(r->uri, r->server->prefix), "/rest-server");
  size_t len = strcspn(uri, "?");
  char *to = r->text, *path = to;

  if (r->server->hived != NULL) {
    r->route = pai__extender_route(r->method, r->uri);
    return true;
  }
  if (!decode_path(&to, uri, len) ||
      !decode_query(r, &to, uri[len] == '?' ? uri + len + 1 : "")) {
    pai__answer_error(r, 400, NULL, "Failed to decode '%s'", r->uri);
    return false;
  }
  r->route =
    pai__route_find(r->method, path, pai__server_mode(r->server), r->params);
  if (r->route == NULL)
    pai__answer_error(r, 404, "NoApiError", "API %s is not found.", r->uri);
  return r->route != NULL;
}

/* --- begin and end ------------------------------------------------------- */

/* Updates pointers into the head, which moves when bytes are added to its
 * buffer. */
static void look_again(pai__request *r)
{
  r->method = pai__conn_method(r->conn);
  r->uri = pai__conn_target(r->conn);
}

pai__request *pai__request_begin(pai__server_listener *d, pai__conn *conn)
{
  pai_server *s = d->server;
  pai__request *r = pai__zalloc(&s->alloc, sizeof(*r));

  if (r == NULL)
    return NULL;
  r->server = s;
  r->listener = d;
  r->remote = d->remote;
  r->conn = conn;
  r->deadline = pai__conn_deadline(conn);
  memcpy(r->peer, r->deadline->peer, sizeof(r->peer));
  r->since = pai__loop_time();
  r->entered = -1;
  r->files[0].fd = r->files[1].fd = -1;
  pai__buf_init(&r->body, &s->alloc);
  pai__buf_init(&r->answer, &s->alloc);
  look_again(r);
  /* Decoding only shortens, except for a NUL after each part and name. */
  r->text_size = 2 * strlen(r->uri) + 4;
  r->text = pai__zalloc(&s->alloc, r->text_size);
  if (r->text == NULL) {
    pai__free(&s->alloc, r, sizeof(*r));
    return NULL;
  }
  r->after = s->first;
  if (s->first != NULL)
    s->first->before = r;
  s->first = r;
  return r;
}

static void free_request(pai__request *r)
{
  pai_server *s = r->server;

  if (r->before != NULL)
    r->before->after = r->after;
  else
    s->first = r->after;
  if (r->after != NULL)
    r->after->before = r->before;
  s->bodies -= r->kept;
  pai__waiting_forget(r);
  pai__stream_free(r->stream);
  pai__sent_files_close(r);
  pai__code_give_up(r);
  pai__files_give_up(r);
  pai__proxy_stream_free(r->relay);
  pai__enter_forget(r);
  pai__buf_dispose(&r->body);
  pai__buf_dispose(&r->answer);
  pai__tree_free(r->form);
  pai_error_free(r->err);
  pai__strfree(&s->alloc, r->job_name);
  pai__strfree(&s->alloc, r->location);
  pai__strfree(&s->alloc, r->policy);
  pai__strfree(&s->alloc, r->cookie);
  pai__strfree(&s->alloc, r->stale);
  pai__strfree(&s->alloc, r->claimed);
  pai__strfree(&s->alloc, r->caller.name);
  pai__free(&s->alloc, r->who, sizeof(*r->who));
  pai__free(&s->alloc, r->text, r->text_size);
  pai__free(&s->alloc, r, sizeof(*r));
}

void pai__request_end(pai__request *r)
{
  pai__server_deadline_enter(r->deadline, PAI__IDLE);
  free_request(r);
}

void pai__request_suspend(pai__request *r)
{
  r->suspended = true;
  if (r->stream != NULL)
    pai__stream_suspended(r->stream);
}

void pai__request_resume(pai__request *r)
{
  if (!r->suspended)
    return;
  r->suspended = false;
  pai__conn_resume(r->conn);
  pai__server_listener_run_soon(r->listener);
}

/* --- answering ----------------------------------------------------------- */

static size_t most_body(const pai__request *r)
{
  return r->route->most_body != 0 ? r->route->most_body : PAI__MOST_JSON;
}

/* Each proxy appends its client, some of them in a field of their own: all
 * fields form one list. */
static void find_peer(pai__request *r)
{
  const char *value;
  size_t at = 0;
  pai__buf list;

  pai__buf_init(&list, &r->server->alloc);
  while ((value = pai__conn_next_field(r->conn, "X-Forwarded-For", &at)) !=
         NULL)
    pai__buf_printf(&list, "%s,", value);
  if (list.len > 0 && pai__buf_ok(&list))
    pai__peer_behind(r->server->nets, r->peer, sizeof(r->peer),
                     pai__buf_text(&list));
  pai__buf_dispose(&list);
}

/* Checks that the request is valid HTTP; if not, answers. */
static bool is_http(pai__request *r)
{
  const char *why;
  int status = pai__conn_fault(r->conn, &why);

  if (status != 0)
    pai__answer_error(r, status, "InvalidParametersError",
                      "Invalid HTTP request: %s.", why);
  return status == 0;
}

/* The head is complete: it may be enough to refuse the request. */
static void begin(pai__request *r)
{
  uint64_t bytes = 0;

  r->begun = true;
  if (!is_http(r))
    return;
  if (r->remote)
    find_peer(r);
  if (r->server->closing > 0)
    pai__answer_error(r, 503, "UnknownError",
                      "The platform is shutting down.");
  else if (!pai__reply_to_preflight(r) && pai__reply_may_go_on(r) &&
           find_route(r) && pai__request_may(r) &&
           pai__reply_may_go_on_with_route(r) &&
           pai__conn_length(r->conn, &bytes) && bytes > most_body(r))
    pai__answer_error(r, 413, NULL, "request entity too large");
}

void pai__request_keep(pai__request *r, const char *bytes, size_t len)
{
  if (len > most_body(r) - r->body.len) {
    pai__answer_error(r, 413, NULL, "request entity too large");
    return;
  }
  if (len > MOST_BODIES - r->server->bodies) {
    pai__answer_error(
      r, 503, "UnknownError",
      "The server has reached its limit of concurrent requests.");
    return;
  }
  pai__buf_add(&r->body, bytes, len);
  r->kept += len;
  r->server->bodies += len;
}

static void take_body(pai__request *r, const char *bytes, size_t len)
{
  pai__server_deadline_moved(r->deadline, len);
  if (r->route->take != NULL)
    r->route->take(r, bytes, len);
  else
    pai__request_keep(r, bytes, len);
}

static void handle(pai__request *r)
{
  r->handled = true;
  pai__server_deadline_enter(r->deadline, PAI__AWAITED);
  if (!pai__buf_ok(&r->body))
    pai__answer_failure(r, PAI_ENOMEM);
  else if (pai__body_is_known(r) &&
           (r->route->body == NULL || pai__body_read(r)) &&
           pai__request_may_do(r) && pai__query_check(r)) {
    pai__request_act(r);
    r->route->handle(r);
    pai__request_acted(r);
  }
}

bool pai__request_go_on(pai__request *r, const char *bytes, size_t len)
{
  if (r->gone)
    return false;
  look_again(r);
  if (!r->begun) {
    pai__server_deadline_enter(r->deadline, PAI__BODY);
    begin(r);
    /* Refuse at once, without the body. */
    return !r->ready || pai__reply_send(r);
  }
  if (len > 0) {
    take_body(r, bytes, len);
    return !r->ready || pai__reply_send(r);
  }
  /* the chunks of the body are also checked */
  if (!r->ready && !r->handled && is_http(r))
    handle(r);
  if (r->ready || r->stream != NULL)
    return pai__reply_send(r);
  pai__request_suspend(r);
  return true;
}
