/* The server over a platform that does what a test wants, asked by raw bytes:
 * what is served and changed, its socket and its end. */
#define _GNU_SOURCE
#include "asked.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what is served ------------------------------------------------------------------ */

IN_SCENE(begin, what_is_read)
{
  static const struct {
    const char *path;
    int status;
    const char *body;
  } rows[] = {
    { "/api/v2/info", 200, "\"launcherType\":\"k8s\"" },
    { "/api/v2/status", 200, "{\"pid\":1}" },
    { "/api/v2/jobs", 200, "[{\"name\":\"mnist\"}]" },
    { "/API/V2/Jobs/", 200, "[{\"name\":\"mnist\"}]" },
    { "//api//v2/jobs?a=b", 200, "[{\"name\":\"mnist\"}]" },
    { "/api/v2/jobs?withTotalCount=true", 200,
      "{\"totalCount\":41,\"data\":[{" },
    { "/api/v2/jobs?withTotalCount=yes", 200, "[{\"name\":\"mnist\"}]" },
    { "/api/v2/jobs?limit=0", 200, "[]" },
    { "/api/v2/jobs?limit=0&withTotalCount=true", 200,
      "{\"totalCount\":41,\"data\":[]}" },
    { "/api/v2/jobs?limit=50001", 400, "\"code\":\"InvalidParametersError\"" },
    { "/api/v2/jobs?limit=-1", 400, "\"code\":\"InvalidParametersError\"" },
    { "/api/v2/jobs?offset=x", 400, "\"code\":\"InvalidParametersError\"" },
    { "/api/v2/jobs/alice~mnist", 200, "\"attemptId\":0" },
    { "/api/v2/jobs/alice%7Emnist", 200, "\"attemptId\":0" },
    { "/api/v2/jobs/alice%7emnist/attempts/0", 200, "\"attemptId\":0" },
    { "/api/v2/jobs/alice~mnist/attempts/1", 404, "\"code\":\"NoJobError\"" },
    { "/api/v2/jobs/alice~mnist/attempts/x", 404, "\"code\":\"NoJobError\"" },
    { "/api/v2/jobs/Alice~mnist", 404,
      "{\"code\":\"NoJobError\",\"message\":\"Job Alice~mnist is not "
      "found.\"}" },
    { "/api/v2/jobs/alice~mnist/attempts/0/taskRoles/W/taskIndex/3/attempts",
      200, "{\"task\":\"0 W 3\"}" },
    { "/api/v2/jobs/alice~mnist/attempts/0/taskroles/w/taskindex/z/attempts",
      404, "\"code\":\"NoJobError\"" },
    { "/api/v2/jobs/alice~mnist/config", 200, "{\"a\":1}" },
    { "/api/v2/jobs/alice~mnist/config?format=yaml", 200, "a: 1\n" },
    { "/api/v2/jobs/alice~mnist/events", 200, "all" },
    { "/api/v2/jobs/alice~mnist/events?type=Warning", 200, "Warning" },
    { "/api/v2/jobs/alice~mnist/why", 200, "{\"reasons\":[]}" },
    { "/api/v2/jobs/a/b/c?d", 404, "API /api/v2/jobs/a/b/c?d is not found." },
    { "/api/v2/jobs/%zz", 400, "Failed to decode" },
    { "/api/v2/jobs/%00", 400, "Failed to decode" },
    { "/api/v2/jobs?keyword=%f", 400, "Failed to decode" },
    { "/api/v2/jobs/%ff", 404, "\xef\xbf\xbd" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(GET(s, rows[i].path), rows[i].status, rows[i].body);
  assert_has(GET(s, "/api/v2/jobs/alice~mnist/config"),
             "Content-Type: text/yaml; charset=utf-8\r\n");
  assert_has(GET(s, "/api/v2/jobs"),
             "Content-Type: application/json; charset=utf-8\r\n");
}

IN_SCENE(begin, how_jobs_are_listed)
{
  (void)GET(s, "/api/v2/jobs?username=a,b&vc=x%2Cy&state=RUNNING&"
               "jobPriority=default&tagsContain=t&tagsNotContain=u&"
               "keyword=a+b%25&order=jobName,ASC&offset=3&limit=20&limit=30");
  assert_string_equal(s->platform.query_text,
                      "users=a,b;vcs=x,y;states=RUNNING;priorities=default;"
                      "tags=t;not=u;keyword=a b%;order=jobName,ASC;");
  assert_int_equal(s->platform.query.offset, 3);
  assert_int_equal(s->platform.query.limit, 30);
  (void)GET(s, "/api/v2/jobs");
  assert_int_equal(s->platform.query.limit, 5000);
}

IN_SCENE(begin, wrong_methods)
{
  const char *answer;

  expect(SEND(s, "POST", "/api/v2/status", ""), 404, "NoApiError");
  expect(SEND(s, "PATCH", "/api/v2/jobs/alice~mnist", "{}"), 404,
         "NoApiError");
  expect(SEND(s, "POST", "/api/v2/info", "{}"), 200, "launcherType");
  answer = SEND(s, "HEAD", "/api/v2/jobs", "");
  assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
  assert_has(answer, "Content-Length: 18\r\n");
  assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
}

IN_SCENE(begin, failures_have_their_codes)
{
  static const struct {
    int rc, status;
    const char *code;
  } rows[] = {
    { PAI_EIO, 500, "UnknownError" },
    { PAI_EBUSY, 503, "UnknownError" },
    { PAI_ENOMEM, 503, "UnknownError" },
    { PAI_EINVAL, 400, "InvalidParametersError" },
    { PAI_EINTERNAL, 500, "UnknownError" },
  };
  char body[128];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    s->platform.fail = rows[i].rc;
    (void)snprintf(body, sizeof(body),
                   "{\"code\":\"%s\",\"message\":\"as the test wants\"}",
                   rows[i].code);
    expect(GET(s, "/api/v2/jobs"), rows[i].status, body);
  }
}

/* --- what is changed -------------------------------------------------------------------- */

#define YAML                                                 \
  "protocolVersion: 2\nname: mnist\ntype: job\n"             \
  "prerequisites: [{name: x, type: dockerimage, uri: x}]\n"  \
  "taskRoles:\n  a:\n    dockerImage: x\n"                   \
  "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n" \
  "    commands: [\"true\"]\n"

#define ROLES(one, other)                                    \
  "protocolVersion: 2\nname: m\ntype: job\n"                 \
  "prerequisites: [{name: x, type: dockerimage, uri: x}]\n"  \
  "taskRoles:\n  " one ": &r\n    dockerImage: x\n"          \
  "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n" \
  "    commands: [\"true\"]\n  " other ": *r\n"

/* Asks; the database is told to have it, or not, while the answer waits. */
static const char *change(scene *s, const char *method, const char *path,
                          const char *body, int status)
{
  static char answer[1 << 16];
  char head[512];
  peer p;

  come(&p, s);
  (void)snprintf(head, sizeof(head),
                 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 method, path, strlen(body));
  say(&p, head);
  say(&p, body);
  while (s->platform.nsyncs == 0 && !p.over)
    turn(s);
  if (s->platform.nsyncs != 0)
    assert_int_equal(p.seen.len, 0); /* not before it is safe */
  fake_synced(&s->platform, status);
  hear_all(&p);
  memcpy(answer, pai__buf_text(&p.seen), p.seen.len + 1);
  leave(&p);
  return answer;
}

IN_SCENE(begin, a_job_is_accepted_when_it_is_safe)
{
  char path[256];

  expect(change(s, "POST", "/api/v2/jobs", YAML, PAI_OK), 202,
         "\"status\":202");
  assert_string_equal(s->platform.submitted, "|||0");
  (void)snprintf(
    path, sizeof(path),
    "/api/v2/jobs?name=m_2&workDir=/data/a%%20b&codeDir=%s/code/u", s->dir);
  expect(change(s, "POST", path, YAML, PAI_OK), 202, "\"name\":\"m_2\"");
  (void)snprintf(path, sizeof(path), "m_2|/data/a b|%s/code/u|0", s->dir);
  assert_string_equal(s->platform.submitted, path);
  expect(change(s, "POST", "/api/v2/jobs?like=alice~mnist", YAML, PAI_OK), 202,
         "");
  assert_string_equal(s->platform.submitted, "|||7");
  expect(change(s, "POST", "/api/v2/jobs", YAML, PAI_EIO), 500,
         "the disk is full");
}

IN_SCENE(begin, jobs_that_are_refused)
{
  static const struct {
    int rc, status;
    const char *code;
  } rows[] = {
    { PAI_EEXISTS, 409, "\"code\":\"ConflictJobError\"" },
    { PAI_ENOROOM, 400, "\"code\":\"InvalidProtocolError\"" },
    { PAI_EINVAL, 400, "\"code\":\"InvalidProtocolError\"" },
    { PAI_EBUSY, 503, "\"code\":\"UnknownError\"" },
  };

  expect(SEND(s, "POST", "/api/v2/jobs", ""), 400, "InvalidProtocolError");
  expect(SEND(s, "POST", "/api/v2/jobs", "a: ["), 400, "InvalidProtocolError");
  expect(SEND(s, "POST", "/api/v2/jobs", "protocolVersion: 2\nname: a"), 400,
         "\\\"keyword\\\":");
  expect(SEND(s, "POST", "/api/v2/jobs", ROLES("b_1", "B1")), 400,
         "Task roles b_1 and B1 have the same name");
  expect(SEND(s, "POST", "/api/v2/jobs?codeDir=/etc", YAML), 400, "codeDir");
  expect(SEND(s, "POST", "/api/v2/jobs?like=bob~x", YAML), 404, "NoJobError");
  expect(ask(s,
             "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
             "Content-Type: application/x-www-form-urlencoded\r\n"
             "Content-Length: 3\r\n\r\na=b"),
         400, "InvalidProtocolError");
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    s->platform.fail = rows[i].rc;
    expect(SEND(s, "POST", "/api/v2/jobs", YAML), rows[i].status,
           rows[i].code);
  }
  assert_string_equal(s->platform.submitted, "");
}

