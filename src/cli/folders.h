/* folders.h - folders below /tmp of this machine that a job's tasks see
 *
 * In the sandbox tasks have a /tmp of their own.  What a command names there is
 * shown to it, and so is what its environment names. */
#ifndef PAI_SRC_CLI_FOLDERS_H
#define PAI_SRC_CLI_FOLDERS_H

#include "cli.h"

/* Makes each --folder an absolute path.  False, and told: one is not below
 * /tmp. */
bool cli_folders_good(const cli_verb *verb);
/* Adds to them those that a command needs, by its words and, with `inherit`, by
 * this process' environment.  With `copied` it does not begin in the present
 * folder, but in a copy of its code.  What is not there is told, unless
 * `quiet`. */
void cli_folders_find(char *const *words, int count, bool inherit, bool copied,
                      bool quiet);

#endif
