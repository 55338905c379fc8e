/* view.c - reading the state of a scheduler */
#include "sched/queue.h"

#include "resource/bits.h"

const char *const pai__lack_words[PAI_LACKS + 1] = {
  "",       "release", "after",    "turn",        "throttle",   "quota",
  "type",   "health",  "pin",      "reservation", "gpu",        "cpu",
  "memory", "port",    "topology", "gang",        "preemption", "victims",
  "later",  "policy",  "stopped",  NULL
};

const char *pai__lack_things(uint32_t lack)
{
  switch (lack) {
  case PAI_LACK_GPU: return "GPUs";
  case PAI_LACK_CPU: return "CPUs";
  case PAI_LACK_MEMORY: return "MiB of memory";
  case PAI_LACK_PORT: return "ports";
  default: return "";
  }
}

const char *pai__lack_amount(char out[PAI__MILLI_TEXT], uint32_t lack,
                             uint64_t amount)
{
  if (lack != PAI_LACK_CPU)
    amount = (lack == PAI_LACK_MEMORY ? amount >> 20 : amount) * PAI__CPU;
  return pai__milli_text(out, amount);
}

/* --- amounts of reasons --------------------------------------------------- */

static bool is_of_cpus(uint32_t lack, uint32_t of)
{
  return (of != 0 ? of : lack) == PAI_LACK_CPU;
}

static uint64_t count(bool cpus, uint64_t whole, uint32_t millis)
{
  return !cpus                           ? whole
         : whole < UINT64_MAX / PAI__CPU ? whole * PAI__CPU + millis
                                         : UINT64_MAX;
}

uint64_t pai__reason_wanted(const pai_reason *r)
{
  return count(is_of_cpus((uint32_t)r->lack, (uint32_t)r->of), r->wanted,
               r->wanted_millis);
}

uint64_t pai__reason_found(const pai_reason *r)
{
  return count(is_of_cpus((uint32_t)r->lack, (uint32_t)r->of), r->found,
               r->found_millis);
}

pai_reason pai__reason_of(const pai_sched *s, const pai__sched_reason *reason)
{
  uint64_t unit = is_of_cpus(reason->lack, reason->of) ? PAI__CPU : 1;

  return (pai_reason){ .struct_size = sizeof(pai_reason),
                       .lack = (int)reason->lack,
                       .of = (int)reason->of,
                       .want = reason->want,
                       .placed = reason->placed,
                       .tasks = reason->tasks,
                       .wanted = reason->wanted / unit,
                       .wanted_millis = (uint32_t)(reason->wanted % unit),
                       .found = reason->found / unit,
                       .found_millis = (uint32_t)(reason->found % unit),
                       .behind = reason->behind,
                       .until = reason->until,
                       .node = reason->node != PAI__NONE
                                 ? s->cluster->nodes[reason->node].name
                                 : NULL,
                       .text = pai__texts_text(&s->names, reason->text) };
}

int pai__reason_take(pai_sched *s, const pai_reason *r,
                     pai__sched_reason *reason)
{
  *reason = (pai__sched_reason){
    .lack = (uint32_t)r->lack,
    .of = (uint32_t)r->of,
    .want = r->want,
    .placed = r->placed,
    .tasks = r->tasks,
    .wanted = pai__reason_wanted(r),
    .found = pai__reason_found(r),
    .behind = r->behind,
    .until = r->until,
    .node = r->node != NULL ? pai__sched_cluster_node(s->cluster, r->node)
                            : PAI__NONE
  };
  return pai__texts_add(&s->names, &s->alloc, r->text, &reason->text);
}

const char *pai_lack_name(int lack)
{
  return lack > 0 && lack < PAI_LACKS ? pai__lack_words[lack] : "";
}

/* --- reasons -------------------------------------------------------------- */

