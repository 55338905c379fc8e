/* sim.i - traces, simulations, forecasts and replays, for openpai.i */

PAI_CALLS_BACK(Trace::load)
PAI_CALLS_BACK(Trace::parse)
PAI_CALLS_BACK(Trace::read)
PAI_CALLS_BACK(Trace::next)
PAI_CALLS_BACK(Trace::lines)
PAI_CALLS_BACK(Simulation::make)
PAI_CALLS_BACK(Simulation::step)
PAI_CALLS_BACK(Simulation::report)
PAI_CALLS_BACK(Forecast::make)
PAI_CALLS_BACK(WhatIf::make)
PAI_CALLS_BACK(Shapes::make)
PAI_CALLS_BACK(Replay::open)
PAI_CALLS_BACK(Replay::parse)
PAI_CALLS_BACK(Replay::range)
PAI_CALLS_BACK(Replay::to)
PAI_CALLS_BACK(Replay::step)
PAI_CALLS_BACK(Replay::decisions)
PAI_CALLS_BACK(Replay::line)
PAI_CALLS_BACK(Replay::skipped)
PAI_CALLS_BACK(Replay::time)
PAI_CALLS_BACK(Replay::show_time)
PAI_CALLS_BACK(Replay::story)

%newobject Trace::load;
%newobject Trace::parse;
%newobject Trace::read;
%newobject Trace::generate;
%newobject Simulation::make;
%newobject Simulation::report;
%newobject SimReport::parse;
%newobject Reports::make;
%newobject History::make;
%newobject History::load;
%newobject Forecast::make;
%newobject WhatIf::make;
%newobject Shapes::make;
%newobject changed_cluster;
%newobject Replay::open;
%newobject Replay::parse;

typedef struct {} Trace;
%extend Trace {
  static Trace *load(const char *path, words fields, log_ref log,
                     failure *f) {
    return facade_trace_load(path, fields, log, f);
  }
  static Trace *parse(const char *text, size_t len, words fields, log_ref log,
                      failure *f) {
    return facade_trace_parse(text, len, fields, log, f);
  }
  static Trace *read(words fields, log_ref log, failure *f) {
    return facade_trace_read(fields, log, f);
  }
  static Trace *generate(words fields, words names, failure *f) {
    return facade_trace_generate(fields, names, f);
  }
  ~Trace() { facade_trace_free($self); }
  listing next(failure *f) { return facade_trace_next($self, f); }
  job_text lines(failure *f) { return facade_trace_lines($self, f); }
  listing look(failure *f) { return facade_trace_look($self, f); }
  listing notes(failure *f) { return facade_trace_notes($self, f); }
}

typedef struct {} SimReport;
%extend SimReport {
  static SimReport *parse(const char *text, size_t len, failure *f) {
    return facade_report_parse(text, len, f);
  }
  ~SimReport() { pai_sim_report_free($self); }
  listing look(failure *f) { return facade_report_look($self, f); }
}

/* Its owner keeps the reports. */
typedef struct {} Reports;
%extend Reports {
  static Reports *make(failure *f) { return facade_reports(f); }
  ~Reports() { facade_reports_free($self); }
  void add(SimReport *report, failure *f) {
    facade_reports_add($self, report, f);
  }
  job_text write(const char *kind, failure *f) {
    return facade_reports_write($self, kind, f);
  }
}

typedef struct {} Simulation;
%extend Simulation {
  static Simulation *make(Cluster *cluster, Trace *trace, words fields,
                          policy_ref policy, log_ref log, failure *f) {
    return facade_sim(cluster, trace, fields, policy, log, f);
  }
  ~Simulation() { facade_sim_free($self); }
  bool step(int64_t until, failure *f) {
    return facade_sim_step($self, until, f);
  }
  Scheduler *view() { return facade_sim_view($self); }
  SimReport *report(failure *f) { return facade_sim_report($self, f); }
}

