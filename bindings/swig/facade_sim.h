/*
 * facade_sim.h - traces, simulations, forecasts and replays, for facade.h,
 * which includes this
 *
 * Times are microseconds.  Options are words in pairs: a name, as in the
 * headers, and its value; whole numbers are decimal digits.
 */
#ifndef OPENPAI_BINDINGS_FACADE_SIM_H
#define OPENPAI_BINDINGS_FACADE_SIM_H

#include "facade.h"

typedef struct Trace Trace;
typedef struct Simulation Simulation;
typedef pai_sim_report SimReport;
typedef struct Reports Reports; /* several, side by side */
typedef struct History History;
typedef pai_forecast Forecast;
typedef pai_what_if WhatIf;
typedef pai_shapes Shapes;
typedef struct Replay Replay;

/* What each language defines: true if a signal's handler has raised. */
bool script_signals(void);

/* --- traces (facade_trace.c) ----------------------------------------------- */

/*
 * The object, which is taken, may be NULL.  With the option "tell" it has
 * line(), which gets an object of line, used and why; one of
 * facade_trace_read() has read(), which gives the next bytes, or "".
 */
Trace *facade_trace_load(const char *path, words options, log_ref told,
                         failure *f);
Trace *facade_trace_parse(const char *text, size_t len, words options,
                          log_ref told, failure *f);
Trace *facade_trace_read(words options, log_ref told, failure *f);
Trace *facade_trace_generate(words options, words vc_names, failure *f);
void facade_trace_free(Trace *t);

/* The next record, or null. */
listing facade_trace_next(Trace *t, failure *f);
/* The next ones as lines of our own form; "" at the end. */
job_text facade_trace_lines(Trace *t, failure *f);
listing facade_trace_look(Trace *t, failure *f);
/* The first lines that cannot be used as they are. */
listing facade_trace_notes(Trace *t, failure *f);

/* --- simulations (facade_simulation.c) ------------------------------------- */

/* Takes the policy and the object, which has, with the options "tell_log",
 * "tell_events", "tell_jobs" and "tell_lines", methods log(), event(), job()
 * and line(). */
Simulation *facade_sim(const Cluster *cluster, Trace *trace, words options,
                       policy_ref policy, log_ref told, failure *f);
void facade_sim_free(Simulation *s);
bool facade_sim_step(Simulation *s, int64_t until, failure *f);
/* To look at; the simulation's, and empty while that goes on. */
Scheduler *facade_sim_view(Simulation *s);
SimReport *facade_sim_report(Simulation *s, failure *f);

listing facade_report_look(const SimReport *r, failure *f);
SimReport *facade_report_parse(const char *text, size_t len, failure *f);
Reports *facade_reports(failure *f);
void facade_reports_add(Reports *all, const SimReport *r, failure *f);
job_text facade_reports_write(const Reports *all, const char *format,
                              failure *f);
void facade_reports_free(Reports *all);

/* --- forecasts (facade_forecast.c) ----------------------------------------- */

History *facade_history(failure *f);
History *facade_history_read(const char *text, size_t len, failure *f);
void facade_history_free(History *h);
void facade_history_add(History *h, words past, failure *f);
listing facade_history_guess(History *h, words past, int64_t ran, failure *f);
void facade_history_learn(History *h, Scheduler *s, const char *text,
                          size_t len, failure *f);
job_text facade_history_write(History *h, failure *f);

/* The history may be NULL. */
Forecast *facade_forecast(Scheduler *s, History *h, words options, failure *f);
listing facade_forecast_when(const Forecast *fc, uint64_t id, failure *f);
listing facade_forecast_all(const Forecast *fc, failure *f);
void facade_forecast_met(const Forecast *fc, uint64_t id, int64_t started,
                         History *h, failure *f);
job_text facade_forecast_write(const Forecast *fc, const char *format,
                               failure *f);

/* Of events as lines of JSON. */
WhatIf *facade_what_if(Scheduler *s, History *h, const char *text, size_t len,
                       words options, failure *f);
listing facade_what_if_look(const WhatIf *w, failure *f);
job_text facade_what_if_write(const WhatIf *w, const char *format, failure *f);
/* `from` may be NULL, and so may nodes.  Names of virtual clusters, each followed
 * by its share. */
Cluster *facade_what_if_cluster(Scheduler *s, const Cluster *from,
                                const char *nodes, words shares, failure *f);

Shapes *facade_shapes(Scheduler *s, History *h, uint64_t id, words vcs,
                      words options, failure *f);
listing facade_shapes_all(const Shapes *shapes, failure *f);
job_text facade_shapes_write(const Shapes *shapes, const char *format,
                             failure *f);

/* --- replays (facade_replay.c) --------------------------------------------- */

/* These take the policy: the name of a built-in one, which decides instead,
 * or the object that the log names. */
Replay *facade_replay_open(const char *path, words options, policy_ref policy,
                           failure *f);
Replay *facade_replay_parse(const char *text, size_t len, words options,
                            policy_ref policy, failure *f);
void facade_replay_free(Replay *r);
listing facade_replay_range(Replay *r, failure *f); /* [begin, end] */
void facade_replay_to(Replay *r, int64_t time, failure *f);
bool facade_replay_step(Replay *r, int64_t until, failure *f);
Scheduler *facade_replay_view(Replay *r); /* as facade_sim_view() */
listing facade_replay_decisions(Replay *r, failure *f);
uint64_t facade_replay_line(Replay *r, failure *f);
uint64_t facade_replay_skipped(Replay *r, failure *f);
int64_t facade_replay_time(Replay *r, const char *text, failure *f);
job_text facade_replay_show_time(Replay *r, int64_t time, failure *f);
job_text facade_replay_story(Replay *r, uint64_t id, words options,
                             const char *format, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_SIM_H */
