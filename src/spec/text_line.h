/* text_line.h - internal to the room: the lines of a text that is no document */
#ifndef PAI_SRC_SPEC_TEXT_LINE_H
#define PAI_SRC_SPEC_TEXT_LINE_H

#include <stdint.h>

/* A line, without its end: LF, CR LF or CR, as libyaml has them. */
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

/* Behind the spaces and tabs that it begins with. */
static inline const char *pai__text_line_begin(const pai__text_line *l)
{
  const char *p = l->start;

  while (p < l->end && (*p == ' ' || *p == '\t'))
    p++;
  return p;
}

#endif
