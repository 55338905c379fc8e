/*
 * keyword.c - is it in a text?
 *
 * Most texts are out of the question by one look at a number: they lack a pair
 * of neighbouring letters that the keyword has.
 */
#include "store/roll.h"

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

/* Behind one character of UTF-8. */
static const char *next_character(const char *s)
{
  for (s++; ((unsigned char)*s & 0xc0) == 0x80;)
    s++;
  return s;
}

/* % stands for any text, _ for any character.  What stands between two % is
 * taken where it is found first: no other place would leave more behind it. */
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
