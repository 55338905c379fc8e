/*
 * scan.h - internal to the room: finds the place of a byte in an unfinished
 * text
 *
 * Scans the text up to the byte without a tree, in YAML by indentation.
 * Errors before the byte are skipped as far as possible.
 */
#ifndef PAI_SRC_SPEC_SCAN_SCAN_H
#define PAI_SRC_SPEC_SCAN_SCAN_H

#include "base/tree.h"

#include <openpai/spec.h>

typedef struct pai__spec_scan {
  pai__buf pointer;
  int on;              /* PAI_ON_* */
  unsigned may;        /* set of PAI_MAY_* */
  size_t key, key_end; /* range of the key; empty: none */
  size_t value, value_end;
} pai__spec_scan;

/* Scans up to byte `at` of the text; `t` needs no nodes.  Returns PAI_OK or
 * PAI_ENOMEM.  Dispose of the pointer in *out also after a failure. */
int pai__scan_at(pai__spec_scan *out, const pai__tree *t, size_t at);

#endif
