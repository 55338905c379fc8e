/*
 * key.c - the root's encryption key: a file beside the database, in no backup
 * of it
 *
 * It is created when something is sealed for the first time, and never again:
 * a second key could not open what the first one sealed, and later overwriting
 * would lose it for good.
 */
#include "base/os/posix_fs.h"
#include "store/inside.h"

#include <sodium.h>

static const char sealed_text[] =
  "SELECT EXISTS(SELECT 1 FROM secret) OR "
  "EXISTS(SELECT 1 FROM account WHERE length(sealed) > 0) OR "
  "EXISTS(SELECT 1 FROM storage WHERE length(sealed) > 0)";

static const char secrets_text[] = "SELECT job, name, sealed FROM secret";

static void help_with_key(pai_error **err, const char *path)
{
  pai__error_help(
    err,
    "restore it from a backup; if it is lost, create another key: (umask 077; "
    "head -c 32 /dev/urandom >%s); old secrets then stay unreadable",
    path);
}

/* Checks that no sealed value needs a lost key. */
static int may_make(pai__store *store, const char *path, pai_error **err)
{
  int64_t sealed;
  int rc =
    pai__sql_number(&sealed, store->reader, sealed_text, store->path, err);

  if (rc < 0 || sealed == 0)
    return rc;
  (void)pai__fail(err, PAI_EIO,
                  "the key %s is missing; without it the secrets in the "
                  "database cannot be decrypted",
                  path);
  help_with_key(err, path);
  return PAI_EIO;
}

static int load(pai__store *store, unsigned char *key, const char *path,
                bool make, pai_error **err)
{
  int rc = PAI_OK;

  if (make && !pai__store_is_there(path))
    rc = may_make(store, path, err);
  if (rc < 0)
    return rc;
  randombytes_buf(key, PAI__KEY); /* used if there is none yet */
  return pai__store_read_key(key, PAI__KEY, path, make, err);
}

int pai__store_need_key(pai__store *store, bool make, pai_error **err)
{
  unsigned char *key;
  char *path;
  int rc;

  if (store->key != NULL)
    return PAI_OK;
  path = pai__fs_join(store->folder, PAI__STORE_KEY, &store->alloc);
  key = sodium_malloc(PAI__KEY);
  rc = path != NULL && key != NULL ? load(store, key, path, make, err)
                                   : pai__oom(err);
  if (rc == PAI_OK)
    store->key = key;
  else
    sodium_free(key);
  pai__strfree(&store->alloc, path);
  return rc;
}

int pai__store_derive(pai__store *store, unsigned char out[PAI__DERIVED],
                      const char *label, bool make, pai_error **err)
{
  int rc;

  pai__clear_err(err);
  rc = pai__store_need_key(store, make, err);
  if (rc == PAI_OK)
    (void)crypto_generichash(out, PAI__DERIVED, (const unsigned char *)label,
                             strlen(label), store->key, PAI__KEY);
  return rc;
}

/* --- checking the key ---------------------------------------------------- */

static int on_account(void *user_data, const pai__account_row *row)
{
  *(size_t *)user_data += row->lost;
  return PAI_OK;
}

static int on_storage(void *user_data, const pai__storage_row *row)
{
  *(size_t *)user_data += row->lost;
  return PAI_OK;
}

static int open_row(const pai__store *store, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text(row, 1);
  pai__bytes sealed = { sqlite3_column_blob(row, 2),
                        (size_t)sqlite3_column_bytes(row, 2) };
  size_t room = sealed.len + 1;
  unsigned char *plain = pai__zalloc(&store->alloc, room);
  int rc;

  if (plain == NULL || name == NULL)
    rc = PAI_ENOMEM;
  else
    rc = pai__unseal(store, (uint64_t)sqlite3_column_int64(row, 0), name,
                     sealed, plain);
  if (plain != NULL)
    sodium_memzero(plain, room);
  pai__free(&store->alloc, plain, room);
  return rc;
}

/* Counts secrets of jobs that do not open. */
static int count_secrets(const pai__store *store, size_t *closed,
                         pai_error **err)
{
  sqlite3_stmt *rows = NULL;
  int rc = sqlite3_prepare_v2(store->reader, secrets_text, -1, &rows, NULL);
  int code = PAI_OK;

  if (rc == SQLITE_OK)
    while (code == PAI_OK && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
      code = open_row(store, rows);
      *closed += code == PAI_EINVAL;
      code = code == PAI_EINVAL ? PAI_OK : code;
    }
  if (code < 0)
    code = pai__oom(err);
  else if (rc != SQLITE_DONE)
    code = pai__sql_fail(err, store->reader, rc, "read", store->path);
  (void)sqlite3_finalize(rows);
  return code;
}

static int check_sealed(pai__store *store, const char *path, pai_error **err)
{
  size_t closed = 0;
  int rc = pai__store_need_key(store, false, err);

  if (rc == PAI_OK)
    rc = count_secrets(store, &closed, err);
  if (rc == PAI_OK)
    rc = pai__store_accounts(store, on_account, &closed, err);
  if (rc == PAI_OK)
    rc = pai__store_storages(store, on_storage, &closed, err);
  if (rc < 0 || closed == 0)
    return rc;
  (void)pai__fail(
    err, PAI_EIO,
    "%s is not the key that encrypted %zu secrets of users, storages and jobs",
    path, closed);
  pai__error_help(err, "restore the root's former key");
  return PAI_EIO;
}

static int check(pai__store *store, pai_error **err)
{
  char *path = pai__fs_join(store->folder, PAI__STORE_KEY, &store->alloc);
  int64_t sealed;
  int rc;

  if (path == NULL)
    return pai__oom(err);
  if (!pai__store_is_there(path))
    rc = may_make(store, path, err);
  else if ((rc = pai__sql_number(&sealed, store->reader, sealed_text,
                                 store->path, err)) == PAI_OK &&
           sealed != 0)
    rc = check_sealed(store, path, err);
  pai__strfree(&store->alloc, path);
  return rc;
}

int pai__store_check_key(const pai_alloc *alloc, const char *folder,
                         pai_error **err)
{
  pai__store *store;
  int rc = pai__store_look(&store, alloc, folder, err);

  if (rc == PAI_ENOTFOUND && (err == NULL || *err == NULL))
    return PAI_OK;
  if (rc == PAI_OK)
    rc = check(store, err);
  pai__store_close(store);
  return rc;
}
