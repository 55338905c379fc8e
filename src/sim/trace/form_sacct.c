/*
 * form_sacct.c - traces of Slurm's accounting: sacct --parsable2, and sacct
 * --json
 *
 * There is a row for each job, and one for each of its steps, which are
 * skipped.  The JSON changes from release to release: numbers may be objects,
 * and states may be lists.
 */
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"
#include "sim/trace/table.h"

#include "base/text/utf8.h"
#include "resource/cluster/read.h"

#include <inttypes.h>
#include <stdio.h>

#define HETEROGENEOUS \
  "a component of a heterogeneous job is treated as a separate job"

/* Members of a job, from rows or JSON. */
typedef struct sacct_job {
  pai__slice state; /* "CANCELLED by 1001" */
  pai_time submit;
  pai_time start, end;     /* -1: not known */
  pai_time elapsed, limit; /* -1: not known; 0: none */
  int64_t code, signal;    /* of its exit status */
  pai__draft_want all;     /* on all its nodes */
  uint32_t nodes;
} sacct_job;

/* --- states -------------------------------------------------------------- */

enum slurm_end { ENDED, NOT_ENDED, NOT_OURS, AGAIN };

typedef struct slurm_state {
  const char *name;
  int code;
  enum slurm_end end;
} slurm_state;

/* Looks up the first word of a state. */
static const slurm_state *find_state(pai__slice state)
{
  static const slurm_state states[] = {
    { "COMPLETED", 0, ENDED },
    { "FAILED", PAI__CODE_FAILED, ENDED },
    { "CANCELLED", PAI__CODE_KILLED, ENDED },
    { "TIMEOUT", PAI__CODE_TIMEOUT, ENDED },
    { "DEADLINE", PAI__CODE_KILLED, ENDED },
    { "OUT_OF_MEMORY", 137, ENDED },
    { "BOOT_FAIL", 0, NOT_OURS },
    { "NODE_FAIL", 0, NOT_OURS },
    { "PREEMPTED", 0, NOT_OURS },
    { "REQUEUED", 0, AGAIN },
    { "RUNNING", 0, NOT_ENDED },
    { "PENDING", 0, NOT_ENDED },
    { "SUSPENDED", 0, NOT_ENDED },
    { "RESIZING", 0, NOT_ENDED },
    { "COMPLETING", 0, NOT_ENDED },
    { "CONFIGURING", 0, NOT_ENDED },
  };
  size_t len = 0;

  while (len < state.len && state.s[len] != ' ' && state.s[len] != '+')
    len++;
  for (size_t i = 0; i < PAI__LEN(states); i++)
    if (strlen(states[i].name) == len &&
        memcmp(states[i].name, state.s, len) == 0)
      return &states[i];
  return NULL;
}

static int code_of(const sacct_job *job, const slurm_state *state)
{
  if (state->code != PAI__CODE_FAILED)
    return state->code;
  if (job->code > 0 && job->code < 256)
    return (int)job->code;
  if (job->signal > 0 && job->signal < 65)
    return 128 + (int)job->signal;
  return PAI__CODE_FAILED;
}

static void set_times(pai_trace *t, const sacct_job *job, uint64_t line,
                      pai_time *duration)
{
  pai__draft *d = &t->draft;

  d->time = job->submit;
  d->limit = job->limit > 0 ? job->limit : 0;
  d->estimate = d->limit;
  *duration = job->elapsed;
  if (*duration < 0 && job->start != -1 && job->end != -1)
    *duration = job->end - job->start;
  if (job->start != -1 && *duration >= 0) {
    d->started = job->start;
    return;
  }
  *duration = 0;
  pai__trace_never_ran(t, line, job->end != -1 ? job->end - job->submit : 0);
}

/* Puts a job whose texts are in the draft; or reports why not. */
static int put(pai_trace *t, sacct_job *job, uint64_t line, pai_error **err)
{
  const slurm_state *state = find_state(job->state);
  pai_time duration;
  char shown[PAI__EXCERPT];

  if (state == NULL)
    return pai__trace_skip(
      t, line, err, "unknown Slurm state \"%s\"",
      pai__excerpt(shown, job->state.s != NULL ? job->state.s : "",
                   job->state.len));
  if (state->end == NOT_ENDED)
    return pai__trace_not_ended(t, line, err);
  if (state->end == AGAIN)
    return pai__trace_skip(
      t, line, err, "the job was requeued, and its end is in another line");
  if (state->end == NOT_OURS)
    pai__trace_alter(t, line,
                     "the cluster ended the job, which is treated as if it "
                     "had succeeded then");
  set_times(t, job, line, &duration);
  if (job->all.cpus > PAI__TRACE_CPUS || job->all.gpus > PAI__MOST_GPUS ||
      job->nodes > PAI_SCHED_TASKS)
    return pai__trace_skip(t, line, err,
                           "the job has more than a million CPUs or GPUs");
  pai__draft_spread(t, &job->all, job->nodes);
  pai__draft_add_attempt(t, duration, code_of(job, state));
  return pai__trace_put(t, line, err);
}

