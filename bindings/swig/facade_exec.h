/*
 * facade_exec.h - commands in tasks that run, for facade.h, which includes this
 *
 * As a Call: nothing calls into the script, which looks after each step whether
 * the command has ended.  What it said is kept until then.
 */
#ifndef OPENPAI_BINDINGS_FACADE_EXEC_H
#define OPENPAI_BINDINGS_FACADE_EXEC_H

#include "facade_client.h"

typedef struct Exec Exec;

/* Begins it.  Fields: job (of a client), role, index, tty, terminal, columns,
 * rows; no names: a shell.  `text` is all of its input. */
Exec *client_exec(Client *c, words fields, words names, const char *text,
                  size_t len, failure *f);
Exec *platform_exec(Platform *p, pai_job_id job, words fields, words names,
                    const char *text, size_t len, failure *f);
void exec_free(Exec *e); /* hangs up */
void exec_cancel(Exec *e);
/* 0: not yet; -1: it is over. */
int exec_state(const Exec *e);
/* What it said: of stream 1 or 2. */
log_bytes exec_take(Exec *e, uint32_t stream);
/* How it ended: {"how", "code", "signal", "text"}; fails if there was none. */
listing exec_answer(const Exec *e, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_EXEC_H */
