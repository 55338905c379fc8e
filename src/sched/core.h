/*
 * core.h - internal: the state of a scheduler
 *
 * All of it lies in flat memory and refers to itself by index, so that a fork
 * is a few copies.  No decision depends on an index: what comes first is told
 * by turns and names.
 */
#ifndef PAI_SRC_SCHED_CORE_H
#define PAI_SRC_SCHED_CORE_H

#include "sched/texts.h"
#include "sched/park.h"

#include <openpai/policy.h>

enum { PAI__MOST_PORTS = UINT16_MAX }; /* of a task */
#define PAI__NO_TYPE (UINT32_MAX - 1)  /* it was there in an older cluster */

/* --- requests ------------------------------------------------------------- */

/* What equal tasks want. */
typedef struct pai__want {
  uint64_t memory;
  uint32_t tasks, min_tasks; /* min_tasks is never 0 */
  uint32_t gpus, cpus, ports;
  uint32_t type; /* of the park, or PAI__NONE: any */
  uint32_t name, type_name;
} pai__want;

typedef struct pai__after {
  uint64_t id;
  uint32_t kind; /* PAI_AFTER_OK, ...; 0: done */
  uint32_t bad;  /* 1: it cannot come true any more */
} pai__after;

/* What the narrow numbers of a request hold. */
enum { PAI__INSTANCES = (1 << 21) - 1 };
#define PAI__TURNS ((UINT64_C(1) << 44) - 1)

/* Tens of thousands may wait, and then this is what they cost: two lines of a
 * cache, and what few have is in the pool.  Counts are up to
 * PAI_SCHED_INSTANCES. */
typedef struct pai__req {
  uint64_t id;        /* 0: not in use */
  uint64_t turn : 44; /* of two, the lower comes first */
  uint64_t held : 1, lazy : 1, cancelled : 1;
  uint64_t queued : 1; /* it is in the queue: something of it may begin */
  int16_t priority;
  pai_time submitted;
  pai_time duration, limit;
  uint64_t shape; /* a hash of what it fits by: others may have the same */
  uint64_t instances : 21;
  uint64_t next : 21;     /* the first that never began */
  uint64_t active : 21;   /* runs that hold a place, or wait for
                                            their victims */
  uint64_t returned : 21; /* runs that wait again */
  uint64_t finished : 21, failed : 21;
  uint32_t tenant;                /* of the park */
  uint32_t vc, user, pin, within; /* names, or PAI__NONE */
  uint32_t name;                  /* text in the pool, or PAI__NONE */
  uint32_t wants, nwants;         /* in the pool: wants.h */
  uint32_t after, nafter;         /* likewise */
  uint32_t at_once;
  uint32_t runs, last_run; /* a list, in the order of instances */
  uint32_t before, behind; /* in the queue, by turn */
  uint32_t why;            /* PAI__NONE: nothing is said of it */
} pai__req;

/* A request's neighbours among all requests, by turn; or PAI__NONE. */
typedef struct pai__link {
  uint32_t older, newer;
} pai__link;

/* How long an instance is expected to take; 0: nobody knows. */
static inline pai_time pai__req_length(const pai__req *r)
{
  return r->limit != 0 ? r->limit : r->duration;
}

/* An instance that has begun once. */
enum pai__run_state {
  PAI__RUN_RETURNED = 1, /* waits again; it holds nothing */
  PAI__RUN_CLAIMED,      /* its place is not free yet */
  PAI__RUN_PLACED,       /* the caller is to start it */
  PAI__RUN_STARTED,
  PAI__RUN_STOPPING /* the caller is to stop it */
};

typedef struct pai__run {
  uint32_t req; /* PAI__NONE: not in use */
  uint32_t instance;
  uint32_t next, before; /* of the same request */
  uint32_t slots, slot_words;
  uint32_t tasks;
  uint64_t order; /* of placing: of two, the lower was placed before */
  pai_time since; /* when it was placed, and then when it started */
  uint64_t by;    /* for whom it stops */
  uint32_t leaving, leaving_want; /* so many of its last tasks are to go */
  uint8_t state, cause;
  uint8_t borrowed; /* counted as such: it is no guaranteed one */
  uint8_t beyond;   /* as guarantee.h has marked it last */
} pai__run;