/* What is known without the policy takes precedence. */
static uint32_t lack_of(const pai_sched *s, uint32_t req)
{
  uint32_t lack = pai__req_lack(s, pai__req_at(s, req));

  return lack != PAI_LACK_NOTHING ? lack : pai__req_reason(s, req).lack;
}

static uint64_t follows(const pai_sched *s, const pai__req *r)
{
  const pai__after *after = pai__after_of(s, r);
  uint32_t i = 0;

  while (i < r->nafter && after[i].kind == 0)
    i++;
  return i < r->nafter ? after[i].id : 0;
}

/* Returns whether an instance waits, or has claimed a place that others still
 * hold. */
static bool waits(const pai_sched *s, const pai__req *r)
{
  uint32_t run = r->runs;

  if (pai__req_waiting(r) != 0)
    return true;
  while (run != PAI__NONE && pai__run_at(s, run)->state != PAI__RUN_CLAIMED)
    run = pai__run_at(s, run)->next;
  return run != PAI__NONE;
}

int pai_sched_reason(const pai_sched *s, uint64_t id, pai_reason *reason)
{
  pai_reason full = { 0 };
  pai__sched_reason own;
  const pai__req *r;
  uint32_t req;

  PAI__CHECK_ARG(s != NULL && reason != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE || !waits(s, pai__req_at(s, req)))
    return PAI_ENOTFOUND;
  r = pai__req_at(s, req);
  own = pai__req_reason(s, req);
  full.lack = full.of = (int)lack_of(s, req);
  if (full.lack == PAI_LACK_AFTER) {
    full.behind = follows(s, r);
  } else if (full.lack == PAI_LACK_THROTTLE) {
    full.wanted = (uint64_t)r->active + 1;
    full.found = r->at_once;
  } else if (full.lack == (int)own.lack) {
    full = pai__reason_of(s, &own);
    full.of = full.of != 0 ? full.of : full.lack;
  }
  return PAI__FILL_VIEW(reason, full, pai_reason, text);
}

uint32_t pai_sched_failed(const pai_sched *s, uint64_t id, int lack)
{
  uint32_t req = s != NULL ? pai__req_find(s, id) : PAI__NONE;

  /* A request that is not considered any more, such as a held one, has no
   * counts. */
  return req == PAI__NONE || lack < 0 || lack >= PAI_LACKS ||
             lack_of(s, req) != pai__req_said(s, req).lack
           ? 0
           : pai__req_reason(s, req).failed[lack];
}

/* --- requests ------------------------------------------------------------- */

int pai_sched_view_request(const pai_sched *s, uint64_t id,
                           pai_request_view *view)
{
  pai_request_view full = { 0 };
  const pai__req *r;
  uint32_t req;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE)
    return PAI_ENOTFOUND;
  r = pai__req_at(s, req);
  full.state = r->cancelled               ? PAI_REQUEST_STOPPING
               : pai__req_waiting(r) != 0 ? PAI_REQUEST_WAITING
                                          : PAI_REQUEST_RUNNING;
  full.id = r->id;
  full.turn = r->turn;
  full.submitted = r->submitted;
  full.duration = r->duration;
  full.limit = r->limit;
  full.priority = r->priority;
  full.instances = r->instances;
  full.at_once = r->at_once;
  full.held = r->held;
  full.lazy = r->lazy;
  full.name = pai__name_of(s, r);
  full.vc = s->cluster->vcs[r->vc_index].name;
  full.user = pai__texts_text(&s->names, r->user);
  full.pin = pai__texts_text(&s->names, r->pin);
  full.within = pai__texts_text(&s->names, r->within);
  full.wants = r->nwants;
  full.after = r->nafter;
  full.waiting = pai__req_waiting(r);
  full.running = r->active;
  full.finished = r->finished;
  full.failed = r->failed;
  return PAI__FILL_VIEW(view, full, pai_request_view, failed);
}

