/*
 * gangs.h - internal: between requests of the scheduler and HiveD's groups
 *
 * An instance of a request is a group, its tasks with GPUs are the pods.
 */
#ifndef PAI_SRC_SCHED_HIVED_GANGS_H
#define PAI_SRC_SCHED_HIVED_GANGS_H

#include "sched/hived/hived.h"
#include "sched/policy.h"

/* Where a leaf cell is for the scheduler. */
typedef struct pai__hived_place {
  uint32_t node; /* of the park, or PAI__NONE */
  uint32_t bit;
} pai__hived_place;

/* A group that reserves cells until its victims have stopped. */
typedef struct pai__hived_waiting {
  uint64_t id;
  uint32_t instance;
} pai__hived_waiting;

/* The state of the policy. */
typedef struct pai__hived_policy {
  pai_alloc alloc;
  pai_cluster *cluster;
  pai__hived *engine;
  pai__flat places;  /* of each leaf cell */
  pai__flat leaves;  /* of each GPU of the park: its leaf, or PAI__NONE */
  pai__flat nodes;   /* of each node of the park: HiveD's, or PAI__NONE */
  pai__flat waiting; /* in the order in which they began to */
  pai__flat scratch; /* of tasks' places, then of numbers */
  bool foreign;      /* the cluster's and not its own: a clone's */
} pai__hived_policy;

/* A group's name, "id.instance". */
typedef struct pai__hived_group_name {
  char text[40];
  size_t len;
} pai__hived_group_name;

void pai__hived_name_group(pai__hived_group_name *name, uint64_t id,
                           uint32_t instance);
bool pai__hived_read_group(const char *text, uint64_t *id, uint32_t *instance);

/* Any number but 0, another one for each task. */
uint64_t pai__hived_pod_of(uint64_t id, uint32_t instance, uint32_t task);

#endif
