/* Lists of many jobs: from the database, while they come into memory, and from
 * there. */
#include "durable.h"

#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 1500 };

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

/* Jobs that were over long ago. */
static void fill(const char *where)
{
  pai__store *store;
  pai__batch *batch;
  durable d;

  durable_open(&d, where); /* makes the folder */
  durable_close(&d);
  assert_int_equal(
    pai__store_open(&store, &pai__libc_alloc, where, NULL, NULL), PAI_OK);
  assert_int_equal(pai__batch_new(&batch, store, NULL), PAI_OK);
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
    assert_int_equal(pai__batch_put_job(batch, &row), PAI_OK);
    if (id % 100 == 0)
      assert_int_equal(pai__batch_put_tag(batch, id, "nice"), PAI_OK);
  }
  assert_int_equal(pai__store_commit(store, batch, NULL), PAI_OK);
  pai__batch_free(batch);
  pai__store_close(store);
}

/* What is asked first is answered by the database, for there is not yet room
 * for all; some times later all are in memory. */
static void pages_are_the_same_from_everywhere(void **state)
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

  (void)state;
  fill(root("same"));
  for (size_t i = 0; i < PAI__LEN(queries); i++) {
    durable_open(&d, root("same"));
    first = strdup(durable_list(&d, &queries[i]));
    assert_true(strlen(first) > 100);
    for (int again = 0; again < 6; again++)
      assert_string_equal(durable_list(&d, &queries[i]), first);
    free(first);
    durable_close(&d);
  }
}

static void lists_show_what_has_changed(void **state)
{
  pai_job_query one = { .struct_size = sizeof(one), .limit = 1 };
  pai_job_query tagged = { .struct_size = sizeof(tagged),
                           .tags = "mine",
                           .limit = 9 };
  pai_job_id id;
  durable d;

  (void)state;
  fill(root("new"));
  durable_open(&d, root("new"));
  for (int i = 0; i < 6; i++)
    assert_non_null(strstr(durable_list(&d, &one), "\"job-1500\""));
  id = durable_accept(&d, "fresh", "true");
  assert_non_null(strstr(durable_list(&d, &one), "\"fresh\""));
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_non_null(strstr(durable_list(&d, &one), "\"SUCCEEDED\""));
  assert_string_equal(durable_list(&d, &tagged), "[]");
  assert_int_equal(pai_platform_tag(d.platform, id, "mine", NULL), PAI_OK);
  assert_int_equal(pai_platform_tag(d.platform, 7, "mine", NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  assert_non_null(strstr(durable_list(&d, &one), "[\"mine\"]"));
  assert_non_null(strstr(durable_list(&d, &tagged), "\"job-7\""));
  assert_int_equal(pai_platform_untag(d.platform, 7, "mine", NULL), PAI_OK);
  assert_int_equal(pai_platform_forget(d.platform, id), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  assert_string_equal(durable_list(&d, &tagged), "[]");
  assert_non_null(strstr(durable_list(&d, &one), "\"job-1500\""));
  durable_close(&d);
}

/* A name that is taken by a job that runs, that is over, and that is gone. */
static void a_name_is_taken_until_its_job_is_gone(void **state)
{
  pai_error *err;
  pai_job_id id;
  durable d;

  (void)state;
  durable_open(&d, root("names"));
  for (int i = 0; i < 3; i++) {
    pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
    pai_spec *spec = story_job("", "", "true");
    pai_job_id other;

    o.name = "job";
    id = durable_accept(&d, "job", "true");
    assert_int_equal(
      pai_platform_submit_as(&other, d.platform, spec, &o, &err), PAI_EEXISTS);
    pai_error_free(err);
    assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                     PAI_STATE_SUCCEEDED);
    assert_int_equal(
      pai_platform_submit_as(&other, d.platform, spec, &o, &err), PAI_EEXISTS);
    pai_error_free(err);
    pai_spec_unref(spec);
    assert_int_equal(pai_platform_forget(d.platform, id), PAI_OK);
    assert_int_equal(durable_sync(&d), PAI_OK);
  }
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pages_are_the_same_from_everywhere),
    cmocka_unit_test(lists_show_what_has_changed),
    cmocka_unit_test(a_name_is_taken_until_its_job_is_gone),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
