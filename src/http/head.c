/* head.c - parses the head of an answer, as far as an upgrade needs it;
 * pure */
#include "http/http.h"

enum { MOST_HEAD = 16 << 10 };

/* Returns the value of a header line of this name, ignoring case; or NULL. */
static const char *value_of(const char *line, const char *end,
                            const char *name)
{
  size_t n = strlen(name);

  if ((size_t)(end - line) <= n || line[n] != ':')
    return NULL;
  for (size_t i = 0; i < n; i++)
    if ((line[i] | 32) != name[i])
      return NULL;
  line += n + 1;
  while (line < end && (*line == ' ' || *line == '\t'))
    line++;
  return line;
}

static bool is_word(const char *value, const char *end, const char *word)
{
  size_t n = strlen(word);

  while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  if ((size_t)(end - value) != n)
    return false;
  for (size_t i = 0; i < n; i++)
    if ((value[i] | 32) != (word[i] | 32))
      return false;
  return true;
}

/* Returns -1 if it is not a number. */
static int64_t number(const char *value, const char *end)
{
  int64_t n = 0;

  if (value == end)
    return -1;
  for (; value < end && *value != ' ' && *value != '\t'; value++) {
    if (*value < '0' || *value > '9' || n > INT32_MAX)
      return -1;
    n = n * 10 + (*value - '0');
  }
  return n;
}

/* "HTTP/1.1 101 Switching Protocols" */
static bool read_status(pai__http_head *out, const char *line, const char *end)
{
  if (end - line < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
    return false;
  out->status = (int)number(line + 9, line + 12);
  return out->status >= 100 && (end - line == 12 || line[12] == ' ');
}

static bool read_line(pai__http_head *out, const char *line, const char *end,
                      const char *protocol)
{
  const char *value = value_of(line, end, "content-length");

  if (value != NULL) {
    out->length = number(value, end);
    return out->length >= 0;
  }
  value = value_of(line, end, "upgrade");
  if (value != NULL && is_word(value, end, protocol))
    out->upgraded = true;
  return true;
}

long pai__http_read_head(pai__http_head *out, const char *bytes, size_t len,
                         const char *protocol)
{
  const char *line = bytes, *last = bytes + len;
  bool first = true;

  *out = (pai__http_head){ .length = -1 };
  while (line < last) {
    const char *newline = memchr(line, '\n', (size_t)(last - line)),
               *end = newline;

    if (newline == NULL)
      break;
    if (end > line && end[-1] == '\r')
      end--;
    if (end == line && !first) {
      out->upgraded = out->upgraded && out->status == 101;
      return newline + 1 - bytes;
    }
    if (first ? !read_status(out, line, end)
              : !read_line(out, line, end, protocol))
      return -1;
    first = false;
    line = newline + 1;
  }
  return len > MOST_HEAD ? -1 : 0;
}
