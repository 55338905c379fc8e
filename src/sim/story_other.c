/*
 * story_other.c - when a request would have started under another policy
 *
 * A fork of the scheduler is driven from its submission on: what comes from
 * outside is read from the log, what follows from decisions is made anew, and
 * how long each runs is what the log tells of it.
 */
#include "sim/story.h"

#include "sched/queue.h"

#include <inttypes.h>

/* Requests that are looked at, over all decisions: so many are some seconds, or
 * twice as long where they are planned for. */
#define WORK UINT64_C(100000000)

/* An instance, in the log and in the fork. */
typedef struct life {
  uint64_t id;
  uint32_t instance;
  uint32_t next; /* of the same request, or PAI__NONE */
  /* In the log, its last time: */
  pai_time placed, started, ended;
  bool has_placed, has_started, has_ended;
  bool stopped;       /* it was told to, so it did not end by itself */
  pai_time left_at;   /* when it first left its place behind the fork, */
  int left_as;        /* PAI_SCHED_FINISHED or _RETURNED; 0: it did not */
  bool left_by_order; /* it was told to */
  int64_t code;
  /* In the fork: */
  uint32_t time; /* how often it was placed: what was due before is void */
} life;

/* Something that will happen in the fork. */
typedef struct due {
  pai_time time;
  uint64_t turn; /* of two at a time, the lower comes first */
  int kind;
  uint32_t life, times;
} due;

typedef struct driving {
  pai__story *st;
  pai_sched *s; /* the fork */
  pai__flat lives;
  pai__lookup by_id;
  pai__flat heap;
  uint64_t turns;
  uint64_t at; /* the next line from outside, of this time */
  pai_time line_time;
  bool more; /* there is one */
  pai_error **err;
} driving;

static life *life_at(const driving *d, uint32_t i)
{
  return (life *)d->lives.data + i;
}

static uint32_t find_life(const driving *d, uint64_t id, uint32_t instance)
{
  uint32_t i = pai__lookup_get(&d->by_id, id);

  while (i != PAI__NONE && life_at(d, i)->instance != instance)
    i = life_at(d, i)->next;
  return i;
}

/* PAI__NONE without memory. */
static uint32_t get_life(driving *d, uint64_t id, uint32_t instance)
{
  uint32_t i = find_life(d, id, instance), first;

  if (i != PAI__NONE)
    return i;
  if (pai__flat_reserve(&d->lives, d->st->alloc, 1) < 0 ||
      pai__lookup_reserve(&d->by_id, d->st->alloc) < 0)
    return PAI__NONE;
  first = pai__lookup_get(&d->by_id, id);
  i = pai__flat_push(&d->lives, 1);
  *life_at(d, i) = (life){ .id = id, .instance = instance, .next = PAI__NONE };
  if (first == PAI__NONE) {
    pai__lookup_add(&d->by_id, id, i);
  } else {
    life_at(d, i)->next = life_at(d, first)->next;
    life_at(d, first)->next = i;
  }
  return i;
}

/* --- what the log tells --------------------------------------------------- */

/* Those that have a place where the fork begins. */
static int note_running(driving *d)
{
  const pai_sched *s = d->s;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    uint32_t n;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    n = get_life(d, pai__req_at(s, run->req)->id, run->instance);
    if (n == PAI__NONE)
      return PAI_ENOMEM;
    life_at(d, n)->placed = run->since;
    life_at(d, n)->started = run->since;
    life_at(d, n)->has_placed = true;
    life_at(d, n)->has_started = run->state != PAI__RUN_PLACED;
    life_at(d, n)->stopped = run->state == PAI__RUN_STOPPING;
  }
  return PAI_OK;
}

static int note_decision(driving *d, const pai_decision *decision,
                         pai_time now)
{
  uint32_t i = get_life(d, decision->id, decision->instance);
  life *l;

  if (i == PAI__NONE)
    return PAI_ENOMEM;
  l = life_at(d, i);
  if (decision->kind == PAI_DECISION_STOP)
    l->stopped = true;
  if (decision->kind != PAI_DECISION_START)
    return PAI_OK;
  l->placed = now;
  l->has_placed = true;
  l->has_started = l->has_ended = l->stopped = false;
  return PAI_OK;
}

