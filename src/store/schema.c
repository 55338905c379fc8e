/*
 * schema.c - database schema and migrations of older versions
 *
 * A released version never changes: later changes are migrations, and
 * tests/golden/store has a database of each version.
 */
#include "store/inside.h"

/* Columns of an attempt and of a start, in their own tables and in the row
 * that holds the latest one. */
/* clang-format off */
#define ATTEMPT(p) \
  p "number INTEGER, " p "uid TEXT, " p "state TEXT, " p "created INTEGER, " \
  p "launched INTEGER, " p "completed INTEGER, " p "exit_code INTEGER, " \
  p "diagnostics TEXT, " p "messages TEXT, " p "trigger TEXT, " \
  p "trigger_role TEXT, " p "trigger_index INTEGER, "
#define START(p) \
  p "number INTEGER, " p "uid TEXT, " p "state TEXT, " p "node TEXT, " \
  p "ip TEXT, " p "ports TEXT, " p "gpus TEXT, " p "dir TEXT, " \
  p "created INTEGER, " p "launched INTEGER, " p "completed INTEGER, " \
  p "exit_code INTEGER, " p "diagnostics TEXT, " p "messages TEXT, "
#define OF_JOB "job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE"

/* In each order, equal jobs are sorted by `submitted`: so there is an index
 * for each column to sort or filter by, followed by `submitted`. */
static const char *const version_1[] = {
  "CREATE TABLE job(id INTEGER PRIMARY KEY, user TEXT NOT NULL, "
  "name TEXT NOT NULL, submitted INTEGER NOT NULL, vc TEXT NOT NULL, "
  "priority ANY NOT NULL, state TEXT NOT NULL, sub_state TEXT NOT NULL, "
  "execution TEXT NOT NULL, live INTEGER NOT NULL, created INTEGER, "
  "launched INTEGER, completed INTEGER NOT NULL, exit_code INTEGER, "
  "user_retries INTEGER NOT NULL, platform_retries INTEGER NOT NULL, "
  "retry_delay INTEGER, gpus INTEGER NOT NULL, tasks INTEGER NOT NULL, "
  "roles INTEGER NOT NULL) STRICT;"
  "CREATE UNIQUE INDEX job_name ON job(user, name);"
  "CREATE INDEX job_submitted ON job(submitted, id, user, name, vc);"
  "CREATE INDEX job_user ON job(user, submitted);"
  "CREATE INDEX job_vc ON job(vc, submitted);"
  "CREATE INDEX job_state ON job(state, submitted);"
  "CREATE INDEX job_user_state ON job(user, state, submitted);"
  "CREATE INDEX job_vc_state ON job(vc, state, submitted);"
  "CREATE INDEX job_priority ON job(priority, submitted);"
  "CREATE INDEX job_by_name ON job(name, submitted);"
  "CREATE INDEX job_completed ON job(completed, submitted);"
  "CREATE INDEX job_retries ON job(user_retries+platform_retries, submitted);"
  "CREATE INDEX job_tasks ON job(tasks, submitted);"
  "CREATE INDEX job_gpus ON job(gpus, submitted);"
  "CREATE INDEX job_live ON job(id) WHERE live;",
  /* Columns that lists do not show, so that their pages hold more rows. */
  "CREATE TABLE job_detail(job INTEGER PRIMARY KEY "
  "REFERENCES job(id) ON DELETE CASCADE, "
  ATTEMPT("now_")
  "fold BLOB) STRICT;"
  "CREATE TABLE config(job INTEGER PRIMARY KEY "
  "REFERENCES job(id) ON DELETE CASCADE, text TEXT NOT NULL) STRICT;"
  "CREATE TABLE attempt(" OF_JOB ", "
  ATTEMPT("")
  "PRIMARY KEY(job, number)) WITHOUT ROWID, STRICT;"
  "CREATE TABLE task(" OF_JOB ", attempt INTEGER NOT NULL, "
  "role TEXT NOT NULL, idx INTEGER NOT NULL, state TEXT NOT NULL, "
  "sub_state TEXT NOT NULL, retries INTEGER NOT NULL, "
  "counted INTEGER NOT NULL, created INTEGER, launched INTEGER, "
  "completed INTEGER, exit_code INTEGER, "
  START("now_")
  "fold BLOB, "
  "PRIMARY KEY(job, attempt, role, idx)) WITHOUT ROWID, STRICT;"
  "CREATE TABLE task_attempt(" OF_JOB ", attempt INTEGER NOT NULL, "
  "role TEXT NOT NULL, idx INTEGER NOT NULL, "
  START("")
  "PRIMARY KEY(job, attempt, role, idx, number)) WITHOUT ROWID, STRICT;",
  "CREATE TABLE event(" OF_JOB ", uid BLOB NOT NULL, task_uid TEXT, "
  "role TEXT, idx INTEGER, type TEXT NOT NULL, reason TEXT NOT NULL, "
  "message TEXT NOT NULL, component TEXT, host TEXT, "
  "first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, "
  "PRIMARY KEY(job, uid)) WITHOUT ROWID, STRICT;"
  "CREATE INDEX event_last ON event(job, last);"
  "CREATE TABLE tag(" OF_JOB ", name TEXT NOT NULL, "
  "submitted INTEGER NOT NULL, PRIMARY KEY(job, name)) "
  "WITHOUT ROWID, STRICT;"
  "CREATE INDEX tag_name ON tag(name, submitted, job);"
  "CREATE TABLE secret(" OF_JOB ", name TEXT NOT NULL, "
  "sealed BLOB NOT NULL, PRIMARY KEY(job, name)) WITHOUT ROWID, STRICT;"
  "CREATE TABLE log(seq INTEGER PRIMARY KEY, piece BLOB NOT NULL) STRICT;"
  "CREATE TABLE snapshot(id INTEGER PRIMARY KEY, piece BLOB NOT NULL) STRICT;"
  "CREATE TABLE user_default(user TEXT NOT NULL, name TEXT NOT NULL, "
  "value TEXT NOT NULL, PRIMARY KEY(user, name)) WITHOUT ROWID, STRICT;"
  "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) "
  "WITHOUT ROWID, STRICT;"
  "INSERT INTO meta(name, value) VALUES('" PAI__LAST_ID "', '0');"
  "PRAGMA application_id = 1330659657;",
  NULL,
};

