/* pick_gpus.h - internal to src/sched: which GPUs of a node a task gets */
#ifndef PAI_SRC_SCHED_PICK_GPUS_H
#define PAI_SRC_SCHED_PICK_GPUS_H

#include "sched/core.h"

/* Returns whether a group of `size` GPUs has n free ones. n is not 0. */
bool pai__has_group(const pai__sched_sku *b, uint64_t free, uint32_t size,
                    uint32_t n);
/* Picks n of the free GPUs, as near to one another as possible.  There must be
 * n. */
uint64_t pai__pick_gpus(const pai__sched_sku *b, uint64_t free, uint32_t n);

#endif
