/*
 * fit.c - finding places for a gang, or what it lacks
 *
 * Wants are placed one after the other.  Each task is counted as it is placed,
 * so that the next task does not find the same resources.  A try that fails is
 * undone before the next one.
 */
#include "sched/fit_node.h"
#include "sched/policy/guarantee.h"

#include "resource/bits.h"

void pai__unfit(pai_sched *s, const pai__req *r, uint32_t n)
{
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = s->slots.data;

  for (uint32_t i = 0; i < n; i++)
    pai__free_capacity_uncount(pai__free_capacity_touch(s, slots[i].node),
                               &wants[slots[i].want], slots[i].gpus);
}

void pai__fit_again(pai_sched *s, const pai__req *r, uint32_t n)
{
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = s->slots.data;

  for (uint32_t i = 0; i < n; i++)
    pai__free_capacity_count(pai__free_capacity_touch(s, slots[i].node),
                             &wants[slots[i].want], slots[i].gpus);
}

static uint32_t tasks_of(const pai__fitting *f, uint32_t want)
{
  return f->ask->tasks != NULL ? f->ask->tasks[want] : f->wants[want].tasks;
}

/* Places all wants.  Returns PAI__NONE, or the index of the want that lacks
 * something. */
static uint32_t place_all(pai__fitting *f, const pai__area *a)
{
  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (!pai__fit_want(f, a, w, tasks_of(f, w)))
      return w;
  return PAI__NONE;
}

/* --- shares --------------------------------------------------------------- */

uint64_t pai__share_left(const pai_sched *s, uint32_t vc_index, uint32_t share)
{
  const pai__sched_vc *t = pai__sched_vc_at(s, vc_index);
  uint64_t used, most;

  if (share >= t->nshares)
    return UINT64_MAX;
  used = pai__shares_of(s, &s->shares_used, vc_index)[share];
  most = pai__share_most(s, vc_index, share);
  return most > used ? most - used : 0;
}

uint64_t pai__share_taken(const pai_sched *s, const pai__req *r, uint32_t n,
                          uint32_t share)
{
  const pai__slot *slots = s->slots.data;
  const pai__want *wants = pai__wants_of(s, r);
  uint64_t taken = 0;

  for (uint32_t i = 0; i < n; i++)
    taken += pai__slot_share(s, &slots[i], &wants[slots[i].want], share);
  return taken;
}

/* Returns what all tasks of a request, or as few as possible, take of a share,
 * wherever they are placed.  GPUs of wants without a type count as 0 if there
 * are several kinds. */
static uint64_t share_wanted(const pai_sched *s, const pai__req *r,
                             uint32_t share, bool fewest)
{
  const pai__want *w = pai__wants_of(s, r);
  uint32_t nkinds = s->cluster->nkinds;
  uint64_t sum = 0;

  for (uint32_t i = 0; i < r->nwants; i++) {
    uint64_t each = share == nkinds + PAI__SHARE_CPUS     ? w[i].cpu_millis
                    : share == nkinds + PAI__SHARE_MEMORY ? w[i].memory
                    : w[i].type == share || nkinds == 1   ? w[i].gpus
                                                          : 0;

    sum += (fewest ? w[i].min_tasks : w[i].tasks) * each;
  }
  return sum;
}

uint64_t pai__share_least(const pai_sched *s, const pai__req *r,
                          uint32_t share)
{
  return share_wanted(s, r, share, true);
}

/* Returns what lacks when a share is used up; PAI_LACK_NOTHING for GPUs, which
 * most quotas are of. */
static uint32_t share_lack(const pai_sched *s, uint32_t share)
{
  uint32_t nkinds = s->cluster->nkinds;

  return share < nkinds                        ? PAI_LACK_NOTHING
         : share == nkinds + PAI__SHARE_MEMORY ? PAI_LACK_MEMORY
                                               : PAI_LACK_CPU;
}

