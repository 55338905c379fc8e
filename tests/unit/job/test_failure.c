/* Failures that people have, explained from what their programs printed. */
#include "cases.h"

#include "base/os/posix_fs.h"
#include "job/end/failure.h"
#include "job/end/pattern.h"
#include "json/json.h"

#include <stdlib.h>

enum { MOST = 200 };

/* An entry of failure_texts.txt. */
typedef struct failure_text {
  int code;
  const char *name;
  char *reason;
  const char *solution; /* a part of it; or NULL */
  const char *text;
} failure_text;

static char *file; /* that holds them */
static failure_text texts[MOST];
static size_t ntexts;

/* Ends the part before it; what is behind it, or NULL. */
static char *cut(char *text, const char *mark)
{
  char *at = text != NULL ? strstr(text, mark) : NULL;

  if (at == NULL)
    return NULL;
  *at = '\0';
  return at + strlen(mark);
}

/* Entries stay in what was read of the file, which is cut up. */
static int read_texts(void **state)
{
  pai__buf b = test_buf();
  char *at;

  (void)state;
  if (pai__fs_read(&b, SOURCE_DIR "/tests/unit/job/failure_texts.txt", 1 << 20,
                   NULL) < 0)
    return -1;
  pai__buf_str(&b, "");
  file = pai__buf_take(&b);
  for (at = strstr(file, "\n= "); at != NULL; ntexts++) {
    failure_text *t = &texts[ntexts];
    char *line = at + 3, *text = strchr(line, '\n') + 1;

    assert_true(ntexts < MOST);
    at = strstr(text - 1, "\n= ");
    if (at != NULL)
      at[1] = '\0';
    text[-1] = '\0';
    t->text = text;
    t->reason = cut(line, " | ");
    t->solution = cut(t->reason, " | ");
    t->code = (int)strtol(cut(line, " "), NULL, 10);
    t->name = line;
  }
  return 0;
}

static int free_texts(void **state)
{
  (void)state;
  pai__strfree(&pai__libc_alloc, file);
  return 0;
}

static pai__end_facts facts_of(int code, const char *text)
{
  return (pai__end_facts){ .how = PAI__END_EXITED,
                           .code = code,
                           .user = { text, strlen(text) } };
}

/* The explanation, or NULL. */
static pai__tree *explain(const pai__end_facts *facts,
                          const pai__failures *own)
{
  pai__tree *t = NULL;
  pai__buf b = test_buf();

  assert_ok(pai__failure_explain(&b, facts, own));
  if (b.len > 0)
    assert_ok(pai__json_parse(&t, b.data, b.len, NULL, NULL));
  pai__buf_dispose(&b);
  return t;
}

static const char *text_of(const pai__tree *t, const char *key)
{
  return pai__tree_text(t, pai__tree_get(t, 0, key), NULL);
}

/* Its only one, or NULL. */
static const char *solution_of(const pai__tree *t)
{
  pai__tree_walk walk = pai__tree_iter(t, pai__tree_get(t, 0, "solution"));

  return pai__tree_text(t, pai__tree_next(&walk), NULL);
}

/* --- built-in ones ------------------------------------------------------------- */

static void check_text(const failure_text *wanted)
{
  pai__end_facts facts = facts_of(wanted->code, wanted->text);
  pai__tree *t = explain(&facts, NULL);
  const char *name = t != NULL ? text_of(t, "name") : "nothing";

  if (strcmp(name, wanted->name) != 0)
    fail_msg("%s, not %s: %s", name, wanted->name, wanted->text);
  if (t == NULL)
    return;
  assert_string_equal(text_of(t, "reason"), wanted->reason);
  if (wanted->solution != NULL &&
      strstr(solution_of(t), wanted->solution) == NULL)
    fail_msg("%s is not in: %s", wanted->solution, solution_of(t));
  pai__tree_free(t);
}

TEST(texts_are_explained)
{
  assert_true(ntexts > 100);
  for (size_t i = 0; i < ntexts; i++)
    check_text(&texts[i]);
}

/* Does the row find something in it? */
static bool finds(const pai__failure *row, const failure_text *t)
{
  pai__pattern_span found[1 + PAI__PATTERN_GROUPS];
  pai__pattern p;

  if (row->exit != 0 && row->exit != t->code)
    return false;
  return row->pattern == NULL ||
         (pai__pattern_make(&p, row->pattern) &&
          pai__pattern_find(found, &p, t->text, strlen(t->text), true) > 0);
}

/* The first row that fits a text is tried by it. */
static void try_rows(bool *tried, const failure_text *t)
{
  for (size_t r = 0; r < pai__failure_count; r++)
    if (pai__failure_rows[r].memory == PAI__MEMORY_ANY &&
        finds(&pai__failure_rows[r], t)) {
      tried[r] = true;
      return;
    }
}

TEST(each_row_has_a_text)
{
  bool *tried = calloc(pai__failure_count, sizeof(*tried));

  assert_non_null(tried);
  for (size_t i = 0; i < ntexts; i++)
    try_rows(tried, &texts[i]);
  for (size_t r = 0; r < pai__failure_count; r++)
    if (!tried[r] && pai__failure_rows[r].memory == PAI__MEMORY_ANY)
      fail_msg("row %zu, %s, has no text: %s", r, pai__failure_rows[r].name,
               pai__failure_rows[r].pattern);
  free(tried);
}

