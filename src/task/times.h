/*
 * times.h - format of the file with the times of a task's output; pure
 *
 * `times` describes the file `all`: a head, and then entries, sorted.  An
 * entry holds an offset in `all` and a time: bytes from there up to the next
 * entry's offset were written at that time or less than a step later.  So
 * there is at most one entry a second, and a silent task adds none.  A full
 * file is rewritten with a longer step.  The time of bytes before the first
 * entry is unknown.
 *
 * An entry is written before the first byte that it describes.  Numbers are as
 * in streams.h.
 */
#ifndef PAI_SRC_TASK_TIMES_H
#define PAI_SRC_TASK_TIMES_H

#include "streams.h"

enum {
  PAI_TIMES_HEAD = 24,  /* PAI_TIMES_MAGIC; inode of the described file; step
                           in microseconds */
  PAI_TIMES_ENTRY = 16, /* an offset; microseconds since 1970 */
  PAI_TIMES_STEP = 1000 * 1000,
  /* Largest size of a file; a step of a second fills it in three days. */
  PAI_TIMES_MOST = PAI_TIMES_HEAD + (4 << 20)
};

#define PAI_TIMES_MAGIC UINT64_C(0x3153454d49544150) /* "PATIMES1" */
#define PAI_TIMES_FILE "times"

#endif
