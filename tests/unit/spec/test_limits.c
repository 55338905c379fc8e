/*
 * Limits: at each, one over it, and with another one in the options.  And
 * files that are small and would make very much: they are refused, or cost no
 * more than others.
 */
#include "cases.h"
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
  report = test_report(pai__buf_text(text), text->len, o);
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

#define V1_ROLES "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}"

static void fill(pai__buf *out, size_t size, char with)
{
  assert_true(pai__buf_reserve(out, size - out->len));
  memset(out->data + out->len, with, size - out->len);
  out->len = size;
  out->data[size] = '\0';
}

/* Files of so many bytes, levels, roles, tasks and of a list that is there so
 * many times, once as itself. */
static void long_yaml(pai__buf *out, size_t bytes)
{
  pai__buf_str(out, JOB_HEAD JOB_IMAGE JOB_ROLES "# ");
  fill(out, bytes, '#');
}

static void long_json(pai__buf *out, size_t bytes)
{
  pai__buf_str(out, V1_HEAD V1_ROLES "]}");
  fill(out, bytes, ' ');
}

static void deep(pai__buf *out, size_t depth, const char *head,
                 const char *tail)
{
  pai__buf_str(out, head);
  repeat(out, "[", depth - 2);
  repeat(out, "]", depth - 2);
  pai__buf_str(out, tail);
}

static void deep_yaml(pai__buf *out, size_t depth)
{
  deep(out, depth, JOB_HEAD JOB_IMAGE JOB_ROLES "extras: {x: ", "}\n");
}

static void deep_json(pai__buf *out, size_t depth)
{
  deep(out, depth, V1_HEAD V1_ROLES "], \"extras\": {\"x\": ", "}}\n");
}

static void many_roles(pai__buf *out, size_t roles)
{
  pai__buf_str(out,
               JOB_HEAD JOB_IMAGE "taskRoles:\n  r: &r {" ROLE_FIELDS "}\n");
  for (size_t i = 1; i < roles; i++)
    pai__buf_printf(out, "  r%zu: {" ROLE_FIELDS "}\n", i);
}

static void more_v1_roles(pai__buf *out, size_t roles)
{
  pai__buf_str(out, V1_ROLES);
  for (size_t i = 1; i < roles; i++)
    pai__buf_printf(out, ",\n{\"name\": \"r%zu\", \"command\": \"c\"}", i);
  pai__buf_str(out, "]}");
}

static void many_v1_roles(pai__buf *out, size_t roles)
{
  pai__buf_str(out, V1_HEAD);
  more_v1_roles(out, roles);
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
  pai__buf_printf(
    out,
    V1_HEAD V1_ROLES
    ", {\"name\": \"s\", \"taskNumber\": \"%zu\", \"command\": \"c\"}]}",
    tasks - 1);
}

static void many_aliases(pai__buf *out, size_t times)
{
  pai__buf_str(out, JOB_HEAD JOB_IMAGE JOB_ROLES "extras:\n  l: &l [0");
  repeat(out, ",0", 1999);
  pai__buf_str(out, "]\n  m: [*l");
  repeat(out, ",*l", times - 2);
  pai__buf_str(out, "]\n");
}

/* What writes a file of a size, the largest, the option that bounds it, and a
 * part of what is said of a larger one. */
static const struct {
  void (*make)(pai__buf *out, size_t size);
  size_t most, option;
  const char *says;
} limits[] = {
  { long_yaml, 4 << 20, offsetof(pai_spec_options, max_bytes), "bytes" },
  { long_json, 4 << 20, offsetof(pai_spec_options, max_bytes), "bytes" },
  { deep_yaml, 64, offsetof(pai_spec_options, max_depth), "deep" },
  { deep_json, 64, offsetof(pai_spec_options, max_depth), "deep" },
  { many_roles, 10000, offsetof(pai_spec_options, max_roles), "task roles" },
  { many_v1_roles, 10000, offsetof(pai_spec_options, max_roles),
    "task roles" },
  { many_tasks, 100000, offsetof(pai_spec_options, max_tasks), "tasks" },
  { many_v1_tasks, 100000, offsetof(pai_spec_options, max_tasks), "tasks" },
  { many_aliases, 10, offsetof(pai_spec_options, max_aliases),
    "grows too much" },
};

static void set_limit(pai_spec_options *o, size_t option, size_t to)
{
  uint32_t narrow = (uint32_t)to;

  if (option == offsetof(pai_spec_options, max_bytes))
    o->max_bytes = to;
  else
    memcpy((char *)o + option, &narrow, sizeof(narrow));
}

