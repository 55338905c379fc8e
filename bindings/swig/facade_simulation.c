/* facade_simulation.c - simulations, and their reports */
#include "options.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>
#include <time.h>

struct Simulation {
  pai_sim *sim;
  Trace *trace;
  Scheduler *view; /* and our lock */
  void *object;    /* who is told, or NULL */
  bool raised;     /* it is told no more */
  int64_t at, slice;
};

/* What is told besides the library's options. */
typedef struct given {
  pai_sim_options o;
  int tell_log, tell_events, tell_jobs, tell_lines;
} given;

#define OF_SIM(member, kind)                         \
  {                                                  \
#member, offsetof(given, o.member), (kind), NULL \
  }

static const option options[] = {
  OF_SIM(policy_options, OPTION_TEXT),  OF_SIM(seed, OPTION_U64),
  OF_SIM(strict, OPTION_INT),           OF_SIM(estimates, OPTION_INT),
  OF_SIM(until, OPTION_TIME),           OF_SIM(start_cost, OPTION_TIME),
  OF_SIM(restart_cost, OPTION_TIME),    OF_SIM(stop_cost, OPTION_TIME),
  OF_SIM(checkpoint, OPTION_TIME),      OF_SIM(node_up, OPTION_TIME),
  OF_SIM(node_down, OPTION_TIME),       OF_SIM(fail, OPTION_U32),
  OF_SIM(patience, OPTION_TIME),        OF_SIM(stretch, OPTION_U32),
  OF_SIM(spread, OPTION_U32),           OF_SIM(bars, OPTION_U32),
  OPTION(given, tell_log, OPTION_INT),  OPTION(given, tell_events, OPTION_INT),
  OPTION(given, tell_jobs, OPTION_INT), OPTION(given, tell_lines, OPTION_INT),
};

/* --- being called ---------------------------------------------------------- */

static int tell(Simulation *s, const char *method, const char *text,
                size_t len)
{
  if (s->raised)
    return PAI_EUSER;
  s->raised = script_ask(s->object, method, NULL, text, len, NULL) < 0;
  return s->raised ? PAI_EUSER : PAI_OK;
}

static int on_log(void *user_data, const char *bytes, size_t len)
{
  return tell(user_data, "log", bytes, len);
}

static int on_event(void *user_data, const char *bytes, size_t len)
{
  return tell(user_data, "event", bytes, len);
}

static void on_line(void *user_data, uint64_t line, int used, const char *why)
{
  Simulation *s = user_data;

  line_tell(s->object, line, used, why, &s->raised);
}

static const char *job_state_name(int state)
{
  return state == 0 ? "rejected" : facade_state_name(state);
}

static void put_job(json *j, const pai_sim_job *job)
{
  json_begin(j, NULL, '{');
  json_id(j, "id", job->id);
  json_id(j, "line", job->line);
  json_text(j, "name", job->name);
  json_text(j, "user", job->user);
  json_text(j, "vc", job->vc);
  json_number(j, "submitted", job->submitted);
  json_known(j, "started", job->started);
  json_known(j, "ended", job->ended);
  json_text(j, "state", job_state_name(job->state));
  json_number(j, "code", job->code);
  json_number(j, "tasks", job->tasks);
  json_number(j, "gpus", job->gpus);
  json_number(j, "attempts", job->attempts);
  json_number(j, "preemptions", job->preemptions);
  json_number(j, "lost", job->lost);
  json_end(j, '}');
}

static void on_job(void *user_data, const pai_sim_job *job)
{
  Simulation *s = user_data;
  failure f = { 0 };
  listing made;
  json j;

  if (s->raised)
    return;
  json_start(&j);
  put_job(&j, job);
  made = json_finish(&j, &f);
  if (f.code == PAI_OK)
    (void)tell(s, "job", made.json.bytes, made.json.len);
  free(made.json.bytes);
}

/* --- life ------------------------------------------------------------------ */

void facade_sim_free(Simulation *s)
{
  pai_sim_free(s->sim);
  if (s->trace != NULL)
    facade_trace_free(s->trace);
  if (s->view != NULL)
    facade_sched_free(s->view);
  script_drop(s->object);
  free(s);
}

static void call_back(Simulation *s, given *g)
{
  g->o.log = g->tell_log ? on_log : NULL;
  g->o.events = g->tell_events ? on_event : NULL;
  g->o.on_job = g->tell_jobs ? on_job : NULL;
  g->o.on_line = g->tell_lines ? on_line : NULL;
  g->o.user_data = s;
}

static bool calls(const Simulation *s)
{
  return s->object != NULL || s->view->nscripts > 0 || trace_calls(s->trace);
}

static void begin(Simulation *s, const Cluster *cluster, given *g, failure *f)
{
  pai_trace *trace;

  if (!view_begin(s->view, f))
    return;
  trace = trace_take(s->trace, f);
  call_back(s, g);
  if (trace != NULL) {
    f->code = pai_sim_new(&s->sim, cluster, trace, &g->o, &f->err);
    trace_give(s->trace, f);
  }
  view_end(s->view, pai_sim_sched(s->sim), calls(s), f);
}

