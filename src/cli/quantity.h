/* quantity.h - parsing numbers, durations, sizes and dates of options */
#ifndef PAI_SRC_CLI_QUANTITY_H
#define PAI_SRC_CLI_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses "1.5" with at most `digits` digits after the point into a whole
 * number of the last digit's unit.  Returns the rest of the text; NULL: no
 * such number. */
const char *cli_read_decimal(const char *text, unsigned digits, int64_t *out);
/* Parses a duration, such as "90", "90s", "1.5h" or "1h30m", into
 * microseconds. */
bool cli_read_span(const char *text, int64_t *us);
/* Parses a size of `len` characters, such as "512" or "20G", into bytes. */
bool cli_read_bytes(const char *text, size_t len, int64_t *out);

/* What --since accepts, for help texts and errors. */
#define CLI_SINCE_FORMS                                             \
  "10m, 2h, 1d or 1h30m ago, or a date, as 2026-05-01, 2026-05-01T" \
  "10:30 or 2026-05-01T10:30:00Z"
/* Parses a time.  "1h30m" sets *ms to that duration, negated.  A date, in this
 * machine's zone unless it names one, sets *ms to its time since 1970.
 * Returns false if the word is neither, or a date of 1970 or before. */
bool cli_read_since(int64_t *ms, const char *word);

#endif
