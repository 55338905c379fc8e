/*
 * sched.h - internal: the scheduler core
 *
 * Pure and deterministic: events come in as calls, decisions go out through
 * one callback, and for every request that was looked at and not placed the
 * policy's reason is kept.  SERIAL; two schedulers share nothing.
 */
#ifndef PAI_SRC_SCHED_SCHED_H
#define PAI_SRC_SCHED_SCHED_H

#include "base/base.h"
#include "resource/machine.h"

typedef struct pai__sched pai__sched;

/* What each of `tasks` equal tasks asks for. */
typedef struct pai__want {
  uint32_t tasks;
  uint32_t cpus;
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t ports;
} pai__want;

/* A gang: placed whole or not at all. */
typedef struct pai__request {
  uint64_t id; /* never 0 */
  size_t ngroups;
  const pai__want *groups; /* copied */
} pai__request;

/* Where one task goes. */
typedef struct pai__slot {
  uint32_t node;
  uint64_t gpus;         /* mask of device indices */
  const uint32_t *ports; /* as many as its want says */
} pai__slot;

/* One decision: request `id` starts, task by task in the order asked. */
typedef struct pai__placement {
  uint64_t id;
  size_t ntasks;
  const pai__slot *slots; /* valid until the request is finished */
} pai__placement;

typedef void (*pai__place_cb)(void *user_data, const pai__placement *place);

/* Why a request was not placed. */
enum pai__lack {
  PAI__LACK_NOTHING, /* not looked at yet */
  PAI__LACK_CPU,
  PAI__LACK_MEMORY,
  PAI__LACK_GPU,
  PAI__LACK_PORT,
  PAI__LACK_TURN /* a request before it does not fit yet */
};

typedef struct pai__reason {
  enum pai__lack lack;
  size_t group;    /* of the first task without a place */
  uint32_t placed; /* tasks of the gang that did find one */
  uint32_t wanted; /* of what lacks, by that task */
  uint32_t free;   /* the most any node had left for it */
  uint64_t behind; /* PAI__LACK_TURN: the request it waits for */
} pai__reason;

/* policy NULL: "fifo".  PAI_ENOTFOUND: no such policy. */
int pai__sched_new(pai__sched **out, const pai_alloc *alloc,
                   const char *policy, pai_error **err);
void pai__sched_free(pai__sched *s);

int pai__sched_add_node(pai__sched *s, const pai__machine *node);
const pai__machine *pai__sched_node(const pai__sched *s, uint32_t node);

/* Queues a request.  PAI_ENOROOM: it would not fit if all nodes were empty. */
int pai__sched_submit(pai__sched *s, const pai__request *request,
                      pai_error **err);
/* Ends a request, queued or placed, and frees what it holds. */
int pai__sched_finish(pai__sched *s, uint64_t id);
/* Puts a placed request back where it was in the queue. */
int pai__sched_requeue(pai__sched *s, uint64_t id);
/* Somebody else uses this port: it is not given out again until ports are
 * regained.  A request that holds it is to be queued again. */
void pai__sched_lose_port(pai__sched *s, uint32_t node, uint32_t port);
void pai__sched_regain_ports(pai__sched *s);

/* Lets the policy decide; `cb` must not call the scheduler. */
void pai__sched_run(pai__sched *s, pai__place_cb cb, void *user_data);

/* Does any request wait? */
bool pai__sched_has_waiting(const pai__sched *s);
/* Why it waits; NULL when it is placed or unknown. */
const pai__reason *pai__sched_reason(const pai__sched *s, uint64_t id);
/* What lacks, for a person, as "GPUs"; "" where it is no thing. */
const char *pai__lack_name(enum pai__lack lack);

#endif
