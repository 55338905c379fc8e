/* secrets.h - internal to the room: which parts of a text nobody may see */
#ifndef PAI_SRC_SPEC_SECRETS_H
#define PAI_SRC_SPEC_SECRETS_H

#include "base/tree.h"

/* Bytes [start, end) of the text. */
typedef struct pai__range {
  uint32_t start, end;
} pai__range;

/* Found in the tree, not in the text, however it is written. */
typedef struct pai__secrets {
  const pai_alloc *alloc;
  pai__range *list;
  size_t len, cap;
} pai__secrets;

/* PAI_OK or PAI_ENOMEM; to be disposed of in both cases. */
int pai__secrets_find(pai__secrets *s, const pai__tree *tree);
void pai__secrets_dispose(pai__secrets *s);

/* Does any of it lie in these bytes?  What a mapping that holds it says of
 * itself is no secret. */
bool pai__secrets_has(const pai__secrets *s, uint32_t at);

/* Is a value one template and nothing else?  That says where a secret is, and
 * not what. */
bool pai__is_template(const pai__tree *tree, pai__node n);

/* A value that is written in a secret's place. */
#define PAI__MASK "******"

#endif
