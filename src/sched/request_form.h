/* request_form.h - internal: requests as JSON, in events and in snapshots */
#ifndef PAI_SRC_SCHED_REQUEST_FORM_H
#define PAI_SRC_SCHED_REQUEST_FORM_H

#include "base/arena.h"
#include "sched/form.h"

#include <openpai/sched.h>

/* What a request is to come after, and in a snapshot also what became of
 * that. */
typedef struct pai__after_form {
  uint64_t id;
  int kind;  /* PAI_AFTER_OK, ... */
  int done;  /* it has come true */
  int never; /* it cannot come true any more */
} pai__after_form;

/* The object of a request is begun: all of its members but wants and after. */
void pai__request_put(pai__json_writer *w, const pai_request *q);
/* One item of each list. */
void pai__want_put(pai__json_writer *w, const pai_want *want);
void pai__after_put(pai__json_writer *w, const pai__after_form *after);

/* Reads a request.  Its lists are the arena's; of a snapshot, `after` gets what
 * became of each it is to come after, else it is NULL.  PAI_OK, PAI_EINVAL,
 * PAI_ENOMEM. */
int pai__request_read(const pai__form *f, pai__arena *arena, pai__node n,
                      pai_request *q, pai__after_form **after);

#endif
