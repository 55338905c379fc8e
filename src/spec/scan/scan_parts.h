/* scan_parts.h - internal to scan*.c: state of a scan */
#ifndef PAI_SRC_SPEC_SCAN_SCAN_PARTS_H
#define PAI_SRC_SPEC_SCAN_SCAN_PARTS_H

#include "spec/edit/gap.h"
#include "spec/scan/scan.h"

enum { PAI__SCAN_DEEPEST = 1000 };

typedef enum pai__scan_state {
  PAI__WANT_KEY,
  PAI__HAVE_KEY,
  PAI__WANT_VALUE,
  PAI__HAVE_VALUE
} pai__scan_state;

/* An open collection. */
typedef struct pai__scan_frame {
  bool list, flow;
  pai__scan_state state;
  size_t indent;       /* of a block: the column of its keys or dashes */
  size_t key, key_end; /* of a mapping: the last key */
  uint32_t index;      /* of a list: the last item */
} pai__scan_frame;

typedef struct pai__scanner {
  const pai__tree *t;
  const char *text;
  size_t len;
  size_t goal; /* the byte to find */
  pai__spec_scan *out;
  pai__scan_frame *frames;
  size_t depth, cap;
  bool done, failed;
} pai__scanner;

static inline pai__scan_frame *pai__scan_top(const pai__scanner *s)
{
  return s->depth > 0 ? &s->frames[s->depth - 1] : NULL;
}

static inline bool pai__scan_one_of(char c, const char *set)
{
  return c != '\0' && strchr(set, c) != NULL;
}

/* Opens a collection, as a value of the innermost open one. */
void pai__scan_push(pai__scanner *s, bool list, bool flow, size_t indent);

/* scan_end.c: ends the scan, with the goal in a key, in a value, or in space.
 * The pointer is that of the innermost open collection, with its last key or
 * item unless `entry` is false. */
void pai__scan_on_key(pai__scanner *s);
void pai__scan_on_value(pai__scanner *s, size_t start, size_t end,
                        unsigned may);
void pai__scan_in_space(pai__scanner *s, bool entry, unsigned may);

/* Returns the byte after the quote that ends a text, or the end of its
 * line. */
size_t pai__scan_quoted(const pai__scanner *s, size_t at);
bool pai__scan_is_comment(const pai__scanner *s, size_t at);

/* scan_flow.c: scans brackets from a byte on.  Returns the byte after them, or
 * the end of the text. */
size_t pai__scan_flow(pai__scanner *s, size_t at);

#endif
