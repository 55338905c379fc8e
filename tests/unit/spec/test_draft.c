/* Drafts: a job file from nothing, and one that is changed. */
#include "cases.h"

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
  pai__buf out = test_buf();

  assert_ok(pai_draft_get(d, path, test_collect, &out, NULL));
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

static pai_draft *draft_of(const char *text)
{
  pai_draft *d;

  assert_ok(pai_draft_new(&d, text, strlen(text), NULL, NULL));
  return d;
}

TEST(a_job_is_made_from_nothing)
{
  static const char *const steps[][2] = {
    { "protocolVersion", "2" },
    { "name", "made" },
    { "type", "job" },
    { "prerequisites", "[{name: i, type: dockerimage, uri: x}]" },
    { "taskRoles.w.dockerImage", "i" },
    { "taskRoles.w.resourcePerInstance", "{cpu: 1, memoryMB: 1, gpu: 0}" },
    { "taskRoles.w.commands", "[echo <% $parameters.x %>]" },
    { "/taskRoles/w/commands/-", "echo two" },
  };
  pai_draft *d;
  const char *text;
  pai_spec *spec;
  size_t len;

  assert_ok(pai_draft_new(&d, NULL, 0, NULL, NULL));
  assert_string_equal(pai_draft_text(d, &len), "");
  for (size_t i = 0; i < PAI__LEN(steps); i++)
    set(d, steps[i][0], steps[i][1]);
  assert_ok(pai_draft_set_text(d, "parameters.x", "010", 3, NULL));
  expect_at(d, "parameters.x", "\"010\"");
  expect_at(d, "taskRoles.w.commands[-1]", "\"echo two\"");
  expect_at(d, "taskRoles.w.resourcePerInstance",
            "{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}");
  text = pai_draft_text(d, &len);
  assert_ok(pai_spec_parse(&spec, text, len, NULL, NULL));
  assert_string_equal(pai_spec_role_script(spec, 0), "echo 010\necho two");
  pai_spec_unref(spec);
  pai_draft_free(d);
}

/* JSON with commas too many would be YAML as well. */
TEST(json_stays_json)
{
  static const char *const texts[] = {
    "{\"a\": [1, 2,], // c\n\"jobName\": \"x\",}",
    "{\"a\": [1, 2,],\n\"jobName\": \"x\",}",
    "{\"a\": [1, 2,],\n\"name\": \"x\",}",
  };
  static const char head[] =
    "{\n  \"a\": [\n    1,\n    2,\n    {\n      \"b\": \"text\"";
  pai_error *err = NULL;
  pai_draft *d;

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    d = draft_of(texts[i]);
    set(d, "a[+]", "{b: text}");
    set(d, "b", "null");
    assert_ok(pai_draft_format(d, NULL));
    assert_memory_equal(pai_draft_text(d, NULL), head, sizeof(head) - 1);
    assert_int_equal(i == 0, strstr(pai_draft_text(d, NULL), "// c") != NULL);
    pai_draft_free(d);
  }
  assert_int_equal(pai_draft_new(&d, "{\n // c\n \"a\":1}", 15, NULL, &err),
                   PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  assert_string_equal(pai_error_help(err), "remove the comment");
  pai_error_free(err);
  pai_draft_free(draft_of("{ # c\n \"a\":1}"));
}

TEST(failures_change_nothing)
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
  pai_draft *d = draft_of(text);
  pai_error *err;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    int rc = rows[i].value != NULL
               ? pai_draft_set(d, rows[i].path, rows[i].value, &err)
               : pai_draft_unset(d, rows[i].path, &err);

    assert_int_equal(rc, rows[i].code);
    test_expect_error(err, rows[i].code, rows[i].says);
    assert_string_equal(pai_draft_text(d, NULL), text);
  }
  assert_fails(pai_draft_get(d, "a.x", test_collect, NULL, &err), err,
               PAI_ENOTFOUND, "'a.x'");
  expect_at(d, "b[1]", "2"); /* looking goes through aliases */
  pai_draft_free(d);
  pai_draft_free(NULL);
  assert_int_equal(pai_draft_new(&d, "{", 1, NULL, &err), PAI_EINVAL);
  assert_null(d);
  pai_error_free(err);
}

TEST(layout_is_canonical)
{
  static const char want[] = "# top\nname: x # why\n\nlist:\n  - a: 1\n"
                             "  - [1, 2]\n";
  pai_draft *d =
    draft_of("# top\nname:    \"x\"  # why\n\n\nlist:\n- a:   1\n- [ 1,2 ]\n");

  for (int i = 0; i < 2; i++) {
    assert_ok(pai_draft_format(d, NULL));
    assert_string_equal(pai_draft_text(d, NULL), want);
  }
  pai_draft_free(d);
}

TEST_FAULTS(failing_memory)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_draft *d;
  int rc;

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
