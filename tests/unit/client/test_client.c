/* The client against a server that answers what a test wants it to. */
#define _GNU_SOURCE
#include "cases.h"
#include "client/scene.h"

#include <stdio.h>

TEST(a_good_answer_comes_whole)
{
  scene s;

  begin(&s, OK "Content-Length: 7\r\n\r\n{\"a\":1}");
  get(&s, "/api/v2/jobs?limit=20");
  assert_ok(s.status);
  assert_int_equal(s.http_status, 200);
  assert_string_equal(s.body, "{\"a\":1}");
  assert_has(pai__buf_text(&s.seen), "GET /api/v2/jobs?limit=20 HTTP/1.1\r\n");
  assert_has(pai__buf_text(&s.seen), "Accept: application/json\r\n");
  get(&s, "/again");
  assert_int_equal(s.connections, 1); /* it is used again */
  end(&s);
}

TEST(what_is_sent)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  const char *seen;
  scene s;

  begin(&s, OK "Content-Length: 0\r\n\r\n");
  q.method = "PUT";
  q.path = "/a/../b%7E";
  q.type = "text/yaml; charset=utf-8";
  q.body = "x\0y";
  q.body_len = 3;
  ask(&s, &q);
  wait_for(&s, 1);
  seen = pai__buf_text(&s.seen);
  assert_has(seen, "PUT /a/../b%7E HTTP/1.1\r\n");
  assert_has(seen, "Content-Type: text/yaml; charset=utf-8\r\n");
  assert_has(seen, "Content-Length: 3\r\n");
  assert_null(strstr(seen, "Expect"));
  assert_memory_equal(seen + s.seen.len - 3, "x\0y", 3);
  q.method = "DELETE";
  q.body = NULL;
  ask(&s, &q);
  wait_for(&s, 2);
  assert_non_null(memmem(s.seen.data, s.seen.len, "DELETE /a/../b", 13));
  end(&s);
}

TEST(errors_are_the_servers)
{
  static const struct {
    const char *head, *body;
    int status, http_status;
    const char *code, *message;
  } rows[] = {
    { "404 Not Found", "{\"code\":\"NoJobError\",\"message\":\"none\"}",
      PAI_ENOTFOUND, 404, "NoJobError", "none" },
    { "409 Conflict", "{\"message\":\"is\"}", PAI_EEXISTS, 409, "", "is" },
    { "403 X", "{}", PAI_EPERM, 403, "", "the server answered 403: {}" },
    { "400 X", "no\n", PAI_EINVAL, 400, "", "the server answered 400: no" },
    { "503 X", "", PAI_EBUSY, 503, "", "the server answered 503" },
    { "500 X", "{\"message\": 1}", PAI_EIO, 500, "",
      "the server answered 500: {" },
    { "302 X\r\nLocation: http://a/", "", PAI_EIO, 302, "",
      "the server answered 302" },
  };
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    char answer[256];
    scene s;
    (void)snprintf(answer, sizeof(answer),
                   "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
                   rows[i].head, strlen(rows[i].body), rows[i].body);
    begin(&s, answer);
    get(&s, "/x");
    assert_int_equal(s.status, rows[i].status);
    assert_int_equal(s.http_status, rows[i].http_status);
    assert_string_equal(s.code, rows[i].code);
    assert_memory_equal(s.message, rows[i].message, strlen(rows[i].message));
    end(&s);
  }
}

TEST(broken_answers)
{
  static const char *const answers[] = {
    "",
    "nonsense\r\n\r\n",
    OK "Content-Length: 10\r\n\r\nhalf",
    OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
  };
  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    scene s;
    begin(&s, answers[i]);
    s.hang_up = true;
    get(&s, "/x");
    assert_int_equal(s.status, PAI_EIO);
    end(&s);
  }
}

TEST(a_body_may_be_streamed)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  scene s;

  begin(&s, OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"
               "0\r\n\r\n");
  q.path = "/x";
  q.on_body = on_stream;
  ask(&s, &q);
  wait_for(&s, 1);
  assert_ok(s.status);
  assert_string_equal(s.streamed, "abcde");
  assert_int_equal(s.body_len, 0);

  s.stream_answer = PAI_EUSER; /* the reader has enough */
  ask(&s, &q);
  wait_for(&s, 2);
  assert_int_equal(s.status, PAI_EUSER);
  s.stream_answer = 0;
  s.streamed[0] = '\0'; /* errors are not streamed */
  s.answer = "HTTP/1.1 404 X\r\nContent-Length: 16\r\n\r\n"
             "{\"message\":\"no\"}";
  ask(&s, &q);
  wait_for(&s, 3);
  assert_string_equal(s.streamed, "");
  assert_string_equal(s.message, "no");
  end(&s);
}

