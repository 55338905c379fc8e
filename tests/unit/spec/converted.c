/* converted.c - job files from v1 to v2 and back, in tests */
#include "converted.h"

#include <openpai/spec.h>

#include <stdio.h>

/* --- converting --------------------------------------------------------- */

static char noted[16384];
static const pai__tree *noting; /* what is converted */

const char *test_noted(void)
{
  return noted;
}

static int take_note(void *user_data, const pai__convert_note *note)
{
  size_t len = strlen(noted);
  pai__buf pointer;

  assert_ptr_equal(user_data, noted);
  assert_true(note->message[0] != '\0');
  pai__buf_init(&pointer, &pai__libc_alloc);
  pai__tree_pointer(noting, note->node, &pointer);
  (void)snprintf(noted + len, sizeof(noted) - len, "%s %s %d\n", note->code,
                 pai__buf_text(&pointer), note->severity);
  pai__buf_dispose(&pointer);
  return PAI_OK;
}

char *test_convert(test_conversion to, const pai__tree *t)
{
  pai__buf b;

  noted[0] = '\0';
  noting = t;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(to(&b, t, take_note, noted), PAI_OK);
  return pai__buf_take(&b);
}

void test_text_free(char *text)
{
  pai__strfree(&pai__libc_alloc, text);
}

pai__tree *test_v1_parse(const char *text)
{
  pai__json_options opts = { .flags =
                               PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES };

  return test_json_parse(text, &opts);
}

/* --- judging ------------------------------------------------------------ */

/* Errors; and in v1, numbers of tasks that a role does not have. */
static bool is_wrong(const pai_diagnostic *d, int version)
{
  return d->severity == PAI_SEVERITY_ERROR ||
         (version == 1 && strcmp(d->code, "out-of-reach") == 0);
}

/* What is wrong with a file: "CODE POINTER", a line each; the caller frees. */
static char *wrong_in(const char *text, int version)
{
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf b;

  assert_int_equal(
    pai_spec_check(&report, NULL, text, strlen(text), NULL, NULL), PAI_OK);
  assert_int_equal(pai_report_version(report), version);
  pai__buf_init(&b, &pai__libc_alloc);
  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    if (is_wrong(d, version))
      pai__buf_printf(&b, "%s %s\n", d->code, d->pointer);
  assert_true(b.len > 0 || pai_report_valid(report));
  pai_report_free(report);
  return pai__buf_take(&b);
}

/* The same lines, in any order: that of a job's fields may change. */
static bool same_lines(const char *a, const char *b)
{
  size_t len = strlen(a);

  for (const char *end; (end = strchr(a, '\n')) != NULL; a = end + 1) {
    char line[256];

    (void)snprintf(line, sizeof(line), "%.*s\n", (int)(end - a), a);
    if (strstr(b, line) == NULL)
      return false;
  }
  return strlen(b) == len;
}

static void check(const char *text, int version, const char *wrong)
{
  char *found = wrong_in(text, version);

  if (!same_lines(found, wrong))
    fail_msg("wrong:\n%swant:\n%sin:\n%s", found, wrong, text);
  test_text_free(found);
}

char *test_to_v2(const pai__tree *v1)
{
  char *text = test_convert(pai__convert_v1_to_v2, v1);

  check(text, 2, "");
  return text;
}

/* v2 to v1, with this wrong in the result; NULL: at most what is noted. */
static char *to_v1_with(const char *v2, const char *wrong)
{
  pai__tree *t = test_yaml_parse(v2, NULL);
  char *text = test_convert(pai__convert_v2_to_v1, t);

  if (wrong == NULL)
    wrong = strstr(noted, "no-image") != NULL ? "empty /image\n" : "";
  check(text, 1, wrong);
  pai__tree_free(t);
  return text;
}

char *test_to_v1(const char *v2)
{
  return to_v1_with(v2, NULL);
}

/* --- there and back ----------------------------------------------------- */

static const char job_defaults[] =
  "{\"authFile\": \"\", \"dataDir\": \"\", \"outputDir\": \"\", "
  "\"codeDir\": \"\", \"gpuType\": \"\", \"virtualCluster\": \"default\", "
  "\"retryCount\": 0}";
