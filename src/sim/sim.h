/* sim.h - internal: a simulation */
#ifndef PAI_SRC_SIM_SIM_H
#define PAI_SRC_SIM_SIM_H

#include "base/buf.h"
#include "json/writer.h"
#include "sim/ids.h"
#include "sim/stats.h"

/* Gives the next record: 1; 0: there is none; or a code.  Its strings are valid
 * until the next call. */
typedef int (*pai__next_record)(void *data, pai_trace_record *record,
                                pai_error **err);

/* How often a job of a trace ran; stretched and spread. */
typedef struct pai__attempts {
  pai_trace_attempt first;
  pai_trace_attempt *more; /* the others, or NULL */
  uint32_t count;
} pai__attempts;

/* A job with what its trace told of it. */
typedef struct pai__sim_job {
  pai__counted c;
  uint64_t line;
  uint64_t key; /* of its id in the trace; 0: none */
  pai__attempts attempts;
  uint32_t retries;
  char *name; /* if somebody wants to know it, or NULL */
} pai__sim_job;

/* When a node fails and is repaired. */
typedef struct pai__outage {
  pai__prng prng;
  uint32_t timer;
  bool down;
} pai__outage;

struct pai_sim {
  pai_alloc alloc;
  pai_sim_options o;
  char *policy;  /* its name, */
  char *options; /* and what was said to it, or NULL */
  pai_sched *sched;
  pai__next_record next;
  void *source;
  pai_trace *trace;        /* that is the source, or NULL */
  pai_trace_record record; /* the next one, */
  bool waiting;            /* if it is there */
  bool drained;            /* there are no more */
  bool over;
  int rc;          /* it has failed with that */
  pai_error **err; /* of the call that is made */
  pai__drive drive;
  pai__stats stats;
  pai__outage *outages;  /* of nodes, or NULL */
  uint32_t down;         /* of them */
  uint64_t outage_count; /* since a job started or ended; */
  uint64_t progress;     /* then it was that many */
  uint64_t number;       /* jobs so far */
  pai__ids ids;
  pai__map forms;            /* lives by their retries */
  const pai__job_form *form; /* the last one, or NULL */
  pai_want *wants;           /* as they are asked for, */
  pai_after *after;
  size_t want_cap, after_cap;
  uint64_t mapped_vcs, mapped_types;
  pai__buf line; /* of `events` */
};

int pai__sim_new(pai_sim **out, const pai_cluster *cluster,
                 pai__next_record next, void *source,
                 const pai_sim_options *opts, pai_error **err);

/* A record happens now (intake.c). */
int pai__sim_take(pai_sim *sim, const pai_trace_record *record);
void pai__sim_free_forms(pai_sim *sim);
void pai__sim_drop_attempts(const pai_sim *sim, pai__attempts *attempts);
/* What a job had of memory goes. */
void pai__sim_forget(pai_sim *sim, pai__sim_job *job);

/* The drive's operations (living.c). */
extern const pai__drive_ops pai__sim_ops;
/* The job as it is seen in the end. */
int pai__sim_show(pai_sim *sim, const pai__sim_job *job, int state);

/* Nodes begin to fail (outage.c).  PAI_OK or PAI_ENOMEM. */
int pai__outages_begin(pai_sim *sim);
/* What was drawn for a node happens. */
int pai__outage_due(pai_sim *sim, uint32_t node);

/* Lines of what happens, if somebody reads them (events.c). */
int pai__tell_come(pai_sim *sim, const pai__sim_job *job);
int pai__tell_start(pai_sim *sim, const pai__sim_job *job);
int pai__tell_stop(pai_sim *sim, const pai__sim_job *job, enum pai__left how,
                   pai_time in_vain);
int pai__tell_end(pai_sim *sim, const pai__sim_job *job);
int pai__tell_reject(pai_sim *sim, const pai__sim_job *job, const char *why);
int pai__tell_node(pai_sim *sim, uint32_t node, int state);

#endif
