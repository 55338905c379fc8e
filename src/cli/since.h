/* since.h - a time in the past, as people write it */
#ifndef PAI_SRC_CLI_SINCE_H
#define PAI_SRC_CLI_SINCE_H

#include <stdbool.h>
#include <stdint.h>

/* What --since accepts, for help texts and errors. */
#define CLI_SINCE_FORMS                                             \
  "10m, 2h, 1d or 1h30m ago, or a date, as 2026-05-01, 2026-05-01T" \
  "10:30 or 2026-05-01T10:30:00Z"

/* Reads "1h30m": *ms is that much below 0.  Or a date, in this machine's zone if
 * it names none: *ms counts from 1970.  False: it is neither, or in the year 1970
 * or before. */
bool cli_read_since(int64_t *ms, const char *word);

#endif
