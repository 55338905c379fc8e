/*
 * policy.c - HiveD as a policy of the scheduler
 *
 * HiveD's engine chooses the GPUs and who has to go.  CPUs, memory, ports and
 * reservations are what Kubernetes' scheduler looks at beside it: nodes that
 * lack these are not suggested.  Tasks without GPUs have no cells; they go where
 * there is room.
 */
#include "sched/hived/bridge.h"

#include "resource/bits.h"
#include "sched/event.h"
#include "sched/fit.h"
#include "sched/walk.h"

/* --- life ----------------------------------------------------------------- */

static int open_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options)
{
  pai__bridge *g;
  int rc;

  (void)data;
  (void)cluster;
  if (strcmp(options, "{}") != 0)
    return host->give_up(host, PAI_EINVAL, "policy 'hived' has no options");
  rc = pai__bridge_new(&g, host, NULL);
  host->sched->own_shares = true;
  *state = g;
  return rc;
}

static void close_hived(void *state)
{
  pai__bridge_free(state);
}

static int clone_hived(void **copy, const void *state, void *data,
                       const pai_policy_host *host)
{
  pai__bridge *g;
  int rc = pai__bridge_clone(&g, state, &host->sched->alloc);

  (void)data;
  host->sched->own_shares = true;
  *copy = g;
  return rc;
}

static int save_hived(const void *state, void *data, pai_write_cb write,
                      void *user_data)
{
  const pai__bridge *g = state;
  pai__buf out;
  int rc;

  (void)data;
  pai__buf_init(&out, &g->alloc);
  rc = pai__bridge_save(g, &out);
  if (rc == PAI_OK)
    rc = write(user_data, out.data, out.len);
  pai__buf_dispose(&out);
  return rc;
}

static int load_hived(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options,
                      const char *saved, size_t len)
{
  pai__bridge *g;
  int rc = pai__bridge_load(&g, host, saved, len);

  (void)data;
  (void)cluster;
  (void)options;
  host->sched->own_shares = true;
  *state = g;
  return rc;
}

/* --- events --------------------------------------------------------------- */

/* All of it anew: what runs keeps its cells as far as they are there. */
static int on_cluster(pai__bridge *g, const pai_policy_host *host)
{
  pai__bridge *fresh, old;
  int rc = pai__bridge_new(&fresh, host, g);

  if (rc < 0)
    return rc;
  old = *g;
  *g = *fresh;
  *fresh = old;
  pai__bridge_free(fresh);
  return PAI_OK;
}

/* It has fewer tasks than it had, in the same cells. */
static int on_resized(pai__bridge *g, const pai_sched *s,
                      const pai_sched_event *e)
{
  uint32_t req = pai__req_find(s, e->id), run = PAI__NONE;

  pai__bridge_drop(g, e->id, e->instance);
  if (req != PAI__NONE)
    run = pai__run_find(s, req, e->instance);
  return run != PAI__NONE && pai__run_at(s, run)->state >= PAI__RUN_PLACED
           ? pai__bridge_bind(g, s, run, NULL, NULL)
           : PAI_OK;
}

static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *e)
{
  pai__bridge *g = state;

  (void)data;
  switch (e->kind) {
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_RETURNED: pai__bridge_drop(g, e->id, e->instance); break;
  case PAI_SCHED_CANCEL:
  case PAI_SCHED_CHANGE: pai__bridge_forget(g, e->id); break;
  case PAI_SCHED_NODE:
    pai__bridge_see_node(g, host->sched,
                         pai__park_node(host->sched->park, e->node));
    break;
  case PAI_SCHED_RESIZED: return on_resized(g, host->sched, e);
  case PAI_SCHED_CLUSTER: return on_cluster(g, host);
  default: break;
  }
  return PAI_OK;
}

/* --- one gang ------------------------------------------------------------- */

