/* Files of a job: what is asked of the platform, and what is answered. */
#define _GNU_SOURCE
#include "answers.h"

#include <stdio.h>

#define FILES "/api/v2/jobs/alice~mnist/files"
#define ONE "/api/v2/jobs/alice~mnist/file?path=out/a%20b.txt"
#define TIME "1700000000123"

#define BY(who) "Authorization: Bearer " who "\r\n"
#define SAY(s, method, path, head, body)                        \
  ask(s,                                                        \
      "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" head \
      "Content-Length: %zu\r\n\r\n%s",                          \
      method, path, strlen(body), body)
#define PUT(s, path, body) SAY(s, "PUT", path, BY("alice"), body)

static void begin_obliging(scene *s)
{
  begin_empty(s);
  s->obliging = true;
  assert_ok(new_server(s, NULL));
}

static void asked_for(const scene *s, const char *what)
{
  assert_string_equal(s->platform.listed, what);
}

WITH_CODE(begin_obliging, lists)
{
  expect(GET(s, FILES), 200,
         "{\"folder\":\"/root/\\\"code\",\"own\":true,\"entries\":[]");
  asked_for(s, "-|-|1000|0|0|0");
  expect(GET(s, FILES "?path=a%2Fb&after=a/b/c&limit=7&recursive&total=true"),
         200, "");
  asked_for(s, "a/b|a/b/c|7|1|1|0");
  expect(GET(s, FILES "?limit=0"), 400, "limit must be a whole number");
  expect(GET(s, FILES "?limit=10001"), 400, "limit must be a whole number");
  expect(GET(s, "/api/v2/jobs/bob~x/files"), 404, "NoJobError");
  s->platform.fail = PAI_ENOTFOUND;
  expect(GET(s, FILES), 404, "NoFileError");
  s->platform.fail = PAI_EINVAL;
  expect(GET(s, FILES), 400, "InvalidParametersError");
  s->platform.fail = PAI_EPERM;
  expect(GET(s, FILES), 403, "ForbiddenUserError");
}

WITH_CODE(begin_obliging, who_has_a_token_sees_the_jobs_own)
{
  expect(SAY(s, "GET", FILES, BY("alice"), ""), 200,
         "{\"folder\":null,\"own\":true,\"entries\":[]");
  asked_for(s, "-|-|1000|0|0|1");
  expect(SAY(s, "GET", FILES, BY("admin"), ""), 200,
         "{\"folder\":\"/root/\\\"code\",");
  asked_for(s, "-|-|1000|0|0|1");
  expect(SAY(s, "GET", FILES, BY("bob"), ""), 403, "ForbiddenUserError");
  expect(SAY(s, "GET", ONE, BY("bob"), ""), 403, "ForbiddenUserError");
  expect(SAY(s, "PUT", ONE "&size=1", BY("bob"), "x"), 403,
         "ForbiddenUserError");
  assert_string_equal(s->platform.written, "");
  expect(
    SAY(s, "GET", "/api/v2/jobs/mnist/file?path=elsewhere", BY("alice"), ""),
    404, "NoFileError");
  expect(GET(s, "/api/v2/jobs/alice~mnist/file?path=elsewhere"), 200,
         "0123456789");
}

static void has(const char *answer, const char *head)
{
  if (strstr(answer, head) == NULL)
    print_error("%s\nlacks %s\n", answer, head);
  assert_has(answer, head);
}

