/* policy.h - internal: opening, saving and calling the policy of a scheduler;
 * what policies may call; options of built-in policies */
#ifndef PAI_SRC_SCHED_POLICY_POLICY_H
#define PAI_SRC_SCHED_POLICY_POLICY_H

#include "json/form.h"
#include "sched/start.h"

/* True if policy `p` has the slot; tables of older versions are shorter. */
#define PAI__POLICY_HAS(p, slot)                                         \
  ((p)->struct_size >= offsetof(pai_policy, slot) + sizeof((p)->slot) && \
   (p)->slot != NULL)

extern const pai_policy pai__policy_fifo;
extern const pai_policy pai__policy_backfill;
extern const pai_policy pai__policy_priority;
extern const pai_policy pai__policy_capacity;
extern const pai_policy pai__policy_fair;
extern const pai_policy pai__policy_k8s;
extern const pai_policy pai__policy_hived;

/* --- the policy of a scheduler (policy.c) --------------------------------- */

/* Registers the caller's policy tables, from the options, by name.  Returns
 * the codes of pai_sched_new(), as do the functions below unless they say
 * otherwise. */
int pai__policy_tables(pai_sched *s, const pai_sched_options *o,
                       pai_error **err);
/* Opens the policy named by the options as the live one. */
int pai__policy_open(pai_sched *s, const pai_cluster *cluster,
                     const pai_sched_options *o, pai_error **err);
/* Clones a policy of the original scheduler as the live policy of a fork. */
int pai__policy_copy(pai_sched *fork, const pai__acting *from,
                     pai_error **err);
void pai__policy_close(pai_sched *s);

/* A policy as stored in a snapshot. */
typedef struct pai__saved_policy {
  const char *name, *options;
  const char *state; /* output of save(), or NULL */
  size_t len;
} pai__saved_policy;

/* Appends the output of the policy's save(), or nothing if it has no state.
 * Returns the codes of pai_sched_save(). */
int pai__policy_save(const pai__acting *a, pai__buf *out, pai_error **err);
/* Restores a saved policy as `to`, the live policy or the shadow of the
 * scheduler.  Returns the codes of pai_sched_load(). */
int pai__policy_restore(pai_sched *s, pai__acting *to,
                        const pai_cluster *cluster,
                        const pai__saved_policy *saved, pai_error **err);

/* Discards the state that the shadow's decisions led to (s->beside). */
void pai__shadow_forget(pai_sched *s);

/* True if the live policy is built in, so forks may be driven in any
 * thread. */
bool pai__policy_is_builtin(const pai_sched *s);

/* Asks the policy whether a request could ever start. */
int pai__policy_admit(pai_sched *s, uint64_t id, pai_error **err);

/* Turns a failure code of the policy into an error, with the text that the
 * policy gave for it. */
int pai__policy_failed(pai_sched *s, int code, pai_error **err);

/* Default of the option "reserve_after": seconds of waiting after which nodes
 * are reserved for a request. */
#define PAI__RESERVE_AFTER INT64_C(604800)

#define PAI__RESERVE_OPTION(type) \
  PAI__NUMBER_OPTION(type, reserve_after, 0, INT64_C(1) << 32)

/* For open() of a policy: reserves nodes for a request that has waited `after`
 * seconds; 0: never. */
static inline void pai__policy_reserves(pai_sched *s, int64_t after, int place,
                                        bool ranked)
{
  s->terms.reserve_after = after * INT64_C(1000000);
  s->terms.place = (uint8_t)place;
  s->terms.ranked = ranked;
}

/* --- functions for policies (host.c) -------------------------------------- */

void pai__host_init(pai_sched *s);

/* Starts the next instance of a request, if there is room.  Returns 1 if it
 * started; 0 if not, with the request's reason set; or PAI_ENOMEM. */
