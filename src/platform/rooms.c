/*
 * rooms.c - tasks that have room of their own
 *
 * Tasks of a job with `gangAllocation: false` are placed one by one, and so are
 * those that a gang gets while it runs.  Each is a request of its own, which
 * keeps its turn in the queue when the task is tried again.
 */
#include "platform/rooms.h"

#include "platform/after.h"
#include "platform/gpus.h"
#include "platform/placing.h"
#include "platform/record.h"
#include "platform/shares.h"
#include "platform/vcs.h"

#include <stdio.h>

/* --- whose request it is ---------------------------------------------------- */

pai__pjob *pai__room_find(pai_platform *p, uint64_t id, uint32_t *task)
{
  pai__pjob *j;

  *task = PAI__NO_TASK;
  if ((id & PAI__SHARE_ID) != 0)
    return NULL;
  if ((id & PAI__ALONE_ID) == 0)
    return pai__platform_find_job(p, id);
  j = pai__platform_find_task(p, id & ~PAI__ALONE_ID, task);
  return j != NULL && *task < j->job.ntasks ? j : NULL;
}

static bool waits(const pai__pjob *j, uint32_t task)
{
  return j->tasks[task].room == PAI__ROOM_ASKED;
}

/* Of its own tasks that wait, one that does not wait for another of them. */
uint64_t pai__room_waiting(const pai__pjob *j)
{
  pai_reason r = { .struct_size = sizeof(r) };
  uint64_t found = 0;

  if (!j->placed && pai_sched_reason(j->platform->sched, j->id, &r) == PAI_OK)
    return j->id;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    uint32_t other;

    if (!waits(j, t) ||
        pai_sched_reason(j->platform->sched, pai__room_id(j, t), &r) < 0)
      continue;
    if (r.behind == 0 || pai__room_find(j->platform, r.behind, &other) != j)
      return pai__room_id(j, t);
    found = found != 0 ? found : pai__room_id(j, t);
  }
  return found;
}

bool pai__room_is_looked_at(const pai__pjob *j)
{
  bool looked = j->decided;

  for (uint32_t t = 0; !looked && t < j->job.ntasks; t++)
    looked = j->tasks[t].room == PAI__ROOM_DECIDED;
  return looked;
}

void pai__room_counts(const pai__pjob *j, uint32_t *have, uint32_t *wait)
{
  *have = *wait = 0;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    const pai__task *task = &pai__job_tasks(&j->job)[t];

    *have +=
      task->state >= PAI__TASK_PLACED && task->state <= PAI__TASK_ENDING;
    *wait +=
      task->state == PAI__TASK_WAITING || task->state == PAI__TASK_BACKOFF;
  }
}

/* --- asking ----------------------------------------------------------------- */

static bool shares(const pai__pjob *j, uint32_t task)
{
  return j->share != 0 &&
         j->spec->roles[pai__job_tasks(&j->job)[task].role].gpus == 1;
}

int pai__room_queue(pai__pjob *j, uint32_t task, pai_error **err)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  pai__ptask *pt = &j->tasks[task];
  pai_want want = pai__placing_want(j, t->role, 1);
  pai_after *after = NULL;
  char name[PAI__MAX_ROLE_NAME + 256], user[PAI__SCHED_USER];
  pai_request request = { .struct_size = sizeof(request),
                          .id = pai__room_id(j, task),
                          .name = name,
                          .vc = pai__vcs_of(j),
                          .user = pai__placing_user(user, j),
                          .priority = pai__placing_priority(j),
                          .limit = j->spec->time_limit,
                          .held = shares(j, task),
                          .wants = &want,
                          .nwants = 1 };
  int rc;

  if (pt->room != PAI__ROOM_NONE || j->impossible != NULL)
    return PAI_OK;
  if (!pai__room_is_alone(j, task)) { /* it was removed, and its place kept */
    pt->room = PAI__ROOM_DECIDED;
    pai__platform_put(j, PAI__PLACED);
    j->platform->schedule_due = true;
    return PAI_OK;
  }
  (void)snprintf(name, sizeof(name), "%s %s[%u]", j->name,
                 j->spec->roles[t->role].name, t->index);
  rc = pai__after_make(&after, &request.nafter, j, err);
  request.after = after;
  if (rc == PAI_OK)
    rc = pai__placing_tell(
      j->platform,
      &(pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &request },
      err);
  pai__free(&j->platform->alloc, after, j->spec->nafter * sizeof(*after));
  if (rc < 0)
    return pai__placing_refused(rc, err);
  pt->room = PAI__ROOM_ASKED;
  pt->held = pt->share_wanted = shares(j, task);
  j->platform->sharing |= pt->share_wanted;
  j->platform->schedule_due = true;
  return PAI_OK;
}

