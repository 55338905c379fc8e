/* open.c - opens and closes a store with its two connections */
#include "base/os/posix_fs.h"
#include "store/job_index.h"

#include <sodium.h>

enum { BUSY_MS = 5000, CACHE_BYTES = 1 << 20 };

/* --- connections --------------------------------------------------------- */

/* None of these writes to the file.  Deleted rows are overwritten, nothing is
 * sorted on disk, and a manipulated schema cannot run functions. */
static const char settings[] =
  "PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON; PRAGMA synchronous=FULL;"
  "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"
  "PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=16777216;";

int pai__store_connect(sqlite3 **out, const char *path, int flags,
                       const pai__store *store, pai_error **err)
{
  char cache[48];
  int rc = sqlite3_open_v2(
    path, out, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

  if (rc != SQLITE_OK)
    return pai__sql_fail(err, *out, rc, "open", path);
  (void)sqlite3_snprintf(sizeof(cache), cache, "PRAGMA cache_size=-%d",
                         (int)(store->cache_bytes / 1024));
  (void)sqlite3_busy_timeout(*out, store->busy_ms);
  /* Until all is well, closing leaves the files unchanged. */
  (void)sqlite3_db_config(*out, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  rc = pai__sql_exec(*out, settings);
  if (rc == SQLITE_OK)
    rc = pai__sql_exec(*out, cache);
  return rc == SQLITE_OK ? PAI_OK : pai__sql_fail(err, *out, rc, "open", path);
}

/* Checks every page. */
static int check_pages(sqlite3 *db, const char *path, pai_error **err)
{
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL);

  if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
    const char *verdict = (const char *)sqlite3_column_text(stmt, 0);
    rc = verdict == NULL              ? SQLITE_NOMEM
         : strcmp(verdict, "ok") == 0 ? SQLITE_OK
                                      : SQLITE_CORRUPT;
  }
  rc = rc == SQLITE_OK ? PAI_OK : pai__sql_fail(err, db, rc, "open", path);
  (void)sqlite3_finalize(stmt);
  return rc;
}

/* Switches the file to a write-ahead log permanently; SQLite returns the mode
 * as a row. */
static int begin_log(sqlite3 *db, const char *path, pai_error **err)
{
  sqlite3_stmt *stmt = NULL;
  int rc = pai__sql_exec(db, "PRAGMA auto_vacuum=INCREMENTAL");

  if (rc == SQLITE_OK)
    rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode=WAL", -1, &stmt, NULL);
  if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
    const char *mode = (const char *)sqlite3_column_text(stmt, 0);
    rc = mode == NULL               ? SQLITE_NOMEM
         : strcmp(mode, "wal") == 0 ? SQLITE_OK
                                    : SQLITE_READONLY;
  }
  rc = rc == SQLITE_OK ? PAI_OK : pai__sql_fail(err, db, rc, "open", path);
  (void)sqlite3_finalize(stmt);
  return rc;
}

/* --- opening ------------------------------------------------------------- */

/* A clean close leaves no write-ahead log. */
static int was_killed(bool *out, const pai__store *store, pai_error **err)
{
  pai__buf wal;

  pai__buf_init(&wal, &store->alloc);
  pai__buf_printf(&wal, "%s-wal", store->path);
  if (!pai__buf_ok(&wal))
    return pai__oom(err);
  *out = pai__store_file_size(wal.data) > 0;
  pai__buf_dispose(&wal);
  return PAI_OK;
}

