/*
 * end.h - internal: turns the end of a task into a completion code and
 * diagnostics
 *
 * Pure: from how a task ended and its last output to its completion code and
 * the API's texts (job-spec 4.3 and 5.6).  The patterns of the exit spec
 * decide, in its order.
 */
#ifndef PAI_SRC_JOB_END_END_H
#define PAI_SRC_JOB_END_END_H

#include "base/exit_code.h"
#include "json/writer.h"

#include <openpai/backend.h>

/* A completion code without pattern, like PAI__CODE_UNRECOGNIZED. */
enum { PAI__CODE_ABNORMAL = 256 }; /* not known how it ended */

/* How a task ended. */
enum pai__end_how {
  PAI__END_EXITED = 1, /* its command exited or was ended by a signal */
  PAI__END_OOM,        /* killed because it used too much memory */
  PAI__END_FAILED,     /* it could not be started */
  PAI__END_LOST,       /* its supervisor ended before it could say how */
  PAI__END_NODE_LOST,  /* its machine was restarted */
  PAI__END_PLATFORM,   /* the platform ended it: `why` is Kubernetes' reason */
  PAI__END_NEVER       /* it was never started */
};

typedef struct pai__log_tail {
  const char *text; /* NULL: not known */
  size_t len;
} pai__log_tail;

typedef struct pai__end_facts {
  enum pai__end_how how;
  int code;          /* as in a shell's $? */
  bool ecc;          /* the machine's GPUs have uncorrectable ECC errors */
  bool memory_short; /* it was killed while the machine was out of memory */
  pai__log_tail user, runtime; /* the end of its output, and of the runtime's
                                  log */
  const char *why;             /* cause, if it did not exit; or NULL */
} pai__end_facts;

/* Returns the facts of a back end's report, which they borrow. */
pai__end_facts pai__end_told(const pai_task_end *end);

/* Sets the completion code and appends diagnostics in FrameworkController's
 * format: one line, or nothing for a success.  PAI_OK or PAI_ENOMEM. */
int pai__end_judge(int *code, pai__buf *out, const pai__end_facts *facts);

/* Returns the exit code of the command itself; 0 if it did not exit, or with
 * 0. */
int pai__end_user_code(const pai__end_facts *facts);

/* --- diagnostics, as the API shows them (rest-api 4.4) ------------------- */

/* Appends the text of appExitDiagnostics, in which JSON parts become YAML.
 * PAI_OK or PAI_ENOMEM. */
int pai__end_summary(pai__buf *out, const char *diagnostics);
/* Writes the object of appExitMessages, or null without diagnostics.  PAI_OK
 * or PAI_ENOMEM. */
int pai__end_messages(pai__json_writer *w, const char *diagnostics);

/* --- the runtime's report of a failure (end_excerpt.c) ------------------- */

#define PAI__ERROR_START "[PAI_RUNTIME_ERROR_START]"
#define PAI__ERROR_END "[PAI_RUNTIME_ERROR_END]"

/* Where a pattern matched in a log. */
typedef struct pai__log_match {
  bool found;
  size_t start, end;
} pai__log_match;

typedef struct pai__error_facts {
  int code, user_code;
  bool ecc; /* ECC errors were the deciding fact */
  pai__log_tail user, platform;
  pai__log_match in_user, in_platform;
} pai__error_facts;

/* Appends a YAML document between the two tags, of at most 4 KiB.  PAI_OK or
 * PAI_ENOMEM. */
int pai__end_excerpt(pai__buf *out, const pai__error_facts *facts);

#endif
