/*
 * guarantee_deficit.c - guarantee deficit: requests that wait although their
 * virtual cluster has not used its part
 *
 * Each decision asks this, also while thousands of requests wait.  So for each
 * virtual cluster the least amount of each share that any of its requests
 * wants is known.  If less than that is left of the part, none of them is
 * looked at.
 */
#include "sched/policy/guarantee.h"

#include "sched/policy/policy.h"

void pai__part_add(const pai_sched *s, const pai__run *run, uint64_t *sums)
{
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    for (uint32_t k = 0; k < pai__sched_cluster_shares(s->cluster); k++)
      sums[k] += pai__slot_share(s, &slots[i], &wants[slots[i].want], k);
}

int pai__part_sums(const pai_sched *s, pai__flat *sums)
{
  uint32_t n = (s->cluster->nvcs + 1) * pai__sched_cluster_shares(s->cluster);

  return pai__flat_reset(sums, &s->alloc, n);
}

/* --- what is left of a part ----------------------------------------------- */

/* Opportunistic runs are guaranteed nothing, so what they hold is left to
 * others. */
int pai__count_lazy(pai_sched *s)
{
  uint32_t n = pai__sched_cluster_shares(s->cluster);

  if (pai__part_sums(s, &s->lazily) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->runs.len && s->m.lazy; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__req *r;

    if (!pai__run_holds(run) || run->borrowed)
      continue; /* what is lent beside cells is not counted in shares */
    r = pai__req_at(s, run->req);
    if (r->priority < 0)
      pai__part_add(s, run,
                    (uint64_t *)s->lazily.data + (size_t)r->vc_index * n);
  }
  return PAI_OK;
}

/* True if so much of a share is left in the part of a virtual cluster. */
static bool is_left(const pai_sched *s, uint32_t vc_index, uint32_t share,
                    uint64_t amount)
{
  const uint64_t *used = pai__shares_of(s, &s->shares_used, vc_index);
  const uint64_t *lazy = pai__shares_of(s, &s->lazily, vc_index);

  return amount == 0 || amount + used[share] - lazy[share] <=
                          pai__sched_vc_at(s, vc_index)->own[share];
}

bool pai__keeps_to_part(const pai_sched *s, const pai__req *r)
{
  uint32_t n = pai__sched_vc_at(s, r->vc_index)->nshares, k = 0;

  while (k < n && is_left(s, r->vc_index, k, pai__share_least(s, r, k)))
    k++;
  return k == n;
}

/* True if some request of a virtual cluster may keep to its part. */
static bool may_keep(const pai_sched *s, uint32_t vc_index)
{
  const uint64_t *needs = pai__shares_of(s, &s->needs, vc_index);
  uint32_t n = pai__sched_vc_at(s, vc_index)->nshares, k = 0;

  while (k < n && needs[k] != UINT64_MAX && is_left(s, vc_index, k, needs[k]))
    k++;
  return k == n;
}

bool pai__is_owed(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return r->priority >= 0 &&
         (s->needs_known == 0 || may_keep(s, r->vc_index)) &&
         pai__keeps_to_part(s, r) && pai__req_lack(s, r) == PAI_LACK_NOTHING;
}

/* --- least amounts wanted ------------------------------------------------- */

static void lower(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint64_t *needs = pai__shares_of(s, &s->needs, r->vc_index);

  for (uint32_t k = 0; k < pai__sched_cluster_shares(s->cluster); k++) {
    uint64_t least = pai__share_least(s, r, k);

    needs[k] = least < needs[k] ? least : needs[k];
  }
}

/* Updates `needs` with all waiting requests, or with those that came since.  A
 * request that has gone may have wanted less than the rest; then some are
 * looked at in vain. */
static int learn_needs(pai_sched *s)
{
  uint32_t req = s->m.last;

  if (s->needs_known == 0) {
    if (pai__part_sums(s, &s->needs) < 0)
      return PAI_ENOMEM;
    memset(s->needs.data, 0xff, (size_t)s->needs.len * s->needs.size);
  }
  for (; req != PAI__NONE && pai__req_at(s, req)->turn >= s->needs_known;
       req = pai__req_at(s, req)->before)
    lower(s, req);
  s->needs_known = s->m.turns + 1;
  return PAI_OK;
}

/* True if anything can be reclaimed: of a part, or from opportunistic runs if
 * virtual clusters own cells. */
static bool asks_back(const pai_sched *s)
{
  uint32_t i = 0;

  if (s->terms.reclaim == 0 || s->cluster->vcs[0].parted || !s->m.lazy)
    return pai__guarantee_counts(s);
  while (i < s->runs.len &&
         (!pai__run_holds(pai__run_at(s, i)) || !pai__run_at(s, i)->borrowed))
    i++;
  return i < s->runs.len;
}

int pai__is_any_owed(pai_sched *s)
{
  uint32_t req = s->m.first, t = 0;

  if (!asks_back(s) || req == PAI__NONE)
    return 0;
  if (pai__count_lazy(s) < 0 || learn_needs(s) < 0)
    return PAI_ENOMEM;
  while (t < s->cluster->nvcs && !may_keep(s, t))
    t++;
  if (t == s->cluster->nvcs)
    return 0;
  while (req != PAI__NONE && !pai__is_owed(s, req))
    req = pai__req_at(s, req)->behind;
  /* Requests that wanted less have gone: learn the needs anew. */
  if (req == PAI__NONE)
    s->needs_known = 0;
  return req != PAI__NONE;
}
