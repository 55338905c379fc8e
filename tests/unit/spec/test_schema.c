/* JSON Schema: what it says where; schema_rows.py asks what it takes. */
#include "cases.h"
#include "documents.h"
#include "spec/found.h"

#include "json/writer.h"
#include "spec/rules.h"
#include "spec/schema.h"

static pai__tree *schema_of(int version)
{
  pai__buf b = test_buf();
  pai__tree *t;

  assert_ok(pai_spec_schema(version, test_collect, &b, NULL));
  assert_true(b.len > 0 && b.data[b.len - 1] == '\n');
  t = test_json_parse(pai__buf_text(&b), NULL);
  pai__buf_dispose(&b);
  return t;
}

/* --- what it says ---------------------------------------------------------- */

static const struct {
  int version;
  const char *pointer, *want; /* NULL: nothing is there */
} places[] = {
  { 2, "/$schema", "http://json-schema.org/draft-07/schema#" },
  { 2, "/$id", "urn:libopenpai:job-protocol-v2" },
  { 2, "/title", "OpenPAI job protocol v2" },
  { 2, "/properties/name/description", "the job's name" },
  { 2, "/properties/name/pattern", "^[a-zA-Z0-9_-]+$" },
  { 2, "/properties/name/maxLength", "255" },
  { 2, "/properties/type/enum/0", "job" },
  { 2, "/properties/protocolVersion/enum", "[2,\"2\"]" },
  { 2, "/properties/version/type", "[\"string\",\"number\"]" },
  { 2, "/additionalProperties", "false" },
  { 2, "/required/3", "taskRoles" },
  { 2, "/properties/extras/type", "object" },
  { 2, "/properties/extras/additionalProperties", NULL },
  { 2, "/properties/jobRetryCount/minimum", "0" },
  { 2, "/properties/taskRoles/minProperties", "1" },
  { 2, "/properties/taskRoles/additionalProperties", "false" },
  { 2, "/properties/prerequisites/minItems", "1" },
  { 2, "/properties/prerequisites/items/required/0", "type" },
  { 2, "/properties/prerequisites/items/properties/type/enum/3", "data" },
  { 2, "/properties/prerequisites/items/allOf/1/if/properties/type/enum/1",
    "output" },
  { 2, "/properties/prerequisites/items/allOf/2/then/properties/uri/type",
    "array" },
  { 2, "/properties/prerequisites/items/allOf/3", NULL },
  { 2,
    "/properties/prerequisites/items/allOf/0/then/properties/auth"
    "/additionalProperties/type",
    "string" },
  { 2, "/properties/defaults/properties/virtualCluster/type", NULL },
  { 2, "/properties/jobRetryCount/default", "0" },
  { 2, "/properties/jobRetryCount/description",
    "number of retries of a failed job; default 0" },
  { 2, "/properties/contributor/default", NULL },
  { 2, "/properties/defaults/properties/virtualCluster/default", "default" },
  { 1, "/properties/taskRoles/items/properties/memoryMB/default", "100" },
  { 1, "/title", "OpenPAI job config v1" },
  { 1, "/properties/image/minLength", "1" },
  { 1, "/properties/retryCount/anyOf/0/minimum", "-2" },
  { 1, "/properties/retryCount/anyOf/1/type", "string" },
  { 1, "/properties/jobEnvs/patternProperties/[A-Za-z0-9_]/type", NULL },
  { 1,
    "/properties/taskRoles/items/properties/minFailedTaskCount/anyOf/0/"
    "type/1",
    "null" },
};

/* A text as it is, all else as JSON. */
static void shown(const pai__tree *t, const char *pointer, pai__buf *out)
{
  pai__node n = pai__tree_resolve(t, pointer);
  pai__json_writer w;

  pai__buf_clear(out);
  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(t, n) == PAI__STRING) {
    pai__buf_str(out, pai__tree_str(t, n, NULL));
    return;
  }
  pai__json_writer_init(&w, out, false);
  test_write_tree(&test_json_table, &w, t, n);
  assert_ok(pai__json_finish(&w));
}

TEST(it_says_what_the_tables_say)
{
  pai__tree *schemas[3] = { NULL, schema_of(1), schema_of(2) };
  pai__buf out = test_buf();

  for (size_t i = 0; i < PAI__LEN(places); i++) {
    shown(schemas[places[i].version], places[i].pointer, &out);
    if (strcmp(pai__buf_text(&out),
               places[i].want != NULL ? places[i].want : "") != 0)
      fail_msg("version %d, %s: '%s', not '%s'", places[i].version,
               places[i].pointer, pai__buf_text(&out), places[i].want);
  }
  pai__buf_dispose(&out);
  pai__tree_free(schemas[1]);
  pai__tree_free(schemas[2]);
}

/* --- the tables ------------------------------------------------------------ */

