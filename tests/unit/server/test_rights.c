/*
 * Who may ask for what: every route, every one who asks.
 *
 * The table is written by hand from OpenPAI's contract, not from the server's
 * own; a route that is not in it fails the test.
 */
#define _GNU_SOURCE
#include "answers.h"

#include "json/json.h"
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the table ------------------------------------------------------------------- */

enum {
  NONE,
  USER,  /* alice, whose job it is */
  OTHER, /* bob */
  PROGRAM,
  ADMIN,
  ADMIN_PROGRAM,
  READER,     /* alice's program, which may only look; */
  SUBMITTER,  /* which may only do; */
  ADMIN_JOBS, /* admin's, which may do both, but not as an administrator */
  REVOKED,
  EXPIRED,
  FORGED,
  CASTS
};

static const struct {
  const char *name, *header;
} casts[CASTS] = {
  [NONE] = { "none", "" },
  [USER] = { "user", "Authorization: Bearer alice\r\n" },
  [OTHER] = { "other", "Authorization: Bearer bob\r\n" },
  [PROGRAM] = { "program", "Authorization: Bearer alice.app\r\n" },
  [ADMIN] = { "admin", "Authorization: Bearer admin\r\n" },
  [ADMIN_PROGRAM] = { "admin's program",
                      "Authorization: Bearer admin.app\r\n" },
  [READER] = { "reader", "Authorization: Bearer alice.read\r\n" },
  [SUBMITTER] = { "submitter", "Authorization: Bearer alice.submit\r\n" },
  [ADMIN_JOBS] = { "admin's program without the scope",
                   "Authorization: Bearer admin.job\r\n" },
  [REVOKED] = { "revoked", "Authorization: Bearer revoked\r\n" },
  [EXPIRED] = { "expired", "Authorization: Bearer expired\r\n" },
  [FORGED] = { "forged", "Authorization: Digest alice\r\n" },
};

/* Who gets something else than 401 or 403, in the order above. */
#define ALL "oooooooooooo"
#define USERS "-ooooooxo---" /* to look; */
#define DOERS "-oooooxoo---" /* and to do something */
#define PERSONS "-ooxoxxxx---"
#define OWNERS "-oxoooxox---"
#define OWNER "-oxoxxxox---" /* the owner, and no administrator in his place */
#define SELF "-oxxoxxxx---"  /* persons, for themselves; or an administrator */
#define OWN "-oxooooxx---"   /* of a user, to look */
#define ADMINS "-xxxooxxx---"
#define ADMIN_PERSONS "-xxxoxxxx---"

/* The two of a user, and of groups. */
#define AU(rest) "/api/v2/users" rest " /api/v2/user" rest
#define AG(rest) "/api/v2/groups" rest " /api/v2/group" rest
#define MARKET(rest) \
  "/api/v2/marketplace/" rest " /marketplace/api/v2/" rest " /api/v2/" rest
#define JOB "/api/v2/jobs/:job"
#define TASK JOB "/attempts/:attempt/taskRoles/:role/taskIndex/:index"
#define DATA(of) "{\"patch\":true,\"data\":{" of "}}"

typedef struct row {
  const char *method, *path, *who;
  int status; /* when they may */
  const char *body;
} row;

