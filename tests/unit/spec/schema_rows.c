/*
 * schema_rows SCHEMA|ROWS VERSION: what schema_rows.py needs of the library
 *
 * `schema` prints the schema; `rows` prints real job files as our readers
 * take them, a line each: {"id": .., "file": .., "ours": valid or not}.
 * What no reader takes is left out.
 */
#include "documents.h"
#include "rows.h"

#include "json/writer.h"
#include "spec/read.h"

#include <stdio.h>

static int version;

static int print(void *user_data, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, user_data) == len ? PAI_OK : PAI_EIO;
}

static void write_row(const pai__tree *row)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT, all;
  pai_report *report;
  pai__json_writer w;
  pai__tree *tree;
  pai__buf out = test_buf();
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  int told;

  opts.version = version;
  assert_ok(pai__spec_options(&all, &opts, NULL));
  if (pai__spec_tree(&tree, &told, NULL, text, len, &all, NULL) < 0)
    return;
  pai__json_writer_init(&w, &out, false);
  pai__json_writer_to(&w, print, stdout);
  pai__json_begin_object(&w);
  pai__json_member(&w, "id");
  pai__json_text(&w, test_row_text(row, "id", NULL),
                 strlen(test_row_text(row, "id", NULL)));
  pai__json_member(&w, "file");
  test_write_tree(&test_json_table, &w, tree, 0);
  pai__json_key(&w, "ours", 4);
  assert_ok(pai_spec_check(&report, NULL, text, len, &opts, NULL));
  pai__json_bool(&w, pai_report_valid(report) != 0);
  pai_report_free(report);
  pai__json_end_object(&w);
  assert_ok(pai__json_finish(&w));
  (void)fputc('\n', stdout);
  pai__buf_dispose(&out);
  pai__tree_free(tree);
}

int main(int argc, char **argv)
{
  char name[32];

  if (argc != 3)
    return 2;
  version = argv[2][0] - '0';
  if (strcmp(argv[1], "schema") == 0)
    return pai_spec_schema(version, print, stdout, NULL) < 0;
  (void)snprintf(name, sizeof(name), "v%d-cases.jsonl", version);
  return test_each_row(name, write_row) < 0 ? 77 : 0;
}
