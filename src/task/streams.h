/*
 * streams.h - which bytes of a task's output are of which stream; pure
 *
 * What a task writes is stored once, in `all`, in the order in which it came.
 * `streams` tells whose it is: a head, and then an entry for each change of the
 * stream, which holds from that byte of `all` on.  An entry is written before
 * the first byte that it is about.  So each byte that is there has its entry,
 * wherever the writer was killed; one that has no bytes harms nobody.
 *
 * Numbers are of eight bytes, the lowest first.
 */
#ifndef PAI_SRC_TASK_STREAMS_H
#define PAI_SRC_TASK_STREAMS_H

#include <stdint.h>

enum {
  PAI_STREAMS_HEAD = 32, /* PAI_STREAMS_MAGIC; the inode of the file that it is
                            about; bytes of all, and of standard output,
                            before that file's first */
  PAI_STREAMS_ENTRY = 8, /* twice the first byte, plus PAI_STREAMS_ERR */
  /* Bytes of one file, head and entries: then the next files begin.  What is
   * behind is not read: a task can write there what it likes. */
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