bool pai__share_suffices(const pai_sched *s, const pai__req *r,
                         pai__sched_reason *reason)
{
  const pai__sched_vc *t = pai__sched_vc_at(s, r->vc_index);

  for (uint32_t k = 0; t->parted && k < t->nshares; k++) {
    uint64_t wanted = share_wanted(s, r, k, false);
    uint64_t left = pai__share_left(s, r->vc_index, k);

    if (wanted <= left)
      continue;
    *reason = pai__no_reason;
    reason->lack = PAI_LACK_QUOTA;
    reason->of = share_lack(s, k);
    reason->wanted = wanted;
    reason->found = left;
    return false;
  }
  return true;
}

/* Returns whether the placed tasks keep to the share.  If not, the reason says
 * which share lacks. */
static bool keeps_share(pai__fitting *f)
{
  pai_sched *s = f->s;
  const pai__sched_vc *t = pai__sched_vc_at(s, f->req->vc_index);

  if (!pai__req_is_bound(s, f->req, f->ask->beyond_share))
    return true;
  for (uint32_t k = 0; k < t->nshares; k++) {
    uint64_t left =
      f->ask->ideal ? t->shares[k] : pai__share_left(s, f->req->vc_index, k);
    uint64_t taken = pai__share_taken(s, f->req, f->placed, k);

    if (f->ask->part != NULL && f->ask->part[k] < left)
      left = f->ask->part[k];
    if (taken > left) {
      f->reason->lack = PAI_LACK_QUOTA;
      f->reason->of = share_lack(s, k);
      f->reason->wanted = taken;
      f->reason->found = left;
      return false;
    }
  }
  return true;
}

/* --- areas ---------------------------------------------------------------- */

/* Tries to place the gang in an area.  Undoes what was placed if it fails. */
static bool try_area(pai__fitting *f, const pai__area *a, bool tell)
{
  uint32_t want;

  f->placed = 0;
  want = place_all(f, a);
  if (want == PAI__NONE && keeps_share(f))
    return true;
  if (want != PAI__NONE && tell)
    pai__fit_reason(f, a, want);
  pai__unfit(f->s, f->req, f->placed);
  f->placed = 0;
  return false;
}

static uint32_t nodes_placed(const pai__fitting *f)
{
  const pai__slot *slots = f->s->slots.data;
  uint32_t n = 0;

  /* Tasks of a want on one node are adjacent. */
  for (uint32_t i = 0; i < f->placed; i++)
    n += i == 0 || slots[i].node != slots[i - 1].node;
  return n;
}

static pai__area rack(const pai__fitting *f, uint32_t r)
{
  const pai__sched_cluster *cluster = f->s->cluster;

  return (pai__area){ cluster->by_rack + cluster->rack_first[r],
                      cluster->rack_first[r + 1] - cluster->rack_first[r],
                      UINT64_MAX };
}

/* Estimates, from one look at each node, whether an area has room for the
 * gang. */
static bool has_room(const pai__fitting *f, const pai__area *a)
{
  uint32_t left = tasks_of(f, 0), fits, lack;
  uint64_t free;

  if (f->req->nwants != 1)
    return true;
  for (uint32_t i = 0; i < a->n && left != 0; i++) {
    fits = pai__fit_capacity(f, f->wants, pai__area_node(a, i), a->mask, &free,
                             &lack);
    left = fits < left ? left - fits : 0;
  }
  return left == 0;
}

/* Places the gang in the rack where it needs the fewest nodes, and fewer than
 * `below`.  Stops searching at a rack that needs `least` nodes. */
static bool try_racks(pai__fitting *f, uint32_t below, uint32_t least)
{
  uint32_t best = PAI__NONE;

  for (uint32_t r = 0; r < f->s->cluster->nracks && below > least; r++) {
    pai__area a = rack(f, r);

    if ((f->node != PAI__NONE && f->s->cluster->nodes[f->node].rack != r) ||
        !has_room(f, &a) || !try_area(f, &a, false))
      continue;
    if (nodes_placed(f) < below) {
      below = nodes_placed(f);
      best = r;
    }
    pai__unfit(f->s, f->req, f->placed);
  }
  if (best == PAI__NONE)
    return false;
  return try_area(
    f, &(pai__area){ rack(f, best).nodes, rack(f, best).n, UINT64_MAX },
    false);
}

