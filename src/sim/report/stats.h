/*
 * stats.h - internal: statistics of a running simulation, from which its
 * report is made
 *
 * Memory grows with the number of nodes, virtual clusters and users, not with
 * the number of jobs that are over.
 */
#ifndef PAI_SRC_SIM_REPORT_STATS_H
#define PAI_SRC_SIM_REPORT_STATS_H

#include "base/map.h"
#include "sim/report/counters.h"
#include "sim/drive.h"
#include "sim/report/report.h"

enum { PAI__SIZES = 9 };

/* Owner and size of a job. */
typedef struct pai__whose {
  uint64_t gpus;     /* of all its tasks; CPUs if there are no GPUs */
  uint32_t vc, user; /* indexes in the statistics */
  uint32_t tasks;    /* of the gang at full size */
  uint8_t size;
} pai__whose;

/* A job with its counters. */
typedef struct pai__counted {
  pai__driven_job d;
  pai__whose of;
  uint32_t pair; /* in the ledger */
  uint64_t held; /* GPUs that it holds now */
  bool killed;
  bool barred;      /* its run gets bars */
  bool waits;       /* counted as waiting */
  pai_time counted; /* time up to which its use is counted */
  pai_time lost;    /* lost time multiplied by GPUs */
} pai__counted;

/* Counters of a group of jobs. */
typedef struct pai__gathered {
  pai__sim_group sums;
  pai__histogram waits, slowdowns;
} pai__gathered;

/* Counted amounts of a node; see pai__bin. */
typedef struct pai__node_book {
  int32_t up, free, fragmented;
  bool dirty;
} pai__node_book;

typedef struct pai__stats {
  pai_alloc alloc;
  const pai_sched *sched; /* borrowed */
  bool cpus;              /* count CPUs, as there are no GPUs */
  pai__series_levels now;
  pai__series series;
  pai__ledger ledger;
  pai__bars bars;
  pai__gathered all;
  pai__gathered sizes[PAI__SIZES];
  pai__gathered *vcs, *users;
  uint32_t nvcs;
  size_t nusers, user_cap;
  pai__map user_of; /* user name to index + 1 */
  pai__node_book *nodes;
  uint32_t nnodes;
  uint32_t *dirty; /* list of dirty nodes, long enough for all */
  uint32_t ndirty;
  int64_t whole;            /* GPUs of all nodes */
  pai_time first, last_end; /* submission of the first job, -1: none; end of
                               the last job that ended */
} pai__stats;

/* Returns PAI_OK or PAI_ENOMEM; `st` can be disposed of in any case. */
int pai__stats_init(pai__stats *st, const pai_alloc *alloc,
                    const pai_sched *sched, uint32_t bars);
void pai__stats_dispose(pai__stats *st);

/* Finds owner and size of a request; `vc` is an index of the cluster model.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__stats_whose(pai__stats *st, const pai_request *request, uint32_t vc,
                     pai__whose *out);
/* The same for a job that has been counted; the rest is read from the
 * scheduler. */
void pai__stats_whose_again(const pai__stats *st, uint64_t id, uint32_t pair,
                            pai__whose *out);

/* Advances time to `now`; the following calls count at that time. */
void pai__stats_pass(pai__stats *st, pai_time now);

/* Counts a job that comes and waits; *pair is its number in the ledger.  These
 * functions return PAI_OK or PAI_ENOMEM. */
int pai__stats_come(pai__stats *st, const pai__whose *of, uint32_t *pair);
void pai__stats_refused(pai__stats *st, const pai__whose *of);
/* Called by the callbacks of pai__drive_ops. */
int pai__stats_started(pai__stats *st, pai__counted *job);
int pai__stats_resized(pai__stats *st, pai__counted *job);
int pai__stats_stopped(pai__stats *st, pai__counted *job, enum pai__left how,
                       pai_time in_vain);
int pai__stats_ended(pai__stats *st, pai__counted *job);
/* Marks a node to be counted again because its state or use changes. */
void pai__stats_node(pai__stats *st, uint32_t node);

/* Returns the bar of a run without its node and GPUs. */
pai__bar pai__stats_bar(const pai__counted *job, pai_time to, int end);

/* Fills a report with the results so far, including the jobs that `drive`
 * still has; the caller fills in the head of its view.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__stats_report(const pai__stats *st, const pai__drive *drive,
                      pai_sim_report *report);

#endif
