/* What is put into a store comes out as it was, also after it was closed. */
#include "cases.h"
#include "folder.h"

#include "store/inside.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_job(void *user_data, const pai__job_row *row)
{
  const pai__job_row *w = user_data;

  assert_int_equal(row->id, w->id);
  assert_string_equal(row->user, w->user);
  assert_string_equal(row->name, w->name);
  assert_true(row->submitted == w->submitted);
  assert_string_equal(row->vc, w->vc);
  assert_int_equal(row->priority == NULL, w->priority == NULL);
  if (w->priority != NULL)
    assert_string_equal(row->priority, w->priority);
  assert_string_equal(row->state, w->state);
  assert_string_equal(row->sub_state, w->sub_state);
  assert_string_equal(row->execution, w->execution);
  assert_int_equal(row->live, w->live);
  assert_true(row->created == w->created && row->launched == w->launched);
  assert_true(row->completed == w->completed);
  assert_int_equal(row->exit_code.there, w->exit_code.there);
  if (w->exit_code.there)
    assert_int_equal(row->exit_code.value, w->exit_code.value);
  assert_int_equal(row->user_retries, w->user_retries);
  assert_int_equal(row->platform_retries, w->platform_retries);
  assert_int_equal(row->retry_delay.there, w->retry_delay.there);
  assert_int_equal(row->gpus, w->gpus);
  assert_int_equal(row->tasks, w->tasks);
  assert_int_equal(row->roles, w->roles);
  assert_int_equal(row->now.number, w->now.number);
  assert_string_equal(row->now.uid, w->now.uid);
  assert_string_equal(row->now.diagnostics, w->now.diagnostics);
  assert_null(row->now.messages);
  assert_string_equal(row->now.failure, w->now.failure);
  assert_string_equal(row->now.trigger_role, w->now.trigger_role);
  assert_true(row->now.trigger_index.there);
  assert_int_equal(row->fold.len, w->fold.len);
  assert_memory_equal(row->fold.data, w->fold.data, w->fold.len);
  assert_null(row->config);
  return PAI_OK;
}

TEST(a_job_comes_back_as_it_was)
{
  pai__store *store = open_folder();
  found config = { .n = 0 };

  put_jobs(store, 1, 12);
  for (int again = 0; again < 2; again++) {
    for (uint64_t id = 1; id <= 12; id++) {
      pai__job_row row = job_of(id);
      assert_ok(pai__store_job(store, id, compare_job, &row, NULL));
      assert_ok(pai__store_job_named(store, row.user, row.name, compare_job,
                                     &row, NULL));
    }
    pai__store_close(store);
    store = open_folder();
  }
  assert_ok(pai__store_config(store, 3, find_text, &config, NULL));
  assert_string_equal(config.text, "protocolVersion: 2\n ");
  pai__store_close(store);
}

STORE_TEST(all_of_a_job_can_change)
{
  pai__batch *batch = new_batch(store);
  pai__job_row row = job_of(3);
  found config = { .n = 0 }, live = { .n = 0 };

  put_jobs(store, 1, 3);
  row.vc = "other";
  row.priority = "prod";
  row.state = "STOPPED";
  row.sub_state = "Completed";
  row.execution = "STOP";
  row.live = false;
  row.created++, row.launched++;
  row.completed = 17;
  row.exit_code = (pai__maybe){ true, -210 };
  row.user_retries++, row.platform_retries += 5;
  row.retry_delay.there = false;
  row.gpus++, row.tasks++, row.roles++;
  row.now.number++;
  row.now.uid = "other";
  row.fold = (pai__bytes){ "more", 4 };
  row.config = NULL; /* stays */
  assert_ok(pai__batch_put_job(batch, &row));
  commit_all(store, batch);
  assert_ok(pai__store_job(store, 3, compare_job, &row, NULL));
  assert_ok(pai__store_config(store, 3, find_text, &config, NULL));
  assert_string_equal(config.text, "protocolVersion: 2\n ");
  assert_ok(pai__store_live(store, find_job, &live, NULL));
  assert_string_equal(live.text, "");
}

