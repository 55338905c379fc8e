/* event.h - internal: what happened */
#ifndef PAI_SRC_SCHED_EVENT_H
#define PAI_SRC_SCHED_EVENT_H

#include "sched/start.h"

/* Each takes one kind of event, or changes nothing; the codes are those of
 * pai_sched_send(). */
int pai__on_change(pai_sched *s, const pai_sched_event *e, pai_error **err);
/* Is what a change sets by that key a text?  Else it is a number. */
bool pai__change_is_text(const char *key);
/* May a request, which does not run, be elsewhere after it? */
bool pai__change_is_of_place(const char *key);
int pai__on_node(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_cluster(pai_sched *s, const pai_sched_event *e, pai_error **err);
/* Which nodes are in use that a cluster has not, or not as they are: a byte for
 * each node.  PAI_OK; PAI_ELIMIT; PAI_ENOMEM. */
int pai__cluster_lost(pai_sched *s, const pai_cluster *c, uint8_t *lost,
                      pai_error **err);
int pai__on_reserve(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_unreserve(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_policy(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_shadow(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* The index of a node by its name, or PAI__NONE with an error. */
uint32_t pai__node_named(const pai_sched *s, const char *name,
                         pai_error **err);

int pai__on_resized(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* A reservation, which is not looked at any more.  PAI_OK; PAI_EEXISTS;
 * PAI_ENOTFOUND: no such node; PAI_ENOMEM. */
/* For the time of a decision; the bits of its nodes are given back with it.
 * PAI_OK or PAI_ENOMEM. */
int pai__kept_push(pai_sched *s, const pai__kept *k);
void pai__kept_pop(pai_sched *s);
int pai__kept_add(pai_sched *s, const pai_reservation *r, pai_error **err);
/* How many reservations name each node, counted anew. */
void pai__kept_recount(pai_sched *s);
/* Reservations that are over go. */
void pai__kept_expire(pai_sched *s);
/* The next time one begins or ends after now, or INT64_MAX. */
pai_time pai__kept_next(const pai_sched *s);

#endif
