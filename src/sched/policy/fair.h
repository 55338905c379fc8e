/* fair.h - internal: state and usage accounts of the fair-share policy
 * `fair` */
#ifndef PAI_SRC_SCHED_POLICY_FAIR_H
#define PAI_SRC_SCHED_POLICY_FAIR_H

#include "sched/policy/waiters.h"
#include "sched/core.h"

/* Usage in GPU-microseconds, for each user of each virtual cluster.  It halves
 * in each half-life.  Decay is applied at fixed times, a 64th of a half-life
 * apart, so it does not depend on when usage is read. */

typedef struct pai__fair_account {
  uint64_t usage;    /* up to `last` */
  uint64_t rate;     /* GPUs in use since `last` */
  uint32_t vc, user; /* names */
} pai__fair_account;

typedef struct pai__usage {
  pai__flat accounts; /* in the order of creation */
  pai__lookup index;  /* by vc and user */
  pai__flat vcs;      /* names of the virtual clusters */
  pai_time last, step;
  bool stale; /* the virtual clusters have changed */
} pai__usage;

/* `half_life` in seconds. */
void pai__usage_init(pai__usage *u, pai_time now, int64_t half_life);
void pai__usage_dispose(pai__usage *u, const pai_alloc *alloc);
/* Returns the codes of pai__flat_copy(). */
int pai__usage_copy(pai__usage *u, const pai__usage *from,
                    const pai_alloc *alloc);

/* Adds the usage up to `now`, and applies the decay. */
void pai__usage_advance(pai__usage *u, pai_time now);
/* Updates the rates after runs began, ended or changed size.  Returns PAI_OK
 * or PAI_ENOMEM. */
int pai__usage_count(pai__usage *u, pai_sched *s);
/* Usage of a user, by virtual cluster and user name. */
uint64_t pai__usage_of(const pai__usage *u, uint32_t vc_index, uint32_t user);

/* Adds an account that does not exist yet.  Returns PAI_OK or PAI_ENOMEM. */
int pai__usage_add(pai__usage *u, const pai_alloc *alloc,
                   const pai__fair_account *a);

/* Usage after `n` 64ths of a half-life. */
uint64_t pai__usage_decay(uint64_t usage, uint32_t n);
/* usage + rate * time, at most INT64_MAX. */
uint64_t pai__usage_more(uint64_t usage, uint64_t rate, pai_time time);

/* Writes the accounts as one JSON value.  Returns PAI_OK, or a code of @p
 * write. */
int pai__usage_write(const pai__usage *u, const pai_sched *s,
                     pai_write_cb write, void *user_data);
/* Returns PAI_OK; PAI_EINVAL if the text was not written by
 * pai__usage_write(); or PAI_ENOMEM. */
int pai__usage_read(pai__usage *u, pai_sched *s, const char *saved,
                    size_t len);

enum { PAI__FAIR_DRF, PAI__FAIR_DECAY };

typedef struct pai__fair {
  pai__plain plain;
  const pai_sched *s;
  int mode;
  bool greedy;
  int64_t half_life, user_max_gpus, user_max_jobs; /* 0: no limit */
  pai__usage usage;
} pai__fair;

/* Starts requests, those of the virtual cluster and user with the least first.
 * Returns PAI_OK or a code. */
int pai__fair_decide(pai__fair *f, pai_sched *s);
/* True if a request asks for more GPUs than its user may ever have. */
bool pai__fair_is_beyond(const pai__fair *f, const pai_sched *s, uint32_t req);

#endif
