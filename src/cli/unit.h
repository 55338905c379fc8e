/* unit.h - the platform as a service of systemd's */
#ifndef PAI_SRC_CLI_UNIT_H
#define PAI_SRC_CLI_UNIT_H

#include "cli.h"

/* What the unit starts. */
typedef struct cli_unit {
  const char *program;     /* absolute */
  const char *root;        /* NULL: the default one */
  const char *runtime;     /* NULL: auto */
  const char *policy;      /* NULL: fifo */
  const char *const *more; /* words of `up`, which NULL ends */
  bool system;             /* of all users */
} cli_unit;

/* unit.c: writes its file. */
void cli_unit_write(FILE *out, const cli_unit *unit);
/* Whether a file's first line is that of one we wrote. */
bool cli_unit_is_ours(const char *line);

/* posix_unit.c: each answers an exit code, and tells what it did. */
int cli_unit_enable(const cli_unit *wish);
int cli_unit_disable(bool system);

#endif
