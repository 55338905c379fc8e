/* duration.h - internal: parses durations: "90s", "2h30m" */
#ifndef PAI_SRC_BASE_TEXT_DURATION_H
#define PAI_SRC_BASE_TEXT_DURATION_H

#include "base/base.h"

#include <openpai/base.h>

/* Both return the end of what was parsed, or NULL if it is invalid. */

/* Parses seconds with a fraction, at most 12 digits before the point. */
const char *pai__duration_seconds(const char *at, pai_time *out);

/* Parses amounts of w, d, h, m and s up to the end of the text; a number
 * without a letter is seconds. */
const char *pai__duration_read(const char *at, pai_time *out);

#endif
