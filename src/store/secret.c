/*
 * secret.c - encryption of secrets in the database
 *
 * XChaCha20-Poly1305 with the root's key and a random nonce.  The job and the
 * secret's name are authenticated, too: a sealed value that is moved to
 * another row does not open.
 */
#include "store/inside.h"

#include <sodium.h>

enum { NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES };

_Static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == PAI__KEY,
               "a key has that length");
_Static_assert(NONCE + crypto_aead_xchacha20poly1305_ietf_ABYTES ==
                 PAI__SEAL_EXTRA,
               "a sealed value has that length");

/* Appends the additional authenticated data: the job's id, and the name. */
static void add_where(pai__buf *b, uint64_t job, const char *name)
{
  for (int i = 0; i < 8; i++)
    pai__buf_char(b, (char)(unsigned char)(job >> (8 * i)));
  pai__buf_str(b, name);
}

int pai__seal(const pai__store *store, uint64_t job, const char *name,
              const void *data, size_t len, unsigned char *out)
{
  pai__buf where;
  bool ok;

  pai__buf_init(&where, &store->alloc);
  add_where(&where, job, name);
  ok = pai__buf_ok(&where);
  if (ok) {
    randombytes_buf(out, NONCE);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(
      out + NONCE, NULL, data, len, (const unsigned char *)where.data,
      where.len, NULL, out, store->key);
  }
  pai__buf_dispose(&where);
  return ok ? PAI_OK : PAI_ENOMEM;
}

int pai__unseal(const pai__store *store, uint64_t job, const char *name,
                pai__bytes sealed, unsigned char *out)
{
  const unsigned char *bytes = sealed.data;
  pai__buf where;
  int rc = PAI_ENOMEM;

  if (sealed.len < PAI__SEAL_EXTRA)
    return PAI_EINVAL;
  pai__buf_init(&where, &store->alloc);
  add_where(&where, job, name);
  if (pai__buf_ok(&where))
    rc =
      crypto_aead_xchacha20poly1305_ietf_decrypt(
        out, NULL, NULL, bytes + NONCE, sealed.len - NONCE,
        (const unsigned char *)where.data, where.len, bytes, store->key) == 0
        ? PAI_OK
        : PAI_EINVAL;
  pai__buf_dispose(&where);
  return rc;
}

static int hand_out(pai__store *store, uint64_t job, const char *name,
                    pai__bytes sealed, pai__piece_cb cb, void *user_data,
                    pai_error **err)
{
  size_t room = sealed.len + 1; /* for the tag, and never empty */
  unsigned char *plain = pai__zalloc(&store->alloc, room);
  int rc;

  if (plain == NULL)
    return pai__oom(err);
  rc = pai__unseal(store, job, name, sealed, plain);
  if (rc == PAI_OK)
    rc = cb(user_data, plain, sealed.len - PAI__SEAL_EXTRA);
  else if (rc == PAI_ENOMEM)
    rc = pai__oom(err);
  else {
    rc =
      pai__fail(err, PAI_EIO,
                "cannot decrypt secret \"%s\" of job %llu with the key in %s",
                name, (unsigned long long)job, store->folder);
    pai__error_help(err, "restore the key of the time when the job was "
                         "submitted, or submit the job again");
  }
  sodium_memzero(plain, room);
  pai__free(&store->alloc, plain, room);
  return rc;
}

int pai__store_secret(pai__store *store, uint64_t job, const char *name,
                      pai__piece_cb cb, void *user_data, pai_error **err)
{
  pai__bytes sealed;
  pai__answer rows;

  pai__clear_err(err);
  pai__answer_begin(&rows, store, PAI__SQL_SECRET, err);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1, (sqlite3_int64)job);
    (void)sqlite3_bind_text(rows.stmt, 2, name, -1, SQLITE_STATIC);
  }
  if (pai__answer_next(&rows)) {
    sealed.data = sqlite3_column_blob(rows.stmt, 0);
    sealed.len = (size_t)sqlite3_column_bytes(rows.stmt, 0);
    rows.code = pai__store_need_key(store, false, err);
    if (rows.code == PAI_OK)
      rows.code = hand_out(store, job, name, sealed, cb, user_data, err);
  } else if (rows.rc == SQLITE_DONE && rows.code >= 0) {
    rows.code = pai__fail(err, PAI_ENOTFOUND, "job %llu has no secret \"%s\"",
                          (unsigned long long)job, name);
  }
  return pai__answer_end(&rows, err);
}

/* --- events -------------------------------------------------------------- */

static void hash_text(crypto_generichash_state *state, const char *text)
{
  static const unsigned char none = 0, some = 1;

  /* The NUL is included: "a", "bc" differs from "ab", "c". */
  (void)crypto_generichash_update(state, text != NULL ? &some : &none, 1);
  if (text != NULL)
    (void)crypto_generichash_update(state, (const unsigned char *)text,
                                    strlen(text) + 1);
}

void pai__event_uid(unsigned char uid[16], const pai__event_row *row)
{
  unsigned char where[17];
  crypto_generichash_state state;

  for (int i = 0; i < 8; i++) {
    where[i] = (unsigned char)(row->job >> (8 * i));
    where[8 + i] = (unsigned char)((uint64_t)row->index.value >> (8 * i));
  }
  where[16] = row->index.there ? 1 : 0;
  (void)crypto_generichash_init(&state, NULL, 0, 16);
  (void)crypto_generichash_update(&state, where, sizeof(where));
  hash_text(&state, row->task_uid);
  hash_text(&state, row->role);
  hash_text(&state, row->type);
  hash_text(&state, row->reason);
  hash_text(&state, row->message);
  hash_text(&state, row->component);
  hash_text(&state, row->host);
  (void)crypto_generichash_final(&state, uid, 16);
}
