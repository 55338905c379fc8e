/* backup.c - backup of the live database, and export of all jobs as JSON
 * lines */
#include "json/writer.h"
#include "store/inside.h"

enum { STEP_PAGES = 256 };

/* --- backup -------------------------------------------------------------- */

/* A read transaction is open meanwhile, so the copy is of one moment and a
 * commit does not restart it. */
static int copy_pages(sqlite3_backup *backup, pai__progress_cb progress,
                      void *user_data, int *code)
{
  int rc;

  do {
    rc = sqlite3_backup_step(backup, STEP_PAGES);
    if (rc == SQLITE_OK && progress != NULL)
      *code = progress(user_data, (uint64_t)sqlite3_backup_remaining(backup),
                       (uint64_t)sqlite3_backup_pagecount(backup));
  } while (rc == SQLITE_OK && *code >= 0);
  return rc;
}

static int copy_database(sqlite3 *to, sqlite3 *from, const char *path,
                         pai__progress_cb progress, void *user_data,
                         pai_error **err)
{
  sqlite3_backup *backup;
  int rc, code = PAI_OK, end;

  rc = pai__sql_exec(from, "BEGIN; SELECT count(*) FROM sqlite_schema");
  if (rc != SQLITE_OK)
    return pai__sql_fail(err, from, rc, "back up to", path);
  backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == NULL)
    return pai__sql_fail(err, to, sqlite3_extended_errcode(to), "back up to",
                         path);
  rc = copy_pages(backup, progress, user_data, &code);
  end = sqlite3_backup_finish(backup);
  if (code < 0)
    return code;
  if (rc == SQLITE_DONE)
    rc = end;
  return rc == SQLITE_OK ? PAI_OK
                         : pai__sql_fail(err, to, rc, "back up to", path);
}

int pai__store_backup(pai__store *store, const char *path,
                      pai__progress_cb progress, void *user_data,
                      pai_error **err)
{
  sqlite3 *from = NULL, *to = NULL;
  int rc;

  pai__clear_err(err);
  if (pai__store_is_there(path))
    return pai__fail(err, PAI_EEXISTS, "%s already exists", path);
  rc = pai__store_own_file(path, err);
  if (rc < 0)
    return rc;
  rc =
    pai__store_connect(&from, store->path, SQLITE_OPEN_READWRITE, store, err);
  if (rc == PAI_OK)
    rc = pai__store_connect(&to, path, SQLITE_OPEN_READWRITE, store, err);
  if (rc == PAI_OK)
    rc = copy_database(to, from, path, progress, user_data, err);
  (void)sqlite3_close(from);
  (void)sqlite3_close(to);
  if (rc < 0)
    pai__store_remove(path);
  return rc;
}

/* --- export -------------------------------------------------------------- */

typedef struct export
{
  pai__store *store;
  pai__json_writer w;
  pai__buf *line;
  pai_write_cb write;
  void *user_data;
  uint64_t job;
  uint32_t attempts; /* including the latest one */
  pai_error **err;
}
export;

static int write_tag(void *user_data, const char *text)
{
  pai__json_string(user_data, text);
  return PAI_OK;
}

static int write_config(void *user_data, const char *text)
{
  pai__json_put_text(user_data, "config", text);
  return PAI_OK;
}

static int write_attempt(void *user_data, const pai__attempt_row *row)
{
  pai__json_begin_object(user_data);
  pai__fields_json(pai__attempt_columns, row, user_data);
  pai__json_end_object(user_data);
  return PAI_OK;
}

static int write_event(void *user_data, const pai__event_row *row)
{
  pai__json_begin_object(user_data);
  pai__fields_json(pai__event_columns, row, user_data);
  pai__json_end_object(user_data);
  return PAI_OK;
}

static int write_start(void *user_data, const pai__start_row *row)
{
  pai__json_begin_object(user_data);
  pai__fields_json(pai__start_columns, row, user_data);
  pai__json_end_object(user_data);
  return PAI_OK;
}

