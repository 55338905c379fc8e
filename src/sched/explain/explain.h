/* explain.h - internal: why a request waits, and suggested changes */
#ifndef PAI_SRC_SCHED_EXPLAIN_EXPLAIN_H
#define PAI_SRC_SCHED_EXPLAIN_EXPLAIN_H

#include "sched/core.h"
#include "sched/start.h"

#include "base/base.h"
#include "base/buf.h"

/* A suggested change is a list of events that was tried on a fork, where it
 * started the request.  Changes of one thing are tried first; groups of
 * changes only if none of these is enough. */

/* What a suggested change changes. */
enum pai__suggest_side {
  PAI__SUGGEST_OWN = 1, /* the request itself */
  PAI__SUGGEST_OTHERS   /* other runs and requests, nodes */
};

enum { PAI__SUGGEST_STEPS = 48 };

/* Events for pai_sched_send(), at the scheduler's present time. */
typedef struct pai__suggested_change {
  pai_sched_event list[PAI__SUGGEST_STEPS];
  uint32_t n;  /* 0: none was found or is needed */
  bool anyway; /* the request starts at the next decision without a change */
  bool least;  /* one event, and no smaller one of its kind would do */
} pai__suggested_change;

/* Finds a suggested change for a waiting request.  Returns PAI_OK; PAI_ENOTSUP
 * if the policy cannot be forked; or PAI_ENOMEM. */
int pai__suggest_find(const pai_sched *s, uint64_t id,
                      enum pai__suggest_side side, pai__suggested_change *out,
                      pai_error **err);

/* --- internal to explain/suggested_*.c ------------------------------------ */

/* Tries single events (explain/suggested_single.c).  Returns 1 with the event
 * in `out`; 0 if none was found within the limit of trials; or PAI_ENOMEM. */
int pai__suggest_single(const pai_sched *s, uint64_t id,
                        enum pai__suggest_side side,
                        pai__suggested_change *out);
/* Tries on a new fork whether the request starts with all of these events
 * except number `but`; PAI__NONE: with all.  Returns PAI_OK; PAI_ENOTSUP; or
 * PAI_ENOMEM. */
int pai__suggest_starts(const pai_sched *s, uint64_t id,
                        const pai_sched_event *list, uint32_t n, uint32_t but,
                        bool *starts);
/* Returns how many changes may be tried, up to `most`.  Larger schedulers get
 * fewer trials. */
uint32_t pai__suggest_trials(const pai_sched *s, uint32_t most);
/* Gets the present reason of a request.  What is known without the policy
 * takes precedence. */
void pai__suggest_reason(const pai_sched *s, uint32_t req,
                         pai__sched_reason *reason);
/* Make events of changes.  `want` and the number are 0 if they do not apply. */
pai_sched_event pai__suggest_change(uint64_t id, const char *key,
                                    uint32_t want, int64_t number);
pai_sched_event pai__suggest_cpus(uint64_t id, uint32_t want, uint64_t millis);
pai_sched_event pai__suggest_heal(const pai_sched *s, uint32_t node,
                                  int32_t gpu);
pai_sched_event pai__suggest_unreserve(const pai_sched *s, uint32_t name);
/* Returns how much a run holds of what lacks, on a node or on all
 * (PAI__NONE). */
uint64_t pai__suggest_held(const pai_sched *s, const pai__run *run,
                           uint32_t node, uint32_t lack);

/* State while an explanation is written. */
typedef struct pai__telling {
  const pai_sched *s;
  const pai__req *r;
  uint32_t req;
  pai_reason reason;
  bool waits; /* true also if it holds a place that it has to leave first */
  pai__suggested_change own, others;
  pai__buf *out;
} pai__telling;

/* Writes the explanation as text. */
void pai__tell_waiting(pai__telling *t);

/* --- memory and cache ----------------------------------------------------- */

/* An allocator for forks that are made one after the other, each with blocks
 * of the same sizes, of megabytes if thousands of requests wait.  The system
 * would take such blocks back and hand them out again page by page, which
 * costs more than copying.  So this allocator keeps some of them. */

enum { PAI__REUSE_BLOCKS = 64 };

typedef struct pai__reuse {
  pai_alloc from;
  struct {
    void *block;
    size_t size;
  } kept[PAI__REUSE_BLOCKS];
  uint32_t next; /* index of the block that is replaced next */
} pai__reuse;

/* Initializes the allocator.  It must not move while it is in use. */
void pai__reuse_init(pai__reuse *r, const pai_alloc *from);
/* Frees the kept blocks.  All memory that was allocated must have been
 * freed. */
void pai__reuse_dispose(pai__reuse *r);

pai_alloc pai__reuse_alloc(pai__reuse *r);

/* An explanation in both forms, as NUL-terminated texts. */
typedef struct pai__explanation {
  uint64_t id;
  char *text, *json;
} pai__explanation;

/* Cache of explanations.  They cost milliseconds if thousands wait, and
 * callers ask again while nothing has happened: so the last ones are kept
 * until the next event. */
struct pai__explained {
  uint64_t events; /* m.events when they were made */
  pai__flat list;  /* pai__explanation */
};

/* Makes a scheduler keep explanations.  Returns PAI_OK or PAI_ENOMEM. */
int pai__explained_new(pai_sched *s);
void pai__explained_free(pai_sched *s);

/* Returns the kept explanation of a request, if nothing has happened since; or
 * NULL. */
const pai__explanation *pai__explained_find(const pai_sched *s, uint64_t id);
/* Keeps copies of an explanation, if there is memory and the scheduler keeps
 * any. */
void pai__explained_keep(const pai_sched *s, uint64_t id, const char *text,
                         const char *json);

#endif
