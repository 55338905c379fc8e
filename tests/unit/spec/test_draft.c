/* Drafts: a job file from nothing, and one that is changed. */
#include "testing.h"

#include "base/buf.h"

#include <openpai/draft.h>

static void set(pai_draft *d, const char *path, const char *value)
{
  pai_error *err;

  if (pai_draft_set(d, path, value, &err) < 0)
    fail_msg("%s: %s", path, pai_error_message(err));
}

static void expect_at(const pai_draft *d, const char *path, const char *want)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai_draft_get(d, path, test_collect, &out, NULL), PAI_OK);
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

static void a_job_is_made_from_nothing(void **state)
{
  pai_draft *d;
  const char *text;
  pai_spec *spec;
  size_t len;

  (void)state;
  assert_int_equal(pai_draft_new(&d, NULL, 0, NULL, NULL), PAI_OK);
  assert_string_equal(pai_draft_text(d, &len), "");
  set(d, "protocolVersion", "2");
  set(d, "name", "made");
  set(d, "type", "job");
  set(d, "prerequisites", "[{name: i, type: dockerimage, uri: x}]");
  set(d, "taskRoles.w.dockerImage", "i");
  set(d, "taskRoles.w.resourcePerInstance", "{cpu: 1, memoryMB: 1, gpu: 0}");
  set(d, "taskRoles.w.commands", "[echo <% $parameters.x %>]");
  set(d, "/taskRoles/w/commands/-", "echo two");
  assert_int_equal(pai_draft_set_text(d, "parameters.x", "010", 3, NULL),
                   PAI_OK);
  expect_at(d, "parameters.x", "\"010\"");
  expect_at(d, "taskRoles.w.commands[-1]", "\"echo two\"");
  expect_at(d, "taskRoles.w.resourcePerInstance",
            "{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}");
  text = pai_draft_text(d, &len);
  assert_int_equal(pai_spec_parse(&spec, text, len, NULL, NULL), PAI_OK);
  assert_string_equal(pai_spec_role_script(spec, 0), "echo 010\necho two");
  pai_spec_unref(spec);
  pai_draft_free(d);
}

static void what_is_around_stays(void **state)
{
  static const char text[] = "# my job\nname:   old # so far\n\nparameters:\n"
                             "  lr: 0.10   # slow\n  'k': \"v\"\n";
  pai_draft *d;

  (void)state;
  assert_int_equal(pai_draft_new(&d, text, strlen(text), NULL, NULL), PAI_OK);
  set(d, "parameters.lr", "0.5");
  set(d, "name", "'new'");
  assert_int_equal(pai_draft_unset(d, "parameters.k", NULL), PAI_OK);
  assert_string_equal(pai_draft_text(d, NULL),
                      "# my job\nname:   new # so far\n\nparameters:\n"
                      "  lr: 0.5   # slow\n");
  pai_draft_free(d);
}

/* JSON with commas too many would be YAML as well. */
static void loose_json_stays_json(void **state)
{
  static const char *const texts[] = {
    "{\"a\": [1, 2,], // c\n\"jobName\": \"x\",}",
    "{\"a\": [1, 2,],\n\"jobName\": \"x\",}",
    "{\"a\": [1, 2,],\n\"name\": \"x\",}",
  };
  pai_error *err = NULL;
  pai_draft *d;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    assert_int_equal(pai_draft_new(&d, texts[i], strlen(texts[i]), NULL, NULL),
                     PAI_OK);
    set(d, "a[+]", "3");
    set(d, "b", "null");
    assert_int_equal(pai_draft_format(d, NULL), PAI_OK);
    assert_true(strncmp(pai_draft_text(d, NULL),
                        "{\n  \"a\": [\n    1,\n    2,\n    3", 30) == 0);
    assert_int_equal(i == 0, strstr(pai_draft_text(d, NULL), "// c") != NULL);
    pai_draft_free(d);
  }
  assert_int_equal(pai_draft_new(&d, "{\n // c\n \"a\":1}", 15, NULL, &err),
                   PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  assert_string_equal(pai_error_help(err), "remove the comment");
  pai_error_free(err);
  assert_int_equal(pai_draft_new(&d, "{ # c\n \"a\":1}", 13, NULL, NULL),
                   PAI_OK);
  pai_draft_free(d);
}

