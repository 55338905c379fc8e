/*
 * posix_task_streams.c - finds the stream of each byte of a task's output
 *
 * A file of entries names its output file by inode.  If both were copied the
 * inode is wrong: then they are matched by name.  Bytes without an entry count
 * as stdout's.
 */
#include "backend/task_log.h"

#include "base/os/posix_errno.h"
#include "task/streams.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct head {
  uint64_t inode, begin[2]; /* bytes before its file: of all, of stdout */
} head;

/* --- the file of entries ------------------------------------------------- */

static bool read_head(head *out, int fd)
{
  unsigned char bytes[PAI_STREAMS_HEAD];

  if (pread(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
      pai_streams_get(bytes) != PAI_STREAMS_MAGIC)
    return false;
  out->inode = pai_streams_get(bytes + 8);
  out->begin[0] = pai_streams_get(bytes + 16);
  out->begin[1] = pai_streams_get(bytes + 24);
  return out->begin[0] <= INT64_MAX && out->begin[1] <= out->begin[0];
}

/* Opens it by name. 1; 0: there is none; PAI_EBUSY. */
static int open_entries(int *fd, head *out, const pai__task_log *f,
                        const char *dir, const char *suffix)
{
  *fd = pai__task_log_file(f, dir, PAI_STREAMS_FILE, suffix);
  if (*fd < 0)
    return pai__errno_is_shortage(errno) ? PAI_EBUSY : 0;
  if (read_head(out, *fd))
    return 1;
  (void)close(*fd);
  *fd = -1;
  return 0;
}

static uint64_t inode_of(const pai__task_log *f, const char *dir,
                         const char *suffix)
{
  int fd = pai__task_log_file(f, dir, PAI_STREAMS_LOG, suffix);
  struct stat st;
  uint64_t inode = fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;

  if (fd >= 0)
    (void)close(fd);
  return inode;
}

/* If its entries are for other existing files, those for this file are lost:
 * it was renamed twice meanwhile. */
static void pass_by(pai__task_log *f)
{
  struct stat st;

  f->missed = true;
  if (fstat(f->fd, &st) == 0)
    f->at.next = (uint64_t)st.st_size;
}

static int search(pai__task_log *f, const char *dir, head *out)
{
  static const char *const suffixes[] = { "", ".1" };
  bool of_others = false;
  int rc = 0, fd;

  for (size_t i = 0; i < PAI__LEN(suffixes); i++) {
    rc = open_entries(&fd, out, f, dir, suffixes[i]);
    if (rc < 0)
      return rc;
    if (rc > 0 && out->inode == f->at.inode) {
      f->entries = fd;
      return 1;
    }
    of_others =
      of_others || (rc > 0 && (out->inode == inode_of(f, dir, "") ||
                               out->inode == inode_of(f, dir, ".1")));
    if (fd >= 0)
      (void)close(fd);
  }
  if (of_others) {
    if (!pai__task_log_is(f, dir, "") && !pai__task_log_is(f, dir, ".1"))
      pass_by(f);
    return 0;
  }
  return open_entries(&f->entries, out, f, dir,
                      pai__task_log_is(f, dir, ".1") ? ".1" : "");
}

bool pai__task_streams_begin(pai__task_log *f, const char *dir,
                             uint64_t begin[2], int *rc)
{
  head h;

  *rc = f->entries >= 0 ? read_head(&h, f->entries) : search(f, dir, &h);
  if (*rc > 0) {
    begin[0] = h.begin[0];
    begin[1] = h.begin[1];
  }
  f->searched = *rc > 0;
  if (*rc >= 0)
    *rc = PAI_OK;
  return f->searched;
}

/* --- entries ------------------------------------------------------------- */

/* A file has its entries before its first byte, so while it is empty they may
 * still be missing. */
static int find_entries(pai__task_log *f, const char *dir)
{
  struct stat st;
  head h;
  int rc;

  if (f->searched || fstat(f->fd, &st) < 0 || st.st_size == 0)
    return PAI_OK;
  rc = search(f, dir, &h);
  f->searched = rc >= 0;
  return rc < 0 ? rc : PAI_OK;
}

/* Reads the entry at at.entry; false: there is none yet. */
static bool peek(pai__task_log *f, uint64_t *from, int *stream)
{
  uint64_t entry = f->at.entry, value;
  ssize_t n;

  if (f->entries < 0 || entry + PAI_STREAMS_ENTRY > PAI_STREAMS_MOST)
    return false;
  if (entry < f->buffer_from ||
      entry + PAI_STREAMS_ENTRY > f->buffer_from + f->nbuffer) {
    n = pread(f->entries, f->buffer, sizeof(f->buffer), (off_t)entry);
    f->buffer_from = entry;
    f->nbuffer = n > 0 ? (size_t)n : 0;
    if (f->nbuffer < PAI_STREAMS_ENTRY)
      return false;
  }
  value = pai_streams_get(f->buffer + (entry - f->buffer_from));
  *from = value >> 1;
  *stream = (int)(value & 1);
  return true;
}

int pai__task_streams_settle(pai__task_log *f, const char *dir)
{
  int rc = find_entries(f, dir), stream;
  uint64_t from;

  if (f->at.entry < PAI_STREAMS_HEAD)
    f->at.entry = PAI_STREAMS_HEAD;
  while (rc == PAI_OK && peek(f, &from, &stream)) {
    f->at.until = from;
    if (from > f->at.next)
      return PAI_OK;
    f->at.stream = stream;
    f->at.entry += PAI_STREAMS_ENTRY;
  }
  f->at.until = UINT64_MAX;
  return rc;
}
