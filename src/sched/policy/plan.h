/*
 * plan.h - internal: free capacity over time, and promised starts
 *
 * Each node has a line of steps: what is free from one step to the next, given
 * the expected ends of the runs.  GPUs are counted, not named: the GPUs of a
 * node that no request can tell apart form a GPU group, and particular GPUs
 * are chosen when a run starts.  The count is exact: a run that starts finds
 * as many free GPUs of a group as were counted.  Each share of a virtual
 * cluster has a line too, of what is left of it.
 *
 * While a plan is made, capacity is only taken from it.  So once a task is
 * known to have no place on a node before some time, that bound also holds for
 * later tasks that want the same and run as long or longer.
 */
#ifndef PAI_SRC_SCHED_POLICY_PLAN_H
#define PAI_SRC_SCHED_POLICY_PLAN_H

#include "sched/start.h"

#define PAI__NEVER INT64_MAX

enum { PAI__PLAN_GROUPS = 8 }; /* GPU groups of a node */

/* The node of a task, and how many GPUs of each GPU group it takes: a byte for
 * each group. */
typedef struct pai__site {
  uint64_t groups;
  uint32_t node, want;
} pai__site;

/* What a task takes of a node, or what is free of it during a step.  In the
 * line of a share, `memory` is the amount of that share. */
typedef struct pai__plan_amount {
  uint64_t groups; /* GPUs, a byte for each GPU group */
  int64_t memory, cpu_millis;
  int32_t ports;
} pai__plan_amount;

typedef struct pai__step {
  pai_time at;
  pai__plan_amount free;
} pai__step;

/* Steps, in a block of the pool; the last one does not end. */
typedef struct pai__plan_line {
  uint32_t steps, len, cap;
} pai__plan_line;

typedef struct pai__plan_groups {
  uint64_t masks[PAI__PLAN_GROUPS]; /* GPUs of each of the n groups */
  uint32_t n;
  uint32_t kind; /* kind of the node's GPUs; PAI__NONE: several kinds */
} pai__plan_groups;

/* Key of a row of times: what a task takes, or a request class, and for how
 * long. */
typedef struct pai__row {
  uint64_t like[7];
  uint32_t at; /* index in `rows` */
} pai__row;

typedef struct pai__plan {
  pai_alloc alloc;
  pai__pool steps;
  pai__flat lines;  /* pai__plan_line of each node, then of each share of each
                       virtual cluster */
  pai__flat groups; /* pai__plan_groups of each node */
  pai__flat free_capacity; /* free for the whole length from a tried time */
  pai__flat used;          /* shares in use, for the same period */
  pai__flat rows;     /* rows of earliest times: one for each node, or a single
                         one */
  pai__flat row_list; /* of pai__row */
  pai__lookup row_of;
  uint32_t only; /* the only node to search for a single task, or PAI__NONE */
  pai__flat nodes; /* for a gang: nodes by earliest possible time */
  pai_time now;
  pai_time assumed; /* length of a run with no expected length; 0: for ever */
  bool plain;       /* no node has GPUs of several kinds */
  uint64_t layout;  /* hash of the GPU groups: a promise made with another
                       layout is invalid */

  pai__flat sites; /* result of the last search */
  pai__flat spare;
  pai_time start; /* start of that result, or PAI__NEVER */
} pai__plan;

void pai__plan_init(pai__plan *p, const pai_alloc *alloc);
void pai__plan_dispose(pai__plan *p);

/* Begins a plan with the current runs.  `fine`: splits GPU groups by locality
 * level, for requests that ask for GPUs near each other.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__plan_begin(pai__plan *p, const pai_sched *s, pai_time assumed,
                    bool fine);

/* Expected length of an instance; PAI__NEVER: for ever. */
pai_time pai__plan_length(const pai__plan *p, const pai__req *r);

/* Places found earlier for a request of the same shape and length. */
typedef struct pai__hint {
  const pai__site *sites;
  uint32_t n;
  pai_time start;
} pai__hint;

/* Searches for the earliest time, not after `latest`, at which an instance of
 * the request has a place for its whole length.  Leaves the result in p->start
 * and p->sites.  If `hint` (may be NULL) still holds and nothing earlier is
 * found, the result is the hint.  Returns 1; 0 if there is no such time; or
 * PAI_ENOMEM. */
