/* table.h - rows and columns for people to read */
#ifndef PAI_SRC_CLI_TABLE_H
#define PAI_SRC_CLI_TABLE_H

#include "json.h"

/* A table: rows of as many cells as it has columns, headings first. */
typedef struct cli_table {
  size_t columns, count;
  char **cells;
  bool failed; /* no memory */
} cli_table;

void cli_table_begin(cli_table *t, size_t columns, const char *const *heads);
void cli_table_add(cli_table *t, const char *cell);
/* The texts of a list in JSON, with commas. */
void cli_table_add_list(cli_table *t, const cli_json *j, size_t of,
                        const char *key);
/* Of the widest cell, where headings have so much around them. */
int cli_table_width(const cli_table *t, size_t column, int around);
/* Prints it, and frees it. */
void cli_table_end(cli_table *t, FILE *out);
/* Frees one that was printed in another way; that memory was short is told. */
void cli_table_free(cli_table *t);

#endif
