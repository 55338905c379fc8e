/*
 * guarantee.h - internal: a virtual cluster with a part of the whole gets that
 * part, also when others have borrowed it
 *
 * What a virtual cluster holds within its part, the most important first and
 * then the oldest, is guaranteed; all else of it, and what is opportunistic,
 * is borrowed.  A policy whose terms say so decides twice: first only what is
 * guaranteed may start, then all.  In between, whoever keeps to its part and
 * found no room has what is borrowed stopped for it.
 */
#ifndef PAI_SRC_SCHED_GUARANTEE_H
#define PAI_SRC_SCHED_GUARANTEE_H

#include "sched/core.h"

/* The policy decides.  PAI_OK or its code. */
int pai__decide_all(pai_sched *s);

/* Does nobody wait who goes before it in its virtual cluster? */
bool pai__is_first(const pai_sched *s, uint32_t req);

/* Marks all runs that hold something: which are borrowed (`beyond`)?  PAI_OK or
 * PAI_ENOMEM. */
int pai__guarantee_mark(pai_sched *s);
/* What of its part a request can take so that it is guaranteed itself, of each
 * share of its virtual cluster: what is left by those that go before it and are
 * guaranteed, as they are marked.  For pai__ask; to be disposed of.  PAI_OK or
 * PAI_ENOMEM. */
int pai__guarantee_left(const pai_sched *s, uint32_t req, pai__flat *left);

/* --- owed.c --------------------------------------------------------------- */

/* What opportunistic runs hold, in s->lazily, but for what is lent beside
 * cells.  PAI_OK or PAI_ENOMEM. */
int pai__count_lazy(pai_sched *s);
/* Does anybody wait who keeps to his part?  1; 0, which is usual where all have
 * more to do than there is room for; or PAI_ENOMEM. */
int pai__is_any_owed(pai_sched *s);
/* Likewise of one, with what was counted then. */
bool pai__is_owed(const pai_sched *s, uint32_t req);
/* And as far as the part goes. */
bool pai__keeps_to_part(const pai_sched *s, const pai__req *r);

/* What a run takes of shares; an amount of each share of each tenant, and one
 * more such list, all 0: PAI_OK or PAI_ENOMEM. */
void pai__part_add(const pai_sched *s, const pai__run *run, uint64_t *sums);
int pai__part_sums(const pai_sched *s, pai__flat *sums);

/* -------------------------------------------------------------------------- */

/* Are marks to be looked at: has anybody a part, and is it asked back? */
static inline bool pai__guarantee_counts(const pai_sched *s)
{
  return s->terms.reclaim != 0 && s->park->tenants[0].parted;
}

/* Is a run, as it is marked, what another virtual cluster than the request's is
 * guaranteed?  Then it does not stop for it, however important that is. */
static inline bool pai__guarantee_binds(const pai_sched *s, const pai__req *r,
                                        const pai__run *run)
{
  return pai__guarantee_counts(s) && !run->beyond &&
         pai__req_at(s, run->req)->tenant != r->tenant;
}

/* What a tenant may have of a share now, opportunistic runs included. */
static inline uint64_t pai__share_most(const pai_sched *s, uint32_t tenant,
                                       uint32_t share)
{
  const pai__tenant *t = pai__tenant_at(s, tenant);
  uint64_t most = t->shares[share], own;

  if (!s->keeping || t->own[share] == PAI__NO_LIMIT)
    return most;
  own = t->own[share] + pai__shares_of(s, &s->lazily, tenant)[share];
  return own < most ? own : most;
}

#endif
