/*
 * suggested_change.c - finding a small change with which a request starts now
 *
 * Single changes are tried first: explain/suggested_single.c.  If none is
 * enough, the lack that the policy reports on a fork is removed by an event,
 * then a new fork decides with this event, and so on until the request starts.
 * Then each event is left out once, and dropped if the request starts without
 * it.
 */
#include "sched/explain/explain.h"

#include "resource/bits.h"

typedef struct seeking {
  const pai_sched *s; /* the real scheduler */
  pai_sched *fork;    /* a fork with the events so far, after it decided */
  uint64_t id;
  uint32_t most; /* limit of events */
  pai__suggested_change *out;
} seeking;

/* --- trying --------------------------------------------------------------- */

static int decide(pai_sched *fork, uint64_t id, bool *starts)
{
  int n = pai_sched_decide(fork, fork->m.now, NULL);

  *starts = false;
  for (int i = 0; i < n && !*starts; i++) {
    const pai__decision *d = (pai__decision *)fork->decisions.data + i;

    *starts = d->kind == PAI_DECISION_START && d->id == id;
  }
  return n < 0 ? n : PAI_OK;
}

int pai__suggest_starts(const pai_sched *s, uint64_t id,
                        const pai_sched_event *list, uint32_t n, uint32_t but,
                        bool *starts)
{
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, s, NULL);

  *starts = false;
  if (rc < 0)
    return rc;
  for (uint32_t i = 0; i < n && rc == PAI_OK; i++)
    if (i != but)
      rc = pai_sched_send(fork, &list[i], NULL);
  if (rc == PAI_OK)
    rc = decide(fork, id, starts);
  pai_sched_free(fork);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static int try_without(const seeking *k, uint32_t but, bool *starts)
{
  return pai__suggest_starts(k->s, k->id, k->out->list, k->out->n, but,
                             starts);
}

/* Limit of all trials together, in looks at a request, run or node; and the
 * least number of trials. */
enum { EFFORT = 1 << 17, LEAST_TRIALS = 12 };

uint32_t pai__suggest_trials(const pai_sched *s, uint32_t most)
{
  uint32_t size = s->m.nreqs + s->cluster->nnodes + s->m.nrunning + 1;
  uint32_t trials = (uint32_t)EFFORT / size;

  return trials < LEAST_TRIALS ? LEAST_TRIALS : trials > most ? most : trials;
}

/* --- events --------------------------------------------------------------- */

pai_sched_event pai__suggest_change(uint64_t id, const char *key,
                                    uint32_t want, int64_t number)
{
  return (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                            .id = id,
                            .key = key,
                            .want = want,
                            .number = number };
}

pai_sched_event pai__suggest_cpus(uint64_t id, uint32_t want, uint64_t millis)
{
  pai_sched_event e =
    pai__suggest_change(id, "cpus", want, (int64_t)(millis / PAI__CPU));

  e.cpu_millis = (uint32_t)(millis % PAI__CPU);
  return e;
}

pai_sched_event pai__suggest_heal(const pai_sched *s, uint32_t node,
                                  int32_t gpu)
{
  return (pai_sched_event){ .kind = PAI_SCHED_NODE,
                            .node = s->cluster->nodes[node].name,
                            .number = PAI_NODE_UP,
                            .gpu = gpu };
}

pai_sched_event pai__suggest_unreserve(const pai_sched *s, uint32_t name)
{
  return (pai_sched_event){ .kind = PAI_SCHED_UNRESERVE,
                            .text = pai__texts_text(&s->names, name) };
}

/* Adds an event.  The same event twice would never end, so it is refused. */
static int add(seeking *k, pai_sched_event e)
{
  if (k->out->n == k->most)
    return PAI_ELIMIT;
  e.struct_size = sizeof(e);
  e.time = k->s->m.now;
  for (uint32_t i = 0; i < k->out->n; i++) {
    const pai_sched_event *old = &k->out->list[i];

    if (old->kind == e.kind && old->id == e.id &&
        old->instance == e.instance && old->key == e.key &&
        old->want == e.want && old->number == e.number &&
        old->cpu_millis == e.cpu_millis && old->node == e.node &&
        old->gpu == e.gpu && old->text == e.text)
      return PAI_ENOTFOUND;
  }
  k->out->list[k->out->n++] = e;
  return PAI_OK;
}

