/*
 * text.c - chooses and writes the YAML form of a text: plain, quoted, literal
 */
#include "yaml/writer.h"
#include "base/text/utf8.h"

/* Words that some version of YAML reads as null or a truth value, in lower
 * case.  Some readers ignore case. */
static const char *const reserved[] = { "null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n",   "<<" };

/* Properties of a text that limit its forms. */
typedef struct facts {
  bool breaks;  /* has line feeds */
  bool escapes; /* has characters that only double quotes can express */
  bool tabs;
  bool ends;  /* begins or ends with a space */
  bool marks; /* has ": " or " #", or ends with ':' */
} facts;

/* Returns whether every reader accepts a character outside of double
 * quotes. */
static bool is_printable(uint32_t c)
{
  return c >= ' ' && (c < 0x7f || c >= 0xa0) && c != 0x2028 && c != 0x2029 &&
         c != 0xfeff && c != 0xfffe && c != 0xffff;
}

static facts look(const char *s, size_t len)
{
  facts f = { 0 };

  for (size_t i = 0; i < len;) {
    size_t n = pai__utf8_len(s + i, len - i);
    char next = i + 1 < len ? s[i + 1] : ' ';

    if (s[i] == '\n')
      f.breaks = true;
    else if (s[i] == '\t')
      f.tabs = true;
    else if (n == 0 || !is_printable(pai__utf8_get(s + i, n)))
      f.escapes = true;
    f.marks = f.marks || (s[i] == ':' && (next == ' ' || next == '\t')) ||
              ((s[i] == ' ' || s[i] == '\t') && next == '#');
    i += n != 0 ? n : 1;
  }
  f.ends = len != 0 && (s[0] == ' ' || s[len - 1] == ' ');
  return f;
}

static bool is_reserved(const char *s, size_t len)
{
  for (size_t i = 0; i < PAI__LEN(reserved); i++) {
    size_t n = 0;
    while (n < len &&
           (s[n] | (s[n] >= 'A' && s[n] <= 'Z' ? 0x20 : 0)) == reserved[i][n])
      n++;
    if (n == len && reserved[i][n] == '\0')
      return true;
  }
  return false;
}

static bool is_letter(char c)
{
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Returns whether a text that begins with a digit is neither a number nor a
 * date: it has a letter that occurs in none. */
static bool is_wordy(const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (is_letter(s[i]) && strchr("abcdefotxz", s[i] | 0x20) == NULL)
      return true;
  return false;
}

/* Returns whether the first character can only begin plain text. */
static bool starts_plain(const char *s, size_t len)
{
  char c = s[0];

  if (c >= '0' && c <= '9')
    return is_wordy(s, len);
  if (c == '.')
    return (len > 1 && s[1] == '/') || (len > 2 && s[1] == '.' && s[2] == '/');
  return is_letter(c) || (unsigned char)c >= 0x80 ||
         (c != '\0' && strchr("_/$(<;^\\", c) != NULL);
}

/* Returns whether a literal block can hold the text.  It must not consist of
 * line feeds only. */
static bool is_literal(const char *s, size_t len, const facts *f,
                       bool *indicator)
{
  size_t first = 0; /* start of the first line that is not empty */

  while (first < len && s[first] == '\n')
    first++;
  *indicator = first < len && (s[first] == ' ' || s[first] == '\t');
  return first < len && !f->escapes;
}

bool pai__yaml_can_be_literal(const char *s, size_t len, bool *indicator)
{
  facts f = look(s, len);

  return is_literal(s, len, &f, indicator);
}

pai__yaml_form pai__yaml_choose_form(const char *s, size_t len,
                                     bool *indicator)
{
  facts f = look(s, len);

  if (f.breaks && is_literal(s, len, &f, indicator))
    return PAI__FORM_LITERAL;
  *indicator = false;
  if (f.escapes || f.breaks || f.tabs)
    return PAI__FORM_DOUBLE;
  if (len != 0 && !f.ends && !f.marks && starts_plain(s, len) &&
      !is_reserved(s, len))
    return PAI__FORM_PLAIN;
  return PAI__FORM_SINGLE;
}

static void put_single(pai__buf *out, const char *s, size_t len)
{
  pai__buf_char(out, '\'');
  for (size_t from = 0, i = 0; i <= len; i++) {
    if (i < len && s[i] != '\'')
      continue;
    pai__buf_add(out, s + from, i - from);
    pai__buf_str(out, i < len ? "''" : "'");
    from = i + 1;
  }
}

static void put_escape(pai__buf *out, uint32_t c)
{
  static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
  const char *found = c != 0 && c < 0x80 ? strchr(from, (int)c) : NULL;

  if (found != NULL)
    pai__buf_printf(out, "\\%c", to[found - from]);
  else if (c < 0x100)
    pai__buf_printf(out, "\\x%02X", (unsigned)c);
  else
    pai__buf_printf(out, "\\u%04X", (unsigned)c);
}

static void put_double(pai__buf *out, const char *s, size_t len)
{
  pai__buf_char(out, '"');
  for (size_t i = 0; i < len;) {
    size_t n = pai__utf8_len(s + i, len - i);
    uint32_t c = n != 0 ? pai__utf8_get(s + i, n) : 0xfffd;

    if (n == 0)
      pai__buf_str(out, "\xef\xbf\xbd");
    else if (c == '"' || c == '\\' || !is_printable(c))
      put_escape(out, c);
    else
      pai__buf_add(out, s + i, n);
    i += n != 0 ? n : pai__utf8_bad(s + i, len - i);
  }
  pai__buf_char(out, '"');
}

void pai__yaml_put_line(pai__buf *out, const char *s, size_t len,
                        pai__yaml_form form)
{
  if (form == PAI__FORM_PLAIN)
    pai__buf_add(out, s, len);
  else if (form == PAI__FORM_SINGLE)
    put_single(out, s, len);
  else
    put_double(out, s, len);
}

/* --- literal blocks ----------------------------------------------------- */

void pai__yaml_put_header(pai__buf *out, const char *s, size_t len,
                          bool indicator)
{
  pai__buf_char(out, '|');
  if (indicator)
    pai__buf_char(out, '2');
  if (s[len - 1] != '\n')
    pai__buf_char(out, '-');
  else if (s[len - 2] == '\n') /* safe: the text is not only line feeds */
    pai__buf_char(out, '+');
}

void pai__yaml_put_lines(pai__buf *out, const char *s, size_t len,
                         size_t column)
{
  while (len != 0) {
    const char *eol = memchr(s, '\n', len);
    size_t n = eol != NULL ? (size_t)(eol - s) : len;

    for (size_t i = 0; n != 0 && i < column; i++)
      pai__buf_char(out, ' ');
    pai__buf_add(out, s, n);
    pai__buf_char(out, '\n');
    n += eol != NULL;
    s += n;
    len -= n;
  }
}
