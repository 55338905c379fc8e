/* secrets.h - parts of a text that must not be shown */
#ifndef PAI_SRC_BASE_SECRETS_H
#define PAI_SRC_BASE_SECRETS_H

#include "base/tree.h"

/* The text that replaces a secret. */
#define PAI__MASK "******"

/* Bytes [start, end) of the text, with a value. */
typedef struct pai__range {
  uint32_t start, end;
  pai__node node;
} pai__range;

/* Secret values, wherever aliases refer to them.  Sorted and disjoint. */
typedef struct pai__secrets {
  const pai__tree *tree;
  pai__range *list;
  size_t len, cap;
} pai__secrets;

/* Returns whether a text has a colon with a no-break space after it.  That
 * makes no key of it, so the text may contain a secret and must not be
 * shown. */
static inline bool pai__hides_colon(const char *s, size_t len)
{
  for (const char *end = s + len;
       (s = memchr(s, ':', (size_t)(end - s))) != NULL; s++)
    if (end - s > 2 && s[1] == '\xc2' && s[2] == '\xa0')
      return true;
  return false;
}

/* While collecting: adds a value; a key's value, with its comments; or the key
 * as well.  PAI_OK or PAI_ENOMEM. */
int pai__secrets_add(pai__secrets *s, pai__node n);
int pai__secrets_add_entry(pai__secrets *s, pai__node key);
int pai__secrets_add_key(pai__secrets *s, pai__node key);
/* Ends collecting: adds the targets of aliases in secrets, and sorts.  PAI_OK
 * or PAI_ENOMEM. */
int pai__secrets_end(pai__secrets *s);
void pai__secrets_dispose(pai__secrets *s);

/* Returns whether this byte of the text belongs to a secret. */
bool pai__secrets_has(const pai__secrets *s, uint32_t at);

/* Returns whether a value is a secret or a part of one.  The mapping around a
 * secret is not. */
bool pai__secrets_hide(const pai__secrets *s, pai__node n);

#endif
