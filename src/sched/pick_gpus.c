/* pick_gpus.c - which GPUs of a node a task gets */
#include "sched/pick_gpus.h"

#include "resource/bits.h"

/* Returns the free GPUs of the group of that size with the fewest free ones,
 * of those with at least n; 0 if there is none. */
static uint64_t tightest(const pai__sched_sku *b, uint64_t free, uint32_t size,
                         uint32_t n)
{
  uint64_t best = 0;
  uint32_t least = UINT32_MAX;

  for (uint32_t at = 0; at < b->gpus; at += size) {
    uint32_t last = at + size < b->gpus ? at + size : b->gpus;
    uint64_t group = free & pai__bits_mask(at, last - 1);
    uint32_t ones = pai__bits_ones(group);

    if (ones >= n && ones < least) {
      least = ones;
      best = group;
    }
  }
  return best;
}

bool pai__has_group(const pai__sched_sku *b, uint64_t free, uint32_t size,
                    uint32_t n)
{
  return tightest(b, free, size, n) != 0;
}

/* Begins with the larger groups, and goes on within the one that was found. */
uint64_t pai__pick_gpus(const pai__sched_sku *b, uint64_t free, uint32_t n)
{
  if (n == 0)
    return 0;
  for (uint32_t i = b->nlocalities; i-- > 0;) {
    uint64_t group = tightest(b, free, b->localities[i].gpus, n);

    if (group != 0)
      free = group;
  }
  return pai__bits_lowest(free, n);
}
