/*
 * ports.h - sets of ports as sorted ranges
 *
 * Few of 65,536 ports are ever in use, in runs: a bit for each would take 8 KB
 * a node.  A range is one number, its first port above its last.  Ranges are
 * in ascending order, with at least one port between two.
 */
#ifndef PAI_SRC_RESOURCE_PORTS_H
#define PAI_SRC_RESOURCE_PORTS_H

#include "base/base.h"

typedef struct pai__ports {
  const uint32_t *ranges; /* borrowed */
  size_t n;
} pai__ports;

static inline uint32_t pai__port_range(uint32_t first, uint32_t last)
{
  return first << 16 | last;
}

static inline uint32_t pai__port_first(uint32_t range)
{
  return range >> 16;
}

static inline uint32_t pai__port_last(uint32_t range)
{
  return range & 0xffff;
}

/* Each writes at most a.n + b.n ranges, nowhere near a or b, and returns how
 * many. */
size_t pai__ports_unite(uint32_t *out, pai__ports a, pai__ports b);
size_t pai__ports_intersect(uint32_t *out, pai__ports a, pai__ports b);
size_t pai__ports_subtract(uint32_t *out, pai__ports a, pai__ports b);

uint32_t pai__ports_count(pai__ports a);
/* The first range that ends at or behind a port, or a.n. */
size_t pai__ports_find(pai__ports a, uint32_t port);

#endif
