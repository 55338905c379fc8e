/*
 * report.h - internal: report of a simulation, as data
 *
 * The simulator fills it in, or it is read from JSON.  JSON, CSV and the pages
 * are written from it, and compute no other counts.
 */
#ifndef PAI_SRC_SIM_REPORT_REPORT_H
#define PAI_SRC_SIM_REPORT_REPORT_H

#include "base/arena.h"
#include "base/base.h"

#include <openpai/sim.h>

/* Most bins of the time from the first submission on.  When more are needed,
 * the bins are merged in pairs. */
enum { PAI__BINS = 256 };

/* Amounts integrated over the time of one bin, in amount times microseconds.
 * GPUs mean CPUs if the cluster has no GPUs. */
typedef struct pai__bin {
  int64_t busy;       /* GPUs in use */
  int64_t up;         /* GPUs of nodes that are up */
  int64_t fragmented; /* free GPUs of nodes with fewer free GPUs than a task of
                         eight, or of the whole node if smaller, needs */
  int64_t wanted;     /* GPUs that waiting jobs ask for */
  int64_t waiting;    /* waiting jobs */
  int64_t running;    /* running jobs */
  uint64_t came, started, ended, preempted; /* numbers of jobs */
} pai__bin;

/* A distribution: the value at each thousandth, from [0], the least, to
 * [1000], the greatest. count 0: no values. */
typedef struct pai__spread {
  uint64_t count;
  int64_t sum;
  int64_t at[1001];
} pai__spread;

/* Counters of a group of jobs: a virtual cluster, a size, a user. */
typedef struct pai__sim_group {
  const char *name; /* in the report's arena */
  uint64_t jobs, rejected, started, finished, failed, killed, left;
  uint64_t preemptions, retries;
  int64_t wait_sum, wait_p50, wait_p90, wait_p99, wait_max;
  uint64_t slowdown_p50, slowdown_p90; /* thousandths */
  int64_t used;                        /* GPU time */
  int64_t lost;                        /* lost part of `used` */
  int64_t entitled; /* GPU time: the share of a virtual cluster; or a user's
                       part of what their virtual clusters used, in equal parts
                       among the users who had jobs there at the time; 0:
                       none */
  int64_t borrowed; /* of virtual clusters: used beyond the own share */
  int64_t lent; /* of virtual clusters: part of the own share that others used;
                   the sums of `borrowed` and `lent` are equal */
} pai__sim_group;

typedef struct pai__groups {
  pai__sim_group *list;
  size_t count;
} pai__groups;

/* What jobs are grouped by: virtual cluster, GPUs of a job, user. */
enum { PAI__BY_VC, PAI__BY_SIZE, PAI__BY_USER, PAI__GROUPINGS };

/* Chart of placements: a bar for each node of a run. */
typedef struct pai__bar {
  uint64_t job;
  uint64_t gpus; /* bit mask; 0: CPUs only */
  pai_time from, to;
  uint32_t node; /* index in `node_list` */
  uint32_t vc;   /* index in the groups by virtual cluster */
  int end; /* PAI_STATE_SUCCEEDED, _FAILED, _STOPPED; _WAITING: preempted;
              _RUNNING: not ended */
} pai__bar;

typedef struct pai__sim_node {
  const char *name;
  uint32_t gpus;
} pai__sim_node;

struct pai_sim_report {
  pai_alloc alloc;
  pai__arena arena; /* of all strings and arrays */
  pai_sim_view view;
  const char *options; /* of the policy, as JSON; "": none */
  const char *cluster; /* one line for people, as "1000 nodes, 8000 GPUs" */
  const char *trace;   /* name of its form */
  uint64_t gpus, cpus;
  size_t nodes;
  pai_time span; /* time covered by the bins, from the first submission on */
  pai_time bin;  /* length of a bin; the last one ends with the span */
  pai__bin bins[PAI__BINS];
  size_t nbins;
  pai__spread waits, slowdowns; /* microseconds; thousandths */
  pai__groups groups[PAI__GROUPINGS];
  int64_t outside;          /* GPU time lost to nodes that were down */
  pai__sim_node *node_list; /* nodes that have bars */
  size_t nnode_list;
  pai__bar *bars; /* of the first runs, up to a limit */
  size_t nbars;
  bool bars_cut; /* runs were left out */
};

/* Makes an empty report.  Returns PAI_OK, or PAI_ENOMEM with *out NULL. */
int pai__sim_report_make(pai_sim_report **out, const pai_alloc *alloc);

/* Write one or more reports; each function is in a file of its own. */
int pai__report_json(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);
int pai__report_text(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);
int pai__report_csv(const pai_sim_report *const *reports, size_t n,
                    pai_write_cb write, void *user_data, pai_error **err);
int pai__report_html(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);

#endif
