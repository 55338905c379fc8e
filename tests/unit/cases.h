/* cases.h - the tests of a program: functions without arguments, by name */
#ifndef PAI_TESTS_CASES_H
#define PAI_TESTS_CASES_H

#include "testing.h"

/* TEST(NAME) { ... } is a test of its file; they run in the order in which they
 * are written.  A program without a main() of its own has that of main.c. */
#define TEST(function)                                               \
  static void function(void);                                        \
  static void __attribute__((constructor)) add_test_##function(void) \
  {                                                                  \
    test_add(__FILE__, #function, function);                         \
  }                                                                  \
  static void function(void)

/* TEST_IN(NAME, TYPE, OF, BEGIN, END) { ... } is handed the TYPE that BEGIN()
 * makes, as OF; END() ends it. */
#define TEST_IN(test, type, of, begin, end) \
  static void test##_in(type *of);          \
  TEST(test)                                \
  {                                         \
    type of;                                \
                                            \
    begin(&of);                             \
    test##_in(&of);                         \
    end(&of);                               \
  }                                         \
  static void test##_in(type *of)

/* TEST_FAULTS(NAME) { ... } is one that test_faults() runs, with `alloc`. */
#define TEST_FAULTS(function)                                          \
  static int function##_with(const pai_alloc *alloc, void *user_data); \
  TEST(function)                                                       \
  {                                                                    \
    test_faults(function##_with, NULL);                                \
  }                                                                    \
  static int function##_with(const pai_alloc *alloc,                   \
                             void *user_data __attribute__((unused)))

/* Each row of a table is a test, which run() is handed; its first member is the
 * name. */
#define TEST_TABLE(run, table)                                                \
  static void __attribute__((constructor)) add_table_##table(void)            \
  {                                                                           \
    test_add_rows(__FILE__, run, table, PAI__LEN(table), sizeof((table)[0])); \
  }                                                                           \
  _Static_assert(true, "")

/* What is done before the first test of a file and after the last one, and
 * before and after each; either may be NULL. */
#define TEST_AROUND_ALL(set_up, tear_down)                      \
  static void __attribute__((constructor)) add_around_all(void) \
  {                                                             \
    test_around(__FILE__, false, set_up, tear_down);            \
  }                                                             \
  _Static_assert(true, "")
#define TEST_AROUND_EACH(set_up, tear_down)                      \
  static void __attribute__((constructor)) add_around_each(void) \
  {                                                              \
    test_around(__FILE__, true, set_up, tear_down);              \
  }                                                              \
  _Static_assert(true, "")

void test_add(const char *file, const char *name, void (*run)(void));
void test_add_rows(const char *file, void (*run)(const void *row),
                   const void *rows, size_t n, size_t size);
void test_around(const char *file, bool each, CMFixtureFunction set_up,
                 CMFixtureFunction tear_down);

/* Records that a test needs are not here: what passes is skipped. */
void test_lacks_records(void);

/* Runs each TEST of test_NAME.c, or of all files of the program; returns the exit
 * code of main(). */
int test_main(const char *name);

#endif
