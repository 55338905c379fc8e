/* What a caller with a right to a route may do there: jobs, details and keys are
 * their owners', and what was changed is noted. */
#define _GNU_SOURCE
#include "asked.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define AS(s, token, method, path, body)                                    \
  ask(s,                                                                    \
      "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: %s" \
      "\r\nContent-Length: %zu\r\n\r\n%s",                                  \
      method, path, token, strlen(body), body)

WITH_CODE(begin_with_tokens, texts_are_openpais)
{
  expect(GET(s, "/api/v2/jobs"), 401,
         "{\"code\":\"UnauthorizedUserError\",\"message\":"
         "\"Guest is not allowed to do this operation.\"}");
  expect(AS(s, "Bearer x", "GET", "/api/v2/jobs", ""), 401,
         "{\"code\":\"UnauthorizedUserError\",\"message\":"
         "\"Your token is invalid.\"}");
  expect(AS(s, "Bearer alice.app", "GET", "/api/v2/tokens", ""), 403,
         "{\"code\":\"ForbiddenUserError\",\"message\":"
         "\"Applications are not allowed to do this operation.\"}");
  expect(AS(s, "Bearer alice", "GET", "/api/v2/audit", ""), 403,
         "{\"code\":\"ForbiddenUserError\",\"message\":"
         "\"Non-admin is not allow to do this operation.\",\"help\":");
  expect(
    AS(s, "Basic YWxpY2U6YWxpY2UuYXBw", "GET", "/api/v2/tokens/check", ""),
    200,
    "{\"username\":\"alice\",\"application\":true,"
    "\"jobSpecific\":false,\"encodedFrameworkName\":\"\",\"iat\":5,"
    "\"admin\":false}");
}