int pai__plan_find(pai__plan *p, pai_sched *s, uint32_t req, int strategy,
                   pai_time latest, const pai__hint *hint);
/* Takes the found places out of the plan for the request.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__plan_take(pai__plan *p, const pai_sched *s, uint32_t req);
/* Takes the places of the hint instead, if it still holds.  Returns 1; 0 if it
 * does not hold; or PAI_ENOMEM. */
int pai__plan_take_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint);
/* Gives the places of the hint back.  Returns PAI_OK or PAI_ENOMEM. */
int pai__plan_give_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint);
/* Starts the request at the found places.  Returns 1; 0 if they are not free
 * now; or PAI_ENOMEM. */
int pai__plan_start(const pai__plan *p, pai_sched *s, uint32_t req);

/* Drops all rows of times.  Needed when capacity is given back: the bounds do
 * not hold any more. */
void pai__plan_forget_rows(pai__plan *p);

/* --- for the files of the plan -------------------------------------------- */

/* Returns the row with this key, as an index in `rows`; creates it with n
 * times of now if there is none.  PAI__NONE: out of memory. */
uint32_t pai__plan_row(pai__plan *p, pai__row row, uint32_t n);

static inline pai_time *pai__row_at(const pai__plan *p, uint32_t at)
{
  return (pai_time *)p->rows.data + at;
}

/* Checks whether the hint still holds, and leaves its places in p->spare.
 * Returns 1, 0 or PAI_ENOMEM. */
int pai__plan_holds(pai__plan *p, const pai_sched *s, uint32_t req,
                    const pai__hint *hint);

static inline pai__plan_line *pai__line_at(const pai__plan *p, uint32_t i)
{
  return (pai__plan_line *)p->lines.data + i;
}

static inline pai__step *pai__steps_of(const pai__plan *p, uint32_t line)
{
  return pai__pool_at(&p->steps, pai__line_at(p, line)->steps);
}

static inline const pai__plan_groups *pai__plan_groups_of(const pai__plan *p,
                                                          uint32_t node)
{
  return (pai__plan_groups *)p->groups.data + node;
}

/* The line of what is left of a share of a virtual cluster. */
static inline uint32_t pai__share_line(const pai_sched *s, uint32_t vc_index,
                                       uint32_t share)
{
  return s->cluster->nnodes +
         vc_index * pai__sched_cluster_shares(s->cluster) + share;
}

/* End of a run that begins at a time and has a length. */
static inline pai_time pai__plan_end(pai_time at, pai_time length)
{
  return at > 0 && length > PAI__NEVER - at ? PAI__NEVER : at + length;
}

/* Makes a line of one step.  Returns PAI_OK or PAI_ENOMEM. */
int pai__line_begin(pai__plan *p, uint32_t line, const pai__plan_amount *free);
/* Takes an amount (sign -1) or gives it back (1), from a to b; PAI__NEVER: for
 * ever.  Returns PAI_OK or PAI_ENOMEM. */
int pai__line_change(pai__plan *p, uint32_t line, pai_time a, pai_time b,
                     const pai__plan_amount *amount, int sign);
/* Index of the step that is in force at a time. */
uint32_t pai__line_find(const pai__plan *p, uint32_t line, pai_time at);
/* Minimum of each amount from a to b. */
pai__plan_amount pai__line_least(const pai__plan *p, uint32_t line, pai_time a,
                                 pai_time b);
/* Returns the earliest time, not before `from`, at which `gpus` GPUs of the
 * groups `some` (0xff in the byte of each group) and the rest of `need` are
 * free for `length`; or PAI__NEVER. */
pai_time pai__line_earliest(const pai__plan *p, uint32_t line, pai_time from,
                            pai_time length, const pai__plan_amount *need,
                            uint32_t gpus, uint64_t some);
/* Next time after `at` at which more of anything is free, or PAI__NEVER. */
pai_time pai__line_more(const pai__plan *p, uint32_t line, pai_time at);