IN_SCENE(begin, stopping)
{
  const char *path = "/api/v2/jobs/alice~mnist/executionType";

  expect(change(s, "PUT", path, "{\"value\":\"STOP\"}", PAI_OK), 202,
         "\"status\":202");
  assert_int_equal(s->platform.stops, 1);
  expect(change(s, "PUT", path, "{\"value\":\"START\"}", PAI_OK), 202, "");
  assert_int_equal(s->platform.stops, 1);
  s->platform.state = PAI_STATE_STOPPING;
  expect(change(s, "PUT", path, "value=STOP", PAI_OK), 202, "");
  assert_int_equal(s->platform.stops, 1); /* saying it twice does not kill */
  expect(change(s, "PUT", "/api/v2/jobs/alice~mnist/executionType?now=true",
                "{\"value\":\"STOP\"}", PAI_OK),
         202, "");
  assert_int_equal(s->platform.stops, 2);
  expect(SEND(s, "PUT", path, "{\"value\":\"Stop\"}"), 400,
         "must be one of [START, STOP]");
  expect(SEND(s, "PUT", path, "{\"value\":1}"), 400, "must be a string");
  expect(SEND(s, "PUT", path, "{}"), 400, "is required");
  expect(SEND(s, "PUT", path, ""), 400, "is required");
  expect(SEND(s, "PUT", path, "{\"value\":\"STOP\",\"x\":1}"), 400,
         "\\\"x\\\" is not allowed");
  expect(SEND(s, "PUT", path, "[]"), 400, "must be an object");
  expect(SEND(s, "PUT", path, "{\"value\""), 400, "message");
  expect(
    SEND(s, "PUT", "/api/v2/jobs/a~b/executionType", "{\"value\":\"STOP\"}"),
    404, "NoJobError");
}

