/* syntax_show.c - which lines of a text may be shown that cannot be parsed */
#include "spec/scan/syntax.h"

#include "base/findings.h"
#include "base/text/utf8.h"
#include "spec/rules.h"
#include "spec/scan/text_line.h"

/* Searches without case; `part` is in lower case. */
static bool contains(const char *s, size_t len, const char *part)
{
  size_t n = strlen(part), same;

  for (; len >= n; s++, len--) {
    for (same = 0; same < n; same++)
      if (s[same] != part[same] && (s[same] | 0x20) != part[same])
        break;
    if (same == n)
      return true;
  }
  return false;
}

/* Returns whether a key may be that of a secret, even if it is misspelt. */
static bool is_suspect_key(const char *s, size_t len)
{
  static const char *const names[] = { "secrets", "password", "auth",
                                       "token" };
  static const char *const parts[] = { "secret", "passw", "auth",
                                       "token",  "cred",  "username" };
  pai__word word = pai__word_of(s, len), name;

  for (size_t i = 0; i < PAI__LEN(names); i++) {
    name = pai__word_of(names[i], strlen(names[i]));
    if (pai__word_like(&word, &name))
      return true;
  }
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    if (contains(s, len, parts[i]))
      return true;
  return false;
}

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '\\';
}

/* Returns whether a line has a key that may be that of a secret: a word before
 * a colon, or any word after a question mark. */
static bool has_suspect_key(const pai__text_line *l)
{
  const char *p = pai__text_line_begin(l), *end;
  bool all = p < l->end && *p == '?';

  for (; p < l->end; p = end) {
    const char *colon;

    end = p + 1;
    if (!is_word(*p))
      continue;
    while (end < l->end && is_word(*end))
      end++;
    colon = end;
    while (colon < l->end && strchr("\"' \t", *colon) != NULL)
      colon++;
    if ((all || (colon < l->end && *colon == ':')) &&
        (memchr(p, '\\', (size_t)(end - p)) != NULL ||
         is_suspect_key(p, (size_t)(end - p))))
      return true;
  }
  return false;
}

/* Returns whether a line begins a field of the root that holds no secrets. */
static bool begins_part(const pai__text_line *l)
{
  const pai__spec_field *f = pai__rules_v2.fields;

  for (; f->name != NULL; f++) {
    size_t n = strlen(f->name);
    if ((size_t)(l->end - l->start) > n && l->start[n] == ':' &&
        memcmp(l->start, f->name, n) == 0)
      return strcmp(f->name, "secrets") != 0;
  }
  return false;
}

static bool is_text(const pai__text_line *l)
{
  size_t n = 1;

  for (const char *p = l->start; p < l->end && n > 0; p += n)
    n = *p != '\0' ? pai__utf8_len(p, (size_t)(l->end - p)) : 0;
  return n > 0;
}

bool pai__syntax_may_show(const char *text, size_t len, uint32_t number)
{
  const char *end = text + len;
  bool braces = true, show = true;

  for (pai__text_line l = pai__text_line_at(text, end, 1);
       l.start < end && l.number <= number;
       l = pai__text_line_at(l.next, end, l.number + 1)) {
    if (l.number == 1)
      braces = pai__text_line_begin(&l) < l.end &&
               strchr("{[/", *pai__text_line_begin(&l)) != NULL;
    if (!braces && begins_part(&l))
      show = true;
    else if (!braces && l.start < l.end && strchr(" \t#-}]", *l.start) == NULL)
      show = false; /* an unknown field */
    if (has_suspect_key(&l))
      show = false;
    if (l.number == number)
      return show && is_text(&l);
  }
  return false;
}
