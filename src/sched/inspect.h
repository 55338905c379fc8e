/*
 * inspect.h - internal: what other rooms may read of a scheduler beyond
 * openpai/sched.h
 *
 * Simulations ask for each start and end of a run, so wants and places are
 * read where they are, without a copy.  They are valid until the scheduler
 * changes.  Nothing here changes a scheduler.
 */
#ifndef PAI_SRC_SCHED_INSPECT_H
#define PAI_SRC_SCHED_INSPECT_H

#include "base/text/milli.h"
#include "sched/cluster_model.h"

#include <openpai/policy.h>

#define PAI__NO_TYPE (UINT32_MAX - 1) /* only an older cluster had it */

/* A resource request: what equal tasks of a request ask for. */
typedef struct pai__want {
  uint64_t memory;
  uint32_t tasks, min_tasks; /* min_tasks is never 0 */
  uint32_t gpus, cpu_millis, ports;
  uint32_t type; /* kind of GPU or SKU of the cluster; PAI__NONE: any */
  uint32_t type_name;
} pai__want;

/* The place of a task.  Behind the last slot of a run lie the masks of
 * exclusive CPUs and then the ports of its tasks, as words of the pool. */
typedef struct pai__slot {
  uint64_t gpus;
  uint32_t node;
  uint32_t want;
  uint32_t cpus;  /* offset of its CPU mask from the first slot, in words */
  uint32_t ports; /* offset of its ports from the first slot; two a word */
} pai__slot;

/* States of a run: an instance that has begun at least once. */
enum pai__run_state {
  PAI__RUN_RETURNED = 1, /* waits again and holds nothing */
  PAI__RUN_CLAIMED,      /* has a place that others still hold */
  PAI__RUN_PLACED,       /* decided; the caller has yet to start it */
  PAI__RUN_STARTED,
  PAI__RUN_STOPPING /* decided; the caller has yet to stop it */
};

/* --- the cluster ---------------------------------------------------------- */

const pai__sched_cluster *pai__sched_cluster_of(const pai_sched *s);
/* Returns the virtual cluster of that name; NULL: the default one. */
uint32_t pai__sched_vc_of(const pai_sched *s, const char *vc);

/* The current state of a node. */
typedef struct pai__node_info {
  uint32_t state;      /* PAI_NODE_UP, ... */
  uint64_t healthy;    /* GPUs that are not sick */
  uint64_t free;       /* healthy GPUs that no run holds */
  int64_t free_millis; /* free CPUs, in thousandths; claims may make it
                          negative */
} pai__node_info;

pai__node_info pai__inspect_node(const pai_sched *s, uint32_t node);

/* Finds the nodes in use that a new cluster lacks or has differently.  `lost`
 * gets a byte for each node.  Returns PAI_OK; PAI_ELIMIT; or PAI_ENOMEM. */
int pai__cluster_lost(pai_sched *s, const pai_cluster *c, uint8_t *lost,
                      pai_error **err);

/* --- requests and runs ---------------------------------------------------- */

typedef struct pai__request_info {
  pai_time submitted;
  const pai__want *wants;
  uint32_t nwants;
  uint32_t vc_index; /* in the cluster's `vcs` */
  uint32_t pin;      /* index of the pin; PAI__NONE: none, or unknown */
  const char *name;  /* or NULL */
  bool stuck;        /* held, or its dependency has failed */
} pai__request_info;

/* Returns false if there is no such request. */
bool pai__inspect_request(const pai_sched *s, uint64_t id,
                          pai__request_info *out);

/* A run that has a place. */
typedef struct pai__run_info {
  uint64_t id; /* of its request */
  uint32_t instance;
  uint32_t vc_index;
  const pai__want *wants; /* of its request */
  const pai__slot *slots; /* one for each task */
  uint32_t tasks;
  pai_time since; /* time of placing; once started, time of start */
  uint8_t state;  /* enum pai__run_state */
  uint8_t cause;  /* of a stop: PAI_STOP_* */
  bool borrowed;  /* it counts as borrowed */
} pai__run_info;

/* Returns false if the instance has no place. */
bool pai__inspect_run(const pai_sched *s, uint64_t id, uint32_t instance,
                      pai__run_info *out);
/* Iterates over the runs that have a place: *i is 0 at first.  Returns false
 * at the end. */
bool pai__inspect_next_run(const pai_sched *s, uint32_t *i,
                           pai__run_info *out);

/* --- the scheduler -------------------------------------------------------- */

const pai_alloc *pai__sched_alloc(const pai_sched *s);
/* Returns the work of all decisions, roughly in looks at a request. */
uint64_t pai__sched_effort(const pai_sched *s);

/* The end of a snapshot that follows a gap in its log: replaying the lines
 * before it does not lead to its state. */
#define PAI__SNAPSHOT_GAP ",\"gap\":true}"
/* Writes a snapshot in the same form as `like`.  Returns PAI_OK; PAI_ENOTSUP;
 * PAI_ENOMEM; or the code of the policy. */
int pai__save_like(const pai_sched *s, const char *like, size_t len,
                   pai__buf *out, pai_error **err);

/* --- reasons -------------------------------------------------------------- */

/* The unit of a lack for people, such as "GPUs"; and an amount in that unit,
 * written to `out`, which is returned.  Amounts of CPUs are given in
 * thousandths, of memory in bytes. */
const char *pai__lack_things(uint32_t lack);
const char *pai__lack_amount(char out[PAI__MILLI_TEXT], uint32_t lack,
                             uint64_t amount);
/* Return the amounts of a public reason in the scheduler's units. */
uint64_t pai__reason_wanted(const pai_reason *r);
uint64_t pai__reason_found(const pai_reason *r);

#endif
