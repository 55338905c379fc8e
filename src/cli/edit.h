/* edit.h - a text in the user's editor (posix_edit.c) */
#ifndef PAI_SRC_CLI_EDIT_H
#define PAI_SRC_CLI_EDIT_H

#include "file.h"

typedef struct cli_edited {
  char *folder, *path; /* for this user alone; NULL: there is none */
} cli_edited;

/* Writes a text where it can be edited, in a file that is called NAME.yaml.
 * False, and told. */
bool cli_edit_begin(cli_edited *e, const char *name, const char *text,
                    size_t len);
/* Opens it in $VISUAL, or $EDITOR, or vi, and waits until that has ended.
 * False, and told: it failed, and so the user wants no more of it. */
bool cli_edit_open(const cli_edited *e);
/* The file goes; with `keep` it stays, and where it is is told. */
void cli_edit_end(cli_edited *e, bool keep);

#endif
