/* source.h - machines and clusters as verbs are given them: files of any form,
 * descriptions in a line, this machine */
#ifndef PAI_SRC_CLI_SOURCE_H
#define PAI_SRC_CLI_SOURCE_H

#include "file.h"

/* One of both. */
typedef struct cli_source {
  const char *name;      /* as it was given; NULL: this machine, or several */
  pai_topology *machine; /* one alone */
  pai_cluster *cluster;
  pai_gpus *gpus; /* of this machine, else NULL */
  pai_gpu_mark
    *marks; /* one for each GPU of this machine; NULL: all are well */
  size_t mark_count;
} cli_source;

/* Reads what the names stand for; none: this machine.  Several are machines,
 * which become a cluster.  Tells on stderr what is wrong, and of files of
 * clusters the warnings, too, if they are wanted.  `form` is one of
 * pai_cluster_options, or NULL.  Returns CLI_OK; CLI_NO: something is invalid;
 * CLI_USAGE: it cannot be read.  Goes with cli_source_close() whatever came of
 * it. */
int cli_source_open(cli_source *s, const char *const *names, size_t count,
                    const char *form, bool warnings);
void cli_source_close(cli_source *s);

/* All that --from and the words behind the options name, in an array for
 * free(); NULL: no memory, and said so. */
const char **cli_source_names(char **words, int count);

/* Makes a cluster of a machine: CLI_OK, or CLI_NO and told why.  It is called
 * `name`, or as its topology or its file if that is NULL. */
int cli_source_to_cluster(cli_source *s, const char *name);

/* Reads and checks a file of a cluster, which is made if `out` is not NULL. */
void cli_cluster_file_open(cli_file *file, pai_cluster **out, const char *name,
                           const char *form);

/* Whether there is such a form; else says so.  NULL is right. */
bool cli_is_form(const cli_verb *verb, const char *form);

/* What a pai_write_cb is given, kept until all of it has come. */
typedef struct cli_text {
  char *bytes; /* for free() */
  size_t len, cap;
} cli_text;

int cli_text_add(void *text, const char *bytes, size_t len);

/* --- source_machine.c ------------------------------------------------------ */

/* This machine, and what its GPUs' drivers say of it. */
int cli_this_machine(cli_source *s);

/* The GPUs of a cluster made of this machine get its marks. */
int cli_mark_cluster(const cli_source *s);

#endif
