/*
 * nest.h - checks the order of keys, values and brackets in a document being
 * written
 *
 * The JSON writer and the YAML writer call it before each step.  An invalid
 * step (a value where a key must be, an end without a beginning) makes the
 * writer fail for good instead of writing an invalid document.
 */
#ifndef PAI_SRC_BASE_TEXT_NEST_H
#define PAI_SRC_BASE_TEXT_NEST_H

#include "base/base.h"

enum { PAI__NEST_MAX = 256 };

enum {
  PAI__NEST_MAPPING = 1,
  PAI__NEST_FULL = 2, /* has at least one entry */
  PAI__NEST_KEY = 4   /* a key was written, its value was not */
};

typedef struct pai__nest {
  int rc;    /* negative after an error */
  bool done; /* the document is complete */
  uint32_t depth;
  uint8_t level[PAI__NEST_MAX]; /* PAI__NEST_* */
} pai__nest;

/* Returns the flags of the innermost collection; 0 outside. */
static inline unsigned pai__nest_top(const pai__nest *n)
{
  return n->depth != 0 ? n->level[n->depth - 1] : 0;
}

/* Makes the writer fail with this code, unless it has failed; false. */
bool pai__nest_refuse(pai__nest *n, int code);

/* Each returns whether the step is valid, and records it.  *first is set for
 * the first entry of a collection, *empty for a collection without entries.
 * Keys and values are most of a document, so these two are inline. */
static inline bool pai__nest_key(pai__nest *n, bool *first)
{
  uint8_t *top = n->depth != 0 ? &n->level[n->depth - 1] : NULL;

  *first = false;
  if (n->rc < 0)
    return false;
  if (top == NULL || (*top & PAI__NEST_MAPPING) == 0 ||
      (*top & PAI__NEST_KEY) != 0)
    return pai__nest_refuse(n, PAI_EINVAL);
  *first = (*top & PAI__NEST_FULL) == 0;
  *top |= PAI__NEST_KEY | PAI__NEST_FULL;
  return true;
}

static inline bool pai__nest_value(pai__nest *n, bool *first)
{
  uint8_t *top = n->depth != 0 ? &n->level[n->depth - 1] : NULL;

  *first = false;
  if (n->rc < 0)
    return false;
  if (top == NULL) {
    if (n->done)
      return pai__nest_refuse(n, PAI_EINVAL);
    n->done = true;
    return true;
  }
  if ((*top & PAI__NEST_MAPPING) != 0) {
    if ((*top & PAI__NEST_KEY) == 0)
      return pai__nest_refuse(n, PAI_EINVAL);
    *top &= (uint8_t)~PAI__NEST_KEY;
    return true;
  }
  *first = (*top & PAI__NEST_FULL) == 0;
  *top |= PAI__NEST_FULL;
  return true;
}

bool pai__nest_open(pai__nest *n, bool mapping);
bool pai__nest_close(pai__nest *n, bool mapping, bool *empty);

/* Returns PAI_OK if there is one complete document, else the error. */
int pai__nest_finish(const pai__nest *n);

#endif
