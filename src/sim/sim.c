/* sim.c - a simulation: a cluster, a trace and a policy, in virtual time */
#include "sim/sim.h"

#include <openpai/platform.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARS = 4000 };

_Static_assert(sizeof(pai__sim_wait) <= 64,
               "there may be a million of those that wait");

/* --- making -------------------------------------------------------------- */

static int check_options(const pai_sim_options *o, pai_error **err)
{
  const struct {
    const char *name;
    pai_time value;
  } times[] = {
    { "until", o->until },
    { "start_cost", o->start_cost },
    { "restart_cost", o->restart_cost },
    { "stop_cost", o->stop_cost },
    { "checkpoint", o->checkpoint },
    { "node_up", o->node_up },
    { "node_down", o->node_down },
    { "patience", o->patience },
  };

  for (size_t i = 0; i < PAI__LEN(times); i++)
    if (times[i].value < 0 && strcmp(times[i].name, "until") != 0)
      return pai__fail(err, PAI_EINVAL, "pai_sim_options.%s is negative",
                       times[i].name);
  if (o->fail > 1000 || o->spread > 1000)
    return pai__fail(
      err, PAI_EINVAL,
      "pai_sim_options.%s is in thousandths, from 0 to 1000, not %" PRIu32,
      o->fail > 1000 ? "fail" : "spread",
      o->fail > 1000 ? o->fail : o->spread);
  return PAI_OK;
}

static int open_sched(pai_sim *sim, const pai_cluster *cluster,
                      pai_error **err)
{
  pai_sched_options so = PAI_SCHED_OPTIONS_INIT;
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_sched_log_options lo = { .struct_size = sizeof(lo), .snapshots = 1 };
  int rc;

  so.alloc = &sim->alloc;
  so.policy = sim->o.policy;
  so.table = sim->o.table;
  so.policy_options = sim->o.policy_options;
  rc = pai_sched_new(&sim->sched, cluster, &so, err);
  if (rc < 0)
    return rc;
  (void)pai_sched_view_sums(sim->sched, &view);
  sim->policy = pai__strdup(&sim->alloc, view.policy);
  if (sim->o.policy_options != NULL)
    sim->options = pai__strdup(&sim->alloc, sim->o.policy_options);
  if (sim->policy == NULL ||
      (sim->o.policy_options != NULL && sim->options == NULL))
    return pai__oom(err);
  if (sim->o.log == NULL)
    return PAI_OK;
  rc = pai_sched_set_log_options(sim->sched, &lo, err);
  return rc < 0
           ? rc
           : pai_sched_set_log(sim->sched, sim->o.log, sim->o.user_data, err);
}

static int open_rest(pai_sim *sim, pai_error **err)
{
  pai__drive_options o = { .ops = &pai__sim_ops,
                           .data = sim,
                           .job_size = sizeof(pai__sim_job),
                           .wait_size = sizeof(pai__sim_wait),
                           .seed = sim->o.seed,
                           .start_cost = sim->o.start_cost,
                           .restart_cost = sim->o.restart_cost,
                           .stop_cost = sim->o.stop_cost,
                           .checkpoint = sim->o.checkpoint };

  if (pai__drive_init(&sim->drive, &sim->alloc, sim->sched, &o) < 0 ||
      pai__stats_init(&sim->stats, &sim->alloc, sim->sched,
                      sim->o.bars != 0 ? sim->o.bars : BARS) < 0)
    return pai__oom(err);
  return PAI_OK;
}

/* Returns the id in the trace of a job that is present. */
static const char *id_of(const void *data, uint32_t number)
{
  const pai_sim *sim = data;
  const pai__driven_job *job = pai__drive_find(&sim->drive, number, 0);
  const pai__waiting_job *wait = pai__drive_find_wait(&sim->drive, number);

  return pai__sim_id(job != NULL ? &((const pai__sim_job *)job)->recorded
                                 : &((const pai__sim_wait *)wait)->recorded);
}

