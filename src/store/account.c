/*
 * account.c - users, groups, tokens, storages, items of the
 * marketplace and audit notes in the database
 *
 * A user's extension and a storage's data are sealed as jobs' secrets are,
 * under job id 0, which no job has.
 */
#include "store/inside.h"

#include <sodium.h>

/* --- changes ------------------------------------------------------------- */

pai__batch_mark pai__batch_here(const pai__batch *batch)
{
  return (pai__batch_mark){ batch->end };
}

void pai__batch_back(pai__batch *batch, pai__batch_mark mark)
{
  batch->end = mark.end;
  *batch->end = NULL;
  pai__map_dispose(&batch->jobs); /* the job of a change may be dropped */
}

static int put(pai__batch *batch, enum pai__sql sql, const pai__column *fields,
               const void *row, size_t size, bool erases)
{
  pai__store_change *change = pai__batch_make(batch, PAI__PUT_RECORD, 0);

  if (change != NULL) {
    change->sql = sql;
    change->fields = fields;
    change->erases = erases;
  }
  return pai__batch_add_row(batch, change, row, size, fields);
}

int pai__batch_put_group(pai__batch *batch, const pai__group_row *row)
{
  return put(batch, PAI__SQL_PUT_GROUP, pai__group_columns, row, sizeof(*row),
             false);
}

int pai__batch_put_token(pai__batch *batch, const pai__token_row *row)
{
  return put(batch, PAI__SQL_PUT_TOKEN, pai__token_columns, row, sizeof(*row),
             false);
}

int pai__batch_put_removed_user(pai__batch *batch,
                                const pai__removed_user_row *row)
{
  return put(batch, PAI__SQL_PUT_REMOVED_USER, pai__removed_user_columns, row,
             sizeof(*row), false);
}

int pai__batch_put_market_item(pai__batch *batch,
                               const pai__market_item_row *row)
{
  return put(batch, PAI__SQL_PUT_MARKET_ITEM, pai__market_item_columns, row,
             sizeof(*row), false);
}

int pai__batch_put_market_count(pai__batch *batch,
                                const pai__market_count_row *row)
{
  return put(batch, PAI__SQL_PUT_MARKET_COUNT, pai__market_count_columns, row,
             sizeof(*row), false);
}

int pai__batch_put_market_label(pai__batch *batch,
                                const pai__market_label_row *row)
{
  return put(batch, PAI__SQL_PUT_MARKET_LABEL, pai__market_label_columns, row,
             sizeof(*row), false);
}

int pai__batch_put_note(pai__batch *batch, const pai__audit_row *row)
{
  PAI__CHECK_ARG(row->time > 0);
  return pai__batch_add_row(batch, pai__batch_make(batch, PAI__PUT_NOTE, 0),
                            row, sizeof(*row), pai__audit_columns);
}

/* Appends the name under which a value is sealed, so it opens only in its own
 * row. */
static void add_name(pai__buf *b, const char *kind, const char *name)
{
  pai__buf_str(b, kind);
  pai__buf_char(b, ' ');
  pai__buf_str(b, name);
}

/* Replaces *secret by its sealed bytes, which belong to the batch. */
static int seal(pai__batch *batch, pai__bytes *secret, const char *kind,
                const char *name, pai_error **err)
{
  size_t size = secret->len + PAI__SEAL_EXTRA;
  unsigned char *sealed;
  pai__buf b;
  int rc;

  if (secret->len > PAI__COLUMN_BYTES_MAX)
    return pai__fail(err, PAI_ELIMIT, "the secrets of %s %s are too long",
                     kind, name);
  rc = pai__store_need_key(batch->store, true, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&b, &batch->store->alloc);
  add_name(&b, kind, name);
  sealed = pai__arena_zalloc(&batch->arena, size, 1);
  if (sealed == NULL || !pai__buf_ok(&b) ||
      pai__seal(batch->store, 0, b.data, secret->data, secret->len, sealed) <
        0)
    rc = pai__oom(err);
  else
    *secret = (pai__bytes){ sealed, size };
  pai__buf_dispose(&b);
  return rc;
}

