/*
 * http.c - requests on the loop: libcurl's multi interface on libuv
 *
 * curl says which descriptors it waits for and for how long.  A timeout of 0
 * is handled in the loop's next step: the usual timer of a millisecond would
 * cost each request more than everything else.
 */
#include "http/inside.h"

#include <pthread.h>

/* Limit for one client; further requests wait for a connection. */
enum { MOST_CONNECTIONS = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin_curl(void)
{
  (void)curl_global_init(CURL_GLOBAL_DEFAULT); /* curl_easy_init() reports a
                                                  failure */
}

/* --- curl's callbacks for descriptors and timeouts ----------------------- */

static void end_requests(pai__http *http);

void pai__http_unblock(pai__http *http)
{
  if (http->blocked)
    (void)pthread_sigmask(SIG_SETMASK, &http->before, NULL);
  http->blocked = false;
}

static void drive_curl(pai__http *http, curl_socket_t fd, int mask)
{
  int running;

  (void)curl_multi_socket_action(http->multi, fd, mask, &running);
  pai__http_unblock(http);
  end_requests(http);
}

static void on_ready(void *user_data, int fd, int events)
{
  int mask = ((events & PAI__READABLE) != 0 ? CURL_CSELECT_IN : 0) |
             ((events & PAI__WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);

  drive_curl(user_data, fd, mask);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user_data,
                     void *of_socket)
{
  pai__http *http = user_data;
  pai__poll *watch = of_socket;
  int events =
    (what == CURL_POLL_IN || what == CURL_POLL_INOUT ? PAI__READABLE : 0) |
    (what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? PAI__WRITABLE : 0);

  (void)easy;
  if (what == CURL_POLL_REMOVE) {
    pai__poll_close(watch);
    (void)curl_multi_assign(http->multi, fd, NULL);
    return 0;
  }
  if (watch == NULL) {
    if (pai__poll_new(&watch, &http->alloc, http->loop, fd, on_ready, http,
                      NULL) < 0) {
      http->broken = true;
      pai__loop_step_ask(http->step);
      return -1;
    }
    (void)curl_multi_assign(http->multi, fd, watch);
  }
  pai__poll_set(watch, events);
  return 0;
}

static int on_time(CURLM *multi, long ms, void *user_data)
{
  pai__http *http = user_data;

  (void)multi;
  http->due = ms == 0;
  if (ms <= 0)
    pai__timer_stop(http->timer);
  else
    pai__timer_start(http->timer, (pai_time)ms * 1000);
  if (http->due)
    pai__loop_step_ask(http->step);
  return 0;
}

static void on_timer(void *user_data)
{
  drive_curl(user_data, CURL_SOCKET_TIMEOUT, 0);
}

void pai__http_suspect(pai__http *http)
{
  http->suspected = pai__loop_time();
}

/* --- finished requests --------------------------------------------------- */

/* Fills the answer.  Its texts belong to curl, so use them before the request
 * is reused. */
static void look_at_answer(pai__http_request *r, pai__http_answer *a,
                           char kept[128])
{
  char *text = NULL;
  curl_off_t seconds = 0;
  long status = 0;

  (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
  (void)curl_easy_getinfo(r->easy, CURLINFO_CONTENT_TYPE, &text);
  if (text != NULL && strlen(text) < 128)
    memcpy(kept, text, strlen(text) + 1);
  a->status = r->head ? (int)status : 0;
  a->sent = r->sent > 0;
  a->log_offset = r->head ? r->log_offset : -1;
  if (status == 429 || status == 503)
    (void)curl_easy_getinfo(r->easy, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0 && seconds < INT32_MAX)
    a->retry_after = (pai_time)seconds * 1000000;
}

/* Returns the target of a redirect, a text of curl's that is freed with the
 * request. */
static char *look_for_location(pai__http_request *r, int status)
{
  char *text = NULL;

  if (status < 300 || status > 399)
    return NULL;
  (void)curl_easy_getinfo(r->easy, CURLINFO_REDIRECT_URL, &text);
  return text != NULL ? pai__strdup(&r->http->alloc, text) : NULL;
}

static void end_request(pai__http_request *r)
{
  pai__http *http = r->http;
  pai__http_want want = r->want;
  char kept[128] = "", *location;
  pai__http_answer a = { .type = kept, .location = "" };
  pai_error *err;
  int rc = pai__http_classify(r);

  look_at_answer(r, &a, kept);
  location = look_for_location(r, a.status);
  if (location != NULL)
    a.location = location;
  err = rc < 0 ? r->error : NULL;
  if (err != NULL)
    r->error = NULL;
  pai__http_request_end(r);
  want.on_done(want.user_data, rc, &a, err);
  pai_error_free(err);
  pai__strfree(&http->alloc, location);
}

/* Ends the requests that curl has finished.  Callbacks may ask, cancel and
 * close, which changes nothing here before the next step. */
static void end_requests(pai__http *http)
{
  CURLMsg *message;
  int left;

  while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
    pai__http_request *r = NULL;
    CURLcode result = message->data.result;
    if (message->msg != CURLMSG_DONE)
      continue;
    (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                            (char **)&r);
    r->done = true;
    r->result = result;
    if (result == CURLE_OPERATION_TIMEDOUT)
      pai__http_suspect(http);
    if (result == CURLE_OK && r->want.on_connected != NULL)
      r->want.on_connected(r->want.user_data, r); /* curl keeps the
                                                     connection */
    else
      end_request(r);
  }
}

static void free_http(pai__http *http)
{
  pai_alloc alloc = http->alloc;
  void (*closed)(void *) = http->closed;
  void *closed_data = http->closed_data;
  pai__http_request *r;

  while ((r = http->spare) != NULL) {
    http->spare = r->after;
    pai__http_request_free(r);
  }
  if (http->multi != NULL)
    (void)curl_multi_cleanup(http->multi); /* also closes the polls */
  pai__timer_close(http->timer);
  pai__loop_step_close(http->step);
  pai__strfree(&alloc, http->socket);
  pai__strfree(&alloc, http->place);
  pai__strfree(&alloc, http->proxy);
  pai__strfree(&alloc, http->ca_file);
  pai__strfree(&alloc, http->cert_file);
  pai__strfree(&alloc, http->key_file);
  pai__strfree(&alloc, http->ca);
  pai__strfree(&alloc, http->cert);
  pai__strfree(&alloc, http->key);
  pai__free(&alloc, http, sizeof(*http));
  if (closed != NULL)
    closed(closed_data);
}

static void allow_connections(pai__http *http)
{
  (void)curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                          (long)(MOST_CONNECTIONS + http->streams));
}

/* Limits the requests given to curl. curl could queue the others itself, but
 * spends more time on that than on the requests. */
static bool has_room(const pai__http *http)
{
  return http->fresh != NULL &&
         (http->fresh->want.stream || http->under_way < MOST_CONNECTIONS);
}

static bool set_up(pai__http *http)
{
  CURLM *multi = http->multi;

  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket) ==
           CURLM_OK &&
         curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, http) == CURLM_OK &&
         curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_time) ==
           CURLM_OK &&
         curl_multi_setopt(multi, CURLMOPT_TIMERDATA, http) == CURLM_OK &&
         curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                           (long)(MOST_CONNECTIONS + http->streams)) ==
           CURLM_OK;
}

