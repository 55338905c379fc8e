/* policy.h - internal: the policy of a scheduler, and what it may do */
#ifndef PAI_SRC_SCHED_POLICY_H
#define PAI_SRC_SCHED_POLICY_H

#include "base/tree.h"
#include "sched/start.h"

/* Has a policy, of whatever age, that slot? */
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

/* The caller's, those of the options, are known by their names from now on.
 * The codes of pai_sched_new(), here and below. */
int pai__policy_tables(pai_sched *s, const pai_sched_options *o,
                       pai_error **err);
/* The one the options name decides. */
int pai__policy_open(pai_sched *s, const pai_cluster *cluster,
                     const pai_sched_options *o, pai_error **err);
/* A fork's is a clone of the original's. */
int pai__policy_copy(pai_sched *fork, const pai_sched *s, pai_error **err);
void pai__policy_close(pai_sched *s);

/* A policy as a snapshot has it. */
typedef struct pai__saved_policy {
  const char *name, *options;
  const char *state; /* what save() wrote, or NULL */
  size_t len;
} pai__saved_policy;

/* What its save() writes, which is nothing if it has no state.  The codes of
 * pai_sched_save(). */
int pai__policy_save(const pai_sched *s, bool shadow, pai__buf *out,
                     pai_error **err);
/* The codes of pai_sched_load(). */
int pai__policy_restore(pai_sched *s, bool shadow, const pai_cluster *cluster,
                        const pai__saved_policy *saved, pai_error **err);

/* What the policy beside it would decide now, on a fork; *out is NULL when it
 * could not.  PAI_OK or PAI_ENOMEM. */
int pai__shadow_decide(pai_sched **out, pai_sched *s);
/* Its decisions are counted, and those that are among the scheduler's own from
 * the one numbered `first` on.  Takes the fork. */
void pai__shadow_compare(pai_sched *s, pai_sched *fork, uint32_t first);
/* What it would have done is of the past. */
void pai__shadow_forget(pai_sched *s);

/* Is the one that decides ours, so that forks may be driven in any thread? */
bool pai__policy_is_builtin(const pai_sched *s);

/* Could a request ever start, as far as the policy goes? */
int pai__policy_admit(pai_sched *s, uint64_t id, pai_error **err);

/* A policy's answer as an error, with what it said of it. */
int pai__policy_failed(pai_sched *s, int code, pai_error **err);

/* The policy that is being opened has what was borrowed of a part asked back,
 * if `reclaim`, and places who gets it by a strategy. */
static inline void pai__policy_reclaims(pai_sched *s, bool reclaim, int place)
{
  s->terms.reclaim = reclaim ? (uint8_t)place : 0;
}

/* Seconds after which nodes are kept for a request that waits, where a policy
 * is told nothing else. */
#define PAI__RESERVE_AFTER INT64_C(604800)

/* The entry of the option that says so, at a member of its state. */
#define PAI__RESERVE_OPTION(type)                       \
  {                                                     \
    .key = "reserve_after", .kind = PAI__OPTION_NUMBER, \
    .offset = offsetof(type, reserve_after), .low = 0,  \
    .high = INT64_C(1) << 32                            \
  }

/* The policy that is being opened has nodes kept for who waits so many seconds;
 * 0: never. */
static inline void pai__policy_reserves(pai_sched *s, int64_t after, int place,
                                        bool ranked)
{
  s->terms.reserve_after = after * INT64_C(1000000);
  s->terms.place = (uint8_t)place;
  s->terms.ranked = ranked;
}

/* --- what it may do (host.c) ---------------------------------------------- */

void pai__host_init(pai_sched *s);

/* Starts the next instance of a request, if there is room.  1; 0, and its
 * reason is kept; or PAI_ENOMEM. */