/* Sum of the bytes: GPUs in all GPU groups. */
static inline uint32_t pai__plan_groups_sum(uint64_t groups)
{
  groups = (groups & UINT64_C(0x00ff00ff00ff00ff)) +
           (groups >> 8 & UINT64_C(0x00ff00ff00ff00ff));
  return (uint32_t)(groups * UINT64_C(0x0001000100010001) >> 48);
}

/* Minimum of each byte; bytes are at most 127. */
static inline uint64_t pai__plan_groups_least(uint64_t x, uint64_t y)
{
  uint64_t high = UINT64_C(0x8080808080808080);
  uint64_t not_less = ((x | high) - y) & high;
  uint64_t mask = (not_less >> 7) * 0xff;

  return (y & mask) | (x & ~mask);
}

/* Counts a mask of GPUs by GPU group. */
uint64_t pai__plan_groups_count(const pai__plan *p, uint32_t node,
                                uint64_t gpus);

/* Returns 0xff in the byte of each GPU group that lies within a mask of
 * GPUs. */
uint64_t pai__plan_groups_within(const pai__plan *p, uint32_t node,
                                 uint64_t gpus);

/* Promises are kept from one decision to the next, so a request that finds the
 * same time again gets the same place.  Otherwise a request planned earlier
 * could take the place of a later one without need, and delay it beyond its
 * promise. */

/* A promise to one instance of a request.  Promises to one request are
 * adjacent. */
typedef struct pai__promise {
  uint64_t id;
  uint64_t shape;
  pai_time length;
  pai_time start;
  uint32_t first, count; /* range in `sites` */
} pai__promise;

typedef struct pai__promises {
  pai__flat list;  /* of pai__promise */
  pai__flat sites; /* of pai__site */
  pai__flat fresh; /* ids of requests that came or changed since the promises
                      were made: these may go before the promised ones */
  uint64_t layout; /* layout of the plan they were made with */
  bool fine;       /* plans use fine GPU groups; never reset while promises
                      depend on it */
} pai__promises;

static inline pai__promise *pai__promise_at(const pai__promises *x, uint32_t i)
{
  return (pai__promise *)x->list.data + i;
}

static inline pai__hint pai__promise_hint(const pai__promises *x,
                                          const pai__promise *a)
{
  return (pai__hint){ (const pai__site *)x->sites.data + a->first, a->count,
                      a->start };
}

void pai__promises_init(pai__promises *x);
void pai__promises_dispose(pai__promises *x, const pai_alloc *alloc);
/* Returns the codes of pai__flat_copy(). */
int pai__promises_copy(pai__promises *x, const pai__promises *from,
                       const pai_alloc *alloc);
void pai__promises_clear(pai__promises *x);
/* Records that a request came, came back or changed.  Drops all promises if
 * memory is short. */
void pai__promises_event(pai__promises *x, const pai_alloc *alloc,
                         const pai_sched_event *event);

/* Adds the places found in the plan as a promise to an instance of the
 * request.  Returns PAI_OK or PAI_ENOMEM. */
int pai__promises_add(pai__promises *x, const pai__plan *p, const pai_sched *s,
                      uint32_t req);
/* True if the promise was made to the request as it is now: same shape and
 * length, and no site names a want that the request lacks. */
bool pai__promise_is_of(const pai__promises *x, const pai__promise *a,
                        const pai_sched *s, uint32_t req, pai_time length);
/* Returns promise i if it was made to the request as it is now, with the GPU
 * groups of this plan; else NULL. */
const pai__promise *pai__promise_for(const pai__promises *x, uint32_t i,
                                     const pai__plan *p, const pai_sched *s,
                                     uint32_t req);
/* Fills `first_of` with the first promise of each request, by the request's
 * index; PAI__NONE where there is none.  Returns PAI_OK or PAI_ENOMEM. */
int pai__promises_index(const pai__promises *x, const pai_sched *s,
                        pai__flat *first_of);

/* Writes the promises as one JSON value.  Returns the codes of @p write. */
int pai__promises_write(const pai__promises *x, const pai_alloc *alloc,
                        pai_write_cb write, void *user_data);
/* Returns PAI_OK; PAI_EINVAL if the text was not written by
 * pai__promises_write(); or PAI_ENOMEM. */
int pai__promises_read(pai__promises *x, const pai_sched *s, const char *text,
                       size_t len);

#endif