/* Creates the multi handle if there is none.  False: it failed. */
static bool open_multi(pai__http *http)
{
  if (http->multi != NULL)
    return true;
  http->multi = curl_multi_init();
  if (http->multi != NULL && !set_up(http)) {
    (void)curl_multi_cleanup(http->multi);
    http->multi = NULL;
  }
  return http->multi != NULL;
}

/* Gives new requests to curl.  Requests of their callbacks are left for the
 * next step. */
static void add_fresh(pai__http *http)
{
  pai__http_request *end = http->last, *r = NULL;

  while (r != end && has_room(http)) {
    r = http->fresh;
    http->fresh = r->after;
    if (r->want.stream)
      allow_connections(http);
    r->added = pai__http_request_limit(r) && open_multi(http) &&
               curl_multi_add_handle(http->multi, r->easy) == CURLM_OK;
    http->under_way += r->added && !r->want.stream;
    if (r->added)
      continue;
    r->done = true;
    r->result = CURLE_OUT_OF_MEMORY; /* the only possible reason */
    end_request(r);
  }
  if (has_room(http))
    pai__loop_step_ask(http->step);
}

static void end_canceled(pai__http *http)
{
  pai__http_request *after;

  http->canceled = false;
  for (pai__http_request *r = http->first; r != NULL; r = after) {
    after = r->after;
    r->canceled = r->canceled || http->closing;
    if (r->canceled)
      end_request(r);
  }
}

/* Resumes paused requests. curl passes on the kept data inside that call. */
static void release(pai__http *http)
{
  pai__http_request *after;

  http->released = false;
  for (pai__http_request *r = http->first; r != NULL; r = after) {
    after = r->after;
    if (!r->paused || r->held || r->canceled)
      continue;
    r->paused = false;
    r->result = curl_easy_pause(r->easy, CURLPAUSE_CONT);
    http->due = true; /* curl may have buffered data, without a readable
                         descriptor */
    if (r->result == CURLE_OK)
      continue;
    r->done = true;
    end_request(r);
  }
}

/* Fails all running requests and frees the multi handle, which cannot
 * continue.  The next request makes a new one, and again until there is enough
 * memory. */