/* A task's place.  The words of CPUs and then the ports of all tasks lie
 * behind the last slot of a run. */
typedef struct pai__slot {
  uint64_t gpus;
  uint32_t node;
  uint32_t want;
  uint32_t cpus;  /* words behind the first slot's beginning */
  uint32_t ports; /* likewise; two in a word */
} pai__slot;

/* --- nodes ---------------------------------------------------------------- */

/* Ports in ascending order, in a block of the pool. */
typedef struct pai__port_list {
  uint32_t at, len, cap;
} pai__port_list;

/* What is left of a node.  Claims may take what is still held: then numbers
 * are negative, and GPUs are in `promised`. */
typedef struct pai__room {
  uint64_t gpus;     /* free ones, the sick included */
  uint64_t promised; /* held ones that somebody has claimed */
  uint64_t sick;
  int64_t memory;
  int32_t cpus;
  int32_t ports;
  pai__port_list used;
  pai__port_list lost; /* somebody else's */
  uint32_t next_port;  /* where the search begins: old ports rest */
  uint32_t why;        /* a name */
  uint32_t kept;       /* reservations that name it */
  uint32_t coming;     /* ports, while room is made for them; else 0 */
  uint32_t state;      /* PAI_NODE_UP, ... */
} pai__room;

typedef struct pai__kept {
  pai_time from, to; /* to: INT64_MAX for ever */
  uint32_t name;     /* PAI__NONE: not in use */
  uint32_t vc, user;
  uint32_t nodes; /* a bit of each, in the pool; PAI__NONE: all */
  uint32_t words;
  /* reserve.h: for one request, for older ones like it, and for what is more
   * important than `above`; 0: else.  It binds a tenant, or PAI__NONE: all. */
  uint64_t only, turn;
  int32_t above;
  uint32_t tenant;
  uint32_t req; /* that one */
} pai__kept;

/* --- reasons -------------------------------------------------------------- */

typedef struct pai__why {
  uint64_t wanted, found;
  uint64_t behind;
  pai_time until;
  uint32_t lack, of;
  uint32_t want, placed, tasks;
  uint32_t node, text;
  uint32_t failed[PAI_LACKS];
} pai__why;

/* Those of a virtual cluster that came behind one which waits do not go before
 * it: told once, and not of each of them. */
typedef struct pai__rule {
  uint64_t made;        /* by the decision that was this event */
  uint64_t behind;      /* the request, */
  uint64_t first, last; /* and the turns it holds for: behind first, to last */
  bool lazy;            /* for opportunistic ones only */
} pai__rule;

/* Which of those that wait are alike to a policy, so that what is said of one
 * holds for those behind it. */
enum pai__alike {
  PAI__ALIKE_SHAPE, /* they fit alike */
  PAI__ALIKE_RANK,  /* and are as important, and as lazy */
  PAI__ALIKE_USER,  /* one user's of a virtual cluster; opportunistic ones are
                       others */
  PAI__ALIKE_TENANT /* one virtual cluster's, likewise */
};

/* Likewise of those that are alike and found no room: the first of them, before
 * which there was some, as it was.  It may be gone; its wants are kept. */
typedef struct pai__shape_why {
  pai__why why;
  pai__req first;
} pai__shape_why;

/* For which requests that holds: all who may begin, up to a turn, but one.  Who
 * found room has to let that one pass, if there is one. */
typedef struct pai__shaped {
  uint64_t made; /* by the decision that was this event; 0: for none */
  uint64_t but;  /* a turn; 0: no one */
  uint64_t last;
  uint64_t behind; /* the request that others wait for */
  uint32_t alike;  /* enum pai__alike */
} pai__shaped;

/* --- the whole ------------------------------------------------------------ */

typedef struct pai__decision {
  uint64_t id, by;
  uint32_t instance;
  uint32_t want, tasks;
  uint8_t kind, cause;
  bool agreed; /* with the shadow, or the shadow with it */
} pai__decision;

