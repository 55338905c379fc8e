/*
 * waiters.h - internal: index of waiting requests, for policies that try them
 * in order
 *
 * Waiting requests are indexed by class and time limit.  Once a
 * request of a class is refused, the others of the class are skipped without
 * looking at nodes: thousands in microseconds.  A policy may also form one
 * line for each class, where the refusal of one request refuses the whole
 * line.  The index follows the queue by events.  It is rebuilt after events
 * that do more than submit, start or end a request.
 */
#ifndef PAI_SRC_SCHED_POLICY_WAITERS_H
#define PAI_SRC_SCHED_POLICY_WAITERS_H

#include "sched/core.h"
#include "sched/policy/policy.h"

/* How requests are placed. */
typedef struct pai__how {
  int strategy;
  bool beyond_share;
  bool over; /* stop less important runs for the request */
} pai__how;

/* Starts all instances of a request that may begin and have room.  Returns 1
 * if none is left that may begin; 0 if one had no room, with its reason set;
 * or a code. */
int pai__start_all(pai_sched *s, uint32_t req, const pai__how *how);

/* A request that may begin.  `group` is for the policy. */
typedef struct pai__entry {
  uint64_t turn;
  int32_t priority;
  uint32_t group;
  uint32_t req;
} pai__entry;

/* Appends all requests that may begin to `list` (of pai__entry, initialised),
 * by turn.  Returns PAI_OK or PAI_ENOMEM. */
int pai__list_waiting(const pai_sched *s, pai__flat *list);
/* Sorts by group, then priority (highest first), then turn. */
void pai__sort_waiting(pai__flat *list);

static inline pai__entry *pai__entry_at(const pai__flat *list, uint32_t i)
{
  return (pai__entry *)list->data + i;
}

/* True if another instance of the request may begin. */
static inline bool pai__may_begin(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return pai__req_waiting(r) != 0 && pai__req_lack(s, r) == PAI_LACK_NOTHING;
}

/* GPUs of all tasks of an instance. */
uint64_t pai__gpus_wanted(const pai_sched *s, uint32_t req);

/* Adds tasks to runs that have fewer than they want, as far as there is room,
 * the run placed first first.  Does nothing while a request waits that may
 * begin.  Returns PAI_OK or a code. */
int pai__grow_all(pai_sched *s);

typedef struct pai__waiter {
  uint64_t turn;
  pai_time length; /* PAI__NEVER: unknown */
  int32_t priority;
  uint32_t req;  /* valid only while it has this turn and waits:
                     pai__waiter_is_there() */
  uint32_t line; /* index in `lines` */
  uint32_t next; /* next waiter of the same line, or PAI__NONE */
} pai__waiter;

/* Waiting requests that are alike.  `refused` and `later` hold the number of
 * the decision in which they were set. */
typedef struct pai__waiter_line {
  uint64_t refused;     /* found no room */
  uint64_t later;       /* found room only in what is promised to others */
  uint64_t looked_at;   /* number of placements when room was found */
  uint32_t first, last; /* waiters in `list`, or PAI__NONE */
} pai__waiter_line;

typedef struct pai__waiters {
  pai__flat list, lines;
  pai__lookup line_at;
  uint32_t first;   /* all waiters before it have begun or are gone */
  uint32_t odd;     /* requests that have to be tried one by one */
  uint32_t elastic; /* requests content with fewer tasks */
  enum pai__alike alike;
  bool known;
  uint64_t linked; /* s->linked when last updated; if it differs, a request
                      returned without an event, because its claim was
                      withdrawn */
  pai__flat heads; /* heap of the first waiters of lines not refused */
} pai__waiters;

void pai__waiters_init(pai__waiters *w, enum pai__alike alike);
void pai__waiters_dispose(pai__waiters *w, const pai_alloc *alloc);

/* Updates the index after an event. */
void pai__waiters_event(pai__waiters *w, const pai_sched *s,
                        const pai_sched_event *event);
/* Makes sure that all waiting requests are indexed.  Returns 1 if a refusal
 * holds for the whole class; 0 if some requests are odd and each has to be
 * tried; or PAI_ENOMEM. */
int pai__waiters_ready(pai__waiters *w, const pai_sched *s);

static inline const pai__waiter *pai__waiter_at(const pai__waiters *w,
                                                uint32_t i)
{
  return (const pai__waiter *)w->list.data + i;
}

