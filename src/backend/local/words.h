/* words.h - internal to src/backend/local: a growing list of texts, as argv */
#ifndef PAI_SRC_BACKEND_LOCAL_WORDS_H
#define PAI_SRC_BACKEND_LOCAL_WORDS_H

#include "base/arena.h"

/* Failure is sticky: one check at the end is enough. */
typedef struct pai__backend_words {
  pai__arena arena; /* holds copies */
  const char **at;  /* ends with NULL once there is a word */
  size_t len, cap;
  bool failed;
} pai__backend_words;

void pai__words_init(pai__backend_words *w, const pai_alloc *alloc);
void pai__words_dispose(pai__backend_words *w);
void pai__words_add(pai__backend_words *w,
                    const char *word); /* `word` is not copied */
void pai__words_cut(pai__backend_words *w,
                    size_t len); /* keeps the first `len` words */
void pai__words_printf(pai__backend_words *w, const char *fmt, ...)
  PAI__PRINTF(2, 3);

/* Returns a hash of a text, as a task's folder, without accidental
 * collisions. */
uint64_t pai__text_hash(const char *text);

#endif
