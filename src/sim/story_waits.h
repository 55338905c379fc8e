/* story_waits.h - internal: what a request lacked, hour by hour */
#ifndef PAI_SRC_SIM_STORY_WAITS_H
#define PAI_SRC_SIM_STORY_WAITS_H

#include "sim/story.h"

/* What is being added up. */
typedef struct pai__waits {
  pai__story *st;
  pai__flat raws; /* of the window */
  pai_time until; /* where it ends */
  pai__blame now; /* what it lacks now, if it waits */
  bool waits;
  pai_time since;  /* what is before is counted */
  pai_time looked; /* at those who have what it needs */
} pai__waits;

void pai__waits_begin(pai__waits *f, pai__story *st);
/* Counts what was up to now.  PAI_OK or PAI_ENOMEM. */
int pai__waits_count(pai__waits *f, pai_time now);
/* Tells what is left, and frees.  PAI_OK or PAI_ENOMEM. */
int pai__waits_end(pai__waits *f);
/* A wait of days is not told by the hour: what lies within two hours becomes
 * one, or within four, and so on, until a page has it. */
void pai__waits_coarsen(pai__story *st);

#endif