TEST(files_are_this_users_only)
{
  pai__store *store;
  struct stat st;

  (void)umask(0);
  store = open_folder();
  put_jobs(store, 1, 1);
  assert_int_equal(stat(in_folder("openpai.db"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(stat(in_folder("openpai.db-wal"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  pai__store_close(store);
  assert_int_equal(chmod(in_folder("openpai.db"), 0644), 0);
  store = open_folder();
  assert_int_equal(stat(in_folder("openpai.db"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  pai__store_close(store);
}

/* --- batches ---------------------------------------------------------------------- */

STORE_TEST(all_or_nothing)
{
  pai__batch *batch = new_batch(store);
  pai__job_row row = job_of(2), same = job_of(3);
  found jobs = { .n = 0 };
  uint64_t last;
  pai_error *err;

  put_jobs(store, 1, 1);
  assert_true(pai__batch_is_empty(batch));
  assert_ok(pai__store_commit(store, batch, &err));
  assert_ok(pai__batch_put_job(batch, &row));
  same.user = row.user, same.name = row.name;
  assert_ok(pai__batch_put_job(batch, &same));
  assert_false(pai__batch_is_empty(batch));
  for (int again = 0; again < 2; again++) {
    assert_fails(pai__store_commit(store, batch, &err), err, PAI_EEXISTS,
                 "of this name already");
    assert_fails(pai__store_job(store, 2, find_job, &jobs, &err), err,
                 PAI_ENOTFOUND, "no job 2");
  }
  assert_ok(pai__store_last_id(store, &last, NULL));
  assert_int_equal(last, 1);
  pai__batch_clear(batch);
  assert_ok(pai__batch_put_job(batch, &row));
  commit_all(store, batch);
  assert_ok(pai__store_job(store, 2, find_job, &jobs, NULL));
}

/* How many rows a batch with the job 3 put so many times changes. */
static int rows_of(pai__store *store, const pai__job_row *row, int times)
{
  pai__batch *batch = new_batch(store);
  pai__event_row event = { .job = row->id, .type = "Normal", .last = 10 };
  int before = sqlite3_total_changes(store->writer);

  for (int i = 0; i < times; i++) {
    assert_ok(pai__batch_put_job(batch, row));
    if (i == 0) /* it refers to the job */
      assert_ok(pai__batch_put_event(batch, &event));
  }
  commit_all(store, batch);
  return sqlite3_total_changes(store->writer) - before;
}

STORE_TEST(a_job_that_is_put_twice_is_written_once)
{
  pai__batch *batch = new_batch(store);
  pai__job_row first = job_of(3), row = first, other = job_of(4);
  found config = { .n = 0 };

  assert_ok(pai__batch_put_job(batch, &first));
  row.state = "RUNNING", row.vc = "other", row.fold.len = 1;
  row.name = "changed", row.submitted++; /* which they never do */
  row.config = NULL;                     /* stays */
  assert_ok(pai__batch_put_job(batch, &row));
  commit_all(store, batch);
  row.name = first.name, row.submitted = first.submitted;
  assert_ok(pai__store_job(store, 3, compare_job, &row, NULL));
  assert_ok(pai__store_config(store, 3, find_text, &config, NULL));
  assert_string_equal(config.text, "protocolVersion: 2\n ");

  assert_int_equal(rows_of(store, &row, 1), rows_of(store, &row, 5));
  assert_int_equal(rows_of(store, &other, 5), 5); /* with last id, event */
}

STORE_TEST(what_was_put_before_a_drop_is_not_put_behind_it)
{
  pai__batch *batch = new_batch(store);
  pai__job_row row = job_of(3), other = job_of(4);
  found jobs = { .n = 0 };
  pai__batch_mark mark;
  pai_error *err;

  assert_ok(pai__batch_put_job(batch, &row));
  assert_ok(pai__batch_drop_job(batch, 3));
  assert_ok(pai__batch_put_job(batch, &row));
  assert_fails(pai__store_commit(store, batch, &err), err, PAI_EEXISTS,
               "not used again");

  pai__batch_clear(batch);
  assert_ok(pai__batch_put_job(batch, &row));
  mark = pai__batch_here(batch);
  assert_ok(pai__batch_put_job(batch, &other));
  pai__batch_back(batch, mark);
  assert_ok(pai__batch_put_job(batch, &other));
  commit_all(store, batch);
  assert_ok(pai__store_job(store, 3, find_job, &jobs, NULL));
  assert_ok(pai__store_job(store, 4, find_job, &jobs, NULL));
}

TEST(an_id_is_never_used_again)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  pai__job_row row = job_of(4), other = job_of(5);
  uint64_t last;
  pai_error *err;

  put_jobs(store, 1, 4);
  assert_ok(pai__batch_drop_job(batch, 4));
  commit_all(store, batch);
  pai__store_close(store);
  store = open_folder();
  batch = new_batch(store);
  assert_ok(pai__batch_put_job(batch, &row));
  assert_fails(pai__store_commit(store, batch, &err), err, PAI_EEXISTS,
               "not used again");
  assert_ok(pai__store_last_id(store, &last, NULL));
  assert_int_equal(last, 4);
  pai__batch_clear(batch);
  other.user = row.user, other.name = row.name; /* the name may be */
  assert_ok(pai__batch_put_job(batch, &other));
  commit_all(store, batch);
  pai__store_close(store);
}

STORE_TEST(what_is_wrong_is_refused)
{
  pai__batch *batch = new_batch(store);
  pai__job_row row = job_of(1);
  pai__task_row task = { .job = 77, .role = "worker", .state = "WAITING" };
  pai__event_row event = { .job = 77, .type = "Normal" };
  pai_error *err;

  row.id = 0;
  assert_int_equal(pai__batch_put_job(batch, &row), PAI_EINVAL);
  row.id = UINT64_MAX;
  assert_int_equal(pai__batch_put_job(batch, &row), PAI_EINVAL);
  row = job_of(1);
  row.name = NULL;
  assert_int_equal(pai__batch_put_job(batch, &row), PAI_EINVAL);
  assert_int_equal(pai__batch_put_meta(batch, "last id", "0"), PAI_EINVAL);
  assert_int_equal(pai__batch_put_event(batch, &event), PAI_EINVAL);
  assert_true(pai__batch_is_empty(batch));
  for (int i = 0; i < 5; i++) {
    pai__batch_clear(batch);
    event.last = 1;
    assert_ok(i == 0   ? pai__batch_put_task(batch, &task)
              : i == 1 ? pai__batch_put_event(batch, &event)
              : i == 2 ? pai__batch_put_tag(batch, 77, "mine")
              : i == 3 ? pai__batch_drop_job(batch, 77)
                       : pai__batch_put_secret(batch, 77, "s", "x", 1, NULL));
    assert_fails(pai__store_commit(store, batch, &err), err, PAI_ENOTFOUND,
                 "job");
  }
  pai__batch_free(batch);
}

static int find_piece(void *user_data, const void *data, size_t len)
{
  return find_text(user_data, len == 0 ? "" : data);
}

STORE_TEST(a_snapshot_ends_the_log_before_it)
{
  pai__batch *batch = new_batch(store);
  found log = { .n = 0 }, snapshot = { .n = 0 };

  assert_ok(pai__batch_put_log(batch, "one", 4));
  assert_ok(pai__batch_put_log(batch, "two", 4));
  commit_all(store, batch);
  assert_ok(pai__store_log(store, find_piece, &log, NULL));
  assert_string_equal(log.text, "one two ");
  batch = new_batch(store);
  assert_ok(pai__batch_put_log(batch, "three", 6));
  assert_ok(pai__batch_put_snapshot(batch, "both", 5));
  assert_ok(pai__batch_put_log(batch, "four", 5));
  assert_ok(pai__batch_put_log(batch, "", 0));
  commit_all(store, batch);
  log = (found){ .n = 0 };
  assert_ok(pai__store_log(store, find_piece, &log, NULL));
  assert_string_equal(log.text, "four  ");
  assert_ok(pai__store_snapshot(store, find_piece, &snapshot, NULL));
  assert_string_equal(snapshot.text, "both ");
}

STORE_TEST(small_things_are_kept)
{
  pai__batch *batch = new_batch(store);
  found tags = { .n = 0 };
  char *value;

  put_jobs(store, 1, 1);
  assert_ok(pai__batch_put_meta(batch, "host", "box"));
  assert_ok(pai__batch_put_tag(batch, 1, "nice"));
  assert_ok(pai__batch_put_tag(batch, 1, "good"));
  assert_ok(pai__batch_put_tag(batch, 1, "nice"));
  assert_ok(pai__batch_drop_tag(batch, 1, "good"));
  assert_ok(pai__batch_drop_tag(batch, 1, "never"));
  commit_all(store, batch);
  assert_ok(pai__store_tags(store, 1, find_text, &tags, NULL));
  assert_string_equal(tags.text, "nice ");
  assert_ok(pai__store_meta(store, &value, "host", NULL));
  assert_string_equal(value, "box");
  pai__strfree(&pai__libc_alloc, value);
  assert_ok(pai__store_meta(store, &value, "other", NULL));
  assert_null(value);
}

STORE_TEST(a_dropped_job_leaves_nothing)
{
  pai__batch *batch = new_batch(store);
  pai__task_row task = task_of("worker", 0, 1);
  pai__start_row start = { .uid = "first" };
  pai__event_row event = { .job = 1, .type = "Normal", .last = 10 };
  pai__attempt_row attempt = { .trigger = "failed" };
  found any = { .n = 0 };

  put_jobs(store, 1, 2);
  assert_ok(pai__batch_put_task(batch, &task));
  assert_ok(pai__batch_put_task_attempt(batch, &task, &start));
  assert_ok(pai__batch_put_event(batch, &event));
  assert_ok(pai__batch_put_attempt(batch, 1, &attempt));
  assert_ok(pai__batch_put_tag(batch, 1, "nice"));
  commit_all(store, batch);
  batch = new_batch(store);
  assert_ok(pai__batch_drop_job(batch, 1));
  commit_all(store, batch);
  assert_ok(pai__store_tasks(store, 1, 1, NULL, find_task, &any, NULL));
  assert_ok(pai__store_task_attempts(store, &task, find_start, &any, NULL));
  assert_ok(pai__store_events(store, 1, NULL, find_event, &any, NULL));
  assert_ok(pai__store_attempts(store, 1, find_attempt, &any, NULL));
  assert_ok(pai__store_tags(store, 1, find_text, &any, NULL));
  assert_int_equal(pai__store_config(store, 1, find_text, &any, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(any.n, 0);
  assert_ok(pai__store_job(store, 2, find_job, &any, NULL));
}

/* --- queries ------------------------------------------------------------------------- */

static int say_no(void *user_data, const pai__job_row *row)
{
  (void)row;
  ++*(int *)user_data;
  return PAI_EUSER;
}

static int ask_again(void *user_data, const pai__job_row *row)
{
  pai__store *store = user_data;
  found tags = { .n = 0 };
  pai_error *err;

  assert_ok(pai__store_tags(store, row->id, find_text, &tags,
                            NULL)); /* another question may be asked */
  assert_fails(pai__store_job(store, 2, find_job, &tags, &err), err, PAI_EBUSY,
               "within a callback");
  return PAI_OK;
}

STORE_TEST(a_callback_may_end_a_query)
{
  pai_error *err;
  int calls = 0;

  put_jobs(store, 1, 4);
  assert_int_equal(pai__store_live(store, say_no, &calls, &err), PAI_EUSER);
  assert_null(err);
  assert_int_equal(calls, 1);
  assert_ok(pai__store_job(store, 1, ask_again, store, NULL));
}

STORE_TEST(what_is_held_is_of_one_moment)
{
  found jobs = { .n = 0 };

  put_jobs(store, 3, 3);
  assert_ok(pai__store_hold(store, NULL));
  assert_ok(pai__store_live(store, find_job, &jobs, NULL));
  put_jobs(store, 4, 4);
  assert_ok(pai__store_live(store, find_job, &jobs, NULL));
  assert_string_equal(jobs.text, "3 3 ");
  pai__store_let_go(store);
  assert_ok(pai__store_live(store, find_job, &jobs, NULL));
  assert_string_equal(jobs.text, "3 3 3 4 ");
}

/* --- threads --------------------------------------------------------------------------- */

enum { COMMITS = 60 };

typedef struct writing {
  pai__store *store;
  pai__batch *batch;
  int rc;
} writing;

static void *commit_there(void *user_data)
{
  writing *w = user_data;

  w->rc = pai__store_commit(w->store, w->batch, NULL);
  return NULL;
}

/* As a pool does it: each commit on a thread of its own, while the owner reads
 * and prepares the next one. */
TEST(a_commit_may_run_on_another_thread)
{
  writing w = { .store = open_folder() };
  uint64_t seen = 0, last;

  for (uint64_t id = 1; id <= COMMITS; id++) {
    pai__job_row row = job_of(id), next = job_of(id + 1);
    pai__batch *other = new_batch(w.store);
    pthread_t thread;
    w.batch = new_batch(w.store);
    assert_ok(pai__batch_put_job(w.batch, &row));
    assert_int_equal(pthread_create(&thread, NULL, commit_there, &w), 0);
    for (int i = 0; i < 20; i++) {
      pai__job_query q = { .limit = 5 };
      found jobs = { .n = 0 };
      assert_ok(pai__store_list(w.store, &q, find_job, &jobs, &last, NULL));
      assert_true(last >= seen && last <= id); /* never less than before */
      seen = last;
    }
    assert_ok(pai__batch_put_job(other, &next));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ok(w.rc);
    pai__batch_free(w.batch);
    pai__batch_free(other);
  }
  assert_ok(pai__store_last_id(w.store, &last, NULL));
  assert_int_equal(last, COMMITS);
  pai__store_close(w.store);
}

/* --- memory ---------------------------------------------------------------------------- */

static int put_everything(pai__batch *batch, pai_error **err)
{
  pai__job_row job = job_of(1);
  pai__task_row task = task_of("worker", 0, 1);
  pai__start_row start = { .uid = "first" };
  pai__event_row event = { .job = 1, .type = "Normal", .last = 10 };
  pai__attempt_row attempt = { .trigger = "failed" };
  int rc;

  if ((rc = pai__batch_put_job(batch, &job)) < 0 ||
      (rc = pai__batch_put_job(batch, &job)) < 0 ||
      (rc = pai__batch_put_task(batch, &task)) < 0 ||
      (rc = pai__batch_put_task_attempt(batch, &task, &start)) < 0 ||
      (rc = pai__batch_put_event(batch, &event)) < 0 ||
      (rc = pai__batch_put_attempt(batch, 1, &attempt)) < 0 ||
      (rc = pai__batch_put_tag(batch, 1, "nice")) < 0 ||
      (rc = pai__batch_put_meta(batch, "host", "box")) < 0 ||
      (rc = pai__batch_put_log(batch, "one", 4)) < 0 ||
      (rc = pai__batch_put_snapshot(batch, "both", 5)) < 0 ||
      (rc = pai__batch_put_secret(batch, 1, "s", "x", 1, err)) < 0 ||
      (rc = pai__batch_drop_secrets(batch, 1)) < 0)
    return rc;
  return pai__batch_drop_job(batch, 1);
}

TEST_FAULTS(no_memory_is_survived)
{
  static const char *const users[] = { "ann", "bob" };
  pai__job_query query = { .users = { users, 2 },
                           .limit = 9,
                           .keyword = "j_b" };
  pai__batch *batch = NULL;
  pai__store *store;
  pai_error *err = NULL;
  uint64_t total;
  found jobs = { .n = 0 };
  int rc = pai__store_open(&store, alloc, folder, NULL, &err);

  if (rc == PAI_OK)
    rc = pai__batch_new(&batch, store, &err);
  if (rc == PAI_OK)
    rc = put_everything(batch, &err);
  if (rc == PAI_OK)
    pai__batch_clear(batch); /* its id may be used once only */
  if (rc == PAI_OK)
    rc = pai__batch_put_meta(batch, "host", "box");
  if (rc == PAI_OK)
    rc = pai__store_commit(store, batch, &err);
  if (rc == PAI_OK)
    rc = pai__store_list(store, &query, find_job, &jobs, &total, &err);
  pai__batch_free(batch);
  pai__store_close(store);
  pai_error_free(err);
  return rc;
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
