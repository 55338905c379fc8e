/* hash.h - FNV-1a hash of texts and bytes; not for keys that an attacker may
 * choose */
#ifndef PAI_SRC_BASE_HASH_H
#define PAI_SRC_BASE_HASH_H

#include "base/base.h"

#define PAI__HASH_SEED UINT64_C(0xcbf29ce484222325)

/* Hashes bytes, continuing h, the hash of earlier ones, or PAI__HASH_SEED. */
static inline uint64_t pai__hash(uint64_t h, const void *bytes, size_t len)
{
  const unsigned char *p = bytes;

  for (size_t i = 0; i < len; i++)
    h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

static inline uint64_t pai__hash_text(uint64_t h, const char *text)
{
  return pai__hash(h, text, strlen(text));
}

#endif
