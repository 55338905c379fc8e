/*
 * watch.c - lists and watches Kubernetes objects of one kind
 *
 * Lists page by page, then watches from there.  A watch that ends is continued
 * at the same version.  If the API server has dropped that version, or a line
 * is invalid, everything is listed again, so that nothing is missed.
 */
#include "backend/kubernetes/pages.h"

#include "base/prng.h"
#include "json/json.h"

enum {
  SECOND = 1000 * 1000,
  MOST_LIST = 1 << 30, /* the limit of a document */
  PAGE = 500,          /* objects in a page */
  MOST_LINE = 64 << 20,
  MOST_ERROR = 64 << 10,
  SILENCE = 60, /* seconds for which a list may be silent or take to begin */
  /* Seconds for a watch: at most this, at least half.  Including WATCH_LATE, a
   * dead connection is noticed within 60. */
  WATCH_TIME = 40,
  WATCH_LATE = 10,   /* seconds until a watch that has not ended is closed; or
                        a quarter of watch_time */
  FIRST_PAUSE = 200, /* milliseconds */
  LAST_PAUSE = 30 * 1000
};

enum { PAUSING, LISTING, WATCHING };

struct pai__kube_watch {
  pai_alloc alloc;
  pai__kube *kube;
  pai__kube_watch_want want;
  pai__kube_request *request;
  pai__timer *timer; /* pause, or limit of the request */
  pai__prng prng;
  int state;
  pai_time begun;        /* start of the request, by pai__loop_time() */
  bool list;             /* the next request is a list, because changes may
                            have been missed */
  bool heard;            /* a line of this watch has arrived */
  bool late;             /* the watch was closed because it was silent */
  bool closed;           /* closed while its request is running */
  unsigned fails;        /* consecutive failures */
  pai__buf body;         /* a page, or the beginning of a line */
  pai__kube_pages pages; /* pages of the list so far */
  bool whole;            /* list without pages: the API server has dropped the
                            continue token */
  pai__buf why;          /* why everything must be listed again */
  char version[128];     /* resourceVersion up to which all is known */
};

static void begin(pai__kube_watch *w);

static void free_watch(pai__kube_watch *w)
{
  pai_alloc alloc = w->alloc;

  pai__timer_close(w->timer);
  pai__buf_dispose(&w->body);
  pai__kube_pages_clear(&w->pages);
  pai__buf_dispose(&w->why);
  pai__free(&alloc, w, sizeof(*w));
}

/* --- failures ------------------------------------------------------------ */

/* Returns milliseconds until the next try: random in the second half of a
 * doubling delay, so that clients of a failed server do not retry at the same
 * time. */
static uint64_t pause_of(pai__kube_watch *w)
{
  uint64_t ms = w->want.first_pause > 0
                  ? (uint64_t)(w->want.first_pause + 999) / 1000
                  : FIRST_PAUSE;

  for (unsigned i = 1; i < w->fails && ms < LAST_PAUSE; i++)
    ms *= 2;
  if (ms > LAST_PAUSE)
    ms = LAST_PAUSE;
  return ms / 2 + pai__prng_below(&w->prng, ms / 2 + 1);
}

/* Tries again later.  Logs the first failure, and later ones ever more
 * rarely. */
static void fail(pai__kube_watch *w, const char *why)
{
  uint64_t ms;

  w->fails++;
  pai__kube_pages_clear(&w->pages);
  ms = pause_of(w);
  w->state = PAUSING;
  if ((w->fails & (w->fails - 1)) == 0)
    pai__log_line(pai__kube_log(w->kube), PAI_LOG_WARNING,
                  "%s: %s; retrying in %llu ms", w->want.path, why,
                  (unsigned long long)ms);
  pai__timer_start(w->timer, (pai_time)ms * 1000);
}

static void succeed(pai__kube_watch *w)
{
  if (w->fails > 0)
    pai__log_line(pai__kube_log(w->kube), PAI_LOG_INFO,
                  "%s: the API server answers again", w->want.path);
  w->fails = 0;
}

