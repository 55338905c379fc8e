/*
 * promise.h - internal: the places that were planned for requests last time
 *
 * Who finds the same time again gets the same place: else one that is planned
 * before others might take theirs without need, and they would begin later
 * than they were told.
 */
#ifndef PAI_SRC_SCHED_PROMISE_H
#define PAI_SRC_SCHED_PROMISE_H

#include "sched/plan.h"

/* Of one instance of a request; those of the same one lie behind each other. */
typedef struct pai__promise {
  uint64_t id;
  uint64_t shape;
  pai_time length;
  pai_time start;
  uint32_t first, count; /* of the sites */
} pai__promise;

typedef struct pai__promises {
  pai__flat list;  /* of pai__promise */
  pai__flat sites; /* of pai__site */
  pai__flat fresh; /* ids of requests that came or were changed since: they may
                      go before the promised ones */
  uint64_t layout; /* of the plan */
  bool fine;       /* it was, and will be: else promises would not be valid */
} pai__promises;

void pai__promises_init(pai__promises *x);
void pai__promises_dispose(pai__promises *x, const pai_alloc *alloc);
/* As pai__flat_copy(). */
int pai__promises_copy(pai__promises *x, const pai__promises *from,
                       const pai_alloc *alloc);
void pai__promises_clear(pai__promises *x);
/* A request came, came back or was changed.  Without memory all promises are
 * dropped. */
void pai__promises_event(pai__promises *x, const pai_alloc *alloc,
                         const pai_sched_event *event);

/* What was found in the plan for an instance of a request.  PAI_OK or
 * PAI_ENOMEM. */
int pai__promises_add(pai__promises *x, const pai__plan *p, const pai__req *r);
/* Is a promise for a request as it is now?  Its wants are those that it has. */
bool pai__promise_is_of(const pai__promises *x, const pai__promise *a,
                        const pai__req *r, pai_time length);
/* The one at index i, if it is for the request as it is now; or NULL. */
const pai__promise *pai__promise_for(const pai__promises *x, uint32_t i,
                                     const pai__plan *p, const pai__req *r);
/* The first one of each request, by the index of the request; PAI__NONE where
 * there is none.  PAI_OK or PAI_ENOMEM. */
int pai__promises_index(const pai__promises *x, const pai_sched *s,
                        pai__flat *first_of);

/* As one value of JSON.  The codes of @p write. */
int pai__promises_write(const pai__promises *x, const pai_alloc *alloc,
                        pai_write_cb write, void *user_data);
/* PAI_OK; PAI_EINVAL: that is nothing of the kind; PAI_ENOMEM. */
int pai__promises_read(pai__promises *x, const pai_sched *s, const char *text,
                       size_t len);

#endif
