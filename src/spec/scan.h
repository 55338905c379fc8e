/*
 * scan.h - internal to the room: where a byte is in a text that may be unfinished
 *
 * Goes over the text up to that byte without a tree, for YAML by indentation.
 * What is wrong before it is stepped over as well as can be.
 */
#ifndef PAI_SRC_SPEC_SCAN_H
#define PAI_SRC_SPEC_SCAN_H

#include "base/tree.h"

#include <openpai/spec.h>

typedef struct pai__scan {
  pai__buf pointer;
  int on;              /* PAI_ON_* */
  unsigned may;        /* of PAI_MAY_* */
  size_t key, key_end; /* bytes of the key; the same: there is none */
  size_t value, value_end;
} pai__scan;

/* `t` needs no nodes; `at` is a byte of its text.  Fills *out, whose pointer is
 * to be disposed of in any case; PAI_OK or PAI_ENOMEM. */
int pai__scan_at(pai__scan *out, const pai__tree *t, size_t at);

#endif