static void failures_change_nothing(void **state)
{
  static const char text[] = "a: &x [1, 2]\nb: *x\nc: 3\n";
  static const struct {
    const char *path, *value; /* NULL: unset */
    int code;
    const char *says;
  } rows[] = {
    { "b[0]", "9", PAI_ENOTSUP, "" },
    { "c.d.e", "1", PAI_EINVAL, "'c' is a number: it has no 'd'" },
    { "a[7]", "1", PAI_ENOTFOUND, "'a' is a list of 2" },
    { "d", NULL, PAI_ENOTFOUND, "" },
    { "c", "[1", PAI_EINVAL, "the value for 'c' cannot be read" },
    { "c[", "1", PAI_EINVAL, "" },
    { "", NULL, PAI_EINVAL, "" },
  };
  pai_error *err;
  pai_draft *d;

  (void)state;
  assert_int_equal(pai_draft_new(&d, text, strlen(text), NULL, NULL), PAI_OK);
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    int rc = rows[i].value != NULL
               ? pai_draft_set(d, rows[i].path, rows[i].value, &err)
               : pai_draft_unset(d, rows[i].path, &err);

    assert_int_equal(rc, rows[i].code);
    test_expect_error(err, rows[i].code, rows[i].says);
    assert_string_equal(pai_draft_text(d, NULL), text);
  }
  assert_int_equal(pai_draft_get(d, "a.x", test_collect, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "'a.x'");
  expect_at(d, "b[1]", "2"); /* looking goes through aliases */
  pai_draft_free(d);
  pai_draft_free(NULL);
  assert_int_equal(pai_draft_new(&d, "{", 1, NULL, &err), PAI_EINVAL);
  assert_null(d);
  pai_error_free(err);
}

static void layout_is_canonical(void **state)
{
  static const char want[] = "# top\nname: x # why\n\nlist:\n  - a: 1\n"
                             "  - [1, 2]\n";
  static const char text[] =
    "# top\nname:    \"x\"  # why\n\n\nlist:\n- a:   1\n- [ 1,2 ]\n";
  pai_draft *d;

  (void)state;
  assert_int_equal(pai_draft_new(&d, text, strlen(text), NULL, NULL), PAI_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pai_draft_format(d, NULL), PAI_OK);
    assert_string_equal(pai_draft_text(d, NULL), want);
  }
  pai_draft_free(d);
}

static void json_stays_json(void **state)
{
  pai_draft *d;
  static const char text[] = "{\n  \"jobName\": \"a\", // v1\n  \"n\": 1\n}\n";

  (void)state;
  assert_int_equal(pai_draft_new(&d, text, strlen(text), NULL, NULL), PAI_OK);
  set(d, "n", "text");
  set(d, "more.x", "[1, a]");
  assert_string_equal(
    pai_draft_text(d, NULL),
    "{\n  \"jobName\": \"a\", // v1\n  \"n\": \"text\",\n"
    "  \"more\": {\n    \"x\": [\n      1,\n      \"a\"\n    ]\n  }\n}\n");
  pai_draft_free(d);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_draft *d;
  int rc;

  (void)user_data;
  o.alloc = alloc;
  rc = pai_draft_new(&d, "a: 1\n", 5, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_draft_set(d, "b.c", "[1, 2]", NULL);
  if (rc == PAI_OK)
    rc = pai_draft_unset(d, "a", NULL);
  if (rc == PAI_OK)
    assert_string_equal(pai_draft_text(d, NULL),
                        "b:\n  c:\n    - 1\n    - 2\n");
  pai_draft_free(d);
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
    cmocka_unit_test(a_job_is_made_from_nothing),
    cmocka_unit_test(what_is_around_stays),
    cmocka_unit_test(loose_json_stays_json),
    cmocka_unit_test(failures_change_nothing),
    cmocka_unit_test(layout_is_canonical),
    cmocka_unit_test(json_stays_json),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
