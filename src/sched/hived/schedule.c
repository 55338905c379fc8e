/* schedule.c - decides where a pod goes: bind, preempt, wait or refuse */
#include "sched/hived/engine.h"

typedef struct scheduling {
  pai__hived *h;
  const pai__hived_request *r;
  uint64_t pod;
  const uint64_t *suggested;
  int phase;
  pai__hived_result *result;
  uint32_t npods, nleaves;
} scheduling;

static int refuse(const scheduling *s, int kind)
{
  s->result->kind = PAI__HIVED_REFUSE;
  s->result->why.kind = kind;
  return PAI_OK;
}

/* --- pods of a known group ------------------------------------------------ */

static void tell_gang(const scheduling *s, uint32_t group)
{
  const pai__hived *h = s->h;
  const pai__hived_group *g = &h->groups[group];
  pai__hived_gang *gang = &s->result->gang;

  gang->members = (const pai__hived_member *)pai__words(h, g->sizes);
  gang->nmembers = g->nsizes;
  gang->nleaves = g->nleaves;
  gang->leaves = pai__words(h, g->physical);
  if (g->vcell != PAI__NOTHING)
    gang->vcell = pai__words(h, g->vcell);
  if (g->spots != PAI__NOTHING)
    gang->spots = (const pai__hived_spot *)pai__words(h, g->spots);
}

/* Finds the pod's size in the gang: sets result->first to its first leaf, and
 * *pods to the number of such pods. */
static pai__hived_sums find_size(const scheduling *s, uint32_t *pods)
{
  const pai__hived_gang *gang = &s->result->gang;
  pai__hived_sums at =
    pai__hived_before(gang->members, gang->nmembers, s->r->leaves);

  *pods = at.members < gang->nmembers ? gang->members[at.members].pods : 0;
  s->result->first = at.leaves;
  return at;
}

static int too_many(const scheduling *s, uint32_t pods)
{
  s->result->why.leaves = s->r->leaves;
  s->result->why.pods = pods;
  return refuse(s, PAI__WHY_TOO_MANY_PODS);
}

static int bind_next(const scheduling *s, uint32_t group)
{
  const pai__hived_slot *slots = pai__gang_slots(s->h, group);
  pai__hived_result *result = s->result;
  uint32_t slot, pods, index = 0;

  if (s->h->groups[group].was_preempted)
    pai__mend(s->h, PAI__MENDED_Q2);
  tell_gang(s, group);
  slot = find_size(s, &pods).pods;
  while (index < pods &&
         (slots[slot + index].low != 0 || slots[slot + index].high != 0))
    index++;
  if (index == pods)
    return too_many(s, pods);
  result->kind = PAI__HIVED_BIND;
  result->index = index;
  result->first += index * s->r->leaves;
  return PAI_OK;
}

/* True if a node of the placement is sick or not suggested.  Whether the group
 * ignores suggestions is not remembered. */
static bool is_unsuited(const scheduling *s, uint32_t group)
{
  const pai__hived *h = s->h;
  const pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++) {
    uint32_t node = h->pcells[h->pleaves[leaves[i]].cell].node;

    if (h->node_sick[node] || !pai__is_suggested(s->suggested, node))
      return true;
  }
  return false;
}

static void tell_victims(const scheduling *s)
{
  s->result->kind = s->h->s.ngroups > 0 ? PAI__HIVED_PREEMPT : PAI__HIVED_BIND;
  pai__groups_sort(s->h, s->h->s.groups, s->h->s.ngroups);
  s->result->groups = s->h->s.groups;
  s->result->ngroups = s->h->s.ngroups;
}

static int go_on_preempting(const scheduling *s, uint32_t group)
{
  pai__hived_result *result = s->result;
  uint32_t pods;

  tell_gang(s, group);
  (void)find_size(s, &pods);
  if (pods == 0)
    return too_many(s, 0);
  if (pai__scratch_reserve(s->h, 0, s->h->groups[group].nleaves) < 0 ||
      pai__gang_add_preempting(s->h, group, s->pod) < 0)
    return PAI_ENOMEM;
  tell_gang(s, group); /* The pool may have moved.  */
  pai__find_victims(s->h, result->gang.leaves, result->gang.nleaves);
  tell_victims(s);
  return PAI_OK;
}

/* --- new groups ----------------------------------------------------------- */

/* Lazily preempts groups that are in the way and allow it. */
static void preempt_lazily(const scheduling *s)
{
  pai__hived *h = s->h;
  uint32_t by = PAI__NOTHING;

  for (uint32_t i = 0; i < s->nleaves; i++) {
    uint32_t cell = h->vcells[h->s.vcell[i]].bound;
    const pai__pleaf *l;

    if (cell == PAI__NOTHING)
      continue;
    l = &h->pleaves[h->pcells[cell].leaf];
    if (l->state != PAI__LEAF_USED || !h->groups[l->user].lazy)
      continue;
    if (!l->guaranteed)
      pai__mend(h, PAI__MENDED_Q4);
    if (!l->guaranteed || h->groups[l->user].vcell == PAI__NOTHING)
      continue;
    if (by == PAI__NOTHING)
      by = pai__name_use(h, s->r->group, s->r->group_len);
    pai__lazy_try(h, l->user, by);
  }
  if (by != PAI__NOTHING)
    pai__name_drop(h, by);
}

