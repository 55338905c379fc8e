/* place.c - taking and giving back one node's CPUs, memory, GPUs, ports */
#include "sched/place.h"

static uint32_t port_count(const pai__usage *u)
{
  return u->node.port_last - u->node.port_first + 1;
}

/* Of a set of ports: a bit each. */
static size_t port_bytes(const pai__usage *u)
{
  return port_count(u) / 8 + 1;
}

static uint64_t all_gpus(const pai__usage *u)
{
  return u->node.gpus >= 64 ? UINT64_MAX : ((uint64_t)1 << u->node.gpus) - 1;
}

static uint32_t count_bits(uint64_t x)
{
  uint32_t n = 0;

  for (; x != 0; x &= x - 1)
    n++;
  return n;
}

int pai__usage_init(pai__usage *u, const pai_alloc *alloc,
                    const pai__machine *node)
{
  *u = (pai__usage){ .node = *node };
  u->next_port = node->port_seed % port_count(u);
  u->port_taken = pai__zalloc(alloc, port_bytes(u));
  u->port_lost = pai__zalloc(alloc, port_bytes(u));
  if (u->port_taken != NULL && u->port_lost != NULL)
    return PAI_OK;
  pai__usage_dispose(u, alloc);
  return PAI_ENOMEM;
}

void pai__usage_dispose(pai__usage *u, const pai_alloc *alloc)
{
  pai__free(alloc, u->port_taken, port_bytes(u));
  pai__free(alloc, u->port_lost, port_bytes(u));
}

enum pai__lack pai__usage_lack(const pai__usage *u, const pai__want *want,
                               uint32_t *free)
{
  *free = u->node.cpus - u->cpus;
  if (want->cpus > *free)
    return PAI__LACK_CPU;
  *free = u->node.memory_mb - u->memory_mb;
  if (want->memory_mb > *free)
    return PAI__LACK_MEMORY;
  *free = count_bits(all_gpus(u) & ~u->gpus);
  if (want->gpus > *free)
    return PAI__LACK_GPU;
  *free = port_count(u) - u->ports;
  return want->ports > *free ? PAI__LACK_PORT : PAI__LACK_NOTHING;
}

static bool has_port(const uint8_t *set, uint32_t i)
{
  return (set[i / 8] >> (i % 8) & 1) != 0;
}

static void add_port(uint8_t *set, uint32_t i)
{
  set[i / 8] |= (uint8_t)(1u << i % 8);
}

static uint32_t take_port(pai__usage *u)
{
  uint32_t i = u->next_port;

  while (has_port(u->port_taken, i))
    i = (i + 1) % port_count(u);
  add_port(u->port_taken, i);
  u->ports++;
  u->next_port = (i + 1) % port_count(u);
  return u->node.port_first + i;
}

void pai__usage_take(pai__usage *u, const pai__want *want, pai__slot *slot,
                     uint32_t *ports)
{
  u->cpus += want->cpus;
  u->memory_mb += want->memory_mb;
  slot->gpus = 0;
  for (uint32_t i = 0; i < want->gpus; i++) {
    uint64_t left = all_gpus(u) & ~u->gpus;
    uint64_t lowest = left & (0 - left);
    u->gpus |= lowest;
    slot->gpus |= lowest;
  }
  for (uint32_t i = 0; i < want->ports; i++)
    ports[i] = take_port(u);
  slot->ports = ports;
}

static void give_port(pai__usage *u, uint32_t port)
{
  uint32_t i = port - u->node.port_first;

  if (has_port(u->port_lost, i))
    return;
  u->port_taken[i / 8] &= (uint8_t) ~(1u << i % 8);
  u->ports--;
}

void pai__usage_give(pai__usage *u, const pai__want *want,
                     const pai__slot *slot)
{
  u->cpus -= want->cpus;
  u->memory_mb -= want->memory_mb;
  u->gpus &= ~slot->gpus;
  for (uint32_t i = 0; i < want->ports; i++)
    give_port(u, slot->ports[i]);
}

void pai__usage_lose_port(pai__usage *u, uint32_t port)
{
  uint32_t i = port - u->node.port_first;

  if (i >= port_count(u))
    return;
  add_port(u->port_lost, i);
  if (!has_port(u->port_taken, i)) {
    add_port(u->port_taken, i);
    u->ports++;
  }
}

void pai__usage_regain_ports(pai__usage *u)
{
  for (size_t i = 0; i < port_bytes(u); i++) {
    u->port_taken[i] &= (uint8_t)~u->port_lost[i];
    u->ports -= count_bits(u->port_lost[i]);
    u->port_lost[i] = 0;
  }
}
