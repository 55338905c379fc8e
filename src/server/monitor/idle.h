/*
 * idle.h - internal to the room: jobs whose GPUs do nothing
 *
 * Pure: the caller says what is observed, and when.
 */
#ifndef PAI_SRC_SERVER_MONITOR_IDLE_H
#define PAI_SRC_SERVER_MONITOR_IDLE_H

#include "base/map.h"

#include <openpai/base.h>

/* Limits of a virtual cluster, in microseconds; 0: never. */
typedef struct pai__idle_limits {
  pai_time warn, stop;
} pai__idle_limits;

typedef struct pai__idle_job {
  uint64_t job;
  uint32_t gpus;
  pai_time since; /* idle since then */
  pai_time seen;  /* the last observation */
  bool warned, stopped;
} pai__idle_job;

typedef struct pai__idle {
  pai_alloc alloc;
  pai__idle_job *list;
  size_t n, cap;
  struct {
    char name[72];
    pai__idle_limits limits;
  } * vcs; /* of virtual clusters; others have the usual ones */
  size_t nvcs, vcs_cap;
} pai__idle;

enum pai__idle_action { PAI__IDLE_NOTHING, PAI__IDLE_WARN, PAI__IDLE_STOP };

/* The usual limits: a warning after an hour, and no stop. */
#define PAI__IDLE_WARN_AFTER (INT64_C(3600) * 1000000)
/* A job that was not observed for so long begins anew. */
#define PAI__IDLE_GAP (INT64_C(120) * 1000000)

void pai__idle_init(pai__idle *x, const pai_alloc *alloc);
void pai__idle_dispose(pai__idle *x);
/* Forget all virtual clusters; set the limits of one. */
void pai__idle_forget_vcs(pai__idle *x);
int pai__idle_set_vc(pai__idle *x, const char *vc, pai__idle_limits limits);

/* An observation of a job with GPUs: `busy` is their mean use in tenths of a
 * percent, -1: unknown, which is not idle.  Says what is to be done now, each
 * once. */
enum pai__idle_action pai__idle_see(pai__idle *x, uint64_t job, uint32_t gpus,
                                    int64_t busy, const char *vc,
                                    pai_time now);
/* Forgets jobs that were not observed at `now`. */
void pai__idle_sweep(pai__idle *x, pai_time now);
/* Finds a job that is idle, or returns NULL. */
const pai__idle_job *pai__idle_find(const pai__idle *x, uint64_t job);

#endif
