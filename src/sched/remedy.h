/*
 * remedy.h - internal: a small change with which a request would start now
 *
 * Nothing is guessed: changes are events, they are tried on a fork, and only
 * what did start the request is told.  First each change of one thing is tried;
 * only where none is enough several are looked for that are together.
 */
#ifndef PAI_SRC_SCHED_REMEDY_H
#define PAI_SRC_SCHED_REMEDY_H

#include "sched/start.h"

/* What is changed. */
enum pai__remedy_side {
  PAI__REMEDY_OWN = 1, /* the request itself */
  PAI__REMEDY_OTHERS   /* who runs, who waits before it, nodes */
};

enum { PAI__REMEDY_STEPS = 48 };

/* Events for pai_sched_send(), of the scheduler's own time. */
typedef struct pai__remedy {
  pai_sched_event list[PAI__REMEDY_STEPS];
  uint32_t n;  /* 0: none was found, */
  bool anyway; /* or none is needed: it starts when it is next decided */
  bool least;  /* it is one event, and no smaller one of its kind would do */
} pai__remedy;

/* For a request that waits.  PAI_OK; PAI_ENOTSUP: no forks; PAI_ENOMEM. */
int pai__remedy_find(const pai_sched *s, uint64_t id,
                     enum pai__remedy_side side, pai__remedy *out,
                     pai_error **err);

/* --- for the files of the search ------------------------------------------ */

/* One event alone (remedy_single.c).  1: it is in `out`; 0: there is none, or too
 * many would have to be tried; or PAI_ENOMEM. */
int pai__remedy_single(const pai_sched *s, uint64_t id,
                       enum pai__remedy_side side, pai__remedy *out);
/* Does the request start on a new fork with all of these events but one?
 * PAI__NONE: with all.  PAI_OK; PAI_ENOTSUP; PAI_ENOMEM. */
int pai__remedy_starts(const pai_sched *s, uint64_t id,
                       const pai_sched_event *list, uint32_t n, uint32_t but,
                       bool *starts);
/* So many changes may be tried: the fewer the more there is to look at. */
uint32_t pai__remedy_trials(const pai_sched *s, uint32_t most);
/* The reason as it is now: what is known without a policy goes first. */
void pai__remedy_reason(const pai_sched *s, uint32_t req, pai__why *why);
/* What a run holds on a node, or on all (PAI__NONE), of what lacks. */
uint64_t pai__remedy_held(const pai_sched *s, const pai__run *run,
                          uint32_t node, uint32_t lack);

#endif