static const row rows[] = {
  { "GET", "/healthz", ALL, 200, NULL },
  { "GET", "/job-detail.html /job-event.html /task-attempt.html", ALL, 302,
    NULL },
  { "GET",
    "/index.html /home.html /job-list.html /submit.html /plugin.html "
    "/user-profile.html",
    ALL, 302, NULL },
  { "GET",
    "/ /jobs /jobs/*path /submit /nodes /nodes/*path /time /virtual-clusters "
    "/marketplace /marketplace/:item /alerts /users /users/*path "
    "/plugins/*path /profile",
    ALL, 200, NULL },
  { "GET", "/plugin-frame/:index", ALL, 404, NULL },
  { "GET", "/portal/:name", ALL, 404, NULL },
  { "GET", "/api/v2", ALL, 200, NULL },
  { "GET", "/api/v2/info", ALL, 200, NULL },
  { "GET", "/api/v1", ALL, 200, NULL },
  { "GET", "/api/v2/openapi.json", ALL, 200, NULL },
  { "GET", "/api/v2/authn/info /api/v1/authn/info", ALL, 200, NULL },
  { "POST", "/api/v2/authn/basic/login /api/v1/authn/basic/login", ALL, 200,
    "username=alice&password=secret1&expiration=4000" },
  { "DELETE", "/api/v2/authn/basic/logout /api/v1/authn/basic/logout", PERSONS,
    200, NULL },
  { "GET", "/api/v2/tokens /api/v1/token", PERSONS, 200, NULL },
  { "POST", "/api/v2/tokens /api/v1/token", ALL, 200,
    "{\"username\":\"alice\",\"password\":\"secret1\"}" },
  { "POST", "/api/v2/tokens/application /api/v1/token/application", PERSONS,
    200, "{}" },
  { "DELETE", "/api/v2/tokens/:token /api/v1/token/:token", PERSONS, 200,
    NULL },
  { "GET", "/api/v2/tokens/check /api/v1/token/check", USERS, 200, NULL },

  { "GET", AU(""), USERS, 200, NULL },
  { "POST", AU(""), ADMIN_PERSONS, 201,
    "{\"username\":\"eve\",\"password\":\"secret1\"}" },
  { "PUT", AU(""), ADMIN_PERSONS, 201, DATA("\"username\":\"alice\"") },
  { "PUT", AU("/me"), SELF, 201, DATA("\"username\":\":caller\"") },
  { "GET", AU("/:username") " /api/v1/user/:username", USERS, 200, NULL },
  { "DELETE", AU("/:username"), ADMIN_PERSONS, 200, NULL },
  { "PUT", AU("/:username/extension"), SELF, 201, "{\"extension\":{}}" },
  { "PUT", AU("/:username/grouplist"), ADMIN_PERSONS, 201,
    "{\"grouplist\":[]}" },
  { "PUT", AU("/:username/group"), ADMIN_PERSONS, 201,
    "{\"groupname\":\"default\"}" },
  { "DELETE", AU("/:username/group"), ADMIN_PERSONS, 201,
    "{\"groupname\":\"default\"}" },
  { "PUT", AU("/:username/virtualcluster"), ADMIN_PERSONS, 201,
    "{\"virtualCluster\":[\"default\"]}" },
  /* Who knows the old password may change it. */
  { "PUT", AU("/:username/password"), PERSONS, 201,
    "{\"oldPassword\":\"secret1\",\"newPassword\":\"secret2\"}" },
  { "PUT", AU("/:username/email"), SELF, 201, "{\"email\":\"a@b.c\"}" },
  { "PUT", AU("/:username/admin"), ADMIN_PERSONS, 201, "{\"admin\":true}" },

  { "GET", "/api/v2/quota", USERS, 200, NULL },
  { "PUT", "/api/v2/quota", ADMIN_PERSONS, 201, "{\"jobs\":5}" },
  { "GET", "/api/v2/users/:username/quota", OWN, 200, NULL },
  { "PUT", "/api/v2/users/:username/quota", ADMIN_PERSONS, 201,
    "{\"jobs\":5}" },

  { "GET", AG(""), USERS, 200, NULL },
  { "POST", AG(""), ADMIN_PERSONS, 201, "{\"groupname\":\"g\"}" },
  { "PUT", AG(""), ADMIN_PERSONS, 201, DATA("\"groupname\":\"g\"") },
  { "GET", AG("/:groupname"), USERS, 200, NULL },
  { "DELETE", AG("/:groupname"), ADMIN_PERSONS, 200, NULL },
  { "GET", AG("/:groupname/userlist"), ADMINS, 200, NULL },
  { "PUT", AG("/:groupname/extension"), ADMIN_PERSONS, 201,
    "{\"extension\":{}}" },
  { "PUT", AG("/:groupname/extension/*path"), ADMIN_PERSONS, 201,
    "{\"data\":true}" },
  { "PUT", AG("/:groupname/description"), ADMIN_PERSONS, 201,
    "{\"description\":\"\"}" },
  { "PUT", AG("/:groupname/externalname"), ADMIN_PERSONS, 201,
    "{\"externalName\":\"x\"}" },
  { "GET", "/api/v2/audit", ADMINS, 200, NULL },
  { "GET", "/api/v2/plugins", USERS, 200, NULL },
  { "GET", "/api/v2/storages", USERS, 200, NULL },
  { "GET", "/api/v2/storages/:name", USERS, 200, NULL },
  { "PUT", "/api/v2/storages/:name", ADMIN_PERSONS, 201,
    "{\"type\":\"other\"}" },
  { "DELETE", "/api/v2/storages/:name", ADMIN_PERSONS, 200, NULL },
  { "GET", "/api/v2/storage/config", USERS, 200, NULL },
  { "GET", "/api/v2/storage/config/:name", USERS, 200, NULL },
  { "GET", "/api/v2/storage/server", USERS, 200, NULL },
  { "GET", "/api/v2/storage/server/:name", USERS, 200, NULL },

  { "GET", MARKET("items"), USERS, 200, NULL },
  { "POST", MARKET("items"), DOERS, 201,
    "{\"name\":\"a\",\"protocol\":\"b\"}" },
  { "GET", MARKET("items/:item"), USERS, 200, NULL },
  { "PUT", MARKET("items/:item"), DOERS, 200, "{\"name\":\"a\"}" },
  { "DELETE", MARKET("items/:item"), DOERS, 200, NULL },
  { "PUT", MARKET("items/:item/star"), DOERS, 200, NULL },
  { "DELETE", MARKET("items/:item/star"), DOERS, 200, NULL },
  { "GET", MARKET("items/:item/tag"), USERS, 200, NULL },
  { "POST", MARKET("items/:item/tag/:label"), DOERS, 201, NULL },
  { "DELETE", MARKET("items/:item/tag/:label"), DOERS, 200, NULL },
  { "GET", MARKET("tags"), USERS, 200, NULL },
  { "POST", MARKET("tags"), ADMIN_PERSONS, 201, "{\"name\":\"a\"}" },
  { "GET", MARKET("tags/:label"), USERS, 200, NULL },
  { "PUT", MARKET("tags/:label"), ADMIN_PERSONS, 200, "{\"color\":\"red\"}" },
  { "DELETE", MARKET("tags/:label"), ADMIN_PERSONS, 200, NULL },
  { "GET", MARKET("items/:item/category"), USERS, 200, NULL },
  { "POST", MARKET("items/:item/category/:label"), DOERS, 201, NULL },
  { "DELETE", MARKET("items/:item/category/:label"), DOERS, 200, NULL },
  { "GET", MARKET("categories"), USERS, 200, NULL },
  { "POST", MARKET("categories"), ADMIN_PERSONS, 201, "{\"name\":\"a\"}" },
  { "GET", MARKET("categories/:label"), USERS, 200, NULL },
  { "PUT", MARKET("categories/:label"), ADMIN_PERSONS, 200,
    "{\"description\":\"x\"}" },
  { "DELETE", MARKET("categories/:label"), ADMIN_PERSONS, 200, NULL },

  { "GET", "/api/v2/status", USERS, 200, NULL },
  { "GET", "/api/v2/events", USERS, 200, NULL },
  { "GET", "/api/v2/jobs", USERS, 200, NULL },
  { "GET", "/api/v2/job-counts", USERS, 200, NULL },
  { "POST", "/api/v2/jobs", DOERS, 400, "a: 1" },
  { "GET", JOB, USERS, 200, NULL },
  { "GET", JOB "/attempts/:attempt", USERS, 200, NULL },
  { "GET", TASK "/attempts", USERS, 200, NULL },
  { "GET", TASK "/attempts/:retry/logs", USERS, 200, NULL },
  { "GET", TASK "/attempts/:retry/logs/:name", USERS, 200, NULL },
  { "GET", JOB "/config", USERS, 200, NULL },
  { "GET", JOB "/environment", USERS, 200, NULL },
  { "GET", JOB "/events", USERS, 200, NULL },
  { "GET", JOB "/why", USERS, 200, NULL },
  { "GET", JOB "/follow", USERS, 200, NULL },
  { "GET", JOB "/estimate", USERS, 200, NULL },
  { "GET", JOB "/metrics", USERS, 200, NULL },
  { "GET", JOB "/metrics/stream", USERS, 200, NULL },
  { "GET", "/api/v2/nodes/:node/metrics", USERS, 200, NULL },
  { "GET", "/api/v2/nodes/:node/metrics/stream", USERS, 200, NULL },
  { "GET", "/api/v2/virtual-clusters/:vc/metrics", USERS, 200, NULL },
  { "GET", "/api/v2/scheduler/metrics", USERS, 200, NULL },
  { "GET", "/api/v2/usage", USERS, 200, NULL },
  { "GET", "/api/v2/scheduler", USERS, 200, NULL },
  { "GET", "/api/v2/scheduler/log", USERS, 404, NULL },
  { "GET", JOB "/ssh", USERS, 200, NULL },
  { "GET", JOB "/ssh/key", OWNER, 200, NULL },
  { "GET", JOB "/job-attempts/healthz", USERS, 200, NULL },
  { "GET", JOB "/job-attempts", USERS, 200, NULL },
  { "GET", JOB "/job-attempts/:attempt", USERS, 200, NULL },
  { "GET", "/api/v1/jobs", USERS, 200, NULL },
  { "GET", "/api/v1/user/:username/jobs/:v1job", USERS, 200, NULL },
  { "GET", "/api/v1/user/:username/jobs/:v1job/config", USERS, 200, NULL },
  { "GET", "/api/v1/user/:username/jobs/:v1job/ssh", USERS, 200, NULL },
  { "GET", "/api/v2/alerts", USERS, 200, NULL },
  { "GET", "/api/v2/alerts/rules", USERS, 200, NULL },
  { "GET", "/api/v2/alerts/:fingerprint", USERS, 404, NULL },
  { "PUT", "/api/v2/alerts/:fingerprint", DOERS, 404,
    "{\"acknowledged\":true}" },
  { "POST", "/api/v2/alerts/webhook", ADMINS, 201, "{\"alerts\":[]}" },
  { "GET", "/api/v2/silences", USERS, 200, NULL },
  { "POST", "/api/v2/silences", ADMIN_PERSONS, 200,
    "{\"matchers\":[{\"name\":\"a\",\"value\":\"b\"}],"
    "\"endsAt\":\"2999-01-01T00:00:00Z\"}" },
  { "DELETE", "/api/v2/silence/:id", ADMIN_PERSONS, 404, NULL },
  { "POST", "/alert-handler/send-email-to-admin", ADMINS, 400, "{}" },
  { "POST", "/alert-handler/send-email-to-user", ADMINS, 400, "{}" },
  { "POST", "/alert-handler/stop-jobs", ADMINS, 200, "{\"alerts\":[]}" },
  { "POST", "/alert-handler/tag-jobs/:tag", ADMINS, 200, "{\"alerts\":[]}" },
  { "POST", "/alert-handler/cordon-nodes", ADMINS, 200, "{\"alerts\":[]}" },
  { "GET", "/api/v2/kubernetes/nodes /api/v1/kubernetes/nodes", ADMINS, 200,
    NULL },
  { "GET", "/api/v2/kubernetes/pods /api/v1/kubernetes/pods", ADMINS, 200,
    NULL },
  { "GET", "/metrics", USERS, 200, NULL },
  { "GET", "/api/v2/virtual-clusters", USERS, 200, NULL },
  { "GET", "/api/v2/virtual-clusters/:vc", USERS, 200, NULL },
  { "PUT", "/api/v2/virtual-clusters/:vc", ADMIN_PERSONS, 201,
    "{\"vcCapacity\":\"5\"}" },
  { "DELETE", "/api/v2/virtual-clusters/:vc", ADMIN_PERSONS, 201, NULL },
  { "PUT", "/api/v2/virtual-clusters/:vc/status", ADMIN_PERSONS, 201,
    "{\"vcStatus\":\"stopped\"}" },
  { "GET", "/api/v2/cluster/sku-types", USERS, 200, NULL },
  { "GET", "/api/v2/nodes", USERS, 200, NULL },
  { "GET", "/api/v2/nodes/:node", USERS, 200, NULL },
  { "PUT", "/api/v2/nodes/:node/status", ADMIN_PERSONS, 201,
    "{\"state\":\"up\"}" },
  { "GET", "/api/internal/tail-logs/:log", ALL, 500, NULL },
  { "GET", JOB "/taskRoles/:role/taskIndex/:index/stream", OWNERS, 426, NULL },
  { "PUT", JOB "/executionType", OWNERS, 202, "{\"value\":\"STOP\"}" },
  { "PUT", JOB "/tag", OWNERS, 200, "{\"value\":\"t\"}" },
  { "DELETE", JOB "/tag", OWNERS, 200, "{\"value\":\"t\"}" },
  { "DELETE", JOB, OWNERS, 200, NULL },
  { "GET", JOB "/files", OWN, 200, NULL },
  { "GET", JOB "/file", OWN, 400, NULL },
  { "PUT", JOB "/file", OWNERS, 400, NULL },
  { "PUT", JOB "/code", OWNERS, 400, NULL },
  { "GET", "/api/v2/backup", ADMIN_PERSONS, 200, NULL },
  { "GET", "/api/v2/export", ADMIN_PERSONS, 200, NULL },
  { "POST", "/api/v2/shutdown", ADMINS, 202, "{}" },
};

