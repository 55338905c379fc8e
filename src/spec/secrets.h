/* secrets.h - internal to the room: which parts of a text nobody may see */
#ifndef PAI_SRC_SPEC_SECRETS_H
#define PAI_SRC_SPEC_SECRETS_H

#include "base/tree.h"

/* Bytes [start, end) of the text, where a value stands. */
typedef struct pai__range {
  uint32_t start, end;
  pai__node node;
} pai__range;

/* Found in the tree, not in the text, however it is written and wherever
 * aliases take it from.  In order, and apart. */
typedef struct pai__secrets {
  const pai__tree *tree;
  pai__range *list;
  size_t len, cap;
} pai__secrets;

/* PAI_OK or PAI_ENOMEM; to be disposed of in both cases. */
int pai__secrets_find(pai__secrets *s, const pai__tree *tree);
void pai__secrets_dispose(pai__secrets *s);

/* Is this byte of the text one of a secret? */
bool pai__secrets_has(const pai__secrets *s, uint32_t at);

/* Is a value a secret, or a part of one?  What a mapping that holds it says of
 * itself is none. */
bool pai__secrets_hide(const pai__secrets *s, pai__node n);

/* A value that is written in a secret's place. */
#define PAI__MASK "******"

#endif