static int open_writer(pai__store *store, bool check, pai_error **err)
{
  sqlite3 *db;
  bool killed = false;
  int64_t last_id;
  int rc;

  if ((rc = was_killed(&killed, store, err)) < 0 ||
      (rc = pai__store_connect(&store->writer, store->path,
                               SQLITE_OPEN_READWRITE, store, err)) < 0)
    return rc;
  db = store->writer;
  if ((rc = pai__schema_check(db, store->path, err)) < 0 ||
      ((killed || check) && (rc = check_pages(db, store->path, err)) < 0) ||
      (rc = begin_log(db, store->path, err)) < 0 ||
      (rc = pai__schema_migrate(db, NULL, store->path, err)) < 0 ||
      (rc = pai__sql_number(
         &last_id, db, "SELECT value FROM meta WHERE name='" PAI__LAST_ID "'",
         store->path, err)) < 0)
    return rc;
  store->last_id = (uint64_t)last_id;
  store->erased = killed; /* the log may contain dropped secrets */
  return PAI_OK;
}

static int open_reader(pai__store *store, pai_error **err)
{
  int rc = pai__store_connect(&store->reader, store->path,
                              SQLITE_OPEN_READWRITE, store, err);

  if (rc == PAI_OK) {
    rc = pai__sql_exec(store->reader, "PRAGMA query_only=ON");
    if (rc != SQLITE_OK)
      rc = pai__sql_fail(err, store->reader, rc, "open", store->path);
  }
  return rc;
}

/* Prepares all that a commit needs: it may run on another thread, and the
 * allocator need not be thread-safe. */
static int prepare_writer(pai__store *store, pai_error **err)
{
  int rc = PAI_OK;

  for (int i = 0; i < PAI__SQL_HOLD && rc == PAI_OK; i++)
    (void)pai__sql_get(store, (enum pai__sql)i, &rc, err);
  return rc;
}

static int open_all(pai__store *store, const pai__store_options *opts,
                    const char *folder, pai_error **err)
{
  int rc;

  store->busy_ms = opts->busy_ms == 0 ? BUSY_MS : opts->busy_ms;
  store->cache_bytes =
    opts->cache_bytes == 0 ? CACHE_BYTES : opts->cache_bytes;
  if (sqlite3_threadsafe() == 0)
    return pai__fail(err, PAI_ENOTSUP,
                     "this SQLite was built without threads");
  if (sodium_init() < 0)
    return pai__fail(err, PAI_EIO, "no secure random numbers are available");
  pai__used_open(&store->used);
  store->folder = pai__strdup(&store->alloc, folder);
  store->path = pai__fs_join(folder, PAI__STORE_FILE, &store->alloc);
  if (store->folder == NULL || store->path == NULL)
    return pai__oom(err);
  if ((rc = pai__store_own_file(store->path, err)) < 0 ||
      (rc = open_writer(store, opts->check, err)) < 0 ||
      (rc = prepare_writer(store, err)) < 0)
    return rc;
  return open_reader(store, err);
}

int pai__store_open(pai__store **out, const pai_alloc *alloc,
                    const char *folder, const pai__store_options *opts,
                    pai_error **err)
{
  static const pai__store_options none;
  pai__store *store;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(folder != NULL, err);
  store = pai__zalloc(alloc, sizeof(*store));
  if (store == NULL)
    return pai__oom(err);
  store->alloc = *alloc;
  rc = open_all(store, opts != NULL ? opts : &none, folder, err);
  if (rc == PAI_EBUSY)
    rc = pai__store_explain_lock(store->path, err);
  if (rc < 0) {
    pai__store_close(store);
    return rc;
  }
  /* From now on the last close moves the log into the file. */
  (void)sqlite3_db_config(store->writer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0,
                          NULL);
  *out = store;
  return PAI_OK;
}

/* Checks that there is a database of a known version. */
static int is_ours(pai__store *store, pai_error **err)
{
  int64_t version = 0;
  int rc;

  if (!pai__store_is_there(store->path))
    return PAI_ENOTFOUND;
  store->busy_ms = BUSY_MS;
  store->cache_bytes = CACHE_BYTES;
  rc = open_reader(store, err);
  if (rc == PAI_OK)
    rc = pai__schema_check(store->reader, store->path, err);
  if (rc == PAI_OK)
    rc = pai__sql_number(&version, store->reader, "PRAGMA user_version",
                         store->path, err);
  if (rc < 0)
    return rc;
  return version == pai__schema_version() ? PAI_OK : PAI_ENOTFOUND;
}

