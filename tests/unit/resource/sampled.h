/* sampled.h - a made machine, and samples of it, in tests */
#ifndef PAI_TESTS_RESOURCE_SAMPLED_H
#define PAI_TESTS_RESOURCE_SAMPLED_H

#include "fake.h"

#include <openpai/sample.h>

#define VIEW(name, type) type name = { .struct_size = sizeof(name) }

/* The kernel's files of it; and those of a second and later. */
void sampled_machine(void);
void sampled_later(void);

/* A process of it, and what a group used. */
void sampled_process(int pid, int group, int session, int started, int ticks);
pai_sample_group sampled_group(const pai_sample *sample, size_t i);

/* A sampler of it with that NVML, of all groups or of those watched. */
pai_sampler *sampled_by(const char *nvml, int all);
const pai_sample *sampled_at(pai_sampler *s, pai_time now);

#endif
