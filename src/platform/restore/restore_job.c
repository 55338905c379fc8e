/*
 * restore_job.c - restoring a job from the database
 *
 * A recorded start may have happened or not; the back end finds out.
 */
#include "platform/restore/restore.h"

#include "platform/place/cores.h"
#include "platform/records/fold.h"
#include "platform/place/gpus.h"
#include "platform/place/impossible.h"
#include "platform/records/record.h"
#include "platform/place/single.h"
#include "platform/place/shares.h"
#include "platform/shortage.h"

#include <inttypes.h>
#include <stdlib.h>

static int add_piece(void *user_data, const void *data, size_t len)
{
  pai__buf_add(user_data, data, len);
  return PAI_OK;
}

enum { MOST_TASKS = 1 << PAI__TASK_BITS };

/* --- reading -------------------------------------------------------------- */

/* State of reading a job's rows. */
typedef struct reading {
  pai_platform *p;
  pai_job_id id;
  pai__pjob *j;
  pai__buf text;    /* its file */
  bool secret;      /* the file has secrets */
  pai__arena arena; /* of the following fields */
  pai__bytes head;
  uint32_t ntasks;
  pai__bytes *folds; /* of the tasks */
  pai_error **err;
} reading;

static pai__bytes keep(reading *r, pai__bytes bytes)
{
  char *copy = pai__arena_strndup(&r->arena, bytes.data, bytes.len);

  return (pai__bytes){ copy, copy != NULL ? bytes.len : 0 };
}

static char *dup(const reading *r, const char *text)
{
  return text != NULL ? pai__strdup(&r->p->alloc, text) : NULL;
}

static int add_text(void *user_data, const char *text)
{
  pai__buf_str(user_data, text);
  return PAI_OK;
}

static int read_spec(reading *r, pai_spec **spec)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  int rc = pai__store_secret(r->p->store, r->id, PAI__SECRET_FILE, add_piece,
                             &r->text, r->err);

  *spec = NULL;
  r->secret = rc == PAI_OK;
  if (rc == PAI_ENOTFOUND) {
    if (r->err != NULL) {
      pai_error_free(*r->err);
      *r->err = NULL;
    }
    rc = pai__store_config(r->p->store, r->id, add_text, &r->text, r->err);
  }
  if (rc == PAI_OK && !pai__buf_ok(&r->text))
    rc = pai__oom(r->err);
  o.alloc = &r->p->alloc;
  return rc == PAI_OK
           ? pai_spec_parse(spec, r->text.data, r->text.len, &o, r->err)
           : rc;
}

static int on_row(void *user_data, const pai__job_row *row)
{
  reading *r = user_data;
  pai_spec *spec;
  int rc = read_spec(r, &spec);
  pai__pjob *j;

  if (rc < 0)
    return rc;
  rc = pai__platform_make_job(&r->j, r->p, spec, row->user, row->name, r->id,
                              r->err);
  if (rc == PAI_OK) {
    r->j->secret = r->secret;
    (void)!pai__share_read(r->j, NULL); /* accepted before, so never refused */
  }
  pai_spec_unref(spec);
  if (rc < 0)
    return rc;
  j = r->j;
  j->submitted = row->submitted;
  j->created = row->created;
  j->launched = row->launched;
  j->completed = row->completed;
  j->output_lost = row->output_lost;
  j->latest = (pai__pattempt){ .number = row->now.number,
                               .created = row->now.created,
                               .launched = row->now.launched,
                               .completed = row->now.completed,
                               .over = row->now.exit_code.there,
                               .code = (int)row->now.exit_code.value,
                               .user_code = (int)row->now.user_code.value,
                               .why = dup(r, row->now.why),
                               .trigger = PAI__NO_TASK,
                               .message = dup(r, row->now.trigger),
                               .diagnostics = dup(r, row->now.diagnostics),
                               .failure = dup(r, row->now.failure) };
  r->head = keep(r, row->fold);
  return r->head.data != NULL ? PAI_OK : pai__oom(r->err);
}

/* Returns the number of a task in its job, or UINT32_MAX, and cuts it off
 * `fold`. */
static uint32_t number_of(const reading *r, pai__bytes *fold, const char *role,
                          uint32_t index)
{
  const pai_spec *spec = r->j->spec;
  uint32_t first = 0;

  if (pai__fold_number(fold, &first))
    return first < r->ntasks ? first : UINT32_MAX;

  for (size_t i = 0; i < spec->nroles; i++) {
    if (strcmp(spec->roles[i].name, role) == 0)
      return index < spec->roles[i].instances ? first + index : UINT32_MAX;
    first += spec->roles[i].instances;
  }
  return UINT32_MAX;
}

