/* simulation.c - simulations and their reports */
#include "facade_fields.h"
#include "options.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>
#include <time.h>

struct Simulation {
  pai_sim *sim;
  Trace *trace;
  Scheduler *view; /* its lock is also the lock of the simulation */
  void *object;    /* gets log lines, events and jobs, or NULL */
  bool raised;     /* a method raised an error: it is called no more */
  int64_t at, slice;
};

/* Options of the library, and which methods of the object to call. */
typedef struct given {
  pai_sim_options o;
  int tell_log, tell_events, tell_jobs, tell_lines;
} given;

#define OF_SIM(member)                                                     \
  {                                                                        \
#member, offsetof(given, o.member), OPTION_KIND(given, o.member), NULL \
  }

static const option options[] = { OF_SIM(policy_options),
                                  OF_SIM(seed),
                                  OF_SIM(strict),
                                  OF_SIM(estimates),
                                  OF_SIM(until),
                                  OF_SIM(start_cost),
                                  OF_SIM(restart_cost),
                                  OF_SIM(stop_cost),
                                  OF_SIM(checkpoint),
                                  OF_SIM(node_up),
                                  OF_SIM(node_down),
                                  OF_SIM(fail),
                                  OF_SIM(patience),
                                  OF_SIM(stretch),
                                  OF_SIM(spread),
                                  OF_SIM(bars),
                                  OPTION(given, tell_log),
                                  OPTION(given, tell_events),
                                  OPTION(given, tell_jobs),
                                  OPTION(given, tell_lines),
                                  OPTION_END };

/* --- callbacks ----------------------------------------------------------- */

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
  json_fields(j, fields_SimJob, job);
  json_text(j, "state", job_state_name(job->state));
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

Simulation *facade_sim_make(Cluster *cluster, Trace *trace, words list,
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
  if (f->code == PAI_OK && options_read(&g, options, &list, f))
    begin(s, cluster, &g, f);
  if (f->code == PAI_OK)
    return s;
  facade_sim_free(s);
  return NULL;
}

/* --- stepping ------------------------------------------------------------ */

static int64_t clock_ms(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Runs a slice of virtual time that takes about 0.1 seconds of real time. */
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

/* Runs in slices, between which signals and errors of callbacks are noticed.
 * The results do not depend on where slices end. */
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
  json_fields(j, fields_SimCounts, v);
}

listing facade_report_look(const SimReport *r, failure *f)
{
  pai_sim_view v = { .struct_size = sizeof(v) };
  json j;

  (void)pai_sim_look(r, &v);
  json_start(&j);
  json_begin(&j, NULL, '{');
  put_counts(&j, &v);
  json_fields(&j, fields_SimSums, &v);
  json_end(&j, '}');
  return json_finish(&j, f);
}

Reports *facade_reports_make(failure *f)
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

void facade_reports_add(Reports *all, SimReport *r, failure *f)
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
