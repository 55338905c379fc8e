/* drive.c - driver of virtual time: moments, decisions, nodes, adoption */
#include "sim/drive.h"

#include <stdlib.h>

int pai__drive_init(pai__drive *d, const pai_alloc *alloc, pai_sched *sched,
                    const pai__drive_options *o)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  *d = (pai__drive){ .alloc = *alloc, .sched = sched, .o = *o };
  pai__drive_open_jobs(d);
  if (d->o.restart_cost == 0)
    d->o.restart_cost = d->o.start_cost;
  (void)pai_sched_view_sums(sched, &view);
  d->now = view.events != 0 ? view.now : INT64_MIN;
  return PAI_OK;
}

void pai__drive_dispose(pai__drive *d)
{
  pai__drive_forget(d);
  pai__timers_dispose(&d->timers, &d->alloc);
  pai__free(&d->alloc, d->decisions, d->decision_cap * sizeof(*d->decisions));
  d->decisions = NULL;
  d->decision_cap = 0;
}

int pai__drive_tell(pai__drive *d, pai_sched_event *event, pai_error **err)
{
  event->struct_size = sizeof(*event);
  event->time = d->now;
  d->due |= event->kind != PAI_SCHED_STARTED;
  return pai_sched_send(d->sched, event, err);
}

/* --- time ---------------------------------------------------------------- */

pai_time pai__drive_next(const pai__drive *d)
{
  pai_time next = pai_sched_next_time(d->sched);

  if (d->due)
    return d->now;
  if (d->timers.len != 0 && d->timers.heap[0].time < next)
    next = d->timers.heap[0].time;
  return next;
}

bool pai__drive_is_busy(const pai__drive *d)
{
  return d->timers.len > d->timers.nodes;
}

static int work(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  pai_sched_event e = { .kind = PAI_SCHED_STARTED,
                        .id = job->id,
                        .instance = job->instance };
  pai_time left, end;
  int rc = pai__drive_tell(d, &e, err);

  if (rc == PAI_OK)
    rc = pai__drive_feed(d, job, PAI__EV_TASK_STARTED, 0, err);
  if (rc == PAI_OK && job->lasts < 0)
    rc = d->o.ops->lasts(d->o.data, job);
  if (rc < 0)
    return rc;
  job->doing = PAI__WORKS;
  job->works = d->now;
  left = job->lasts > job->saved ? job->lasts - job->saved : 0;
  end = d->now < 0 || left < INT64_MAX - d->now ? d->now + left : INT64_MAX;
  return pai__drive_timer(d, job, PAI__TIMER_END, end, err);
}

int pai__drive_timer(pai__drive *d, pai__driven_job *job,
                     enum pai__timer_kind kind, pai_time at, pai_error **err)
{
  return pai__timer_set(&d->timers, &d->alloc, &job->timer, kind, job->slot,
                        at) < 0
           ? pai__oom(err)
           : PAI_OK;
}

int pai__drive_begin_run(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  pai_time cost = d->o.ops->prepares != NULL
                    ? d->o.ops->prepares(d->o.data, job)
                  : job->runs > 1 ? d->o.restart_cost
                                  : d->o.start_cost;

  if (cost == 0)
    return work(d, job, err);
  job->doing = PAI__PREPARES;
  return pai__drive_timer(d, job, PAI__TIMER_WORK, d->now + cost, err);
}

static int happen(pai__drive *d, const pai__sim_timer *x, pai_error **err)
{
  pai__driven_job *job;

  if (pai__timer_kind_of(x) == PAI__TIMER_NODE)
    return d->o.ops->node(d->o.data, x->who);
  if (pai__timer_kind_of(x) == PAI__TIMER_PATIENCE)
    return pai__drive_kill(d, pai__drive_wait_at(d, x->who)->id, err);
  job = pai__drive_job(d, x->who);
  switch (pai__timer_kind_of(x)) {
  case PAI__TIMER_END:
    return job->returns && job->doing == PAI__WORKS
             ? pai__drive_return(d, job, err)
             : pai__drive_run_over(d, job, false, err);
  case PAI__TIMER_WORK: return work(d, job, err);
  default: return pai__drive_feed(d, job, PAI__EV_DUE, 0, err);
  }
}

