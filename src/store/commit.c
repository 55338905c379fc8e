/* commit.c - writes a batch as one transaction */
#include "store/inside.h"

#include <stdio.h>

enum { TRIM_EVERY = 64 /* events */ };

/* State of one commit. */
typedef struct commit {
  pai__store *store;
  uint64_t last_id; /* after the jobs of this batch */
  bool erased;
  pai_error **err;
} commit;

static int fail_sql(const commit *c, int sql_rc)
{
  return pai__sql_fail(c->err, c->store->writer, sql_rc, "write",
                       c->store->path);
}

/* Returns a statement to bind values to, or NULL and sets *rc. */
static sqlite3_stmt *get(const commit *c, enum pai__sql which, int *rc)
{
  return pai__sql_get(c->store, which, rc, c->err);
}

/* Texts and bytes belong to the batch, which outlives the step. */
static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
  (void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static void bind_id(sqlite3_stmt *stmt, int at, uint64_t id)
{
  (void)sqlite3_bind_int64(stmt, at, (sqlite3_int64)id);
}

static int run(const commit *c, sqlite3_stmt *stmt)
{
  int rc = pai__sql_run(stmt);

  return rc == SQLITE_OK ? PAI_OK : fail_sql(c, rc);
}

/* --- rows ---------------------------------------------------------------- */

/* Runs a statement whose first parameters are a row's fields; the next one, if
 * it has more, is the job. */
static int put_row(const commit *c, enum pai__sql which,
                   const pai__column *fields, const void *row, uint64_t job)
{
  int rc, n;
  sqlite3_stmt *stmt = get(c, which, &rc);

  if (stmt == NULL)
    return rc;
  n = pai__fields_bind(fields, stmt, row);
  if (n < sqlite3_bind_parameter_count(stmt))
    bind_id(stmt, n + 1, job);
  return run(c, stmt);
}

/* An id that was used before is of a job that changes, or was dropped. */
static int change_job(const commit *c, const pai__job_row *row)
{
  int rc = put_row(c, PAI__SQL_SET_JOB, pai__job_columns, row, row->id);

  if (rc == PAI_OK && sqlite3_changes(c->store->writer) == 0)
    return pai__fail(c->err, PAI_EEXISTS,
                     "job %llu was dropped; ids are not used again",
                     (unsigned long long)row->id);
  if (rc == PAI_OK)
    rc = put_row(c, PAI__SQL_SET_JOB_STATE, pai__job_columns, row, row->id);
  if (rc == PAI_OK)
    rc = put_row(c, PAI__SQL_SET_JOB_TOTALS, pai__job_columns, row, row->id);
  return rc;
}

static int put_config(const commit *c, const pai__job_row *row)
{
  int rc;
  sqlite3_stmt *stmt = get(c, PAI__SQL_PUT_CONFIG, &rc);

  if (stmt == NULL)
    return rc;
  bind_id(stmt, 1, row->id);
  bind_text(stmt, 2, row->config);
  return run(c, stmt);
}

static int put_job(commit *c, const pai__job_row *row)
{
  int rc;

  if (row->id > c->last_id) {
    rc = put_row(c, PAI__SQL_PUT_JOB, pai__job_columns, row, row->id);
    c->last_id = row->id;
  } else {
    rc = change_job(c, row);
  }
  if (rc == PAI_OK)
    rc =
      put_row(c, PAI__SQL_PUT_DETAIL, pai__job_detail_columns, row, row->id);
  if (rc == PAI_OK && row->config != NULL)
    rc = put_config(c, row);
  return rc;
}

/* Deletes starts that are too old now. */
static int trim_starts(const commit *c, const pai__store_change *change)
{
  const pai__start_row *row = change->row;
  sqlite3_stmt *stmt;
  int rc;

  if (row->number < PAI__STORE_TRIES)
    return PAI_OK;
  stmt = get(c, PAI__SQL_TRIM_STARTS, &rc);
  if (stmt == NULL)
    return rc;
  bind_id(stmt, 1, change->job);
  (void)sqlite3_bind_int64(stmt, 2, change->attempt);
  bind_text(stmt, 3, change->name);
  (void)sqlite3_bind_int64(stmt, 4, change->index);
  (void)sqlite3_bind_int64(stmt, 5, row->number - PAI__STORE_TRIES);
  return run(c, stmt);
}

/* Deletes old attempts with their tasks. */
static int trim_attempts(const commit *c, uint64_t job, uint32_t number)
{
  static const enum pai__sql all[] = { PAI__SQL_TRIM_ATTEMPTS,
                                       PAI__SQL_TRIM_TASKS,
                                       PAI__SQL_TRIM_ALL_STARTS };
  int rc = PAI_OK;

  for (size_t i = 0;
       number >= PAI__STORE_TRIES && rc == PAI_OK && i < PAI__LEN(all); i++) {
    sqlite3_stmt *stmt = get(c, all[i], &rc);

    if (stmt == NULL)
      return rc;
    bind_id(stmt, 1, job);
    (void)sqlite3_bind_int64(stmt, 2, number - PAI__STORE_TRIES);
    rc = run(c, stmt);
  }
  return rc;
}

static int put_attempt(const commit *c, const pai__store_change *change)
{
  const pai__attempt_row *row = change->row;
  int rc =
    put_row(c, PAI__SQL_PUT_ATTEMPT, pai__attempt_columns, row, change->job);

  return rc == PAI_OK ? trim_attempts(c, change->job, row->number) : rc;
}

static int put_start(const commit *c, const pai__store_change *change)
{
  int rc, n;
  sqlite3_stmt *stmt = get(c, PAI__SQL_PUT_START, &rc);

  if (stmt == NULL)
    return rc;
  n = pai__fields_bind(pai__start_columns, stmt, change->row);
  bind_id(stmt, n + 1, change->job);
  (void)sqlite3_bind_int64(stmt, n + 2, change->attempt);
  bind_text(stmt, n + 3, change->name);
  (void)sqlite3_bind_int64(stmt, n + 4, change->index);
  rc = run(c, stmt);
  return rc == PAI_OK ? trim_starts(c, change) : rc;
}

/* Deletes old events: a job that is retried for ever has events for ever. */
static int trim_events(const commit *c, uint64_t job)
{
  int rc;
  sqlite3_stmt *stmt = get(c, PAI__SQL_TRIM_EVENTS, &rc);

  if (stmt == NULL)
    return rc;
  bind_id(stmt, 1, job);
  (void)sqlite3_bind_int(stmt, 2, PAI__STORE_EVENTS - 1);
  return run(c, stmt);
}

static int put_event(const commit *c, const pai__store_change *change)
{
  int rc, n;
  sqlite3_stmt *stmt = get(c, PAI__SQL_PUT_EVENT, &rc);

  if (stmt == NULL)
    return rc;
  n = pai__fields_bind(pai__event_columns, stmt, change->row);
  (void)sqlite3_bind_blob(stmt, n + 1, change->uid, sizeof(change->uid),
                          SQLITE_STATIC);
  rc = run(c, stmt);
  if (rc == PAI_OK && ++c->store->nevents % TRIM_EVERY == 0)
    rc = trim_events(c, change->job);
  return rc;
}

/* --- changes of few values ----------------------------------------------- */

/* Runs a statement with a job's id and, if it has the parameter, a text. */
static int of_job(const commit *c, enum pai__sql which,
                  const pai__store_change *change)
{
  int rc;
  sqlite3_stmt *stmt = get(c, which, &rc);

  if (stmt == NULL)
    return rc;
  bind_id(stmt, 1, change->job);
  if (change->name != NULL)
    bind_text(stmt, 2, change->name);
  if (change->bytes.data != NULL)
    (void)sqlite3_bind_blob64(stmt, 3, change->bytes.data, change->bytes.len,
                              SQLITE_STATIC);
  return run(c, stmt);
}

/* Runs a statement with up to three texts; NULL ones are left out. */
static int of_texts(const commit *c, enum pai__sql which, const char *a,
                    const char *b, const char *d)
{
  int rc, n = 0;
  sqlite3_stmt *stmt = get(c, which, &rc);

  if (stmt == NULL)
    return rc;
  if (a != NULL)
    bind_text(stmt, ++n, a);
  if (b != NULL)
    bind_text(stmt, ++n, b);
  if (d != NULL)
    bind_text(stmt, ++n, d);
  return run(c, stmt);
}

static int of_bytes(const commit *c, enum pai__sql which, pai__bytes bytes)
{
  int rc;
  sqlite3_stmt *stmt = get(c, which, &rc);

  if (stmt == NULL)
    return rc;
  (void)sqlite3_bind_blob64(stmt, 1, bytes.data, bytes.len, SQLITE_STATIC);
  return run(c, stmt);
}

static int drop_job(commit *c, const pai__store_change *change)
{
  int rc = of_job(c, PAI__SQL_DROP_JOB, change);

  c->erased = true; /* the row had secrets */
  if (rc == PAI_OK && sqlite3_changes(c->store->writer) == 0)
    rc = pai__fail(c->err, PAI_ENOTFOUND, "there is no job %llu to drop",
                   (unsigned long long)change->job);
  return rc;
}

static int put_snapshot(commit *c, const pai__store_change *change)
{
  int rc = of_texts(c, PAI__SQL_DROP_LOG, NULL, NULL, NULL);

  return rc == PAI_OK ? of_bytes(c, PAI__SQL_PUT_SNAPSHOT, change->bytes) : rc;
}

static int put_meta(const commit *c, const pai__store_change *change)
{
  return of_texts(
    c, change->value != NULL ? PAI__SQL_PUT_META : PAI__SQL_DROP_META,
    change->key, change->value, NULL);
}

/* --- accounts ------------------------------------------------------------ */

static int put_note(const commit *c, const pai__store_change *change)
{
  int rc = put_row(c, PAI__SQL_PUT_NOTE, pai__audit_columns, change->row, 0);
  sqlite3_stmt *stmt;

  if (rc < 0 || ++c->store->nnotes % TRIM_EVERY != 0)
    return rc;
  stmt = get(c, PAI__SQL_TRIM_NOTES, &rc);
  if (stmt == NULL)
    return rc;
  (void)sqlite3_bind_int(stmt, 1, PAI__STORE_NOTES);
  return run(c, stmt);
}

static int put_record(commit *c, const pai__store_change *change)
{
  c->erased = c->erased || change->erases;
  return put_row(c, change->sql, change->fields, change->row, 0);
}

static int drop_record(commit *c, const pai__store_change *change)
{
  c->erased = c->erased || change->erases;
  return of_texts(c, change->sql, change->name, NULL, NULL);
}

/* --- transaction --------------------------------------------------------- */

static int apply(commit *c, const pai__store_change *change)
{
  switch (change->kind) {
  case PAI__PUT_JOB: return put_job(c, change->row);
  case PAI__PUT_ATTEMPT: return put_attempt(c, change);
  case PAI__PUT_TASK:
    return put_row(c, PAI__SQL_PUT_TASK, pai__task_columns, change->row,
                   change->job);
  case PAI__PUT_START: return put_start(c, change);
  case PAI__PUT_EVENT: return put_event(c, change);
  case PAI__PUT_TAG: return of_job(c, PAI__SQL_PUT_TAG, change);
  case PAI__DROP_TAG: return of_job(c, PAI__SQL_DROP_TAG, change);
  case PAI__DROP_JOB: return drop_job(c, change);
  case PAI__PUT_META: return put_meta(c, change);
  case PAI__PUT_LOG: return of_bytes(c, PAI__SQL_PUT_LOG, change->bytes);
  case PAI__PUT_SNAPSHOT: return put_snapshot(c, change);
  case PAI__PUT_SECRET: return of_job(c, PAI__SQL_PUT_SECRET, change);
  case PAI__DROP_SECRETS:
    c->erased = true;
    return of_job(c, PAI__SQL_DROP_SECRETS, change);
  case PAI__PUT_RECORD: return put_record(c, change);
  case PAI__PUT_NOTE: return put_note(c, change);
  case PAI__DROP_RECORD: return drop_record(c, change);
  }
  return PAI_EINTERNAL;
}

static int put_last_id(const commit *c)
{
  char text[24];

  if (c->last_id == c->store->last_id)
    return PAI_OK;
  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)c->last_id);
  return of_texts(c, PAI__SQL_PUT_META, PAI__LAST_ID, text, NULL);
}

int pai__store_commit(pai__store *store, const pai__batch *batch,
                      pai_error **err)
{
  commit c = { .store = store, .last_id = store->last_id, .err = err };
  int rc;

  pai__clear_err(err);
  if (batch->first == NULL)
    return PAI_OK;
  rc = of_texts(&c, PAI__SQL_BEGIN, NULL, NULL, NULL);
  for (const pai__store_change *i = batch->first; i != NULL && rc == PAI_OK;
       i = i->next)
    rc = apply(&c, i);
  if (rc == PAI_OK)
    rc = put_last_id(&c);
  if (rc == PAI_OK)
    rc = of_texts(&c, PAI__SQL_COMMIT, NULL, NULL, NULL);
  if (rc < 0) {
    /* SQLite may have rolled back already. */
    if (!sqlite3_get_autocommit(store->writer))
      (void)pai__sql_exec(store->writer, "ROLLBACK");
    return rc;
  }
  store->last_id = c.last_id;
  store->erased = store->erased || c.erased;
  return PAI_OK;
}
