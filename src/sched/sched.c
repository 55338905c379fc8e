/*
 * sched.c - the scheduler core: nodes, the queue, gangs placed whole
 *
 * The policy decides which request is tried next; what is free and why a
 * request did not fit is known here alone.
 */
#include "base/map.h"
#include "sched/core.h"
#include "sched/place.h"

struct pai__sched {
  pai_alloc alloc;
  const pai__policy *policy;
  pai__usage *nodes;
  size_t nnodes, nodes_cap;
  pai__queued *first, *last; /* of those that wait, by submission */
  uint64_t submitted;
  const pai__queued *blocker; /* all after it wait for it, */
  pai__reason turn;           /* for this reason */
  pai__map by_id;             /* those that were placed, too */
  pai__place_cb cb;           /* only during pai__sched_run() */
  void *user_data;
};

static const pai__policy *const policies[] = { &pai__policy_fifo };

int pai__sched_new(pai__sched **out, const pai_alloc *alloc,
                   const char *policy, pai_error **err)
{
  pai__sched *s;
  size_t i = 0;

  PAI__CLEAR_OUT(out, err);
  if (policy == NULL)
    policy = "fifo";
  while (i < PAI__LEN(policies) && strcmp(policies[i]->name, policy) != 0)
    i++;
  if (i == PAI__LEN(policies))
    return pai__fail(err, PAI_ENOTFOUND, "there is no policy '%s'", policy);
  s = pai__zalloc(alloc, sizeof(*s));
  if (s == NULL)
    return pai__oom(err);
  s->alloc = *alloc;
  s->policy = policies[i];
  pai__map_init(&s->by_id, &s->alloc);
  *out = s;
  return PAI_OK;
}

static void free_queued(pai__sched *s, pai__queued *q)
{
  if (q == NULL)
    return;
  pai__free(&s->alloc, q->groups, q->ngroups * sizeof(*q->groups));
  pai__free(&s->alloc, q->slots, q->ntasks * sizeof(*q->slots));
  pai__free(&s->alloc, q->ports, q->nports * sizeof(*q->ports));
  pai__free(&s->alloc, q, sizeof(*q));
}

void pai__sched_free(pai__sched *s)
{
  const pai__map_entry *e;
  pai_alloc alloc;

  if (s == NULL)
    return;
  for (size_t i = 0; (e = pai__map_next(&s->by_id, &i)) != NULL;)
    free_queued(s, e->value);
  for (size_t i = 0; i < s->nnodes; i++)
    pai__usage_dispose(&s->nodes[i], &s->alloc);
  pai__free(&s->alloc, s->nodes, s->nodes_cap * sizeof(*s->nodes));
  pai__map_dispose(&s->by_id);
  alloc = s->alloc;
  pai__free(&alloc, s, sizeof(*s));
}

int pai__sched_add_node(pai__sched *s, const pai__machine *node)
{
  PAI__CHECK_ARG(node->gpus <= PAI__MAX_GPUS &&
                 node->port_first <= node->port_last &&
                 node->port_last <= UINT16_MAX);
  if (PAI__VEC_ROOM(&s->alloc, s->nodes, s->nnodes, s->nodes_cap) < 0)
    return PAI_ENOMEM;
  if (pai__usage_init(&s->nodes[s->nnodes], &s->alloc, node) < 0)
    return PAI_ENOMEM;
  s->nnodes++;
  return PAI_OK;
}

const pai__machine *pai__sched_node(const pai__sched *s, uint32_t node)
{
  return node < s->nnodes ? &s->nodes[node].node : NULL;
}

/* Gives back the first `ntasks` tasks' shares. */
static void give_back(pai__sched *s, const pai__queued *q, size_t ntasks)
{
  size_t task = 0;

  for (size_t g = 0; g < q->ngroups; g++)
    for (uint32_t i = 0; i < q->groups[g].tasks && task < ntasks; i++, task++)
      pai__usage_give(&s->nodes[q->slots[task].node], &q->groups[g],
                      &q->slots[task]);
}

/* The first node with room for one task of `want`, or why there is none. */
static bool find_node(pai__sched *s, const pai__want *want, uint32_t *node,
                      pai__reason *reason)
{
  for (uint32_t n = 0; n < s->nnodes; n++) {
    uint32_t left;
    enum pai__lack lack = pai__usage_lack(&s->nodes[n], want, &left);

    *node = n;
    if (lack == PAI__LACK_NOTHING)
      return true;
    /* The nearest miss: the node that got furthest down the list of checks,
     * and of those the one with most of what lacked. */
    if (lack > reason->lack || (lack == reason->lack && left > reason->free)) {
      reason->lack = lack;
      reason->free = left;
    }
  }
  return false;
}