/* --- asking ------------------------------------------------------------------------- */

/* What stands for what in a path. */
static const char *stand_in(const char *name, size_t len)
{
  static const char *const texts[][2] = {
    { "job", "alice~mnist" }, { "attempt", "0" },      { "role", "w" },
    { "index", "0" },         { "retry", "0" },        { "name", "stdout" },
    { "token", "some" },      { "username", "alice" }, { "groupname", "g" },
    { "path", "a/b" },        { "log", "x" },          { "v1job", "mnist" },
    { "vc", "research" },     { "node", "box" },       { "item", "i" },
    { "label", "l" },         { "tag", "t" },          { "id", "i" },
    { "fingerprint", "f" },
  };

  for (size_t i = 0; i < PAI__LEN(texts); i++)
    if (strlen(texts[i][0]) == len && memcmp(texts[i][0], name, len) == 0)
      return texts[i][1];
  fail_msg("nothing stands for :%.*s", (int)len, name);
  return "";
}

static void fill_path(char *out, size_t size, const char *pattern)
{
  size_t n = 0;

  while (*pattern == '/' && n < size) {
    size_t len = strcspn(++pattern, "/ ");
    bool open = *pattern == ':' || *pattern == '*';
    n += (size_t)snprintf(out + n, size - n, "/%.*s", open ? 999 : (int)len,
                          open ? stand_in(pattern + 1, len - 1) : pattern);
    pattern += len;
  }
}

