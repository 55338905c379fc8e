/* script_run.h - a script while it is gone through: parts of script.c */
#ifndef PAI_TESTS_SCRIPT_RUN_H
#define PAI_TESTS_SCRIPT_RUN_H

#include "script.h"

enum { SCRIPT_WORDS = 32, SCRIPT_LINE = 1024 };

/* Where a script is, and the step there: words, and the text behind '~'. */
typedef struct script_run {
  const scene_case *of;
  pai_sched *s;
  bool faults;      /* there may be no memory */
  const char *line; /* as it is written */
  char *words[SCRIPT_WORDS];
  size_t n;
  const char *text; /* or NULL */
  const char *code; /* expected, without "PAI_" */
} script_run;

/* The test fails: the line, and what was found instead. */
void script_fails(const script_run *r, const char *what);

/* Word `i` of the step, which must be there. */
const char *script_word(const script_run *r, size_t i);
uint64_t script_number_of(const script_run *r, const char *text);
/* The second word: "3", "3.1" or "3-5". */
void script_read_id(const script_run *r, uint64_t *first, uint64_t *last,
                    uint32_t *instance);

/* Each part of the text, "one | another", is in what is said. */
void script_expect_parts(const script_run *r, const char *said);
/* PAI_OK if the answer is the expected one; else the test fails, unless there
 * was no memory and that may be.  Frees the error. */
int script_expect_code(const script_run *r, int rc, pai_error *err);

/* False: the step is no check.  *rc: not PAI_OK where there was no memory. */
bool script_check(const script_run *r, int *rc);

#endif
