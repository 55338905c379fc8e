/*
 * timeline_other.c - replays a request's wait under another policy
 *
 * A fork of the scheduler is driven from the submission on.  Events from
 * outside are read from the log, events that follow from decisions are made
 * anew, and run times are those of the log.
 */
#include "sim/drive.h"
#include "sim/replay/timeline.h"

/* Limit of requests that the policy looks at, over all decisions: some
 * seconds, or twice as long for policies that plan. */
#define WORK UINT64_C(100000000)

/* An instance in the log and in the fork. */
typedef struct life {
  uint64_t id;
  uint32_t instance;
  uint32_t next; /* of the same request, or PAI__NONE */
  /* In the log, its last run: */
  pai_time placed, started, ended;
  bool has_placed, has_started, has_ended;
  bool stopped;       /* a stop was requested, so it did not end by itself */
  pai_time left_at;   /* first time that it left its place after the fork */
  int left_as;        /* PAI_SCHED_FINISHED or _RETURNED; 0: never */
  bool left_by_order; /* after a stop request */
  int64_t code;
  /* At the fork, until it leaves that place: */
  bool placed_before, ran_before, stopping;
} life;

typedef struct driving {
  pai__timeline *st;
  pai_sched *s; /* the fork */
  pai__drive drive;
  pai__flat lives;
  pai__lookup by_id;
  uint64_t at; /* offset of the next line from outside, if `more` */
  pai_time line_time;
  bool more; /* false: no such line is left */
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

/* Finds or makes the record of an instance; PAI__NONE without memory. */
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

/* --- reading the log ----------------------------------------------------- */

/* Notes the runs at the time of the fork. */
static int note_running(driving *d)
{
  pai__run_info run;

  for (uint32_t i = 0; pai__inspect_next_run(d->s, &i, &run);) {
    uint32_t n = get_life(d, run.id, run.instance);
    life *l;

    if (n == PAI__NONE)
      return PAI_ENOMEM;
    l = life_at(d, n);
    l->placed = l->started = run.since;
    l->has_placed = l->placed_before = true;
    l->has_started = l->ran_before = run.state != PAI__RUN_PLACED;
    l->stopped = l->stopping = run.state == PAI__RUN_STOPPING;
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

/* Reads the log to its end and notes all runs. */
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

/* --- run times ----------------------------------------------------------- */

static life *life_of(driving *d, const pai__driven_job *job)
{
  uint32_t i = get_life(d, job->id, job->instance);

  return i != PAI__NONE ? life_at(d, i) : NULL;
}

/* Returns the run time in the log, or its estimate; INT64_MAX: unknown. */
static pai_time length_of(const driving *d, const life *l)
{
  pai_request_view v = { .struct_size = sizeof(v) };

  if (l->has_ended && !l->stopped && (l->has_started || l->has_placed))
    return pai__span(l->has_started ? l->started : l->placed, l->ended);
  if (pai_sched_view_request(d->s, l->id, &v) == PAI_OK && v.duration > 0)
    return v.duration;
  return INT64_MAX;
}

/* Returns whether a run that had its place at the fork leaves it when it did
 * in the log.  That does not hold if a later decision of the log's policy
 * stopped it. */
static bool leaves_as_told(const life *l)
{
  return l->placed_before && l->left_as != 0 &&
         (l->stopping || !l->left_by_order);
}

static int lasts(void *data, pai__driven_job *job)
{
  driving *d = data;
  const life *l = life_of(d, job);
  pai_time begin;

  if (l == NULL)
    return pai__oom(d->err);
  job->code = l->code != 0;
  job->lasts = length_of(d, l);
  if (!leaves_as_told(l))
    return PAI_OK;
  begin = l->ran_before ? job->since : d->drive.now;
  job->lasts = l->left_at > begin ? pai__span(begin, l->left_at) : 0;
  job->returns = l->left_as == PAI_SCHED_RETURNED;
  return PAI_OK;
}

static pai_time prepares(void *data, const pai__driven_job *job)
{
  driving *d = data;
  const life *l = life_of(d, job);

  if (l == NULL || !l->has_started)
    return 0;
  if (l->placed_before)
    return l->started > d->drive.now ? pai__span(d->drive.now, l->started) : 0;
  return l->has_placed && l->started > l->placed
           ? pai__span(l->placed, l->started)
           : 0;
}

/* Stops take effect at once; but a run that was asked to stop before the fork
 * ends when it did in the log. */
static pai_time leaves(void *data, const pai__driven_job *job)
{
  const life *l = life_of(data, job);

  return l != NULL && l->stopping && leaves_as_told(l) ? -1 : 0;
}

static int started(void *data, pai__driven_job *job)
{
  driving *d = data;

  if (job->id != d->st->id)
    return PAI_OK;
  d->st->other.begun = true;
  d->st->other.started = d->drive.now;
  return PAI_OK;
}

static int stopped(void *data, pai__driven_job *job, enum pai__left how,
                   pai_time in_vain)
{
  life *l = life_of(data, job);

  (void)how;
  (void)in_vain;
  job->lasts = -1;
  if (l != NULL)
    l->placed_before = l->stopping = false;
  return PAI_OK;
}

/* --- lines from outside -------------------------------------------------- */

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

/* Finds the next line from outside that begins at `at` or later. */
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

/* Lines about decisions that this policy has not made are skipped. */
static int send_line(driving *d)
{
  pai__line_text line;
  pai_error *cause = NULL;
  int rc = pai__lines_get(&d->st->r->lines, d->at, &line, d->err);

  if (rc < 0)
    return rc;
  rc = pai__drive_line(&d->drive, line.text, line.len, &cause);
  if (pai__is_of_others(rc)) {
    pai_error_free(cause);
    d->st->other.skipped++;
  } else if (rc < 0) {
    if (d->err != NULL)
      *d->err = cause;
    else
      pai_error_free(cause);
    return rc;
  }
  return find_line(d, line.next);
}

/* --- driving ------------------------------------------------------------- */

static pai_time next(void *data)
{
  const driving *d = data;

  return d->line_time;
}

static int add(void *data)
{
  driving *d = data;
  int rc = PAI_OK;

  while (rc == PAI_OK && d->more && d->line_time <= d->drive.now)
    rc = send_line(d);
  return rc;
}

static bool is_over(void *data)
{
  const driving *d = data;
  pai__other *o = &d->st->other;

  o->given_up = pai__sched_effort(d->s) > WORK && !o->begun;
  return o->begun || o->given_up;
}

static const pai__drive_ops ops = { .lasts = lasts,
                                    .prepares = prepares,
                                    .leaves = leaves,
                                    .started = started,
                                    .stopped = stopped,
                                    .next = next,
                                    .add = add,
                                    .is_over = is_over };

static int drive(driving *d)
{
  int rc = pai__drive_adopt(&d->drive, d->err);

  if (rc == PAI_OK)
    rc = pai__drive_end(&d->drive, d->err);
  if (rc == PAI_OK)
    rc = pai__drive_run(&d->drive, INT64_MAX, d->err);
  d->st->other.end = d->drive.now;
  return rc;
}

/* --- entry point --------------------------------------------------------- */

static int change_policy(driving *d)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_POLICY,
                        .text = d->st->o.policy,
                        .options = d->st->o.policy_options };

  (void)pai_sched_view_sums(d->s, &view);
  e.time = view.now;
  return pai_sched_send(d->s, &e, d->err);
}

static int run(driving *d)
{
  const pai__drive_options o = { .ops = &ops,
                                 .data = d,
                                 .job_size = sizeof(pai__driven_job) };
  pai__timeline *st = d->st;
  pai_reason reason = { .struct_size = sizeof(reason) };
  int rc = pai__replay_seek(st->r, st->place, d->err);

  if (rc == PAI_OK)
    rc = pai_sched_fork(&d->s, st->r->s, d->err);
  if (rc == PAI_OK)
    rc = change_policy(d);
  if (rc == PAI_OK)
    rc = read_lives(d);
  if (rc == PAI_OK)
    rc = find_line(d, st->place);
  if (rc < 0)
    return rc;
  rc = pai__drive_init(&d->drive, st->alloc, d->s, &o) < 0 ? pai__oom(d->err)
                                                           : drive(d);
  if (rc == PAI_OK && pai_sched_reason(d->s, st->id, &reason) == PAI_OK)
    st->other.lack = (uint32_t)reason.lack;
  pai__drive_dispose(&d->drive);
  return rc;
}

int pai__timeline_other(pai__timeline *st, pai_error **err)
{
  driving d = { .st = st, .err = err };
  int rc;

  st->other.asked = true;
  pai__flat_init(&d.lives, sizeof(life));
  pai__lookup_init(&d.by_id);
  rc = run(&d);
  pai_sched_free(d.s);
  pai__flat_dispose(&d.lives, st->alloc);
  pai__flat_dispose(&d.by_id.slots, st->alloc);
  return rc;
}