/* The status of the answer; what has no length is not waited for. */
static int ask_status(scene *s, const row *r, const char *path, int cast)
{
  static const char *const names[CASTS] = {
    [USER] = "alice",      [PROGRAM] = "alice",       [OTHER] = "alice",
    [ADMIN] = "admin",     [ADMIN_PROGRAM] = "admin", [READER] = "alice",
    [SUBMITTER] = "alice", [ADMIN_JOBS] = "admin"
  };
  const char *body = r->body != NULL ? r->body : "", *at;
  char text[256], *request = NULL;
  int status;
  peer p;

  at = strstr(body, ":caller");
  if (at != NULL) {
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - body), body,
                   names[cast] != NULL ? names[cast] : "alice", at + 7);
    body = text;
  }
  s->platform.entrance = -1;
  (void)snprintf(s->platform.tag, sizeof(s->platform.tag), "t");
  assert_true(asprintf(&request,
                       "%s %s HTTP/1.1\r\nHost: x\r\n%s"
                       "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                       r->method, path, casts[cast].header,
                       strchr(body, '=') != NULL
                         ? "application/x-www-form-urlencoded"
                         : "text/plain",
                       strlen(body), body) > 0);
  come(&p, s);
  say(&p, request);
  hear_body(&p);
  check_answer(s, request, pai__buf_text(&p.seen));
  assert_int_equal(sscanf(pai__buf_text(&p.seen), "HTTP/1.1 %d", &status), 1);
  if (status == 401 && cast == NONE)
    hear(&p, "Guest is not allowed to do this operation.");
  else if (status == 401)
    hear(&p, "{\"code\":\"UnauthorizedUserError\",\"message\":"
             "\"Your token is invalid.\"}");
  else if (status == 403)
    hear(&p, "\"code\":\"ForbiddenUserError\"");
  leave(&p);
  free(request);
  while (is_heard(s))
    turn(s); /* it sees that nobody listens */
  return status;
}

