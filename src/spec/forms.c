/* forms.c - forms of names and other texts */
#include "spec/dependency.h"
#include "spec/rules.h"

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Returns whether a text is not empty, and has only letters, digits and
 * characters of `more`. */
static bool all_of(const char *s, size_t len, const char *more)
{
  for (size_t i = 0; i < len; i++)
    if (!is_letter(s[i]) && !is_digit(s[i]) &&
        (s[i] == '\0' || strchr(more, s[i]) == NULL))
      return false;
  return len > 0;
}

static bool has_word(const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (is_letter(s[i]) || is_digit(s[i]) || s[i] == '_')
      return true;
  return false;
}

/* Returns whether a path is below /tmp, without "." and ".." in it. */
static bool is_below_tmp(const char *s, size_t len)
{
  static const char top[] = "/tmp";
  size_t at = sizeof(top) - 1;

  if (len <= at || len >= 4096 || strncmp(s, top, at) != 0)
    return false;
  while (at < len) {
    const char *part = s + at + 1;
    const char *end =
      s[at] == '/' ? memchr(part, '/', (size_t)(s + len - part)) : part;
    size_t n = (size_t)((end != NULL ? end : s + len) - part);

    if (n == 0 || (n <= 2 && strncmp(part, "..", n) == 0) ||
        memchr(part, '\n', n) != NULL)
      return false;
    at += 1 + n;
  }
  return true;
}

bool pai__form_fits(enum pai__spec_form form, const char *s, size_t len)
{
  pai__dependency dependency;

  switch (form) {
  case PAI__FORM_ANY: return true;
  case PAI__FORM_JOB: return all_of(s, len, "_-");
  case PAI__FORM_IDENT: return all_of(s, len, "_") && !is_digit(*s);
  case PAI__FORM_SKU: return all_of(s, len, "._~");
  case PAI__FORM_V1_JOB: return all_of(s, len, "._-");
  case PAI__FORM_HAS_WORD: return has_word(s, len);
  case PAI__FORM_TIME: return pai__time_limit_fits(s, len);
  case PAI__FORM_AFTER: return pai__dependency_read(&dependency, s, len);
  case PAI__FORM_TMP: return is_below_tmp(s, len);
  }
  return false;
}

const char *pai__form_says(enum pai__spec_form form)
{
  switch (form) {
  case PAI__FORM_JOB: return "letters, digits, _ and -";
  case PAI__FORM_IDENT:
    return "letters, digits and _, not beginning with a digit";
  case PAI__FORM_SKU: return "letters, digits, '.', _ and ~";
  case PAI__FORM_V1_JOB: return "letters, digits, '.', _ and -";
  case PAI__FORM_HAS_WORD: return "a name with a letter, a digit or _ in it";
  case PAI__FORM_TIME: return "a time such as 90s, 30m, 2h or 1h30m";
  case PAI__FORM_AFTER:
    return "the name of a job, or NAME:ok, NAME:failed or NAME:ended";
  case PAI__FORM_TMP: return "a path below /tmp, without '.' and '..'";
  case PAI__FORM_ANY: break;
  }
  return "any text";
}

const char *pai__form_pattern(enum pai__spec_form form)
{
  switch (form) {
  case PAI__FORM_JOB: return "^[a-zA-Z0-9_-]+$";
  case PAI__FORM_IDENT: return "^[a-zA-Z_][a-zA-Z0-9_]*$";
  case PAI__FORM_SKU: return "^[A-Za-z0-9._~]+$";
  case PAI__FORM_V1_JOB: return "^[A-Za-z0-9._-]+$";
  case PAI__FORM_HAS_WORD: return "[A-Za-z0-9_]";
  case PAI__FORM_TIME: return "^([0-9]+(\\.[0-9]+)?[wdhms]?)+$";
  case PAI__FORM_AFTER: return "^[A-Za-z0-9._~-]+(:(ok|failed|ended))?$";
  case PAI__FORM_TMP: return "^/tmp(/(?!\\.{1,2}(/|$))[^/\n]+)+$";
  case PAI__FORM_ANY: break;
  }
  return ".*";
}
