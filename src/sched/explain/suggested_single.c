/*
 * suggested_single.c - finding a single change with which a request starts now
 *
 * Each change is tried on a fork of its own.  Values of an amount are tried
 * from the nearest to the present one on, so that the first that starts the
 * request is the smallest change.  If there are too many values, a binary
 * search is made.
 */
#include "sched/explain/explain.h"

#include <stdlib.h>

enum { MOST_TRIALS = 600 };

enum { MOST_VALUES = 64, SECOND = 1000000, MEBIBYTE = 1 << 20 };

typedef struct single {
  const pai_sched *s;
  uint64_t id;
  uint32_t req;
  pai__sched_reason reason; /* of the request at present */
  pai__suggested_change *out;
  uint32_t trials; /* trials left */
  bool cut;        /* the trials ran out, so something was not tried */
} single;

static const pai__req *request(const single *x)
{
  return pai__req_at(x->s, x->req);
}

/* Tries an event.  Returns 1 if the request starts, with the event in x->out;
 * 0 if not; or a code. */
static int try_event(single *x, pai_sched_event e)
{
  bool starts;
  int rc;

  if (x->trials == 0) {
    x->cut = true;
    return 0;
  }
  x->trials--;
  e.struct_size = sizeof(e);
  e.time = x->s->m.now;
  rc = pai__suggest_starts(x->s, x->id, &e, 1, PAI__NONE, &starts);
  if (rc < 0 || !starts)
    return rc;
  x->out->list[0] = e;
  x->out->n = 1;
  return 1;
}

static int try_change(single *x, uint64_t id, const char *key, uint32_t want,
                      int64_t number)
{
  return try_event(x, pai__suggest_change(id, key, want, number));
}

/* --- amounts -------------------------------------------------------------- */

/* Values of a change, nearest first: list[0] to list[n - 1]; or, without a
 * list, near, near - step, ...  CPUs are in thousandths. */
typedef struct values {
  const char *key;
  uint32_t want;
  const int64_t *list;
  int64_t near, step;
  uint64_t n;
} values;

static int try_value(single *x, const values *v, uint64_t i)
{
  int64_t value =
    v->list != NULL ? v->list[i] : v->near - (int64_t)i * v->step;

  return strcmp(v->key, "cpus") == 0
           ? try_event(x, pai__suggest_cpus(x->id, v->want, (uint64_t)value))
           : try_change(x, x->id, v->key, v->want, value);
}

/* Tries values, to find the nearest that starts the request.  If there are
 * many, the farthest is tried first: if it fails, the others are not expected
 * to succeed. */
static int try_values(single *x, const values *v)
{
  uint64_t low = 0, high = v->n;
  int rc = 0;

  if (v->n <= MOST_VALUES) {
    for (; low < high && rc == 0; low++)
      rc = try_value(x, v, low);
    return rc;
  }
  rc = try_value(x, v, --high);
  while (rc > 0 && low < high && x->trials != 0) {
    uint64_t middle = low + (high - low) / 2;

    rc = try_value(x, v, middle);
    if (rc < 0)
      return rc;
    *(rc > 0 ? &high : &low) = rc > 0 ? middle : middle + 1;
    rc = 1; /* x->out has the last value that succeeded */
  }
  x->cut = x->cut || (rc > 0 && low < high);
  return rc;
}

/* Tries the values from the next lower one down to `least`. */
static int try_less(single *x, const char *key, uint32_t want, uint64_t is,
                    uint64_t least, int64_t step)
{
  uint64_t units = is / (uint64_t)step;

  if (units * (uint64_t)step == is && units != 0)
    units--;
  if (units < least)
    return 0;
  return try_values(x, &(values){ .key = key,
                                  .want = want,
                                  .near = (int64_t)units * step,
                                  .step = step,
                                  .n = units - least + 1 });
}

static int up(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return x < y ? -1 : x > y;
}

static int down(const void *a, const void *b)
{
  return up(b, a);
}

/* Tries the values of a list, which may have duplicates. */
static int try_list(single *x, const char *key, pai__flat *list, bool rising)
{
  int64_t *v = list->data;
  uint32_t n = 0;

  if (list->len == 0)
    return 0;
  qsort(v, list->len, sizeof(*v), rising ? up : down);
  for (uint32_t i = 0; i < list->len; i++)
    if (n == 0 || v[n - 1] != v[i])
      v[n++] = v[i];
  return try_values(x, &(values){ .key = key, .list = v, .n = n });
}

