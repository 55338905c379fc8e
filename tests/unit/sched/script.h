/*
 * script.h - events, decisions and checks of a scheduler, written as a text
 *
 * Each line has steps, separated by ';'.  A step is an event or a check, and
 * "=>" has the scheduler decide then:
 *
 *   submit 1-4 vc=bob gpus=4 => start 1, start 2
 *   submit 5 tasks=2 + gpus=3 type=v100 !ENOROOM ~ part of the error
 *   finish 1; returned 2.1; cancel 3; time 100 => nothing
 *   lack 5 gpu; places 1 0:3 1:c; reason 5 wanted=2 found=1 ~ its text
 *
 * A number behind a request's id is an instance, "1-4" are several requests.
 * "+" begins another want.  "!" is the code an event answers, instead of
 * PAI_OK.  "~" begins a text that goes to the end of the line.  Numbers may
 * end in s or h (a time in seconds or hours), M or G (bytes).
 *
 * Events: submit, finish [failed], returned, started, resized, cancel,
 * change ID KEY VALUE, time, policy NAME [OPTIONS], shadow [NAME [OPTIONS]],
 * cluster (the other one), up, drain and sick NODE [gpu=N] [~ why],
 * reserve NAME [from= to= user= vc= nodes=a,b], unreserve NAME,
 * lose NODE PORT, regain.  "fork" and "load" decide on a copy,
 * and "fails CODE ~ part of the error" on a decision that fails.
 *
 * Checks: lack, until, places, failed ID LACK NUMBER, next (the time of the
 * next event), explain (contains) and explains (equals); and members of what
 * pai_sched_reason() and the views answer: reason, request, want ID INDEX,
 * vc INDEX, node INDEX, sums.  "-" stands for no text.
 */
#ifndef PAI_TESTS_SCRIPT_H
#define PAI_TESTS_SCRIPT_H

#include "scene.h"

typedef struct scene_policy {
  const char *name, *options;
} scene_policy;

/* A test: its name, what a scheduler is made of, and a script for it. */
typedef struct scene_case {
  const char *name;
  const char *cluster, *policy, *options;
  const char *script;
  const char *other;         /* the cluster of event "cluster" */
  const scene_policy *under; /* instead of one policy; ends with no name */
  const pai_policy *table;   /* likewise */
  /* Steps of the case's own: true if these words are one. */
  bool (*own)(char *const *words, size_t n);
  bool faults; /* again and again, each allocation failing: the script ends
                  with the first step for which there is no memory */
} scene_case;

/* Goes through a script with a scheduler of the caller's. */
void scene_script(pai_sched *s, const char *script);
/* The same of a case, as made by scene_make(). */
void scene_script_of(pai_sched *s, const scene_case *c);
pai_sched *scene_make(const scene_case *c, const pai_alloc *alloc);

/* A case as a test, for TEST_TABLE(). */
void scene_run(const void *row);

/* No scheduler is made of these options: PAI_EINVAL, and part of the error. */
typedef struct scene_wrong {
  const char *options, *part;
} scene_wrong;
void scene_refuses(const char *cluster, const char *policy,
                   const scene_wrong *list, size_t n);

#endif
