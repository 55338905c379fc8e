/*
 * task_log.h - internal: reads what a task has written, while it is written
 *
 * A log is two files: whoever writes it renames X to X.1 when X is full, and
 * begins X anew.  A reader holds the file that it reads open, so that renaming
 * takes nothing from it, and finds the next one by what its own is called now.
 *
 * stdout and stderr are parts of `all` (src/task/streams.h).  In task folders
 * of older supervisors each is a file of its own.
 */
#ifndef PAI_SRC_BACKEND_TASK_LOG_H
#define PAI_SRC_BACKEND_TASK_LOG_H

#include "base/base.h"

#include <sys/types.h>

enum { PAI__TASK_LOG_ENTRIES = 512 }; /* bytes of them, read at once */

/* Where a reader is. */
typedef struct pai__task_log_at {
  uint64_t device, inode; /* the file, */
  uint64_t next;          /* the next byte of it, */
  uint64_t until; /* which is of `stream` up to here, as far as known, */
  uint64_t entry; /* and where the entry behind that is */
  int stream;     /* 0 stdout, 1 stderr */
} pai__task_log_at;

typedef struct pai__task_log {
  const char *name; /* of its files, a text that stays */
  int only;         /* of a stream alone; -1: of both */
  bool plain;       /* nothing tells streams apart */
  bool no_links;    /* none is followed */
  bool missed;      /* a file was gone before it could be read */
  int fd;           /* -1: not open */
  int entries;      /* the file of entries; -1: not open, or there is none */
  bool searched;    /* for that */
  bool timed;       /* what is read at once was written at one time: */
  pai_time time;    /* that; 0: it is not known */
  size_t nbuffer;   /* bytes of `buffer`, which is from here on: */
  uint64_t buffer_from;
  pai__task_log_at at;
  unsigned char buffer[PAI__TASK_LOG_ENTRIES];
} pai__task_log;

/* What is to be read: "stdout", "stderr", "all" or "runtime" of a task folder;
 * false: there is no such log. */
bool pai__task_log_init(pai__task_log *f, const char *name);
/* As "all", but pai__task_log_pieces() tells the streams apart. */
void pai__task_log_init_pieces(pai__task_log *f);
/* Is it a folder of an older supervisor, with a file for each stream? */
bool pai__task_log_is_old(const char *dir);

/* Opens its first file.  *kept (may be NULL) is how many bytes there are, *gone
 * how many there were before them.  PAI_ENOTFOUND: there is none; PAI_EIO;
 * PAI_EPERM; PAI_EBUSY: this machine is short of what it takes. */
int pai__task_log_open(pai__task_log *f, const char *dir, uint64_t *kept,
                       uint64_t *gone, pai_error **err);
/* The next bytes, in the next file if there are no more in this one; 0: none
 * yet.  A code. */
int pai__task_log_read(pai__task_log *f, const char *dir, char *bytes,
                       size_t size);
/* As that; tells them in pieces, each of one stream, until the function returns
 * false: what it was not told comes again. */
int pai__task_log_pieces(pai__task_log *f, const char *dir, char *bytes,
                         size_t size,
                         bool (*tell)(void *user_data, int stream,
                                      const char *piece, size_t len),
                         void *user_data);
/* Passes by all that is there now, in a file that is open. */
void pai__task_log_to_end(pai__task_log *f, const char *dir);
void pai__task_log_close(pai__task_log *f);

/* --- posix_task_from.c: where to begin ------------------------------------------- */

/* From where on a log is read: the latest of these. */
typedef struct pai__log_from {
  int64_t offset; /* from this byte of all that were ever written; negative: so
                     many before the end; INT64_MAX: from the end on */
  uint64_t tail;  /* the last lines, so many; 0: all */
  pai_time since; /* what was written then or later; 0: all */
} pai__log_from;

/* Opens a log there: *offset is the number of the first byte that is wanted, and
 * *skip how many before it are still to be read.  As pai__task_log_open(). */
int pai__task_log_open_from(pai__task_log *f, const char *dir,
                            const pai__log_from *from, uint64_t *offset,
                            uint64_t *skip, pai_error **err);

/* --- posix_task_streams.c: which bytes of a file are whose ---------------------- */

/* Brings `stream` and `until` to the next byte.  PAI_OK or PAI_EBUSY. */
int pai__task_streams_settle(pai__task_log *f, const char *dir);
/* What its file begins with, as its writer said: bytes of all and of stdout
 * before its first.  False: nobody said so; *rc is PAI_OK or PAI_EBUSY. */
bool pai__task_streams_begin(pai__task_log *f, const char *dir,
                             uint64_t begin[2], int *rc);

/* --- posix_task_times.c: when they were written ----------------------------------- */

/* When the byte `at` of its file was written; 0: nobody knows.  *until is where
 * bytes of another time begin, as far as known. */
pai_time pai__task_times_of(const pai__task_log *f, const char *dir,
                            uint64_t at, uint64_t *until);
/* From which byte of its file on all may be as late as that; UINT64_MAX: none
 * is.  False: nobody knows. */
bool pai__task_times_since(const pai__task_log *f, const char *dir,
                           pai_time since, uint64_t *at);

/* --- posix_task_log.c ------------------------------------------------------------ */

/* Goes on with the next file, if there is one.  1, 0, or PAI_EBUSY. */
int pai__task_log_next(pai__task_log *f, const char *dir);

/* A file, whatever the task has put there, or in its folder's place; -1:
 * errno. */
int pai__task_log_file(const pai__task_log *f, const char *dir,
                       const char *name, const char *suffix);
/* Whether its file has that name now. */
bool pai__task_log_is(const pai__task_log *f, const char *dir,
                      const char *suffix);

/* Whether a reader of the same log in that place comes to the same byte next. */
bool pai__task_log_meets(const pai__task_log *f, const pai__task_log *other,
                         const pai__task_log_at *at);

#endif
