/*
 * times.h - when a task has written its output; pure
 *
 * `times` tells it of the file `all`: a head, and then entries in the order of
 * what they are about.  An entry holds a byte of `all` and a time: from that
 * byte on, up to the one of the next entry, `all` was written at that time or
 * less than a step later.  So there is one a second at most, and a task that
 * writes nothing adds none.  A file that is full is written anew with a longer
 * step.  Bytes before the first entry are of an unknown time.
 *
 * An entry is written before the first byte that it is about.  Numbers are as
 * in streams.h.
 */
#ifndef PAI_SRC_TASK_TIMES_H
#define PAI_SRC_TASK_TIMES_H

#include "streams.h"

enum {
  PAI_TIMES_HEAD = 24,  /* PAI_TIMES_MAGIC; the inode of the file that it is
                          about; the step, in microseconds */
  PAI_TIMES_ENTRY = 16, /* a byte; microseconds since 1970 */
  PAI_TIMES_STEP = 1000 * 1000,
  /* Bytes of one file, of which three days fill one with seconds. */
  PAI_TIMES_MOST = PAI_TIMES_HEAD + (4 << 20)
};

#define PAI_TIMES_MAGIC UINT64_C(0x3153454d49544150) /* "PATIMES1" */
#define PAI_TIMES_FILE "times"

#endif
