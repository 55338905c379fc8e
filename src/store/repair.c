/*
 * repair.c - a new database of what can be read in a damaged one
 *
 * Rows are read with as little of the damaged file as they need: tables with
 * numbered rows from both ends towards the damage and then one by one, the
 * others job by job.  What SQLite cannot read is left out, and what it reads
 * must fit into the new database.
 */
#include "store/inside.h"

enum { MOST_SINGLE = 1000000 /* rows that are looked for one by one */ };

typedef struct repair {
  sqlite3 *from, *to;
  const char *path; /* of the new one */
  pai_alloc alloc;
  pai__repaired *result;
  bool holes; /* in the table that is being copied */
  pai_error **err;
} repair;

/* A table's rows on their way. */
typedef struct passage {
  repair *r;
  sqlite3_stmt *get, *put;
  int64_t last; /* the row that came last */
} passage;

static int fail_new(const repair *r, int rc)
{
  return pai__sql_fail(r->err, r->to, rc, "write", r->path);
}

static bool is_damage(int rc)
{
  return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ||
         (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_ERROR ||
         (rc & 0xff) == SQLITE_TOOBIG;
}

/* --- one row, some rows ------------------------------------------------------------ */

static int put_row(passage *p)
{
  repair *r = p->r;
  int rc;

  for (int i = 0; i < sqlite3_bind_parameter_count(p->put); i++)
    (void)sqlite3_bind_value(p->put, i + 1, sqlite3_column_value(p->get, i));
  rc = pai__sql_run(p->put);
  if ((rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_MISMATCH) {
    r->result->refused++;
    return PAI_OK;
  }
  if (rc != SQLITE_OK)
    return fail_new(r, rc);
  r->result->rows += (uint64_t)sqlite3_changes(r->to);
  return PAI_OK;
}

/* Copies what the statement gives, up to the first damage. */
static int pass(passage *p, bool *whole)
{
  int sql_rc, rc = PAI_OK;

  while ((sql_rc = sqlite3_step(p->get)) == SQLITE_ROW && rc == PAI_OK) {
    p->last = sqlite3_column_int64(p->get, 0);
    rc = put_row(p);
  }
  *whole = sql_rc == SQLITE_DONE;
  if (rc == PAI_OK && !*whole && !is_damage(sql_rc))
    rc = pai__sql_fail(p->r->err, p->r->from, sql_rc, "read",
                       sqlite3_db_filename(p->r->from, "main"));
  (void)sqlite3_reset(p->get);
  return rc;
}

/* Columns as the new database has them: "a,b,c", or "?,?,?". */
static int add_columns(const repair *r, pai__buf *b, const char *table,
                       bool marks)
{
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(r->to, "SELECT name FROM pragma_table_info(?)",
                              -1, &stmt, NULL);
  const char *comma = "";

  if (rc == SQLITE_OK)
    (void)sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
  while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
    pai__buf_printf(b, "%s%s", comma,
                    marks ? "?" : (const char *)sqlite3_column_text(stmt, 0));
    comma = ",";
  }
  (void)sqlite3_finalize(stmt);
  return rc;
}

/* Prepares both statements.  A table that is not even known any more is
 * damage, and then *get is NULL. */
static int begin(passage *p, repair *r, const char *table, const char *where)
{
  pai__buf b;
  int rc;

  *p = (passage){ .r = r };
  pai__buf_init(&b, &r->alloc);
  pai__buf_str(&b, "SELECT ");
  rc = add_columns(r, &b, table, false);
  pai__buf_printf(&b, " FROM %s %s", table, where);
  if (rc == SQLITE_OK && pai__buf_ok(&b) &&
      sqlite3_prepare_v2(r->from, pai__buf_text(&b), -1, &p->get, NULL) !=
        SQLITE_OK)
    r->holes = true;
  pai__buf_clear(&b);
  pai__buf_printf(&b, "INSERT OR IGNORE INTO %s(", table);
  if (rc == SQLITE_OK)
    rc = add_columns(r, &b, table, false);
  pai__buf_str(&b, ") VALUES(");
  if (rc == SQLITE_OK)
    rc = add_columns(r, &b, table, true);
  pai__buf_char(&b, ')');
  if (!pai__buf_ok(&b))
    rc = SQLITE_NOMEM;
  if (rc == SQLITE_OK)
    rc = sqlite3_prepare_v2(r->to, pai__buf_text(&b), -1, &p->put, NULL);
  pai__buf_dispose(&b);
  return rc == SQLITE_OK ? PAI_OK : fail_new(r, rc);
}

static void end(passage *p)
{
  (void)sqlite3_finalize(p->get);
  (void)sqlite3_finalize(p->put);
}

/* One statement over a table, or a part of it that ?1 and ?2 tell. */
static int pass_once(repair *r, const char *table, const char *where,
                     int64_t from, int64_t to, int64_t *last, bool *whole)
{
  passage p;
  int rc = begin(&p, r, table, where);

  *whole = false;
  if (rc == PAI_OK && p.get != NULL) {
    if (sqlite3_bind_parameter_count(p.get) > 0)
      (void)sqlite3_bind_int64(p.get, 1, from);
    if (sqlite3_bind_parameter_count(p.get) > 1)
      (void)sqlite3_bind_int64(p.get, 2, to);
    p.last = *last;
    rc = pass(&p, whole);
    *last = p.last;
  }
  end(&p);
  return rc;
}

/* --- tables ------------------------------------------------------------------------- */

/* The rows between two damages, each looked for alone. */
static int pass_single(repair *r, const char *table, int64_t after,
                       int64_t before)
{
  passage p;
  bool whole;
  int rc = begin(&p, r, table, "WHERE rowid=?");

  if (before - after > MOST_SINGLE)
    before = after + MOST_SINGLE;
  for (int64_t id = after + 1; id < before && rc == PAI_OK && p.get != NULL;
       id++) {
    (void)sqlite3_bind_int64(p.get, 1, id);
    rc = pass(&p, &whole);
  }
  end(&p);
  return rc;
}

/* A table whose rows have numbers, which its first column is. */
static int copy_numbered(repair *r, const char *table)
{
  int64_t low = 0, high = INT64_MAX;
  bool whole;
  int rc =
    pass_once(r, table, "WHERE rowid>0 ORDER BY rowid", 0, 0, &low, &whole);

  if (rc < 0 || whole)
    return rc;
  r->holes = true;
  rc = pass_once(r, table, "WHERE rowid>?1 ORDER BY rowid DESC", low, 0, &high,
                 &whole);
  if (rc == PAI_OK && !whole && high != INT64_MAX)
    rc = pass_single(r, table, low, high);
  else if (rc == PAI_OK && !whole)
    rc = pass_single(r, table, low, low + MOST_SINGLE);
  return rc;
}

static int copy_whole(repair *r, const char *table)
{
  int64_t last = 0;
  bool whole;
  int rc = pass_once(r, table, "", 0, 0, &last, &whole);

  if (rc == PAI_OK && !whole)
    r->holes = true;
  return rc;
}

/* What belongs to jobs: of those that are there again. */
static int copy_by_job(repair *r, const char *table)
{
  sqlite3_stmt *jobs = NULL;
  passage p;
  bool whole;
  int rc = begin(&p, r, table, "WHERE job=?"), sql_rc;

  sql_rc = sqlite3_prepare_v2(r->to, "SELECT id FROM job", -1, &jobs, NULL);
  if (rc == PAI_OK && sql_rc != SQLITE_OK)
    rc = fail_new(r, sql_rc);
  while (rc == PAI_OK && p.get != NULL && sqlite3_step(jobs) == SQLITE_ROW) {
    (void)sqlite3_bind_int64(p.get, 1, sqlite3_column_int64(jobs, 0));
    rc = pass(&p, &whole);
    r->holes = r->holes || !whole;
  }
  (void)sqlite3_finalize(jobs);
  end(&p);
  return rc;
}

typedef int (*copy_fn)(repair *r, const char *table);

/* Parents first. */
static const struct {
  const char *table;
  copy_fn copy;
  bool scheduler; /* worth something only as a whole */
} tables[] = {
  { "job", copy_numbered, false },
  { "job_detail", copy_numbered, false },
  { "config", copy_numbered, false },
  { "attempt", copy_by_job, false },
  { "task", copy_by_job, false },
  { "task_attempt", copy_by_job, false },
  { "event", copy_by_job, false },
  { "tag", copy_by_job, false },
  { "secret", copy_by_job, false },
  { "log", copy_numbered, true },
  { "snapshot", copy_numbered, true },
  { "user_default", copy_whole, false },
  { "meta", copy_whole, false },
  { "account", copy_numbered, false },
  { "account_group", copy_numbered, false },
  { "account_token", copy_numbered, false },
  { "storage", copy_numbered, false },
  { "audit", copy_numbered, false },
};

/* Ids are not used again, whatever was lost of what says which were. */
static const char finish[] =
  "INSERT OR REPLACE INTO meta(name, value) SELECT '" PAI__LAST_ID "', "
  "max(ifnull((SELECT max(id) FROM job), 0), ifnull((SELECT "
  "CAST(value AS INTEGER) FROM meta WHERE name='" PAI__LAST_ID "'), 0));";

static int copy_tables(repair *r)
{
  int rc, sql_rc = pai__sql_exec(r->to, "BEGIN; DELETE FROM meta;");

  r->result->scheduler = true;
  rc = sql_rc == SQLITE_OK ? PAI_OK : fail_new(r, sql_rc);
  for (size_t i = 0; i < PAI__LEN(tables) && rc == PAI_OK; i++) {
    r->holes = false;
    rc = tables[i].copy(r, tables[i].table);
    if (r->holes && tables[i].scheduler)
      r->result->scheduler = false;
    r->result->holes = r->result->holes || r->holes;
  }
  if (rc < 0)
    return rc;
  sql_rc = pai__sql_exec(r->to, finish);
  if (sql_rc == SQLITE_OK && !r->result->scheduler)
    sql_rc = pai__sql_exec(r->to, "DELETE FROM log; DELETE FROM snapshot;");
  if (sql_rc == SQLITE_OK)
    sql_rc = pai__sql_exec(r->to, "COMMIT");
  return sql_rc == SQLITE_OK ? PAI_OK : fail_new(r, sql_rc);
}

/* --- files ---------------------------------------------------------------------------- */

static int count_jobs(repair *r)
{
  int64_t jobs;
  int rc =
    pai__sql_number(&jobs, r->to, "SELECT count(*) FROM job", r->path, r->err);

  r->result->jobs = (uint64_t)jobs;
  return rc;
}

static int nothing_left(const repair *r, const char *path)
{
  int code = pai__fail(r->err, PAI_EIO, "nothing can be read in %s", path);

  pai__error_help(
    r->err, "put a backup in its place; or move it away, and a new one is "
            "begun: what jobs have printed stays in jobs/");
  return code;
}

static int begin_new(repair *r, const char *draft, const pai__store *settings)
{
  int rc;

  r->path = draft;
  pai__store_remove(draft);
  if ((rc = pai__store_own_file(draft, r->err)) < 0 ||
      (rc = pai__store_connect(&r->to, draft, SQLITE_OPEN_READWRITE, settings,
                               r->err)) < 0)
    return rc;
  /* As those that are made in the usual way, page for page. */
  rc = pai__sql_exec(r->to, "PRAGMA auto_vacuum=INCREMENTAL");
  if (rc != SQLITE_OK)
    return fail_new(r, rc);
  return pai__schema_migrate(r->to, NULL, draft, r->err);
}

/* PAI_EIO without an error: that it is damaged is no news. */
static int copy_from(repair *r, const char *path, const pai__store *settings)
{
  int rc = pai__store_connect(&r->from, path, SQLITE_OPEN_READWRITE, settings,
                              r->err);

  if (rc < 0) {
    if (r->err != NULL) {
      pai_error_free(*r->err);
      *r->err = NULL;
    }
    return rc == PAI_ENOMEM ? pai__oom(r->err) : PAI_EIO;
  }
  if ((rc = copy_tables(r)) < 0 || (rc = count_jobs(r)) < 0)
    return rc;
  return r->result->rows > 0 ? PAI_OK : PAI_EIO;
}

/* The first page says where the others are, and that is the same in each
 * database that was made by this version: a new one's is taken.  In one of an
 * older schema some tables begin elsewhere; what is not theirs is not taken, so
 * of version 2 the audit log is lost. */
static int graft(repair *r, const char *path, const char *grafted)
{
  sqlite3_int64 size = 0;
  unsigned char *image = sqlite3_serialize(r->to, "main", &size, 0);
  int rc = image != NULL
             ? pai__store_graft(path, grafted, image, (size_t)size, r->err)
             : pai__oom(r->err);

  sqlite3_free(image);
  return rc;
}

/* Copies what is readable in `path` to `draft`. */
static int rebuild(repair *r, const char *path, const char *draft,
                   const char *grafted)
{
  pai__store settings = { .busy_ms = -1, .cache_bytes = 4 << 20 };
  int rc;

  settings.alloc = r->alloc;
  if ((rc = begin_new(r, draft, &settings)) < 0)
    return rc;
  rc = copy_from(r, path, &settings);
  if (rc != PAI_EIO || (r->err != NULL && *r->err != NULL))
    return rc;
  /* Once more, with another first page. */
  (void)sqlite3_close(r->from);
  (void)sqlite3_close(r->to);
  r->from = r->to = NULL;
  *r->result = (pai__repaired){ 0 };
  if ((rc = begin_new(r, draft, &settings)) < 0 ||
      (rc = graft(r, path, grafted)) < 0)
    return rc;
  rc = copy_from(r, grafted, &settings);
  r->result->holes = true;
  return rc == PAI_EIO && (r->err == NULL || *r->err == NULL)
           ? nothing_left(r, path)
           : rc;
}

static int repair_file(repair *r, const char *path, const char *draft,
                       const char *grafted, const char *whole)
{
  int rc = PAI_OK;

  if (!pai__store_is_there(path))
    return pai__fail(r->err, PAI_ENOTFOUND, "there is no %s", path);
  /* Else a repair was interrupted, and nothing was written since. */
  if (!pai__store_is_newest(whole, path)) {
    rc = rebuild(r, path, draft, grafted);
    (void)sqlite3_close(r->from);
    (void)sqlite3_close(r->to);
    pai__store_remove(grafted);
    if (rc == PAI_OK)
      rc = pai__store_rename(draft, whole, r->err);
    if (rc < 0)
      pai__store_remove(draft);
  }
  if (rc == PAI_OK)
    rc = pai__store_swap(&r->result->aside, path, whole, &r->alloc, r->err);
  return rc;
}

int pai__store_repair(pai__repaired *out, const pai_alloc *alloc,
                      const char *folder, pai_error **err)
{
  repair r = { .alloc = *alloc, .result = out, .err = err };
  pai__buf path, draft, grafted, whole;
  int rc;

  memset(out, 0, sizeof(*out));
  if (err != NULL)
    *err = NULL;
  pai__buf_init(&path, alloc);
  pai__buf_init(&draft, alloc);
  pai__buf_init(&grafted, alloc);
  pai__buf_init(&whole, alloc);
  pai__buf_printf(&path, "%s/%s", folder, PAI__STORE_FILE);
  pai__buf_printf(&draft, "%s/%s.repairing", folder, PAI__STORE_FILE);
  pai__buf_printf(&grafted, "%s/%s.grafted", folder, PAI__STORE_FILE);
  pai__buf_printf(&whole, "%s/%s.repaired", folder, PAI__STORE_FILE);
  if (pai__buf_ok(&path) && pai__buf_ok(&draft) && pai__buf_ok(&grafted) &&
      pai__buf_ok(&whole))
    rc = repair_file(&r, path.data, draft.data, grafted.data, whole.data);
  else
    rc = pai__oom(err);
  pai__buf_dispose(&path);
  pai__buf_dispose(&draft);
  pai__buf_dispose(&grafted);
  pai__buf_dispose(&whole);
  return rc;
}
