/* form_rows.c - Helios, Alibaba's pods of 2023, and Muri's: a job a row */
#include "sim/forms.h"
#include "sim/table.h"

static int begin(pai_trace *t, const pai__columns *columns, pai_error **err)
{
  pai__table *tb = pai__zalloc(&t->alloc, sizeof(*tb));

  if (tb == NULL)
    return pai__oom(err);
  t->state = tb;
  return pai__table_begin(tb, t, columns, err);
}

void pai__rows_end(pai_trace *t)
{
  if (t->state != NULL)
    pai__table_dispose(t->state, &t->alloc);
  pai__free(&t->alloc, t->state, sizeof(pai__table));
  t->state = NULL;
}

/* Puts what a row was made into, if all of it could be read. */
static int put(pai_trace *t, pai__table *tb, int rc, pai_error **err)
{
  bool skipped;

  if (rc < 0)
    return pai__oom(err);
  rc = pai__table_check(tb, t, &skipped, err);
  if (rc == PAI_OK && !skipped)
    rc = pai__trace_put(t, tb->line, err);
  return rc < 0 ? rc : 1;
}

/* --- Helios: cluster_log.csv ------------------------------------------------- */

enum {
  H_ID,
  H_USER,
  H_VC,
  H_GPUS,
  H_CPUS,
  H_NODES,
  H_STATE,
  H_SUBMIT,
  H_START,
  H_END,
  H_DURATION
};

int pai__helios_begin(pai_trace *t, pai_error **err)
{
  static const char *const names[] = { "job_id",   "user",        "vc",
                                       "gpu_num",  "cpu_num",     "node_num",
                                       "state",    "submit_time", "start_time",
                                       "end_time", "duration" };
  static const pai__columns columns = { names,
                                        PAI__LEN(names),
                                        1u << H_GPUS | 1u << H_STATE |
                                          1u << H_SUBMIT,
                                        ',',
                                        true,
                                        false };

  return begin(t, &columns, err);
}

static int helios_code(pai__table *tb)
{
  if (pai__cell_is(tb, H_STATE, "COMPLETED"))
    return 0;
  if (pai__cell_is(tb, H_STATE, "CANCELLED"))
    return PAI__CODE_KILLED;
  if (pai__cell_is(tb, H_STATE, "TIMEOUT"))
    return PAI__CODE_TIMEOUT;
  if (!pai__cell_is(tb, H_STATE, "FAILED") &&
      !pai__cell_is(tb, H_STATE, "NODE_FAIL"))
    pai__cell_bad(tb, H_STATE,
                  "COMPLETED, CANCELLED, FAILED, TIMEOUT or NODE_FAIL");
  return PAI__CODE_FAILED;
}

int pai__helios_read(pai_trace *t, pai_error **err)
{
  pai__table *tb = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want all = { .tasks = 1 };
  pai_time end, duration;
  int rc = pai__table_next(tb, t, err);

  if (rc <= 0)
    return rc;
  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell(tb, H_ID);
  d->texts[PAI__TEXT_USER] = pai__cell(tb, H_USER);
  d->texts[PAI__TEXT_VC] = pai__cell(tb, H_VC);
  all.gpus = pai__cell_count(tb, H_GPUS, 0);
  all.cpus = pai__cell_count(tb, H_CPUS, 0);
  d->time = pai__cell_date(tb, H_SUBMIT, 0);
  d->started = pai__cell_date(tb, H_START, -1);
  end = pai__cell_date(tb, H_END, d->started);
  duration = pai__cell_seconds(tb, H_DURATION, end - d->started);
  if (d->started == -1) { /* killed while it waited */
    d->patience = end != -1 ? end - d->time : 0;
    duration = 0;
    pai__trace_alter(t, tb->line,
                     "it never ran: it takes no time, and is "
                     "killed when it has waited as long");
  }
  rc = pai__draft_spread(d, &t->alloc, &all, pai__cell_count(tb, H_NODES, 1));
  if (rc == PAI_OK)
    rc = pai__draft_add_attempt(d, &t->alloc, duration, helios_code(tb));
  return put(t, tb, rc, err);
}

