/* place.h - internal to the room: what is free on one node */
#ifndef PAI_SRC_SCHED_PLACE_H
#define PAI_SRC_SCHED_PLACE_H

#include "sched/sched.h"

/* A node and what is taken of it. */
typedef struct pai__usage {
  pai__machine node;
  uint32_t cpus, memory_mb; /* taken */
  uint64_t gpus;            /* mask of devices taken */
  uint32_t ports;           /* number of ports taken */
  uint32_t next_port;       /* where the search starts: old ports rest */
  uint8_t *port_taken;      /* one bit each, from node.port_first */
  uint8_t *port_lost;       /* likewise; these are taken, too */
} pai__usage;

int pai__usage_init(pai__usage *u, const pai_alloc *alloc,
                    const pai__machine *node);
void pai__usage_dispose(pai__usage *u, const pai_alloc *alloc);

/* What of `want` this node cannot give now, and how much it has left. */
enum pai__lack pai__usage_lack(const pai__usage *u, const pai__want *want,
                               uint32_t *free);
/* Takes one task's share; only after pai__usage_lack() found no lack. */
void pai__usage_take(pai__usage *u, const pai__want *want, pai__slot *slot,
                     uint32_t *ports);
void pai__usage_give(pai__usage *u, const pai__want *want,
                     const pai__slot *slot);
/* Takes a port from everybody, also from the task that may hold it: given
 * back, it stays taken until lost ports are regained. */
void pai__usage_lose_port(pai__usage *u, uint32_t port);
void pai__usage_regain_ports(pai__usage *u);

#endif
