/* Files of which secrets were taken: what they look like, and what is missing
 * when they are to be run again. */
#include "spec/found.h"

#include "base/buf.h"
#include "spec/spec.h"

#define SECRET "hunter2"
#define USES(what)                                                           \
  "taskRoles: {a: {dockerImage: x, " ROLE_SIZES ", commands: ['" what "']}}" \
  "\n"
#define IMAGE_AUTH(auth)                                     \
  JOB_HEAD                                                   \
  "prerequisites:\n- {name: x, type: dockerimage, uri: x}\n" \
  "- name: y\n  type: dockerimage\n  uri: y\n  auth:\n" auth JOB_ROLES

/* --- masked ------------------------------------------------------------------ */

/* A file, and a part of what becomes of it. */
static const struct {
  const char *text, *part;
} masked[] = {
  { JOB_WITH("secrets: {a: " SECRET ", b c: [" SECRET "]} # " SECRET),
    "\nsecrets: {\"a\": \"******\", \"b c\": \"******\"}\n" },
  { JOB_WITH("secrets:\n  a: " SECRET "\n  # was " SECRET
             "0\n  b: |\n    " SECRET "\n    more\nparameters: {x: 1}"),
    "\nsecrets: {\"a\": \"******\", \"b\": \"******\"}\nparameters: {x: "
    "1}\n" },
  { JOB_WITH("secrets: {}"), "\nsecrets: {}\n" },
  { JOB_WITH("# mine\nsecrets: {a: " SECRET "}\n# yours"), "# mine\n" },
  { JOB_WITH("# mine\nsecrets: {a: " SECRET "}\n# yours"), "# yours\n" },
  { IMAGE_AUTH("    username: " SECRET "\n    password: '" SECRET
               "'\n    registryuri: r # r\n"),
    "    username: \"******\"\n    password: \"******\"\n"
    "    registryuri: r # r\n" },
  { IMAGE_AUTH("    password: <% $secrets.p %>\n"),
    "password: <% $secrets.p %>\n" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", "
    "\"secrets\":{\"a\":\"" SECRET "\"}, \"prerequisites\": [{\"name\": "
    "\"x\", \"type\": \"dockerimage\", \"uri\": \"x\"}], \"taskRoles\": "
    "{\"a\": {\"dockerImage\": \"x\", \"resourcePerInstance\": {\"cpu\": 1, "
    "\"memoryMB\": 1, \"gpu\": 0}, \"commands\": [\"c\"]}}}",
    "\"secrets\": {\"a\": \"******\"}, \"prerequisites\"" },
};

static void names_stay_and_so_does_the_rest(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(masked); i++) {
    pai_spec *spec = test_spec(masked[i].text, NULL);
    pai__buf text;

    pai__buf_init(&text, &pai__libc_alloc);
    pai__buf_str(&text, "before");
    assert_true(pai__spec_masked_text(&text, spec));
    if (strstr(pai__buf_text(&text), masked[i].part) == NULL ||
        strstr(pai__buf_text(&text), SECRET) != NULL ||
        strncmp(pai__buf_text(&text), "before", 6) != 0)
      fail_msg("%zu: %s", i, pai__buf_text(&text));
    pai_spec_unref(spec);
    pai__buf_dispose(&text);
  }
}

/* Nothing leads into a secret that is not there any more. */
static void aliases_into_secrets(void **state)
{
  pai_spec *spec = test_spec(
    JOB_WITH("secrets: {a: &s " SECRET "}\nparameters: {b: *s}"), NULL);
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  assert_false(pai__spec_masked_text(&text, spec));
  assert_true(pai__buf_ok(&text));
  assert_int_equal(text.len, 0);
  pai__buf_dispose(&text);
  pai_spec_unref(spec);
}

/* A text that only larger limits can read is of no use to who reads it next. */
static void a_text_can_be_read_again(void **state)
{
  static const char text[] = JOB_WITH("parameters: {b: 1}");
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai__buf out, many;
  pai_spec *spec;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  spec = test_spec(text, NULL);
  assert_true(pai__spec_masked_text(&out, spec));
  assert_string_equal(pai__buf_text(&out), text);
  pai_spec_unref(spec);

  pai__buf_clear(&out);
  pai__buf_init(&many, &pai__libc_alloc);
  pai__buf_str(&many, text);
  pai__buf_str(&many, "\ndefaults: {virtualCluster: \"");
  while (many.len < PAI__SPEC_MAX_BYTES)
    pai__buf_str(&many, "0123456789abcdef");
  pai__buf_str(&many, "\"}\n");
  o.max_bytes = 2 * many.len;
  assert_int_equal(
    pai_spec_parse(&spec, pai__buf_text(&many), many.len, &o, NULL), PAI_OK);
  assert_false(pai__spec_masked_text(&out, spec));
  assert_int_equal(out.len, 0);
  pai_spec_unref(spec);
  pai__buf_dispose(&many);
  pai__buf_dispose(&out);
}

