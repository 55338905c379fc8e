/*
 * reply.c - what stands around an answer: limits, other origins, tags
 *
 * Over TCP alone: what asks at the UNIX socket is no browser, and is not
 * counted.
 */
#include "server/reply.h"

#include "server/peer.h" /* with door.h */

#include <stdio.h>

/* --- how often somebody may ask --------------------------------------------------- */

static void refuse(pai__request *r)
{
  pai__answer_text(r, 429, "text/html; charset=utf-8",
                   "Too many requests, please try again later.");
}

static bool count(pai__request *r, pai__limit *limit, const void *who,
                  size_t len)
{
  if (pai__limit_take(limit, who, len, pai__loop_wall_time(), &r->allowance))
    return true;
  refuse(r);
  return false;
}

bool pai__reply_may_go_on(pai__request *r)
{
  unsigned char key[16] = { 0 };

  if (!r->remote)
    return true;
  return count(r, &r->server->all, key, pai__peer_key(key, r->peer));
}

/* What takes as much as a list: guesses, and snapshots, look at all that wait; a
 * log is long. */
static bool is_counted(const pai__request *r)
{
  const char *path = r->route->path;

  return (strcmp(path, "/api/v2/events") == 0 &&
          pai__request_flag(r, "states")) ||
         strcmp(path, "/api/v2/jobs") == 0 ||
         strcmp(path, "/api/v1/jobs") == 0 ||
         strcmp(path, "/api/v2/scheduler") == 0 ||
         strcmp(path, "/api/v2/scheduler/log") == 0 ||
         strcmp(path, "/api/v2/jobs/:job/estimate") == 0;
}

/* Who is counted: a user, whatever his address. */
bool pai__reply_may_go_on_with_route(pai__request *r)
{
  const char *who = r->caller.name != NULL ? r->caller.name : r->peer;

  if (!r->remote || !is_counted(r))
    return true;
  return count(r,
               strcmp(r->method, "POST") == 0 ? &r->server->submits
                                              : &r->server->lists,
               who, strlen(who));
}

/* --- other origins ------------------------------------------------------------------ */

