/*
 * by_hand.h - a job moved by hand: events go in, actions must come out
 */
#ifndef PAI_TESTS_JOB_BY_HAND_H
#define PAI_TESTS_JOB_BY_HAND_H

#include "testing.h"

#include "job/job.h"

/* A job of up to two roles, its form, and what time it is. */
typedef struct by_hand {
  pai__form_role roles[2];
  pai__job_form form;
  pai__job job;
  pai_time now;
} by_hand;

/* A form with tasks of role `a`, of role `b`, and retries allowed; OpenPAI's
 * defaults: the first failure decides, and the last success. */
void hand_form(by_hand *h, uint32_t first, uint32_t second, int32_t retries);
/* A job of the form. */
void hand_begin(by_hand *h);
/* Both. */
void hand_start(by_hand *h, uint32_t first, uint32_t second, int32_t retries);
/* The job must have nothing more to do. */
void hand_dispose(by_hand *h);

int hand_event(by_hand *h, enum pai__event_kind kind, uint32_t task,
               uint32_t count, int code);
/* Events that must be taken. */
void hand_take(by_hand *h, enum pai__event_kind kind, uint32_t task,
               uint32_t count);
void hand_end(by_hand *h, uint32_t task, int code); /* a task has ended */

/* The next action must be this one, whose time is returned; or none. */
pai_time hand_expect(by_hand *h, enum pai__action_kind kind, uint32_t task,
                     uint32_t count);
/* One of the whole job. */
pai_time hand_expect_whole(by_hand *h, enum pai__action_kind kind);
void hand_expect_nothing(by_hand *h);
/* What ends a gang that had asked for its room. */
void hand_expect_finish(by_hand *h);

/* A gang that waits is placed, and all its tasks come up. */
void hand_place(by_hand *h);
/* The same from the beginning. */
void hand_bring_up(by_hand *h);

#endif
