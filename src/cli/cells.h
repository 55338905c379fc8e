/* cells.h - text as a terminal can show it: a line of it, cell by cell */
#ifndef PAI_SRC_CLI_CELLS_H
#define PAI_SRC_CLI_CELLS_H

#include "cli.h"

enum { CLI_TAB = 8 };

/* A walk over a line, from character to character. */
typedef struct cli_cell {
  const char *next;
  size_t left;
  uint32_t character; /* which one of the line, from 1 */
  unsigned column;    /* where the next one is shown, from 0 */
  unsigned width;     /* of this one */
  char shown[CLI_TAB + 1];
} cli_cell;

/* False at the end of the line. */
bool cli_next_cell(cli_cell *c);
/* How many columns a line takes. */
int cli_width(const char *text);
/* A line without what would act on the terminal. */
void cli_print(FILE *out, const char *text);
/* The same for lines. */
void cli_print_lines(FILE *out, const char *text);
/* "12.3 GiB"; "?" for what nobody knows. */
const char *cli_bytes(char *out, size_t size, int64_t n);

#endif