static int on_fold(void *user_data, const pai__task_row *row)
{
  reading *r = user_data;
  pai__bytes fold = row->fold;
  uint32_t task = number_of(r, &fold, row->role, row->index);

  if (task == UINT32_MAX)
    return pai__fail(r->err, PAI_EINVAL, "it has no task %s[%u]", row->role,
                     row->index);
  (void)pai__fold_cpus(&fold);
  r->folds[task] = keep(r, fold);
  return r->folds[task].data != NULL ? PAI_OK : pai__oom(r->err);
}

/* Reads a list such as "0,3": the GPUs of a task's latest start. */
static uint64_t read_gpus(const char *list)
{
  uint64_t gpus = 0;
  char *end;

  for (; list != NULL && *list != '\0'; list = *end == ',' ? end + 1 : end) {
    unsigned long gpu = strtoul(list, &end, 10);

    if (end == list)
      break;
    gpus |= gpu < PAI__MAX_GPUS ? UINT64_C(1) << gpu : 0;
  }
  return gpus;
}

static int on_task(void *user_data, const pai__task_row *row)
{
  reading *r = user_data;
  pai__bytes fold = row->fold;
  uint32_t task = number_of(r, &fold, row->role, row->index);
  pai__ptask *t = &r->j->tasks[task];

  *t = (pai__ptask){ .port = t->port,
                     .created = row->created,
                     .launched = row->launched,
                     .completed = row->completed,
                     .begun = row->now.created,
                     .ran = row->now.launched,
                     .ended = row->now.completed,
                     .starts = row->now.number + (row->now.created != 0),
                     .share = -1,
                     .dir = dup(r, row->now.dir),
                     .user_code = (int)row->now.user_code.value,
                     .output_lost = row->now.output_lost,
                     .about = dup(r, row->now.runtime),
                     .why = dup(r, row->now.why),
                     .diagnostics = dup(r, row->now.diagnostics),
                     .failure = dup(r, row->now.failure),
                     .cpus = dup(r, pai__fold_cpus(&fold)) };
  r->j->places[task].gpus = read_gpus(row->now.gpus);
  if (r->j->share != 0 && row->now.gpus != NULL && *row->now.gpus != '\0')
    t->share = (int8_t)strtol(row->now.gpus, NULL, 10);
  t->written = pai__job_tasks(&r->j->job)[task].state;
  return PAI_OK;
}

static int read_job(reading *r)
{
  pai_platform *p = r->p;
  int rc = pai__store_job(p->store, r->id, on_row, r, r->err);

  if (rc < 0)
    return rc;
  r->ntasks = pai__fold_tasks(r->head);
  if (r->ntasks < r->j->spec->ntasks || r->ntasks > MOST_TASKS)
    return pai__fail(r->err, PAI_EINVAL, "it cannot have %u tasks", r->ntasks);
  r->folds = pai__arena_zalloc(&r->arena, r->ntasks, sizeof(*r->folds));
  if (r->folds == NULL)
    return pai__oom(r->err);
  rc = pai__store_tasks(p->store, r->id, r->j->latest.number, NULL, on_fold, r,
                        r->err);
  if (rc == PAI_OK)
    rc = pai__fold_load(r->j, r->head, r->folds, r->ntasks, r->err);
  for (uint32_t i = 0; rc == PAI_OK && i < r->j->spec->nroles; i++)
    pai__form_rescale(&r->j->form, r->j->spec, i,
                      pai__job_roles(&r->j->job)[i].tasks);
  if (rc == PAI_OK && r->j->latest.over &&
      r->j->latest.number == r->j->job.attempt)
    r->j->latest.trigger = r->j->job.trigger;
  if (rc == PAI_OK)
    rc = pai__platform_make_tasks(r->j, r->err);
  if (rc == PAI_OK)
    rc = pai__store_tasks(p->store, r->id, r->j->latest.number, NULL, on_task,
                          r, r->err);
  if (rc == PAI_OK) {
    r->j->dir = pai__platform_path(p, "jobs", r->j->user, r->j->name);
    if (r->j->dir == NULL || pai__platform_add(r->j) < 0)
      rc = pai__oom(r->err);
  }
  return rc;
}

/* --- going on ------------------------------------------------------------- */

static void todo_next(pai__pjob *j, uint32_t task, unsigned todo)
{
  j->tasks[task].todo |= (uint8_t)(todo << PAI__TODO_NEXT);
  j->tasks[task].changed = true;
}

/* Starts a task whose recorded start never happened. */
static void start_again(pai__pjob *j, uint32_t task)
{
  pai__record_restart(j, task);
  todo_next(j, task, PAI__TODO_START);
  j->starting++;
}

/* Tells whether its grace time was over, and it was to be killed. */
static bool is_to_be_killed(const pai__pjob *j, uint32_t task)
{
  return !j->job.preempting &&
         strcmp(pai__job_task_contract_state(&j->job, task),
                "AttemptDeleting") == 0;
}

