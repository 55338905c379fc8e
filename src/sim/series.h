/*
 * series.h - internal: how much there was of what, over time
 *
 * Time is divided as in a report: as soon as there would be more bins than a
 * report has, each two become one.
 */
#ifndef PAI_SRC_SIM_SERIES_H
#define PAI_SRC_SIM_SERIES_H

#include "sim/report.h"

/* What there is now; see pai__bin. */
typedef struct pai__levels {
  int64_t busy, up, fragmented, wanted, waiting, running;
} pai__levels;

typedef struct pai__series {
  pai__bin bins[PAI__BINS];
  pai_time begin, at; /* the first moment, and up to where it is counted */
  pai_time width;     /* of a bin; 0: it has not begun */
} pai__series;

void pai__series_begin(pai__series *s, pai_time at);

/* Since s->at there was that; now it is `to`. */
void pai__series_pass(pai__series *s, pai_time to, const pai__levels *level);

/* The bin of s->at. */
pai__bin *pai__series_bin(pai__series *s);

/* How many bins there are. */
size_t pai__series_count(const pai__series *s);

#endif
