/* frame.c - splits what arrives into messages */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

char *frame_room(frame_reader *f, size_t size)
{
  size_t cap = f->cap;
  char *more;

  if (f->at > 0) {
    memmove(f->bytes, f->bytes + f->at, f->len - f->at);
    f->len -= f->at;
    f->at = 0;
  }
  while (cap - f->len < size)
    cap = cap > 0 ? cap * 2 : 16384;
  if (cap != f->cap) {
    more = realloc(f->bytes, cap);
    if (more == NULL)
      return NULL;
    f->bytes = more;
    f->cap = cap;
  }
  return f->bytes + f->len;
}

void frame_add(frame_reader *f, size_t n)
{
  f->len += n;
}

void frame_free(frame_reader *f)
{
  free(f->bytes);
  *f = (frame_reader){ 0 };
}

/* Returns the end of the header, behind its empty line; 0: it is not here. */
static size_t find_end(const char *s, size_t len)
{
  for (size_t i = 3; i < len; i++)
    if (s[i] == '\n' && s[i - 1] == '\r' && s[i - 2] == '\n' &&
        s[i - 3] == '\r')
      return i + 1;
  return 0;
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Whether a line is the field of that name, in lower case with its colon. */
static bool is_field(const char *line, size_t len, const char *name)
{
  size_t n = strlen(name);

  for (size_t i = 0; i < n; i++)
    if (i >= len || lower(line[i]) != name[i])
      return false;
  return true;
}

static bool read_length(const char *s, const char *end, size_t *out)
{
  size_t n = 0;
  bool any = false;

  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  for (; s < end && *s >= '0' && *s <= '9' && n <= FRAME_MOST; s++) {
    n = n * 10 + (size_t)(*s - '0');
    any = true;
  }
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  *out = n;
  return any && s == end && n <= FRAME_MOST;
}

/* Finds the length in a header. */
static bool read_header(const char *s, size_t len, size_t *out)
{
  static const char name[] = "content-length:";
  const char *end = s + len;
  bool found = false;

  while (s < end) {
    const char *line = s, *stop = memchr(s, '\r', (size_t)(end - s));

    if (stop == NULL)
      return false;
    if (is_field(line, (size_t)(stop - line), name)) {
      if (found || !read_length(line + sizeof(name) - 1, stop, out))
        return false;
      found = true;
    }
    s = stop + 2;
  }
  return found;
}

int frame_take(frame_reader *f, const char **message, size_t *len)
{
  const char *s = f->bytes + f->at;
  size_t left = f->len - f->at, head, body;

  if (left == 0)
    return 0;
  head = find_end(s, left < FRAME_HEADER ? left : FRAME_HEADER);
  if (head == 0)
    return left < FRAME_HEADER ? 0 : -1;
  if (!read_header(s, head, &body))
    return -1;
  if (left - head < body)
    return 0;
  *message = s + head;
  *len = body;
  f->at += head + body;
  return 1;
}
