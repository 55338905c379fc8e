/*
 * converted.h - job files from v1 to v2 and back, in tests: every result is
 * held against the rules of its version
 */
#ifndef PAI_TESTS_SPEC_CONVERTED_H
#define PAI_TESTS_SPEC_CONVERTED_H

#include "documents.h"

#include "spec/convert.h"

typedef int (*test_conversion)(pai__buf *out, const pai__tree *t,
                               pai__convert_note_cb note, void *user_data);

/* A v1 file, which may have comments; v2 is test_yaml_parse(). */
pai__tree *test_v1_parse(const char *text);

/* Converts what may be no valid file; the text is the caller's. */
char *test_convert(test_conversion to, const pai__tree *t);
/* What the last conversion noted: "CODE POINTER SEVERITY", a line each. */
const char *test_noted(void);
void test_text_free(char *text);

/* The same for a valid file, and the result must be one, too; save that v1 has
 * an empty image where "no-image" is noted. */
char *test_to_v2(const pai__tree *v1);
char *test_to_v1(const char *v2);

/* v1 -> v2 -> v1 gives `value`, in which is wrong what was wrong in `v1`. */
void test_there_and_back(const char *v1, const char *value);

/* v2 -> v1, which then goes to v2 and back without a change. */
void test_v1_is_stable(const char *v2);

/* The conversion gives `want` and notes something, or runs short of memory. */
void test_convert_faults(test_conversion to, const pai__tree *t,
                         const char *want);

#endif
