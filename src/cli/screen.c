/* screen.c - lines as they are put on a terminal */
#include "screen.h"

#include "cells.h"

#include <string.h>

/* How many bytes of a line fit into so many cells; styles take none. */
static size_t fit(const char *line, size_t len, unsigned width, bool *full)
{
  cli_cell c = { .next = line, .left = len };
  unsigned column = 0;
  size_t n;

  *full = false;
  while (c.left > 0) {
    if (*c.next == '\033') { /* up to the end of the style */
      n = 1 + strcspn(c.next + 1, "m");
      n = n < c.left ? n + 1 : c.left;
      c.next += n;
      c.left -= n;
      continue;
    }
    n = c.left;
    (void)cli_next_cell(&c);
    if (c.column > width) {
      *full = column == width;
      return len - n;
    }
    column = c.column;
  }
  *full = column == width;
  return len;
}

unsigned cli_draw_lines(FILE *out, const char *text, unsigned width,
                        unsigned height)
{
  unsigned rows = 0;

  for (size_t len; *text != '\0' && rows < height; rows++) {
    size_t fits;
    bool full;

    len = strcspn(text, "\n");
    fits = fit(text, len, width, &full);
    if (rows > 0)
      (void)fputc('\n', out);
    (void)fwrite(text, 1, fits, out);
    if (fits < len && memchr(text, '\033', fits) != NULL)
      (void)fputs("\033[0m", out);
    if (!full) /* else it would take the last cell away */
      (void)fputs("\033[K", out);
    text += len + (text[len] == '\n');
  }
  (void)fputs("\033[J", out);
  return rows;
}
