/* lines.c - where lines begin; positions of the protocol to bytes and back */
#include "language/lines.h"

#include "base/text/utf8.h"

void pai__language_lines_dispose(pai__language_lines *lines,
                                 const pai_alloc *alloc)
{
  pai__free(alloc, lines->starts, lines->cap * sizeof(*lines->starts));
  *lines = (pai__language_lines){ 0 };
}

static void forget_cursors(pai__language_lines *lines)
{
  memset(lines->cursors, 0, sizeof(lines->cursors));
}

/* Returns whether a line begins at byte `at`, which is not the first. */
static bool begins(const char *text, size_t len, size_t at)
{
  return text[at - 1] == '\n' ||
         (text[at - 1] == '\r' && !(at < len && text[at] == '\n'));
}

/* Adds the lines that begin in bytes (from, to], of which there is room for
 * all. */
static void add_lines(pai__language_lines *lines, const char *text, size_t len,
                      size_t from, size_t to)
{
  for (size_t at = from + 1; at <= to; at++)
    if (begins(text, len, at))
      lines->starts[lines->count++] = at;
}

static size_t count_lines(const char *text, size_t len, size_t from, size_t to)
{
  size_t count = 0;

  for (size_t at = from + 1; at <= to; at++)
    count += begins(text, len, at);
  return count;
}

static int reserve(pai__language_lines *lines, const pai_alloc *alloc,
                   size_t count)
{
  size_t cap = count + count / 4 + 16;
  size_t *more;

  if (count <= lines->cap)
    return PAI_OK;
  more = pai__realloc(alloc, lines->starts, lines->cap, cap, sizeof(*more));
  if (more == NULL)
    return PAI_ENOMEM;
  lines->starts = more;
  lines->cap = cap;
  return PAI_OK;
}

int pai__language_lines_read(pai__language_lines *lines,
                             const pai_alloc *alloc, const char *text,
                             size_t len)
{
  if (reserve(lines, alloc, 1 + count_lines(text, len, 0, len)) < 0)
    return PAI_ENOMEM;
  forget_cursors(lines);
  lines->count = 1;
  lines->starts[0] = 0;
  add_lines(lines, text, len, 0, len);
  return PAI_OK;
}

size_t pai__language_lines_find(const pai__language_lines *lines,
                                size_t offset)
{
  size_t low = 0, high = lines->count;

  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;

    if (lines->starts[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Reads again from the line of the byte before the change, whose line end may
 * have become half of CR LF, to the line after the byte behind it. */
int pai__language_lines_replace(pai__language_lines *lines,
                                const pai_alloc *alloc, const char *text,
                                size_t len, size_t old_len, size_t start,
                                size_t end)
{
  size_t first =
    pai__language_lines_find(lines, start > 0 ? start - 1 : 0) + 1;
  size_t last =
    pai__language_lines_find(lines, end < old_len ? end + 1 : old_len) + 1;
  size_t after = lines->count - last, from = lines->starts[first - 1], to;
  size_t found;

  /* Unsigned numbers wrap around, so a shorter text is the same. */
  to = (after > 0 ? lines->starts[last] - 1 : old_len) + len - old_len;
  found = count_lines(text, len, from, to);
  if (reserve(lines, alloc, first + found + after) < 0)
    return PAI_ENOMEM;
  memmove(lines->starts + first + found, lines->starts + last,
          after * sizeof(*lines->starts));
  lines->count = first;
  add_lines(lines, text, len, from, to);
  for (size_t i = 0; i < after; i++)
    lines->starts[lines->count++] += len - old_len;
  forget_cursors(lines);
  return PAI_OK;
}

/* Length of the character at s in bytes; an invalid byte is a character. */
static size_t bytes_of(const char *s, size_t left)
{
  size_t n = (unsigned char)*s < 0x80 ? 1 : pai__utf8_len(s, left);

  return n > 0 ? n : 1;
}

static size_t units_of(enum pai__language_unit unit, size_t bytes)
{
  if (unit == PAI__UNIT_UTF8)
    return bytes;
  return unit == PAI__UNIT_UTF16 && bytes == 4 ? 2 : 1;
}

size_t pai__language_lines_end(const pai__language_lines *lines,
                               const char *text, size_t len, size_t line)
{
  size_t begin = lines->starts[line];
  size_t end = line + 1 < lines->count ? lines->starts[line + 1] : len;

  if (line + 1 < lines->count) {
    end--;
    if (end > begin && text[end] == '\n' && text[end - 1] == '\r')
      end--;
  }
  return end;
}

/* Returns where to begin in a line: its start, or a place before the wanted
 * one. */
static pai__language_cursor *cursor_in(pai__language_lines *lines,
                                       enum pai__language_unit unit,
                                       size_t line, size_t offset,
                                       size_t units)
{
  pai__language_cursor *c = &lines->cursors[unit];

  if (c->line != line || c->offset > offset || c->units > units ||
      c->offset < lines->starts[line])
    *c = (pai__language_cursor){ line, lines->starts[line], 0 };
  return c;
}

/* Moves a cursor on to the last character that begins not after the place. */
static void advance(pai__language_cursor *c, const char *text, size_t end,
                    enum pai__language_unit unit, size_t offset, size_t units)
{
  while (c->offset < end) {
    size_t n = bytes_of(text + c->offset, end - c->offset);
    size_t more = units_of(unit, n);

    if (c->offset + n > offset || c->units + more > units)
      return;
    c->offset += n;
    c->units += more;
  }
}

size_t pai__language_lines_offset(pai__language_lines *lines, const char *text,
                                  size_t len, enum pai__language_unit unit,
                                  pai__language_position at)
{
  pai__language_cursor *c;

  if (at.line >= lines->count)
    return len;
  c = cursor_in(lines, unit, at.line, SIZE_MAX, at.character);
  advance(c, text, pai__language_lines_end(lines, text, len, at.line), unit,
          SIZE_MAX, at.character);
  return c->offset;
}

pai__language_position pai__language_lines_position(
  pai__language_lines *lines, const char *text, size_t len,
  enum pai__language_unit unit, size_t offset)
{
  size_t line = pai__language_lines_find(lines, offset);
  pai__language_cursor *c = cursor_in(lines, unit, line, offset, SIZE_MAX);

  advance(c, text, pai__language_lines_end(lines, text, len, line), unit,
          offset, SIZE_MAX);
  return (pai__language_position){ (uint32_t)line, (uint32_t)c->units };
}
