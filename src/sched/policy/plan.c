/* plan.c - free capacity over time: begin with the current runs, take places,
 * start at them */
#include "sched/policy/plan.h"

#include "resource/bits.h"
#include "sched/pick_gpus.h"
#include "sched/policy/guarantee.h"

void pai__plan_init(pai__plan *p, const pai_alloc *alloc)
{
  *p = (pai__plan){ .alloc = *alloc };
  pai__pool_init(&p->steps);
  pai__flat_init(&p->lines, sizeof(pai__plan_line));
  pai__flat_init(&p->groups, sizeof(pai__plan_groups));
  pai__flat_init(&p->free_capacity, sizeof(pai__free_capacity));
  pai__flat_init(&p->used, sizeof(uint64_t));
  pai__flat_init(&p->rows, sizeof(pai_time));
  pai__flat_init(&p->row_list, sizeof(pai__row));
  pai__lookup_init(&p->row_of);
  p->only = PAI__NONE;
  pai__flat_init(&p->sites, sizeof(pai__site));
  pai__flat_init(&p->spare, sizeof(pai__site));
  pai__flat_init(&p->nodes, 2 * sizeof(uint64_t));
}

void pai__plan_dispose(pai__plan *p)
{
  pai__flat *list[] = { &p->steps.words,   &p->lines,        &p->groups,
                        &p->free_capacity, &p->used,         &p->rows,
                        &p->row_list,      &p->row_of.slots, &p->sites,
                        &p->spare,         &p->nodes };

  for (size_t i = 0; i < PAI__LEN(list); i++)
    pai__flat_dispose(list[i], &p->alloc);
}

pai_time pai__plan_length(const pai__plan *p, const pai__req *r)
{
  pai_time length = pai__req_length(r);

  length = length != 0 ? length : p->assumed;
  return length != 0 ? length : PAI__NEVER;
}

/* --- GPU groups ----------------------------------------------------------- */

/* Splits groups by the mask.  A node with too many groups is not split
 * further, and a request that needs the split finds no place there. */
static void divide(pai__plan_groups *l, uint64_t mask)
{
  for (uint32_t i = 0, n = l->n; i < n && l->n < PAI__PLAN_GROUPS; i++) {
    uint64_t inside = l->masks[i] & mask, outside = l->masks[i] & ~mask;

    if (inside != 0 && outside != 0) {
      l->masks[i] = inside;
      l->masks[l->n++] = outside;
    }
  }
}

static void divide_by_nearness(pai__plan *p, const pai_sched *s, uint32_t sku,
                               const pai__sched_locality *locality)
{
  const pai__sched_sku *b = &s->cluster->skus[sku];

  for (uint32_t node = 0; node < s->cluster->nnodes; node++)
    for (uint32_t at = 0; s->cluster->nodes[node].sku == sku && at < b->gpus;
         at += locality->gpus) {
      uint32_t end =
        at + locality->gpus < b->gpus ? at + locality->gpus : b->gpus;

      divide((pai__plan_groups *)p->groups.data + node,
             pai__bits_mask(at, end - 1));
    }
}

static void begin_groups(const pai__plan *p, const pai_sched *s, uint32_t node)
{
  const pai__sched_sku *b = pai__sched_sku_of(s->cluster, node);
  pai__plan_groups *l = (pai__plan_groups *)p->groups.data + node;

  *l = (pai__plan_groups){ .masks = { b->all &
                                      ~pai__free_capacity_at(s, node)->sick },
                           .kind = PAI__NONE };
  l->n = l->masks[0] != 0;
  for (uint32_t k = 0; k < s->cluster->nkinds; k++) {
    divide(l, b->kinds[k]);
    if (b->kinds[k] == b->all && b->all != 0)
      l->kind = k;
  }
}

static int make_groups(pai__plan *p, const pai_sched *s, bool fine)
{
  const pai__sched_cluster *cluster = s->cluster;

  if (pai__flat_reset(&p->groups, &p->alloc, cluster->nnodes) < 0)
    return PAI_ENOMEM;
  p->plain = true;
  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    begin_groups(p, s, i);
    if (pai__plan_groups_of(p, i)->kind == PAI__NONE &&
        pai__sched_sku_of(cluster, i)->all != 0)
      p->plain = false;
  }
  for (uint32_t i = 0; i < cluster->npins; i++)
    for (uint32_t k = 0; k < cluster->pins[i].count; k++) {
      const pai__part *part = &cluster->parts[cluster->pins[i].first + k];

      divide((pai__plan_groups *)p->groups.data + part->node, part->gpus);
    }
  for (uint32_t b = 0; b < cluster->nskus; b++)
    for (uint32_t k = 0; k < cluster->skus[b].nlocalities && fine; k++)
      divide_by_nearness(p, s, b, &cluster->skus[b].localities[k]);
  return PAI_OK;
}

