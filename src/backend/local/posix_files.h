/* posix_files.h - internal to the back end: what lies in a task folder */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_FILES_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_FILES_H

#include "backend/local/status.h"
#include "base/posix_user.h"
#include "base/buf.h"
#include "task/order.h"

/* Of the folder that the status is in.  PAI_OK; PAI_ENOTFOUND: there is no such
 * file; PAI_EIO, PAI_EPERM.  With `no_links` none is followed, wherever in the
 * path. */
int pai__files_status(pai__status *out, const char *dir, bool no_links,
                      pai_error **err);
/* Makes a status that says the task never runs.  1; 0: there is one already; a
 * code. */
int pai__files_tombstone(const char *dir, const pai_alloc *alloc,
                         pai_error **err);
/* Gives the file `status` of a task folder, which an older supervisor has made
 * there and may be writing, its place in `own`, which is there.  `who`: whose
 * the folder is.  PAI_OK: there is one in `own`; PAI_ENOTFOUND: nowhere. */
int pai__files_take_status(const char *own, const char *dir,
                           const pai__user *who, bool no_links,
                           pai_error **err);
/* Removes what a start of which nothing runs or ever will has left in the task
 * folder; with its status, wherever that is, the task may be started again in the
 * same folder. */
void pai__files_forget_start(const char *dir);
void pai__files_forget_status(const char *own);
/* The last bytes of a log, with those of its predecessor when it is short; ""
 * when it cannot be read. */
void pai__files_tail(pai__buf *out, const char *dir, const char *name,
                     size_t most, bool no_links);

void pai__files_close(int fd); /* -1 is allowed */
/* A task's /tmp, for all to write as that is; and its home. */
int pai__files_make_tmp(const char *path, const pai_alloc *alloc,
                        pai_error **err);
int pai__files_make_home(const char *path, const pai_alloc *alloc,
                         pai_error **err);
enum { PAI__HOMES = 2 };
/* The folders that are the home of this process' user, up to a NULL.  `self` is
 * looked up once, while it has no name. */
void pai__files_homes(const char *homes[PAI__HOMES + 1], pai__user *self);
/* Is it there, and its path without links? */
bool pai__files_are_real(const char *path);
/* What a path leads to, by one look at it: its path without links, of PATH_MAX
 * bytes, and its identity; both "" if there is nothing. */
void pai__files_look(char *real, char identity[PAI_ORDER_IDENTITY],
                     const char *path);
/* The folder of this process; false: it cannot be told. */
bool pai__files_here(char *out, size_t size);

#endif