/* --- missing ------------------------------------------------------------------- */

/* A file, and what it lacks; ? before what is not even masked. */
static const struct {
  const char *text, *list;
} missing[] = {
  { JOB_WITH("secrets: {a: 1, b: x}"), "" },
  { JOB_WITH("secrets: {a: '******', b: x, 'c/d~': '******'}"),
    "/secrets/a /secrets/c~1d~0 " },
  { JOB_WITH("secrets: {a: '*****', b: ['******']}"), "" },
  { JOB_HEAD JOB_IMAGE USES(
      "<% $secrets.a %> <% $secrets.b %> "
      "<% $secrets.b %> <% $parameters.c %>") "secrets: {a: 1}\n",
    "?/secrets/b " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets.a %>") "secrets: {a: '******'}\n",
    "/secrets/a " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets.a.b[0] %> <% $secrets.d[1] %>"),
    "?/secrets/a ?/secrets/d " },
  { JOB_HEAD JOB_IMAGE USES("<% $secrets %> <% $secretss.a %>"), "" },
  { IMAGE_AUTH("    username: '******'\n    password: <% $secrets.p %>\n"
               "    registryuri: '<% $secrets.r %>'\n"),
    "/prerequisites/1/auth/username ?/secrets/p ?/secrets/r " },
};

static void list(pai__buf *out, const pai_spec *spec)
{
  const char *pointer;
  int is_masked;

  for (size_t i = 0;
       (pointer = pai_spec_missing_secret(spec, i, &is_masked)) != NULL; i++) {
    assert_string_equal(pointer, pai_spec_missing_secret(spec, i, NULL));
    pai__buf_printf(out, "%s%s ", is_masked ? "" : "?", pointer);
  }
  assert_int_equal(is_masked, 0);
}

static void what_is_missing(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(missing); i++) {
    pai_spec *spec = test_spec(missing[i].text, NULL);
    pai__buf text;

    pai__buf_init(&text, &pai__libc_alloc);
    list(&text, spec);
    if (strcmp(pai__buf_text(&text), missing[i].list) != 0)
      fail_msg("%zu: %s", i, pai__buf_text(&text));
    pai__buf_dispose(&text);
    pai_spec_unref(spec);
  }
}

/* A copy that anybody may see lacks what the job needs. */
static void what_a_masked_copy_lacks(void **state)
{
  pai_spec *spec = test_spec(
    JOB_HEAD JOB_IMAGE USES("<% $secrets.a %>") "secrets: {a: x, b: y}\n",
    NULL);
  pai_spec *copy;
  int is_masked;

  (void)state;
  assert_int_equal(pai_spec_masked(&copy, spec, NULL), PAI_OK);
  assert_string_equal(pai_spec_missing_secret(copy, 0, &is_masked),
                      "/secrets/a");
  assert_int_equal(is_masked, 1);
  assert_null(pai_spec_missing_secret(copy, 1, NULL));
  pai_spec_unref(copy);
  pai_spec_unref(spec);
}

static int mask_once(const pai_alloc *alloc, void *user_data)
{
  const char *text = user_data;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *spec = NULL;
  pai__buf out;
  int rc;

  o.alloc = alloc;
  pai__buf_init(&out, alloc);
  rc = pai_spec_parse(&spec, text, strlen(text), &o, NULL);
  if (rc == PAI_OK && !pai__spec_masked_text(&out, spec))
    rc = PAI_ENOMEM; /* this one can be masked */
  if (rc == PAI_OK)
    assert_null(strstr(pai__buf_text(&out), SECRET));
  pai__buf_dispose(&out);
  pai_spec_unref(spec);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(mask_once, (void *)(uintptr_t)masked[1].text);
  test_faults(mask_once, (void *)(uintptr_t)masked[5].text);
  test_faults(mask_once, (void *)(uintptr_t)missing[7].text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_stay_and_so_does_the_rest),
    cmocka_unit_test(aliases_into_secrets),
    cmocka_unit_test(a_text_can_be_read_again),
    cmocka_unit_test(what_is_missing),
    cmocka_unit_test(what_a_masked_copy_lacks),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