static void note_event(driving *d, const pai__line_event *e)
{
  uint32_t i = find_life(d, e->id, e->instance);
  life *l = i != PAI__NONE ? life_at(d, i) : NULL;

  if (l == NULL)
    return;
  if (e->kind == PAI_SCHED_STARTED) {
    l->started = e->time;
    l->has_started = true;
  }
  if (e->kind != PAI_SCHED_FINISHED && e->kind != PAI_SCHED_RETURNED)
    return;
  if (l->left_as == 0) {
    l->left_as = e->kind;
    l->left_at = e->time;
    l->left_by_order = l->stopped;
  }
  if (e->kind == PAI_SCHED_FINISHED) {
    l->ended = e->time;
    l->has_ended = true;
    l->code = e->code;
  }
}

static int note_line(driving *d)
{
  pai_replay *r = d->st->r;
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_decision decision = { .struct_size = sizeof(decision) };
  pai__line_text line;
  pai__line_event e = { 0 };
  int rc = pai__lines_next(&r->lines, r->taken, &line, d->err);

  if (rc == 1 && line.len != 0)
    rc = pai__line_event_read(&e, &line, d->st->alloc, d->err);
  if (rc < 0)
    return rc;
  if (e.id != 0)
    note_event(d, &e);
  (void)pai_sched_view_sums(r->s, &view);
  for (size_t i = 0; i < r->decisions; i++)
    if (pai_sched_decision(r->s, i, &decision) == PAI_OK &&
        note_decision(d, &decision, view.now) < 0)
      return pai__oom(d->err);
  return PAI_OK;
}

/* All that the log tells of those who run in it: it is read to its end. */
static int read_lives(driving *d)
{
  int rc = note_running(d) < 0 ? pai__oom(d->err) : 1;

  while (rc == 1) {
    rc = pai_replay_step_until(d->st->r, INT64_MAX, d->err);
    if (rc == 1) {
      rc = note_line(d);
      rc = rc < 0 ? rc : 1;
    }
  }
  return rc;
}

/* --- what is due ---------------------------------------------------------- */

static due *due_at(const driving *d, uint32_t i)
{
  return (due *)d->heap.data + i;
}