IN_SCENE(begin, tags_and_removal)
{
  const char *tag = "/api/v2/jobs/alice~mnist/tag";

  expect(change(s, "PUT", tag, "{\"value\":\"good\"}", PAI_OK), 200,
         "\"status\":200");
  assert_string_equal(s->platform.tag, "good");
  expect(SEND(s, "PUT", tag, "{\"value\":\"a,b\"}"), 400,
         "InvalidParametersError");
  expect(SEND(s, "DELETE", tag, "{\"value\":\"bad\"}"), 404, "NoTagError");
  expect(change(s, "DELETE", tag, "{\"value\":\"good\"}", PAI_OK), 200, "");
  expect(change(s, "DELETE", "/api/v2/jobs/alice~mnist", "", PAI_OK), 200, "");
  assert_int_equal(s->platform.forgets, 1);
  s->platform.fail = PAI_EBUSY;
  expect(SEND(s, "DELETE", "/api/v2/jobs/alice~mnist", ""), 409,
         "ConflictJobError");
}

IN_SCENE(begin, the_platform_is_ended)
{
  expect(SEND(s, "POST", "/api/v2/shutdown", "{\"kill\":1}"), 400,
         "must be a boolean");
  assert_int_equal(s->shutdown, -1);
  expect(SEND(s, "POST", "/api/v2/shutdown", ""), 202, "\"status\":202");
  assert_int_equal(s->shutdown, 0);
  expect(SEND(s, "POST", "/api/v2/shutdown", "{\"kill\":true}"), 202, "");
  assert_int_equal(s->shutdown, 1);
}

