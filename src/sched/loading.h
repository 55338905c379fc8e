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
  /* What rows refer to, and what the row before had: load_rows.c */
  const pai_request *alike;
  const pai__why *whys;
  uint32_t nalike, nwhys;
  pai__req_form last;
  uint64_t last_id, last_order;
  const char *last_name;
} pai__loading;

/* Each of all it names; PAI_OK, PAI_EINVAL or PAI_ENOMEM. */
int pai__load_requests(pai__loading *l, pai__node list);
/* A reason. */
int pai__load_why(pai__loading *l, pai__node at, pai__why *why);
/* What rows refer to; and a row, a run in it, which then is `last`, and a task
 * of that. */
int pai__load_alike(pai__loading *l, pai__node at);
int pai__load_row(pai__loading *l, pai__node item, pai__req_form *form,
                  pai_request *q, const pai__why **why);
int pai__load_row_run(pai__loading *l, pai__node item, pai__run_form *form);
int pai__load_row_task(const pai__loading *l, pai__node item,
                       pai__slot_form *form);
/* A request's runs: they have places, which nobody counts yet. */
int pai__load_runs(pai__loading *l, uint32_t req, pai__node list);
/* All runs are there: what they hold is taken. */
int pai__load_places(pai__loading *l);

/* Numbers below `limit` as bits; how many there were may be compared. */
int pai__load_mask(pai__loading *l, pai__node list, const char *key,
                   uint32_t limit, uint64_t *mask);

static inline bool pai__load_is_row(const pai__loading *l, pai__node item)
{
  return pai__tree_type(l->f.tree, item) == PAI__SEQUENCE;
}

static inline int pai__load_form(const pai__loading *l, pai__node n,
                                 const char *what, const pai__table *table,
                                 void *out)
{
  return pai__form_read(&l->f, n, what, table->list, table->count, out);
}

#endif
