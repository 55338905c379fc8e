/*
 * form_pai2020.c - trace of Alibaba's GPU cluster of 2020: rows of
 * pai_task_table, with or without those of pai_job_table, in any order and
 * without a line of names
 *
 * The tasks of a job may be far apart, so the whole trace is read before the
 * first job is put.
 */
#include "base/arena.h"
#include "base/map.h"
#include "sim/trace/forms.h"
#include "sim/trace/table.h"

enum {
  T_JOB,
  T_TASK,
  T_COUNT,
  T_STATUS,
  T_START,
  T_END,
  T_CPU,
  T_MEM,
  T_GPU,
  T_TYPE,
  T_CELLS
};
enum { J_JOB, J_ID, J_USER, J_STATUS, J_START, J_END, J_CELLS };

typedef struct pai__ali_task {
  struct pai__ali_task *next;
  pai__draft_want want;
} pai__ali_task;

typedef struct pai__ali_job {
  pai__slice name, user;
  uint64_t line;       /* of its first row */
  pai_time submit;     /* -1: not known */
  pai_time start, end; /* of all tasks; -1: not known */
  bool failed, runs, part_of_gpu;
  bool told; /* a row could not be read, which was reported */
  pai__ali_task *first, *last;
} pai__ali_job;

typedef struct pai__ali {
  pai__sim_table table;
  pai__arena arena;
  pai__map jobs;
  bool all_read;
  size_t next;
} pai__ali;

static const pai__sim_column columns[T_CELLS] = {
  { .name = "job_name" }, { .name = "task_name" },  { .name = "inst_num" },
  { .name = "status" },   { .name = "start_time" }, { .name = "end_time" },
  { .name = "plan_cpu" }, { .name = "plan_mem" },   { .name = "plan_gpu" },
  { .name = "gpu_type" },
};

int pai__pai2020_begin(pai_trace *t, pai_error **err)
{
  int rc = pai__rows_begin(t, err);
  pai__ali *ali = t->state;

  if (rc < 0)
    return rc;
  pai__arena_init(&ali->arena, &t->alloc);
  pai__map_init(&ali->jobs, &t->alloc);
  return PAI_OK;
}

void pai__pai2020_end(pai_trace *t)
{
  pai__ali *ali = t->state;

  if (ali == NULL)
    return;
  pai__map_dispose(&ali->jobs);
  pai__arena_dispose(&ali->arena);
  pai__rows_end(t);
}

static pai__slice keep(pai__ali *ali, pai__slice text, bool *failed)
{
  if (text.s == NULL)
    return text;
  text.s = pai__arena_strndup(&ali->arena, text.s, text.len);
  *failed |= text.s == NULL;
  return text;
}

/* Finds or makes the job of a row; NULL without memory. */
static pai__ali_job *find_job(pai__ali *ali, pai__slice name)
{
  pai__ali_job *job = pai__map_get(&ali->jobs, name.s, name.len);
  bool failed = false;

  if (job != NULL)
    return job;
  job = pai__arena_zalloc(&ali->arena, 1, sizeof(*job));
  if (job == NULL)
    return NULL;
  job->name = keep(ali, name, &failed);
  job->line = ali->table.line;
  job->submit = job->start = job->end = -1;
  if (failed || pai__map_set(&ali->jobs, name.s, name.len, job) < 0)
    return NULL;
  return job;
}

static void add_status(pai__sim_table *tb, pai__ali_job *job)
{
  if (pai__cell_is(tb, T_STATUS, "Failed"))
    job->failed = true;
  else if (pai__cell_is(tb, T_STATUS, "Running") ||
           pai__cell_is(tb, T_STATUS, "Waiting"))
    job->runs = true;
  else if (!pai__cell_is(tb, T_STATUS, "Terminated"))
    pai__cell_bad(tb, T_STATUS, "Terminated, Failed, Running or Waiting");
}

static int read_job(pai__ali *ali, pai__ali_job *job)
{
  pai__sim_table *tb = &ali->table;
  bool failed = false;

  job->user = keep(ali, pai__cell_text(tb, J_USER), &failed);
  job->submit = pai__cell_seconds(tb, J_START, -1);
  add_status(tb, job);
  return failed ? PAI_ENOMEM : PAI_OK;
}

/* Rounds a percentage up to whole units. */
static uint32_t percent(pai__sim_table *tb, uint32_t column)
{
  return (pai__cell_count(tb, column, 0) + 99) / 100;
}

