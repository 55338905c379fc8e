/*
 * failure.h - internal: recognizes known failures in a task's last output
 *
 * Pure: from how a task failed, and its last output, to the cause in its own
 * words and the cure.  It does not affect completion codes (exit.h).
 */
#ifndef PAI_SRC_JOB_END_FAILURE_H
#define PAI_SRC_JOB_END_FAILURE_H

#include "job/end/end.h"

/* Why a task was killed for lack of memory. */
enum pai__failure_memory {
  PAI__MEMORY_ANY = 0, /* the row does not depend on it */
  PAI__MEMORY_LIMIT,   /* it used more than its job asks for */
  PAI__MEMORY_SHORT    /* the machine was out of memory */
};

/* A known failure; all given fields must match. */
typedef struct pai__failure {
  const char *name;
  /* A pattern (pattern.h) for lines of the output; the last match counts.
   * NULL: the other fields suffice. */
  const char *pattern;
  /* "$1" to "$4" stand for the matches of the pattern's groups. */
  const char *reason, *solution;
  int exit; /* exit code of the command; 0: any */
  enum pai__failure_memory memory;
} pai__failure;

/* The built-in failures, in the order in which they are tried: causes before
 * their consequences. */
extern const pai__failure pai__failure_rows[];
extern const size_t pai__failure_count;

/* --- failures of the platform's administrator (failure_file.c) ----------- */

enum { PAI__FAILURES_MOST_BYTES = 256 << 10 };

typedef struct pai__failures pai__failures;

/* Reads the text of a failure file; `path` is for messages.  PAI_EINVAL,
 * PAI_ELIMIT, PAI_ENOMEM. */
int pai__failures_read(pai__failures **out, const char *text, size_t len,
                       const char *path, const pai_alloc *alloc,
                       pai_error **err);
void pai__failures_free(pai__failures *f);
/* Returns the number of rows; 0 for NULL. */
size_t pai__failures_rows(const pai__failures *f, const pai__failure **rows);

/* --- failure.c ----------------------------------------------------------- */

/* Appends the failure as JSON: {"name", "reason", "solution", "line"}; nothing
 * if none is recognized.  `own`, which may be NULL, is tried first.  PAI_OK or
 * PAI_ENOMEM. */
int pai__failure_explain(pai__buf *out, const pai__end_facts *facts,
                         const pai__failures *own);

/* Returns the number of the first group that `text` refers to and the pattern
 * lacks; 0: none. */
int pai__failure_lacks(const char *text, int ngroups);

#endif
