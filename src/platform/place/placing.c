/*
 * placing.c - requests of jobs to the scheduler, and the start of placed jobs
 *
 * The scheduler does not know at which ports other programs listen.  Ports
 * found in use are lost for this round of placing only: they may be free the
 * next time, and a job that needs one of them must not wait for ever.
 */
#include "platform/place/placing.h"

#include "account/account.h"
#include "platform/place/after.h"
#include "platform/place/gpus.h"
#include "platform/restore/restore.h"
#include "platform/place/single.h"
#include "platform/place/shares.h"
#include "platform/shortage.h"
#include "platform/place/skus.h"
#include "platform/place/vcs.h"

#include <stdio.h>

enum { LOOK_AGAIN = 1000000 }; /* microseconds */

int pai__placing_tell(pai_platform *p, pai_sched_event *event, pai_error **err)
{
  event->struct_size = sizeof(*event);
  event->time = pai__platform_now(p);
  return pai_sched_send(p->sched, event, err);
}

/* Asks the scheduler whether the request waits or runs. */
void pai__placing_remove(pai_platform *p, uint64_t id, int code)
{
  pai_request_view view = { .struct_size = sizeof(view) };
  uint32_t instance = PAI_SCHED_ALL;
  bool waits = pai_sched_next_running(p->sched, id, &instance, NULL) < 0;
  pai_sched_event e = { .kind = waits ? PAI_SCHED_CANCEL : PAI_SCHED_FINISHED,
                        .id = id,
                        .instance = waits ? PAI_SCHED_ALL : instance,
                        .number = waits ? 0 : code };

  if (pai_sched_view_request(p->sched, id, &view) == PAI_OK &&
      pai__placing_tell(p, &e, NULL) == PAI_ENOMEM) {
    p->strays = true; /* no later event may remove it */
    pai__timer_start(p->ports, LOOK_AGAIN);
  }
}

/* --- asking --------------------------------------------------------------- */

uint32_t pai__platform_role_ports(const pai__role *role)
{
  uint32_t count = 0;

  for (size_t l = 0; l < role->nports; l++)
    count += role->ports[l].count;
  return count;
}

int pai__placing_refused(int rc, pai_error **err)
{
  const pai_error *why = err != NULL ? pai_error_cause(*err) : NULL;
  pai_error *event;

  if (rc != PAI_ENOROOM || why == NULL)
    return rc;
  event = *err;
  *err = NULL;
  (void)pai__fail(err, rc, "the job cannot run here: %s",
                  pai_error_message(why));
  if (pai_error_help(why) != NULL)
    pai__error_help(err, "%s", pai_error_help(why));
  pai_error_free(event);
  return rc;
}

pai_want pai__placing_want(const pai__pjob *j, uint32_t r, uint32_t tasks)
{
  const pai__role *role = &j->spec->roles[r];

  return (pai_want){ .struct_size = sizeof(pai_want),
                     .tasks = tasks,
                     .type = j->share == 0 ? pai__sku_wanted(j, role) : NULL,
                     .gpus = j->share == 0 ? role->gpus : 0,
                     .cpus = (uint32_t)(role->cpu_millis / 1000),
                     .cpu_millis = (uint32_t)(role->cpu_millis % 1000),
                     .ports = pai__platform_role_ports(role),
                     .memory = (uint64_t)role->memory_mb << 20 };
}

const char *pai__placing_class(const pai__pjob *j)
{
  const pai__tree *t = j->spec->tree;
  pai__node n = pai__tree_get(t, 0, "extras");

  n = n != PAI__NO_NODE ? pai__tree_get(t, n, "hivedScheduler") : n;
  n = n != PAI__NO_NODE ? pai__tree_get(t, n, "jobPriorityClass") : n;
  return n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__STRING
           ? pai__tree_str(t, n, NULL)
           : NULL;
}

/* OpenPAI's priorities of HiveD's classes (job-spec 1.6).  Without priorities
 * in the policy, opportunistic jobs keep theirs: they make room in virtual
 * clusters. */
int pai__placing_priority(const pai__pjob *j)
{
  static const struct {
    const char *class;
    int priority;
  } classes[] = { { "prod", 100 },
                  { "test", 10 },
                  { "oppo", PAI_SCHED_OPPORTUNISTIC } };
  enum { USUAL = 10 };
  const char *class = pai__placing_class(j);

  int priority = USUAL;

  for (size_t i = 0; class != NULL && i < PAI__LEN(classes); i++)
    if (strcmp(class, classes[i].class) == 0)
      priority = classes[i].priority;
  return j->platform->ranks || priority < 0 ? priority : 0;
}