static inline pai__waiter_line *pai__waiter_line_of(const pai__waiters *w,
                                                    const pai__waiter *x)
{
  return (pai__waiter_line *)w->lines.data + x->line;
}

/* True if the request still waits. */
static inline bool pai__waiter_is_there(const pai_sched *s,
                                        const pai__waiter *x)
{
  const pai__req *r = pai__req_at(s, x->req);

  return r->turn == x->turn && r->queued;
}

/* Fills the heap with the first waiter of each line.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__waiters_line_up(pai__waiters *w, const pai_sched *s);
/* Returns the first waiter of a line, from waiter i on, that still waits; or
 * PAI__NONE. */
uint32_t pai__waiters_first(const pai__waiters *w, const pai_sched *s,
                            uint32_t i);

/* The waiter at the top of the heap, or PAI__NONE. */
static inline uint32_t pai__waiters_head(const pai__waiters *w)
{
  return w->heads.len != 0 ? *(const uint32_t *)w->heads.data : PAI__NONE;
}

/* Calls visit() for the requests in line, by priority and then turn.  With
 * `alike`, a refusal holds for the class, so a refused request removes its
 * line; else each request that may begin is visited.  visit() returns the codes
 * of pai__start_all().  Returns PAI_OK or a code. */
int pai__waiters_walk(pai__waiters *w, pai_sched *s, bool alike,
                      int (*visit)(void *ctx, pai_sched *s, uint32_t req),
                      void *ctx);

/* Waiting requests in lines, two for each group of the policy. */
typedef struct pai__backlog {
  pai_sched *s;
  const pai__waiters *lines;
  bool each; /* a refusal does not hold for the rest of a line */
} pai__backlog;

/* First waiters of the two lines of a group, or PAI__NONE; `end` is the line
 * of opportunistic requests. */
typedef struct pai__pending {
  uint32_t at, end;
} pai__pending;

#define PAI__NOTHING_PENDING ((pai__pending){ PAI__NONE, PAI__NONE })

/* Prepares the lines.  Returns PAI_OK or PAI_ENOMEM. */
int pai__backlog_begin(pai__backlog *b, pai_sched *s, pai__waiters *w,
                       bool each);
/* Sets the pending lines of each group.  group_of() returns the group of a
 * request, or PAI__NONE if memory is short; nothing may be pending before the
 * call.  Returns PAI_OK or PAI_ENOMEM. */
int pai__backlog_fill(pai__backlog *b, void *ctx,
                      uint32_t (*group_of)(void *ctx, const pai__req *r),
                      pai__pending *(*pending_of)(void *ctx, uint32_t group));

/* Number of lines that have a waiter. */
static inline uint32_t pai__pending_count(const pai__pending *p)
{
  return (p->at != PAI__NONE ? 1U : 0U) + (p->end != PAI__NONE ? 1U : 0U);
}

/* First waiter of a group that has one. */
static inline const pai__waiter *pai__backlog_head(const pai__backlog *b,
                                                   const pai__pending *p)
{
  return pai__waiter_at(b->lines, p->at != PAI__NONE ? p->at : p->end);
}
/* Goes on to the next waiter of the line. */
void pai__backlog_pass(const pai__backlog *b, pai__pending *p);
/* Refuses the rest of the line, because its first request could not start and
 * may not be overtaken.  The other line of the group stays.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__backlog_pass_all(const pai__backlog *b, pai__pending *p);

/* First field of the state of each built-in policy. */
typedef struct pai__plain {
  pai_alloc alloc;
  const pai__plain_type *type;
  pai__waiters waiters;
  /* Options. */
  int place;
  bool reclaim;
  bool shares; /* no virtual cluster gets more than its share */
  int64_t reserve_after;
} pai__plain;

/* Usual defaults. */
#define PAI__PLAIN_DEFAULTS                                 \
  .place = PAI_PLACE_TOPO, .reclaim = true, .shares = true, \
  .reserve_after = PAI__RESERVE_AFTER
/* Options of all built-in policies. */
#define PAI__PLAIN_PLACE                                   \
  PAI__WORD(pai__plain, place, pai__place_words, "place"), \
    PAI__RESERVE_OPTION(pai__plain)
#define PAI__PLAIN_OPTIONS \
  PAI__FLAG_OPTION(pai__plain, reclaim), PAI__PLAIN_PLACE

#endif
