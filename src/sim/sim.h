/* sim.h - internal: state of a simulation */
#ifndef PAI_SRC_SIM_SIM_H
#define PAI_SRC_SIM_SIM_H

#include "base/buf.h"
#include "sim/ids.h"
#include "sim/report/stats.h"
#include "json/writer.h"

/* Reads the next record.  Returns 1; 0 at the end; or a code.  Its strings are
 * valid until the next call. */
typedef int (*pai__next_record)(void *data, pai_trace_record *record,
                                pai_error **err);

/* Data that few jobs have: the attempts after the first one, followed by the
 * name if a callback needs it, and by a long id. */
typedef struct pai__rest {
  uint32_t more;
  uint32_t name, id; /* bytes with their NUL; 0: none */
  pai_trace_attempt attempts[];
} pai__rest;

/* What the trace records of a job.  `stretch` and `spread` are applied to the
 * durations. */
typedef struct pai__sim_recorded {
  uint64_t line;
  char id[8]; /* its id in the trace; one of more than 7 bytes is in `rest` */
  pai_time duration;
  int code;
  uint32_t retries;
  pai__rest *rest; /* or NULL */
} pai__sim_recorded;

/* A job that waits for its first place; small, as there may be a million. */
typedef struct pai__sim_wait {
  pai__waiting_job d;
  pai__sim_recorded recorded;
  uint32_t pair; /* in the ledger */
} pai__sim_wait;

typedef struct pai__sim_job {
  pai__counted c;
  pai__sim_recorded recorded;
} pai__sim_job;

/* State of a node's failures and repairs. */
typedef struct pai__outage {
  pai__prng prng;
  uint32_t timer;
  bool down;
} pai__outage;

enum { PAI__ARRIVED_WORDS = 1 << 17 };

struct pai_sim {
  pai_alloc alloc;
  pai_sim_options o;
  char *policy;  /* its name */
  char *options; /* the policy's options, or NULL */
  pai_sched *sched;
  pai__next_record next;
  void *source;
  pai_trace *trace;        /* the source if it is a trace, or NULL */
  pai_trace_record record; /* next record, if `waiting` */
  bool waiting;            /* `record` holds a record that was not taken */
  bool drained;            /* the source has no more records */
  bool over;
  int rc;          /* code of the failure that ended it, or PAI_OK */
  pai_error **err; /* of the current call */
  pai__drive drive;
  pai__stats stats;
  pai__outage *outages;  /* one for each node, or NULL */
  uint32_t down;         /* number of nodes that are down */
  uint64_t outage_count; /* outages since `progress` last changed */
  uint64_t progress;     /* jobs started, finished and killed so far */
  uint64_t number;       /* number of jobs so far */
  pai__ids ids;
  pai__map forms;            /* pai__job_form by number of retries */
  const pai__job_form *form; /* form that was used last, or NULL */
  pai_want *wants;           /* scratch memory for changed requests */
  pai_after *after;
  size_t want_cap, after_cap;
  uint64_t mapped_vcs, mapped_types;
  uint64_t skipped; /* lines of the trace that name an unknown node or job */
  uint64_t
    *arrived; /* Bloom filter of job ids, PAI__ARRIVED_WORDS words; or NULL */
  pai__buf line; /* line for the callback `events` */
};

int pai__sim_new(pai_sim **out, const pai_cluster *cluster,
                 pai__next_record next, void *source,
                 const pai_sim_options *opts, pai_error **err);

/* Callbacks of pai__drive_ops that read records from the source. */
bool pai__sim_is_over(void *data);
pai_time pai__sim_next(void *data);
int pai__sim_add(void *data);

/* Applies a record at the current time (intake.c). */
int pai__sim_take(pai_sim *sim, const pai_trace_record *record);
const pai__job_form *pai__sim_form(pai_sim *sim, uint32_t retries);
void pai__sim_free_forms(pai_sim *sim);
/* Fills in a job from a job that waits for its first place. */
void pai__sim_fill(const pai_sim *sim, const pai__sim_wait *wait,
                   pai__sim_job *job);
/* Frees the memory of `recorded`. */
void pai__sim_forget(const pai_sim *sim, pai__sim_recorded *recorded);
/* Return the job's name, and its id in the trace; or NULL. */
const char *pai__sim_name(const pai__sim_recorded *recorded);
const char *pai__sim_id(const pai__sim_recorded *recorded);

/* The callbacks of the driver (lifetimes.c). */
extern const pai__drive_ops pai__sim_ops;
/* Passes the job to the callback `on_job`. */
int pai__sim_show(pai_sim *sim, const pai__sim_job *job, int state);

/* Starts the failures of nodes.  Returns PAI_OK or PAI_ENOMEM. */
int pai__outages_begin(pai_sim *sim);
/* Write a line to the callback `events`, if there is one (lifetimes.c). */
int pai__tell_come(pai_sim *sim, const pai__sim_wait *wait);
int pai__tell_reject(pai_sim *sim, const pai__sim_job *job, const char *why);
int pai__tell_node(pai_sim *sim, uint32_t node, int state);

#endif
