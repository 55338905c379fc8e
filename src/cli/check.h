/* check.h - the verbs that check files: the loop, and the forms in which they
 * tell what they found */
#ifndef PAI_SRC_CLI_CHECK_H
#define PAI_SRC_CLI_CHECK_H

#include "file.h"

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
  void (*file)(const cli_file *file, const cli_tally *tally);
  void (*end)(const cli_tally *tally);
} cli_form;

/* How files are checked. */
typedef struct cli_check {
  /* Reads and checks one: its report, or why there is none. */
  void (*open)(cli_file *file, const char *name, const void *options);
  const void *options; /* what `open` gets */
  const cli_form *form;
  bool strict; /* warnings count as errors for the exit code */
} cli_check;

/* Tells of all files; returns the exit code of the verb. */
int cli_check_files(const cli_check *how, char **names, int count);

/* The form that was asked for; NULL: of two at once, and that is said. */
const cli_form *cli_check_form(const cli_verb *verb, bool json, bool sarif,
                               bool quiet);

/* What a code stands for, in a line; NULL for a newer library's. */
const char *cli_code_means(const char *code);

extern const cli_form cli_form_json, cli_form_sarif;

#endif
