/* file.h - reading, writing and checking files for the verbs */
#ifndef PAI_SRC_CLI_FILE_H
#define PAI_SRC_CLI_FILE_H

#include "cli.h"

/* A checked file: a job file or a cluster file. */
typedef struct cli_file {
  const char *name;   /* as the user gave it */
  pai_report *report; /* NULL: the file could not be read */
  bool is_cluster;
  char form[16];  /* of a cluster file, "" if not recognised */
  char why[1024]; /* one line: why the file could not be read */
} cli_file;

/* Most bytes of a job file that the library accepts. */
enum { CLI_JOB_FILE = 4 << 20 };

/* Reads a whole file, or standard input for "-", into *text, for free(), and
 * appends a NUL.  A file with more than `most` bytes is cut after `most` + 1
 * bytes, so that the library reports it as too long.  Returns 0 or an
 * errno. */
int cli_read_file(char **text, size_t *len, const char *name, size_t most);
/* The same, but returns CLI_OK, or CLI_USAGE after printing an error; then
 * there is nothing to free. */
int cli_read(char **text, size_t *len, const char *name, size_t most);

/* Formats "cannot read FILE: why". */
void cli_read_why(char *out, size_t size, const char *name, int error);
/* Prints that.  Returns CLI_USAGE. */
int cli_read_fail(const char *name, int error);

/* Returns the file's name for messages. */
const char *cli_shown_name(const char *name);

/* Prints "cannot write FILE: why", and help.  Returns CLI_NO. */
int cli_write_fail(const char *name, int error);

/* Writes a file, or standard output for "-".  Returns CLI_OK, or CLI_NO after
 * printing an error.  Write errors of standard output are reported by
 * cli_written(). */
int cli_save(const char *name, const char *text, size_t len);

/* Replaces the text of a file, which may be a symbolic link, if it is still
 * `was`.  Returns NULL, or why it failed; then the file is unchanged. */
const char *cli_replace(const char *name, const char *was, size_t was_len,
                        const char *text, size_t len);

/* Prints each finding as a compiler does, with its source line. */
void cli_print_findings(FILE *out, const char *name, const pai_report *report);

#endif
