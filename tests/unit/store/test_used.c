/* Names that are new are known as such, and no other ones. */
#include "cases.h"
#include "folder.h"

#include "store/inside.h"

#include <stdio.h>

enum { MANY = 1300 /* more than are read at once */ };

static void put_named(pai__batch *batch, uint64_t id, const char *name)
{
  pai__job_row row = job_of(id);

  row.user = id % 2 == 0 ? "ann" : "bob";
  row.name = name;
  assert_ok(pai__batch_put_job(batch, &row));
}

static const char *name_of(uint64_t id)
{
  static char text[32];

  (void)snprintf(text, sizeof(text), "job-%llu", (unsigned long long)id);
  return text;
}

static void fill(pai__store *store, uint64_t from, uint64_t to)
{
  pai__batch *batch = new_batch(store);

  for (uint64_t id = from; id <= to; id++)
    put_named(batch, id, name_of(id));
  commit_all(store, batch);
}

static bool is_new(pai__store *store, uint64_t id)
{
  return pai__store_is_new_name(store, id % 2 == 0 ? "ann" : "bob",
                                name_of(id));
}

static void expect_used(pai__store *store, uint64_t from, uint64_t to)
{
  for (uint64_t id = from; id <= to; id++)
    if (is_new(store, id))
      fail_msg("job %llu is there", (unsigned long long)id);
}

TEST(those_of_the_database_are_not_new)
{
  pai__store *store = open_folder();
  unsigned before = 0;

  fill(store, 1, MANY);
  pai__store_close(store);
  store = open_folder();
  while (!is_new(store, MANY + 1) && before < 10) /* not all was read */
    before++;
  assert_int_equal(before, MANY / 512);
  expect_used(store, 1, MANY);
  assert_true(pai__store_is_new_name(store, "ann", name_of(1))); /* bob's */
  assert_false(pai__store_is_new_name(store, "bob", name_of(1)));
  pai__store_close(store);
}

STORE_TEST(one_that_is_put_is_not_new)
{
  pai__batch *batch = new_batch(store);

  assert_true(is_new(store, 1));
  put_named(batch, 1, name_of(1));
  expect_used(store, 1, 1); /* before anything is committed */
  commit_all(store, batch);
  batch = new_batch(store);
  assert_ok(pai__batch_drop_job(batch, 1));
  commit_all(store, batch);
  expect_used(store, 1, 1); /* the database knows better */
  fill(store, 2, MANY);
  expect_used(store, 1, MANY);
  assert_true(is_new(store, MANY + 1));
  pai__store_use_name(store, "bob", name_of(MANY + 1));
  expect_used(store, MANY + 1, MANY + 1);
}

/* What was put was taken back, and its id is another one's. */
STORE_TEST(an_id_may_come_again)
{
  pai__batch *batch = new_batch(store);
  pai__batch_mark mark = pai__batch_here(batch);

  assert_true(is_new(store, 3));
  put_named(batch, 1, "taken back");
  pai__batch_back(batch, mark);
  put_named(batch, 1, name_of(3));
  expect_used(store, 3, 3);
  commit_all(store, batch);
}

/* While others were put, and before they are committed, the rest is read. */
TEST(jobs_come_while_it_is_read)
{
  pai__store *store = open_folder();
  pai__batch *batch;

  fill(store, 1, MANY);
  pai__store_close(store);
  store = open_folder();
  batch = new_batch(store);
  for (uint64_t id = MANY + 1; id <= MANY + 9; id++) {
    put_named(batch, id, name_of(id));
    (void)is_new(store, 1);
  }
  assert_true(is_new(store, MANY + 10));
  expect_used(store, 1, MANY + 9);
  commit_all(store, batch);
  expect_used(store, 1, MANY + 9);
  pai__store_close(store);
}

static int put_and_ask(const pai_alloc *alloc, void *user_data)
{
  pai__store *store;
  pai__batch *batch = NULL;
  pai_error *err = NULL;
  int rc = pai__store_open(&store, alloc, folder, NULL, &err);

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai__batch_new(&batch, store, &err);
  for (uint64_t id = 101; id <= 130 && rc == PAI_OK; id++) {
    pai__job_row row = job_of(id);

    row.user = "bob";
    row.name = name_of(id);
    if (is_new(store, 2 * id + 1))
      assert_false(store->used.lost);
    rc = pai__batch_put_job(batch, &row);
    if (rc == PAI_OK)
      assert_false(pai__store_is_new_name(store, "bob", row.name));
    else
      rc = pai__oom(&err);
  }
  if (rc == PAI_OK)
    expect_used(store, 1, 100);
  if (rc == PAI_OK && store->used.lost)
    rc = PAI_ENOMEM; /* so it goes on until all is well */
  pai__batch_free(batch);
  pai__store_close(store);
  pai_error_free(err);
  return rc;
}

TEST(without_memory_nothing_is_new)
{
  pai__store *store = open_folder();

  fill(store, 1, 100);
  pai__store_close(store);
  test_faults(put_and_ask, NULL);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
