/* core.h - internal to the room: what a policy sees and does */
#ifndef PAI_SRC_SCHED_CORE_H
#define PAI_SRC_SCHED_CORE_H

#include "sched/sched.h"

typedef struct pai__queued pai__queued;

struct pai__queued {
  pai__queued *next, *before; /* of those that wait, by submission */
  uint64_t order;             /* of submission */
  uint64_t id;
  bool placed;
  size_t ngroups;
  pai__want *groups;
  size_t ntasks;
  pai__slot *slots;
  uint32_t *ports; /* all tasks' ports, one after the other */
  size_t nports;
  pai__reason reason;
};

typedef struct pai__policy {
  const char *name;
  /* Goes through the queue and starts what it wants started. */
  void (*decide)(pai__sched *s);
} pai__policy;

extern const pai__policy pai__policy_fifo;

/* The first request that waits after `q`, or of all for NULL. */
pai__queued *pai__sched_next_waiting(const pai__sched *s, pai__queued *q);
/* Places the whole gang and announces it, or records why not. */
bool pai__sched_try(pai__sched *s, pai__queued *q);
/* Records that all after `q`, whose turn did not come, wait for it. */
void pai__sched_block(pai__sched *s, const pai__queued *q);

#endif
