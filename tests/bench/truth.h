/*
 * truth.h - a trace runs up to a moment, and from there on as often as one likes
 *
 * What jobs come and how long they take is known, so that what would happen
 * after a change can be compared with what is told of it.
 */
#ifndef PAI_TESTS_TRUTH_H
#define PAI_TESTS_TRUTH_H

#include "base/arena.h"

#include <openpai/forecast.h>
#include <openpai/trace.h>

typedef struct truth_job {
  pai_request request; /* its id is its place in the list, from 1 */
  pai_time time, lasts;
} truth_job;

/* All jobs of a trace. */
typedef struct truth {
  pai__arena arena;
  truth_job *jobs;
  size_t n, cap;
} truth;

/* Reads a trace, which is freed.  `vcs`: jobs are of their virtual clusters;
 * `mixed`: an eighth is urgent, and an eighth opportunistic.  PAI_OK or a code. */
int truth_read(truth *t, pai_trace *trace, bool vcs, bool mixed);
void truth_free(truth *t);

/* A scheduler in the middle of it. */
typedef struct truth_now {
  pai_sched *sched;
  pai_history *history; /* of what came and ended until then */
  size_t came;          /* jobs */
} truth_now;

/* Until so many jobs have come.  PAI_OK or a code; to be closed in any case. */
int truth_run(truth_now *now, const truth *t, const pai_cluster *cluster,
              const char *policy, size_t jobs);
void truth_close(truth_now *now);

/* It does not wait at that moment. */
#define TRUTH_RUNS INT64_MIN

/* What happens then, to a fork of it that may be changed: `starts` has when each
 * of the jobs that had come starts, if it waits; INT64_MAX: not at all.  It ends
 * when all of them have, or nothing happens any more. */
int truth_go_on(const truth *t, pai_sched *fork, size_t came,
                pai_time *starts);

#endif
