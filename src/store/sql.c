/* sql.c - prepared statements, and SQLite's errors as pai_error */
#include "store/inside.h"

#include "base/os/posix_errno.h"

#include <errno.h>

/* --- texts --------------------------------------------------------------- */

/* In a text @ and $ are the columns of its first and second list of fields, #
 * is a parameter for each column of the first list, and :name the parameter of
 * the column of that name. %1 sets the columns of the list whose `update` is
 * 1; !1 tests whether one of them changes. */
typedef struct sql_text {
  const char *text;
  const pai__column *fields, *more;
} sql_text;

#define FROM_JOB \
  "SELECT @,$ FROM job LEFT JOIN job_detail ON job_detail.job=job.id "

static const sql_text texts[PAI__SQL_COUNT] = {
  [PAI__SQL_BEGIN] = { .text = "BEGIN IMMEDIATE" },
  [PAI__SQL_COMMIT] = { .text = "COMMIT" },
  [PAI__SQL_PUT_JOB] = { "INSERT INTO job(@) VALUES(#)", pai__job_columns,
                         NULL },
  /* Three statements, because SQLite rewrites an index whenever one of its
   * columns is set, even to the same value. */
  [PAI__SQL_SET_JOB] = { "UPDATE job SET %1 WHERE id=:id", pai__job_columns,
                         NULL },
  [PAI__SQL_SET_JOB_STATE] = { "UPDATE job SET %2 WHERE id=:id AND (!2)",
                               pai__job_columns, NULL },
  [PAI__SQL_SET_JOB_TOTALS] = { "UPDATE job SET %3 WHERE id=:id AND (!3)",
                                pai__job_columns, NULL },
  [PAI__SQL_PUT_DETAIL] = { "REPLACE INTO job_detail(@,job) VALUES(#,?)",
                            pai__job_detail_columns, NULL },
  [PAI__SQL_PUT_CONFIG] = { .text = "REPLACE INTO config(job,text) "
                                    "VALUES(?,?)" },
  [PAI__SQL_PUT_ATTEMPT] = { "REPLACE INTO attempt(@,job) VALUES(#,?)",
                             pai__attempt_columns, NULL },
  [PAI__SQL_PUT_TASK] = { "REPLACE INTO task(@) VALUES(#)", pai__task_columns,
                          NULL },
  [PAI__SQL_PUT_START] = { "REPLACE INTO task_attempt(@,job,attempt,role,idx) "
                           "VALUES(#,?,?,?,?)",
                           pai__start_columns, NULL },
  [PAI__SQL_TRIM_STARTS] = { .text = "DELETE FROM task_attempt WHERE job=? "
                                     "AND attempt=? AND role=? AND idx=? "
                                     "AND number<=?" },
  [PAI__SQL_TRIM_ATTEMPTS] = { .text = "DELETE FROM attempt WHERE job=? "
                                       "AND number<=?" },
  [PAI__SQL_TRIM_TASKS] = { .text = "DELETE FROM task WHERE job=? "
                                    "AND attempt<=?" },
  [PAI__SQL_TRIM_ALL_STARTS] = { .text = "DELETE FROM task_attempt WHERE "
                                         "job=? AND attempt<=?" },
  [PAI__SQL_PUT_EVENT] = { "INSERT INTO event(@,uid) VALUES(#,?) "
                           "ON CONFLICT DO UPDATE SET "
                           "count=count+excluded.count, "
                           "first=min(first,excluded.first), "
                           "last=max(last,excluded.last)",
                           pai__event_columns, NULL },
  [PAI__SQL_TRIM_EVENTS] = { .text = "DELETE FROM event WHERE job=?1 AND "
                                     "last<(SELECT last FROM event WHERE "
                                     "job=?1 ORDER BY last DESC LIMIT 1 "
                                     "OFFSET ?2)" },
  [PAI__SQL_PUT_TAG] = { .text = "INSERT INTO tag(job,name,submitted) "
                                 "VALUES(?1,?2,(SELECT submitted FROM job "
                                 "WHERE id=?1)) ON CONFLICT DO NOTHING" },
  [PAI__SQL_DROP_TAG] = { .text = "DELETE FROM tag WHERE job=? AND name=?" },
  [PAI__SQL_PUT_SECRET] = { .text = "REPLACE INTO secret(job,name,sealed) "
                                    "VALUES(?,?,?)" },
  [PAI__SQL_DROP_SECRETS] = { .text = "DELETE FROM secret WHERE job=?" },
  [PAI__SQL_DROP_JOB] = { .text = "DELETE FROM job WHERE id=?" },
  [PAI__SQL_PUT_LOG] = { .text = "INSERT INTO log(piece) VALUES(?)" },
  [PAI__SQL_DROP_LOG] = { .text = "DELETE FROM log" },
  [PAI__SQL_PUT_SNAPSHOT] = { .text = "REPLACE INTO snapshot(id,piece) "
                                      "VALUES(1,?)" },
  [PAI__SQL_PUT_META] = { .text = "REPLACE INTO meta(name,value) "
                                  "VALUES(?,?)" },
  [PAI__SQL_DROP_META] = { .text = "DELETE FROM meta WHERE name=?" },
  [PAI__SQL_OWN_LAST_ID] = { .text = "SELECT value FROM meta "
                                     "WHERE name='" PAI__LAST_ID "'" },
  [PAI__SQL_PUT_ACCOUNT] = { "REPLACE INTO account(@) VALUES(#)",
                             pai__account_columns, NULL },
  [PAI__SQL_PUT_GROUP] = { "REPLACE INTO account_group(@) VALUES(#)",
                           pai__group_columns, NULL },
  [PAI__SQL_PUT_TOKEN] = { "INSERT INTO account_token(@) VALUES(#) "
                           "ON CONFLICT(uid) DO UPDATE SET "
                           "used=excluded.used",
                           pai__token_columns, NULL },
  [PAI__SQL_PUT_REMOVED_USER] = { "INSERT INTO account_gone(@) VALUES(#)",
                                  pai__removed_user_columns, NULL },
  [PAI__SQL_PUT_STORAGE] = { "REPLACE INTO storage(@) VALUES(#)",
                             pai__storage_columns, NULL },
  [PAI__SQL_PUT_NOTE] = { "INSERT INTO audit(@) VALUES(#)", pai__audit_columns,
                          NULL },
  [PAI__SQL_PUT_MARKET_ITEM] = { "REPLACE INTO market_item(@) VALUES(#)",
                                 pai__market_item_columns, NULL },
  [PAI__SQL_PUT_MARKET_COUNT] = { "REPLACE INTO market_count(@) VALUES(#)",
                                  pai__market_count_columns, NULL },
  [PAI__SQL_PUT_MARKET_LABEL] = { "REPLACE INTO market_label(@) VALUES(#)",
                                  pai__market_label_columns, NULL },
  [PAI__SQL_DROP_ACCOUNT] = { .text = "DELETE FROM account WHERE name=?" },
  [PAI__SQL_DROP_GROUP] = { .text = "DELETE FROM account_group WHERE name=?" },
  [PAI__SQL_DROP_TOKEN] = { .text = "DELETE FROM account_token WHERE uid=?" },
  [PAI__SQL_DROP_STORAGE] = { .text = "DELETE FROM storage WHERE name=?" },
  [PAI__SQL_DROP_MARKET_ITEM] = { .text = "DELETE FROM market_item "
                                          "WHERE uid=?" },
  [PAI__SQL_DROP_MARKET_COUNT] = { .text = "DELETE FROM market_count "
                                           "WHERE uid=?" },
  [PAI__SQL_DROP_MARKET_LABEL] = { .text = "DELETE FROM market_label "
                                           "WHERE uid=?" },
  [PAI__SQL_TRIM_NOTES] = { .text = "DELETE FROM audit WHERE id<="
                                    "(SELECT max(id) FROM audit)-?" },
  [PAI__SQL_HOLD] = { .text = "BEGIN" },
  [PAI__SQL_LET_GO] = { .text = "COMMIT" },
  [PAI__SQL_JOB] = { FROM_JOB "WHERE id=?", pai__job_columns,
                     pai__job_detail_columns },
  [PAI__SQL_JOB_NAMED] = { FROM_JOB "WHERE user=? AND name=?",
                           pai__job_columns, pai__job_detail_columns },
  [PAI__SQL_LIVE] = { FROM_JOB "WHERE live ORDER BY id", pai__job_columns,
                      pai__job_detail_columns },
  [PAI__SQL_CONFIG] = { .text = "SELECT text FROM config WHERE job=?" },
  [PAI__SQL_ATTEMPTS] = { "SELECT @ FROM attempt WHERE job=? "
                          "ORDER BY number DESC",
                          pai__attempt_columns, NULL },
  [PAI__SQL_TASKS] = { "SELECT @ FROM task WHERE job=? AND attempt=? "
                       "ORDER BY role, idx",
                       pai__task_columns, NULL },
  [PAI__SQL_ROLE_TASKS] = { "SELECT @ FROM task WHERE job=? AND attempt=? "
                            "AND role=? ORDER BY idx",
                            pai__task_columns, NULL },
  [PAI__SQL_STARTS] = { "SELECT @ FROM task_attempt WHERE job=? AND "
                        "attempt=? AND role=? AND idx=? ORDER BY number DESC",
                        pai__start_columns, NULL },
  [PAI__SQL_EVENTS] = { "SELECT @, lower(hex(uid)) FROM event WHERE job=? "
                        "ORDER BY last DESC, uid",
                        pai__event_columns, NULL },
  [PAI__SQL_TYPE_EVENTS] = { "SELECT @, lower(hex(uid)) FROM event "
                             "WHERE job=? AND type=? ORDER BY last DESC, uid",
                             pai__event_columns, NULL },
  [PAI__SQL_TAGS] = { .text = "SELECT name FROM tag WHERE job=? "
                              "ORDER BY name" },
  [PAI__SQL_META] = { .text = "SELECT value FROM meta WHERE name=?" },
  [PAI__SQL_SNAPSHOT] = { .text = "SELECT piece FROM snapshot" },
  [PAI__SQL_LOG] = { .text = "SELECT piece FROM log ORDER BY seq" },
  [PAI__SQL_SECRET] = { .text = "SELECT sealed FROM secret "
                                "WHERE job=? AND name=?" },
  [PAI__SQL_ALL_JOBS] = { FROM_JOB "WHERE id>? ORDER BY id LIMIT ?",
                          pai__job_columns, pai__job_detail_columns },
  [PAI__SQL_GATHER] = { "SELECT @ FROM job WHERE id>? ORDER BY id LIMIT ?",
                        pai__job_columns, NULL },
  [PAI__SQL_GATHER_TAGS] = { .text = "SELECT job, name FROM tag "
                                     "WHERE job>? AND job<=?" },
  [PAI__SQL_NAMES] = { .text = "SELECT id, user, name FROM job WHERE id>? "
                               "ORDER BY id LIMIT ?" },
  /* Jobs that are not over come last, by `completed`. */
  [PAI__SQL_ENDED] = { "SELECT @ FROM job WHERE completed<"
                       "9223372036854775807 AND NOT live "
                       "ORDER BY completed, submitted, id",
                       pai__job_columns, NULL },
  [PAI__SQL_COUNT_ENDED] = { .text = "SELECT count(*), sum(NOT live AND "
                                     "completed<9223372036854775807) "
                                     "FROM job" },
  [PAI__SQL_PAGES] = { .text = "SELECT (page_count-freelist_count)*page_size "
                               "FROM pragma_page_count, "
                               "pragma_freelist_count, pragma_page_size" },
  [PAI__SQL_ACCOUNTS] = { "SELECT @ FROM account ORDER BY name",
                          pai__account_columns, NULL },
  [PAI__SQL_GROUPS] = { "SELECT @ FROM account_group ORDER BY name",
                        pai__group_columns, NULL },
  [PAI__SQL_TOKENS] = { "SELECT @ FROM account_token ORDER BY id",
                        pai__token_columns, NULL },
  [PAI__SQL_REMOVED_USERS] = { "SELECT @ FROM account_gone ORDER BY id",
                               pai__removed_user_columns, NULL },
  [PAI__SQL_STORAGES] = { "SELECT @ FROM storage ORDER BY name",
                          pai__storage_columns, NULL },
  [PAI__SQL_MARKET_ITEMS] = { "SELECT @ FROM market_item ORDER BY uid",
                              pai__market_item_columns, NULL },
  [PAI__SQL_MARKET_COUNTS] = { "SELECT @ FROM market_count ORDER BY uid",
                               pai__market_count_columns, NULL },
  [PAI__SQL_MARKET_LABELS] = { "SELECT @ FROM market_label ORDER BY uid",
                               pai__market_label_columns, NULL },
  [PAI__SQL_NOTES] = { "SELECT @, id FROM audit WHERE id<?1 AND time>=?2 AND "
                       "time<?3 ORDER BY id DESC LIMIT ?4",
                       pai__audit_columns, NULL },
  [PAI__SQL_USER_NOTES] = { "SELECT @, id FROM audit WHERE id<?1 AND "
                            "time>=?2 AND time<?3 AND user=?5 "
                            "ORDER BY id DESC LIMIT ?4",
                            pai__audit_columns, NULL },
};

