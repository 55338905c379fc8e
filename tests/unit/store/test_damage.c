/* What damage does to a store, and its repair. */
#include "cases.h"
#include "folder.h"

#include "base/os/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- damage ------------------------------------------------------------------------- */

static void read_file(pai__buf *out, const char *name)
{
  pai__buf_init(out, &pai__libc_alloc);
  assert_ok(pai__fs_read(out, in_folder(name), 1 << 28, NULL));
}

/* Overwrites what is in some of the file's pages. */
static void damage(unsigned from, unsigned to)
{
  int fd = open(in_folder(PAI__STORE_FILE), O_WRONLY);
  char junk[3000];

  assert_true(fd >= 0);
  memset(junk, 0xa7, sizeof(junk));
  for (unsigned page = from; page < to; page++)
    assert_int_equal(pwrite(fd, junk, sizeof(junk), (off_t)page * 4096 + 8),
                     sizeof(junk));
  assert_int_equal(close(fd), 0);
}

static void put_many(uint64_t jobs)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);

  for (uint64_t id = 1; id <= jobs; id++) {
    pai__job_row row = job_of(id);
    pai__task_row task = { .job = id, .role = "worker", .state = "RUNNING" };
    assert_ok(pai__batch_put_job(batch, &row));
    assert_ok(pai__batch_put_task(batch, &task));
    assert_ok(pai__batch_put_tag(batch, id, "mine"));
  }
  assert_ok(pai__batch_put_log(batch, "line", 4));
  commit_all(store, batch);
  pai__store_close(store);
}

TEST(damage_is_refused_and_kept)
{
  pai__buf before, after;

  put_many(500);
  damage(40, 60);
  read_file(&before, PAI__STORE_FILE);
  expect_no_store(PAI_EIO, "the database is damaged", true);
  read_file(&after, PAI__STORE_FILE);
  assert_int_equal(before.len, after.len);
  assert_memory_equal(before.data, after.data, before.len);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
}

TEST(after_a_kill_all_pages_are_looked_at)
{
  pai__buf before, after;
  struct stat st;

  put_many(500);
  leave_open(501, 501);
  damage(40, 60);
  assert_int_equal(stat(in_folder("openpai.db-wal"), &st), 0);
  read_file(&before, "openpai.db-wal");
  expect_no_store(PAI_EIO, "the database is damaged", false);
  read_file(&after, "openpai.db-wal"); /* nor was that put into the file */
  assert_int_equal(before.len, after.len);
  assert_memory_equal(before.data, after.data, before.len);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
}

TEST(damage_that_is_met_is_told)
{
  pai__store *store;
  pai__job_query all = { .limit = 2000, .order = PAI__BY_GPUS };
  found jobs = { .n = 0 };
  pai_error *err;

  put_many(2000);
  damage(100, 200);
  store = open_folder(); /* as it was closed well, nobody looks */
  assert_int_equal(pai__store_list(store, &all, find_job, &jobs, NULL, &err),
                   PAI_EIO);
  assert_has(pai_error_help(err), "openpai doctor --repair");
  assert_false(pai_error_retriable(err));
  test_expect_error(err, PAI_EIO, "damaged");
  pai__store_close(store);
}

/* --- repair --------------------------------------------------------------------------- */

static pai__repaired repair_all(void)
{
  pai__repaired result;
  pai_error *err;

  if (pai__store_repair(&result, &pai__libc_alloc, folder, &err) < 0)
    fail_msg("cannot repair: %s", pai_error_message(err));
  assert_non_null(result.aside);
  return result;
}

TEST(a_repair_keeps_what_can_be_read)
{
  pai__store *store;
  pai__repaired result;
  pai__buf before, after;
  found jobs = { .n = 0 }, one = { .n = 0 };
  uint64_t total, last;
  pai__job_query all = { .limit = 0 };
  pai__store_options look = { .check = true }; /* is it whole? */

  put_many(2000);
  damage(100, 104);
  damage(300, 302);
  read_file(&before, PAI__STORE_FILE);
  result = repair_all();
  assert_true(result.holes);
  assert_true(result.jobs > 1800);
  read_file(&after, "openpai.db.damaged");
  assert_memory_equal(before.data, after.data, before.len);
  assert_string_equal(result.aside, in_folder("openpai.db.damaged"));
  pai__strfree(&pai__libc_alloc, result.aside);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);

  assert_ok(pai__store_open(&store, &pai__libc_alloc, folder, &look, NULL));
  assert_ok(pai__store_list(store, &all, find_job, &jobs, &total, NULL));
  assert_int_equal(total, result.jobs);
  assert_ok(pai__store_last_id(store, &last, NULL));
  assert_int_equal(last, 2000);
  put_jobs(store, 2001, 2001);
  assert_ok(pai__store_job(store, 2001, find_job, &one, NULL));
  pai__store_close(store);
}

