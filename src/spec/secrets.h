/* secrets.h - internal to the room: which parts of a job file nobody may see */
#ifndef PAI_SRC_SPEC_SECRETS_H
#define PAI_SRC_SPEC_SECRETS_H

#include "base/secrets.h"

/* Found in the tree, not in the text, however it is written.  PAI_OK or
 * PAI_ENOMEM; to be disposed of in both cases. */
int pai__secrets_find(pai__secrets *s, const pai__tree *tree);

/* The same and more, for what is told of a file that may be wrong: what has a
 * name as of a secret, or nearly so, wherever it stands.  Of these, those that
 * have to do with bytes [from, to) of the text. */
int pai__secrets_suspect(pai__secrets *s, const pai__tree *tree, uint32_t from,
                         uint32_t to);

#endif
