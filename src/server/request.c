/*
 * request.c - a request from its first line to its end
 *
 * libmicrohttpd asks again and again whether there is an answer.  A request
 * that has none is suspended, and nothing happens to it until it is resumed;
 * so it is there as long as something waits on its behalf.
 */
#include "server/reply.h"

#include "server/extender.h"
#include "server/peer.h"
#include "server/upload.h"

#include <strings.h>

enum { MOST_BODIES = 256 << 20 }; /* bytes of all that are being sent */

/* --- where it leads ------------------------------------------------------------- */

static int hex(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Decodes `len` bytes to the end of *to, and a NUL; false for what is no
 * escape, and for a NUL. */
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

/* The parts between slashes; empty ones do not count. */
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

/* Behind a proxy that leaves it there, a path has something before it. */
static const char *without(const char *uri, const char *prefix)
{
  size_t len = prefix != NULL ? strlen(prefix) : 0;

  if (len == 0 || strncmp(uri, prefix, len) != 0 ||
      strchr("/?", uri[len]) == NULL)
    return uri;
  return uri + len;
}

/* Reads the URI and finds the route.  False: that was refused. */
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

/* --- its life --------------------------------------------------------------------- */

static pai__line *line_of(struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

  return info != NULL ? info->socket_context : NULL;
}

/* The query is read here, from a copy.  libmicrohttpd 0.9.75 makes an entry of
 * its own for each name, and where a connection's memory has no room for all of
 * them it neither answers nor hangs up.  So it sees an empty query: the text is
 * in the connection's own memory, and is told before it is read. */
static void hide_query(const char *uri)
{
  char *query = strchr(uri, '?');

  if (query != NULL && pai__head_is_known())
    query[1] = '\0';
}

void *pai__request_begin(void *door, const char *uri,
                         struct MHD_Connection *connection)
{
  pai__door *d = door;
  pai_server *s = d->server;
  pai__request *r = pai__zalloc(&s->alloc, sizeof(*r));

  if (r == NULL)
    return NULL;
  r->server = s;
  r->door = d;
  r->remote = d->remote;
  r->line = line_of(connection);
  if (r->line != NULL)
    memcpy(r->peer, r->line->peer, sizeof(r->peer));
  pai__line_enter(r->line, PAI__HEAD);
  r->since = pai__loop_time();
  r->entered = -1;
  r->file = -1;
  pai__buf_init(&r->body, &s->alloc);
  pai__buf_init(&r->answer, &s->alloc);
  r->raw_uri = uri;
  /* Decoded it is no longer, but for a NUL after each part and name. */
  r->uri_size = strlen(uri) + 1;
  r->uri = pai__zalloc(&s->alloc, r->uri_size);
  r->text = pai__zalloc(&s->alloc, 2 * r->uri_size + 2);
  if (r->uri != NULL)
    memcpy(r->uri, uri, r->uri_size);
  hide_query(uri);
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
  pai__file_close(r);
  pai__files_free(r->files);
  pai__upload_free(r->upload);
  pai_file_writer_close(r->writer);
  pai__relay_free(r->relay);
  pai__enter_forget(r);
  pai__buf_dispose(&r->body);
  pai__buf_dispose(&r->answer);
  pai__tree_free(r->form);
  pai__strfree(&s->alloc, r->job_name);
  pai__strfree(&s->alloc, r->location);
  pai__strfree(&s->alloc, r->cookie);
  pai__strfree(&s->alloc, r->stale);
  pai__strfree(&s->alloc, r->claimed);
  pai__strfree(&s->alloc, r->caller.name);
  pai__free(&s->alloc, r->who, sizeof(*r->who));
  pai__free(&s->alloc, r->text, 2 * r->uri_size + 2);
  pai__free(&s->alloc, r->uri, r->uri_size);
  pai__free(&s->alloc, r, sizeof(*r));
}

void pai__request_end(void *door, struct MHD_Connection *connection,
                      void **request, enum MHD_RequestTerminationCode how)
{
  pai__request *r = *request;

  (void)door;
  (void)connection;
  (void)how;
  if (r != NULL) {
    pai__line_enter(r->line, PAI__IDLE);
    free_request(r);
  }
  *request = NULL;
}

void pai__request_suspend(pai__request *r)
{
  r->suspended = true;
  MHD_suspend_connection(r->connection);
  if (r->stream != NULL)
    pai__stream_suspended(r->stream);
}

void pai__request_resume(pai__request *r)
{
  if (!r->suspended)
    return;
  r->suspended = false;
  MHD_resume_connection(r->connection);
  /* On a loop that is not its own libmicrohttpd does not wake itself. */
  pai__door_run_soon(r->door);
}

/* --- answering -------------------------------------------------------------------- */

static size_t most_body(const pai__request *r)
{
  return r->route->most_body != 0 ? r->route->most_body : PAI__MOST_JSON;
}

static enum MHD_Result add_forwarded(void *buf, enum MHD_ValueKind kind,
                                     const char *name, const char *value)
{
  (void)kind;
  if (strcasecmp(name, "X-Forwarded-For") == 0 && value != NULL)
    pai__buf_printf(buf, "%s,", value);
  return MHD_YES;
}

/* Each proxy adds who asked it, some of them with a line of their own behind
 * those that came: these are one list. */
static void find_peer(pai__request *r)
{
  pai__buf list;

  pai__buf_init(&list, &r->server->alloc);
  (void)MHD_get_connection_values(r->connection, MHD_HEADER_KIND,
                                  add_forwarded, &list);
  if (list.len > 0 && pai__buf_ok(&list))
    pai__peer_behind(r->server->nets, r->peer, sizeof(r->peer),
                     pai__buf_text(&list));
  pai__buf_dispose(&list);
}

/* The head is there: what it says may be enough to refuse it. */
static void begin(pai__request *r)
{
  const char *length = MHD_lookup_connection_value(
    r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  int64_t bytes = 0;

  r->begun = true;
  if (!pai__head_is_sound(r))
    return;
  if (r->remote)
    find_peer(r);
  if (r->server->closing > 0)
    pai__answer_error(r, 503, "UnknownError", "The platform is ending.");
  else if (!pai__reply_to_preflight(r) && pai__reply_may_go_on(r) &&
           find_route(r) && pai__request_may(r) &&
           pai__reply_may_go_on_with_route(r) && length != NULL &&
           (pai__param_number(length, &bytes) < 0 ||
            (uint64_t)bytes > most_body(r)))
    pai__answer_error(r, 413, NULL, "request entity too large");
}

static void keep_body(pai__request *r, const char *bytes, size_t len)
{
  pai__buf_add(&r->body, bytes, len);
  r->kept += len;
  r->server->bodies += len;
}

static void take_body(pai__request *r, const char *bytes, size_t len)
{
  pai__line_moved(r->line, len);
  if (r->ready) /* it is refused already; the rest goes nowhere */
    return;
  if (r->route->take != NULL)
    r->route->take(r, bytes, len);
  else if (len > most_body(r) - r->body.len)
    pai__answer_error(r, 413, NULL, "request entity too large");
  else if (len > MOST_BODIES - r->server->bodies)
    pai__answer_error(r, 503, "UnknownError",
                      "The server has as many requests as it can hold.");
  else
    keep_body(r, bytes, len);
}

static void handle(pai__request *r)
{
  r->handled = true;
  pai__line_enter(r->line, PAI__AWAITED);
  if (!pai__buf_ok(&r->body))
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  else if (pai__body_is_known(r) &&
           (r->route->fields == NULL || pai__body_read(r)) &&
           pai__request_may_do(r) && pai__query_check(r)) {
    pai__request_act(r);
    r->route->handle(r);
    pai__request_acted(r);
  }
}

enum MHD_Result pai__request_go_on(void *door,
                                   struct MHD_Connection *connection,
                                   const char *url, const char *method,
                                   const char *version, const char *bytes,
                                   size_t *len, void **request)
{
  pai__request *r = *request;

  (void)door;
  (void)url;
  if (r == NULL || r->uri == NULL || r->text == NULL)
    return MHD_NO; /* there was no memory for it */
  if (r->gone)
    return MHD_NO;
  r->connection = connection;
  r->method = method;
  r->version = version;
  if (!r->begun) {
    pai__line_enter(r->line, PAI__BODY);
    begin(r);
    /* A refusal is sent at once, without the body. */
    return r->ready ? pai__reply_send(r) : MHD_YES;
  }
  if (*len > 0) {
    take_body(r, bytes, *len);
    *len = 0;
    return MHD_YES;
  }
  if (!r->ready && !r->handled)
    handle(r);
  if (r->ready || r->stream != NULL)
    return pai__reply_send(r);
  pai__request_suspend(r);
  return MHD_YES;
}
