/*
 * drive.h - internal: the one place where virtual time passes
 *
 * A drive is between a scheduler and the lives of jobs, as the platform is,
 * but that nothing runs: how long it would take is asked, and who wants to
 * know what happens is told.  It counts nothing.
 *
 * In one moment there happens, in this order: what ends, nodes that fail and
 * are repaired, jobs whose owners give up, retries that are due; then what the
 * caller adds between pai__drive_begin() and pai__drive_end(); then the policy
 * decides once, and that is carried out.  If something of it takes no time,
 * the same moment comes once more.
 *
 * Of a job that waits and has never had a place there is little to know: its
 * life begins when it gets one, or is killed.
 */
#ifndef PAI_SRC_SIM_DRIVE_H
#define PAI_SRC_SIM_DRIVE_H

#include "job/job.h"
#include "sim/timers.h"

#include <openpai/sched.h>

enum { PAI__CODE_NODE_LOST = -1001 }; /* job-spec 5.7 */

/* What a job does. */
enum pai__doing {
  PAI__WAITS = 0,
  PAI__PREPARES, /* it has its place, and does not work yet */
  PAI__WORKS,
  PAI__LEAVES /* it was told to stop */
};

/* A job that waits for its first place.  The caller may have more behind it. */
typedef struct pai__dwait {
  uint64_t id;    /* in the scheduler; 0: not in use */
  uint32_t slot;  /* where it is */
  uint32_t timer; /* pai__timers: its patience */
} pai__dwait;

/* A job whose life has begun: a gang that starts and ends as one, so that one
 * task of its life stands for all.  The caller may have more behind it. */
typedef struct pai__djob {
  pai__job life;
  uint64_t id; /* in the scheduler; 0: not in use */
  uint32_t instance;
  uint32_t req;     /* in the scheduler, as long as it knows it */
  uint32_t slot;    /* where it is */
  uint32_t timer;   /* pai__timers */
  uint32_t tasks;   /* of its gang, now; 0: it has no place */
  uint32_t attempt; /* which of its own; one that was disturbed goes on */
  uint32_t runs;    /* places that it had */
  uint32_t preemptions;
  uint8_t doing; /* enum pai__doing */
  uint8_t stop;  /* PAI_STOP_*: why it was told to */
  int code;      /* with which this attempt will end */
  pai_time submitted;
  pai_time started; /* for the first time; -1: never */
  pai_time since;   /* it has its place */
  pai_time works;   /* since then it works */
  pai_time lasts;   /* this attempt's work; -1: not asked yet */
  pai_time saved;   /* of it, done and safe */
  pai_time ran;     /* time that it had places */
} pai__djob;

/* How a run ended, for `stopped`. */
enum pai__left {
  PAI__LEFT_OVER = 1,  /* the job is over */
  PAI__LEFT_AGAIN,     /* it failed, and is tried again */
  PAI__LEFT_PREEMPTED, /* it waits again */
  PAI__LEFT_NODE       /* a node of its failed, and it is tried again */
};

/* The caller; each may be NULL but `lasts`.  A negative answer ends the call,
 * which returns it. */
typedef struct pai__drive_ops {
  /* How long the attempt takes, if nothing disturbs it, and its code, into
   * job->lasts and job->code.  Of an attempt that ran when it was adopted it
   * is how long it takes from its beginning. */
  int (*lasts)(void *data, pai__djob *job);
  /* Its life begins, of that form, which outlives it: what the caller has
   * behind one that waits goes behind the job.  NULL: it is as what others
   * submitted; what is behind it is zeroed. */
  int (*begins)(void *data, const pai__dwait *wait, pai__djob *job,
                const pai__job_form **form);
  /* It has a place. */
  int (*started)(void *data, pai__djob *job);
  /* Its place has become another one, or is about to. */
  int (*resized)(void *data, pai__djob *job);
  /* It is about to lose its place: work that was done in vain. */
  int (*stopped)(void *data, pai__djob *job, enum pai__left how,
                 pai_time in_vain);
  /* It is over, and goes when the call returns. */
  int (*ended)(void *data, pai__djob *job);
  /* A timer of a node is due. */
  int (*node)(void *data, uint32_t node);
  /* All that is to be done in this moment is done. */
  int (*decided)(void *data);
} pai__drive_ops;

