/*
 * format.h - internal to the room: numbers and names, as pages show them
 *
 * All is made of whole numbers.  Texts for people are short and rounded; each
 * function writes into `out` and returns it.
 */
#ifndef PAI_SRC_SIM_FORMAT_H
#define PAI_SRC_SIM_FORMAT_H

#include "base/buf.h"

enum { PAI__CELL = 48 }; /* bytes that each of them fits into */

#define PAI__SECOND INT64_C(1000000)
#define PAI__MINUTE (60 * PAI__SECOND)
#define PAI__HOUR (60 * PAI__MINUTE)
#define PAI__DAY (24 * PAI__HOUR)
#define PAI__YEAR (365 * PAI__DAY) /* what is longer is told in these */

/* part * by / whole, rounded to the nearest, without overflow on the way; as
 * much as there is where it is more, and 0 where whole is not positive. */
int64_t pai__portion(int64_t part, int64_t by, int64_t whole);

/* "3 d 4 h", "59 s", "1.5 s", "20 ms": two units at most. */
const char *pai__show_time(char out[PAI__CELL], int64_t us);
/* "1 234 567", with thin spaces that do not break. */
const char *pai__show_count(char out[PAI__CELL], int64_t n);
/* The same in six columns at most: "99 999", "123 k", "1.2 M". */
const char *pai__show_short(char out[PAI__CELL], int64_t n);
/* GPU time in hours: "1 234", "12.3"; in six columns at most. */
const char *pai__show_hours(char out[PAI__CELL], int64_t us);
/* Millionths as "81.3 %". */
const char *pai__show_percent(char out[PAI__CELL], int64_t millionths);
/* The same without ".0". */
const char *pai__show_round_percent(char out[PAI__CELL], int64_t millionths);
/* Thousandths as "1.03", "12.3", "1 234". */
const char *pai__show_times(char out[PAI__CELL], int64_t thousandths);
/* Millionths as "0.930". */
const char *pai__show_index(char out[PAI__CELL], int64_t millionths);
/* How far a value is from another: "+12.3 %", "×4.5"; "" where that is none
 * or cannot be said. */
const char *pai__show_change(char out[PAI__CELL], int64_t value, int64_t from);

/* An exact decimal for programs: value by 10^digits, without zeros at the
 * end: "1.5", "0.000001". */
const char *pai__show_decimal(char out[PAI__CELL], int64_t value,
                              unsigned digits);

/* --- axes ------------------------------------------------------------------ */

/* The distance of round ticks, so that no more than `most` intervals, 2 or more,
 * reach `end`; at least 1.  Of times: as clocks are divided. */
int64_t pai__tick_step(int64_t end, int most);
int64_t pai__tick_time(int64_t end, int most);

/* The binary logarithm in 1024ths; 0 for what is less than 1. */
int pai__log2(int64_t n);

/* --- names ----------------------------------------------------------------- */

/* Adds a name for a terminal: what it would act on is a question mark, and
 * what has no room an ellipsis.  Returns how many columns it has. */
size_t pai__put_name(pai__buf *out, const char *name, size_t most);

#endif
