/* The parts of a client that touch nothing, and no memory anywhere. */
#include "client/inside.h"
#include "client/played.h"

#include <stdio.h>

TEST(what_may_be_tried_again)
{
  static const struct {
    const char *method;
    bool again;
    int http_status;
    bool retriable, sent, may;
  } rows[] = {
    { "GET", false, 0, true, true, true },
    { "HEAD", false, 0, true, true, true },
    { "PUT", false, 0, true, true, true },
    { "DELETE", false, 0, true, true, true },
    { "POST", false, 0, true, true, false },
    { "POST", false, 0, true, false, true }, /* nothing was sent */
    { "POST", true, 0, true, true, true },
    { "PATCH", false, 0, true, true, false },
    { "GET", false, 0, false, false, false }, /* as a bad certificate */
    { "POST", false, 429, true, true, true },
    { "POST", false, 503, true, true, true },
    { "POST", false, 502, true, true, false },
    { "POST", true, 504, true, true, true },
    { "GET", false, 502, true, true, true },
    { "GET", false, 500, false, true, false },
    { "GET", false, 404, false, true, false },
  };
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(pai__retry_may(rows[i].method, rows[i].again,
                                    rows[i].http_status, rows[i].retriable,
                                    rows[i].sent),
                     rows[i].may);
}

TEST(how_long_is_waited)
{
  pai__prng a = { 5 }, b = { 5 };
  pai_time most = 15 * 1000 * 1000, first = 250 * 1000, limit = first;

  for (uint32_t tries = 1; tries < 200; tries++) {
    pai_time wait = pai__retry_wait(&a, tries, first, most, 0);
    assert_in_range(wait, limit / 2, limit);
    assert_int_equal(wait, pai__retry_wait(&b, tries, first, most, 0));
    limit = limit * 2 < most ? limit * 2 : most;
  }
  assert_int_equal(pai__retry_wait(&a, 1, first, most, most * 9), most * 9);
  assert_in_range(pai__retry_wait(&a, 1, 1, 1, 0), 1, 1);
}

TEST(urls)
{
  static const struct {
    const char *url, *origin, *base;
  } rows[] = {
    { "https://pai.example.org", "https://pai.example.org",
      "https://pai.example.org" },
    { "https://pai.example.org/", "https://pai.example.org",
      "https://pai.example.org" },
    { "http://10.0.0.1:9186/rest-server//", "http://10.0.0.1:9186",
      "http://10.0.0.1:9186/rest-server" },
    { "http://[::1]:80/a/b", "http://[::1]:80", "http://[::1]:80/a/b" },
    { "http://[::1]", "http://[::1]", "http://[::1]" },
  };
  char *origin, *base;
  pai__buf b = test_buf();

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(
      pai__url_read(&origin, &base, &pai__libc_alloc, rows[i].url, NULL));
    assert_string_equal(origin, rows[i].origin);
    assert_string_equal(base, rows[i].base);
    pai__strfree(&pai__libc_alloc, origin);
    pai__strfree(&pai__libc_alloc, base);
  }
  pai__url_query(&b, "a", "x y");
  pai__url_query(&b, "b", NULL);
  pai__url_query(&b, "c", "&~\xc3\xa4");
  assert_string_equal(pai__buf_text(&b), "?a=x%20y&c=%26~%C3%A4");
  pai__buf_dispose(&b);
}

TEST(tokens)
{
  static const struct {
    const char *token, *user;
    int64_t issued, expires;
  } rows[] = {
    { "h.eyJ1c2VybmFtZSI6ImFubiIsImlhdCI6MTAwMCwiZXhwIjo1MDAwfQ.s", "ann",
      1000, 5000 },
    { "h.eyJ1c2VybmFtZSI6ImFubiJ9.s", "ann", 0, 0 },
    { "h.eyJ1c2VybmFtZSI6MX0.s", NULL, 0, 0 },
    { "h.W10.s", NULL, 0, 0 },
    { "h.eyJ1c2VybmFt!.s", NULL, 0, 0 },
    { "opaque", NULL, 0, 0 },
    { "a.b", NULL, 0, 0 },
    { "..", NULL, 0, 0 },
  };
  pai__client_token t;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(pai__token_read(&t, &pai__libc_alloc, rows[i].token));
    assert_int_equal(t.issued, rows[i].issued);
    assert_int_equal(t.expires, rows[i].expires);
    if (rows[i].user == NULL)
      assert_null(t.user);
    else
      assert_string_equal(t.user, rows[i].user);
    pai__strfree(&pai__libc_alloc, t.user);
  }
}

