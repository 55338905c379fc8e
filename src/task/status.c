/*
 * status.c - the file `status`: lines that are only appended
 *
 * A restarted platform trusts it: so it is in a folder of the platform that
 * the task can neither see nor write, if there is one.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS_BYTES = 1024 };

static const char name[] = "status";
static int status = -1; /* descriptor of the file */

/* --- creation ------------------------------------------------------------ */

/* Returns the start time of this process in kernel ticks.  With pid and boot
 * id it identifies the process uniquely. */
static int64_t start_ticks(void)
{
  char text[512], *at;

  if (read_small(AT_FDCWD, "/proc/self/stat", text, sizeof(text)) <= 0)
    return 0;
  at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++)
    at = strchr(at + 1, ' ');
  return at != NULL ? strtoll(at + 1, NULL, 10) : 0;
}

/* Opens its folder; -1: errno. */
static int open_folder(const pai_order *o)
{
  return o->status.text != NULL
           ? open(o->status.text, O_PATH | O_DIRECTORY | O_CLOEXEC)
           : fcntl(PAI_ORDER_DIR_FD, F_DUPFD_CLOEXEC, 0);
}

/* It has its first line before it gets its name, so it is never seen empty,
 * even if this process is killed. */
static int make_in(int folder)
{
  static const char draft[] = "status.new";
  line l = { .len = 0 };
  char boot[64];
  int rc = 0;

  status = openat(folder, draft,
                  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (status < 0)
    return errno;
  if (read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot,
                 sizeof(boot)) < 0)
    boot[0] = '\0';
  boot[strcspn(boot, "\n")] = '\0';
  line_add(&l, "supervisor ");
  line_number(&l, getpid());
  line_add(&l, " ");
  line_number(&l, start_ticks());
  line_add(&l, " ");
  line_add(&l, boot);
  /* Reserves disk space for all later lines, so that a full disk loses no
   * result.  If that is not supported, writing the first line shows whether
   * the disk has space. */
  (void)fallocate(status, FALLOC_FL_KEEP_SIZE, 0, STATUS_BYTES);
  if (!line_write(&l, status) || linkat(folder, draft, folder, name, 0) < 0)
    rc = errno;
  (void)unlinkat(folder, draft, 0);
  return rc;
}

int status_make(const pai_order *o)
{
  int folder = open_folder(o), rc = folder < 0 ? errno : make_in(folder);

  if (folder >= 0)
    (void)close(folder);
  return rc;
}

void status_remove(const pai_order *o)
{
  int folder = open_folder(o);

  if (folder < 0)
    return;
  (void)unlinkat(folder, name, 0);
  (void)close(folder);
}

void status_close(void)
{
  if (status >= 0)
    (void)close(status);
  status = -1;
}

/* --- later lines --------------------------------------------------------- */

void status_started(pid_t pid, pid_t keeper)
{
  line l = { .len = 0 };

  line_add(&l, "started ");
  line_number(&l, pid);
  line_add(&l, " ");
  line_number(&l, wall_time());
  line_add(&l, " ");
  line_number(&l, keeper);
  (void)line_write(&l, status);
}

void status_cut(const char *log)
{
  line l = { .len = 0 };

  line_add(&l, "cut ");
  line_add(&l, log);
  (void)line_write(&l, status);
}

static int64_t microseconds(struct timeval t)
{
  return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

/* KIND NUMBER TIME MAXRSS UTIME STIME OOM ERRNO */
void status_end(const char *kind, int number, int oom, int error)
{
  struct rusage use;
  line l = { .len = 0 };
  int64_t numbers[7];

  memset(&use, 0, sizeof(use));
  (void)getrusage(RUSAGE_CHILDREN, &use);
  numbers[0] = number;
  numbers[1] = wall_time();
  numbers[2] = use.ru_maxrss;
  numbers[3] = microseconds(use.ru_utime);
  numbers[4] = microseconds(use.ru_stime);
  numbers[5] = oom;
  numbers[6] = error;
  line_add(&l, kind);
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    line_add(&l, " ");
    line_number(&l, numbers[i]);
  }
  (void)line_write(&l, status);
}
