/* writer.c - who writes for ever, and whether all it was told is there */
#include "writer.h"

#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A commit adds so many jobs, the first of which has this id. */
static uint64_t group_of(uint64_t id)
{
  return id % 5 + 1;
}

static void add_job(pai__batch *batch, uint64_t id, uint64_t group)
{
  pai__job_row row = job_of(id);
  pai__task_row task = { .job = id, .role = "worker", .state = "RUNNING" };
  pai__event_row event = { .job = id, .type = "Normal", .last = 1 };
  char value[24];

  if (pai__batch_put_job(batch, &row) < 0 ||
      pai__batch_put_task(batch, &task) < 0 ||
      pai__batch_put_event(batch, &event) < 0)
    _exit(2);
  /* One that all commits change. */
  (void)snprintf(value, sizeof(value), "%llu", (unsigned long long)id + group);
  if (pai__batch_put_meta(batch, "next", value) < 0 ||
      pai__batch_put_log(batch, value, strlen(value)) < 0)
    _exit(2);
}

_Noreturn void write_for_ever(int to)
{
  pai__store *store;
  pai__batch *batch;
  uint64_t last;

  if (pai__store_open(&store, &pai__libc_alloc, folder, NULL, NULL) < 0 ||
      pai__store_last_id(store, &last, NULL) < 0 ||
      pai__batch_new(&batch, store, NULL) < 0)
    _exit(3);
  for (;;) {
    uint64_t first = last + 1, group = group_of(first);
    for (uint64_t i = 0; i < group; i++)
      add_job(batch, first + i, group - i);
    if (first % 64 == 0 && pai__batch_put_snapshot(batch, "all", 3) < 0)
      _exit(4);
    if (pai__store_commit(store, batch, NULL) < 0)
      _exit(5);
    last = first + group - 1;
    if (write(to, &last, sizeof(last)) != sizeof(last))
      _exit(6);
    if (first % 32 == 0)
      (void)pai__store_tidy(store, NULL);
    pai__batch_clear(batch);
  }
}

static int count_task(void *user_data, const pai__task_row *row)
{
  assert_string_equal(row->role, "worker");
  ++*(uint64_t *)user_data;
  return PAI_OK;
}

static int count_event(void *user_data, const pai__event_row *row)
{
  assert_int_equal(row->count, 1);
  ++*(uint64_t *)user_data;
  return PAI_OK;
}

static int check_job(void *user_data, const pai__job_row *row)
{
  pai__job_row wanted = job_of(row->id);

  (void)user_data;
  assert_string_equal(row->name, wanted.name);
  assert_true(row->submitted == wanted.submitted);
  assert_string_equal(row->now.trigger_role, "worker");
  return PAI_OK;
}

uint64_t check_folder(uint64_t seen, uint64_t told)
{
  pai__store *store = open_folder(); /* which looks at all pages */
  uint64_t last, tasks = 0, events = 0;
  char *next;

  assert_ok(pai__store_last_id(store, &last, NULL));
  assert_true(last >= told);
  /* At most the commit that nobody had heard of yet, and all of it. */
  if (last > told)
    assert_int_equal(last, told + group_of(told + 1));
  for (uint64_t id = seen + 1; id <= last; id++) {
    assert_ok(pai__store_job(store, id, check_job, NULL, NULL));
    assert_ok(pai__store_tasks(store, id, 0, NULL, count_task, &tasks, NULL));
    assert_ok(pai__store_events(store, id, NULL, count_event, &events, NULL));
  }
  assert_int_equal(tasks, last - seen);
  assert_int_equal(events, last - seen);
  assert_ok(pai__store_meta(store, &next, "next", NULL));
  assert_non_null(next);
  assert_true(strtoull(next, NULL, 10) == last + 1);
  pai__strfree(&pai__libc_alloc, next);
  pai__store_close(store);
  return last;
}
