/* Specs written again: canonical bytes, other versions, and no secrets. */
#include "cases.h"

#include "spec/found.h"

#include "base/buf.h"

#define ROLES                                                                \
  "taskRoles: {w: {dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: " \
  "1, gpu: 0}, commands: ['echo <% $secrets.a %>']}}\n"
#define HEAD "protocolVersion: 2\nname: a\ntype: job\n"
#define IMAGE "prerequisites: [{name: i, type: dockerimage, uri: x}]\n"

/* The text of a spec; freed with pai__buf_dispose(). */
static pai__buf put(const pai_spec *spec, pai_spec_write_options o)
{
  pai_error *err;
  pai__buf out = test_buf();

  o.struct_size = sizeof(o);
  if (pai_spec_write(spec, &o, test_collect, &out, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return out;
}

/* What a job has as its parameters, as it is written; v1 has no such. */
static const char canonical[] =
  HEAD "# gone\n" IMAGE
       "parameters:\n  b: &x {t: 1.0, s: \"it's\", n: ~}\n  a: *x\n"
       "  m: {<<: *x, t: 2}\n  d: 2020-01-02\n  f: 0.10\n"
       "  y: [!!binary aGk=, !!binary '', 'a: b', yes, \"z\\u00e4\"]\n"
       "  l: \"p\\nq\\n\"\n  e: [{}, []]\n" ROLES;

static const char canonical_yaml[] = "protocolVersion: 2\n"
                                     "name: a\n"
                                     "type: job\n"
                                     "prerequisites:\n"
                                     "  - name: i\n"
                                     "    type: dockerimage\n"
                                     "    uri: x\n"
                                     "parameters:\n"
                                     "  b:\n"
                                     "    t: 1.0\n"
                                     "    s: it's\n"
                                     "    'n': null\n"
                                     "  a:\n"
                                     "    t: 1.0\n"
                                     "    s: it's\n"
                                     "    'n': null\n"
                                     "  m:\n"
                                     "    t: 2\n"
                                     "    s: it's\n"
                                     "    'n': null\n"
                                     "  d: 2020-01-02T00:00:00.000Z\n"
                                     "  f: 0.1\n"
                                     "  'y':\n"
                                     "    - !!binary aGk=\n"
                                     "    - !!binary ''\n"
                                     "    - 'a: b'\n"
                                     "    - 'yes'\n"
                                     "    - z\xc3\xa4\n"
                                     "  l: |\n"
                                     "    p\n"
                                     "    q\n"
                                     "  e:\n"
                                     "    - {}\n"
                                     "    - []\n"
                                     "taskRoles:\n"
                                     "  w:\n"
                                     "    dockerImage: i\n"
                                     "    resourcePerInstance:\n"
                                     "      cpu: 1\n"
                                     "      memoryMB: 1\n"
                                     "      gpu: 0\n"
                                     "    commands:\n"
                                     "      - echo <% $secrets.a %>\n";

static const char canonical_json[] =
  "{\"b\":{\"t\":1,\"s\":\"it's\",\"n\":null},"
  "\"a\":{\"t\":1,\"s\":\"it's\",\"n\":null},"
  "\"m\":{\"t\":2,\"s\":\"it's\",\"n\":null},"
  "\"d\":\"2020-01-02T00:00:00.000Z\",\"f\":0.1,"
  "\"y\":[\"aGk=\",\"\",\"a: b\",\"yes\",\"z\xc3\xa4\"],"
  "\"l\":\"p\\nq\\n\",\"e\":[{},[]]}";

TEST(bytes_are_canonical)
{
  const char *texts[] = { canonical, canonical_yaml };

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai_spec *spec = test_spec(texts[i], NULL);
    pai__buf out = put(spec, (pai_spec_write_options){ 0 });

    assert_string_equal(pai__buf_text(&out), canonical_yaml);
    pai__buf_clear(&out);
    assert_ok(pai_spec_get(spec, "parameters", test_collect, &out, NULL));
    assert_string_equal(pai__buf_text(&out), canonical_json);
    pai__buf_dispose(&out);
    pai_spec_unref(spec);
  }
}

/* However a secret is written, and wherever an alias leads to it. */
TEST(secrets_are_masked_by_structure)
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

  for (size_t i = 0; i < PAI__LEN(texts); i++)
    for (int format = PAI_FORMAT_YAML; format <= PAI_FORMAT_JSON; format++) {
      pai_spec *spec = test_spec(texts[i], NULL);
      pai__buf hidden =
        put(spec, (pai_spec_write_options){ .format = format });
      pai__buf shown =
        put(spec, (pai_spec_write_options){ .format = format, .secrets = 1 });

      assert_has(pai__buf_text(&shown), "hunter2");
      if (strstr(pai__buf_text(&hidden), "hunter2") != NULL)
        fail_msg("%zu: %s", i, pai__buf_text(&hidden));
      assert_has(pai__buf_text(&hidden), "******");
      pai__buf_dispose(&hidden);
      pai__buf_dispose(&shown);
      pai_spec_unref(spec);
    }
}