/* Returns whether some want alone has no room on a node for all its tasks. */
static bool hopeless(const pai__fitting *f, uint32_t node, uint64_t mask)
{
  uint64_t free;
  uint32_t lack;

  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (tasks_of(f, w) != 0 &&
        pai__fit_capacity(f, &f->wants[w], node, mask, &free, &lack) <
          tasks_of(f, w))
      return true;
  return false;
}

/* Places the gang on the fullest node with room for all of it. */
static bool try_nodes(pai__fitting *f)
{
  pai__area all = { NULL, f->s->cluster->nnodes, UINT64_MAX };
  uint32_t best = PAI__NONE, most = UINT32_MAX;

  if (f->node != PAI__NONE)
    return try_area(f, &(pai__area){ &f->node, 1, UINT64_MAX }, false);
  for (pai__walk x = pai__walk_begin(f, &all, 0);
       pai__walk_next(f, &all, &x);) {
    pai__area a = { &x.node, 1, UINT64_MAX };
    uint32_t free =
      f->ask->strategy != PAI_PLACE_FIRST
        ? pai__bits_ones(pai__free_capacity_at(f->s, x.node)->gpus)
        : 0;

    if (free > most || (free == most && x.node > best) ||
        hopeless(f, x.node, UINT64_MAX) || !try_area(f, &a, false))
      continue;
    pai__unfit(f->s, f->req, f->placed);
    most = free;
    best = x.node;
  }
  return best != PAI__NONE &&
         try_area(f, &(pai__area){ &best, 1, UINT64_MAX }, false);
}

/* Places the gang on one node; else in one rack, unless fewer nodes are needed
 * without that. */
static bool try_near(pai__fitting *f, const pai__area *all)
{
  uint32_t nodes;

  if (try_nodes(f))
    return true;
  if (f->s->cluster->nracks < 2 || !try_area(f, all, false))
    return false;
  nodes = nodes_placed(f);
  pai__unfit(f->s, f->req, f->placed);
  /* Equal tasks have got the fewest nodes possible if any node is allowed. */
  return try_racks(f, nodes + 1, f->req->nwants == 1 ? nodes : 0);
}

/* Tries the groups of that locality level of a node. */
static bool try_groups_of(pai__fitting *f, uint32_t node, const char *name)
{
  const pai__sched_sku *b = pai__sched_sku_of(f->s->cluster, node);

  for (uint32_t i = 0; i < b->nlocalities; i++) {
    uint32_t size = b->localities[i].gpus;

    if (strcmp(b->localities[i].name, name) != 0)
      continue;
    for (uint32_t at = 0; at < b->gpus; at += size) {
      uint32_t end = at + size < b->gpus ? at + size : b->gpus;
      pai__area a = { &node, 1, pai__bits_mask(at, end - 1) };

      if (f->gpus != 0 && (f->gpus & a.mask) == 0)
        continue;
      if (!hopeless(f, node, a.mask) && try_area(f, &a, false))
        return true;
    }
  }
  return false;
}

static bool try_within(pai__fitting *f, const char *within)
{
  if (strcmp(within, "node") == 0)
    return try_nodes(f);
  if (strcmp(within, "rack") == 0)
    return try_racks(f, UINT32_MAX, 0);
  for (uint32_t i = 0; i < f->s->cluster->nnodes; i++)
    if ((f->node == PAI__NONE || f->node == i) && try_groups_of(f, i, within))
      return true;
  return false;
}

/* --- gang ----------------------------------------------------------------- */

