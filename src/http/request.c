/*
 * request.c - one request as a curl easy handle
 *
 * Finished handles are kept with their options, and the next request changes
 * only what differs.
 */
#include "http/inside.h"

#include "base/log_offset.h"
#include "base/os/posix_socket.h"

#include <strings.h>

enum { MOST_SPARE = 256, MOST_REDIRECTS = 5 };

/* --- connecting ---------------------------------------------------------- */

/* Gives curl a socket and the address to connect it to.  The address is made
 * here because the path may be long. */
static curl_socket_t on_open(void *user_data, curlsocktype purpose,
                             struct curl_sockaddr *address)
{
  pai__http_request *r = user_data;
  unsigned len;
  int fd;

  (void)purpose;
  pai_error_free(r->error);
  r->error = NULL;
  pai__socket_end(r->folder);
  r->folder = -1;
  if (pai__http_open_unix(
        &fd, (char *)address + offsetof(struct curl_sockaddr, addr), &len,
        &r->folder, r->http->socket, &r->error) < 0)
    return CURL_SOCKET_BAD;
  address->addrlen = len;
  r->fresh = fd;
  return fd;
}

/* Gives curl a socket for an address that a name has led to, if the caller
 * allows connections to it. */
static curl_socket_t on_open_guarded(void *user_data, curlsocktype purpose,
                                     struct curl_sockaddr *address)
{
  pai__http_request *r = user_data;
  const pai__http *http = r->http;

  (void)purpose;
  pai__http_unblock(r->http);
  if (http->may_connect(http->guard, &address->addr))
    return pai__http_open_socket(address->family, address->socktype,
                                 address->protocol);
  pai_error_free(r->error);
  r->error = NULL;
  (void)pai__fail(&r->error, PAI_EPERM,
                  "%s leads to a private address that is not allowed",
                  http->place);
  return CURL_SOCKET_BAD;
}

/* Checks the connection before anything is sent over it: may the request be
 * sent, and who listens? curl calls this a second time after an old connection
 * broke, and for a redirect. */
static int on_connected(void *user_data, char *to, char *from, int to_port,
                        int from_port)
{
  pai__http_request *r = user_data;
  int fd = r->fresh;

  (void)to;
  (void)from;
  (void)to_port;
  (void)from_port;
  if (r->want.once && r->sent > 0)
    return CURL_PREREQFUNC_ABORT;
  r->fresh = -1; /* a reused connection was checked before */
  if (fd >= 0 &&
      pai__http_check_unix(fd, r->http->socket, &r->error) != PAI_OK)
    return CURL_PREREQFUNC_ABORT;
  r->sent++;
  return CURL_PREREQFUNC_OK;
}

/* --- the answer ---------------------------------------------------------- */

/* Parses a header's value as a number; -1 if it is not one. */
static int64_t read_number(const char *bytes, size_t len)
{
  int64_t n = -1;

  while (len > 0 && *bytes == ' ')
    bytes++, len--;
  for (; len > 0 && *bytes >= '0' && *bytes <= '9'; bytes++, len--) {
    n = n < 0 ? 0 : n;
    if (n > (INT64_MAX - 9) / 10)
      return -1;
    n = n * 10 + (*bytes - '0');
  }
  return len == 0 || *bytes == '\r' || *bytes == '\n' ? n : -1;
}

static void take_field(pai__http_request *r, const char *bytes, size_t len)
{
  static const char name[] = PAI__LOG_OFFSET ":";
  size_t n = sizeof(name) - 1;

  if (len > n && strncasecmp(bytes, name, n) == 0)
    r->log_offset = read_number(bytes + n, len - n);
}

