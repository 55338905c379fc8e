/*
 * end.h - internal: what the end of a task comes to
 *
 * Pure: from how a task ended and from what it wrote last to its completion
 * code and to what the API tells of it (job-spec 4.3 and 5.6).  The patterns
 * of the exit spec decide, in its order.
 */
#ifndef PAI_SRC_JOB_END_H
#define PAI_SRC_JOB_END_H

#include "base/exit_code.h"
#include "json/writer.h"

#include <openpai/backend.h>

/* A completion code that no pattern gives, beside PAI__CODE_UNRECOGNIZED. */
enum { PAI__CODE_ABNORMAL = 256 }; /* nobody knows how it ended */

/* How a task is over. */
enum pai__end_how {
  PAI__END_EXITED = 1, /* its command exited, or was ended by a signal */
  PAI__END_OOM,        /* it was ended since it had too much memory */
  PAI__END_FAILED,     /* it could not be started */
  PAI__END_LOST,       /* its supervisor ended before it could say how */
  PAI__END_NODE_LOST,  /* its machine was restarted */
  PAI__END_PLATFORM,   /* the platform ended it: `why` is Kubernetes' reason */
  PAI__END_NEVER       /* it was to be started, and never was */
};

typedef struct pai__log_tail {
  const char *text; /* NULL: nothing is known of it */
  size_t len;
} pai__log_tail;

typedef struct pai__end_facts {
  enum pai__end_how how;
  int code;          /* as a shell gives it */
  bool ecc;          /* the machine's GPUs have errors that cannot be
                                  corrected */
  bool memory_short; /* it was killed while its machine had no memory left */
  pai__log_tail user, runtime; /* the last of what it wrote, and of what was
                                  said about running it */
  const char *why;             /* of what did not exit; or NULL */
} pai__end_facts;

/* The facts of what a back end tells, which they borrow. */
pai__end_facts pai__end_told(const pai_task_end *end);

/* Its completion code, and its diagnostics in FrameworkController's words are
 * added to `out`: a line, or nothing of a success.  PAI_OK or PAI_ENOMEM. */
int pai__end_judge(int *code, pai__buf *out, const pai__end_facts *facts);

/* The code that the command itself exited with; 0: it did not, or with 0. */
int pai__end_user_code(const pai__end_facts *facts);

/* --- diagnostics, as the API shows them (rest-api 4.4) ------------------------- */

/* The text of appExitDiagnostics is added to `out`: what is JSON in them is
 * YAML there.  PAI_OK or PAI_ENOMEM. */
int pai__end_summary(pai__buf *out, const char *diagnostics);
/* The object of appExitMessages, or null without diagnostics.  PAI_OK or
 * PAI_ENOMEM. */
int pai__end_messages(pai__json_writer *w, const char *diagnostics);

/* --- end_excerpt.c: what the runtime says of a failure -------------------------- */

#define PAI__ERROR_START "[PAI_RUNTIME_ERROR_START]"
#define PAI__ERROR_END "[PAI_RUNTIME_ERROR_END]"

/* Where a pattern was found in a log. */
typedef struct pai__log_match {
  bool found;
  size_t start, end;
} pai__log_match;

typedef struct pai__error_facts {
  int code, user_code;
  bool ecc; /* it was decisive */
  pai__log_tail user, platform;
  pai__log_match in_user, in_platform;
} pai__error_facts;

/* Adds a YAML document between the two tags, which is never longer than 4 KiB.
 * PAI_OK or PAI_ENOMEM. */
int pai__end_excerpt(pai__buf *out, const pai__error_facts *facts);

#endif
