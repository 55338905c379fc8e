/* folder.c - a folder for each test of the store, and rows to put there */
#define _XOPEN_SOURCE 700 /* mkdtemp() */

#include "folder.h"

#include "base/os/posix_fs.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

char folder[64];

int folder_set_up(void **state)
{
  (void)state;
  (void)snprintf(folder, sizeof(folder), "/tmp/openpai-store-XXXXXX");
  return mkdtemp(folder) == NULL ? -1 : 0;
}

int folder_tear_down(void **state)
{
  (void)state;
  return system(test_string("chmod -R u+w %s; rm -rf %s", folder, folder));
}

const char *in_folder(const char *name)
{
  static char paths[8][384];
  static unsigned at;
  char *path = paths[at++ % PAI__LEN(paths)];

  (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
  return path;
}

static size_t count_bytes(const pai__buf *text, const void *bytes, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i + len <= text->len; i++)
    if (memcmp(text->data + i, bytes, len) == 0)
      n++;
  return n;
}

static size_t count_in_files(const void *bytes, size_t len)
{
  DIR *dir = opendir(folder);
  struct dirent *entry;
  size_t n = 0;
  pai__buf text = test_buf();

  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    if (entry->d_name[0] == '.')
      continue;
    pai__buf_clear(&text);
    if (pai__fs_read(&text, in_folder(entry->d_name), 1 << 28, NULL) < 0)
      return 255;
    n += count_bytes(&text, bytes, len);
  }
  return dir != NULL ? n : 255;
}

/* By a child: who closes a file loses the locks that SQLite has on it. */
size_t bytes_in_folder(const void *bytes, size_t len)
{
  pid_t child = fork();
  int status;

  if (child == 0)
    _exit((int)count_in_files(bytes, len));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 255);
  return (size_t)WEXITSTATUS(status);
}