typedef struct placing {
  pai__bridge *g;
  const pai_policy_host *host;
  pai_sched *s;
  uint32_t req;
  uint32_t instance;
  pai__bridge_name name;
  pai__hived_request q;
  pai__hived_result result;
  bool all; /* every node was suggested */
} placing;

/* The instance that begins next: one that waits again goes first. */
static uint32_t next_instance(const pai_sched *s, const pai__req *r)
{
  uint32_t run = r->runs;

  if (r->returned == 0)
    return r->next;
  while (pai__run_at(s, run)->state != PAI__RUN_RETURNED)
    run = pai__run_at(s, run)->next;
  return pai__run_at(s, run)->instance;
}

static pai__beside beside_of(const pai__room *room)
{
  return (pai__beside){ room->memory, room->cpus, room->ports };
}

static bool has_beside(const pai__beside *b, const pai__want *w)
{
  return b->cpus >= w->cpus && b->memory >= (int64_t)w->memory &&
         b->ports >= w->ports;
}

/* What less important ones have there, and those that stop anyway: in phase
 * Preempting Kubernetes suggests nodes where it would be enough without them. */
static void add_preemptible(const placing *p, const pai__req *r)
{
  const pai_sched *s = p->s;
  pai__beside *all = p->g->beside.data;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots;
    const pai__req *of;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    of = pai__req_at(s, run->req);
    if (of->priority >= r->priority && run->state != PAI__RUN_STOPPING)
      continue;
    slots = pai__slots_of(s, run);
    for (uint32_t k = 0; k < run->tasks; k++) {
      const pai__want *w = &pai__wants_of(s, of)[slots[k].want];

      all[slots[k].node].memory += (int64_t)w->memory;
      all[slots[k].node].cpus += w->cpus;
      all[slots[k].node].ports += w->ports;
    }
  }
}

/* May one task of each want that has GPUs be on the node, its GPUs apart? */
static bool is_suggested(const placing *p, const pai__req *r, uint32_t node)
{
  const pai__beside *b = (const pai__beside *)p->g->beside.data + node;
  const pai__want *w = pai__wants_of(p->s, r);

  if (pai__req_node_lack(p->s, r, node) == PAI_LACK_RESERVATION)
    return false;
  for (uint32_t i = 0; i < r->nwants; i++)
    if (w[i].gpus != 0 && !has_beside(b, &w[i]))
      return false;
  return true;
}

/* The nodes, as HiveD numbers them; p->all if it may be any.  PAI_ENOMEM. */
static int suggest(placing *p, int phase)
{
  pai__bridge *g = p->g;
  const pai__req *r = pai__req_at(p->s, p->req);
  uint32_t words = PAI__BITS_WORDS((uint32_t)g->banks->cluster->nnodes) + 1;
  uint32_t nodes = p->s->park->nspots;

  p->all = true;
  g->suggested.len = g->beside.len = 0;
  if (pai__flat_reserve(&g->suggested, &g->alloc, words) < 0 ||
      pai__flat_reserve(&g->beside, &g->alloc, nodes) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&g->suggested, words);
  (void)pai__flat_push(&g->beside, nodes);
  for (uint32_t i = 0; i < nodes; i++)
    ((pai__beside *)g->beside.data)[i] = beside_of(pai__room_at(p->s, i));
  if (phase == PAI__HIVED_PREEMPTING)
    add_preemptible(p, r);
  for (uint32_t i = 0; i < nodes; i++) {
    uint32_t own = ((uint32_t *)g->banks->nodes.data)[i];

    if (own == PAI__NONE)
      continue;
    if (is_suggested(p, r, i))
      pai__bits_set(g->suggested.data, own, own);
    else
      p->all = false;
  }
  return PAI_OK;
}

static int ask(placing *p, int phase)
{
  int rc = suggest(p, phase);

  if (rc < 0)
    return rc;
  return pai__hived_schedule(
    p->g->engine, &p->q,
    pai__bridge_pod(pai__req_at(p->s, p->req)->id, p->instance, 0),
    p->all ? NULL : p->g->suggested.data, phase, &p->result);
}

