/* ssh.c - Ed25519 SSH key pairs in OpenSSH's formats */
#include "account/inside.h"

#include "base/buf.h"

static const char kind[] = "ssh-ed25519", comment[] = "openpai";

static void add_number(pai__buf *b, size_t n)
{
  for (int shift = 24; shift >= 0; shift -= 8)
    pai__buf_char(b, (char)(unsigned char)(n >> shift));
}

static void add_bytes(pai__buf *b, const void *bytes, size_t len)
{
  add_number(b, len);
  pai__buf_add(b, bytes, len);
}

static void add_text(pai__buf *b, const char *text)
{
  add_bytes(b, text, strlen(text));
}

static void add_public(pai__buf *b, const unsigned char *public_key)
{
  add_text(b, kind);
  add_bytes(b, public_key, crypto_sign_PUBLICKEYBYTES);
}

/* Writes the private section, padded to a multiple of eight bytes.  It is not
 * encrypted. */
static void add_private(pai__buf *b, const unsigned char *public_key,
                        const unsigned char *secret_key)
{
  uint32_t check = randombytes_random();

  add_number(b, check);
  add_number(b, check);
  add_public(b, public_key);
  add_bytes(b, secret_key, crypto_sign_SECRETKEYBYTES);
  add_text(b, comment);
  for (char pad = 1; pai__buf_ok(b) && b->len % 8 != 0; pad++)
    pai__buf_char(b, pad);
}

/* Writes lines of `line` characters; 0: one line. */
static void add_base64(pai__buf *b, const pai__buf *bytes, size_t line)
{
  size_t room =
    sodium_base64_ENCODED_LEN(bytes->len, sodium_base64_VARIANT_ORIGINAL);
  size_t from = b->len, len;

  if (!pai__buf_ok(bytes) || !pai__buf_reserve(b, room)) {
    b->failed = true;
    return;
  }
  (void)sodium_bin2base64(b->data + from, room,
                          (const unsigned char *)bytes->data, bytes->len,
                          sodium_base64_VARIANT_ORIGINAL);
  len = strlen(b->data + from);
  b->len += len;
  if (line == 0)
    return;
  for (size_t at = from + line; at < b->len; at += line + 1) {
    if (!pai__buf_reserve(b, 1))
      return;
    memmove(b->data + at + 1, b->data + at, b->len - at + 1);
    b->data[at] = '\n';
    b->len++;
  }
}

static void write_key(pai__buf *out, const pai_alloc *alloc,
                      const unsigned char *public_key,
                      const unsigned char *secret_key)
{
  pai__buf all, part;

  pai__buf_init(&all, alloc);
  pai__buf_init(&part, alloc);
  pai__buf_add(&all, "openssh-key-v1", 15); /* includes its NUL */
  add_text(&all, "none");
  add_text(&all, "none");
  add_text(&all, "");
  add_number(&all, 1);
  add_public(&part, public_key);
  add_bytes(&all, part.data, part.len);
  all.failed |= part.failed;
  pai__buf_cut(&part, 0);
  add_private(&part, public_key, secret_key);
  add_bytes(&all, part.data, part.len);
  all.failed |= part.failed;
  pai__buf_str(out, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
  add_base64(out, &all, 70);
  pai__buf_str(out, "\n-----END OPENSSH PRIVATE KEY-----\n");
  if (part.data != NULL)
    sodium_memzero(part.data, part.cap);
  if (all.data != NULL)
    sodium_memzero(all.data, all.cap);
  pai__buf_dispose(&part);
  pai__buf_dispose(&all);
}

static void write_public(pai__buf *out, const pai_alloc *alloc,
                         const unsigned char *public_key)
{
  pai__buf part;

  pai__buf_init(&part, alloc);
  add_public(&part, public_key);
  pai__buf_printf(out, "%s ", kind);
  add_base64(out, &part, 0);
  pai__buf_printf(out, " %s", comment);
  pai__buf_dispose(&part);
}

/* Writes {"key", "pubKey"} of a new pair. */
static int make_pair(pai__buf *json, const pai_alloc *alloc)
{
  unsigned char public_key[crypto_sign_PUBLICKEYBYTES];
  unsigned char secret_key[crypto_sign_SECRETKEYBYTES];
  pai__json_writer w;
  pai__buf text;
  int rc;

  (void)crypto_sign_keypair(public_key, secret_key);
  pai__buf_init(&text, alloc);
  pai__json_writer_init(&w, json, false);
  pai__json_begin_object(&w);
  write_key(&text, alloc, public_key, secret_key);
  pai__json_put_text(&w, "key", pai__buf_text(&text));
  json->failed |= text.failed;
  if (text.data != NULL)
    sodium_memzero(text.data, text.cap);
  pai__buf_cut(&text, 0);
  write_public(&text, alloc, public_key);
  pai__json_put_text(&w, "pubKey", pai__buf_text(&text));
  json->failed |= text.failed;
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  pai__buf_dispose(&text);
  sodium_memzero(secret_key, sizeof(secret_key));
  return rc;
}

static bool has_pair(const pai_alloc *alloc, const char *extension, int *rc)
{
  pai__json_options o = { .alloc = alloc };
  pai__tree *t;
  pai__node n;
  bool has;

  *rc = pai__json_parse(&t, extension, strlen(extension), &o, NULL);
  if (*rc < 0)
    return false;
  n = pai__tree_get(t, 0, "jobSSH");
  has = n != PAI__NO_NODE && pai__tree_get(t, n, "key") != PAI__NO_NODE;
  pai__tree_free(t);
  return has;
}

int pai_accounts_need_ssh(pai_accounts *a, const char *user, pai_error **err)
{
  const pai__account *account;
  pai__account_user *changed = NULL;
  pai__buf pair;
  pai__account_update e;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL, err);
  account = pai__find_account(a, user);
  if (account == NULL)
    return pai__no_user(err, 404, user);
  if (has_pair(&a->alloc, account->user->extension, &rc))
    return PAI_OK;
  pai__buf_init(&pair, &a->alloc);
  if (rc < 0 || make_pair(&pair, &a->alloc) < 0 ||
      (changed = pai__user_copy(a, account->user)) == NULL)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = pai__extension_set(&a->alloc, &changed->extension, "jobSSH",
                            pair.data, pair.len, err);
  if (pair.data != NULL)
    sodium_memzero(pair.data, pair.cap);
  pai__buf_dispose(&pair);
  if (rc < 0) {
    pai__user_free(a, changed);
    return rc;
  }
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_user(&e, changed, err), err);
}
