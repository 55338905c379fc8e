/*
 * remove.c - removes the folder that was a sandbox's /tmp
 *
 * Mostly it has only a few empty mount points; starting rm for them would take
 * as long as the rest of a short task's end.
 */
#define _GNU_SOURCE
#include "task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 32, MOST_MOVED = 1 << 20 };
enum { STUCK = -1, EMPTY, HAS_FOLDER };

/* The open folders, from the first to the one being emptied. */
static struct level {
  int fd;
  char name[256]; /* in the one before */
} levels[DEEPEST];

/* Removes a name that is not a folder; HAS_FOLDER: it is one. */
static int remove_one(int dir, const entry *e)
{
  if (e->type == DT_DIR)
    return HAS_FOLDER;
  if (unlinkat(dir, e->name, 0) == 0)
    return EMPTY;
  return errno == EISDIR ? HAS_FOLDER : STUCK;
}

/* Removes names until a folder is met, which is returned.  A directory that
 * changes cannot be read on, so it is read again from its beginning. */
static int empty(int dir, char folder[256])
{
  _Alignas(entry) char some[4096];
  bool removed;
  long n;

  do {
    removed = false;
    (void)lseek(dir, 0, SEEK_SET);
    n = syscall(SYS_getdents64, dir, some, sizeof(some));
    for (long at = 0; at < n;) {
      const entry *e = (const void *)(some + at);
      int rc;

      at += e->length;
      if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
        continue;
      rc = remove_one(dir, e);
      if (rc == HAS_FOLDER)
        (void)stpncpy(folder, e->name, 255);
      if (rc != EMPTY)
        return rc;
      removed = true;
    }
  } while (removed);
  return n < 0 ? STUCK : EMPTY;
}

/* Moves a folder that is too deep up into the first one, under a free name. */
static bool move_up(int dir, const char *name)
{
  static int moved;
  int rc = -1;

  (void)fchmodat(dir, name, S_IRWXU, 0); /* moving it writes its ".." */
  while (rc < 0 && moved < MOST_MOVED) {
    line to = { .len = 0 };

    line_add(&to, "moved-");
    line_number(&to, moved++);
    rc = renameat(dir, name, levels[1].fd, to.text);
    if (rc < 0 && errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      return false;
  }
  return rc == 0;
}

/* Opens a folder, restoring the owner's rights if the task removed them. */
static int open_folder(int dir, const char *name)
{
  const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(dir, name, how);

  if (fd < 0 && errno == EACCES && fchmodat(dir, name, S_IRWXU, 0) == 0)
    fd = openat(dir, name, how);
  if (fd >= 0)
    (void)fchmod(fd, S_IRWXU);
  return fd;
}

/* Enters a folder of this one, or leaves it when it is empty. */
static bool step(int *depth)
{
  struct level *here = &levels[*depth], *below = here + 1;
  char name[256] = "";

  switch (empty(here->fd, name)) {
  case EMPTY:
    (void)close(here->fd);
    (*depth)--;
    return unlinkat(here[-1].fd, here->name, AT_REMOVEDIR) == 0;
  case HAS_FOLDER:
    if (*depth + 1 == DEEPEST)
      return move_up(here->fd, name);
    memcpy(below->name, name, sizeof(name));
    below->fd = open_folder(here->fd, name);
    *depth += below->fd >= 0;
    return below->fd >= 0;
  default: return false;
  }
}

bool folder_remove(int dir, const char *name, int64_t end)
{
  bool goes = true;
  int depth = 1;

  levels[0].fd = dir;
  (void)stpncpy(levels[1].name, name, sizeof(levels[1].name) - 1);
  levels[1].fd = open_folder(dir, name);
  if (levels[1].fd < 0)
    return errno == ENOENT;
  while (goes && depth > 0 && monotonic_ms() < end)
    goes = step(&depth);
  for (int i = 1; i <= depth; i++)
    (void)close(levels[i].fd);
  return goes && depth == 0;
}
