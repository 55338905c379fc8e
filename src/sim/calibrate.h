/*
 * calibrate.h - internal: where in its band something came to lie, and which
 * band holds as many as it says
 *
 * A score is a place among some futures, in thousandths of them: 0 is the
 * first, 1000 the last.  What came after all of them has more: as many
 * thousandths of the last one's time; what came before all of them less: -1000
 * is at once.
 */
#ifndef PAI_SRC_SIM_CALIBRATE_H
#define PAI_SRC_SIM_CALIBRATE_H

#include "sim/history.h"

/* Of waits, ascending, INT64_MAX for those that have no end. */
int32_t pai__score_of(const pai_time *waits, uint32_t n, pai_time wait);
/* The wait of a score; INT64_MAX: none. */
pai_time pai__score_wait(const pai_time *waits, uint32_t n, int32_t score);

/* What is told of a band. */
enum pai__level { PAI__P10, PAI__P50, PAI__P90 };

/* The score up to which so many of all that was forecast came; h may be
 * NULL. */
int32_t pai__score_for(const pai_history *h, enum pai__level which);
/* What was told of a level was met; `later`: it came later. */
void pai__history_level(pai_history *h, enum pai__level which, bool later);

#endif