static int write_task(void *user_data, const pai__task_row *row)
{
  export *e = user_data;
  int rc;

  pai__json_begin_object(&e->w);
  pai__fields_json(pai__task_columns, row, &e->w);
  pai__json_put_array(&e->w, "starts");
  rc = pai__store_task_attempts(e->store, row, write_start, &e->w, e->err);
  pai__json_end_array(&e->w);
  pai__json_end_object(&e->w);
  return rc;
}

/* Writes the lists after a job's own members. */
static int write_lists(export *e)
{
  int rc;

  pai__json_put_array(&e->w, "tags");
  rc = pai__store_tags(e->store, e->job, write_tag, &e->w, e->err);
  pai__json_end_array(&e->w);
  pai__json_put_array(&e->w, "attempts");
  if (rc == PAI_OK)
    rc = pai__store_attempts(e->store, e->job, write_attempt, &e->w, e->err);
  pai__json_end_array(&e->w);
  pai__json_member(&e->w, "task_list"); /* "tasks" is the number of tasks */
  pai__json_begin_array(&e->w);
  for (uint32_t i = 0; i < e->attempts && rc == PAI_OK; i++)
    rc = pai__store_tasks(e->store, e->job, i, NULL, write_task, e, e->err);
  pai__json_end_array(&e->w);
  pai__json_put_array(&e->w, "events");
  if (rc == PAI_OK)
    rc = pai__store_events(e->store, e->job, NULL, write_event, &e->w, e->err);
  pai__json_end_array(&e->w);
  return rc;
}

static void forget(pai_error **err)
{
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
}

static int export_job(void *user_data, const pai__job_row *row)
{
  export *e = user_data;
  pai__json_writer *w = &e->w;
  int rc;

  pai__buf_clear(e->line);
  pai__json_writer_init(w, e->line, false);
  e->job = row->id;
  e->attempts = row->now.number + 1;
  pai__json_begin_object(w);
  pai__fields_json(pai__job_columns, row, w);
  pai__fields_json(pai__job_detail_columns, row, w);
  rc = pai__store_config(e->store, row->id, write_config, w, e->err);
  if (rc == PAI_ENOTFOUND) { /* the job was stored without a config */
    forget(e->err);
    rc = PAI_OK;
  }
  if (rc == PAI_OK)
    rc = write_lists(e);
  pai__json_end_object(w);
  if (rc == PAI_OK)
    rc = pai__json_finish(w);
  pai__buf_char(e->line, '\n');
  if (rc == PAI_OK && !pai__buf_ok(e->line))
    rc = PAI_ENOMEM;
  return rc == PAI_OK ? e->write(e->user_data, e->line->data, e->line->len)
                      : rc;
}

int pai__store_export(pai__store *store, uint64_t after, uint64_t limit,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  export e = { .store = store, .write = write, .user_data = user_data };
  pai__buf line;
  pai__answer rows;
  int rc;

  e.err = err;
  pai__buf_init(&line, &store->alloc);
  e.line = &line;
  rc = pai__store_hold(store, err);
  if (rc < 0)
    return rc;
  pai__answer_begin(&rows, store, PAI__SQL_ALL_JOBS, err);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1, (sqlite3_int64)after);
    (void)sqlite3_bind_int64(rows.stmt, 2,
                             limit == 0 ? -1 : (sqlite3_int64)limit);
  }
  while (pai__answer_next(&rows)) {
    pai__job_row row = { 0 };
    int column = pai__fields_read(pai__job_columns, rows.stmt, 0, &row);
    (void)pai__fields_read(pai__job_detail_columns, rows.stmt, column, &row);
    rows.code = export_job(&e, &row);
  }
  rc = pai__answer_end(&rows, err);
  if (rc == PAI_ENOMEM && err != NULL && *err == NULL)
    rc = pai__oom(err);
  pai__store_let_go(store);
  pai__buf_dispose(&line);
  return rc;
}
