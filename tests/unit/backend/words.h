/* words.h - what tasks are started with, in tests */
#ifndef PAI_TESTS_BACKEND_WORDS_H
#define PAI_TESTS_BACKEND_WORDS_H

#include "testing.h"

#include "backend/local/runtime.h"

/* Programs that need not be there. */
extern char bash[], bwrap[], podman[], docker[];

/* Of a task: a NULL ends the variables, one of which is a secret; the first of
 * the two mounts is to be read only. */
extern const char *const env[];
extern const pai_launch_mount mounts[2];

/* All words, with blanks between them; until the next call. */
const char *joined(const pai__backend_words *w);

#endif