/* Rows of all tables have row numbers, so that damage can be skipped
 * (repair.c).  Sealed values are as in table secret. */
static const char accounts[] =
  "CREATE TABLE account(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
  "password TEXT NOT NULL, email TEXT NOT NULL, groups TEXT NOT NULL, "
  "created INTEGER, sealed BLOB) STRICT;"
  "CREATE TABLE account_group(id INTEGER PRIMARY KEY, "
  "name TEXT NOT NULL UNIQUE, description TEXT NOT NULL, "
  "external_name TEXT NOT NULL, extension TEXT NOT NULL) STRICT;"
  "CREATE TABLE account_token(id INTEGER PRIMARY KEY, "
  "uid TEXT NOT NULL UNIQUE, user TEXT NOT NULL, "
  "application INTEGER NOT NULL, issued INTEGER, expires INTEGER) STRICT;"
  "CREATE TABLE storage(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
  "type TEXT NOT NULL, shared INTEGER NOT NULL, readonly INTEGER NOT NULL, "
  "options TEXT, secret_name TEXT, mounted_at TEXT, sealed BLOB) STRICT;"
  "CREATE TABLE audit(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, "
  "user TEXT, peer TEXT, what TEXT NOT NULL, status INTEGER NOT NULL) STRICT;"
  "CREATE INDEX audit_user ON audit(user, id);";

static const char *const version_2[] = {
  accounts,
  NULL,
};

/* These indexes are dropped: a job has few events, and there are few notes, so
 * sorting or scanning them is cheap, but every insert had to be written
 * twice. */
static const char *const version_3[] = {
  "DROP INDEX event_last;"
  "DROP INDEX audit_user;",
  NULL,
};

/* Tokens get a name, a scope and a last use; a user may have own limits; for a
 * removed user the heir of the jobs is stored. */
static const char *const version_4[] = {
  "ALTER TABLE account_token ADD COLUMN name TEXT;"
  "ALTER TABLE account_token ADD COLUMN scopes INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE account_token ADD COLUMN used INTEGER;"
  "ALTER TABLE account ADD COLUMN quota TEXT;"
  "CREATE TABLE account_gone(id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
  "job INTEGER NOT NULL, time INTEGER, heir TEXT) STRICT;",
  NULL,
};

/* The command's own exit code, and why a task could not be started: as values,
 * where diagnostics are text. */
