/*
 * posix_part.h - a local file that is being downloaded
 *
 * It is written as ".openpai-FILE-VERSION.part" beside its place, with a hash
 * of the file's name and one of the version, and is moved there when it is
 * complete.  What has arrived of a large file is kept, to be continued.
 */
#ifndef PAI_SRC_BASE_OS_POSIX_PART_H
#define PAI_SRC_BASE_OS_POSIX_PART_H

#include "base/os/posix_below.h"

typedef struct pai__file_part {
  const pai_alloc *alloc;
  char *path, *folder; /* the file and its folder */
  char *name;          /* path of the part */
  pai__below_entry of; /* the version; its texts are not kept */
  uint64_t received;
  int fd; /* -1: closed */
  bool keep;
} pai__file_part;

/* Opens the part of `path`, and makes missing folders.  `job` NULL: it is
 * never continued.  PAI_EBUSY: another process is downloading the file.  Close
 * it after a failure, too. */
int pai__file_part_open(pai__file_part *p, const pai_alloc *alloc,
                        const char *path, const char *job,
                        const pai__below_entry *of, pai_error **err);
int pai__file_part_add(pai__file_part *p, const char *bytes, size_t len,
                       pai_error **err);
/* Moves the file to its place, and sets its time of modification.  PAI_EEXISTS,
 * without an error: it is shorter than its version. */
int pai__file_part_finish(pai__file_part *p, pai_error **err);
/* Deletes the part, unless it is to be kept. */
void pai__file_part_close(pai__file_part *p);

/* Returns whether it is the name of a part. */
bool pai__file_part_is(const char *name);
/* Makes a folder and those above it.  Returns 0 or an error number. */
int pai__file_part_make_folders(const char *path, const pai_alloc *alloc);
/* Makes the error for a local file: "cannot write x: No space left on
 * device". */
int pai__file_part_fail(pai_error **err, const char *verb, const char *path,
                        int number);

#endif
