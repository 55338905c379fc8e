/*
 * facade_life.h - the life of a job, and the exit spec, for facade.h, which
 * includes this
 *
 * Times are microseconds; kinds of events and actions are words.
 */
#ifndef OPENPAI_BINDINGS_FACADE_LIFE_H
#define OPENPAI_BINDINGS_FACADE_LIFE_H

#include "facade.h"

typedef struct Life Life;

Life *facade_life(const Job *job, uint64_t seed, bool gang, bool raw,
                  bool own_signals, failure *f);
Life *facade_life_load(const char *text, size_t len, failure *f);
void facade_life_free(Life *l);
/* Bytes in hexadecimal digits. */
job_text facade_life_save(Life *l, failure *f);

void facade_life_send(Life *l, const char *kind, uint32_t task, uint32_t count,
                      int code, int64_t time, failure *f);
void facade_life_rescale(Life *l, uint32_t role, uint32_t tasks, int64_t time,
                         failure *f);
/* An object, or null if there is nothing to do. */
listing facade_life_next(Life *l, uint32_t most, failure *f);
/* The job with its roles and tasks. */
listing facade_life_look(Life *l, failure *f);

/* An entry as OpenPAI's API has it. */
listing facade_exit(int code, failure *f);
/* Codes of all entries. */
listing facade_exits(failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_LIFE_H */
