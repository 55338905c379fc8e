/* scribe.h - logs and snapshots as texts, for tests */
#ifndef PAI_TESTS_SCRIBE_H
#define PAI_TESTS_SCRIBE_H

#include "scene.h"

#include "base/buf.h"

/* A pai_write_cb that adds to a pai__buf. */
int scribe_write(void *buf, const char *bytes, size_t len);

/* All of a scheduler; to be disposed of. */
void scribe_save(const pai_sched *s, pai__buf *out);
/* The same as in the middle of a log. */
void scribe_save_lean(const pai_sched *s, pai__buf *out);
/* The decisions there are, a line each, behind what is there. */
void scribe_decisions(const pai_sched *s, pai__buf *out);

/* Reads a log: a snapshot and lines.  The decisions are added to `decisions`;
 * NULL with the number of the line that failed in *line, and its error. */
pai_sched *scribe_replay(const char *log, const pai_policy *table,
                         pai__buf *decisions, size_t *line, pai_error **err);

/* Two texts are equal, or the test fails with where they part. */
void scribe_same(const pai__buf *a, const pai__buf *b);

/* A copy of a text with " for '; freed with free(). */
char *scribe_quotes(const char *text);

#endif
