/*
 * schema_rows SCHEMA|ROWS VERSION: what schema_rows.py needs of the library
 *
 * `schema` prints the schema; `rows` prints real job files as our readers
 * take them, a line each: {"id": .., "file": .., "ours": valid or not}.
 * What no reader takes is left out.
 */
#include "rows.h"

#include "json/writer.h"
#include "spec/read.h"

#include <stdio.h>

static int version;

static int print(void *user_data, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, user_data) == len ? PAI_OK : PAI_EIO;
}

/* Dates and bytes are objects to JavaScript and no JSON at all: they become
 * `true`, which only fits where everything does. */
static void write_scalar(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  const char *s;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__json_null(w); break;
  case PAI__BOOL: pai__json_bool(w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__json_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(w, pai__tree_float(t, n)); break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__json_text(w, s, len);
    break;
  default: pai__json_bool(w, true); break;
  }
}

static void write_node(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  const char *s;
  pai__node k;
  size_t len;

  if (pai__tree_type(t, n) < PAI__SEQUENCE) {
    write_scalar(w, t, n);
    return;
  }
  if (mapping)
    pai__json_begin_object(w);
  else
    pai__json_begin_array(w);
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (mapping) {
      s = pai__tree_str(t, k, &len);
      pai__json_key(w, s, len);
      k = pai__tree_value(t, k);
    }
    write_node(w, t, k);
  }
  if (mapping)
    pai__json_end_object(w);
  else
    pai__json_end_array(w);
}

static bool is_valid(const char *text, size_t len)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;
  bool valid;

  opts.version = version;
  assert_int_equal(pai_spec_check(&report, NULL, text, len, &opts, NULL),
                   PAI_OK);
  valid = pai_report_valid(report) != 0;
  pai_report_free(report);
  return valid;
}

static void write_row(const pai__tree *row)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT, all;
  pai__json_writer w;
  pai__tree *tree;
  pai__buf out;
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  int told;

  opts.version = version;
  assert_int_equal(pai__spec_options(&all, &opts, NULL), PAI_OK);
  if (pai__spec_tree(&tree, &told, NULL, text, len, &all, NULL) < 0)
    return;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__json_writer_init(&w, &out, false);
  pai__json_writer_to(&w, print, stdout);
  pai__json_begin_object(&w);
  pai__json_key(&w, "id", 2);
  pai__json_text(&w, test_row_text(row, "id", NULL),
                 strlen(test_row_text(row, "id", NULL)));
  pai__json_key(&w, "file", 4);
  write_node(&w, tree, 0);
  pai__json_key(&w, "ours", 4);
  pai__json_bool(&w, is_valid(text, len));
  pai__json_end_object(&w);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
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
