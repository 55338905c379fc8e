/* sim_shared.h - what the facade's files of traces and simulations share */
#ifndef OPENPAI_BINDINGS_SIM_SHARED_H
#define OPENPAI_BINDINGS_SIM_SHARED_H

#include "sched_shared.h"

/* The trace under it, for as long as it is taken: nobody else reads it then.
 * NULL after a failure. */
pai_trace *trace_take(Trace *t, failure *f);
/* What its object has raised becomes the call's failure. */
void trace_give(Trace *t, failure *f);
/* Does it call an object; has that raised since this was asked? */
bool trace_calls(const Trace *t);
bool trace_raised(Trace *t);
/* It lives until it is freed as often. */
void trace_hold(Trace *t);

/* {"line":1,"used":true,"why":""} to the object's line(), unless `*raised`. */
void line_tell(void *object, uint64_t line, int used, const char *why,
               bool *raised);

#endif /* OPENPAI_BINDINGS_SIM_SHARED_H */