static int expected(const row *r, int cast)
{
  return r->who[cast] == 'o' ? r->status : r->who[cast] == '-' ? 401 : 403;
}

/* --- the document ------------------------------------------------------------------- */

static pai__tree *read_document(scene *s)
{
  const char *answer = GET(s, "/api/v2/openapi.json");
  const char *body = strstr(answer, "\r\n\r\n");
  pai__tree *tree = NULL;

  assert_non_null(body);
  assert_ok(pai__json_parse(&tree, body + 4, strlen(body + 4), NULL, NULL));
  return tree;
}

static pai__node member(const pai__tree *t, pai__node of, const char *name)
{
  pai__node n = pai__tree_get(t, of, name);

  if (n == PAI__NO_NODE)
    print_error("the document has no %s\n", name);
  assert_int_not_equal(n, PAI__NO_NODE);
  return n;
}

/* Its operation of a route. */
static pai__node find_operation(const pai__tree *t, const row *r)
{
  char path[256] = "", method[16] = "";
  size_t n = 0;

  for (const char *p = r->path; *p != ' ' && *p != '\0'; p++) {
    if (*p == ':' || *p == '*') {
      size_t len = strcspn(p, "/ ");
      n += (size_t)snprintf(path + n, sizeof(path) - n, "{%.*s}", (int)len - 1,
                            p + 1);
      p += len - 1;
    } else {
      path[n++] = *p;
    }
  }
  for (size_t i = 0; r->method[i] != '\0'; i++)
    method[i] = (char)(r->method[i] | 32);
  return member(t, member(t, member(t, 0, "paths"), path), method);
}