/* Nodes that no task can tell apart; see shelf.h. */
typedef struct pai__shelves {
  pai__flat list, spines, buckets;
  pai__flat touched; /* a bit of each node; and behind, one of each word */
  uint32_t first, spare, live;
  uint32_t words; /* of the bits of nodes */
  uint32_t away;  /* times that other rooms took the place of the real ones */
  bool built;
} pai__shelves;

static inline void pai__touch(const pai__shelves *all, uint32_t node)
{
  uint64_t *words = all->touched.data;
  uint32_t word = node / 64;

  words[word] |= UINT64_C(1) << node % 64;
  words[all->words + word / 64] |= UINT64_C(1) << word % 64;
}

/* How a policy deals with shares. */
typedef struct pai__terms {
  bool lends;      /* guaranteed requests may get more than their share */
  bool own_shares; /* it keeps shares in its own way */
  uint8_t
    reclaim;     /* what was borrowed of a part is asked back, and who gets it
                      is placed by this strategy; 0: it is not */
  bool ranked;   /* the more important go first, whosoever they are */
  bool promises; /* the first of a virtual cluster is promised a start */
  uint8_t place; /* how requests are placed */
  pai_time reserve_after; /* reserve.h; 0: never */
} pai__terms;

/* What a fork copies as it is. */
typedef struct pai__marks {
  /* Lists through what is not in use. */
  uint32_t free_req, free_run, free_why;
  uint32_t first, last;    /* of the queue */
  uint32_t oldest, newest; /* of all requests */
  uint32_t nreqs, nqueued, nrunning;
  uint32_t first_port, last_port, next_port;
  uint64_t turns, orders; /* given so far */
  uint64_t events;
  uint64_t decided; /* the event that was the last decision */
  pai_time now;
  pai_time next_limit;  /* no run's limit is reached before */
  pai_time left_before; /* what has left by the last event was expected to do
                           so at that time at the latest */
  pai__shaped shaped;
  bool unchecked;
  bool lazy; /* some request is opportunistic, or was */
} pai__marks;

struct pai_sched {
  pai_alloc alloc;
  pai__park *park;
  pai__marks m;
  void *block; /* of a fork: what it has copied */
  size_t block_size;

  /* By index.  For whys there is memory for one of each request. */
  pai__flat reqs, runs, rooms, cpus, kept, whys;
  pai__flat links;  /* pai__link, of each request */
  pai__flat claims; /* runs, the oldest first */
  /* Of each tenant, of each of its shares: what is held. */
  pai__flat shares_used, shares_lent;
  pai__flat queued;     /* of each tenant: requests in the queue */
  pai__flat rules;      /* likewise; none, or two of each: for all, and lazy */
  pai__flat shape_whys; /* see m.shaped; by a hash of what is alike: */
  pai__lookup shape_why_at;
  pai__flat held;  /* what runs have of each node: check.c's own book */
  pai__flat by_id; /* open addressing: a request + 1, by its id */
  pai__lookup by_instance;
  pai__lookup wanted;   /* lists of wants, by what they say: wants.h */
  pai__lookup followed; /* ids that others wait for, to how many */
  pai__lookup possible; /* shapes, to a request that fits if all is free */
  pai__texts names;
  pai__pool pool;

  /* A fork begins without these. */
  pai__shelves shelves;
  pai__flat ends; /* see ends.h */
  pai__flat decisions;
  uint32_t told;      /* decisions of the last time */
  uint64_t effort;    /* of all decisions: looks at a request, more or less */
  pai__flat refusals; /* refusal.h: who found no room this time; by a hash: */
  pai__lookup refused;
  pai__flat slots, candidates;      /* for fit.c while it looks */
  char *failure;                    /* what a policy said of its failure */
  uint64_t set_aside;               /* pai__set_aside(): so often */
  struct pai__explained *explained; /* explained.h; or NULL */
  uint64_t linked;                  /* requests came, or came back, so often */
  pai_write_cb log;
  void *log_data;
  uint64_t log_every; /* bytes of lines; 0: no snapshots in the middle */
  uint64_t log_since; /* bytes of lines behind the last snapshot, */
  uint64_t log_last;  /* which was so long */
  pai__buf line;      /* for the log, while an event is taken */