/* curl takes an incomplete head for a complete one. */
static size_t on_head(char *bytes, size_t size, size_t n, void *user_data)
{
  pai__http_request *r = user_data;

  size *= n;
  if (size >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
    r->head = false;
    r->log_offset = -1;
  } else if ((size == 2 && bytes[0] == '\r') ||
             (size == 1 && bytes[0] == '\n')) {
    r->head = true;
  } else if (!r->head) { /* a trailer after the body does not give the
                            offset */
    take_field(r, bytes, size);
  }
  return size;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *user_data)
{
  pai__http_request *r = user_data;
  long status = 0;
  int rc;

  if (r->canceled)
    return 0;
  if (r->held) { /* curl keeps this piece, and stops reading */
    r->paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
  pai__http_unblock(r->http);
  rc = r->want.on_body(r->want.user_data, (int)status, bytes, size * n);
  if (rc < 0)
    r->stopped_by = rc;
  return rc < 0 ? 0 : size * n;
}

static int on_progress(void *user_data, curl_off_t down_total, curl_off_t down,
                       curl_off_t up_total, curl_off_t up)
{
  pai__http_request *r = user_data;

  (void)down_total;
  (void)down;
  (void)up_total;
  if (up != r->told && !r->canceled) {
    r->told = up;
    pai__http_unblock(r->http);
    r->want.on_sent(r->want.user_data, (uint64_t)up);
  }
  return 0;
}

int64_t pai__http_log_offset(const pai__http_request *r)
{
  return r->head ? r->log_offset : -1;
}

/* --- options of all requests --------------------------------------------- */

/* Set options whose values are pointers or numbers. */
static bool set(CURL *easy, CURLoption option, const void *value)
{
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_number(CURL *easy, CURLoption option, long value)
{
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_file(CURL *easy, CURLoption option, const char *path)
{
  return path == NULL || set(easy, option, path);
}

static bool set_pem(CURL *easy, CURLoption option, const char *pem)
{
  struct curl_blob blob = { (void *)(uintptr_t)pem, 0, CURL_BLOB_NOCOPY };

  if (pem == NULL)
    return true;
  blob.len = strlen(pem);
  return curl_easy_setopt(easy, option, &blob) == CURLE_OK;
}

/* Sets the certificates of both sides. */
static bool set_identities(CURL *easy, const pai__http *http)
{
  if (http->ca_file != NULL && /* only these authorities */
      (!set(easy, CURLOPT_CAINFO, http->ca_file) ||
       !set(easy, CURLOPT_CAPATH, NULL)))
    return false;
  return set_pem(easy, CURLOPT_CAINFO_BLOB, http->ca) &&
         (http->ca == NULL || set(easy, CURLOPT_CAPATH, NULL)) &&
         set_file(easy, CURLOPT_SSLCERT, http->cert_file) &&
         set_file(easy, CURLOPT_SSLKEY, http->key_file) &&
         set_pem(easy, CURLOPT_SSLCERT_BLOB, http->cert) &&
         set_pem(easy, CURLOPT_SSLKEY_BLOB, http->key);
}

static bool set_protocols(CURL *easy, const char *place, bool secure)
{
  bool mail = pai__http_is_mail(place);

#if LIBCURL_VERSION_NUM >= 0x075500
  return set(easy, CURLOPT_PROTOCOLS_STR,
             mail ? "smtp,smtps" : "http,https") &&
         set(easy, CURLOPT_REDIR_PROTOCOLS_STR,
             secure ? "https" : "http,https");
#else
  return set_number(easy, CURLOPT_PROTOCOLS,
                    mail ? CURLPROTO_SMTP | CURLPROTO_SMTPS
                         : CURLPROTO_HTTP | CURLPROTO_HTTPS) &&
         set_number(easy, CURLOPT_REDIR_PROTOCOLS,
                    secure ? CURLPROTO_HTTPS
                           : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

static bool set_unix(pai__http_request *r)
{
  CURL *easy = r->easy;

  /* Any path: on_open() supplies the right one. */
  return set(easy, CURLOPT_UNIX_SOCKET_PATH, "openpai") &&
         curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open) ==
           CURLE_OK &&
         set(easy, CURLOPT_OPENSOCKETDATA, r) &&
         set(easy, CURLOPT_PROXY, "") &&
         set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
}

/* Makes the system close the socket soon if its peer vanished. */
static int on_socket(void *user_data, curl_socket_t fd, curlsocktype purpose)
{
  (void)user_data;
  (void)purpose;
  pai__http_watch_socket((int)fd);
  return CURL_SOCKOPT_OK;
}

/* curl is about to create a thread that looks up a name. */
static int on_lookup(void *state, void *reserved, void *user_data)
{
  pai__http *http = user_data;

  (void)state;
  (void)reserved;
  if (!http->blocked)
    pai__block_signals(&http->before);
  http->blocked = true;
  return 0;
}

/* Certificates are checked: that is curl's default, and stays. */
static bool set_tcp(pai__http_request *r)
{
  const pai__http *http = r->http;
  CURL *easy = r->easy;
  bool secure = strncmp(http->place, "https:", 6) == 0;

  return set_file(easy, CURLOPT_PROXY, http->proxy) &&
         set_identities(easy, http) &&
         set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS) &&
         /* prefer a stream of a pending connection to a new connection */
         set_number(easy, CURLOPT_PIPEWAIT, secure) &&
         curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket) ==
           CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, on_lookup) ==
           CURLE_OK &&
         set(easy, CURLOPT_RESOLVER_START_DATA, r->http) &&
         set_number(easy, CURLOPT_MAXREDIRS, MOST_REDIRECTS) &&
         (http->may_connect == NULL ||
          (curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION,
                            on_open_guarded) == CURLE_OK &&
           set(easy, CURLOPT_OPENSOCKETDATA, r))) &&
         set_protocols(easy, http->place, secure);
}

