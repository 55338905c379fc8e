/*
 * What routes take in the query: what is in the table is read, what is read is
 * in it (read.c sees to that in all tests), and the document has it all.
 */
#include "answers.h"
#include "read.h"

#include "json/json.h"

#include <stdio.h>
#include <unistd.h>

#define YAML                                                               \
  "protocolVersion: 2\nname: mnist\ntype: job\nprerequisites: [{name: x, " \
  "type: dockerimage, uri: x}]\ntaskRoles: {w: {dockerImage: x, "          \
  "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}, commands: [x]}}\n"

/* --- scenes ------------------------------------------------------------------ */

static void begin_obliging(scene *s)
{
  begin_empty(s);
  s->obliging = true;
  assert_ok(new_server(s, NULL));
}

static void begin_with_oidc(scene *s, pai_oidc_options *o)
{
  *o = (pai_oidc_options)PAI_OIDC_OPTIONS_INIT;
  o->issuer = "http://127.0.0.1:1/realm"; /* where nobody is */
  o->client_id = "me";
  o->redirect_uri = "http://127.0.0.1:2/api/v1/authn/oidc/return";
  begin_empty(s);
  s->obliging = true;
  s->options.authn = "OIDC";
  s->options.oidc = o;
  assert_ok(new_server(s, NULL));
}

/* --- what is read -------------------------------------------------------------- */

typedef struct asked {
  const char *method, *target, *body;
} asked;