static bool is_sooner(const due *a, const due *b)
{
  return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

static int expect(driving *d, pai_time time, int kind, uint32_t n)
{
  due new = { .time = time,
              .turn = d->turns++,
              .kind = kind,
              .life = n,
              .times = life_at(d, n)->time };
  uint32_t i;

  if (pai__flat_reserve(&d->heap, d->st->alloc, 1) < 0)
    return PAI_ENOMEM;
  i = pai__flat_push(&d->heap, 1);
  for (; i != 0 && is_sooner(&new, due_at(d, (i - 1) / 2)); i = (i - 1) / 2)
    *due_at(d, i) = *due_at(d, (i - 1) / 2);
  *due_at(d, i) = new;
  return PAI_OK;
}

static due take_first(driving *d)
{
  due first = *due_at(d, 0), last = *due_at(d, --d->heap.len);
  uint32_t i = 0, child;

  while ((child = 2 * i + 1) < d->heap.len) {
    child += child + 1 < d->heap.len &&
             is_sooner(due_at(d, child + 1), due_at(d, child));
    if (!is_sooner(due_at(d, child), &last))
      break;
    *due_at(d, i) = *due_at(d, child);
    i = child;
  }
  if (d->heap.len != 0)
    *due_at(d, i) = last;
  return first;
}

/* How long it runs: as in the log, or as it was estimated; INT64_MAX: nobody
 * knows. */
static pai_time length_of(const driving *d, const life *l)
{
  pai_request_view v = { .struct_size = sizeof(v) };

  if (l->has_ended && !l->stopped && (l->has_started || l->has_placed))
    return pai__span(l->has_started ? l->started : l->placed, l->ended);
  if (pai_sched_view_request(d->s, l->id, &v) == PAI_OK && v.duration > 0)
    return v.duration;
  return INT64_MAX;
}

static pai_time setup_of(const life *l)
{
  return l->has_started && l->has_placed && l->started > l->placed
           ? pai__span(l->placed, l->started)
           : 0;
}

/* One that has been placed in the fork. */
static int expect_life(driving *d, uint32_t n, pai_time now)
{
  const life *l = life_at(d, n);
  pai_time start = pai__later(now, setup_of(l)), length = length_of(d, l);
  int rc = expect(d, start, PAI_SCHED_STARTED, n);

  if (rc == PAI_OK && pai__later(start, length) != INT64_MAX)
    rc = expect(d, pai__later(start, length), PAI_SCHED_FINISHED, n);
  return rc;
}

/* One that ran already leaves when it did in the log, unless it was told to
 * later, by a policy that does not decide now. */
static int expect_running(driving *d, uint32_t n, const pai__run *run,
                          pai_time now)
{
  const life *l = life_at(d, n);
  bool stopping = run->state == PAI__RUN_STOPPING;
  pai_time start = run->since, end;
  int rc = PAI_OK;

  if (run->state == PAI__RUN_PLACED) {
    start = l->has_started && l->started > now ? l->started : now;
    rc = expect(d, start, PAI_SCHED_STARTED, n);
  }
  if (rc < 0)
    return rc;
  if (l->left_as != 0 && (stopping || !l->left_by_order))
    return expect(d, l->left_at, l->left_as, n);
  if (stopping)
    return expect(d, now,
                  run->cause == PAI_STOP_PREEMPTED ? PAI_SCHED_RETURNED
                                                   : PAI_SCHED_FINISHED,
                  n);
  end = pai__later(start, length_of(d, l));
  if (end == INT64_MAX)
    return PAI_OK;
  return expect(d, end > now ? end : now, PAI_SCHED_FINISHED, n);
}

static int expect_all_running(driving *d, pai_time now)
{
  for (uint32_t i = 0; i < d->s->runs.len; i++) {
    const pai__run *run = pai__run_at(d->s, i);
    uint32_t n;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    n = find_life(d, pai__req_at(d->s, run->req)->id, run->instance);
    if (n != PAI__NONE && expect_running(d, n, run, now) < 0)
      return pai__oom(d->err);
  }
  return PAI_OK;
}

/* --- lines from outside --------------------------------------------------- */

static bool is_from_outside(int kind)
{
  switch (kind) {
  case PAI_SCHED_SUBMIT:
  case PAI_SCHED_CHANGE:
  case PAI_SCHED_CANCEL:
  case PAI_SCHED_NODE:
  case PAI_SCHED_CLUSTER:
  case PAI_SCHED_RESERVE:
  case PAI_SCHED_UNRESERVE:
  case PAI_SCHED_LOSE_PORT:
  case PAI_SCHED_REGAIN_PORTS:
  case PAI_SCHED_TIME: return true;
  default: return false;
  }
}

/* The next one that begins at `at` or behind it. */
static int find_line(driving *d, uint64_t at)
{
  pai__line_text line;
  pai__line_event e = { 0 };
  int rc;

  d->more = false;
  d->line_time = INT64_MAX;
  do {
    rc = pai__lines_get(&d->st->r->lines, at, &line, d->err);
    if (rc != 1 || line.at > d->st->r->last)
      return rc < 0 ? rc : PAI_OK;
    rc = pai__line_event_read(&e, &line, d->st->alloc, d->err);
    if (rc < 0)
      return rc;
    d->at = line.at;
    at = line.next;
  } while (!is_from_outside(e.kind));
  d->more = true;
  d->line_time = e.time;
  return PAI_OK;
}

/* What another policy has not done may be told of. */
static int excuse(driving *d, int rc, pai_error *cause)
{
  if (rc == PAI_ENOTFOUND || rc == PAI_EEXISTS || rc == PAI_EBUSY ||
      rc == PAI_ENOROOM) {
    pai_error_free(cause);
    d->st->other.skipped++;
    return PAI_OK;
  }
  if (rc < 0 && d->err != NULL)
    *d->err = cause;
  else
    pai_error_free(cause);
  return rc < 0 ? rc : PAI_OK;
}

static int send_line(driving *d)
{
  pai__line_text line;
  pai_error *cause = NULL;
  int rc = pai__lines_get(&d->st->r->lines, d->at, &line, d->err);

  if (rc < 0)
    return rc;
  rc = pai_sched_send_json(d->s, line.text, line.len, &cause);
  rc = excuse(d, rc, cause);
  return rc < 0 ? rc : find_line(d, line.next);
}

/* --- driving -------------------------------------------------------------- */

static int send(driving *d, int kind, uint32_t n, pai_time now, int64_t code)
{
  const life *l = life_at(d, n);
  pai_error *cause = NULL;
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = kind,
                        .time = now,
                        .id = l->id,
                        .instance = l->instance,
                        .number = code };
  int rc = pai_sched_send(d->s, &e, &cause);

  return excuse(d, rc, cause);
}

static int send_due(driving *d, pai_time now)
{
  due first = take_first(d);
  life *l = life_at(d, first.life);

  if (first.times != l->time)
    return PAI_OK; /* it was stopped meanwhile */
  if (first.kind != PAI_SCHED_STARTED)
    l->time++;
  return send(d, first.kind, first.life, now, l->code);
}