TEST(files_that_are_alike)
{
  static const struct {
    const char *a, *b;
    bool alike;
  } rows[] = {
    { "a: 1\nb: [x, {c: y}]", "{\"b\":[\"x\",{\"c\":\"y\"}],\"a\":1.0}",
      true },
    { "a: 1", "a: 2", false },
    { "a: 1", "a: 1\nb: 2", false },
    { "a: [1, 2]", "a: [2, 1]", false },
    { "a: [1]", "a: {1: 1}", false },
    { "secrets: {k: v}\na: 1", "a: 1\nsecrets: '******'", true },
    { "secrets: {k: v}\na: 1", "a: 1", false },
    { "a: {secrets: x}", "a: {secrets: y}", false },
    { "a: {password: x}", "a: {password: '******'}", true },
    { "a: 'x", "a: x", false },
    { "", "", true },
  };
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(pai__job_file_equal(&pai__libc_alloc, rows[i].a,
                                         strlen(rows[i].a), rows[i].b,
                                         strlen(rows[i].b)),
                     rows[i].alike);
}

/* --- no memory ---------------------------------------------------------------------- */

static void answer(played *p, const char *request, pai__buf *out)
{
  (void)p;
  if (asks_for(request, "POST /api/v2/authn/basic/login "))
    say(out, "200 OK",
        "{\"token\":\"h.eyJ1c2VybmFtZSI6ImFubiIsImlhdCI6MTAwMCwiZXhwIjo1MDAw"
        "fQ.s\"}");
  else if (asks_for(request, "GET /api/v2/info "))
    say(out, "200 OK", "{\"name\":\"PAI RESTful API\"}");
  else if (asks_for(request, "GET /api/v2/jobs/ann~one "))
    say(out, "200 OK",
        "{\"jobStatus\":{\"state\":\"FAILED\",\"appExitCode\":3}}");
  else
    say(out, "404 Not Found", "{\"code\":\"NoJobError\"}");
}

static int on_change(void *user_data, const pai_client_change *change)
{
  (void)user_data;
  (void)change;
  return 0;
}

/* What it came to, when it called back; what did not start, does not. */
static int come_to(pai_loop *loop, outcome *o, int rc)
{
  if (rc < 0)
    return rc;
  wait_for(loop, o, o->calls + 1);
  return o->status == PAI_EIO ? PAI_ENOMEM : o->status;
}

TEST_FAULTS(no_memory_is_survived)
{
  static played p;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  pai_loop *loop = open_loop();
  pai_client *client = NULL;
  outcome o = { 0 };
  int rc;

  played_open(&p, loop, answer);
  options.alloc = alloc;
  options.url = p.url;
  options.user = "ann";
  options.password = "secret";
  options.most_tries = 1;
  rc = pai_client_new(&client, loop, &options, NULL);
  if (rc == PAI_OK)
    rc = come_to(loop, &o,
                 pai_client_watch(NULL, client, "ann~one", on_change,
                                  on_outcome, &o, NULL));
  if (rc == PAI_OK) {
    job.text = "{protocolVersion: 2, name: one, type: job, taskRoles: {}}";
    job.name = "two";
    rc = come_to(loop, &o,
                 pai_client_submit(NULL, client, &job, on_outcome, &o, NULL));
    rc = rc == PAI_ENOTFOUND ? PAI_OK : rc;
  }
  if (rc == PAI_OK)
    rc = come_to(
      loop, &o,
      pai_client_login(NULL, client, "ann", "secret", on_outcome, &o, NULL));
  if (client != NULL)
    close_client(loop, client);
  played_close(&p);
  close_loop(loop);
  return rc;
}

TEST_FAULTS(pure_parts_without_memory)
{
  char *origin, *base;
  pai__client_token t;
  int rc = pai__url_read(&origin, &base, alloc, "https://a/b", NULL);

  if (rc < 0)
    return rc;
  pai__strfree(alloc, origin);
  pai__strfree(alloc, base);
  rc = pai__token_read(&t, alloc, "h.eyJ1c2VybmFtZSI6ImFubiJ9.s");
  if (rc == PAI_OK && t.user == NULL) /* it was not read */
    rc = PAI_ENOMEM;
  pai__strfree(alloc, t.user);
  return rc;
}