#define END_OF(table, p) \
  "ALTER TABLE " table " ADD COLUMN " p "user_code INTEGER;" \
  "ALTER TABLE " table " ADD COLUMN " p "why TEXT;"

static const char *const version_5[] = {
  END_OF("job_detail", "now_")
  END_OF("attempt", "")
  END_OF("task", "now_")
  END_OF("task_attempt", ""),
  NULL,
};

/* Starts and jobs with output missing in logs; the runtime of a start, where
 * it is worth showing. */
#define OUTPUT_LOST(table, p) \
  "ALTER TABLE " table " ADD COLUMN " p "output_lost INTEGER NOT NULL " \
  "DEFAULT 0;"
#define RUNTIME(table, p) \
  "ALTER TABLE " table " ADD COLUMN " p "runtime TEXT;"

static const char *const version_6[] = {
  OUTPUT_LOST("job", "")
  OUTPUT_LOST("task", "now_") RUNTIME("task", "now_")
  OUTPUT_LOST("task_attempt", "") RUNTIME("task_attempt", ""),
  NULL,
};

/* The recognized failure. */
#define FAILURE(table, p) \
  "ALTER TABLE " table " ADD COLUMN " p "failure TEXT;"

static const char *const version_7[] = {
  FAILURE("job_detail", "now_")
  FAILURE("attempt", "")
  FAILURE("task", "now_")
  FAILURE("task_attempt", ""),
  NULL,
};

/* clang-format on */

/* Later versions add the columns given in api/schema. */
#include "api/migrations.inc"

static const pai__migration migrations[] = {
  { 1, version_1 }, { 2, version_2 },         { 3, version_3 },
  { 4, version_4 }, { 5, version_5 },         { 6, version_6 },
  { 7, version_7 }, ADDED_COLUMNS{ 0, NULL },
};

int pai__schema_version(void)
{
  return migrations[PAI__LEN(migrations) - 2].version;
}

/* Runs one step and sets its version; SQLite's result code. */
static int take_step(sqlite3 *db, const pai__migration *step)
{
  char version[48];
  int rc;

  (void)sqlite3_snprintf(sizeof(version), version, "PRAGMA user_version=%d",
                         step->version);
  rc = pai__sql_exec(db, "BEGIN IMMEDIATE");
  for (const char *const *text = step->texts; *text != NULL; text++)
    if (rc == SQLITE_OK)
      rc = pai__sql_exec(db, *text);
  if (rc == SQLITE_OK)
    rc = pai__sql_exec(db, version);
  if (rc == SQLITE_OK)
    rc = pai__sql_exec(db, "COMMIT");
  return rc;
}

int pai__schema_migrate(sqlite3 *db, const pai__migration *steps,
                        const char *path, pai_error **err)
{
  int64_t version;
  int rc = pai__sql_number(&version, db, "PRAGMA user_version", path, err);

  if (steps == NULL)
    steps = migrations;
  for (; rc == PAI_OK && steps->version != 0; steps++) {
    if (steps->version <= version)
      continue;
    rc = take_step(db, steps);
    if (rc != SQLITE_OK) {
      rc = pai__sql_fail(err, db, rc, "bring up to date", path);
      if (!sqlite3_get_autocommit(db))
        (void)pai__sql_exec(db, "ROLLBACK");
    }
  }
  return rc;
}

int pai__schema_check(sqlite3 *db, const char *path, pai_error **err)
{
  int64_t application, version, tables;
  int rc;

  if ((rc = pai__sql_number(&application, db, "PRAGMA application_id", path,
                            err)) < 0 ||
      (rc = pai__sql_number(&version, db, "PRAGMA user_version", path, err)) <
        0 ||
      (rc = pai__sql_number(&tables, db, "SELECT count(*) FROM sqlite_schema",
                            path, err)) < 0)
    return rc;
  if (tables == 0 && application == 0 && version == 0)
    return PAI_OK; /* a new database */
  if (application != PAI__STORE_APPLICATION) {
    rc = pai__fail(err, PAI_EINVAL, "%s is another program's database", path);
    pai__error_help(err, "use another folder with --root");
    return rc;
  }
  if (version <= pai__schema_version())
    return PAI_OK;
  rc = pai__fail(err, PAI_ENOTSUP,
                 "%s is from a newer openpai: its version is %d, the newest "
                 "known version is %d",
                 path, (int)version, pai__schema_version());
  pai__error_help(err, "update openpai, or use another folder with --root");
  return rc;
}
