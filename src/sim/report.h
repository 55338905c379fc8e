/*
 * report.h - internal: what a simulation has found, as data
 *
 * The simulator fills it, json and pages are made of it, and what was written
 * as JSON is read into it again: nobody else counts anything.
 */
#ifndef PAI_SRC_SIM_REPORT_H
#define PAI_SRC_SIM_REPORT_H

#include "base/arena.h"
#include "base/base.h"

#include <openpai/sim.h>

/* How the time from the first submission on is divided: as soon as more than
 * the most bins would be needed, each two become one. */
enum { PAI__BINS = 256 };

/* What was, integrated over the time of one bin: amounts times microseconds.
 * GPUs mean CPUs where the cluster has no GPUs. */
typedef struct pai__bin {
  int64_t busy;       /* GPUs in use */
  int64_t up;         /* GPUs of nodes that are up */
  int64_t fragmented; /* free GPUs that no task of eight, or of all of a node,
                         can have */
  int64_t wanted;     /* GPUs that those want who wait */
  int64_t waiting;    /* jobs that wait */
  int64_t running;    /* jobs that run */
  uint64_t came, started, ended, preempted; /* how many, in it */
} pai__bin;

/* A distribution: the value at each thousandth, [0] the least, [1000] the
 * greatest; count 0: nothing was measured. */
typedef struct pai__spread {
  uint64_t count;
  int64_t sum;
  int64_t at[1001];
} pai__spread;

/* Jobs that have something in common: a virtual cluster, a size, a user. */
typedef struct pai__group {
  const char *name; /* in the report's arena */
  uint64_t jobs, rejected, started, finished, failed, killed, left;
  uint64_t preemptions, retries;
  int64_t wait_sum, wait_p50, wait_p90, wait_p99, wait_max;
  uint64_t slowdown_p50, slowdown_p90; /* thousandths */
  int64_t used;                        /* GPU time */
  int64_t lost;                        /* of it, in vain */
  int64_t entitled; /* GPU time: a virtual cluster's share; a user's part of
                       what their virtual clusters used, in equal parts among
                       those who had jobs there at the time; 0: none */
  int64_t borrowed; /* of virtual clusters: used beyond the own share */
  int64_t lent; /* of virtual clusters: used by others of the own share; the
                       sums of both are equal */
} pai__group;

typedef struct pai__groups {
  pai__group *list;
  size_t count;
} pai__groups;

/* Who was where: of each run, for each node of it, a bar. */
typedef struct pai__bar {
  uint64_t job;
  uint64_t gpus; /* mask; 0: CPUs only */
  pai_time from, to;
  uint32_t node; /* of `nodes` */
  uint32_t vc;   /* of `vcs` */
  int end; /* PAI_STATE_SUCCEEDED, _FAILED, _STOPPED; _WAITING: preempted;
              _RUNNING: it had not ended */
} pai__bar;

typedef struct pai__sim_node {
  const char *name;
  uint32_t gpus;
} pai__sim_node;

struct pai_sim_report {
  pai_alloc alloc;
  pai__arena arena; /* all strings and arrays */
  pai_sim_view view;
  const char *options; /* of the policy, as JSON; "": none were said */
  const char *cluster; /* one line for people, as "1000 nodes, 8000 GPUs" */
  const char *trace;   /* its form */
  uint64_t gpus, cpus;
  size_t nodes;
  pai_time span; /* what bins are of, from the first submission on */
  pai_time bin;  /* how long each takes; the last one until the span ends */
  pai__bin bins[PAI__BINS];
  size_t nbins;
  pai__spread waits, slowdowns; /* microseconds; thousandths */
  pai__groups vcs, sizes, users;
  int64_t outside; /* GPU time of nodes that were down, times their GPUs */
  pai__sim_node *node_list; /* those that bars are of */
  size_t nnode_list;
  pai__bar *bars; /* of the first runs, up to the most that are kept */
  size_t nbars;
  bool bars_cut; /* there were more */
};

/* An empty one; PAI_OK or PAI_ENOMEM, and then *out is NULL. */
int pai__sim_report_make(pai_sim_report **out, const pai_alloc *alloc);

/* Writers of one or more reports; each has a file of its own. */
int pai__report_json(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);
int pai__report_text(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);
int pai__report_csv(const pai_sim_report *const *reports, size_t n,
                    pai_write_cb write, void *user_data, pai_error **err);
int pai__report_html(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err);

#endif