const char *pai__placing_user(char out[PAI__SCHED_USER], const pai__pjob *j)
{
  unsigned before =
    pai__accounts_before(j->platform->accounts, j->user, j->id);

  if (before == 0)
    return j->user;
  (void)snprintf(out, PAI__SCHED_USER, "%s~%u", j->user, before + 1);
  return out;
}

int pai__platform_queue(pai__pjob *j, pai_error **err)
{
  pai_platform *p = j->platform;
  size_t nroles = j->spec->nroles;
  char user[PAI__SCHED_USER];
  pai_want *wants = pai__zalloc(&p->alloc, nroles * sizeof(*wants));
  pai_after *after = NULL;
  size_t nafter = 0;
  pai_request request = { .struct_size = sizeof(request),
                          .id = j->id,
                          .name = j->name,
                          .vc = pai__vcs_of(j),
                          .user = pai__placing_user(user, j),
                          .priority = pai__placing_priority(j),
                          .limit = j->spec->time_limit,
                          .held = j->share != 0,
                          .wants = wants,
                          .nwants = nroles };
  int rc;

  if (wants == NULL)
    return pai__oom(err);
  rc = pai__after_make(&after, &nafter, j, err);
  if (rc == PAI_OK) {
    request.after = after;
    request.nafter = nafter;
    for (uint32_t r = 0; r < nroles; r++)
      wants[r] = pai__placing_want(j, r, j->gang[r]);
    rc = pai__placing_tell(
      p, &(pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &request },
      err);
  }
  p->schedule_due = true;
  j->share_wanted = j->share != 0;
  p->sharing |= j->share_wanted;
  pai__free(&p->alloc, after, j->spec->nafter * sizeof(*after));
  pai__free(&p->alloc, wants, nroles * sizeof(*wants));
  return rc < 0 ? pai__placing_refused(rc, err) : PAI_OK;
}

int pai__placing_resize(pai__pjob *j, uint32_t role, uint32_t tasks,
                        pai_error **err)
{
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE,
                        .id = j->id,
                        .key = "tasks",
                        .want = role,
                        .number = tasks };
  int rc;

  if (j->gang[role] == tasks)
    return PAI_OK;
  if (j->impossible != NULL) { /* it has no request */
    j->gang[role] = tasks;
    return PAI_OK;
  }
  rc = pai__placing_tell(j->platform, &e, err);
  if (rc < 0)
    return pai__placing_refused(rc, err);
  j->gang[role] = tasks;
  j->platform->schedule_due = true;
  return PAI_OK;
}

/* Sets the gang's request to the present number of tasks of its roles. */
static int resize_all(pai__pjob *j, pai_error **err)
{
  const pai__job_role *roles = pai__job_roles(&j->job);
  int rc = PAI_OK;

  for (uint32_t r = 0; rc == PAI_OK && r < j->spec->nroles; r++)
    rc = pai__placing_resize(j, r, roles[r].tasks, err);
  return rc;
}

int pai__placing_hold(pai_platform *p, uint64_t id, bool held)
{
  pai_sched_event e = {
    .kind = PAI_SCHED_CHANGE, .id = id, .key = "held", .number = held
  };

  return pai__placing_tell(p, &e, NULL);
}

int pai__platform_return(pai__pjob *j, bool held)
{
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED, .id = j->id };
  uint32_t instance = PAI_SCHED_ALL;
  pai_error *err = NULL;
  int rc = PAI_OK;

  /* It waits already if a former call ran out of memory below. */
  if (pai_sched_next_running(j->platform->sched, j->id, &instance, NULL) ==
      PAI_OK) {
    rc = pai__placing_tell(j->platform, &e, NULL);
    if (rc < 0)
      return rc;
    pai__gpus_give(j);
    pai__single_release_all(j);
    pai__share_give(j);
  }
  j->share_wanted = j->share != 0 && !held;
  j->placed = false;
  j->platform->schedule_due = true;
  rc = resize_all(j, &err);
  if (rc < 0) {
    pai__strfree(&j->platform->alloc, j->why);
    j->why = pai__strdup(&j->platform->alloc, pai_error_message(err));
  }
  pai_error_free(err);
  if (rc == PAI_OK && (held || j->share_wanted))
    rc = pai__placing_hold(j->platform, j->id, true);
  return rc;
}