int pai__drive_begin(pai__drive *d, pai_time now, pai_error **err)
{
  int rc = PAI_OK;

  d->now = now;
  d->due |= pai_sched_next_time(d->sched) <= now;
  while (rc >= 0 && d->timers.len != 0 && d->timers.heap[0].time <= now) {
    pai__sim_timer x = d->timers.heap[0];

    pai__timer_drop(&d->timers, x.at);
    rc = happen(d, &x, err);
  }
  return rc < 0 ? rc : PAI_OK;
}

/* --- events that the caller adds ----------------------------------------- */

int pai__drive_come(pai__drive *d, const pai_request *request,
                    pai__waiting_job **out, pai_error **err)
{
  pai_sched_event e = { .kind = PAI_SCHED_SUBMIT, .request = request };
  bool due = d->due;
  int rc;

  if (pai__drive_await(d, out, request->id) < 0)
    return pai__oom(err);
  rc = pai__drive_tell(d, &e, err);
  if (rc < 0) {
    d->due = due;
    pai__drive_unawait(d, *out);
    *out = NULL;
  }
  return rc;
}

int pai__drive_patience(pai__drive *d, pai__waiting_job *wait, pai_time until)
{
  return pai__timer_set(&d->timers, &d->alloc, &wait->timer,
                        PAI__TIMER_PATIENCE, wait->slot, until);
}

int pai__drive_kill(pai__drive *d, uint64_t id, pai_error **err)
{
  pai__driven_job *job = pai__drive_find(d, id, 0);
  int rc = PAI_OK;

  if (job == NULL && pai__drive_find_wait(d, id) == NULL)
    return PAI_OK;
  if (job == NULL)
    rc = pai__drive_born(d, &job, id, 0);
  if (rc < 0)
    return rc == PAI_ENOMEM ? pai__oom(err) : rc;
  return pai__drive_kill_job(d, job, err);
}

int pai__drive_node_timer(pai__drive *d, uint32_t *at, uint32_t node,
                          pai_time time)
{
  if (time != INT64_MAX)
    return pai__timer_set(&d->timers, &d->alloc, at, PAI__TIMER_NODE, node,
                          time);
  pai__timer_drop(&d->timers, at);
  return PAI_OK;
}

int pai__drive_line(pai__drive *d, const char *line, size_t len,
                    pai_error **err)
{
  d->due = true;
  return pai_sched_send_json(d->sched, line, len, err);
}

static bool is_on(const pai__drive *d, const pai__driven_job *job,
                  uint32_t node)
{
  pai__run_info run;
  bool placed = pai__drive_place(d, job, &run);

  for (uint32_t i = 0; placed && i < run.tasks; i++)
    if (run.slots[i].node == node)
      return true;
  return false;
}

static int by_id(const void *a, const void *b)
{
  const pai__driven_job *const *x = a, *const *y = b;

  if ((*x)->id != (*y)->id)
    return (*x)->id < (*y)->id ? -1 : 1;
  return (*x)->instance < (*y)->instance ? -1
                                         : (*x)->instance > (*y)->instance;
}

/* Ends the runs on a node, in order of their ids.  The list is made first;
 * ending one run does not remove another. */
static int disturb(pai__drive *d, uint32_t node, pai_error **err)
{
  pai__driven_job **list = NULL, *job;
  size_t n = 0, cap = 0;
  int rc = PAI_OK;

  for (uint32_t i = 0; rc == PAI_OK && (job = pai__drive_each(d, &i)) != NULL;)
    if (job->tasks != 0 && is_on(d, job, node)) {
      rc = PAI__VEC_ROOM(&d->alloc, list, n, cap);
      if (rc == PAI_OK)
        list[n++] = job;
    }
  if (rc < 0)
    (void)pai__oom(err);
  if (n != 0)
    qsort(list, n, sizeof(*list), by_id);
  for (size_t i = 0; i < n && rc >= 0; i++)
    rc = pai__drive_run_over(d, list[i], true, err);
  pai__free(&d->alloc, list, cap * sizeof(*list));
  return rc;
}

