/* cells.h - text split into terminal cells: widths, and text without control
 * characters */
#ifndef PAI_SRC_CLI_CELLS_H
#define PAI_SRC_CLI_CELLS_H

#include "cli.h"

enum { CLI_TAB = 8 };

/* An iterator over the characters of a line. */
typedef struct cli_cell {
  const char *next;
  size_t left;
  uint32_t character; /* number of this character in the line, from 1 */
  unsigned column;    /* where the next character is shown, from 0 */
  unsigned width;     /* of this character, in columns */
  char shown[CLI_TAB + 1];
} cli_cell;

/* Steps to the next character; returns false at the end of the line. */
bool cli_next_cell(cli_cell *c);
/* Returns how many columns a line takes. */
int cli_width(const char *text);
/* Prints a line without control characters that would act on the terminal. */
void cli_print(FILE *out, const char *text);
/* The same for several lines. */
void cli_print_lines(FILE *out, const char *text);
/* Formats a size as "12.3 GiB", or "?" if it is not known. */
const char *cli_bytes(char *out, size_t size, int64_t n);

#endif
