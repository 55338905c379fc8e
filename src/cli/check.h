/* check.h - the forms in which `spec check` tells what it found */
#ifndef PAI_SRC_CLI_CHECK_H
#define PAI_SRC_CLI_CHECK_H

#include "job_file.h"

/* What has been told so far. */
typedef struct cli_tally {
  size_t files, with_findings, unread;
  size_t errors, warnings;
  char **codes; /* the codes that were met, each once, in order of bytes */
  size_t ncodes;
} cli_tally;

/* One form; the tally counts the file already that is told of. */
typedef struct cli_form {
  void (*begin)(void);
  void (*file)(const cli_job_file *file, const cli_tally *tally);
  void (*end)(const cli_tally *tally);
} cli_form;

/* What a code stands for, in a line; NULL for a newer library's. */
const char *cli_code_means(const char *code);

extern const cli_form cli_form_json, cli_form_sarif;

#endif
