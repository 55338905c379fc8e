/*
 * core.h - internal: the state of a scheduler
 *
 * All state lies in flat memory and refers to itself by index, so that a fork
 * is a few copies.  No decision depends on an index: order is given by turns
 * and names.
 */
#ifndef PAI_SRC_SCHED_CORE_H
#define PAI_SRC_SCHED_CORE_H

#include "sched/inspect.h"

enum { PAI__MOST_PORTS = UINT16_MAX }; /* per task */

/* --- requests ------------------------------------------------------------- */

/* Returns how many CPUs a task has exclusively.  A task that asks for whole
 * CPUs has all of them exclusively.  A task that asks for a fraction has none:
 * it runs on the CPUs that no task has exclusively. */
static inline uint32_t pai__own_cpus(const pai__want *w)
{
  return w->cpu_millis % PAI__CPU == 0 ? w->cpu_millis / PAI__CPU : 0;
}

typedef struct pai__after {
  uint64_t id;
  uint32_t kind; /* PAI_AFTER_OK, ...; 0: satisfied */
  uint32_t bad;  /* 1: can no longer be satisfied */
} pai__after;

/* Limits of the bit fields of a request. */
enum { PAI__INSTANCES = (1 << 21) - 1 };
#define PAI__TURNS ((UINT64_C(1) << 44) - 1)

/* A request.  Tens of thousands may wait, so its size is kept at two cache
 * lines; what few requests have lies in the pool.  Counts go up to
 * PAI_SCHED_INSTANCES. */
typedef struct pai__req {
  uint64_t id;        /* 0: not in use */
  uint64_t turn : 44; /* position in the order of arrival; lower is earlier */
  uint64_t held : 1, lazy : 1, cancelled : 1;
  uint64_t queued : 1; /* in the queue: some instance waits */
  int16_t priority;
  pai_time submitted;
  pai_time duration, limit;
  uint64_t instances : 21;
  uint64_t next : 21;     /* first instance that never began */
  uint64_t active : 21;   /* runs that hold or have claimed a place */
  uint64_t returned : 21; /* runs that wait again */
  uint64_t finished : 21, failed : 21;
  uint32_t vc_index;              /* index in the cluster's `vcs` */
  uint32_t vc, user, pin, within; /* indices of names, or PAI__NONE */
  uint32_t name;                  /* index of a text in the pool, or
                                     PAI__NONE */
  uint32_t class;                 /* index in `classes` */
  uint32_t wants, nwants;         /* of the class: index in the pool, and
                                     count */
  uint32_t want_names;            /* index in `name_lists`, or PAI__NONE */
  uint32_t after, nafter;         /* index in the pool, and count */
  uint32_t at_once;
  uint32_t runs, last_run; /* list of runs, in the order of instances */
  uint32_t before, behind; /* neighbours in the queue, by turn */
  uint32_t reason;         /* index in `reasons`; PAI__NONE: no reason is
                              recorded */
} pai__req;

/* What decides where a request fits.  Requests fit alike if and only if they
 * have the same class.  A class has its list of wants in the pool. */
typedef struct pai__req_class {
  uint64_t key;      /* in `class_by_key` */
  uint64_t shape;    /* hash for policies to save; not unique */
  uint32_t uses;     /* number of requests; 0: not in use */
  uint32_t vc_index; /* index in the cluster's `vcs` */
  uint32_t pin, within;
  uint32_t wants, nwants;
  uint32_t next; /* not in use: the next of the free list */
  bool opportunistic;
  bool possible; /* one of its requests fits an empty cluster */
} pai__req_class;

/* The neighbours of a request among all requests, by turn, or PAI__NONE. */
typedef struct pai__link {
  uint32_t older, newer;
} pai__link;

/* Returns how long an instance is expected to run, or 0 if that is not
 * known. */
static inline pai_time pai__req_length(const pai__req *r)
{
  return r->limit != 0 ? r->limit : r->duration;
}

typedef struct pai__run {
  uint32_t req; /* PAI__NONE: not in use */
  uint32_t instance;
  uint32_t next, before; /* neighbours in the list of runs of the request */
  uint32_t slots, slot_words;
  uint32_t tasks;
  uint64_t order; /* order of placing: the lower of two was placed first */
  pai_time since; /* time of placing; once started, time of start */
  uint64_t by;    /* id of the request that it stops for */
  uint32_t leaving, leaving_want; /* number of last tasks of leaving_want that
                                     are to leave */
  uint8_t state, cause;
  uint8_t borrowed; /* counted in shares_lent, not in shares_used */
  uint8_t beyond;   /* last mark of pai__guarantee_mark(): it is borrowed */
} pai__run;

