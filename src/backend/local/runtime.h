/*
 * runtime.h - internal to src/backend/local: runtimes of tasks
 *
 * Which runtimes work is found out by trying them, once.  The choice for a
 * task and its command line follow from that and from its plan, purely.
 */
#ifndef PAI_SRC_BACKEND_LOCAL_RUNTIME_H
#define PAI_SRC_BACKEND_LOCAL_RUNTIME_H

#include "backend/backend.h"
#include "backend/local/words.h"
#include "base/os/posix_user.h"

#include <stdatomic.h>

/* A program, and the result of trying it. */
typedef struct pai__tool {
  char *path; /* NULL: not found */
  bool tried, works;
  bool nvidia;       /* engines: can pass NVIDIA GPUs by number */
  char why_not[256]; /* its own error message, or "" */
  /* Engines: whether it runs containers.  Failures are tried again after
   * `again`, because a service may be started meanwhile. */
  bool ran_tried, ran;
  int64_t again;
} pai__tool;

/* A cached answer about an image. */
typedef struct pai__image {
  uint64_t name; /* hash of engine and name; 0: unused */
  int64_t until; /* when it expires */
  bool here;
} pai__image;

enum { PAI__IMAGES = 16 };

/* Namespaces that the sandboxes of a job share. */
typedef struct pai__space {
  struct pai__space *next;
  char *job;      /* its folder, compared in full because names with equal
                     hashes could be chosen */
  size_t users;   /* tasks of this process that use it */
  int32_t holder; /* pid of its first process */
  int life;       /* descriptor that keeps the holder alive while any process
                     has it open */
  int user, pid;  /* its namespaces; `user` -1: not needed by root */
  char shm[48];   /* /dev/shm of its tasks */
} pai__space;

typedef struct pai__runtimes {
  pai__tool bwrap, podman, docker;
  char *bash;          /* NULL: not found */
  bool others;         /* tasks run as other users: programs are tried without
                          root's rights */
  char said[384];      /* what `auto` chooses here without an image, and why */
  const char *program; /* path of the supervisor */
  pai__space *spaces;
  int joins; /* namespaces can be joined: 1: yes; 0: not tried; -1: no */
  /* dry: do not query engines; set `asks` if one is needed. */
  bool dry, asks;
  const atomic_bool *stop; /* stops a query; or NULL */
  pai__image images[PAI__IMAGES];
  unsigned next_image;
} pai__runtimes;

/* Whether an engine has the plan's image locally. */
enum pai__at_hand {
  PAI__HAND_NO, /* no images at all, or not queried */
  PAI__HAND_OTHERS,
  PAI__HAND_YES
};

/* Facts about the machine, besides the plan. */
typedef struct pai__surroundings {
  const char *root;           /* of the platform, or NULL */
  bool hide;                  /* a task sees only its own part of the root */
  const char *here;           /* folder that a sandbox still shows, or NULL */
  const char *const *devices; /* existing device files of GPUs, or NULL */
  const char *const *points;  /* words that create mount points, or NULL */
  /* Home folders that an isolated task does not see, ended by NULL; or
   * NULL. */
  const char *const *homes;
  /* Identities by pai__files_look() of the working directory and each mount's
   * source; or NULL: they cannot be replaced. */
  const char *const *identities;
  const char *shm; /* /dev/shm of the job, or NULL: the task has its own */
  bool join;       /* join the job's pid namespace */
  bool join_user;  /* join the job's user namespace */
  bool join_told;  /* the supervisor is told about it (src/task/order.h) */
  enum pai__at_hand podman, docker; /* for `auto` */
} pai__surroundings;

/* The command line of a task, and other parts of its order. */
typedef struct pai__start {
  int runtime;     /* the chosen PAI_RUNTIME_* */
  char about[640]; /* log line about the runtime; "" if it has no image and
                      runs in the usual one */
  char note[384];  /* log line about missing features */
  pai__backend_words argv, cleanup;    /* cleanup: empty for none */
  pai__backend_words enter, enter_tty; /* empty for none: see pai_order */
  bool tmp;                            /* needs a folder "tmp" of its own */
  bool home;                           /* needs "home": pai__own_add() */
  bool looks;                          /* pai__bwrap_look() */
  bool script_stdin;                   /* the script is standard input */
  bool spare_first;                    /* its first process only waits */
} pai__start;

/* Name that a job gives instead of an image for none. */
#define PAI__NO_IMAGE "host"

static inline bool pai__has_image(const pai_launch_plan *plan)
{
  return plan->image != NULL && plan->image[0] != '\0' &&
         strcmp(plan->image, PAI__NO_IMAGE) != 0;
}

/* runtime.c */
void pai__start_init(pai__start *s, const pai_alloc *alloc);
void pai__start_dispose(pai__start *s);
/* PAI_OK; PAI_ENOMEM; PAI_ENOTFOUND: no bash; PAI_ENOTSUP: a runtime that was
 * requested by name does not work here. */
