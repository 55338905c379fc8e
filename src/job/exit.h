/*
 * exit.h - internal: what completion codes mean (job-spec 5.6 and 5.7)
 */
#ifndef PAI_SRC_JOB_EXIT_H
#define PAI_SRC_JOB_EXIT_H

#include "json/writer.h"

/* What a failure promises for another attempt. */
enum pai__exit_class {
  PAI__EXIT_UNKNOWN = 0,
  PAI__EXIT_TRANSIENT, /* it may go well the next time */
  PAI__EXIT_CONFLICT,  /* likewise, if others come out of the way first */
  PAI__EXIT_PERMANENT  /* it will not */
};

/*
 * How an end is recognized: all that is given must hold.  Of codes below 0
 * what Kubernetes says of a pod and of one of its containers, of others what
 * is seen where the command ran.
 */
typedef struct pai__exit_pattern {
  const char *pod;                     /* its reason */
  const char *name, *reason, *message; /* of the container */
  const char *user, *platform;         /* logs */
  int exit;                            /* code; 0: any */
  bool ecc; /* the machine's GPUs have errors that cannot be corrected */
} pai__exit_pattern;

#define PAI__NO_PATTERN \
  {                     \
    .exit = -1          \
  }

/* A row of OpenPAI's exit spec; texts are spelt as there, but for what people
 * are told. */
typedef struct pai__exit {
  int code;
  enum pai__exit_class class;
  const char *phrase;
  const char *issuer, *causer, *type, *stage;
  const char *why, *what_to_do;      /* that may be NULL */
  const pai__exit_pattern *patterns; /* up to PAI__NO_PATTERN; or NULL */
} pai__exit;

/* All of them, in the order in which their patterns are tried. */
extern const pai__exit pai__exit_rows[];
extern const size_t pai__exit_count;
/* Rows in the place of those of the same codes: pai__exit_find_own(). */
extern const pai__exit pai__exit_own_rows[];
extern const size_t pai__exit_own_count;

/* The row of a code.  One that has none gets that of its sign, whose code is
 * another; never NULL. */
const pai__exit *pai__exit_find(int code);

/* The same where a signal that ended a command was not the platform's
 * (pai__job_form.own_signals). */
const pai__exit *pai__exit_find_own(int code);

/* As it stands in the exit spec. */
const char *pai__exit_behavior(const pai__exit *e);
const char *pai__exit_reaction(const pai__exit *e);

/* A row as the API shows it; with the code that was asked for. */
void pai__exit_write(pai__json_writer *w, const pai__exit *e, int code);

/* Of a failure.  Raw: a code above 0 is what a command ended with, and only
 * those that FrameworkController itself knows mean something.  Own signals: as for
 * pai__exit_find_own(). */
enum pai__exit_class pai__exit_class(int code, bool raw, bool own_signals);

#endif