static const char role_defaults[] =
  "{\"taskNumber\": 1, \"cpuNumber\": 1, \"memoryMB\": 100, \"shmMB\": 64, "
  "\"gpuNumber\": 0, \"portList\": [], \"minFailedTaskCount\": 1, "
  "\"minSucceededTaskCount\": null}";

static const char *str(const pai__tree *t, pai__node n)
{
  assert_true(n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING);
  return pai__tree_str(t, n, NULL);
}

/* Every field of `want` is in `got`, or has its default; and the other way
 * round.  `but` is compared elsewhere. */
static void same_fields(const pai__tree *want, pai__node m,
                        const pai__tree *got, pai__node n, const char *but,
                        const pai__tree *defaults)
{
  for (int turn = 0; turn < 2; turn++) {
    const pai__tree *a = turn == 0 ? want : got, *b = turn == 0 ? got : want;
    pai__tree_walk w = pai__tree_iter(a, turn == 0 ? m : n);
    pai__node key;

    while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
      const char *name = str(a, key);
      pai__node value = pai__tree_value(a, key);
      pai__node other = pai__tree_get(b, turn == 0 ? n : m, name);
      pai__node usual = pai__tree_get(defaults, 0, name);

      if (strcmp(name, but) == 0)
        continue;
      if (other == PAI__NO_NODE
            ? usual == PAI__NO_NODE || !test_same(a, value, defaults, usual)
            : !test_same(a, value, b, other))
        fail_msg("%s is not as it was: %s\n%s", name, want->text, got->text);
    }
  }
}

static void same_jobs(const pai__tree *want, const pai__tree *got)
{
  pai__node wanted = pai__tree_get(want, 0, "taskRoles"), m;
  pai__node roles = pai__tree_get(got, 0, "taskRoles");
  pai__tree_walk v = pai__tree_iter(want, wanted);
  pai__tree_walk w = pai__tree_iter(got, roles);
  pai__tree *job = test_v1_parse(job_defaults),
            *role = test_v1_parse(role_defaults);

  same_fields(want, 0, got, 0, "taskRoles", job);
  assert_int_equal(pai__tree_count(want, wanted), pai__tree_count(got, roles));
  while ((m = pai__tree_next(&v)) != PAI__NO_NODE)
    same_fields(want, m, got, pai__tree_next(&w), "", role);
  pai__tree_free(job);
  pai__tree_free(role);
}

void test_there_and_back(const char *v1, const char *value)
{
  pai__tree *t = test_v1_parse(v1), *want = test_v1_parse(value), *got;
  char *wrong = wrong_in(v1, 1);
  char *v2 = test_to_v2(t), *again = to_v1_with(v2, wrong);

  got = test_v1_parse(again);
  same_jobs(want, got);
  test_text_free(wrong);
  test_text_free(v2);
  test_text_free(again);
  pai__tree_free(t);
  pai__tree_free(want);
  pai__tree_free(got);
}

void test_v1_is_stable(const char *v2)
{
  char *v1 = test_to_v1(v2), *back, *again;
  pai__tree *t = test_v1_parse(v1);

  if (*str(t, pai__tree_get(t, 0, "image")) ==
      '\0') { /* v1 could not say it */
    assert_non_null(strstr(noted, "no-image"));
  } else {
    back = test_to_v2(t);
    again = test_to_v1(back);
    assert_string_equal(again, v1);
    test_text_free(back);
    test_text_free(again);
  }
  pai__tree_free(t);
  test_text_free(v1);
}

/* --- failing ------------------------------------------------------------ */

typedef struct fault {
  test_conversion to;
  const pai__tree *tree;
  const char *want;
} fault;

static int count(void *user_data, const pai__convert_note *note)
{
  (void)note;
  ++*(int *)user_data;
  return PAI_OK;
}

static int convert_under_faults(const pai_alloc *alloc, void *user_data)
{
  const fault *f = user_data;
  int notes = 0, rc;
  pai__buf b;

  pai__buf_init(&b, alloc);
  rc = f->to(&b, f->tree, count, &notes);
  if (rc == PAI_OK) {
    assert_string_equal(pai__buf_text(&b), f->want);
    assert_true(notes > 0);
  }
  pai__buf_dispose(&b);
  return rc;
}

void test_convert_faults(test_conversion to, const pai__tree *t,
                         const char *want)
{
  fault f = { to, t, want };

  test_faults(convert_under_faults, &f);
}