static int add_value(const single *x, pai__flat *list, int64_t value)
{
  return pai__flat_add(list, &x->s->alloc, &value);
}

/* Tries the priorities of the other requests, and one more than these. */
static int try_priority(single *x)
{
  int32_t is = request(x)->priority;
  pai__flat list;
  int rc = PAI_OK;

  pai__flat_init(&list, sizeof(int64_t));
  if (is < PAI_SCHED_MAX_PRIORITY)
    rc = add_value(x, &list, is + 1);
  for (uint32_t i = 0; i < x->s->reqs.len && rc == PAI_OK; i++) {
    const pai__req *r = pai__req_at(x->s, i);

    if (r->id == 0 || i == x->req)
      continue;
    if (r->priority > is)
      rc = add_value(x, &list, r->priority);
    if (rc == PAI_OK && r->priority >= is &&
        r->priority < PAI_SCHED_MAX_PRIORITY)
      rc = add_value(x, &list, r->priority + 1);
  }
  if (rc == PAI_OK)
    rc = try_list(x, "priority", &list, true);
  pai__flat_dispose(&list, &x->s->alloc);
  return rc;
}

/* Tries limits that end the request before a planned start or a reservation. */
static int try_limit(single *x)
{
  const pai_sched *s = x->s;
  pai_time is = pai__req_length(request(x));
  pai__flat list;
  int rc = PAI_OK;

  pai__flat_init(&list, sizeof(int64_t));
  for (uint32_t i = 0; i < s->reqs.len + s->reservations.len && rc == PAI_OK;
       i++) {
    pai_time at =
      i >= s->reqs.len
        ? ((pai__sched_reservation *)s->reservations.data)[i - s->reqs.len]
            .from
      : pai__req_at(s, i)->id != 0 && pai__req_waiting(pai__req_at(s, i)) != 0
        ? pai__req_said(s, i).until
        : 0;

    if (at >= s->m.now + SECOND && (is == 0 || at - s->m.now < is))
      rc = add_value(x, &list, at - s->m.now);
  }
  if (rc == PAI_OK)
    rc = try_list(x, "limit", &list, false);
  pai__flat_dispose(&list, &s->alloc);
  return rc;
}

/* --- the request itself --------------------------------------------------- */

enum kind {
  KIND_HELD,
  KIND_AFTER,
  KIND_AT_ONCE,
  KIND_LIMIT,
  KIND_WITHIN,
  KIND_TYPE,
  KIND_PIN,
  KIND_GPUS,
  KIND_CPUS,
  KIND_MEMORY,
  KIND_PORTS,
  KIND_TASKS,
  KIND_PRIORITY,
  KIND_LAZY, /* priority of opportunistic requests */
  KINDS
};

static int try_after(single *x)
{
  const pai__req *r = request(x);
  int rc = 0;

  for (uint32_t i = 0; i < r->nafter && rc == 0; i++) {
    const pai__after *after = pai__after_of(x->s, request(x));

    if (after[i].kind != 0)
      rc = try_change(x, x->id, "after", 0, (int64_t)after[i].id);
  }
  return rc;
}

/* Returns the step of CPUs: whole ones if the task asks for these, else a
 * tenth of one, or less if it asks for very little. */
static int64_t step_of(uint32_t cpu_millis)
{
  enum { TENTH = PAI__CPU / 10, HUNDREDTH = PAI__CPU / 100 };

  return cpu_millis % PAI__CPU == 0 ? PAI__CPU
         : cpu_millis > TENTH       ? TENTH
         : cpu_millis > HUNDREDTH   ? HUNDREDTH
                                    : 1;
}