int pai__try(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* As pai__try(), but does not start the instance. */
int pai__has_room(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* As pai__try(), but stops less important runs for the request; returns 0 also
 * if the request waits for them to stop. */
int pai__try_over(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* Starts the next instance once as few as possible of `runs` (maybe none) have
 * stopped; earlier entries are stopped first.  Returns 1 if it started; 0 if
 * it waits for them, with that as its reason, or if there is no room, with its
 * reason unchanged; or PAI_ENOMEM. */
int pai__try_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                     uint32_t n);
/* Returns 1 if the request would start once all of `runs`, and all runs that
 * are already stopping, have stopped; 0 if not; or PAI_ENOMEM. */
int pai__fits_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                      uint32_t n);
/* Checks and counts the given places for a request's next instance, one for
 * each task, and leaves them in s->slots.  Places held by other runs are
 * claimed if `claimed`, else refused.  Returns PAI_OK or a code. */
int pai__take_places(pai_sched *s, uint32_t req, const pai_task_place *places,
                     size_t n, bool claimed);
/* As pai__claim(), and preempts the runs that hold what is claimed. */
int pai__claim_over(pai_sched *s, uint32_t req, uint32_t n);

/* Resizes run i.  Returns 1; 0 if there is no room; or a code. */
int pai__resize(pai_sched *s, uint32_t i, uint32_t want, uint32_t tasks);

/* Sets the reason of a request: it waits for request `behind` to go first. */
void pai__refuse_turn(pai_sched *s, uint32_t req, uint32_t behind);
/* For this decision, refuses all requests of the same virtual cluster that
 * came after `behind`; with `lazy`, only the opportunistic ones.  Returns
 * PAI_OK or PAI_ENOMEM. */
int pai__refuse_rest(pai_sched *s, uint32_t behind, bool lazy);
/* True if pai__refuse_rest() refused the request in this decision. */
bool pai__is_refused(const pai_sched *s, uint32_t req);

/* Returns the first request of the queue after `req` (PAI__NONE: of the whole
 * queue) that may begin.  The requests skipped have reasons that do not depend
 * on a policy. */
uint32_t pai__next_waiting(const pai_sched *s, uint32_t req);
/* True if a queued request may begin.  While only guaranteed requests may
 * start (s->keeping), others may not. */
bool pai__is_looked_at(const pai_sched *s, uint32_t req);

/* --- options (options.c) -------------------------------------------------- */

/* Names of the placement strategies. */
extern const char *const pai__place_words[];

/* Option entries that have the name of a field of the state. */
#define PAI__FLAG_OPTION(type, m) PAI__FLAG(type, m, #m)
#define PAI__NUMBER_OPTION(type, m, least, most) \
  PAI__NUMBER(type, m, least, most, #m)

/* A built-in policy, the `data` of its table.  Functions it does not need are
 * NULL. */
typedef struct pai__plain_type {
  const void *defaults; /* initial state; begins with pai__plain */
  size_t size;
  const pai__field *options; /* PAI__NODE: begin() reads it */
  size_t noptions;
  int alike;   /* enum pai__alike of its waiters; 0: it keeps no waiters */
  bool ranked; /* requests go by priority, across virtual clusters */
  /* begin() completes a new state after its options were read; `loaded`: the
   * options come from a snapshot and were valid once.  copy() completes a
   * bytewise copy of another state.  Both return PAI_OK or a code. */
  int (*begin)(void *state, const pai_policy_host *host, const char *options,
               bool loaded);
  int (*copy)(void *state, const void *from, const pai_policy_host *host);
  void (*end)(void *state);
  int (*decide)(void *state, pai_sched *s);
  int (*event)(void *state, pai_sched *s, const pai_sched_event *e);
  /* save() writes the state that does not follow from the options, as one JSON
   * value. */
  int (*save)(const void *state, pai_write_cb write, void *user_data);
  int (*load)(void *state, const pai_policy_host *host, const char *saved,
              size_t len);
} pai__plain_type;

/* Fills the fields of `out` from the options; the others keep their values.
 * Returns PAI_OK, or a code after host->give_up(). */
int pai__options_read(const pai_policy_host *host, const char *text,
                      const pai__plain_type *type, void *out);

/* Slots of a built-in policy's table. */
int pai__plain_open(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options);
void pai__plain_close(void *state);
int pai__plain_decide(void *state, void *data, const pai_policy_host *host);
int pai__plain_event(void *state, void *data, const pai_policy_host *host,
                     const pai_sched_event *event);
int pai__plain_clone(void **copy, const void *state, void *data,
                     const pai_policy_host *host);
int pai__plain_save(const void *state, void *data, pai_write_cb write,
                    void *user_data);
int pai__plain_load(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options,
                    const char *saved, size_t len);

/* All slots but `event`: a policy with waiters, or an event() of its own, has
 * pai__plain_event() there, and others are not called for each event. */
#define PAI__PLAIN_POLICY                                           \
  .struct_size = sizeof(pai_policy), .version = PAI_POLICY_VERSION, \
  .open = pai__plain_open, .close = pai__plain_close,               \
  .decide = pai__plain_decide, .clone = pai__plain_clone,           \
  .save = pai__plain_save, .load = pai__plain_load

#endif
