/* Kubernetes' API server: lists, watches, posts, and all that breaks. */
#include "cases.h"
#include "backend/fake_kube.h"

#include "backend/kubernetes/kube.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENT(type, version)                             \
  "{\"type\":\"" type "\",\"object\":{\"kind\":\"Pod\"," \
  "\"metadata\":{\"resourceVersion\":\"" version "\"}}}\n"

typedef struct scene {
  pai_loop *loop;
  fake_kube server;
  pai__kube *kube;
  pai__kube_watch *watch;
  pai_time watch_time; /* 0: as usual */
  int lists, events, refuse_lists, refuse_events;
  pai__buf told; /* versions of events */
  int closed;
  int posted, post_status;
  char why[256];
} scene;

static int on_list(void *user_data, const char *json, size_t len)
{
  scene *s = user_data;

  assert_int_equal(strlen(json), len);
  s->lists++;
  return s->refuse_lists-- > 0 ? PAI_ENOMEM : PAI_OK;
}

static int on_event(void *user_data, const char *json, size_t len)
{
  scene *s = user_data;
  const char *version;

  assert_int_equal(json[len - 1], '}');
  s->events++;
  if (s->refuse_events-- > 0)
    return PAI_ENOMEM;
  version = strstr(json, "resourceVersion\":\"");
  if (version != NULL)
    pai__buf_printf(&s->told, "%.*s ", (int)strcspn(version + 18, "\""),
                    version + 18);
  return PAI_OK;
}

static void begin(scene *s)
{
  pai__kube_options options = { 0 };

  *s = (scene){ 0 };
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  fake_begin(&s->server, s->loop);
  pai__buf_init(&s->told, &pai__libc_alloc);
  options.url = s->server.url;
  options.token = "secret";
  assert_ok(
    pai__kube_new(&s->kube, &pai__libc_alloc, s->loop, &options, NULL));
}

static void watch(scene *s)
{
  pai__kube_watch_want want = { .path = "/api/v1/pods",
                                .kind = "PodList",
                                .selector = "a=b",
                                .on_list = on_list,
                                .on_event = on_event,
                                .user_data = s,
                                .first_pause = 1000,
                                .watch_time = s->watch_time };

  assert_ok(pai__kube_watch_new(&s->watch, s->kube, &want, NULL));
}

static void on_closed(void *user_data)
{
  ((scene *)user_data)->closed++;
}