/* What schema.c takes for granted. */
static void check_rule(const pai__spec_rule *rule)
{
  if (rule->coerced)
    assert_true(!rule->has_min || (rule->min >= -9 && rule->min <= 9));
  if (rule->types == PAI__T_LIST)
    assert_non_null(rule->values);
  for (const pai__spec_field *p = rule->fields; p != NULL && p->name != NULL;
       p++) {
    assert_true(p->says != NULL || p->rule->never);
    check_rule(p->rule);
  }
  for (const pai__spec_shape *p = rule->shapes; p != NULL && p->type != NULL;
       p++)
    check_rule(p->rule);
  if (rule->values != NULL)
    check_rule(rule->values);
}

TEST(tables_are_as_the_schema_needs_them)
{
  check_rule(&pai__rules_v1);
  check_rule(&pai__rules_v2);
  check_rule(&pai__rules_hived);
}

/* --- defaults -------------------------------------------------------------- */

#define IMAGE(auth)                                                           \
  "prerequisites: [{name: i, type: dockerimage, uri: u, auth: {x: y" auth "}" \
  "}"                                                                         \
  "]"
#define ROLE(fields)                                                     \
  "taskRoles: {w: {dockerImage: i, commands: [x], resourcePerInstance: " \
  "{cpu: 1, memoryMB: 1, gpu: 0}" fields "}}"
#define JOB(auth, fields, more)                                             \
  "{protocolVersion: 2, name: n, type: job, " IMAGE(auth) ", " ROLE(fields) \
    more "}"

/* Jobs that give a field of the tables the value %s. */
static const struct {
  const char *field, *job, *other; /* another value */
} given[] = {
  { "registryuri", JOB(", registryuri: '%s'", "", ""), "x" },
  { "minFailedInstances",
    JOB("", ", completion: {minFailedInstances: %s}", ""), "-1" },
  { "shmMB", JOB("", ", extraContainerOptions: {shmMB: %s}", ""), "1" },
  { "infiniband", JOB("", ", extraContainerOptions: {infiniband: %s}", ""),
    "true" },
  { "instances", JOB("", ", instances: %s", ""), "2" },
  { "taskRetryCount", JOB("", ", taskRetryCount: %s", ""), "1" },
  { "virtualCluster", JOB("", "", ", defaults: {virtualCluster: %s}"), "x" },
  { "jobRetryCount", JOB("", "", ", jobRetryCount: %s"), "1" },
};

static int ignore(void *user_data, const pai_spec_change *change)
{
  (void)user_data, (void)change;
  return PAI_OK;
}

/* How many differences there are to a job that does not give the field. */
static int differences(const char *job, const char *value)
{
  static const char plain[] = JOB("", "", "");
  pai_spec *a, *b;
  pai__buf text = test_buf();
  int n;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  pai__buf_printf(&text, job, value);
#pragma GCC diagnostic pop
  a = test_spec(plain, NULL);
  b = test_spec(pai__buf_text(&text), NULL);
  n = pai_spec_diff(a, b, ignore, NULL, NULL);
  pai_spec_unref(a);
  pai_spec_unref(b);
  pai__buf_dispose(&text);
  return n;
}

/* Looks at all fields below a rule that have a default; returns their
 * number. */
static size_t check_defaults(const pai__spec_rule *rule)
{
  size_t n = 0;

  for (const pai__spec_field *p = rule->fields; p != NULL && p->name != NULL;
       p++) {
    n += check_defaults(p->rule);
    if (p->absent == NULL || p->absent == PAI__NEEDED)
      continue;
    n++;
    for (size_t i = 0; i < PAI__LEN(given); i++)
      if (strcmp(given[i].field, p->name) == 0) {
        assert_int_equal(differences(given[i].job, p->absent), 0);
        assert_int_equal(differences(given[i].job, given[i].other), 1);
      }
  }
  for (const pai__spec_shape *p = rule->shapes; p != NULL && p->type != NULL;
       p++)
    n += check_defaults(p->rule);
  return rule->values != NULL ? n + check_defaults(rule->values) : n;
}

/* What the tables call a default is what its absence means elsewhere. */
TEST(absence_means_the_default)
{
  assert_int_equal(check_defaults(&pai__rules_v2), PAI__LEN(given));
}

/* --- failures -------------------------------------------------------------- */

TEST(failures_are_told)
{
  pai__buf b = test_buf();
  pai_error *err;

  assert_fails(pai_spec_schema(3, test_collect, &b, &err), err, PAI_EINVAL,
               "version 3");
  assert_fails(pai_spec_schema(2, NULL, &b, &err), err, PAI_EINVAL, "write");
  assert_fails(pai_spec_schema(2, test_refuse, &b, &err), err, PAI_EUSER,
               "schema");
  assert_int_equal(b.len, 0);
  pai__buf_dispose(&b);
}

TEST_FAULTS(memory_may_run_out)
{
  pai_error *err;
  pai__buf b = test_buf();
  int rc;

  rc = pai__spec_schema(alloc, 2, test_collect, &b, &err);
  if (rc < 0)
    test_expect_error(err, PAI_ENOMEM, "memory");
  pai__buf_dispose(&b);
  return rc;
}
