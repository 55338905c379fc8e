/*
 * repair.c - rebuilds a damaged database from its readable part
 *
 * Rows are read with as little of the damaged file as possible: tables with
 * numbered rows from both ends towards the damage, and then over each damage
 * with doubling steps; the others job by job.  For jobs with lost rows the
 * indexes have most columns.  What SQLite cannot read is left out, and what it
 * reads must satisfy the new database's constraints.
 */
#include "store/inside.h"

enum { MOST_TRIES = 2000 /* for a table, to get over damage */ };

typedef struct repair {
  sqlite3 *from, *to;
  const char *path; /* of the new one */
  pai_alloc alloc;
  pai__repaired *result;
  bool holes; /* in the table being copied */
  pai_error **err;
} repair;

/* Copying of a table's rows. */
typedef struct passage {
  repair *r;
  sqlite3_stmt *get, *put;
  int64_t last; /* last row copied */
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

/* --- copying rows -------------------------------------------------------- */

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

/* Copies the rows of the statement, up to the first damage. */
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

/* Returns whether a database of an older version has the column.  If not even
 * the table is known, that is damage, and the column is not left out. */
static bool has_column(const repair *r, const char *table, const char *column)
{
  return sqlite3_table_column_metadata(r->from, "main", table, NULL, NULL,
                                       NULL, NULL, NULL, NULL) != SQLITE_OK ||
         sqlite3_table_column_metadata(r->from, "main", table, column, NULL,
                                       NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Appends the columns that both databases have: "a,b,c", or "?,?,?". */
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
    const char *name = (const char *)sqlite3_column_text(stmt, 0);

    if (!has_column(r, table, name))
      continue;
    pai__buf_printf(b, "%s%s", comma, marks ? "?" : name);
    comma = ",";
  }
  (void)sqlite3_finalize(stmt);
  return rc;
}

/* Prepares both statements.  If damage hides the table, *get is NULL. */
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

/* Copies a table, or the part between ?1 and ?2, with one statement. */
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

/* --- tables -------------------------------------------------------------- */

/* Copies the rows between two damages: over each with doubling steps, and from
 * the next readable rows back towards it. */
static int pass_over(repair *r, const char *table, int64_t after,
                     int64_t before)
{
  static const char on[] = "WHERE rowid>?1 AND rowid<?2 ORDER BY rowid";
  static const char back[] =
    "WHERE rowid>?1 AND rowid<=?2 ORDER BY rowid DESC";
  int64_t at = after, step = 1;
  bool whole = false;
  int rc = PAI_OK;

  for (int i = 0; i < MOST_TRIES && rc == PAI_OK && !whole && at < before;
       i++) {
    int64_t last = at, low = INT64_MAX;
    bool reached;

    rc = pass_once(r, table, on, at, before, &last, &whole);
    if (rc == PAI_OK && last > at && step > 1)
      rc = pass_once(r, table, back, at - step, at, &low, &reached);
    if (last > at) {
      at = last;
      step = 1;
    } else {
      step = step < before / 2 ? 2 * step : step;
      if (at > before - step)
        break;
      at += step;
    }
  }
  return rc;
}

/* Copies a table whose first column is its row number. */
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
  if (rc == PAI_OK && !whole)
    rc = pass_over(r, table, low, high);
  return rc;
}

/* --- jobs with lost rows ------------------------------------------------- */

/* Runs `put` for each row of `get`, as far as it can be read; from both ends
 * if the order of `get` can be reversed. */
static int pass_index(repair *r, const char *get, const char *put)
{
  static const char *const orders[] = { "ASC", "DESC" };
  bool whole = false;
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(orders) && rc == PAI_OK && !whole; i++) {
    passage p = { .r = r };
    pai__buf b;

    pai__buf_init(&b, &r->alloc);
    pai__buf_printf(&b, get, orders[i]);
    if (!pai__buf_ok(&b))
      rc = pai__oom(r->err);
    else if (sqlite3_prepare_v2(r->to, put, -1, &p.put, NULL) != SQLITE_OK)
      rc = fail_new(r, sqlite3_extended_errcode(r->to));
    else if (sqlite3_prepare_v2(r->from, b.data, -1, &p.get, NULL) ==
             SQLITE_OK)
      rc = pass(&p, &whole);
    end(&p);
    pai__buf_dispose(&b);
  }
  return rc;
}

/* Each index has some columns of all jobs, and shares no page with the table.
 * Columns in no index come from the latest attempt, or are written anew while
 * the job lives. */
