/* names.h - internal: strings as numbers, each kept once and for ever */
#ifndef PAI_SRC_SCHED_NAMES_H
#define PAI_SRC_SCHED_NAMES_H

#include "sched/flat.h"

typedef struct pai__names {
  pai__flat list;  /* of the strings */
  pai__flat chars; /* each with its NUL */
  pai__index index; /* by hash, to the last one of that hash */
} pai__names;

void pai__names_init(pai__names *n);
void pai__names_dispose(pai__names *n, const pai_alloc *alloc);
/* As pai__flat_copy(). */
int pai__names_copy(pai__names *n, const pai__names *from,
                    const pai_alloc *alloc);
/* The number of a string, PAI__NONE for NULL.  PAI_OK or PAI_ENOMEM. */
int pai__names_add(pai__names *n, const pai_alloc *alloc, const char *s,
                   uint32_t *name);
/* Its number if it is there already, or PAI__NONE. */
uint32_t pai__names_find(const pai__names *n, const char *s);
/* NULL for PAI__NONE.  Valid until the next one is added. */
const char *pai__names_text(const pai__names *n, uint32_t name);

#endif