/* Returns the index of the name of a want, or PAI__NONE. */
static uint32_t want_name(const pai_sched *s, const pai__req *r, uint32_t want)
{
  const uint64_t *lists = s->name_lists.data;
  uint32_t list = r->want_names;

  for (uint32_t i = r->nwants - 1; i > want && list != PAI__NONE; i--)
    list = (uint32_t)lists[list];
  return list != PAI__NONE ? (uint32_t)(lists[list] >> 32) : PAI__NONE;
}

int pai_sched_view_want(const pai_sched *s, uint64_t id, uint32_t want,
                        pai_want *view)
{
  pai_want full = { 0 };
  const pai__req *r;
  const pai__want *w;
  uint32_t req;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE || want >= pai__req_at(s, req)->nwants)
    return PAI_ENOTFOUND;
  r = pai__req_at(s, req);
  w = pai__wants_of(s, r) + want;
  full.name = pai__texts_text(&s->names, want_name(s, r, want));
  full.type = pai__texts_text(&s->names, w->type_name);
  full.tasks = w->tasks;
  full.min_tasks = w->min_tasks;
  full.gpus = w->gpus;
  full.cpus = w->cpu_millis / PAI__CPU;
  full.cpu_millis = w->cpu_millis % PAI__CPU;
  full.ports = w->ports;
  full.memory = w->memory;
  return PAI__FILL_VIEW(view, full, pai_want, memory);
}

uint64_t pai_sched_next(const pai_sched *s, uint64_t id)
{
  uint32_t req;

  if (s == NULL)
    return 0;
  req = id != 0 ? pai__req_find(s, id) : s->m.oldest;
  if (id != 0 && req != PAI__NONE)
    req = ((const pai__link *)s->links.data)[req].newer;
  return req != PAI__NONE ? pai__req_at(s, req)->id : 0;
}

int pai_sched_next_running(const pai_sched *s, uint64_t id, uint32_t *instance,
                           pai_time *started)
{
  uint32_t req, run;

  PAI__CHECK_ARG(s != NULL && instance != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE)
    return PAI_ENOTFOUND;
  if (*instance == PAI_SCHED_ALL) {
    run = pai__req_at(s, req)->runs;
  } else {
    run = pai__run_find(s, req, *instance);
    run = run != PAI__NONE ? pai__run_at(s, run)->next : run;
  }
  while (run != PAI__NONE && pai__run_at(s, run)->state < PAI__RUN_PLACED)
    run = pai__run_at(s, run)->next;
  if (run == PAI__NONE)
    return PAI_ENOTFOUND;
  *instance = pai__run_at(s, run)->instance;
  if (started != NULL)
    *started = pai__run_at(s, run)->since;
  return PAI_OK;
}

/* --- nodes ---------------------------------------------------------------- */

int pai_sched_view_node(const pai_sched *s, size_t node,
                        pai_sched_node_view *view)
{
  pai_sched_node_view full = { 0 };
  const pai__free_capacity *capacity;
  const pai__sched_sku *b;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  if (node >= s->free_capacity.len)
    return PAI_ENOTFOUND;
  capacity = pai__free_capacity_at(s, (uint32_t)node);
  b = pai__sched_sku_of(s->cluster, (uint32_t)node);
  full.name = s->cluster->nodes[node].name;
  full.state = (int)capacity->state;
  full.why = pai__texts_text(&s->names, capacity->reason);
  full.gpus = b->gpus;
  full.free_gpus = pai__bits_ones(capacity->gpus & ~capacity->sick);
  full.sick_gpus = pai__bits_ones(capacity->sick);
  full.free_mask = capacity->gpus & ~capacity->sick;
  full.sick_mask = capacity->sick;
  full.cpus = b->cpus != 0 ? b->cpus - b->first_cpu : 0;
  if (b->cpus != 0 && capacity->cpu_millis > 0) {
    full.free_cpus = (uint32_t)(capacity->cpu_millis / PAI__CPU);
    full.free_cpu_millis = (uint32_t)(capacity->cpu_millis % PAI__CPU);
  }
  full.memory = b->memory;
  full.free_memory =
    b->memory != 0 && capacity->memory > 0 ? (uint64_t)capacity->memory : 0;
  return PAI__FILL_VIEW(view, full, pai_sched_node_view, free_memory);
}

