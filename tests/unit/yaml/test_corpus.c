/*
 * Thousands of job files with the verdicts of OpenPAI's own server, read from
 * the folder $OPENPAI_SHARED, by default ../shared beside the source tree.
 * Every text that the server could judge must parse; what its YAML parser
 * threw out must not.
 */
#include "documents.h"
#include "rows.h"

#include <stdio.h>

/* How js-yaml's messages begin when it is the one that refused. */
static const char *const yaml_messages[] = {
  "bad indentation",
  "expected a single document",
  "unknown tag",
  "unidentified alias",
};

/* Whether the verdict is the parser's own refusal. */
static bool is_refused(const pai__tree *row)
{
  const char *message = test_row_text(row, "message", NULL);

  if (strcmp(test_row_text(row, "verdict", NULL), "error") != 0)
    return false;
  for (size_t i = 0; i < PAI__LEN(yaml_messages); i++)
    if (strncmp(message, yaml_messages[i], strlen(yaml_messages[i])) == 0)
      return true;
  return false;
}

static void check_v2(const pai__tree *row)
{
  pai_error *err = NULL;
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  pai__tree *t;
  int rc = pai__yaml_parse(&t, text, len, NULL, &err);

  if (is_refused(row) != (rc < 0))
    fail_msg("%s: the server says \"%s\", we say %u:%u %s",
             test_row_text(row, "id", NULL),
             test_row_text(row, "verdict", NULL), pai_error_line(err),
             pai_error_column(err), rc < 0 ? pai_error_message(err) : "ok");
  if (rc == PAI_OK)
    test_check_tree(t);
  else
    assert_true(pai_error_line(err) > 0 && pai_error_column(err) > 0);
  pai_error_free(err);
  pai__tree_free(t);
}

static void check_v1(const pai__tree *row)
{
  pai__json_options opts = { .flags = PAI__JSON_DUPLICATES };
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  bool refused = strcmp(test_row_text(row, "verdict", NULL), "error") == 0;
  pai__tree *t;
  int rc = pai__json_parse(&t, text, len, &opts, NULL);

  if (refused != (rc < 0))
    fail_msg("%s: the server says \"%s\"", test_row_text(row, "id", NULL),
             test_row_text(row, "verdict", NULL));
  if (rc == PAI_OK)
    test_check_tree(t);
  pai__tree_free(t);
}

static bool skipped;

static void corpora_get_the_servers_verdicts(void **state)
{
  int v2 = test_each_row("v2-cases.jsonl", check_v2);
  int v1 = test_each_row("v1-cases.jsonl", check_v1);

  (void)state;
  skipped = v2 < 0 || v1 < 0;
  if (!skipped) {
    printf("%d job files of version 2, %d of version 1\n", v2, v1);
    assert_true(v2 > 1000 && v1 > 100);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(corpora_get_the_servers_verdicts),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
