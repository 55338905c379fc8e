/*
 * table.h - internal: traces that are rows of cells
 *
 * Columns are found by the names in the first line, in any order, or else by
 * their places.
 */
#ifndef PAI_SRC_SIM_TABLE_H
#define PAI_SRC_SIM_TABLE_H

#include "sim/trace.h"

enum { PAI__MOST_COLUMNS = 32 };

/* How the rows of a form look. */
typedef struct pai__columns {
  const char *const *names; /* of the columns of interest */
  uint32_t count;
  uint32_t needed; /* bits: without these it is no such trace */
  char separator;  /* ' ': any number of spaces and tabs */
  bool quotes;     /* cells may stand in quotes, with newlines in them */
  bool plain;      /* there is no first line: columns are as in `names` */
} pai__columns;

typedef struct pai__table {
  const pai__columns *columns;
  size_t at[PAI__MOST_COLUMNS]; /* which cell, or SIZE_MAX */
  size_t width;                 /* of the first line; 0: any */
  pai__slice *cells;
  size_t count, cap;
  uint64_t line; /* of this row */
  /* what could not be read of this row first; bad NULL: nothing */
  const char *bad, *bad_what;
  pai__slice bad_cell;
} pai__table;

/* Reads the first line.  PAI_OK, PAI_EINVAL: a column that is needed is not
 * there, ... */
int pai__table_begin(pai__table *tb, pai_trace *t, const pai__columns *columns,
                     pai_error **err);
void pai__table_dispose(pai__table *tb, const pai_alloc *alloc);
/* The next row that has as many cells as it should have: 1, 0, or a failure. */
int pai__table_next(pai__table *tb, pai_trace *t, pai_error **err);

/* Cells of this row; s NULL: there is nothing, or "None", "Unknown", ... */
pai__slice pai__cell(const pai__table *tb, uint32_t column);
bool pai__cell_is(const pai__table *tb, uint32_t column, const char *text);
/* What is not there has its usual value; what is wrong is remembered. */
int64_t pai__cell_whole(pai__table *tb, uint32_t column, int64_t usual);
uint32_t pai__cell_count(pai__table *tb, uint32_t column, uint32_t usual);
pai_time pai__cell_seconds(pai__table *tb, uint32_t column, pai_time usual);
/* Of a number of milliseconds. */
pai_time pai__cell_milliseconds(pai__table *tb, uint32_t column);
pai_time pai__cell_date(pai__table *tb, uint32_t column, pai_time usual);
void pai__cell_bad(pai__table *tb, uint32_t column, const char *what);

/* Tells what was wrong with the row, if anything was: then *skipped. */
int pai__table_check(pai__table *tb, pai_trace *t, bool *skipped,
                     pai_error **err);

#endif
