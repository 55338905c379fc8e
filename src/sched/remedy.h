/*
 * remedy.h - internal: a small change with which a request would start now
 *
 * Nothing is guessed: changes are events, they are tried on a fork, and only
 * what did start the request is told.
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
} pai__remedy;

/* For a request that waits.  PAI_OK; PAI_ENOTSUP: no forks; PAI_ENOMEM. */
int pai__remedy_find(const pai_sched *s, uint64_t id,
                     enum pai__remedy_side side, pai__remedy *out,
                     pai_error **err);

#endif