void pai__restore_task(pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  int found = pai__platform_adopt(j, task);

  if (j->tasks[task].adopt)
    return; /* out of resources: tried again later */
  pai__shortage_started(j);
  pai__platform_put(j, PAI__CHANGED);
  if (found == PAI_ADOPT_RUNNING || found == PAI_ADOPT_ENDED) {
    if (t->state == PAI__TASK_STARTING) {
      pai__platform_ran(j, task, pai__loop_wall_time());
      pai__platform_event(j, PAI__EV_TASK_STARTED, task, 0);
    }
    if (t->state == PAI__TASK_ENDING && t->todo == PAI__DO_NOTHING)
      todo_next(j, task,
                is_to_be_killed(j, task) ? PAI__TODO_KILL : PAI__TODO_STOP);
  } else if (found == PAI_ADOPT_NEVER && t->state == PAI__TASK_STARTING)
    start_again(j, task);
  else
    pai__platform_event(j, PAI__EV_TASK_ENDED, task, PAI_CODE_LOST);
}

static bool waits_for_time(const pai__job *job)
{
  bool waits = job->state == PAI__JOB_BACKOFF;

  for (uint32_t t = 0; !waits && t < job->ntasks; t++)
    waits = pai__job_tasks(job)[t].state == PAI__TASK_BACKOFF;
  return waits;
}

/* Queues a job whose request the scheduler has lost, or ends it if it had
 * begun. */
static void queue_again(pai__pjob *j)
{
  pai_error *err = NULL;
  int rc = pai__platform_queue(j, &err);

  if (rc == PAI_ENOROOM && j->job.state == PAI__JOB_QUEUED)
    rc = pai__impossible_note(j, &err); /* as before, or since now */
  else
    pai__log_line(&j->platform->log, PAI_LOG_WARNING,
                  "%s~%s is unknown to the scheduler, and waits again",
                  j->user, j->name);
  if (rc == PAI_ENOMEM && j->job.state == PAI__JOB_QUEUED)
    pai__deferred_add(j, PAI__NO_TASK, PAI__DO_QUEUE, false);
  else if (rc < 0 || j->job.state != PAI__JOB_QUEUED)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
  pai_error_free(err);
}

/* Sets each role's number of tasks in the gang, as in its request. */
static void find_gang(pai__pjob *j)
{
  for (uint32_t r = 0; !j->form.partial && r < j->spec->nroles; r++) {
    pai_want want = { .struct_size = sizeof(want) };
    bool known =
      pai_sched_view_want(j->platform->sched, j->id, r, &want) == PAI_OK;

    j->gang[r] = known ? want.tasks : pai__job_roles(&j->job)[r].tasks;
  }
}

static void go_on(pai__pjob *j)
{
  pai_platform *p = j->platform;
  pai_request_view view = { .struct_size = sizeof(view) };

  pai__platform_note(j);
  j->told = j->recorded;
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    j->tasks[t].told = j->tasks[t].recorded;
    j->tasks[t].retries_told = pai__job_tasks(&j->job)[t].retries;
  }
  find_gang(j);
  j->preempted = j->job.preempting;
  if (!j->form.partial && pai_sched_view_request(p->sched, j->id, &view) < 0)
    queue_again(j);
  if (pai__single_restore_gang(j)) {
    j->placed = true;
    pai__platform_take_places(j);
    pai__gpus_keep(j);
  }
  pai__single_restore(j);
  pai__share_restore(j);
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    uint8_t state = pai__job_tasks(&j->job)[t].state;

    if (state >= PAI__TASK_STARTING && state <= PAI__TASK_ENDING) {
      pai__cores_keep(j, t);
      pai__restore_task(j, t);
    }
  }
  if (waits_for_time(&j->job))
    pai__timer_start(j->retry, j->job.due - pai__platform_now(p));
  pai__platform_put(j, PAI__CHANGED);
}

/* Logs a job that cannot be read; the other jobs are restored. */
static void give_up(pai_platform *p, pai_job_id id, const pai_error *err)
{
  pai__log_line(&p->log, PAI_LOG_ERROR,
                "job %" PRIu64 " cannot be restored: %s; it stays in the "
                "database until it is removed (openpai rm)",
                id, pai_error_message(err));
}

void pai__restore_job(pai_platform *p, pai_job_id id)
{
  pai_error *err = NULL;
  reading r = { .p = p, .id = id, .err = &err };
  int rc;

  pai__arena_init(&r.arena, &p->alloc);
  pai__buf_init(&r.text, &p->alloc);
  rc = read_job(&r);
  pai__arena_dispose(&r.arena);
  pai__buf_dispose(&r.text);
  if (rc == PAI_OK)
    go_on(r.j);
  else {
    give_up(p, id, err);
    if (r.j != NULL)
      pai__platform_free_job(r.j);
  }
  pai_error_free(err);
}