static int add_change(seeking *k, const char *key, uint32_t want,
                      int64_t number)
{
  return add(k, pai__suggest_change(k->id, key, want, number));
}

/* A task that asks for whole CPUs is offered whole ones. */
static int add_fewer_cpus(seeking *k, const pai__want *w, uint32_t want,
                          uint64_t found)
{
  if (w->cpu_millis % PAI__CPU == 0)
    found -= found % PAI__CPU;
  return found == 0 ? PAI_ENOTFOUND
                    : add(k, pai__suggest_cpus(k->id, want, found));
}

/* --- others --------------------------------------------------------------- */

uint64_t pai__suggest_held(const pai_sched *s, const pai__run *run,
                           uint32_t node, uint32_t lack)
{
  const pai__slot *slots = pai__slots_of(s, run);
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  uint64_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];

    if (node != PAI__NONE && slots[i].node != node)
      continue;
    n += lack == PAI_LACK_CPU      ? w->cpu_millis
         : lack == PAI_LACK_MEMORY ? w->memory
         : lack == PAI_LACK_PORT   ? w->ports
                                   : w->gpus;
  }
  return n;
}

typedef struct choice {
  uint32_t run;
  uint64_t held;
} choice;

/* Compares two runs.  One that holds enough is better.  Of two that hold
 * enough, the one that holds less is better, of others the one that holds
 * more.  Of equal ones, the one that was placed last. */
static bool is_better(const pai_sched *s, choice a, choice b, uint64_t missing)
{
  if (b.run == PAI__NONE)
    return true;
  if ((a.held >= missing) != (b.held >= missing))
    return a.held >= missing;
  if (a.held != b.held)
    return (a.held < b.held) == (a.held >= missing);
  return pai__run_at(s, a.run)->order > pai__run_at(s, b.run)->order;
}

/* Returns the run whose end helps most.  `vc_index` and `node` may be
 * PAI__NONE. */
static uint32_t find_holder(const seeking *k, uint32_t node, uint32_t vc_index,
                            uint32_t lack, uint64_t missing)
{
  const pai_sched *s = k->fork;
  choice best = { PAI__NONE, 0 };

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    choice c = { i, 0 };

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        pai__req_at(s, run->req)->id == k->id ||
        (vc_index != PAI__NONE &&
         (pai__req_at(s, run->req)->vc_index != vc_index || run->borrowed)))
      continue;
    c.held = pai__suggest_held(s, run, node, lack);
    if (c.held != 0 && is_better(s, c, best, missing))
      best = c;
  }
  return best.run;
}

static int hold(seeking *k, uint64_t id)
{
  return add(k, pai__suggest_change(id, "held", 0, 1));
}

/* Ends a run.  A run that started only on the fork does not run in fact: its
 * request is held, so that it does not take what becomes free. */
static int end_run(seeking *k, uint32_t run)
{
  const pai__run *x = pai__run_at(k->fork, run);
  uint64_t id = pai__req_at(k->fork, x->req)->id;

  return x->order > k->s->m.orders
           ? hold(k, id)
           : add(k, (pai_sched_event){ .kind = PAI_SCHED_FINISHED,
                                       .id = id,
                                       .instance = x->instance });
}

static int end_holder(seeking *k, const pai__sched_reason *reason,
                      uint32_t vc_index)
{
  uint64_t missing =
    reason->wanted > reason->found ? reason->wanted - reason->found : 1;
  uint32_t lack = reason->of != 0 ? reason->of : reason->lack;
  uint32_t node = vc_index == PAI__NONE ? reason->node : PAI__NONE;
  uint32_t run = find_holder(k, node, vc_index, lack, missing);

  if (run == PAI__NONE)
    run = find_holder(k, PAI__NONE, vc_index, lack, missing);
  return run != PAI__NONE ? end_run(k, run) : PAI_ENOTFOUND;
}