/* Whoever is to stop does so at once. */
static int answer(driving *d, const pai_decision *decision, pai_time now)
{
  uint32_t n = get_life(d, decision->id, decision->instance);

  if (n == PAI__NONE)
    return pai__oom(d->err);
  switch (decision->kind) {
  case PAI_DECISION_START:
    if (decision->id == d->st->id) {
      d->st->other.begun = true;
      d->st->other.started = now;
    }
    life_at(d, n)->time++;
    return expect_life(d, n, now) < 0 ? pai__oom(d->err) : PAI_OK;
  case PAI_DECISION_STOP:
    life_at(d, n)->time++;
    return decision->cause == PAI_STOP_PREEMPTED
             ? send(d, PAI_SCHED_RETURNED, n, now, 0)
             : send(d, PAI_SCHED_FINISHED, n, now, 1);
  case PAI_DECISION_SHRINK: return send(d, PAI_SCHED_RESIZED, n, now, 0);
  default: return PAI_OK;
  }
}

/* Until it has nothing more to say: who stops makes room. */
static int decide(driving *d, pai_time now)
{
  pai_decision decision = { .struct_size = sizeof(decision) };
  pai_decision *list;
  bool again = true;
  int n = 1;

  for (int round = 0; again && n > 0 && round < 1000; round++) {
    int rc = PAI_OK;

    again = false;
    n = pai_sched_decide(d->s, now, d->err);
    if (n <= 0)
      return n;
    list = pai__realloc(d->st->alloc, NULL, 0, (size_t)n, sizeof(*list));
    if (list == NULL)
      return pai__oom(d->err);
    for (int i = 0; i < n; i++) {
      (void)pai_sched_decision(d->s, (size_t)i, &decision);
      list[i] = decision;
    }
    for (int i = 0; i < n && rc == PAI_OK; i++) {
      rc = answer(d, &list[i], now);
      again = again || list[i].kind != PAI_DECISION_START;
    }
    pai__free(d->st->alloc, list, (size_t)n * sizeof(*list));
    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

/* The next time at which something happens; INT64_MAX: nothing does. */
static pai_time next_time(const driving *d, pai_time now)
{
  pai_time t = d->line_time, own = pai_sched_next_time(d->s);

  if (d->heap.len != 0 && due_at(d, 0)->time < t)
    t = due_at(d, 0)->time;
  return own > now && own < t ? own : t;
}

static int drive(driving *d, pai_time now)
{
  int rc = decide(d, now);

  while (rc == PAI_OK && !d->st->other.begun) {
    pai_time t = next_time(d, now);

    d->st->other.given_up = d->s->effort > WORK;
    if (t == INT64_MAX || d->st->other.given_up)
      break;
    now = t > now ? t : now;
    while (rc == PAI_OK && d->heap.len != 0 && due_at(d, 0)->time <= now)
      rc = send_due(d, now);
    while (rc == PAI_OK && d->more && d->line_time <= now)
      rc = send_line(d);
    if (rc == PAI_OK)
      rc = decide(d, now);
  }
  d->st->other.end = now;
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

static int change_policy(driving *d, pai_time *now)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_POLICY,
                        .text = d->st->o.policy,
                        .options = d->st->o.policy_options };

  (void)pai_sched_view_sums(d->s, &view);
  *now = e.time = view.now;
  return pai_sched_send(d->s, &e, d->err);
}

static int run(driving *d)
{
  pai__story *st = d->st;
  pai_reason reason = { .struct_size = sizeof(reason) };
  pai_time now = 0;
  int rc = pai__replay_seek(st->r, st->place, d->err);

  if (rc == PAI_OK)
    rc = pai_sched_fork(&d->s, st->r->s, d->err);
  if (rc == PAI_OK)
    rc = change_policy(d, &now);
  if (rc == PAI_OK)
    rc = read_lives(d);
  if (rc == PAI_OK)
    rc = expect_all_running(d, now);
  if (rc == PAI_OK)
    rc = find_line(d, st->place);
  if (rc == PAI_OK)
    rc = drive(d, now);
  if (rc == PAI_OK && pai_sched_reason(d->s, st->id, &reason) == PAI_OK)
    st->other.lack = (uint32_t)reason.lack;
  return rc;
}

int pai__story_other(pai__story *st, pai_error **err)
{
  driving d = { .st = st, .err = err };
  int rc;

  st->other.asked = true;
  pai__flat_init(&d.lives, sizeof(life));
  pai__flat_init(&d.heap, sizeof(due));
  pai__lookup_init(&d.by_id);
  rc = run(&d);
  pai_sched_free(d.s);
  pai__flat_dispose(&d.lives, st->alloc);
  pai__flat_dispose(&d.heap, st->alloc);
  pai__flat_dispose(&d.by_id.slots, st->alloc);
  return rc;
}
