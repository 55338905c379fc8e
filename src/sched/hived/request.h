/*
 * request.h - internal: HiveD's pod annotations, read as requests and bind
 * info
 *
 * Pure.  Threads: SERIAL, as the engine.
 */
#ifndef PAI_SRC_SCHED_HIVED_REQUEST_H
#define PAI_SRC_SCHED_HIVED_REQUEST_H

#include "base/arena.h"
#include "base/tree.h"
#include "sched/hived/hived.h"

/* Iterates over a list; empty if the node is no list. */
static inline pai__tree_walk pai__hived_items(const pai__tree *t,
                                              pai__node list)
{
  pai__tree_walk none = { t, NULL, 0, 0, false };

  return list != PAI__NO_NODE && pai__tree_type(t, list) == PAI__SEQUENCE
           ? pai__tree_iter(t, list)
           : none;
}

/* A pod-scheduling-spec; allocated in the arena. */
typedef struct pai__hived_ask {
  pai__hived_request r;
  pai__hived_words words; /* without `pod` */
} pai__hived_ask;

/* Reads a pod-scheduling-spec.  `own_group` is the group name of a pod without
 * a group.  Returns PAI_OK; PAI_EINVAL, with `why` in HiveD's words;
 * PAI_ENOMEM. */
int pai__hived_read_ask(const pai__hived *h, const char *text, size_t len,
                        const char *own_group, pai__arena *a,
                        pai__hived_ask *ask, pai__buf *why);

/* A pod-bind-info, for a pod whose request is known. */
typedef struct pai__hived_bound {
  uint32_t node;  /* or a name of pai__hived_name() */
  uint32_t index; /* among the pods of its size; PAI__NOTHING: not listed */
  pai__hived_info info;
} pai__hived_bound;

/* Reads a pod-bind-info.  Names that the cluster lacks are kept in the engine;
 * so is that of the virtual cluster, which is put into the request.  Returns
 * PAI_OK; PAI_EINVAL if it is no bind info; PAI_ENOMEM. */
int pai__hived_read_bound(pai__hived *h, const char *text, size_t len,
                          pai__arena *a, pai__hived_ask *ask,
                          pai__hived_bound *bound);

#endif
