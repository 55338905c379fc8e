/* failure_texts.h - what tools of today print when they fail, and what is told
 * of it */
#ifndef PAI_TESTS_JOB_FAILURE_TEXTS_H
#define PAI_TESTS_JOB_FAILURE_TEXTS_H

#include <stddef.h>

typedef struct failure_text {
  int code;
  const char *name; /* NULL: nothing is known of it */
  const char *text;
  const char *reason;
  const char *solution; /* a part of it; or NULL */
} failure_text;

extern const failure_text failure_texts_gpu[], failure_texts[];
extern const size_t failure_texts_gpu_count, failure_texts_count;

#endif
