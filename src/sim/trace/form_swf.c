/*
 * form_swf.c - Standard Workload Format of the Parallel Workloads Archive: 18
 * numbers for each job, and header lines that begin with a semicolon
 */
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"
#include "sim/trace/table.h"

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
  pai__sim_table table;       /* first, as pai__sim_rows requires */
  pai_time start;             /* of the trace */
  uint32_t processors, nodes; /* of the machine; 0: not known */
  bool gpus;                  /* processors are GPUs */
} pai__swf;

static const pai__sim_column columns[S_COUNT] = {
  { .name = "job number" },     { .name = "submit time" },
  { .name = "wait time" },      { .name = "run time" },
  { .name = "processors" },     { .name = "CPU time" },
  { .name = "memory" },         { .name = "requested processors" },
  { .name = "requested time" }, { .name = "requested memory" },
  { .name = "status" },         { .name = "user" },
  { .name = "group" },          { .name = "program" },
  { .name = "queue" },          { .name = "partition" },
  { .name = "preceding job" },  { .name = "think time" },
};

/* Reads a header line, as "; MaxNodes: 128"; unknown ones are ignored. */
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
  if (pai__text_is(*cell, "Processors:"))
    swf->gpus = pai__text_is(cell[1], "GPUs");
  if (!pai__seconds_read(cell[1].s, cell[1].len, &us) || us < 0)
    return;
  if (pai__text_is(*cell, "UnixStartTime:"))
    swf->start = us;
  if (us / 1000000 > PAI__TRACE_CPUS)
    return;
  if (pai__text_is(*cell, "MaxProcs:"))
    swf->processors = (uint32_t)(us / 1000000);
  if (pai__text_is(*cell, "MaxNodes:"))
    swf->nodes = (uint32_t)(us / 1000000);
}

/* Makes tasks of as many processors as a node has, or of one processor if that
 * is not known. */
static void add_wants(pai_trace *t, pai__swf *swf, uint32_t processors)
{
  uint32_t each = 1, kinds = 0;

  if (swf->nodes > 0 && swf->processors > swf->nodes)
    each = swf->processors / swf->nodes;
  for (uint32_t part = each; kinds < 2; kinds++) {
    pai__draft_want want = { .tasks = processors / part };
    int64_t kb = pai__cell_whole(&swf->table, S_ASKED_MEMORY, -1);

    want.gpus = swf->gpus ? part : 0;
    want.cpus = swf->gpus ? 0 : part;
    want.memory =
      kb > 0 && kb < INT64_C(1) << 40 ? (uint64_t)kb * 1024 * part : 0;
    if (want.tasks > 0)
      pai__draft_add_want(t, &want);
    processors -= want.tasks * part;
    part = processors;
    if (processors == 0)
      break;
  }
}

static pai__slice number_or_none(const pai__sim_table *tb, uint32_t column)
{
  pai__slice cell = pai__cell_text(tb, column);

  return cell.s != NULL && *cell.s != '-' ? cell : (pai__slice){ NULL, 0 };
}

static uint32_t processors_of(pai__sim_table *tb)
{
  int64_t n = pai__cell_whole(tb, S_ASKED_PROCESSORS, -1);

  if (n <= 0)
    n = pai__cell_whole(tb, S_PROCESSORS, -1);
  if (n <= 0 || n > PAI__TRACE_CPUS) {
    pai__cell_bad(tb, S_PROCESSORS, "a number from 1 to a million");
    return 1;
  }
  return (uint32_t)n;
}

static int code_of(pai__sim_table *tb)
{
  int64_t status = pai__cell_whole(tb, S_STATUS, -1);

  return status == 0 ? PAI__CODE_FAILED : status == 5 ? PAI__CODE_KILLED : 0;
}

static void make(pai_trace *t, pai__swf *swf)
{
  pai__sim_table *tb = &swf->table;
  pai__draft *d = &t->draft;
  pai_time run, wait;

  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell_text(tb, S_NUMBER);
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
    run = 0;
    pai__trace_never_ran(t, tb->line, wait > 0 ? wait : 0);
  } else if (run < 0) {
    pai__cell_bad(tb, S_RUN, "known");
  } else if (wait >= 0) {
    d->started = d->time + wait;
  }
  add_wants(t, swf, processors_of(tb));
  pai__draft_add_attempt(t, run, code_of(tb));
}

static int take(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__swf *swf = t->state;
  int64_t status;

  if (tb->count == 0)
    return PAI_OK;
  if (*tb->cells[0].s == ';') {
    read_header(swf);
    return PAI_OK;
  }
  if (tb->count != S_COUNT)
    return pai__trace_skip(t, tb->line, err,
                           "the row has %zu numbers instead of 18", tb->count);
  status = pai__cell_whole(tb, S_STATUS, -1);
  if (status >= 2 && status <= 4) /* part of a job */
    return PAI_OK;
  make(t, swf);
  return pai__row_put(t, tb, err);
}

const pai__sim_rows pai__swf_rows = { .columns = columns,
                                      .count = S_COUNT,
                                      .separator = ' ',
                                      .plain = true,
                                      .state = sizeof(pai__swf),
                                      .take = take };
