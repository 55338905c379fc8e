/*
 * inside.c - maps a byte of a text's value to the byte of the source
 *
 * Walks the source and the value side by side, line by line, and compares each
 * character.  A form that is not supported ends the walk rather than giving a
 * wrong place.
 */
#include "spec/scan/inside.h"

enum { FARTHEST = 64 << 10 }; /* limit of the bytes of a value to walk */

typedef struct walk {
  const char *p, *end; /* the source: the next byte */
  const char *value, *value_end;
  const char *v;    /* the next byte of the value */
  const char *goal; /* the byte of the value to find */
  size_t indent;    /* indentation of a block scalar */
  char quote;       /* '"', '\'', or '\0' if there is none */
  bool folded;      /* a line break may be a space */
} walk;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static bool is_break(char c)
{
  return c == '\n' || c == '\r';
}

/* Skips one line break. */
static void skip_break(walk *w)
{
  w->p += *w->p == '\r' && w->p[1] == '\n' ? 2 : 1;
}

/* --- characters --------------------------------------------------------- */

/* Returns how many bytes of UTF-8 an escape with that many hexadecimal digits
 * makes, or 0. */
static size_t hex_bytes(const char *p, size_t digits)
{
  unsigned long code = 0;

  for (size_t i = 0; i < digits; i++) {
    char c = p[i];
    unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                        : 16;

    if (d == 16)
      return 0;
    code = code << 4 | d;
  }
  if (code >= 0xd800 && code < 0xe000) /* half of a surrogate pair */
    return digits == 4 ? 2 : 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Skips an escape.  Returns false if it is not supported. */
static bool skip_escape(walk *w)
{
  char c = w->p[1];
  size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0, bytes;

  if (digits == 0) {
    bytes = c == 'N' || c == '_' ? 2 : c == 'L' || c == 'P' ? 3 : 1;
    w->p += 2;
  } else {
    if ((size_t)(w->end - w->p) < 2 + digits)
      return false;
    bytes = hex_bytes(w->p + 2, digits);
    w->p += 2 + digits;
  }
  if (bytes == 0 || (size_t)(w->value_end - w->v) < bytes)
    return false;
  w->v += bytes;
  return true;
}

/* Skips one character on both sides, which is no line break in the source. */
static bool skip_character(walk *w)
{
  if (w->quote == '"' && *w->p == '\\')
    return skip_escape(w);
  if (w->v == w->value_end || *w->p != *w->v)
    return false;
  w->p += w->quote == '\'' && *w->p == '\'' ? 2 : 1;
  w->v++;
  return true;
}

/* --- quoted and plain --------------------------------------------------- */

/* Skips the line break at w->p with the blanks around it.  In the value it is
 * a space, or one newline less than there are breaks. */
static bool skip_fold(walk *w)
{
  size_t breaks = 0;

  while (w->p < w->end && (is_blank(*w->p) || is_break(*w->p))) {
    if (is_blank(*w->p)) {
      w->p++;
      continue;
    }
    skip_break(w);
    breaks++;
  }
  if (breaks == 1)
    return w->v < w->value_end && *w->v++ == ' ';
  for (; breaks > 1; breaks--)
    if (w->v == w->value_end || *w->v++ != '\n')
      return false;
  return true;
}

/* Skips an escaped line break.  It has no character in the value, but empty
 * lines after it have. */
static bool skip_joint(walk *w)
{
  w->p++;
  skip_break(w);
  while (w->p < w->end && (is_blank(*w->p) || is_break(*w->p))) {
    if (is_blank(*w->p)) {
      w->p++;
      continue;
    }
    skip_break(w);
    if (w->v == w->value_end || *w->v++ != '\n')
      return false;
  }
  return true;
}

/* Skips blanks.  They are in the value unless they end a line. */
static bool skip_blanks(walk *w)
{
  const char *to = w->p;

  while (to < w->end && is_blank(*to))
    to++;
  if (to < w->end && is_break(*to))
    return skip_fold(w);
  while (w->p < to && w->v < w->goal)
    if (!skip_character(w))
      return false;
  return true;
}

static bool walk_flow(walk *w)
{
  while (w->v < w->goal && w->p < w->end)
    if (w->quote == '"' && *w->p == '\\' && is_break(w->p[1]) ? !skip_joint(w)
        : is_break(*w->p) || is_blank(*w->p)                  ? !skip_blanks(w)
                                             : !skip_character(w))
      return false;
  return w->v == w->goal;
}

/* --- block scalars ------------------------------------------------------ */

/* Returns the indentation of the first line with text: its spaces that are not
 * in the value. */
static size_t count_indent(const walk *w)
{
  const char *p = w->p, *v = w->value;
  size_t spaces = 0, kept = 0;

  while (p < w->end && (*p == ' ' || is_break(*p)))
    spaces = is_break(*p++) ? 0 : spaces + 1;
  while (v < w->value_end && (*v == ' ' || *v == '\n'))
    kept = *v++ == '\n' ? 0 : kept + 1;
  return kept <= spaces ? spaces - kept : 0;
}

static void skip_indent(walk *w)
{
  for (size_t n = 0; n < w->indent && w->p < w->end && *w->p == ' '; n++)
    w->p++;
}

/* Skips line breaks up to the next line with text.  In the value they are a
 * space or newlines. */
static bool skip_lines(walk *w)
{
  size_t breaks = 0;

  while (w->p < w->end && is_break(*w->p)) {
    skip_break(w);
    skip_indent(w);
    breaks++;
  }
  if (!w->folded) {
    for (; breaks > 0 && w->v < w->value_end; breaks--)
      if (*w->v++ != '\n')
        return false;
    return true;
  }
  if (breaks == 1 && w->v < w->value_end && *w->v == ' ' && *w->p != ' ')
    w->v++;
  else
    while (w->v < w->value_end && *w->v == '\n')
      w->v++;
  return true;
}

static bool walk_block(walk *w)
{
  /* skip the header and its comment */
  while (w->p < w->end && !is_break(*w->p))
    w->p++;
  skip_break(w);
  w->indent = count_indent(w);
  skip_indent(w);
  while (w->p < w->end && is_break(*w->p)) { /* leading empty lines */
    skip_break(w);
    skip_indent(w);
    if (w->v == w->value_end || *w->v++ != '\n')
      return false;
  }
  while (w->v < w->goal && w->p < w->end)
    if (is_break(*w->p) ? !skip_lines(w) : !skip_character(w))
      return false;
  return w->v == w->goal;
}

/* --- all ---------------------------------------------------------------- */

/* Returns the byte of the source for byte `at` of the value, or
 * PAI__NO_NODE. */
static uint32_t find_byte(const pai__tree *t, pai__node n, size_t at)
{
  const pai__tree_node *x = &t->nodes[n];
  int style = x->flags & PAI__STYLE;
  walk w = { .p = t->text + x->start, .end = t->text + x->end };
  bool there;

  if (x->type != PAI__STRING || at > x->u.s.len || at > FARTHEST ||
      x->start == x->end)
    return PAI__NO_NODE;
  w.v = w.value = t->strings + x->u.s.off;
  w.value_end = w.value + x->u.s.len;
  w.goal = w.value + at;
  if (style == PAI__LITERAL || style == PAI__FOLDED) {
    w.folded = style == PAI__FOLDED;
    there = walk_block(&w);
  } else {
    if (*w.p == '"' || *w.p == '\'')
      w.quote = *w.p++;
    there = walk_flow(&w);
  }
  return there ? (uint32_t)(w.p - t->text) : PAI__NO_NODE;
}

/* Returns the end of the tag at s, or of its line if the tag is not closed. */
static const char *tag_end(const char *s)
{
  const char *close = strstr(s, "%>"), *next = strstr(s + 1, "<%");

  if (close != NULL && (next == NULL || close < next))
    return close + 2;
  close = s + strcspn(s, "\n");
  while (close > s + 1 && is_blank(close[-1]))
    close--;
  return close;
}

bool pai__inside_tag(const pai__tree *t, pai__node n, size_t at,
                     uint32_t *start, uint32_t *end)
{
  size_t len;
  const char *s;

  if (t->nodes[n].type != PAI__STRING)
    return false;
  s = pai__tree_str(t, n, &len);
  if (at >= len)
    return false;
  *start = find_byte(t, n, at);
  *end = *start != PAI__NO_NODE
           ? find_byte(t, n, (size_t)(tag_end(s + at) - s))
           : PAI__NO_NODE;
  return *end != PAI__NO_NODE && *end > *start;
}