/* Everything must be listed again. */
static int miss(pai__kube_watch *w, const char *why)
{
  if (w->why.len == 0)
    pai__buf_str(&w->why, why);
  w->list = true;
  return PAI_ECANCELED;
}

/* --- answers ------------------------------------------------------------- */

static bool is_version(const char *text)
{
  size_t len = strlen(text);

  return len > 0 && len < sizeof(((pai__kube_watch *)0)->version) &&
         strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_") == len;
}

/* Takes the resourceVersion of an object or a list; false: it has none. */
static bool take_version(pai__kube_watch *w, const pai__tree *t, pai__node n)
{
  const char *version;

  n = n != PAI__NO_NODE ? pai__tree_get(t, n, "metadata") : PAI__NO_NODE;
  version = pai__tree_look_text(t, n, "resourceVersion", "");
  if (!is_version(version))
    return false;
  memcpy(w->version, version, strlen(version) + 1);
  return true;
}

static pai__tree *parse(const pai__kube_watch *w, const char *json, size_t len,
                        size_t most)
{
  pai__json_options options = { .flags = PAI__JSON_DUPLICATES,
                                .max_bytes = most,
                                .alloc = &w->alloc };
  pai__tree *tree = NULL;

  if (pai__json_parse(&tree, json, len, &options, NULL) < 0)
    return NULL;
  return tree;
}

static int judge_line(pai__kube_watch *w, const pai__tree *t, const char *line,
                      size_t len)
{
  pai__node object = pai__tree_get(t, 0, "object");
  const char *type = pai__tree_look_text(t, 0, "type", "");

  if (strcmp(type, "ERROR") == 0) {
    const char *message = pai__tree_look_text(t, object, "message", "");
    return miss(w, message[0] != '\0' ? message : "the watch has ended");
  }
  if (type[0] == '\0' || object == PAI__NO_NODE)
    return miss(w, "a line of the watch is not an event");
  if (strcmp(type, "BOOKMARK") != 0 &&
      w->want.on_event(w->want.user_data, line, len) < 0)
    return miss(w, "an event of the watch could not be used");
  if (!take_version(w, t, object))
    return miss(w, "an event of the watch has no resourceVersion");
  return PAI_OK;
}

static int see_line(pai__kube_watch *w, const char *line, size_t len)
{
  pai__tree *t;
  int rc;

  while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
    len--;
  if (len == 0)
    return PAI_OK;
  t = parse(w, line, len, MOST_LINE);
  if (t == NULL)
    return miss(w, "a line of the watch cannot be read");
  rc = judge_line(w, t, line, len);
  pai__tree_free(t);
  if (rc == PAI_OK)
    succeed(w);
  return rc;
}

/* Splits bytes into lines; the beginning of an incomplete line is kept in
 * `body`. */
