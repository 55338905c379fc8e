/* JSON Schema: what it says where; schema_rows.py asks what it takes. */
#include "documents.h"

#include "spec/rules.h"
#include "spec/schema.h"

#include <openpai/spec.h>

static pai__tree *schema_of(int version)
{
  pai__buf b;
  pai__tree *t;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_spec_schema(version, test_collect, &b, NULL), PAI_OK);
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
  { 2, "/properties/protocolVersion/enum/0", "2" },
  { 2, "/properties/protocolVersion/enum/1", "2" },
  { 2, "/properties/protocolVersion/enum/2", NULL },
  { 2, "/properties/version/type/0", "string" },
  { 2, "/properties/version/type/1", "number" },
  { 2, "/properties/version/type/2", NULL },
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
    "how often a failed job is tried again; default 0" },
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

static void shown(const pai__tree *t, const char *pointer, pai__buf *out)
{
  pai__node n = pai__tree_resolve(t, pointer);

  pai__buf_clear(out);
  if (n == PAI__NO_NODE)
    return;
  switch (pai__tree_type(t, n)) {
  case PAI__STRING: pai__buf_str(out, pai__tree_str(t, n, NULL)); break;
  case PAI__INT:
    pai__buf_printf(out, "%lld", (long long)pai__tree_int(t, n));
    break;
  case PAI__BOOL:
    pai__buf_str(out, pai__tree_bool(t, n) ? "true" : "false");
    break;
  default: pai__buf_str(out, "a collection"); break;
  }
}

static void it_says_what_the_tables_say(void **state)
{
  pai__tree *schemas[3] = { NULL, schema_of(1), schema_of(2) };
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
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
static void check_rule(const pai__rule *rule)
{
  if (rule->coerced)
    assert_true(!rule->has_min || (rule->min >= -9 && rule->min <= 9));
  if (rule->types == PAI__T_LIST)
    assert_non_null(rule->values);
  for (const pai__field *p = rule->fields; p != NULL && p->name != NULL; p++) {
    assert_true(p->says != NULL || p->rule->never);
    check_rule(p->rule);
  }
  for (const pai__shape *p = rule->shapes; p != NULL && p->type != NULL; p++)
    check_rule(p->rule);
  if (rule->values != NULL)
    check_rule(rule->values);
}

static void tables_are_as_the_schema_needs_them(void **state)
{
  (void)state;
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
  pai__buf text;
  int n;

  pai__buf_init(&text, &pai__libc_alloc);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  pai__buf_printf(&text, job, value);
#pragma GCC diagnostic pop
  assert_int_equal(pai_spec_parse(&a, plain, strlen(plain), NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    pai_spec_parse(&b, pai__buf_text(&text), text.len, NULL, NULL), PAI_OK);
  n = pai_spec_diff(a, b, ignore, NULL, NULL);
  pai_spec_unref(a);
  pai_spec_unref(b);
  pai__buf_dispose(&text);
  return n;
}

/* Looks at all fields below a rule that have a default; returns their number. */
static size_t check_defaults(const pai__rule *rule)
{
  size_t n = 0;

  for (const pai__field *p = rule->fields; p != NULL && p->name != NULL; p++) {
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
  for (const pai__shape *p = rule->shapes; p != NULL && p->type != NULL; p++)
    n += check_defaults(p->rule);
  return rule->values != NULL ? n + check_defaults(rule->values) : n;
}

/* What the tables call a default is what its absence means elsewhere. */
static void absence_means_the_default(void **state)
{
  (void)state;
  assert_int_equal(check_defaults(&pai__rules_v2), PAI__LEN(given));
}

/* --- failures -------------------------------------------------------------- */

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data, (void)bytes, (void)len;
  return PAI_EUSER;
}

static void failures_are_told(void **state)
{
  pai__buf b;
  pai_error *err;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_spec_schema(3, test_collect, &b, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "version 3");
  assert_int_equal(pai_spec_schema(2, NULL, &b, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "write");
  assert_int_equal(pai_spec_schema(2, refuse, &b, &err), PAI_EUSER);
  test_expect_error(err, PAI_EUSER, "schema");
  assert_int_equal(b.len, 0);
  pai__buf_dispose(&b);
}

static int write_one(const pai_alloc *alloc, void *user_data)
{
  pai_error *err;
  pai__buf b;
  int rc;

  (void)user_data;
  pai__buf_init(&b, &pai__libc_alloc);
  rc = pai__spec_schema(alloc, 2, test_collect, &b, &err);
  if (rc < 0)
    test_expect_error(err, PAI_ENOMEM, "memory");
  pai__buf_dispose(&b);
  return rc;
}

static void memory_may_run_out(void **state)
{
  (void)state;
  test_faults(write_one, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_says_what_the_tables_say),
    cmocka_unit_test(tables_are_as_the_schema_needs_them),
    cmocka_unit_test(absence_means_the_default),
    cmocka_unit_test(failures_are_told),
    cmocka_unit_test(memory_may_run_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