static void add_columns(pai__buf *b, const pai__column *fields, bool marks)
{
  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END; f++)
    pai__buf_printf(b, "%s%s", f == fields ? "" : ",",
                    marks ? "?" : f->column);
}

/* Appends ?N for the Nth column, or ?0 for an unknown column, which SQLite
 * refuses when the store is opened. */
static size_t add_value(pai__buf *b, const pai__column *fields,
                        const char *name)
{
  size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
  unsigned n = 0, found = 0;

  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END; f++) {
    n++;
    if (strlen(f->column) == len && memcmp(f->column, name, len) == 0)
      found = n;
  }
  pai__buf_printf(b, "?%u", found);
  return len;
}

/* Appends "a=?1,b=?2", or "a<>?1 OR b<>?2", for the columns this statement
 * sets. */
static void add_changes(pai__buf *b, const pai__column *columns, char sign,
                        unsigned update)
{
  const char *between = "";
  unsigned n = 0;

  for (const pai__column *c = columns; c->kind != PAI__COLUMN_END; c++) {
    n++;
    if (c->update != update)
      continue;
    pai__buf_printf(b, "%s%s%s?%u", between, c->column,
                    sign == '%' ? "=" : "<>", n);
    between = sign == '%' ? "," : " OR ";
  }
}

