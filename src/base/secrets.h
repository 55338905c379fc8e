/* secrets.h - which parts of a text nobody may see, once they are found */
#ifndef PAI_SRC_BASE_SECRETS_H
#define PAI_SRC_BASE_SECRETS_H

#include "base/tree.h"

/* A value that is written in a secret's place. */
#define PAI__MASK "******"

/* Bytes [start, end) of the text, where a value stands. */
typedef struct pai__range {
  uint32_t start, end;
  pai__node node;
} pai__range;

/* Values, wherever aliases take them from.  In order, and apart. */
typedef struct pai__secrets {
  const pai__tree *tree;
  pai__range *list;
  size_t len, cap;
} pai__secrets;

/* Whether a text has a colon with a no-break space behind it, which makes no key
 * of it: it is to be told to nobody. */
static inline bool pai__hides_colon(const char *s, size_t len)
{
  for (const char *end = s + len;
       (s = memchr(s, ':', (size_t)(end - s))) != NULL; s++)
    if (end - s > 2 && s[1] == '\xc2' && s[2] == '\xa0')
      return true;
  return false;
}

/* While they are found: adds a value; or that of a key, and the comments that
 * belong to it; or the key, too.  PAI_OK or PAI_ENOMEM. */
int pai__secrets_add(pai__secrets *s, pai__node n);
int pai__secrets_add_entry(pai__secrets *s, pai__node key);
int pai__secrets_add_key(pai__secrets *s, pai__node key);
/* When all are: adds what aliases in them stand for, and puts them in order.
 * PAI_OK or PAI_ENOMEM. */
int pai__secrets_end(pai__secrets *s);
void pai__secrets_dispose(pai__secrets *s);

/* Is this byte of the text one of a secret? */
bool pai__secrets_has(const pai__secrets *s, uint32_t at);

/* Is a value a secret, or a part of one?  What a mapping that holds it says of
 * itself is none. */
bool pai__secrets_hide(const pai__secrets *s, pai__node n);

#endif
