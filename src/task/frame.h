/*
 * frame.h - protocol of streams that lead into a task; pure
 *
 * A client connects to a task's supervisor, directly or through the server.
 * Both sides send frames: a type, a 0 byte, a length of two bytes
 * (big-endian), and that many bytes.  So no frame is too large, and an invalid
 * frame is detected by its head.  Nothing is allocated here: both ends have
 * fixed buffers.
 */
#ifndef PAI_SRC_TASK_FRAME_H
#define PAI_SRC_TASK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  PAI_FRAME_HEAD = 4,
  PAI_FRAME_MOST = 65535, /* bytes after a head */
  PAI_FRAME_VERSION = 1,
  PAI_BEGIN_HEAD = 6 /* bytes of BEGIN before its texts */
};

enum {
  /* To the task.  BEGIN comes first, and only once. */
  /* version, PAI_BEGIN_*, columns and rows of two bytes each; then texts, each
   * ended by a NUL: type of terminal, words of the command */
  PAI_FRAME_BEGIN = 1,
  PAI_FRAME_INPUT = 2,     /* bytes for standard input */
  PAI_FRAME_INPUT_END = 3, /* end of standard input */
  PAI_FRAME_SIZE = 4,      /* columns, rows */
  PAI_FRAME_SIGNAL = 5,    /* signal number, one byte: for the command's
                              process group */
  /* From the task.  END is last. */
  PAI_FRAME_STARTED = 16, /* one byte, PAI_BEGIN_TTY or 0: the command runs or
                             is attached, with or without a terminal */
  PAI_FRAME_OUTPUT = 17,
  PAI_FRAME_ERRORS = 18, /* standard error */
  PAI_FRAME_END = 19     /* PAI_FRAME_BY_*, a number, and the cause as a
                            text */
};

/* Flags of BEGIN. */
enum {
  PAI_BEGIN_TTY = 1,   /* the command has a terminal */
  PAI_BEGIN_ATTACH = 2 /* no command: the stream is the task's own input */
};

/* Meaning of the number in END. */
enum {
  PAI_FRAME_BY_EXIT = 1,
  PAI_FRAME_BY_SIGNAL = 2,
  PAI_FRAME_BY_FAILURE = 3, /* the command was not started; 126 or 127, as in a
                               shell */
  PAI_FRAME_BY_LOSS = 4     /* the task is lost, and the command with it; only
                               the server sends this */
};

typedef struct pai_frame {
  int type;
  size_t len;
  const char *bytes;
} pai_frame;

static inline void pai_frame_head(char to[PAI_FRAME_HEAD], int type,
                                  size_t len)
{
  to[0] = (char)type;
  to[1] = 0;
  to[2] = (char)(len >> 8 & 255);
  to[3] = (char)(len & 255);
}

static inline unsigned pai_frame_pair(const char *at)
{
  return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

static inline void pai_frame_put_pair(char *at, unsigned number)
{
  at[0] = (char)(number >> 8 & 255);
  at[1] = (char)(number & 255);
}

/* Reads the first frame of `len` bytes.  Returns its length with its head; 0:
 * incomplete; -1: invalid. */
static inline long pai_frame_read(pai_frame *out, const char *bytes,
                                  size_t len)
{
  if (len > 1 && bytes[1] != 0)
    return -1;
  if (len < PAI_FRAME_HEAD)
    return 0;
  out->type = (unsigned char)bytes[0];
  out->len = pai_frame_pair(bytes + 2);
  out->bytes = bytes + PAI_FRAME_HEAD;
  if ((out->type < PAI_FRAME_BEGIN || out->type > PAI_FRAME_SIGNAL) &&
      (out->type < PAI_FRAME_STARTED || out->type > PAI_FRAME_END))
    return -1;
  if (len - PAI_FRAME_HEAD < out->len)
    return 0;
  return (long)(PAI_FRAME_HEAD + out->len);
}

/* The content of BEGIN; texts point into the frame. */
typedef struct pai_begin {
  unsigned flags, columns, rows;
  const char *terminal; /* "" if not given */
  const char *words;    /* one after the other, each ended by a NUL */
  size_t nwords;        /* 0: no command */
} pai_begin;

static inline bool pai_begin_read(pai_begin *out, const pai_frame *f)
{
  const char *end = f->bytes + f->len, *at;

  if (f->type != PAI_FRAME_BEGIN || f->len <= PAI_BEGIN_HEAD ||
      f->bytes[0] != PAI_FRAME_VERSION || end[-1] != '\0')
    return false;
  out->flags = (unsigned char)f->bytes[1];
  out->columns = pai_frame_pair(f->bytes + 2);
  out->rows = pai_frame_pair(f->bytes + 4);
  out->terminal = f->bytes + PAI_BEGIN_HEAD;
  out->words = out->terminal + strlen(out->terminal) + 1;
  out->nwords = 0;
  for (at = out->words; at < end; at += strlen(at) + 1)
    out->nwords++;
  return (out->flags & ~(unsigned)(PAI_BEGIN_TTY | PAI_BEGIN_ATTACH)) == 0;
}

#endif