static void mend(pai__http *http)
{
  pai__http_request *after;

  http->broken = http->due = false;
  if (http->first != NULL && http->first->done)
    return; /* an established connection does not need curl's polls */
  for (pai__http_request *r = http->first; r != NULL; r = after) {
    after = r->after;
    if (!r->added)
      continue;
    r->done = true;
    r->result = CURLE_OUT_OF_MEMORY;
    end_request(r);
  }
  (void)curl_multi_cleanup(http->multi);
  http->multi = NULL;
  http->due = false;
  pai__timer_stop(http->timer); /* the freed handle does not stop it */
}

static void on_step(void *user_data)
{
  pai__http *http = user_data;

  if (http->broken)
    mend(http);
  if (http->canceled || http->closing)
    end_canceled(http);
  if (http->closing && http->first == NULL) {
    free_http(http);
    return;
  }
  add_fresh(http);
  if (http->released)
    release(http);
  if (!http->due)
    return;
  http->due = false;
  drive_curl(http, CURL_SOCKET_TIMEOUT, 0);
}

/* --- starting and canceling requests ------------------------------------- */

int pai__http_ask(pai__http_request **out, pai__http *http,
                  const pai__http_want *want, pai_error **err)
{
  pai__http_request *r;

  if (out != NULL)
    *out = NULL;
  if (http->closing)
    return pai__fail(err, PAI_EBUSY, "the client is being closed");
  if (pai__http_request_new(&r, http, want) < 0)
    return pai__oom(err);
  pai__loop_step_ask(http->step);
  if (out != NULL)
    *out = r;
  return PAI_OK;
}

void pai__http_cancel(pai__http_request *request)
{
  request->canceled = request->http->canceled = true;
  pai__loop_step_ask(request->http->step);
}

void pai__http_hold(pai__http_request *request, bool hold)
{
  request->held = hold;
  if (hold || !request->paused)
    return;
  request->http->released = true;
  pai__loop_step_ask(request->http->step);
}

/* --- creation and closing ------------------------------------------------ */

static bool keep_text(const pai_alloc *alloc, char **to, const char *text)
{
  *to = text != NULL ? pai__strdup(alloc, text) : NULL;
  return *to != NULL || text == NULL;
}

static bool keep(pai__http *http, const pai__http_options *o)
{
  const pai_alloc *alloc = &http->alloc;

  return keep_text(alloc, &http->socket, o->socket) &&
         keep_text(alloc, &http->place, o->place) &&
         keep_text(alloc, &http->proxy, o->proxy) &&
         keep_text(alloc, &http->ca_file, o->ca_file) &&
         keep_text(alloc, &http->cert_file, o->cert_file) &&
         keep_text(alloc, &http->key_file, o->key_file) &&
         keep_text(alloc, &http->ca, o->ca) &&
         keep_text(alloc, &http->cert, o->cert) &&
         keep_text(alloc, &http->key, o->key);
}

int pai__http_new(pai__http **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__http_options *options, pai_error **err)
{
  pai__http *http = pai__zalloc(alloc, sizeof(*http));

  *out = NULL;
  if (http == NULL)
    return pai__oom(err);
  (void)pthread_once(&once, begin_curl);
  http->alloc = *alloc;
  http->loop = loop;
  http->connect_time = options->connect_time;
  http->may_connect = options->may_connect;
  http->guard = options->guard;
  http->plain_mail = options->plain_mail;
  if (!keep(http, options) || !open_multi(http) ||
      pai__timer_new(&http->timer, alloc, loop, on_timer, http) < 0 ||
      pai__loop_step_new(&http->step, alloc, loop, on_step, http) < 0) {
    free_http(http);
    return pai__oom(err);
  }
  *out = http;
  return PAI_OK;
}

void pai__http_close(pai__http *http, void (*closed)(void *user_data),
                     void *user_data)
{
  http->closing = true;
  if (http->closed == NULL) {
    http->closed = closed;
    http->closed_data = user_data;
  }
  pai__loop_step_ask(http->step);
}

void pai__http_drop(pai__http *http)
{
  http->closing = true;
  while (http->first != NULL)
    pai__http_request_end(http->first);
  free_http(http);
}

int pai__http_alike(pai__http **out, const pai__http *http, pai_error **err)
{
  const pai__http_options options = { .socket = http->socket,
                                      .place = http->place,
                                      .proxy = http->proxy,
                                      .ca_file = http->ca_file,
                                      .cert_file = http->cert_file,
                                      .key_file = http->key_file,
                                      .ca = http->ca,
                                      .cert = http->cert,
                                      .key = http->key,
                                      .connect_time = http->connect_time };

  return pai__http_new(out, &http->alloc, http->loop, &options, err);
}
