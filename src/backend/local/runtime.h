/*
 * runtime.h - internal to the back end: in what a task runs
 *
 * Which runtimes work here is found out by trying, once; which one a task gets
 * and the words that start it follow from that and from its plan, purely.
 */
#ifndef PAI_SRC_BACKEND_LOCAL_RUNTIME_H
#define PAI_SRC_BACKEND_LOCAL_RUNTIME_H

#include "backend/backend.h"
#include "backend/local/words.h"
#include "base/posix_user.h"

#include <stdatomic.h>

/* A program, and what it said when it was tried. */
typedef struct pai__tool {
  char *path; /* NULL: there is none */
  bool tried, works;
  bool nvidia; /* of engines: it hands on NVIDIA's GPUs by their numbers */
  char why_not[256]; /* its own words, or "" */
  /* Of engines, by a try of it: it runs containers.  Failures are tried again
   * after `again`, for a service may be started meanwhile. */
  bool ran_tried, ran;
  int64_t again;
} pai__tool;

/* What is known of an image that a task had. */
typedef struct pai__image {
  uint64_t name; /* hash of engine and name; 0: nothing */
  int64_t until; /* and for how long */
  bool here;
} pai__image;

enum { PAI__IMAGES = 16 };

/* Name spaces that the sandboxes of a job have in common. */
typedef struct pai__space {
  struct pai__space *next;
  char *job;      /* its folder: for a hash of it names could be chosen */
  size_t users;   /* tasks that hold it here */
  int32_t holder; /* the number of its first process */
  int life;       /* descriptors: while one has this open, that lives; */
  int user, pid;  /* its name spaces; `user` -1: root needs none */
  char shm[48];   /* what its tasks have as /dev/shm */
} pai__space;

typedef struct pai__runtimes {
  pai__tool bwrap, podman, docker;
  char *bash;     /* NULL: there is none */
  bool others;    /* tasks are other users': what is tried for them is tried
                      without root's rights */
  char said[384]; /* what `auto` is here without an image, and why */
  const char *program; /* the supervisor's */
  pai__space *spaces;
  int joins; /* 1: they can be joined; 0: not tried; -1: not here */
  /* What an engine has to be asked for is not asked, but noted. */
  bool dry, asks;
  const atomic_bool *stop; /* ends what is asked; or NULL */
  pai__image images[PAI__IMAGES];
  unsigned next_image;
} pai__runtimes;

/* Has an engine the plan's image at hand? */
enum pai__at_hand {
  PAI__HAND_NO, /* nor has it others, or it is not asked */
  PAI__HAND_OTHERS,
  PAI__HAND_YES
};

/* What of the machine counts, beside the plan. */
typedef struct pai__surroundings {
  const char *root; /* the platform's, or NULL; of which a task sees, */
  bool hide;        /* with this, what is its own: else all */
  const char *here; /* a folder that a sandbox goes on showing, or NULL */
  const char *const *devices; /* files of GPUs that there are, or NULL */
  const char *const *points;  /* words that make places for mounts, or NULL */
  /* Folders of the user's that one apart does not see, up to a NULL; or NULL. */
  const char *const *homes;
  /* Of where it begins, then of each mount's source, as pai__files_look() found
   * it; or NULL: nothing can be in their place. */
  const char *const *identities;
  const char *shm; /* the job's /dev/shm, or NULL: the task has its own */
  bool join;       /* a name space of processes that its job has; with it, */
  bool join_user;  /* one of users; */
  bool join_told;  /* and its supervisor is told of it (src/task/order.h) */
  enum pai__at_hand podman, docker; /* of `auto` */
} pai__surroundings;

/* The words that start a task, and what else its order has. */
typedef struct pai__start {
  int runtime;                 /* PAI_RUNTIME_*, which it really is */
  char about[640];             /* in what it runs, and why; "" if it has no
                                  image and runs as is usual */
  char note[384];              /* what it is not given; both for the log */
  pai__words argv, cleanup;    /* the latter of no words: none */
  pai__words enter, enter_tty; /* likewise: see pai_order */
  bool tmp;                    /* needs a folder "tmp" of its own, */
  bool home;                   /* and "home": pai__own_add() */
  bool looks;                  /* pai__bwrap_look() */
  bool script_stdin;           /* the script is read as standard input */
  bool spare_first;            /* its first process only waits */
} pai__start;

/* The name that a job has in the place of an image's when it has none. */
#define PAI__NO_IMAGE "host"

static inline bool pai__has_image(const pai_launch_plan *plan)
{
  return plan->image != NULL && plan->image[0] != '\0' &&
         strcmp(plan->image, PAI__NO_IMAGE) != 0;
}

/* runtime.c */
void pai__start_init(pai__start *s, const pai_alloc *alloc);
void pai__start_dispose(pai__start *s);
/* PAI_OK; PAI_ENOMEM; PAI_ENOTFOUND: no bash; PAI_ENOTSUP: what was wished for
 * by name and cannot be replaced does not work here. */
