/*
 * remedy.c - a small change with which a request would start now
 *
 * First one thing is changed: remedy_single.c.  Where that is not enough, on a
 * fork, the lack that the policy told is mended by the event that belongs to
 * it; with it a new fork decides, and so on until the request starts.  Then
 * each event is left out once: those without which it starts too are dropped.
 */
#include "sched/remedy.h"

#include "resource/bits.h"

typedef struct seeking {
  const pai_sched *s; /* the real one */
  pai_sched *fork;    /* with the events so far, after it has decided */
  uint64_t id;
  uint32_t most; /* events */
  pai__remedy *out;
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

static int send(pai_sched *fork, const pai_sched_event *e)
{
  return pai_sched_send(fork, e, NULL);
}

int pai__remedy_starts(const pai_sched *s, uint64_t id,
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
      rc = send(fork, &list[i]);
  if (rc == PAI_OK)
    rc = decide(fork, id, starts);
  pai_sched_free(fork);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static int try_without(const seeking *k, uint32_t but, bool *starts)
{
  return pai__remedy_starts(k->s, k->id, k->out->list, k->out->n, but, starts);
}

/* What trials may cost together, in looks at a request, run or node; and how
 * many they are at the least. */
enum { EFFORT = 1 << 17, LEAST_TRIALS = 12 };

uint32_t pai__remedy_trials(const pai_sched *s, uint32_t most)
{
  uint32_t size = s->m.nreqs + s->park->nspots + s->m.nrunning + 1;
  uint32_t trials = (uint32_t)EFFORT / size;

  return trials < LEAST_TRIALS ? LEAST_TRIALS : trials > most ? most : trials;
}

/* One event more; the same one twice would go on for ever. */
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
        old->node == e.node && old->gpu == e.gpu && old->text == e.text)
      return PAI_ENOTFOUND;
  }
  k->out->list[k->out->n++] = e;
  return PAI_OK;
}

static int add_change(seeking *k, const char *key, uint32_t want,
                      int64_t number)
{
  return add(k, (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                                   .id = k->id,
                                   .key = key,
                                   .want = want,
                                   .number = number });
}

/* --- others --------------------------------------------------------------- */

uint64_t pai__remedy_held(const pai_sched *s, const pai__run *run,
                          uint32_t node, uint32_t lack)
{
  const pai__slot *slots = pai__slots_of(s, run);
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  uint64_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];

    if (node != PAI__NONE && slots[i].node != node)
      continue;
    n += lack == PAI_LACK_CPU      ? w->cpus
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

/* Of two that hold enough the one that holds less, else the one that holds
 * more; of equals the one that was placed last. */
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

/* The run whose end helps most; `tenant` and `node` may be PAI__NONE. */
static uint32_t find_holder(const seeking *k, uint32_t node, uint32_t tenant,
                            uint32_t lack, uint64_t missing)
{
  const pai_sched *s = k->fork;
  choice best = { PAI__NONE, 0 };

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    choice c = { i, 0 };

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        pai__req_at(s, run->req)->id == k->id ||
        (tenant != PAI__NONE &&
         (pai__req_at(s, run->req)->tenant != tenant || run->borrowed)))
      continue;
    c.held = pai__remedy_held(s, run, node, lack);
    if (c.held != 0 && is_better(s, c, best, missing))
      best = c;
  }
  return best.run;
}

static int hold(seeking *k, uint64_t id)
{
  return add(
    k, (pai_sched_event){
         .kind = PAI_SCHED_CHANGE, .id = id, .key = "held", .number = 1 });
}

/* What began on the fork only does not run: it would take what is set free. */
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

static int end_holder(seeking *k, const pai__why *why, uint32_t tenant)
{
  uint64_t missing = why->wanted > why->found ? why->wanted - why->found : 1;
  uint32_t lack = why->of != 0 ? why->of : why->lack;
  uint32_t node = tenant == PAI__NONE ? why->node : PAI__NONE;
  uint32_t run = find_holder(k, node, tenant, lack, missing);

  if (run == PAI__NONE)
    run = find_holder(k, PAI__NONE, tenant, lack, missing);
  return run != PAI__NONE ? end_run(k, run) : PAI_ENOTFOUND;
}

/* Those who stop anyway have stopped. */
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