int pai__room_hold(pai__pjob *j, uint32_t task, bool held)
{
  int rc = j->tasks[task].held != held
             ? pai__placing_hold(j->platform, pai__room_id(j, task), held)
             : PAI_OK;

  if (rc == PAI_OK)
    j->tasks[task].held = held;
  return rc;
}

/* What it had goes; where it was stays to be seen. */
static void give_back(pai__pjob *j, uint32_t task)
{
  if (j->tasks[task].room == PAI__ROOM_TAKEN)
    pai__gpus_give_mask(j->platform, j->places[task].gpus);
  pai__share_give_task(j, task);
  j->platform->schedule_due = true;
}

int pai__room_return(pai__pjob *j, uint32_t task, bool held)
{
  pai__ptask *pt = &j->tasks[task];
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED,
                        .id = pai__room_id(j, task) };
  int rc = PAI_OK;

  if (pt->room == PAI__ROOM_NONE)
    return pai__room_queue(j, task, NULL);
  if (pt->room != PAI__ROOM_ASKED)
    rc = pai__placing_tell(j->platform, &e, NULL);
  if (rc < 0)
    return rc;
  give_back(j, task);
  pt->room = PAI__ROOM_ASKED;
  pt->share_wanted = shares(j, task) && !held;
  return pai__room_hold(j, task, held || pt->share_wanted);
}

int pai__room_resume(pai__pjob *j, uint32_t task)
{
  j->platform->schedule_due = true;
  j->tasks[task].share_wanted = shares(j, task);
  return j->tasks[task].share_wanted ? PAI_OK : pai__room_hold(j, task, false);
}

void pai__room_release(pai__pjob *j, uint32_t task)
{
  pai__ptask *pt = &j->tasks[task];

  pai__owe_nothing(j, task);
  if (pt->room == PAI__ROOM_NONE)
    return;
  if (pai__room_is_alone(j, task)) {
    pai__placing_remove(j->platform, pai__room_id(j, task),
                        pai__job_tasks(&j->job)[task].code);
    give_back(j, task);
  }
  pt->room = PAI__ROOM_NONE;
  pt->held = pt->share_wanted = false;
}

void pai__rooms_release(pai__pjob *j)
{
  for (uint32_t t = 0; j->tasks != NULL && t < j->job.ntasks; t++)
    pai__room_release(j, t);
}

/* --- being placed ------------------------------------------------------------ */

void pai__room_decided(pai__pjob *j, uint32_t task)
{
  pai_task_place place = { .struct_size = sizeof(place) };

  (void)pai_sched_task(j->platform->sched, pai__room_id(j, task), 0, 0,
                       &place);
  pai__record_past(j, task); /* which was elsewhere */
  pai__placing_note(j, task, &place);
  j->tasks[task].room = PAI__ROOM_DECIDED;
}

/* Its attempt was decided without it: that it is not wanted any more is yet to
 * be told. */
static bool is_wanted(const pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];

  return t->state == PAI__TASK_WAITING && t->todo == PAI__DO_NOTHING &&
         j->job.state <= PAI__JOB_RUNNING && !j->job.preempting &&
         (j->job.todo >> PAI__DO_RETURN & 1) == 0;
}

/* How many ports and GPUs it was to have that others have; or a code. */
static int take(pai__pjob *j, uint32_t task)
{
  int lost = pai__placing_lose_ports(j, task);

  return lost == 0 ? pai__gpus_take_mask(j->platform, j->places[task].gpus)
                   : lost;
}

static int start_alone(pai__pjob *j, uint32_t task)
{
  bool wanted = is_wanted(j, task);
  pai_sched_event e = { .id = pai__room_id(j, task) };
  int lost;

  if (wanted && !pai__gpus_are_known(j->platform, j->places[task].gpus)) {
    pai__platform_put(j, PAI__LOOKING);
    return 0;
  }
  lost = wanted ? take(j, task) : 0;
  e.kind = wanted && lost == 0 ? PAI_SCHED_STARTED : PAI_SCHED_RETURNED;
  (void)!pai__placing_tell(j->platform, &e, NULL);
  j->tasks[task].room =
    wanted && lost == 0 ? PAI__ROOM_TAKEN : PAI__ROOM_ASKED;
  if (wanted && lost == 0)
    pai__platform_event(j, PAI__EV_PLACED, task, 0);
  return lost;
}

int pai__rooms_start(pai__pjob *j)
{
  int anew = 0, failed = PAI_OK;

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    int lost = 0;

    if (j->tasks[t].room != PAI__ROOM_DECIDED)
      continue;
    if (pai__room_is_alone(j, t))
      lost = start_alone(j, t);
    else { /* the gang has held it all the time */
      j->tasks[t].room = PAI__ROOM_NONE;
      if (is_wanted(j, t))
        pai__platform_event(j, PAI__EV_PLACED, t, 0);
    }
    anew += lost > 0;
    failed = lost < 0 ? lost : failed;
  }
  return failed < 0 ? failed : anew;
}

