/* mail.c - checks mail addresses */
#include "base/text/mail.h"

static bool is_word(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool is_mail_name(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '.' ? i == 0 || i + 1 == len || text[i - 1] == '.'
                 : !is_word(c) && c < 0x80 &&
                     (c == '\0' || strchr("!#$%&'*+-/=?^`{|}~", c) == NULL))
      return false;
  }
  return len > 0 && len <= 64;
}

static bool is_domain(const char *text, size_t len)
{
  size_t label = 0;

  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    bool dash = c == '-';
    if (c == '.' && (label == 0 || text[i - 1] == '-'))
      return false;
    if (c != '.' && (c == '_' || (!is_word(c) && !dash && c < 0x80) ||
                     (dash && label == 0) || label == 63))
      return false;
    label = c == '.' ? 0 : label + 1;
  }
  return label > 0 && text[len - 1] != '-' && len <= 255;
}

bool pai__is_mail(const char *text, size_t len)
{
  const char *at = memchr(text, '@', len);
  size_t name = at != NULL ? (size_t)(at - text) : 0;

  return at != NULL && is_mail_name(text, name) &&
         is_domain(at + 1, len - name - 1);
}