int pai__store_look(pai__store **out, const pai_alloc *alloc,
                    const char *folder, pai_error **err)
{
  pai__store *store;
  int rc;

  PAI__CLEAR_OUT(out, err);
  store = pai__zalloc(alloc, sizeof(*store));
  if (store == NULL)
    return pai__oom(err);
  store->alloc = *alloc;
  store->folder = pai__strdup(alloc, folder);
  store->path = pai__fs_join(folder, PAI__STORE_FILE, alloc);
  if (sodium_init() < 0)
    rc = pai__fail(err, PAI_EIO, "no secure random numbers are available");
  else if (store->folder == NULL || store->path == NULL)
    rc = pai__oom(err);
  else
    rc = is_ours(store, err);
  if (rc < 0)
    pai__store_close(store);
  else
    *out = store;
  return rc;
}

void pai__store_close(pai__store *store)
{
  pai_alloc alloc;

  if (store == NULL)
    return;
  alloc = store->alloc;
  for (size_t i = 0; i < PAI__SQL_COUNT; i++)
    (void)sqlite3_finalize(store->sql[i]);
  for (size_t i = 0; i < PAI__LIST_SQLS; i++) {
    (void)sqlite3_finalize(store->lists[i].stmt);
    pai__strfree(&alloc, store->lists[i].text);
  }
  pai__job_index_free(store->index);
  pai__used_dispose(&store->used, &alloc);
  (void)sqlite3_close(store->reader);
  (void)sqlite3_close(store->writer);
  if (store->key != NULL)
    sodium_free(store->key); /* wipes it */
  pai__strfree(&alloc, store->folder);
  pai__strfree(&alloc, store->path);
  pai__free(&alloc, store, sizeof(*store));
}

/* --- maintenance --------------------------------------------------------- */

/* Free pages up to half the used pages stay, for later rows. */
static int give_back(pai__store *store, pai_error **err)
{
  int64_t pages, unused;
  char text[64];
  int rc;

  if ((rc = pai__sql_number(&pages, store->writer, "PRAGMA page_count",
                            store->path, err)) < 0 ||
      (rc = pai__sql_number(&unused, store->writer, "PRAGMA freelist_count",
                            store->path, err)) < 0 ||
      unused * 3 <= pages || unused < 64)
    return rc;
  (void)sqlite3_snprintf(sizeof(text), text, "PRAGMA incremental_vacuum(%d)",
                         (int)unused);
  rc = pai__sql_exec(store->writer, text);
  if (rc != SQLITE_OK)
    return pai__sql_fail(err, store->writer, rc, "shrink", store->path);
  store->erased = true;
  return PAI_OK;
}

int pai__store_tidy(pai__store *store, pai_error **err)
{
  int rc, frames = 0, done = 0;

  pai__clear_err(err);
  rc = give_back(store, err);
  if (rc < 0 || !store->erased)
    return rc;
  /* Do not wait for readers. */
  (void)sqlite3_busy_timeout(store->writer, 0);
  rc = sqlite3_wal_checkpoint_v2(store->writer, NULL,
                                 SQLITE_CHECKPOINT_TRUNCATE, &frames, &done);
  (void)sqlite3_busy_timeout(store->writer, store->busy_ms);
  if ((rc & 0xff) == SQLITE_BUSY) {
    rc = pai__fail(err, PAI_EBUSY,
                   "%s is in use by a reader and will be compacted later",
                   store->path);
    pai__error_retriable(err);
    return rc;
  }
  if (rc != SQLITE_OK)
    return pai__sql_fail(err, store->writer, rc, "tidy", store->path);
  store->erased = false;
  return PAI_OK;
}
