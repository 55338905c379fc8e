/*
 * shares.c - jobs that share GPUs
 *
 * Such a job states how much of a GPU's memory each of its tasks needs.  Its
 * request to the scheduler has no GPUs, and is held until there is a share for
 * each task.  Shared GPUs belong to requests of the platform's own, which wait
 * in the queue like jobs, so that jobs with whole GPUs and many small ones do
 * not overtake each other.  Jobs that wait for shares are served in order.
 */
#include "platform/place/shares.h"

#include "platform/place/after.h"
#include "platform/place/gpus.h"
#include "platform/place/single.h"
#include "platform/place/vcs.h"
#include "sched/inspect.h"

#include <openpai/vc.h>

#include <inttypes.h>

static const char key[] = "gpuMemoryMB";

static int tell(pai_platform *p, pai_sched_event *e)
{
  e->struct_size = sizeof(*e);
  e->time = pai__platform_now(p);
  p->schedule_due = true;
  return pai_sched_send(p->sched, e, NULL);
}

/* --- reading a job's share ------------------------------------------------ */

static int64_t declared(const pai_spec *spec)
{
  pai__node n = pai__spec_own(spec->tree, key);

  return n != PAI__NO_NODE && pai__tree_type(spec->tree, n) == PAI__INT
           ? pai__tree_int(spec->tree, n)
           : 0;
}

static uint64_t largest_gpu(const pai_platform *p)
{
  uint64_t largest = 0;

  for (uint32_t i = 0; i < p->here.gpus; i++) {
    uint64_t bytes = pai__gpus_memory(p, i);

    largest = bytes > largest ? bytes : largest;
  }
  return largest;
}

int pai__share_read(pai__pjob *j, pai_error **err)
{
  int64_t mb = declared(j->spec);
  uint64_t largest = largest_gpu(j->platform);
  bool one = false, other = false;

  if (mb == 0)
    return PAI_OK;
  for (size_t r = 0; r < j->spec->nroles; r++) {
    one |= j->spec->roles[r].gpus == 1;
    other |= j->spec->roles[r].gpus > 1;
  }
  if (mb < 0 || mb > INT32_MAX || !one || other) {
    (void)pai__fail(err, PAI_EINVAL,
                    "extras.openpai.%s is for tasks with one GPU each", key);
    pai__error_help(err, "a whole number of MiB, and `gpu` is 0 or 1 in each "
                         "task role");
    return PAI_EINVAL;
  }
  j->share = (uint64_t)mb << 20;
  if (j->share <= largest)
    return PAI_OK;
  return pai__fail(err, PAI_ENOROOM,
                   "the job cannot run here: its tasks share GPUs of %" PRId64
                   " MiB, and the largest one has %" PRIu64,
                   mb, largest >> 20);
}

/* --- giving --------------------------------------------------------------- */

/* Tells whether a task needs a share as a part of the gang. */
static bool wants_share(const pai__pjob *j, uint32_t task)
{
  return !pai__is_single(j, task) &&
         j->spec->roles[pai__job_tasks(&j->job)[task].role].gpus == 1;
}

/* A shared GPU counts for one virtual cluster; all jobs that share it belong to
 * that one. */
static size_t vc_of_request(const pai_platform *p, uint64_t id)
{
  pai_request_view view = { .struct_size = sizeof(view) };

  (void)pai_sched_view_request(p->sched, id, &view);
  return pai__vcs_index(p->vcs, view.vc);
}

static size_t vc_of(const pai__pjob *j)
{
  return pai__vcs_index(j->platform->vcs, j->vc);
}

/* Returns the fullest GPU with enough memory left for a share, or -1. */
static int find_gpu(const pai__pjob *j, const uint64_t *used)
{
  const pai_platform *p = j->platform;
  uint64_t least = UINT64_MAX, bytes = j->share;
  int best = -1;

  for (uint32_t i = 0; i < p->here.gpus; i++) {
    uint64_t total = pai__gpus_memory(p, i);
    uint64_t left = total > used[i] ? total - used[i] : 0;

    if (p->shares[i].request != 0 && !p->shares[i].leaving && left >= bytes &&
        left < least && vc_of_request(p, p->shares[i].request) == vc_of(j)) {
      least = left;
      best = (int)i;
    }
  }
  return best;
}

/* Gives shares to all tasks of the gang, or to none.  Returns how many lack. */
static uint32_t fit(pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint64_t used[PAI__MAX_GPUS];
  uint32_t missing = 0;

  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    used[i] = p->shares[i].used;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    int gpu = -1;

    if (!wants_share(j, t))
      continue;
    gpu = find_gpu(j, used);
    j->tasks[t].share = (int8_t)gpu;
    if (gpu >= 0)
      used[gpu] += j->share;
    missing += gpu < 0;
  }
  for (uint32_t i = 0; missing == 0 && i < PAI__MAX_GPUS; i++)
    p->shares[i].used = used[i];
  j->shared_out = missing == 0;
  return missing;
}

