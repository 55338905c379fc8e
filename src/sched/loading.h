/* loading.h - internal: a scheduler is made of a snapshot */
#ifndef PAI_SRC_SCHED_LOADING_H
#define PAI_SRC_SCHED_LOADING_H

#include "sched/core.h"
#include "sched/event_form.h"
#include "sched/snapshot_form.h"

typedef struct pai__loading {
  pai_sched *s;
  pai__form f;
  pai__arena arena;
  pai__flat orders; /* of runs with places: load_runs.c */
} pai__loading;

/* Each of all it names; PAI_OK, PAI_EINVAL or PAI_ENOMEM. */
int pai__load_requests(pai__loading *l, pai__node list);
/* A request's runs: they have places, which nobody counts yet. */
int pai__load_runs(pai__loading *l, uint32_t req, pai__node list);
/* All runs are there: what they hold is taken. */
int pai__load_places(pai__loading *l);

/* Numbers below `limit` as bits; how many there were may be compared. */
int pai__load_mask(pai__loading *l, pai__node list, const char *key,
                   uint32_t limit, uint64_t *mask);

static inline int pai__load_form(const pai__loading *l, pai__node n,
                                 const char *what, const pai__table *table,
                                 void *out)
{
  return pai__form_read(&l->f, n, what, table->list, table->count, out);
}

#endif