TEST(each_row_is_whole)
{
  for (size_t r = 0; r < pai__failure_count; r++) {
    const pai__failure *row = &pai__failure_rows[r];
    pai__pattern p = { .ngroups = 0 };

    if (row->pattern != NULL && !pai__pattern_make(&p, row->pattern))
      fail_msg("%s: no pattern: %s", row->name, row->pattern + p.stop);
    assert_non_null(row->reason);
    assert_non_null(row->solution);
    if (pai__failure_lacks(row->reason, p.ngroups) != 0 ||
        pai__failure_lacks(row->solution, p.ngroups) != 0)
      fail_msg("%s names a group that it has not", row->name);
  }
}

/* What ended it counts, whatever it printed. */
TEST(memory_comes_first)
{
  static const char text[] = "ModuleNotFoundError: No module named 'torch'\n";
  pai__end_facts facts = { .how = PAI__END_OOM,
                           .code = 137,
                           .user = { text, strlen(text) } };
  pai__tree *t = explain(&facts, NULL);

  assert_string_equal(text_of(t, "name"), "memory-limit");
  assert_true(pai__tree_is(t, pai__tree_get(t, 0, "line"), PAI__NULL));
  pai__tree_free(t);
  facts.how = PAI__END_EXITED;
  facts.memory_short = true;
  t = explain(&facts, NULL);
  assert_string_equal(text_of(t, "name"), "memory-short");
  pai__tree_free(t);
  facts.how = PAI__END_LOST;
  assert_null(explain(&facts, NULL));
}

/* Of a task that could not be started the other log is looked at. */
TEST(a_failed_start_is_explained)
{
  static const char text[] = "mkdir: /x: No space left on device\n";
  pai__end_facts facts = { .how = PAI__END_FAILED,
                           .code = 126,
                           .runtime = { text, strlen(text) } };
  pai__tree *t = explain(&facts, NULL);

  assert_string_equal(text_of(t, "name"), "disk-full");
  pai__tree_free(t);
  facts.runtime.text = NULL;
  assert_null(explain(&facts, NULL));
}

/* The last line counts; what is found is cut, and no character with it. */
TEST(what_is_found_is_cut)
{
  char text[2000] = "ModuleNotFoundError: No module named 'one'\n"
                    "ModuleNotFoundError: No module named 'two";
  size_t len = strlen(text);
  pai__end_facts facts = { .how = PAI__END_EXITED, .code = 1 };
  pai__tree *t;

  while (len + 3 < 1000) {
    memcpy(text + len, "\xc3\xa9", 2);
    len += 2;
  }
  memcpy(text + len, "'\r\nbye\n", 8);
  facts.user = (pai__log_tail){ text, len + 7 };
  t = explain(&facts, NULL);
  assert_has(text_of(t, "reason"), "module 'two\xc3\xa9\xc3\xa9");
  assert_null(strstr(text_of(t, "reason"), "\xef\xbf\xbd")); /* U+FFFD */
  assert_int_equal(strlen(text_of(t, "reason")),
                   strlen("Python has no module ''.") + 119);
  assert_int_equal(strncmp(text_of(t, "line"), "ModuleNotFoundError", 19), 0);
  assert_true(strlen(text_of(t, "line")) <= 400);
  pai__tree_free(t);
}

/* --- own ones ---------------------------------------------------------------- */

static char own_file[] =
  "failures:\n"
  "  - name: license-server\n"
  "    pattern: \"FlexNet error:(-[0-9]+),(\\\\d+)\"\n"
  "    reason: The license server refused ($1, $2); that costs $$ 5, $0.\n"
  "    solution: Ask licenses@example.org for a seat.\n"
  "  - name: our-module\n"
  "    pattern: No module named 'ourlib'\n"
  "    reason: ourlib is a file of ours.\n"
  "  - name: own-code\n"
  "    exitCode: 77\n"
  "    reason: The data is not ready.\n";

TEST(own_ones_come_first)
{
  static const struct {
    int code;
    const char *text, *name, *reason, *solution,
      *line; /* NULL: not looked at */
  } rows[] = {
    { 1, "x\nFlexNet error:-88,309\nbye\n", "license-server",
      "The license server refused (-88, 309); that costs $$ 5, $0.",
      "Ask licenses@example.org for a seat.", "FlexNet error:-88,309" },
    { 1, "ModuleNotFoundError: No module named 'ourlib'\n", "our-module", NULL,
      NULL, NULL },
    { 77, "", "own-code", NULL, NULL, NULL },
    { 1, "ModuleNotFoundError: No module named 'torch'\n", "module-missing",
      NULL, "Install", NULL },
  };
  pai__failures *own;

  assert_ok(pai__failures_read(&own, own_file, strlen(own_file), "f",
                               &pai__libc_alloc, NULL));
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts facts = facts_of(rows[i].code, rows[i].text);
    pai__tree *t = explain(&facts, own);

    assert_string_equal(text_of(t, "name"), rows[i].name);
    if (rows[i].reason != NULL)
      assert_string_equal(text_of(t, "reason"), rows[i].reason);
    if (rows[i].line != NULL)
      assert_string_equal(text_of(t, "line"), rows[i].line);
    if (rows[i].solution == NULL)
      assert_null(solution_of(t));
    else
      assert_has(solution_of(t), rows[i].solution);
    pai__tree_free(t);
  }
  pai__failures_free(own);
}

