/*
 * used.c - set of job names ever used, to accept a new name without a query
 *
 * A set of hashes.  No job has a name that is not in the set.  A name in it
 * may be that of a dropped job, or collide with another's, and then the
 * database is queried.  So nothing is ever removed.  It holds all names put
 * since the store was opened, and reads the earlier ones piece by piece.
 */
#include "store/inside.h"

#include <sodium.h>

enum { LEAST = 64, SLICE = 512 /* jobs; takes a fifth of a millisecond */ };

/* A keyed hash, so that users cannot choose names that collide.  Never 0. */
static uint32_t hash_of(const pai__used *u, const char *user, const char *name)
{
  unsigned char out[2][crypto_shorthash_BYTES];
  uint64_t of_user, of_name;
  uint32_t hash;

  (void)crypto_shorthash(out[0], (const unsigned char *)user, strlen(user),
                         u->key);
  (void)crypto_shorthash(out[1], (const unsigned char *)name, strlen(name),
                         u->key);
  memcpy(&of_user, out[0], sizeof(of_user));
  memcpy(&of_name, out[1], sizeof(of_name));
  hash = (uint32_t)((of_user * 0x9e3779b97f4a7c15u ^ of_name) >> 32);
  return hash != 0 ? hash : 1;
}

/* Returns the slot of the hash, or the free slot for it. */
static uint32_t *place_of(uint32_t *at, size_t cap, uint32_t hash)
{
  size_t i = hash & (cap - 1);

  while (at[i] != 0 && at[i] != hash)
    i = (i + 1) & (cap - 1);
  return &at[i];
}

static int grow(pai__used *u, const pai_alloc *alloc)
{
  size_t cap = u->cap > 0 ? 2 * u->cap : LEAST;
  uint32_t *at = pai__zalloc(alloc, cap * sizeof(*at));

  if (at == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < u->cap; i++)
    if (u->at[i] != 0)
      *place_of(at, cap, u->at[i]) = u->at[i];
  pai__free(alloc, u->at, u->cap * sizeof(*at));
  u->at = at;
  u->cap = cap;
  return PAI_OK;
}

void pai__used_open(pai__used *u)
{
  crypto_shorthash_keygen(u->key);
}

void pai__used_dispose(pai__used *u, const pai_alloc *alloc)
{
  pai__free(alloc, u->at, u->cap * sizeof(*u->at));
  *u = (pai__used){ .lost = true };
}

/* Without memory no name counts as new any more. */
void pai__store_use_name(pai__store *store, const char *user, const char *name)
{
  pai__used *u = &store->used;
  uint32_t hash, *place;

  if (u->lost)
    return;
  if (4 * (u->n + 1) > 3 * u->cap && grow(u, &store->alloc) < 0) {
    pai__used_dispose(u, &store->alloc);
    return;
  }
  hash = hash_of(u, user, name);
  place = place_of(u->at, u->cap, hash);
  u->n += *place == 0;
  *place = hash;
}

/* Jobs that are added meanwhile have larger ids, and are added as they are
 * put. */
static void read_some(pai__store *store)
{
  pai__used *u = &store->used;
  pai__answer rows;
  unsigned n = 0;

  pai__answer_begin(&rows, store, PAI__SQL_NAMES, NULL);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1, (sqlite3_int64)u->read_to);
    (void)sqlite3_bind_int(rows.stmt, 2, SLICE);
  }
  for (; pai__answer_next(&rows); n++) {
    const char *user = (const char *)sqlite3_column_text(rows.stmt, 1);
    const char *name = (const char *)sqlite3_column_text(rows.stmt, 2);

    if (user == NULL || name == NULL) {
      rows.code = PAI_ENOMEM;
      break;
    }
    pai__store_use_name(store, user, name);
    u->read_to = (uint64_t)sqlite3_column_int64(rows.stmt, 0);
  }
  if (pai__answer_end(&rows, NULL) == PAI_OK && n < SLICE)
    u->whole = true;
}

bool pai__store_is_new_name(pai__store *store, const char *user,
                            const char *name)
{
  pai__used *u = &store->used;

  if (!u->whole && !u->lost)
    read_some(store);
  if (!u->whole || u->lost)
    return false;
  return u->cap == 0 || *place_of(u->at, u->cap, hash_of(u, user, name)) == 0;
}