static void write_text(pai__buf *b, const sql_text *sql)
{
  for (const char *s = sql->text; *s != '\0'; s++) {
    if (*s == '@' || *s == '#')
      add_columns(b, sql->fields, *s == '#');
    else if (*s == '$')
      add_columns(b, sql->more, false);
    else if (*s == ':')
      s += add_value(b, sql->fields, s + 1);
    else if ((*s == '%' || *s == '!') && s[1] >= '1' && s[1] <= '9') {
      add_changes(b, sql->fields, *s, (unsigned)(s[1] - '0'));
      s++;
    } else
      pai__buf_char(b, *s);
  }
}

/* --- errors -------------------------------------------------------------- */

/* SQLite loses the errno of a failed write during its rollback: without one,
 * assume a full disk. */
static bool is_full(int rc, int sys_errno)
{
  return (rc & 0xff) == SQLITE_FULL ||
         (rc == SQLITE_IOERR_WRITE && sys_errno != EIO);
}

static const char *system_says(int sys_errno, char *buf, size_t size)
{
  return sys_errno == 0 ? "the file system refuses"
                        : pai__errno_text(sys_errno, buf, size);
}

static int fail_constraint(pai_error **err, sqlite3 *db, int rc,
                           const char *what, const char *path)
{
  if (rc == SQLITE_CONSTRAINT_FOREIGNKEY || rc == SQLITE_CONSTRAINT_NOTNULL)
    return pai__fail(err, PAI_ENOTFOUND,
                     "cannot %s %s: its job does not exist", what, path);
  if (rc == SQLITE_CONSTRAINT_UNIQUE || rc == SQLITE_CONSTRAINT_PRIMARYKEY)
    return pai__fail(err, PAI_EEXISTS,
                     "cannot %s %s: a job of this name already exists", what,
                     path);
  return pai__fail(err, PAI_EINVAL, "cannot %s %s: %s", what, path,
                   sqlite3_errmsg(db));
}