/* --- nodes ---------------------------------------------------------------- */

/* Ports in ascending order, in a block of the pool. */
typedef struct pai__port_list {
  uint32_t at, len, cap;
} pai__port_list;

/* The free capacity and state of a node.  Claims may take what other runs
 * still hold: then amounts are negative, and the GPUs are in `promised`. */
typedef struct pai__free_capacity {
  uint64_t gpus;     /* free GPUs, sick ones included */
  uint64_t promised; /* GPUs that a run holds and another one has claimed */
  uint64_t sick;
  int64_t memory;
  int64_t cpu_millis;
  int32_t ports;
  pai__port_list used;
  pai__port_list lost;   /* ports that are used by others than the scheduler */
  uint32_t next_port;    /* where the next search starts; delays reuse */
  uint32_t reason;       /* name: why the node is not up */
  uint32_t reservations; /* number of reservations that name the node */
  uint32_t coming;       /* ports for which memory is being reserved; else 0 */
  uint32_t state;        /* PAI_NODE_UP, ... */
} pai__free_capacity;

typedef struct pai__sched_reservation {
  pai_time from, to; /* to: INT64_MAX if it never ends */
  uint32_t name;     /* PAI__NONE: not in use */
  uint32_t vc, user;
  uint32_t nodes; /* mask of nodes, in the pool; PAI__NONE: all nodes */
  uint32_t words;
  /* For a reservation of guarantee.h, else 0: the id and turn of the request
   * that the nodes are kept for.  Requests with a priority above `above`, and
   * older requests that fit alike, may use the nodes, too.  Only requests of
   * the virtual cluster vc_index are kept out, or of any if that is
   * PAI__NONE. */
  uint64_t only, turn;
  int32_t above;
  uint32_t vc_index;
  uint32_t req; /* index of the request `only` */
} pai__sched_reservation;

/* --- reasons -------------------------------------------------------------- */

/* A pai_reason of openpai/sched.h, with the index of the node, the index of the
 * text among the names, and CPUs in thousandths.  failed[] counts nodes by the
 * lack that keeps the request off. */
typedef struct pai__sched_reason {
  uint64_t wanted, found;
  uint64_t behind;
  pai_time until;
  uint32_t lack, of;
  uint32_t want, placed, tasks;
  uint32_t node, text;
  uint32_t failed[PAI_LACKS];
} pai__sched_reason;

/* The common reason of requests of a virtual cluster that came after a waiting
 * request and do not overtake it.  It is stored once, not for each request. */
typedef struct pai__vc_reason {
  uint64_t made;        /* event number of the decision that made it */
  uint64_t behind;      /* id of the waiting request */
  uint64_t first, last; /* it holds for turns above `first`, up to `last` */
  bool lazy;            /* only for opportunistic requests */
} pai__vc_reason;

/* Which waiting requests a policy treats alike, so that the reason of one
 * holds for the later ones. */
enum pai__alike {
  PAI__ALIKE_NOT,
  PAI__ALIKE_CLASS, /* requests that fit alike */
  PAI__ALIKE_RANK,  /* also with the same priority and `lazy` */
  PAI__ALIKE_USER,  /* requests of one user in a virtual cluster; opportunistic
                       ones apart */
  PAI__ALIKE_VC     /* requests of one virtual cluster; opportunistic ones
                       apart */
};

/* The common reason of requests that are alike, with the turn and priority of
 * the first of them. */
typedef struct pai__alike_reason {
  pai__sched_reason reason;
  uint64_t turn;
  int32_t priority;
} pai__alike_reason;

/* Which requests have the common reason of alike ones: all that may begin, up
 * to the turn `last`, except the one with the turn `but`.  A request for which
 * there was room waits for `behind`, if `but` is set. */
typedef struct pai__alike_scope {
  uint64_t made; /* event number of the decision that made it; 0: none */
  uint64_t but;  /* turn of the excepted request; 0: none */
  uint64_t last;
  uint64_t behind; /* id of the request that others wait for */
  uint32_t how;    /* enum pai__alike */
} pai__alike_scope;

/* --- scheduler ------------------------------------------------------------ */

typedef struct pai__decision {
  uint64_t id, by;
  uint32_t instance;
  uint32_t want, tasks;
  uint8_t kind, cause;
  bool agreed; /* the live policy and the shadow decided the same */
} pai__decision;

