/*
 * exit.h - internal: what completion codes mean (job-spec 5.6 and 5.7)
 */
#ifndef PAI_SRC_JOB_EXIT_H
#define PAI_SRC_JOB_EXIT_H

#include <stdbool.h>
#include <stddef.h>

/* What a failure promises for another attempt. */
enum pai__exit_class {
  PAI__EXIT_UNKNOWN = 0,
  PAI__EXIT_TRANSIENT, /* it may go well the next time */
  PAI__EXIT_CONFLICT,  /* likewise, if others come out of the way first */
  PAI__EXIT_PERMANENT  /* it will not */
};

/* A row of OpenPAI's exit spec; texts are spelt as there. */
typedef struct pai__exit {
  int code;
  enum pai__exit_class class;
  const char *phrase;
  const char *issuer, *causer, *type, *stage;
} pai__exit;

/* All of them, in the order of the spec. */
const pai__exit *pai__exit_rows(size_t *n);
/* The row of a code.  One that has none gets that of its sign, whose code is
 * another; never NULL. */
const pai__exit *pai__exit_find(int code);

/* As it stands in the exit spec. */
const char *pai__exit_behavior(const pai__exit *e);
const char *pai__exit_reaction(const pai__exit *e);

/* Of a failure.  Raw: a code above 0 is what a command ended with, and only
 * those that FrameworkController itself knows mean something. */
enum pai__exit_class pai__exit_class(int code, bool raw);

#endif
