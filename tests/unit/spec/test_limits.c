/*
 * Limits: at each, one over it, and with another one in the options.  And
 * files that are small and would make very much: they are refused, or cost no
 * more than others.
 */
#include "rows.h"
#include "spec/found.h"

#include "base/buf.h"

#include <stdio.h>

#define V1_HEAD "{\"jobName\": \"a\", \"image\": \"i\", "

/* PAI_OK when it is valid, else the code of pai_spec_parse(); `says` is a part
 * of what is said of it. */
static int verdict(const pai__buf *text, const pai_spec_options *o,
                   const char *says)
{
  pai_report *report;
  pai_error *err;
  pai_spec *spec;
  int rc = pai_spec_parse(&spec, pai__buf_text(text), text->len, o, &err);

  assert_int_equal(rc == PAI_OK, spec != NULL);
  pai_spec_unref(spec);
  if (rc < 0)
    test_expect_error(err, rc, says);
  assert_int_equal(
    pai_spec_check(&report, NULL, pai__buf_text(text), text->len, o, NULL),
    PAI_OK);
  assert_int_equal(pai_report_valid(report), rc == PAI_OK);
  if (rc == PAI_ELIMIT)
    assert_string_equal(pai_report_get(report, 0)->code, "limit");
  pai_report_free(report);
  return rc;
}

static void repeat(pai__buf *out, const char *text, size_t times)
{
  while (times-- > 0)
    pai__buf_str(out, text);
}

/* `make` writes a file of a size; `limit` is the option that bounds it. */
static void check_limit(void (*make)(pai__buf *out, size_t size), size_t most,
                        void (*limit)(pai_spec_options *o, size_t to),
                        const char *says)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai__buf text;

  pai__buf_init(&text, &pai__libc_alloc);
  make(&text, most);
  assert_int_equal(verdict(&text, NULL, says), PAI_OK);
  limit(&o, most - 1);
  assert_int_equal(verdict(&text, &o, says), PAI_ELIMIT);
  pai__buf_clear(&text);
  make(&text, most + 1);
  assert_int_equal(verdict(&text, NULL, says), PAI_ELIMIT);
  limit(&o, most + 1);
  assert_int_equal(verdict(&text, &o, says), PAI_OK);
  pai__buf_dispose(&text);
}

/* --- bytes ----------------------------------------------------------------- */

static void fill(pai__buf *out, size_t size, char with)
{
  assert_true(pai__buf_reserve(out, size - out->len));
  memset(out->data + out->len, with, size - out->len);
  out->len = size;
  out->data[size] = '\0';
}

static void long_yaml(pai__buf *out, size_t bytes)
{
  pai__buf_str(out, JOB_HEAD JOB_IMAGE JOB_ROLES "# ");
  fill(out, bytes, '#');
}

static void long_json(pai__buf *out, size_t bytes)
{
  pai__buf_str(out, V1_HEAD "\"taskRoles\": [{\"name\": \"r\", "
                            "\"command\": \"c\"}]}");
  fill(out, bytes, ' ');
}

static void max_bytes(pai_spec_options *o, size_t to)
{
  o->max_bytes = to;
}

static void texts_of_4_mebibytes(void **state)
{
  (void)state;
  check_limit(long_yaml, 4 << 20, max_bytes, "bytes");
  check_limit(long_json, 4 << 20, max_bytes, "bytes");
}

/* --- depth ----------------------------------------------------------------- */

static void deep_yaml(pai__buf *out, size_t depth)
{
  pai__buf_str(out, JOB_HEAD JOB_IMAGE JOB_ROLES "extras: {x: ");
  repeat(out, "[", depth - 2);
  repeat(out, "]", depth - 2);
  pai__buf_str(out, "}\n");
}

