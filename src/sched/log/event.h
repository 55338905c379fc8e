/* event.h - internal: handlers of events */
#ifndef PAI_SRC_SCHED_LOG_EVENT_H
#define PAI_SRC_SCHED_LOG_EVENT_H

#include "sched/start.h"
#include "sched/core.h"

/* Handlers of one kind of event each.  They change nothing on failure, and
 * return the codes of pai_sched_send(). */
int pai__on_change(pai_sched *s, const pai_sched_event *e, pai_error **err);
/* Returns whether the value of that key in a change is a text, not a number. */
bool pai__change_is_text(const char *key);
/* Returns whether a change of that key needs a request that does not run, and
 * may alter where it fits. */
bool pai__change_is_of_place(const char *key);
int pai__on_node(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_cluster(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_reserve(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_unreserve(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_policy(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__on_shadow(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* Returns the index of the node of that name, or PAI__NONE with an error. */
uint32_t pai__node_named(const pai_sched *s, const char *name,
                         pai_error **err);

int pai__on_resized(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* Adds a reservation that was checked before.  Returns PAI_OK; PAI_EEXISTS;
 * PAI_EINVAL if a time is out of range; PAI_ENOTFOUND if there is no such
 * node; or PAI_ENOMEM. */
int pai__sched_reservation_add(pai_sched *s, const pai_reservation *r,
                               pai_error **err);
/* Add a reservation for the time of a decision; remove the last one, and free
 * its mask of nodes.  pai__sched_reservation_push() returns PAI_OK or
 * PAI_ENOMEM. */
int pai__sched_reservation_push(pai_sched *s, const pai__sched_reservation *k);
void pai__sched_reservation_pop(pai_sched *s);
/* Counts anew how many reservations name each node. */
void pai__sched_reservation_recount(pai_sched *s);
/* Removes the reservations that are over. */
void pai__sched_reservation_expire(pai_sched *s, pai_time now);
/* Returns the next time after now at which a reservation begins or ends, or
 * INT64_MAX. */
pai_time pai__sched_reservation_next(const pai_sched *s);

/* Set an error for an unknown name, with similar names.  Return
 * PAI_ENOTFOUND. */
int pai__missing_node(const pai_sched *s, const char *name, pai_error **err);
int pai__missing_vc(const pai_sched *s, const char *name, pai_error **err);
int pai__missing_type(const pai_sched *s, const char *name, pai_error **err);

/* Sets an error for a pin that nothing has.  Returns PAI_ENOROOM. */
int pai__missing_pin(const pai_sched *s, const char *name, pai_error **err);
/* Sets an error for a locality level that does not exist.  Returns
 * PAI_ENOROOM; or PAI_OK if it exists. */
int pai__missing_group(const pai_sched *s, const char *name, pai_error **err);

#endif