/* The node classes: nodes that no task can tell apart; see node_class.h. */
typedef struct pai__node_classes {
  pai__flat list, spines, buckets;
  pai__flat touched; /* a bit for each changed node; behind them a bit for each
                        word of these */
  uint32_t first, spare, live;
  uint32_t words; /* words of the first part of `touched` */
  uint32_t away;  /* >0: a copy is in place of free_capacity */
  bool built;
} pai__node_classes;

static inline void pai__touch(const pai__node_classes *all, uint32_t node)
{
  uint64_t *words = all->touched.data;
  uint32_t word = node / 64;

  words[word] |= UINT64_C(1) << node % 64;
  words[all->words + word / 64] |= UINT64_C(1) << word % 64;
}

/* How a policy treats shares. */
typedef struct pai__terms {
  bool lends;      /* guaranteed requests may exceed their share */
  bool own_shares; /* the policy enforces shares itself */
  uint8_t
    reclaim;     /* placement strategy for requests that take back what others
                    have borrowed; 0: nothing is taken back */
  bool ranked;   /* higher priority goes first in all virtual clusters */
  bool promises; /* the first of a virtual cluster has a promise */
  uint8_t place; /* placement strategy of requests */
  pai_time reserve_after; /* see guarantee.h; 0: never */
} pai__terms;

/* A policy in use. */
typedef struct pai__acting {
  const pai_policy *policy; /* NULL: none */
  void *state;
  char *options;
  pai__terms terms;
} pai__acting;

/* How often the live policy and its shadow decided the same. */
typedef struct pai__agreement {
  int64_t live, decisions, agreed, failed;
} pai__agreement;

/* The scalar state, which a fork copies as a whole. */
typedef struct pai__marks {
  /* Free lists of unused records. */
  uint32_t free_req, free_run, free_reason, free_class;
  uint32_t first, last;    /* of the queue */
  uint32_t oldest, newest; /* of all requests */
  uint32_t nreqs, nqueued, nrunning;
  uint32_t first_port, last_port, next_port;
  uint64_t turns, orders; /* last ones given */
  uint64_t events;
  uint64_t decided; /* event number of the last decision */
  pai_time now;
  pai_time next_limit;  /* no run reaches its limit before this time */
  pai_time left_before; /* latest expected end of the runs that the last event
                           has released */
  pai__alike_scope alike;
  bool unchecked;
  bool lazy;       /* some request is or was opportunistic */
  bool other_keys; /* some class has another key than its shape */
} pai__marks;

struct pai_sched {
  pai_alloc alloc;
  pai__sched_cluster *cluster;
  pai__marks m;
  void *block; /* of a fork: the block with its copies */
  size_t block_size;

  /* Tables by index.  `reasons` has memory for a reason of each request. */
  pai__flat reqs, runs, free_capacity, cpus, reservations, reasons;
  pai__flat links; /* a pai__link for each request */
  pai__flat classes;
  pai__lookup class_by_key;
  pai__flat claims; /* indices of claimed runs, oldest first */
  /* For each virtual cluster, and each of its shares: the amount held. */
  pai__flat shares_used, shares_lent;
  pai__flat queued;     /* for each virtual cluster: requests in the queue */
  pai__flat vc_reasons; /* empty, or two for each virtual cluster: for all
                           requests, and for opportunistic ones */
  pai__flat alike_reasons; /* pai__alike_reason; see m.alike */
  pai__lookup alike_reason_at;
  pai__flat held;  /* what runs hold of each node; check.c's own records */
  pai__flat by_id; /* by id: index of the request + 1; open addressing */
  pai__lookup by_instance;
  pai__lookup followed; /* ids that others wait for, with how many do */
  pai__texts names;
  /* Names of the wants of a request, stored once for all that have the same:
   * the last name, and the index of the list of those before it. */
  pai__flat name_lists;
  pai__lookup name_list_at;
  pai__pool pool;

  /* Not copied by a fork. */
  pai__node_classes node_classes;
  pai__flat ends; /* pai__end, sorted; see start.h */
  pai__flat decisions;
  uint32_t told;      /* decisions returned by the last pai_sched_decide() */
  uint64_t effort;    /* work of all decisions, roughly in looks at a
                         request */
  pai__flat refusals; /* requests without room in this decision: queue.h */
  pai__lookup refused;
  pai__flat slots, candidates;      /* scratch memory of fit.c */
  char *failure;                    /* message of a policy that failed */
  uint64_t set_aside;               /* times that pai__set_aside() set a
                                       request aside */
  struct pai__explained *explained; /* see explain.h; or NULL */
  uint64_t linked;                  /* times that a request entered the
                                       queue */
  pai_write_cb log;
  void *log_data;
  uint64_t log_every; /* least bytes between regular snapshots; 0: none */
  uint64_t log_since; /* bytes of lines since the last snapshot */
  uint64_t log_last;  /* length of the last snapshot */
  pai__buf line;      /* the log line, while an event is handled */