/* Puts a row with a secret, of which `secret` is the member in `row`. */
static int put_sealed(pai__batch *batch, enum pai__sql sql,
                      const pai__column *fields, const void *row, size_t size,
                      pai__bytes *secret, pai__bytes closed, const char *kind,
                      const char *name, pai_error **err)
{
  int rc = PAI_OK;

  pai__clear_err(err);
  if (closed.len > 0)
    *secret = closed;
  else if (secret->data != NULL)
    rc = seal(batch, secret, kind, name, err);
  if (rc < 0)
    return rc;
  rc = put(batch, sql, fields, row, size, true);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "a value is too long") : PAI_OK;
}

int pai__batch_put_account(pai__batch *batch, const pai__account_row *row,
                           pai_error **err)
{
  pai__account_row sealed = *row;

  return put_sealed(batch, PAI__SQL_PUT_ACCOUNT, pai__account_columns, &sealed,
                    sizeof(sealed), &sealed.secret, row->closed, "account",
                    row->name, err);
}

int pai__batch_put_storage(pai__batch *batch, const pai__storage_row *row,
                           pai_error **err)
{
  pai__storage_row sealed = *row;

  return put_sealed(batch, PAI__SQL_PUT_STORAGE, pai__storage_columns, &sealed,
                    sizeof(sealed), &sealed.secret, row->closed, "storage",
                    row->name, err);
}

int pai__batch_drop(pai__batch *batch, enum pai__record kind, const char *name)
{
  static const enum pai__sql sql[PAI__RECORDS] = {
    [PAI__ACCOUNT] = PAI__SQL_DROP_ACCOUNT,
    [PAI__GROUP] = PAI__SQL_DROP_GROUP,
    [PAI__TOKEN] = PAI__SQL_DROP_TOKEN,
    [PAI__STORAGE] = PAI__SQL_DROP_STORAGE,
    [PAI__MARKET_ITEM] = PAI__SQL_DROP_MARKET_ITEM,
    [PAI__MARKET_COUNT] = PAI__SQL_DROP_MARKET_COUNT,
    [PAI__MARKET_LABEL] = PAI__SQL_DROP_MARKET_LABEL,
  };
  pai__store_change *change = pai__batch_make(batch, PAI__DROP_RECORD, 0);

  if (change == NULL)
    return PAI_ENOMEM;
  change->sql = sql[kind];
  change->erases = kind == PAI__ACCOUNT || kind == PAI__STORAGE;
  change->name = pai__arena_strndup(&batch->arena, name, strlen(name));
  return change->name != NULL ? pai__batch_add(batch, change) : PAI_ENOMEM;
}

/* --- queries ------------------------------------------------------------- */

/* Opens a sealed value in place.  Without its key the value is empty, and
 * *closed is the sealed one. */
static int open_secret(pai__store *store, pai__bytes *secret,
                       pai__bytes *closed, const char *kind, const char *name,
                       pai__buf *plain)
{
  pai__buf b;
  int rc = PAI_EINVAL;

  if (secret->len == 0)
    return PAI_OK;
  pai__buf_clear(plain);
  pai__buf_init(&b, &store->alloc);
  add_name(&b, kind, name);
  if (!pai__buf_ok(&b) || !pai__buf_reserve(plain, secret->len))
    rc = PAI_ENOMEM;
  else if (secret->len >= PAI__SEAL_EXTRA && store->key != NULL)
    rc = pai__unseal(store, 0, b.data, *secret, (unsigned char *)plain->data);
  pai__buf_dispose(&b);
  if (rc == PAI_ENOMEM)
    return rc;
  if (rc < 0)
    *closed = *secret;
  *secret = rc == PAI_OK
              ? (pai__bytes){ plain->data, secret->len - PAI__SEAL_EXTRA }
              : (pai__bytes){ NULL, 0 };
  return PAI_OK;
}

static void forget(pai__buf *plain)
{
  if (plain->data != NULL)
    sodium_memzero(plain->data, plain->cap);
  pai__buf_dispose(plain);
}

/* Begins a query of rows with secrets, and loads the key, if it exists. */
static void begin(pai__answer *rows, pai__buf *plain, pai__store *store,
                  enum pai__sql sql, pai_error **err)
{
  pai__buf_init(plain, &store->alloc);
  (void)pai__store_need_key(store, false, NULL);
  pai__answer_begin(rows, store, sql, err);
}