static const char *header(const pai__request *r, const char *name)
{
  return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* What came with a head goes back with one: never as more than one line. */
static void put(struct MHD_Response *m, const char *name, const char *value)
{
  if (strpbrk(value, "\r\n") == NULL)
    (void)MHD_add_response_header(m, name, value); /* memory: it lacks that */
}

static bool has_cors(const pai__request *r)
{
  return r->remote && r->server->cors[0] != '\0';
}

bool pai__reply_to_preflight(pai__request *r)
{
  if (!has_cors(r) || strcmp(r->method, "OPTIONS") != 0)
    return false;
  pai__answer_text(r, 204, NULL, "");
  return true;
}

static void put_cors(const pai__request *r, struct MHD_Response *m)
{
  const char *asked;

  put(m, "Access-Control-Allow-Origin", r->server->cors);
  if (strcmp(r->server->cors, "*") != 0)
    put(m, "Vary", "Origin");
  if (r->status != 204 || strcmp(r->method, "OPTIONS") != 0)
    return;
  put(m, "Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE");
  asked = header(r, "Access-Control-Request-Headers");
  put(m, "Vary", "Access-Control-Request-Headers");
  if (asked != NULL && strpbrk(asked, "\r\n") == NULL)
    put(m, "Access-Control-Allow-Headers", asked);
}

static void put_allowance(const pai__allowance *a, struct MHD_Response *m)
{
  pai_time left = (a->end - pai__loop_wall_time() + 999999) / 1000000;
  char text[32];

  if (a->most == 0)
    return;
  (void)snprintf(text, sizeof(text), "%u", a->most);
  put(m, "X-RateLimit-Limit", text);
  (void)snprintf(text, sizeof(text), "%u", a->left);
  put(m, "X-RateLimit-Remaining", text);
  (void)snprintf(text, sizeof(text), "%lld",
                 (long long)((a->end + 999999) / 1000000));
  put(m, "X-RateLimit-Reset", text);
  (void)snprintf(text, sizeof(text), "%lld", (long long)(left > 0 ? left : 1));
  if (a->over)
    put(m, "Retry-After", text);
}

/* --- tags ------------------------------------------------------------------------------ */

/* Whether nobody should keep it: it has tokens and keys. */
static bool is_secret(const pai__request *r)
{
  static const char *const of[] = { "/api/v2/token",
                                    "/api/v2/user",
                                    "/api/v2/authn",
                                    "/api/v1/token",
                                    "/api/v1/user",
                                    "/api/v1/authn",
                                    "/api/v2/jobs/:job/ssh/key" };

  for (size_t i = 0; r->route != NULL && i < PAI__LEN(of); i++)
    if (strncmp(r->route->path, of[i], strlen(of[i])) == 0)
      return true;
  return false;
}

/* Eight bytes at a time; not for what somebody would forge. */
static uint64_t hash(const char *bytes, size_t len)
{
  uint64_t h = 0x9e3779b97f4a7c15u ^ len, word;
  size_t i;

  for (i = 0; i + 8 <= len; i += 8) {
    memcpy(&word, bytes + i, 8);
    h = (h ^ word) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
  }
  for (; i < len; i++)
    h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  h *= 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

/* Whether a list of tags has it; weak or not is all the same. */
static bool has_tag(const char *list, const char *tag)
{
  const char *at = list;
  size_t len = strlen(tag);

  if (list == NULL)
    return false;
  if (strcmp(list, "*") == 0)
    return true;
  while ((at = strstr(at, tag)) != NULL) {
    char behind = at[len];
    if (behind == '\0' || behind == ',' || behind == ' ')
      return true;
    at += len;
  }
  return false;
}

/* May the client keep it, and ask whether it is still the same? */
static bool is_kept(const pai__request *r)
{
  bool read = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;

  return r->remote && read && r->stream == NULL && r->entered < 0 &&
         r->file < 0 && r->files == NULL && r->status == 200 &&
         pai__buf_ok(&r->answer) && !is_secret(r);
}

/* What was asked for may be what the client has already. */
static void make_tag(pai__request *r)
{
  if (!is_kept(r))
    return;
  (void)snprintf(
    r->tag, sizeof(r->tag), "W/\"%zx-%016llx\"", r->answer.len,
    (unsigned long long)hash(pai__buf_text(&r->answer), r->answer.len));
  if (has_tag(header(r, MHD_HTTP_HEADER_IF_NONE_MATCH), r->tag + 2))
    r->status = 304;
}

static void put_for_browsers(pai__request *r, struct MHD_Response *m)
{
  if (has_cors(r))
    put_cors(r, m);
  put_allowance(&r->allowance, m);
  put(m, "X-Content-Type-Options", "nosniff");
  if (r->door->tls) /* a browser that was here speaks TLS with this name */
    put(m, "Strict-Transport-Security", "max-age=31536000");
  put(m, MHD_HTTP_HEADER_CACHE_CONTROL,
      r->tag[0] != '\0' ? "private, no-cache" : "no-store");
  if (r->tag[0] != '\0')
    put(m, MHD_HTTP_HEADER_ETAG, r->tag);
}

/* A page of ours loads nothing, is shown in no other page, and tells nobody
 * where it was. */
static void put_for_pages(const pai__request *r, struct MHD_Response *m)
{
  if (r->type == NULL || strncmp(r->type, "text/html", 9) != 0)
    return;
  put(m, "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "
      "base-uri 'none'");
  put(m, "X-Frame-Options", "DENY");
  put(m, "Referrer-Policy", "no-referrer");
}

/* --- sending ------------------------------------------------------------------------------ */

static struct MHD_Response *make_response(pai__request *r)
{
  if (r->stream != NULL)
    return pai__stream_response(r->stream);
  if (r->entered >= 0)
    return pai__enter_response(r);
  if (r->file >= 0)
    return pai__file_response(r);
  if (r->files != NULL)
    return pai__files_response(r);
  if (!pai__buf_ok(&r->answer))
    return NULL;
  return MHD_create_response_from_buffer(
    r->answer.len, (void *)pai__buf_text(&r->answer),
    MHD_RESPMEM_PERSISTENT); /* it lives as long as the request */
}

/* Those that would be missed; MHD_NO: there is no memory. */
static enum MHD_Result put_needed(const pai__request *r,
                                  struct MHD_Response *m)
{
  enum MHD_Result rc = MHD_YES;

  if (r->type != NULL)
    rc = MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
  if (r->location != NULL && rc == MHD_YES)
    rc = MHD_add_response_header(m, MHD_HTTP_HEADER_LOCATION, r->location);
  if (r->cookie != NULL && rc == MHD_YES)
    rc = MHD_add_response_header(m, MHD_HTTP_HEADER_SET_COOKIE, r->cookie);
  if (r->stale != NULL && rc == MHD_YES)
    rc = MHD_add_response_header(m, MHD_HTTP_HEADER_SET_COOKIE, r->stale);
  if (r->packed && rc == MHD_YES)
    rc = MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  return rc;
}

static void put_wait(const pai__request *r, struct MHD_Response *m)
{
  char text[32];

  (void)snprintf(text, sizeof(text), "%lld",
                 r->wait > 0 ? (long long)((r->wait + 999999) / 1000000) : 2);
  put(m, MHD_HTTP_HEADER_RETRY_AFTER, text);
}

static void put_others(pai__request *r, struct MHD_Response *m, bool varies)
{
  put_for_pages(r, m);
  pai__file_headers(r, m);
  if (varies)
    put(m, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
  if (r->last)
    put(m, MHD_HTTP_HEADER_CONNECTION, "close");
  if (r->later)
    put_wait(r, m);
  if (r->remote && r->status != MHD_HTTP_SWITCHING_PROTOCOLS)
    put_for_browsers(r, m);
}

static enum MHD_Result queue(pai__request *r, bool varies)
{
  struct MHD_Response *response = make_response(r);
  enum MHD_Result rc;

  if (response == NULL)
    return MHD_NO;
  put_others(r, response, varies);
  rc = put_needed(r, response);
  if (rc == MHD_YES)
    rc = MHD_queue_response(r->connection, (unsigned)r->status, response);
  MHD_destroy_response(response);
  return rc;
}

enum MHD_Result pai__reply_send(pai__request *r)
{
  bool has_end = r->stream == NULL && r->entered < 0;
  bool varies = has_end && pai__pack_may(r);
  enum MHD_Result rc;

  make_tag(r);
  r->packed = has_end && pai__pack(r);
  rc = r->dropped ? MHD_NO : queue(r, varies);
  if (rc == MHD_YES)
    pai__count_answer(r);
  else /* the connection is closed without one */
    r->status = 0;
  pai__request_note(r);
  pai__line_enter(r->line, has_end ? PAI__SEND : PAI__AWAITED);
  return rc;
}
