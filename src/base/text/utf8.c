/* utf8.c - UTF-8 by table 3-7 of the Unicode standard */
#include "base/text/utf8.h"

static bool is_tail(unsigned char c)
{
  return (c & 0xc0) == 0x80;
}

size_t pai__utf8_len(const char *s, size_t left)
{
  const unsigned char *p = (const unsigned char *)s;
  unsigned char c = p[0];

  if (c < 0x80)
    return 1;
  if (c < 0xc2 || left < 2 || !is_tail(p[1]))
    return 0;
  if (c < 0xe0)
    return 2;
  if (left < 3 || !is_tail(p[2]))
    return 0;
  if (c < 0xf0) {
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
      return 0;
    return 3;
  }
  if (c > 0xf4 || left < 4 || !is_tail(p[3]))
    return 0;
  if ((c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
    return 0;
  return 4;
}

size_t pai__utf8_bad(const char *s, size_t left)
{
  char whole[4] = { 0 };

  /* A prefix is valid if some continuation makes it a character. */
  for (size_t n = left < 3 ? left : 3; n > 1; n--) {
    memcpy(whole, s, n);
    memset(whole + n, 0x80, sizeof(whole) - n);
    if (pai__utf8_len(whole, sizeof(whole)) > n)
      return n;
  }
  return 1;
}

uint32_t pai__utf8_get(const char *s, size_t n)
{
  static const unsigned char lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
  const unsigned char *p = (const unsigned char *)s;
  uint32_t c = p[0] & lead_bits[n];

  for (size_t i = 1; i < n; i++)
    c = c << 6 | (p[i] & 0x3f);
  return c;
}

size_t pai__utf8_put(char *dst, uint32_t c)
{
  static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

  for (size_t i = n; i-- > 1; c >>= 6)
    dst[i] = (char)(0x80 | (c & 0x3f));
  dst[0] = (char)(lead[n] | c);
  return n;
}

void pai__defuse(char *text)
{
  for (; *text != '\0'; text++)
    if (pai__is_control(text, 1))
      *text = '?';
    else if (pai__is_control(text, text[1] != '\0' ? 2 : 1))
      text[0] = text[1] = '?';
}

const char *pai__excerpt(char out[PAI__EXCERPT], const char *s, size_t len)
{
  size_t at = 0;

  for (size_t i = 0; i < len;) {
    size_t n = pai__utf8_len(s + i, len - i);
    bool plain = n > 0 && !pai__is_control(s + i, n);

    if (at + 8 > PAI__EXCERPT) {
      memcpy(out + at, "...", 3);
      at += 3;
      break;
    }
    memcpy(out + at, plain ? s + i : "?", plain ? n : 1);
    at += plain ? n : 1;
    i += n != 0 ? n : 1;
  }
  out[at] = '\0';
  return out;
}