static void deep_json(pai__buf *out, size_t depth)
{
  pai__buf_str(out, V1_HEAD "\"taskRoles\": [{\"name\": \"r\", "
                            "\"command\": \"c\"}], \"extras\": {\"x\": ");
  repeat(out, "[", depth - 2);
  repeat(out, "]", depth - 2);
  pai__buf_str(out, "}}\n");
}

static void max_depth(pai_spec_options *o, size_t to)
{
  o->max_depth = (uint32_t)to;
}

static void values_64_deep(void **state)
{
  (void)state;
  check_limit(deep_yaml, 64, max_depth, "deep");
  check_limit(deep_json, 64, max_depth, "deep");
}

/* --- roles and tasks ------------------------------------------------------- */

static void many_roles(pai__buf *out, size_t roles)
{
  pai__buf_str(out,
               JOB_HEAD JOB_IMAGE "taskRoles:\n  r: &r {" ROLE_FIELDS "}\n");
  for (size_t i = 1; i < roles; i++)
    pai__buf_printf(out, "  r%zu: {" ROLE_FIELDS "}\n", i);
}

static void many_v1_roles(pai__buf *out, size_t roles)
{
  pai__buf_str(out, V1_HEAD "\"taskRoles\": [");
  for (size_t i = 0; i < roles; i++)
    pai__buf_printf(out, "%s{\"name\": \"r%zu\", \"command\": \"c\"}",
                    i > 0 ? ",\n" : "", i);
  pai__buf_str(out, "]}");
}

static void max_roles(pai_spec_options *o, size_t to)
{
  o->max_roles = (uint32_t)to;
}

static void ten_thousand_roles(void **state)
{
  (void)state;
  check_limit(many_roles, 10000, max_roles, "task roles");
  check_limit(many_v1_roles, 10000, max_roles, "task roles");
}

static void many_tasks(pai__buf *out, size_t tasks)
{
  pai__buf_printf(out,
                  JOB_HEAD JOB_IMAGE "taskRoles:\n  one: {" ROLE_FIELDS
                                     "}\n  more: {instances: %zu, " ROLE_FIELDS
                                     "}\n",
                  tasks - 1);
}

static void many_v1_tasks(pai__buf *out, size_t tasks)
{
  pai__buf_printf(out,
                  V1_HEAD "\"taskRoles\": [{\"name\": \"r\", "
                          "\"command\": \"c\"}, {\"name\": \"s\", "
                          "\"taskNumber\": \"%zu\", \"command\": \"c\"}]}",
                  tasks - 1);
}

static void max_tasks(pai_spec_options *o, size_t to)
{
  o->max_tasks = (uint32_t)to;
}

static void a_hundred_thousand_tasks(void **state)
{
  (void)state;
  check_limit(many_tasks, 100000, max_tasks, "tasks");
  check_limit(many_v1_tasks, 100000, max_tasks, "tasks");
}

static void the_sum_does_not_overflow(void **state)
{
  static const char *const counts[] = { "4294967295", "4294967297", "1e18",
                                        "1e300", ".inf" };
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(counts); i++) {
    pai__buf_clear(&text);
    pai__buf_printf(&text,
                    JOB_HEAD JOB_IMAGE
                    "taskRoles:\n  a: {instances: %s, " ROLE_FIELDS
                    "}\n  b: {instances: %s, " ROLE_FIELDS "}\n",
                    counts[i], counts[i]);
    assert_int_equal(verdict(&text, NULL, "tasks, 100000 are allowed"),
                     PAI_ELIMIT);
  }
  pai__buf_dispose(&text);
}

/* --- memory ---------------------------------------------------------------- */

static double most_memory; /* of its bound */