int pai__try(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* Likewise, without starting it. */
int pai__has_room(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* As pai__try(), with less important ones stopped for it; 0 also if it waits for
 * them. */
int pai__try_over(pai_sched *s, uint32_t req, int strategy, bool beyond_share);
/* The next instance starts as soon as as few as need be of these runs, which
 * may be none, have stopped; the first of them go first.  1; 0: it waits for
 * them, and its reason says so, or there is no room and its reason stays; or
 * PAI_ENOMEM. */
int pai__try_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                     uint32_t n);
/* Would it start if all of these had stopped, and those that do already?  1; 0;
 * or PAI_ENOMEM. */
int pai__fits_without(pai_sched *s, const pai__ask *ask, const uint32_t *runs,
                      uint32_t n);
/* Counts the places of a request's next instance, which are checked: as many
 * as it has tasks.  They are in s->slots then.  Those that others hold are
 * `claimed` or refused.  PAI_OK, or a code. */
int pai__take_places(pai_sched *s, uint32_t req, const pai_task_place *places,
                     size_t n, bool claimed);
/* As pai__claim(); those who hold what is claimed are preempted. */
int pai__claim_over(pai_sched *s, uint32_t req, uint32_t n);

/* Of run i: 1; 0: no room; or a code. */
int pai__resize(pai_sched *s, uint32_t i, uint32_t want, uint32_t tasks);

/* It waits because another one goes first. */
void pai__refuse_turn(pai_sched *s, uint32_t req, uint32_t behind);
/* Nobody of its virtual cluster that came behind a request goes before it, this
 * time; `lazy`: nobody who is opportunistic.  PAI_OK or PAI_ENOMEM. */
int pai__refuse_rest(pai_sched *s, uint32_t behind, bool lazy);
/* Is that so? */
bool pai__is_refused(const pai_sched *s, uint32_t req);

/* The first of the queue behind `req` (PAI__NONE: of all) that may begin;
 * of the others it is known without a policy why they wait. */
uint32_t pai__next_waiting(const pai_sched *s, uint32_t req);

/* --- options (options.c) -------------------------------------------------- */

enum pai__option_kind {
  PAI__OPTION_FLAG = 1, /* true or false, into a bool */
  PAI__OPTION_PLACE,    /* a strategy by name, into an int */
  PAI__OPTION_NUMBER,   /* into an int64_t */
  PAI__OPTION_CHOICE,   /* one of some texts: which, into an int */
  PAI__OPTION_OWN       /* the policy reads it itself */
};

typedef struct pai__option {
  const char *key;
  enum pai__option_kind kind;
  size_t offset; /* in what is filled */
  int64_t low, high;
  const char *const *choices; /* NULL behind the last */
} pai__option;

/* A policy whose state is its options: `data` of its table.  The state begins
 * with this. */
typedef struct pai__plain {
  pai_alloc alloc;
  size_t size;
} pai__plain;

typedef struct pai__plain_type {
  const void *defaults; /* a state */
  size_t size;
  const pai__option *options;
  size_t noptions;
} pai__plain_type;

/* Fills a state with what the options say of it; the tree is theirs, for what is
 * the policy's own, and freed by the caller.  PAI_OK, or a code after
 * host->fail(), and there is no tree. */
int pai__options_read(const pai_policy_host *host, const char *text,
                      const pai__plain_type *type, void *out,
                      pai__tree **tree);

int pai__plain_open(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options);
void pai__plain_close(void *state);
int pai__plain_clone(void **copy, const void *state, void *data,
                     const pai_policy_host *host);
int pai__plain_save(const void *state, void *data, pai_write_cb write,
                    void *user_data);
int pai__plain_load(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options,
                    const char *saved, size_t len);

#define PAI__PLAIN_POLICY                                           \
  .struct_size = sizeof(pai_policy), .version = PAI_POLICY_VERSION, \
  .open = pai__plain_open, .close = pai__plain_close,               \
  .clone = pai__plain_clone, .save = pai__plain_save, .load = pai__plain_load

#endif