int pai__drive_node(pai__drive *d, uint32_t node, int state, const char *why,
                    pai_error **err)
{
  pai_sched_event e = { .kind = PAI_SCHED_NODE,
                        .node =
                          pai__sched_cluster_of(d->sched)->nodes[node].name,
                        .number = state,
                        .text = why,
                        .gpu = -1 };
  int rc = pai__drive_tell(d, &e, err);

  return rc < 0 || state != PAI_NODE_SICK ? rc : disturb(d, node, err);
}

/* --- deciding ------------------------------------------------------------ */

/* Finds a job or makes one; a request that others submitted becomes a job of
 * the driver here. */
static int born(pai__drive *d, uint64_t id, uint32_t instance,
                pai__driven_job **out, pai_error **err)
{
  int rc = pai__drive_born(d, out, id, instance);

  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}

static int on_start(pai__drive *d, const pai_decision *x, pai_error **err)
{
  pai__driven_job *job;
  int rc = born(d, x->id, x->instance, &job, err);

  if (rc < 0)
    return rc;
  job->tasks = x->tasks;
  job->since = d->now;
  job->runs++;
  job->stop = 0;
  if (job->started < 0)
    job->started = d->now;
  if (d->o.ops->started != NULL)
    rc = d->o.ops->started(d->o.data, job);
  return rc < 0 ? rc : pai__drive_feed(d, job, PAI__EV_PLACED, 0, err);
}

static int on_resize(pai__drive *d, const pai_decision *x, pai_error **err)
{
  pai__driven_job *job = pai__drive_find(d, x->id, x->instance);
  pai_sched_event e = { .kind = PAI_SCHED_RESIZED,
                        .id = x->id,
                        .instance = x->instance };
  pai__run_info run;
  int rc = PAI_OK;

  if (job == NULL)
    return PAI_OK;
  if (d->o.ops->resized != NULL)
    rc = d->o.ops->resized(d->o.data, job);
  if (rc == PAI_OK && x->kind == PAI_DECISION_SHRINK)
    rc = pai__drive_tell(d, &e, err);
  if (pai__drive_place(d, job, &run))
    job->tasks = run.tasks;
  if (rc == PAI_OK && d->o.ops->resized != NULL)
    rc = d->o.ops->resized(d->o.data, job);
  return rc;
}

static int carry_out(pai__drive *d, const pai_decision *x, pai_error **err)
{
  pai__driven_job *job;

  switch (x->kind) {
  case PAI_DECISION_START: return on_start(d, x, err);
  case PAI_DECISION_STOP:
    job = pai__drive_find(d, x->id, x->instance);
    return job != NULL ? pai__drive_stop(d, job, x->cause, err) : PAI_OK;
  default: return on_resize(d, x, err);
  }
}

/* Copies all decisions first, since carrying them out changes the
 * scheduler. */
static int read_decisions(pai__drive *d, int n, pai_error **err)
{
  if ((size_t)n > d->decision_cap) {
    size_t cap = (size_t)n + (size_t)n / 2 + 8;
    pai_decision *list = pai__realloc(&d->alloc, d->decisions, d->decision_cap,
                                      cap, sizeof(*list));

    if (list == NULL)
      return pai__oom(err);
    d->decisions = list;
    d->decision_cap = cap;
  }
  for (int i = 0; i < n; i++) {
    d->decisions[i].struct_size = sizeof(*d->decisions);
    (void)pai_sched_decision(d->sched, (size_t)i, &d->decisions[i]);
  }
  return PAI_OK;
}

/* Limit of preemptions at one time: for each request and run, plus a
 * constant. */
enum { STOPS_OF_EACH = 100, STOPS_MORE = 1000 };

/* Fails if a policy preempts without end at one time, e.g. if two runs always
 * preempt each other. */
