/* check.h - internal: what must hold, whichever policy decides */
#ifndef PAI_SRC_SCHED_CHECK_H
#define PAI_SRC_SCHED_CHECK_H

#include "sched/core.h"

/* Words of the second book. */
uint32_t pai__check_words(const pai__park *park);

/* Which GPUs of a node are given, as it has it. */
uint64_t pai__check_gpus(const pai_sched *s, uint32_t node);

/*
 * Is all well with a run that is to start?  A second book is kept of who has
 * which GPUs, CPUs and ports: none twice, also within the run, the gang whole,
 * nothing beyond what a node has.  NULL, and it is in the book; or what is
 * wrong: then it must not start.
 */
const char *pai__check_start(pai_sched *s, const pai__run *run);
/* Likewise of tasks that are more of a gang; `run` has these alone. */
const char *pai__check_more(pai_sched *s, const pai__run *run);
/* Does its virtual cluster keep to its share, with it?  Not, if that became
 * less since it was claimed. */
bool pai__check_share(const pai_sched *s, const pai__run *run);
/* Some of its tasks are not in the book any more. */
void pai__check_given(pai_sched *s, const pai__run *run, uint32_t from,
                      uint32_t n);
/* The book is written anew, of all runs; there is room for it. */
void pai__check_again(pai_sched *s);

#endif
