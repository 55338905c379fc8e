/* words.h - internal to the back end: a growing list of texts, as argv */
#ifndef PAI_SRC_BACKEND_LOCAL_WORDS_H
#define PAI_SRC_BACKEND_LOCAL_WORDS_H

#include "base/arena.h"

/* Failure is sticky: one check at the end is enough. */
typedef struct pai__words {
  pai__arena arena; /* where copies live */
  const char **at;  /* ends with NULL once there is a word */
  size_t len, cap;
  bool failed;
} pai__words;

void pai__words_init(pai__words *w, const pai_alloc *alloc);
void pai__words_dispose(pai__words *w);
void pai__words_add(pai__words *w, const char *word); /* which is not copied */
void pai__words_cut(pai__words *w, size_t len);       /* to its first words */
void pai__words_printf(pai__words *w, const char *fmt, ...) PAI__PRINTF(2, 3);

/* A number for a text, as a task's folder: no other has the same by accident. */
uint64_t pai__text_hash(const char *text);

#endif
