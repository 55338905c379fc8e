/*
 * single.c - tasks that are placed alone
 *
 * Tasks of a job with `gangAllocation: false` are placed one by one, and so are
 * tasks that are added to a gang while it runs.  Each has a request of its own,
 * which keeps its turn in the queue when the task is tried again.
 */
#include "platform/place/single.h"

#include "platform/place/after.h"
#include "platform/place/gpus.h"
#include "platform/place/placing.h"
#include "platform/records/record.h"
#include "platform/place/shares.h"
#include "platform/place/vcs.h"

#include <stdio.h>

/* --- finding requests ----------------------------------------------------- */

pai__pjob *pai__single_find(pai_platform *p, uint64_t id, uint32_t *task)
{
  pai__pjob *j;

  *task = PAI__NO_TASK;
  if ((id & PAI__SHARE_ID) != 0)
    return NULL;
  if ((id & PAI__SINGLE_ID) == 0)
    return pai__platform_find_job(p, id);
  j = pai__platform_find_task(p, id & ~PAI__SINGLE_ID, task);
  return j != NULL && *task < j->job.ntasks ? j : NULL;
}

static bool waits(const pai__pjob *j, uint32_t task)
{
  return j->tasks[task].single == PAI__SINGLE_ASKED;
}

/* Prefers a task that does not wait behind another task of the job. */
uint64_t pai__single_waiting(const pai__pjob *j)
{
  pai_reason r = { .struct_size = sizeof(r) };
  uint64_t found = 0;

  if (!j->placed && pai_sched_reason(j->platform->sched, j->id, &r) == PAI_OK)
    return j->id;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    uint32_t other;

    if (!waits(j, t) ||
        pai_sched_reason(j->platform->sched, pai__single_id(j, t), &r) < 0)
      continue;
    if (r.behind == 0 || pai__single_find(j->platform, r.behind, &other) != j)
      return pai__single_id(j, t);
    found = found != 0 ? found : pai__single_id(j, t);
  }
  return found;
}

bool pai__single_is_looked_at(const pai__pjob *j)
{
  bool looked = j->decided;

  for (uint32_t t = 0; !looked && t < j->job.ntasks; t++)
    looked = j->tasks[t].single == PAI__SINGLE_DECIDED;
  return looked;
}

void pai__single_counts(const pai__pjob *j, uint32_t *have, uint32_t *wait)
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

/* --- asking --------------------------------------------------------------- */

static bool shares(const pai__pjob *j, uint32_t task)
{
  return j->share != 0 &&
         j->spec->roles[pai__job_tasks(&j->job)[task].role].gpus == 1;
}

int pai__single_queue(pai__pjob *j, uint32_t task, pai_error **err)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  pai__ptask *pt = &j->tasks[task];
  pai_want want = pai__placing_want(j, t->role, 1);
  pai_after *after = NULL;
  char name[PAI__MAX_ROLE_NAME + 256], user[PAI__SCHED_USER];
  pai_request request = { .struct_size = sizeof(request),
                          .id = pai__single_id(j, task),
                          .name = name,
                          .vc = pai__vcs_of(j),
                          .user = pai__placing_user(user, j),
                          .priority = pai__placing_priority(j),
                          .limit = j->spec->time_limit,
                          .held = shares(j, task),
                          .wants = &want,
                          .nwants = 1 };
  int rc;

  if (pt->single != PAI__SINGLE_NONE || j->impossible != NULL)
    return PAI_OK;
  if (!pai__is_single(
        j, task)) { /* removed and added again: the gang kept its place */
    pt->single = PAI__SINGLE_DECIDED;
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
  pt->single = PAI__SINGLE_ASKED;
  pt->held = pt->share_wanted = shares(j, task);
  j->platform->sharing |= pt->share_wanted;
  j->platform->schedule_due = true;
  return PAI_OK;
}

