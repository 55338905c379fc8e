/*
 * by_hand.h - a job moved by hand: events go in, actions must come out
 */
#ifndef PAI_TESTS_JOB_BY_HAND_H
#define PAI_TESTS_JOB_BY_HAND_H

#include "testing.h"

#include "job/job.h"

/* A spec of up to two roles, made without a file. */
typedef struct made_spec {
  pai_spec spec;
  pai__role roles[2];
} made_spec;

/* Fills it in: tasks of role `a`, of role `b`, and retries allowed. */
pai_spec *job_spec(made_spec *m, uint32_t first, uint32_t second,
                   uint32_t retries);
/* The same, and a job of it. */
pai__job *job_start(made_spec *m, uint32_t first, uint32_t second,
                    uint32_t retries);

int job_event(pai__job *job, enum pai__event_kind kind, uint32_t task,
              int code);
void job_end(pai__job *job, uint32_t task, int code); /* a task has ended */

/* The next action must be this one, whose delay is returned; or none. */
pai_time job_expect(pai__job *job, enum pai__action_kind kind, uint32_t task);
void job_expect_nothing(pai__job *job);

/* The job is placed, and all its tasks come up. */
void job_bring_up(pai__job *job);

#endif
