/* fields_text.c - what texts in a body are: names, addresses, numbers */
#include "server/body.h"

#include "base/number.h"

static bool is_word(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool is_user(unsigned char c)
{
  return is_word(c) || c == '.' || c == '-';
}

static bool is_no_comma(unsigned char c)
{
  return c != ',';
}

const pai__pattern pai__user_pattern = { is_user, "^[\\w.-]+$", NULL };
const pai__pattern pai__group_pattern = {
  is_word, "^[A-Za-z0-9_]+$",
  "must only contain alpha-numeric and underscore characters"
};
const pai__pattern pai__no_comma_pattern = { is_no_comma, "^[^,]+$", NULL };

bool pai__pattern_fits(const pai__pattern *p, const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!p->has((unsigned char)text[i]))
      return false;
  return len > 0;
}

/* As JavaScript counts them: two for what lies beyond the first 65,536. */
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

/* How long the number is that a text begins with, without its sign; 0: with
 * none.  As JavaScript: what follows is passed over. */
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