/* A page of a table's rows, behind so many quarters of them; 0: this SQLite does
 * not say. */
static unsigned page_of(const char *table, int quarters)
{
  sqlite3_stmt *stmt = NULL;
  unsigned page = 0;
  sqlite3 *db;

  assert_int_equal(sqlite3_open(in_folder(PAI__STORE_FILE), &db), SQLITE_OK);
  if (sqlite3_prepare_v2(db,
                         "SELECT pageno FROM dbstat WHERE name=?1 AND "
                         "pagetype='leaf' ORDER BY path LIMIT 1 OFFSET "
                         "(SELECT count(*)*?2/4 FROM dbstat WHERE name=?1 AND "
                         "pagetype='leaf')",
                         -1, &stmt, NULL) == SQLITE_OK) {
    (void)sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(stmt, 2, quarters);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    page = (unsigned)sqlite3_column_int(stmt, 0);
  }
  assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  return page;
}

TEST(a_repair_loses_one_page_of_one_table)
{
  static const char *const tables[] = { "job", "job_detail", "config", "task",
                                        "tag", "log",        "meta" };
  for (size_t i = 0; i < PAI__LEN(tables); i++) {
    const uint64_t jobs = 1000, rows = 5 * jobs + 2; /* log, meta */
    bool is_job = strcmp(tables[i], "job") == 0;
    pai__repaired result;
    pai__store *store;
    uint64_t last;
    unsigned page;
    put_many(jobs);
    page = page_of(tables[i], 2);
    if (page == 0)
      skip();
    damage(page - 1, page);
    result = repair_all();
    pai__strfree(&pai__libc_alloc, result.aside);
    assert_true(result.holes);
    assert_int_equal(result.scheduler, strcmp(tables[i], "log") != 0);
    assert_int_equal(result.jobs, jobs); /* of jobs the indexes tell */
    assert_true((is_job ? result.rows == rows : result.rows < rows) &&
                result.rows > rows - 500);
    store = open_folder();
    assert_ok(pai__store_last_id(store, &last, NULL));
    assert_int_equal(last, jobs);
    pai__store_close(store);
    assert_int_equal(unlink(in_folder(PAI__STORE_FILE)), 0);
  }
}

TEST(what_is_between_two_holes_is_found)
{
  pai__repaired result;
  unsigned first, second;

  put_many(3000);
  first = page_of("job", 1);
  second = page_of("job", 3);
  if (first == 0)
    skip();
  damage(first - 1, first);
  damage(second - 1, second);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, 3000); /* by way of the indexes */
}

/* It says where all others are, and loses nobody's rows. */
TEST(a_repair_does_without_the_first_page)
{
  const uint64_t jobs = 1000, rows = 5 * jobs + 2; /* log, meta */
  pai__repaired result;
  pai__store *store;
  found one = { .n = 0 };

  put_many(jobs);
  damage(0, 1);
  expect_no_store(PAI_EIO, "damaged", false);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, jobs);
  assert_int_equal(result.rows, rows);
  assert_int_equal(result.refused, 0);
  assert_true(result.scheduler);
  assert_true(result.holes);
  assert_int_equal(access(in_folder("openpai.db.grafted"), F_OK), -1);
  store = open_folder();
  assert_ok(pai__store_job(store, 500, find_job, &one, NULL));
  assert_int_equal(one.n, 1);
  pai__store_close(store);
}

