/* files.h - internal to the room: access to jobs' working folders */
#ifndef PAI_SRC_PLATFORM_FILES_FILES_H
#define PAI_SRC_PLATFORM_FILES_FILES_H

#include "base/os/posix_below.h"
#include "loop/op.h"
#include "platform/platform.h"

#include <openpai/files.h>

typedef struct pai__job_folder {
  char *path;
  pai__user *who; /* user for access to it; NULL: this process' */
  bool own;       /* it belongs to this job alone */
} pai__job_folder;

/* PAI_ENOTFOUND: no such job, or it has no such folder. */
int pai__job_folder_find(pai__job_folder *out, const pai_platform *p,
                         pai_job_id job, bool own, pai_error **err);
/* Opens it as its user.  After PAI_OK the thread acts as that user until
 * pai__job_folder_leave().  *out is of `alloc`.  For any thread. */
int pai__job_folder_enter(pai__below *out, const pai__job_folder *f,
                          const pai_alloc *alloc, pai_error **err);
void pai__job_folder_leave(const pai__below *b, const pai__job_folder *f);
void pai__job_folder_dispose(pai__job_folder *f, const pai_alloc *alloc);

/* Copies it, for another thread.  PAI_ENOMEM. */
int pai__job_folder_copy(pai__job_folder *out, const pai__job_folder *f,
                         const pai_alloc *alloc, pai_error **err);

/* file_writer.c: as pai_file_writer_open(), for any thread; takes `of`, which
 * is of `alloc`. */
int pai__file_writer_new(pai_file_writer **out, const pai_alloc *alloc,
                         pai__job_folder *of, pai__platform_swept *swept,
                         const pai_file_write_options *o, pai_error **err);
/* file_writer.c: tells whether a name is that of an incomplete upload. */
bool pai__file_is_part(const char *name);

/* --- lists and copies of files, made in other threads (file_tasks.c) --- */

/* Copies take long, so they have a queue of their own. */
enum { PAI__FILE_LIST, PAI__FILE_COPY, PAI__FILE_QUEUES };

typedef struct pai__file_task pai__file_task;
struct pai__file_task {
  pai_op op; /* of copies: for pai_op_cancel() */
  pai_platform *p;
  pai__file_task *next; /* in its queue, or of those that run */
  pai__work *work;
  pai__job_folder folder;
  size_t size;
  int queue;           /* PAI__FILE_* */
  atomic_bool stopped; /* it is to end soon */
  /* In the other thread: writes `json`, or sets `rc` and `err`. */
  void (*run)(pai__file_task *t);
  void (*dispose)(pai__file_task *t);
  pai_files_cb cb;
  void *user_data;
  pai__buf json; /* with libc's allocator, as all that `run` makes */
  int rc;
  pai_error *err;
};

/* Makes a task of `size` bytes, zeroed after its head. */
int pai__file_task_new(pai__file_task **out, pai_platform *p, int queue,
                       size_t size, void (*run)(pai__file_task *t),
                       void (*dispose)(pai__file_task *t), pai_files_cb cb,
                       void *user_data, pai_error **err);
/* Starts it if `rc` is PAI_OK; frees it after a failure. */
int pai__file_task_start(pai__file_task *t, int rc, pai_job_id job, bool own,
                         pai_error **err);
/* Whether it is to end soon. */
const atomic_bool *pai__file_task_stopped(const pai__file_task *t);

int pai__listings_open(pai_platform *p, pai_error **err);
/* Makes tasks that are under way end soon. */
void pai__listings_stop(pai_platform *p);
/* No task is under way: they may be closed. */
bool pai__listings_are_idle(const pai_platform *p);
void pai__listings_close(pai_platform *p);

#endif
