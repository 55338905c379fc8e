/*
 * waiters.h - internal: those who wait, in their order, in little memory
 *
 * Who would have to be looked at in each decision is known by his shape and his
 * length alone as long as others of his shape were refused: so thousands are
 * passed in microseconds.  Or nobody is even passed: those that are alike stand
 * in one line, and who is refused sends his whole line away.  It follows the
 * queue by events, and is made anew where they tell of more than that somebody
 * has come, begun or gone.
 */
#ifndef PAI_SRC_SCHED_WAITERS_H
#define PAI_SRC_SCHED_WAITERS_H

#include "sched/core.h"

typedef struct pai__waiter {
  uint64_t turn;
  pai_time length; /* PAI__NEVER: nobody knows */
  int32_t priority;
  uint32_t req;   /* if that still has the turn and waits */
  uint32_t shape; /* of those below */
  uint32_t next;  /* that is alike, or PAI__NONE */
} pai__waiter;

/* Those that are alike, and what became of them, each in the decision that was
 * this event. */
typedef struct pai__shape {
  uint64_t id;          /* of the request that was added last, */
  uint32_t req;         /* which is there as long as it has that id */
  uint64_t refused;     /* there is no room for it, */
  uint64_t later;       /* or none that is not promised; */
  uint64_t looked_at;   /* room was found for it, after so many placements */
  uint32_t first, last; /* in the list, or PAI__NONE */
} pai__shape;

typedef struct pai__waiters {
  pai__flat list, shapes;
  pai__lookup shape_at;
  uint32_t first;   /* all before have begun or gone */
  uint32_t odd;     /* requests of which there is more to know */
  uint32_t elastic; /* that are content with fewer tasks */
  enum pai__alike alike;
  bool known;
  uint64_t linked; /* as the scheduler counts: else somebody has come back
                       without an event, whose claim was taken back */
  pai__flat heads; /* of lines that are not sent away: a heap of waiters */
} pai__waiters;

void pai__waiters_init(pai__waiters *w, enum pai__alike alike);
void pai__waiters_dispose(pai__waiters *w, const pai_alloc *alloc);

/* An event was taken. */
void pai__waiters_event(pai__waiters *w, const pai_sched *s,
                        const pai_sched_event *event);
/* All who wait are in it, and there is nothing odd.  1; 0: there is; or
 * PAI_ENOMEM. */
int pai__waiters_ready(pai__waiters *w, const pai_sched *s);

static inline const pai__waiter *pai__waiter_at(const pai__waiters *w,
                                                uint32_t i)
{
  return (const pai__waiter *)w->list.data + i;
}

static inline pai__shape *pai__shape_of(const pai__waiters *w,
                                        const pai__waiter *x)
{
  return (pai__shape *)w->shapes.data + x->shape;
}

/* Does it still wait? */
static inline bool pai__waiter_is_there(const pai_sched *s,
                                        const pai__waiter *x)
{
  const pai__req *r = pai__req_at(s, x->req);

  return r->turn == x->turn && r->queued;
}

/* The first of each line is to be looked at.  PAI_OK or PAI_ENOMEM. */
int pai__waiters_line_up(pai__waiters *w, const pai_sched *s);
/* The first who still waits, of the line or any. */
uint32_t pai__waiters_first(const pai__waiters *w, const pai_sched *s,
                            uint32_t i);

/* Who is looked at now, or PAI__NONE. */
static inline uint32_t pai__waiters_head(const pai__waiters *w)
{
  return w->heads.len != 0 ? *(const uint32_t *)w->heads.data : PAI__NONE;
}

/* The next of its line is to be looked at in its turn; or none of the line. */
void pai__waiters_pass(pai__waiters *w, const pai_sched *s);
void pai__waiters_send_away(pai__waiters *w);

/* Nobody can make room for anybody, and lines are of those of one shape, lined
 * up: each starts if it has room, and who has none sends away all that are like
 * it.  PAI_OK or a code. */
int pai__try_lines(pai_sched *s, pai__waiters *w, int strategy,
                   bool beyond_share);

#endif
