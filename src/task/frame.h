/*
 * frame.h - what is said on a stream that leads into a task; pure
 *
 * Whoever connects to a task's supervisor, or is led there by the server,
 * speaks in frames: a type, a byte of 0, a length of two bytes, the higher
 * first, and so many bytes.  So no frame is too large, and what is no frame is
 * seen in its head.  Nothing is allocated here: both ends have fixed buffers.
 */
#ifndef PAI_SRC_TASK_FRAME_H
#define PAI_SRC_TASK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  PAI_FRAME_HEAD = 4,
  PAI_FRAME_MOST = 65535, /* bytes behind a head */
  PAI_FRAME_VERSION = 1,
  PAI_BEGIN_HEAD = 6 /* of what BEGIN has, before its texts */
};

enum {
  /* To the task.  BEGIN is first, and only then. */
  PAI_FRAME_BEGIN = 1,     /* version, PAI_BEGIN_*, columns and rows of two
                              bytes each; then texts, a NUL behind each: what
                              kind of terminal, the words of the command */
  PAI_FRAME_INPUT = 2,     /* bytes of standard input */
  PAI_FRAME_INPUT_END = 3, /* there are no more */
  PAI_FRAME_SIZE = 4,      /* columns, rows */
  PAI_FRAME_SIGNAL = 5,    /* its number, one byte: to the command's group */
  /* From the task.  END is last. */
  PAI_FRAME_STARTED = 16, /* PAI_BEGIN_TTY or 0, a byte: from now on it runs,
                              or is attached, with a terminal or without */
  PAI_FRAME_OUTPUT = 17,
  PAI_FRAME_ERRORS = 18, /* of standard error */
  PAI_FRAME_END = 19     /* PAI_FRAME_BY_*, a number, and why, as a text */
};

/* Of BEGIN. */
enum {
  PAI_BEGIN_TTY = 1,   /* the command has a terminal */
  PAI_BEGIN_ATTACH = 2 /* no command: what is said is the task's own input */
};

/* Of END: what the number is. */
enum {
  PAI_FRAME_BY_EXIT = 1,
  PAI_FRAME_BY_SIGNAL = 2,
  PAI_FRAME_BY_FAILURE = 3, /* it was not started; 126 or 127, as of a shell */
  PAI_FRAME_BY_LOSS = 4     /* the task is gone, and the command with it: of a
                           server that led there, since nothing else tells */
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

/* The first frame of `len` bytes.  How many bytes it has with its head; 0: it
 * is not whole yet; -1: it is none. */
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

/* What BEGIN says; texts lie in the frame. */
typedef struct pai_begin {
  unsigned flags, columns, rows;
  const char *terminal; /* "" if that is not said */
  const char *words;    /* one behind the other, a NUL behind each, */
  size_t nwords;        /* or none */
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
