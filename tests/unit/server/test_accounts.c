/* Users, groups and tokens over HTTP: what becomes of what is sent, and of what
 * went wrong. */
#define _GNU_SOURCE
#include "asked.h"

#include <sys/socket.h>

#include <stdio.h>

/* At one's own socket, where one may do all. */
static void begin_here(scene *s)
{
  begin_empty(s);
  s->obliging = true;
  assert_ok(new_server(s, NULL));
}

#define SEND_AS(s, method, path, type, body)                               \
  ask(s,                                                                   \
      "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: %s" \
      "\r\nContent-Length: %zu\r\n\r\n%s",                                 \
      method, path, type, strlen(body), body)
#define SEND_BY(s, token, method, path, body)                             \
  ask(s,                                                                  \
      "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: " \
      "Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",                       \
      method, path, token, strlen(body), body)
#define FORM "application/x-www-form-urlencoded"

/* --- what is done --------------------------------------------------------------- */

IN_SCENE(begin_here, changes_arrive)
{
  static const struct {
    const char *method, *path, *body;
    int status;
    const char *said, *did;
  } rows[] = {
    { "POST", "/api/v2/users",
      "{\"username\":\"eve\",\"password\":\"secret1\",\"email\":\"\"}", 201,
      "{\"message\":\"User is created successfully\"}",
      "put user 1 {\"username\":\"eve\",\"password\":\"secret1\","
      "\"email\":\"\",\"virtualCluster\":[],\"admin\":false,"
      "\"extension\":{}}" },
    { "PUT", "/api/v2/user",
      "{\"data\":{\"username\":\"bob\",\"email\":\"a@b.c\","
      "\"virtualCluster\":[\"x\"],\"admin\":\"true\","
      "\"password\":\"secret2\",\"extension\":{\"a\":[1]}}}",
      201, "{\"message\":\"Update user data successfully.\"}",
      "put user 0 {\"username\":\"bob\",\"email\":\"a@b.c\","
      "\"virtualCluster\":[\"x\"],\"admin\":true,"
      "\"password\":\"secret2\",\"extension\":{\"a\":[1]}}" },
    { "PUT", "/api/v2/users",
      "{\"patch\":true,\"data\":{\"username\":\"bob\",\"admin\":false}}", 201,
      "Update user data successfully.",
      "put user 0 {\"username\":\"bob\",\"admin\":false}" },
    { "PUT", "/api/v2/users/bob/extension", "{\"extension\":{\"a\":1}}", 201,
      "Update user extension data successfully.",
      "put user 0 {\"username\":\"bob\",\"extension\":{\"a\":1}}" },
    { "PUT", "/api/v2/users/b%22ob/grouplist", "{\"grouplist\":[\"g\"]}", 201,
      "Update user grouplist data successfully.",
      "put user 0 {\"username\":\"b\\\"ob\",\"grouplist\":[\"g\"]}" },
    { "PUT", "/api/v2/users/bob/group", "{\"groupname\":\"g\"}", 201,
      "successfully", "member bob g 1" },
    { "DELETE", "/api/v2/users/bob/group", "{\"groupname\":\"g\"}", 201,
      "successfully", "member bob g 0" },
    { "PUT", "/api/v2/users/bob/virtualcluster",
      "{\"virtualCluster\":[\"x\",\"y\"]}", 201,
      "{\"message\":\"Update user virtualCluster data successfully.\"}",
      "put user 4 {\"username\":\"bob\",\"virtualCluster\":[\"x\",\"y\"]}" },
    { "PUT", "/api/v2/users/bob/password", "{\"newPassword\":\"secret2\"}",
      201, "{\"message\":\"update user password successfully.\"}",
      "put user 0 {\"username\":\"bob\",\"password\":\"secret2\"}" },
    { "PUT", "/api/v2/users/bob/email", "{\"email\":\"\"}", 201,
      "Update user email data successfully.",
      "put user 0 {\"username\":\"bob\",\"email\":\"\"}" },
    { "PUT", "/api/v2/users/bob/admin", "{\"admin\":true}", 201,
      "{\"message\":\"Update user admin permission successfully.\"}",
      "put user 0 {\"username\":\"bob\",\"admin\":true}" },
    { "DELETE", "/api/v2/users/bob", "", 200, "user is removed successfully",
      "remove user bob" },

    { "POST", "/api/v2/groups",
      "{\"groupname\":\"g\",\"extension\":{\"acls\":{\"admin\":false}}}", 201,
      "group is created successfully",
      "put group 1 {\"groupname\":\"g\",\"extension\":{\"acls\":"
      "{\"admin\":false}}}" },
    { "PUT", "/api/v2/group",
      "{\"data\":{\"groupname\":\"g\",\"description\":\"d\","
      "\"externalName\":\"\",\"extension\":{}}}",
      201, "update group data successfully.",
      "put group 0 {\"groupname\":\"g\",\"description\":\"d\","
      "\"externalName\":\"\",\"extension\":{}}" },
    { "PUT", "/api/v2/groups",
      "{\"patch\":\"true\",\"data\":{\"groupname\":\"g\"}}", 201,
      "successfully", "put group 2 {\"groupname\":\"g\"}" },
    { "PUT", "/api/v2/groups/g/extension", "{\"extension\":{\"a\":1}}", 201,
      "successfully",
      "put group 2 {\"groupname\":\"g\",\"extension\":{\"a\":1}}" },
    { "PUT", "/api/v2/groups/g/extension/acls/x%20y/z", "{\"data\":[null]}",
      201, "{\"message\":\"Update group extension data successfully.\"}",
      "set g acls/x y/z [null]" },
    { "PUT", "/api/v2/groups/g/description", "{\"description\":\"d\"}", 201,
      "successfully",
      "put group 2 {\"groupname\":\"g\",\"description\":\"d\"}" },
    { "PUT", "/api/v2/groups/g/externalname", "{\"externalName\":\"e\"}", 201,
      "successfully",
      "put group 2 {\"groupname\":\"g\",\"externalName\":\"e\"}" },
    { "PUT", "/api/v2/storages/s",
      "{\"type\":\"nfs\",\"data\":{\"server\":\"x\"},\"share\":\"false\"}",
      201, "successfully",
      "put storage {\"name\":\"s\",\"type\":\"nfs\",\"data\":"
      "{\"server\":\"x\"},\"share\":false}" },
    { "DELETE", "/api/v2/storages/s", "", 200, "successfully",
      "remove storage s" },
    { "DELETE", "/api/v2/groups/g", "", 200, "group is removed successfully",
      "remove group g" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    s->platform.accounts.did[0] = '\0';
    expect(
      SEND_AS(s, rows[i].method, rows[i].path, "text/plain", rows[i].body),
      rows[i].status, rows[i].said);
    assert_string_equal(s->platform.accounts.did, rows[i].did);
  }
}

IN_SCENE(begin_here, one_changes_oneself)
{
  static const char both[] =
    "{\"data\":{\"username\":\"alice\",\"email\":\"a@b.c\",\"newPassword\":"
    "\"secret2\",\"oldPassword\":\"secret1\"},\"patch\":false}";

  expect(SEND_BY(s, "alice", "PUT", "/api/v2/users/me", both), 201,
         "Update user data successfully.");
  assert_string_equal(s->platform.accounts.did,
                      "put user 0 {\"username\":\"alice\",\"email\":\"a@b.c\","
                      "\"password\":\"secret2\",\"oldPassword\":\"secret1\"}");
  expect(SEND_BY(s, "bob", "PUT", "/api/v2/users/me", both), 403,
         "ForbiddenUserError");
  expect(SEND_BY(s, "alice", "PUT", "/api/v2/users/me", "{}"), 400,
         "child \\\"data\\\" fails because [\\\"data\\\" is required]");
  expect(SEND_BY(s, "alice", "PUT", "/api/v2/users/alice/password",
                 "{\"oldPassword\":\"secret1\",\"newPassword\":\"secret2\"}"),
         201, "update user password successfully.");
  assert_string_equal(s->platform.accounts.did,
                      "put user 0 {\"username\":\"alice\",\"password\":"
                      "\"secret2\",\"oldPassword\":\"secret1\"}");
  expect(SEND_BY(s, "alice", "PUT", "/api/v2/users/alice/password",
                 "{\"newPassword\":\"secret2\"}"),
         201, "");
  assert_has(s->platform.accounts.did, "\"defaultpai\"");
}

/* Who waits for a password is told by address, and whether he still waits. */
IN_SCENE(begin_empty, passwords_wait_for_who_is_there)
{
  static const char login[] =
    "POST /api/v2/authn/basic/login HTTP/1.1\r\nHost: x\r\n"
    "Content-Type: application/json\r\nContent-Length: 42\r\n\r\n"
    "{\"username\":\"alice\",\"password\":\"secret-1\"}";
  pai_accounts *a;
  peer p;

  s->options.listen = "127.0.0.1:0";
  assert_ok(new_server(s, NULL));
  a = &s->platform.accounts;
  come_far(&p, s);
  say(&p, login);
  while (a->nwaiting == 0)
    turn(s);
  assert_string_equal(a->asker, "00000000000000000000ffff7f000001");
  assert_int_equal(a->is_gone(a->waiting[0].user_data), 0);
  assert_int_equal(shutdown(p.fd, SHUT_WR), 0);
  while (!a->is_gone(a->waiting[0].user_data))
    ;
  a->fail = PAI_ECANCELED;
  fake_accounts_done(&s->platform);
  a->fail = 0;
  hear_all(&p); /* no failure of ours is told, as there is none */
  assert_int_equal(p.seen.len, 0);
  leave(&p);
  come(&p, s); /* and at the socket by the user */
  say(&p, login);
  while (a->nwaiting == 0)
    turn(s);
  assert_memory_equal(a->asker, "user ", 5);
  a->fail = PAI_EBUSY;
  a->status = 429;
  a->code = "UnknownError";
  fake_accounts_done(&s->platform);
  hear(&p, "HTTP/1.1 429 ");
  hear(&p, "Retry-After: 2\r\n");
  a->fail = 0;
  leave(&p);
}

IN_SCENE(begin_here, what_is_read)
{
  static const struct {
    const char *path, *body;
  } rows[] = {
    { "/api/v2/users/", "[{\"viewer\":\"alice\"}]" },
    { "/api/v2/users/bob", "{\"username\":\"bob\",\"viewer\":\"alice\"}" },
    { "/api/v1/user/bob", "{\"username\":\"bob\",\"viewer\":\"alice\"}" },
    { "/api/v2/groups", "[{\"groupname\":\"default\"}]" },
    { "/api/v2/group/g", "{\"groupname\":\"g\"}" },
    { "/api/v2/storages", "[\"0 alice - - 0\"]" },
    { "/api/v2/storages?default=true", "[\"0 alice - - 1\"]" },
    { "/api/v2/storages/s", "[\"1 alice s - 0\"]" },
    { "/api/v2/storage/config?names=a,b", "[\"2 alice - a,b 0\"]" },
    { "/api/v2/storage/config/s", "[\"2 alice s - 0\"]" },
    { "/api/v2/storage/server", "[\"3 alice - - 0\"]" },
    { "/api/v2/tokens", "{\"tokens\":[\"alice\"],\"details\":[]}" },
    { "/api/v2/tokens/check",
      "{\"username\":\"alice\",\"application\":false,\"jobSpecific\":false,"
      "\"encodedFrameworkName\":\"\",\"iat\":5,\"exp\":9,\"admin\":false}" },
    { "/api/v1/authn/info",
      "{\"authn_type\":\"basic\",\"loginURI\":\"/api/v1/authn/basic/login\","
      "\"loginURIMethod\":\"post\"}" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(SEND_BY(s, "alice", "GET", rows[i].path, ""), 200, rows[i].body);
  expect(SEND_BY(s, "alice", "GET", "/api/v2/users/me", ""), 400,
         "{\"code\":\"NoUserError\",\"message\":\"User me is not found.\"}");
  expect(GET(s, "/api/v2/groups/g/userlist"), 200,
         "[{\"username\":\"in g\"}]");
  expect(GET(s, "/api/v2/tokens/check"), 200, "\"admin\":true}");
}

IN_SCENE(begin_here, tokens_are_made_and_end)
{
  expect(SEND_AS(s, "POST", "/api/v2/authn/basic/login", FORM,
                 "expiration=4000&password=secret1&username=alice"),
         200, "{\"user\":\"alice\",\"token\":\"alice\",\"admin\":false}");
  assert_string_equal(s->platform.accounts.did, "login alice secret1");
  assert_string_equal(s->platform.accounts.keys, "alice");
  expect(SEND_BY(s, "alice", "POST", "/api/v2/tokens/application", "{}"), 200,
         "{\"token\":\"new\",\"id\":\"1\",\"name\":null,\"application\":true,"
         "\"scopes\":[],\"expires\":null}");
  assert_string_equal(s->platform.accounts.did, "new token alice - 0 0");
  expect(SEND(s, "POST", "/api/v2/tokens/application?username=bob", ""), 200,
         "new");
  assert_string_equal(s->platform.accounts.did, "new token bob - 0 0");
  assert_string_equal(s->platform.accounts.keys, "bob");
  expect(
    SEND_BY(s, "alice", "POST", "/api/v2/tokens/application?username=bob", ""),
    403, "ForbiddenUserError");
  expect(SEND_BY(s, "alice", "DELETE", "/api/v2/tokens/a.b.c", ""), 200,
         "{\"message\":");
  assert_string_equal(s->platform.accounts.did, "revoke alice a.b.c");
  expect(SEND_BY(s, "alice", "DELETE", "/api/v2/authn/basic/logout", ""), 200,
         "{\"message\":\"Logout successfully\"}");
  assert_string_equal(s->platform.accounts.did, "revoke alice alice");
  expect(SEND(s, "DELETE", "/api/v2/authn/basic/logout", ""), 200, "");
}

/* --- what goes wrong ------------------------------------------------------------------ */

IN_SCENE(begin_here, failures_have_their_names)
{
  static const struct {
    const char *method, *path, *body;
    int rc, status;
    const char *code;
    int told;
  } rows[] = {
    { "POST", "/api/v2/users",
      "{\"username\":\"eve\",\"password\":\"secret1\"}", PAI_EEXISTS, 409,
      "ConflictUserError", 409 },
    { "DELETE", "/api/v2/users/eve", "", PAI_EPERM, 403, "RemoveAdminError",
      403 },
    { "PUT", "/api/v2/users/eve/group", "{\"groupname\":\"g\"}", PAI_ENOTFOUND,
      404, "NoGroupError", 404 },
    { "POST", "/api/v2/groups", "{\"groupname\":\"g\"}", PAI_EEXISTS, 409,
      "UnknownError", 409 },
    { "PUT", "/api/v2/groups",
      "{\"patch\":true,\"data\":{\"groupname\":\"g\"}}", PAI_ENOTFOUND, 400,
      "NoGroupError", 400 },
    { "PUT", "/api/v2/groups/g/extension/a", "{\"data\":1}", PAI_ENOTFOUND,
      400, "NoGroupError", 400 },
    /* OpenPAI has 500 here. */
    { "PUT", "/api/v2/groups/g/description", "{\"description\":\"\"}",
      PAI_ENOTFOUND, 400, "NoGroupError", 404 },
    { "DELETE", "/api/v2/tokens/x", "", PAI_EINVAL, 500, "UnknownError", 500 },
    { "GET", "/api/v2/users", "", PAI_EBUSY, 0, NULL, 503 },
    { "POST", "/api/v2/authn/basic/login",
      "{\"username\":\"eve\",\"password\":\"secret1\"}", PAI_ENOTFOUND, 404,
      "NoUserError", 400 },
    { "POST", "/api/v2/authn/basic/login",
      "{\"username\":\"eve\",\"password\":\"secret1\"}", PAI_EPERM, 403,
      "IncorrectPasswordError", 400 },
    { "POST", "/api/v2/authn/basic/login",
      "{\"username\":\"eve\",\"password\":\"secret1\"}", PAI_EBUSY, 0, NULL,
      503 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    s->platform.accounts.fail = rows[i].rc;
    s->platform.accounts.status = rows[i].status;
    s->platform.accounts.code = rows[i].code;
    expect(SEND_AS(s, rows[i].method, rows[i].path, "application/json",
                   rows[i].body),
           rows[i].told, "\"message\":\"as the test wants\"");
  }
}

IN_SCENE(begin_empty, nothing_is_said_before_it_is_safe)
{
  peer p;

  assert_ok(new_server(s, NULL));
  come(&p, s);
  say(&p, "PUT /api/v2/users/bob/admin HTTP/1.1\r\nHost: x\r\n"
          "Connection: close\r\nContent-Length: 14\r\n\r\n{\"admin\":true}");
  while (s->platform.accounts.nwaiting == 0)
    turn(s);
  fake_accounts_done(&s->platform);
  assert_int_equal(s->platform.nsyncs, 1);
  assert_int_equal(p.seen.len, 0);
  fake_synced(&s->platform, PAI_EIO);
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 500, "the disk is full");
  leave(&p);
  /* Nobody waits any more: it is forgotten. */
  come(&p, s);
  say(&p, "PUT /api/v2/users/bob/admin HTTP/1.1\r\nHost: x\r\n"
          "Content-Length: 14\r\n\r\n{\"admin\":true}");
  while (s->platform.accounts.nwaiting == 0)
    turn(s);
  close_server(s);
  fake_accounts_done(&s->platform);
  leave(&p);
}

IN_SCENE(begin_here, bodies_that_cannot_be_read)
{
  static const struct {
    const char *type, *body;
    int status;
    const char *said;
  } rows[] = {
    { "application/json", "{", 400, "{\"message\":" },
    { "application/json", "{\"username\":\"a\"", 400, "{\"message\":" },
    { "application/json", "\"x\"", 400, "\\\"value\\\" must be an object" },
    { "text/plain", "hello", 400, "\\\"value\\\" must be an object" },
    { "text/plain;charset=UTF-8", "{}", 400,
      "child \\\"username\\\" fails because [\\\"username\\\" is required]" },
    { "text/plain; charset=\"utf-8\"", "{}", 400, "InvalidParametersError" },
    { "application/json; charset=latin1", "{}", 415,
      "{\"message\":\"unsupported charset \\\"latin1\\\"\"}" },
    { FORM "; charset=utf-16", "a=1", 415, "utf-16" },
    { FORM, "a[b][c][d][e][f][g][h]=1", 413, "too many parameters" },
    { FORM, "a=1", 400, "is required" },
    { FORM, " {\"username\":\"a\",\"password\":\"x\"}", 400,
      "length must be at least 6 characters long" },
    { "multipart/form-data; boundary=x", "--x\r\n", 400, "{\"message\":" },
    { "application/json", "", 400, "is required" },
    { "application/json",
      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
      400, "{\"message\":" },
    { "application/json", "{\"username\":\"\xff\"}", 400, "{\"message\":" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(SEND_AS(s, "POST", "/api/v2/authn/basic/login", rows[i].type,
                   rows[i].body),
           rows[i].status, rows[i].said);
  expect(ask(s, "POST /api/v2/tokens HTTP/1.1\r\nHost: x\r\nConnection: close"
                "\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"),
         415, "unsupported content encoding \\\"gzip\\\"");
  expect(ask(s, "POST /api/v2/users HTTP/1.1\r\nHost: x\r\nConnection: close"
                "\r\nContent-Length: 102401\r\n\r\n"),
         413, "too large");
}

IN_SCENE(begin_here, authn_is_an_option)
{
  pai_server_options o = PAI_SERVER_OPTIONS_INIT;
  pai_server *server;
  pai_error *err;

  o.socket = s->path;
  o.authn = "magic";
  assert_fails(pai_server_new(&server, s->loop, &s->platform, &o, &err), err,
               PAI_ENOTSUP, "magic");
}

/* The user has two jobs with five tasks. */
IN_SCENE(begin_here, quotas_are_held_to)
{
  static const char job[] =
    "protocolVersion: 2\nname: x\ntype: job\nprerequisites: [{name: i, type: "
    "dockerimage, uri: host}]\ntaskRoles:\n  w:\n    instances: 3\n    "
    "dockerImage: i\n    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n"
    "    commands: [a]\n";
  int64_t *quota;

  quota = s->platform.accounts.quota;
  quota[PAI_QUOTA_JOBS] = 2;
  expect(
    SEND_BY(s, "alice", "POST", "/api/v2/jobs", job), 429,
    "{\"code\":\"NoEnoughQuotaError\",\"message\":\"alice may have 2 jobs "
    "at a time: wait until some of them have ended.\"}");
  quota[PAI_QUOTA_JOBS] = 3;
  quota[PAI_QUOTA_TASKS] = 7;
  expect(SEND_BY(s, "alice", "POST", "/api/v2/jobs", job), 429,
         "alice may have 7 tasks at a time");
  quota[PAI_QUOTA_TASKS] = 2;
  expect(SEND_BY(s, "alice", "POST", "/api/v2/jobs", job), 403,
         "this job alone has more");
  /* The platform's own user has none. */
  expect(SEND(s, "POST", "/api/v2/jobs", job), 202, "\"status\":202");
  quota[PAI_QUOTA_TASKS] = 8;
  expect(SEND_BY(s, "alice", "POST", "/api/v2/jobs", job), 202,
         "\"status\":202");
  expect(SEND(s, "PUT", "/api/v2/users/alice/quota", "{\"jobs\":9}"), 201,
         "Update quota successfully.");
  assert_string_equal(s->platform.accounts.did, "quota alice 0 9");
}

static int count_own(scene *s, const char *user)
{
  char head[128];

  (void)snprintf(head, sizeof(head), "%s", user);
  return strstr(SEND_BY(s, head, "PUT", "/api/v2/jobs/alice~mnist/tag",
                        "{\"value\":\"t\"}"),
                "403 ") == NULL;
}

/* A job of a user who was removed is the heir's, and not the namesake's. */
IN_SCENE(begin_here, jobs_have_no_new_owner)
{
  assert_true(count_own(s, "alice"));
  assert_false(count_own(s, "bob"));
  s->platform.accounts.gone = true;
  s->platform.accounts.gone_job = 7;
  assert_false(count_own(s, "alice"));
  assert_false(count_own(s, "bob"));
  s->platform.accounts.heir = "bob";
  assert_false(count_own(s, "alice"));
  assert_true(count_own(s, "bob"));
  s->platform.accounts.gone_job = 6;
  assert_true(count_own(s, "alice"));
  assert_false(count_own(s, "bob"));
}

/* What failed is noted as whom somebody wanted to be; what has to wait says so. */
IN_SCENE(begin_here, failed_logins_are_noted)
{
  s->platform.accounts.fail = PAI_EPERM;
  s->platform.accounts.status = 400;
  s->platform.accounts.code = "IncorrectPasswordError";
  expect(SEND(s, "POST", "/api/v2/authn/basic/login",
              "{\"username\":\"alice\",\"password\":\"secret1\"}"),
         400, "IncorrectPasswordError");
  assert_string_equal(s->platform.accounts.noted,
                      "alice||POST /api/v2/authn/basic/login|400");
  s->platform.accounts.fail = PAI_EBUSY;
  s->platform.accounts.status = 429;
  s->platform.accounts.code = "UnknownError";
  s->platform.accounts.wait = 7500000;
  s->platform.accounts.notes = 0;
  assert_has(SEND(s, "POST", "/api/v2/authn/basic/login",
                  "{\"username\":\"alice\",\"password\":\"secret1\"}"),
             "Retry-After: 8\r\n");
  assert_int_equal(s->platform.accounts.notes, 0);
}
