/* check.h - internal: what must hold, whichever policy decides */
#ifndef PAI_SRC_SCHED_CHECK_H
#define PAI_SRC_SCHED_CHECK_H

#include "sched/core.h"

/*
 * Is all well with a run that is to start?  A second book is kept of who has
 * which GPUs: none twice, the gang whole, nothing beyond what a node
 * has.  NULL, or what is wrong; with it the run must not start.
 */
const char *pai__check_start(pai_sched *s, const pai__run *run);
/* Does its virtual cluster keep to its share, with it?  Not, if that became
 * less since it was claimed. */
bool pai__check_share(const pai_sched *s, const pai__run *run);
/* It is in the second book, or not any more. */
void pai__check_taken(pai_sched *s, const pai__run *run);
void pai__check_given(pai_sched *s, const pai__slot *slots, uint32_t n);
/* The book is written anew, of all runs. */
void pai__check_again(pai_sched *s);

#endif