Simulation *facade_sim(const Cluster *cluster, Trace *trace, words list,
                       policy_ref policy, log_ref told, failure *f)
{
  Simulation *s = calloc(1, sizeof(*s));
  Scheduler *view = view_make(f);
  given g = { .o = PAI_SIM_OPTIONS_INIT };

  g.o.policy = policy.object == NULL ? policy.name : NULL;
  g.o.table = sched_keep(view, policy, f);
  if (s == NULL || view == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    script_drop(told.object);
    if (view != NULL)
      facade_sched_free(view);
    free(s);
    return NULL;
  }
  trace_hold(trace);
  *s = (Simulation){ .trace = trace,
                     .view = view,
                     .object = told.object,
                     .slice = INT64_C(3600000000) };
  if (f->code == PAI_OK &&
      options_read(&g, options, sizeof(options) / sizeof(*options), &list, f))
    begin(s, cluster, &g, f);
  if (f->code == PAI_OK)
    return s;
  facade_sim_free(s);
  return NULL;
}

/* --- going on -------------------------------------------------------------- */

static int64_t clock_ms(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* So much of the virtual time as takes a tenth of a second, more or less. */
static int step(Simulation *s, int64_t until, pai_error **err)
{
  int64_t began = clock_ms(), took;
  int rc;

  if (until > s->at)
    s->at = s->slice < until - s->at ? s->at + s->slice : until;
  rc = pai_sim_step(s->sim, s->at, err);
  took = clock_ms() - began;
  if (took < 50 && s->slice < INT64_MAX / 4)
    s->slice *= 2;
  else if (took > 200 && s->slice > 1000000)
    s->slice /= 2;
  return rc;
}

/* In slices, between which signals are seen, and what callbacks have raised:
 * where they end does not matter. */
static bool go_on(Simulation *s, int64_t until, failure *f)
{
  int rc;

  do {
    rc = step(s, until, &f->err);
    if (rc >= 0 && (s->raised || trace_raised(s->trace) || script_signals()))
      rc = PAI_EUSER;
  } while (rc > 0 && s->at < until);
  s->raised = false;
  f->code = rc < 0 ? rc : PAI_OK;
  return rc > 0;
}

bool facade_sim_step(Simulation *s, int64_t until, failure *f)
{
  bool more = false;

  if (!view_begin(s->view, f))
    return false;
  if (trace_take(s->trace, f) != NULL) {
    more = go_on(s, until, f);
    trace_give(s->trace, f);
  }
  view_end(s->view, pai_sim_sched(s->sim), true, f);
  return more;
}

Scheduler *facade_sim_view(Simulation *s)
{
  return s->view;
}

/* --- reports --------------------------------------------------------------- */

SimReport *facade_sim_report(Simulation *s, failure *f)
{
  SimReport *report = NULL;

  if (!view_begin(s->view, f))
    return NULL;
  f->code = pai_sim_report_of(&report, s->sim, &f->err);
  view_end(s->view, pai_sim_sched(s->sim), false, f);
  return report;
}

static void put_counts(json *j, const pai_sim_view *v)
{
  json_text(j, "policy", v->policy);
  json_id(j, "seed", v->seed);
  json_id(j, "lines_skipped", v->lines_skipped);
  json_id(j, "jobs", v->jobs);
  json_id(j, "rejected", v->rejected);
  json_id(j, "started", v->started);
  json_id(j, "finished", v->finished);
  json_id(j, "failed", v->failed);
  json_id(j, "killed", v->killed);
  json_id(j, "left", v->left);
  json_id(j, "mapped_vcs", v->mapped_vcs);
  json_id(j, "mapped_types", v->mapped_types);
  json_id(j, "preemptions", v->preemptions);
  json_id(j, "retries", v->retries);
}

listing facade_report_look(const SimReport *r, failure *f)
{
  pai_sim_view v = { .struct_size = sizeof(v) };
  json j;

  (void)pai_sim_look(r, &v);
  json_start(&j);
  json_begin(&j, NULL, '{');
  put_counts(&j, &v);
  json_number(&j, "begin", v.begin);
  json_number(&j, "makespan", v.makespan);
  json_number(&j, "wait_mean", v.wait_mean);
  json_number(&j, "wait_p50", v.wait_p50);
  json_number(&j, "wait_p90", v.wait_p90);
  json_number(&j, "wait_p99", v.wait_p99);
  json_number(&j, "wait_max", v.wait_max);
  json_part(&j, "slowdown_mean", v.slowdown_mean, 1000);
  json_part(&j, "slowdown_p50", v.slowdown_p50, 1000);
  json_part(&j, "slowdown_p90", v.slowdown_p90, 1000);
  json_part(&j, "utilization", v.utilization, 1000000);
  json_part(&j, "fragmentation", v.fragmentation, 1000000);
  json_part(&j, "fairness", v.fairness, 1000000);
  json_number(&j, "lost", v.lost);
  json_end(&j, '}');
  return json_finish(&j, f);
}

SimReport *facade_report_parse(const char *text, size_t len, failure *f)
{
  SimReport *report = NULL;

  f->code = pai_sim_read(&report, text, len, NULL, &f->err);
  return report;
}

struct Reports {
  const pai_sim_report **list; /* the language keeps them */
  size_t n;
};

Reports *facade_reports(failure *f)
{
  Reports *all = calloc(1, sizeof(*all));

  if (all == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  return all;
}

void facade_reports_free(Reports *all)
{
  free(all->list);
  free(all);
}

void facade_reports_add(Reports *all, const SimReport *r, failure *f)
{
  const pai_sim_report **more =
    realloc(all->list, (all->n + 1) * sizeof(*more));

  if (more == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return;
  }
  all->list = more;
  more[all->n++] = r;
}

job_text facade_reports_write(const Reports *all, const char *format,
                              failure *f)
{
  int as = options_format(format, f);
  job_text t = { NULL, 0 };

  if (as >= 0)
    f->code =
      pai_sim_write(all->list, all->n, as, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}