TEST(what_is_wrong_is_told)
{
  static const struct {
    const char *text, *message, *help;
  } rows[] = {
    { "failures: [", "/r/failures.yaml:1:", NULL },
    { "failures: 3",
      "/r/failures.yaml:1:1: the file is not a list of failures",
      "start the file with 'failures:'" },
    { "- name: x", "/r/failures.yaml:1:1: the file is not a list", NULL },
    { "failures: []\nother: 1", "/r/failures.yaml:1:1: the file is not",
      NULL },
    { "failures:\n  - x", "/r/failures.yaml:2:5: a failure must be a mapping",
      NULL },
    { "failures:\n  - nmae: x", "/r/failures.yaml:2:5: a failure has no nmae",
      "its members are name, pattern, exitCode, reason, solution" },
    { "failures:\n  - reason: x\n    pattern: y",
      "/r/failures.yaml:2:5: a failure has no name", "add 'name: ...'" },
    { "failures:\n  - name: x\n    pattern: y",
      "/r/failures.yaml:2:5: a failure has no reason", "add 'reason: ...'" },
    { "failures:\n  - name: x\n    reason: y",
      "/r/failures.yaml:2:5: a failure has no pattern", "or exitCode" },
    { "failures:\n  - name: 7", "/r/failures.yaml:2:11: name is not text",
      "put it in quotes" },
    { "failures:\n  - name: ''", "/r/failures.yaml:2:11: name is empty",
      NULL },
    { "failures:\n  - exitCode: 0",
      "/r/failures.yaml:2:15: exitCode must be a number from 1 to 255",
      "omit exitCode" },
    { "failures:\n  - name: x\n    reason: y\n    pattern: 'a(b'",
      "/r/failures.yaml:4:5: the pattern cannot be read from character 2 on: "
      "(b",
      "patterns support" },
    { "failures:\n  - name: x\n    pattern: a(b)\n    reason: y $2",
      "/r/failures.yaml:4:13: reason names $2, but the pattern has 1 group",
      "parentheses" },
    { "failures:\n  - name: x\n    exitCode: 1\n    reason: y\n    solution: "
      "$1",
      "/r/failures.yaml:5:15: solution names $1, but the pattern has 0 groups",
      NULL },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__failures *own;
    pai_error *err = NULL;
    int rc = pai__failures_read(&own, rows[i].text, strlen(rows[i].text),
                                "/r/failures.yaml", &pai__libc_alloc, &err);

    assert_int_equal(rc, PAI_EINVAL);
    assert_null(own);
    if (strncmp(pai_error_message(err), rows[i].message,
                strlen(rows[i].message)) != 0)
      fail_msg("%s", pai_error_message(err));
    if (rows[i].help != NULL &&
        (pai_error_help(err) == NULL ||
         strstr(pai_error_help(err), rows[i].help) == NULL))
      fail_msg("row %zu: %s", i, pai_error_help(err));
    pai_error_free(err);
  }
}

TEST(an_empty_file_has_none)
{
  static const char *const rows[] = { "", "# nothing yet\n",
                                      "failures: []\n" };
  const pai__failure *list;
  pai__failures *own;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(pai__failures_read(&own, rows[i], strlen(rows[i]), "f",
                                 &pai__libc_alloc, NULL));
    assert_int_equal(pai__failures_rows(own, &list), 0);
    pai__failures_free(own);
  }
  assert_int_equal(pai__failures_rows(NULL, &list), 0);
  pai__failures_free(NULL);
}

/* --- memory ------------------------------------------------------------------- */

static int read_and_explain(const pai_alloc *alloc, void *user_data)
{
  pai__end_facts facts = facts_of(1, "FlexNet error:-88,309\n");
  const char *rules = user_data;
  pai__failures *own;
  pai_error *err = NULL;
  pai__buf b;
  int rc = pai__failures_read(&own, rules, strlen(rules), "f", alloc, &err);

  assert_true((rc < 0) == (err != NULL));
  pai_error_free(err);
  if (rc == PAI_EINVAL) /* the file is wrong */
    return PAI_OK;
  if (rc < 0)
    return rc;
  pai__buf_init(&b, alloc);
  rc = pai__failure_explain(&b, &facts, own);
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&b), "(-88, 309)");
  pai__buf_dispose(&b);
  pai__failures_free(own);
  return rc;
}

TEST(failing_memory_is_survived)
{
  static char wrong[] = "failures:\n  - name: x\n    pattern: a(b\n"
                        "    reason: y\n";

  test_faults(read_and_explain, own_file);
  test_faults(read_and_explain, wrong);
}

TEST_AROUND_ALL(read_texts, free_texts);