/* Errors that the disk, or another process, causes. */
static int fail_outside(pai_error **err, int rc, int sys_errno,
                        const char *what, const char *path)
{
  char why[128];
  int code;

  if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED) {
    code = pai__fail(err, PAI_EBUSY,
                     "cannot %s %s: another process is using it", what, path);
    pai__error_help(err, "check with `openpai status` whether another "
                         "platform runs in this root");
    pai__error_retriable(err);
    return code;
  }
  if (is_full(rc, sys_errno)) {
    code =
      pai__fail(err, PAI_EIO, "cannot %s %s: the disk is full", what, path);
    pai__error_help(
      err,
      "free some space: the platform then continues, and nothing is lost");
    pai__error_retriable(err);
    return code;
  }
  if ((rc & 0xff) == SQLITE_READONLY && sys_errno == 0)
    sys_errno = EROFS;
  code = pai__fail(err, PAI_EIO, "cannot %s %s: %s", what, path,
                   system_says(sys_errno, why, sizeof(why)));
  if ((rc & 0xff) == SQLITE_READONLY || sys_errno == EACCES)
    pai__error_help(err, "check that this user may write the folder and that "
                         "the file system is not read-only");
  else if (rc == SQLITE_IOERR_LOCK || rc == SQLITE_IOERR_RDLOCK ||
           rc == SQLITE_IOERR_SHMLOCK)
    pai__error_help(err, "use a folder on a local disk with --root: the file "
                         "system must support locks");
  return code;
}

