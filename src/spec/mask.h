/* mask.h - internal to the room: a tree without its secrets */
#ifndef PAI_SRC_SPEC_MASK_H
#define PAI_SRC_SPEC_MASK_H

#include "base/tree.h"

/* Copies a tree, with "******" for every secret, in its text too.  Returns
 * PAI_OK or PAI_ENOMEM. */
int pai__mask(pai__tree **out, const pai__tree *tree);

#endif
