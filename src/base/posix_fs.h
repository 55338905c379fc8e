/* posix_fs.h - the few things rooms ask of the file system */
#ifndef PAI_SRC_BASE_POSIX_FS_H
#define PAI_SRC_BASE_POSIX_FS_H

#include "base/buf.h"

/* "dir/name", or NULL without memory; freed with pai__strfree(). */
char *pai__fs_join(const char *dir, const char *name, const pai_alloc *alloc);
/* Makes a folder and those above it, for this user only. */
int pai__fs_make_dirs(const char *path, const pai_alloc *alloc,
                      pai_error **err);
/* Makes a new folder: `path`, or one of path.1, path.2, … that is not there
 * yet, mostly the first.  Its own name is cut to what a file system takes.
 * *out is freed with pai__strfree(). */
int pai__fs_make_new_dir(char **out, const char *path, const pai_alloc *alloc,
                         pai_error **err);
/* The absolute path of a folder that is there, without links; freed with
 * pai__strfree(). */
int pai__fs_absolute(char **out, const char *path, const pai_alloc *alloc,
                     pai_error **err);
/* Is it there, and a link in its path? */
bool pai__fs_has_link(const char *path);
/* A file to be read, by its path from an open folder, which is closed.  No part
 * of the path, which is taken apart, may be a link.  -1, with errno. */
int pai__fs_open_plain(int folder, char *path);
/* By its absolute path, of which no part may be a link, with these flags of
 * open().  -1, with errno: ELOOP for a link. */
int pai__fs_open_unlinked(const char *path, int flags);
int pai__fs_write(int fd, const char *data, size_t len, const char *path,
                  pai_error **err);
/* Appends a file to `out`, or standard input for "-"; more than `limit` bytes
 * are PAI_ELIMIT. */
int pai__fs_read(pai__buf *out, const char *path, size_t limit,
                 pai_error **err);

#endif
