/* at.h - internal: finds the place at a byte of a parsed text */
#ifndef PAI_SRC_SPEC_EDIT_AT_H
#define PAI_SRC_SPEC_EDIT_AT_H

#include "spec/scan/scan.h"

/* As pai_spec_at(), at a byte.  A tree without nodes stands for a text that
 * cannot be parsed.  Returns PAI_OK or PAI_ENOMEM.  Dispose of the pointer in
 * *out also after a failure. */
int pai__place_at(pai__spec_scan *out, const pai__tree *t, size_t at);

#endif
