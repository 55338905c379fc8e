/*
 * format.h - internal to the room: formats numbers, times and names for
 * reports
 *
 * Numbers are formatted with integers only.  Texts for people are short and
 * rounded.  Each pai__show function writes into `out` and returns it.
 */
#ifndef PAI_SRC_SIM_REPORT_FORMAT_H
#define PAI_SRC_SIM_REPORT_FORMAT_H

#include "sim/scale.h"
#include "json/writer.h"

enum { PAI__CELL = 48 }; /* bytes of the buffer of a formatted number */

#define PAI__SECOND INT64_C(1000000)
#define PAI__MINUTE (60 * PAI__SECOND)
#define PAI__HOUR (60 * PAI__MINUTE)
#define PAI__DAY (24 * PAI__HOUR)
#define PAI__YEAR (365 * PAI__DAY) /* unit of times of years */

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
/* Thousandths as "1.03", "12.3", "1 234". */
const char *pai__show_times(char out[PAI__CELL], int64_t thousandths);
/* Millionths as "0.930". */
const char *pai__show_index(char out[PAI__CELL], int64_t millionths);
/* Difference between a value and `from`: "+12.3 %", "×4.5"; "" if there is
 * none or it is not defined. */
const char *pai__show_change(char out[PAI__CELL], int64_t value, int64_t from);

/* Exact decimal for programs: value / 10^digits, without trailing zeros:
 * "1.5", "0.000001". */
const char *pai__show_decimal(char out[PAI__CELL], int64_t value,
                              unsigned digits);

/* --- axes ---------------------------------------------------------------- */

/* Returns a round distance between the ticks of a time axis, at least 1, so
 * that at most `most` intervals (2 or more) reach `end`. */
int64_t pai__tick_time(int64_t end, int most);

/* --- names --------------------------------------------------------------- */

/* Appends a name for a terminal, with "?" for control characters and invalid
 * bytes, and cut with an ellipsis to `most` columns.  Returns its number of
 * columns. */
size_t pai__put_name(pai__buf *out, const char *name, size_t most);

/* --- output -------------------------------------------------------------- */

/* Passes a text to a callback, or reports that memory was short (rc < 0, or a
 * failed buffer) or that the callback failed.  Disposes of the text in any
 * case.  Returns PAI_OK, PAI_ENOMEM, or the code of the callback. */
int pai__text_write(pai__buf *text, int rc, pai_write_cb write,
                    void *user_data, pai_error **err);

/* --- JSON ---------------------------------------------------------------- */

/* Writes value / 10^digits, exactly. */
void pai__sim_put_decimal(pai__json_writer *w, int64_t value, unsigned digits);

#endif
