/* standing.h - how a job that one waits for stands, as a line on the terminal */
#ifndef PAI_SRC_CLI_STANDING_H
#define PAI_SRC_CLI_STANDING_H

#include "remote.h"

enum { CLI_STANDING_EVERY = 1000 }; /* ms between two lines that tell it */

typedef struct cli_standing {
  cli_remote *r;
  const char *name;
  cli_json job;           /* as it was last shown */
  bool changed;           /* since it was last looked at */
  cli_json estimate, why; /* empty: none is known */
  int64_t looked, guessed;
} cli_standing;

/* Writes the line anew, and asks for what has changed, not too often. */
void cli_standing_tell(cli_standing *s);
void cli_standing_free(cli_standing *s);

#endif