void run_sql(const char *file, const char *sql)
{
  sqlite3 *db;

  assert_int_equal(sqlite3_open(in_folder(file), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

pai__store *open_folder(void)
{
  pai__store *store;
  pai_error *err;

  if (pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err) < 0)
    fail_msg("cannot open: %s", pai_error_message(err));
  return store;
}

pai__batch *new_batch(pai__store *store)
{
  pai__batch *batch;

  assert_ok(pai__batch_new(&batch, store, NULL));
  return batch;
}

void commit_all(pai__store *store, pai__batch *batch)
{
  pai_error *err;

  if (pai__store_commit(store, batch, &err) < 0)
    fail_msg("cannot commit: %s", pai_error_message(err));
  pai__batch_free(batch);
}

pai__job_row job_of(uint64_t id)
{
  static const char *const users[] = { "ann", "bob", "eve" };
  static const char *const states[] = { "RUNNING", "SUCCEEDED", "FAILED",
                                        "WAITING" };
  static char names[8][32];
  char *name = names[id % 8];
  bool over = id % 4 == 1 || id % 4 == 2;
  pai__job_row row = {
    .id = id,
    .user = users[id % 3],
    .submitted = 1700000000000000 + (pai_time)id * 1000000,
    .vc = id % 5 == 0 ? "research" : "default",
    .priority = id % 6 == 0   ? "prod"
                : id % 6 == 1 ? "test"
                              : NULL,
    .state = states[id % 4],
    .sub_state = over ? "Completed" : "AttemptRunning",
    .execution = "START",
    .live = !over,
    .created = 1700000000000000 + (pai_time)id,
    .launched = 1700000000000001 + (pai_time)id,
    .completed = over ? 1700000100000000 - (pai_time)id : 0,
    .exit_code = { over, id % 4 == 2 ? 137 : 0 },
    .user_retries = (uint32_t)(id % 7),
    .platform_retries = (uint32_t)(id % 2),
    .retry_delay = { id % 7 == 3, 30 },
    .gpus = (uint32_t)(id % 9),
    .tasks = (uint32_t)(id % 11),
    .roles = 1,
    .now = { .number = 2,
             .uid = "5f1c",
             .state = "AttemptRunning",
             .created = 5,
             .diagnostics = "what \"it\" said",
             .failure = "{\"name\":\"x\"}",
             .trigger = "a task failed",
             .trigger_role = "worker",
             .trigger_index = { true, 0 } },
    .fold = { "\0fold\xff", 6 },
    .config = "protocolVersion: 2\n",
  };

  (void)snprintf(name, sizeof(names[0]), "job_%llu", (unsigned long long)id);
  row.name = name;
  return row;
}

void put_jobs(pai__store *store, uint64_t from, uint64_t to)
{
  pai__batch *batch = new_batch(store);

  for (uint64_t id = from; id <= to; id++) {
    pai__job_row row = job_of(id);
    assert_ok(pai__batch_put_job(batch, &row));
  }
  commit_all(store, batch);
}

void leave_open(uint64_t from, uint64_t to)
{
  pid_t child = fork();

  if (child == 0) {
    put_jobs(open_folder(), from, to);
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
}

int find_job(void *user_data, const pai__job_row *row)
{
  found *f = user_data;

  f->n++;
  (void)snprintf(f->text + strlen(f->text), sizeof(f->text) - strlen(f->text),
                 "%llu ", (unsigned long long)row->id);
  return PAI_OK;
}

int find_text(void *user_data, const char *text)
{
  found *f = user_data;

  f->n++;
  (void)snprintf(f->text + strlen(f->text), sizeof(f->text) - strlen(f->text),
                 "%s ", text);
  return PAI_OK;
}

int find_task(void *user_data, const pai__task_row *row)
{
  found *f = user_data;

  f->n++;
  assert_string_equal(row->now.node, "box");
  assert_string_equal(row->now.ports, "{\"http\":\"15000\"}");
  assert_string_equal(row->now.dir, "/jobs/0");
  assert_int_equal(row->fold.len, 3);
  (void)snprintf(f->text + strlen(f->text), 64, "%s/%u:%u:%s:%d ", row->role,
                 row->index, row->now.number, row->state,
                 row->exit_code.there ? (int)row->exit_code.value : 99);
  return PAI_OK;
}

int find_start(void *user_data, const pai__start_row *row)
{
  found *f = user_data;

  f->n++;
  (void)snprintf(f->text + strlen(f->text), 64, "%u:%s ", row->number,
                 row->uid);
  return PAI_OK;
}

int find_attempt(void *user_data, const pai__attempt_row *row)
{
  found *f = user_data;

  f->n++;
  (void)snprintf(f->text + strlen(f->text), 64, "%u:%s ", row->number,
                 row->trigger);
  return PAI_OK;
}

int find_event(void *user_data, const pai__event_row *row)
{
  found *f = user_data;

  f->n++;
  assert_int_equal(strlen(row->uid), 32);
  (void)snprintf(f->text + strlen(f->text), 64, "%s x%u %d-%d; ", row->reason,
                 row->count, (int)row->first, (int)row->last);
  return PAI_OK;
}

pai__task_row task_of(const char *role, uint32_t index, uint32_t start)
{
  pai__task_row row = {
    .job = 1,
    .attempt = 1,
    .role = role,
    .index = index,
    .state = "RUNNING",
    .sub_state = "AttemptRunning",
    .now = { .number = start,
             .uid = "u",
             .node = "box",
             .ports = "{\"http\":\"15000\"}",
             .dir = "/jobs/0" },
    .fold = { "abc", 3 },
  };
  return row;
}

/* --- accounts ------------------------------------------------------------------------- */

void put_accounts(pai__store *store)
{
  static const char extension[] = "{\"secret\":\"of-ada\"}";
  static const char data[] = "{\"accountKey\":\"of-data\"}";
  pai__account_row user = { .name = "ada",
                            .password = "$hash",
                            .email = "ada@example.org",
                            .groups = "[\"team\"]",
                            .created = 5,
                            .secret = { extension, sizeof(extension) - 1 } };
  pai__group_row group = { "team", "us", "them", "{}" };
  pai__token_row token = {
    "0123456789abcdef0123456789abcdef", "ada", true, 7, 0, NULL, 0, 0
  };
  pai__storage_row storage = { .name = "data",
                               .type = "nfs",
                               .shared = true,
                               .options = "[\"ro\"]",
                               .mounted_at = "/srv/data",
                               .secret = { data, sizeof(data) - 1 } };
  pai__audit_row note = { .time = 9, .user = "ada", .what = "PUT /x" };
  pai__batch *batch = new_batch(store);

  note.status = 201;
  assert_ok(pai__batch_put_account(batch, &user, NULL));
  assert_ok(pai__batch_put_group(batch, &group));
  assert_ok(pai__batch_put_token(batch, &token));
  assert_ok(pai__batch_put_storage(batch, &storage, NULL));
  assert_ok(pai__batch_put_note(batch, &note));
  commit_all(store, batch);
}

static void say(found *text, const char *fmt, ...) PAI__PRINTF(2, 3);

static void say(found *text, const char *fmt, ...)
{
  va_list ap;
  int n;

  va_start(ap, fmt);
  n = vsnprintf(text->text + text->n, sizeof(text->text) - text->n, fmt, ap);
  va_end(ap);
  assert_true(n >= 0 && text->n + (size_t)n < sizeof(text->text));
  text->n += (size_t)n;
}

static int find_account(void *user_data, const pai__account_row *row)
{
  say(user_data, "%s %s %s %s %d %.*s%s\n", row->name, row->password,
      row->email, row->groups, (int)row->created, (int)row->secret.len,
      (const char *)row->secret.data, row->lost ? "lost" : "");
  return PAI_OK;
}

static int find_group(void *user_data, const pai__group_row *row)
{
  say(user_data, "%s %s %s %s\n", row->name, row->description,
      row->external_name, row->extension);
  return PAI_OK;
}

static int find_token(void *user_data, const pai__token_row *row)
{
  say(user_data, "%s %s %d %d %d\n", row->uid, row->user, row->application,
      (int)row->issued, (int)row->expires);
  return PAI_OK;
}

static int find_storage(void *user_data, const pai__storage_row *row)
{
  say(user_data, "%s %s %d %d %s %s %s %.*s%s\n", row->name, row->type,
      row->shared, row->readonly, row->options,
      row->secret_name != NULL ? row->secret_name : "-", row->mounted_at,
      (int)row->secret.len, (const char *)row->secret.data,
      row->lost ? "lost" : "");
  return PAI_OK;
}

static int find_note(void *user_data, const pai__audit_row *row)
{
  say(user_data, "%d %d %s %s %s %u\n", (int)row->id, (int)row->time,
      row->user, row->peer != NULL ? row->peer : "-", row->what, row->status);
  return PAI_OK;
}

void find_accounts(pai__store *store, found *text)
{
  pai__audit_query all = { .limit = 10 };

  text->n = 0;
  text->text[0] = '\0';
  assert_ok(pai__store_accounts(store, find_account, text, NULL));
  assert_ok(pai__store_groups(store, find_group, text, NULL));
  assert_ok(pai__store_tokens(store, find_token, text, NULL));
  assert_ok(pai__store_storages(store, find_storage, text, NULL));
  assert_ok(pai__store_notes(store, &all, find_note, text, NULL));
}

void expect_no_store(int code, const char *part, bool check)
{
  pai__store_options opts = { .check = check };
  pai__store *store;
  pai_error *err;

  assert_int_equal(
    pai__store_open(&store, &pai__libc_alloc, folder, &opts, &err), code);
  assert_null(store);
  test_expect_error(err, code, part);
}
