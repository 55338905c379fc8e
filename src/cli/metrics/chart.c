/* chart.c - a series as a chart of characters: dots of Braille, two across and
 * four down in each character */
#include "chart.h"

#include "cells.h"

#include <string.h>
#include <time.h>

enum {
  ROWS = 4,   /* of characters */
  SCALE = 11, /* columns of the scale at the left */
  LEAST = 20, /* columns of a chart */
  MOST = 400
};

const char *cli_chart_value(char out[32], double value, const char *unit)
{
  if (value < 0)
    (void)snprintf(out, 32, "-");
  else if (strcmp(unit, "bytes") == 0)
    (void)cli_bytes(out, 32, (int64_t)value);
  else if (strcmp(unit, "bytes/s") == 0) {
    char text[28];
    (void)snprintf(out, 32, "%s/s",
                   cli_bytes(text, sizeof(text), (int64_t)value));
  } else if (strcmp(unit, "percent") == 0)
    (void)snprintf(out, 32, "%.1f%%", value);
  else if (strcmp(unit, "celsius") == 0)
    (void)snprintf(out, 32, "%.0f C", value);
  else
    (void)snprintf(out, 32, "%.2f", value);
  return out;
}

const char *cli_chart_date(char out[32], int64_t ms)
{
  time_t seconds = (time_t)(ms / 1000);
  struct tm tm;

  if (localtime_r(&seconds, &tm) == NULL ||
      strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
    (void)snprintf(out, 32, "-");
  return out;
}

/* --- the chart ------------------------------------------------------------ */

typedef struct summary {
  double last, mean, most;
} summary;

static summary sum_up(const cli_chart *c)
{
  summary s = { -1, 0, -1 };
  size_t n = 0;

  for (size_t i = 0; i < c->count; i++) {
    if (c->values[i] < 0)
      continue;
    s.last = c->values[i];
    s.mean += c->values[i];
    s.most = c->values[i] > s.most ? c->values[i] : s.most;
    n++;
  }
  s.mean = n > 0 ? s.mean / (double)n : -1;
  return s;
}

/* The greatest value of a column of dots, so that no peak is lost. */
static double value_at(const cli_chart *c, unsigned column, unsigned columns)
{
  size_t from = c->count * column / columns,
         to = c->count * (column + 1) / columns;
  double most = -1;

  for (size_t i = from; i < c->count && (i < to || i == from); i++)
    most = c->values[i] > most ? c->values[i] : most;
  return most;
}

/* The height of a column in dots; 0: unknown. */
static unsigned dots_at(const cli_chart *c, unsigned column, unsigned columns,
                        double most)
{
  double value = value_at(c, column, columns);
  unsigned dots = (unsigned)(most > 0 ? value / most * (4 * ROWS) + 0.5 : 0);

  if (value < 0)
    return 0;
  return dots < 1 ? 1 : dots > 4 * ROWS ? 4 * ROWS : dots;
}

/* Prints a Braille character: `left` and `right` dots, from below. */
static void put_braille(FILE *out, unsigned left, unsigned right)
{
  static const unsigned char lefts[] = { 0, 0x40, 0x44, 0x46, 0x47 };
  static const unsigned char rights[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 };
  unsigned bits = lefts[left] | rights[right];

  (void)fprintf(out, "\xe2%c%c", (char)(0xa0 | bits >> 6),
                (char)(0x80 | (bits & 0x3f)));
}

static unsigned of_row(unsigned dots, unsigned row)
{
  unsigned below = 4 * row;

  return dots <= below ? 0 : dots - below > 4 ? 4 : dots - below;
}

static void put_row(FILE *out, const cli_chart *c, unsigned row,
                    unsigned width, double most)
{
  for (unsigned i = 0; i < width; i++) {
    unsigned left = of_row(dots_at(c, 2 * i, 2 * width, most), row);
    unsigned right = of_row(dots_at(c, 2 * i + 1, 2 * width, most), row);

    if (c->utf8)
      put_braille(out, left, right);
    else
      (void)fputc(left + right > 4 ? '#' : left + right > 0 ? '.' : ' ', out);
  }
}

void cli_chart_print(FILE *out, const cli_chart *c)
{
  summary s = sum_up(c);
  double most = strcmp(c->unit, "percent") == 0 ? 100 : s.most;
  unsigned width = c->width > SCALE + LEAST ? c->width - SCALE - 1 : LEAST;
  char now[32], mean[32], top[32], from[32], to[32];

  if (s.last < 0)
    return; /* nothing is known, as of GPUs that are not there */
  width = width < MOST ? width : MOST;
  (void)fprintf(out, "%s", cli_style(out, "\033[1m"));
  cli_print(out, c->title);
  (void)fprintf(out, "%s  last %s, mean %s, most %s\n",
                cli_style(out, "\033[0m"),
                cli_chart_value(now, s.last, c->unit),
                cli_chart_value(mean, s.mean, c->unit),
                cli_chart_value(top, s.most, c->unit));
  for (unsigned row = ROWS; row > 0; row--) {
    (void)fprintf(out, "%*s ", SCALE - 1,
                  row == ROWS ? cli_chart_value(top, most, c->unit)
                  : row == 1  ? "0"
                              : "");
    put_row(out, c, row - 1, width, most);
    (void)fputc('\n', out);
  }
  (void)cli_chart_date(from, c->from);
  (void)cli_chart_date(to, c->to);
  (void)fprintf(out, "%*s%s%*s\n\n", SCALE, "", from,
                (int)width - (int)strlen(from), to);
}
