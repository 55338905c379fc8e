/* part.h - what verbs about parts of the platform's machine share */
#ifndef PAI_SRC_CLI_PART_H
#define PAI_SRC_CLI_PART_H

#include "accounts.h"

/* "--root DIR" in the help of a verb. */
#define VC_ROOT_HELP                                        \
  "  --root DIR            the platform's root (default:\n" \
  "                        $OPENPAI_ROOT, or\n"             \
  "                        $XDG_STATE_HOME/openpai, or\n"   \
  "                        ~/.local/state/openpai)\n"       \
  "  -h, --help\n"

/* Asks for something to be done; `body` NULL: none.  False, and told. */
bool cli_remote_do(cli_remote *r, const char *method, const char *path,
                   const char *body);
/* Whether there is something at that path; what else is wrong is told later. */
bool cli_remote_has(cli_remote *r, const char *path);

/* A percentage, in hundredths; and as "12.5%". */
uint32_t cli_hundredths(const cli_json *j, size_t of, const char *key);
enum { CLI_PERCENT = 16 };
void cli_percent_text(char out[CLI_PERCENT], uint32_t n);
/* "3 of 8", with a bar on a terminal; of 0 nothing but "-". */
void cli_print_use(FILE *out, int64_t used, int64_t all);
/* "24.0G" */
void cli_memory_text(char *out, size_t size, int64_t bytes);

#endif