/* Where a task's leaves are; they are on one node. */
static void place_task(const placing *p, const uint32_t *leaves, uint32_t n,
                       pai_task_place *place)
{
  const pai__leaf_place *places = p->g->banks->places.data;

  place->node = places[leaves[0]].node;
  for (uint32_t i = 0; i < n; i++)
    place->gpus |= UINT64_C(1) << places[leaves[i]].bit;
}

/* Tasks without GPUs have no cells: each is where the one before it was, or on
 * the next node with room, beside those with GPUs.  False: there is none. */
static bool place_others(const placing *p, pai_task_place *tasks)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  const pai_task_place *t = tasks;
  pai__beside *left = p->g->beside.data;
  uint32_t node = 0, nodes = p->s->park->nspots;

  for (uint32_t i = 0; i < nodes; i++)
    left[i] = beside_of(pai__room_at(p->s, i));
  for (uint32_t i = 0; i < r->nwants; i++)
    for (uint32_t k = 0; k < w[i].tasks; k++, t++)
      if (w[i].gpus != 0) {
        left[t->node].cpus -= w[i].cpus;
        left[t->node].memory -= (int64_t)w[i].memory;
        left[t->node].ports -= w[i].ports;
      }
  for (uint32_t i = 0; i < r->nwants; i++) {
    if (w[i].gpus == 0)
      for (uint32_t k = 0; k < w[i].tasks; k++) {
        while (node < nodes &&
               (!has_beside(&left[node], &w[i]) ||
                pai__req_node_lack(p->s, r, node) != PAI_LACK_NOTHING))
          node++;
        if (node == nodes)
          return false;
        tasks[k].node = node;
        left[node].cpus -= w[i].cpus;
        left[node].memory -= (int64_t)w[i].memory;
        left[node].ports -= w[i].ports;
      }
    tasks += w[i].tasks;
  }
  return true;
}

/* The gang's pods, which lie by ascending size, as tasks of wants.  PAI_OK;
 * PAI_EBUSY: those without GPUs have no room; PAI_ENOMEM. */
static int list_tasks(const placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  const pai__hived_member *members = p->g->members.data;
  pai__flat *tasks = &p->g->tasks;

  tasks->len = 0;
  for (uint32_t i = 0; i < r->nwants; i++) {
    uint32_t first = 0, before = 0;

    if (pai__flat_reserve(tasks, &p->g->alloc, w[i].tasks) < 0)
      return PAI_ENOMEM;
    /* Pods of smaller sizes, then those of wants before it. */
    for (uint32_t m = 0; w[i].gpus != 0 && members[m].leaves != w[i].gpus; m++)
      first += members[m].leaves * members[m].pods;
    for (uint32_t k = 0; k < i; k++)
      before += w[k].gpus == w[i].gpus ? w[k].tasks : 0;
    for (uint32_t t = 0; t < w[i].tasks; t++) {
      pai_task_place *to =
        (pai_task_place *)tasks->data + pai__flat_push(tasks, 1);

      *to = (pai_task_place){ .struct_size = sizeof(*to) };
      if (w[i].gpus != 0)
        place_task(p, p->result.gang.leaves + first + (before + t) * w[i].gpus,
                   w[i].gpus, to);
    }
  }
  return place_others(p, tasks->data) ? PAI_OK : PAI_EBUSY;
}

/* --- what comes of it ----------------------------------------------------- */

static void refuse(const placing *p, uint32_t lack, uint64_t wanted,
                   uint64_t found)
{
  *pai__why_of(p->s, p->req) = (pai__why){ .lack = lack,
                                           .of = lack,
                                           .wanted = wanted,
                                           .found = found,
                                           .node = PAI__NONE,
                                           .text = PAI__NONE };
}

/* In words of its own. */
static int refuse_because(const placing *p, const char *text)
{
  refuse(p, PAI_LACK_POLICY, 0, 0);
  return pai__texts_add(&p->s->names, &p->s->alloc, text,
                        &pai__why_of(p->s, p->req)->text);
}

