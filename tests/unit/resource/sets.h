/* sets.h - allocation sets in tests */
#ifndef PAI_TESTS_RESOURCE_SETS_H
#define PAI_TESTS_RESOURCE_SETS_H

#include "testing.h"

#include <openpai/allocation.h>

/* The set of a text, which must be right. */
pai_allocation *test_set(const char *text);

/* A pai_write_cb to a pai__buf. */
int test_set_collect(void *user_data, const char *bytes, size_t len);

typedef int (*test_set_writer)(const pai_allocation *set, pai_write_cb write,
                               void *user_data, pai_error **err);

/* What is written of a set; as a text. */
void test_set_written(const pai_allocation *set, test_set_writer fn,
                      const char *want);
void test_set_is(const pai_allocation *set, const char *want);

#endif
