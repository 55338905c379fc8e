/* Jobs as lists show them, kept as they were written last. */
#include "testing.h"

#include "platform/items.h"

#include <stdio.h>

/* Keeps so many bytes of a job in this version. */
static void keep(pai_platform *p, uint64_t id, uint64_t version, size_t len)
{
  pai__job_row job = { .id = id, .version = version };
  pai__buf text;

  pai__buf_init(&text, &pai__libc_alloc);
  while (text.len < len)
    pai__buf_char(&text, (char)('a' + version % 26));
  pai__items_keep(p, &job, &text);
  pai__buf_dispose(&text);
}

static bool is_kept(const pai_platform *p, uint64_t id, uint64_t version)
{
  pai__job_row job = { .id = id, .version = version };
  pai__bytes found = pai__items_find(p, &job);

  if (found.data != NULL)
    assert_int_equal(((const char *)found.data)[found.len - 1],
                     'a' + (char)(version % 26));
  return found.data != NULL;
}

static void an_item_is_there_until_its_job_changes(void **state)
{
  pai_platform p = { .alloc = pai__libc_alloc };

  (void)state;
  assert_false(is_kept(&p, 7, 1));
  keep(&p, 7, 1, 100);
  assert_true(is_kept(&p, 7, 1));
  assert_false(is_kept(&p, 7, 2));
  keep(&p, 7, 2, 10);
  assert_true(is_kept(&p, 7, 2));
  assert_false(is_kept(&p, 7, 1));
  assert_false(is_kept(&p, 8, 0));
  pai__items_free(&p);
  assert_false(is_kept(&p, 7, 2));
}

static void what_nobody_knows_the_version_of_is_not_kept(void **state)
{
  pai_platform p = { .alloc = pai__libc_alloc };

  (void)state;
  keep(&p, 7, 0, 100);
  assert_false(is_kept(&p, 7, 0));
  keep(&p, 7, 3, 100000); /* it would be for few */
  assert_false(is_kept(&p, 7, 3));
  pai__items_free(&p);
}

static void they_take_so_much_and_no_more(void **state)
{
  test_tally tally;
  pai_platform p;

  (void)state;
  test_tally_init(&tally);
  p = (pai_platform){ .alloc = tally.alloc };
  for (uint64_t id = 1; id <= 20000; id++) {
    keep(&p, id, id, 4000);
    assert_true(is_kept(&p, id, id));
  }
  assert_true(tally.peak < 7 << 20);
  pai__items_free(&p);
  assert_int_equal(tally.live, 0);
}

static int keep_some(const pai_alloc *alloc, void *user_data)
{
  pai_platform p = { .alloc = *alloc };
  bool all = true;

  (void)user_data;
  for (uint64_t id = 1; id <= 3; id++) {
    keep(&p, id, id + 10, 50);
    all = all && is_kept(&p, id, id + 10);
  }
  keep(&p, 3, 20, 50); /* in the place of another */
  assert_false(is_kept(&p, 3, 13));
  all = all && is_kept(&p, 3, 20);
  pai__items_free(&p);
  return all ? PAI_OK : PAI_ENOMEM;
}

static void without_memory_nothing_is_kept(void **state)
{
  (void)state;
  test_faults(keep_some, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_item_is_there_until_its_job_changes),
    cmocka_unit_test(what_nobody_knows_the_version_of_is_not_kept),
    cmocka_unit_test(they_take_so_much_and_no_more),
    cmocka_unit_test(without_memory_nothing_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