/* What HiveD does not look at is short where its cells are. */
static int refuse_beside(const placing *p)
{
  return refuse_because(
    p,
    "the nodes of its cells have too few CPUs, too little memory or too few "
    "ports left, or are kept for others");
}

/* 1: it was started; 0: not, for CPUs, memory or ports are short on a node that
 * HiveD chose for more than one task. */
static int bind(placing *p)
{
  uint64_t id = pai__req_at(p->s, p->req)->id;
  uint32_t run;
  int rc = list_tasks(p);

  if (rc == PAI_OK)
    rc =
      pai__take_places(p->s, p->req, p->g->tasks.data, p->g->tasks.len, false);
  if (rc == PAI_EBUSY)
    return refuse_beside(p);
  if (rc == PAI_OK)
    rc = pai__start(p->s, p->req, p->g->tasks.len);
  if (rc < 0)
    return rc;
  pai__bridge_unlist(p->g, id, p->instance);
  run = pai__run_find(p->s, pai__req_find(p->s, id), p->instance);
  /* Of a group that had reserved its cells HiveD knows all. */
  rc = pai__bridge_bind(p->g, p->s, run,
                        p->result.info.leaves != NULL ? &p->result.info : NULL,
                        NULL);
  return rc < 0 ? rc : 1;
}

static int stop_victims(placing *p)
{
  uint64_t by = pai__req_at(p->s, p->req)->id;
  int rc = PAI_OK;

  for (uint32_t i = 0; i < p->result.ngroups && rc == PAI_OK; i++) {
    uint64_t id;
    uint32_t instance, req;

    if (!pai__bridge_name_read(
          pai__hived_group_name(p->g->engine, p->result.groups[i]), &id,
          &instance))
      continue;
    req = pai__req_find(p->s, id);
    if (req != PAI__NONE)
      rc = pai__stop(p->s, pai__run_find(p->s, req, instance),
                     PAI_STOP_PREEMPTED, by);
  }
  refuse(p, PAI_LACK_VICTIMS, 0, p->result.ngroups);
  return rc;
}

/* It reserves its cells, and those that are on them stop. */
static int preempt(placing *p)
{
  int rc = ask(p, PAI__HIVED_PREEMPTING);

  if (rc < 0 || p->result.kind != PAI__HIVED_PREEMPT)
    return rc;
  rc = pai__bridge_list(p->g, pai__req_at(p->s, p->req)->id, p->instance);
  return rc < 0 ? rc : stop_victims(p);
}

/* GPUs of its own kind that the virtual cluster has left. */
static uint64_t share_left(const placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  uint64_t left = 0;

  for (uint32_t k = 0; k < p->s->park->nkinds; k++) {
    uint32_t type = pai__wants_of(p->s, r)->type;
    uint64_t own = pai__share_left(p->s, r->tenant, k);

    if ((type == PAI__NONE || type == k) && own != UINT64_MAX)
      left += own;
  }
  return left;
}

/* What never can run, as things are. */
static int tell_never(const placing *p)
{
  switch (p->result.why.kind) {
  case PAI__WHY_NO_PIN:
    return refuse_because(
      p, "that pinned cell is not one of its own virtual cluster");
  case PAI__WHY_OPPORTUNISTIC_PIN:
    return refuse_because(
      p, "an opportunistic request cannot ask for a pinned cell");
  case PAI__WHY_NO_TYPE: refuse(p, PAI_LACK_TYPE, 0, 0); return PAI_OK;
  default:
    return refuse_because(
      p,
      "its virtual cluster owns no cells of such GPUs but pinned ones, which "
      "are to be asked for");
  }
}

