/* posix_fs.h - file system helpers */
#ifndef PAI_SRC_BASE_OS_POSIX_FS_H
#define PAI_SRC_BASE_OS_POSIX_FS_H

#include "base/buf.h"

/* Returns "dir/name", or NULL when out of memory; free it with
 * pai__strfree(). */
char *pai__fs_join(const char *dir, const char *name, const pai_alloc *alloc);
/* Creates a folder and missing ones above it, for this user only. */
int pai__fs_make_dirs(const char *path, const pai_alloc *alloc,
                      pai_error **err);
/* Creates a new folder: the first of path, path.1, path.2, … that does not
 * exist.  Its name is cut to the file system's limit.  Free *out with
 * pai__strfree(). */
int pai__fs_make_new_dir(char **out, const char *path, const pai_alloc *alloc,
                         pai_error **err);
/* Sets the absolute path of an existing folder, without symbolic links; free
 * it with pai__strfree(). */
int pai__fs_absolute(char **out, const char *path, const pai_alloc *alloc,
                     pai_error **err);
/* Returns whether the path exists and contains a symbolic link. */
bool pai__fs_has_link(const char *path);
/* Opens a file for reading by its path from an open folder, which is closed.
 * No part of the path, which is modified, may be a symbolic link. -1 with
 * errno. */
int pai__fs_open_plain(int folder, char *path);
/* Opens a file by its absolute path, of which no part may be a symbolic link,
 * with these flags of open(). -1 with errno: ELOOP for a link. */
int pai__fs_open_unlinked(const char *path, int flags);
int pai__fs_write(int fd, const char *data, size_t len, const char *path,
                  pai_error **err);
/* Appends a file to `out`, or standard input for "-"; PAI_ELIMIT if it has
 * more than `limit` bytes. */
int pai__fs_read(pai__buf *out, const char *path, size_t limit,
                 pai_error **err);
/* The same for regular files only; PAI_EINVAL for links, pipes and devices. */
int pai__fs_read_regular(pai__buf *out, const char *path, size_t limit,
                         pai_error **err);

#endif
