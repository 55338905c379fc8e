/*
 * hold.c - holds a pid namespace that tasks of one job share
 *
 * Tasks of a job see each other's processes, as MPI needs, and no others.  A
 * pid namespace ends with its first process, so that is this program.  It
 * waits until neither the platform nor a supervisor of such a task has the
 * other end of its pipe open.  Then it exits and the kernel kills the
 * remaining processes.
 *
 * The job's processes belong to the same user.  They cannot inspect this
 * process (it is not dumpable, and has rights in its namespace that they
 * lack), nor reach the machine by /proc/1/root: its root is an empty folder.
 * It also removes the tasks' shared /dev/shm: shm.c.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIFE_FD = 3, READY_FD = 4 };

static bool write_file(const char *path, const char *text, size_t len)
{
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len;

  if (fd >= 0)
    (void)close(fd);
  return good;
}

/* Maps one user or group to itself. */
static bool write_map(const char *path, int64_t id)
{
  line l = { .len = 0 };

  line_number(&l, id);
  line_add(&l, " ");
  line_number(&l, id);
  line_add(&l, " 1");
  return write_file(path, l.text, l.len);
}

static bool map_self(uid_t uid, gid_t gid)
{
  return write_file("/proc/self/setgroups", "deny", 4) &&
         write_map("/proc/self/uid_map", uid) &&
         write_map("/proc/self/gid_map", gid);
}

static bool empty_root(void)
{
  return mount(NULL, "/", NULL, MS_SILENT | MS_SLAVE | MS_REC, NULL) == 0 &&
         mount("tmpfs", "/tmp", "tmpfs", MS_NODEV | MS_NOSUID | MS_RDONLY,
               "size=4k") == 0 &&
         child_go_to("/tmp") && syscall(SYS_pivot_root, ".", ".") == 0 &&
         umount2(".", MNT_DETACH) == 0 && child_go_to("/");
}

/* Runs as the first process; orphans are reaped automatically. */
_Noreturn static void be_first(void)
{
  struct sigaction ignored = { .sa_handler = SIG_IGN };
  char none;

  (void)sigaction(SIGCHLD, &ignored, NULL);
  while (read(LIFE_FD, &none, 1) != 0)
    continue;
  shm_remove();
  _exit(0);
}

/* It becomes untraceable before its pid is known. */
static pid_t start_first(void)
{
  int done[2];
  pid_t pid;
  char none;

  if (pipe2(done, O_CLOEXEC) < 0)
    return -1;
  pid = fork();
  if (pid == 0) {
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)close(READY_FD);
    (void)close(done[0]);
    (void)close(done[1]);
    be_first();
  }
  (void)close(done[1]);
  (void)!read(done[0], &none, 1);
  (void)close(done[0]);
  return pid;
}

/* Arguments: the name of the job's folder in /dev/shm; for another user also
 * its uid, gid and supplementary groups. */
int hold_run(char **argv)
{
  char **who = argv + 1;
  struct pollfd reader = { READY_FD, 0, 0 };
  bool other = argv[0] != NULL && who[0] != NULL && who[1] != NULL;
  int rc = other ? user_become((uid_t)strtoul(who[0], NULL, 10),
                               (gid_t)strtoul(who[1], NULL, 10), who[2])
                 : 0;
  uid_t uid = geteuid();
  gid_t gid = getegid();
  int32_t first;

  if (rc != 0)
    return rc;
  if (argv[0] == NULL || !shm_make(argv[0]))
    return EINVAL;
  (void)setsid();
  (void)prctl(PR_SET_DUMPABLE, 1); /* or its maps could not be written */
  if (unshare(CLONE_NEWPID | CLONE_NEWNS | (uid != 0 ? CLONE_NEWUSER : 0)) <
        0 ||
      (uid != 0 && !map_self(uid, gid)) || !empty_root())
    return errno;
  first = start_first();
  if (first < 0)
    return errno;
  if (write(READY_FD, &first, sizeof(first)) != (ssize_t)sizeof(first))
    return EIO;
  while (poll(&reader, 1, -1) < 0) /* until the namespaces were opened */
    continue;
  return 0;
}
