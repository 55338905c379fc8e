/* text_line.h - internal to the room: lines of a text without a tree */
#ifndef PAI_SRC_SPEC_SCAN_TEXT_LINE_H
#define PAI_SRC_SPEC_SCAN_TEXT_LINE_H

#include <stdint.h>

/* A line without its end, which is LF, CR LF or CR, as in libyaml. */
typedef struct pai__text_line {
  const char *start, *end, *next;
  uint32_t number; /* from 1 */
} pai__text_line;

static inline pai__text_line pai__text_line_at(const char *p, const char *end,
                                               uint32_t number)
{
  pai__text_line l = { p, p, p, number };

  while (l.end < end && *l.end != '\n' && *l.end != '\r')
    l.end++;
  l.next = l.end;
  if (l.next < end)
    l.next += *l.next == '\r' && l.next + 1 < end && l.next[1] == '\n' ? 2 : 1;
  return l;
}

/* Returns the first byte after leading spaces and tabs. */
static inline const char *pai__text_line_begin(const pai__text_line *l)
{
  const char *p = l->start;

  while (p < l->end && (*p == ' ' || *p == '\t'))
    p++;
  return p;
}

#endif
