/*
 * reply.c - around answers: rate limits, CORS, ETags, headers
 *
 * Over TCP only: clients of the UNIX socket are no browsers and are not
 * counted.
 */
#include "server/http/reply.h"

#include "server/http/peer.h" /* needs http/listener.h */

#include "base/hash.h"
#include "base/log_offset.h"

#include <stdio.h>

/* --- rate limits --------------------------------------------------------- */

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

/* A stream costs as much as a list if it begins with the states of all
 * jobs. */
static bool is_counted(const pai__request *r)
{
  return r->route->counted &&
         (!r->route->streams || pai__request_flag(r, "states"));
}

/* Counts by user, whatever the address. */
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

/* --- CORS ---------------------------------------------------------------- */

static const char *header(const pai__request *r, const char *name)
{
  return pai__conn_field(r->conn, name);
}

static void put(const pai__request *r, const char *name, const char *value)
{
  pai__conn_add_field(r->conn, name, value);
}

/* What a browser's session gets is for this origin alone: with CORS headers,
 * pages of other origins could read it in the browser's cache. */
static bool has_cors(const pai__request *r)
{
  return r->remote && r->server->cors[0] != '\0' && !r->caller.session;
}

bool pai__reply_to_preflight(pai__request *r)
{
  if (!has_cors(r) || strcmp(r->method, "OPTIONS") != 0)
    return false;
  pai__answer_text(r, 204, NULL, "");
  return true;
}

static void put_cors(const pai__request *r)
{
  const char *asked;

  put(r, "Access-Control-Allow-Origin", r->server->cors);
  if (strcmp(r->server->cors, "*") != 0)
    put(r, "Vary", "Origin");
  if (r->status != 204 || strcmp(r->method, "OPTIONS") != 0)
    return;
  put(r, "Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE");
  asked = header(r, "Access-Control-Request-Headers");
  put(r, "Vary", "Access-Control-Request-Headers");
  if (asked != NULL)
    put(r, "Access-Control-Allow-Headers", asked);
}

static void put_allowance(const pai__request *r)
{
  const pai__allowance *a = &r->allowance;
  pai_time left = (a->end - pai__loop_wall_time() + 999999) / 1000000;
  char text[32];

  if (a->most == 0)
    return;
  (void)snprintf(text, sizeof(text), "%u", a->most);
  put(r, "X-RateLimit-Limit", text);
  (void)snprintf(text, sizeof(text), "%u", a->left);
  put(r, "X-RateLimit-Remaining", text);
  (void)snprintf(text, sizeof(text), "%lld",
                 (long long)((a->end + 999999) / 1000000));
  put(r, "X-RateLimit-Reset", text);
  (void)snprintf(text, sizeof(text), "%lld", (long long)(left > 0 ? left : 1));
  if (a->over)
    put(r, "Retry-After", text);
}

/* --- ETags --------------------------------------------------------------- */

