/*
 * plan.h - internal: what will be free when, and who is to have it
 *
 * Of each node a line through the future: what is free from one step to the
 * next, as far as it is known when that ends what runs.  GPUs are counted, not
 * named: those of a node that no request can tell apart are one lot, and which
 * of them it will be is chosen when the time has come.  That is exact: what
 * begins finds as many of a lot free as were counted.  Virtual clusters have
 * such lines, too, of what is left of their shares.
 *
 * While a plan is made, less and less of it is free.  So a time before which
 * a task has no place on a node holds for all that are like it, and longer.
 */
#ifndef PAI_SRC_SCHED_PLAN_H
#define PAI_SRC_SCHED_PLAN_H

#include "sched/start.h"

#define PAI__NEVER INT64_MAX

enum { PAI__LOTS = 8 }; /* of a node */

/* Where a task is to be, and how many GPUs of which lot it gets: a byte for
 * each. */
typedef struct pai__site {
  uint64_t lots;
  uint32_t node, want;
} pai__site;

typedef struct pai__plan {
  pai_alloc alloc;
  pai__pool steps;
  pai__flat lines; /* nodes, and then each kind of each tenant */
  pai__flat lots;  /* of nodes */
  pai__flat rooms; /* as they are throughout a time that is tried */
  pai__flat used;  /* likewise, the GPUs of tenants */
  pai__flat rows;  /* times before which there is no place, of all nodes */
  pai__lookup row_of;
  pai_time now;
  pai_time assumed; /* how long what does not say it takes; 0: for ever */
  bool plain;       /* no node has GPUs of two kinds */

  pai__flat sites; /* that were found */
  pai_time start;  /* at that time, or PAI__NEVER */
} pai__plan;

void pai__plan_init(pai__plan *p, const pai_alloc *alloc);
void pai__plan_dispose(pai__plan *p);

/* Begins with what runs now.  PAI_OK or PAI_ENOMEM. */
int pai__plan_begin(pai__plan *p, const pai_sched *s, pai_time assumed);

/* How long an instance is expected to take, PAI__NEVER: for ever. */
pai_time pai__plan_length(const pai__plan *p, const pai__req *r);

/* Looks for the earliest time, not behind `latest`, at which an instance of a
 * request has a place as long as it takes, and leaves it in p->start and
 * p->sites.  1; 0: there is none; or PAI_ENOMEM. */
int pai__plan_find(pai__plan *p, pai_sched *s, uint32_t req, int strategy,
                   pai_time latest);
/* Takes these places instead of those that were found, if they are free then.
 * They were found for a request of the same shape and length. */
int pai__plan_prefer(pai__plan *p, const pai_sched *s, uint32_t req,
                     const pai__site *sites, uint32_t n);
/* What was found is the request's.  PAI_OK or PAI_ENOMEM. */
int pai__plan_take(pai__plan *p, const pai_sched *s, uint32_t req);
/* What was found is for now: it starts.  1; 0: it is not free; PAI_ENOMEM. */
int pai__plan_start(const pai__plan *p, pai_sched *s, uint32_t req);

#endif
