/*
 * logs.c - the log files in the task folder: all, streams, runtime
 *
 * Output is stored once, in `all`; `streams` tells which of it is stderr's
 * (streams.h), and `times` when it came (times.h).  When `all` or `streams` is
 * full, the three are renamed to all.1, streams.1 and times.1, replacing
 * earlier ones, and new files begin.  A byte is in one file only; the cut may
 * be anywhere in a line.
 *
 * `all` is renamed first: so the entries of any output file are under one of
 * the two names, even if this process is killed.
 */
#define _GNU_SOURCE
#include "streams.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct output {
  int data, streams; /* descriptors */
  uint64_t entries;  /* bytes of `streams` */
  uint64_t used;     /* of the limit */
  uint64_t size;     /* of `all` */
  uint64_t total[2]; /* of each stream so far */
  int last;          /* last stream; -1: no entry yet */
  bool failed;       /* a write failed, which was reported */
} output = { .data = -1, .streams = -1, .last = -1 };

static uint64_t limit;
static char words[400]; /* the last bytes of stderr */
static size_t words_len;

/* --- files --------------------------------------------------------------- */

static int make(const char *name, int flags)
{
  return openat(PAI_ORDER_DIR_FD, name,
                O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* Writes a head for `data`, which is still empty.  False: errno. */
static bool begin_streams(int streams, int data)
{
  unsigned char head[PAI_STREAMS_HEAD];
  struct stat info;

  if (fstat(data, &info) < 0)
    return false;
  pai_streams_put(head, PAI_STREAMS_MAGIC);
  pai_streams_put(head + 8, (uint64_t)info.st_ino);
  pai_streams_put(head + 16, output.total[0] + output.total[1]);
  pai_streams_put(head + 24, output.total[PAI_STREAMS_OUT]);
  return pwrite(streams, head, sizeof(head), 0) == (ssize_t)sizeof(head);
}

/* Counts the entries that an earlier start, which was cut short, has left in
 * the files. */
static void take_up(uint64_t size)
{
  uint64_t from = 0, next;
  unsigned char bytes[PAI_STREAMS_ENTRY];
  int stream = PAI_STREAMS_OUT;

  while (pread(output.streams, bytes, sizeof(bytes), (off_t)output.entries) ==
         (ssize_t)sizeof(bytes)) {
    next = pai_streams_get(bytes) >> 1;
    if (next < from || next > size)
      break;
    output.total[stream] += next - from;
    from = next;
    stream = (int)(pai_streams_get(bytes) & 1);
    output.entries += sizeof(bytes);
  }
  output.total[stream] += size - from;
  output.size = output.used = size;
}

int logs_open(uint64_t most)
{
  struct stat info;

  limit = most;
  output.data = make(PAI_STREAMS_LOG, O_WRONLY | O_APPEND);
  output.streams = make(PAI_STREAMS_FILE, O_RDWR);
  if (output.data < 0 || output.streams < 0 || fstat(output.data, &info) < 0 ||
      !begin_streams(output.streams, output.data))
    return errno;
  output.entries = PAI_STREAMS_HEAD;
  take_up((uint64_t)info.st_size);
  times_open(output.data);
  return 0;
}

/* Without new files the old ones are continued. */
static void rotate(void)
{
  int data, streams;

  output.used = 0;
  (void)unlinkat(PAI_ORDER_DIR_FD, "log.new", 0);
  data = make("log.new", O_WRONLY | O_APPEND);
  streams = make("streams.new", O_WRONLY | O_TRUNC);
  if (data < 0 || streams < 0 || !begin_streams(streams, data)) {
    if (data >= 0)
      (void)close(data);
    if (streams >= 0)
      (void)close(streams);
    return;
  }
  (void)renameat(PAI_ORDER_DIR_FD, PAI_STREAMS_LOG, PAI_ORDER_DIR_FD,
                 PAI_STREAMS_LOG ".1");
  (void)renameat(PAI_ORDER_DIR_FD, "log.new", PAI_ORDER_DIR_FD,
                 PAI_STREAMS_LOG);
  (void)renameat(PAI_ORDER_DIR_FD, PAI_STREAMS_FILE, PAI_ORDER_DIR_FD,
                 PAI_STREAMS_FILE ".1");
  (void)renameat(PAI_ORDER_DIR_FD, "streams.new", PAI_ORDER_DIR_FD,
                 PAI_STREAMS_FILE);
  (void)close(output.data);
  (void)close(output.streams);
  times_rotate(data);
  output.data = data;
  output.streams = streams;
  output.entries = PAI_STREAMS_HEAD;
  output.size = 0;
  output.last = -1;
}

/* --- output -------------------------------------------------------------- */

static void keep_words(const char *bytes, size_t n)
{
  size_t left = n < sizeof(words) ? sizeof(words) - n : 0;

  if (n > sizeof(words)) {
    bytes += n - sizeof(words);
    n = sizeof(words);
  }
  if (words_len > left) {
    memmove(words, words + words_len - left, left);
    words_len = left;
  }
  memcpy(words + words_len, bytes, n);
  words_len += n;
}

/* Notes the stream of the next byte.  False: it cannot be stored; errno. */
static bool mark(int which)
{
  unsigned char bytes[PAI_STREAMS_ENTRY];
  ssize_t n;

  if (output.last == which)
    return true;
  pai_streams_put(bytes, output.size << 1 | (unsigned)which);
  do
    n = pwrite(output.streams, bytes, sizeof(bytes), (off_t)output.entries);
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t)sizeof(bytes)) {
    if (n >= 0)
      errno = ENOSPC;
    return false;
  }
  output.used += output.last < 0 ? 0 : sizeof(bytes);
  output.entries += sizeof(bytes);
  output.last = which;
  return true;
}

/* A full disk does not end the task, but is reported once. */
static void missing(int why)
{
  if (output.failed)
    return;
  output.failed = true;
  status_cut(PAI_STREAMS_LOG);
  logs_say("output is missing in the log", "", why);
}

void logs_add(int which, const char *bytes, size_t n)
{
  if (which == LOG_ERR)
    keep_words(bytes, n);
  while (n > 0) {
    size_t room = output.used < limit ? limit - output.used : 0;
    ssize_t done;

    if (room == 0 || (output.last != which &&
                      output.entries + PAI_STREAMS_ENTRY > PAI_STREAMS_MOST)) {
      rotate();
      room = limit;
    }
    if (!mark(which)) {
      missing(errno);
      return;
    }
    times_note(output.size);
    done = write(output.data, bytes, n < room ? n : room);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      missing(errno);
      return;
    }
    output.used += (uint64_t)done;
    output.size += (uint64_t)done;
    output.total[which] += (uint64_t)done;
    bytes += done;
    n -= (size_t)done;
  }
}

const char *logs_last_line(char *text, size_t size)
{
  size_t from = words_len >= size ? words_len - size + 1 : 0;
  char *last, *end = text + (words_len - from);

  memcpy(text, words + from, words_len - from);
  while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
    end--;
  *end = '\0';
  last = strrchr(text, '\n');
  return last != NULL ? last + 1 : text;
}

/* Opened each time, because others, as the script, write there too. */
void logs_say(const char *text, const char *more, int error)
{
  int fd = make("runtime", O_WRONLY | O_APPEND);
  line l = { .len = 0 };

  if (fd < 0)
    return;
  line_add(&l, text);
  line_add(&l, more);
  if (error != 0) {
    line_add(&l, ": ");
    line_add(&l, strerror(error));
  }
  (void)line_write(&l, fd);
  (void)close(fd);
}
