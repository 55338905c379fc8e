/*
 * place.c - starts a gang where the HiveD engine decides, or stops its victims
 *
 * The engine chooses GPUs and victims.  CPUs, memory, ports and reservations,
 * which the Kubernetes scheduler would check, are checked here: nodes that
 * lack them are not suggested.  Tasks without GPUs have no cells; they go
 * where there is room.
 */
#include "sched/hived/bridge.h"

#include "resource/bits.h"
#include "sched/fit.h"
#include "sched/policy/victims.h"
#include "sched/policy/waiters.h"

typedef struct placing {
  pai__bridge *g;
  pai_sched *s;
  uint32_t req;
  uint32_t instance;
  pai__bridge_name name;
  pai__hived_request q;
  pai__hived_result result;
  bool all; /* all nodes are suggested */
} placing;

/* Returns the instance that begins next: one that waits again goes first. */
static uint32_t next_instance(const pai_sched *s, const pai__req *r)
{
  uint32_t run = r->runs;

  if (r->returned == 0)
    return r->next;
  while (pai__run_at(s, run)->state != PAI__RUN_RETURNED)
    run = pai__run_at(s, run)->next;
  return pai__run_at(s, run)->instance;
}

static pai__beside beside_of(const pai__free_capacity *capacity)
{
  return (pai__beside){ capacity->memory, capacity->cpu_millis,
                        capacity->ports };
}

static bool has_beside(const pai__beside *b, const pai__want *w)
{
  return b->cpu_millis >= w->cpu_millis && b->memory >= (int64_t)w->memory &&
         b->ports >= w->ports;
}

static void take_beside(pai__beside *b, const pai__want *w, int sign)
{
  b->cpu_millis -= sign * (int64_t)w->cpu_millis;
  b->memory -= sign * (int64_t)w->memory;
  b->ports -= sign * (int64_t)w->ports;
}

/* Adds what runs of lower priority, and stopping runs, have: in phase
 * Preempting Kubernetes suggests nodes that would have enough without them. */
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
    for (uint32_t k = 0; k < run->tasks; k++)
      take_beside(&all[slots[k].node], &pai__wants_of(s, of)[slots[k].want],
                  -1);
  }
}

/* True if the node is not reserved for others and has enough, besides GPUs, for
 * one task of each want with GPUs. */
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

/* Suggests all nodes for which is_suggested() is true. */
static void suggest_each(placing *p, const pai__req *r)
{
  pai__bridge *g = p->g;

  p->all = true;
  for (uint32_t i = 0; i < p->s->cluster->nnodes; i++) {
    uint32_t own = ((uint32_t *)g->shared->nodes.data)[i];

    if (own == PAI__NONE)
      continue;
    if (is_suggested(p, r, i))
      pai__bits_set(g->suggested.data, own, own);
    else
      p->all = false;
  }
}

/* True if only cells matter for this request. */
static bool wants_cells_only(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r);
  uint32_t i = 0;

  while (i < r->nwants && w[i].gpus != 0 && w[i].cpu_millis == 0 &&
         w[i].memory == 0 && w[i].ports == 0)
    i++;
  return i == r->nwants && s->reservations.len == 0;
}

/* Sets the suggested nodes, by HiveD's numbers; or p->all.  Returns PAI_OK or
 * PAI_ENOMEM. */