WITH_CODE(begin_obliging, a_file_is_sent)
{
  const char *answer;

  answer = SAY(s, "GET", ONE, BY("alice"), "");
  expect(answer, 200, "0123456789");
  has(answer, "Content-Length: 10\r\n");
  has(answer, "Content-Type: application/octet-stream\r\n");
  has(answer, "Accept-Ranges: bytes\r\n");
  has(answer,
      "Content-Disposition: attachment; filename*=UTF-8''a%20b.txt\r\n");
  assert_null(strstr(answer, "Content-Range"));
  answer = SAY(s, "HEAD", ONE, BY("alice"), "");
  has(answer, "HTTP/1.1 200");
  has(answer, "Content-Length: 10\r\n");
  assert_null(strstr(answer, "0123"));
  expect(SAY(s, "GET", ONE "&modified=" TIME, BY("alice"), ""), 200,
         "0123456789");
  expect(SAY(s, "GET", ONE "&modified=1700000000122", BY("alice"), ""), 409,
         "\"code\":\"ConflictFileError\"");
  expect(SAY(s, "GET", ONE "&modified=x", BY("alice"), ""), 400,
         "modified must be a whole number");
  expect(GET(s, "/api/v2/jobs/alice~mnist/file"), 400, "path must name");
  expect(GET(s, "/api/v2/jobs/alice~mnist/file?path="), 400, "path must name");
}

static const char *ask_range(scene *s, const char *range)
{
  return ask(s,
             "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" BY(
               "alice") "Range: %s\r\n\r\n",
             ONE, range);
}

WITH_CODE(begin_obliging, parts_of_a_file)
{
  static const struct {
    const char *asked, *told, *sent;
  } parts[] = {
    { "bytes=0-", "bytes 0-9/10", "0123456789" },
    { "bytes=9-", "bytes 9-9/10", "9" },
    { "bytes=3-4", "bytes 3-4/10", "34" },
    { "bytes=3-99", "bytes 3-9/10", "3456789" },
  };
  /* Which are answered with all of it. */
  static const char *const others[] = {
    "bytes=-3", "bytes=5-4",  "bytes=1-2,4-5", "lines=1-",
    "bytes=x-", "bytes=1-2x", "bytes= 1-",     "bytes=99999999999999999999-",
  };
  static const char *const none[] = { "bytes=10-", "bytes=10-11",
                                      "bytes=999999999999999999-" };

  for (size_t i = 0; i < PAI__LEN(parts); i++) {
    const char *answer = ask_range(s, parts[i].asked);
    char head[64];

    expect(answer, 206, "");
    (void)snprintf(head, sizeof(head), "Content-Range: %s\r\n", parts[i].told);
    has(answer, head);
    assert_string_equal(strstr(answer, "\r\n\r\n") + 4, parts[i].sent);
  }
  for (size_t i = 0; i < PAI__LEN(others); i++)
    expect(ask_range(s, others[i]), 200, "0123456789");
  for (size_t i = 0; i < PAI__LEN(none); i++) {
    const char *answer = ask_range(s, none[i]);

    expect(answer, 416, "The file has 10 bytes.");
    has(answer, "Content-Range: bytes */10\r\n");
  }
}

WITH_CODE(begin_obliging, a_file_is_taken)
{
  expect(PUT(s, ONE "&size=5&executable=1", "hello"), 200,
         "{\"path\":\"out/a b.txt\",\"received\":5,\"size\":5,"
         "\"complete\":true}");
  assert_string_equal(s->platform.written, "hello");
  assert_string_equal(s->platform.writing, "out/a b.txt|-|0|1|1");
  expect(PUT(s, ONE "&size=0", ""), 200, "\"complete\":true");
  expect(PUT(s, ONE "&size=4", "hello"), 413, "InvalidParametersError");
  expect(PUT(s, ONE "&size=6", "hello"), 400,
         "Only 5 of 6 bytes were received");
  expect(PUT(s, ONE, "hello"), 400, "size must be the size");
  expect(PUT(s, ONE "&size=x", "hello"), 400, "size must be a whole number");
  expect(PUT(s, "/api/v2/jobs/alice~mnist/file?size=5", "hello"), 400,
         "path must name");
  s->platform.fail = PAI_EINVAL;
  expect(PUT(s, ONE "&size=5", "hello"), 400, "as the test wants");
  assert_int_equal(s->platform.writers, 0);
}