void pai__share_give(pai__pjob *j)
{
  if (!j->shared_out)
    return;
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (wants_share(j, t) && j->tasks[t].share >= 0)
      j->platform->shares[j->tasks[t].share].used -= j->share;
  j->shared_out = false;
  j->platform->schedule_due = true;
}

void pai__share_give_task(pai__pjob *j, uint32_t task)
{
  if (j->tasks[task].share < 0)
    return;
  j->platform->shares[j->tasks[task].share].used -= j->share;
  j->tasks[task].share = -1;
  j->platform->schedule_due = true;
}

/* Gives shares to the waiting tasks that are placed alone, as far as there are
 * some.  Returns whether one lacks. */
static uint32_t fit_alone(pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint64_t used[PAI__MAX_GPUS];

  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    used[i] = p->shares[i].used;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    int gpu;

    if (!j->tasks[t].share_wanted)
      continue;
    gpu = find_gpu(j, used);
    if (gpu < 0)
      return 1; /* tasks are served in order */
    j->tasks[t].share = (int8_t)gpu;
    j->tasks[t].share_wanted = false;
    used[gpu] += j->share;
    p->shares[gpu].used += j->share;
    (void)!pai__single_hold(j, t, false);
  }
  return 0;
}

/* --- GPUs that are shared ------------------------------------------------- */

static int ask_for_gpu(const pai__pjob *j)
{
  pai_platform *p = j->platform;
  pai_want want = { .struct_size = sizeof(want), .tasks = 1, .gpus = 1 };
  pai_request request = { .struct_size = sizeof(request),
                          .id = PAI__SHARE_ID | ++p->last_share,
                          .name = "shared GPU",
                          .vc = pai__vcs_of(j),
                          .wants = &want,
                          .nwants = 1 };
  pai_sched_event e = { .kind = PAI_SCHED_SUBMIT, .request = &request };
  int rc = tell(p, &e);

  p->shares_asked += rc == PAI_OK;
  return rc;
}

static bool is_waiting_share(const pai_platform *p, uint64_t id)
{
  uint32_t instance = PAI_SCHED_ALL;
  pai_time since;

  return (id & PAI__SHARE_ID) != 0 &&
         pai_sched_next_running(p->sched, id, &instance, &since) < 0;
}

/* Tells whether the virtual cluster's request for another GPU waits already. */
static bool is_asked(const pai_platform *p, size_t vc)
{
  uint64_t id = p->shares_asked > 0 ? pai_sched_next(p->sched, 0) : 0;

  while (id != 0 && (!is_waiting_share(p, id) || vc_of_request(p, id) != vc))
    id = pai_sched_next(p->sched, id);
  return id != 0;
}

/* Cancels waiting requests for GPUs, except in virtual clusters where a share
 * is missing. */
static void ask_for_none(pai_platform *p, const bool *missing)
{
  uint64_t id = p->shares_asked > 0 ? pai_sched_next(p->sched, 0) : 0;

  while (id != 0) {
    uint64_t next = pai_sched_next(p->sched, id);
    pai_sched_event e = { .kind = PAI_SCHED_CANCEL,
                          .id = id,
                          .instance = PAI_SCHED_ALL };

    if (is_waiting_share(p, id) && !missing[vc_of_request(p, id)] &&
        tell(p, &e) == PAI_OK)
      p->shares_asked -= p->shares_asked > 0;
    id = next;
  }
}

static void give_back(pai_platform *p, const bool *missing)
{
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++) {
    pai_sched_event e = { .kind = PAI_SCHED_FINISHED,
                          .id = p->shares[i].request };

    if (p->shares[i].request == 0 || p->shares[i].used != 0 ||
        (missing[vc_of_request(p, e.id)] && !p->shares[i].leaving) ||
        tell(p, &e) < 0)
      continue;
    p->shares[i].request = 0;
    p->shares[i].leaving = false;
    pai__gpus_give_mask(p, UINT64_C(1) << i);
  }
}

static bool is_stopping(const pai_platform *p, uint64_t id)
{
  pai__run_info run;

  return pai__inspect_run(p->sched, id, 0, &run) &&
         run.state == PAI__RUN_STOPPING;
}

