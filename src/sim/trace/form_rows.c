/* form_rows.c - traces with a row for each job: Helios, Alibaba 2023 (pods),
 * Muri, Gavel */
#include "sim/trace/documents.h"
#include "sim/trace/forms.h"
#include "sim/trace/table.h"

/* --- Helios: cluster_log.csv --------------------------------------------- */

static const pai__sim_column helios_columns[] = {
  PAI__TEXT_CELL("job_id", PAI__TEXT_ID),
  PAI__TEXT_CELL("user", PAI__TEXT_USER),
  PAI__TEXT_CELL("vc", PAI__TEXT_VC),
  PAI__CELL_OF("gpu_num", COUNT, gpus, 0, true),
  PAI__CELL_OF("cpu_num", COUNT, cpus, 0, false),
  PAI__CELL_OF("submit_time", DATE, submit, 0, true),
  PAI__CELL_OF("start_time", DATE, start, -1, false),
  PAI__CELL_OF("end_time", DATE, end, PAI__NOT_TOLD, false),
  PAI__CELL_OF("duration", SECONDS, duration, PAI__NOT_TOLD, false),
  PAI__CELL_OF("node_num", COUNT, nodes, 1, false),
  { "state", PAI__CELL_OWN, 0, 0, true },
};
enum { H_STATE = PAI__LEN(helios_columns) - 1 };

static int helios_code(pai__sim_table *tb)
{
  static const struct {
    const char *state;
    int code;
  } states[] = { { "COMPLETED", 0 },
                 { "CANCELLED", PAI__CODE_KILLED },
                 { "TIMEOUT", PAI__CODE_TIMEOUT },
                 { "FAILED", PAI__CODE_FAILED },
                 { "NODE_FAIL", PAI__CODE_FAILED } };

  for (size_t i = 0; i < PAI__LEN(states); i++)
    if (pai__cell_is(tb, H_STATE, states[i].state))
      return states[i].code;
  pai__cell_bad(tb, H_STATE,
                "COMPLETED, CANCELLED, FAILED, TIMEOUT or NODE_FAIL");
  return PAI__CODE_FAILED;
}

static int take_helios(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__draft *d = &t->draft;
  pai__sim_row row;

  pai__row_read(tb, t, &row);
  d->time = row.submit;
  d->started = row.start;
  if (row.end == PAI__NOT_TOLD)
    row.end = row.start;
  if (row.duration == PAI__NOT_TOLD)
    row.duration = row.end - row.start;
  if (row.start == -1) { /* it was killed while it waited */
    row.duration = 0;
    pai__trace_never_ran(t, tb->line, row.end != -1 ? row.end - d->time : 0);
  }
  pai__draft_spread(
    t, &(pai__draft_want){ .gpus = row.gpus, .cpus = row.cpus }, row.nodes);
  pai__draft_add_attempt(t, row.duration, helios_code(tb));
  return pai__row_put(t, tb, err);
}

const pai__sim_rows pai__helios_rows = { .columns = helios_columns,
                                         .count = PAI__LEN(helios_columns),
                                         .separator = ',',
                                         .quotes = true,
                                         .take = take_helios };

/* --- Alibaba 2023: openb_pod_list ---------------------------------------- */

static const pai__sim_column openb_columns[] = {
  PAI__TEXT_CELL("name", PAI__TEXT_ID),
  PAI__CELL_OF("cpu_milli", COUNT, cpus, 0, false),
  PAI__CELL_OF("memory_mib", WHOLE, memory, 0, false),
  PAI__CELL_OF("num_gpu", COUNT, gpus, 0, true),
  { .name = "gpu_milli" },
  PAI__CELL_OF("gpu_spec", SLICE, type, 0, false),
  PAI__CELL_OF("creation_time", DATE, submit, 0, true),
  PAI__CELL_OF("deletion_time", DATE, end, PAI__NOT_TOLD, true),
  PAI__CELL_OF("scheduled_time", DATE, start, -1, false),
  PAI__CELL_OF("qos", SLICE, kind, 0, false),
  PAI__CELL_OF("pod_phase", SLICE, state, 0, false),
};

enum { B_PART = 4 };

/* Returns the type of GPU; only the first of several is used. */
static pai__slice openb_type(pai_trace *t, const pai__sim_table *tb,
                             const pai__sim_row *row)
{
  pai__slice type = row->type;
  const char *other;

  if (row->gpus == 0 || type.s == NULL)
    return (pai__slice){ NULL, 0 };
  other = memchr(type.s, '|', type.len);
  if (other == NULL)
    return type;
  type.len = (size_t)(other - type.s);
  pai__trace_alter(t, tb->line,
                   "only the first of several types of GPUs is used");
  return type;
}

static int take_openb(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  pai__sim_row row;

  pai__row_read(tb, t, &row);
  want.gpus = row.gpus;
  want.cpus = (row.cpus + 999) / 1000;
  want.memory = (uint64_t)row.memory << 20;
  if (row.gpus > 0 && pai__cell_count(tb, B_PART, 1000) < 1000)
    pai__trace_alter(t, tb->line,
                     "a fraction of a GPU is counted as a whole GPU");
  want.type = openb_type(t, tb, &row);
  d->time = row.submit;
  if (row.end == PAI__NOT_TOLD)
    row.end = d->time;
  if (pai__slice_is(row.kind, "BE"))
    d->priority = PAI_SCHED_OPPORTUNISTIC;
  pai__draft_add_want(t, &want);
  pai__draft_ran(t, tb->line, row.start, row.end,
                 pai__slice_is(row.state, "Failed") ? PAI__CODE_FAILED : 0);
  return pai__row_put(t, tb, err);
}

