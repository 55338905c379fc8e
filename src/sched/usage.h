/*
 * usage.h - internal: who used how much lately
 *
 * GPU-microseconds of each user in each virtual cluster, of which half is
 * forgotten in each half-life.  It is forgotten at fixed times, a 64th of a
 * half-life apart, so that it does not matter when somebody looks.
 */
#ifndef PAI_SRC_SCHED_USAGE_H
#define PAI_SRC_SCHED_USAGE_H

#include "sched/core.h"

typedef struct pai__account {
  uint64_t usage;    /* until `last` */
  uint64_t rate;     /* GPUs in use since */
  uint32_t vc, user; /* names */
} pai__account;

typedef struct pai__usage {
  pai__flat accounts; /* in the order in which they were made */
  pai__lookup index;  /* by vc and user */
  pai__flat vcs;      /* names of the tenants */
  pai_time last, step;
  bool stale; /* the tenants are other ones */
} pai__usage;

/* `half_life` in seconds. */
void pai__usage_init(pai__usage *u, pai_time now, int64_t half_life);
void pai__usage_dispose(pai__usage *u, const pai_alloc *alloc);
/* As pai__flat_copy(). */
int pai__usage_copy(pai__usage *u, const pai__usage *from,
                    const pai_alloc *alloc);

/* Time has passed, in which all used what they did. */
void pai__usage_advance(pai__usage *u, pai_time now);
/* What is in use has changed.  PAI_OK or PAI_ENOMEM. */
int pai__usage_count(pai__usage *u, pai_sched *s);
/* Of a user, by names. */
uint64_t pai__usage_of(const pai__usage *u, uint32_t tenant, uint32_t user);
bool pai__usage_has(const pai__usage *u, uint32_t vc, uint32_t user);
/* An account, of which there is none yet.  PAI_OK or PAI_ENOMEM. */
int pai__usage_add(pai__usage *u, const pai_alloc *alloc,
                   const pai__account *a);

/* `n` 64ths of a half-life are over. */
uint64_t pai__usage_decay(uint64_t usage, uint32_t n);
/* As much more, and at most INT64_MAX. */
uint64_t pai__usage_more(uint64_t usage, uint64_t rate, pai_time time);

/* As one JSON value.  PAI_OK; or a code of @p write. */
int pai__usage_write(const pai__usage *u, const pai_sched *s,
                     pai_write_cb write, void *user_data);
/* PAI_OK; PAI_EINVAL: that is not what it writes; PAI_ENOMEM. */
int pai__usage_read(pai__usage *u, pai_sched *s, const char *saved,
                    size_t len);

#endif