  pai_policy_host host; /* what the policy is handed */
  const pai_policy *policy;
  void *policy_state;
  char *policy_options;
  pai__flat tables; /* the caller's policies: they may be named */
  const pai_policy *shadow;
  void *shadow_state;
  char *shadow_options;
  pai_sched *beside; /* as it would have left this, or NULL */
  uint64_t shadow_live, shadow_decisions, shadow_agreed, shadow_failed;

  bool ends_known;
  bool holding; /* easy.h: what is promised is counted as taken */
  bool deciding;
  bool loading; /* it is made of a snapshot: what was checked counts */
  /* Of the policy; one that is built in may say otherwise in open(). */
  pai__terms terms, shadow_terms;
  pai__flat lazily; /* while `keeping`: of each tenant, of each of its shares,
                       what its opportunistic runs hold */
  pai__flat needs;  /* likewise: nobody who waits wants less, */
  uint64_t needs_known;  /* of those with a turn below; 0: not known */
  bool keeping;          /* only what is guaranteed starts: guarantee.h */
  uint64_t reserved_for; /* while it decides: a request for which the last */
  uint32_t reserved;     /* so many of `kept` are; 0: none */
};

static inline pai__req *pai__req_at(const pai_sched *s, uint32_t i)
{
  return (pai__req *)s->reqs.data + i;
}

static inline pai__run *pai__run_at(const pai_sched *s, uint32_t i)
{
  return (pai__run *)s->runs.data + i;
}

static inline pai__room *pai__room_at(const pai_sched *s, uint32_t i)
{
  return (pai__room *)s->rooms.data + i;
}

/* To change what is left of a node, or its state. */
static inline pai__room *pai__room_touch(const pai_sched *s, uint32_t i)
{
  if (s->shelves.built)
    pai__touch(&s->shelves, i);
  return pai__room_at(s, i);
}

/* Nothing is said of most requests: these have no record. */
extern const pai__why pai__no_why;

static inline const pai__why *pai__why_of(const pai_sched *s, uint32_t req)
{
  uint32_t why = pai__req_at(s, req)->why;

  return why != PAI__NONE ? (const pai__why *)s->whys.data + why
                          : &pai__no_why;
}

static inline pai__want *pai__wants_of(const pai_sched *s, const pai__req *r)
{
  return pai__pool_at(&s->pool, r->wants);
}

/* Its name for people, or NULL. */
static inline const char *pai__name_of(const pai_sched *s, const pai__req *r)
{
  return r->name != PAI__NONE ? pai__pool_at(&s->pool, r->name) : NULL;
}

/* What is held of a tenant's shares. */
static inline uint64_t *pai__shares_of(const pai_sched *s,
                                       const pai__flat *sums, uint32_t tenant)
{
  return (uint64_t *)sums->data + (size_t)tenant * pai__park_shares(s->park);
}

static inline const pai__tenant *pai__tenant_at(const pai_sched *s,
                                                uint32_t tenant)
{
  return &s->park->tenants[tenant];
}

/* Are there reservations of the caller's, which tell requests apart that are
 * alike otherwise? */
static inline bool pai__has_reservations(const pai_sched *s)
{
  return s->kept.len > s->reserved;
}

/* Is a request to keep to shares?  Opportunistic ones are not where these are
 * cells: there they have what others leave. */
static inline bool pai__req_keeps_share(const pai_sched *s, const pai__req *r)
{
  const pai__tenant *t = pai__tenant_at(s, r->tenant);

  return t->nshares != 0 && (t->parted || r->priority >= 0);
}

/* Likewise where a policy may lend; of a part nothing is lent beyond. */
static inline bool pai__req_is_bound(const pai_sched *s, const pai__req *r,
                                     bool beyond_share)
{
  return pai__req_keeps_share(s, r) &&
         (!beyond_share || pai__tenant_at(s, r->tenant)->parted);
}

static inline pai__after *pai__after_of(const pai_sched *s, const pai__req *r)
{
  return pai__pool_at(&s->pool, r->after);
}

static inline pai__slot *pai__slots_of(const pai_sched *s, const pai__run *run)
{
  return pai__pool_at(&s->pool, run->slots);
}

#endif