/* --- the socket, and the end ---------------------------------------------------------------------- */

IN_SCENE(begin, the_socket)
{
  pai_server *first;
  pai_error *err = NULL;
  struct stat st;
  char other[96];
  int fd;

  assert_int_equal(stat(s->path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  first = s->server;
  assert_fails(new_server(s, &err), err, PAI_EBUSY,
               "another server listens on");
  assert_null(s->server);
  s->server = first;
  expect(GET(s, "/api/v2/info"), 200, "");
  close_server(s);
  /* One that was left behind is replaced. */
  assert_int_equal(pai__socket_listen(&fd, s->path, 1), 0);
  (void)close(fd);
  assert_ok(new_server(s, &err));
  close_server(s);
  /* What is no socket is not touched. */
  fd = open(s->path, O_CREAT | O_WRONLY, 0600);
  (void)close(fd);
  assert_fails(new_server(s, &err), err, PAI_EPERM, "no socket");
  assert_int_equal(unlink(s->path), 0);
  (void)snprintf(other, sizeof(other), "%s/other", s->dir);
  assert_int_equal(pai__socket_listen(&fd, other, 1), 0);
  assert_int_equal(symlink(other, s->path), 0);
  assert_int_equal(new_server(s, &err), PAI_EPERM);
  pai_error_free(err);
  assert_int_equal(unlink(s->path), 0);
  assert_int_equal(unlink(other), 0);
  (void)close(fd);
  if (geteuid() == 0) { /* only root can play another user */
    assert_int_equal(pai__socket_listen(&fd, s->path, 1), 0);
    assert_int_equal(chown(s->path, 65534, 65534), 0);
    assert_fails(new_server(s, &err), err, PAI_EPERM, "another user's");
    assert_int_equal(unlink(s->path), 0);
    (void)close(fd);
  }
}

IN_SCENE(begin, a_close_answers_first)
{
  peer p, q;

  come(&p, s);
  say(&p, "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: ");
  come(&q, s);
  say(&q, "PUT /api/v2/jobs/alice~mnist/executionType HTTP/1.1\r\nHost: x\r\n"
          "Content-Length: 16\r\n\r\n{\"value\":\"STOP\"}");
  while (s->platform.nsyncs == 0)
    turn(s);
  pai_server_close(s->server, on_closed, s);
  assert_int_equal(access(s->path, F_OK), -1);
  for (int i = 0; i < 50; i++)
    assert_int_equal(pai_loop_dispatch(s->loop), 1);
  assert_int_equal(s->closed, 0); /* it owes an answer */
  say(&p, "2\r\n\r\n{}");
  hear(&p, "HTTP/1.1 503 ");
  fake_synced(&s->platform, PAI_OK);
  hear(&q, "HTTP/1.1 202 ");
  while (!s->closed)
    turn(s);
  s->server = NULL;
  leave(&p);
  leave(&q);
}

/* A database that never says anything does not hold it up for ever.  What was
 * changed meanwhile may be made or not: no answer says that, and 503 says that
 * it was not.  Who only reads is told so. */
IN_SCENE(begin, a_close_has_a_limit)
{
  char path[128];
  peer p, q;

  come(&p, s);
  come(&q, s);
  say(&q, "GET /api/v2/backup HTTP/1.1\r\nHost: x\r\n\r\n");
  while (s->platform.ncopies == 0)
    turn(s);
  say(&p, "DELETE /api/v2/jobs/alice~mnist HTTP/1.1\r\nHost: x\r\n\r\n");
  while (s->platform.nsyncs == 0)
    turn(s);
  close_server(s);
  hear_all(&p);
  assert_int_equal(p.seen.len, 0);
  hear(&q, "HTTP/1.1 503 ");
  fake_synced(&s->platform, PAI_OK); /* nobody wants to know any more */
  fake_copied(&s->platform, PAI_EIO, NULL);
  leave(&p);
  leave(&q);
  (void)snprintf(path, sizeof(path), "%s/code", s->dir);
  assert_int_equal(rmdir(path), 0);
}

static bool is_counted(scene *s)
{
  const char *answer = GET(s, "/api/v2/jobs?limit=0&withTotalCount=true");

  return strstr(answer, "totalCount") != NULL;
}

IN_SCENE(begin_empty, no_memory_is_survived)
{
  serve_faults(s, is_counted);
}