static int copy_from_indexes(repair *r)
{
  static const char insert[] =
    "INSERT OR IGNORE INTO job(id, user, name, submitted, vc, priority, "
    "state, "
    "sub_state, execution, live, completed, user_retries, platform_retries, "
    "gpus, tasks, roles) VALUES(?1, ?2, ?3, ?4, ?5, x'', 'FAILED', "
    "'Completed', 'START', 0, ?4, 0, 0, 0, 1, 1)";
  static const struct {
    const char *get, *put;
  } steps[] = {
    { "SELECT id, user, name, submitted, vc FROM job INDEXED BY job_submitted "
      "ORDER BY submitted %s",
      insert },
    { "SELECT id, user, name, 0, 'default' FROM job INDEXED BY job_name ORDER "
      "BY user %s",
      insert },
    { "SELECT id, state FROM job INDEXED BY job_state ORDER BY state %s",
      "UPDATE job SET state=?2 WHERE id=?1" },
    { "SELECT id, priority FROM job INDEXED BY job_priority ORDER BY priority "
      "%s",
      "UPDATE job SET priority=?2 WHERE id=?1" },
    { "SELECT id, completed FROM job INDEXED BY job_completed ORDER BY "
      "completed %s",
      "UPDATE job SET completed=?2 WHERE id=?1" },
    { "SELECT id, tasks FROM job INDEXED BY job_tasks ORDER BY tasks %s",
      "UPDATE job SET tasks=?2 WHERE id=?1" },
    { "SELECT id, gpus FROM job INDEXED BY job_gpus ORDER BY gpus %s",
      "UPDATE job SET gpus=?2 WHERE id=?1" },
    { "SELECT id FROM job INDEXED BY job_live WHERE live ORDER BY id %s",
      "UPDATE job SET live=1 WHERE id=?1" },
    { "SELECT job, now_created, now_launched, now_exit_code, now_state FROM "
      "job_detail ORDER BY job %s",
      "UPDATE job SET created=?2, launched=?3, exit_code=?4, "
      "sub_state=ifnull(?5, sub_state) WHERE id=?1" },
  };
  enum { INSERTS = 2 };
  uint64_t rows = r->result->rows; /* updates do not count */
  int rc = PAI_OK, sql_rc;

  /* Rows that were read completely are not changed: the others go through a
   * table of their own. */
  sql_rc = pai__sql_exec(r->to, "CREATE TEMP TABLE read_job AS SELECT id FROM "
                                "main.job; CREATE TEMP TRIGGER keep_read "
                                "BEFORE UPDATE ON main.job WHEN old.id IN "
                                "(SELECT id FROM temp.read_job) BEGIN SELECT "
                                "RAISE(IGNORE); END;");
  if (sql_rc != SQLITE_OK)
    return fail_new(r, sql_rc);
  for (size_t i = 0; i < PAI__LEN(steps) && rc == PAI_OK; i++) {
    rc = pass_index(r, steps[i].get, steps[i].put);
    rows = i < INSERTS ? r->result->rows : rows;
  }
  r->result->rows = rows;
  sql_rc = pai__sql_exec(r->to, "DROP TRIGGER temp.keep_read; DROP TABLE "
                                "temp.read_job;");
  if (rc == PAI_OK && sql_rc != SQLITE_OK)
    rc = fail_new(r, sql_rc);
  return rc;
}

static int copy_jobs(repair *r, const char *table)
{
  int rc = copy_numbered(r, table);

  return rc == PAI_OK && r->holes ? copy_from_indexes(r) : rc;
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

/* Copies rows of the jobs that were restored. */
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
  bool scheduler; /* only useful when complete */
} tables[] = {
  { "job", copy_jobs, false },
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
  { "account_gone", copy_numbered, false },
  { "storage", copy_numbered, false },
  { "market_item", copy_numbered, false },
  { "market_count", copy_numbered, false },
  { "market_label", copy_numbered, false },
  { "audit", copy_numbered, false },
};

/* Ids are not reused, even if the record of used ids was lost. */
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

/* --- files --------------------------------------------------------------- */

static int count_jobs(repair *r)
{
  int64_t jobs;
  int rc =
    pai__sql_number(&jobs, r->to, "SELECT count(*) FROM job", r->path, r->err);

  r->result->jobs = (uint64_t)jobs;
  return rc;
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
  /* The same page layout as a new database. */
  rc = pai__sql_exec(r->to, "PRAGMA auto_vacuum=INCREMENTAL");
  if (rc != SQLITE_OK)
    return fail_new(r, rc);
  return pai__schema_migrate(r->to, NULL, draft, r->err);
}

/* Returns PAI_EIO without an error, because the damage is known. */
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

/* Starts with an empty database: jobs' folders have the rest. */
static int begin_empty(repair *r, const char *draft,
                       const pai__store *settings)
{
  (void)sqlite3_close(r->from);
  (void)sqlite3_close(r->to);
  r->from = r->to = NULL;
  *r->result = (pai__repaired){ .holes = true };
  return begin_new(r, draft, settings);
}

/* The first page says where the tables begin, which is the same in all
 * databases made by this version, so a new one's is used.  In an older schema
 * some tables begin elsewhere; pages that are not theirs are not read, so for
 * version 2 the audit log is lost. */
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
  if ((rc != PAI_EIO &&
       (rc < 0 || r->result->jobs > 0 || !r->result->holes)) ||
      (r->err != NULL && *r->err != NULL))
    return rc;
  /* Try again with another first page. */
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
           ? begin_empty(r, draft, &settings)
           : rc;
}

static int repair_file(repair *r, const char *path, const char *draft,
                       const char *grafted, const char *whole)
{
  int rc = PAI_OK;

  if (!pai__store_is_there(path))
    return pai__fail(r->err, PAI_ENOTFOUND, "there is no %s", path);
  /* Otherwise a repair was interrupted, and nothing was written since. */
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
  pai__clear_err(err);
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