static bool set_callbacks(pai__http_request *r)
{
  CURL *easy = r->easy;

  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected) ==
           CURLE_OK &&
         set(easy, CURLOPT_PREREQDATA, r) &&
         curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head) == CURLE_OK &&
         set(easy, CURLOPT_HEADERDATA, r) &&
         curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes) == CURLE_OK &&
         set(easy, CURLOPT_WRITEDATA, r) &&
         curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) ==
           CURLE_OK &&
         set(easy, CURLOPT_XFERINFODATA, r) && set(easy, CURLOPT_PRIVATE, r) &&
         set(easy, CURLOPT_ERRORBUFFER, r->why);
}

static bool set_up(pai__http_request *r)
{
  CURL *easy = r->easy = curl_easy_init();

  return easy != NULL &&
         (r->http->socket != NULL ? set_unix(r) : set_tcp(r)) &&
         set_callbacks(r) &&
         set_number(easy, CURLOPT_CONNECTTIMEOUT_MS,
                    (long)((r->http->connect_time + 999) / 1000)) &&
         set_number(easy, CURLOPT_NOSIGNAL, 1) &&
         set_number(easy, CURLOPT_PATH_AS_IS, 1) &&
         set_number(easy, CURLOPT_LOW_SPEED_LIMIT, 1);
}

/* --- options of this request --------------------------------------------- */

static bool set_body(pai__http_request *r)
{
  const pai__http_want *want = &r->want;

  if (want->body == NULL)
    return true;
  return set_number(r->easy, CURLOPT_POST, 1) &&
         set(r->easy, CURLOPT_POSTFIELDS, want->body) &&
         curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                          (curl_off_t)want->body_len) == CURLE_OK;
}

/* Sets a method that curl would not choose by itself. */
static bool set_method(pai__http_request *r, bool head)
{
  const pai__http_want *want = &r->want;
  bool own =
    !head && strcmp(want->method, want->body != NULL ? "POST" : "GET") != 0;

  if (!set_number(r->easy, CURLOPT_HTTPGET, 1) || !set_body(r) ||
      (head && !set_number(r->easy, CURLOPT_NOBODY, 1)))
    return false;
  if (!own && !r->own_method)
    return true;
  r->own_method = own;
  return set(r->easy, CURLOPT_CUSTOMREQUEST, own ? want->method : NULL);
}

/* A connect-only handle is not reused, so its options need no reset.  A proxy
 * passes bytes through only after CONNECT.  An HTTP/2 connection cannot become
 * anything else. */
static bool set_connection(pai__http_request *r)
{
  CURL *easy = r->easy;

  return r->want.on_connected == NULL ||
         (set_number(easy, CURLOPT_CONNECT_ONLY, 1) &&
          set_number(easy, CURLOPT_HTTPPROXYTUNNEL, 1) &&
          set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1));
}

/* Excludes connections that are older than the last one found silent; in
 * seconds, curl's unit. */
static bool set_age(pai__http_request *r)
{
  pai_time since = r->http->suspected;
  long seconds = 0;

  if (since > 0)
    seconds = 1 + (long)((pai__loop_time() - since) / 1000000);
  return set_number(r->easy, CURLOPT_MAXLIFETIME_CONN, seconds);
}