static int end_stopping(seeking *k)
{
  pai_sched *s = k->fork;
  int rc = PAI_ENOTFOUND;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req == PAI__NONE || run->state != PAI__RUN_STOPPING)
      continue;
    rc = end_run(k, i);
    if (rc < 0)
      return rc;
  }
  return rc;
}

static int heal(seeking *k)
{
  const pai_sched *s = k->fork;

  for (uint32_t i = 0; i < s->free_capacity.len; i++)
    if (pai__free_capacity_at(s, i)->state != PAI_NODE_UP)
      return add(k, pai__suggest_heal(s, i, -1));
  for (uint32_t i = 0; i < s->free_capacity.len; i++)
    for (int32_t g = 0; g < 64; g++)
      if (pai__free_capacity_at(s, i)->sick >> g & 1)
        return add(k, pai__suggest_heal(s, i, g));
  return PAI_ENOTFOUND;
}

static int unreserve(seeking *k)
{
  const pai__sched_reservation *first = k->fork->reservations.data;

  return k->fork->reservations.len == 0
           ? PAI_ENOTFOUND
           : add(k, pai__suggest_unreserve(k->s, first->name));
}

/* If no run holds what lacks, it is on nodes that may not be used. */
static int free_some(seeking *k, const pai__sched_reason *reason)
{
  int rc = end_holder(k, reason, PAI__NONE);

  if (rc == PAI_ENOTFOUND)
    rc = end_stopping(k);
  if (rc == PAI_ENOTFOUND && reason->failed[PAI_LACK_RESERVATION] != 0)
    rc = unreserve(k);
  return rc == PAI_ENOTFOUND ? heal(k) : rc;
}

/* --- the request itself --------------------------------------------------- */

/* Asks for as much as was found of what lacks; else for fewer tasks. */
static int ask_less(seeking *k, const pai__req *r,
                    const pai__sched_reason *reason)
{
  const pai__want *wants = pai__wants_of(k->fork, r),
                  *w = &wants[reason->want];
  uint32_t before = 0;
  int64_t found = (int64_t)reason->found;

  for (uint32_t i = 0; i < reason->want; i++)
    before += wants[i].tasks;
  if (reason->lack == PAI_LACK_GANG && reason->placed > before)
    return add_change(k, "tasks", reason->want, reason->placed - before);
  switch (reason->of != 0 ? reason->of : reason->lack) {
  case PAI_LACK_GPU:
    return found > 0 ? add_change(k, "gpus", reason->want, found)
                     : PAI_ENOTFOUND;
  case PAI_LACK_CPU: return add_fewer_cpus(k, w, reason->want, reason->found);
  case PAI_LACK_MEMORY:
    return found > 0 ? add_change(k, "memory", reason->want, found)
                     : PAI_ENOTFOUND;
  case PAI_LACK_PORT: return add_change(k, "ports", reason->want, found);
  default:
    return w->tasks > 1 ? add_change(k, "tasks", reason->want, w->tasks - 1)
                        : PAI_ENOTFOUND;
  }
}

static int keep_to_share(seeking *k, const pai__req *r,
                         const pai__sched_reason *reason)
{
  const pai__want *w = pai__wants_of(k->fork, r);

  if (reason->of == PAI_LACK_CPU || reason->of == PAI_LACK_MEMORY)
    return ask_less(k, r, reason);
  if (reason->found == 0 || r->nwants != 1 || w->gpus == 0)
    return add_change(k, "priority", 0, PAI_SCHED_OPPORTUNISTIC);
  if (w->gpus <= reason->found)
    return add_change(k, "tasks", 0, (int64_t)(reason->found / w->gpus));
  return w->tasks == 1 ? add_change(k, "gpus", 0, (int64_t)reason->found)
                       : add_change(k, "tasks", 0, 1);
}