/* JSON has no such numbers: that they become null is told. */
TEST(numbers_that_json_lacks)
{
  pai_spec *spec = test_spec(
    HEAD IMAGE ROLES "parameters: {.nan: 1, a: [.inf], b: 1.5}\n", NULL);
  pai_spec_write_options o = { .format = PAI_FORMAT_JSON };
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf out;

  o.report = &report;
  out = put(spec, o);
  assert_int_equal(pai_report_version(report), 2);
  assert_int_equal(pai_report_count(report), 1);
  assert_has(pai__buf_text(&out), "null");
  d = pai_report_get(report, 0);
  assert_string_equal(d->code, "no-json");
  assert_string_equal(d->message, "JSON has no .inf: it becomes null");
  assert_string_equal(d->pointer, "/parameters/a/0");
  assert_int_equal(d->severity, PAI_SEVERITY_WARNING);
  pai_report_free(report);
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

/* A file, and parts of what is written: what is no secret, and version 1. */
static const struct {
  const char *text, *parts[4];
} written[] = {
  { HEAD ROLES "prerequisites: [{name: i, type: dockerimage, uri: x, auth: "
               "{registryuri: reg, password: <% $secrets.a %>}}]\n"
               "secrets: {a: x}\nparameters: {secrets: seen}\n",
    { "registryuri: reg\n", "password: <% $secrets.a %>\n",
      "secrets: seen\n" } },
  { "{\"jobName\": \"a.b\", \"image\": \"x\", \"retryCount\": -2, "
    "\"taskRoles\": [{\"name\": \"w\", \"taskNumber\": 2, \"command\": "
    "\"echo\"}]} // JSON with a comment\n",
    { "name: a_b\n", "jobName: a.b\n", "retryCount: -2\n" } },
  { "jobName: j\nimage: i\nextras: {d: 2020-01-01}\n"
    "taskRoles: [{name: r, command: c}]\n",
    { "d: 2020-01-01T" } },
};

TEST(what_is_no_secret_stays)
{
  for (size_t i = 0; i < PAI__LEN(written); i++) {
    pai_spec *spec = test_spec(written[i].text, NULL);
    pai__buf out = put(spec, (pai_spec_write_options){ 0 });

    for (const char *const *part = written[i].parts; *part != NULL; part++)
      if (strstr(pai__buf_text(&out), *part) == NULL)
        fail_msg("%s\nhas no %s", pai__buf_text(&out), *part);
    pai__buf_dispose(&out);
    pai_spec_unref(spec);
  }
}

TEST(a_masked_copy_knows_no_secret)
{
  pai_spec *spec = test_spec(HEAD IMAGE ROLES "secrets: {a: hunter2}\n", NULL),
           *copy;
  pai__buf out;

  assert_ok(pai_spec_masked(&copy, spec, NULL));
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

TEST(any_place_can_be_asked_for)
{
  static const char text[] = HEAD
    "secrets: {a: hunter2}\nparameters: {x: [1, {y: 2.0}]}\n"
    "prerequisites:\n"
    "- {name: i, type: dockerimage, uri: x, auth: {username: u, password: "
    "<% $secrets.a %>, registryuri: r}}\n"
    "- {name: j, type: dockerimage, uri: x, auth: {password: p}}\n"
    "- {name: k, type: dockerimage, uri: x, auth: {username: v, registryuri: "
    "r}}\n" ROLES;
  pai_spec *spec = test_spec(text, NULL);
  pai_error *err;
  pai__buf out = test_buf();

  assert_ok(pai_spec_get(spec, "parameters.x[1]", test_collect, &out, NULL));
  assert_ok(pai_spec_get(spec, "/secrets", test_collect, &out, NULL));
  assert_string_equal(pai__buf_text(&out), "{\"y\":2}\"******\"");
  assert_fails(pai_spec_get(spec, "secrets.a", test_collect, &out, &err), err,
               PAI_ENOTFOUND, "'secrets.a'");
  pai__buf_clear(&out);
  assert_ok(pai_spec_docker_config(spec, test_collect, &out, NULL));
  assert_string_equal(pai__buf_text(&out),
                      "{\"auths\":{\"r\":{\"auth\":\"djo=\"},"
                      "\"https://index.docker.io/v1/\":{\"auth\":\"OnA=\"}"
                      "}}");
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
}

/* Whatever else is in the file. */
TEST(a_place_costs_what_it_holds)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  test_tally t;
  pai_spec *spec;
  pai__buf text = test_buf(), out = test_buf();

  pai__buf_str(&text,
               HEAD "secrets: {a: &s hunter2}\nextras:\n  x: [{s: *s}]\n");
  for (unsigned i = 0; i < 10000; i++)
    pai__buf_printf(&text, "  key%u: [value %u]\n", i, i);
  pai__buf_str(
    &text, "prerequisites: [{name: i, type: dockerimage, uri: x}]\n" ROLES);
  test_tally_init(&t);
  o.alloc = &t.alloc;
  assert_ok(pai_spec_parse(&spec, text.data, text.len, &o, NULL));
  t.peak = t.live;
  assert_ok(pai_spec_get(spec, "extras.key9999[0]", test_collect, &out, NULL));
  assert_ok(pai_spec_get(spec, "extras.x", test_collect, &out, NULL));
  assert_string_equal(pai__buf_text(&out),
                      "\"value 9999\"[{\"s\":\"******\"}]");
  assert_true(t.peak - t.live < 4096);
  pai_spec_unref(spec);
  assert_int_equal(t.live, 0);
  pai__buf_dispose(&text);
  pai__buf_dispose(&out);
}

TEST(bad_calls_are_refused)
{
  static const pai_spec_write_options bad[] = {
    { .struct_size = 1 },
    { .struct_size = sizeof(*bad), .format = -1 },
    { .struct_size = sizeof(*bad), .format = 3 },
  };
  pai_spec *spec = test_spec(HEAD IMAGE ROLES, NULL);
  pai_error *err;

  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_true(pai_spec_write(spec, &bad[i], test_refuse, NULL, &err) !=
                PAI_EUSER);
    assert_non_null(err);
    pai_error_free(err);
  }
  assert_int_equal(pai_spec_write(spec, NULL, test_refuse, NULL, NULL),
                   PAI_EUSER);
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

static int write_all(const pai_spec *spec)
{
  pai_spec_write_options w = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_spec *masked = NULL;
  pai_report *report;
  size_t bytes = 0;
  int rc = pai_spec_masked(&masked, spec, NULL);

  if (rc == PAI_OK)
    rc = pai_spec_write(masked, NULL, count, &bytes, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_get(spec, "name", count, &bytes, NULL);
  if (rc == PAI_OK)
    rc = pai_spec_docker_config(spec, count, &bytes, NULL);
  w.format = PAI_FORMAT_JSON;
  w.report = &report;
  if (rc == PAI_OK) {
    rc = pai_spec_write(spec, &w, count, &bytes, NULL);
    pai_report_free(report);
  }
  pai_spec_unref(masked);
  return rc;
}

TEST(failing_memory)
{
  test_spec_faults(
    HEAD IMAGE ROLES "secrets: {a: hunter2}\nextras: {x: .nan}\n", write_all);
  test_spec_faults(canonical, write_all);
}
