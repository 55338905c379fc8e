/*
 * bars.h - internal: who was where, for a picture: of the first runs
 */
#ifndef PAI_SRC_SIM_BARS_H
#define PAI_SRC_SIM_BARS_H

#include "sched/core.h"
#include "sim/report.h"

typedef struct pai__bars {
  pai__bar *list;
  size_t len, cap;
  uint32_t most, promised; /* nodes of runs */
  bool cut;                /* there were more */
} pai__bars;

void pai__bars_dispose(pai__bars *b, const pai_alloc *alloc);

/* A run of so many tasks begins: is it to be shown? */
bool pai__bars_want(pai__bars *b, uint32_t tasks);

/* It is over: a bar for each of its nodes, of which `like` has the rest.
 * PAI_OK or PAI_ENOMEM. */
int pai__bars_add(pai__bars *b, const pai_alloc *alloc, const pai_sched *s,
                  const pai__run *run, const pai__bar *like);

/* Sorted by time, job and node. */
void pai__bars_sort(pai__bar *list, size_t n);

#endif
