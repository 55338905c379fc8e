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
  return pai__conn_field(r->conn, name);
}

static void put(const pai__request *r, const char *name, const char *value)
{
  pai__conn_add_field(r->conn, name, value);
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
  if (has_tag(header(r, "If-None-Match"), r->tag + 2))
    r->status = 304;
}

static void put_for_browsers(const pai__request *r)
{
  if (has_cors(r))
    put_cors(r);
  put_allowance(r);
  put(r, "X-Content-Type-Options", "nosniff");
  if (r->door->tls) /* a browser that was here speaks TLS with this name */
    put(r, "Strict-Transport-Security", "max-age=31536000");
  put(r, "Cache-Control",
      r->tag[0] != '\0' ? "private, no-cache" : "no-store");
  if (r->tag[0] != '\0')
    put(r, "ETag", r->tag);
}

/* A page of ours loads nothing, is shown in no other page, and tells nobody
 * where it was. */
static void put_for_pages(const pai__request *r)
{
  if (r->type == NULL || strncmp(r->type, "text/html", 9) != 0)
    return;
  put(r, "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "
      "base-uri 'none'");
  put(r, "X-Frame-Options", "DENY");
  put(r, "Referrer-Policy", "no-referrer");
}

/* --- sending ------------------------------------------------------------------------------ */

static pai__payload make_payload(pai__request *r)
{
  if (r->stream != NULL)
    return pai__stream_payload(r->stream);
  if (r->entered >= 0)
    return pai__enter_payload(r);
  if (r->file >= 0)
    return pai__file_payload(r);
  if (r->files != NULL)
    return pai__files_payload(r);
  return (pai__payload){ .size = (int64_t)r->answer.len,
                         .bytes = pai__buf_text(&r->answer) };
}

static void put_own(const pai__request *r)
{
  if (r->type != NULL)
    put(r, "Content-Type", r->type);
  if (r->location != NULL)
    put(r, "Location", r->location);
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
  else /* the connection is closed without one */
    r->status = 0;
  pai__request_note(r);
  pai__line_enter(r->line, has_end ? PAI__SEND : PAI__AWAITED);
  return sent;
}
