/* reader.h - state of the JSON parser */
#ifndef PAI_SRC_JSON_READER_H
#define PAI_SRC_JSON_READER_H

#include "json/json.h"

typedef struct pai__json_reader {
  pai__tree *t;
  const char *p;   /* the next byte to parse */
  const char *end; /* end of the text; NULs follow, so *p may always be read */
  char *to;        /* where the next string is stored */
  pai__node open;  /* the innermost open collection, or PAI__NO_NODE; its
                      parent is in its skip */
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

/* Loads eight bytes from an address of any alignment. */
static inline uint64_t pai__load8(const char *p)
{
  uint64_t w;

  memcpy(&w, p, sizeof(w));
  return w;
}

#define PAI__EVERY_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* Parses a string; r->p is at its opening quote. */
int pai__json_read_string(pai__json_reader *r, uint8_t flags);

#endif
