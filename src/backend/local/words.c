/* words.c - a growing list of texts, as argv */
#include "backend/local/words.h"

#include "base/buf.h"
#include "base/hash.h"

void pai__words_init(pai__backend_words *w, const pai_alloc *alloc)
{
  memset(w, 0, sizeof(*w));
  pai__arena_init(&w->arena, alloc);
}

void pai__words_dispose(pai__backend_words *w)
{
  pai__free(w->arena.alloc, w->at, w->cap * sizeof(*w->at));
  pai__arena_dispose(&w->arena);
}

void pai__words_add(pai__backend_words *w, const char *word)
{
  if (word == NULL || PAI__VEC_ROOM(w->arena.alloc, w->at, w->len, w->cap) < 0)
    w->failed = true;
  if (w->failed)
    return;
  w->at[w->len++] = word;
  if (PAI__VEC_ROOM(w->arena.alloc, w->at, w->len, w->cap) < 0)
    w->failed = true;
  else
    w->at[w->len] = NULL;
}

void pai__words_cut(pai__backend_words *w, size_t len)
{
  if (w->failed || len >= w->len)
    return;
  w->len = len;
  w->at[len] = NULL;
}

void pai__words_printf(pai__backend_words *w, const char *fmt, ...)
{
  const char *text = NULL;
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, w->arena.alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(&w->arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  pai__words_add(w, text);
}

uint64_t pai__text_hash(const char *text)
{
  return pai__hash_text(PAI__HASH_SEED, text);
}