int pai__single_hold(pai__pjob *j, uint32_t task, bool held)
{
  int rc = j->tasks[task].held != held
             ? pai__placing_hold(j->platform, pai__single_id(j, task), held)
             : PAI_OK;

  if (rc == PAI_OK)
    j->tasks[task].held = held;
  return rc;
}

/* Gives back GPUs and share; the place stays noted, to be shown. */
static void give_back(pai__pjob *j, uint32_t task)
{
  if (j->tasks[task].single == PAI__SINGLE_TAKEN)
    pai__gpus_give_mask(j->platform, j->places[task].gpus);
  pai__share_give_task(j, task);
  j->platform->schedule_due = true;
}

int pai__single_return(pai__pjob *j, uint32_t task, bool held)
{
  pai__ptask *pt = &j->tasks[task];
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED,
                        .id = pai__single_id(j, task) };
  int rc = PAI_OK;

  if (pt->single == PAI__SINGLE_NONE)
    return pai__single_queue(j, task, NULL);
  if (pt->single != PAI__SINGLE_ASKED)
    rc = pai__placing_tell(j->platform, &e, NULL);
  if (rc < 0)
    return rc;
  give_back(j, task);
  pt->single = PAI__SINGLE_ASKED;
  pt->share_wanted = shares(j, task) && !held;
  return pai__single_hold(j, task, held || pt->share_wanted);
}

int pai__single_resume(pai__pjob *j, uint32_t task)
{
  j->platform->schedule_due = true;
  j->tasks[task].share_wanted = shares(j, task);
  return j->tasks[task].share_wanted ? PAI_OK
                                     : pai__single_hold(j, task, false);
}

void pai__single_release(pai__pjob *j, uint32_t task)
{
  pai__ptask *pt = &j->tasks[task];

  pai__deferred_drop(j, task);
  if (pt->single == PAI__SINGLE_NONE)
    return;
  if (pai__is_single(j, task)) {
    pai__placing_remove(j->platform, pai__single_id(j, task),
                        pai__job_tasks(&j->job)[task].code);
    give_back(j, task);
  }
  pt->single = PAI__SINGLE_NONE;
  pt->held = pt->share_wanted = false;
}

void pai__single_release_all(pai__pjob *j)
{
  for (uint32_t t = 0; j->tasks != NULL && t < j->job.ntasks; t++)
    pai__single_release(j, t);
}

/* --- being placed --------------------------------------------------------- */

void pai__single_decided(pai__pjob *j, uint32_t task)
{
  pai_task_place place = { .struct_size = sizeof(place) };

  (void)pai_sched_task(j->platform->sched, pai__single_id(j, task), 0, 0,
                       &place);
  pai__record_past(j, task); /* before its place changes */
  pai__placing_note(j, task, &place);
  j->tasks[task].single = PAI__SINGLE_DECIDED;
}

/* False: the attempt does not need the task any more, and the action for that
 * is yet to be done. */
static bool is_wanted(const pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];

  return t->state == PAI__TASK_WAITING && t->todo == PAI__DO_NOTHING &&
         j->job.state <= PAI__JOB_RUNNING && !j->job.preempting &&
         (j->job.todo >> PAI__DO_RETURN & 1) == 0;
}

/* Takes a task's GPUs.  Returns how many ports and GPUs others use, or a
 * code. */
static int take(pai__pjob *j, uint32_t task)
{
  int lost = pai__placing_lose_ports(j, task);

  return lost == 0 ? pai__gpus_take_mask(j->platform, j->places[task].gpus)
                   : lost;
}

static int start_alone(pai__pjob *j, uint32_t task)
{
  bool wanted = is_wanted(j, task);
  pai_sched_event e = { .id = pai__single_id(j, task) };
  int lost;

  if (wanted && !pai__gpus_are_known(j->platform, j->places[task].gpus)) {
    pai__platform_put(j, PAI__LOOKING);
    return 0;
  }
  lost = wanted ? take(j, task) : 0;
  e.kind = wanted && lost == 0 ? PAI_SCHED_STARTED : PAI_SCHED_RETURNED;
  (void)!pai__placing_tell(j->platform, &e, NULL);
  j->tasks[task].single =
    wanted && lost == 0 ? PAI__SINGLE_TAKEN : PAI__SINGLE_ASKED;
  if (wanted && lost == 0)
    pai__platform_event(j, PAI__EV_PLACED, task, 0);
  return lost;
}