int pai__sim_new(pai_sim **out, const pai_cluster *cluster,
                 pai__next_record next, void *source,
                 const pai_sim_options *opts, pai_error **err)
{
  pai_sim_options o = { 0 };
  const pai_alloc *alloc;
  pai_sim *sim;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(cluster != NULL && next != NULL, err);
  if (PAI__OPTIONS_IN(&o, opts, pai_sim_options, bars) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_sim_options");
  rc = check_options(&o, err);
  if (rc < 0)
    return rc;
  alloc = pai__alloc_or_libc(o.alloc);
  sim = pai__zalloc(alloc, sizeof(*sim));
  if (sim == NULL)
    return pai__oom(err);
  sim->alloc = *alloc;
  sim->o = o;
  sim->next = next;
  sim->source = source;
  pai__ids_init(&sim->ids, &sim->alloc, id_of, sim);
  pai__map_init(&sim->forms, &sim->alloc);
  pai__buf_init(&sim->line, &sim->alloc);
  rc = open_sched(sim, cluster, err);
  if (rc == PAI_OK)
    rc = open_rest(sim, err);
  if (rc == PAI_OK)
    *out = sim;
  else
    pai_sim_free(sim);
  return rc;
}

static int next_of_trace(void *data, pai_trace_record *record, pai_error **err)
{
  return pai_trace_next(data, record, err);
}

int pai_sim_new(pai_sim **out, const pai_cluster *cluster, pai_trace *trace,
                const pai_sim_options *opts, pai_error **err)
{
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(trace != NULL, err);
  rc = pai__sim_new(out, cluster, next_of_trace, trace, opts, err);
  if (*out != NULL)
    (*out)->trace = trace;
  return rc;
}

/* Frees the records of all jobs that are present. */
static void forget_all(const pai_sim *sim)
{
  pai__waiting_job *wait;
  pai__driven_job *job;

  for (uint32_t i = 0; (job = pai__drive_each(&sim->drive, &i)) != NULL;)
    pai__sim_forget(sim, &((pai__sim_job *)job)->recorded);
  for (uint32_t i = 0; (wait = pai__drive_each_wait(&sim->drive, &i)) != NULL;)
    pai__sim_forget(sim, &((pai__sim_wait *)wait)->recorded);
}

void pai_sim_free(pai_sim *sim)
{
  pai_alloc alloc;

  if (sim == NULL)
    return;
  alloc = sim->alloc;
  if (sim->stats.alloc.realloc_fn != NULL) {
    forget_all(sim);
    pai__drive_dispose(&sim->drive);
    pai__stats_dispose(&sim->stats);
  }
  if (sim->outages != NULL)
    pai__free(&alloc, sim->outages,
              pai__sched_cluster_of(sim->sched)->nnodes *
                sizeof(*sim->outages));
  pai__sim_free_forms(sim);
  pai__ids_dispose(&sim->ids);
  pai__free(&alloc, sim->arrived, PAI__ARRIVED_WORDS * sizeof(*sim->arrived));
  pai__buf_dispose(&sim->line);
  pai__free(&alloc, sim->wants, sim->want_cap * sizeof(*sim->wants));
  pai__free(&alloc, sim->after, sim->after_cap * sizeof(*sim->after));
  pai__strfree(&alloc, sim->policy);
  pai__strfree(&alloc, sim->options);
  pai_sched_free(sim->sched);
  pai__free(&alloc, sim, sizeof(*sim));
}

const pai_sched *pai_sim_sched(const pai_sim *sim)
{
  return sim != NULL ? sim->sched : NULL;
}

/* --- steps --------------------------------------------------------------- */

/* Reads the next record unless it is known already. */
static int look_ahead(pai_sim *sim)
{
  int rc;

  if (sim->waiting || sim->drained)
    return PAI_OK;
  sim->record.struct_size = sizeof(sim->record);
  rc = sim->next(sim->source, &sim->record, sim->err);
  sim->waiting = rc > 0;
  sim->drained = rc == 0;
  return rc < 0 ? rc : PAI_OK;
}

/* Returns true if no later event can change anything. */
bool pai__sim_is_over(void *data)
{
  const pai_sim *sim = data;

  if (sim->waiting)
    return false;
  return sim->drive.njobs == 0 ||
         (!pai__drive_is_busy(&sim->drive) && sim->down == 0 &&
          !sim->drive.due && pai_sched_next_time(sim->sched) == INT64_MAX);
}

pai_time pai__sim_next(void *data)
{
  const pai_sim *sim = data;

  return sim->waiting ? sim->record.time : INT64_MAX;
}

/* At the first job, starts the series and the failures of nodes. */
static int begin_time(pai_sim *sim)
{
  if (sim->stats.series.width != 0 || sim->record.kind != PAI_RECORD_JOB)
    return PAI_OK;
  pai__series_begin(&sim->stats.series, sim->record.time);
  return pai__outages_begin(sim) < 0 ? pai__oom(sim->err) : PAI_OK;
}

int pai__sim_add(void *data)
{
  pai_sim *sim = data;
  int rc = PAI_OK;

  while (rc == PAI_OK && sim->waiting && sim->record.time <= sim->drive.now) {
    rc = begin_time(sim);
    if (rc == PAI_OK)
      rc = pai__sim_take(sim, &sim->record);
    sim->waiting = false;
    if (rc == PAI_OK)
      rc = look_ahead(sim);
  }
  return rc;
}

static int by_id(const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static int show_one_left(pai_sim *sim, uint64_t id)
{
  const pai__driven_job *d = pai__drive_find(&sim->drive, id, 0);
  pai__sim_job job = { 0 };

  if (d != NULL)
    return pai__sim_show(sim, (const pai__sim_job *)d,
                         d->tasks != 0 ? PAI_STATE_RUNNING
                                       : PAI_STATE_WAITING);
  pai__sim_fill(
    sim, (const pai__sim_wait *)pai__drive_find_wait(&sim->drive, id), &job);
  job.c.d.submitted = pai__drive_submitted(&sim->drive, id);
  job.c.d.started = -1;
  return pai__sim_show(sim, &job, PAI_STATE_WAITING);
}

/* Reports jobs that have not ended, in the order of their ids. */
static int show_left(pai_sim *sim)
{
  size_t n = sim->drive.njobs, k = 0;
  uint64_t *list;
  pai__driven_job *job;
  pai__waiting_job *wait;
  int rc = PAI_OK;

  if (sim->o.on_job == NULL || n == 0)
    return PAI_OK;
  list = pai__zalloc(&sim->alloc, n * sizeof(*list));
  if (list == NULL)
    return pai__oom(sim->err);
  for (uint32_t i = 0; (job = pai__drive_each(&sim->drive, &i)) != NULL;)
    list[k++] = job->id;
  for (uint32_t i = 0; (wait = pai__drive_each_wait(&sim->drive, &i)) != NULL;)
    list[k++] = wait->id;
  qsort(list, k, sizeof(*list), by_id);
  for (size_t i = 0; i < k && rc == PAI_OK; i++)
    rc = show_one_left(sim, list[i]);
  pai__free(&sim->alloc, list, n * sizeof(*list));
  return rc;
}

/* Returns 1: it can go on after `until`; 0: it is over; or a code. */
static int go_on(pai_sim *sim, pai_time until)
{
  pai_time end = sim->o.until != 0 ? sim->o.until : INT64_MAX;
  pai_time last = until < end ? until : end;
  int rc = look_ahead(sim);

  if (rc == PAI_OK)
    rc = pai__drive_run(&sim->drive, last, sim->err);
  if (rc == 1)
    pai__stats_pass(&sim->stats, last);
  if (rc == 1 && until < end)
    return 1;
  if (rc >= 0)
    rc = show_left(sim);
  sim->over = rc == PAI_OK;
  return rc;
}

int pai_sim_step(pai_sim *sim, pai_time until, pai_error **err)
{
  pai_error *first = NULL;
  int rc;

  PAI__CHECK_ARG_ERR(sim != NULL, err);
  if (sim->rc < 0)
    return pai__fail(err, sim->rc, "the simulation has failed before");
  if (sim->over)
    return 0;
  sim->err = &first;
  rc = go_on(sim, until);
  sim->err = NULL;
  sim->rc = rc < 0 ? rc : PAI_OK;
  if (rc < 0 && first == NULL)
    (void)pai__fail(&first, rc, "the simulation failed at %" PRId64 ": %s",
                    sim->drive.now, pai_code_name(rc));
  if (err != NULL)
    *err = first;
  else
    pai_error_free(first);
  return rc;
}

/* --- reports ------------------------------------------------------------- */

static int fill_head(pai_sim_report *r, const pai_sim *sim)
{
  pai_trace_view t = { .struct_size = sizeof(t) };
  const char *trace = "";
  const char *options = sim->options != NULL ? sim->options : "";
  char text[96];

  if (sim->trace != NULL && pai_trace_look(sim->trace, &t) == PAI_OK) {
    r->view.lines_skipped = t.skipped + sim->skipped;
    trace = pai_trace_form_name(t.form);
  }
  r->view.policy =
    pai__arena_strndup(&r->arena, sim->policy, strlen(sim->policy));
  r->options = pai__arena_strndup(&r->arena, options, strlen(options));
  r->view.seed = sim->o.seed;
  r->view.mapped_vcs = sim->mapped_vcs;
  r->view.mapped_types = sim->mapped_types;
  (void)snprintf(text, sizeof(text), "%zu node%s, %" PRIu64 " %s", r->nodes,
                 r->nodes == 1 ? "" : "s", r->gpus != 0 ? r->gpus : r->cpus,
                 r->gpus != 0 ? "GPUs" : "CPUs");
  r->cluster = pai__arena_strndup(&r->arena, text, strlen(text));
  r->trace = pai__arena_strndup(&r->arena, trace, strlen(trace));
  return r->view.policy != NULL && r->options != NULL && r->cluster != NULL &&
             r->trace != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}

int pai_sim_report_of(pai_sim_report **out, const pai_sim *sim,
                      pai_error **err)
{
  pai_sim_report *r;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sim != NULL, err);
  rc = pai__sim_report_make(&r, &sim->alloc);
  if (rc == PAI_OK)
    rc = pai__stats_report(&sim->stats, &sim->drive, r);
  if (rc == PAI_OK)
    rc = fill_head(r, sim);
  if (rc == PAI_OK) {
    *out = r;
    return PAI_OK;
  }
  pai_sim_report_free(r);
  return pai__oom(err);
}

int pai_sim_run(pai_sim_report **out, const pai_cluster *cluster,
                pai_trace *trace, const pai_sim_options *opts, pai_error **err)
{
  pai_sim *sim;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = pai_sim_new(&sim, cluster, trace, opts, err);
  if (rc == PAI_OK)
    rc = pai_sim_step(sim, INT64_MAX, err);
  if (rc == PAI_OK)
    rc = pai_sim_report_of(out, sim, err);
  pai_sim_free(sim);
  return rc;
}
