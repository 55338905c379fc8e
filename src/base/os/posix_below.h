/*
 * posix_below.h - safe access to files below a folder that belongs to another
 * user
 *
 * A path is opened part by part without following symbolic links, so nothing
 * outside the folder is opened, whatever is changed meanwhile.  Links are
 * resolved here if they stay inside.  A path has at most PAI__BELOW_PATH
 * bytes.
 */
#ifndef PAI_SRC_BASE_OS_POSIX_BELOW_H
#define PAI_SRC_BASE_OS_POSIX_BELOW_H

#include "base/base.h"

#include <stdatomic.h>

enum { PAI__BELOW_PATH = 4096 };

typedef struct pai__below {
  int folder;       /* borrowed; may be opened with O_PATH */
  const char *what; /* its name in messages: "the job's folder" */
  const pai_alloc *alloc;
  bool no_links; /* refuse all links, also those that stay inside */
} pai__below;

/* All of them return PAI_ENOTFOUND: no such path; PAI_EINVAL: it leads out of
 * the folder, or has the wrong type; PAI_EPERM; PAI_EIO; PAI_ENOMEM. */

/* Opens a regular file for reading. */
int pai__below_open(int *fd, const pai__below *b, const char *path,
                    pai_error **err);
/* Prepares to create a file: opens its folder, creating missing folders, and
 * sets *name, freed with pai__strfree().  The name is that of a regular file
 * or does not exist; anything else is refused. */
int pai__below_place(int *folder, char **name, const pai__below *b,
                     const char *path, pai_error **err);

/* Creates a folder and missing ones above it.  `path` ends with a slash. */
int pai__below_make(const pai__below *b, const char *path, pai_error **err);

/* --- posix_below_list.c -------------------------------------------------- */

enum { PAI__BELOW_FILE, PAI__BELOW_FOLDER, PAI__BELOW_LINK, PAI__BELOW_OTHER };

typedef struct pai__below_entry {
  const char *path;   /* relative to the folder */
  const char *target; /* of a link, or NULL */
  int type;
  uint64_t size;    /* of a file, or 0 */
  int64_t modified; /* milliseconds since 1970 */
  bool executable;
} pai__below_entry;

typedef struct pai__below_ask {
  const char *path;  /* a folder or a file; "": the folder itself */
  const char *after; /* skip entries up to this path; or NULL */
  uint32_t limit;    /* entries */
  bool recursive;
  bool total; /* no entries: count files and bytes */
  /* Returns whether a name is skipped; NULL: none is. */
  bool (*is_hidden)(const char *name);
  void (*on_entry)(void *user_data, const pai__below_entry *e);
  void *user_data;
  const atomic_bool *stopped; /* PAI_ECANCELED when it becomes true; or NULL */
} pai__below_ask;

typedef struct pai__below_answer {
  bool more; /* there are entries after the last one */
  uint64_t files, bytes;
} pai__below_answer;

/* Lists entries by path, a folder's content right after it.  Memory is bounded
 * by the limit, however many entries there are.  Names that are not UTF-8 are
 * sorted as they are shown, with U+FFFD.  Also PAI_ELIMIT: too much to
 * count. */
int pai__below_list(pai__below_answer *out, const pai__below *b,
                    const pai__below_ask *ask, pai_error **err);

/* Opens a folder below it, for the list.  If the path is not a folder: PAI_OK
 * with -1 in *fd, its parent in *in and its name. */
int pai__below_find(int *fd, int *in, char **name, const pai__below *b,
                    const char *path, pai_error **err);
/* Makes the error for a path from an error number. */
int pai__below_fail(const pai__below *b, const char *path, int number,
                    pai_error **err);

#endif
