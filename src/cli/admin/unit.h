/* unit.h - the platform as a systemd service */
#ifndef PAI_SRC_CLI_UNIT_H
#define PAI_SRC_CLI_UNIT_H

#include "cli.h"

/* The program and options that the unit starts. */
typedef struct cli_unit {
  const char *program;     /* absolute */
  const char *root;        /* NULL: the default one */
  const char *runtime;     /* NULL: auto */
  const char *policy;      /* NULL: fifo */
  const char *const *more; /* more words for `up`, ended by NULL */
  bool system;             /* a platform for all users */
} cli_unit;

/* Return an exit code and print what was done (posix_unit.c). */
int cli_unit_enable(const cli_unit *wanted);
int cli_unit_disable(bool system);

#endif
