/* log_files.h - a platform's scheduler log: its last two files, read as one */
#ifndef PAI_SRC_CLI_LOG_FILES_H
#define PAI_SRC_CLI_LOG_FILES_H

#include "cli.h"

/* Zero-fill it first; free it with log_files_close(). */
typedef struct log_files {
  FILE *file[2];    /* the older and the last; NULL: none */
  uint64_t size[2]; /* now; the last file may grow */
} log_files;

/* Opens the files of a root: the last one, and with `all`, or if the last one
 * is still empty, also the older one.  Returns false and sets errno; ENOENT:
 * there is none. */
bool log_files_open(log_files *f, const char *root, bool all);
/* Creates an empty unnamed file for a fetched log.  Returns false after
 * printing an error. */
bool log_files_make(log_files *f);
/* A pai_write_cb that appends to that file; prints an error if that fails. */
int log_files_add(void *files, const char *bytes, size_t len);
/* A pai_read_at_cb. */
ptrdiff_t log_files_read(void *files, uint64_t offset, char *buffer,
                         size_t size);
void log_files_close(log_files *f);

#endif