static bool set_request(pai__http_request *r)
{
  const pai__http_want *want = &r->want;
  CURL *easy = r->easy;
  bool head = strcmp(want->method, "HEAD") == 0,
       follow = r->http->socket == NULL && want->body == NULL &&
                (head || strcmp(want->method, "GET") == 0);

  return (want->mail != NULL ? pai__http_set_mail(r) : set_method(r, head)) &&
         set(easy, CURLOPT_URL, want->url) &&
         set_number(easy, CURLOPT_FOLLOWLOCATION, follow) &&
         set_number(easy, CURLOPT_NOPROGRESS, want->on_sent == NULL) &&
         set_number(easy, CURLOPT_LOW_SPEED_TIME,
                    (long)((want->idle_time + 999999) / 1000000)) &&
         set_age(r) && set_connection(r) &&
         (want->mail != NULL || pai__http_set_headers(r));
}

/* --- creation and reuse -------------------------------------------------- */

bool pai__http_request_limit(pai__http_request *r)
{
  pai_time left = r->want.total_time;

  if (left > 0)
    left -= pai__loop_time() - r->asked;
  if (r->want.total_time > 0 && left < 1)
    left = 1; /* 0 would mean no limit */
  return set_number(r->easy, CURLOPT_TIMEOUT_MS, (long)((left + 999) / 1000));
}

void pai__http_request_free(pai__http_request *r)
{
  pai_alloc *alloc = &r->http->alloc;

  if (r->easy != NULL)
    curl_easy_cleanup(r->easy);
  curl_slist_free_all(r->headers);
  curl_slist_free_all(r->mail_to);
  pai__strfree(alloc, r->headers_text);
  pai_error_free(r->error);
  pai__socket_end(r->folder);
  pai__free(alloc, r, sizeof(*r));
}

static pai__http_request *take_spare(pai__http *http)
{
  pai__http_request *r = http->spare;

  if (r == NULL) {
    r = pai__zalloc(&http->alloc, sizeof(*r));
    if (r != NULL)
      r->http = http;
    return r;
  }
  http->spare = r->after;
  http->nspare--;
  return r;
}

int pai__http_request_new(pai__http_request **out, pai__http *http,
                          const pai__http_want *want)
{
  pai__http_request *r = take_spare(http);

  *out = NULL;
  if (r == NULL)
    return PAI_ENOMEM;
  r->want = *want;
  r->asked = want->total_time > 0 ? pai__loop_time() : 0;
  r->fresh = r->folder = -1;
  if ((r->easy == NULL && !set_up(r)) || !set_request(r)) {
    pai__http_request_free(r);
    return PAI_ENOMEM;
  }
  r->before = http->last;
  r->after = NULL;
  if (http->last != NULL)
    http->last->after = r;
  else
    http->first = r;
  http->last = r;
  if (http->fresh == NULL)
    http->fresh = r;
  http->streams += want->stream;
  *out = r;
  return PAI_OK;
}

static void unlink_request(pai__http_request *r)
{
  pai__http *http = r->http;

  if (r->before != NULL)
    r->before->after = r->after;
  else
    http->first = r->after;
  if (r->after != NULL)
    r->after->before = r->before;
  else
    http->last = r->before;
  if (http->fresh == r)
    http->fresh = r->after;
  http->streams -= r->want.stream;
}

void pai__http_request_end(pai__http_request *r)
{
  pai__http *http = r->http;

  unlink_request(r);
  if (r->added) {
    (void)curl_multi_remove_handle(http->multi, r->easy);
    http->under_way -= !r->want.stream;
    if (http->fresh != NULL)
      pai__loop_step_ask(http->step);
  }
  pai_error_free(r->error);
  pai__socket_end(r->folder);
  r->error = NULL;
  r->folder = -1;
  if (http->nspare == MOST_SPARE || http->closing ||
      r->want.on_connected != NULL || r->want.mail != NULL) {
    pai__http_request_free(r);
    return;
  }
  r->want = (pai__http_want){ 0 };
  r->why[0] = '\0';
  r->stopped_by = r->sent = 0;
  r->told = 0;
  r->result = CURLE_OK;
  r->log_offset = -1;
  r->head = r->added = r->done = r->canceled = r->held = r->paused = false;
  r->after = http->spare;
  http->spare = r;
  http->nspare++;
}
