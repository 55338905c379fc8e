/* parted.h - a cluster whose virtual clusters have parts of it, in few words */
#ifndef PAI_TESTS_PARTED_H
#define PAI_TESTS_PARTED_H

#include "sched/scene.h"

/* Two nodes: 16 GPUs, 32 CPUs, 64 GiB. */
#define PARTS_BOX                                                  \
  "skus: {box: {gpu: a100, gpus: 8, near: {switch: 4}, cpus: 16, " \
  "memory: 32G}}\n"                                                \
  "nodes: [{name: \"n[1-2]\", sku: box}]\n"

/* default has the rest; left a quarter, up to a half; right an eighth, and is
 * stopped. */
extern const char parts_box[];

int parts_submit(pai_sched *s, uint64_t id, const char *vc, pai_want want,
                 pai_error **err);
/* Of one task. */
pai_want parts_some(uint32_t gpus, uint32_t cpus, uint64_t gib);
/* The box gets other virtual clusters: a mapping, in YAML. */
int parts_change(pai_sched *s, const char *vcs, pai_error **err);

#endif