void pai__shares_placed(pai_platform *p, uint64_t id)
{
  pai_task_place place = { .struct_size = sizeof(place) };
  pai_sched_event e = { .kind = PAI_SCHED_STARTED, .id = id };

  (void)pai_sched_task(p->sched, id, 0, 0, &place);
  if (!pai__gpus_are_known(p, place.gpus)) {
    p->share_looking[p->nshare_looking++] = id;
    return;
  }
  if (pai__gpus_take_mask(p, place.gpus) != 0) {
    e.kind = PAI_SCHED_RETURNED; /* the scheduler has the GPU as sick by now */
    (void)!tell(p, &e);
    return;
  }
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if ((place.gpus >> i & 1) != 0) {
      p->shares[i].request = id;
      p->shares[i].leaving = is_stopping(p, id);
    }
  p->shares_asked -= p->shares_asked > 0;
  (void)!tell(p, &e);
}

static void preempt_sharers(pai_platform *p, uint32_t gpu)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;

    for (uint32_t t = 0; j->share != 0 && t < j->job.ntasks; t++)
      if (j->tasks[t].share == (int)gpu)
        pai__single_preempted(j, t);
  }
}

/* A GPU that waits for its check is marked in pai__shares_placed(). */
void pai__shares_preempted(pai_platform *p, uint64_t id)
{
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if (p->shares[i].request == id) {
      p->shares[i].leaving = true;
      preempt_sharers(p, i);
    }
}

void pai__shares_go_on(pai_platform *p)
{
  while (p->nshare_looking > 0)
    p->share_ids[p->nshare_ids++] = p->share_looking[--p->nshare_looking];
}

/* --- settling ------------------------------------------------------------- */

static bool waits_for_share(const pai__pjob *j)
{
  return j->share != 0 && !j->shared_out && j->share_wanted;
}

static void release(pai__pjob *j)
{
  pai_sched_event e = {
    .kind = PAI_SCHED_CHANGE, .id = j->id, .key = "held", .number = 0
  };

  j->share_wanted = false;
  (void)!tell(j->platform, &e);
}

/* Gives shares to a job.  Returns how many it still lacks. */
static uint32_t settle(pai__pjob *j)
{
  uint32_t missing = 0;

  if (waits_for_share(j)) {
    missing = fit(j);
    if (missing == 0)
      release(j);
  }
  return missing == 0 ? fit_alone(j) : missing;
}

/* Jobs are served in order within each virtual cluster. */
void pai__shares_settle(pai_platform *p)
{
  bool missing[PAI_VC_MOST] = { false };
  const pai__map_entry *e;

  if (!p->sharing)
    return;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;
    size_t vc = vc_of(j);

    if (j->share == 0 || missing[vc] || pai__after_waits(j) || settle(j) == 0)
      continue;
    missing[vc] = true;
    if (!is_asked(p, vc)) /* one GPU after the other */
      (void)!ask_for_gpu(j);
  }
  ask_for_none(p, missing);
  give_back(p, missing);
}

/* --- restoring ------------------------------------------------------------ */

void pai__shares_restore(pai_platform *p)
{
  uint64_t id = pai_sched_next(p->sched, 0);

  for (; id != 0; id = pai_sched_next(p->sched, id)) {
    pai_task_place place = { .struct_size = sizeof(place) };

    if ((id & PAI__SHARE_ID) == 0)
      continue;
    p->sharing = true;
    if ((id & ~PAI__SHARE_ID) > p->last_share)
      p->last_share = id & ~PAI__SHARE_ID;
    if (pai_sched_task(p->sched, id, 0, 0, &place) < 0)
      p->shares_asked++;
    pai__gpus_keep_mask(p, place.gpus);
    for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
      if ((place.gpus >> i & 1) != 0) {
        p->shares[i].request = id;
        p->shares[i].leaving = is_stopping(p, id);
      }
  }
}

void pai__shares_restored(pai_platform *p)
{
  static const bool nobody[PAI_VC_MOST] = { false };

  give_back(p, nobody); /* such as GPUs that were placed but not started */
}

/* A running job has the shares in its tasks' rows, which are read already; a
 * waiting job gets shares anew. */
void pai__share_restore(pai__pjob *j)
{
  pai_platform *p = j->platform;
  pai_sched_event e = {
    .kind = PAI_SCHED_CHANGE, .id = j->id, .key = "held", .number = 1
  };

  if (j->share == 0)
    return;
  p->sharing = true;
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].single == PAI__SINGLE_TAKEN && j->tasks[t].share >= 0)
      p->shares[j->tasks[t].share].used += j->share;
    else if (pai__is_single(j, t))
      j->tasks[t].share = -1;
  if (j->form.partial)
    return;
  if (!j->placed) {
    j->share_wanted = j->job.state == PAI__JOB_QUEUED;
    if (j->share_wanted)
      (void)!tell(p, &e);
    return;
  }
  j->shared_out = true;
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (wants_share(j, t) && j->tasks[t].share >= 0) {
      p->shares[j->tasks[t].share].used += j->share;
      j->places[t].gpus = UINT64_C(1) << j->tasks[t].share;
    }
}