static int suggest(placing *p, int phase)
{
  pai__bridge *g = p->g;
  const pai__req *r = pai__req_at(p->s, p->req);
  uint32_t words = PAI__BITS_WORDS((uint32_t)g->shared->cluster->nnodes) + 1;
  uint32_t nodes = p->s->cluster->nnodes;

  p->all = wants_cells_only(p->s, r);
  if (p->all)
    return PAI_OK;
  g->suggested.len = g->beside.len = 0;
  if (pai__flat_reserve(&g->suggested, &g->alloc, words) < 0 ||
      pai__flat_reserve(&g->beside, &g->alloc, nodes) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&g->suggested, words);
  (void)pai__flat_push(&g->beside, nodes);
  for (uint32_t i = 0; i < nodes; i++)
    ((pai__beside *)g->beside.data)[i] =
      beside_of(pai__free_capacity_at(p->s, i));
  suggest_each(p, r);
  if (phase == PAI__HIVED_PREEMPTING && !p->all) {
    add_preemptible(p, r);
    suggest_each(p, r);
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

/* Sets the place of a task; its leaves are on one node. */
static void place_task(const placing *p, const uint32_t *leaves, uint32_t n,
                       pai_task_place *place)
{
  const pai__leaf_place *places = p->g->shared->places.data;

  place->node = places[leaves[0]].node;
  for (uint32_t i = 0; i < n; i++)
    place->gpus |= UINT64_C(1) << places[leaves[i]].bit;
}

/* True if a task without GPUs may be on a node, apart from its free
 * capacity. */
static bool may_be_on(const placing *p, const pai__want *w, uint32_t pin,
                      uint32_t node)
{
  uint32_t lack;

  (void)pai__want_gpus(p->s, w, PAI__NONE, pin, node, &lack);
  return lack == PAI_LACK_NOTHING &&
         pai__req_node_lack(p->s, pai__req_at(p->s, p->req), node) ==
           PAI_LACK_NOTHING;
}

/* Sets what nodes have left besides the tasks with GPUs. */
static void count_beside(const placing *p, const pai_task_place *tasks)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  pai__beside *left = p->g->beside.data;

  for (uint32_t i = 0; i < p->s->cluster->nnodes; i++)
    left[i] = beside_of(pai__free_capacity_at(p->s, i));
  for (uint32_t i = 0; i < r->nwants; i++)
    for (uint32_t k = 0; k < w[i].tasks; k++, tasks++)
      if (w[i].gpus != 0)
        take_beside(&left[tasks->node], &w[i], 1);
}

/* Places the tasks of a want without GPUs, each on the node of the previous
 * task or the next node with room.  Returns false if there is none. */
static bool place_want(const placing *p, const pai__want *w,
                       pai_task_place *tasks)
{
  const char *name =
    pai__texts_text(&p->s->names, pai__req_at(p->s, p->req)->pin);
  uint32_t pin = name != NULL ? pai__sched_cluster_pin(p->s->cluster, name)
                              : (uint32_t)PAI__NONE;
  pai__beside *left = p->g->beside.data;
  uint32_t node = 0, nodes = p->s->cluster->nnodes;

  for (uint32_t k = 0; k < w->tasks; k++) {
    while (node < nodes &&
           (!has_beside(&left[node], w) || !may_be_on(p, w, pin, node)))
      node++;
    if (node == nodes)
      return false;
    tasks[k].node = node;
    take_beside(&left[node], w, 1);
  }
  return true;
}

/* Places tasks without GPUs on the first nodes with room.  Returns false if
 * there is none. */
static bool place_others(const placing *p, pai_task_place *tasks)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  uint32_t others = 0;
  bool placed = true;

  for (uint32_t i = 0; i < r->nwants; i++)
    others += w[i].gpus == 0;
  if (others == 0)
    return true;
  count_beside(p, tasks);
  for (uint32_t i = 0; i < r->nwants && placed; tasks += w[i++].tasks)
    placed = w[i].gpus != 0 || place_want(p, &w[i], tasks);
  return placed;
}

/* Turns the gang's pods, which are sorted by size, into task places.  Returns
 * PAI_OK; PAI_EBUSY if tasks without GPUs have no room; PAI_ENOMEM. */