TEST(a_repair_reads_the_log_of_changes_too)
{
  pai__store *store;
  pai__repaired result;
  found jobs = { .n = 0 };

  put_many(100);
  leave_open(101, 101);
  result = repair_all();
  assert_false(result.holes);
  assert_true(result.scheduler);
  assert_int_equal(result.jobs, 101);
  assert_int_equal(result.refused, 0);
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(access(in_folder("openpai.db.damaged-wal"), F_OK), 0);
  store = open_folder();
  assert_ok(pai__store_job(store, 101, find_job, &jobs, NULL));
  assert_ok(pai__store_tags(store, 100, find_text, &jobs, NULL));
  assert_ok(pai__store_config(store, 100, find_text, &jobs, NULL));
  assert_string_equal(jobs.text, "101 mine protocolVersion: 2\n ");
  pai__store_close(store);
  result = repair_all(); /* another name */
  assert_string_equal(result.aside, in_folder("openpai.db.damaged.1"));
  pai__strfree(&pai__libc_alloc, result.aside);
}

static void touch(const char *name, time_t when)
{
  const struct timespec times[2] = { { when, 0 }, { when, 0 } };

  assert_int_equal(utimensat(AT_FDCWD, in_folder(name), times, 0), 0);
}

/* What was left over takes no place of what was written since. */
TEST(an_old_repair_does_not_go_on)
{
  pai__store *store;
  pai__repaired result;
  found jobs = { .n = 0 };

  put_many(1);
  assert_int_equal(
    rename(in_folder(PAI__STORE_FILE), in_folder("openpai.db.repaired")), 0);
  put_many(50);
  touch("openpai.db.repaired", 1);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, 50);
  assert_int_equal(access(in_folder("openpai.db.repaired"), F_OK), -1);
  /* What was written may be in the log alone. */
  leave_open(51, 60);
  assert_int_equal(
    close(open(in_folder("openpai.db.repaired"), O_WRONLY | O_CREAT, 0600)),
    0);
  touch(PAI__STORE_FILE, 1);
  touch("openpai.db.repaired", 2);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, 60);
  store = open_folder();
  assert_ok(pai__store_job(store, 60, find_job, &jobs, NULL));
  pai__store_close(store);
}

static bool interrupted;

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to)
{
  errno = EIO;
  return interrupted ? -1 : __real_link(from, to);
}

/* A repair itself writes nothing to the damaged one. */
TEST(what_was_rebuilt_is_the_newest)
{
  pai__repaired result;
  pai_error *err;

  put_many(50);
  leave_open(51, 60);
  interrupted = true;
  assert_int_equal(pai__store_repair(&result, &pai__libc_alloc, folder, &err),
                   PAI_EIO);
  interrupted = false;
  test_expect_error(err, PAI_EIO, "cannot keep aside");
  assert_int_equal(access(in_folder("openpai.db.repaired"), F_OK), 0);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, 0); /* it counted them before */
}

TEST(an_interrupted_repair_goes_on)
{
  pai__store *store;
  pai__repaired result;
  found jobs = { .n = 0 };

  put_many(50);
  assert_int_equal(
    rename(in_folder(PAI__STORE_FILE), in_folder("openpai.db.repaired")), 0);
  put_many(1);
  damage(0, 1);
  touch(PAI__STORE_FILE, 1);
  result = repair_all();
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(access(in_folder("openpai.db.repaired"), F_OK), -1);
  store = open_folder();
  assert_ok(pai__store_job(store, 50, find_job, &jobs, NULL));
  pai__store_close(store);
}

TEST(where_nothing_is_left_a_new_one_begins)
{
  pai__repaired result;
  pai__buf before, after;
  pai_error *err;

  assert_fails(pai__store_repair(&result, &pai__libc_alloc, folder, &err), err,
               PAI_ENOTFOUND, "there is no");
  put_many(10);
  read_file(&before, PAI__STORE_FILE);
  damage(0, (unsigned)(before.len / 4096));
  pai__buf_dispose(&before);
  read_file(&before, PAI__STORE_FILE);
  result = repair_all(); /* jobs' folders tell the rest */
  pai__strfree(&pai__libc_alloc, result.aside);
  assert_int_equal(result.jobs, 0);
  assert_true(result.holes);
  read_file(&after, "openpai.db.damaged");
  assert_memory_equal(before.data, after.data, before.len);
  assert_int_equal(access(in_folder("openpai.db.repairing"), F_OK), -1);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
}

static int repair_in(const pai_alloc *alloc, void *user_data)
{
  pai__repaired result;
  int rc = pai__store_repair(&result, alloc, folder, NULL);

  (void)user_data;
  if (rc == PAI_OK)
    pai__strfree(alloc, result.aside);
  return rc;
}

TEST(no_memory_is_survived)
{
  put_many(3);
  test_faults(repair_in, NULL);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
