/* orders.h - a policy that does what a script tells it, for scene_case */
#ifndef PAI_TESTS_ORDERS_H
#define PAI_TESTS_ORDERS_H

#include "sched/script.h"

extern const pai_policy orders_policy;

/*
 * Steps that say what is done at the decisions from now on:
 *
 *   start [ID], over      start each request, start_over() each
 *   at ID PLACE ...   start_at(); a place is NODE:GPUS
 *   both PLACE ...    the same for requests 1 and 2
 *   claim PLACE ...   claim_at() for the last request
 *   resize WANT TASKS of request 1
 *   between           start_over() request 2, preempt 1 for it, start_over()
 *   refuse, give_up, send  each: "it is Sunday"; an error; an event
 *
 * "said CODE" or "said NUMBER" checks what the last call answered.
 */
bool orders_own(char *const *words, size_t n);

/* A scheduler with that policy, and scripts for it. */
pai_sched *orders_new(const char *cluster, const pai_alloc *alloc);
void orders_script(pai_sched *s, const char *script);

#endif
