/*
 * posix_below.h - what lies below a folder that is somebody else's
 *
 * A path is followed part by part, each opened on its own and through no link:
 * whatever is put there meanwhile, nothing outside the folder is opened.  Links
 * are resolved here, as far as they stay inside.  A path has at most
 * PAI__BELOW_PATH bytes.
 */
#ifndef PAI_SRC_BASE_POSIX_BELOW_H
#define PAI_SRC_BASE_POSIX_BELOW_H

#include "base/base.h"

#include <stdatomic.h>

enum { PAI__BELOW_PATH = 4096 };

typedef struct pai__below {
  int folder;       /* borrowed; it may be one that can only be passed */
  const char *what; /* what messages call it: "the job's folder" */
  const pai_alloc *alloc;
  bool no_links; /* a link is refused, also one that stays inside */
} pai__below;

/* All of them: PAI_ENOTFOUND: there is no such path; PAI_EINVAL: it leads out
 * of the folder, or is not what is wanted; PAI_EPERM; PAI_EIO; PAI_ENOMEM. */

/* A regular file, for reading. */
int pai__below_open(int *fd, const pai__below *b, const char *path,
                    pai_error **err);
/* Where a file is to be: its folder, which is made with those above it if that
 * is missing, and *name in it, freed with pai__strfree().  Nothing that is
 * there is a link, nor, of that name, anything else than a regular file. */
int pai__below_place(int *folder, char **name, const pai__below *b,
                     const char *path, pai_error **err);

/* Makes a folder, with those above it, unless it is there.  `path` ends with a
 * slash. */
int pai__below_make(const pai__below *b, const char *path, pai_error **err);

/* --- posix_below_list.c ------------------------------------------------------ */

enum { PAI__BELOW_FILE, PAI__BELOW_FOLDER, PAI__BELOW_LINK, PAI__BELOW_OTHER };

typedef struct pai__below_entry {
  const char *path;   /* from the folder */
  const char *target; /* of a link, or NULL */
  int type;
  uint64_t size;    /* of a file, or 0 */
  int64_t modified; /* milliseconds since 1970 */
  bool executable;
} pai__below_entry;

typedef struct pai__below_ask {
  const char *path;  /* of a folder or a file; "": the folder itself */
  const char *after; /* what comes up to this path is passed over; or NULL */
  uint32_t limit;    /* entries */
  bool recursive;
  bool total; /* no entries: files and their bytes are counted */
  /* Whether a name is passed over; NULL: none is. */
  bool (*is_hidden)(const char *name);
  void (*on_entry)(void *user_data, const pai__below_entry *e);
  void *user_data;
  const atomic_bool *stopped; /* PAI_ECANCELED as soon as it is; or NULL */
} pai__below_ask;

typedef struct pai__below_answer {
  bool more; /* entries behind the last one */
  uint64_t files, bytes;
} pai__below_answer;

/* Lists by path, what is in a folder right behind it.  In memory that the limit
 * bounds, however much there is.  A name that is no UTF-8 is sorted as it is
 * shown, with U+FFFD.  Also PAI_ELIMIT: that is too much to be counted. */
int pai__below_list(pai__below_answer *out, const pai__below *b,
                    const pai__below_ask *ask, pai_error **err);

/* A folder below it, for the list; or, of what is no folder, PAI_OK with -1 in
 * *fd, its own one in *in and its name. */
int pai__below_find(int *fd, int *in, char **name, const pai__below *b,
                    const char *path, pai_error **err);
/* What an error number says of a path. */
int pai__below_fail(const pai__below *b, const char *path, int number,
                    pai_error **err);

#endif