typedef struct pai__drive_options {
  const pai__drive_ops *ops;
  void *data;
  size_t job_size;  /* of a job, pai__djob first, with what is the caller's */
  size_t wait_size; /* likewise of one that waits; 0: nothing is */
  uint64_t seed;    /* of lives */
  pai_time start_cost, restart_cost, stop_cost, checkpoint; /* openpai/sim.h */
} pai__drive_options;

/* Records that never move. */
typedef struct pai__dplaces {
  char **chunks;
  uint32_t nchunks, cap;
  uint32_t free; /* first of a list through those not in use */
  size_t size;   /* of a record */
  size_t timer;  /* where in it the list has its links */
} pai__dplaces;

typedef struct pai__drive {
  pai_alloc alloc;
  pai_sched *sched; /* borrowed */
  pai__drive_options o;
  pai_time now;
  bool due;          /* something has changed since the policy decided */
  pai_time stops_at; /* runs that were preempted at this time: */
  uint64_t stops;
  pai__timers timers;
  pai_decision *decisions; /* of the last time */
  size_t decision_cap;
  pai__dplaces jobs, waits;
  uint32_t njobs;  /* that are there, */
  uint32_t nwaits; /* of them, those that wait for their first place */
  uint32_t *index; /* open addressing: a slot + 1, and where it is */
  uint32_t nindex;
} pai__drive;

/* A drive for a scheduler, which must outlive it; its clock is that.  PAI_OK or
 * PAI_ENOMEM; it can be disposed of in any case. */
int pai__drive_init(pai__drive *d, const pai_alloc *alloc, pai_sched *sched,
                    const pai__drive_options *o);
void pai__drive_dispose(pai__drive *d);

/* Takes over what runs in a scheduler that was driven by others, without a call
 * of `started`; what waits there comes in when it starts, without retries.
 * Codes of `lasts`; PAI_ENOMEM. */
int pai__drive_adopt(pai__drive *d, pai_error **err);

/* The next moment in which something happens by itself; INT64_MAX: none. */
pai_time pai__drive_next(const pai__drive *d);
/* Does a job of its own accord what changes something: work, or lose
 * patience? */
bool pai__drive_is_busy(const pai__drive *d);

/* It becomes `now`.  The codes of pai_sched_send(), and of the caller; in all
 * that follow, too. */
int pai__drive_begin(pai__drive *d, pai_time now, pai_error **err);
/* A job comes; *out is it, or NULL if it was refused. */
int pai__drive_come(pai__drive *d, const pai_request *request,
                    pai__dwait **out, pai_error **err);
/* A job that waits is killed at a time, if it has not started by then.  PAI_OK
 * or PAI_ENOMEM. */
int pai__drive_patience(pai__drive *d, pai__dwait *wait, pai_time until);
/* Its owner stops it, if it is there. */
int pai__drive_kill(pai__drive *d, uint64_t id, pai_error **err);
/* A node's state changes; what runs on one that is sick now is disturbed. */
int pai__drive_node(pai__drive *d, uint32_t node, int state, const char *why,
                    pai_error **err);
/* `node` of the operations is called at a time; INT64_MAX: no more.  *at is for
 * the drive, and PAI__NO_TIMER in the beginning.  PAI_OK or PAI_ENOMEM. */
int pai__drive_node_timer(pai__drive *d, uint32_t *at, uint32_t node,
                          pai_time time);
/* The policy decides, and that is done. */
int pai__drive_end(pai__drive *d, pai_error **err);

/* The job whose life has begun, or NULL. */
pai__djob *pai__drive_find(const pai__drive *d, uint64_t id,
                           uint32_t instance);
/* The job that waits for its first place, or NULL. */
pai__dwait *pai__drive_find_wait(const pai__drive *d, uint64_t id);
/* The job behind a slot, from 0; NULL: no more. */
pai__djob *pai__drive_each(const pai__drive *d, uint32_t *slot);
pai__dwait *pai__drive_each_wait(const pai__drive *d, uint32_t *slot);
/* When it was submitted, for the scheduler. */
pai_time pai__drive_submitted(const pai__drive *d, uint64_t id);

#endif
