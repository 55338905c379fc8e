/* decide.c - deciding: limits, the policy and its shadow, reading decisions */

#include "sched/start.h"
#include "sched/log/event.h"
#include "sched/policy/guarantee.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"
#include "sched/sched.h"

/* --- shadow --------------------------------------------------------------- */

/* Lets the shadow decide on a fork.  *out is NULL if the shadow failed.
 * Returns PAI_OK or PAI_ENOMEM. */
static int shadow_decide(pai_sched **out, pai_sched *s)
{
  pai_sched *fork;
  int rc;

  *out = NULL;
  if (pai__fork_without_policy(&fork, s, &s->alloc) < 0)
    return PAI_ENOMEM;
  rc = pai__policy_copy(fork, &s->shadow, NULL);
  if (rc == PAI_OK) {
    fork->deciding = true;
    rc = pai__decide_all(fork);
    fork->deciding = false;
  }
  if (rc == PAI_OK) {
    *out = fork;
    return PAI_OK;
  }
  s->agreement.failed++;
  pai_sched_free(fork);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

/* --- comparing ------------------------------------------------------------ */

static const pai__run *run_of(const pai_sched *s, uint64_t id,
                              uint32_t instance)
{
  uint32_t run = pai__run_find(s, pai__req_find(s, id), instance);

  return run != PAI__NONE ? pai__run_at(s, run) : NULL;
}

static bool is_placed_alike(const pai_sched *s, const pai__decision *a,
                            const pai_sched *fork, const pai__decision *b)
{
  const pai__run *x = run_of(s, a->id, a->instance);
  const pai__run *y = run_of(fork, b->id, b->instance);
  const pai__slot *m, *n;

  if (x == NULL || y == NULL || x->tasks != y->tasks)
    return false;
  m = pai__slots_of(s, x);
  n = pai__slots_of(fork, y);
  for (uint32_t i = 0; i < x->tasks; i++)
    if (m[i].node != n[i].node || m[i].gpus != n[i].gpus)
      return false;
  return true;
}

static bool is_same(const pai_sched *s, const pai__decision *a,
                    const pai_sched *fork, const pai__decision *b)
{
  if (a->kind != b->kind || a->id != b->id || a->instance != b->instance ||
      a->cause != b->cause || a->tasks != b->tasks)
    return false;
  return a->kind == PAI_DECISION_STOP || is_placed_alike(s, a, fork, b);
}

/* Counts the decisions of the shadow, and those that are equal to a decision
 * of the live policy, of which `first` is the first.  Takes the fork. */
static void shadow_compare(pai_sched *s, pai_sched *fork, uint32_t first)
{
  pai__decision *live = s->decisions.data, *other = fork->decisions.data;

  for (uint32_t k = 0; k < first; k++)
    live[k].agreed = true;
  s->agreement.live += s->decisions.len - first;
  s->agreement.decisions += fork->decisions.len;
  for (uint32_t i = 0; i < fork->decisions.len; i++)
    for (uint32_t k = first; k < s->decisions.len; k++)
      if (is_same(s, &live[k], fork, &other[i])) {
        s->agreement.agreed++;
        live[k].agreed = other[i].agreed = true;
        break;
      }
  fork->told = fork->decisions.len;
  s->beside = fork;
}

void pai__shadow_forget(pai_sched *s)
{
  if (s->beside == NULL)
    return;
  pai_sched_free(s->beside);
  s->beside = NULL;
}

const pai_sched *pai_sched_shadow(const pai_sched *s)
{
  return s != NULL ? s->beside : NULL;
}

/* --- limits --------------------------------------------------------------- */

static pai_time end_of(const pai_sched *s, const pai__run *run)
{
  pai_time limit = pai__req_at(s, run->req)->limit;

  return limit == 0 || run->since > INT64_MAX - limit ? INT64_MAX
                                                      : run->since + limit;
}

static bool is_limited(const pai_sched *s, const pai__run *run)
{
  return run->state == PAI__RUN_STARTED &&
         pai__req_at(s, run->req)->limit != 0;
}

/* Stops the runs that have reached their limits, in the order of their ends. */
static int stop_overdue(pai_sched *s)
{
  if (s->m.now < s->m.next_limit)
    return PAI_OK;
  if (!pai__ends_ready(s))
    return PAI_ENOMEM;
  s->m.next_limit = INT64_MAX;
  for (uint32_t i = 0; i < s->ends.len; i++) {
    const pai__end *end = pai__end_at(s, i);

    if (!is_limited(s, pai__run_at(s, end->run)))
      continue;
    if (end->at > s->m.now) {
      s->m.next_limit = end->at;
      break;
    }
    if (pai__stop(s, end->run, PAI_STOP_LIMIT, 0) < 0) {
      s->m.next_limit = s->m.now;
      return PAI_ENOMEM;
    }
  }
  return PAI_OK;
}

void pai__limit_set(pai_sched *s, const pai__run *run)
{
  pai_time end = end_of(s, run);

  if (run->state == PAI__RUN_STARTED && end < s->m.next_limit)
    s->m.next_limit = end;
}

pai_time pai_sched_next_time(const pai_sched *s)
{
  pai_time kept, limit;

  if (s == NULL)
    return INT64_MAX;
  kept = s->reservations.len != 0 ? pai__sched_reservation_next(s) : INT64_MAX;
  limit = s->m.next_limit;
  return kept < limit ? kept : limit;
}

/* --- deciding ------------------------------------------------------------- */

static pai__decision *decision_at(const pai_sched *s, uint32_t i)
{
  return (pai__decision *)s->decisions.data + i;
}

/* Returns whether a stop that an event decided is still to be made. */
static bool still_stops(const pai_sched *s, const pai__decision *d)
{
  const pai__run *run = run_of(s, d->id, d->instance);

  return run != NULL && run->state == PAI__RUN_STOPPING;
}

/* Removes the decisions that the caller has read.  Keeps those that events
 * have made since. */
static void forget_told(pai_sched *s)
{
  uint32_t kept = 0;

  for (uint32_t i = s->told; i < s->decisions.len; i++)
    if (still_stops(s, decision_at(s, i)))
      *decision_at(s, kept++) = *decision_at(s, i);
  s->decisions.len = kept;
  s->told = 0;
}

static int let_decide(pai_sched *s, pai_error **err)
{
  pai_sched *shadow = NULL;
  uint32_t first;
  int rc;

  pai__shadow_forget(s);
  rc = stop_overdue(s);

  if (rc == PAI_OK)
    rc = pai__start_claimed(s);
  if (rc == PAI_OK && s->shadow.policy != NULL)
    rc = shadow_decide(&shadow, s);
  if (rc < 0)
    return pai__policy_failed(s, rc, err);
  first = s->decisions.len;
  s->deciding = true;
  rc = pai__decide_all(s);
  s->deciding = false;
  if (shadow != NULL)
    shadow_compare(s, shadow, first);
  return rc < 0 ? pai__policy_failed(s, rc, err) : PAI_OK;
}

int pai_sched_decide(pai_sched *s, pai_time now, pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(s != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot have others decide");
  if (!pai__is_time(now))
    return pai__fail(
      err, PAI_EINVAL,
      "it is asked for %lld, which is no time from %lld to %lld",
      (long long)now, (long long)-PAI__LAST_TIME, (long long)PAI__LAST_TIME);
  if (s->m.events != 0 && now < s->m.now)
    return pai__fail(err, PAI_EINVAL,
                     "it is asked for %lld, and the last event was at %lld",
                     (long long)now, (long long)s->m.now);
  rc = pai__log_decide(s, now, err);
  if (rc < 0)
    return rc;
  s->m.now = now;
  s->m.decided = ++s->m.events;
  s->effort++;
  forget_told(s);
  pai__refusals_forget(s);
  pai__sched_reservation_expire(s, now);
  rc = let_decide(s, err);
  s->told = s->decisions.len;
  rc = pai__log_taken(s, rc, err);
  return rc < 0 ? rc : (int)s->decisions.len;
}

/* --- reading -------------------------------------------------------------- */

int pai_sched_decision(const pai_sched *s, size_t i, pai_decision *decision)
{
  pai_decision full = { 0 };
  const pai__decision *d;

  PAI__CHECK_ARG(s != NULL && decision != NULL);
  if (i >= s->told)
    return PAI_ENOTFOUND;
  d = decision_at(s, (uint32_t)i);
  full.kind = d->kind;
  full.cause = d->cause;
  full.id = d->id;
  full.instance = d->instance;
  full.want = d->want;
  full.tasks = d->tasks;
  full.by = d->by;
  full.agreed = d->agreed;
  return PAI__FILL_VIEW(decision, full, pai_decision, agreed);
}

static const pai__run *find_placed(const pai_sched *s, uint64_t id,
                                   uint32_t instance)
{
  const pai__run *run = run_of(s, id, instance);

  return run != NULL && run->state >= PAI__RUN_PLACED ? run : NULL;
}

static void fill_place(const pai_sched *s, const pai__run *run, uint32_t task,
                       pai_task_place *p)
{
  const pai__slot *first = pai__slots_of(s, run), *slot = first + task;
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *w = &pai__wants_of(s, r)[slot->want];

  p->want = slot->want;
  while (p->index < task && first[task - p->index - 1].want == slot->want)
    p->index++;
  p->node = slot->node;
  p->gpus = slot->gpus;
  p->memory = w->memory;
  p->cpus = (const uint64_t *)first + slot->cpus;
  p->cpu_words = pai__own_cpus(w) != 0
                   ? pai__sched_sku_of(s->cluster, slot->node)->cpu_words
                   : 0;
  p->ports = (const uint32_t *)((const uint64_t *)first + slot->ports);
  p->nports = w->ports;
}

int pai_sched_task(const pai_sched *s, uint64_t id, uint32_t instance,
                   uint32_t task, pai_task_place *place)
{
  const pai__run *run;
  pai_task_place full = { 0 };

  PAI__CHECK_ARG(s != NULL && place != NULL);
  run = find_placed(s, id, instance);
  if (run == NULL || task >= run->tasks)
    return PAI_ENOTFOUND;
  fill_place(s, run, task, &full);
  return PAI__FILL_VIEW(place, full, pai_task_place, nports);
}

/* --- allocations ---------------------------------------------------------- */

static int add_bits(pai_allocation *a, uint32_t node, int kind,
                    const uint64_t *words, size_t n, pai_error **err)
{
  for (uint32_t i = 0; i < n * 64; i++)
    if (words[i / 64] >> (i % 64) & 1) {
      int rc = pai_allocation_add(a, node, kind, i, i, err);

      if (rc < 0)
        return rc;
    }
  return PAI_OK;
}

static int add_place(pai_allocation *a, const pai_task_place *p,
                     pai_error **err)
{
  int rc = add_bits(a, p->node, PAI_ALLOCATION_GPU, &p->gpus, 1, err);

  if (rc == PAI_OK)
    rc = add_bits(a, p->node, PAI_ALLOCATION_CPU, p->cpus, p->cpu_words, err);
  for (size_t i = 0; i < p->nports && rc == PAI_OK; i++)
    rc = pai_allocation_add(a, p->node, PAI_ALLOCATION_PORT, p->ports[i],
                            p->ports[i], err);
  if (rc == PAI_OK)
    rc = pai_allocation_set_memory(
      a, p->node, pai_allocation_memory(a, p->node) + p->memory, err);
  return rc;
}

int pai_sched_allocation(pai_allocation **out, const pai_sched *s, uint64_t id,
                         uint32_t instance, pai_error **err)
{
  const pai__run *run;
  pai_allocation *a;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(s != NULL, err);
  run = find_placed(s, id, instance);
  if (run == NULL)
    return pai__fail(err, PAI_ENOTFOUND,
                     "instance %u of request %llu holds no place", instance,
                     (unsigned long long)id);
  rc = pai_allocation_new(&a, &s->alloc, err);
  for (uint32_t i = 0; i < run->tasks && rc == PAI_OK; i++) {
    pai_task_place p = { 0 };

    fill_place(s, run, i, &p);
    rc = add_place(a, &p, err);
  }
  if (rc == PAI_OK)
    *out = a;
  else
    pai_allocation_free(a);
  return rc;
}