static int add_task(pai__ali *ali, pai__ali_job *job, pai__ali_task *task)
{
  pai__sim_table *tb = &ali->table;
  pai__draft_want *w = &task->want;
  pai_time gb = pai__cell_seconds(tb, T_MEM, 0);
  bool failed = false;

  w->name = keep(ali, pai__cell_text(tb, T_TASK), &failed);
  w->tasks = pai__cell_count(tb, T_COUNT, 1);
  w->cpus = percent(tb, T_CPU);
  w->gpus = percent(tb, T_GPU);
  if (gb > 0 && gb < INT64_C(1) << 33)
    w->memory = (uint64_t)gb * (1 << 20) / 1000000 * 1024;
  if (w->gpus > 0 && !pai__cell_is(tb, T_TYPE, "CPU"))
    w->type = keep(ali, pai__cell_text(tb, T_TYPE), &failed);
  job->part_of_gpu |= pai__cell_count(tb, T_GPU, 0) % 100 != 0;
  if (job->last != NULL)
    job->last->next = task;
  else
    job->first = task;
  job->last = task;
  return failed ? PAI_ENOMEM : PAI_OK;
}

static int read_task(pai__ali *ali, pai__ali_job *job)
{
  pai__sim_table *tb = &ali->table;
  pai__ali_task *task = pai__arena_zalloc(&ali->arena, 1, sizeof(*task));
  pai_time start = pai__cell_seconds(tb, T_START, -1);
  pai_time end = pai__cell_seconds(tb, T_END, -1);

  if (task == NULL)
    return PAI_ENOMEM;
  add_status(tb, job);
  if (start != -1 && (job->start == -1 || start < job->start))
    job->start = start;
  if (end > job->end)
    job->end = end;
  return add_task(ali, job, task);
}

static int take(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__ali *ali = t->state;
  pai__ali_job *job;
  int rc;

  if (pai__cell_is(tb, 0, "job_name"))
    return PAI_OK;
  if ((tb->count != T_CELLS && tb->count != J_CELLS) ||
      pai__cell_text(tb, 0).s == NULL)
    return pai__trace_skip(
      t, tb->line, err,
      "the row has %zu cells: rows of pai_task_table have 10, rows of "
      "pai_job_table have 6, and begin with a job",
      tb->count);
  job = find_job(ali, pai__cell_text(tb, 0));
  rc = PAI_ENOMEM;
  if (job != NULL)
    rc = tb->count == T_CELLS ? read_task(ali, job) : read_job(ali, job);
  if (rc < 0)
    return pai__oom(err);
  job->told |= tb->bad != NULL;
  return tb->bad != NULL ? pai__row_put(t, tb, err) : PAI_OK;
}

const pai__sim_rows pai__pai2020_rows = { .columns = columns,
                                          .count = T_CELLS,
                                          .separator = ',',
                                          .quotes = true,
                                          .plain = true,
                                          .state = sizeof(pai__ali),
                                          .take = take };

static void fill_draft(pai_trace *t, const pai__ali_job *job)
{
  pai__draft *d = &t->draft;

  pai__draft_clear(d);
  d->time = job->submit != -1 ? job->submit : job->start;
  d->started = job->start;
  d->texts[PAI__TEXT_ID] = job->name;
  d->texts[PAI__TEXT_USER] = job->user;
  for (const pai__ali_task *task = job->first; task != NULL; task = task->next)
    pai__draft_add_want(t, &task->want);
  pai__draft_add_attempt(t, job->end - job->start,
                         job->failed ? PAI__CODE_FAILED : 0);
}

static int put_job(pai_trace *t, const pai__ali_job *job, pai_error **err)
{
  if (job->told)
    return PAI_OK;
  if (job->first == NULL)
    return pai__trace_skip(
      t, job->line, err,
      "the job has no row in pai_task_table, so its resources are not known");
  if (job->runs)
    return pai__trace_not_ended(t, job->line, err);
  if (job->start == -1 || job->end == -1)
    return pai__trace_skip(t, job->line, err,
                           "the start or the end of the job is not known");
  if (job->part_of_gpu)
    pai__trace_alter(t, job->line,
                     "a fraction of a GPU is counted as a whole GPU");
  fill_draft(t, job);
  return pai__trace_put(t, job->line, err);
}

int pai__pai2020_read(pai_trace *t, pai_error **err)
{
  pai__ali *ali = t->state;
  const pai__map_entry *entry;
  int rc;

  if (!ali->all_read) {
    rc = pai__rows_read(t, err);
    ali->all_read = rc == 0;
    return rc < 0 ? rc : 1;
  }
  entry = pai__map_next(&ali->jobs, &ali->next);
  if (entry == NULL)
    return 0;
  rc = put_job(t, entry->value, err);
  return rc < 0 ? rc : 1;
}
