/* reader.h - the JSON reader's state */
#ifndef PAI_SRC_JSON_READER_H
#define PAI_SRC_JSON_READER_H

#include "json/json.h"

typedef struct pai__json_reader {
  pai__tree *t;
  const char *p;   /* what comes next */
  const char *end; /* NULs follow, so looking at *p is always allowed */
  char *to;        /* where the next string goes */
  pai__node open;  /* the innermost open collection; its parent waits in its
                      skip.  PAI__NO_NODE outside the value */
  uint32_t depth, max_depth;
  unsigned flags;
  pai_error **err;
} pai__json_reader;

static inline uint32_t pai__json_offset(const pai__json_reader *r,
                                        const char *p)
{
  return (uint32_t)(p - r->t->text);
}

static inline pai__pos pai__json_place(const pai__json_reader *r,
                                       const char *p)
{
  return pai__tree_pos(r->t, pai__json_offset(r, p));
}

/* Eight bytes from anywhere. */
static inline uint64_t pai__load8(const char *p)
{
  uint64_t w;

  memcpy(&w, p, sizeof(w));
  return w;
}

#define PAI__EVERY_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* Reads a string whose opening quote is at r->p. */
int pai__json_string(pai__json_reader *r, uint8_t flags);

#endif