/* Fills in all of a virtual cluster with a part of the whole.  Unknown amounts
 * are 0. */
static void view_part(const pai_sched *s, const pai__sched_vc *t,
                      const uint64_t *used, pai_sched_vc_view *v)
{
  uint32_t cpus = s->cluster->nkinds + PAI__SHARE_CPUS;
  uint32_t memory = s->cluster->nkinds + PAI__SHARE_MEMORY;

  v->parted = 1;
  if (t->shares[cpus] != PAI__NO_LIMIT) {
    v->cpus = t->own[cpus] / PAI__CPU;
    v->most_cpus = t->shares[cpus] / PAI__CPU;
  }
  if (t->shares[memory] != PAI__NO_LIMIT) {
    v->memory = t->own[memory];
    v->most_memory = t->shares[memory];
  }
  v->used_cpus = used[cpus] / PAI__CPU;
  v->used_cpu_millis = (uint32_t)(used[cpus] % PAI__CPU);
  v->used_memory = used[memory];
}

int pai_sched_view_vc(const pai_sched *s, size_t vc, pai_sched_vc_view *view)
{
  pai_sched_vc_view full = { 0 };
  const pai__sched_vc *t;
  const uint64_t *used, *lent;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  if (vc >= s->cluster->nvcs)
    return PAI_ENOTFOUND;
  t = &s->cluster->vcs[vc];
  used = pai__shares_of(s, &s->shares_used, (uint32_t)vc);
  lent = pai__shares_of(s, &s->shares_lent, (uint32_t)vc);
  full.name = t->name;
  full.limited = t->nshares != 0;
  full.stopped = t->stopped;
  for (uint32_t k = 0; k < s->cluster->nkinds; k++) {
    full.gpus += t->nshares != 0 ? t->own[k] : 0;
    full.most_gpus += t->nshares != 0 ? t->shares[k] : 0;
    full.used += used[k];
    full.lent += lent[k];
  }
  if (t->parted)
    view_part(s, t, used, &full);
  for (uint32_t i = 0; i < s->reqs.len; i++) {
    const pai__req *r = pai__req_at(s, i);

    if (r->id == 0 || r->vc_index != vc)
      continue;
    full.waiting += r->queued;
    full.running += r->active;
  }
  return PAI__FILL_VIEW(view, full, pai_sched_vc_view, running);
}

int pai_sched_view_sums(const pai_sched *s, pai_sched_view *view)
{
  pai_sched_view full = { 0 };

  PAI__CHECK_ARG(s != NULL && view != NULL);
  full.policy = s->live.policy->name;
  full.shadow = s->shadow.policy != NULL ? s->shadow.policy->name : NULL;
  full.now = s->m.now;
  full.events = s->m.events;
  full.nodes = s->free_capacity.len;
  full.virtual_clusters = s->cluster->nvcs;
  for (uint32_t i = 0; i < s->free_capacity.len; i++) {
    const pai__free_capacity *capacity = pai__free_capacity_at(s, i);

    full.gpus += pai__sched_sku_of(s->cluster, i)->gpus;
    if (capacity->state == PAI_NODE_UP)
      full.free_gpus += pai__bits_ones(capacity->gpus & ~capacity->sick);
  }
  full.requests = s->m.nreqs;
  full.waiting = s->m.nqueued;
  full.running = s->m.nrunning;
  full.live_decisions = (uint64_t)s->agreement.live;
  full.shadow_decisions = (uint64_t)s->agreement.decisions;
  full.shadow_agreed = (uint64_t)s->agreement.agreed;
  full.shadow_failed = (uint64_t)s->agreement.failed;
  full.set_aside = s->set_aside;
  return PAI__FILL_VIEW(view, full, pai_sched_view, set_aside);
}