static int place_guaranteed(const scheduling *s, uint32_t chain, uint32_t view)
{
  pai__hived *h = s->h;
  pai__hived_why *why = &s->result->why;
  pai__attempt a = { view, s->r->priority, NULL, s->npods, why };
  int rc;

  *why = (pai__hived_why){ .kind = PAI__WHY_NO_CELLS, .vc = s->r->vc };
  if (view == PAI__NOTHING)
    return PAI_ENOROOM;
  if (!s->r->ignores_suggested)
    a.suggested = s->suggested;
  if (!pai__pick(h, &a, h->s.vcell))
    return PAI_ENOROOM;
  preempt_lazily(s);
  rc = pai__map_cells(h, chain, s->nleaves, a.suggested);
  pai__lazy_settle(h, rc < 0);
  if (rc == PAI_ENOROOM) {
    why->kind = PAI__WHY_MAPPING;
    why->suggested = !s->r->ignores_suggested;
    why->nvirtual = s->nleaves;
  }
  return rc;
}

static int place_opportunistic(const scheduling *s, uint32_t chain)
{
  pai__hived *h = s->h;
  pai__hived_why *why = &s->result->why;
  pai__attempt a = { h->chains[chain].view, PAI__OPPORTUNISTIC, NULL, s->npods,
                     why };

  *why = (pai__hived_why){ .vc = PAI__NOTHING };
  if (!s->r->ignores_suggested)
    a.suggested = s->suggested;
  if (!pai__pick(h, &a, h->s.physical))
    return PAI_ENOROOM;
  for (uint32_t i = 0; i < s->nleaves; i++)
    h->s.physical[i] = h->pcells[h->s.physical[i]].leaf;
  return PAI_OK;
}

/* Tries the chains with leaf cells of a type.  Returns PAI_ENOTFOUND if the
 * virtual cluster has none of them. */
static int place_in_type(const scheduling *s, uint32_t type)
{
  const pai__hived *h = s->h;
  const pai__leaf_type *t = &h->leaf_types[type];
  int rc = PAI_ENOTFOUND;

  for (uint32_t i = 0;
       i < t->count && (rc == PAI_ENOTFOUND || rc == PAI_ENOROOM); i++) {
    uint32_t chain = h->type_chains[t->first + i], pair;

    if (s->r->priority < 0) {
      rc = place_opportunistic(s, chain);
      continue;
    }
    pair = pai__pair_of(h, s->r->vc, chain);
    if (pair != PAI__NOTHING && h->pairs[pair].view != PAI__NOTHING)
      rc = place_guaranteed(s, chain, h->pairs[pair].view);
  }
  return rc;
}

static int place(const scheduling *s)
{
  const pai__hived *h = s->h;
  const pai__hived_request *r = s->r;
  pai__hived_why last = { .kind = PAI__WHY_NOTHING };
  int rc = PAI_ENOROOM;

  if (r->pin != PAI__NOTHING) {
    const pai__hived_pin *pin = &h->pins[r->pin];

    return place_guaranteed(s, h->pcells[pin->cell].chain, pin->view);
  }
  if (r->leaf_type != PAI__NOTHING)
    return place_in_type(s, r->leaf_type);
  for (uint32_t i = 0; i < h->nleaf_types; i++) {
    if (h->leaf_types[i].type == PAI__NOTHING)
      break;
    rc = place_in_type(s, i);
    if (rc == PAI_OK || rc == PAI_ENOMEM)
      return rc;
    if (rc == PAI_ENOROOM)
      last = s->result->why;
  }
  s->result->why = last;
  return PAI_ENOROOM;
}

/* Returns what is wrong with the request itself, or PAI__WHY_NOTHING. */
static int misfit(const scheduling *s)
{
  const pai__hived_request *r = s->r;

  if (r->vc >= s->h->nvcs)
    return PAI__WHY_NO_VC;
  if (r->pin == PAI__HIVED_UNKNOWN)
    return PAI__WHY_NO_PIN;
  if (r->pin != PAI__NOTHING)
    return r->priority < 0 ? PAI__WHY_OPPORTUNISTIC_PIN : PAI__WHY_NOTHING;
  return r->leaf_type == PAI__HIVED_UNKNOWN ? PAI__WHY_NO_TYPE
                                            : PAI__WHY_NOTHING;
}

/* True if a virtual cluster owns cells with leaves of a type, besides pinned
 * ones. */
