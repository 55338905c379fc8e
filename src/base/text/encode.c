/* encode.c - base64, hexadecimal digits, escapes of URLs and HTML pages */
#include "base/text/encode.h"

static const char digits[] =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/* `last` has the digits 62 and 63. */
static void put_base64(pai__buf *out, const void *bytes, size_t len,
                       const char last[2], bool padded)
{
  const unsigned char *p = bytes;

  for (size_t i = 0; i < len; i += 3) {
    uint32_t bits = 0;

    for (size_t k = 0; k < 3; k++)
      bits = bits << 8 | (i + k < len ? p[i + k] : 0);
    for (size_t k = 0; k < 4; k++) {
      unsigned digit = bits >> (18 - 6 * k) & 63;

      if (i + k <= len)
        pai__buf_char(out, digit < 62 ? digits[digit] : last[digit - 62]);
      else if (padded)
        pai__buf_char(out, '=');
    }
  }
}

void pai__put_base64(pai__buf *out, const void *bytes, size_t len)
{
  put_base64(out, bytes, len, "+/", true);
}

void pai__base64url(pai__buf *out, const void *bytes, size_t len)
{
  put_base64(out, bytes, len, "-_", false);
}

static int digit_of(char c)
{
  const char *at = c != '\0' ? strchr(digits, c) : NULL;

  return at != NULL ? (int)(at - digits) : c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool pai__base64url_read(pai__buf *out, const char *text, size_t len)
{
  uint32_t v = 0;
  unsigned bits = 0;

  if (len % 4 == 1)
    return false;
  for (size_t i = 0; i < len; i++) {
    int digit = digit_of(text[i]);

    if (digit < 0)
      return false;
    v = (v << 6 | (uint32_t)digit) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      pai__buf_char(out, (char)(v >> bits & 255));
    }
  }
  return (v & ((1U << bits) - 1)) == 0;
}

void pai__put_hex(char *out, const void *bytes, size_t len)
{
  const unsigned char *p = bytes;

  for (size_t i = 0; i < len; i++) {
    *out++ = "0123456789abcdef"[p[i] >> 4];
    *out++ = "0123456789abcdef"[p[i] & 15];
  }
  *out = '\0';
}

void pai__put_escaped(pai__buf *out, const char *text, const char *more)
{
  for (; *text != '\0'; text++)
    if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
        (*text >= '0' && *text <= '9') || strchr("-_.~", *text) != NULL ||
        strchr(more, *text) != NULL)
      pai__buf_char(out, *text);
    else
      pai__buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
}

static int digit(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

void pai__put_unescaped(pai__buf *out, const char *text)
{
  for (; *text != '\0'; text++) {
    int high = text[0] == '%' ? digit(text[1]) : -1,
        low = high >= 0 ? digit(text[2]) : -1;

    if (low >= 0 && high + low > 0) {
      pai__buf_char(out, (char)(high * 16 + low));
      text += 2;
    } else {
      pai__buf_char(out, *text);
    }
  }
}

void pai__put_html(pai__buf *out, const char *text)
{
  for (; *text != '\0'; text++)
    switch (*text) {
    case '&': pai__buf_str(out, "&amp;"); break;
    case '<': pai__buf_str(out, "&lt;"); break;
    case '>': pai__buf_str(out, "&gt;"); break;
    case '"': pai__buf_str(out, "&quot;"); break;
    case '\'': pai__buf_str(out, "&#39;"); break;
    default: pai__buf_char(out, *text);
    }
}