static bool try_all(pai__fitting *f)
{
  const pai__sched_cluster *cluster = f->s->cluster;
  const char *within = pai__texts_text(&f->s->names, f->req->within);
  pai__area all = { NULL, cluster->nnodes, UINT64_MAX };

  if (within != NULL) {
    if (try_within(f, within))
      return true;
    /* See whether more than locality lacks. */
    if (try_area(f, &all, true)) {
      pai__unfit(f->s, f->req, f->placed);
      *f->reason = (pai__sched_reason){ .lack = PAI_LACK_TOPOLOGY,
                                        .tasks = f->total,
                                        .node = PAI__NONE,
                                        .text = f->req->within };
      f->reason->failed[PAI_LACK_TOPOLOGY] = cluster->nnodes;
    }
    return false;
  }
  if (f->ask->strategy == PAI_PLACE_TOPO && f->total > 1 && try_near(f, &all))
    return true;
  return try_area(f, &all, true);
}

static bool has_open_want(const pai__fitting *f)
{
  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (f->wants[w].type == PAI__NONE && f->wants[w].gpus != 0)
      return true;
  return false;
}

/* Places the gang with one kind of GPUs for all wants without a type: the
 * first kind that has room.  The reason is that of the kind that came
 * nearest. */
static bool try_kinds(pai__fitting *f)
{
  pai__sched_reason *reason = f->reason, nearest = { 0 };
  uint32_t failed[PAI_LACKS] = { 0 };

  if (f->kind != PAI__NONE || f->s->cluster->nkinds < 2 || !has_open_want(f))
    return try_all(f);
  f->reason = &f->of_kind;
  for (f->kind = 0; f->kind < f->s->cluster->nkinds; f->kind++) {
    f->of_kind = (pai__sched_reason){ .node = PAI__NONE, .text = PAI__NONE };
    if (try_all(f))
      return true;
    if (pai__fit_nearer(&f->of_kind, &nearest))
      nearest = f->of_kind;
    for (uint32_t l = 0; l < PAI_LACKS; l++)
      failed[l] += f->of_kind.failed[l];
  }
  pai__fit_count_kinds(f, &nearest, failed);
  *reason = nearest;
  return false;
}

/* Restricts the rest of a gang to the node and kind of GPUs that it has
 * already. */
static void keep_together(pai__fitting *f, const pai__run *run)
{
  const pai__sched_cluster *cluster = f->s->cluster;
  const pai__slot *slots = pai__slots_of(f->s, run);

  f->node = slots[0].node;
  for (uint32_t i = 0; i < run->tasks; i++) {
    const uint64_t *kinds = pai__sched_sku_of(cluster, slots[i].node)->kinds;

    if (slots[i].node == f->node)
      f->gpus |= slots[i].gpus;
    if (slots[i].gpus == 0 || f->wants[slots[i].want].type != PAI__NONE)
      continue;
    f->kind = 0;
    while (f->kind + 1 < cluster->nkinds && !(kinds[f->kind] & slots[i].gpus))
      f->kind++;
  }
}

int pai__fit_gang(pai_sched *s, const pai__ask *ask, uint32_t *n,
                  pai__sched_reason *reason)
{
  const pai__req *r = pai__req_at(s, ask->req);
  pai__fitting f = { .s = s,
                     .ask = ask,
                     .req = r,
                     .wants = pai__wants_of(s, r),
                     .pin = PAI__NONE,
                     .node = PAI__NONE,
                     .kind = PAI__NONE,
                     .reason = reason };

  *reason = (pai__sched_reason){ .node = PAI__NONE, .text = PAI__NONE };
  for (uint32_t w = 0; w < r->nwants; w++)
    f.total += tasks_of(&f, w);
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, f.total) < 0)
    return PAI_ENOMEM;
  if (r->pin != PAI__NONE) {
    f.pin =
      pai__sched_cluster_pin(s->cluster, pai__texts_text(&s->names, r->pin));
    if (f.pin == PAI__NONE) {
      reason->lack = PAI_LACK_PIN;
      reason->failed[PAI_LACK_PIN] = s->cluster->nnodes;
      return 0;
    }
  }
  if (ask->beside != NULL)
    keep_together(&f, ask->beside);
  if (!try_kinds(&f))
    return 0;
  *n = f.placed;
  return 1;
}
