/*
 * policy.c - HiveD as a policy of the scheduler
 *
 * HiveD's engine chooses the GPUs and who has to go.  CPUs, memory, ports and
 * reservations are what Kubernetes' scheduler looks at beside it: nodes that
 * lack these are not suggested.  Requests without GPUs have no cells; they go
 * where there is room.
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
  rc = pai__bridge_new(&g, host);
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
  int rc = pai__bridge_new(&fresh, host);

  if (rc < 0)
    return rc;
  old = *g;
  *g = *fresh;
  *fresh = old;
  pai__bridge_free(fresh);
  return PAI_OK;
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

/* May one task of each want be on the node, its GPUs apart? */
static bool is_suggested(const placing *p, const pai__req *r, uint32_t node)
{
  const pai__room *room = pai__room_at(p->s, node);
  const pai__want *w = pai__wants_of(p->s, r);

  if (pai__req_node_lack(p->s, r, node) == PAI_LACK_RESERVATION)
    return false;
  for (uint32_t i = 0; i < r->nwants; i++)
    if (room->cpus < (int32_t)w[i].cpus ||
        room->memory < (int64_t)w[i].memory ||
        room->ports < (int32_t)w[i].ports)
      return false;
  return true;
}

/* The nodes, as HiveD numbers them; *all if it may be any.  PAI_ENOMEM. */
static int suggest(const placing *p, bool *all)
{
  pai__bridge *g = p->g;
  const pai__req *r = pai__req_at(p->s, p->req);
  uint32_t words = PAI__BITS_WORDS((uint32_t)g->banks->cluster->nnodes) + 1;

  *all = true;
  g->suggested.len = 0;
  if (pai__flat_reserve(&g->suggested, &g->alloc, words) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&g->suggested, words);
  for (uint32_t i = 0; i < p->s->park->nspots; i++) {
    uint32_t own = ((uint32_t *)g->banks->nodes.data)[i];

    if (own == PAI__NONE)
      continue;
    if (is_suggested(p, r, i))
      pai__bits_set(g->suggested.data, own, own);
    else
      *all = false;
  }
  return PAI_OK;
}

static int ask(placing *p, int phase)
{
  bool all;
  int rc = suggest(p, &all);

  if (rc < 0)
    return rc;
  return pai__hived_schedule(
    p->g->engine, &p->q,
    pai__bridge_pod(pai__req_at(p->s, p->req)->id, p->instance, 0),
    all ? NULL : p->g->suggested.data, phase, &p->result);
}

/* Where a task's leaves are; they are on one node. */
static void place_task(const placing *p, const uint32_t *leaves, uint32_t n,
                       pai_task_place *place)
{
  const pai__leaf_place *places = p->g->banks->places.data;

  *place = (pai_task_place){ .struct_size = sizeof(*place) };
  place->node = places[leaves[0]].node;
  for (uint32_t i = 0; i < n; i++)
    place->gpus |= UINT64_C(1) << places[leaves[i]].bit;
}

/* The gang's pods, which lie by ascending size, as tasks of wants. */
static int list_tasks(placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  const pai__hived_member *members = p->g->members.data;
  pai__flat *tasks = &p->g->tasks;

  tasks->len = 0;
  for (uint32_t i = 0; i < r->nwants; i++) {
    uint32_t first = 0, before = 0;

    /* Pods of smaller sizes, then those of wants before it. */
    for (uint32_t m = 0; members[m].leaves != w[i].gpus; m++)
      first += members[m].leaves * members[m].pods;
    for (uint32_t k = 0; k < i; k++)
      before += w[k].gpus == w[i].gpus ? w[k].tasks : 0;
    if (pai__flat_reserve(tasks, &p->g->alloc, w[i].tasks) < 0)
      return PAI_ENOMEM;
    for (uint32_t t = 0; t < w[i].tasks; t++)
      place_task(p, p->result.gang.leaves + first + (before + t) * w[i].gpus,
                 w[i].gpus,
                 (pai_task_place *)tasks->data + pai__flat_push(tasks, 1));
  }
  return PAI_OK;
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

/* What HiveD does not look at is short where its cells are. */
static int refuse_beside(const placing *p)
{
  static const char text[] =
    "the nodes of its cells have too few CPUs, too little memory or too few "
    "ports left, or are kept for others";

  refuse(p, PAI_LACK_POLICY, 0, 0);
  return pai__texts_add(&p->s->names, &p->s->alloc, text,
                        &pai__why_of(p->s, p->req)->text);
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
  rc = pai__bridge_bind(p->g, p->s, run);
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

static int tell_why(const placing *p)
{
  const pai__hived_why *why = &p->result.why;
  uint64_t wanted = pai__gpus_wanted(p->s, p->req), left = share_left(p);

  switch (why->kind) {
  case PAI__WHY_SICK_NODE: refuse(p, PAI_LACK_HEALTH, 0, 0); break;
  case PAI__WHY_UNSUGGESTED_NODE: return refuse_beside(p);
  case PAI__WHY_MAPPING: refuse(p, PAI_LACK_HEALTH, 0, 0); break;
  case PAI__WHY_CAPACITY:
    if (why->vc == PAI__NOTHING)
      refuse(p, PAI_LACK_GPU, wanted, 0);
    else if (left < wanted)
      refuse(p, PAI_LACK_QUOTA, wanted, left);
    else
      refuse(p, PAI_LACK_TOPOLOGY, wanted, left);
    break;
  default: refuse(p, PAI_LACK_QUOTA, wanted, left); break;
  }
  if (pai__why_of(p->s, p->req)->lack == PAI_LACK_TOPOLOGY)
    pai__why_of(p->s, p->req)->of = PAI_LACK_GPU;
  return PAI_OK;
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
  return tell_why(p);
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