static void check_document(const pai__tree *t, const row *r, int status)
{
  pai__node operation = find_operation(t, r);
  char name[16];

  (void)snprintf(name, sizeof(name), "%d", status);
  if (pai__tree_get(t, member(t, operation, "responses"), name) ==
      PAI__NO_NODE)
    print_error("%s %s: the document does not know %d\n", r->method, r->path,
                status);
  (void)member(t, member(t, operation, "responses"), name);
  assert_int_equal(pai__tree_get(t, operation, "security") != PAI__NO_NODE,
                   strcmp(r->who, ALL) == 0);
  assert_true(pai__tree_str(t, member(t, operation, "summary"), NULL)[0] !=
              '\0');
}

/* --- the tests ----------------------------------------------------------------------- */

static void check_row(scene *s, const pai__tree *document, const row *r)
{
  for (const char *p = r->path; p != NULL; p = strchr(p, ' ')) {
    char path[256];

    p += *p == ' ' ? 1 : 0;
    fill_path(path, sizeof(path), p);
    for (int cast = 0; cast < CASTS; cast++) {
      int status = ask_status(s, r, path, cast);
      if (status != expected(r, cast))
        print_error("%s %s as %s: %d\n", r->method, path, casts[cast].name,
                    status);
      assert_int_equal(status, expected(r, cast));
      check_document(document, r, status);
    }
  }
}