int pai__start_choose(pai__start *s, const pai_launch_plan *plan,
                      const pai__runtimes *r, const pai__surroundings *around,
                      pai_error **err);

/* sandbox.c: returns whether a path is that folder or in it. */
bool pai__is_within(const char *path, const char *folder);
/* Writes the outermost folder whose name no task can change, for a folder in
 * the root or in /tmp: ROOT/storages/NAME, or /tmp; else the folder itself. */
void pai__fixed_top(char *out, size_t size, const char *path,
                    const char *root);
bool pai__root_is_hidden(const pai__surroundings *around);
/* Returns where the root would be visible in a mounted folder: "/...", or ""
 * if it is that folder; NULL: nowhere, or it need not be hidden. */
const char *pai__root_in(const char *source, const pai__surroundings *around);
/* Adds the path of a folder that replaces one of the machine for a task.  If
 * the root is hidden, it is below PAI__OWN_FOLDER, at its task folder's path
 * in the root; else it is in the task folder.  NULL: out of memory. */
#define PAI__OWN_FOLDER "own"
enum { PAI__OWN_PATH = 4352 };
/* Writes the folder there that belongs to a task folder; false: the task
 * folder is not in the root, which may be NULL. */
bool pai__own_dir(char out[PAI__OWN_PATH], const char *root, const char *dir);
const char *pai__own_add(pai__backend_words *w, const pai_launch_plan *plan,
                         const pai__surroundings *around, const char *name);
/* Returns whether the machine's working directory is mounted in the sandbox,
 * at its own path. */
bool pai__bwrap_shows_workdir(const pai_launch_plan *plan,
                              const pai__surroundings *around);
/* Adds the words that check, before the command, that the mounted files are
 * those looked at; false: nothing to check. */
bool pai__bwrap_look(pai__backend_words *w, const pai_launch_plan *plan,
                     const pai__surroundings *around);
/* Adds bubblewrap's words up to the command; also used to test it. */
void pai__bwrap_words(pai__backend_words *w, const char *bwrap,
                      const pai_launch_plan *plan,
                      const pai__surroundings *around);

/* linux_space.c: gets the namespaces of the plan's job; *out is NULL if they
 * are not possible.  Give them back (NULL: no effect) when the task has ended
 * here.  PAI_OK or PAI_ENOMEM. */
int pai__space_take(pai__space **out, pai__runtimes *r, const pai_alloc *alloc,
                    const pai_launch_plan *plan, const pai__user *who);
void pai__space_give_back(pai__runtimes *r, const pai_alloc *alloc,
                          pai__space *it);
void pai__spaces_dispose(pai__runtimes *r, const pai_alloc *alloc);
/* posix_probe.c: sets r->joins.  PAI_OK or PAI_ENOMEM. */
int pai__runtimes_try_join(pai__runtimes *r, const pai_alloc *alloc,
                           const pai__space *space, const pai__user *who);

/* posix_mounts.c: adds bubblewrap's words that create missing mount points of
 * the plan. */
void pai__mount_points(pai__backend_words *out, const pai_launch_plan *plan);
/* Returns bubblewrap's option that mounts a folder of the machine. */
static inline const char *pai__bind_word(const pai_launch_plan *plan)
{
  return (plan->flags & PAI_LAUNCH_APART) != 0 ? "--ro-bind-try"
                                               : "--dev-bind-try";
}

/* container.c: a file in a container's task folder: the script has begun, and
 * at its end the counters of its control group. */
#define PAI__BEGUN_FILE "container.begun"
/* The file with the container's id; the engine's name follows. */
#define PAI__ID_FILE "container."
void pai__container_words(pai__start *s, const pai__tool *engine,
                          const pai_launch_plan *plan,
                          const pai__surroundings *around);

/* posix_probe.c: _find() finds programs.  _probe() tries those that a task of
 * this runtime needs and that were not tried yet.  That takes milliseconds,
 * for a container engine up to seconds.  For `auto` an engine is queried only
 * if it has any image.  PAI_OK or PAI_ENOMEM. */
int pai__runtimes_find(pai__runtimes *r, const char *program,
                       const pai_alloc *alloc);
int pai__runtimes_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan,
                        pai__surroundings *around);
/* posix_engine.c: returns whether podman or docker must be queried for that
 * plan, which may take half a minute. */
bool pai__engines_ask(pai__runtimes *r, const pai_alloc *alloc,
                      const pai_launch_plan *plan);
/* The part of pai__runtimes_probe() for engines. */
void pai__engines_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan,
                        pai__surroundings *around);
/* Returns whether that user may use docker.  NULL: this process. */
bool pai__docker_lets(const pai__runtimes *r, const pai__user *who);
/* Removes the container of a task whose supervisor is lost, if there is
 * one. */
void pai__container_forget(const pai__runtimes *r, const char *task_dir);
/* Adds the existing device files of the GPUs in the mask. */
void pai__gpu_devices(pai__backend_words *out, uint64_t gpus);
void pai__runtimes_dispose(pai__runtimes *r, const pai_alloc *alloc);

#endif