int pai__platform_resume(pai__pjob *j)
{
  j->platform->schedule_due = true;
  j->share_wanted = j->share != 0;
  if (j->share_wanted)
    return PAI_OK;
  return pai__placing_hold(j->platform, j->id, false);
}

void pai__platform_unqueue(pai__pjob *j)
{
  pai__deferred_drop(j, PAI__NO_TASK);
  if (!j->form.partial)
    pai__placing_remove(j->platform, j->id, j->job.code);
  j->decided = false;
  if (j->placed)
    pai__gpus_give(j);
  pai__single_release_all(j);
  pai__share_give(j);
  j->share_wanted = false;
  j->placed = false;
  j->platform->schedule_due = true;
}

/* --- being placed --------------------------------------------------------- */

void pai__placing_note(pai__pjob *j, uint32_t task,
                       const pai_task_place *place)
{
  uint32_t *ports = j->ports + j->tasks[task].port;
  uint64_t gpus = place->gpus;

  if (place->nports != 0)
    memcpy(ports, place->ports, place->nports * sizeof(*ports));
  if (j->tasks[task].share >= 0)
    gpus = UINT64_C(1) << j->tasks[task].share;
  j->places[task] = (pai__task_place){ j->platform->here.ip, gpus, ports };
  j->replan = true;
}

void pai__platform_take_places(pai__pjob *j)
{
  const pai__task *tasks = pai__job_tasks(&j->job);
  uint32_t first = 0, role = 0; /* first task of the role in the request */

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    pai_task_place place = { .struct_size = sizeof(place) };

    if (pai__is_single(j, t))
      continue;
    if (tasks[t].role < role)
      first = role = 0; /* it was added after tasks of later roles */
    while (role < tasks[t].role)
      first += j->gang[role++];
    (void)pai_sched_task(j->platform->sched, j->id, 0, first + tasks[t].index,
                         &place);
    pai__placing_note(j, t, &place);
  }
}

static void read_start(pai_platform *p, uint64_t id)
{
  uint32_t task;
  pai__pjob *j = pai__single_find(p, id, &task);

  if (j == NULL) {
    p->share_ids[p->nshare_ids++] = id;
    return;
  }
  if (task != PAI__NO_TASK)
    pai__single_decided(j, task);
  else {
    pai__platform_take_places(j);
    j->decided = true;
  }
  pai__platform_put(j, PAI__PLACED);
}

/* A run is preempted or has reached its time limit; other stops do not occur,
 * because only waiting requests are ever cancelled here. */
static void read_stop(pai_platform *p, const pai_decision *d)
{
  uint32_t task;
  pai__pjob *j = pai__single_find(p, d->id, &task);

  if (j == NULL)
    pai__shares_preempted(p, d->id);
  else if (d->cause == PAI_STOP_LIMIT)
    pai__time_is_over(j);
  else
    pai__single_preempted(j, task);
}

/* Reads all decisions before anything is done about them. */
static void read_decisions(pai_platform *p)
{
  pai_decision d = { .struct_size = sizeof(d) };

  for (size_t i = 0; pai_sched_decision(p->sched, i, &d) == PAI_OK; i++)
    if (d.kind == PAI_DECISION_START)
      read_start(p, d.id);
  for (size_t i = 0; pai_sched_decision(p->sched, i, &d) == PAI_OK; i++)
    if (d.kind == PAI_DECISION_STOP)
      read_stop(p, &d);
}

int pai__placing_lose_ports(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  uint32_t count = pai__platform_role_ports(&j->spec->roles[t->role]);
  uint32_t one = 0;
  int lost = 0;

  for (uint32_t i = 0; i < count; i++)
    if (!p->ops->port_is_free(p->backend, j->places[task].ports[i])) {
      pai_sched_event e = { .kind = PAI_SCHED_LOSE_PORT,
                            .node = p->here.name,
                            .number = j->places[task].ports[i] };
      int rc = pai__placing_tell(p, &e, NULL);

      if (rc < 0)
        return rc;
      one = j->places[task].ports[i];
      lost++;
    }
  if (lost > 0)
    pai__log_line(&p->log, PAI_LOG_INFO,
                  "other programs use port %u and %d more that %s[%u] of %s "
                  "was to have",
                  one, lost - 1, j->spec->roles[t->role].name, t->index,
                  pai_spec_name(j->spec));
  return lost;
}

void pai__placing_go_on(pai_platform *p)
{
  pai__pjob *j;

  while ((j = pai__platform_pop(p, PAI__LOOKING)) != NULL)
    pai__platform_put(j, PAI__PLACED);
  pai__shares_go_on(p);
  p->schedule_due = true;
  pai__platform_hurry(p);
}

