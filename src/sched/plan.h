/*
 * plan.h - internal: what will be free when, and who is to have it
 *
 * Of each node a line through the future: what is free from one step to the
 * next, as far as it is known when that ends what runs.  GPUs are counted, not
 * named: those of a node that no request can tell apart are one lot, and which
 * of them it will be is chosen when the time has come.  That is exact: what
 * begins finds as many of a lot free as were counted.  Virtual clusters have
 * such lines, too, of what is left of their shares.
 *
 * While a plan is made, less and less of it is free.  So a time before which
 * a task has no place on a node holds for all that are like it, and longer.
 */
#ifndef PAI_SRC_SCHED_PLAN_H
#define PAI_SRC_SCHED_PLAN_H

#include "sched/start.h"

#define PAI__NEVER INT64_MAX

enum { PAI__LOTS = 8 }; /* of a node */

/* Where a task is to be, and how many GPUs of which lot it gets: a byte for
 * each. */
typedef struct pai__site {
  uint64_t lots;
  uint32_t node, want;
} pai__site;

/* What a task takes of a node, and what of it is free: from a step on until
 * the next.  For a virtual cluster `memory` is whatever it is a share of. */
typedef struct pai__amount {
  uint64_t lots; /* GPUs, a byte for each lot */
  int64_t memory;
  int32_t cpus, ports;
} pai__amount;

typedef struct pai__step {
  pai_time at;
  pai__amount free;
} pai__step;

/* Steps in a block of the pool; the last one has no end. */
typedef struct pai__line {
  uint32_t steps, len, cap;
} pai__line;

typedef struct pai__lots {
  uint64_t masks[PAI__LOTS]; /* the first n */
  uint32_t n;
  uint32_t kind; /* of its GPUs, if they are all of one, or PAI__NONE */
} pai__lots;

/* What a row of times is of: what a task takes, and for how long; or requests
 * that fit alike. */
typedef struct pai__row {
  uint64_t like[7];
  uint32_t req; /* one of these, or PAI__NONE */
  uint32_t at;  /* in the rows */
} pai__row;

typedef struct pai__plan {
  pai_alloc alloc;
  pai__pool steps;
  pai__flat lines;    /* nodes, and then each share of each tenant */
  pai__flat lots;     /* of nodes */
  pai__flat rooms;    /* as they are throughout a time that is tried */
  pai__flat used;     /* likewise, the shares of tenants */
  pai__flat rows;     /* times before which there is no place, of all nodes */
  pai__flat row_list; /* of pai__row */
  pai__lookup row_of;
  uint32_t only;   /* the node on which a single task is to be, or PAI__NONE */
  pai__flat nodes; /* of a gang, by the time at which they may have room */
  pai_time now;
  pai_time assumed; /* how long what does not say it takes; 0: for ever */
  bool plain;       /* no node has GPUs of two kinds */
  uint64_t layout;  /* of the lots: what was found in another is not valid */

  pai__flat sites; /* that were found */
  pai__flat spare;
  pai_time start; /* at that time, or PAI__NEVER */
} pai__plan;

void pai__plan_init(pai__plan *p, const pai_alloc *alloc);
void pai__plan_dispose(pai__plan *p);

/* Begins with what runs now.  `fine`: GPUs that are not near to each other are
 * told apart, for requests that ask for that.  PAI_OK or PAI_ENOMEM. */
int pai__plan_begin(pai__plan *p, const pai_sched *s, pai_time assumed,
                    bool fine);

/* How long an instance is expected to take, PAI__NEVER: for ever. */
pai_time pai__plan_length(const pai__plan *p, const pai__req *r);

/* Places that were found for a request of the same shape and length before. */
typedef struct pai__hint {
  const pai__site *sites;
  uint32_t n;
  pai_time start;
} pai__hint;

/* Looks for the earliest time, not behind `latest`, at which an instance of a
 * request has a place as long as it takes, and leaves it in p->start and
 * p->sites.  The places of the hint, or NULL, are taken if nothing is found
 * that is earlier than what it says.  1; 0: there is none; or PAI_ENOMEM. */
int pai__plan_find(pai__plan *p, pai_sched *s, uint32_t req, int strategy,
                   pai_time latest, const pai__hint *hint);