static int see_bytes(pai__kube_watch *w, const char *bytes, size_t len)
{
  const char *end = bytes + len, *newline;
  int rc = PAI_OK;

  while (rc == PAI_OK &&
         (newline = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
    size_t n = (size_t)(newline - bytes);
    if (w->body.len > 0) {
      pai__buf_add(&w->body, bytes, n);
      rc = pai__buf_ok(&w->body)
             ? see_line(w, pai__buf_text(&w->body), w->body.len)
             : PAI_ENOMEM;
      pai__buf_clear(&w->body);
    } else {
      rc = see_line(w, bytes, n);
    }
    bytes = newline + 1;
  }
  if (rc < 0)
    return rc;
  if ((size_t)(end - bytes) > MOST_LINE - w->body.len)
    return miss(w, "a line of the watch is too long");
  pai__buf_add(&w->body, bytes, (size_t)(end - bytes));
  return pai__buf_ok(&w->body) ? PAI_OK : PAI_ENOMEM;
}

static int on_body(void *user_data, int http_status, const char *bytes,
                   size_t len)
{
  pai__kube_watch *w = user_data;
  size_t most = http_status == 200 ? MOST_LIST : MOST_ERROR;

  if (w->closed)
    return PAI_ECANCELED;
  if (w->state == WATCHING && http_status == 200)
    return see_bytes(w, bytes, len);
  if (w->state == LISTING)
    pai__timer_start(w->timer, (pai_time)SILENCE * SECOND);
  if (len > most - w->body.len)
    return PAI_ELIMIT;
  pai__buf_add(&w->body, bytes, len);
  return pai__buf_ok(&w->body) ? PAI_OK : PAI_ENOMEM;
}

/* --- ends of requests ---------------------------------------------------- */

/* Takes a page.  Returns NULL or what is wrong.  *more: further pages
 * follow. */
static const char *take_list(pai__kube_watch *w, bool *more)
{
  const char *json = pai__buf_text(&w->body);
  pai__tree *t = parse(w, json, w->body.len, MOST_LIST);
  bool good =
    t != NULL &&
    strcmp(pai__tree_look_text(t, 0, "kind", ""), w->want.kind) == 0 &&
    take_version(w, t, 0);
  int rc =
    good ? pai__kube_pages_add(&w->pages, t, json, w->want.kind, w->version)
         : PAI_EINVAL;

  pai__tree_free(t);
  *more = rc == PAI_OK && pai__kube_pages_next(&w->pages) != NULL;
  if (rc == PAI_ENOMEM || w->pages.all.len > MOST_LIST)
    return "the API server's list is too long";
  if (rc < 0)
    return "the API server's list cannot be read";
  if (*more)
    return NULL;
  if (w->pages.all.len == 0) /* the list has one page */
    rc = w->want.on_list(w->want.user_data, json, w->body.len);
  else
    rc = w->want.on_list(w->want.user_data, pai__buf_text(&w->pages.all),
                         w->pages.all.len);
  pai__kube_pages_clear(&w->pages); /* they may be large */
  return rc < 0 ? "the API server's list could not be used" : NULL;
}

static void end_list(pai__kube_watch *w)
{
  bool more;
  const char *why = take_list(w, &more);

  if (why != NULL) {
    fail(w, why);
    return;
  }
  if (!more) {
    succeed(w);
    w->whole = false;
    w->list = false;
  }
  begin(w);
}

static void end_watch(pai__kube_watch *w)
{
  if (pai__loop_time() - w->begun < SECOND) /* pauses, in case every watch ends
                                               at once */
    fail(w, "the API server ended the watch at once");
  else
    begin(w);
}

/* The answer does not fit the request. */
static void refuse(pai__kube_watch *w, int http_status)
{
  pai__buf why;

  if (http_status == 410 && pai__kube_pages_next(&w->pages) != NULL)
    w->whole = true;
  pai__buf_init(&why, &w->alloc);
  pai__kube_why(&why, &w->alloc, http_status, pai__buf_text(&w->body),
                w->body.len);
  w->list = true;
  fail(w, pai__buf_text(&why));
  pai__buf_dispose(&why);
}

static void on_done(void *user_data, int status, int http_status,
                    const pai_error *err)
{
  pai__kube_watch *w = user_data;

  w->request = NULL;
  if (w->closed) {
    free_watch(w);
    return;
  }
  pai__timer_stop(w->timer);
  if (w->why.len > 0)
    fail(w, pai__buf_text(&w->why));
  else if (w->late && w->state == WATCHING)
    begin(w);
  else if (w->late)
    fail(w, "the API server stopped in the middle of its list");
  else if (status < 0)
    fail(w, pai_error_message(err));
  else if (http_status != 200)
    refuse(w, http_status);
  else if (w->state == LISTING)
    end_list(w);
  else
    end_watch(w);
}

/* --- requests ------------------------------------------------------------ */

/* Returns the time for which a watch is requested.  The API server ends it
 * then, after a bookmark with the version that is known. */
static pai_time time_of(pai__kube_watch *w)
{
  pai_time most = w->want.watch_time > 0 ? w->want.watch_time
                                         : (pai_time)WATCH_TIME * SECOND;

  return most / 2 + (pai_time)pai__prng_below(&w->prng, (uint64_t)most / 2);
}

/* Returns when the request is closed. */
static pai_time limit_of(const pai__kube_watch *w, pai_time time)
{
  pai_time late = (pai_time)WATCH_LATE * SECOND;

  if (w->list)
    return (pai_time)SILENCE * SECOND;
  if (w->want.watch_time > 0)
    late = w->want.watch_time / 4;
  return time + late;
}

static int ask(pai__kube_watch *w, pai_error **err)
{
  const char *selector = w->want.selector;
  pai__kube_want want = { .method = "GET",
                          .stream = !w->list,
                          .on_body = on_body,
                          .on_done = on_done,
                          .user_data = w };
  pai_time time = time_of(w);
  pai__buf path;
  int rc;

  pai__buf_init(&path, &w->alloc);
  pai__buf_str(&path, w->want.path);
  if (w->list && !w->whole)
    pai__buf_printf(&path, "?limit=%d", PAGE);
  if (w->list && pai__kube_pages_next(&w->pages) != NULL)
    pai__buf_printf(&path, "&continue=%s", pai__kube_pages_next(&w->pages));
  if (!w->list)
    pai__buf_printf(&path,
                    "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld"
                    "&resourceVersion=%s",
                    (long long)((time + SECOND - 1) / SECOND), w->version);
  if (selector != NULL)
    pai__buf_printf(&path, "%s%s", w->list && w->whole ? "?" : "&", selector);
  want.path = pai__buf_text(&path);
  rc = pai__buf_ok(&path) ? pai__kube_ask(&w->request, w->kube, &want, err)
                          : pai__oom(err);
  pai__buf_dispose(&path);
  pai__timer_start(w->timer, limit_of(w, time));
  return rc;
}

static void begin(pai__kube_watch *w)
{
  pai_error *err = NULL;

  pai__buf_dispose(&w->body); /* the body of a list is large */
  pai__buf_init(&w->body, &w->alloc);
  pai__buf_clear(&w->why);
  w->late = false;
  w->begun = pai__loop_time();
  w->state = w->list ? LISTING : WATCHING;
  if (ask(w, &err) < 0)
    fail(w, pai_error_message(err));
  pai_error_free(err);
}

static void on_timer(void *user_data)
{
  pai__kube_watch *w = user_data;

  if (w->state == PAUSING) {
    begin(w);
    return;
  }
  w->late = true;
  pai__kube_suspect(w->kube); /* the next request must use another
                                 connection */
  pai__kube_cancel(w->request);
}

int pai__kube_watch_new(pai__kube_watch **out, pai__kube *kube,
                        const pai__kube_watch_want *want, pai_error **err)
{
  const pai_alloc *alloc = pai__kube_alloc(kube);
  pai__kube_watch *w = pai__zalloc(alloc, sizeof(*w));

  *out = NULL;
  if (w == NULL)
    return pai__oom(err);
  w->alloc = *alloc;
  w->kube = kube;
  w->want = *want;
  w->list = true;
  w->prng.state = pai__loop_seed();
  pai__buf_init(&w->body, &w->alloc);
  pai__kube_pages_init(&w->pages, &w->alloc);
  pai__buf_init(&w->why, &w->alloc);
  if (pai__timer_new(&w->timer, alloc, pai__kube_loop(kube), on_timer, w) <
      0) {
    free_watch(w);
    return pai__oom(err);
  }
  begin(w);
  *out = w;
  return PAI_OK;
}

void pai__kube_watch_close(pai__kube_watch *watch)
{
  if (watch == NULL)
    return;
  watch->closed = true;
  if (watch->request != NULL)
    pai__kube_cancel(watch->request);
  else
    free_watch(watch);
}
