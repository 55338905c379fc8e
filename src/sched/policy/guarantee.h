/*
 * guarantee.h - internal: guaranteed parts of virtual clusters, reclaiming
 * what is borrowed, and reservations for requests that wait long
 *
 * What a virtual cluster holds within its part is guaranteed, the most
 * important runs first and then the oldest requests.  All else that it holds,
 * and opportunistic runs, are borrowed.  If the policy's terms allow reclaim,
 * it decides twice: first only guaranteed requests may start, then all.
 * Between the two, borrowed runs are stopped for requests that keep to their
 * part and found no room.
 */
#ifndef PAI_SRC_SCHED_POLICY_GUARANTEE_H
#define PAI_SRC_SCHED_POLICY_GUARANTEE_H

#include "sched/core.h"

/* Runs the policy's decision.  Returns PAI_OK or its code. */
int pai__decide_all(pai_sched *s);

/* True if no waiting request of the same virtual cluster goes before it. */
bool pai__is_first(const pai_sched *s, uint32_t req);

/* Sets `beyond` of each run that holds something: true if it is borrowed.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__guarantee_mark(pai_sched *s);
/* Fills `left` with what a request can take of each share of its virtual
 * cluster and still be guaranteed: its part, less the guaranteed runs that go
 * before it, by their marks.  For pai__ask; the caller disposes of it.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__guarantee_left(const pai_sched *s, uint32_t req, pai__flat *left);

/* --- guarantee_deficit.c -------------------------------------------------- */

/* Counts what opportunistic runs hold into s->lazily, except what is lent
 * beside cells.  Returns PAI_OK or PAI_ENOMEM. */
int pai__count_lazy(pai_sched *s);
/* Returns 1 if a waiting request keeps to the part of its virtual cluster; 0
 * if none does, the usual case in a full cluster; or PAI_ENOMEM. */
int pai__is_any_owed(pai_sched *s);
/* True if this request does, by the counts of the last pai__is_any_owed(). */
bool pai__is_owed(const pai_sched *s, uint32_t req);
/* True if a request, by its amounts alone, keeps to the part. */
bool pai__keeps_to_part(const pai_sched *s, const pai__req *r);

/* pai__part_add() adds what a run takes of each share.  pai__part_sums() makes
 * zeroed amounts for each share of each virtual cluster, and one more such
 * list.  It returns PAI_OK or PAI_ENOMEM. */
void pai__part_add(const pai_sched *s, const pai__run *run, uint64_t *sums);
int pai__part_sums(const pai_sched *s, pai__flat *sums);

/* -------------------------------------------------------------------------- */

/* True if marks matter: virtual clusters have parts, and reclaim is on. */
static inline bool pai__guarantee_counts(const pai_sched *s)
{
  return s->terms.reclaim != 0 && s->cluster->vcs[0].parted;
}

/* True if a run is guaranteed, by its mark, to another virtual cluster than
 * the request's.  It is not stopped for the request then, whatever the
 * priorities. */
static inline bool pai__guarantee_binds(const pai_sched *s, const pai__req *r,
                                        const pai__run *run)
{
  return pai__guarantee_counts(s) && !run->beyond &&
         pai__req_at(s, run->req)->vc_index != r->vc_index;
}

/* What a virtual cluster may have of a share now, including opportunistic
 * runs. */
static inline uint64_t pai__share_most(const pai_sched *s, uint32_t vc_index,
                                       uint32_t share)
{
  const pai__sched_vc *t = pai__sched_vc_at(s, vc_index);
  uint64_t most = t->shares[share], own;

  if (!s->keeping || t->own[share] == PAI__NO_LIMIT)
    return most;
  own = t->own[share] + pai__shares_of(s, &s->lazily, vc_index)[share];
  return own < most ? own : most;
}

/*
 * A large request may wait for ever while small later ones fill what it waits
 * for.  So nodes are reserved, during the decision, for the oldest request
 * that has waited longer than the policy's terms allow: nothing less important
 * starts there.  After twice that time the nodes are the same at each
 * decision.  After four times it is all nodes that the request could use.  A
 * request that keeps to the part of its virtual cluster, and finds no place
 * though the part has enough left, gets nodes at once.
 *
 * No state is kept: the nodes are chosen anew in each decision, from the runs.
 */

/* Reserves nodes for one request, unless some are reserved.  `owed`: only for
 * a request that keeps to its part.  Returns PAI_OK or PAI_ENOMEM. */
int pai__reserve_begin(pai_sched *s, bool owed);
/* True if a request may use nodes reserved for another one that has waited
 * long. */
bool pai__sched_reservation_lets(const pai_sched *s,
                                 const pai__sched_reservation *k,
                                 const pai__req *r);
/* Ends the reservation. */
void pai__reserve_end(pai_sched *s);

#endif