static int tell_why(const placing *p)
{
  const pai__hived_why *why = &p->result.why;
  uint64_t wanted = pai__gpus_wanted(p->s, p->req), left = share_left(p);

  switch (why->kind) {
  case PAI__WHY_SICK_NODE: refuse(p, PAI_LACK_HEALTH, 0, 0); break;
  case PAI__WHY_UNSUGGESTED_NODE: return refuse_beside(p);
  case PAI__WHY_MAPPING:
    if (!p->all)
      return refuse_beside(p);
    refuse(p, PAI_LACK_HEALTH, 0, 0);
    break;
  case PAI__WHY_CAPACITY:
    if (why->vc == PAI__NOTHING)
      refuse(p, PAI_LACK_GPU, wanted, 0);
    else if (left < wanted)
      refuse(p, PAI_LACK_QUOTA, wanted, left);
    else
      refuse(p, PAI_LACK_TOPOLOGY, wanted, left);
    break;
  default: return tell_never(p);
  }
  if (pai__why_of(p->s, p->req)->lack == PAI_LACK_TOPOLOGY)
    pai__why_of(p->s, p->req)->of = PAI_LACK_GPU;
  return PAI_OK;
}

/* It waits; but where too few CPUs or the like are left, less important ones
 * may have them. */
static int wait_or_preempt(placing *p)
{
  int rc = PAI_OK;

  if (!p->all && p->q.priority >= 0 && p->result.kind == PAI__HIVED_WAIT)
    rc = preempt(p);
  if (rc < 0 || p->result.kind == PAI__HIVED_PREEMPT)
    return rc;
  return p->result.kind == PAI__HIVED_BIND ? refuse_beside(p) : tell_why(p);
}

/* One instance.  1: it was started; 0: it waits; or a code. */
static int place(placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  int rc;

  p->instance = next_instance(p->s, r);
  pai__bridge_name_of(&p->name, r->id, p->instance);
  rc = pai__bridge_request(p->g, p->s, p->req, &p->name, &p->q);
  if (rc == PAI_ENOTSUP)
    return pai__try(p->s, p->req, PAI_PLACE_PACK, false);
  if (rc == PAI_EINVAL)
    return refuse_because(p, "it wants GPUs of several types, and a gang of "
                             "HiveD's has GPUs of one");
  if (rc == PAI_OK)
    rc = ask(p, PAI__HIVED_FILTERING);
  if (rc < 0)
    return rc;
  if (p->result.kind == PAI__HIVED_PREEMPT) {
    rc = preempt(p);
    if (rc < 0 || p->result.kind == PAI__HIVED_PREEMPT)
      return rc;
  }
  if (p->result.kind == PAI__HIVED_BIND)
    return bind(p);
  return wait_or_preempt(p);
}

/* --- all ------------------------------------------------------------------ */

/* The most important first, and then by turn: as pods come to HiveD from
 * Kubernetes, whose priorities are to follow HiveD's. */
static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai_sched *s = host->sched;
  pai__flat list;
  int rc;

  (void)data;
  pai__flat_init(&list, sizeof(pai__entry));
  rc = pai__bridge_catch_up(state, s);
  if (rc == PAI_OK)
    rc = pai__list_waiting(s, &list);
  if (rc == PAI_OK)
    pai__sort_waiting(&list);
  for (uint32_t i = 0; i < list.len && rc >= 0; i++) {
    placing p = {
      .g = state, .host = host, .s = s, .req = pai__entry_at(&list, i)->req
    };

    do
      rc = place(&p);
    while (rc == 1 && pai__req_at(s, p.req)->queued &&
           pai__req_lack(s, pai__req_at(s, p.req)) == PAI_LACK_NOTHING);
  }
  pai__flat_dispose(&list, &s->alloc);
  return rc < 0 ? rc : PAI_OK;
}

const pai_policy pai__policy_hived = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "hived",
  .about = "cells of virtual clusters, as Microsoft's HiveD",
  .open = open_hived,
  .close = close_hived,
  .decide = decide,
  .event = on_event,
  .clone = clone_hived,
  .save = save_hived,
  .load = load_hived,
};
