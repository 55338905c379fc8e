/* trial.h - internal: rooms and shares as they might be */
#ifndef PAI_SRC_SCHED_TRIAL_H
#define PAI_SRC_SCHED_TRIAL_H

#include "sched/core.h"

/* The real ones, while the scheduler has copies. */
typedef struct pai__trial {
  pai__flat rooms, used, lent;
} pai__trial;

/* From here on all that is counted is counted on copies, until the end, also
 * when this fails.  PAI_OK or PAI_ENOMEM. */
int pai__trial_begin(pai__trial *t, pai_sched *s);
/* The copies are as the real ones again. */
void pai__trial_again(const pai__trial *t, pai_sched *s);
void pai__trial_end(pai__trial *t, pai_sched *s);

#endif
