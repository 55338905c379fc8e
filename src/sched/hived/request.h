/*
 * request.h - internal: what pods say of themselves in their annotations
 *
 * Pure.  Threads: SERIAL, as the engine.
 */
#ifndef PAI_SRC_SCHED_HIVED_REQUEST_H
#define PAI_SRC_SCHED_HIVED_REQUEST_H

#include "base/arena.h"
#include "sched/hived/hived.h"

/* A pod-scheduling-spec; all of the arena. */
typedef struct pai__hived_ask {
  pai__hived_request r;
  pai__hived_words words; /* but `pod` */
} pai__hived_ask;

/* Reads one.  `own_group` is the name of a group that is this pod alone.
 * PAI_OK; PAI_EINVAL, and `why` says it in HiveD's words; PAI_ENOMEM. */
int pai__hived_read_ask(const pai__hived *h, const char *text, size_t len,
                        const char *own_group, pai__arena *a,
                        pai__hived_ask *ask, pai__buf *why);

/* A pod-bind-info, as it belongs to the pod that asked so. */
typedef struct pai__hived_bound {
  uint32_t node;  /* or a name */
  uint32_t index; /* of the pod among those of its size; PAI__NOTHING: it is
                     not there */
  pai__hived_info info;
} pai__hived_bound;

/* Reads one; names that the cluster does not have are kept in the engine, also
 * that of the virtual cluster, which goes into the request.  PAI_OK; PAI_EINVAL:
 * it is no bind info; PAI_ENOMEM. */
int pai__hived_read_bound(pai__hived *h, const char *text, size_t len,
                          pai__arena *a, pai__hived_ask *ask,
                          pai__hived_bound *bound);

#endif
