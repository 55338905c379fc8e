/*
 * table.h - internal: reads traces that are rows of cells
 *
 * Columns are found by the names in the first line, in any order, or by their
 * places if there is no such line.
 */
#ifndef PAI_SRC_SIM_TRACE_TABLE_H
#define PAI_SRC_SIM_TRACE_TABLE_H

#include "sim/trace/trace.h"

enum { PAI__MOST_COLUMNS = 32 };

enum pai__cell_kind {
  PAI__CELL_OWN,     /* read by the form itself */
  PAI__CELL_TEXT,    /* PAI__TEXT_* of the draft */
  PAI__CELL_SLICE,   /* this kind and those below: a member of the row */
  PAI__CELL_COUNT,   /* a uint32_t */
  PAI__CELL_WHOLE,   /* an int64_t */
  PAI__CELL_SECONDS, /* a pai_time */
  PAI__CELL_MILLISECONDS,
  PAI__CELL_DATE
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): as tables read */
typedef struct pai__sim_column {
  const char *name;
  enum pai__cell_kind kind;
  size_t at;     /* offset in the row, or PAI__TEXT_* */
  int64_t usual; /* default for an empty cell */
  bool needed;   /* a trace without this column is an error */
} pai__sim_column;

/* Members that columns may be read into. */
typedef struct pai__sim_row {
  pai__slice state, type, kind; /* kind: of service, of a limit, ... */
  uint32_t gpus, cpus, nodes;
  int64_t memory;
  pai_time submit, start, end, duration;
} pai__sim_row;

#define PAI__NOT_TOLD INT64_MIN /* default of times */

#define PAI__CELL_OF(name, kind, m, ...)                           \
  {                                                                \
    name, PAI__CELL_##kind, offsetof(pai__sim_row, m), __VA_ARGS__ \
  }
#define PAI__TEXT_CELL(name, text)       \
  {                                      \
    name, PAI__CELL_TEXT, text, 0, false \
  }

typedef struct pai__sim_table pai__sim_table;

/* Columns of a form of rows, and the function that takes a row. */
struct pai__sim_rows {
  const pai__sim_column *columns; /* columns that are used */
  uint32_t count;
  char separator; /* ' ': any number of spaces and tabs */
  bool quotes;    /* cells may be in quotes, with newlines in them */
  bool plain;     /* no line of names; cells in the order of columns */
  size_t state;   /* size of the state with its pai__sim_table; 0: only that */
  /* Takes a row.  Returns PAI_OK or a code. */
  int (*take)(pai_trace *t, pai__sim_table *tb, pai_error **err);
};

struct pai__sim_table {
  const pai__sim_rows *rows;
  size_t at[PAI__MOST_COLUMNS]; /* index of the cell, or SIZE_MAX */
  size_t width;                 /* cells of the first line; 0: any number */
  pai__slice *cells;
  size_t count, cap;
  uint64_t line; /* number of this row's line */
  /* first cell of this row that could not be read: column, what it has to be,
   * text; bad is NULL if there is none */
  const char *bad, *bad_what;
  pai__slice bad_cell;
};

/* Reads the first line.  Returns PAI_OK; PAI_EINVAL: a column that is needed
 * is missing; or another code. */
int pai__rows_begin(pai_trace *t, pai_error **err);
/* Reads a row, and takes it if it has the right number of cells.  Returns 1, 0
 * at the end, or a code. */
int pai__rows_read(pai_trace *t, pai_error **err);
void pai__rows_end(pai_trace *t);

/* Return a cell of this row; s is NULL if it is empty, "None", "Unknown",
 * ... */
pai__slice pai__cell_text(const pai__sim_table *tb, uint32_t column);
bool pai__cell_is(const pai__sim_table *tb, uint32_t column, const char *text);
/* Return a number; `usual` if the cell is empty.  A cell that is wrong is
 * noted in `bad`. */
int64_t pai__cell_whole(pai__sim_table *tb, uint32_t column, int64_t usual);
uint32_t pai__cell_count(pai__sim_table *tb, uint32_t column, uint32_t usual);
pai_time pai__cell_seconds(pai__sim_table *tb, uint32_t column,
                           pai_time usual);
void pai__cell_bad(pai__sim_table *tb, uint32_t column, const char *what);

/* Clears the draft and reads all columns into its texts and `row`. */
void pai__row_read(pai__sim_table *tb, pai_trace *t, pai__sim_row *row);
/* Compares without case and trailing spaces. */
bool pai__slice_is(pai__slice text, const char *word);
/* Puts the draft that was made of a row, or reports the cell that was
 * wrong. */
int pai__row_put(pai_trace *t, pai__sim_table *tb, pai_error **err);

#endif