/* Limits the request to end before the next reservation begins. */
static int end_sooner(seeking *k)
{
  const pai_sched *s = k->fork;
  pai_time first = INT64_MAX;

  for (uint32_t i = 0; i < s->reservations.len; i++) {
    pai_time from = ((pai__sched_reservation *)s->reservations.data)[i].from;

    if (from > s->m.now && from < first)
      first = from;
  }
  return first != INT64_MAX ? add_change(k, "limit", 0, first - s->m.now)
                            : PAI_ENOTFOUND;
}

static int drop_after(seeking *k, const pai__req *r)
{
  const pai__after *after = pai__after_of(k->fork, r);

  for (uint32_t i = 0; i < r->nafter; i++)
    if (after[i].kind != 0)
      return add_change(k, "after", 0, (int64_t)after[i].id);
  return PAI_ENOTFOUND;
}

static int raise(seeking *k, const pai__req *r)
{
  return r->priority < PAI_SCHED_MAX_PRIORITY
           ? add_change(k, "priority", 0, PAI_SCHED_MAX_PRIORITY)
           : PAI_ENOTFOUND;
}

enum { SECOND = 1000000 };

/* Limits the request to end before the first planned start. */
static int end_before_plans(seeking *k, const pai__req *r)
{
  const pai_sched *s = k->fork;
  pai_time first = INT64_MAX;
  int rc = PAI_ENOTFOUND;

  for (uint32_t i = 0; i < s->reqs.len; i++) {
    pai_time until;

    if (pai__req_at(s, i)->id == 0 || pai__req_waiting(pai__req_at(s, i)) == 0)
      continue;
    until = pai__req_said(s, i).until;
    if (until > s->m.now && until < first)
      first = until;
  }
  /* A run that is later than expected has no known end. */
  if (first != INT64_MAX && first - s->m.now >= SECOND)
    rc = add_change(k, "limit", 0, first - s->m.now);
  return rc == PAI_ENOTFOUND ? raise(k, r) : rc;
}

static int mend_own(seeking *k, const pai__req *r,
                    const pai__sched_reason *reason)
{
  switch (reason->lack) {
  case PAI_LACK_RELEASE: return add_change(k, "held", 0, 0);
  case PAI_LACK_AFTER: return drop_after(k, r);
  case PAI_LACK_THROTTLE:
    return add_change(k, "at_once", 0, (int64_t)r->active + 1);
  case PAI_LACK_TURN:
  case PAI_LACK_PREEMPTION: return raise(k, r);
  case PAI_LACK_LATER: return end_before_plans(k, r);
  case PAI_LACK_QUOTA: return keep_to_share(k, r, reason);
  case PAI_LACK_TYPE: return add_change(k, "type", reason->want, 0);
  case PAI_LACK_PIN: return add_change(k, "pin", 0, 0);
  case PAI_LACK_RESERVATION: return end_sooner(k);
  case PAI_LACK_TOPOLOGY:
    return r->within != PAI__NONE ? add_change(k, "within", 0, 0)
                                  : ask_less(k, r, reason);
  case PAI_LACK_GPU:
  case PAI_LACK_CPU:
  case PAI_LACK_MEMORY:
  case PAI_LACK_PORT:
  case PAI_LACK_GANG: return ask_less(k, r, reason);
  default: return PAI_ENOTFOUND;
  }
}

static int mend_others(seeking *k, const pai__req *r,
                       const pai__sched_reason *reason)
{
  switch (reason->lack) {
  case PAI_LACK_TURN: return hold(k, reason->behind);
  case PAI_LACK_QUOTA: return end_holder(k, reason, r->vc_index);
  case PAI_LACK_HEALTH: return heal(k);
  case PAI_LACK_RESERVATION: return unreserve(k);
  case PAI_LACK_VICTIMS: return end_stopping(k);
  case PAI_LACK_GPU:
  case PAI_LACK_CPU:
  case PAI_LACK_MEMORY:
  case PAI_LACK_PORT:
  case PAI_LACK_TOPOLOGY:
  case PAI_LACK_GANG:
  case PAI_LACK_LATER:
  case PAI_LACK_POLICY:
  case PAI_LACK_PREEMPTION: return free_some(k, reason);
  default:
    return mend_own(k, r, reason); /* only a change of the request
                                             itself could help */
  }
}

