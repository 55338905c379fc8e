/* parts.c - virtual clusters that have a part of the whole */
#include "resource/cluster.h"

#include <stdio.h>

bool pai__part_parse(uint32_t *out, const char *s, size_t len)
{
  uint32_t n = 0, digits = 0, behind = 0;
  bool point = false;
  size_t i = 0;

  for (; i < len && s[i] != '%'; i++) {
    if (s[i] == '.' && !point && digits > 0) {
      point = true;
      continue;
    }
    if (s[i] < '0' || s[i] > '9' || n > PAI__WHOLE || behind == 2)
      return false;
    n = n * 10 + (uint32_t)(s[i] - '0');
    digits++;
    behind += point;
  }
  if (digits == 0 || (point && behind == 0) || i + 1 != len || s[i] != '%')
    return false;
  for (; behind < 2; behind++)
    n *= 10;
  *out = n;
  return n <= PAI__WHOLE;
}

void pai__part_text(char *out, uint32_t part)
{
  if (part % 100 == 0)
    (void)snprintf(out, PAI__PART_TEXT, "%u%%", part / 100);
  else if (part % 10 == 0)
    (void)snprintf(out, PAI__PART_TEXT, "%u.%u%%", part / 100, part / 10 % 10);
  else
    (void)snprintf(out, PAI__PART_TEXT, "%u.%02u%%", part / 100, part % 100);
}

/* Without a product that would be too large. */
static uint64_t part_of(uint64_t whole, uint32_t part)
{
  return whole / PAI__WHOLE * part + whole % PAI__WHOLE * part / PAI__WHOLE;
}

uint64_t pai__part_amount(const pai_cluster *c, size_t vc, uint64_t whole,
                          bool most)
{
  const pai__vc *v = &c->vcs[vc];
  uint64_t left = whole;

  if (!v->rest)
    return part_of(whole, most ? v->most : v->part);
  for (size_t i = 0; i < c->nvcs; i++)
    if (!c->vcs[i].rest)
      left -= part_of(whole, c->vcs[i].part);
  return left;
}

bool pai__cluster_has_parts(const pai_cluster *c)
{
  return c->nvcs > 0 && c->vcs[0].parted;
}
