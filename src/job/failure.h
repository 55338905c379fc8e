/*
 * failure.h - internal: known failures, recognized by what a task wrote last
 *
 * Pure: from how a task failed, and the last of its output, to what went wrong
 * in its own words and to the cure.  It decides nothing: completion codes are
 * the exit spec's (exit.h).
 */
#ifndef PAI_SRC_JOB_FAILURE_H
#define PAI_SRC_JOB_FAILURE_H

#include "job/end.h"

/* What a task that ran out of memory of the machine was killed for. */
enum pai__failure_memory {
  PAI__MEMORY_ANY = 0, /* the row is not about that */
  PAI__MEMORY_LIMIT,   /* it used more than its job asks for */
  PAI__MEMORY_SHORT    /* the machine had none left */
};

/* A row: all that is given must hold. */
typedef struct pai__failure {
  const char *name;
  /* pattern.h; found on any line of the output, the last one counts.  NULL: the
   * rest says enough. */
  const char *pattern;
  /* "$1" to "$4" in them are what the pattern's groups found. */
  const char *reason, *solution;
  int exit; /* code of the command; 0: any */
  enum pai__failure_memory memory;
} pai__failure;

/* The built-in ones, in the order in which they are tried: causes before what
 * follows from them. */
extern const pai__failure pai__failure_rows[];
extern const size_t pai__failure_count;

/* --- failure_file.c: a platform's own ones ------------------------------------- */

enum { PAI__FAILURES_MOST_BYTES = 256 << 10 };

typedef struct pai__failures pai__failures;

/* Reads the text of a file; `path` is for messages.  PAI_EINVAL, PAI_ELIMIT,
 * PAI_ENOMEM. */
int pai__failures_read(pai__failures **out, const char *text, size_t len,
                       const char *path, const pai_alloc *alloc,
                       pai_error **err);
void pai__failures_free(pai__failures *f);
/* NULL has none. */
size_t pai__failures_rows(const pai__failures *f, const pai__failure **rows);

/* --- failure.c ------------------------------------------------------------------ */

/* Adds the failure as JSON: {"name", "reason", "solution", "line"}; nothing if
 * it is none that is known.  The own ones, which may be NULL, are tried first.
 * PAI_OK or PAI_ENOMEM. */
int pai__failure_explain(pai__buf *out, const pai__end_facts *facts,
                         const pai__failures *own);

/* The number of the first group that `text` names and the pattern has not; 0:
 * there is none. */
int pai__failure_lacks(const char *text, int ngroups);

#endif
