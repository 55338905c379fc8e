/*
 * Job files with the verdicts of OpenPAI's own server: what it accepts is
 * accepted, what it refuses is refused at the same places, and commands are
 * rendered to the same bytes.  docs/compatibility.md says of each exception
 * why it is one.
 */
#include "cases.h"
#include "rows.h"

#include "spec/spec.h"

#include <stdio.h>

static const char *const exceptions[] = {
  /* taskRoles that is no mapping (job-spec 8.1) */
  "chainer-cifar-5888#9",
  "chainer-cifar-b041#16",
  "cifar10-single-mul-DDP-gloo-Apex-mixed-f4fd#20",
  "cifar10_resnet20_1gpu-4ef7#0",
  "cifar10_vgg16_tf_cpu-cccb#9",
  "docker_image_local_registry-a3e1#6",
  "itc-intra-lazy-preempt-prod-9640#13",
  "pytorch-regression-4d11#16",
  "v014-pytorch-regression#21",
  /* v1: JSON with comments */
  "examples_mpi_cntk-mpi.json",
};

/* How js-yaml's messages begin where it is the one that refused. */
static const char *const yaml_messages[] = { "bad indentation",
                                             "expected a single document",
                                             "unknown tag",
                                             "unidentified alias" };

static int excepted;

static bool is_exception(const char *id)
{
  for (size_t i = 0; i < PAI__LEN(exceptions); i++)
    if (strcmp(exceptions[i], id) == 0)
      return true;
  return false;
}

/* Files that have more mistakes than a fraction of CPUs, which is none here. */
static const char *const fractions[] = { "chainer-cifar-5888#7",
                                         "v014-pytorch-regression#2" };

static bool is_fraction(const char *id, const char *pointer)
{
  const char *end = strstr(pointer, "/resourcePerInstance/cpu");

  for (size_t i = 0; end != NULL && i < PAI__LEN(fractions); i++)
    if (strcmp(fractions[i], id) == 0)
      return true;
  return false;
}

/* Whether the text is no document to the server: its YAML or JSON parser
 * threw. */
static bool is_no_document(const pai__tree *row, int version)
{
  const char *message = test_row_text(row, "message", NULL);

  if (strcmp(test_row_text(row, "verdict", NULL), "error") != 0)
    return false;
  for (size_t i = 0; version == 2 && i < PAI__LEN(yaml_messages); i++)
    if (strncmp(message, yaml_messages[i], strlen(yaml_messages[i])) == 0)
      return true;
  return version == 1;
}

/* --- places ---------------------------------------------------------------- */

/* The server's paths as JSON pointers: .a['b c'][0] of version 2, a.0.b of
 * version 1. */
static void to_pointer(pai__buf *out, const char *path, size_t len)
{
  const char *end = path + len;

  while (path < end) {
    const char *start = path;

    if (*path == '[' && path[1] == '\'') {
      pai__buf token = test_buf();
      for (path += 2; path < end && *path != '\''; path++) {
        path += *path == '\\';
        pai__buf_char(&token, *path);
      }
      pai__pointer_add(out, pai__buf_text(&token), token.len);
      pai__buf_dispose(&token);
      path += 2;
      continue;
    }
    if (*path == '.' || *path == '[')
      start = ++path;
    while (path < end && strchr(".[]", *path) == NULL)
      path++;
    pai__pointer_add(out, start, (size_t)(path - start));
    path += path < end && *path == ']';
  }
}

/* Is one the other, or above it? */
static bool is_on_the_way(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b), less = n < m ? n : m;

  return strncmp(a, b, less) == 0 && (n == m || (n < m ? b : a)[less] == '/');
}

static bool is_covered(const pai_report *report, const char *pointer)
{
  for (size_t i = 0; i < pai_report_count(report); i++) {
    const pai_diagnostic *d = pai_report_get(report, i);
    if (d->severity == PAI_SEVERITY_ERROR &&
        is_on_the_way(d->pointer, pointer))
      return true;
  }
  return false;
}

