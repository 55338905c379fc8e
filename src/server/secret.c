/* secret.c - random and sealed texts */
#include "server/secret.h"

#include "base/text/encode.h"

#include <gnutls/crypto.h>
#include <string.h>

enum { NONCE = 12, TAG = 16, MOST_SEALED = 8 << 10 };

static void put_text(char out[PAI__RANDOM_TEXT],
                     const unsigned char bytes[PAI__RANDOM])
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__base64url(&b, bytes, PAI__RANDOM);
  (void)memset(out, 0, PAI__RANDOM_TEXT);
  if (pai__buf_ok(&b))
    memcpy(out, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
}

bool pai__random_text(char out[PAI__RANDOM_TEXT])
{
  unsigned char bytes[PAI__RANDOM];

  if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes)) < 0)
    return false;
  put_text(out, bytes);
  return out[0] != '\0';
}

bool pai__random_read(unsigned char out[PAI__RANDOM], const char *text,
                      size_t len)
{
  pai__buf b;
  bool ok;

  pai__buf_init(&b, &pai__libc_alloc);
  ok = len == PAI__RANDOM_TEXT - 1 && pai__base64url_read(&b, text, len) &&
       pai__buf_ok(&b) && b.len == PAI__RANDOM;
  if (ok)
    memcpy(out, b.data, PAI__RANDOM);
  pai__buf_wipe(&b);
  return ok;
}

void pai__secret_wipe(void *bytes, size_t len)
{
  gnutls_memset(bytes, 0, len);
}

bool pai__challenge(char out[PAI__RANDOM_TEXT], const char *verifier)
{
  unsigned char bytes[PAI__RANDOM];

  if (gnutls_hash_fast(GNUTLS_DIG_SHA256, verifier, strlen(verifier), bytes) <
      0)
    return false;
  put_text(out, bytes);
  return out[0] != '\0';
}

static gnutls_aead_cipher_hd_t begin(const unsigned char key[PAI__RANDOM])
{
  unsigned char copy[PAI__RANDOM];
  gnutls_datum_t datum = { copy, PAI__RANDOM };
  gnutls_aead_cipher_hd_t h = NULL;

  memcpy(copy, key, sizeof(copy));
  if (gnutls_aead_cipher_init(&h, GNUTLS_CIPHER_AES_256_GCM, &datum) < 0)
    h = NULL;
  gnutls_memset(copy, 0, sizeof(copy));
  return h;
}

int pai__cookie_seal(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *text, size_t len)
{
  unsigned char bytes[NONCE + MOST_SEALED + TAG];
  size_t sealed = MOST_SEALED + TAG;
  gnutls_aead_cipher_hd_t h;
  int rc;

  if (len > MOST_SEALED)
    return PAI_ELIMIT;
  h = begin(key);
  if (h == NULL)
    return PAI_EIO;
  rc = gnutls_rnd(GNUTLS_RND_NONCE, bytes, NONCE);
  if (rc >= 0)
    rc = gnutls_aead_cipher_encrypt(h, bytes, NONCE, name, strlen(name), TAG,
                                    text, len, bytes + NONCE, &sealed);
  gnutls_aead_cipher_deinit(h);
  if (rc < 0)
    return PAI_EIO;
  pai__base64url(out, bytes, NONCE + sealed);
  return pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}

static int open_it(pai__buf *out, const unsigned char key[PAI__RANDOM],
                   const char *name, const pai__buf *sealed)
{
  char text[MOST_SEALED];
  size_t len = sizeof(text);
  gnutls_aead_cipher_hd_t h = begin(key);
  int rc;

  if (h == NULL)
    return PAI_EIO;
  rc = gnutls_aead_cipher_decrypt(h, sealed->data, NONCE, name, strlen(name),
                                  TAG, sealed->data + NONCE,
                                  sealed->len - NONCE, text, &len);
  gnutls_aead_cipher_deinit(h);
  if (rc < 0)
    return PAI_EPERM;
  pai__buf_add(out, text, len);
  gnutls_memset(text, 0, sizeof(text));
  return pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}

int pai__cookie_open(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *sealed, size_t len)
{
  int rc = PAI_EPERM;
  pai__buf b;

  pai__buf_init(&b, out->alloc);
  if (len <= (size_t)2 * MOST_SEALED && pai__base64url_read(&b, sealed, len)) {
    if (!pai__buf_ok(&b))
      rc = PAI_ENOMEM;
    else if (b.len >= NONCE + TAG && b.len <= NONCE + MOST_SEALED + TAG)
      rc = open_it(out, key, name, &b);
  }
  pai__buf_dispose(&b);
  return rc;
}