TEST(each_limit_holds_and_can_be_moved)
{
  pai__buf text = test_buf();

  for (size_t i = 0; i < PAI__LEN(limits); i++) {
    pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
    const char *says = limits[i].says;

    pai__buf_clear(&text);
    limits[i].make(&text, limits[i].most);
    assert_ok(verdict(&text, NULL, says));
    set_limit(&o, limits[i].option, limits[i].most - 1);
    assert_int_equal(verdict(&text, &o, says), PAI_ELIMIT);
    pai__buf_clear(&text);
    limits[i].make(&text, limits[i].most + 1);
    assert_int_equal(verdict(&text, NULL, says), PAI_ELIMIT);
    set_limit(&o, limits[i].option, limits[i].most + 1);
    assert_ok(verdict(&text, &o, says));
  }
  pai__buf_dispose(&text);
}

TEST(the_sum_does_not_overflow)
{
  static const char *const counts[] = { "4294967295", "4294967297", "1e18",
                                        "1e300", ".inf" };
  pai__buf text = test_buf();

  for (size_t i = 0; i < PAI__LEN(counts); i++) {
    pai__buf_clear(&text);
    pai__buf_printf(&text,
                    JOB_HEAD JOB_IMAGE
                    "taskRoles:\n  a: {instances: %s, " ROLE_FIELDS
                    "}\n  b: {instances: %s, " ROLE_FIELDS "}\n",
                    counts[i], counts[i]);
    assert_int_equal(verdict(&text, NULL, "tasks; the limit is 100000"),
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
    assert_ok(
      pai_spec_check(&report, parse ? &spec : NULL, text, len, &o, NULL));
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
  pai_report *report = test_report(text, len, NULL);
  int valid;

  valid = pai_report_valid(report);
  pai_report_free(report);
  if (valid)
    check_memory(text, len);
}

TEST(memory_of_job_files)
{
  static const struct {
    void (*make)(pai__buf *out, size_t size);
    size_t size;
  } large[] = { { long_yaml, 4 << 20 },
                { long_json, 4 << 20 },
                { many_roles, 10000 },
                { many_roles, 100 } };
  pai__buf text = test_buf();

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

/* --- little that makes much ------------------------------------------------ */

/* A mebibyte of `y` between two texts, and a line for each of many roles;
 * that of version 1 says once what version 2 says in each role. */
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
    "]}, r2: {postCommands: *p}}}]\ntaskRoles:\n", "c, \"d\"", NULL },
  { "\"dataDir\": \"", "\", ", NULL, "protocol v2 cannot express this" },
};

static void expand(pai__buf *out, size_t i, size_t roles)
{
  const char *command = expansions[i].command;

  pai__buf_clear(out);
  pai__buf_str(out, command != NULL ? JOB_HEAD JOB_IMAGE : V1_HEAD);
  pai__buf_str(out, expansions[i].before);
  fill(out, out->len + (1 << 20), 'y');
  pai__buf_str(out, expansions[i].after);
  if (command == NULL)
    more_v1_roles(out, roles);
  for (size_t k = 0; command != NULL && k < roles; k++)
    pai__buf_printf(
      out, "  r%zu: {dockerImage: x, " ROLE_SIZES ", commands: [%s]}\n", k,
      command);
}

/* 64 MiB are allowed, three for each role here: as written, and twice with
 * templates filled in. */
TEST(commands_are_bounded)
{
  pai__buf text = test_buf();

  for (size_t i = 0; i < PAI__LEN(expansions); i++) {
    const char *says = expansions[i].says;

    expand(&text, i, 8);
    assert_ok(verdict(&text, NULL, ""));
    expand(&text, i, 1000);
    assert_int_equal(verdict(&text, NULL, says),
                     says == NULL ? PAI_OK : PAI_ELIMIT);
  }
  pai__buf_dispose(&text);
}

/* All of it is done; how long that takes, nobody asserts. */
static void check_all(const pai__buf *text)
{
  pai_report *report;
  pai_spec *spec;

  assert_ok(pai_spec_check(&report, &spec, pai__buf_text(text), text->len,
                           NULL, NULL));
  pai_spec_unref(spec);
  pai_report_free(report);
}

/* Names that are looked up in, or compared with, very many others. */
TEST(many_names_among_very_many_others)
{
  pai__buf text = test_buf();

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
                    "- {name: a-name-of-some-length-%d, type: dockerimage, "
                    "uri: u, auth: {password: p}}\n",
                    i);
  pai__buf_str(&text, "taskRoles: {a: {dockerImage: x, " ROLE_SIZES
                      ", commands: [c], prerequisites: [c");
  repeat(&text, ",a-name-of-some-length-zzzz", 3000);
  pai__buf_str(&text, "]}}\n");
  check_all(&text);
  pai__buf_dispose(&text);
}
