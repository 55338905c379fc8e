/* logs.h - internal to the room: readers of tasks' logs */
#ifndef PAI_SRC_PLATFORM_LOGS_H
#define PAI_SRC_PLATFORM_LOGS_H

#include "platform/platform.h"

#include <openpai/records.h>

/* --- posix_log.c: a log that is two files, X.1 before X ------------------------ */

typedef struct pai__log_file {
  int fd;                 /* -1: not open */
  uint64_t device, inode; /* which file it is, */
  uint64_t at;            /* and the next byte of it */
  bool no_links;          /* none is followed; to be set before it is opened */
} pai__log_file;

/* Whether both come to the same byte next. */
static inline bool pai__log_files_meet(const pai__log_file *a,
                                       const pai__log_file *b)
{
  return a->fd >= 0 && b->fd >= 0 && a->inode == b->inode && a->at == b->at &&
         a->device == b->device;
}

/* Opens its first file.  *kept is how many bytes there are in both, *gone how
 * many there were before them.  PAI_ENOTFOUND: there is none; PAI_EIO;
 * PAI_EPERM. */
int pai__log_file_open(pai__log_file *f, const char *path, uint64_t *kept,
                       uint64_t *gone, const pai_alloc *alloc,
                       pai_error **err);
/* The next bytes, in the next file if there are no more in this one; 0: none
 * yet.  A code. */
int pai__log_file_read(pai__log_file *f, const char *path, char *bytes,
                       size_t size, const pai_alloc *alloc);
void pai__log_file_close(pai__log_file *f);

/* --- logs_find.c --------------------------------------------------------------- */

/* A start of a task of a job that is there or was. */
typedef struct pai__log_place {
  char *dir;      /* of the start, or NULL: it has none yet */
  pai__user *who; /* whose it is, and who reads it; NULL: this process */
  uint32_t task;  /* in its job, if that is there; */
  uint32_t start; /* and which start of it, from 0 */
  uint32_t attempt;
  bool over; /* nothing more is written */
} pai__log_place;

/* A task of a job that is there, by its role's name (NULL: any) and index;
 * UINT32_MAX: there is none. */
uint32_t pai__log_find_task(const pai__pjob *j, const char *role,
                            uint32_t index);
int pai__log_find(pai__log_place *out, pai_platform *p, pai_job_id job,
                  const pai_log_options *o, pai_error **err);
/* The same again, when something has happened to the job. */
int pai__log_look(pai__log_place *place, pai_platform *p, pai_job_id job);

/* --- logs.c ---------------------------------------------------------------------- */

/* Something has happened to a job: who reads of it looks. */
void pai__logs_wake(pai_platform *p, pai_job_id job);
void pai__logs_free(pai_platform *p);

#endif
