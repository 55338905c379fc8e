/* chart.h - a series as a chart of characters */
#ifndef PAI_SRC_CLI_METRICS_CHART_H
#define PAI_SRC_CLI_METRICS_CHART_H

#include "cli.h"

#include <stdint.h>

typedef struct cli_chart {
  const char *title, *unit;
  const double *values; /* below 0: unknown */
  size_t count;
  int64_t from, to; /* milliseconds since 1970 */
  unsigned width;   /* columns of the terminal */
  bool utf8;        /* dots of Braille characters; false: ASCII */
} cli_chart;

void cli_chart_print(FILE *out, const cli_chart *c);

/* Format a value with its unit, "-" if it is unknown; a time in this machine's
 * zone.  Both return `out`. */
const char *cli_chart_value(char out[32], double value, const char *unit);
const char *cli_chart_date(char out[32], int64_t ms);

#endif