/* Answers of streams have no end. */
static void ask_one(scene *s, const asked *a)
{
  char head[512];
  peer p;

  s->platform.entrance = -1;
  (void)snprintf(head, sizeof(head),
                 "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 a->method, a->target, strlen(a->body));
  come(&p, s);
  say(&p, head);
  say(&p, a->body);
  hear_body(&p);
  leave(&p);
  while (is_heard(s))
    turn(s); /* it sees that nobody listens */
}

/* A mode's routes have read all that is in their tables. */
static void check_read(enum pai__api_mode mode)
{
  const pai__api_route *route = NULL;
  bool all = true;

  while ((route = pai__route_next(route, mode)) != NULL) {
    const pai__api_field *f = route->queries;

    if (route->mode == PAI__WITH_ANY && mode == PAI__WITH_OIDC)
      continue; /* seen with passwords */
    for (; f != NULL && f->kind != PAI__END; f++)
      if (!was_read(route, f)) {
        print_error("%s %s does not read %s\n", route->method, route->path,
                    f->name);
        all = false;
      }
  }
  assert_true(all);
}

WITH_CODE(begin_obliging, all_that_is_taken_is_read)
{
  static const asked requests[] = {
    { "GET", "/api/v2/jobs", "" },
    { "DELETE", "/api/v2/users/alice", "" },
    { "GET", "/job-detail.html", "" },
    { "GET", "/submit.html?jobName=a", "" },
    { "GET", "/job-list.html?username=a", "" },
    { "GET", "/api/v1/jobs", "" },
    { "POST", "/api/v2/jobs?like=alice~mnist", YAML },
    { "GET", "/api/v2/jobs/alice~mnist/config", "" },
    { "GET", "/api/v1/user/alice/jobs/mnist/config", "" },
    { "GET", "/api/v2/jobs/alice~mnist/events", "" },
    { "GET", "/api/v2/jobs/alice~mnist/follow", "" },
    { "PUT", "/api/v2/jobs/alice~mnist/executionType",
      "{\"value\":\"STOP\"}" },
    { "PUT", "/api/v2/jobs/alice~new/code?from=alice~mnist", "" },
    { "GET", LOG, "" },
    { "GET", LOG "/stdout", "" },
    { "GET", "/api/v2/events", "" },
    { "GET", "/api/v2/audit", "" },
    { "GET", "/api/v2/export", "" },
    { "DELETE", "/api/v2/jobs/alice~mnist", "" },
    { "GET", "/api/v2/jobs/alice~mnist/files", "" },
    { "GET", "/api/v2/jobs/alice~mnist/file?path=elsewhere&modified=0", "" },
    { "PUT", "/api/v2/jobs/alice~mnist/file?path=x&size=1&offset=0", "1" },
    { "GET", "/api/v2/scheduler/log", "" },
    { "GET", "/api/v2/alerts", "" },
    { "POST", "/alert-handler/send-email-to-admin", "{\"alerts\":[]}" },
    { "POST", "/alert-handler/send-email-to-user", "{\"alerts\":[]}" },
    { "GET", "/api/v2/storages", "" },
    { "GET", "/api/v2/storage/config", "" },
    { "GET", "/api/v2/storage/server", "" },
    { "GET", "/api/v2/tokens", "" },
    { "POST", "/api/v2/tokens/application", "{}" },
    { "GET", "/api/v2/virtual-clusters", "" },
    { "GET", "/api/v2/cluster/sku-types", "" },
    { "GET", "/api/v2/kubernetes/pods", "" },
  };

  read_nothing();
  for (size_t i = 0; i < PAI__LEN(requests); i++)
    ask_one(s, &requests[i]);
  check_read(PAI__WITH_PASSWORDS);
}

TEST(all_of_logins_is_read)
{
  static const asked requests[] = {
    { "GET",
      "/api/v2/authn/oidc/login?code_challenge_method=S256&code_challenge="
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      "" },
    { "GET", "/api/v2/authn/oidc/return?state=x&code=y", "" },
    { "POST", "/api/v2/authn/oidc/return", "" },
  };
  pai_oidc_options o;
  scene s;

  begin_with_oidc(&s, &o);
  read_nothing();
  for (size_t i = 0; i < PAI__LEN(requests); i++)
    ask_one(&s, &requests[i]);
  check_read(PAI__WITH_OIDC);
  end_with_code(&s);
}

/* --- numbers -------------------------------------------------------------------- */

WITH_CODE(begin_obliging, numbers_are_checked)
{
  static const struct {
    const char *target, *wrong;
  } rows[] = {
    { "/api/v2/jobs?limit=50001",
      "limit must be a whole number of 0 to 50000, not '50001'." },
    { "/api/v2/jobs?limit=", "limit must be a whole number" },
    { "/api/v2/jobs?limit=5&limit=x", "not 'x'." }, /* the last one counts */
    { "/api/v2/jobs?offset=-1",
      "offset must be a whole number of 0 or more, not '-1'." },
    { "/api/v2/jobs?offset=9007199254740992", "of 0 or more" },
    { "/api/v2/export?limit=0", "of 1 to 1000, not '0'." },
    { "/api/v2/audit?until=1e3", "of 0 or more, not '1e3'." },
    { LOG "/stdout?offset=--1", "offset must be a whole number, not '--1'." },
    { LOG "/stdout?offset=-", "not '-'." },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(GET(s, rows[i].target), 400, rows[i].wrong);
  expect(GET(s, "/api/v2/jobs?offset=9007199254740991&limit=50000"), 200, "");
  assert_int_equal(s->platform.query.offset, 9007199254740991);
  assert_int_equal(s->platform.query.limit, 50000);
  /* What nobody takes is nobody's mistake. */
  expect(GET(s, "/api/v2/jobs?x=y"), 200, "");
  assert_int_equal(s->platform.query.offset, 0);
  assert_int_equal(s->platform.query.limit, 5000);
}

/* --- the document ------------------------------------------------------------------ */

static const char *text_at(const pai__tree *t, pai__node n, const char *key)
{
  pai__node v = pai__tree_get(t, n, key);

  return v != PAI__NO_NODE && pai__tree_type(t, v) == PAI__STRING
           ? pai__tree_str(t, v, NULL)
           : "";
}

/* The operation of a route. */
static pai__node find_operation(const pai__tree *t,
                                const pai__api_route *route)
{
  char path[256] = "", method[16] = "";
  size_t n = 0;

  for (const char *p = route->path; *p == '/'; p += strcspn(p, "/ ")) {
    size_t len = strcspn(++p, "/ ");
    bool open = *p == ':' || *p == '*';
    n +=
      (size_t)snprintf(path + n, sizeof(path) - n, open ? "/{%.*s}" : "/%.*s",
                       (int)(open ? len - 1 : len), open ? p + 1 : p);
  }
  for (size_t i = 0; route->method != NULL && route->method[i] != '\0'; i++)
    method[i] = (char)(route->method[i] | 32);
  return pai__tree_get(t, pai__tree_get(t, pai__tree_get(t, 0, "paths"), path),
                       route->method != NULL ? method : "get");
}

/* What OpenAPI wants of a parameter. */
static void check_parameter(const pai__tree *t, pai__node n)
{
  static const char *const types[] = { "string", "integer", "boolean",
                                       "array" };
  pai__node schema = pai__tree_get(t, n, "schema");
  const char *type = text_at(t, schema, "type");
  pai__node choices = pai__tree_get(t, schema, "enum");
  bool known = false;

  assert_int_not_equal(schema, PAI__NO_NODE);
  for (size_t i = 0; i < PAI__LEN(types); i++)
    known = known || strcmp(types[i], type) == 0;
  assert_true(known);
  assert_string_not_equal(text_at(t, n, "description"), "");
  assert_int_equal(strcmp(type, "array") == 0,
                   pai__tree_get(t, schema, "items") != PAI__NO_NODE);
  assert_true(choices == PAI__NO_NODE || strcmp(type, "string") == 0);
}

/* How often one is among an operation's parameters; NULL: whatever its name. */
static int count(const pai__tree *t, pai__node operation, const char *in,
                 const char *name)
{
  pai__tree_walk walk =
    pai__tree_iter(t, pai__tree_get(t, operation, "parameters"));
  pai__node n;
  int found = 0;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (strcmp(text_at(t, n, "in"), in) != 0)
      continue;
    check_parameter(t, n);
    found += name == NULL || strcmp(text_at(t, n, "name"), name) == 0;
  }
  return found;
}

static void check_route(const pai__tree *t, const pai__api_route *route)
{
  pai__node operation = find_operation(t, route);
  int n = 0;

  assert_int_not_equal(operation, PAI__NO_NODE);
  for (const pai__api_field *f = route->queries;
       f != NULL && f->kind != PAI__END; f++, n++)
    assert_int_equal(count(t, operation, "query", f->name), 1);
  assert_int_equal(count(t, operation, "query", NULL), n);
  assert_int_equal(count(t, operation, "header", NULL), route->resumes);
  assert_int_equal(count(t, operation, "header", "Last-Event-ID"),
                   route->resumes);
}

static pai__node next_value(pai__tree_walk *walk)
{
  pai__node n = pai__tree_next(walk);

  return n != PAI__NO_NODE && walk->keys ? pai__tree_value(walk->tree, n) : n;
}

/* Members of schemas at any depth have a description, and no reference beside
 * it.  Returns their number. */
static int check_members(const pai__tree *t, pai__node of)
{
  pai__node properties = pai__tree_get(t, of, "properties"), n;
  pai__tree_walk walk = pai__tree_iter(t, of);
  int found = 0;

  while ((n = next_value(&walk)) != PAI__NO_NODE)
    found += check_members(t, n);
  walk = pai__tree_iter(t, properties);
  while ((n = next_value(&walk)) != PAI__NO_NODE) {
    assert_string_not_equal(text_at(t, n, "description"), "");
    assert_int_equal(pai__tree_get(t, n, "$ref"), PAI__NO_NODE);
    found++;
  }
  return found;
}

static int check_document(scene *s)
{
  const char *answer = GET(s, "/api/v2/openapi.json");
  const char *body = strstr(answer, "\r\n\r\n");
  const pai__api_route *route = NULL;
  pai__tree *tree = NULL;
  int n = 0;

  assert_non_null(body);
  assert_ok(pai__json_parse(&tree, body + 4, strlen(body + 4), NULL, NULL));
  while ((route = pai__route_next(route, pai__server_mode(s->server))) !=
         NULL) {
    check_route(tree, route);
    n += route->queries != NULL;
  }
  assert_in_range(check_members(tree, 0), 400, 999);
  pai__tree_free(tree);
  return n;
}

WITH_CODE(begin_obliging, the_document_has_them)
{
  pai_oidc_options o;

  assert_int_equal(check_document(s), 33);
  expect(
    GET(s, "/api/v2/openapi.json"), 200,
    "{\"name\":\"state\",\"in\":\"query\",\"description\":\"jobs in these "
    "states\",\"style\":\"form\",\"explode\":false,\"schema\":{\"type\":"
    "\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"WAITING\",");
  expect(GET(s, "/api/v2/openapi.json"), 200,
         "\"schema\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":50000,"
         "\"default\":5000}");
  expect(GET(s, "/api/v2/openapi.json"), 200,
         "\"submissionTime\":{\"description\":\"when the job was submitted, "
         "in milliseconds since 1970\",\"type\":\"integer\",\"format\":"
         "\"int64\"}");
  expect(GET(s, "/api/v2/openapi.json"), 200,
         "\"schema\":{\"$ref\":\"#/components/schemas/Job\"}");
  end_with_code(s);
  begin_with_oidc(s, &o);
  assert_int_equal(check_document(s), 36);
}
