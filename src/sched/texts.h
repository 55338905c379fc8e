/* texts.h - internal: strings as numbers, each kept once and for ever */
#ifndef PAI_SRC_SCHED_TEXTS_H
#define PAI_SRC_SCHED_TEXTS_H

#include "sched/flat.h"

typedef struct pai__texts {
  pai__flat list;    /* of the strings */
  pai__flat chars;   /* each with its NUL */
  pai__lookup index; /* by hash, to the last one of that hash */
} pai__texts;

void pai__texts_init(pai__texts *n);
void pai__texts_dispose(pai__texts *n, const pai_alloc *alloc);
/* The number of a string, PAI__NONE for NULL.  PAI_OK or PAI_ENOMEM. */
int pai__texts_add(pai__texts *n, const pai_alloc *alloc, const char *s,
                   uint32_t *out);
/* Its number if it is there already, or PAI__NONE. */
uint32_t pai__texts_find(const pai__texts *n, const char *s);
/* NULL for PAI__NONE.  Valid until the next one is added. */
const char *pai__texts_text(const pai__texts *n, uint32_t i);

#endif