/* A node that is not up is, or one of its GPUs. */
static int heal(seeking *k)
{
  const pai_sched *s = k->fork;

  for (uint32_t i = 0; i < s->rooms.len; i++)
    if (pai__room_at(s, i)->state != PAI_NODE_UP)
      return add(k, (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                       .node = s->park->spots[i].name,
                                       .number = PAI_NODE_UP,
                                       .gpu = -1 });
  for (uint32_t i = 0; i < s->rooms.len; i++)
    for (int32_t g = 0; g < 64; g++)
      if (pai__room_at(s, i)->sick >> g & 1)
        return add(k, (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                         .node = s->park->spots[i].name,
                                         .number = PAI_NODE_UP,
                                         .gpu = g });
  return PAI_ENOTFOUND;
}

static int unreserve(seeking *k)
{
  const pai_sched *s = k->fork;

  return s->kept.len == 0
           ? PAI_ENOTFOUND
           : add(k, (pai_sched_event){
                      .kind = PAI_SCHED_UNRESERVE,
                      .text = pai__texts_text(
                        &k->s->names, ((pai__kept *)s->kept.data)[0].name) });
}

/* Without any holder, what is missing is on nodes that nobody may use. */
static int free_some(seeking *k, const pai__why *why)
{
  int rc = end_holder(k, why, PAI__NONE);

  if (rc == PAI_ENOTFOUND)
    rc = end_stopping(k);
  if (rc == PAI_ENOTFOUND && why->failed[PAI_LACK_RESERVATION] != 0)
    rc = unreserve(k);
  return rc == PAI_ENOTFOUND ? heal(k) : rc;
}

/* --- the request itself --------------------------------------------------- */

/* As much of what lacks as there was; then fewer tasks. */
static int ask_less(seeking *k, const pai__req *r, const pai__why *why)
{
  const pai__want *wants = pai__wants_of(k->fork, r), *w = &wants[why->want];
  uint32_t before = 0;
  int64_t found = (int64_t)why->found;

  for (uint32_t i = 0; i < why->want; i++)
    before += wants[i].tasks;
  if (why->lack == PAI_LACK_GANG && why->placed > before)
    return add_change(k, "tasks", why->want, why->placed - before);
  switch (why->of != 0 ? why->of : why->lack) {
  case PAI_LACK_GPU:
    return found > 0 ? add_change(k, "gpus", why->want, found) : PAI_ENOTFOUND;
  case PAI_LACK_CPU:
    return found > 0 ? add_change(k, "cpus", why->want, found) : PAI_ENOTFOUND;
  case PAI_LACK_MEMORY:
    return found > 0 ? add_change(k, "memory", why->want, found)
                     : PAI_ENOTFOUND;
  case PAI_LACK_PORT: return add_change(k, "ports", why->want, found);
  default:
    return w->tasks > 1 ? add_change(k, "tasks", why->want, w->tasks - 1)
                        : PAI_ENOTFOUND;
  }
}

static int keep_to_share(seeking *k, const pai__req *r, const pai__why *why)
{
  const pai__want *w = pai__wants_of(k->fork, r);

  if (why->of == PAI_LACK_CPU || why->of == PAI_LACK_MEMORY)
    return ask_less(k, r, why);
  if (why->found == 0 || r->nwants != 1 || w->gpus == 0)
    return add_change(k, "priority", 0, PAI_SCHED_OPPORTUNISTIC);
  if (w->gpus <= why->found)
    return add_change(k, "tasks", 0, (int64_t)(why->found / w->gpus));
  return w->tasks == 1 ? add_change(k, "gpus", 0, (int64_t)why->found)
                       : add_change(k, "tasks", 0, 1);
}

static int drop_text(seeking *k, const char *key, uint32_t want)
{
  return add(
    k, (pai_sched_event){
         .kind = PAI_SCHED_CHANGE, .id = k->id, .key = key, .want = want });
}

