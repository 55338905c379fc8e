/* JSON Schema: what it says where; schema_rows.py asks what it takes. */
#include "documents.h"

#include "spec/rules.h"
#include "spec/schema.h"

#include <openpai/spec.h>

static int keep(void *user_data, const char *bytes, size_t len)
{
  pai__buf *b = user_data;

  pai__buf_add(b, bytes, len);
  return pai__buf_ok(b) ? PAI_OK : PAI_ENOMEM;
}

static pai__tree *schema_of(int version)
{
  pai__buf b;
  pai__tree *t;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_spec_schema(version, keep, &b, NULL), PAI_OK);
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
  assert_int_equal(pai_spec_schema(3, keep, &b, &err), PAI_EINVAL);
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
  rc = pai__spec_schema(alloc, 2, keep, &b, &err);
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
    cmocka_unit_test(failures_are_told),
    cmocka_unit_test(memory_may_run_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
