/* log_files.h - a scheduler's log as its platform keeps it: the last file, and the
 * one before it, read as one */
#ifndef PAI_SRC_CLI_LOG_FILES_H
#define PAI_SRC_CLI_LOG_FILES_H

#include "cli.h"

/* Zero-fill, and then it goes with log_files_close(). */
typedef struct log_files {
  FILE *file[2];    /* the one before, and the last; NULL: there is none */
  uint64_t size[2]; /* as they are now; the last may grow */
} log_files;

/* Those of a root: the last one, and with `all`, or where that has nothing yet,
 * the one before.  False, and errno: ENOENT says that there is none. */
bool log_files_open(log_files *f, const char *root, bool all);
/* An empty one, that has no name, for what is fetched.  False, and told. */
bool log_files_make(log_files *f);
/* A pai_write_cb that adds to that; it tells what goes wrong. */
int log_files_add(void *files, const char *bytes, size_t len);
/* A pai_read_at_cb. */
ptrdiff_t log_files_read(void *files, uint64_t offset, char *buffer,
                         size_t size);
void log_files_close(log_files *f);

#endif
