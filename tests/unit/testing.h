/*
 * testing.h - what every unit test includes: cmocka, a counting and failing
 * allocator, and the fault driver
 */
#ifndef PAI_TESTS_TESTING_H
#define PAI_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "collect.h"

#define assert_ok(call) assert_int_equal(call, PAI_OK)

/* Counts allocations and live bytes; may fail the n-th one. */
typedef struct test_tally {
  pai_alloc alloc; /* hand this to the code under test */
  size_t calls;    /* allocations asked for so far */
  size_t fail_at;  /* 0 never, else the call that fails */
  bool for_ever;   /* that one and all after it */
  size_t live;     /* bytes not given back */
  size_t peak;     /* most bytes ever live */
} test_tally;

void test_tally_init(test_tally *t);

/*
 * Runs `body` with every n-th allocation failing, once and from then on,
 * until it succeeds.  Each run must end in PAI_OK or PAI_ENOMEM and give all
 * memory back.  `body` must itself check that results are right on PAI_OK and
 * that objects which outlived a failure can still be used.  With OPENPAI_SLICE
 * "K/N" the first allocations fail, and then one of every N, counted from K.
 */
typedef int (*test_body)(const pai_alloc *alloc, void *user_data);
void test_faults(test_body body, void *user_data);

/* A text as printf() would write it, which lasts for the next 64 calls. */
const char *test_string(const char *format, ...)
  __attribute__((format(printf, 1, 2)));

/* The text has this part. */
#define assert_has(text, part) test_has(text, part, __FILE__, __LINE__)
void test_has(const char *text, const char *part, const char *file, int line);

/* An empty buffer. */
pai__buf test_buf(void);

/* A shell's command, which must succeed. */
#define test_shell(...) assert_int_equal(system(test_string(__VA_ARGS__)), 0)

/* The error must be there, with this code, and its text contain `part`. */
void test_expect_error(pai_error *err, int code, const char *part);
/* So it must be behind a call that is handed &err. */
#define assert_fails(call, err, code, part) \
  (assert_int_equal(call, code), test_expect_error(err, code, part))

#endif