int pai__sql_fail(pai_error **err, sqlite3 *db, int rc, const char *what,
                  const char *path)
{
  int code, sys_errno = db != NULL ? sqlite3_system_errno(db) : 0;

  switch (rc & 0xff) {
  case SQLITE_NOMEM: return pai__oom(err);
  case SQLITE_CONSTRAINT: return fail_constraint(err, db, rc, what, path);
  case SQLITE_TOOBIG:
    return pai__fail(err, PAI_ELIMIT, "cannot %s %s: a value is too long",
                     what, path);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    code = pai__fail(err, PAI_EIO, "cannot %s %s: the database is damaged",
                     what, path);
    pai__error_help(err, "run `openpai down`, then `openpai doctor --repair`, "
                         "which creates a new database from the readable "
                         "parts and keeps this one; no file was changed");
    return code;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_READONLY:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
  case SQLITE_AUTH:
  case SQLITE_PROTOCOL: return fail_outside(err, rc, sys_errno, what, path);
  default:
    return pai__fail(err, PAI_EINTERNAL, "cannot %s %s: %s", what, path,
                     db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  }
}

/* --- statements ---------------------------------------------------------- */

sqlite3_stmt *pai__sql_get(pai__store *store, enum pai__sql which, int *rc,
                           pai_error **err)
{
  sqlite3 *db = which < PAI__SQL_HOLD ? store->writer : store->reader;
  sqlite3_stmt **stmt = &store->sql[which];
  int sql_rc = SQLITE_NOMEM;
  pai__buf b;

  if (*stmt != NULL && sqlite3_stmt_busy(*stmt)) {
    *rc = pai__fail(err, PAI_EBUSY,
                    "the store was queried from within a callback");
    return NULL;
  }
  if (*stmt != NULL) {
    (void)sqlite3_clear_bindings(*stmt);
    return *stmt;
  }
  pai__buf_init(&b, &store->alloc);
  write_text(&b, &texts[which]);
  if (pai__buf_ok(&b))
    sql_rc = sqlite3_prepare_v3(db, pai__buf_text(&b), (int)b.len + 1,
                                SQLITE_PREPARE_PERSISTENT, stmt, NULL);
  if (sql_rc != SQLITE_OK)
    *rc = pai__sql_fail(err, db, sql_rc, "use", store->path);
  pai__buf_dispose(&b);
  return *stmt;
}

int pai__sql_run(sqlite3_stmt *stmt)
{
  int rc = sqlite3_step(stmt);

  (void)sqlite3_reset(stmt);
  return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int pai__sql_exec(sqlite3 *db, const char *text)
{
  return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int pai__sql_number(int64_t *out, sqlite3 *db, const char *text,
                    const char *path, pai_error **err)
{
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);

  *out = 0;
  if (rc == SQLITE_OK) {
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
      *out = sqlite3_column_int64(stmt, 0);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
      rc = SQLITE_OK;
  }
  if (rc != SQLITE_OK)
    rc = pai__sql_fail(err, db, rc, "read", path);
  (void)sqlite3_finalize(stmt);
  return rc;
}

/* --- queries ------------------------------------------------------------- */

void pai__answer_begin(pai__answer *rows, pai__store *store,
                       enum pai__sql which, pai_error **err)
{
  pai__clear_err(err);
  *rows = (pai__answer){ .store = store, .rc = SQLITE_OK };
  rows->stmt = pai__sql_get(store, which, &rows->code, err);
}

bool pai__answer_next(pai__answer *rows)
{
  if (rows->stmt == NULL || rows->code < 0)
    return false;
  rows->rc = sqlite3_step(rows->stmt);
  return rows->rc == SQLITE_ROW;
}

bool pai__answer_row(pai__answer *rows, const pai__column *columns, void *row,
                     size_t size)
{
  if (!pai__answer_next(rows))
    return false;
  memset(row, 0, size);
  rows->column = pai__fields_read(columns, rows->stmt, 0, row);
  return true;
}

int pai__answer_end(pai__answer *rows, pai_error **err)
{
  if (rows->stmt == NULL)
    return rows->code;
  if (rows->code >= 0 && rows->rc != SQLITE_DONE && rows->rc != SQLITE_ROW &&
      rows->rc != SQLITE_OK)
    rows->code = pai__sql_fail(err, rows->store->reader, rows->rc, "read",
                               rows->store->path);
  (void)sqlite3_reset(rows->stmt);
  return rows->code < 0 ? rows->code : PAI_OK;
}
