/*
 * main.c - openpai-task, the supervisor: starts one task, stores its output,
 * reports its end
 *
 * Descriptor 3 is the order, 4 the task folder.  Exit code 0: the result is in
 * the file `status`, or another process made that; else an errno.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  MOST_GIDS = 64,
  CLOSE_RANGE = 436 /* system call number, for older headers */
};

/* Closes descriptors that this program was not meant to have; also before
 * Linux 5.9. */
static void close_others(int first)
{
  int most = (int)sysconf(_SC_OPEN_MAX);

  if (syscall(CLOSE_RANGE, first, ~0u, 0u) == 0)
    return;
  for (int fd = first; fd < most; fd++)
    (void)close(fd);
}

/* Closes all other descriptors.  If the task shares namespaces, keeps theirs
 * and reserves the last two numbers. */
static void take_shared(const pai_order *o)
{
  bool shared = (o->flags & PAI_ORDER_SHARED) != 0;

  close_others(shared ? PAI_ORDER_INFO_FD : PAI_ORDER_DIR_FD + 1);
  for (int fd = PAI_ORDER_LIFE_FD; shared && fd <= PAI_ORDER_GO_FD; fd++)
    if (fd >= PAI_ORDER_INFO_FD)
      (void)dup3(STDIN_FILENO, fd, O_CLOEXEC);
    else
      (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static const pai_order *map_order(void)
{
  struct stat info;
  void *bytes;

  if (fstat(PAI_ORDER_FD, &info) < 0 || info.st_size <= 0)
    return NULL;
  bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
               PAI_ORDER_FD, 0);
  if (bytes == MAP_FAILED || pai_order_open(bytes, (size_t)info.st_size) < 0)
    return NULL;
  return bytes;
}

/* Makes this process run as the user for good.  It still has the group files
 * open, through which any process of this machine could be moved: so nobody
 * but root may trace this program, or take a descriptor of it
 * (PR_SET_DUMPABLE, see groups_give_up()). */
int user_become(uid_t uid, gid_t gid, const char *more)
{
  static gid_t gids[MOST_GIDS];
  static struct {
    uint32_t version;
    int pid;
  } head = { 0x20080522, 0 };
  static const uint32_t none[6]; /* three sets of capabilities */
  const char *at = more;
  size_t n = 0;

  while (at != NULL && *at != '\0' && n < MOST_GIDS) {
    char *end;
    gids[n++] = (gid_t)strtoul(at, &end, 10);
    at = *end == ',' ? end + 1 : "";
  }
  if (setgroups(n, gids) < 0 || setresgid(gid, gid, gid) < 0 ||
      setresuid(uid, uid, uid) < 0)
    return errno;
  /* Drops capabilities that a caller's securebits may have kept. */
  (void)syscall(SYS_capset, &head, none);
  if (uid == 0 || setuid(0) == 0 || getuid() != uid || geteuid() != uid)
    return EPERM;
  return prctl(PR_SET_DUMPABLE, 0) < 0 ? errno : 0;
}

/* Creates the status, with the rights for its folder, and becomes the task's
 * user. */
static int become(const pai_order *o)
{
  bool first = o->status.text != NULL;
  int rc = first ? status_make(o) : 0;

  if (rc != 0)
    return rc;
  if ((o->flags & PAI_ORDER_BE_USER) != 0)
    rc = user_become(o->uid, o->gid, o->gids.text);
  if (rc != 0 && first)
    status_remove(o);
  return rc != 0 || first ? rc : status_make(o);
}

/* Prepares the task. 0, or an errno if there is no status file. */
static int prepare(const pai_order *o, ending *end)
{
  int rc;

  (void)setsid();
  groups_open(o);
  end_open(o);
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  rc = run_open(o, end);
  return rc != 0 ? rc : become(o);
}

int main(int argc, char **argv)
{
  static ending end;
  const pai_order *o;
  int rc;

  (void)prctl(PR_SET_NAME, "openpai-task"); /* the program may have been
                                               started by a descriptor's
                                               path */
  if (argc > 1 && strcmp(argv[1], PAI_ORDER_HOLD) == 0) {
    close_others(PAI_ORDER_DIR_FD + 1);
    return hold_run(argv + 2);
  }
  if (argc > 1 && strcmp(argv[1], PAI_ORDER_LOOK) == 0)
    return check_run(argv + 2);
  o = map_order();
  if (o == NULL)
    return EINVAL;
  take_shared(o);
  rc = prepare(o, &end);
  if (rc != 0) {
    end_remove_groups(o);
    return rc == EEXIST ? 0 : rc;
  }
  rc = logs_open(o->log_limit);
  if (rc == 0 && o->note.text != NULL)
    logs_say(o->note.text, "", 0);
  if (rc == 0)
    rc = run_start();
  if (rc != 0) {
    end.failed = NEWS_EXEC;
    end.failure = rc;
    end_clear(o, &end);
    return 0;
  }
  (void)close(PAI_ORDER_FD);
  run_to_end();
  end_clear(o, &end);
  return 0;
}