static uint32_t wanted_of(const pai__want *want, enum pai__lack lack)
{
  switch (lack) {
  case PAI__LACK_CPU: return want->cpus;
  case PAI__LACK_MEMORY: return want->memory_mb;
  case PAI__LACK_GPU: return want->gpus;
  case PAI__LACK_PORT: return want->ports;
  default: return 0;
  }
}

/* Fills q->slots, or gives all back and fills q->reason. */
static bool place_gang(pai__sched *s, pai__queued *q)
{
  size_t task = 0, port = 0;

  for (size_t g = 0; g < q->ngroups; g++) {
    const pai__want *want = &q->groups[g];
    for (uint32_t i = 0; i < want->tasks; i++, task++) {
      pai__slot *slot = &q->slots[task];
      pai__reason reason = { .group = g, .placed = (uint32_t)task };

      if (!find_node(s, want, &slot->node, &reason)) {
        reason.wanted = wanted_of(want, reason.lack);
        q->reason = reason;
        give_back(s, q, task);
        return false;
      }
      pai__usage_take(&s->nodes[slot->node], want, slot,
                      want->ports > 0 ? q->ports + port : NULL);
      port += want->ports;
    }
  }
  return true;
}

/* Into the queue after `before`; NULL: as the first. */
static void link_after(pai__sched *s, pai__queued *before, pai__queued *q)
{
  q->before = before;
  q->next = before != NULL ? before->next : s->first;
  *(before != NULL ? &before->next : &s->first) = q;
  *(q->next != NULL ? &q->next->before : &s->last) = q;
}

static void unlink_queued(pai__sched *s, pai__queued *q)
{
  *(q->before != NULL ? &q->before->next : &s->first) = q->next;
  *(q->next != NULL ? &q->next->before : &s->last) = q->before;
  if (s->blocker == q)
    s->blocker = NULL;
}

bool pai__sched_try(pai__sched *s, pai__queued *q)
{
  pai__placement place = { q->id, q->ntasks, q->slots };

  if (!place_gang(s, q))
    return false;
  unlink_queued(s, q);
  q->placed = true;
  s->cb(s->user_data, &place);
  return true;
}

pai__queued *pai__sched_next_waiting(const pai__sched *s, pai__queued *q)
{
  return q == NULL ? s->first : q->next;
}

void pai__sched_block(pai__sched *s, const pai__queued *q)
{
  s->blocker = q;
  s->turn = (pai__reason){ .lack = PAI__LACK_TURN, .behind = q->id };
}

void pai__sched_run(pai__sched *s, pai__place_cb cb, void *user_data)
{
  s->cb = cb;
  s->user_data = user_data;
  s->blocker = NULL;
  s->policy->decide(s);
  s->cb = NULL;
}

/* Would it fit if nothing else ran?  Tried on copies of empty nodes. */
static int check_possible(pai__sched *s, pai__queued *q, pai_error **err)
{
  pai__sched empty = { .alloc = s->alloc };
  const pai__reason *r = &q->reason;
  int rc = PAI_OK;

  for (size_t n = 0; n < s->nnodes && rc == PAI_OK; n++)
    rc = pai__sched_add_node(&empty, &s->nodes[n].node);
  if (rc < 0)
    (void)pai__oom(err);
  else if (!place_gang(&empty, q) && r->placed == 0) {
    rc = pai__fail(err, PAI_ENOROOM,
                   "the job can never start: a task asks for %u %s, and no "
                   "machine has more than %u",
                   r->wanted, pai__lack_name(r->lack), r->free);
    pai__error_help(err, "ask for less per task");
  } else if (r->lack != PAI__LACK_NOTHING) {
    rc = pai__fail(err, PAI_ENOROOM,
                   "the job can never start: a task asks for %u %s, and "
                   "beside %u other tasks of it no machine has more than %u",
                   r->wanted, pai__lack_name(r->lack), r->placed, r->free);
    pai__error_help(err, "ask for less per task, or for fewer tasks");
  }
  for (size_t n = 0; n < empty.nnodes; n++)
    pai__usage_dispose(&empty.nodes[n], &s->alloc);
  pai__free(&s->alloc, empty.nodes, empty.nodes_cap * sizeof(*empty.nodes));
  q->reason = (pai__reason){ 0 };
  return rc;
}