static bool owns(const pai__hived *h, uint32_t vc, uint32_t type)
{
  const pai__leaf_type *t = &h->leaf_types[type];

  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t pair = pai__pair_of(h, vc, h->type_chains[t->first + i]);

    if (pair != PAI__NOTHING && h->pairs[pair].view != PAI__NOTHING)
      return true;
  }
  return false;
}

int pai__hived_never(pai__hived *h, const pai__hived_request *r)
{
  int why = misfit(&(scheduling){ .h = h, .r = r });
  uint32_t type = 0;

  if (why != PAI__WHY_NOTHING || r->pin != PAI__NOTHING || r->priority < 0)
    return why;
  if (r->leaf_type != PAI__NOTHING)
    return owns(h, r->vc, r->leaf_type) ? PAI__WHY_NOTHING
                                        : PAI__WHY_VC_WITHOUT_TYPE;
  while (type < h->nleaf_types && h->leaf_types[type].type != PAI__NOTHING &&
         !owns(h, r->vc, type))
    type++;
  return type < h->nleaf_types && h->leaf_types[type].type != PAI__NOTHING
           ? PAI__WHY_NOTHING
           : PAI__WHY_VC_WITHOUT_TYPE;
}

static void tell_new(const scheduling *s)
{
  pai__hived *h = s->h;
  pai__hived_result *result = s->result;
  pai__hived_gang *gang = &result->gang;
  uint32_t pods;

  gang->members = s->r->members;
  gang->nmembers = s->r->nmembers;
  gang->nleaves = s->nleaves;
  gang->leaves = h->s.physical;
  gang->vcell = s->r->priority < 0 ? NULL : h->s.vcell;
  (void)find_size(s, &pods);
  for (uint32_t i = 0; i < s->nleaves; i++)
    h->s.types[i] = pai__hived_gang_type(h, gang, i);
  result->info = (pai__hived_info){ h->s.physical, h->s.types, NULL };
}

static void begin_preempting(const scheduling *s)
{
  pai__hived *h = s->h;
  size_t size = s->nleaves * sizeof(uint32_t);
  pai__hived_group *g;
  uint32_t group = pai__gang_add(h, s->r);

  g = &h->groups[group];
  g->state = PAI__GROUP_PREEMPTING;
  g->vcell = pai__hived_pool_take(h, s->nleaves);
  memcpy(pai__words(h, g->physical), h->s.physical, size);
  memcpy(pai__words(h, g->vcell), h->s.vcell, size);
  (void)pai__gang_add_preempting(h, group, s->pod);
  pai__preempt_begin(h, group);
}

static int schedule_new(scheduling *s)
{
  pai__hived *h = s->h;
  const pai__hived_request *r = s->r;
  pai__hived_sums all = pai__hived_before(r->members, r->nmembers, 0);
  int rc = misfit(s);
  uint32_t at = 0;

  if (rc != PAI__WHY_NOTHING)
    return refuse(s, rc);
  s->npods = all.pods;
  s->nleaves = all.leaves;
  if (pai__scratch_reserve(h, s->npods, s->nleaves) < 0 ||
      pai__gang_reserve(h, r) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < r->nmembers; i++)
    for (uint32_t k = 0; k < r->members[i].pods; k++)
      h->s.pods[at++] = r->members[i].leaves;
  rc = place(s);
  if (rc == PAI_ENOTFOUND && r->priority >= 0)
    return refuse(s, PAI__WHY_VC_WITHOUT_TYPE);
  if (rc == PAI_ENOROOM || rc == PAI_ENOTFOUND) {
    s->result->kind = PAI__HIVED_WAIT;
    return PAI_OK;
  }
  if (rc < 0)
    return rc;
  tell_new(s);
  pai__find_victims(h, h->s.physical, s->nleaves);
  tell_victims(s);
  if (s->phase != PAI__HIVED_PREEMPTING)
    return PAI_OK;
  pai__groups_sort(h, h->s.others, h->s.nothers);
  for (uint32_t i = 0; i < h->s.nothers; i++)
    pai__preempt_cancel(h, h->s.others[i]);
  if (h->s.ngroups > 0)
    begin_preempting(s);
  return PAI_OK;
}

int pai__hived_schedule(pai__hived *h, const pai__hived_request *r,
                        uint64_t pod, const uint64_t *suggested, int phase,
                        pai__hived_result *result)
{
  scheduling s = { .h = h,
                   .r = r,
                   .pod = pod,
                   .suggested = suggested,
                   .phase = phase,
                   .result = result };
  uint32_t group = pai__hived_find_group(h, r->group, r->group_len);

  *result = (pai__hived_result){ .kind = PAI__HIVED_WAIT };
  if (group == PAI__NOTHING)
    return schedule_new(&s);
  if (h->groups[group].state != PAI__GROUP_PREEMPTING)
    return bind_next(&s, group);
  if (phase != PAI__HIVED_PREEMPTING || !is_unsuited(&s, group))
    return go_on_preempting(&s, group);
  pai__preempt_cancel(h, group);
  return schedule_new(&s);
}