/* Hashes eight bytes at a time; not safe against forgery. */
static uint64_t hash(const char *bytes, size_t len)
{
  uint64_t h = 0x9e3779b97f4a7c15u ^ len, word;
  size_t i;

  for (i = 0; i + 8 <= len; i += 8) {
    memcpy(&word, bytes + i, 8);
    h = (h ^ word) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
  }
  h = pai__hash(h, bytes + i, len - i) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

/* Returns whether a list of tags has the tag, weak or strong. */
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

/* Returns whether the client may cache the answer and revalidate it. */
static bool is_kept(const pai__request *r)
{
  bool read = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;

  return r->remote && read && r->stream == NULL && r->entered < 0 &&
         !pai__files_are_sent(r) && r->status == 200 &&
         pai__buf_ok(&r->answer) && (r->route == NULL || !r->route->no_store);
}

/* Sets the tag; the client may have the answer already. */
static void make_tag(pai__request *r)
{
  const char *bytes =
    r->page != NULL ? r->page->packed : pai__buf_text(&r->answer);
  size_t len = r->page != NULL ? r->page->packed_len : r->answer.len;

  if (!is_kept(r))
    return;
  (void)snprintf(r->tag, sizeof(r->tag), "W/\"%zx-%016llx\"", len,
                 (unsigned long long)hash(bytes, len));
  if (has_tag(header(r, "If-None-Match"), r->tag + 2))
    r->status = 304;
}

/* Files of the portal have a hash of their content in their names. */
static const char *cache_control(const pai__request *r)
{
  if (r->page != NULL && strcmp(r->page->name, PAI__PORTAL_PAGE) != 0)
    return "public, max-age=31536000, immutable";
  return r->tag[0] != '\0' ? "private, no-cache" : "no-store";
}

static void put_for_browsers(const pai__request *r)
{
  if (has_cors(r))
    put_cors(r);
  if (r->caller.session)
    put(r, "Cross-Origin-Resource-Policy", "same-origin");
  put_allowance(r);
  put(r, "X-Content-Type-Options", "nosniff");
  /* TLS works here, so browsers need never fall back to plain HTTP */
  if (r->listener->tls)
    put(r, "Strict-Transport-Security", "max-age=31536000");
  put(r, "Cache-Control", cache_control(r));
  if (r->tag[0] != '\0')
    put(r, "ETag", r->tag);
}

/* HTML pages load nothing, cannot be framed, and send no referrer.  The portal
 * loads its own files, and calls this server; browsers put style attributes into
 * a text that is edited. */
static void put_for_pages(const pai__request *r)
{
  if (r->type == NULL || strncmp(r->type, "text/html", 9) != 0)
    return;
  put(r, "Content-Security-Policy",
      r->policy != NULL ? r->policy
      : r->page != NULL
        ? "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
          "style-src 'self'; style-src-attr 'unsafe-inline'; "
          "img-src 'self' data:; connect-src 'self'; frame-src 'self'; "
          "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        : "default-src 'none'; style-src 'unsafe-inline'; "
          "frame-ancestors 'none'; base-uri 'none'");
  put(r, "X-Frame-Options", r->policy != NULL ? "SAMEORIGIN" : "DENY");
  put(r, "Referrer-Policy", "no-referrer");
}

/* --- sending ------------------------------------------------------------- */

static pai__payload make_payload(pai__request *r)
{
  if (r->stream != NULL)
    return pai__stream_payload(r->stream);
  if (r->entered >= 0)
    return pai__enter_payload(r);
  if (pai__files_are_sent(r))
    return pai__files_payload(r);
  if (r->page != NULL && r->packed)
    return (pai__payload){ .size = (int64_t)r->page->packed_len,
                           .bytes = r->page->packed };
  return (pai__payload){ .size = (int64_t)r->answer.len,
                         .bytes = pai__buf_text(&r->answer) };
}

static void put_own(const pai__request *r)
{
  if (r->type != NULL)
    put(r, "Content-Type", r->type);
  if (r->location != NULL)
    put(r, "Location", r->location);
  if (r->log_offset[0] != '\0')
    put(r, PAI__LOG_OFFSET, r->log_offset);
  if (r->cookie != NULL)
    put(r, "Set-Cookie", r->cookie);
  if (r->stale != NULL)
    put(r, "Set-Cookie", r->stale);
  if (r->packed)
    put(r, "Content-Encoding", "gzip");
}

static void put_wait(const pai__request *r)
{
  char text[32];

  (void)snprintf(text, sizeof(text), "%lld",
                 r->wait > 0 ? (long long)((r->wait + 999999) / 1000000) : 2);
  put(r, "Retry-After", text);
}

static void put_others(const pai__request *r, bool varies)
{
  put_for_pages(r);
  pai__file_headers(r);
  if (varies)
    put(r, "Vary", "Accept-Encoding");
  if (r->later)
    put_wait(r);
  if (r->remote && r->status != 101)
    put_for_browsers(r);
}

static bool answer(pai__request *r, bool varies)
{
  if (!pai__buf_ok(&r->answer))
    return false;
  pai__conn_begin_answer(r->conn, r->status);
  put_others(r, varies);
  put_own(r);
  return pai__conn_answer(r->conn, make_payload(r));
}

bool pai__reply_send(pai__request *r)
{
  bool has_end = r->stream == NULL && r->entered < 0;
  bool varies = has_end && pai__pack_may(r);
  bool sent;

  make_tag(r);
  r->packed = has_end && pai__pack(r);
  sent = !r->dropped && answer(r, varies);
  if (sent)
    pai__count_answer(r);
  else /* the connection is closed without an answer */
    r->status = 0;
  pai__request_note(r);
  pai__server_deadline_enter(r->deadline, has_end ? PAI__SEND : PAI__AWAITED);
  return sent;
}
