/* ports.c - the algebra of sorted ranges */
#include "resource/ports.h"

size_t pai__ports_unite(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t i = 0, j = 0, n = 0;

  while (i < a.n || j < b.n) {
    bool from_a = j == b.n || (i < a.n && a.ranges[i] <= b.ranges[j]);
    uint32_t next = from_a ? a.ranges[i++] : b.ranges[j++];

    if (n == 0 || pai__port_first(next) > pai__port_last(out[n - 1]) + 1)
      out[n++] = next;
    else if (pai__port_last(next) > pai__port_last(out[n - 1]))
      out[n - 1] =
        pai__port_range(pai__port_first(out[n - 1]), pai__port_last(next));
  }
  return n;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

size_t pai__ports_intersect(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t i = 0, j = 0, n = 0;

  while (i < a.n && j < b.n) {
    uint32_t x = a.ranges[i], y = b.ranges[j];
    uint32_t first = larger(pai__port_first(x), pai__port_first(y));
    uint32_t last = smaller(pai__port_last(x), pai__port_last(y));

    if (first <= last)
      out[n++] = pai__port_range(first, last);
    if (pai__port_last(x) == last)
      i++;
    else
      j++;
  }
  return n;
}

size_t pai__ports_subtract(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t j = 0, n = 0;

  for (size_t i = 0; i < a.n; i++) {
    uint32_t first = pai__port_first(a.ranges[i]);
    uint32_t last = pai__port_last(a.ranges[i]);

    while (j < b.n && pai__port_last(b.ranges[j]) < first)
      j++;
    /* What ends behind this range may cut the next one, too. */
    for (size_t k = j; k < b.n && pai__port_first(b.ranges[k]) <= last; k++) {
      if (pai__port_first(b.ranges[k]) > first)
        out[n++] = pai__port_range(first, pai__port_first(b.ranges[k]) - 1);
      first = pai__port_last(b.ranges[k]) + 1;
    }
    if (first <= last)
      out[n++] = pai__port_range(first, last);
  }
  return n;
}

uint32_t pai__ports_count(pai__ports a)
{
  uint32_t count = 0;

  for (size_t i = 0; i < a.n; i++)
    count += pai__port_last(a.ranges[i]) - pai__port_first(a.ranges[i]) + 1;
  return count;
}

size_t pai__ports_find(pai__ports a, uint32_t port)
{
  size_t low = 0, high = a.n;

  while (low < high) {
    size_t mid = low + (high - low) / 2;

    if (pai__port_last(a.ranges[mid]) < port)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}