WITH_CODE(begin_obliging, in_pieces)
{
  expect(PUT(s, ONE "&size=10&upload=u", "0123"), 200,
         "\"received\":4,\"size\":10,\"complete\":false");
  expect(PUT(s, ONE "&size=10&upload=u", ""), 200,
         "\"received\":4,\"size\":10,\"complete\":false");
  expect(PUT(s, ONE "&size=10&upload=u&offset=5", "5"), 400,
         "so much has not arrived");
  expect(PUT(s, ONE "&size=10&upload=u&offset=3", "xy"), 200,
         "\"received\":5");
  expect(PUT(s, ONE "&size=10&upload=u", "56789"), 200, "\"complete\":true");
  assert_string_equal(s->platform.written, "012xy56789");
  assert_int_equal(s->platform.writers, 0);
}

WITH_CODE(begin_obliging, who_goes_away_leaves_no_writer)
{
  peer p;

  come(&p, s);
  say(&p, "PUT " ONE "&size=10 HTTP/1.1\r\nHost: x\r\n"
          "Content-Length: 10\r\n\r\n012");
  while (s->platform.writers == 0)
    turn(s);
  leave(&p);
  while (s->platform.writers > 0)
    turn(s);
}

WITH_CODE(begin_obliging, files_of_a_forgotten_job)
{
  expect(SEND(s, "DELETE", "/api/v2/jobs/alice~mnist?keepFiles", ""), 200,
         "{\"status\":200,\"message\":\"Remove job alice~mnist "
         "successfully.\",\"kept\":\"/root/kept/alice~mnist.1\"}");
  expect(SEND(s, "DELETE", "/api/v2/jobs/alice~mnist", ""), 200,
         "{\"status\":200,\"message\":\"Remove job alice~mnist "
         "successfully.\"}");
  expect(
    SAY(s, "DELETE", "/api/v2/jobs/mnist?keepFiles=true", BY("alice"), ""),
    200, "\"kept\":\"kept/alice~mnist.1\"}");
  s->platform.fail = PAI_EBUSY;
  expect(SEND(s, "DELETE", "/api/v2/jobs/alice~mnist?keepFiles", ""), 409,
         "has not ended");
  s->platform.fail = PAI_EIO;
  expect(SEND(s, "DELETE", "/api/v2/jobs/alice~mnist?keepFiles", ""), 500,
         "as the test wants");
}

/* Also what has come of an upload that goes on later, until the job is removed;
 * not what was given up. */
WITH_CODE(begin_obliging, what_is_sent_counts)
{
#define NAMED(name) "/api/v2/jobs/alice~mnist/file?path=" name

  s->platform.accounts.quota[PAI_QUOTA_UPLOADS] = 12;
  expect(PUT(s, NAMED("f&size=13"), "0123456789012"), 403,
         "NoEnoughQuotaError");
  expect(PUT(s, NAMED("f&size=6"), "hello"), 400,
         "Only 5 of 6 bytes were received");
  expect(PUT(s, NAMED("f&size=8"), "01234567"), 200, "\"complete\":true");
  expect(PUT(s, NAMED("g&size=5"), "01234"), 403,
         "alice has reached the upload quota");
  expect(PUT(s, NAMED("g&size=4&upload=u"), "01"), 200, "\"complete\":false");
  expect(PUT(s, NAMED("h&size=3"), "012"), 403, "NoEnoughQuotaError");
  expect(PUT(s, NAMED("g&size=4&upload=u"), "23"), 200, "\"complete\":true");
  expect(PUT(s, NAMED("h&size=1"), "0"), 403, "NoEnoughQuotaError");
  /* The platform's own user has no limit. */
  expect(SAY(s, "PUT", NAMED("h&size=3"), "", "012"), 200, "");
  s->platform.state = PAI_ENOTFOUND; /* the job is gone */
  expect(PUT(s, NAMED("h&size=12"), "012345678901"), 200, "");
  /* What takes the place of a file does not count twice. */
  s->platform.state = PAI_STATE_RUNNING;
  s->platform.accounts.quota[PAI_QUOTA_UPLOADS] = 23;
  for (int k = 0; k < 3; k++)
    expect(PUT(s, ONE "&size=10", "0123456789"), 200, "");
  assert_int_equal(s->platform.writers, 0);
}