static uint64_t layout_of(const pai__plan *p)
{
  uint64_t h = p->groups.len;

  for (uint32_t i = 0; i < p->groups.len; i++) {
    const pai__plan_groups *l = pai__plan_groups_of(p, i);

    for (uint32_t k = 0; k < l->n; k++) {
      h = (h ^ l->masks[k]) * UINT64_C(0xff51afd7ed558ccd);
      h ^= h >> 32;
    }
  }
  return h;
}

uint64_t pai__plan_groups_count(const pai__plan *p, uint32_t node,
                                uint64_t gpus)
{
  const pai__plan_groups *l = pai__plan_groups_of(p, node);
  uint64_t groups = 0;

  for (uint32_t i = 0; i < l->n; i++)
    groups |= (uint64_t)pai__bits_ones(l->masks[i] & gpus) << (8 * i);
  return groups;
}

uint64_t pai__plan_groups_within(const pai__plan *p, uint32_t node,
                                 uint64_t gpus)
{
  const pai__plan_groups *l = pai__plan_groups_of(p, node);
  uint64_t some = 0;

  for (uint32_t i = 0; i < l->n; i++)
    if ((l->masks[i] & ~gpus) == 0)
      some |= UINT64_C(0xff) << (8 * i);
  return some;
}

/* --- the beginning -------------------------------------------------------- */

