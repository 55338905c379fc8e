/* busy.h - logs that somebody might have written, for tests of replays */
#ifndef PAI_TESTS_BUSY_H
#define PAI_TESTS_BUSY_H

#include "sched/scribe.h"

#include <openpai/replay.h>

/* What the calls below return lives until busy_free(), which ends a group of
 * tests. */
int busy_free(void **state);

/* An empty text. */
pai__buf *busy_text(void);
/* A log of `jobs` that come and go on four nodes, one second apart, from
 * `begin` on; snapshots in its middle `every` so many bytes, or none for 0. */
pai__buf *busy_log(const char *policy, int jobs, pai_time begin,
                   uint64_t every);
/* All of a scheduler. */
pai__buf *busy_save(const pai_sched *s);

/* A replay of a text. */
pai_replay *busy_open(const pai__buf *log, const pai_replay_options *opts);
ptrdiff_t busy_read(void *log, uint64_t offset, char *buffer, size_t size);

/* Where line `n` of a text begins, from 1. */
const char *busy_line(const pai__buf *log, int n);
int busy_count(const pai__buf *log, const char *part);

/* All of a log is read, decisions too; the state in the end. */
pai__buf *busy_read_all(const pai__buf *log, const pai_replay_options *o,
                        pai__buf *decisions);

#endif