/* --- Alibaba 2023: openb_pod_list -------------------------------------------- */

enum {
  B_NAME,
  B_CPU,
  B_MEMORY,
  B_GPUS,
  B_GPU_MILLI,
  B_GPU_SPEC,
  B_QOS,
  B_PHASE,
  B_CREATED,
  B_DELETED,
  B_SCHEDULED
};

int pai__openb_begin(pai_trace *t, pai_error **err)
{
  static const char *const names[] = {
    "name",          "cpu_milli",     "memory_mib",    "num_gpu",
    "gpu_milli",     "gpu_spec",      "qos",           "pod_phase",
    "creation_time", "deletion_time", "scheduled_time"
  };
  static const pai__columns columns = { names,
                                        PAI__LEN(names),
                                        1u << B_GPUS | 1u << B_CREATED |
                                          1u << B_DELETED,
                                        ',',
                                        true,
                                        false };

  return begin(t, &columns, err);
}

/* GPUs that are wanted, and of which kind. */
static void openb_gpus(pai_trace *t, pai__table *tb, pai__draft_want *want)
{
  const char *other;

  want->gpus = pai__cell_count(tb, B_GPUS, 0);
  if (want->gpus > 0 && pai__cell_count(tb, B_GPU_MILLI, 1000) < 1000)
    pai__trace_alter(t, tb->line, "a part of a GPU counts as a whole one");
  want->type = pai__cell(tb, B_GPU_SPEC);
  if (want->gpus == 0)
    want->type = (pai__slice){ NULL, 0 };
  other =
    want->type.s != NULL ? memchr(want->type.s, '|', want->type.len) : NULL;
  if (other == NULL)
    return;
  want->type.len = (size_t)(other - want->type.s);
  pai__trace_alter(t, tb->line,
                   "of several kinds of GPUs only the first one "
                   "counts");
}

int pai__openb_read(pai_trace *t, pai_error **err)
{
  pai__table *tb = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  pai_time end, duration;
  int rc = pai__table_next(tb, t, err), code;

  if (rc <= 0)
    return rc;
  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell(tb, B_NAME);
  want.cpus = (pai__cell_count(tb, B_CPU, 0) + 999) / 1000;
  want.memory = (uint64_t)pai__cell_whole(tb, B_MEMORY, 0) << 20;
  openb_gpus(t, tb, &want);
  d->time = pai__cell_date(tb, B_CREATED, 0);
  end = pai__cell_date(tb, B_DELETED, d->time);
  d->started = pai__cell_date(tb, B_SCHEDULED, -1);
  duration = end - d->started;
  if (d->started == -1) {
    d->patience = end - d->time;
    duration = 0;
    pai__trace_alter(t, tb->line,
                     "it never ran: it takes no time, and is "
                     "killed when it has waited as long");
  }
  if (pai__cell_is(tb, B_QOS, "BE"))
    d->priority = PAI_SCHED_OPPORTUNISTIC;
  code = pai__cell_is(tb, B_PHASE, "Failed") ? PAI__CODE_FAILED : 0;
  rc = pai__draft_add_want(d, &t->alloc, &want);
  if (rc == PAI_OK)
    rc = pai__draft_add_attempt(d, &t->alloc, duration, code);
  return put(t, tb, rc, err);
}

/* --- Muri: milliseconds -------------------------------------------------------- */

enum { M_ID, M_GPUS, M_SUBMIT, M_MODEL, M_DURATION };

