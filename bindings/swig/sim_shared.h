/* sim_shared.h - traces of scripts, for the facade's own files of traces and
 * simulations */
#ifndef OPENPAI_BINDINGS_SIM_SHARED_H
#define OPENPAI_BINDINGS_SIM_SHARED_H

#include "sched_shared.h"

/* Locks a trace, and returns the library's trace. NULL after a failure: it is
 * being read. */
pai_trace *trace_take(Trace *t, failure *f);
/* Unlocks a trace. An error that its object raised becomes the failure of the
 * call. */
void trace_give(Trace *t, failure *f);
/* trace_calls(): the trace has an object. trace_raised(): an error was raised
 * since the last call. */
bool trace_calls(const Trace *t);
bool trace_raised(Trace *t);
/* Adds a reference, which facade_trace_free() drops. */
void trace_hold(Trace *t);

/* Calls line() of the object with {"line":1,"used":true,"why":""}, unless
 * `*raised`. */
void line_tell(void *object, uint64_t line, int used, const char *why,
               bool *raised);

struct Reports {
  const pai_sim_report **list; /* the language keeps the reports alive */
  size_t n;
};

struct Replay {
  pai_replay *replay;
  Scheduler *view; /* its lock is also the lock of the replay */
  job_text text;   /* log text of Replay.parse() */
  bool raised;     /* a signal handler raised an error, as for Ctrl-C */
};

/* Locks a replay. Returns false after a failure. Ends with replay_end(). */
bool replay_begin(Replay *r, failure *f);
void replay_end(Replay *r, failure *f);

#endif /* OPENPAI_BINDINGS_SIM_SHARED_H */