WITH_CODE(begin_with_tokens, everybody_asks_for_everything)
{
  pai__tree *document;

  document = read_document(s);
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    check_row(s, document, &rows[i]);
  pai__tree_free(document);
}

static bool is_in_table(const pai__api_route *route)
{
  const char *method = route->method != NULL ? route->method : "GET";

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (strcmp(rows[i].method, method) == 0 &&
        strcmp(rows[i].path, route->path) == 0)
      return true;
  print_error("%s %s is not in this table\n", method, route->path);
  return false;
}

TEST(every_route_is_here)
{
  const pai__api_route *route = NULL;
  size_t n = 0;
  bool all = true;

  while ((route = pai__route_next(route, PAI__WITH_PASSWORDS)) != NULL) {
    n++; /* those of a login provider are below */
    all = is_in_table(route) && all;
    assert_non_null(route->summary);
  }
  assert_true(all);
  assert_int_equal(n, PAI__LEN(rows));
}

/* Those of a server whose users log in at a provider. */
TEST(routes_of_oidc)
{
  static const struct {
    const char *method, *path;
    enum pai__api_right right;
  } want[] = {
    { "GET", "/api/v2/authn/oidc/login", PAI__OF_ALL },
    { "GET", "/api/v2/authn/oidc/return", PAI__OF_ALL },
    { "POST", "/api/v2/authn/oidc/return", PAI__OF_ALL },
    { "GET", "/api/v2/authn/oidc/logout", PAI__OF_ALL },
    { "POST", "/api/v2/authn/oidc/confirm", PAI__OF_ALL },
    { "POST", "/api/v2/authn/oidc/token", PAI__OF_ALL },
    { "PUT", "/api/v2/users", PAI__OF_ADMIN_PERSONS },
    { "PUT", "/api/v2/users/me", PAI__OF_PERSONS },
  };
  const pai__api_route *route = NULL;
  size_t found = 0, n = 0;

  while ((route = pai__route_next(route, PAI__WITH_OIDC)) != NULL) {
    if (route->mode != PAI__WITH_OIDC)
      continue;
    n++;
    for (size_t k = 0; k < PAI__LEN(want); k++)
      if (strcmp(want[k].method, route->method) == 0 &&
          strcspn(route->path, " ") == strlen(want[k].path) &&
          strncmp(want[k].path, route->path, strlen(want[k].path)) == 0 &&
          want[k].right == route->right)
        found++;
  }
  assert_int_equal(found, PAI__LEN(want));
  assert_int_equal(n, PAI__LEN(want));
}

/* What is needed of a body is in the document, and without it nothing is done:
 * that is seen before whether the caller is an administrator. */
WITH_CODE(begin_with_tokens, bodies_come_first)
{
  pai__tree *document;

  document = read_document(s);
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    row r = rows[i];
    pai__node body =
      pai__tree_get(document, find_operation(document, &r), "requestBody");
    char path[256];

    if (body == PAI__NO_NODE)
      continue;
    body = member(document, body, "content");
    body = member(document, body, "application/json");
    body = member(document, body, "schema");
    fill_path(path, sizeof(path), r.path);
    r.body = "{}";
    if (pai__tree_get(document, body, "required") != PAI__NO_NODE)
      assert_int_equal(ask_status(s, &r, path, USER), 400);
    r.body = "{\"no such\":1}";
    assert_int_equal(ask_status(s, &r, path, ADMIN), 400);
    assert_int_equal(ask_status(s, &r, path, PROGRAM),
                     expected(&r, PROGRAM) == 403 ? 403 : 400);
  }
  pai__tree_free(document);
}
