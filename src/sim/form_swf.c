/*
 * form_swf.c - the Standard Workload Format of the Parallel Workloads Archive:
 * 18 numbers a job, and what holds for all of them behind semicolons
 */
#include "sim/forms.h"
#include "sim/table.h"

enum {
  S_NUMBER,
  S_SUBMIT,
  S_WAIT,
  S_RUN,
  S_PROCESSORS,
  S_CPU_TIME,
  S_MEMORY,
  S_ASKED_PROCESSORS,
  S_ASKED_TIME,
  S_ASKED_MEMORY,
  S_STATUS,
  S_USER,
  S_GROUP,
  S_PROGRAM,
  S_QUEUE,
  S_PARTITION,
  S_AFTER,
  S_THINK,
  S_COUNT
};

typedef struct pai__swf {
  pai__table table;           /* first, for pai__rows_end() */
  pai_time start;             /* of the trace */
  uint32_t processors, nodes; /* of the machine; 0: not told */
  bool gpus;                  /* processors are GPUs */
} pai__swf;

static const char *const names[] = {
  "job number",     "submit time",      "wait time", "run time",
  "processors",     "CPU time",         "memory",    "requested processors",
  "requested time", "requested memory", "status",    "user",
  "group",          "program",          "queue",     "partition",
  "preceding job",  "think time"
};

int pai__swf_begin(pai_trace *t, pai_error **err)
{
  static const pai__columns columns = { names, S_COUNT, 0, ' ', false, true };
  pai__swf *swf = pai__zalloc(&t->alloc, sizeof(*swf));

  if (swf == NULL)
    return pai__oom(err);
  t->state = swf;
  return pai__table_begin(&swf->table, t, &columns, err);
}

void pai__swf_end(pai_trace *t)
{
  pai__swf *swf = t->state;

  if (swf != NULL)
    pai__table_dispose(&swf->table, &t->alloc);
  pai__free(&t->alloc, swf, sizeof(*swf));
  t->state = NULL;
}

static bool cell_is(pai__slice cell, const char *text)
{
  return strlen(text) == cell.len && memcmp(cell.s, text, cell.len) == 0;
}

/* "; MaxNodes: 128": what is not of interest is not an error. */
static void read_header(pai__swf *swf)
{
  const pai__slice *cell = swf->table.cells;
  size_t count = swf->table.count;
  pai_time us;

  if (count > 0 && cell->len > 1) { /* ";MaxNodes:" */
    swf->table.cells->s++;
    swf->table.cells->len--;
  } else {
    cell++;
    count--;
  }
  if (count < 2)
    return;
  if (cell_is(*cell, "Processors:"))
    swf->gpus = cell_is(cell[1], "GPUs");
  if (!pai__seconds_read(cell[1].s, cell[1].len, &us) || us < 0)
    return;
  if (cell_is(*cell, "UnixStartTime:"))
    swf->start = us;
  if (us / 1000000 > PAI__MOST_CPUS)
    return;
  if (cell_is(*cell, "MaxProcs:"))
    swf->processors = (uint32_t)(us / 1000000);
  if (cell_is(*cell, "MaxNodes:"))
    swf->nodes = (uint32_t)(us / 1000000);
}

/* As many as fit on a node are one task; where that is not told, each is one
 * of its own. */
static int add_wants(pai_trace *t, pai__swf *swf, uint32_t processors)
{
  uint32_t each = 1, kinds = 0;
  int rc = PAI_OK;

  if (swf->nodes > 0 && swf->processors > swf->nodes)
    each = swf->processors / swf->nodes;
  for (uint32_t part = each; rc == PAI_OK && kinds < 2; kinds++) {
    pai__draft_want want = { .tasks = processors / part };
    int64_t kb = pai__cell_whole(&swf->table, S_ASKED_MEMORY, -1);

    want.gpus = swf->gpus ? part : 0;
    want.cpus = swf->gpus ? 0 : part;
    want.memory =
      kb > 0 && kb < INT64_C(1) << 40 ? (uint64_t)kb * 1024 * part : 0;
    if (want.tasks > 0)
      rc = pai__draft_add_want(&t->draft, &t->alloc, &want);
    processors -= want.tasks * part;
    part = processors;
    if (processors == 0)
      break;
  }
  return rc;
}

