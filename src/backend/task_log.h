/*
 * task_log.h - internal: reads a task's log while it is written
 *
 * A log is two files: the writer renames X to X.1 when X is full, and starts a
 * new X.  A reader keeps its file open, so renaming does not disturb it.  It
 * finds the next file by its own file's present name.
 *
 * stdout and stderr are parts of `all` (src/task/streams.h).  In task folders
 * of older supervisors each is a file of its own.
 */
#ifndef PAI_SRC_BACKEND_TASK_LOG_H
#define PAI_SRC_BACKEND_TASK_LOG_H

#include "base/base.h"

#include <sys/types.h>

enum { PAI__TASK_LOG_ENTRIES = 512 }; /* bytes of entries read at once */

/* A reader's position. */
typedef struct pai__task_log_at {
  uint64_t device, inode; /* of the file */
  uint64_t next;          /* offset of the next byte in the file */
  uint64_t until; /* bytes up to here belong to `stream`, as far as known */
  uint64_t entry; /* offset of the next entry */
  int stream;     /* 0 stdout, 1 stderr */
} pai__task_log_at;

typedef struct pai__task_log {
  const char *name; /* of its files; must outlive the reader */
  int only;         /* read one stream only; -1: both */
  bool plain;       /* the streams cannot be told apart */
  bool no_links;    /* do not follow symbolic links */
  bool missed;      /* a file was removed before it was read */
  int fd;           /* -1: not open */
  int entries;      /* the file of entries; -1: not open, or missing */
  bool searched;    /* `entries` was looked for */
  bool timed;       /* split reads by the time of writing */
  pai_time time;    /* time of the bytes read last; 0: not known */
  size_t nbuffer;   /* bytes of `buffer`, which starts at: */
  uint64_t buffer_from;
  pai__task_log_at at;
  unsigned char buffer[PAI__TASK_LOG_ENTRIES];
} pai__task_log;

/* Prepares to read "stdout", "stderr", "all" or "runtime" of a task folder;
 * false: no such log. */
bool pai__task_log_init(pai__task_log *f, const char *name);
/* As for "all", but pai__task_log_pieces() tells the streams apart. */
void pai__task_log_init_pieces(pai__task_log *f);
/* Returns whether the folder is of an older supervisor, with a file for each
 * stream. */
bool pai__task_log_is_old(const char *dir);

/* Opens the first file.  *kept (may be NULL) is the number of bytes there are,
 * *gone that of dropped bytes before them.  PAI_ENOTFOUND: no such log;
 * PAI_EIO; PAI_EPERM; PAI_EBUSY: shortage on this machine. */
int pai__task_log_open(pai__task_log *f, const char *dir, uint64_t *kept,
                       uint64_t *gone, pai_error **err);
/* Reads the next bytes, continuing with the next file at the end of this one.
 * Returns their number, 0: none yet, or an error code. */
int pai__task_log_read(pai__task_log *f, const char *dir, char *bytes,
                       size_t size);
/* The same, passing pieces of one stream each to `tell` until it returns
 * false.  Bytes not passed are read again. */
int pai__task_log_pieces(pai__task_log *f, const char *dir, char *bytes,
                         size_t size,
                         bool (*tell)(void *user_data, int stream,
                                      const char *piece, size_t len),
                         void *user_data);
/* Sets the number of bytes before its file; 0 also if it is not recorded.
 * PAI_OK or PAI_EBUSY. */
int pai__task_log_begin(uint64_t *gone, pai__task_log *f, const char *dir);
/* Skips all that is in the log now.  The file must be open. */
void pai__task_log_to_end(pai__task_log *f, const char *dir);
void pai__task_log_close(pai__task_log *f);

/* --- where to begin (posix_task_from.c) ---------------------------------- */

/* Where to begin reading: the latest of these positions. */
typedef struct pai__log_from {
  int64_t offset; /* offset in all bytes ever written; negative: from the end;
                     INT64_MAX: the end */
  uint64_t tail;  /* number of last lines; 0: all */
  pai_time since; /* output of this time and later; 0: all */
} pai__log_from;

/* Opens a log at a position.  *offset is the number of the first byte wanted,
 * *skip the number of bytes before it that must still be read.  Errors as
 * pai__task_log_open(). */
int pai__task_log_open_from(pai__task_log *f, const char *dir,
                            const pai__log_from *from, uint64_t *offset,
                            uint64_t *skip, pai_error **err);

/* --- the stream of each byte (posix_task_streams.c) ---------------------- */

/* Sets `stream` and `until` for the next byte.  PAI_OK or PAI_EBUSY. */
int pai__task_streams_settle(pai__task_log *f, const char *dir);
/* Sets the number of bytes of all output and of stdout before its file, as the
 * writer recorded them.  False: not recorded; *rc is PAI_OK or PAI_EBUSY. */
bool pai__task_streams_begin(pai__task_log *f, const char *dir,
                             uint64_t begin[2], int *rc);

/* --- times of the output (posix_task_times.c) ---------------------------- */

/* Returns when the byte `at` of its file was written; 0: not known.  *until is
 * where bytes of another time begin, as far as known. */
pai_time pai__task_times_of(const pai__task_log *f, const char *dir,
                            uint64_t at, uint64_t *until);
/* Sets *at to the first byte of its file that may have been written at `since`
 * or later; UINT64_MAX: none.  False: not known. */
bool pai__task_times_since(const pai__task_log *f, const char *dir,
                           pai_time since, uint64_t *at);

/* --- posix_task_log.c ---------------------------------------------------- */

/* Continues with the next file, if there is one. 1, 0, or PAI_EBUSY. */
int pai__task_log_next(pai__task_log *f, const char *dir);

/* Opens a file safely, whatever the task has put in its place or its folder's;
 * -1: errno. */
int pai__task_log_file(const pai__task_log *f, const char *dir,
                       const char *name, const char *suffix);
/* Returns whether its open file has that name now. */
bool pai__task_log_is(const pai__task_log *f, const char *dir,
                      const char *suffix);

/* Returns whether another reader of the same log at `at` reads the same byte
 * next. */
bool pai__task_log_meets(const pai__task_log *f, const pai__task_log *other,
                         const pai__task_log_at *at);

#endif
