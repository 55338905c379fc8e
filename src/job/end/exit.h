/* exit.h - internal: meaning of completion codes (job-spec 5.6 and 5.7) */
#ifndef PAI_SRC_JOB_END_EXIT_H
#define PAI_SRC_JOB_END_EXIT_H

#include "json/writer.h"

/* Whether another attempt may succeed. */
enum pai__exit_class {
  PAI__EXIT_UNKNOWN = 0,
  PAI__EXIT_TRANSIENT, /* may succeed the next time */
  PAI__EXIT_CONFLICT,  /* may succeed once other jobs have freed resources */
  PAI__EXIT_PERMANENT  /* will fail again */
};

/*
 * A condition that recognizes an end; all given fields must match.  Codes
 * below 0 match what Kubernetes reports of a pod and one of its containers,
 * other codes match what was seen where the command ran.
 */
typedef struct pai__exit_pattern {
  const char *pod;                     /* pod's reason */
  const char *name, *reason, *message; /* of the container */
  const char *user, *platform;         /* patterns for logs */
  int exit;                            /* exit code; 0: any */
  bool ecc; /* the machine's GPUs have uncorrectable ECC errors */
} pai__exit_pattern;

#define PAI__NO_PATTERN \
  {                     \
    .exit = -1          \
  }

/* A row of OpenPAI's exit spec.  Texts are spelt as there, except those for
 * people. */
typedef struct pai__exit {
  int code;
  enum pai__exit_class class;
  const char *phrase;
  const char *issuer, *causer, *type, *stage;
  const char *why, *what_to_do;      /* what_to_do may be NULL */
  const pai__exit_pattern *patterns; /* ended by PAI__NO_PATTERN; or NULL */
} pai__exit;

/* All rows, in the order in which their patterns are tried. */
extern const pai__exit pai__exit_rows[];
extern const size_t pai__exit_count;
/* Rows that replace those of the same codes: pai__exit_find_own(). */
extern const pai__exit pai__exit_own_rows[];
extern const size_t pai__exit_own_count;

/* Returns the row of a code.  A code without a row gets the general row of its
 * sign, whose code differs.  Never NULL. */
const pai__exit *pai__exit_find(int code);

/* The same if a signal that ended a command did not come from the platform
 * (pai__job_form.own_signals). */
const pai__exit *pai__exit_find_own(int code);

/* As spelt in the exit spec. */
const char *pai__exit_behavior(const pai__exit *e);
const char *pai__exit_reaction(const pai__exit *e);

/* Writes a row as the API shows it, with the given code. */
void pai__exit_write(pai__json_writer *w, const pai__exit *e, int code);

/* Returns the class of a failure.  raw: codes above 0 are plain exit codes of
 * commands, of which only FrameworkController's own have a meaning.
 * own_signals: as for pai__exit_find_own(). */
enum pai__exit_class pai__exit_class(int code, bool raw, bool own_signals);

#endif
