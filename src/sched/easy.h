/*
 * easy.h - internal: one promise, to the first of the queue
 *
 * Who may go before it, because it will have ended by then or does not need
 * what is promised, is told by the rooms as they are: what the promise takes
 * and nobody gives back in time counts as taken.  So nothing has to be planned
 * but the promise itself, and that only anew when something has ended before
 * its time.
 */
#ifndef PAI_SRC_SCHED_EASY_H
#define PAI_SRC_SCHED_EASY_H

#include "sched/promise.h"
#include "sched/waiters.h"

typedef struct pai__easy {
  pai__flat needs; /* of each promised node */
  pai__flat at;    /* of each node: its need and one, or 0; all 0 between */
  bool known;      /* needs are those of this moment */
  pai__flat sides; /* easy_move.c: what is free of each node, now and then */
  pai__flat costs, choices;
  bool counted; /* sides are those of this moment */
  pai__waiters waiters;
} pai__easy;

void pai__easy_init(pai__easy *e);
void pai__easy_dispose(pai__easy *e, const pai_alloc *alloc);

/* Is it that simple?  All who wait belong to one virtual cluster, none has a
 * share to keep to, nothing is reserved or claimed, and GPUs of a node are all
 * alike. */
bool pai__easy_is_enough(const pai_sched *s);

/* Decides for a queue of pai__entry.  What is promised is kept in `x`, and
 * stays as long as nothing makes it wrong.  PAI_OK or a code. */
int pai__easy_decide(pai__easy *e, pai_sched *s, const pai__flat *queue,
                     int place, pai__promises *x);
/* The same for all who wait, where there is nothing odd about them: of those
 * who are alike not each is looked at.  1; 0: there is, and nothing was done; or
 * a code. */
int pai__easy_decide_quickly(pai__easy *e, pai_sched *s, int place,
                             pai__promises *x);
/* A request that will not have ended when the promise begins, and found no room
 * beside it: an instance starts where the promised one still has room at its
 * time, maybe on other nodes.  1: the promise is to be made anew; 0; or a
 * code. */
int pai__easy_start_moving(pai__easy *e, pai_sched *s, uint32_t req,
                           uint32_t head, const pai__promise *p);
/* An event was taken. */
void pai__easy_event(pai__easy *e, const pai_sched *s, pai__promises *x,
                     const pai_sched_event *event);

#endif