static void close_it(scene *s)
{
  pai__kube_watch_close(s->watch);
  pai__kube_close(s->kube, on_closed, s);
  while (s->closed == 0)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

static void end(scene *s)
{
  close_it(s);
  fake_end(&s->server);
  assert_ok(pai_loop_run(s->loop));
  pai_loop_free(s->loop);
  pai__buf_dispose(&s->told);
}

static void until(scene *s, const int *what, int n)
{
  while (*what < n)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

static void until_told(scene *s, const char *what)
{
  while (strcmp(pai__buf_text(&s->told), what) != 0)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

/* --- watches ------------------------------------------------------------------------ */

/* The API server has gone without hanging up: nothing comes on the watch, and
 * not its end, either. */
TEST_IN(a_watch_that_is_silent_is_given_up, scene, s, begin, end)
{
  s->watch_time = 200 * 1000;
  s->server.pods_watch = WATCH_HEAD;
  watch(s);
  while (s->server.watches < 2)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
  /* over another connection, from where all was known; nothing is listed */
  s->server.pods_watch = fake_watch(EVENT("ADDED", "11"));
  until_told(s, "11 ");
  assert_true(s->server.lines >= 3);
  assert_int_equal(s->server.lists, 1);
  assert_null(strstr(pai__buf_text(&s->server.asked), "timeoutSeconds=2"));
}

TEST_IN(it_lists_and_watches_from_there, scene, s, begin, end)
{
  const char *asked;

  s->server.pods_watch =
    fake_watch(EVENT("ADDED", "11") EVENT("DELETED", "12"));
  watch(s);
  until_told(s, "11 12 ");
  asked = pai__buf_text(&s->server.asked);
  assert_has(asked, "GET /api/v1/pods?limit=500&a=b HTTP/1.1\n");
  assert_has(asked, "watch=1&allowWatchBookmarks=true&");
  assert_has(asked, "&resourceVersion=10&a=b HTTP/1.1\n");
  assert_int_equal(s->lists, 1);
}

TEST(its_pieces_may_be_of_any_length)
{
  const char *text = fake_watch(EVENT("ADDED", "11") EVENT("MODIFIED", "12"));
  size_t len = strlen(text);

  for (size_t split = 1; split < len; split++) {
    scene s;
    begin(&s);
    s.server.pods_watch = text;
    s.server.split = split;
    watch(&s);
    until_told(&s, "11 12 ");
    assert_int_equal(s.lists, 1);
    end(&s);
  }
}

/* After the first watch, which was cut: all from there, once. */
static void go_on(fake_kube *k, const char *head)
{
  if (strstr(head, "watch=1") == NULL || k->watches == 0)
    return;
  k->pods_watch = WATCH_HEAD;
  if (strstr(head, "resourceVersion=10&") != NULL)
    k->pods_watch = fake_watch(EVENT("ADDED", "11") EVENT("MODIFIED", "12"));
  else if (strstr(head, "resourceVersion=11&") != NULL)
    k->pods_watch = fake_watch(EVENT("MODIFIED", "12"));
}

TEST(it_may_be_cut_anywhere)
{
  size_t len =
    strlen(fake_watch(EVENT("ADDED", "11") EVENT("MODIFIED", "12")));

  for (size_t cut = 1; cut <= len; cut++) {
    scene s;
    begin(&s);
    s.server.pods_watch =
      fake_watch(EVENT("ADDED", "11") EVENT("MODIFIED", "12"));
    s.server.cut = cut;
    s.server.on_ask = go_on;
    watch(&s);
    until_told(&s, "11 12 ");
    while (s.server.watches < 2)
      assert_int_equal(pai_loop_run_once(s.loop), 1);
    assert_string_equal(pai__buf_text(&s.told), "11 12 ");
    assert_int_equal(s.lists, 1);
    end(&s);
  }
}

TEST(what_is_not_understood_is_listed_again)
{
  static const char *const lines[] = {
    "garbage\n",
    "{}\n",
    "[]\n",
    "null\n",
    "{\"type\":\"ADDED\",\"object\":{}}\n",
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":5}}}\n",
    ("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":"
     "\"1&x=y\"}}}\n"),
    "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"old\"}}\n",
    "{\"type\":\"ERROR\"}\n",
  };

  for (size_t i = 0; i < PAI__LEN(lines); i++) {
    scene s;
    begin(&s);
    s.server.pods_watch = fake_watch(lines[i]);
    watch(&s);
    until(&s, &s.lists, 3);
    end(&s);
  }
}

TEST(lists_may_fail)
{
  static const char *const bodies[] = {
    "",
    "garbage",
    "{}",
    "{\"kind\":\"PodList\"}",
    "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"1\"}}",
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"\"}}"
  };

  for (size_t i = 0; i < PAI__LEN(bodies); i++) {
    scene s;
    begin(&s);
    s.server.pods = bodies[i];
    watch(&s);
    while (s.server.lists < 4)
      assert_int_equal(pai_loop_run_once(s.loop), 1);
    assert_int_equal(s.lists, 0);
    s.server.pods = NO_PODS;
    until(&s, &s.lists, 1);
    end(&s);
  }
}

TEST_IN(a_refusal_is_asked_again, scene, s, begin, end)
{
  s->server.lists_status = 403;
  watch(s);
  while (s->server.lists < 4)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
  s->server.lists_status = 0;
  s->server.pods_watch = "HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\n{}";
  until(s, &s->lists, 3);
}

TEST_IN(who_cannot_use_it_is_told_again, scene, s, begin, end)
{
  s->server.pods_watch = fake_watch(EVENT("ADDED", "11"));
  s->refuse_lists = 2;
  s->refuse_events = 2;
  watch(s);
  until_told(s, "11 ");
  assert_int_equal(s->lists, 5); /* two refused, and one for each event */
}

TEST(it_is_closed_at_any_time)
{
  for (int turns = 0; turns < 40; turns++) {
    scene s;
    begin(&s);
    s.server.pods_watch = turns % 2 == 0 ? fake_watch(EVENT("ADDED", "11"))
                                         : "HTTP/1.1 500 X\r\n"
                                           "\r\n";
    watch(&s);
    for (int i = 0; i < turns; i++)
      (void)!pai_loop_dispatch(s.loop);
    end(&s);
  }
}

/* --- posts -------------------------------------------------------------------------- */

static void on_posted(void *user_data, int status, const char *why)
{
  scene *s = user_data;

  s->posted++;
  s->post_status = status;
  (void)snprintf(s->why, sizeof(s->why), "%s", why);
}

static void post(scene *s)
{
  s->posted = 0;
  assert_ok(pai__kube_post_new(s->kube, "/x", "{}", 2, on_posted, s, NULL));
  until(s, &s->posted, 1);
}

TEST(posts_are_judged)
{
  scene s;

  begin(&s);
  post(&s);
  assert_ok(s.post_status);
  s.server.post = "HTTP/1.1 409 X\r\nContent-Length: 17\r\n\r\n"
                  "{\"message\":\"is\"}\n";
  post(&s);
  assert_int_equal(s.post_status, PAI_EIO);
  assert_string_equal(s.why, "the API server answered 409: is");
  s.server.post = "HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\nhelp";
  post(&s);
  assert_string_equal(s.why, "the API server answered 500: help");
  s.server.post = "HTTP/1.1 200 X\r\nContent-Len";
  s.posted = 0;
  assert_ok(pai__kube_post_new(s.kube, "/x", "{}", 2, on_posted, &s, NULL));
  close_it(&s);
  assert_int_equal(s.posted, 1);
  assert_int_equal(s.post_status, PAI_ECANCELED);
  fake_end(&s.server);
  assert_ok(pai_loop_run(s.loop));
  pai_loop_free(s.loop);
  pai__buf_dispose(&s.told);
}

TEST(credentials_are_shown)
{
  static const struct {
    pai__kube_options o;
    const char *want;
  } rows[] = {
    { { .token = "abc" }, "\r\nAuthorization: Bearer abc\r\n" },
    { { .user = "u", .password = "pass" },
      "\r\nAuthorization: Basic dTpwYXNz\r\n" },
    { { .user = "u", .password = "pas" },
      "\r\nAuthorization: Basic dTpwYXM=\r\n" },
    { { .user = "user" }, "\r\nAuthorization: Basic dXNlcjo=\r\n" },
    { { 0 }, NULL },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__kube_options options = rows[i].o;
    scene s;
    begin(&s);
    pai__kube_close(s.kube, on_closed, &s);
    until(&s, &s.closed, 1);
    s.closed = 0;
    options.url = s.server.url;
    assert_ok(
      pai__kube_new(&s.kube, &pai__libc_alloc, s.loop, &options, NULL));
    post(&s);
    if (rows[i].want != NULL)
      assert_has(s.server.of[0]->head, rows[i].want);
    else
      assert_null(strstr(s.server.of[0]->head, "Authorization"));
    end(&s);
  }
}

TEST_IN(wrong_tokens, scene, s, begin, end)
{
  pai__kube_options options = { .url = "http://127.0.0.1:1",
                                .token = "a\r\nX: y" };
  char path[] = "/tmp/test-kube-XXXXXX";
  int fd = mkstemp(path);
  pai__kube *none;
  pai_error *err;

  assert_fails(pai__kube_new(&none, &pai__libc_alloc, s->loop, &options, &err),
               err, PAI_EINVAL, "must be one line");
  pai__kube_close(s->kube, on_closed, s);
  until(s, &s->closed, 1);
  s->closed = 0;
  options = (pai__kube_options){ .url = s->server.url, .token_file = path };
  assert_ok(
    pai__kube_new(&s->kube, &pai__libc_alloc, s->loop, &options, NULL));
  assert_int_equal(write(fd, "tok\n", 4), 4);
  post(s);
  assert_has(s->server.of[0]->head, "Bearer tok\r\n");
  assert_int_equal(write(fd, "en\n", 3), 3); /* now it has two lines */
  assert_fails(pai__kube_post_new(s->kube, "/x", "{}", 2, on_posted, s, &err),
               err, PAI_EINVAL, "must be one line");
  (void)close(fd);
  (void)unlink(path);
  assert_int_equal(
    pai__kube_post_new(s->kube, "/x", "{}", 2, on_posted, s, &err),
    PAI_ENOTFOUND);
  pai_error_free(err);
}
