/* view.c - a look at a scheduler */
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

uint64_t pai__lack_amount(uint32_t lack, uint64_t amount)
{
  return lack == PAI_LACK_MEMORY ? amount >> 20 : amount;
}

const char *pai_lack_name(int lack)
{
  return lack > 0 && lack < PAI_LACKS ? pai__lack_words[lack] : "";
}

/* --- reasons -------------------------------------------------------------- */

/* What is known without a policy goes first. */
static uint32_t lack_of(const pai_sched *s, uint32_t req)
{
  uint32_t lack = pai__req_lack(s, pai__req_at(s, req));

  return lack != PAI_LACK_NOTHING ? lack : pai__req_why(s, req).lack;
}

/* The first request it waits for. */
static uint64_t follows(const pai_sched *s, const pai__req *r)
{
  const pai__after *after = pai__after_of(s, r);
  uint32_t i = 0;

  while (i < r->nafter && after[i].kind == 0)
    i++;
  return i < r->nafter ? after[i].id : 0;
}

/* Also for those who have to leave its place. */
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
  pai__why why;
  const pai__req *r;
  uint32_t req;

  PAI__CHECK_ARG(s != NULL && reason != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE || !waits(s, pai__req_at(s, req)))
    return PAI_ENOTFOUND;
  r = pai__req_at(s, req);
  why = pai__req_why(s, req);
  full.lack = full.of = (int)lack_of(s, req);
  if (full.lack == PAI_LACK_AFTER) {
    full.behind = follows(s, r);
  } else if (full.lack == PAI_LACK_THROTTLE) {
    full.wanted = (uint64_t)r->active + 1;
    full.found = r->at_once;
  } else if (full.lack == (int)why.lack) {
    full.of = (int)(why.of != 0 ? why.of : why.lack);
    full.want = why.want;
    full.placed = why.placed;
    full.tasks = why.tasks;
    full.wanted = why.wanted;
    full.found = why.found;
    full.behind = why.behind;
    full.until = why.until;
    full.text = pai__texts_text(&s->names, why.text);
    if (why.node != PAI__NONE)
      full.node = s->park->spots[why.node].name;
  }
  return PAI__FILL_VIEW(reason, full, pai_reason, text);
}

uint32_t pai_sched_failed(const pai_sched *s, uint64_t id, int lack)
{
  uint32_t req = s != NULL ? pai__req_find(s, id) : PAI__NONE;

  /* What nobody considers any more, as what is held, has no such counts. */
  return req == PAI__NONE || lack < 0 || lack >= PAI_LACKS ||
             lack_of(s, req) != pai__req_said(s, req).lack
           ? 0
           : pai__req_why(s, req).failed[lack];
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
  full.vc = s->park->tenants[r->tenant].name;
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

int pai_sched_view_want(const pai_sched *s, uint64_t id, uint32_t want,
                        pai_want *view)
{
  pai_want full = { 0 };
  const pai__want *w;
  uint32_t req;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  req = pai__req_find(s, id);
  if (req == PAI__NONE || want >= pai__req_at(s, req)->nwants)
    return PAI_ENOTFOUND;
  w = pai__wants_of(s, pai__req_at(s, req)) + want;
  full.name = pai__texts_text(&s->names, w->name);
  full.type = pai__texts_text(&s->names, w->type_name);
  full.tasks = w->tasks;
  full.min_tasks = w->min_tasks;
  full.gpus = w->gpus;
  full.cpus = w->cpus;
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
  const pai__room *room;
  const pai__build *b;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  if (node >= s->rooms.len)
    return PAI_ENOTFOUND;
  room = pai__room_at(s, (uint32_t)node);
  b = pai__build_of(s->park, (uint32_t)node);
  full.name = s->park->spots[node].name;
  full.state = (int)room->state;
  full.why = pai__texts_text(&s->names, room->why);
  full.gpus = b->gpus;
  full.free_gpus = pai__bits_ones(room->gpus & ~room->sick);
  full.sick_gpus = pai__bits_ones(room->sick);
  full.free_mask = room->gpus & ~room->sick;
  full.sick_mask = room->sick;
  full.cpus = b->cpus != 0 ? b->cpus - b->first_cpu : 0;
  full.free_cpus = b->cpus != 0 && room->cpus > 0 ? (uint32_t)room->cpus : 0;
  full.memory = b->memory;
  full.free_memory =
    b->memory != 0 && room->memory > 0 ? (uint64_t)room->memory : 0;
  return PAI__FILL_VIEW(view, full, pai_sched_node_view, free_memory);
}

/* Of CPUs and memory, too; what nobody knows is 0. */
static void view_part(const pai_sched *s, const pai__tenant *t,
                      const uint64_t *used, pai_sched_vc_view *v)
{
  uint32_t cpus = s->park->nkinds + PAI__SHARE_CPUS;
  uint32_t memory = s->park->nkinds + PAI__SHARE_MEMORY;

  v->parted = 1;
  if (t->shares[cpus] != PAI__NO_LIMIT) {
    v->cpus = t->own[cpus];
    v->most_cpus = t->shares[cpus];
  }
  if (t->shares[memory] != PAI__NO_LIMIT) {
    v->memory = t->own[memory];
    v->most_memory = t->shares[memory];
  }
  v->used_cpus = used[cpus];
  v->used_memory = used[memory];
}

int pai_sched_view_vc(const pai_sched *s, size_t vc, pai_sched_vc_view *view)
{
  pai_sched_vc_view full = { 0 };
  const pai__tenant *t;
  const uint64_t *used, *lent;

  PAI__CHECK_ARG(s != NULL && view != NULL);
  if (vc >= s->park->ntenants)
    return PAI_ENOTFOUND;
  t = &s->park->tenants[vc];
  used = pai__shares_of(s, &s->shares_used, (uint32_t)vc);
  lent = pai__shares_of(s, &s->shares_lent, (uint32_t)vc);
  full.name = t->name;
  full.limited = t->nshares != 0;
  full.stopped = t->stopped;
  for (uint32_t k = 0; k < s->park->nkinds; k++) {
    full.gpus += t->nshares != 0 ? t->own[k] : 0;
    full.most_gpus += t->nshares != 0 ? t->shares[k] : 0;
    full.used += used[k];
    full.lent += lent[k];
  }
  if (t->parted)
    view_part(s, t, used, &full);
  for (uint32_t i = 0; i < s->reqs.len; i++) {
    const pai__req *r = pai__req_at(s, i);

    if (r->id == 0 || r->tenant != vc)
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
  full.policy = s->policy->name;
  full.shadow = s->shadow != NULL ? s->shadow->name : NULL;
  full.now = s->m.now;
  full.events = s->m.events;
  full.nodes = s->rooms.len;
  full.virtual_clusters = s->park->ntenants;
  for (uint32_t i = 0; i < s->rooms.len; i++) {
    const pai__room *room = pai__room_at(s, i);

    full.gpus += pai__build_of(s->park, i)->gpus;
    if (room->state == PAI_NODE_UP)
      full.free_gpus += pai__bits_ones(room->gpus & ~room->sick);
  }
  full.requests = s->m.nreqs;
  full.waiting = s->m.nqueued;
  full.running = s->m.nrunning;
  full.live_decisions = s->shadow_live;
  full.shadow_decisions = s->shadow_decisions;
  full.shadow_agreed = s->shadow_agreed;
  full.shadow_failed = s->shadow_failed;
  full.set_aside = s->set_aside;
  return PAI__FILL_VIEW(view, full, pai_sched_view, set_aside);
}
