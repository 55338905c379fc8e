/*
 * snapshot_form.h - internal: the state of a scheduler as JSON
 *
 * What follows from something else is not in it: what is free follows from
 * what runs, who waits from the requests.  docs/internals/sched-log.md tells
 * it all.
 */
#ifndef PAI_SRC_SCHED_SNAPSHOT_FORM_H
#define PAI_SRC_SCHED_SNAPSHOT_FORM_H

#include "sched/form.h"

#include <openpai/sched.h>

enum { PAI__SNAPSHOT_VERSION = 1 };

typedef struct pai__state_form {
  int64_t version;
  pai_time time;
  int64_t events, turns, orders;
  pai_time next_limit;
  uint32_t first_port, last_port, next_port;
  int unchecked, gap;
  pai__node alike, cluster, policy, shadow, nodes, reservations, requests,
    refused, decisions;
} pai__state_form;

typedef struct pai__policy_form {
  const char *name;
  int64_t live, decisions, agreed, failed; /* of a shadow */
  pai__node options, state;
} pai__policy_form;

typedef struct pai__req_form {
  int64_t turn;
  pai_time submitted;
  uint32_t finished, failed;
  int cancelled;
  pai__node request, runs, why;
} pai__req_form;

typedef struct pai__run_form {
  uint32_t instance;
  uint32_t state, cause; /* words */
  int64_t order;
  pai_time since;
  uint64_t by;
  int borrowed;
  uint32_t leaving, leaving_want;
  pai__node tasks;
} pai__run_form;

typedef struct pai__slot_form {
  uint32_t want;
  const char *node;
  const char *cpus; /* "0-3,8" */
  uint32_t at;      /* of a row: the node's place in the cluster */
  pai__node gpus, ports;
} pai__slot_form;

typedef struct pai__room_form {
  const char *name, *why;
  uint32_t state;
  uint32_t next_port; /* 0: the scheduler's */
  pai__node sick, lost;
} pai__room_form;

typedef struct pai__why_form {
  uint32_t lack, of; /* words */
  uint32_t want, placed, tasks;
  uint64_t wanted, found, behind;
  pai_time until;
  const char *node, *text;
  pai__node failed;
} pai__why_form;

typedef struct pai__rule_form {
  const char *vc;
  uint64_t behind;
  int64_t first, last;
  int lazy;
} pai__rule_form;

typedef struct pai__pending_form {
  uint64_t id, by;
  uint32_t instance, want, tasks;
  uint32_t kind, cause; /* words */
} pai__pending_form;

typedef struct pai__table {
  const pai__field *list;
  size_t count;
} pai__table;

extern const pai__table pai__state_table, pai__policy_table, pai__req_table,
  pai__run_table, pai__slot_table, pai__room_table, pai__why_table,
  pai__rule_table, pai__pending_table;

/* By PAI_DECISION_* and PAI_STOP_*. */
extern const char *const pai__decision_words[], *const pai__cause_words[];

#endif
