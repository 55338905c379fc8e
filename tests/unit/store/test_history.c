/* What became of jobs before: their attempts, tasks, starts and events. */
#include "cases.h"
#include "folder.h"

#include <stdio.h>

STORE_TEST(tasks_have_their_history)
{
  pai__batch *batch = new_batch(store);
  pai__attempt_row first = { .number = 0, .trigger = "failed" };
  pai__start_row start = { .number = 0, .uid = "first" };
  pai__task_row row;
  found all = { .n = 0 }, one = { .n = 0 }, starts = { .n = 0 };
  found attempts = { .n = 0 };

  put_jobs(store, 1, 2);
  for (uint32_t i = 0; i < 3; i++) {
    row = task_of(i == 2 ? "ps" : "worker", i % 2, 0);
    assert_ok(pai__batch_put_task(batch, &row));
  }
  row = task_of("worker", 1, 2);
  row.state = "FAILED";
  row.exit_code = (pai__maybe){ true, -1 };
  assert_ok(pai__batch_put_task(batch, &row));
  assert_ok(pai__batch_put_task_attempt(batch, &row, &start));
  start.number = 1, start.uid = "second";
  assert_ok(pai__batch_put_task_attempt(batch, &row, &start));
  assert_ok(pai__batch_put_attempt(batch, 1, &first));
  first.number = 1;
  assert_ok(pai__batch_put_attempt(batch, 1, &first));
  commit_all(store, batch);
  assert_ok(pai__store_tasks(store, 1, 1, NULL, find_task, &all, NULL));
  assert_string_equal(all.text, "ps/0:0:RUNNING:99 worker/0:0:RUNNING:99 "
                                "worker/1:2:FAILED:-1 ");
  assert_ok(pai__store_tasks(store, 1, 1, "ps", find_task, &one, NULL));
  assert_string_equal(one.text, "ps/0:0:RUNNING:99 ");
  assert_ok(pai__store_task_attempts(store, &row, find_start, &starts, NULL));
  assert_string_equal(starts.text, "1:second 0:first ");
  assert_ok(pai__store_attempts(store, 1, find_attempt, &attempts, NULL));
  assert_string_equal(attempts.text, "1:failed 0:failed ");
}

STORE_TEST(equal_events_are_counted)
{
  pai__batch *batch = new_batch(store);
  pai__event_row event = { .job = 1,
                           .type = "Normal",
                           .reason = "Started",
                           .message = "on box",
                           .role = "worker",
                           .last = 10 };
  found all = { .n = 0 }, warnings = { .n = 0 };

  put_jobs(store, 1, 1);
  for (int i = 0; i < 3; i++, event.last += 5)
    assert_ok(pai__batch_put_event(batch, &event));
  event.index = (pai__maybe){ true, 0 }; /* another one */
  assert_ok(pai__batch_put_event(batch, &event));
  event.type = "Warning", event.reason = "Lost", event.last = 12;
  assert_ok(pai__batch_put_event(batch, &event));
  commit_all(store, batch);
  assert_ok(pai__store_events(store, 1, NULL, find_event, &all, NULL));
  assert_string_equal(all.text,
                      "Started x1 25-25; Started x3 10-20; Lost x1 12-12; ");
  assert_ok(
    pai__store_events(store, 1, "Warning", find_event, &warnings, NULL));
  assert_string_equal(warnings.text, "Lost x1 12-12; ");
}

STORE_TEST(whatever_differs_makes_another_event)
{
  pai__batch *batch = new_batch(store);
  found all = { .n = 0 };

  put_jobs(store, 1, 2);
  for (int i = 0; i < 10; i++) {
    pai__event_row event = { .job = i == 9 ? 2 : 1,
                             .task_uid = i == 1 ? "" : NULL,
                             .role = i == 2 ? "x" : NULL,
                             .index = { i == 3, 0 },
                             .type = i == 4 ? "x" : "",
                             .reason = i == 5 ? "x" : "",
                             .message = i == 6 ? "x" : "",
                             .component = i == 7 ? "x" : NULL,
                             .host = i == 8 ? "x" : NULL,
                             .last = 1 };
    assert_ok(pai__batch_put_event(batch, &event));
    assert_ok(pai__batch_put_event(batch, &event));
  }
  commit_all(store, batch);
  assert_ok(pai__store_events(store, 1, NULL, find_event, &all, NULL));
  assert_int_equal(all.n, 9);
}