static int count_stops(pai__drive *d, int n, pai_error **err)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  uint64_t each;

  if (d->stops_at != d->now)
    d->stops = 0;
  d->stops_at = d->now;
  for (int i = 0; i < n; i++)
    d->stops += d->decisions[i].kind == PAI_DECISION_STOP &&
                d->decisions[i].cause == PAI_STOP_PREEMPTED;
  if (d->stops <= STOPS_MORE)
    return PAI_OK;
  (void)pai_sched_view_sums(d->sched, &view);
  each = (uint64_t)view.requests + view.running;
  if (d->stops <= STOPS_MORE + STOPS_OF_EACH * each)
    return PAI_OK;
  (void)pai__fail(err, PAI_ELIMIT,
                  "policy '%s' preempted %llu runs at one time (%lld us), of "
                  "%u requests: they preempt each other endlessly",
                  view.policy, (unsigned long long)d->stops, (long long)d->now,
                  view.requests);
  pai__error_help(
    err,
    "a custom policy must preempt by an order that preemptions do not change; "
    "in a built-in policy this is a defect: report it with the trace");
  return PAI_ELIMIT;
}

int pai__drive_end(pai__drive *d, pai_error **err)
{
  int n, rc;

  if (!d->due)
    return PAI_OK;
  d->due = false;
  n = pai_sched_decide(d->sched, d->now, err);
  rc = n < 0 ? n : read_decisions(d, n, err);
  if (rc >= 0)
    rc = count_stops(d, n, err);
  for (int i = 0; i < n && rc >= 0; i++)
    rc = carry_out(d, &d->decisions[i], err);
  if (rc >= 0 && d->o.ops->decided != NULL)
    rc = d->o.ops->decided(d->o.data);
  return rc < 0 ? rc : PAI_OK;
}

/* --- moments ------------------------------------------------------------- */

int pai__drive_moment(pai__drive *d, pai_time now, pai_error **err)
{
  int rc;

  if (d->o.ops->passes != NULL)
    d->o.ops->passes(d->o.data, now);
  rc = pai__drive_begin(d, now, err);
  if (rc == PAI_OK && d->o.ops->add != NULL)
    rc = d->o.ops->add(d->o.data);
  return rc == PAI_OK ? pai__drive_end(d, err) : rc;
}

int pai__drive_run(pai__drive *d, pai_time until, pai_error **err)
{
  int rc = PAI_OK;

  while (rc == PAI_OK && !d->o.ops->is_over(d->o.data)) {
    pai_time now = pai__drive_next(d), next = d->o.ops->next(d->o.data);

    now = next < now ? next : now;
    if (now == INT64_MAX)
      break;
    if (now > until)
      return 1;
    rc = pai__drive_moment(d, now > d->now ? now : d->now, err);
  }
  return rc;
}

/* --- adopting runs that others began ------------------------------------- */

static int adopt_run(pai__drive *d, uint64_t id, uint32_t instance,
                     pai_error **err)
{
  pai__run_info run;
  pai__driven_job *job;
  int rc = born(d, id, instance, &job, err);

  if (rc < 0 || !pai__drive_place(d, job, &run))
    return rc;
  job->tasks = run.tasks;
  job->since = job->works = job->started = run.since;
  job->runs = 1;
  if (run.state == PAI__RUN_PLACED)
    return pai__drive_feed(d, job, PAI__EV_PLACED, 0, err);
  return pai__drive_resume(d, job, run.state == PAI__RUN_STOPPING, run.cause,
                           err);
}

int pai__drive_adopt(pai__drive *d, pai_error **err)
{
  uint64_t id = 0;
  int rc = PAI_OK;

  d->due = true;
  while (rc == PAI_OK && (id = pai_sched_next(d->sched, id)) != 0) {
    uint32_t instance = PAI_SCHED_ALL;

    while (rc == PAI_OK &&
           pai_sched_next_running(d->sched, id, &instance, NULL) == PAI_OK)
      rc = adopt_run(d, id, instance, err);
  }
  return rc;
}
