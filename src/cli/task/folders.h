/* folders.h - folders below /tmp of this machine that a job's tasks can see
 *
 * In the sandbox tasks have a /tmp of their own.  The paths there that a
 * command or its environment names are made visible to it. */
#ifndef PAI_SRC_CLI_FOLDERS_H
#define PAI_SRC_CLI_FOLDERS_H

#include "cli.h"

/* Makes each --folder an absolute path.  Returns false, after printing an
 * error, if one is not below /tmp. */
bool cli_folders_good(void);
/* Returns whether each folder exists, for a job that runs on this machine; if
 * not, prints an error. */
bool cli_folders_here(void);
/* Adds the folders that a command needs, from its words and, with `inherit`,
 * from this process's environment.  With `copied` the command begins in a copy
 * of its code instead of the current folder.  Warns of paths that do not
 * exist, unless `quiet`. */
void cli_folders_find(char *const *words, int count, bool inherit, bool copied,
                      bool quiet);

#endif
