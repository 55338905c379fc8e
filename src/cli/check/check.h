/* check.h - the loop of the verbs that check files, and their output
 * formats */
#ifndef PAI_SRC_CLI_CHECK_H
#define PAI_SRC_CLI_CHECK_H

#include "file.h"

/* What has been reported so far. */
typedef struct cli_check_counts {
  size_t files, with_findings, unread;
  size_t errors, warnings;
  char **codes; /* each code found, once, in order of bytes */
  size_t ncodes;
} cli_check_counts;

/* One output format.  The counts include the current file. */
typedef struct cli_form {
  void (*begin)(void);
  void (*file)(const cli_file *file, const cli_check_counts *counts);
  void (*end)(const cli_check_counts *counts);
} cli_form;

/* How files are checked. */
typedef struct cli_check {
  /* Reads and checks a file: sets its report, or why there is none. */
  void (*open)(cli_file *file, const char *name, const void *options);
  const void *options; /* passed to `open` */
  const cli_form *form;
  bool strict; /* warnings count as errors for the exit code */
} cli_check;

/* Checks and reports all files; returns the exit code of the verb. */
int cli_check_files(const cli_check *how, char **names, int count);

/* Returns the format that the options ask for. */
const cli_form *cli_check_form(const cli_check_options *o);

extern const cli_form cli_form_json, cli_form_sarif;

#endif
