/* file.h - files as the verbs read and write them, and what is found in them */
#ifndef PAI_SRC_CLI_FILE_H
#define PAI_SRC_CLI_FILE_H

#include "cli.h"

/* A file that was checked: a job, or a cluster. */
typedef struct cli_file {
  const char *name;   /* as it was given */
  pai_report *report; /* NULL: it could not be read */
  bool is_cluster;
  char form[16];  /* of a cluster, "" when nobody can tell */
  char why[1024]; /* one line: why it could not be read */
} cli_file;

/* Reads all of a file, or of standard input for "-", for free().  What has more
 * than `most` bytes is cut behind the next one, so that the library may say
 * that it is too long.  Returns 0 or an errno. */
int cli_read_file(char **text, size_t *len, const char *name, size_t most);

/* "cannot read FILE: why". */
void cli_read_why(char *out, size_t size, const char *name, int error);

/* The file's name for people. */
const char *cli_shown_name(const char *name);

/* Writes a file, or standard output for "-".  CLI_OK, or CLI_NO and told why;
 * of standard output that is seen in the end. */
int cli_save(const char *name, const char *text, size_t len);

/* Puts another text in the place of the one that was read from a file, which may be
 * a link.  NULL; or why not, and then what was there stays. */
const char *cli_replace(const char *name, const char *was, size_t was_len,
                        const char *text, size_t len);

/* Each finding as a compiler tells it, with its line of the file. */
void cli_print_findings(FILE *out, const char *name, const pai_report *report);

#endif
