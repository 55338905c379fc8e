/*
 * posix_task_times.c - reads the times of a task's output (src/task/times.h)
 *
 * The file is opened for each query, because the writer may replace it.  A
 * task can write there, too, so its content is only used for times.
 */
#include "backend/task_log.h"

#include "task/times.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct times {
  int fd;
  uint64_t count; /* entries */
  uint64_t step;
} times;

/* Opens the times of the file being read.  False: there are none. */
static bool open_times(times *t, const pai__task_log *f, const char *dir)
{
  static const char *const suffixes[] = { "", ".1" };
  unsigned char head[PAI_TIMES_HEAD];
  struct stat st;

  for (size_t i = 0; i < PAI__LEN(suffixes); i++) {
    t->fd = pai__task_log_file(f, dir, PAI_TIMES_FILE, suffixes[i]);
    if (t->fd < 0)
      continue;
    if (pread(t->fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        pai_streams_get(head) == PAI_TIMES_MAGIC &&
        pai_streams_get(head + 8) == f->at.inode && fstat(t->fd, &st) == 0 &&
        st.st_size >= PAI_TIMES_HEAD) {
      uint64_t size = (uint64_t)st.st_size;

      size = size < PAI_TIMES_MOST ? size : PAI_TIMES_MOST;
      t->count = (size - PAI_TIMES_HEAD) / PAI_TIMES_ENTRY;
      t->step = pai_streams_get(head + 16);
      return true;
    }
    (void)close(t->fd);
  }
  return false;
}

/* Reads offset and time of an entry; an unreadable one counts as the latest
 * possible. */
static void entry(const times *t, uint64_t i, uint64_t out[2])
{
  unsigned char bytes[PAI_TIMES_ENTRY];

  out[0] = out[1] = INT64_MAX;
  if (pread(t->fd, bytes, sizeof(bytes),
            (off_t)(PAI_TIMES_HEAD + i * PAI_TIMES_ENTRY)) !=
      (ssize_t)sizeof(bytes))
    return;
  for (int k = 0; k < 2; k++)
    if (pai_streams_get(bytes + 8 * k) < INT64_MAX)
      out[k] = pai_streams_get(bytes + 8 * k);
}

/* Returns the first entry whose offset, or time, is larger; or their count. */
static uint64_t search(const times *t, int which, uint64_t value)
{
  uint64_t low = 0, high = t->count, at[2];

  while (low < high) {
    uint64_t middle = low + (high - low) / 2;

    entry(t, middle, at);
    if (at[which] > value)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

pai_time pai__task_times_of(const pai__task_log *f, const char *dir,
                            uint64_t at, uint64_t *until)
{
  pai_time time = 0;
  uint64_t i, found[2];
  times t;

  *until = UINT64_MAX;
  if (!open_times(&t, f, dir))
    return 0;
  i = search(&t, 0, at);
  if (i < t.count) {
    entry(&t, i, found);
    *until = found[0] > at ? found[0] : UINT64_MAX;
  }
  if (i > 0) {
    entry(&t, i - 1, found);
    time = found[1] < INT64_MAX ? (pai_time)found[1] : 0;
  }
  (void)close(t.fd);
  return time;
}

bool pai__task_times_since(const pai__task_log *f, const char *dir,
                           pai_time since, uint64_t *at)
{
  uint64_t i, found[2], first;
  times t;

  if (!open_times(&t, f, dir))
    return false;
  /* The bytes of an entry were written up to a step later. */
  first = (uint64_t)since > t.step ? (uint64_t)since - t.step : 0;
  i = search(&t, 1, first);
  *at = UINT64_MAX;
  if (i < t.count) {
    entry(&t, i, found);
    *at = found[0];
  }
  (void)close(t.fd);
  return true;
}