static int try_of_want(single *x, enum kind kind, uint32_t i)
{
  const pai__want *w = &pai__wants_of(x->s, request(x))[i];

  switch (kind) {
  case KIND_TYPE:
    return w->type != PAI__NONE ? try_change(x, x->id, "type", i, 0) : 0;
  case KIND_GPUS: return try_less(x, "gpus", i, w->gpus, 1, 1);
  case KIND_CPUS:
    return try_less(x, "cpus", i, w->cpu_millis, 1, step_of(w->cpu_millis));
  case KIND_MEMORY: return try_less(x, "memory", i, w->memory, 1, MEBIBYTE);
  case KIND_PORTS: return try_less(x, "ports", i, w->ports, 0, 1);
  case KIND_TASKS: return try_less(x, "tasks", i, w->tasks, 1, 1);
  default: return 0;
  }
}

/* Tries a kind of change.  Returns 1 with the change in x->out; 0; or a
 * code. */
static int try_kind(single *x, enum kind kind)
{
  const pai__req *r = request(x);
  int rc = 0;

  switch (kind) {
  case KIND_HELD: return r->held ? try_change(x, x->id, "held", 0, 0) : 0;
  case KIND_AFTER: return try_after(x);
  case KIND_AT_ONCE:
    return r->at_once != 0
             ? try_change(x, x->id, "at_once", 0, (int64_t)r->active + 1)
             : 0;
  case KIND_LIMIT: return try_limit(x);
  case KIND_WITHIN:
    return r->within != PAI__NONE ? try_change(x, x->id, "within", 0, 0) : 0;
  case KIND_PIN:
    return r->pin != PAI__NONE ? try_change(x, x->id, "pin", 0, 0) : 0;
  case KIND_PRIORITY: return try_priority(x);
  case KIND_LAZY:
    return r->priority >= 0
             ? try_change(x, x->id, "priority", 0, PAI_SCHED_OPPORTUNISTIC)
             : 0;
  default: break;
  }
  for (uint32_t i = 0; i < r->nwants && rc == 0; i++)
    rc = try_of_want(x, kind, i);
  return rc;
}

/* Returns the kind to try first: a change of what the request lacks. */
static enum kind kind_of(const pai__sched_reason *reason)
{
  switch (reason->lack == PAI_LACK_QUOTA && reason->of != 0 ? reason->of
                                                            : reason->lack) {
  case PAI_LACK_RELEASE: return KIND_HELD;
  case PAI_LACK_AFTER: return KIND_AFTER;
  case PAI_LACK_THROTTLE: return KIND_AT_ONCE;
  case PAI_LACK_TURN:
  case PAI_LACK_PREEMPTION: return KIND_PRIORITY;
  case PAI_LACK_LATER:
  case PAI_LACK_RESERVATION: return KIND_LIMIT;
  case PAI_LACK_TYPE: return KIND_TYPE;
  case PAI_LACK_PIN: return KIND_PIN;
  case PAI_LACK_TOPOLOGY: return KIND_WITHIN;
  case PAI_LACK_GANG: return KIND_TASKS;
  case PAI_LACK_CPU: return KIND_CPUS;
  case PAI_LACK_MEMORY: return KIND_MEMORY;
  case PAI_LACK_PORT: return KIND_PORTS;
  default: return KIND_GPUS;
  }
}

static int find_own(single *x)
{
  enum kind first = kind_of(&x->reason);
  int rc = try_kind(x, first);

  for (int kind = 0; kind < KINDS && rc == 0; kind++)
    if (kind != (int)first)
      rc = try_kind(x, (enum kind)kind);
  return rc;
}

/* --- others --------------------------------------------------------------- */

/* A run that may end. */
typedef struct holder {
  uint64_t id, order, held;
  uint32_t instance;
  bool near;   /* on the nearest node, or of the same virtual cluster */
  bool enough; /* it holds at least what is missing */
} holder;

/* Runs that hold enough come first, those that hold less before others.  Then
 * come runs that hold more before others.  Of equal ones, the one that was
 * placed last comes first. */