static pai__queued *new_queued(pai__sched *s, const pai__request *r)
{
  pai__queued *q = pai__zalloc(&s->alloc, sizeof(*q));

  if (q == NULL)
    return NULL;
  q->id = r->id;
  q->ngroups = r->ngroups;
  for (size_t g = 0; g < r->ngroups; g++) {
    q->ntasks += r->groups[g].tasks;
    q->nports += (size_t)r->groups[g].tasks * r->groups[g].ports;
  }
  q->groups = pai__zalloc(&s->alloc, q->ngroups * sizeof(*q->groups));
  q->slots = pai__zalloc(&s->alloc, q->ntasks * sizeof(*q->slots));
  if (q->nports != 0)
    q->ports = pai__zalloc(&s->alloc, q->nports * sizeof(*q->ports));
  if (q->groups == NULL || q->slots == NULL ||
      (q->nports != 0 && q->ports == NULL)) {
    free_queued(s, q);
    return NULL;
  }
  memcpy(q->groups, r->groups, q->ngroups * sizeof(*q->groups));
  return q;
}

int pai__sched_submit(pai__sched *s, const pai__request *request,
                      pai_error **err)
{
  pai__queued *q;
  int rc;

  PAI__CHECK_ARG_ERR(request->id != 0 && request->ngroups != 0, err);
  if (pai__map_get(&s->by_id, &request->id, sizeof(request->id)) != NULL)
    return pai__fail(err, PAI_EEXISTS, "request %llu is known already",
                     (unsigned long long)request->id);
  q = new_queued(s, request);
  if (q == NULL)
    return pai__oom(err);
  rc = check_possible(s, q, err);
  if (rc == PAI_OK && pai__map_set(&s->by_id, &q->id, sizeof(q->id), q) < 0)
    rc = pai__oom(err);
  if (rc < 0) {
    free_queued(s, q);
    return rc;
  }
  q->order = ++s->submitted;
  link_after(s, s->last, q);
  return PAI_OK;
}

int pai__sched_requeue(pai__sched *s, uint64_t id)
{
  pai__queued *q = pai__map_get(&s->by_id, &id, sizeof(id)), *before = NULL;

  if (q == NULL || !q->placed)
    return PAI_ENOTFOUND;
  give_back(s, q, q->ntasks);
  q->placed = false;
  q->reason = (pai__reason){ 0 };
  /* It was among the first, so its place is not far. */
  for (pai__queued *p = s->first; p != NULL && p->order < q->order;
       p = p->next)
    before = p;
  link_after(s, before, q);
  return PAI_OK;
}

int pai__sched_finish(pai__sched *s, uint64_t id)
{
  pai__queued *q = pai__map_remove(&s->by_id, &id, sizeof(id));

  if (q == NULL)
    return PAI_ENOTFOUND;
  if (q->placed)
    give_back(s, q, q->ntasks);
  else
    unlink_queued(s, q);
  free_queued(s, q);
  return PAI_OK;
}

void pai__sched_lose_port(pai__sched *s, uint32_t node, uint32_t port)
{
  if (node < s->nnodes)
    pai__usage_lose_port(&s->nodes[node], port);
}

void pai__sched_regain_ports(pai__sched *s)
{
  for (size_t n = 0; n < s->nnodes; n++)
    pai__usage_regain_ports(&s->nodes[n]);
}

bool pai__sched_has_waiting(const pai__sched *s)
{
  return s->first != NULL;
}

const pai__reason *pai__sched_reason(const pai__sched *s, uint64_t id)
{
  const pai__queued *q = pai__map_get(&s->by_id, &id, sizeof(id));

  if (q == NULL || q->placed)
    return NULL;
  return s->blocker != NULL && q->order > s->blocker->order ? &s->turn
                                                            : &q->reason;
}

const char *pai__lack_name(enum pai__lack lack)
{
  switch (lack) {
  case PAI__LACK_CPU: return "CPUs";
  case PAI__LACK_MEMORY: return "MiB of memory";
  case PAI__LACK_GPU: return "GPUs";
  case PAI__LACK_PORT: return "ports";
  default: return "";
  }
}
