/* posix_task_from.c - finds the position from which a task's log is read */
#define _GNU_SOURCE /* memrchr() */

#include "backend/task_log.h"

#include "task/streams.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  BLOCK = 1 << 16,
  MOST_BACK = 256 << 20, /* bytes searched for lines; the oldest of them is the
                            limit */
  LINE_BACK = 4096       /* bytes searched for a line's beginning */
};

static uint64_t size_of(int fd)
{
  struct stat st;

  return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* --- skipping ------------------------------------------------------------ */

/* Skips the bytes before that offset of its file, and at most so many wanted
 * bytes.  Returns the number of wanted bytes skipped. */
static uint64_t pass(pai__task_log *f, const char *dir, uint64_t until,
                     uint64_t most)
{
  uint64_t passed = 0;

  while (f->at.next < until && passed < most) {
    uint64_t end = until, n;
    bool wanted;

    if (!f->plain && pai__task_streams_settle(f, dir) < 0)
      break;
    wanted = f->plain || f->only < 0 || f->at.stream == f->only;
    if (!f->plain && f->at.until < end)
      end = f->at.until;
    n = end - f->at.next;
    if (wanted && n > most - passed)
      n = most - passed;
    f->at.next += n;
    passed += wanted ? n : 0;
  }
  return passed;
}

/* Returns whether no more is written to its file.  Call it before reading its
 * size. */
static bool is_full(const pai__task_log *f, const char *dir)
{
  return !pai__task_log_is(f, dir, "");
}

/* The same through both files. */
static uint64_t pass_all(pai__task_log *f, const char *dir, uint64_t most)
{
  bool full = is_full(f, dir);
  uint64_t passed = pass(f, dir, size_of(f->fd), most);

  if (passed < most && full && pai__task_log_next(f, dir) == 1)
    passed += pass(f, dir, size_of(f->fd), most - passed);
  return passed;
}

/* --- by time ------------------------------------------------------------- */

/* Returns the start of the line with that byte, if it is near. */
static uint64_t line_begin(const pai__task_log *f, uint64_t at)
{
  uint64_t from = at > LINE_BACK ? at - LINE_BACK : 0;
  char bytes[LINE_BACK];
  ssize_t n = pread(f->fd, bytes, (size_t)(at - from), (off_t)from);

  for (ssize_t i = n; i > 0; i--)
    if (bytes[i - 1] == '\n' || bytes[i - 1] == '\r')
      return from + (uint64_t)i;
  return from == 0 ? 0 : at;
}

/* Without recorded times only the file's time of change is known. */
static uint64_t find_since(const pai__task_log *f, const char *dir,
                           pai_time since)
{
  struct stat st;
  uint64_t at;

  if (pai__task_times_since(f, dir, since, &at))
    return at == UINT64_MAX ? at : line_begin(f, at);
  return fstat(f->fd, &st) == 0 && (pai_time)st.st_mtime < since / 1000000
           ? UINT64_MAX
           : 0;
}

static uint64_t pass_since(pai__task_log *f, const char *dir, pai_time since)
{
  uint64_t passed = 0, at;
  bool full;

  do {
    uint64_t size;

    full = is_full(f, dir);
    size = size_of(f->fd);
    at = find_since(f, dir, since);
    passed += pass(f, dir, at < size ? at : size, UINT64_MAX);
  } while (at == UINT64_MAX && full && pai__task_log_next(f, dir) == 1);
  return passed;
}

/* --- by lines ------------------------------------------------------------ */

typedef struct lines {
  uint64_t left;  /* number of lines still to find */
  uint64_t bytes; /* bytes from their beginning to the end, as far as
                     searched */
  bool found;
} lines;

/* Searches a part of a file backwards; the last byte of all ends a line, or
 * belongs to one. */
static void look_back(lines *l, int fd, uint64_t from, uint64_t end)
{
  char block[BLOCK];

  while (end > from && !l->found) {
    size_t n = end - from < BLOCK ? (size_t)(end - from) : BLOCK;
    const char *at = block + n;

    if (pread(fd, block, n, (off_t)(end - n)) != (ssize_t)n)
      n = 0;
    if (l->bytes == 0 && n > 0 && block[n - 1] == '\n')
      at--;
    while (n > 0 && !l->found &&
           (at = memrchr(block, '\n', (size_t)(at - block))) != NULL)
      l->found = --l->left == 0;
    if (l->found)
      l->bytes += n - (size_t)(at + 1 - block);
    else
      l->bytes += n;
    end -= n;
    l->found |= n == 0 || l->bytes >= MOST_BACK;
  }
}

/* Searches its file, which was just opened; for one stream it may have many
 * parts. */
static void look_back_in(lines *l, pai__task_log *f, const char *dir)
{
  uint64_t end = size_of(f->fd), from, n;
  unsigned char bytes[PAI_STREAMS_ENTRY];

  if (f->plain || pai__task_streams_settle(f, dir) < 0 || f->entries < 0) {
    if (f->plain || f->only <= 0)
      look_back(l, f->fd, 0, end);
    return;
  }
  n = size_of(f->entries);
  n = n < PAI_STREAMS_MOST ? n : PAI_STREAMS_MOST;
  n = n > PAI_STREAMS_HEAD ? (n - PAI_STREAMS_HEAD) / PAI_STREAMS_ENTRY : 0;
  while (n-- > 0 && !l->found) {
    if (pread(f->entries, bytes, sizeof(bytes),
              (off_t)(PAI_STREAMS_HEAD + n * PAI_STREAMS_ENTRY)) !=
        (ssize_t)sizeof(bytes))
      return;
    from = pai_streams_get(bytes) >> 1;
    if (from < end && (int)(pai_streams_get(bytes) & 1) == f->only)
      look_back(l, f->fd, from, end);
    end = from < end ? from : end;
  }
  if (f->only == 0 && !l->found)
    look_back(l, f->fd, 0, end);
}

/* Returns how many bytes before the end the lines begin.  Searches from the
 * last file to the first, which stays open. */
static uint64_t find_tail(const pai__task_log *first, const char *dir,
                          uint64_t count)
{
  lines l = { .left = count };
  pai__task_log f = *first;

  f.fd = dup(first->fd);
  f.entries = -1;
  f.searched = false;
  f.nbuffer = 0;
  if (f.fd >= 0 && pai__task_log_next(&f, dir) == 1)
    look_back_in(&l, &f, dir);
  pai__task_log_close(&f);
  if (l.found)
    return l.bytes;
  f = *first;
  f.fd = dup(first->fd);
  f.entries = -1;
  f.searched = false;
  f.nbuffer = 0;
  if (f.fd >= 0)
    look_back_in(&l, &f, dir);
  pai__task_log_close(&f);
  return l.bytes;
}

/* --- the beginning ------------------------------------------------------- */

/* Returns how many of the kept bytes to skip for the given options. */
static uint64_t count_skipped(const pai__task_log *f, const char *dir,
                              const pai__log_from *from, uint64_t kept,
                              uint64_t gone)
{
  uint64_t skip = 0, tail;

  if (from->offset == INT64_MAX)
    skip = kept;
  else if (from->offset < 0)
    skip = (uint64_t)-from->offset < kept ? kept - (uint64_t)-from->offset : 0;
  else if ((uint64_t)from->offset > gone)
    skip = (uint64_t)from->offset - gone;
  if (from->tail == 0)
    return skip;
  tail = find_tail(f, dir, from->tail);
  tail = tail < kept ? kept - tail : 0;
  return tail > skip ? tail : skip;
}

int pai__task_log_open_from(pai__task_log *f, const char *dir,
                            const pai__log_from *from, uint64_t *offset,
                            uint64_t *skip, pai_error **err)
{
  bool from_end =
    from->offset < 0 || from->offset == INT64_MAX || from->tail > 0;
  uint64_t kept = 0, gone, passed = 0;
  int rc = pai__task_log_open(f, dir, from_end ? &kept : NULL, &gone, err);

  if (rc < 0)
    return rc;
  *skip = count_skipped(f, dir, from, kept, gone);
  *offset = gone + *skip;
  if (from->since > 0)
    passed = pass_since(f, dir, from->since);
  if (passed < *skip)
    passed += pass_all(f, dir, *skip - passed);
  *skip = passed < *skip ? *skip - passed : 0;
  if (gone + passed > *offset)
    *offset = gone + passed;
  return PAI_OK;
}
