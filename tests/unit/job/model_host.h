/*
 * model_host.h - a host of jobs that keeps its own book of rooms and processes,
 * and holds each action and each event of a job to it
 */
#ifndef PAI_TESTS_JOB_MODEL_HOST_H
#define PAI_TESTS_JOB_MODEL_HOST_H

#include "testing.h"

#include "base/prng.h"
#include "job/inside.h"
#include "job/job.h"

enum { MODEL_ROLES = 3, MODEL_MOST = 16, MODEL_NAMES = 8 };

/* What the host knows of a task. */
typedef struct told {
  bool asked, room, held;
  bool alive, started, stopped, killed;
  bool has_begun;
  uint32_t attempt, retries; /* of its last start */
} told;

typedef struct model {
  pai__prng rng;
  pai__form_role roles[MODEL_ROLES];
  pai__job_form form;
  pai__job *job, jobs[2]; /* it moves from one to the other */
  pai_time now, due;      /* 0: nothing is waited for */
  bool asked, room, held; /* the whole gang */
  bool stopped, finished;
  told tasks[MODEL_MOST];
  uint32_t ntasks;
} model;

/* What was ever seen, of all runs. */
typedef struct seen {
  unsigned long steps, ends, refused, taken[PAI__EV_DUE + 1];
  unsigned long actions[PAI__DO_KILL + 1];
  unsigned long jobs[PAI__JOB_DONE + 1], tasks[PAI__TASK_GONE + 1];
  unsigned long rescaled, busy, rules, all, stops, back;
  const char *names[MODEL_NAMES], *task_names[MODEL_NAMES];
} seen;

extern seen model_seen;

/* At random. */
uint32_t model_below(model *w, uint32_t n);

/* What must hold at any time. */
void model_check(model *w);
/* Takes one action and carries it out; false when there is none. */
bool model_act(model *w);
/* What the job answers to an event; one that it refuses changes nothing. */
int model_tell(model *w, pai__job_event e);

#endif
