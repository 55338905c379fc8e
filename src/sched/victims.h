/* victims.h - internal: those who may have to make room, and what would be
 * without them */
#ifndef PAI_SRC_SCHED_VICTIMS_H
#define PAI_SRC_SCHED_VICTIMS_H

#include "sched/policy.h"
#include "sched/trial.h"

typedef struct pai__victim {
  uint64_t order;
  int32_t priority;
  uint32_t run;
  uint32_t gpus;
  uint32_t node; /* while they are sorted by nodes */
  uint64_t cost;
  bool spared;
} pai__victim;

/* The first to go is the least important one, and the youngest of these. */
int pai__victims_order(const void *a, const void *b);
/* Likewise the least important one, but the largest of these. */
int pai__victims_by_size(const void *a, const void *b);
/* On a trial: sorts them so that who is on a node where few and unimportant
 * ones have to go for a task is first; but the first ones, which stop anyway,
 * are lifted and stay the first.  PAI_OK or PAI_ENOMEM. */
int pai__victims_by_node(pai_sched *s, const pai__req *r, pai__victim *list,
                         uint32_t first, uint32_t n);

/* On a trial, from which it is away: would nothing be missing if it stayed?
 * Then it does. */
bool pai__victim_may_stay(pai_sched *s, uint32_t run);

/* Do the first n of s->slots leave the share of their virtual cluster? */
bool pai__victims_keep_share(const pai_sched *s, const pai__req *r,
                             uint32_t n);

#endif