  pai_policy_host host;     /* the interface that the policy gets */
  pai__acting live, shadow; /* the deciding policy; one that only records */
  pai__flat tables;         /* the caller's policies, which may be chosen by
                               name */
  pai_sched *beside;        /* state as the shadow would have left it, or
                               NULL */
  pai__agreement agreement;

  bool ends_known;
  bool holding; /* see backfill.h: promised resources count as taken */
  bool deciding;
  bool loading; /* from a snapshot: skip checks made before */
  /* Those of the live policy.  A built-in policy may change them in open(). */
  pai__terms terms;
  /* While `keeping`: what the opportunistic runs of each virtual cluster hold
   * of each of its shares. */
  pai__flat lazily;
  /* The least that any waiting request asks of each share of its virtual
   * cluster.  It covers requests with a turn below needs_known. */
  pai__flat needs;
  uint64_t needs_known;  /* 0: `needs` is not known */
  bool keeping;          /* only guaranteed requests may start: guarantee.h */
  uint64_t reserved_for; /* while deciding: id of the request with reserved
                            nodes */
  uint32_t reserved;     /* that many last `reservations` are for it */
};

static inline pai__req *pai__req_at(const pai_sched *s, uint32_t i)
{
  return (pai__req *)s->reqs.data + i;
}

static inline pai__run *pai__run_at(const pai_sched *s, uint32_t i)
{
  return (pai__run *)s->runs.data + i;
}

static inline pai__free_capacity *pai__free_capacity_at(const pai_sched *s,
                                                        uint32_t i)
{
  return (pai__free_capacity *)s->free_capacity.data + i;
}

/* Returns the free capacity of a node to be changed, and marks the node as
 * changed. */
static inline pai__free_capacity *pai__free_capacity_touch(const pai_sched *s,
                                                           uint32_t i)
{
  if (s->node_classes.built)
    pai__touch(&s->node_classes, i);
  return pai__free_capacity_at(s, i);
}

/* The reason of requests without a recorded one, which are most. */
extern const pai__sched_reason pai__no_reason;

static inline const pai__sched_reason *pai__sched_reason_of(const pai_sched *s,
                                                            uint32_t req)
{
  uint32_t reason = pai__req_at(s, req)->reason;

  return reason != PAI__NONE
           ? (const pai__sched_reason *)s->reasons.data + reason
           : &pai__no_reason;
}

static inline pai__req_class *pai__class_of(const pai_sched *s,
                                            const pai__req *r)
{
  return (pai__req_class *)s->classes.data + r->class;
}

static inline const pai__want *pai__wants_of(const pai_sched *s,
                                             const pai__req *r)
{
  return pai__pool_at(&s->pool, r->wants);
}

/* Returns the display name of a request, or NULL. */
static inline const char *pai__name_of(const pai_sched *s, const pai__req *r)
{
  return r->name != PAI__NONE ? pai__pool_at(&s->pool, r->name) : NULL;
}

/* Returns the amounts of the shares of a virtual cluster in a table such as
 * shares_used. */
static inline uint64_t *pai__shares_of(const pai_sched *s,
                                       const pai__flat *sums,
                                       uint32_t vc_index)
{
  return (uint64_t *)sums->data +
         (size_t)vc_index * pai__sched_cluster_shares(s->cluster);
}

static inline const pai__sched_vc *pai__sched_vc_at(const pai_sched *s,
                                                    uint32_t vc_index)
{
  return &s->cluster->vcs[vc_index];
}

/* Returns whether the caller has made reservations.  They distinguish requests
 * that are otherwise alike. */
static inline bool pai__has_reservations(const pai_sched *s)
{
  return s->reservations.len > s->reserved;
}

/* Returns whether a request is limited by the shares of its virtual cluster.
 * Opportunistic requests are not if the shares are cells: they use what others
 * leave. */
static inline bool pai__req_keeps_share(const pai_sched *s, const pai__req *r)
{
  const pai__sched_vc *t = pai__sched_vc_at(s, r->vc_index);

  return t->nshares != 0 && (t->parted || r->priority >= 0);
}

/* Returns whether a request is limited by the shares even where the policy may
 * lend (beyond_share).  A share that is a part of the whole is never
 * exceeded. */
static inline bool pai__req_is_bound(const pai_sched *s, const pai__req *r,
                                     bool beyond_share)
{
  return pai__req_keeps_share(s, r) &&
         (!beyond_share || pai__sched_vc_at(s, r->vc_index)->parted);
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