/* --- resources ----------------------------------------------------------- */

static uint32_t narrow(uint64_t count)
{
  return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Adds one resource; memory is in bytes. */
static void add_resource(sacct_job *job, pai__slice name, uint64_t count)
{
  static const char typed[] = "gres/gpu:";

  if (pai__text_is(name, "cpu")) {
    job->all.cpus = narrow(count);
  } else if (pai__text_is(name, "mem")) {
    job->all.memory = count;
  } else if (pai__text_is(name, "node")) {
    job->nodes = narrow(count);
  } else if (pai__text_is(name, "gres/gpu")) {
    if (job->all.gpus < narrow(count))
      job->all.gpus = narrow(count);
  } else if (name.len >= sizeof(typed) &&
             memcmp(name.s, typed, sizeof(typed) - 1) == 0) {
    if (job->all.gpus < narrow(count))
      job->all.gpus = narrow(count);
    job->all.type = (pai__slice){ name.s + sizeof(typed) - 1,
                                  name.len - (sizeof(typed) - 1) };
  }
}

/* As "billing=8,cpu=8,gres/gpu:v100=4,gres/gpu=4,mem=64G,node=2". */
static void add_resources(sacct_job *job, pai__slice tres)
{
  const char *s = tres.s, *end = s + tres.len;

  while (s < end) {
    const char *comma = memchr(s, ',', (size_t)(end - s));
    const char *stop = comma != NULL ? comma : end;
    const char *equals = memchr(s, '=', (size_t)(stop - s));
    uint64_t count;

    if (equals != NULL &&
        pai__size_parse(&count, equals + 1, (size_t)(stop - equals - 1)))
      add_resource(job, (pai__slice){ s, (size_t)(equals - s) }, count);
    s = stop + (stop < end);
  }
}

/* --- rows ---------------------------------------------------------------- */

enum {
  C_ID,
  C_SUBMIT,
  C_PARTITION,
  C_QOS,
  C_ELAPSED,
  C_ELAPSED_RAW,
  C_LIMIT_RAW,
  C_LIMIT,
  C_REQ_CPUS,
  C_NCPUS,
  C_NODES,
  C_REQ_TRES,
  C_ALLOC_TRES,
  C_EXIT
};

static const pai__sim_column columns[] = {
  [C_ID] = { "JobID", PAI__CELL_TEXT, PAI__TEXT_ID, 0, true },
  [C_SUBMIT] = PAI__CELL_OF("Submit", DATE, submit, PAI__NOT_TOLD, true),
  [C_PARTITION] = { .name = "Partition" },
  [C_QOS] = { .name = "QOS" },
  [C_ELAPSED] = { .name = "Elapsed" },
  [C_ELAPSED_RAW] = { .name = "ElapsedRaw" },
  [C_LIMIT_RAW] = { .name = "TimelimitRaw" },
  [C_LIMIT] = { .name = "Timelimit" },
  [C_REQ_CPUS] = { .name = "ReqCPUS" },
  [C_NCPUS] = { .name = "NCPUS" },
  [C_NODES] = { .name = "NNodes" },
  [C_REQ_TRES] = { .name = "ReqTRES" },
  [C_ALLOC_TRES] = { .name = "AllocTRES" },
  [C_EXIT] = { .name = "ExitCode" },
  PAI__TEXT_CELL("JobName", PAI__TEXT_NAME),
  PAI__TEXT_CELL("User", PAI__TEXT_USER),
  PAI__TEXT_CELL("Account", PAI__TEXT_VC),
  PAI__CELL_OF("State", SLICE, state, 0, true),
  PAI__CELL_OF("Start", DATE, start, -1, false),
  PAI__CELL_OF("End", DATE, end, -1, false),
};

/* "2-03:04:05", "03:04:05", "04:05", and "04:05.678" */
static bool read_span(pai__slice cell, pai_time *out)
{
  const char *s = cell.s, *end = s + cell.len;
  pai_time seconds = 0, days = 0, part = 0;
  size_t colons = 0;

  for (; s < end && *s != '.'; s++) {
    if (*s >= '0' && *s <= '9' && part < 100000000) {
      part = part * 10 + (*s - '0');
    } else if (*s == '-' && colons == 0 && days == 0) {
      days = part;
      part = 0;
    } else if (*s == ':' && colons < 2) {
      seconds = (seconds + part) * 60;
      part = 0;
      colons++;
    } else {
      return false;
    }
  }
  if (colons == 0 || days > 100000)
    return false;
  *out = (days * 86400 + seconds + part) * 1000000;
  return true;
}

static bool is_unlimited(const pai__sim_table *tb, uint32_t column)
{
  return pai__cell_is(tb, column, "UNLIMITED") ||
         pai__cell_is(tb, column, "Partition_Limit");
}

static pai_time span_cell(pai__sim_table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell_text(tb, column);

  if (cell.s == NULL || is_unlimited(tb, column))
    return usual;
  if (!read_span(cell, &usual))
    pai__cell_bad(tb, column, "a time as 1-02:03:04");
  return usual;
}

/* Reads "1:0": exit code and signal. */
static void read_exit(sacct_job *job, pai__slice cell)
{
  int64_t *to = &job->code;

  for (size_t i = 0; i < cell.len; i++)
    if (cell.s[i] == ':')
      to = &job->signal;
    else if (cell.s[i] >= '0' && cell.s[i] <= '9' && *to < 1000)
      *to = *to * 10 + (cell.s[i] - '0');
}

static void read_row(pai__sim_table *tb, pai_trace *t, sacct_job *job)
{
  pai__draft *d = &t->draft;
  pai__slice tres = pai__cell_text(tb, C_REQ_TRES);
  pai_time minutes = 0;
  pai__sim_row row;

  pai__row_read(tb, t, &row);
  for (uint32_t i = C_PARTITION; i <= C_QOS; i++)
    if (d->texts[PAI__TEXT_VC].s == NULL)
      d->texts[PAI__TEXT_VC] = pai__cell_text(tb, i);
  *job = (sacct_job){ .state = row.state,
                      .submit = row.submit,
                      .start = row.start,
                      .end = row.end,
                      .elapsed = span_cell(tb, C_ELAPSED, -1) };
  job->elapsed = pai__cell_seconds(tb, C_ELAPSED_RAW, job->elapsed);
  if (!is_unlimited(tb, C_LIMIT_RAW))
    minutes = pai__cell_whole(tb, C_LIMIT_RAW, 0);
  job->limit = span_cell(tb, C_LIMIT, minutes * 60000000);
  job->all.cpus = pai__cell_count(tb, C_REQ_CPUS, 0);
  if (job->all.cpus == 0)
    job->all.cpus = pai__cell_count(tb, C_NCPUS, 0);
  job->nodes = pai__cell_count(tb, C_NODES, 1);
  if (tres.s == NULL)
    tres = pai__cell_text(tb, C_ALLOC_TRES);
  if (tres.s != NULL)
    add_resources(job, tres);
  read_exit(job, pai__cell_text(tb, C_EXIT));
  if (job->submit == PAI__NOT_TOLD)
    pai__cell_bad(tb, C_SUBMIT, "known");
}

static bool has(pai__slice s, char c)
{
  return s.s != NULL && memchr(s.s, c, s.len) != NULL;
}

static int take(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__slice id = pai__cell_text(tb, C_ID);
  sacct_job job;

  if (has(id, '.')) /* a step: "17.batch" */
    return PAI_OK;
  if (has(id, '['))
    return pai__trace_skip(
      t, tb->line, err,
      "the line stands for array tasks that had not started");
  if (has(id, '+'))
    pai__trace_alter(t, tb->line, HETEROGENEOUS);
  read_row(tb, t, &job);
  return tb->bad != NULL ? pai__row_put(t, tb, err)
                         : put(t, &job, tb->line, err);
}

const pai__sim_rows pai__sacct_rows = { .columns = columns,
                                        .count = PAI__LEN(columns),
                                        .separator = '|',
                                        .take = take };

/* --- JSON ---------------------------------------------------------------- */

/* Reads 5, or {"set": true, "infinite": false, "number": 5}. */
static bool number_at(const pai__tree *tree, pai__node n, const char *path,
                      int64_t *out)
{
  pai__node at = pai__at(tree, n, path), set, infinite;

  if (at == PAI__NO_NODE || pai__tree_type(tree, at) != PAI__MAPPING)
    return pai__number_at(tree, n, path, out);
  set = pai__at(tree, at, "set");
  infinite = pai__at(tree, at, "infinite");
  if ((set != PAI__NO_NODE && pai__tree_type(tree, set) == PAI__BOOL &&
       !pai__tree_bool(tree, set)) ||
      (infinite != PAI__NO_NODE &&
       pai__tree_type(tree, infinite) == PAI__BOOL &&
       pai__tree_bool(tree, infinite)))
    return false;
  return pai__number_at(tree, at, "number", out);
}

/* In seconds since the epoch; 0: none. */
static pai_time time_at(const pai__tree *tree, const char *path)
{
  int64_t seconds;

  if (!number_at(tree, 0, path, &seconds) || seconds <= 0 ||
      seconds > PAI__MOST_TIME / 1000000)
    return -1;
  return seconds * 1000000;
}

static pai__slice state_of(const pai__tree *tree)
{
  pai__node n = pai__at(tree, 0, "state.current");

  if (n == PAI__NO_NODE)
    n = pai__at(tree, 0, "state");
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) == PAI__SEQUENCE &&
      pai__tree_count(tree, n) > 0)
    n = pai__tree_written(tree, n);
  return pai__string_at(tree, n, "");
}