/* Jobs of those with tokens are theirs. */
WITH_CODE(begin_with_tokens, users_have_jobs)
{
  static const char yaml[] =
    "protocolVersion: 2\nname: mnist\ntype: job\nprerequisites: [{name: x, "
    "type: dockerimage, uri: x}]\ntaskRoles: {w: {dockerImage: x, "
    "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}, commands: [x]}}\n";
  static const char other[] =
    "protocolVersion: 2\nname: mnist\ntype: job\nprerequisites: [{name: x, "
    "type: dockerimage, uri: x}]\ntaskRoles: {w: {dockerImage: x, "
    "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}, commands: [x]}}\n"
    "defaults: {virtualCluster: vip}\n";

  expect(AS(s, "Bearer bob", "POST", "/api/v2/jobs", yaml), 202, "mnist");
  assert_string_equal(s->platform.submitted_by, "bob");
  expect(AS(s, "Bearer admin", "POST", "/api/v2/jobs", yaml), 202, "mnist");
  assert_string_equal(s->platform.submitted_by, "admin");
  /* In virtual clusters that are theirs. */
  expect(AS(s, "Bearer bob", "POST", "/api/v2/jobs", other), 403,
         "{\"code\":\"ForbiddenUserError\"");
  expect(AS(s, "Bearer admin", "POST", "/api/v2/jobs", other), 202, "mnist");
  /* One's own name goes without saying; another's code and secrets do not. */
  expect(AS(s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
  expect(AS(s, "Bearer bob", "GET", "/api/v2/jobs/mnist", ""), 404,
         "bob~mnist");
  expect(AS(s, "Bearer bob", "POST", "/api/v2/jobs?like=alice~mnist", yaml),
         403, "belongs to another user");
  expect(
    AS(s, "Bearer bob", "PUT", "/api/v2/jobs/bob~x/code?from=alice~mnist", ""),
    403, "belongs to another user");
  /* Whether there is such a job is said first, or last. */
  expect(AS(s, "Bearer bob", "PUT", "/api/v2/jobs/alice~x/executionType",
            "{\"value\":\"STOP\"}"),
         404, "NoJobError");
  expect(AS(s, "Bearer bob", "PUT", "/api/v2/jobs/alice~x/tag",
            "{\"value\":\"t\"}"),
         403, "ForbiddenUserError");
}

/* Without a token at the socket one is who the kernel says; with one, who it
 * says. */
WITH_CODE(begin_empty, the_kernel_is_believed)
{
  s->obliging = true;
  assert_ok(new_server(s, NULL));
  expect(GET(s, "/api/v2/audit"), 200, "");
  expect(GET(s, "/api/v2/tokens?username=bob"), 200, "bob");
  expect(SEND(s, "DELETE", "/api/v2/tokens/x", ""), 200, "revoke");
  assert_string_equal(s->platform.accounts.did, "revoke - x");
  expect(AS(s, "Bearer alice", "GET", "/api/v2/audit", ""), 403, "");
  expect(AS(s, "Bearer x", "GET", "/api/v2/jobs", ""), 401, "");
  expect(AS(s, "Bearer admin", "GET", "/api/v2/tokens?username=bob", ""), 403,
         "only your own tokens");
}

/* Where all users of a machine are served, what is done is done as one of them,
 * and details are their owner's. */
WITH_CODE(begin_empty, tokens_of_machine_users)
{
  s->obliging = true;
  s->system = true;
  assert_ok(new_server(s, NULL));
  expect(GET(s, "/api/v2/audit"), 200, "");
  expect(AS(s, "Bearer bob", "GET", "/api/v2/jobs", ""), 200, "");
  expect(AS(s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist", ""), 403,
         "Job alice~mnist belongs to another user");
  expect(AS(s, "Bearer admin", "GET", "/api/v2/jobs/alice~mnist", ""), 200,
         "");
  expect(AS(s, "Bearer bob", "PUT", "/api/v2/jobs/alice~mnist/tag", "{}"), 403,
         "Job alice~mnist belongs to another user");
  expect(AS(s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist/ssh", ""), 403,
         "Job alice~mnist belongs to another user");
  expect(AS(s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
  expect(AS(s, "Bearer alice", "POST", "/api/v2/jobs", "a: 1"), 403,
         "This machine has no user alice");
  expect(AS(s, "Bearer admin", "PUT", "/api/v2/jobs/x/code", ""), 403,
         "This machine has no user admin");
  /* Nobody becomes root with a token: not whose account has that name, and no
   * administrator. */
  expect(AS(s, "Bearer root", "GET", "/api/v2/jobs/root~x/ssh/key", ""), 403,
         "belongs to another user");
  expect(AS(s, "Bearer root", "GET",
            "/api/v2/jobs/root~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "belongs to another user");
  expect(AS(s, "Bearer admin", "GET",
            "/api/v2/jobs/root~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "User root of this machine is a system user");
  expect(AS(s, "Bearer admin", "GET",
            "/api/v2/jobs/987654~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "User 987654 of this machine is a system user");
  /* What that user does is seen, and ended, by administrators. */
  expect(AS(s, "Bearer root", "GET", "/api/v2/jobs/root~mnist", ""), 403,
         "belongs to another user");
  expect(AS(s, "Bearer admin", "GET", "/api/v2/jobs/root~mnist", ""), 404,
         "NoJobError");
}

static bool broken; /* the machine's list of users cannot be read */

int __real_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found)
{
  *found = NULL;
  return broken ? EIO : __real_getpwnam_r(name, user, text, size, found);
}

/* Whoever asks is nobody else meanwhile, and nothing is told of whose a job is. */
WITH_CODE(begin_empty, a_list_of_users_that_cannot_be_read)
{
  s->obliging = true;
  s->system = true;
  assert_ok(new_server(s, NULL));
  broken = true;
  expect(GET(s, "/api/v2/jobs"), 500,
         "Cannot read this machine's list of users");
  expect(AS(s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 500,
         "cannot look up user alice");
  expect(GET(s, "/healthz"), 200, "");
  broken = false;
  expect(AS(s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
}

/* Commands in a task are no less than its key: that somebody began one is
 * noted, or that he might not. */
WITH_CODE(begin_with_tokens, entering_is_noted)
{
  static const char path[] =
    "/api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream";
  const char *noted;

  noted = s->platform.accounts.noted;
  expect(AS(s, "Bearer bob", "GET", path, ""), 403, "belongs to another user");
  assert_string_equal(noted, "bob||GET /api/v2/jobs/alice~mnist/taskRoles/w/"
                             "taskIndex/0/stream|403");
  expect(AS(s, "Bearer alice", "GET", path, ""), 426, "");
  assert_string_equal(noted, "alice||GET /api/v2/jobs/alice~mnist/taskRoles/w/"
                             "taskIndex/0/stream|426");
}

/* The key of a job is its user's alone, whatever token he has; that it was asked
 * for is noted. */
WITH_CODE(begin_with_tokens, keys_are_their_owners)
{
  static const char path[] = "/api/v2/jobs/alice~mnist/ssh/key";
  const char *noted;

  noted = s->platform.accounts.noted;
  expect(AS(s, "Bearer alice", "GET", path, ""), 200,
         "{\"privateKey\":\"PRIVATE KEY\"}");
  assert_string_equal(noted,
                      "alice||GET /api/v2/jobs/alice~mnist/ssh/key|200");
  expect(AS(s, "Bearer alice.app", "GET", path, ""), 200, "PRIVATE KEY");
  expect(AS(s, "Bearer admin", "GET", path, ""), 403,
         "Job alice~mnist belongs to another user: only the owner may do "
         "this, not admin.");
  assert_string_equal(noted,
                      "admin||GET /api/v2/jobs/alice~mnist/ssh/key|403");
  expect(AS(s, "Bearer bob", "GET", path, ""), 403, "only the owner");
  assert_int_equal(s->platform.accounts.notes, 4);
  expect(AS(s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist/ssh", ""), 200,
         "hostKey");
  assert_int_equal(s->platform.accounts.notes, 4);
  s->platform.fail = PAI_ENOTFOUND;
  expect(AS(s, "Bearer alice", "GET", path, ""), 404,
         "{\"code\":\"NoJobSshInfoError\",\"message\":\"SSH info of job "
         "alice~mnist is not found.\"}");
}

WITH_CODE(begin_with_tokens, changes_are_noted)
{
  const char *noted;

  noted = s->platform.accounts.noted;
  (void)AS(s, "Bearer bob", "PUT", "/api/v2/jobs/alice~mnist/tag?a=b",
           "{\"value\":\"t\"}");
  assert_string_equal(noted, "bob||PUT /api/v2/jobs/alice~mnist/tag|403");
  (void)AS(s, "Bearer alice", "DELETE", "/api/v2/tokens/a.secret.one", "");
  assert_string_equal(noted, "alice||DELETE /api/v2/tokens/:token|200");
  (void)SEND(s, "POST", "/api/v2/tokens", "username=bob&password=secret1");
  assert_string_equal(noted, "bob||POST /api/v2/tokens|200");
  /* Not what only reads, nor what nobody known did. */
  (void)AS(s, "Bearer alice", "GET", "/api/v2/jobs", "");
  (void)AS(s, "Bearer x", "DELETE", "/api/v2/jobs/alice~mnist", "");
  (void)AS(s, "Bearer alice", "DELETE", "/api/v2/nothing", "");
  assert_int_equal(s->platform.accounts.notes, 3);
  expect(AS(s, "Bearer admin", "GET",
            "/api/v2/audit?username=bob&since=5&until=7&before=9&limit=3", ""),
         200, "[\"bob 5000 7000 9 3\"]");
  expect(AS(s, "Bearer admin", "GET", "/api/v2/audit?limit=1001", ""), 400,
         "InvalidParametersError");
  expect(AS(s, "Bearer admin", "GET", "/api/v2/audit?since=x", ""), 400,
         "InvalidParametersError");
}

/* Nobody can say what became of it: that it was asked for is noted. */
IN_SCENE(begin_with_tokens, unanswered_changes_are_noted)
{
  char path[128];
  peer p;

  s->obliging = false; /* the database says nothing */
  come(&p, s);
  say(&p, "DELETE /api/v2/jobs/alice~mnist HTTP/1.1\r\nHost: x\r\n"
          "Authorization: Bearer alice\r\n\r\n");
  while (s->platform.nsyncs == 0)
    turn(s);
  close_server(s);
  hear_all(&p);
  assert_int_equal(p.seen.len, 0);
  assert_string_equal(s->platform.accounts.noted,
                      "alice||DELETE /api/v2/jobs/alice~mnist|0");
  fake_synced(&s->platform, PAI_OK);
  leave(&p);
  (void)snprintf(path, sizeof(path), "%s/code", s->dir);
  (void)rmdir(path);
}
