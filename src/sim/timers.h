/*
 * timers.h - internal: what is to happen when
 *
 * A heap by time, kind and the order in which it was asked for, each of whose
 * entries knows who has it: so it can be taken back.
 */
#ifndef PAI_SRC_SIM_TIMERS_H
#define PAI_SRC_SIM_TIMERS_H

#include "base/base.h"

#define PAI__NO_TIMER UINT32_MAX

/* What happens; of what happens at one time, the lower comes first. */
enum pai__timer_kind {
  PAI__TIMER_END = 1, /* work is done, or a place is left */
  PAI__TIMER_WORK,    /* a job begins to work */
  PAI__TIMER_NODE,
  PAI__TIMER_PATIENCE,
  PAI__TIMER_DUE /* a retry's time has come */
};

typedef struct pai__timer {
  pai_time time;
  uint64_t order; /* the kind, and then the number */
  uint32_t *at;   /* its owner's note of where it is */
  uint32_t who;
} pai__timer;

typedef struct pai__timers {
  pai__timer *heap;
  size_t len, cap;
  uint64_t numbers;
  size_t nodes; /* of them, those of nodes */
} pai__timers;

void pai__timers_dispose(pai__timers *t, const pai_alloc *alloc);

static inline enum pai__timer_kind pai__timer_kind_of(const pai__timer *x)
{
  return (enum pai__timer_kind)(x->order >> 56);
}

/* Sets or moves the timer noted in *at; PAI__NO_TIMER there: none is set.
 * PAI_OK or PAI_ENOMEM, and then nothing has changed. */
int pai__timer_set(pai__timers *t, const pai_alloc *alloc, uint32_t *at,
                   enum pai__timer_kind kind, uint32_t who, pai_time time);
/* Takes it back, if it is set. */
void pai__timer_drop(pai__timers *t, uint32_t *at);

#endif