TEST(operations_can_be_cancelled)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  scene s;

  begin(&s, NULL);
  q.path = "/x";
  ask(&s, &q);
  pai_op_cancel(s.op); /* before it began */
  wait_for(&s, 1);
  assert_int_equal(s.status, PAI_ECANCELED);
  assert_int_equal(s.connections, 0);

  ask(&s, &q);
  while (s.seen.len == 0)
    assert_int_not_equal(pai_loop_run_once(s.loop), 0);
  pai_op_cancel(s.op); /* while it waits */
  pai_op_cancel(s.op);
  wait_for(&s, 2);
  assert_int_equal(s.status, PAI_ECANCELED);

  s.answer = OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
  s.cancel_in_stream = true;
  q.on_body = on_stream;
  ask(&s, &q);
  wait_for(&s, 3); /* in its own callback */
  assert_int_equal(s.status, PAI_ECANCELED);
  assert_string_equal(s.streamed, "abc");
  end(&s);
}

TEST(closing_cancels_all)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_error *err = NULL;
  scene s;

  begin(&s, NULL);
  q.path = "/x";
  for (int i = 0; i < 100; i++)
    ask(&s, &q);
  while (s.seen.len == 0)
    assert_int_not_equal(pai_loop_run_once(s.loop), 0);
  pai_client_close(s.client, on_closed, &s);
  assert_int_equal(pai_client_ask(NULL, s.client, &q, on_answer, &s, &err),
                   PAI_EBUSY);
  pai_error_free(err);
  assert_int_equal(s.client_closed, 0);
  wait_closed(&s);
  assert_int_equal(s.calls, 100);
  assert_int_equal(s.status, PAI_ECANCELED);
  s.client = NULL;
  pai_client_close(NULL, on_closed, &s);
  end(&s);
}

TEST(many_at_once)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  scene s;

  begin(&s, OK "Content-Length: 2\r\n\r\n{}");
  q.path = "/x";
  for (int i = 0; i < 1000; i++)
    ask(&s, &q);
  wait_for(&s, 1000);
  assert_ok(s.status);
  assert_in_range(s.connections, 1, 64);
  end(&s);
}

/* --- misuse, and no memory ------------------------------------------------------------ */

TEST_IN(wrong_calls, scene, s, begin_empty, end)
{
  static const char *const methods[] = { "", "GE T", "GET\r\nX: y" };
  static const char *const paths[] = { "", "x", "/a b", "/a\r\nX: y", "/a#b" };
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_client *client = (pai_client *)&options;
  pai_error *err = NULL;

  assert_int_equal(pai_client_new(&client, s->loop, &options, &err),
                   PAI_EINVAL);
  assert_null(client);
  test_expect_error(err, PAI_EINVAL, "set a socket or a URL");
  for (size_t i = 0; i < PAI__LEN(methods); i++) {
    q = (pai_client_request){ .struct_size = sizeof(q),
                              .path = "/",
                              .method = methods[i] };
    assert_int_equal(pai_client_ask(NULL, s->client, &q, on_answer, s, &err),
                     PAI_EINVAL);
    pai_error_free(err);
  }
  for (size_t i = 0; i < PAI__LEN(paths); i++) {
    q = (pai_client_request){ .struct_size = sizeof(q), .path = paths[i] };
    assert_int_equal(pai_client_ask(NULL, s->client, &q, on_answer, s, &err),
                     PAI_EINVAL);
    pai_error_free(err);
  }
  q = (pai_client_request){ .struct_size = sizeof(q),
                            .path = "/",
                            .accept = "a\nb" };
  assert_int_equal(pai_client_ask(NULL, s->client, &q, on_answer, s, NULL),
                   PAI_EINVAL);
  q.struct_size = 1;
  assert_int_equal(pai_client_ask(NULL, s->client, &q, on_answer, s, NULL),
                   PAI_EINVAL);
  pai_op_cancel(NULL);
}

static int ask_put(scene *s, pai_client *client)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  int rc;

  q.path = "/x";
  q.method = "PUT";
  q.body = "body";
  q.body_len = 4;
  rc = pai_client_ask(NULL, client, &q, on_answer, s, NULL);
  if (rc < 0)
    return rc;
  wait_for(s, s->calls + 1);
  if (s->status == PAI_OK)
    assert_string_equal(s->body, "{}");
  /* PAI_EIO: a socket was not watched. */
  return s->status == PAI_EIO ? PAI_ENOMEM : s->status;
}

static int ask_once(const pai_alloc *alloc, void *user_data)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  scene *s = user_data;
  pai_client *client;
  int rc;

  options.alloc = alloc;
  options.socket = s->path;
  s->client_closed = 0;
  rc = pai_client_new(&client, s->loop, &options, NULL);
  if (rc == PAI_OK) {
    rc = ask_put(s, client);
    pai_client_close(client, on_closed, s);
    wait_closed(s);
  }
  for (int i = 0; i < 3; i++) /* memory of handles goes in the next turns */
    if (pai_loop_dispatch(s->loop) == 0)
      break;
  return rc;
}

TEST(no_memory_is_survived)
{
  scene s;

  begin(&s, OK "Content-Length: 2\r\n\r\n{}");
  test_faults(ask_once, &s);
  end(&s);
}
