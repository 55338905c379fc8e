/*
 * strings.c - parser of JSON strings
 *
 * Strings are copied eight bytes at a time into memory that was reserved at
 * once: a decoded string with its NUL is never longer than its source.
 */
#include "json/reader.h"
#include "base/text/utf8.h"

#define HIGH_BITS PAI__EVERY_BYTE(0x80u)

static int hex4(const char *p, uint32_t *value)
{
  *value = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    uint32_t digit;
    if (c >= '0' && c <= '9')
      digit = (uint32_t)(c - '0');
    else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
      digit = (uint32_t)((c | 0x20) - 'a') + 10;
    else
      return PAI_EINVAL;
    *value = *value << 4 | digit;
  }
  return PAI_OK;
}

/* Decodes "\uXXXX" or a surrogate pair. */
static int read_unicode(pai__json_reader *r)
{
  uint32_t c, low;

  if (hex4(r->p + 2, &c) < 0)
    return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                        "\\u needs four hexadecimal digits");
  if (c >= 0xd800 && c < 0xe000) {
    if (c >= 0xdc00 || r->p[6] != '\\' || r->p[7] != 'u' ||
        hex4(r->p + 8, &low) < 0 || low < 0xdc00 || low >= 0xe000)
      return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                          "\\u%04x is half of a surrogate pair", (unsigned)c);
    c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    r->p += 6;
  }
  r->p += 6;
  r->to += pai__utf8_put(r->to, c);
  return PAI_OK;
}

static int read_escape(pai__json_reader *r)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *found;

  if (r->p[1] == 'u')
    return read_unicode(r);
  found = r->p[1] != '\0' ? strchr(from, r->p[1]) : NULL;
  if (found == NULL) {
    int rc = pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                          "unknown escape in a string");
    pai__error_help(r->err, "write a backslash as \\\\");
    return rc;
  }
  *r->to++ = to[found - from];
  r->p += 2;
  return PAI_OK;
}

/* Handles what ends the fast path: one escape, one character that is not
 * ASCII, or an error. */
static int read_special(pai__json_reader *r, const char *start)
{
  unsigned char c = (unsigned char)*r->p;
  size_t n;

  if (c == '\\')
    return read_escape(r);
  if (r->p >= r->end)
    return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, start),
                        "the string has no end");
  if (c < ' ') {
    int rc = pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                          "control character U+%04X in a string", c);
    if (c == '\n' || c == '\r')
      pai__error_help(r->err, "end the string on its line, or write \\n");
    else
      pai__error_help(r->err, "write it as \\u%04x", c);
    return rc;
  }
  n = pai__utf8_len(r->p, (size_t)(r->end - r->p));
  if (n == 0)
    return pai__fail_at(r->err, PAI_EINVAL, pai__json_place(r, r->p),
                        "byte 0x%02x is not UTF-8", c);
  memcpy(r->to, r->p, n);
  r->to += n;
  r->p += n;
  return PAI_OK;
}

/* Marks the bytes that end the fast path by their high bits: quotes,
 * backslashes, control characters and bytes that are not ASCII. */
static uint64_t special_bytes(uint64_t w)
{
  uint64_t quote = w ^ PAI__EVERY_BYTE('"'), slash = w ^ PAI__EVERY_BYTE('\\');

  /* Only the lowest mark is exact, and only that one is used. */
  return ((w - PAI__EVERY_BYTE(' ')) | (quote - PAI__EVERY_BYTE(1u)) |
          (slash - PAI__EVERY_BYTE(1u)) | w) &
         HIGH_BITS;
}

/* Returns the number of bytes before the first marked one. */
static size_t first_marked(uint64_t mask)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (size_t)__builtin_ctzll(mask) / 8;
#else
  unsigned char bytes[8];
  size_t i = 0;

  memcpy(bytes, &mask, sizeof(mask));
  while ((bytes[i] & 0x80) == 0)
    i++;
  return i;
#endif
}

/* Copies a string from the byte after its opening quote to its closing quote,
 * which it skips. */
static int copy_string(pai__json_reader *r)
{
  const char *start = r->p - 1;

  for (;;) {
    uint64_t w = pai__load8(r->p), mask = special_bytes(w);

    memcpy(r->to, &w, sizeof(w));
    if (mask == 0) {
      r->p += 8;
      r->to += 8;
      continue;
    }
    r->p += first_marked(mask);
    r->to += first_marked(mask);
    if (*r->p == '"')
      break;
    int rc = read_special(r, start);
    if (rc < 0)
      return rc;
  }
  r->p++;
  *r->to = '\0';
  return PAI_OK;
}

int pai__json_read_string(pai__json_reader *r, uint8_t flags)
{
  uint32_t start = pai__json_offset(r, r->p);
  char *text = r->to;
  pai__tree_node *n;
  int rc;

  r->p++;
  rc = copy_string(r);
  if (rc < 0)
    return rc;
  n = pai__tree_push(r->t, PAI__STRING, start, pai__json_offset(r, r->p));
  if (n == NULL)
    return pai__oom(r->err);
  n->flags = flags;
  n->u.s.off = (uint32_t)(text - r->t->strings);
  n->u.s.len = (uint32_t)(r->to - text);
  r->to++;
  return PAI_OK;
}
