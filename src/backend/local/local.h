/* local.h - internal to the back end: one process tree of this user a task */
#ifndef PAI_SRC_BACKEND_LOCAL_LOCAL_H
#define PAI_SRC_BACKEND_LOCAL_LOCAL_H

#include "backend/backend.h"
#include "base/map.h"

#include <uv.h>

typedef struct local local;
typedef struct local_task local_task;

/* One of the task's two output streams. */
typedef struct local_stream {
  local_task *task;
  uv_pipe_t pipe;
  int number; /* 1 or 2 */
  int log_fd;
  bool open;
} local_stream;

struct local_task {
  local *owner;
  uint64_t id;
  char *dir; /* where its logs are */
  uv_process_t process;
  uv_timer_t drain; /* how long output may follow the exit */
  local_stream streams[2];
  int handles; /* not yet closed; the memory goes with the last */
  bool exited;
  bool drained;    /* the time for output is over, but for what is there */
  bool log_failed; /* and that was said */
  int code;
};

struct local {
  pai__backend_host host;
  pai__map tasks;                  /* id to local_task, until it is over */
  size_t unfreed;                  /* tasks whose handles are not all closed */
  void (*closed)(void *user_data); /* set once closing */
  char chunk[65536]; /* every read goes here and is told at once */
};

/* task.c */
int pai__local_task_start(local *l, uint64_t id, const pai__plan *plan,
                          pai_error **err);
void pai__local_task_signal(local_task *t, int signal);

/* local.c: frees the back end if it was closed and this was the last task */
void pai__local_task_freed(local *l);

/* posix_files.c */
typedef struct pai__local_files {
  char *script;   /* path; pai__strfree() */
  int log_fds[2]; /* of stdout and stderr; -1 when not open */
} pai__local_files;

int pai__local_files_make(pai__local_files *out, const pai_alloc *alloc,
                          const pai__plan *plan, pai_error **err);
void pai__local_files_dispose(pai__local_files *files, const pai_alloc *alloc);

/* posix_host.c */
bool pai__local_port_is_free(uint32_t port);
/* The host's environment, with the plan's variables over it; NULL when memory
 * is short.  Only the array is to be freed, with its count. */
char **pai__local_env(const pai__plan *plan, const pai_alloc *alloc,
                      size_t *count);

#endif