/* It was decided and has not begun, as its GPUs are looked at. */
static bool not_begun(pai__pjob *j, uint32_t task)
{
  bool whole = task == PAI__NO_TASK;
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED,
                        .id = whole ? j->id : pai__room_id(j, task) };

  if (whole ? !j->decided : j->tasks[task].room != PAI__ROOM_DECIDED)
    return false;
  (void)!pai__placing_tell(j->platform, &e, NULL);
  if (whole)
    j->decided = false;
  else
    j->tasks[task].room = PAI__ROOM_ASKED;
  return true;
}

/* What is over gives it back anyway; and a gang does so as a whole. */
void pai__room_preempted(pai__pjob *j, uint32_t task)
{
  enum pai__task_state state;

  if (not_begun(j, task))
    return;
  if (j->job.state != PAI__JOB_STARTING && j->job.state != PAI__JOB_RUNNING)
    return;
  if (!j->form.partial) {
    if (j->job.preempting)
      return;
    j->preempted = true;
    task = PAI__NO_TASK;
  } else {
    state = (enum pai__task_state)pai__job_tasks(&j->job)[task].state;
    if (state < PAI__TASK_PLACED || state > PAI__TASK_ENDING)
      return;
  }
  pai__happened(j, task, "Warning", "Preempted",
                "its resources were given to another job, and it waits again");
  pai__platform_event(j, PAI__EV_PREEMPTED, task, 0);
}

/* --- a platform before -------------------------------------------------------- */

/* What its records say, the scheduler's may have lost. */
static void find_again(pai__pjob *j, uint32_t task)
{
  uint8_t state = pai__job_tasks(&j->job)[task].state;

  if (state >= PAI__TASK_PLACED && state <= PAI__TASK_ENDING)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
  else if ((state == PAI__TASK_WAITING || state == PAI__TASK_BACKOFF) &&
           pai__job_tasks(&j->job)[task].todo == PAI__DO_NOTHING)
    pai__tell_scheduler(j, task, PAI__DO_QUEUE, false);
}

/* It was decided, and its GPUs were looked at then: it waits in its old turn. */
static void return_undone(pai__pjob *j, uint64_t id)
{
  (void)!pai__placing_tell(
    j->platform, &(pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id },
    NULL);
}

bool pai__rooms_restore_gang(pai__pjob *j)
{
  uint32_t instance = PAI_SCHED_ALL;
  pai_time started;

  if (pai_sched_next_running(j->platform->sched, j->id, &instance, &started) <
      0)
    return false;
  if (j->job.state != PAI__JOB_QUEUED ||
      (j->job.todo >> PAI__DO_RETURN & 1) != 0)
    return true;
  return_undone(j, j->id);
  return false;
}

static void restore(pai__pjob *j, uint32_t task)
{
  pai_sched *sched = j->platform->sched;
  pai_request_view view = { .struct_size = sizeof(view) };
  pai_task_place place = { .struct_size = sizeof(place) };
  uint32_t instance = PAI_SCHED_ALL;
  pai__ptask *pt = &j->tasks[task];
  pai_time started;

  if (pai_sched_view_request(sched, pai__room_id(j, task), &view) < 0) {
    if (j->form.partial)
      find_again(j, task);
    return;
  }
  pt->room = PAI__ROOM_ASKED;
  pt->held = view.held != 0;
  if (pai_sched_next_running(sched, pai__room_id(j, task), &instance,
                             &started) == PAI_OK) {
    if (is_wanted(j, task)) {
      return_undone(j, pai__room_id(j, task));
      return;
    }
    (void)pai_sched_task(sched, pai__room_id(j, task), 0, 0, &place);
    pai__placing_note(j, task, &place);
    pt->room = PAI__ROOM_TAKEN;
    pai__gpus_keep_mask(j->platform, j->places[task].gpus);
    return;
  }
  pt->share_wanted = shares(j, task) &&
                     pai__job_tasks(&j->job)[task].state == PAI__TASK_WAITING;
  (void)!pai__room_hold(j, task, view.held != 0 || pt->share_wanted);
}

void pai__rooms_restore(pai__pjob *j)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (pai__room_is_alone(j, t))
      restore(j, t);
    else if (j->placed && is_wanted(j, t)) { /* as in pai__room_queue() */
      j->tasks[t].room = PAI__ROOM_DECIDED;
      pai__platform_put(j, PAI__PLACED);
    }
}
