/*
 * facade_exec.h - commands in tasks that run, for facade.h, which includes this
 *
 * As a Call: nothing calls into the script, which looks after each step.  What it
 * is told is all known when it begins, and what it says is kept until it is over;
 * but of one that is live it is told and taken piece by piece, and what nobody
 * takes makes it wait.
 */
#ifndef OPENPAI_BINDINGS_FACADE_EXEC_H
#define OPENPAI_BINDINGS_FACADE_EXEC_H

#include "facade_client.h"

typedef struct Exec Exec;

/* Begins it.  Fields: job (of a client), role, index, tty, terminal, columns,
 * rows; no names: a shell.  `text` is all of its input, or, of one that becomes
 * live, the first of it. */
Exec *client_exec(Client *c, words fields, words names, const char *text,
                  size_t len, failure *f);
Exec *platform_exec(Platform *p, pai_job_id job, words fields, words names,
                    const char *text, size_t len, failure *f);
void exec_free(Exec *e); /* hangs up */
void exec_cancel(Exec *e);
/* Makes it live, before it has begun. */
void exec_live(Exec *e, failure *f);

/* It runs, or is over. */
bool exec_has_begun(const Exec *e);
bool exec_is_over(const Exec *e);
/* The stream, 1 or 2, of what there is to take; 0: not yet; -1: it is over, and
 * all was taken. */
int exec_state(const Exec *e);
log_bytes exec_take(Exec *e, failure *f);
/* It waits for that. */
bool exec_is_full(const Exec *e);
/* False: nothing was written, so much waits to leave. */
bool exec_write(Exec *e, const char *text, size_t len, failure *f);
/* Some still does. */
bool exec_pending(Exec *e, failure *f);
void exec_end_input(Exec *e, failure *f);
void exec_resize(Exec *e, uint32_t columns, uint32_t rows, failure *f);
void exec_signal(Exec *e, int number, failure *f);
/* How it ended: {"how", "code", "signal", "text"}; fails if there was none. */
listing exec_answer(const Exec *e, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_EXEC_H */