/* Starts a gang; returns as start_placed().  It keeps its place while its GPUs
 * are checked. */
static int start_gang(pai__pjob *j)
{
  pai_sched_event e = { .kind = PAI_SCHED_STARTED, .id = j->id };
  int lost = 0;

  if (!pai__gpus_of_are_known(j)) {
    pai__platform_put(j, PAI__LOOKING);
    return 0;
  }
  j->decided = false;
  for (uint32_t t = 0; lost >= 0 && j->nports > 0 && t < j->job.ntasks; t++)
    if (!pai__is_single(j, t)) {
      int of_task = pai__placing_lose_ports(j, t);

      lost = of_task < 0 ? of_task : lost + of_task;
    }
  if (lost == 0)
    lost = pai__gpus_take(j);
  if (lost != 0)
    e.kind = PAI_SCHED_RETURNED;
  (void)!pai__placing_tell(j->platform, &e, NULL);
  if (lost == 0) {
    j->placed = true;
    pai__platform_event(j, PAI__EV_PLACED, PAI__NO_TASK, 0);
  }
  return lost;
}

/* Starts placed jobs.  Returns how many must be placed again, because others
 * use their ports or GPUs; or a code: to be tried again later. */
static int start_placed(pai_platform *p)
{
  int anew = 0, failed = PAI_OK;
  pai__pjob *j;

  while (p->nshare_ids > 0)
    pai__shares_placed(p, p->share_ids[--p->nshare_ids]);
  while ((j = pai__platform_pop(p, PAI__PLACED)) != NULL) {
    int lost = 0;

    if (j->forgotten)
      continue;
    lost = j->decided ? start_gang(j) : pai__single_start(j);

    anew += lost > 0;
    failed = lost < 0 ? lost : failed;
  }
  return failed < 0 ? failed : anew;
}

/* Lets the scheduler decide once.  Returns as start_placed(). */
static int place_once(pai_platform *p)
{
  pai_error *err = NULL;
  int rc = pai_sched_decide(p->sched, pai__platform_now(p), &err), started;

  if (rc < 0)
    pai__log_line(&p->log, PAI_LOG_ERROR, "cannot place jobs: %s",
                  pai_error_message(err));
  pai_error_free(err);
  read_decisions(p); /* decisions before a failure are valid */
  started = start_placed(p);
  return rc < 0 ? rc : started;
}

/* Nothing could be placed and nothing runs, so no event would cause another
 * try: the first waiting job begins a shortage of memory.  Without a database,
 * or after another failure, it is stopped rather than waiting for ever. */
static void tell_one(pai_platform *p, int rc)
{
  uint32_t task;
  pai__pjob *j = pai__single_find(p, pai_sched_next(p->sched, 0), &task);

  if (j == NULL)
    return;
  if (rc == PAI_ENOMEM && p->store != NULL)
    pai__shortage_begin(j, task == PAI__NO_TASK ? 0 : task, "memory");
  else
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
}

/* Sets the timer for the next run that reaches its time limit. */
static void await_limit(pai_platform *p)
{
  pai_time next = pai_sched_next_time(p->sched);

  if (next == INT64_MAX)
    pai__timer_stop(p->limits);
  else {
    next -= pai__platform_now(p);
    pai__timer_start(p->limits, next > 0 ? next : 0);
  }
}

void pai__platform_schedule(pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  bool lost = false;
  int rc = PAI_OK;

  if (!p->schedule_due)
    return;
  while (p->schedule_due && rc >= 0) {
    p->schedule_due = false;
    if (p->strays)
      pai__platform_drop_strays(p);
    if (!pai__deferred_settle(p)) {
      p->schedule_due = false;
      pai__timer_start(p->ports, LOOK_AGAIN);
      return;
    }
    pai__shares_settle(p);
    rc = place_once(p);
    lost |= rc != 0;
    p->schedule_due |= rc > 0;
  }
  if (lost)
    (void)!pai__placing_tell(
      p, &(pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS }, NULL);
  (void)pai_sched_view_sums(p->sched, &sums);
  if (rc < 0 && sums.running == 0)
    tell_one(p, rc);
  await_limit(p);
  if (sums.waiting == 0 && !p->strays)
    pai__timer_stop(p->ports);
  else if (lost)
    pai__timer_start(p->ports, LOOK_AGAIN);
  if (sums.waiting != 0)
    pai__gpus_watch(p);
}