static int by_use(const void *a, const void *b)
{
  const holder *x = a, *y = b;

  if (x->near != y->near)
    return x->near ? -1 : 1;
  if (x->enough != y->enough)
    return x->enough ? -1 : 1;
  if (x->held != y->held)
    return (x->held < y->held) == x->enough ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

static void list_holders(const single *x, pai__flat *list)
{
  const pai_sched *s = x->s;
  const pai__sched_reason *reason = &x->reason;
  uint32_t lack = reason->of != 0 ? reason->of : reason->lack;
  bool share = reason->lack == PAI_LACK_QUOTA;
  uint64_t missing =
    reason->wanted > reason->found ? reason->wanted - reason->found : 1;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    holder *h;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        pai__req_at(s, run->req)->id == x->id)
      continue;
    h = (holder *)list->data + pai__flat_push(list, 1);
    *h = (holder){ .id = pai__req_at(s, run->req)->id,
                   .order = run->order,
                   .instance = run->instance,
                   .held = pai__suggest_held(s, run, PAI__NONE, lack) };
    h->near = share
                ? pai__req_at(s, run->req)->vc_index == request(x)->vc_index
                : pai__suggest_held(s, run, reason->node, lack) != 0;
    h->enough = h->held >= missing;
  }
  if (list->len != 0)
    qsort(list->data, list->len, list->size, by_use);
}

static int try_ends(single *x)
{
  pai__flat list;
  int rc;

  pai__flat_init(&list, sizeof(holder));
  rc = pai__flat_reserve(&list, &x->s->alloc, x->s->runs.len);
  if (rc == PAI_OK)
    list_holders(x, &list);
  for (uint32_t i = 0; i < list.len && rc == 0; i++) {
    const holder *h = (const holder *)list.data + i;

    rc = try_event(x, (pai_sched_event){ .kind = PAI_SCHED_FINISHED,
                                         .id = h->id,
                                         .instance = h->instance });
  }
  pai__flat_dispose(&list, &x->s->alloc);
  return rc;
}

static int try_holds(single *x)
{
  const pai_sched *s = x->s;
  int rc = x->reason.behind != 0 && x->reason.behind != x->id
             ? try_change(x, x->reason.behind, "held", 0, 1)
             : 0;

  for (uint32_t i = s->m.first; i != PAI__NONE && rc == 0 && !x->cut;
       i = pai__req_at(s, i)->behind) {
    uint64_t id = pai__req_at(s, i)->id;

    if (id != x->id && id != x->reason.behind && !pai__req_at(s, i)->held)
      rc = try_change(x, id, "held", 0, 1);
  }
  return rc;
}

static int try_healing(single *x)
{
  const pai_sched *s = x->s;
  int rc = 0;

  for (uint32_t i = 0; i < s->free_capacity.len && rc == 0; i++)
    if (pai__free_capacity_at(s, i)->state != PAI_NODE_UP)
      rc = try_event(x, pai__suggest_heal(s, i, -1));
  for (uint32_t i = 0; i < s->free_capacity.len && rc == 0; i++)
    for (int32_t g = 0; g < 64 && rc == 0; g++)
      if (pai__free_capacity_at(s, i)->sick >> g & 1)
        rc = try_event(x, pai__suggest_heal(s, i, g));
  return rc;
}

static int try_reservations(single *x)
{
  const pai_sched *s = x->s;
  int rc = 0;

  for (uint32_t i = 0; i < s->reservations.len && rc == 0; i++)
    rc = try_event(
      x, pai__suggest_unreserve(
           s, ((pai__sched_reservation *)s->reservations.data)[i].name));
  return rc;
}

static int find_others(single *x)
{
  static int (*const all[])(single *) = { try_ends, try_holds, try_healing,
                                          try_reservations };
  int first = x->reason.lack == PAI_LACK_TURN          ? 1
              : x->reason.lack == PAI_LACK_HEALTH      ? 2
              : x->reason.lack == PAI_LACK_RESERVATION ? 3
                                                       : 0;
  int rc = all[first](x);

  for (int i = 0; i < (int)PAI__LEN(all) && rc == 0; i++)
    if (i != first)
      rc = all[i](x);
  return rc;
}

/* -------------------------------------------------------------------------- */

int pai__suggest_single(const pai_sched *s, uint64_t id,
                        enum pai__suggest_side side,
                        pai__suggested_change *out)
{
  single x = { .s = s, .id = id, .req = pai__req_find(s, id), .out = out };
  int rc;

  x.trials = pai__suggest_trials(s, MOST_TRIALS);
  pai__suggest_reason(s, x.req, &x.reason);
  out->n = 0;
  rc = side == PAI__SUGGEST_OWN ? find_own(&x) : find_others(&x);
  out->least = rc > 0 && !x.cut;
  return rc;
}
