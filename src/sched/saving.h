/*
 * saving.h - internal: the state of a scheduler becomes text
 *
 * In two forms: one for people, and for the middle of a log a lean one, in
 * which what requests have in common is said once.
 */
#ifndef PAI_SRC_SCHED_SAVING_H
#define PAI_SRC_SCHED_SAVING_H

#include "sched/core.h"
#include "sched/snapshot_form.h"

/* A request, by its turn: where its record lies does not count. */
typedef struct pai__turn {
  uint64_t turn;
  uint32_t req;
  uint32_t alike; /* of those; PAI__NONE: it is written as an object */
  uint32_t why;   /* of those, from 1; 0: nothing is said of it */
} pai__turn;

typedef struct pai__saving {
  const pai_sched *s;
  pai__json_writer *w;
  pai__buf list; /* for a list of numbers as text */
  pai_error **err;
  pai__turn *turns;
  uint32_t nturns;
  /* The lean form: requests, the first of those that are alike; reasons; and
   * what the row before had. */
  bool lean;
  pai__flat alike, whys;
  pai__lookup alike_at, whys_at;
  pai__turn last;
  uint64_t last_id, last_order;
  pai_time last_submitted;
} pai__saving;

/* All requests in their order; and of the lean form what is alike.  PAI_OK or
 * PAI_ENOMEM. */
int pai__saving_list(pai__saving *x, bool lean);
void pai__saving_end(pai__saving *x);

/* One request: as an object, or as a row. */
void pai__save_request(pai__saving *x, uint32_t req);
void pai__save_row(pai__saving *x, const pai__turn *turn);
/* What rows refer to, as a member. */
void pai__save_tables(pai__saving *x);
/* An object of each. */
void pai__save_alike(pai__saving *x, const pai__req *r);
void pai__save_why(pai__saving *x, const pai__why *why);

bool pai__why_is_equal(const pai__why *a, const pai__why *b);

static inline void pai__saving_put(pai__saving *x, const pai__table *table,
                                   const void *form)
{
  pai__form_write(x->w, table->list, table->count, form);
}

/* A name by its number. */
static inline const char *pai__saving_text(const pai__saving *x, uint32_t name)
{
  return pai__texts_text(&x->s->names, name);
}

#endif