int pai__single_start(pai__pjob *j)
{
  int anew = 0, failed = PAI_OK;

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    int lost = 0;

    if (j->tasks[t].single != PAI__SINGLE_DECIDED)
      continue;
    if (pai__is_single(j, t))
      lost = start_alone(j, t);
    else { /* the gang has held its place all the time */
      j->tasks[t].single = PAI__SINGLE_NONE;
      if (is_wanted(j, t))
        pai__platform_event(j, PAI__EV_PLACED, t, 0);
    }
    anew += lost > 0;
    failed = lost < 0 ? lost : failed;
  }
  return failed < 0 ? failed : anew;
}

/* Gives up a place whose GPUs are still being checked; false: it has begun. */
static bool not_begun(pai__pjob *j, uint32_t task)
{
  bool whole = task == PAI__NO_TASK;
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED,
                        .id = whole ? j->id : pai__single_id(j, task) };

  if (whole ? !j->decided : j->tasks[task].single != PAI__SINGLE_DECIDED)
    return false;
  (void)!pai__placing_tell(j->platform, &e, NULL);
  if (whole)
    j->decided = false;
  else
    j->tasks[task].single = PAI__SINGLE_ASKED;
  return true;
}

/* An ending task gives up its place anyway; a gang is preempted as a whole. */
void pai__single_preempted(pai__pjob *j, uint32_t task)
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

/* --- restoring ------------------------------------------------------------ */

/* The scheduler has lost the request of a task. */
static void find_again(pai__pjob *j, uint32_t task)
{
  uint8_t state = pai__job_tasks(&j->job)[task].state;

  if (state >= PAI__TASK_PLACED && state <= PAI__TASK_ENDING)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
  else if ((state == PAI__TASK_WAITING || state == PAI__TASK_BACKOFF) &&
           pai__job_tasks(&j->job)[task].todo == PAI__DO_NOTHING)
    pai__tell_scheduler(j, task, PAI__DO_QUEUE, false);
}

/* A run was placed but had not begun: its request waits in its old turn. */
static void return_undone(pai__pjob *j, uint64_t id)
{
  (void)!pai__placing_tell(
    j->platform, &(pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id },
    NULL);
}

bool pai__single_restore_gang(pai__pjob *j)
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

  if (pai_sched_view_request(sched, pai__single_id(j, task), &view) < 0) {
    if (j->form.partial)
      find_again(j, task);
    return;
  }
  pt->single = PAI__SINGLE_ASKED;
  pt->held = view.held != 0;
  if (pai_sched_next_running(sched, pai__single_id(j, task), &instance,
                             &started) == PAI_OK) {
    if (is_wanted(j, task)) {
      return_undone(j, pai__single_id(j, task));
      return;
    }
    (void)pai_sched_task(sched, pai__single_id(j, task), 0, 0, &place);
    pai__placing_note(j, task, &place);
    pt->single = PAI__SINGLE_TAKEN;
    pai__gpus_keep_mask(j->platform, j->places[task].gpus);
    return;
  }
  pt->share_wanted = shares(j, task) &&
                     pai__job_tasks(&j->job)[task].state == PAI__TASK_WAITING;
  (void)!pai__single_hold(j, task, view.held != 0 || pt->share_wanted);
}

void pai__single_restore(pai__pjob *j)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (pai__is_single(j, t))
      restore(j, t);
    else if (j->placed && is_wanted(j, t)) { /* as in pai__single_queue() */
      j->tasks[t].single = PAI__SINGLE_DECIDED;
      pai__platform_put(j, PAI__PLACED);
    }
}