/* It ends before the next reservation begins. */
static int end_sooner(seeking *k)
{
  const pai_sched *s = k->fork;
  pai_time first = INT64_MAX;

  for (uint32_t i = 0; i < s->kept.len; i++) {
    pai_time from = ((pai__kept *)s->kept.data)[i].from;

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

/* It ends before the first of those that are planned begins. */
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
  /* Of who takes longer than expected nobody knows when he ends. */
  if (first != INT64_MAX && first - s->m.now >= SECOND)
    rc = add_change(k, "limit", 0, first - s->m.now);
  return rc == PAI_ENOTFOUND ? raise(k, r) : rc;
}

static int mend_own(seeking *k, const pai__req *r, const pai__why *why)
{
  switch (why->lack) {
  case PAI_LACK_RELEASE: return add_change(k, "held", 0, 0);
  case PAI_LACK_AFTER: return drop_after(k, r);
  case PAI_LACK_THROTTLE:
    return add_change(k, "at_once", 0, (int64_t)r->active + 1);
  case PAI_LACK_TURN:
  case PAI_LACK_PREEMPTION: return raise(k, r);
  case PAI_LACK_LATER: return end_before_plans(k, r);
  case PAI_LACK_QUOTA: return keep_to_share(k, r, why);
  case PAI_LACK_TYPE: return drop_text(k, "type", why->want);
  case PAI_LACK_PIN: return drop_text(k, "pin", 0);
  case PAI_LACK_RESERVATION: return end_sooner(k);
  case PAI_LACK_TOPOLOGY:
    return r->within != PAI__NONE ? drop_text(k, "within", 0)
                                  : ask_less(k, r, why);
  case PAI_LACK_GPU:
  case PAI_LACK_CPU:
  case PAI_LACK_MEMORY:
  case PAI_LACK_PORT:
  case PAI_LACK_GANG: return ask_less(k, r, why);
  default: return PAI_ENOTFOUND;
  }
}

static int mend_others(seeking *k, const pai__req *r, const pai__why *why)
{
  switch (why->lack) {
  case PAI_LACK_TURN: return hold(k, why->behind);
  case PAI_LACK_QUOTA: return end_holder(k, why, r->tenant);
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
  case PAI_LACK_PREEMPTION: return free_some(k, why);
  default: return mend_own(k, r, why); /* nobody else could */
  }
}

/* --- the loop ------------------------------------------------------------- */

void pai__remedy_reason(const pai_sched *s, uint32_t req, pai__why *why)
{
  uint32_t lack = pai__req_lack(s, pai__req_at(s, req));

  *why = pai__req_why(s, req);
  if (lack != PAI_LACK_NOTHING)
    why->lack = lack;
}

/* A new fork with the events so far, which has decided. */
static int look(seeking *k, bool *starts)
{
  int rc;

  pai_sched_free(k->fork);
  rc = pai_sched_fork(&k->fork, k->s, NULL);
  for (uint32_t i = 0; i < k->out->n && rc == PAI_OK; i++)
    rc = send(k->fork, &k->out->list[i]);
  return rc == PAI_OK ? decide(k->fork, k->id, starts) : rc;
}

static int seek(seeking *k, enum pai__remedy_side side, bool *starts)
{
  int rc = PAI_OK;

  *starts = false;
  while (rc == PAI_OK && !*starts) {
    uint32_t req;
    pai__why why;

    rc = look(k, starts);
    if (rc < 0 || *starts)
      break;
    req = pai__req_find(k->fork, k->id);
    if (req == PAI__NONE) /* with these it is over */
      break;
    pai__remedy_reason(k->fork, req, &why);
    rc = side == PAI__REMEDY_OWN
           ? mend_own(k, pai__req_at(k->fork, req), &why)
           : mend_others(k, pai__req_at(k->fork, req), &why);
  }
  return rc == PAI_ENOMEM || rc == PAI_ENOTSUP ? rc : PAI_OK;
}

/* What it does not need is left out, from the first on: what was mended first
 * was mended with least knowledge. */
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

/* Several events that start it together. */
static int find_group(seeking *k, enum pai__remedy_side side)
{
  bool starts;
  int rc = seek(k, side, &starts);

  if (rc == PAI_OK && !starts)
    k->out->n = 0;
  if (rc == PAI_OK)
    rc = thin_out(k);
  if (rc == PAI_OK && k->out->n != 0) {
    /* Once more as a whole: this is what is told. */
    rc = try_without(k, PAI__NONE, &starts);
    if (!starts)
      k->out->n = 0;
  }
  return rc;
}

int pai__remedy_find(const pai_sched *s, uint64_t id,
                     enum pai__remedy_side side, pai__remedy *out,
                     pai_error **err)
{
  seeking k = { .s = s,
                .id = id,
                .most = pai__remedy_trials(s, PAI__REMEDY_STEPS),
                .out = out };
  int rc;

  out->n = 0;
  out->least = false;
  if (err != NULL)
    *err = NULL;
  rc = try_without(&k, PAI__NONE, &out->anyway);
  if (rc == PAI_OK && !out->anyway)
    rc = pai__remedy_single(s, id, side, out);
  if (rc == PAI_OK && !out->anyway)
    rc = find_group(&k, side);
  pai_sched_free(k.fork);
  return rc == PAI_ENOTSUP ? pai__fail(err, rc, "the policy cannot be copied")
         : rc < 0          ? pai__oom(err)
                           : PAI_OK;
}