typedef struct last_ones {
  size_t n;
  pai_time oldest;
} last_ones;

static int count_event(void *user_data, const pai__event_row *row)
{
  last_ones *l = user_data;

  l->n++;
  l->oldest = row->last;
  return PAI_OK;
}

STORE_TEST(the_oldest_of_very_many_events_go)
{
  pai__batch *batch = new_batch(store);
  last_ones one = { .n = 0 }, two = { .n = 0 };

  put_jobs(store, 1, 2);
  for (int i = 1; i <= PAI__STORE_EVENTS + 1000; i++) {
    pai__event_row event = { .job = 1, .index = { true, i }, .last = i };
    assert_ok(pai__batch_put_event(batch, &event));
    event.job = 2;
    if (i <= 10)
      assert_ok(pai__batch_put_event(batch, &event));
  }
  commit_all(store, batch);
  assert_ok(pai__store_events(store, 1, NULL, count_event, &one, NULL));
  assert_true(one.n >= PAI__STORE_EVENTS && one.n < PAI__STORE_EVENTS + 64);
  assert_int_equal(one.oldest, PAI__STORE_EVENTS + 1000 - one.n + 1);
  assert_ok(pai__store_events(store, 2, NULL, count_event, &two, NULL));
  assert_int_equal(two.n, 10);
}

static int count_attempt(void *user_data, const pai__attempt_row *row)
{
  last_ones *l = user_data;

  l->n++;
  l->oldest = row->number;
  return PAI_OK;
}

static int count_start(void *user_data, const pai__start_row *row)
{
  last_ones *l = user_data;

  l->n++;
  l->oldest = row->number;
  return PAI_OK;
}

static int count_task(void *user_data, const pai__task_row *row)
{
  last_ones *l = user_data;

  l->n++;
  l->oldest = row->attempt;
  return PAI_OK;
}

static last_ones attempts_of(pai__store *store, uint64_t job)
{
  last_ones l = { .n = 0 };

  assert_ok(pai__store_attempts(store, job, count_attempt, &l, NULL));
  return l;
}

static last_ones starts_of(pai__store *store, const pai__task_row *row)
{
  last_ones l = { .n = 0 };

  assert_ok(pai__store_task_attempts(store, row, count_start, &l, NULL));
  return l;
}

static size_t tasks_of(pai__store *store, uint64_t job, uint32_t attempt)
{
  last_ones l = { .n = 0 };

  assert_ok(pai__store_tasks(store, job, attempt, NULL, count_task, &l, NULL));
  return l.n;
}

/* Of others nothing goes. */
STORE_TEST(the_oldest_of_very_many_tries_go)
{
  enum { MORE = 10, ALL = PAI__STORE_TRIES + MORE };
  pai__batch *batch = new_batch(store);
  pai__task_row one = task_of("a", 0, 0), other = task_of("a", 1, 0);

  put_jobs(store, 1, 2);
  for (uint32_t i = 0; i < ALL; i++) {
    pai__attempt_row attempt = { .number = i, .trigger = "" };
    pai__start_row start = { .number = i, .uid = "u" };
    pai__task_row task = task_of("a", 0, 0);

    assert_ok(pai__batch_put_task_attempt(batch, &one, &start));
    if (i < 5)
      assert_ok(pai__batch_put_task_attempt(batch, &other, &start));
    task.job = 2;
    task.attempt = i;
    assert_ok(pai__batch_put_task(batch, &task));
    start.number = 0;
    assert_ok(pai__batch_put_task_attempt(batch, &task, &start));
    assert_ok(pai__batch_put_attempt(batch, 2, &attempt));
  }
  commit_all(store, batch);
  assert_int_equal(starts_of(store, &one).n, PAI__STORE_TRIES);
  assert_int_equal(starts_of(store, &one).oldest, MORE);
  assert_int_equal(starts_of(store, &other).n, 5);
  assert_int_equal(attempts_of(store, 2).n, PAI__STORE_TRIES);
  assert_int_equal(attempts_of(store, 2).oldest, MORE);
  one.job = 2;
  for (uint32_t i = 0; i < ALL; i++) {
    one.attempt = i;
    assert_int_equal(tasks_of(store, 2, i), i >= MORE);
    assert_int_equal(starts_of(store, &one).n, i >= MORE);
  }
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
