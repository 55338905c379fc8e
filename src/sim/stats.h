/*
 * stats.h - internal: a simulation is watched, and a report made of it
 *
 * Memory grows with nodes, virtual clusters and users, never with the jobs
 * that are over.
 */
#ifndef PAI_SRC_SIM_STATS_H
#define PAI_SRC_SIM_STATS_H

#include "base/map.h"
#include "sched/queue.h"
#include "sim/bars.h"
#include "sim/drive.h"
#include "sim/ledger.h"
#include "sim/report.h"
#include "sim/series.h"
#include "sim/tally.h"

enum { PAI__SIZES = 9 };

/* Whose a job is, and how large. */
typedef struct pai__whose {
  uint64_t gpus;     /* of all of it; CPUs where there are no GPUs */
  uint32_t vc, user; /* of the statistics */
  uint32_t tasks;    /* of its gang, when it is whole */
  uint8_t size;
} pai__whose;

/* A job, as far as it is counted. */
typedef struct pai__counted {
  pai__djob d;
  pai__whose of;
  uint32_t pair; /* of the ledger */
  uint64_t held; /* of its GPUs, now */
  bool killed;
  bool barred;      /* its run has a bar */
  bool waits;       /* it is counted as waiting */
  pai_time counted; /* what it had is counted up to then */
  pai_time lost;    /* times what it held */
} pai__counted;

/* Jobs with something in common. */
typedef struct pai__gathered {
  pai__group sums;
  pai__tally waits, slowdowns;
} pai__gathered;

/* What a node has; see pai__bin. */
typedef struct pai__node_book {
  int32_t up, free, fragmented;
  bool dirty;
} pai__node_book;

typedef struct pai__stats {
  pai_alloc alloc;
  const pai_sched *sched; /* borrowed */
  bool cpus;              /* there are no GPUs: CPUs are counted */
  pai__levels now;
  pai__series series;
  pai__ledger ledger;
  pai__bars bars;
  pai__gathered all;
  pai__gathered sizes[PAI__SIZES];
  pai__gathered *vcs, *users;
  uint32_t nvcs;
  size_t nusers, user_cap;
  pai__map user_of; /* name to index + 1 */
  pai__node_book *nodes;
  uint32_t nnodes;
  uint32_t *dirty; /* as many as nodes */
  uint32_t ndirty;
  int64_t whole;            /* GPUs of all nodes */
  pai_time first, last_end; /* submission; -1: none; end */
} pai__stats;

/* PAI_OK or PAI_ENOMEM; it can be disposed of in any case. */
int pai__stats_init(pai__stats *st, const pai_alloc *alloc,
                    const pai_sched *sched, uint32_t bars);
void pai__stats_dispose(pai__stats *st);

/* Of a request of virtual cluster `vc` of the park.  PAI_OK or PAI_ENOMEM. */
int pai__stats_whose(pai__stats *st, const pai_request *request, uint32_t vc,
                     pai__whose *out);
/* The same of a job that has come, of which the scheduler knows the rest. */
void pai__stats_whose_again(const pai__stats *st, uint32_t req, uint32_t pair,
                            pai__whose *out);

/* Time goes on.  What follows happens at that time. */
void pai__stats_pass(pai__stats *st, pai_time now);

/* A job comes and waits; *pair is of the ledger.  PAI_OK or PAI_ENOMEM, here
 * and below. */
int pai__stats_come(pai__stats *st, const pai__whose *of, uint32_t *pair);
void pai__stats_refused(pai__stats *st, const pai__whose *of);
/* As in pai__drive_ops. */
int pai__stats_started(pai__stats *st, pai__counted *job);
int pai__stats_resized(pai__stats *st, pai__counted *job);
int pai__stats_stopped(pai__stats *st, pai__counted *job, enum pai__left how,
                       pai_time in_vain);
int pai__stats_ended(pai__stats *st, pai__counted *job);
/* Something of it is another way than it was. */
void pai__stats_node(pai__stats *st, uint32_t node);

/* What it holds. */
const pai__run *pai__stats_run(const pai__stats *st, const pai__counted *job);
/* The bar of a run, but for its node and GPUs. */
pai__bar pai__stats_bar(const pai__counted *job, pai_time to, int end);

/* What was found so far, with what `drive` still has; the head of the report's
 * view is the caller's.  PAI_OK or PAI_ENOMEM. */
int pai__stats_report(const pai__stats *st, const pai__drive *drive,
                      pai_sim_report *report);

#endif
