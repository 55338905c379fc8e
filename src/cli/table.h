/* table.h - rows and columns for people to read */
#ifndef PAI_SRC_CLI_TABLE_H
#define PAI_SRC_CLI_TABLE_H

#include "json.h"

/* A table: rows of as many cells as it has columns, headings first. */
typedef struct cli_table {
  size_t count, size;
  const cli_column *columns; /* ended by one without a heading */
  char **cells;
  size_t marked; /* row that is highlighted, from 1; 0: none */
  bool failed;   /* memory was short */
} cli_table;

enum { CLI_COLUMNS = 40 };
/* Copies the columns that `names` lists, separated by commas, and those
 * without a heading, which are always shown.  Returns NULL, or the first name
 * that is no column. */
const char *cli_table_choose(cli_column out[CLI_COLUMNS],
                             const cli_column *all, const char *names);

void cli_table_begin(cli_table *t, const cli_column *columns);
/* Adds the next cell; control characters are not printed. */
void cli_table_add(cli_table *t, const char *cell);
/* The same for a text that is freed with the table; NULL: memory was short. */
void cli_table_take(cli_table *t, char *cell);
/* Adds a row: what the columns show of a record, a value with its key. */
void cli_table_add_record(cli_table *t, const cli_each *record);
/* Prints the table and frees it. */
void cli_table_end(cli_table *t, FILE *out);
/* Prints a table of records. */
void cli_print_table(FILE *out, const cli_column *columns, cli_each records);
/* Frees a table that was printed in another way.  Prints an error if memory
 * was short. */
void cli_table_free(cli_table *t);

/* Prints a record as lines: a title and a value; a field without a value is
 * left out. */
void cli_print_fields(FILE *out, const cli_column *fields,
                      const cli_each *record);
/* Prints a record by a form, whose language is in docs/internals/cli.md. */
void cli_print_form(FILE *out, const char *form, const cli_each *record);
/* The same as a string, for free(); without a record the form itself, without
 * control characters.  NULL: memory is short. */
char *cli_form_text(const char *form, const cli_each *record);

#endif
