/* plan.c - a plan begins with what runs, and what is found in it is taken */
#include "sched/plan.h"

#include "resource/bits.h"
#include "sched/guarantee.h"

void pai__plan_init(pai__plan *p, const pai_alloc *alloc)
{
  *p = (pai__plan){ .alloc = *alloc };
  pai__pool_init(&p->steps);
  pai__flat_init(&p->lines, sizeof(pai__line));
  pai__flat_init(&p->lots, sizeof(pai__lots));
  pai__flat_init(&p->rooms, sizeof(pai__room));
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
  pai__flat *list[] = { &p->steps.words, &p->lines,        &p->lots,
                        &p->rooms,       &p->used,         &p->rows,
                        &p->row_list,    &p->row_of.slots, &p->sites,
                        &p->spare,       &p->nodes };

  for (size_t i = 0; i < PAI__LEN(list); i++)
    pai__flat_dispose(list[i], &p->alloc);
}

pai_time pai__plan_length(const pai__plan *p, const pai__req *r)
{
  pai_time length = pai__req_length(r);

  length = length != 0 ? length : p->assumed;
  return length != 0 ? length : PAI__NEVER;
}

/* --- lots ----------------------------------------------------------------- */

/* Those within the mask and those outside are told apart.  Where there would be
 * too many they are not, and who needs it finds none. */
static void divide(pai__lots *l, uint64_t mask)
{
  for (uint32_t i = 0, n = l->n; i < n && l->n < PAI__LOTS; i++) {
    uint64_t inside = l->masks[i] & mask, outside = l->masks[i] & ~mask;

    if (inside != 0 && outside != 0) {
      l->masks[i] = inside;
      l->masks[l->n++] = outside;
    }
  }
}

static void divide_by_nearness(pai__plan *p, const pai_sched *s,
                               uint32_t build, const pai__near *near)
{
  const pai__build *b = &s->park->builds[build];

  for (uint32_t node = 0; node < s->park->nspots; node++)
    for (uint32_t at = 0; s->park->spots[node].build == build && at < b->gpus;
         at += near->gpus) {
      uint32_t end = at + near->gpus < b->gpus ? at + near->gpus : b->gpus;

      divide((pai__lots *)p->lots.data + node, pai__bits_mask(at, end - 1));
    }
}

/* Sick GPUs are in none. */
static void begin_lots(const pai__plan *p, const pai_sched *s, uint32_t node)
{
  const pai__build *b = pai__build_of(s->park, node);
  pai__lots *l = (pai__lots *)p->lots.data + node;

  *l = (pai__lots){ .masks = { b->all & ~pai__room_at(s, node)->sick },
                    .kind = PAI__NONE };
  l->n = l->masks[0] != 0;
  for (uint32_t k = 0; k < s->park->nkinds; k++) {
    divide(l, b->kinds[k]);
    if (b->kinds[k] == b->all && b->all != 0)
      l->kind = k;
  }
}

static int make_lots(pai__plan *p, const pai_sched *s, bool fine)
{
  const pai__park *park = s->park;

  p->lots.len = 0;
  if (pai__flat_reserve(&p->lots, &p->alloc, park->nspots) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->lots, park->nspots);
  p->plain = true;
  for (uint32_t i = 0; i < park->nspots; i++) {
    begin_lots(p, s, i);
    if (pai__lots_of(p, i)->kind == PAI__NONE &&
        pai__build_of(park, i)->all != 0)
      p->plain = false;
  }
  for (uint32_t i = 0; i < park->npins; i++)
    for (uint32_t k = 0; k < park->pins[i].count; k++) {
      const pai__part *part = &park->parts[park->pins[i].first + k];

      divide((pai__lots *)p->lots.data + part->node, part->gpus);
    }
  for (uint32_t b = 0; b < park->nbuilds; b++)
    for (uint32_t k = 0; k < park->builds[b].nnear && fine; k++)
      divide_by_nearness(p, s, b, &park->builds[b].near[k]);
  return PAI_OK;
}

static uint64_t layout_of(const pai__plan *p)
{
  uint64_t h = p->lots.len;

  for (uint32_t i = 0; i < p->lots.len; i++) {
    const pai__lots *l = pai__lots_of(p, i);

    for (uint32_t k = 0; k < l->n; k++) {
      h = (h ^ l->masks[k]) * UINT64_C(0xff51afd7ed558ccd);
      h ^= h >> 32;
    }
  }
  return h;
}

