/* fields_text.c - texts in bodies: names, addresses, numbers */
#include "server/http/body.h"

#include "base/text/number.h"

bool pai__pattern_fits(const pai__api_pattern *p, const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!p->has((unsigned char)text[i]))
      return false;
  return len > 0;
}

/* In UTF-16 units: characters from U+10000 on count twice. */
int64_t pai__count_utf16(const char *text, size_t len)
{
  int64_t n = 0;

  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    n += (c & 0xc0) != 0x80 ? (c >= 0xf0 ? 2 : 1) : 0;
  }
  return n;
}

static size_t count_digits(const char *text)
{
  return strspn(text, "0123456789");
}

/* Returns the length of the number at the start of a text, without its sign;
 * 0: none.  As in JavaScript, what follows is ignored. */
static size_t number_len(const char *text)
{
  size_t len = count_digits(text), more, power;

  more = text[len] == '.' ? count_digits(text + len + 1) : 0;
  if (more > 0)
    len += 1 + more;
  if (len == 0 || (text[len] | 32) != 'e')
    return len;
  power = text[len + 1] == '+' || text[len + 1] == '-' ? 2 : 1;
  more = count_digits(text + len + power);
  return more > 0 ? len + power + more : len;
}

bool pai__read_number(const char *text, double *out)
{
  bool minus;
  size_t len;

  text += strspn(text, " \t\r\n");
  minus = *text == '-';
  text += minus || *text == '+' ? 1 : 0;
  len = number_len(text);
  if (len == 0 || pai__parse_double(out, text, len) < 0)
    return false;
  *out = minus ? -*out : *out;
  return true;
}
