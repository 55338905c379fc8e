/* standing.h - how a job stands that one waits for, or looks at */
#ifndef PAI_SRC_CLI_STANDING_H
#define PAI_SRC_CLI_STANDING_H

#include "tasks.h"

enum { CLI_STANDING_EVERY = 1000 }; /* ms between two lines that tell it */

typedef struct cli_standing {
  cli_remote *r;
  const char *name;
  cli_json job;           /* as it was last shown */
  bool changed;           /* since it was last looked at */
  cli_json estimate, why; /* empty: none is known */
  cli_usage usage;        /* of its tasks */
  int64_t looked, guessed, used;
  int64_t pause, usage_pause; /* ms until the next look: where that takes long,
                                 more */
} cli_standing;

/* Writes the line on the terminal anew, and asks for what has changed, not too
 * often. */
void cli_standing_tell(cli_standing *s);
/* Asks for what has changed, likewise, and with `usage` for what its tasks use;
 * what cannot be asked stays as it was.  Whether there is anything new. */
bool cli_standing_look(cli_standing *s, bool usage);
/* The same at once.  False, and told: it cannot be asked. */
bool cli_standing_ask(cli_standing *s);
cli_job_view cli_standing_view(const cli_standing *s);
void cli_standing_free(cli_standing *s);

#endif
