/*
 * keyword.c - keyword search in texts, with % and _ as wildcards
 *
 * Most texts are ruled out by one comparison of bit sets: they lack a pair of
 * adjacent letters of the keyword.
 */
#include "store/job_index.h"

static uint64_t bit_of(unsigned char a, unsigned char b)
{
  uint32_t pair = (uint32_t)a << 8 | b;

  return (uint64_t)1 << (pair * 0x9e3779b1u >> 26);
}

uint64_t pai__pairs_of(const char *text)
{
  uint64_t pairs = 0;

  for (; text[0] != '\0' && text[1] != '\0'; text++)
    pairs |= bit_of((unsigned char)text[0], (unsigned char)text[1]);
  return pairs;
}

static bool is_wild(char c)
{
  return c == '%' || c == '_';
}

pai__keyword pai__keyword_of(const char *text)
{
  pai__keyword k = { 0 };

  if (text == NULL || text[0] == '\0')
    return k;
  k.text = text;
  k.wild = strpbrk(text, "%_") != NULL;
  for (; text[0] != '\0' && text[1] != '\0'; text++)
    if (!is_wild(text[0]) && !is_wild(text[1]))
      k.pairs |= bit_of((unsigned char)text[0], (unsigned char)text[1]);
  return k;
}

/* Returns the position after one UTF-8 character. */
static const char *next_character(const char *s)
{
  for (s++; ((unsigned char)*s & 0xc0) == 0x80;)
    s++;
  return s;
}

/* % stands for any text, _ for any character.  The part between two % is
 * matched at its first place: no other place would leave more text after
 * it. */
static bool is_like(const char *s, const char *pattern)
{
  const char *from = s, *part = pattern;

  for (;;) {
    if (*pattern == '%') {
      part = ++pattern;
      from = s;
    } else if (*pattern == '\0') {
      return true;
    } else if (*s == '\0') {
      return false;
    } else if (*pattern == '_') {
      pattern++;
      s = next_character(s);
    } else if (*pattern == *s) {
      pattern++;
      s++;
    } else {
      s = from = next_character(from);
      pattern = part;
    }
  }
}

bool pai__keyword_is_in(const pai__keyword *keyword, const char *text)
{
  if (keyword->text == NULL)
    return true;
  return keyword->wild ? is_like(text, keyword->text)
                       : strstr(text, keyword->text) != NULL;
}
