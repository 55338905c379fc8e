/*
 * nest.h - who may come next in a document that is being written
 *
 * The JSON writer and the YAML writer ask before each step.  A step that
 * breaks the rules (a value where a key must be, an end without a beginning)
 * makes the writer fail for good instead of writing nonsense.
 */
#ifndef PAI_SRC_BASE_NEST_H
#define PAI_SRC_BASE_NEST_H

#include "base/base.h"

enum { PAI__NEST_MAX = 256 };

enum {
  PAI__NEST_MAPPING = 1,
  PAI__NEST_FULL = 2, /* has at least one entry */
  PAI__NEST_KEY = 4   /* a key has come, its value has not */
};

typedef struct pai__nest {
  int rc;    /* negative once something went wrong */
  bool done; /* the whole document is there */
  uint32_t depth;
  uint8_t level[PAI__NEST_MAX]; /* PAI__NEST_* */
} pai__nest;

/* The flags of the innermost collection; 0 outside. */
static inline unsigned pai__nest_top(const pai__nest *n)
{
  return n->depth != 0 ? n->level[n->depth - 1] : 0;
}

/* Each returns whether the step may be made, and makes it.  *first is set for
 * the first entry of a collection, *empty for one that got none. */
bool pai__nest_key(pai__nest *n, bool *first);
bool pai__nest_value(pai__nest *n, bool *first);
bool pai__nest_open(pai__nest *n, bool mapping);
bool pai__nest_close(pai__nest *n, bool mapping, bool *empty);

/* PAI_OK when there is one whole document, else why not. */
int pai__nest_finish(const pai__nest *n);

#endif
