/* table.c - see table.h */
#include "table.h"

#include "accounts.h"
#include "cells.h"

#include <stdlib.h>
#include <string.h>

void cli_table_begin(cli_table *t, size_t columns, const char *const *heads)
{
  *t = (cli_table){ .columns = columns };
  for (size_t i = 0; i < columns; i++)
    cli_table_add(t, heads[i]);
}

void cli_table_add(cli_table *t, const char *cell)
{
  char **more =
    (char **)realloc((void *)t->cells, (t->count + 1) * sizeof(char *));

  if (more != NULL) {
    t->cells = more;
    more[t->count] = strdup(cell);
  }
  if (more == NULL || more[t->count] == NULL)
    t->failed = true;
  else
    t->count++;
}

void cli_table_add_list(cli_table *t, const cli_json *j, size_t of,
                        const char *key)
{
  size_t list = cli_json_get(j, of, key), n = 0;
  cli_text text;
  char *joined;

  if (!cli_text_begin(&text)) {
    t->failed = true;
    return;
  }
  for (size_t i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
       i = cli_json_next(j, list, i))
    (void)fprintf(text.out, "%s%s", n++ > 0 ? "," : "",
                  j->values[i].text != NULL ? j->values[i].text : "");
  joined = cli_text_end(&text);
  cli_table_add(t, joined != NULL && joined[0] != '\0' ? joined : "-");
  free(joined);
}

int cli_table_width(const cli_table *t, size_t column, int around)
{
  int width = 0;

  for (size_t i = column; i < t->count; i += t->columns) {
    int w = cli_width(t->cells[i]) + (i < t->columns ? around : 0);
    width = w > width ? w : width;
  }
  return width;
}

void cli_table_free(cli_table *t)
{
  if (t->failed)
    cli_fail("out of memory");
  for (size_t i = 0; i < t->count; i++)
    free(t->cells[i]);
  free((void *)t->cells);
  *t = (cli_table){ 0 };
}

void cli_table_end(cli_table *t, FILE *out)
{
  for (size_t i = 0; i < t->count && !t->failed; i++) {
    bool last = i % t->columns == t->columns - 1;

    cli_print(out, t->cells[i]); /* nothing of it acts on the terminal */
    if (last)
      (void)fputc('\n', out);
    else
      (void)fprintf(out, "%*s",
                    cli_table_width(t, i % t->columns, 0) -
                      cli_width(t->cells[i]) + 2,
                    "");
  }
  cli_table_free(t);
}
