/* mask.h - internal to the room: a tree that anybody may see */
#ifndef PAI_SRC_SPEC_MASK_H
#define PAI_SRC_SPEC_MASK_H

#include "base/tree.h"

/* A copy with "******" for every secret, in its text as well.  PAI_ENOMEM. */
int pai__mask(pai__tree **out, const pai__tree *tree);

#endif
