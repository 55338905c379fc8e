/* sets.c - allocation sets in tests */
#include "resource/sets.h"

#include "base/buf.h"

pai_allocation *test_set(const char *text)
{
  pai_allocation *set;
  pai_error *err = NULL;

  if (pai_allocation_parse(&set, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s: %s", text, pai_error_message(err));
  assert_null(err);
  return set;
}

int test_set_collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

void test_set_written(const pai_allocation *set, test_set_writer fn,
                      const char *want)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(fn(set, test_set_collect, &out, NULL), PAI_OK);
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

void test_set_is(const pai_allocation *set, const char *want)
{
  test_set_written(set, pai_allocation_write, want);
}
