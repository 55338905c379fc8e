/*
 * Thousands of job files with the verdicts of OpenPAI's own server, read from
 * the folder $OPENPAI_SHARED, by default ../shared beside the source tree.
 * Every text that the server could judge must parse; what its YAML parser
 * threw out must not.
 */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>

/* How js-yaml's messages begin when it is the one that refused. */
static const char *const yaml_messages[] = {
  "bad indentation",
  "expected a single document",
  "unknown tag",
  "unidentified alias",
};

/* The whole file; NULL when there is none. */
static char *read_file(const char *name, size_t *len)
{
  const char *shared = getenv("OPENPAI_SHARED");
  char path[1024], chunk[65536];
  pai__buf b;
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/data/specs/%s",
                 shared != NULL ? shared : SOURCE_DIR "/../shared", name);
  f = fopen(path, "rb");
  if (f == NULL) {
    printf("skipped: cannot open %s\n", path);
    return NULL;
  }
  pai__buf_init(&b, &pai__libc_alloc);
  for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
    pai__buf_add(&b, chunk, n);
  (void)fclose(f);
  *len = b.len;
  return pai__buf_take(&b);
}

static const char *get(const pai__tree *row, const char *key, size_t *len)
{
  pai__node n = pai__tree_get(row, 0, key);

  return n != PAI__NO_NODE ? pai__tree_str(row, n, len) : NULL;
}

/* Whether the verdict is the parser's own refusal. */
static bool is_refused(const pai__tree *row)
{
  const char *message = get(row, "message", NULL);

  if (strcmp(get(row, "verdict", NULL), "error") != 0)
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
  const char *text = get(row, "text", &len);
  pai__tree *t;
  int rc = pai__yaml_parse(&t, text, len, NULL, &err);

  if (is_refused(row) != (rc < 0))
    fail_msg("%s: the server says \"%s\", we say %u:%u %s",
             get(row, "id", NULL), get(row, "verdict", NULL),
             pai_error_line(err), pai_error_column(err),
             rc < 0 ? pai_error_message(err) : "ok");
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
  const char *text = get(row, "text", &len);
  bool refused = strcmp(get(row, "verdict", NULL), "error") == 0;
  pai__tree *t;
  int rc = pai__json_parse(&t, text, len, &opts, NULL);

  if (refused != (rc < 0))
    fail_msg("%s: the server says \"%s\"", get(row, "id", NULL),
             get(row, "verdict", NULL));
  if (rc == PAI_OK)
    test_check_tree(t);
  pai__tree_free(t);
}

/* Calls `check` for each line of JSON; returns their number, or -1. */
static int each_row(const char *name, void (*check)(const pai__tree *row))
{
  size_t len;
  char *all = read_file(name, &len), *line = all, *end;
  int rows = 0;

  if (all == NULL)
    return -1;
  for (; (end = memchr(line, '\n', len - (size_t)(line - all))) != NULL;
       line = end + 1) {
    pai_error *err = NULL;
    pai__tree *row;

    if (pai__json_parse(&row, line, (size_t)(end - line), NULL, &err) < 0)
      fail_msg("%s:%d: %s", name, rows + 1, pai_error_message(err));
    check(row);
    pai__tree_free(row);
    rows++;
    if ((size_t)(end + 1 - all) == len)
      break;
  }
  pai__strfree(&pai__libc_alloc, all);
  return rows;
}

static bool skipped;

static void corpora_get_the_servers_verdicts(void **state)
{
  int v2 = each_row("v2-cases.jsonl", check_v2);
  int v1 = each_row("v1-cases.jsonl", check_v1);

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
