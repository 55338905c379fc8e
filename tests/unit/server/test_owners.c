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

static void texts_are_openpais(void **state)
{
  scene s;

  (void)state;
  begin_with_tokens(&s);
  expect(GET(&s, "/api/v2/jobs"), 401,
         "{\"code\":\"UnauthorizedUserError\",\"message\":"
         "\"Guest is not allowed to do this operation.\"}");
  expect(AS(&s, "Bearer x", "GET", "/api/v2/jobs", ""), 401,
         "{\"code\":\"UnauthorizedUserError\",\"message\":"
         "\"Your token is invalid.\"}");
  expect(AS(&s, "Bearer alice.app", "GET", "/api/v2/tokens", ""), 403,
         "{\"code\":\"ForbiddenUserError\",\"message\":"
         "\"Applications are not allowed to do this operation.\"}");
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/audit", ""), 403,
         "{\"code\":\"ForbiddenUserError\",\"message\":"
         "\"Non-admin is not allow to do this operation.\",\"help\":");
  expect(
    AS(&s, "Basic YWxpY2U6YWxpY2UuYXBw", "GET", "/api/v2/tokens/check", ""),
    200,
    "{\"username\":\"alice\",\"application\":true,"
    "\"jobSpecific\":false,\"encodedFrameworkName\":\"\",\"iat\":5,"
    "\"admin\":false}");
  end_with_code(&s);
}

/* Jobs of those with tokens are theirs. */
static void users_have_jobs(void **state)
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
  scene s;

  (void)state;
  begin_with_tokens(&s);
  expect(AS(&s, "Bearer bob", "POST", "/api/v2/jobs", yaml), 202, "mnist");
  assert_string_equal(s.platform.submitted_by, "bob");
  expect(AS(&s, "Bearer admin", "POST", "/api/v2/jobs", yaml), 202, "mnist");
  assert_string_equal(s.platform.submitted_by, "admin");
  /* In virtual clusters that are theirs. */
  expect(AS(&s, "Bearer bob", "POST", "/api/v2/jobs", other), 403,
         "{\"code\":\"ForbiddenUserError\"");
  expect(AS(&s, "Bearer admin", "POST", "/api/v2/jobs", other), 202, "mnist");
  /* One's own name goes without saying; another's code and secrets do not. */
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
  expect(AS(&s, "Bearer bob", "GET", "/api/v2/jobs/mnist", ""), 404,
         "bob~mnist");
  expect(AS(&s, "Bearer bob", "POST", "/api/v2/jobs?like=alice~mnist", yaml),
         403, "another user's");
  expect(AS(&s, "Bearer bob", "PUT",
            "/api/v2/jobs/bob~x/code?from=alice~mnist", ""),
         403, "own user");
  /* Whether there is such a job is said first, or last. */
  expect(AS(&s, "Bearer bob", "PUT", "/api/v2/jobs/alice~x/executionType",
            "{\"value\":\"STOP\"}"),
         404, "NoJobError");
  expect(AS(&s, "Bearer bob", "PUT", "/api/v2/jobs/alice~x/tag",
            "{\"value\":\"t\"}"),
         403, "ForbiddenUserError");
  end_with_code(&s);
}

/* Without a token at the socket one is who the kernel says; with one, who it
 * says. */
static void the_kernel_is_believed(void **state)
{
  scene s;

  (void)state;
  begin_empty(&s);
  s.obliging = true;
  assert_int_equal(new_server(&s, NULL), PAI_OK);
  expect(GET(&s, "/api/v2/audit"), 200, "");
  expect(GET(&s, "/api/v2/tokens?username=bob"), 200, "bob");
  expect(SEND(&s, "DELETE", "/api/v2/tokens/x", ""), 200, "revoke");
  assert_string_equal(s.platform.accounts.did, "revoke - x");
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/audit", ""), 403, "");
  expect(AS(&s, "Bearer x", "GET", "/api/v2/jobs", ""), 401, "");
  expect(AS(&s, "Bearer admin", "GET", "/api/v2/tokens?username=bob", ""), 403,
         "own user");
  end_with_code(&s);
}

/* Where all users of a machine are served, what is done is done as one of them,
 * and details are their owner's. */