static pai__slice number_or_none(const pai__table *tb, uint32_t column)
{
  pai__slice cell = pai__cell(tb, column);

  return cell.s != NULL && *cell.s != '-' ? cell : (pai__slice){ NULL, 0 };
}

static uint32_t processors_of(pai__table *tb)
{
  int64_t n = pai__cell_whole(tb, S_ASKED_PROCESSORS, -1);

  if (n <= 0)
    n = pai__cell_whole(tb, S_PROCESSORS, -1);
  if (n <= 0 || n > PAI__MOST_CPUS) {
    pai__cell_bad(tb, S_PROCESSORS, "a number from 1 to a million");
    return 1;
  }
  return (uint32_t)n;
}

static int code_of(pai__table *tb)
{
  int64_t status = pai__cell_whole(tb, S_STATUS, -1);

  return status == 0 ? PAI__CODE_FAILED : status == 5 ? PAI__CODE_KILLED : 0;
}

static int make(pai_trace *t, pai__swf *swf)
{
  pai__table *tb = &swf->table;
  pai__draft *d = &t->draft;
  pai_time run, wait;
  int rc;

  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell(tb, S_NUMBER);
  d->texts[PAI__TEXT_USER] = number_or_none(tb, S_USER);
  d->texts[PAI__TEXT_VC] = number_or_none(tb, S_QUEUE);
  if (d->texts[PAI__TEXT_VC].s == NULL)
    d->texts[PAI__TEXT_VC] = number_or_none(tb, S_PARTITION);
  d->time = swf->start + pai__cell_seconds(tb, S_SUBMIT, 0);
  run = pai__cell_seconds(tb, S_RUN, -1);
  wait = pai__cell_seconds(tb, S_WAIT, -1);
  d->estimate = pai__cell_seconds(tb, S_ASKED_TIME, 0);
  if (d->estimate < 0)
    d->estimate = 0;
  if (run <= 0 && code_of(tb) == PAI__CODE_KILLED) {
    d->patience = wait > 0 ? wait : 0;
    run = 0;
    pai__trace_alter(t, tb->line,
                     "it never ran: it takes no time, and is "
                     "killed when it has waited as long");
  } else if (run < 0) {
    pai__cell_bad(tb, S_RUN, "known");
  } else if (wait >= 0) {
    d->started = d->time + wait;
  }
  rc = add_wants(t, swf, processors_of(tb));
  return rc < 0 ? rc : pai__draft_add_attempt(d, &t->alloc, run, code_of(tb));
}

int pai__swf_read(pai_trace *t, pai_error **err)
{
  pai__swf *swf = t->state;
  pai__table *tb = &swf->table;
  int64_t status;
  bool skipped;
  int rc = pai__table_next(tb, t, err);

  if (rc <= 0 || tb->count == 0)
    return rc;
  if (*tb->cells[0].s == ';') {
    read_header(swf);
    return 1;
  }
  if (tb->count != S_COUNT) {
    rc = pai__trace_skip(t, tb->line, err,
                         "it has %zu numbers, and should have 18", tb->count);
    return rc < 0 ? rc : 1;
  }
  status = pai__cell_whole(tb, S_STATUS, -1);
  if (status >= 2 && status <= 4) /* a part of a job that has its own line */
    return 1;
  if (make(t, swf) < 0)
    return pai__oom(err);
  rc = pai__table_check(tb, t, &skipped, err);
  if (rc == PAI_OK && !skipped)
    rc = pai__trace_put(t, tb->line, err);
  return rc < 0 ? rc : 1;
}