uint64_t pai__lots_count(const pai__plan *p, uint32_t node, uint64_t gpus)
{
  const pai__lots *l = pai__lots_of(p, node);
  uint64_t lots = 0;

  for (uint32_t i = 0; i < l->n; i++)
    lots |= (uint64_t)pai__bits_ones(l->masks[i] & gpus) << (8 * i);
  return lots;
}

uint64_t pai__lots_within(const pai__plan *p, uint32_t node, uint64_t gpus)
{
  const pai__lots *l = pai__lots_of(p, node);
  uint64_t some = 0;

  for (uint32_t i = 0; i < l->n; i++)
    if ((l->masks[i] & ~gpus) == 0)
      some |= UINT64_C(0xff) << (8 * i);
  return some;
}

/* --- the beginning -------------------------------------------------------- */

static int make_lines(pai__plan *p, const pai_sched *s)
{
  const pai__park *park = s->park;
  uint32_t n = park->nspots + park->ntenants * pai__park_shares(park);

  pai__pool_clear(&p->steps);
  p->lines.len = 0;
  if (pai__flat_reserve(&p->lines, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->lines, n);
  for (uint32_t i = 0; i < park->nspots; i++) {
    const pai__room *room = pai__room_at(s, i);
    pai__amount free = { pai__lots_count(p, i, room->gpus), room->memory,
                         room->cpus, room->ports };

    if (pai__line_begin(p, i, &free) < 0)
      return PAI_ENOMEM;
  }
  for (uint32_t t = 0; t < park->ntenants; t++)
    for (uint32_t k = 0; k < park->tenants[t].nshares; k++) {
      uint64_t used = pai__shares_of(s, &s->shares_used, t)[k];
      pai__amount free = { .memory = (int64_t)pai__share_most(s, t, k) -
                                     (int64_t)used };

      if (pai__line_begin(p, pai__share_line(s, t, k), &free) < 0)
        return PAI_ENOMEM;
    }
  return PAI_OK;
}

/* What has run longer than it was to may end at any moment, and so may what is
 * asked to stop. */
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

static pai__amount amount_of(const pai__want *w, uint64_t lots)
{
  return (pai__amount){ lots, (int64_t)w->memory, (int32_t)w->cpus,
                        (int32_t)w->ports };
}

/* What it holds is free at its end. */
static int end_run(pai__plan *p, const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = pai__slots_of(s, run);
  pai_time end = end_of(p, s, run);

  for (uint32_t i = 0; i < run->tasks && end != PAI__NEVER; i++) {
    uint32_t node = slots[i].node;
    uint64_t gpus = run->state == PAI__RUN_CLAIMED
                      ? slots[i].gpus
                      : slots[i].gpus & ~pai__room_at(s, node)->promised;
    pai__amount a =
      amount_of(&wants[slots[i].want], pai__lots_count(p, node, gpus));

    if (pai__line_change(p, node, end, PAI__NEVER, &a, 1) < 0)
      return PAI_ENOMEM;
    for (uint32_t k = 0;
         k < pai__tenant_at(s, r->tenant)->nshares && !run->borrowed; k++) {
      pai__amount share = { .memory = (int64_t)pai__slot_share(
                              s, &slots[i], &wants[slots[i].want], k) };

      if (share.memory != 0 &&
          pai__line_change(p, pai__share_line(s, r->tenant, k), end,
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
  if (make_lots(p, s, fine) < 0 || make_lines(p, s) < 0)
    return PAI_ENOMEM;
  p->layout = layout_of(p) | 1; /* 0 is that of easy.c */
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (pai__run_holds(pai__run_at(s, i)) &&
        end_run(p, s, pai__run_at(s, i)) < 0)
      return PAI_ENOMEM;
  return PAI_OK;
}

/* --- taking --------------------------------------------------------------- */

static const pai__site *site_at(const pai__plan *p, uint32_t i)
{
  return (pai__site *)p->sites.data + i;
}

/* What a site takes of a share. */
static int64_t site_share(const pai__plan *p, const pai_sched *s,
                          const pai__req *r, const pai__site *site,
                          uint32_t share)
{
  const pai__want *w = &pai__wants_of(s, r)[site->want];
  uint32_t nkinds = s->park->nkinds;
  uint64_t mask;

  if (share >= nkinds)
    return share == nkinds + PAI__SHARE_CPUS ? (int64_t)w->cpus
                                             : (int64_t)w->memory;
  mask = pai__build_of(s->park, site->node)->kinds[share];
  return pai__lots_sum(site->lots & pai__lots_within(p, site->node, mask));
}

/* And all of them. */
static int64_t sites_share(const pai__plan *p, const pai_sched *s,
                           const pai__req *r, uint32_t share)
{
  int64_t sum = 0;

  for (uint32_t i = 0; i < p->sites.len; i++)
    sum += site_share(p, s, r, site_at(p, i), share);
  return sum;
}

/* How many shares it has to keep to. */
static uint32_t shares_kept(const pai_sched *s, const pai__req *r)
{
  return pai__req_keeps_share(s, r) ? pai__tenant_at(s, r->tenant)->nshares
                                    : 0;
}

/* The first n of the sites, and the share, are taken (-1) or given back. */
static int change(pai__plan *p, const pai_sched *s, const pai__req *r,
                  uint32_t n, int sign)
{
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  const pai__want *wants = pai__wants_of(s, r);

  for (uint32_t i = 0; i < n; i++) {
    pai__amount a =
      amount_of(&wants[site_at(p, i)->want], site_at(p, i)->lots);

    if (pai__line_change(p, site_at(p, i)->node, p->start, end, &a, sign) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

/* All of them, and the shares. */
static int change_all(pai__plan *p, const pai_sched *s, uint32_t req, int sign)
{
  const pai__req *r = pai__req_at(s, req);
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));

  if (change(p, s, r, p->sites.len, sign) < 0)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < shares_kept(s, r); k++) {
    pai__amount a = { .memory = sites_share(p, s, r, k) };

    if (a.memory != 0 && pai__line_change(p, pai__share_line(s, r->tenant, k),
                                          p->start, end, &a, sign) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

int pai__plan_take(pai__plan *p, const pai_sched *s, uint32_t req)
{
  return change_all(p, s, req, -1);
}

/* Is a site free at the start, for the whole length? */
static bool is_free(const pai__plan *p, const pai_sched *s, const pai__req *r,
                    const pai__site *site)
{
  const pai__want *w = &pai__wants_of(s, r)[site->want];
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  pai__amount least;

  if (pai__room_at(s, site->node)->state != PAI_NODE_UP ||
      pai__kept_until(s, r, site->node, p->start, end) != 0)
    return false;
  least = pai__line_least(p, site->node, p->start, end);
  return pai__lots_least(least.lots, site->lots) == site->lots &&
         (w->cpus == 0 || least.cpus >= (int64_t)w->cpus) &&
         (w->memory == 0 || least.memory >= (int64_t)w->memory) &&
         (w->ports == 0 || least.ports >= (int64_t)w->ports);
}

/* Those of one node one after the other. */
static int are_free(pai__plan *p, const pai_sched *s, const pai__req *r)
{
  uint32_t i = 0, n = p->sites.len;
  pai_time end = pai__plan_end(p->start, pai__plan_length(p, r));
  bool ok = true;
  int rc = PAI_OK;

  for (uint32_t k = 0; k < shares_kept(s, r); k++)
    if (pai__line_least(p, pai__share_line(s, r->tenant, k), p->start, end)
          .memory < sites_share(p, s, r, k))
      return 0;
  if (n == 1)
    return is_free(p, s, r, site_at(p, 0));
  for (; i < n && ok; i++) {
    const pai__site *site = site_at(p, i);
    pai__amount a = amount_of(&pai__wants_of(s, r)[site->want], site->lots);

    ok = is_free(p, s, r, site);
    if (!ok)
      break;
    if (pai__line_change(p, site->node, p->start, end, &a, -1) < 0)
      return PAI_ENOMEM;
  }
  rc = change(p, s, r, i, 1);
  return rc < 0 ? rc : ok;
}

/* What it says is in p->spare and p->start.  PAI_OK or PAI_ENOMEM. */
static int read_hint(pai__plan *p, const pai__hint *hint)
{
  p->spare.len = 0;
  if (pai__flat_reserve(&p->spare, &p->alloc, hint->n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->spare, hint->n);
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

/* Which GPUs a site gets of those that are free; false: too few are. */
static bool pick(const pai__plan *p, const pai_sched *s, const pai__site *site,
                 uint64_t *gpus)
{
  const pai__room *room = pai__room_at(s, site->node);
  const pai__lots *l = pai__lots_of(p, site->node);
  const pai__build *b = pai__build_of(s->park, site->node);

  *gpus = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t n = site->lots >> (8 * i) & 0xff;
    uint64_t free = room->gpus & ~room->sick & l->masks[i];

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
    pai__room_count(pai__room_touch(s, site->node), &wants[site->want],
                    slot.gpus);
  }
  rc = pai__start(s, req, n);
  return rc < 0 ? pai__set_aside(s, req, rc) : 1;
}