/* What was found is the request's.  PAI_OK or PAI_ENOMEM. */
int pai__plan_take(pai__plan *p, const pai_sched *s, uint32_t req);
/* What the hint says, and not what is found, is taken, if it still holds: 1; 0:
 * it does not; or PAI_ENOMEM. */
int pai__plan_take_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint);
/* And given back. */
int pai__plan_give_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint);
/* What was found is for now: it starts.  1; 0: it is not free; PAI_ENOMEM. */
int pai__plan_start(const pai__plan *p, pai_sched *s, uint32_t req);

/* More is free than rows of times tell. */
void pai__plan_forget_rows(pai__plan *p);

/* --- for the files of the plan -------------------------------------------- */

/* The row of such, made anew with n times of now; PAI__NONE without memory. */
uint32_t pai__plan_row(pai__plan *p, const pai_sched *s, pai__row row,
                       uint32_t n);

static inline pai_time *pai__row_at(const pai__plan *p, uint32_t at)
{
  return (pai_time *)p->rows.data + at;
}

/* Does what the hint says still hold?  Then it is in p->spare.  1, 0 or
 * PAI_ENOMEM. */
int pai__plan_holds(pai__plan *p, const pai_sched *s, uint32_t req,
                    const pai__hint *hint);

static inline pai__line *pai__line_at(const pai__plan *p, uint32_t i)
{
  return (pai__line *)p->lines.data + i;
}

static inline pai__step *pai__steps_of(const pai__plan *p, uint32_t line)
{
  return pai__pool_at(&p->steps, pai__line_at(p, line)->steps);
}

static inline const pai__lots *pai__lots_of(const pai__plan *p, uint32_t node)
{
  return (pai__lots *)p->lots.data + node;
}

/* The line of what a tenant has left of a share. */
static inline uint32_t pai__share_line(const pai_sched *s, uint32_t tenant,
                                       uint32_t share)
{
  return s->park->nspots + tenant * pai__park_shares(s->park) + share;
}

/* The end of what begins at a time and has a length. */
static inline pai_time pai__plan_end(pai_time at, pai_time length)
{
  return at > 0 && length > PAI__NEVER - at ? PAI__NEVER : at + length;
}

/* A new line's only step.  PAI_OK or PAI_ENOMEM. */
int pai__line_begin(pai__plan *p, uint32_t line, const pai__amount *free);
/* So much is taken (sign -1) or given back (1) from a to b; PAI__NEVER: for
 * ever.  PAI_OK or PAI_ENOMEM. */
int pai__line_change(pai__plan *p, uint32_t line, pai_time a, pai_time b,
                     const pai__amount *amount, int sign);
/* The step that is valid at a time. */
uint32_t pai__line_find(const pai__plan *p, uint32_t line, pai_time at);
/* The least of everything from a to b. */
pai__amount pai__line_least(const pai__plan *p, uint32_t line, pai_time a,
                            pai_time b);
/* The earliest time from `from` on at which so many GPUs of some lots (a byte
 * of ones for each), and the rest, are free for so long, or PAI__NEVER. */
pai_time pai__line_earliest(const pai__plan *p, uint32_t line, pai_time from,
                            pai_time length, const pai__amount *need,
                            uint32_t gpus, uint64_t some);
/* The next time behind `at` at which a line has more, or PAI__NEVER. */
pai_time pai__line_more(const pai__plan *p, uint32_t line, pai_time at);

/* GPUs in all lots. */
static inline uint32_t pai__lots_sum(uint64_t lots)
{
  lots = (lots & UINT64_C(0x00ff00ff00ff00ff)) +
         (lots >> 8 & UINT64_C(0x00ff00ff00ff00ff));
  return (uint32_t)(lots * UINT64_C(0x0001000100010001) >> 48);
}

/* Of each byte the lesser; none is above 127. */
static inline uint64_t pai__lots_least(uint64_t x, uint64_t y)
{
  uint64_t high = UINT64_C(0x8080808080808080);
  uint64_t not_less = ((x | high) - y) & high;
  uint64_t mask = (not_less >> 7) * 0xff;

  return (y & mask) | (x & ~mask);
}

/* How many of these GPUs are of each lot of a node. */
uint64_t pai__lots_count(const pai__plan *p, uint32_t node, uint64_t gpus);

/* The lots of a node that lie within a mask of GPUs: a byte of ones each. */
uint64_t pai__lots_within(const pai__plan *p, uint32_t node, uint64_t gpus);

#endif