int pai__muri_begin(pai_trace *t, pai_error **err)
{
  static const char *const names[] = { "job_id", "num_gpu", "submit_time",
                                       "model_name", "duration" };
  static const pai__columns columns = { names,
                                        PAI__LEN(names),
                                        1u << M_GPUS | 1u << M_SUBMIT |
                                          1u << M_DURATION,
                                        ',',
                                        true,
                                        false };

  return begin(t, &columns, err);
}

int pai__muri_read(pai_trace *t, pai_error **err)
{
  pai__table *tb = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  int rc = pai__table_next(tb, t, err);

  if (rc <= 0)
    return rc;
  pai__draft_clear(d);
  d->texts[PAI__TEXT_ID] = pai__cell(tb, M_ID);
  d->texts[PAI__TEXT_NAME] = pai__cell(tb, M_MODEL);
  want.gpus = pai__cell_count(tb, M_GPUS, 0);
  d->time = pai__cell_milliseconds(tb, M_SUBMIT);
  rc = pai__draft_spread(d, &t->alloc, &want, (want.gpus + 7) / 8);
  if (rc == PAI_OK)
    rc = pai__draft_add_attempt(d, &t->alloc,
                                pai__cell_milliseconds(tb, M_DURATION), 0);
  return put(t, tb, rc, err);
}

/* --- Gavel: steps of known models ---------------------------------------------- */

/* Two ages of the form: the later one has a folder behind the command, and
 * three more cells before the time. */
enum { G_TYPE, G_COMMAND, G_STEPS, G_TIME, G_GPUS, G_COUNT };

static const char *const gavel_names[] = { "job type", "command", "steps",
                                           "arrival time", "scale factor" };

int pai__gavel_begin(pai_trace *t, pai_error **err)
{
  static const pai__columns columns = { gavel_names, G_COUNT, 0,
                                        '\t',        false,   true };

  return begin(t, &columns, err);
}

/* How many thousandths of a step a V100 alone makes in a second: Gavel's own
 * measurements (scheduler/oracle_throughputs.json, "null"), by which its
 * traces were made of times. */
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
    if (type.s != NULL && strlen(known[i].type) == type.len &&
        memcmp(known[i].type, type.s, type.len) == 0)
      return known[i].speed;
  return 0;
}

static bool gavel_places(pai__table *tb)
{
  static const size_t places[][G_COUNT] = { { 0, 1, 4, 5, 6 },
                                            { 0, 1, 5, 9, 6 } };
  bool is_long = tb->count == 10;

  memcpy(tb->at, places[is_long], sizeof(places[0]));
  return is_long || tb->count == 7;
}

int pai__gavel_read(pai_trace *t, pai_error **err)
{
  pai__table *tb = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  uint32_t speed;
  int64_t steps;
  int rc = pai__table_next(tb, t, err);

  if (rc <= 0)
    return rc;
  if (!gavel_places(tb)) {
    rc =
      pai__trace_skip(t, tb->line, err,
                      "it has %zu cells, and should have 7 or 10", tb->count);
    return rc < 0 ? rc : 1;
  }
  pai__draft_clear(d);
  d->texts[PAI__TEXT_NAME] = pai__cell(tb, G_TYPE);
  speed = gavel_speed(d->texts[PAI__TEXT_NAME]);
  if (speed == 0) {
    pai__cell_bad(tb, G_TYPE, "one of Gavel's models");
    speed = 1;
  }
  steps = pai__cell_whole(tb, G_STEPS, 0);
  if (steps < 0 || steps > INT64_C(1000000000))
    pai__cell_bad(tb, G_STEPS, "a number up to a billion");
  want.gpus = pai__cell_count(tb, G_GPUS, 1);
  d->time = pai__cell_seconds(tb, G_TIME, 0);
  rc = pai__draft_spread(d, &t->alloc, &want, (want.gpus + 7) / 8);
  if (rc == PAI_OK && tb->bad == NULL)
    rc =
      pai__draft_add_attempt(d, &t->alloc, steps * 1000000 / speed * 1000, 0);
  return put(t, tb, rc, err);
}
