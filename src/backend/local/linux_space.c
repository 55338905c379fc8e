/*
 * linux_space.c - pid and user namespaces that the tasks of one job share
 *
 * MPI's processes refer to each other by pid and read each other's memory.
 * For that they need one pid namespace and, unless they are root's, one user
 * namespace, which bubblewrap would create for each sandbox.  No other process
 * is in them.  They are created for the job's first task and end with the
 * last: src/task/hold.c.
 */
#define _GNU_SOURCE
#include "backend/local/posix_launch.h"
#include "backend/local/posix_try.h"
#include "backend/local/runtime.h"
#include "loop/loop.h"
#include "task/order.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The holder removes folders of killed holders first. */
enum { HIGH_FD = 16, PATIENCE_MS = 30000, GIDS = PAI__GROUPS_MOST * 11 + 1 };

/* --- first process ------------------------------------------------------- */

static int spawn_with(pid_t *pid, const char *program, char *const *argv,
                      int life, int ready)
{
  posix_spawn_file_actions_t actions;
  char *env[] = { NULL };
  int rc = posix_spawn_file_actions_init(&actions);

  if (rc != 0)
    return rc;
  for (int i = 0; i < 3 && rc == 0; i++)
    rc = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, life, 3);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, ready, 4);
  if (rc == 0)
    rc = pai__spawn(pid, program, &actions, argv, env);
  (void)posix_spawn_file_actions_destroy(&actions);
  return rc;
}

static void write_gids(char out[GIDS], const pai__user *who)
{
  size_t n = 0;

  out[0] = '\0';
  for (size_t i = 0; i < who->ngroups; i++)
    n += (size_t)snprintf(out + n, GIDS - n, "%s%u", i > 0 ? "," : "",
                          who->groups[i]);
}

static int spawn_holder(pid_t *pid, const char *program, char *shm,
                        const pai__user *who, int life, int ready)
{
  char name[] = "openpai-task", hold[] = PAI_ORDER_HOLD, uid[16], gid[16],
       gids[GIDS], *argv[] = { name, hold, shm, uid, gid, gids, NULL };

  if (who == NULL) {
    argv[3] = NULL;
  } else {
    (void)snprintf(uid, sizeof(uid), "%u", who->uid);
    (void)snprintf(gid, sizeof(gid), "%u", who->gid);
    write_gids(gids, who);
  }
  return spawn_with(pid, program, argv, life, ready);
}

/* --- namespaces ---------------------------------------------------------- */

/* Moves a descriptor away from the numbers at which a task gets it. */
static int move_high(int fd)
{
  int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

  if (fd >= 0)
    (void)close(fd);
  return high;
}

