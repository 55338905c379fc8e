/* spell.h - internal: times for people */
#ifndef PAI_SRC_SIM_SPELL_H
#define PAI_SRC_SIM_SPELL_H

#include "base/buf.h"

/* "40 s", "35 min", "2 h 10 min", "3 d 4 h": two units at most. */
void pai__spell_span(pai__buf *out, pai_time span);

/* Is a clock the calendar's, or does it count from somewhere else? */
bool pai__spell_is_date(pai_time now);
/* Of a time behind `now`: "14:05", or with the day if it is another one, where
 * the clock is the calendar's (UTC); else how long until then. */
void pai__spell_time(pai__buf *out, pai_time now, pai_time t);
/* "at 14:05", or "in 2 h 10 min". */
void pai__spell_at(pai__buf *out, pai_time now, pai_time t);

/* "1 job", "2 jobs". */
void pai__spell_count(pai__buf *out, uint64_t n, const char *thing);

#endif