/* --- the loop ------------------------------------------------------------- */

void pai__suggest_reason(const pai_sched *s, uint32_t req,
                         pai__sched_reason *reason)
{
  uint32_t lack = pai__req_lack(s, pai__req_at(s, req));

  *reason = pai__req_reason(s, req);
  if (lack != PAI_LACK_NOTHING)
    reason->lack = lack;
}

/* Makes a new fork, sends the events so far, and decides. */
static int look(seeking *k, bool *starts)
{
  int rc;

  pai_sched_free(k->fork);
  rc = pai_sched_fork(&k->fork, k->s, NULL);
  for (uint32_t i = 0; i < k->out->n && rc == PAI_OK; i++)
    rc = pai_sched_send(k->fork, &k->out->list[i], NULL);
  return rc == PAI_OK ? decide(k->fork, k->id, starts) : rc;
}

static int seek(seeking *k, enum pai__suggest_side side, bool *starts)
{
  int rc = PAI_OK;

  *starts = false;
  while (rc == PAI_OK && !*starts) {
    uint32_t req;
    pai__sched_reason reason;

    rc = look(k, starts);
    if (rc < 0 || *starts)
      break;
    req = pai__req_find(k->fork, k->id);
    if (req == PAI__NONE) /* the events have ended the request */
      break;
    pai__suggest_reason(k->fork, req, &reason);
    rc = side == PAI__SUGGEST_OWN
           ? mend_own(k, pai__req_at(k->fork, req), &reason)
           : mend_others(k, pai__req_at(k->fork, req), &reason);
  }
  return rc == PAI_ENOMEM || rc == PAI_ENOTSUP ? rc : PAI_OK;
}

/* Drops events that are not needed.  The first ones were chosen with the least
 * knowledge, so they are tried first. */
static int thin_out(seeking *k)
{
  bool starts;
  int rc = PAI_OK;

  for (uint32_t i = 0; i < k->out->n && rc == PAI_OK && k->out->n > 1;) {
    rc = try_without(k, i, &starts);
    if (rc == PAI_OK && starts) {
      k->out->n--;
      memmove(&k->out->list[i], &k->out->list[i + 1],
              (k->out->n - i) * sizeof(k->out->list[0]));
    } else {
      i++;
    }
  }
  return rc;
}

static int find_group(seeking *k, enum pai__suggest_side side)
{
  bool starts;
  int rc = seek(k, side, &starts);

  if (rc == PAI_OK && !starts)
    k->out->n = 0;
  if (rc == PAI_OK)
    rc = thin_out(k);
  if (rc == PAI_OK && k->out->n != 0) {
    /* Try the final list as a whole. */
    rc = try_without(k, PAI__NONE, &starts);
    if (!starts)
      k->out->n = 0;
  }
  return rc;
}

int pai__suggest_find(const pai_sched *s, uint64_t id,
                      enum pai__suggest_side side, pai__suggested_change *out,
                      pai_error **err)
{
  seeking k = { .s = s,
                .id = id,
                .most = pai__suggest_trials(s, PAI__SUGGEST_STEPS),
                .out = out };
  int rc;

  out->n = 0;
  out->least = false;
  pai__clear_err(err);
  rc = try_without(&k, PAI__NONE, &out->anyway);
  if (rc == PAI_OK && !out->anyway)
    rc = pai__suggest_single(s, id, side, out);
  if (rc == PAI_OK && !out->anyway)
    rc = find_group(&k, side);
  pai_sched_free(k.fork);
  return rc == PAI_ENOTSUP ? pai__fail(err, rc, "the policy cannot be copied")
         : rc < 0          ? pai__oom(err)
                           : PAI_OK;
}