const pai__sim_rows pai__openb_rows = { .columns = openb_columns,
                                        .count = PAI__LEN(openb_columns),
                                        .separator = ',',
                                        .quotes = true,
                                        .take = take_openb };

/* --- Muri: milliseconds -------------------------------------------------- */

static const pai__sim_column muri_columns[] = {
  PAI__TEXT_CELL("job_id", PAI__TEXT_ID),
  PAI__TEXT_CELL("model_name", PAI__TEXT_NAME),
  PAI__CELL_OF("num_gpu", COUNT, gpus, 0, true),
  PAI__CELL_OF("submit_time", MILLISECONDS, submit, 0, true),
  PAI__CELL_OF("duration", MILLISECONDS, duration, 0, true),
};

static int take_muri(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__sim_row row;

  pai__row_read(tb, t, &row);
  t->draft.time = row.submit;
  pai__draft_spread(t, &(pai__draft_want){ .gpus = row.gpus },
                    (row.gpus + 7) / 8);
  pai__draft_add_attempt(t, row.duration, 0);
  return pai__row_put(t, tb, err);
}

const pai__sim_rows pai__muri_rows = { .columns = muri_columns,
                                       .count = PAI__LEN(muri_columns),
                                       .separator = ',',
                                       .quotes = true,
                                       .take = take_muri };

/* --- Gavel: steps of known models ---------------------------------------- */

/* Cells of the two versions of the form.  The later one has a folder behind
 * the command, and three more cells before the time. */
enum { G_TYPE, G_COMMAND, G_STEPS, G_TIME, G_GPUS, G_COUNT };

static const pai__sim_column gavel_columns[G_COUNT] = {
  PAI__TEXT_CELL("job type", PAI__TEXT_NAME),
  { .name = "command" },
  { .name = "steps" },
  { .name = "arrival time" },
  { .name = "scale factor" },
};

/* Returns the steps in 1000 seconds of a model on one V100, from Gavel's own
 * measurements (scheduler/oracle_throughputs.json, "null"), with which its
 * traces were made from times. */
static uint32_t gavel_speed(pai__slice type)
{
  static const struct {
    const char *type;
    uint32_t speed;
  } known[] = {
    { "A3C", 8233 },
    { "CycleGAN", 4918 },
    { "LM (batch size 5)", 167123 },
    { "LM (batch size 10)", 143361 },
    { "LM (batch size 20)", 107951 },
    { "LM (batch size 40)", 71723 },
    { "LM (batch size 80)", 43904 },
    { "Recommendation (batch size 512)", 331 },
    { "Recommendation (batch size 1024)", 480 },
    { "Recommendation (batch size 2048)", 568 },
    { "Recommendation (batch size 4096)", 624 },
    { "Recommendation (batch size 8192)", 602 },
    { "ResNet-18 (batch size 16)", 77317 },
    { "ResNet-18 (batch size 32)", 65805 },
    { "ResNet-18 (batch size 64)", 48884 },
    { "ResNet-18 (batch size 128)", 30288 },
    { "ResNet-18 (batch size 256)", 16987 },
    { "ResNet-50 (batch size 16)", 17374 },
    { "ResNet-50 (batch size 32)", 9921 },
    { "ResNet-50 (batch size 64)", 5458 },
    { "ResNet-50 (batch size 128)", 2846 },
    { "Transformer (batch size 16)", 12846 },
    { "Transformer (batch size 32)", 12475 },
    { "Transformer (batch size 64)", 9568 },
    { "Transformer (batch size 128)", 5771 },
    { "Transformer (batch size 256)", 1707 },
  };

  for (size_t i = 0; i < PAI__LEN(known); i++)
    if (pai__text_is(type, known[i].type))
      return known[i].speed;
  return 0;
}

static bool gavel_places(pai__sim_table *tb)
{
  static const size_t places[][G_COUNT] = { { 0, 1, 4, 5, 6 },
                                            { 0, 1, 5, 9, 6 } };
  bool is_long = tb->count == 10;

  memcpy(tb->at, places[is_long], sizeof(places[0]));
  return is_long || tb->count == 7;
}

static int take_gavel(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  pai__draft *d = &t->draft;
  uint32_t speed, gpus;
  int64_t steps;
  pai__sim_row row;

  if (!gavel_places(tb))
    return pai__trace_skip(
      t, tb->line, err, "the row has %zu cells instead of 7 or 10", tb->count);
  pai__row_read(tb, t, &row);
  speed = gavel_speed(d->texts[PAI__TEXT_NAME]);
  if (speed == 0) {
    pai__cell_bad(tb, G_TYPE, "one of Gavel's models");
    speed = 1;
  }
  steps = pai__cell_whole(tb, G_STEPS, 0);
  if (steps < 0 || steps > INT64_C(1000000000))
    pai__cell_bad(tb, G_STEPS, "a number up to a billion");
  gpus = pai__cell_count(tb, G_GPUS, 1);
  d->time = pai__cell_seconds(tb, G_TIME, 0);
  pai__draft_spread(t, &(pai__draft_want){ .gpus = gpus }, (gpus + 7) / 8);
  if (tb->bad == NULL)
    pai__draft_add_attempt(t, steps * 1000000 / speed * 1000, 0);
  return pai__row_put(t, tb, err);
}

const pai__sim_rows pai__gavel_rows = { .columns = gavel_columns,
                                        .count = G_COUNT,
                                        .separator = '\t',
                                        .plain = true,
                                        .take = take_gavel };