/* Peak memory of a check and of a spec: 256 kB and 12 times the text. */
static void check_memory(const char *text, size_t len)
{
  double bound = 256e3 + 12 * (double)len;

  for (int parse = 0; parse <= 1; parse++) {
    pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
    pai_report *report = NULL;
    pai_spec *spec = NULL;
    test_tally t;

    test_tally_init(&t);
    o.alloc = &t.alloc;
    assert_int_equal(
      pai_spec_check(&report, parse ? &spec : NULL, text, len, &o, NULL),
      PAI_OK);
    assert_true(pai_report_valid(report));
    pai_report_free(report);
    pai_spec_unref(spec);
    assert_int_equal(t.live, 0);
    if ((double)t.peak > bound)
      fail_msg("%zu bytes for a text of %zu: %.100s", t.peak, len, text);
    if ((double)t.peak / bound > most_memory)
      most_memory = (double)t.peak / bound;
  }
}

static void check_row(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  pai_report *report;
  int valid;

  assert_int_equal(pai_spec_check(&report, NULL, text, len, NULL, NULL),
                   PAI_OK);
  valid = pai_report_valid(report);
  pai_report_free(report);
  if (valid)
    check_memory(text, len);
}

static void memory_of_job_files(void **state)
{
  static const struct {
    void (*make)(pai__buf *out, size_t size);
    size_t size;
  } large[] = { { long_yaml, 4 << 20 },
                { long_json, 4 << 20 },
                { many_roles, 10000 },
                { many_roles, 100 } };
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(large); i++) {
    pai__buf_clear(&text);
    large[i].make(&text, large[i].size);
    check_memory(pai__buf_text(&text), text.len);
  }
  pai__buf_dispose(&text);
  (void)test_each_row("v2-cases.jsonl", check_row); /* it says if there is */
  (void)test_each_row("v1-cases.jsonl", check_row); /* no such file */
  printf("at most %.0f %% of the memory there may be\n", 100 * most_memory);
}

/* --- aliases --------------------------------------------------------------- */

/* A long list that is there so many times, once as itself. */
static void many_aliases(pai__buf *out, size_t times)
{
  pai__buf_str(out, JOB_HEAD JOB_IMAGE JOB_ROLES "extras:\n  l: &l [0");
  repeat(out, ",0", 1999);
  pai__buf_str(out, "]\n  m: [*l");
  repeat(out, ",*l", times - 2);
  pai__buf_str(out, "]\n");
}

static void max_aliases(pai_spec_options *o, size_t to)
{
  o->max_aliases = (uint32_t)to;
}

static void aliases_repeat_ten_times(void **state)
{
  (void)state;
  check_limit(many_aliases, 10, max_aliases, "grows too much");
}

/* --- little that makes much ------------------------------------------------ */

/* So many bytes of `value` as a parameter, an anchor, a secret; and a line for
 * each of so many roles. */
static void expand(pai__buf *out, const char *before, size_t bytes,
                   const char *after, const char *command, size_t roles)
{
  pai__buf_str(out, before);
  fill(out, out->len + bytes, 'y');
  pai__buf_str(out, after);
  for (size_t i = 0; i < roles; i++)
    pai__buf_printf(
      out, "  r%zu: {dockerImage: x, " ROLE_SIZES ", commands: [%s]}\n", i,
      command);
}

static const struct {
  const char *before, *after, *command, *says;
} expansions[] = {
  { "parameters: {p: ", "}\ntaskRoles:\n", "<% $parameters.p %>",
    "commands of the task roles" },
  { "parameters: {p: &p ", "}\ntaskRoles:\n", "*p", "grows too much" },
  { "parameters: {p: &p '<%!", "%>'}\ntaskRoles:\n", "*p", "grows too much" },
  { "secrets: {p: ", "}\ntaskRoles:\n", "<% $secrets.p %>",
    "commands of the task roles" },
  { "parameters: {q: <% $secrets.p %>}\nsecrets: {p: ", "}\ntaskRoles:\n",
    "<% $parameters.q %>", "commands of the task roles" },
  { "defaults: {deployment: d}\ndeployments: [{name: d, taskRoles: {r1: "
    "{preCommands: &p [",
    "]}, r2: {postCommands: *p}}}]\ntaskRoles:\n", "c, \"d\"", "" },
};

