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

/* What few jobs have: attempts behind the first one, and a name that somebody
 * wants to know, behind them. */
typedef struct pai__rest {
  uint32_t more;
  uint32_t name; /* its bytes, the NUL with them; 0: none */
  pai_trace_attempt attempts[];
} pai__rest;

/* What a trace told of a job; durations are stretched and spread. */
typedef struct pai__told {
  uint64_t line;
  uint64_t key; /* of its id in the trace; 0: none */
  pai_time duration;
  int code;
  uint32_t retries;
  pai__rest *rest; /* or NULL */
} pai__told;

/* A job that waits for its first place: as little as can be. */
typedef struct pai__sim_wait {
  pai__dwait d;
  pai__told told;
  uint32_t pair; /* of the ledger */
} pai__sim_wait;

typedef struct pai__sim_job {
  pai__counted c;
  pai__told told;
} pai__sim_job;

/* When a node fails and is repaired. */
typedef struct pai__outage {
  pai__prng prng;
  uint32_t timer;
  bool down;
} pai__outage;

enum { PAI__CAME = 1 << 17 };

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
  uint64_t skipped; /* lines of the trace that name what is not there */
  uint64_t *came;   /* bits of the ids of jobs, PAI__CAME words; or NULL */
  pai__buf line;    /* of `events` */
};

int pai__sim_new(pai_sim **out, const pai_cluster *cluster,
                 pai__next_record next, void *source,
                 const pai_sim_options *opts, pai_error **err);

/* A record happens now (intake.c). */
int pai__sim_take(pai_sim *sim, const pai_trace_record *record);
const pai__job_form *pai__sim_form(pai_sim *sim, uint32_t retries);
void pai__sim_free_forms(pai_sim *sim);
/* What there is of a job that waits, as of one that lives. */
void pai__sim_fill(const pai_sim *sim, const pai__sim_wait *wait,
                   pai__sim_job *job);
/* What was told of a job goes. */
void pai__sim_forget(const pai_sim *sim, pai__told *told);
/* Its name, or NULL. */
const char *pai__sim_name(const pai__told *told);

/* The drive's operations (living.c). */
extern const pai__drive_ops pai__sim_ops;
/* The job as it is seen in the end. */
int pai__sim_show(pai_sim *sim, const pai__sim_job *job, int state);

/* Nodes begin to fail (outage.c).  PAI_OK or PAI_ENOMEM. */
int pai__outages_begin(pai_sim *sim);
/* What was drawn for a node happens. */
int pai__outage_due(pai_sim *sim, uint32_t node);

/* Lines of what happens, if somebody reads them (events.c). */
int pai__tell_come(pai_sim *sim, const pai__sim_wait *wait);
int pai__tell_start(pai_sim *sim, const pai__sim_job *job);
int pai__tell_stop(pai_sim *sim, const pai__sim_job *job, enum pai__left how,
                   pai_time in_vain);
int pai__tell_end(pai_sim *sim, const pai__sim_job *job);
int pai__tell_reject(pai_sim *sim, const pai__sim_job *job, const char *why);
int pai__tell_node(pai_sim *sim, uint32_t node, int state);

#endif