static int end(pai__answer *rows, pai__buf *plain, pai_error **err)
{
  int rc = pai__answer_end(rows, err);

  forget(plain);
  return rc == PAI_ENOMEM && (err == NULL || *err == NULL) ? pai__oom(err)
                                                           : rc;
}

int pai__store_accounts(pai__store *store, pai__account_cb cb, void *user_data,
                        pai_error **err)
{
  pai__account_row row;
  pai__answer rows;
  pai__buf plain;

  begin(&rows, &plain, store, PAI__SQL_ACCOUNTS, err);
  while (pai__answer_row(&rows, pai__account_columns, &row, sizeof(row))) {
    rows.code = open_secret(store, &row.secret, &row.closed, "account",
                            row.name, &plain);
    row.lost = row.closed.len > 0;
    if (rows.code == PAI_OK)
      rows.code = cb(user_data, &row);
  }
  return end(&rows, &plain, err);
}

int pai__store_storages(pai__store *store, pai__storage_cb cb, void *user_data,
                        pai_error **err)
{
  pai__storage_row row;
  pai__answer rows;
  pai__buf plain;

  begin(&rows, &plain, store, PAI__SQL_STORAGES, err);
  while (pai__answer_row(&rows, pai__storage_columns, &row, sizeof(row))) {
    rows.code = open_secret(store, &row.secret, &row.closed, "storage",
                            row.name, &plain);
    row.lost = row.closed.len > 0;
    if (rows.code == PAI_OK)
      rows.code = cb(user_data, &row);
  }
  return end(&rows, &plain, err);
}

int pai__store_groups(pai__store *store, pai__group_cb cb, void *user_data,
                      pai_error **err)
{
  pai__group_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_GROUPS, err);
  while (pai__answer_row(&rows, pai__group_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_tokens(pai__store *store, pai__token_cb cb, void *user_data,
                      pai_error **err)
{
  pai__token_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_TOKENS, err);
  while (pai__answer_row(&rows, pai__token_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_removed_users(pai__store *store, pai__removed_user_cb cb,
                             void *user_data, pai_error **err)
{
  pai__removed_user_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_REMOVED_USERS, err);
  while (pai__answer_row(&rows, pai__removed_user_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_market_items(pai__store *store, pai__market_item_cb cb,
                            void *user_data, pai_error **err)
{
  pai__market_item_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_MARKET_ITEMS, err);
  while (pai__answer_row(&rows, pai__market_item_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_market_counts(pai__store *store, pai__market_count_cb cb,
                             void *user_data, pai_error **err)
{
  pai__market_count_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_MARKET_COUNTS, err);
  while (pai__answer_row(&rows, pai__market_count_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_market_labels(pai__store *store, pai__market_label_cb cb,
                             void *user_data, pai_error **err)
{
  pai__market_label_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_MARKET_LABELS, err);
  while (pai__answer_row(&rows, pai__market_label_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

static int64_t or_most(uint64_t value)
{
  return value == 0 || value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int pai__store_notes(pai__store *store, const pai__audit_query *query,
                     pai__audit_cb cb, void *user_data, pai_error **err)
{
  pai__audit_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store,
                    query->user != NULL ? PAI__SQL_USER_NOTES : PAI__SQL_NOTES,
                    err);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1, or_most(query->before));
    (void)sqlite3_bind_int64(rows.stmt, 2, query->since);
    (void)sqlite3_bind_int64(rows.stmt, 3, or_most((uint64_t)query->until));
    (void)sqlite3_bind_int64(rows.stmt, 4, or_most(query->limit));
    if (query->user != NULL)
      (void)sqlite3_bind_text(rows.stmt, 5, query->user, -1, SQLITE_STATIC);
  }
  while (pai__answer_row(&rows, pai__audit_columns, &row, sizeof(row))) {
    row.id = (uint64_t)sqlite3_column_int64(rows.stmt, rows.column);
    rows.code = cb(user_data, &row);
  }
  return pai__answer_end(&rows, err);
}