/* 64 MiB are allowed, three for each role here: as written, and twice with
 * templates filled in. */
static void commands_are_bounded(void **state)
{
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(expansions); i++) {
    bool deployed = i == PAI__LEN(expansions) - 1;

    for (size_t roles = 8; roles <= 1000; roles += 992) {
      pai__buf_clear(&text);
      pai__buf_str(&text, JOB_HEAD JOB_IMAGE);
      expand(&text, expansions[i].before, 1 << 20, expansions[i].after,
             expansions[i].command, roles);
      assert_int_equal(verdict(&text, NULL, expansions[i].says),
                       roles == 8 || deployed ? PAI_OK : PAI_ELIMIT);
    }
  }
  pai__buf_dispose(&text);
}

/* What version 1 says once, version 2 says in each role. */
static void commands_of_version_1_are_bounded(void **state)
{
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  for (size_t roles = 8; roles <= 1000; roles += 992) {
    pai__buf_clear(&text);
    pai__buf_str(&text, V1_HEAD "\"dataDir\": \"");
    fill(&text, text.len + (1 << 20), 'y');
    pai__buf_str(&text, "\", \"taskRoles\": [");
    for (size_t i = 0; i < roles; i++)
      pai__buf_printf(&text, "%s{\"name\": \"r%zu\", \"command\": \"c\"}",
                      i > 0 ? "," : "", i);
    pai__buf_str(&text, "]}");
    assert_int_equal(verdict(&text, NULL, "cannot be said in protocol v2"),
                     roles == 8 ? PAI_OK : PAI_ELIMIT);
  }
  pai__buf_dispose(&text);
}

/* All of it is done; how long that takes, nobody asserts. */
static void check_all(const pai__buf *text)
{
  pai_report *report;
  pai_spec *spec;

  assert_int_equal(
    pai_spec_check(&report, &spec, pai__buf_text(text), text->len, NULL, NULL),
    PAI_OK);
  pai_spec_unref(spec);
  pai_report_free(report);
}

/* Names that are looked up in, or compared with, very many others. */
static void many_names_among_very_many_others(void **state)
{
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_str(&text, JOB_HEAD JOB_IMAGE "parameters: {");
  for (int i = 0; i < 10000; i++)
    pai__buf_printf(&text, "p%d: 1,", i);
  pai__buf_str(&text, "}\ntaskRoles: {a: {dockerImage: x, " ROLE_SIZES
                      ", commands: [");
  for (int i = 0; i < 10000; i++)
    pai__buf_printf(&text, "<%% $parameters.q%d %%>,", i);
  pai__buf_str(&text, "]}}\n");
  check_all(&text);
  pai__buf_clear(&text);
  pai__buf_str(&text, JOB_HEAD "prerequisites:\n");
  for (int i = 0; i < 3000; i++)
    pai__buf_printf(&text,
                    "- {name: a-name-of-some-length-%d, type: "
                    "dockerimage, uri: u, auth: {password: p}}\n",
                    i);
  pai__buf_str(&text, "taskRoles: {a: {dockerImage: x, " ROLE_SIZES
                      ", commands: [c], prerequisites: [c");
  repeat(&text, ",a-name-of-some-length-zzzz", 3000);
  pai__buf_str(&text, "]}}\n");
  check_all(&text);
  pai__buf_dispose(&text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_of_4_mebibytes),
    cmocka_unit_test(values_64_deep),
    cmocka_unit_test(ten_thousand_roles),
    cmocka_unit_test(a_hundred_thousand_tasks),
    cmocka_unit_test(the_sum_does_not_overflow),
    cmocka_unit_test(memory_of_job_files),
    cmocka_unit_test(aliases_repeat_ten_times),
    cmocka_unit_test(commands_are_bounded),
    cmocka_unit_test(commands_of_version_1_are_bounded),
    cmocka_unit_test(many_names_among_very_many_others),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