static void add_listed(sacct_job *job, const pai__tree *tree)
{
  pai__tree_walk walk;
  pai__node n;

  if ((!pai__list_at(tree, 0, "tres.requested", &walk) || walk.left == 0) &&
      !pai__list_at(tree, 0, "tres.allocated", &walk))
    return;
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__slice type = pai__string_at(tree, n, "type");
    pai__slice name = pai__string_at(tree, n, "name");
    int64_t count;

    if (!number_at(tree, n, "count", &count) || count < 0)
      continue;
    if (pai__text_is(type, "mem") && count < INT64_C(1) << 40)
      add_resource(job, type, (uint64_t)count << 20); /* MiB */
    else if (type.s != NULL && !pai__text_is(type, "gres"))
      add_resource(job, type, (uint64_t)count);
    else if (name.s != NULL && name.len >= 3 &&
             memcmp(name.s, "gpu", 3) == 0 &&
             (name.len == 3 || (name.s[3] == ':' && name.len > 4))) {
      add_resource(job, (pai__slice){ "gres/gpu", 8 }, (uint64_t)count);
      if (name.len > 4)
        job->all.type = (pai__slice){ name.s + 4, name.len - 4 };
    }
  }
}

static void read_job(sacct_job *job, const pai__tree *tree)
{
  int64_t number;

  memset(job, 0, sizeof(*job));
  job->all.tasks = 1;
  job->nodes = 1;
  job->state = state_of(tree);
  job->submit = time_at(tree, "time.submission");
  job->start = time_at(tree, "time.start");
  job->end = time_at(tree, "time.end");
  job->elapsed = -1;
  if (job->start != -1 && number_at(tree, 0, "time.elapsed", &number) &&
      number >= 0 && number < PAI__MOST_TIME / 1000000)
    job->elapsed = number * 1000000;
  if (number_at(tree, 0, "time.limit", &number) && number > 0 &&
      number < INT32_MAX)
    job->limit = number * 60000000;
  if (number_at(tree, 0, "exit_code.return_code", &number))
    job->code = number;
  if (number_at(tree, 0, "exit_code.signal.id", &number) ||
      number_at(tree, 0, "exit_code.signal.signal_id", &number))
    job->signal = number;
  if (number_at(tree, 0, "allocation_nodes", &number) && number > 0 &&
      number < PAI_SCHED_TASKS)
    job->nodes = (uint32_t)number;
  if (number_at(tree, 0, "required.CPUs", &number) && number > 0 &&
      number < PAI__TRACE_CPUS)
    job->all.cpus = (uint32_t)number;
  add_listed(job, tree);
}

