/*
 * fuzz_kube.c - what Kubernetes' API server says, and a kubeconfig file
 *
 * 'c' and a text: a kubeconfig file.  Else pieces, with a NUL between: the
 * status of each answer (0: 200, 1: 410, 2: 500, 3: it broke off) and its
 * bytes, to whatever the watch asks next.  HTTP, timers and the clock are
 * played: there is no socket.  What its owner is handed is whole; each request
 * begins where the last one that was understood ended.
 */
#include "check.h"

#include "backend/kubernetes/kube.h"
#include "json/json.h"
#include "platform/hived/kube_config.h"

/* --- the loop and HTTP ------------------------------------------------------------ */

struct pai__timer {
  pai__timer_cb cb;
  void *user_data;
  bool set;
};

static struct pai__timer timer;

int pai__timer_new(pai__timer **out, const pai_alloc *alloc, pai_loop *loop,
                   pai__timer_cb cb, void *user_data)
{
  (void)alloc;
  (void)loop;
  timer = (struct pai__timer){ cb, user_data, false };
  *out = &timer;
  return PAI_OK;
}

void pai__timer_start(pai__timer *t, pai_time delay)
{
  CHECK(delay >= 0);
  t->set = true;
}

void pai__timer_stop(pai__timer *t)
{
  t->set = false;
}

void pai__timer_close(pai__timer *t)
{
  if (t != NULL)
    t->set = false;
}

struct pai__http_request {
  pai__http_want want;
  bool there, list;
};

static struct pai__http_request request;
static char version[128]; /* up to which the owner knows all */
static int alive;         /* HTTP is open */
static bool bookmarks;    /* there may be some */

int pai__http_new(pai__http **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__http_options *options, pai_error **err)
{
  (void)alloc;
  (void)loop;
  (void)options;
  (void)err;
  *out = (pai__http *)&alive;
  return PAI_OK;
}

int pai__http_ask(pai__http_request **out, pai__http *http,
                  const pai__http_want *want, pai_error **err)
{
  const char *at = strstr(want->url, "&resourceVersion=");

  (void)http;
  (void)err;
  CHECK(!request.there);
  CHECK(strncmp(want->url, "http://a/api/v1/pods?", 21) == 0);
  CHECK(strpbrk(want->url, " \r\n") == NULL);
  request = (struct pai__http_request){ *want, true, at == NULL };
  if (at != NULL) {
    /* What the owner has, or that of a bookmark, which it is not told. */
    bool same = strncmp(at + 17, version, strlen(version)) == 0;
    CHECK(same || bookmarks);
    CHECK(strcspn(at + 17, "&") > 0);
    CHECK(strcmp(at + 17 + strcspn(at + 17, "&"), "&a=b") == 0);
  }
  *out = &request;
  return PAI_OK;
}

static void finish(int status, int http_status)
{
  pai__http_answer a = { .status = http_status, .type = "", .location = "" };
  pai_error *err = NULL;

  if (status < 0)
    (void)pai__fail(&err, status, "it broke off");
  request.there = false;
  request.want.on_done(request.want.user_data, status, &a, err);
  pai_error_free(err);
}

void pai__http_suspect(pai__http *http)
{
  (void)http;
}

void pai__http_cancel(pai__http_request *r)
{
  r->there = true; /* it ends in a turn: the target's */
}

void pai__http_close(pai__http *http, void (*closed)(void *user_data),
                     void *user_data)
{
  (void)http;
  closed(user_data);
}

/* --- the owner --------------------------------------------------------------------- */

static void take(const char *json, size_t len, bool list)
{
  pai__json_options options = { .flags = PAI__JSON_DUPLICATES };
  pai__tree *t;
  pai__node n;

  CHECK(pai__json_parse(&t, json, len, &options, NULL) == PAI_OK);
  n = list ? 0 : pai__tree_get(t, 0, "object");
  CHECK(n != PAI__NO_NODE);
  n = pai__tree_get(t, n, "metadata");
  n = n != PAI__NO_NODE ? pai__tree_get(t, n, "resourceVersion") : n;
  if (n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING &&
      strlen(pai__tree_str(t, n, NULL)) < sizeof(version))
    memcpy(version, pai__tree_str(t, n, NULL),
           strlen(pai__tree_str(t, n, NULL)) + 1);
  pai__tree_free(t);
}

