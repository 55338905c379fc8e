/* Specs written again: canonical bytes, other versions, and no secrets. */
#include "testing.h"

#include "base/buf.h"

#include <openpai/spec.h>

#define ROLES                                                                \
  "taskRoles: {w: {dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: " \
  "1, gpu: 0}, commands: ['echo <% $secrets.a %>']}}\n"
#define HEAD "protocolVersion: 2\nname: a\ntype: job\n"
#define IMAGE "prerequisites: [{name: i, type: dockerimage, uri: x}]\n"

static pai_spec *parse(const char *text)
{
  pai_error *err;
  pai_spec *spec;

  if (pai_spec_parse(&spec, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return spec;
}

/* The text of a spec; freed with pai__buf_dispose(). */
static pai__buf put(const pai_spec *spec, pai_spec_write_options o)
{
  pai_error *err;
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  o.struct_size = sizeof(o);
  if (pai_spec_write(spec, &o, test_collect, &out, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return out;
}

static void expect(const char *text, pai_spec_write_options o,
                   const char *want)
{
  pai_spec *spec = parse(text);
  pai__buf out = put(spec, o);

  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

static void bytes_are_stable(void **state)
{
  static const char text[] =
    HEAD "# gone\n" IMAGE
         "parameters: &p {x: 0.10, 'y': \"z\\u00e4\", d: [1, 2.0]}\n"
         "extras: {p: *p}\n" ROLES;
  static const char want[] = "protocolVersion: 2\n"
                             "name: a\n"
                             "type: job\n"
                             "prerequisites:\n"
                             "  - name: i\n"
                             "    type: dockerimage\n"
                             "    uri: x\n"
                             "parameters:\n"
                             "  x: 0.1\n"
                             "  'y': z\xc3\xa4\n"
                             "  d:\n"
                             "    - 1\n"
                             "    - 2.0\n"
                             "extras:\n"
                             "  p:\n"
                             "    x: 0.1\n"
                             "    'y': z\xc3\xa4\n"
                             "    d:\n"
                             "      - 1\n"
                             "      - 2.0\n"
                             "taskRoles:\n"
                             "  w:\n"
                             "    dockerImage: i\n"
                             "    resourcePerInstance:\n"
                             "      cpu: 1\n"
                             "      memoryMB: 1\n"
                             "      gpu: 0\n"
                             "    commands:\n"
                             "      - echo <% $secrets.a %>\n";

  (void)state;
  expect(text, (pai_spec_write_options){ 0 }, want);
  expect(want, (pai_spec_write_options){ 0 }, want);
}

/* However a secret is written, and wherever an alias leads to it. */
static void secrets_are_masked_by_structure(void **state)
{
  static const char *const texts[] = {
    HEAD IMAGE ROLES "secrets:\n  a: hunter2\n  b:\n  - hunter2\n",
    HEAD IMAGE ROLES "secrets: {a: hunter2, b: [x, {c: hunter2}]}\n",
    HEAD IMAGE ROLES
    "'secrets':\n  a: |\n    hunter2\n  b: >-\n    x\n    hunter2\n",
    HEAD IMAGE ROLES "\"secrets\" : {\"a\":\n  \"hunter2\"}\n",
    HEAD IMAGE ROLES "secrets: {a: &s hunter2}\nparameters: {p: *s}\n",
    HEAD IMAGE ROLES "secrets: {a: &s [hunter2]}\nparameters: {p: *s}\n",
    HEAD IMAGE ROLES "secrets: {hunter2: {a: hunter2}}\n",
    /* where it stands outside of them, and they lead there */
    HEAD IMAGE "parameters: {p: &s hunter2}\n" ROLES "secrets: {a: *s}\n",
    HEAD IMAGE "extras: {p: &s {x: hunter2}}\n" ROLES "secrets: *s\n",
    HEAD IMAGE "extras: {p: &s {a: hunter2}}\n" ROLES "secrets: {<<: *s}\n",
    HEAD IMAGE "extras: {p: &s hunter2, q: &t [1, *s]}\n" ROLES
               "secrets: {a: [*t]}\n",
    HEAD "parameters: {p: &s hunter2, q: &t {password: *s}}\n" ROLES
         "prerequisites: [{name: i, type: dockerimage, uri: x, auth: {<<: "
         "*t, username: a}}]\n",
    HEAD ROLES
    "prerequisites: [{name: i, type: dockerimage, uri: x, auth: {username: "
    "hunter2, password: hunter2, other: hunter2}}]\n",
    HEAD ROLES
    "prerequisites: [{name: i, type: dockerimage, uri: x, auth: {password: "
    "<% a %> hunter2 <% b %>}}]\n",
    "{\"protocolVersion\":2,\"name\":\"a\",\"type\":\"job\",\"secrets\":{"
    "\"a\":\"hunter2\"},\"prerequisites\":[{\"name\":\"i\",\"type\":"
    "\"dockerimage\",\"uri\":\"x\"}],\"taskRoles\":{\"w\":{\"dockerImage\":"
    "\"i\",\"resourcePerInstance\":{\"cpu\":1,\"memoryMB\":1,\"gpu\":0},"
    "\"commands\":[\"x\"]}}}",
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++)
    for (int format = PAI_FORMAT_YAML; format <= PAI_FORMAT_JSON; format++) {
      pai_spec *spec = parse(texts[i]);
      pai__buf hidden =
        put(spec, (pai_spec_write_options){ .format = format });
      pai__buf shown =
        put(spec, (pai_spec_write_options){ .format = format, .secrets = 1 });

      assert_non_null(strstr(pai__buf_text(&shown), "hunter2"));
      if (strstr(pai__buf_text(&hidden), "hunter2") != NULL)
        fail_msg("%zu: %s", i, pai__buf_text(&hidden));
      assert_non_null(strstr(pai__buf_text(&hidden), "******"));
      pai__buf_dispose(&hidden);
      pai__buf_dispose(&shown);
      pai_spec_unref(spec);
    }
}

/* JSON has no such numbers: that they become null is told. */
static void numbers_that_json_lacks(void **state)
{
  pai_spec *spec =
    parse(HEAD IMAGE ROLES "parameters: {.nan: 1, a: [.inf], b: 1.5}\n");
  pai_spec_write_options o = { .format = PAI_FORMAT_JSON };
  const pai_diagnostic *d;
  pai_report *report;

  (void)state;
  o.report = &report;
  for (int version = 2; version >= 1; version--) {
    pai__buf out;

    o.version = version;
    out = put(spec, o);
    d = pai_report_get(report, pai_report_count(report) - 1);
    if (version == 2)
      assert_int_equal(pai_report_count(report), 1);
    assert_true(version == 1 || strstr(pai__buf_text(&out), "null") != NULL);
    for (size_t i = 0; strcmp(d->code, "no-json") != 0; i++)
      d = pai_report_get(report, i);
    assert_string_equal(d->message, "JSON has no .inf: it becomes null");
    assert_string_equal(d->pointer, "/parameters/a/0");
    assert_int_equal(d->severity, PAI_SEVERITY_WARNING);
    pai_report_free(report);
    pai__buf_dispose(&out);
  }
  pai_spec_unref(spec);
}

static void what_is_no_secret_stays(void **state)
{
  pai_spec *spec = parse(
    HEAD ROLES "prerequisites: [{name: i, type: dockerimage, uri: x, auth: "
               "{registryuri: reg, password: <% $secrets.a %>}}]\n"
               "secrets: {a: x}\nparameters: {secrets: seen}\n");
  pai__buf out = put(spec, (pai_spec_write_options){ 0 });

  (void)state;
  assert_non_null(strstr(pai__buf_text(&out), "registryuri: reg\n"));
  assert_non_null(strstr(pai__buf_text(&out), "password: <% $secrets.a %>\n"));
  assert_non_null(strstr(pai__buf_text(&out), "secrets: seen\n"));
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

static void a_masked_copy_knows_no_secret(void **state)
{
  pai_spec *spec = parse(HEAD IMAGE ROLES "secrets: {a: hunter2}\n"), *copy;
  pai__buf out;

  (void)state;
  assert_int_equal(pai_spec_masked(&copy, spec, NULL), PAI_OK);
  out = put(copy, (pai_spec_write_options){ .secrets = 1 });
  assert_null(strstr(pai__buf_text(&out), "hunter2"));
  assert_string_equal(pai_spec_name(copy), "a");
  assert_string_equal(pai_spec_role_script(copy, 0), "echo <% $secrets.a %>");
  pai__buf_dispose(&out);
  pai_spec_unref(spec); /* they share nothing */
  out = put(copy, (pai_spec_write_options){ 0 });
  pai__buf_dispose(&out);
  pai_spec_unref(copy);
}

static void versions_become_each_other(void **state)
{
  static const char v1[] =
    "{\"jobName\": \"a.b\", \"image\": \"x\", \"retryCount\": -2, "
    "\"taskRoles\": [{\"name\": \"w\", \"taskNumber\": 2, \"command\": "
    "\"echo\"}]} // JSON with a comment\n";
  pai_spec *spec = parse(v1), *again;
  bool found = false;
  pai_report *report;
  pai__buf out = put(spec, (pai_spec_write_options){ 0 });

  (void)state;
  assert_string_equal(pai_spec_name(spec), "a_b");
  assert_non_null(strstr(pai__buf_text(&out), "name: a_b\n"));
  again = parse(pai__buf_text(&out));
  pai__buf_dispose(&out);
  out = put(again, (pai_spec_write_options){ .version = 1 });
  assert_non_null(strstr(pai__buf_text(&out), "\"jobName\": \"a.b\""));
  assert_non_null(strstr(pai__buf_text(&out), "\"retryCount\": -2"));
  pai__buf_dispose(&out);
  pai_spec_unref(again);
  pai_spec_unref(spec);
  spec = parse(HEAD IMAGE ROLES "parameters: {x: 1}\n");
  out = put(spec, (pai_spec_write_options){ .version = 1, .report = &report });
  assert_int_equal(pai_report_valid(report), 0);
  for (size_t i = 0; i < pai_report_count(report); i++)
    found |= strcmp(pai_report_get(report, i)->pointer, "/parameters") == 0;
  assert_true(found);
  pai_report_free(report);
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

static void any_place_can_be_asked_for(void **state)
{
  static const char text[] = HEAD
    "secrets: {a: hunter2}\nparameters: {x: [1, {y: 2.0}]}\n"
    "prerequisites:\n"
    "- {name: i, type: dockerimage, uri: x, auth: {username: u, password: "
    "<% $secrets.a %>, registryuri: r}}\n"
    "- {name: j, type: dockerimage, uri: x, auth: {password: p}}\n"
    "- {name: k, type: dockerimage, uri: x, auth: {username: v, registryuri: "
    "r}}\n" ROLES;
  pai_spec *spec = parse(text);
  pai_error *err;
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_spec_get(spec, "parameters.x[1]", test_collect, &out, NULL), PAI_OK);
  assert_int_equal(pai_spec_get(spec, "/secrets", test_collect, &out, NULL),
                   PAI_OK);
  assert_string_equal(pai__buf_text(&out), "{\"y\":2}\"******\"");
  assert_int_equal(pai_spec_get(spec, "secrets.a", test_collect, &out, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "'secrets.a'");
  pai__buf_clear(&out);
  assert_int_equal(pai_spec_docker_config(spec, test_collect, &out, NULL),
                   PAI_OK);
  assert_string_equal(pai__buf_text(&out),
                      "{\"auths\":{\"r\":{\"auth\":\"djo=\"},"
                      "\"https://index.docker.io/v1/\":{\"auth\":\"OnA=\"}"
                      "}}");
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

/* Whatever else is in the file. */
static void a_place_costs_what_it_holds(void **state)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  test_tally t;
  pai_spec *spec;
  pai__buf text, out;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_str(&text,
               HEAD "secrets: {a: &s hunter2}\nextras:\n  x: [{s: *s}]\n");
  for (unsigned i = 0; i < 10000; i++)
    pai__buf_printf(&text, "  key%u: [value %u]\n", i, i);
  pai__buf_str(
    &text, "prerequisites: [{name: i, type: dockerimage, uri: x}]\n" ROLES);
  test_tally_init(&t);
  o.alloc = &t.alloc;
  assert_int_equal(pai_spec_parse(&spec, text.data, text.len, &o, NULL),
                   PAI_OK);
  t.peak = t.live;
  assert_int_equal(
    pai_spec_get(spec, "extras.key9999[0]", test_collect, &out, NULL), PAI_OK);
  assert_int_equal(pai_spec_get(spec, "extras.x", test_collect, &out, NULL),
                   PAI_OK);
  assert_string_equal(pai__buf_text(&out),
                      "\"value 9999\"[{\"s\":\"******\"}]");
  assert_true(t.peak - t.live < 4096);
  pai_spec_unref(spec);
  assert_int_equal(t.live, 0);
  pai__buf_dispose(&text);
  pai__buf_dispose(&out);
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return -77;
}

static void bad_calls_are_refused(void **state)
{
  static const pai_spec_write_options bad[] = {
    { .struct_size = 1 },
    { .struct_size = sizeof(*bad), .version = 3 },
    { .struct_size = sizeof(*bad), .format = 3 },
    { .struct_size = sizeof(*bad), .format = PAI_FORMAT_YAML, .version = 1 },
  };
  pai_spec *spec = parse(HEAD IMAGE ROLES);
  pai_error *err;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_true(pai_spec_write(spec, &bad[i], refuse, NULL, &err) > -77);
    assert_non_null(err);
    pai_error_free(err);
  }
  assert_int_equal(pai_spec_write(spec, NULL, refuse, NULL, NULL), -77);
  assert_int_equal(pai_spec_write(spec, NULL, NULL, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_masked(NULL, spec, NULL), PAI_EINVAL);
  pai_spec_unref(spec);
}

static int count(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return PAI_OK;
}

static int body(const pai_alloc *alloc, void *user_data)
{
  static const char text[] = HEAD IMAGE ROLES "secrets: {a: hunter2}\n";
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec_write_options w = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_spec *spec, *masked = NULL;
  pai_report *report;
  size_t bytes = 0;
  int rc;

  (void)user_data;
  o.alloc = alloc;
  rc = pai_spec_parse(&spec, text, sizeof(text) - 1, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_masked(&masked, spec, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_write(masked, NULL, count, &bytes, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_get(spec, "name", count, &bytes, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_docker_config(spec, count, &bytes, NULL);
  w.version = 1;
  w.report = &report;
  if (rc == PAI_OK) {
    rc = pai_spec_write(spec, &w, count, &bytes, NULL);
    pai_report_free(report);
  }
  pai_spec_unref(masked);
  pai_spec_unref(spec);
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_stable),
    cmocka_unit_test(secrets_are_masked_by_structure),
    cmocka_unit_test(what_is_no_secret_stays),
    cmocka_unit_test(numbers_that_json_lacks),
    cmocka_unit_test(a_masked_copy_knows_no_secret),
    cmocka_unit_test(versions_become_each_other),
    cmocka_unit_test(any_place_can_be_asked_for),
    cmocka_unit_test(a_place_costs_what_it_holds),
    cmocka_unit_test(bad_calls_are_refused),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