static int open_one(pid_t pid, const char *name)
{
  char path[64];

  (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
  return move_high(open(path, O_RDONLY | O_CLOEXEC));
}

/* A signal of the host must not part the job's first task from the others. */
static bool read_number(int fd, int32_t *number)
{
  int64_t end = pai__try_now() + PATIENCE_MS, left = PATIENCE_MS;
  struct pollfd at = { fd, POLLIN, 0 };
  int came;

  while ((came = poll(&at, 1, (int)left)) < 0 && errno == EINTR) {
    left = end - pai__try_now();
    if (left <= 0)
      return false;
  }
  return came == 1 &&
         read(fd, number, sizeof(*number)) == (ssize_t)sizeof(*number);
}

/* Opens the namespaces of `pid`, which lives until its pipe is closed. */
static bool open_all(pai__space *it, pid_t pid, bool root)
{
  it->pid = open_one(pid, "pid_for_children");
  it->user = root ? -1 : open_one(pid, "user");
  return it->pid >= 0 && (root || it->user >= 0);
}

static void close_all(pai__space *it)
{
  if (it->life >= 0)
    (void)close(it->life);
  if (it->user >= 0)
    (void)close(it->user);
  if (it->pid >= 0)
    (void)close(it->pid);
}

static void reap(pid_t pid)
{
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    continue;
}

/* False: not possible here. */
static bool make(pai__space *it, const char *program, const pai__user *who)
{
  int life[2], ready[2];
  bool good = false;
  pid_t pid;

  (void)snprintf(it->shm, sizeof(it->shm),
                 PAI_ORDER_SHM "/" PAI_ORDER_SHM_BEGIN "%016" PRIx64,
                 pai__loop_seed());
  it->life = it->user = it->pid = -1;
  if (pipe2(life, O_CLOEXEC) < 0)
    return false;
  it->life = move_high(life[1]);
  life[0] = move_high(life[0]);
  if (it->life >= 0 && life[0] >= 0 && pipe2(ready, O_CLOEXEC) == 0) {
    ready[1] = move_high(ready[1]);
    if (ready[1] >= 0 &&
        spawn_holder(&pid, program, it->shm + strlen(PAI_ORDER_SHM "/"), who,
                     life[0], ready[1]) == 0) {
      (void)close(ready[1]);
      good = read_number(ready[0], &it->holder) &&
             open_all(it, pid, who == NULL && geteuid() == 0);
      if (!good)
        (void)kill(pid, SIGKILL);
      (void)close(ready[0]);
      reap(pid);
    } else {
      (void)close(ready[0]);
      if (ready[1] >= 0)
        (void)close(ready[1]);
    }
  }
  if (life[0] >= 0)
    (void)close(life[0]);
  if (!good)
    close_all(it);
  return good;
}

/* --- namespaces of all jobs ---------------------------------------------- */

static void forget(pai__space *it, const pai_alloc *alloc)
{
  close_all(it);
  pai__strfree(alloc, it->job);
  pai__free(alloc, it, sizeof(*it));
}

void pai__spaces_dispose(pai__runtimes *r, const pai_alloc *alloc)
{
  while (r->spaces != NULL) {
    pai__space *it = r->spaces;

    r->spaces = it->next;
    forget(it, alloc);
  }
}

void pai__space_give_back(pai__runtimes *r, const pai_alloc *alloc,
                          pai__space *it)
{
  pai__space **at = &r->spaces;

  if (it == NULL || --it->users > 0)
    return;
  while (*at != it)
    at = &(*at)->next;
  *at = it->next;
  forget(it, alloc);
}

static int add_space(pai__space **out, pai__runtimes *r,
                     const pai_alloc *alloc, const char *job,
                     const pai__user *who)
{
  pai__space *it = pai__zalloc(alloc, sizeof(*it));
  int rc = PAI_OK;

  if (it == NULL)
    return PAI_ENOMEM;
  if (!make(it, r->program, who)) {
    pai__free(alloc, it, sizeof(*it));
    return PAI_OK;
  }
  it->job = pai__strdup(alloc, job);
  if (it->job == NULL)
    rc = PAI_ENOMEM;
  else if (r->joins == 0)
    rc = pai__runtimes_try_join(r, alloc, it, who);
  if (rc < 0 || r->joins < 0) {
    forget(it, alloc);
    return rc;
  }
  it->next = r->spaces;
  r->spaces = *out = it;
  return PAI_OK;
}

int pai__space_take(pai__space **out, pai__runtimes *r, const pai_alloc *alloc,
                    const pai_launch_plan *plan, const pai__user *who)
{
  const char *job = plan->job_dir != NULL ? plan->job_dir : plan->dir;
  int rc = PAI_OK;

  *out = NULL;
  if (r->joins < 0 || !r->bwrap.works)
    return PAI_OK;
  for (pai__space *it = r->spaces; it != NULL && *out == NULL; it = it->next)
    if (strcmp(it->job, job) == 0)
      *out = it;
  if (*out == NULL)
    rc = add_space(out, r, alloc, job, who);
  if (*out != NULL)
    (*out)->users++;
  return rc;
}
