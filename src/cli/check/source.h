/* source.h - machines and clusters given to verbs: files of any form, one-line
 * descriptions, this machine */
#ifndef PAI_SRC_CLI_SOURCE_H
#define PAI_SRC_CLI_SOURCE_H

#include "file.h"

/* A machine or a cluster. */
typedef struct cli_source {
  const char *name;      /* as given; NULL: this machine, or several names */
  pai_topology *machine; /* a single machine */
  pai_cluster *cluster;
  pai_gpus *gpus; /* of this machine, else NULL */
  /* one for each GPU of this machine; NULL: all GPUs are usable */
  pai_gpu_mark *marks;
  size_t mark_count;
} cli_source;

/* Opens what the names stand for; without names, this machine.  Several names
 * are machines, which become one cluster.  Prints errors, and with `warnings`
 * also the warnings of cluster files, to stderr.  `form` is one of
 * pai_cluster_options, or NULL.  Returns CLI_OK; CLI_NO: an input is invalid;
 * CLI_USAGE: an input cannot be read.  The caller calls cli_source_close() in
 * any case. */
int cli_source_open(cli_source *s, const char *const *names, size_t count,
                    const char *form, bool warnings);
void cli_source_close(cli_source *s);

/* Returns the names of --from and of the words after the options, in an array
 * for free(); NULL after printing that memory is short. */
const char **cli_source_names(const cli_words *from, char **words, int count);

/* Makes a cluster of the source's machine.  Returns CLI_OK, or CLI_NO after
 * printing an error.  With name == NULL the cluster is named after its
 * topology or its file. */
int cli_source_to_cluster(cli_source *s, const char *name);
/* Opens a file or description, and makes a cluster of a machine.  Returns an
 * exit code. */
int cli_source_cluster(cli_source *s, const char *name);

/* Reads and checks a cluster file, and makes the cluster if `out` is not
 * NULL. */
void cli_cluster_file_open(cli_file *file, pai_cluster **out, const char *name,
                           const char *form);

/* Returns whether such a form exists; if not, prints an error.  NULL is
 * valid. */
bool cli_is_form(const char *form);

/* A buffer for a pai_write_cb. */
typedef struct cli_text {
  char *bytes; /* for free() */
  size_t len, cap;
} cli_text;

int cli_text_add(void *text, const char *bytes, size_t len);

#endif
