/*
 * ports.h - sets of ports as sorted ranges
 *
 * Few of the 65,536 ports are ever in use, and mostly in runs: a bit for each
 * port would take 8 KB a node.  A range is one number, with its first port in
 * the upper 16 bits and its last port in the lower 16.  Ranges are in
 * ascending order, with at least one port between two of them.
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

uint32_t pai__ports_count(pai__ports a);
/* Returns the index of the first range that ends at or after a port, or
 * a.n. */
size_t pai__ports_find(pai__ports a, uint32_t port);

#endif