int pai__start_choose(pai__start *s, const pai_launch_plan *plan,
                      const pai__runtimes *r, const pai__surroundings *around,
                      pai_error **err);

/* sandbox.c: is it that folder, or in it? */
bool pai__is_within(const char *path, const char *folder);
/* Of a folder in the root or in /tmp the outermost whose name no task can change:
 * ROOT/storages/NAME, or /tmp; else the folder itself. */
void pai__fixed_top(char *out, size_t size, const char *path,
                    const char *root);
bool pai__root_is_hidden(const pai__surroundings *around);
/* Where in a folder that is shown the root would be seen: "/...", or "" if it is
 * that folder; NULL: nowhere, or it may be. */
const char *pai__root_in(const char *source, const pai__surroundings *around);
/* A folder that is shown to a task in the place of one of the machine, as a
 * word: in a root that is hidden below PAI__OWN_FOLDER of that, at the path that
 * its task folder has in the root; else in the task folder.  NULL: no memory. */
#define PAI__OWN_FOLDER "own"
enum { PAI__OWN_PATH = 4352 };
/* The folder there that belongs to a task folder; false: that does not lie in the
 * root, which may be NULL. */
bool pai__own_dir(char out[PAI__OWN_PATH], const char *root, const char *dir);
const char *pai__own_add(pai__words *w, const pai_launch_plan *plan,
                         const pai__surroundings *around, const char *name);
/* Is what is there on the machine where commands begin bound there? */
bool pai__bwrap_shows_workdir(const pai_launch_plan *plan,
                              const pai__surroundings *around);
/* The words of what looks, before the command, whether what is shown is what was
 * looked at; false: there are none. */
bool pai__bwrap_look(pai__words *w, const pai_launch_plan *plan,
                     const pai__surroundings *around);
/* bubblewrap's words up to the command; also to try whether it works. */
void pai__bwrap_words(pai__words *w, const char *bwrap,
                      const pai_launch_plan *plan,
                      const pai__surroundings *around);

/* linux_space.c: those of the plan's job; *out is NULL where there can be none.
 * To be given back (NULL: nothing is done) when the task has ended here.  PAI_OK
 * or PAI_ENOMEM. */
int pai__space_take(pai__space **out, pai__runtimes *r, const pai_alloc *alloc,
                    const pai_launch_plan *plan, const pai__user *who);
void pai__space_give_back(pai__runtimes *r, const pai_alloc *alloc,
                          pai__space *it);
void pai__spaces_dispose(pai__runtimes *r, const pai_alloc *alloc);
/* posix_probe.c: sets r->joins.  PAI_OK or PAI_ENOMEM. */
int pai__runtimes_try_join(pai__runtimes *r, const pai_alloc *alloc,
                           const pai__space *space, const pai__user *who);

/* posix_mounts.c: bubblewrap's words for places that mounts of the plan lack. */
void pai__mount_points(pai__words *out, const pai_launch_plan *plan);
/* bubblewrap's word that shows a folder of the machine. */
static inline const char *pai__bind_word(const pai_launch_plan *plan)
{
  return (plan->flags & PAI_LAUNCH_APART) != 0 ? "--ro-bind-try"
                                               : "--dev-bind-try";
}

/* container.c: what is in a task folder of a container.  Its script was begun,
 * and at its end what its control group counted; */
#define PAI__BEGUN_FILE "container.begun"
/* and, with the engine's name behind it, what the engine calls it. */
#define PAI__ID_FILE "container."
void pai__container_words(pai__start *s, const pai__tool *engine,
                          const pai_launch_plan *plan,
                          const pai__surroundings *around);

/* posix_probe.c: finds programs; then tries those that a task of this runtime
 * needs and nobody tried yet, which takes some milliseconds, of a container's
 * engine up to some seconds.  Of `auto` an engine is asked only if it has
 * images at all.  PAI_OK or PAI_ENOMEM. */
int pai__runtimes_find(pai__runtimes *r, const char *program,
                       const pai_alloc *alloc);
int pai__runtimes_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan,
                        pai__surroundings *around);
/* posix_engine.c: must podman or docker be asked something for that plan?  Which
 * may take half a minute. */
bool pai__engines_ask(pai__runtimes *r, const pai_alloc *alloc,
                      const pai_launch_plan *plan);
/* What of pai__runtimes_probe() is theirs. */
void pai__engines_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan,
                        pai__surroundings *around);
/* May that user use docker?  NULL: this process. */
bool pai__docker_lets(const pai__runtimes *r, const pai__user *who);
/* Removes the container of a task whose supervisor is lost, if it has one. */
void pai__container_forget(const pai__runtimes *r, const char *task_dir);
/* Files of the GPUs in the mask, as far as there are such. */
void pai__gpu_devices(pai__words *out, uint64_t gpus);
void pai__runtimes_dispose(pai__runtimes *r, const pai_alloc *alloc);

#endif