typedef struct {} History;
%extend History {
  static History *make(failure *f) { return facade_history(f); }
  static History *load(const char *text, size_t len, failure *f) {
    return facade_history_read(text, len, f);
  }
  ~History() { facade_history_free($self); }
  void add(words fields, failure *f) {
    facade_history_add($self, fields, f);
  }
  listing guess(words fields, int64_t ran, failure *f) {
    return facade_history_guess($self, fields, ran, f);
  }
  void learn(Scheduler *scheduler, const char *text, size_t len, failure *f) {
    facade_history_learn($self, scheduler, text, len, f);
  }
  job_text save(failure *f) { return facade_history_write($self, f); }
}

typedef struct {} Forecast;
%extend Forecast {
  static Forecast *make(Scheduler *scheduler, History *history, words fields,
                        failure *f) {
    return facade_forecast(scheduler, history, fields, f);
  }
  ~Forecast() { pai_forecast_free($self); }
  listing when(uint64_t id, failure *f) {
    return facade_forecast_when($self, id, f);
  }
  listing all(failure *f) { return facade_forecast_all($self, f); }
  void met(uint64_t id, int64_t started, History *learning, failure *f) {
    facade_forecast_met($self, id, started, learning, f);
  }
  job_text write(const char *kind, failure *f) {
    return facade_forecast_write($self, kind, f);
  }
}

/* Both futures are its own. */
typedef struct {} WhatIf;
%extend WhatIf {
  static WhatIf *make(Scheduler *scheduler, History *history,
                      const char *text, size_t len, words fields,
                      failure *f) {
    return facade_what_if(scheduler, history, text, len, fields, f);
  }
  ~WhatIf() { pai_what_if_free($self); }
  listing look(failure *f) { return facade_what_if_look($self, f); }
  Forecast *before() { return (Forecast *)pai_what_if_before($self); }
  Forecast *after() { return (Forecast *)pai_what_if_after($self); }
  job_text write(const char *kind, failure *f) {
    return facade_what_if_write($self, kind, f);
  }
}

typedef struct {} Shapes;
%extend Shapes {
  static Shapes *make(Scheduler *scheduler, History *history, uint64_t id,
                      words names, words fields, failure *f) {
    return facade_shapes(scheduler, history, id, names, fields, f);
  }
  ~Shapes() { pai_shapes_free($self); }
  listing all(failure *f) { return facade_shapes_all($self, f); }
  job_text write(const char *kind, failure *f) {
    return facade_shapes_write($self, kind, f);
  }
}

typedef struct {} Replay;
%extend Replay {
  static Replay *open(const char *path, words fields, policy_ref policy,
                      failure *f) {
    return facade_replay_open(path, fields, policy, f);
  }
  static Replay *parse(const char *text, size_t len, words fields,
                       policy_ref policy, failure *f) {
    return facade_replay_parse(text, len, fields, policy, f);
  }
  ~Replay() { facade_replay_free($self); }
  listing range(failure *f) { return facade_replay_range($self, f); }
  void to(int64_t time, failure *f) { facade_replay_to($self, time, f); }
  bool step(int64_t until, failure *f) {
    return facade_replay_step($self, until, f);
  }
  Scheduler *view() { return facade_replay_view($self); }
  listing decisions(failure *f) { return facade_replay_decisions($self, f); }
  uint64_t line(failure *f) { return facade_replay_line($self, f); }
  uint64_t skipped(failure *f) { return facade_replay_skipped($self, f); }
  int64_t time(const char *kind, failure *f) {
    return facade_replay_time($self, kind, f);
  }
  job_text show_time(int64_t time, failure *f) {
    return facade_replay_show_time($self, time, f);
  }
  job_text story(uint64_t id, words fields, const char *kind, failure *f) {
    return facade_replay_story($self, id, fields, kind, f);
  }
}

%inline %{
static Cluster *changed_cluster(Scheduler *scheduler, Cluster *from,
                                const char *nodes, words names, failure *f)
{
  return facade_what_if_cluster(scheduler, from, nodes, names, f);
}
%}
