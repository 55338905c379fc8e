/* posix_files.h - internal to src/backend/local: files in a task folder */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_FILES_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_FILES_H

#include "backend/local/status.h"
#include "base/os/posix_user.h"
#include "base/buf.h"
#include "task/order.h"

/* Reads the status in a folder.  PAI_OK; PAI_ENOTFOUND: no such file; PAI_EIO,
 * PAI_EPERM.  With `no_links` no symbolic link in the path is followed. */
int pai__files_status(pai__status *out, const char *dir, bool no_links,
                      pai_error **err);
/* Creates a status that says the task never runs. 1; 0: there is one already;
 * or an error code. */
int pai__files_tombstone(const char *dir, const pai_alloc *alloc,
                         pai_error **err);
/* Links the file `status`, which an older supervisor has created in the task
 * folder and may be writing, into `own`, which exists.  `who`: owner of the
 * folder.  PAI_OK: `own` has one; PAI_ENOTFOUND: there is none. */
int pai__files_take_status(const char *own, const char *dir,
                           const pai__user *who, bool no_links,
                           pai_error **err);
/* Removes the files of a start of which nothing runs or will run from the task
 * folder, or its status from `own`.  After both the task may be started again
 * in the same folder. */
void pai__files_forget_start(const char *dir);
void pai__files_forget_status(const char *own);
/* Appends the last bytes of a log, with those of its predecessor if it is
 * short; nothing if it is unreadable. */
void pai__files_tail(pai__buf *out, const char *dir, const char *name,
                     size_t most, bool no_links);

void pai__files_close(int fd); /* -1 is allowed */
/* Creates a task's /tmp, writable for all, or its home. */
int pai__files_make_tmp(const char *path, const pai_alloc *alloc,
                        pai_error **err);
int pai__files_make_home(const char *path, const pai_alloc *alloc,
                         pai_error **err);
enum { PAI__HOMES = 2 };
/* Sets the home folders of this process' user, ended by NULL.  `self` is
 * looked up once, while it has no name. */
void pai__files_homes(const char *homes[PAI__HOMES + 1], pai__user *self);
/* Returns whether the path exists and contains no symbolic link. */
bool pai__files_are_real(const char *path);
/* Resolves a path once: its path without links, of PATH_MAX bytes, and its
 * identity; both "" if it does not exist. */
void pai__files_look(char *real, char identity[PAI_ORDER_IDENTITY],
                     const char *path);
/* Writes the working directory; false: not known. */
bool pai__files_here(char *out, size_t size);

#endif
