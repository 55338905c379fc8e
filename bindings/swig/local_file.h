/*
 * local_file.h - files of this machine that are downloaded and uploaded, for the
 * facade's own files
 *
 * A download is written beside its place and moved there when it is whole.
 */
#ifndef OPENPAI_BINDINGS_LOCAL_FILE_H
#define OPENPAI_BINDINGS_LOCAL_FILE_H

#include "shared.h"

/* Of a file of a job, as it is listed. */
typedef struct file_version {
  const char *job, *path; /* NULL: an unfinished download is never continued */
  uint64_t size;
  int64_t modified; /* milliseconds since 1970, or 0: not known */
  int executable;
} file_version;

typedef struct LocalFile LocalFile;

/* Opens the unfinished download of `path`; missing folders are made.  The
 * failure is PAI_EBUSY if another process downloads it.  The texts of the
 * version have to live until this returns. */
LocalFile *local_open(const char *path, const file_version *v, failure *f);
/* So many bytes are there from an earlier download. */
uint64_t local_received(const LocalFile *l);
/* PAI_OK, or PAI_EIO: local_explain() says why. */
int local_add(LocalFile *l, const char *bytes, size_t len);
/* Moves the file to its place, with its time of change; likewise.  PAI_EEXISTS:
 * it is shorter than its version says. */
int local_finish(LocalFile *l);
bool local_failed(const LocalFile *l); /* or it is NULL */
void local_explain(const LocalFile *l, failure *f);
/* Deletes what has come, when the file is closed. */
void local_discard(LocalFile *l);
/* Closes the file.  A large one that is unfinished is kept, to be continued. */
void local_close(LocalFile *l);
void local_free(LocalFile *l); /* closes it; NULL is allowed */

/* "a" of "a/b", "." of "b", "/" of "/b"; allocated. */
char *local_folder_of(const char *path);
/* Makes a folder and those above it.  0, or an errno. */
int local_make_folders(const char *path);

/* Opens a regular file for reading, or a folder that goes to a path with a slash
 * at its end; -1 after a failure. */
int local_open_read(const char *path, const char *to, uint64_t *size,
                    int *executable, failure *f);
/* A name of an upload of that file to `job` and `path`: another one when the
 * file has changed.  `name` has room for UPLOAD_NAME bytes. */
enum { UPLOAD_NAME = 40 };
void local_upload_name(char *name, int fd, const char *job, const char *path);

#endif /* OPENPAI_BINDINGS_LOCAL_FILE_H */
