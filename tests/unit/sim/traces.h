/* traces.h - traces of texts, and what came out of them as text */
#ifndef PAI_TESTS_TRACES_H
#define PAI_TESTS_TRACES_H

#include "base/buf.h"
#include "testing.h"

#include <openpai/trace.h>

/* A text that is given out in pieces of `step` bytes. */
typedef struct test_text {
  const char *text;
  size_t len, at, step;
} test_text;
ptrdiff_t test_read_text(void *user_data, char *buffer, size_t size);

/* What a trace told, and its records as lines of our own form. */
typedef struct test_told {
  pai__buf records, lines;
  uint64_t numbers[64]; /* lines of the records */
  size_t nnumbers;
  pai_trace_view view;
} test_told;

/* Reads it all; what the last call returned. */
int test_trace(test_told *told, const char *text, size_t step,
               const pai_trace_options *opts, pai_error **err);
void test_told_dispose(test_told *told);
/* Reads a text in whole and byte by byte: these are its records, and this is
 * what was told: "line: why\n", with "+" before the line if it is used. */
void test_trace_is(const char *text, const pai_trace_options *opts,
                   const char *records, const char *lines);

/* Turns each ' into ", for JSON in tests. */
void test_quotes(char *text);
/* A test_body: reads all of a text, sorted, for a model of GPU. */
int test_trace_faults(const pai_alloc *alloc, void *text);

#endif
