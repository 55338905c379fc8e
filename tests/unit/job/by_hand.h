/*
 * by_hand.h - a job moved by hand: events go in, actions must come out
 */
#ifndef PAI_TESTS_JOB_BY_HAND_H
#define PAI_TESTS_JOB_BY_HAND_H

#include "testing.h"

#include "job/job.h"

/* A job of up to two roles, its form, and what time it is. */
typedef struct by_hand {
  const char *name; /* for messages */
  pai__form_role roles[2];
  pai__job_form form;
  pai__job job;
  pai_time now;
} by_hand;

/* A job in few words, and what happens to it. */
typedef struct hand_case {
  const char *name;
  struct {
    uint32_t tasks, others; /* of the first role and of the second */
    int32_t retries;
    bool partial;            /* tasks have rooms of their own */
    bool never_succeeds;     /* no minimum of tasks that succeed */
    pai__retry_policy retry; /* of tasks of the first role */
  } form;
  const char *play;
} hand_case;

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

/*
 * Plays a text, a step a line:
 *
 *   EVENT [= ERROR] [-> ACTION, ACTION...] [| KEY=VALUE KEY=VALUE...]
 *
 * Events: placed, started, end TASKS CODE, undone, preempt, stop [CODE],
 * impatient, due (when it is), early (a microsecond before); `up`, with which a
 * gang is queued, placed and started; `scale ROLE TASKS`; `pass SECONDS`; none.  TASKS is
 * "2", "0-3", or nothing for all.  An event that is refused changes nothing.
 *
 * Actions are all that come out, of the whole job or "start 0-3"; behind them
 * "+SECONDS" from now, or "+?", a time drawn for a conflict.  "..." leaves them.
 *
 * Keys are counters of the job, `state`, `phase` (FrameworkController's word),
 * `inner`, `code`, `trigger`; and with a task before them, as "0.code".
 */
void hand_play(by_hand *h, const char *text);
/* Plays each of the cases to its end. */
void hand_play_all(const hand_case *cases, size_t count);

#endif