static int list_tasks(const placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  const pai__want *w = pai__wants_of(p->s, r);
  const pai__hived_member *members = p->g->members.data;
  pai__flat *tasks = &p->g->tasks;

  tasks->len = 0;
  for (uint32_t i = 0; i < r->nwants; i++) {
    uint32_t first =
      pai__hived_before(members, w[i].gpus != 0 ? p->g->members.len : 0,
                        w[i].gpus)
        .leaves;
    uint32_t before = 0;

    if (pai__flat_reserve(tasks, &p->g->alloc, w[i].tasks) < 0)
      return PAI_ENOMEM;
    /* Tasks of previous wants that have the same size. */
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

/* --- outcome -------------------------------------------------------------- */

static void refuse(const placing *p, uint32_t lack, uint64_t wanted,
                   uint64_t found)
{
  *pai__sched_reason_make(p->s, p->req) =
    (pai__sched_reason){ .lack = lack,
                         .of = lack,
                         .wanted = wanted,
                         .found = found,
                         .node = PAI__NONE,
                         .text = PAI__NONE };
}

/* Returns how many GPUs of the request's type are left in the shares of its
 * virtual cluster. */
static uint64_t share_left(const placing *p)
{
  const pai__req *r = pai__req_at(p->s, p->req);
  uint64_t left = 0;

  for (uint32_t k = 0; k < p->s->cluster->nkinds; k++) {
    uint32_t type = pai__wants_of(p->s, r)->type;
    uint64_t own = pai__share_left(p->s, r->vc_index, k);

    if ((type == PAI__NONE || type == k) && own != UINT64_MAX)
      left += own;
  }
  return left;
}

/* Sets the reason to a text. */
static int refuse_because(const placing *p, const char *text)
{
  refuse(p, PAI_LACK_POLICY, 0, 0);
  return pai__texts_add(&p->s->names, &p->s->alloc, text,
                        &pai__sched_reason_make(p->s, p->req)->text);
}

/* Sets the reason: CPUs, memory, ports or reservations, which HiveD does not
 * check. */
static int refuse_beside(const placing *p)
{
  return refuse_because(
    p,
    "the nodes of its cells have too few CPUs, too little memory or too few "
    "ports left, or are kept for others");
}

/* Checks the part of the virtual cluster, which binds also requests that may
 * use cells of others.  Returns 1 if they keep to it; else 0 or PAI_ENOMEM,
 * with the places given back.  With 0, runs of lower priority are stopped if
 * that helps. */
static int keeps_part(const placing *p)
{
  pai_sched *s = p->s;
  uint32_t stopping;
  int rc = pai__bridge_keeps_part(s, p->req, p->g->tasks.len, &stopping);

  if (rc == 1)
    return 1;
  pai__unfit(s, pai__req_at(s, p->req), p->g->tasks.len);
  if (stopping != 0)
    refuse(p, PAI_LACK_VICTIMS, 0, stopping);
  else
    refuse(p, PAI_LACK_QUOTA, pai__gpus_wanted(s, p->req), share_left(p));
  return rc;
}

/* Returns 1 if it started; 0 if it did not, for lack of CPUs, memory or ports
 * on a node where HiveD placed several tasks, or because of the part; or a
 * code. */
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
  if (rc == PAI_OK) {
    rc = keeps_part(p);
    if (rc <= 0)
      return rc;
    rc = PAI_OK;
  }
  if (rc == PAI_OK)
    rc = pai__start(p->s, p->req, p->g->tasks.len);
  if (rc < 0)
    return rc;
  pai__bridge_unlist(p->g, id, p->instance);
  run = pai__run_find(p->s, pai__req_find(p->s, id), p->instance);
  /* The engine already knows a group that had reserved its cells. */
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

/* Lets the group reserve its cells, and stops the groups that are on them. */
static int preempt(placing *p)
{
  int rc = ask(p, PAI__HIVED_PREEMPTING);

  if (rc < 0 || p->result.kind != PAI__HIVED_PREEMPT)
    return rc;
  rc = pai__bridge_list(p->g, pai__req_at(p->s, p->req)->id, p->instance);
  return rc < 0 ? rc : stop_victims(p);
}

static const char *const several_types =
  "it wants GPUs of several types, and a gang of HiveD's has GPUs of one";

/* Text for a request that can never run, or NULL. */
static const char *words_of(int never)
{
  switch (never) {
  case PAI__WHY_NOTHING: return NULL;
  case PAI__WHY_NO_PIN:
    return "that pinned cell is not one of its own virtual cluster";
  case PAI__WHY_OPPORTUNISTIC_PIN:
    return "an opportunistic request cannot ask for a pinned cell";
  case PAI__WHY_NO_TYPE: return "no cells have such GPUs";
  default:
    return "its virtual cluster owns no cells of such GPUs but pinned ones, "
           "which are to be asked for";
  }
}

int pai__bridge_never(pai__bridge *g, const pai_sched *s, uint32_t req,
                      const char **text)
{
  pai__bridge_name name;
  pai__hived_request q;
  int rc;

  *text = NULL;
  pai__bridge_name_of(&name, pai__req_at(s, req)->id, 0);
  rc = pai__bridge_request(g, s, req, &name, &q);
  if (rc == PAI_OK)
    *text = words_of(pai__hived_never(g->engine, &q));
  else if (rc == PAI_EINVAL)
    *text = several_types;
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

/* The request was submitted before the policy was set, and so not refused by
 * admit(). */
static int tell_never(const placing *p)
{
  int why = p->result.why.kind;

  if (why != PAI__WHY_NO_TYPE)
    return refuse_because(
      p, words_of(why != PAI__WHY_NOTHING ? why : PAI__WHY_VC_WITHOUT_TYPE));
  refuse(p, PAI_LACK_TYPE, 0, 0);
  return PAI_OK;
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
  if (pai__sched_reason_of(p->s, p->req)->lack == PAI_LACK_TOPOLOGY)
    pai__sched_reason_make(p->s, p->req)->of = PAI_LACK_GPU;
  return PAI_OK;
}

/* Sets the reason; but if CPUs, memory or ports are short, runs of lower
 * priority may be preempted for them. */
static int wait_or_preempt(placing *p)
{
  int why = p->result.why.kind, rc = PAI_OK;

  if (!p->all && p->q.priority >= 0 &&
      (why == PAI__WHY_UNSUGGESTED_NODE || why == PAI__WHY_MAPPING))
    rc = preempt(p);
  if (rc < 0 || p->result.kind == PAI__HIVED_PREEMPT)
    return rc;
  return p->result.kind == PAI__HIVED_BIND ? refuse_beside(p) : tell_why(p);
}

int pai__bridge_place(pai__bridge *g, pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  placing p = { .g = g, .s = s, .req = req };
  pai__sched_reason why;
  int rc;

  if (!pai__bridge_part_allows(s, r, &why)) {
    *pai__sched_reason_make(s, req) = why;
    return 0;
  }

  p.instance = next_instance(s, r);
  pai__bridge_name_of(&p.name, r->id, p.instance);
  rc = pai__bridge_request(g, s, req, &p.name, &p.q);
  if (rc == PAI_ENOTSUP)
    return pai__try(s, req, PAI_PLACE_PACK, false);
  if (rc == PAI_EINVAL)
    return refuse_because(&p, several_types);
  if (rc == PAI_OK)
    rc = ask(&p, PAI__HIVED_FILTERING);
  if (rc == PAI_OK && p.result.kind == PAI__HIVED_PREEMPT)
    rc = preempt(&p);
  if (rc < 0 || p.result.kind == PAI__HIVED_PREEMPT)
    return rc;
  return p.result.kind == PAI__HIVED_BIND ? bind(&p) : wait_or_preempt(&p);
}