static int on_list(void *user_data, const char *json, size_t len)
{
  (void)user_data;
  take(json, len, true);
  return len % 13 == 0 ? PAI_ENOMEM : PAI_OK;
}

static int on_event(void *user_data, const char *json, size_t len)
{
  (void)user_data;
  CHECK(memchr(json, '\n', len) == NULL);
  take(json, len, false);
  return len % 13 == 0 ? PAI_ENOMEM : PAI_OK;
}

/* --- what is said -------------------------------------------------------------------- */

/* One answer, in pieces of some length. */
static void answer(const char *bytes, size_t len)
{
  static const int statuses[] = { 200, 410, 500, 200 };
  unsigned how = len > 0 ? (unsigned char)bytes[0] % 4 : 0;
  size_t piece = len > 0 ? (unsigned char)bytes[0] / 4 % 16 + 1 : 1;
  int rc = PAI_OK;

  for (size_t i = 1; i < len && rc == PAI_OK; i += piece) {
    /* Just so long: what reads beyond it is seen. */
    size_t n = len - i < piece ? len - i : piece;
    char *copy = malloc(n);
    CHECK(copy != NULL);
    memcpy(copy, bytes + i, n);
    rc = request.want.on_body(request.want.user_data, statuses[how], copy, n);
    free(copy);
  }
  CHECK(rc <= 0);
  if (len > 0 && (unsigned char)bytes[0] == 0xff) { /* nothing more came */
    CHECK(timer.set);
    timer.cb(timer.user_data);
    CHECK(request.there);
    rc = PAI_ECANCELED;
  }
  finish(rc < 0 ? rc : how == 3 ? PAI_EIO : PAI_OK, statuses[how]);
}

static void on_closed(void *user_data)
{
  (void)user_data;
}

static void play(const char *bytes, const char *end)
{
  pai__kube_options options = { .url = "http://a" };
  pai__kube_watch_want want = { .path = "/api/v1/pods",
                                .kind = "PodList",
                                .selector = "a=b",
                                .on_list = on_list,
                                .on_event = on_event };
  pai__kube_watch *watch;
  pai__kube *kube;

  version[0] = '\0';
  bookmarks = false;
  for (const char *p = bytes; p < end; p++) /* also as an escape */
    bookmarks |= *p == 'K' || *p == '\\';
  CHECK(pai__kube_new(&kube, &pai__libc_alloc, NULL, &options, NULL) ==
        PAI_OK);
  CHECK(pai__kube_watch_new(&watch, kube, &want, NULL) == PAI_OK);
  while (bytes < end) {
    const char *nul = memchr(bytes, '\0', (size_t)(end - bytes));
    if (nul == NULL)
      nul = end;
    if (!request.there) { /* it paused */
      CHECK(timer.set);
      timer.set = false;
      timer.cb(timer.user_data);
    }
    CHECK(request.there);
    answer(bytes, (size_t)(nul - bytes));
    bytes = nul + 1;
  }
  pai__kube_watch_close(watch);
  if (request.there)
    finish(PAI_ECANCELED, 0);
  pai__kube_close(kube, on_closed, NULL);
}

static void parse(const char *text, size_t len)
{
  pai__kube_config c = { .alloc = pai__libc_alloc };
  pai_error *err = NULL;
  int rc = pai__kube_config_parse(&c, text, len, "/no/such/config", &err);

  if (rc < 0)
    check_error(err, rc);
  else
    CHECK(c.token == NULL || c.token_file == NULL);
  pai_error_free(err);
  pai__kube_config_dispose(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;

  if (size > 0 && text[0] == 'c') {
    char *copy = malloc(size);
    CHECK(copy != NULL);
    memcpy(copy, text + 1, size - 1);
    copy[size - 1] = '\0';
    parse(copy, size - 1);
    free(copy);
  } else {
    play(text, text + size);
  }
  return 0;
}