/* Writes "17", or "17_3" for a task of an array. */
static pai__slice write_id(const pai__tree *tree, char out[48])
{
  int64_t id, array, task;
  int len;

  if (!number_at(tree, 0, "job_id", &id))
    return (pai__slice){ NULL, 0 };
  if (number_at(tree, 0, "array.job_id", &array) && array != 0 &&
      number_at(tree, 0, "array.task_id", &task))
    len = snprintf(out, 48, "%" PRId64 "_%" PRId64, array, task);
  else
    len = snprintf(out, 48, "%" PRId64, id);
  return (pai__slice){ out, (size_t)len };
}

int pai__sacct_json_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                        pai_error **err)
{
  static const char *const vcs[] = { "account", "partition", "qos" };
  pai__draft *d = &t->draft;
  sacct_job job;
  int64_t het;
  char id[48];

  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = write_id(tree, id);
  d->texts[PAI__TEXT_NAME] = pai__string_at(tree, 0, "name");
  d->texts[PAI__TEXT_USER] = pai__string_at(tree, 0, "user");
  for (size_t i = 0; i < PAI__LEN(vcs); i++)
    if (d->texts[PAI__TEXT_VC].s == NULL || d->texts[PAI__TEXT_VC].len == 0)
      d->texts[PAI__TEXT_VC] = pai__string_at(tree, 0, vcs[i]);
  read_job(&job, tree);
  if (job.submit == -1)
    return pai__trace_skip(t, line, err, "\"time\" has no \"submission\"");
  if (number_at(tree, 0, "het.job_id", &het) && het != 0)
    pai__trace_alter(t, line, HETEROGENEOUS);
  return put(t, &job, line, err);
}
