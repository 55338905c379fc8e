/* Lists of many jobs: from the database, while they come into memory, and from
 * there. */
#include "cases.h"
#include "durable.h"

#include "platform/records/items.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 1500 };

/* Jobs that were over long ago. */
static void fill(const char *where)
{
  pai__store *store;
  pai__batch *batch;
  durable d;

  durable_open(&d, where); /* makes the folder */
  durable_close(&d);
  assert_ok(pai__store_open(&store, &pai__libc_alloc, where, NULL, NULL));
  assert_ok(pai__batch_new(&batch, store, NULL));
  for (uint64_t id = 1; id <= JOBS; id++) {
    char name[32];
    pai__job_row row = { .id = id,
                         .user = id % 2 == 0 ? "ann" : "bob",
                         .name = name,
                         .submitted = 1700000000000000 + (pai_time)id,
                         .vc = "default",
                         .state = id % 3 == 0 ? "FAILED" : "SUCCEEDED",
                         .sub_state = "Completed",
                         .execution = "START",
                         .completed = 1700000001000000,
                         .exit_code = { true, 0 },
                         .now = { .state = "AttemptCompleted",
                                  .exit_code = { true, 0 } },
                         .config = "{}" };

    (void)snprintf(name, sizeof(name), "job-%llu", (unsigned long long)id);
    assert_ok(pai__batch_put_job(batch, &row));
    if (id % 100 == 0)
      assert_ok(pai__batch_put_tag(batch, id, "nice"));
  }
  assert_ok(pai__store_commit(store, batch, NULL));
  pai__batch_free(batch);
  pai__store_close(store);
}

/* What is asked first is answered by the database, for there is not yet room
 * for all; some times later all are in memory. */
TEST(pages_are_the_same_from_everywhere)
{
  static const pai_job_query queries[] = {
    { .struct_size = sizeof(pai_job_query), .limit = 20 },
    { .struct_size = sizeof(pai_job_query), .users = "bob", .limit = 20 },
    { .struct_size = sizeof(pai_job_query),
      .users = "ann,bob",
      .states = "FAILED",
      .offset = 40,
      .limit = 20,
      .with_total = 1 },
    { .struct_size = sizeof(pai_job_query), .tags = "nice", .limit = 50 },
    { .struct_size = sizeof(pai_job_query),
      .not_tags = "nice",
      .order = "submissionTime,ASC",
      .limit = 50 },
    { .struct_size = sizeof(pai_job_query), .keyword = "b-7", .limit = 50 },
    { .struct_size = sizeof(pai_job_query),
      .order = "jobName,ASC",
      .limit = 20 },
  };
  char *first;
  durable d;

  fill(story_in("same"));
  for (size_t i = 0; i < PAI__LEN(queries); i++) {
    durable_open(&d, story_in("same"));
    first = strdup(durable_list(&d, &queries[i]));
    assert_true(strlen(first) > 100);
    for (int again = 0; again < 6; again++)
      assert_string_equal(durable_list(&d, &queries[i]), first);
    free(first);
    durable_close(&d);
  }
}

TEST(lists_show_what_has_changed)
{
  pai_job_query one = { .struct_size = sizeof(one), .limit = 1 };
  pai_job_query tagged = { .struct_size = sizeof(tagged),
                           .tags = "mine",
                           .limit = 9 };
  pai_job_id id;
  durable d;

  fill(story_in("new"));
  durable_open(&d, story_in("new"));
  for (int i = 0; i < 6; i++)
    assert_has(durable_list(&d, &one), "\"job-1500\"");
  id = durable_accept(&d, "fresh", "true");
  assert_has(durable_list(&d, &one), "\"fresh\"");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_has(durable_list(&d, &one), "\"SUCCEEDED\"");
  assert_string_equal(durable_list(&d, &tagged), "[]");
  assert_ok(pai_platform_tag(d.platform, id, "mine", NULL));
  assert_ok(pai_platform_tag(d.platform, 7, "mine", NULL));
  assert_ok(durable_sync(&d));
  assert_has(durable_list(&d, &one), "[\"mine\"]");
  assert_has(durable_list(&d, &tagged), "\"job-7\"");
  assert_ok(pai_platform_untag(d.platform, 7, "mine", NULL));
  assert_ok(pai_platform_forget(d.platform, id));
  assert_ok(durable_sync(&d));
  assert_string_equal(durable_list(&d, &tagged), "[]");
  assert_has(durable_list(&d, &one), "\"job-1500\"");
  durable_close(&d);
}

/* A name that is taken by a job that runs, that is over, and that is gone. */
DURABLE(a_name_is_taken_until_its_job_is_gone)
{
  pai_error *err;
  pai_job_id id;

  for (int i = 0; i < 3; i++) {
    pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
    pai_spec *spec = story_job("", "", "true");
    pai_job_id other;

    o.name = "job";
    id = durable_accept(d, "job", "true");
    assert_int_equal(
      pai_platform_submit_as(&other, d->platform, spec, &o, &err),
      PAI_EEXISTS);
    pai_error_free(err);
    durable_reaches(d, id, PAI_STATE_SUCCEEDED);
    assert_int_equal(
      pai_platform_submit_as(&other, d->platform, spec, &o, &err),
      PAI_EEXISTS);
    pai_error_free(err);
    pai_spec_unref(spec);
    assert_ok(pai_platform_forget(d->platform, id));
    assert_ok(durable_sync(d));
  }
}

/* --- jobs as lists show them, kept as they were written last ------------------------ */

/* Keeps so many bytes of a job in this version. */
static void keep(pai_platform *p, uint64_t id, uint64_t version, size_t len)
{
  pai__job_row job = { .id = id, .version = version };
  pai__buf text = test_buf();

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

TEST(an_item_is_there_until_its_job_changes)
{
  pai_platform p = { .alloc = pai__libc_alloc };

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

TEST(what_nobody_knows_the_version_of_is_not_kept)
{
  pai_platform p = { .alloc = pai__libc_alloc };

  keep(&p, 7, 0, 100);
  assert_false(is_kept(&p, 7, 0));
  keep(&p, 7, 3, 100000); /* it would be for few */
  assert_false(is_kept(&p, 7, 3));
  pai__items_free(&p);
}

TEST(they_take_so_much_and_no_more)
{
  test_tally tally;
  pai_platform p;

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

TEST_FAULTS(without_memory_nothing_is_kept)
{
  pai_platform p = { .alloc = *alloc };
  bool all = true;

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

TEST_AROUND_ALL(story_make_root, story_remove_root);