static void tokens_of_machine_users(void **state)
{
  scene s;

  (void)state;
  begin_empty(&s);
  s.obliging = true;
  s.system = true;
  assert_int_equal(new_server(&s, NULL), PAI_OK);
  expect(GET(&s, "/api/v2/audit"), 200, "");
  expect(AS(&s, "Bearer bob", "GET", "/api/v2/jobs", ""), 200, "");
  expect(AS(&s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist", ""), 403,
         "Job alice~mnist is another user's");
  expect(AS(&s, "Bearer admin", "GET", "/api/v2/jobs/alice~mnist", ""), 200,
         "");
  expect(AS(&s, "Bearer bob", "PUT", "/api/v2/jobs/alice~mnist/tag", "{}"),
         403, "Job alice~mnist is another user's");
  expect(AS(&s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist/ssh", ""), 403,
         "Job alice~mnist is another user's");
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
  expect(AS(&s, "Bearer alice", "POST", "/api/v2/jobs", "a: 1"), 403,
         "This machine has no user alice");
  expect(AS(&s, "Bearer admin", "PUT", "/api/v2/jobs/x/code", ""), 403,
         "This machine has no user admin");
  /* Nobody becomes root with a token: not whose account has that name, and no
   * administrator. */
  expect(AS(&s, "Bearer root", "GET", "/api/v2/jobs/root~x/ssh/key", ""), 403,
         "another user's");
  expect(AS(&s, "Bearer root", "GET",
            "/api/v2/jobs/root~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "another user's");
  expect(AS(&s, "Bearer admin", "GET",
            "/api/v2/jobs/root~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "User root of this machine is a system user");
  expect(AS(&s, "Bearer admin", "GET",
            "/api/v2/jobs/987654~x/taskRoles/w/taskIndex/0/stream", ""),
         403, "User 987654 of this machine is a system user");
  /* What that user does is seen, and ended, by administrators. */
  expect(AS(&s, "Bearer root", "GET", "/api/v2/jobs/root~mnist", ""), 403,
         "another user's");
  expect(AS(&s, "Bearer admin", "GET", "/api/v2/jobs/root~mnist", ""), 404,
         "NoJobError");
  end_with_code(&s);
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
static void a_list_of_users_that_cannot_be_read(void **state)
{
  scene s;

  (void)state;
  begin_empty(&s);
  s.obliging = true;
  s.system = true;
  assert_int_equal(new_server(&s, NULL), PAI_OK);
  broken = true;
  expect(GET(&s, "/api/v2/jobs"), 500, "cannot read its list of users");
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 500,
         "cannot look for user alice");
  expect(GET(&s, "/healthz"), 200, "");
  broken = false;
  expect(AS(&s, "Bearer alice", "GET", "/api/v2/jobs/mnist", ""), 200, "");
  end_with_code(&s);
}

/* Commands in a task are no less than its key: that somebody began one is
 * noted, or that he might not. */
static void entering_is_noted(void **state)
{
  static const char path[] =
    "/api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream";
  const char *noted;
  scene s;

  (void)state;
  begin_with_tokens(&s);
  noted = s.platform.accounts.noted;
  expect(AS(&s, "Bearer bob", "GET", path, ""), 403, "another user's");
  assert_string_equal(noted, "bob||GET /api/v2/jobs/alice~mnist/taskRoles/w/"
                             "taskIndex/0/stream|403");
  expect(AS(&s, "Bearer alice", "GET", path, ""), 426, "");
  assert_string_equal(noted, "alice||GET /api/v2/jobs/alice~mnist/taskRoles/w/"
                             "taskIndex/0/stream|426");
  end_with_code(&s);
}

/* The key of a job is its user's alone, whatever token he has; that it was asked
 * for is noted. */
static void keys_are_their_owners(void **state)
{
  static const char path[] = "/api/v2/jobs/alice~mnist/ssh/key";
  const char *noted;
  scene s;

  (void)state;
  begin_with_tokens(&s);
  noted = s.platform.accounts.noted;
  expect(AS(&s, "Bearer alice", "GET", path, ""), 200,
         "{\"privateKey\":\"PRIVATE KEY\"}");
  assert_string_equal(noted,
                      "alice||GET /api/v2/jobs/alice~mnist/ssh/key|200");
  expect(AS(&s, "Bearer alice.app", "GET", path, ""), 200, "PRIVATE KEY");
  expect(AS(&s, "Bearer admin", "GET", path, ""), 403,
         "Job alice~mnist belongs to another user: only its owner may do "
         "this, not admin.");
  assert_string_equal(noted,
                      "admin||GET /api/v2/jobs/alice~mnist/ssh/key|403");
  expect(AS(&s, "Bearer bob", "GET", path, ""), 403, "only its owner");
  assert_int_equal(s.platform.accounts.notes, 4);
  expect(AS(&s, "Bearer bob", "GET", "/api/v2/jobs/alice~mnist/ssh", ""), 200,
         "hostKey");
  assert_int_equal(s.platform.accounts.notes, 4);
  s.platform.fail = PAI_ENOTFOUND;
  expect(AS(&s, "Bearer alice", "GET", path, ""), 404,
         "{\"code\":\"NoJobSshInfoError\",\"message\":\"SSH info of job "
         "alice~mnist is not found.\"}");
  end_with_code(&s);
}

static void changes_are_noted(void **state)
{
  const char *noted;
  scene s;

  (void)state;
  begin_with_tokens(&s);
  noted = s.platform.accounts.noted;
  (void)AS(&s, "Bearer bob", "PUT", "/api/v2/jobs/alice~mnist/tag?a=b",
           "{\"value\":\"t\"}");
  assert_string_equal(noted, "bob||PUT /api/v2/jobs/alice~mnist/tag|403");
  (void)AS(&s, "Bearer alice", "DELETE", "/api/v2/tokens/a.secret.one", "");
  assert_string_equal(noted, "alice||DELETE /api/v2/tokens/:token|200");
  (void)SEND(&s, "POST", "/api/v2/tokens", "username=bob&password=secret1");
  assert_string_equal(noted, "bob||POST /api/v2/tokens|200");
  /* Not what only reads, nor what nobody known did. */
  (void)AS(&s, "Bearer alice", "GET", "/api/v2/jobs", "");
  (void)AS(&s, "Bearer x", "DELETE", "/api/v2/jobs/alice~mnist", "");
  (void)AS(&s, "Bearer alice", "DELETE", "/api/v2/nothing", "");
  assert_int_equal(s.platform.accounts.notes, 3);
  expect(AS(&s, "Bearer admin", "GET",
            "/api/v2/audit?username=bob&since=5&until=7&before=9&limit=3", ""),
         200, "[\"bob 5000 7000 9 3\"]");
  expect(AS(&s, "Bearer admin", "GET", "/api/v2/audit?limit=1001", ""), 400,
         "InvalidParametersError");
  expect(AS(&s, "Bearer admin", "GET", "/api/v2/audit?since=x", ""), 400,
         "InvalidParametersError");
  end_with_code(&s);
}

/* Nobody can say what became of it: that it was asked for is noted. */
static void unanswered_changes_are_noted(void **state)
{
  char path[128];
  peer p;
  scene s;

  (void)state;
  begin_with_tokens(&s);
  s.obliging = false; /* the database says nothing */
  come(&p, &s);
  say(&p, "DELETE /api/v2/jobs/alice~mnist HTTP/1.1\r\nHost: x\r\n"
          "Authorization: Bearer alice\r\n\r\n");
  while (s.platform.nsyncs == 0)
    turn(&s);
  close_server(&s);
  hear_all(&p);
  assert_int_equal(p.seen.len, 0);
  assert_string_equal(s.platform.accounts.noted,
                      "alice||DELETE /api/v2/jobs/alice~mnist|0");
  fake_synced(&s.platform, PAI_OK);
  leave(&p);
  (void)snprintf(path, sizeof(path), "%s/code", s.dir);
  (void)rmdir(path);
  end(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_are_openpais),
    cmocka_unit_test(users_have_jobs),
    cmocka_unit_test(the_kernel_is_believed),
    cmocka_unit_test(tokens_of_machine_users),
    cmocka_unit_test(a_list_of_users_that_cannot_be_read),
    cmocka_unit_test(keys_are_their_owners),
    cmocka_unit_test(entering_is_noted),
    cmocka_unit_test(changes_are_noted),
    cmocka_unit_test(unanswered_changes_are_noted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
