/*
 * drive.c - between the folds, the scheduler and the back end
 *
 * Nothing here calls the user back: callers ask for a kick of the loop, which
 * tells what has changed.
 */
#include "platform/platform.h"

enum {
  TASK_BITS = 20, /* of a back end's task number */
  CODE_NOT_STARTED = -200,
  SECOND = 1000000,
  GRACE = 5 * SECOND
};

uint64_t pai__platform_task_id(const pai__pjob *j, uint32_t task)
{
  return j->id << TASK_BITS | task;
}

pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task)
{
  *task = (uint32_t)(id & ((1u << TASK_BITS) - 1));
  return p->jobs[(id >> TASK_BITS) - 1];
}

int pai__platform_handle(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code)
{
  int rc = pai__job_handle(j->job, &(pai__job_event){ kind, task, code });

  if (rc < 0)
    pai__log_line(
      &j->platform->log, PAI_LOG_ERROR, "job %llu: event %d of task %u: %s",
      (unsigned long long)j->id, (int)kind, task, pai_code_name(rc));
  return rc;
}

int pai__platform_queue(pai__pjob *j, pai_error **err)
{
  pai_platform *p = j->platform;
  const pai_spec *spec = j->job->spec;
  pai__want *groups = pai__zalloc(&p->alloc, spec->nroles * sizeof(*groups));
  int rc;

  if (groups == NULL)
    return pai__oom(err);
  for (size_t r = 0; r < spec->nroles; r++) {
    const pai__role *role = &spec->roles[r];
    groups[r] = (pai__want){ .tasks = role->instances,
                             .cpus = role->cpus,
                             .memory_mb = role->memory_mb,
                             .gpus = role->gpus };
    for (size_t i = 0; i < role->nports; i++)
      groups[r].ports += role->ports[i].count;
  }
  rc = pai__sched_submit(p->sched,
                         &(pai__request){ j->id, spec->nroles, groups }, err);
  pai__free(&p->alloc, groups, spec->nroles * sizeof(*groups));
  return rc;
}

static void start_task(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  pai__plan_context context = { .spec = j->job->spec,
                                .tasks = j->job->tasks,
                                .slots = j->slots,
                                .nodes = j->nodes,
                                .user = p->user,
                                .job_dir = j->dir,
                                .attempt = j->job->attempt };
  pai__plan_shared shared;
  pai_error *err = NULL;
  pai__arena arena;
  pai__plan plan;
  int rc;

  pai__arena_init(&arena, &p->alloc);
  rc = pai__plan_share(&shared, &arena, &context);
  if (rc == PAI_OK)
    rc = pai__plan_make(&plan, &arena, &context, &shared, task);
  if (rc < 0)
    (void)pai__oom(&err);
  else
    rc =
      p->ops->start(p->backend, pai__platform_task_id(j, task), &plan, &err);
  pai__arena_dispose(&arena);
  if (rc < 0) {
    pai__strfree(&p->alloc, j->why);
    j->why = pai__strdup(&p->alloc, pai_error_message(err));
    (void)pai__platform_handle(j, PAI__EV_TASK_ENDED, task, CODE_NOT_STARTED);
  } else {
    (void)pai__platform_handle(j, PAI__EV_TASK_STARTED, task, 0);
  }
  pai_error_free(err);
}

static void release(pai__pjob *j)
{
  (void)pai__sched_finish(j->platform->sched, j->id);
  pai__timer_stop(j->grace);
  j->slots = NULL;
}

/* Asked for again on a retry; it was possible once, so only memory can lack,
 * and then the job ends rather than waits for ever. */
static void queue_again(pai__pjob *j)
{
  if (j->job->retries > 0 && pai__platform_queue(j, NULL) < 0)
    (void)pai__platform_handle(j, PAI__EV_STOP, 0, 0);
}

void pai__platform_drive(pai__pjob *j)
{
  pai_platform *p = j->platform;
  pai__action a;

  while (pai__job_next(j->job, &a))
    switch (a.kind) {
    case PAI__DO_QUEUE: queue_again(j); break;
    case PAI__DO_WAIT: pai__timer_start(j->retry, a.delay); break;
    case PAI__DO_START: start_task(j, a.task); break;
    case PAI__DO_STOP:
      p->ops->stop(p->backend, pai__platform_task_id(j, a.task), false);
      pai__timer_start(j->grace, GRACE);
      break;
    case PAI__DO_KILL:
      p->ops->stop(p->backend, pai__platform_task_id(j, a.task), true);
      break;
    case PAI__DO_RELEASE: release(j); break;
    case PAI__DO_FINISH: break;
    }
  pai__timer_start(p->kick, 0);
}

void pai__platform_task_ended(void *user_data, uint64_t id, int code,
                              const char *text)
{
  uint32_t task;
  pai__pjob *j = pai__platform_find_task(user_data, id, &task);

  (void)text;
  (void)pai__platform_handle(j, PAI__EV_TASK_ENDED, task, code);
  pai__platform_drive(j);
}

/* --- placing ------------------------------------------------------------ */

static void on_place(void *user_data, const pai__placement *place)
{
  pai_platform *p = user_data;
  pai__pjob *j = p->jobs[place->id - 1];

  j->slots = place->slots;
}

/* Are all ports of a placement really free?  Those that are not are taken
 * from the scheduler for good. */
static bool ports_are_free(pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint32_t taken = 0;

  for (size_t t = 0; t < j->job->ntasks; t++) {
    const pai__role *role = &j->job->spec->roles[j->job->tasks[t].role];
    uint32_t count = 0;
    for (size_t l = 0; l < role->nports; l++)
      count += role->ports[l].count;
    for (uint32_t i = 0; i < count; i++)
      if (!p->ops->port_is_free(p->backend, j->slots[t].ports[i])) {
        taken = j->slots[t].ports[i];
        pai__log_line(&p->log, PAI_LOG_INFO, "port %u is in use", taken);
        (void)pai__sched_requeue(p->sched, j->id);
        pai__sched_port_taken(p->sched, j->slots[t].node, taken);
        return false;
      }
  }
  return true;
}

/* Starts what was just placed; true when something must be placed anew. */
static bool start_placed(pai_platform *p)
{
  bool again = false;

  for (size_t i = 0; i < p->njobs; i++) {
    pai__pjob *j = p->jobs[i];
    if (j->slots == NULL || j->job->state != PAI__JOB_QUEUED)
      continue;
    if (!ports_are_free(j)) {
      j->slots = NULL;
      again = true;
      continue;
    }
    for (size_t t = 0; t < j->job->ntasks; t++)
      j->nodes[t] = pai__sched_node(p->sched, j->slots[t].node);
    (void)pai__platform_handle(j, PAI__EV_PLACED, 0, 0);
    pai__platform_drive(j);
  }
  return again;
}

void pai__platform_schedule(pai_platform *p)
{
  do
    pai__sched_run(p->sched, on_place, p);
  while (start_placed(p));
}