static int make_lines(pai__plan *p, const pai_sched *s)
{
  const pai__sched_cluster *cluster = s->cluster;
  uint32_t n =
    cluster->nnodes + cluster->nvcs * pai__sched_cluster_shares(cluster);

  pai__pool_clear(&p->steps);
  if (pai__flat_reset(&p->lines, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    const pai__free_capacity *capacity = pai__free_capacity_at(s, i);
    pai__plan_amount free = { pai__plan_groups_count(p, i, capacity->gpus),
                              capacity->memory, capacity->cpu_millis,
                              capacity->ports };

    if (pai__line_begin(p, i, &free) < 0)
      return PAI_ENOMEM;
  }
  for (uint32_t t = 0; t < cluster->nvcs; t++)
    for (uint32_t k = 0; k < cluster->vcs[t].nshares; k++) {
      uint64_t used = pai__shares_of(s, &s->shares_used, t)[k];
      pai__plan_amount free = { .memory = (int64_t)pai__share_most(s, t, k) -
                                          (int64_t)used };

      if (pai__line_begin(p, pai__share_line(s, t, k), &free) < 0)
        return PAI_ENOMEM;
    }
  return PAI_OK;
}

/* A run that is overdue or stopping may end at any moment. */
static pai_time end_of(const pai__plan *p, const pai_sched *s,
                       const pai__run *run)
{
  pai_time length = pai__plan_length(p, pai__req_at(s, run->req));
  pai_time end = pai__plan_end(run->since, length);

  if (run->state == PAI__RUN_STOPPING)
    return p->now + 1;
  if (run->state == PAI__RUN_CLAIMED)
    return pai__plan_end(p->now, length);
  return end > p->now ? end : p->now + 1;
}

static pai__plan_amount amount_of(const pai__want *w, uint64_t groups)
{
  return (pai__plan_amount){ groups, (int64_t)w->memory, w->cpu_millis,
                             (int32_t)w->ports };
}

/* Gives what a run holds back at its end. */
static int end_run(pai__plan *p, const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = pai__slots_of(s, run);
  pai_time end = end_of(p, s, run);

  for (uint32_t i = 0; i < run->tasks && end != PAI__NEVER; i++) {
    uint32_t node = slots[i].node;
    uint64_t gpus =
      run->state == PAI__RUN_CLAIMED
        ? slots[i].gpus
        : slots[i].gpus & ~pai__free_capacity_at(s, node)->promised;
    pai__plan_amount a =
      amount_of(&wants[slots[i].want], pai__plan_groups_count(p, node, gpus));

    if (pai__line_change(p, node, end, PAI__NEVER, &a, 1) < 0)
      return PAI_ENOMEM;
    for (uint32_t k = 0;
         k < pai__sched_vc_at(s, r->vc_index)->nshares && !run->borrowed;
         k++) {
      pai__plan_amount share = { .memory = (int64_t)pai__slot_share(
                                   s, &slots[i], &wants[slots[i].want], k) };

      if (share.memory != 0 &&
          pai__line_change(p, pai__share_line(s, r->vc_index, k), end,
                           PAI__NEVER, &share, 1) < 0)
        return PAI_ENOMEM;
    }
  }
  return PAI_OK;
}

int pai__plan_begin(pai__plan *p, const pai_sched *s, pai_time assumed,
                    bool fine)
{
  p->now = s->m.now;
  p->assumed = assumed;
  p->sites.len = 0;
  pai__plan_forget_rows(p);
  if (make_groups(p, s, fine) < 0 || make_lines(p, s) < 0)
    return PAI_ENOMEM;
  p->layout = layout_of(p) | 1; /* 0 is the layout of easy.c */
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (pai__run_holds(pai__run_at(s, i)) &&
        end_run(p, s, pai__run_at(s, i)) < 0)
      return PAI_ENOMEM;
  return PAI_OK;
}

/* --- taking places -------------------------------------------------------- */

static const pai__site *site_at(const pai__plan *p, uint32_t i)
{
  return (pai__site *)p->sites.data + i;
}

static int64_t site_share(const pai__plan *p, const pai_sched *s,
                          const pai__req *r, const pai__site *site,
                          uint32_t share)
{
  const pai__want *w = &pai__wants_of(s, r)[site->want];
  uint32_t nkinds = s->cluster->nkinds;
  uint64_t mask;

  if (share >= nkinds)
    return share == nkinds + PAI__SHARE_CPUS ? (int64_t)w->cpu_millis
                                             : (int64_t)w->memory;
  mask = pai__sched_sku_of(s->cluster, site->node)->kinds[share];
  return pai__plan_groups_sum(site->groups &
                              pai__plan_groups_within(p, site->node, mask));
}

static int64_t sites_share(const pai__plan *p, const pai_sched *s,
                           const pai__req *r, uint32_t share)
{
  int64_t sum = 0;

  for (uint32_t i = 0; i < p->sites.len; i++)
    sum += site_share(p, s, r, site_at(p, i), share);
  return sum;
}

static uint32_t shares_kept(const pai_sched *s, const pai__req *r)
{
  return pai__req_keeps_share(s, r) ? pai__sched_vc_at(s, r->vc_index)->nshares
                                    : 0;
}

/* Takes the first n sites (-1) or gives them back. */
static int change(pai__plan *p, const pai_sched *s, const pai__req *r,
                  uint32_t n, int sign)
{
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  const pai__want *wants = pai__wants_of(s, r);

  for (uint32_t i = 0; i < n; i++) {
    pai__plan_amount a =
      amount_of(&wants[site_at(p, i)->want], site_at(p, i)->groups);

    if (pai__line_change(p, site_at(p, i)->node, p->start, end, &a, sign) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

static int change_all(pai__plan *p, const pai_sched *s, uint32_t req, int sign)
{
  const pai__req *r = pai__req_at(s, req);
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));

  if (change(p, s, r, p->sites.len, sign) < 0)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < shares_kept(s, r); k++) {
    pai__plan_amount a = { .memory = sites_share(p, s, r, k) };

    if (a.memory != 0 &&
        pai__line_change(p, pai__share_line(s, r->vc_index, k), p->start, end,
                         &a, sign) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

int pai__plan_take(pai__plan *p, const pai_sched *s, uint32_t req)
{
  return change_all(p, s, req, -1);
}

/* True if a site is free for the whole length. */
static bool is_free(const pai__plan *p, const pai_sched *s, const pai__req *r,
                    const pai__site *site)
{
  const pai__want *w = &pai__wants_of(s, r)[site->want];
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  pai__plan_amount least;

  if (pai__free_capacity_at(s, site->node)->state != PAI_NODE_UP ||
      pai__sched_reservation_until(s, r, site->node, p->start, end) != 0)
    return false;
  least = pai__line_least(p, site->node, p->start, end);
  return pai__plan_groups_least(least.groups, site->groups) == site->groups &&
         (w->cpu_millis == 0 || least.cpu_millis >= (int64_t)w->cpu_millis) &&
         (w->memory == 0 || least.memory >= (int64_t)w->memory) &&
         (w->ports == 0 || least.ports >= (int64_t)w->ports);
}

/* Sites of one node are checked one after the other. */
static int are_free(pai__plan *p, const pai_sched *s, const pai__req *r)
{
  uint32_t i = 0, n = p->sites.len;
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  bool ok = true;
  int rc = PAI_OK;

  for (uint32_t k = 0; k < shares_kept(s, r); k++)
    if (pai__line_least(p, pai__share_line(s, r->vc_index, k), p->start, end)
          .memory < sites_share(p, s, r, k))
      return 0;
  if (n == 1)
    return is_free(p, s, r, site_at(p, 0));
  for (; i < n && ok; i++) {
    const pai__site *site = site_at(p, i);
    pai__plan_amount a =
      amount_of(&pai__wants_of(s, r)[site->want], site->groups);

    ok = is_free(p, s, r, site);
    if (!ok)
      break;
    if (pai__line_change(p, site->node, p->start, end, &a, -1) < 0)
      return PAI_ENOMEM;
  }
  rc = change(p, s, r, i, 1);
  return rc < 0 ? rc : ok;
}

/* Copies the hint to p->spare and p->start.  Returns PAI_OK or PAI_ENOMEM. */
static int read_hint(pai__plan *p, const pai__hint *hint)
{
  if (pai__flat_reset(&p->spare, &p->alloc, hint->n) < 0)
    return PAI_ENOMEM;
  memcpy(p->spare.data, hint->sites, hint->n * sizeof(*hint->sites));
  p->start = hint->start > p->now ? hint->start : p->now;
  return PAI_OK;
}

static int change_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                       int sign)
{
  pai__flat found = p->sites;
  int rc;

  p->sites = p->spare;
  rc = change_all(p, s, req, sign);
  p->sites = found;
  return rc;
}

int pai__plan_take_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint)
{
  int rc = pai__plan_holds(p, s, req, hint);

  if (rc <= 0)
    return rc;
  return change_hint(p, s, req, -1) < 0 ? PAI_ENOMEM : 1;
}

int pai__plan_give_hint(pai__plan *p, const pai_sched *s, uint32_t req,
                        const pai__hint *hint)
{
  pai__plan_forget_rows(p);
  return read_hint(p, hint) < 0 ? PAI_ENOMEM : change_hint(p, s, req, 1);
}

int pai__plan_holds(pai__plan *p, const pai_sched *s, uint32_t req,
                    const pai__hint *hint)
{
  pai__flat found = p->sites;
  int rc;

  if (read_hint(p, hint) < 0)
    return PAI_ENOMEM;
  p->sites = p->spare;
  rc = are_free(p, s, pai__req_at(s, req));
  p->sites = found;
  return rc;
}

/* --- starting ------------------------------------------------------------- */

/* Picks free GPUs for a site.  Returns false if there are too few. */
static bool pick(const pai__plan *p, const pai_sched *s, const pai__site *site,
                 uint64_t *gpus)
{
  const pai__free_capacity *capacity = pai__free_capacity_at(s, site->node);
  const pai__plan_groups *l = pai__plan_groups_of(p, site->node);
  const pai__sched_sku *b = pai__sched_sku_of(s->cluster, site->node);

  *gpus = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t n = site->groups >> (8 * i) & 0xff;
    uint64_t free = capacity->gpus & ~capacity->sick & l->masks[i];

    if (pai__bits_ones(free) < n)
      return false;
    *gpus |= pai__pick_gpus(b, free, n);
  }
  return true;
}

int pai__plan_start(const pai__plan *p, pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *wants = pai__wants_of(s, r);
  uint32_t n = p->sites.len;
  int rc;

  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < n; i++) {
    const pai__site *site = site_at(p, i);
    pai__slot slot = { .node = site->node, .want = site->want };

    if (!pick(p, s, site, &slot.gpus)) {
      pai__unfit(s, r, i);
      return 0;
    }
    ((pai__slot *)s->slots.data)[i] = slot;
    pai__free_capacity_count(pai__free_capacity_touch(s, site->node),
                             &wants[site->want], slot.gpus);
  }
  rc = pai__start(s, req, n);
  return rc < 0 ? pai__set_aside(s, req, rc) : 1;
}