static void check_places(const pai__tree *row, const pai_report *report)
{
  pai__node errors = pai__tree_get(row, 0, "errors"), e;
  pai__tree_walk walk;

  if (errors == PAI__NO_NODE || pai__tree_type(row, errors) != PAI__SEQUENCE)
    return;
  walk = pai__tree_iter(row, errors);
  while ((e = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node path = pai__tree_get(row, e, "path");
    const char *s;
    pai__buf pointer = test_buf();
    size_t len;

    if (path == PAI__NO_NODE)
      continue;
    s = pai__tree_str(row, path, &len);
    to_pointer(&pointer, s, len);
    if (!is_covered(report, pai__buf_text(&pointer)) &&
        !is_fraction(test_row_text(row, "id", NULL), pai__buf_text(&pointer)))
      fail_msg("%s: nothing is found at %s", test_row_text(row, "id", NULL),
               pai__buf_text(&pointer));
    pai__buf_dispose(&pointer);
  }
}

/* --- commands -------------------------------------------------------------- */

static void check_entrypoints(const pai__tree *row, const pai_spec *spec)
{
  pai__node list = pai__tree_get(row, 0, "entrypoints"), key;
  pai__tree_walk walk;
  size_t role = 0;

  if (list == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(row, list);
  for (; (key = pai__tree_next(&walk)) != PAI__NO_NODE; role++) {
    const char *want = pai__tree_str(row, pai__tree_value(row, key), NULL);

    assert_string_equal(pai_spec_role_name(spec, role),
                        pai__tree_str(row, key, NULL));
    if (strcmp(pai_spec_role_script(spec, role), want) != 0)
      fail_msg("%s: %s is\n%s\nnot\n%s", test_row_text(row, "id", NULL),
               pai_spec_role_name(spec, role),
               pai_spec_role_script(spec, role), want);
  }
  assert_int_equal(role, pai_spec_role_count(spec));
}

static void check_row(const pai__tree *row, int version)
{
  size_t len;
  const char *id = test_row_text(row, "id", NULL);
  const char *text = test_row_text(row, "text", &len);
  bool valid = strcmp(test_row_text(row, "verdict", NULL), "valid") == 0;
  pai_report *report;
  pai_spec *spec;

  assert_ok(pai_spec_check(&report, &spec, text, len, NULL, NULL));
  if (is_exception(id)) {
    assert_int_equal(pai_report_valid(report), !valid);
    excepted++;
  } else if (pai_report_valid(report) != valid) {
    const pai_diagnostic *d = pai_report_get(report, 0);
    fail_msg("%s: is %s, we say: %s", id, valid ? "valid" : "invalid",
             d != NULL ? d->message : "valid");
  } else if (valid) {
    assert_int_equal(pai_report_version(report), version);
    check_entrypoints(row, spec);
  } else {
    check_places(row, report);
    if (is_no_document(row, version) !=
        (strcmp(pai_report_get(report, 0)->code, "syntax") == 0))
      fail_msg("%s: is %sto be read, we say: %s", id,
               is_no_document(row, version) ? "not " : "",
               pai_report_get(report, 0)->message);
  }
  assert_int_equal(spec != NULL, pai_report_valid(report));
  pai_spec_unref(spec);
  pai_report_free(report);
}

static void check_v2(const pai__tree *row)
{
  check_row(row, 2);
}

static void check_v1(const pai__tree *row)
{
  check_row(row, 1);
}

TEST(verdicts_are_the_servers)
{
  int v2 = test_each_row("v2-cases.jsonl", check_v2);
  int v1 = test_each_row("v1-cases.jsonl", check_v1);

  if (v2 < 0 || v1 < 0)
    return;
  printf("%d job files of version 2, %d of version 1, %d exceptions\n", v2, v1,
         excepted);
  assert_true(v2 > 1000 && v1 > 100);
  assert_int_equal(excepted, PAI__LEN(exceptions));
  assert_true(excepted * 50 < v2 + v1); /* fewer than 2 % */
}
