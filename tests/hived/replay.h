/*
 * replay.h - repeats recorded decisions of HiveD, and compares
 *
 * A record has one JSON object a line: a configuration to begin with, events of
 * nodes and pods, and what HiveD decided.  docs/guide/hived-replay.md tells its
 * form.  For tests and openpai-bench.
 */
#ifndef OPENPAI_TESTS_HIVED_REPLAY_H
#define OPENPAI_TESTS_HIVED_REPLAY_H

#include "sched/hived/hived.h"

typedef struct hived_replay hived_replay;

/* Hands over the text of a configuration by its name: calls `write` with `to`,
 * in as many pieces as it likes.  PAI_OK, or a negative code, which
 * hived_replay_step() then returns. */
typedef int (*hived_config_cb)(void *user_data, const char *name,
                               pai_write_cb write, void *to);

/* The result of a step. */
enum {
  HIVED_DONE = 1,    /* there was nothing to compare */
  HIVED_AGREES,      /* as recorded */
  HIVED_ALTERNATIVE, /* as HiveD itself does in another run */
  HIVED_FIXED,       /* otherwise, by a defect of HiveD that we mend */
  HIVED_DIFFERS
};

/* Its strings are valid until the next step. */
typedef struct hived_verdict {
  int kind;            /* HIVED_* */
  int64_t step;        /* its number, or -1 */
  const char *name;    /* of the case it is in, or "" */
  const char *op;      /* the operation, as "schedule" */
  const char *subject; /* the pod or node, or "" */
  const char *fix;     /* the defect that we mend, as "Q4"; "Q3, Q10" if it may
                          be one of several; or NULL */
  const char *place;   /* the first place that differs, or NULL */
  const char *want;    /* the recorded value there, or NULL */
  const char *got;     /* our value there, or NULL */
} hived_verdict;

/* `alloc`: NULL for malloc.  PAI_OK or PAI_ENOMEM. */
int hived_replay_new(hived_replay **out, const pai_alloc *alloc,
                     hived_config_cb config, void *user_data);

/* Does the next step, one JSON object.  PAI_OK; PAI_EINVAL: the line is no
 * step; PAI_ENOMEM; or the code of the configuration's callback.  After a
 * failure the step was not done. */
int hived_replay_step(hived_replay *replay, const char *line, size_t len,
                      hived_verdict *verdict, pai_error **err);

/* NULL is allowed. */
void hived_replay_free(hived_replay *replay);

#endif
