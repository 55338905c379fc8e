/*
 * streams.h - format of the file that tells stdout and stderr apart in a
 * task's output; pure
 *
 * All output of a task is stored once, in `all`, in the order in which it
 * came.  `streams` has a head, and then an entry for each change of the
 * stream, which holds from that byte of `all` on.  An entry is written before
 * the first byte that it describes.  So every byte has its entry, even if the
 * writer is killed; an entry without bytes is harmless.
 *
 * Numbers have eight bytes, little-endian.
 */
#ifndef PAI_SRC_TASK_STREAMS_H
#define PAI_SRC_TASK_STREAMS_H

#include <stdint.h>

enum {
  /* PAI_STREAMS_MAGIC; inode of the described file; bytes of all output, and
   * of standard output, before that file's first byte */
  PAI_STREAMS_HEAD = 32,
  PAI_STREAMS_ENTRY = 8, /* twice the first byte's offset, plus
                            PAI_STREAMS_ERR */
  /* Largest size of a file, with head and entries; then the next files begin.
   * The reader ignores more, because a task can write there what it likes. */
  PAI_STREAMS_MOST = PAI_STREAMS_HEAD + (1 << 20)
};

enum { PAI_STREAMS_OUT = 0, PAI_STREAMS_ERR = 1 };

#define PAI_STREAMS_MAGIC UINT64_C(0x314d525453494150) /* "PAISTRM1" */
#define PAI_STREAMS_FILE "streams"
#define PAI_STREAMS_LOG "all"

static inline void pai_streams_put(unsigned char out[8], uint64_t number)
{
  for (int i = 0; i < 8; i++)
    out[i] = (unsigned char)(number >> (8 * i));
}

static inline uint64_t pai_streams_get(const unsigned char bytes[8])
{
  uint64_t number = 0;

  for (int i = 0; i < 8; i++)
    number |= (uint64_t)bytes[i] << (8 * i);
  return number;
}

#endif
