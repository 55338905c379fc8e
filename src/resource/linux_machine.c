/*
 * linux_machine.c - CPUs and memory that this process may use on Linux
 *
 * The limits are the CPU affinity, and the CPU quota and memory limit of its
 * control group and all groups above it, of version 2 and 1.
 */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "resource/sample/linux_sample.h"
#include "resource/cpus.h"
#include "resource/machine.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

bool pai__cpus_allowed(pai__cpus *out)
{
  unsigned long mask[PAI__MAX_CPUS / 8 / sizeof(long)] = { 0 };
  const size_t bits = sizeof(long) * 8;

  memset(out, 0, sizeof(*out));
  if (sched_getaffinity(0, sizeof(mask), (void *)mask) < 0)
    return false;
  for (uint32_t i = 0; i < PAI__MAX_CPUS; i++)
    if ((mask[i / bits] >> i % bits & 1) != 0)
      pai__bits_set(out->at, i, i);
  return true;
}

/* --- quotas -------------------------------------------------------------- */

/* Returns whole CPUs, at least one; `most` if there is no quota. */
static uint32_t whole(int64_t quota, int64_t period, uint32_t most)
{
  int64_t cpus = quota > 0 && period > 0 ? quota / period : most;

  if (cpus >= most)
    return most;
  return cpus > 1 ? (uint32_t)cpus : 1;
}

/* Lowers *cpus to cpu.max: "200000 100000" or "max 100000". */
static void quota_v2(void *cpus, const char *root, const char *path)
{
  char line[PAI__LINE], *end;
  int64_t quota;

  pai__read_line(line, root, "sys/fs/cgroup%s/cpu.max", path);
  quota = strtoll(line, &end, 10);
  *(uint32_t *)cpus = whole(quota, strtoll(end, NULL, 10), *(uint32_t *)cpus);
}

static void quota_v1(void *cpus, const char *root, const char *path)
{
  *(uint32_t *)cpus = whole(
    pai__linux_number(root, "sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path),
    pai__linux_number(root, "sys/fs/cgroup/cpu%s/cpu.cfs_period_us", path),
    *(uint32_t *)cpus);
}

/* --- all of it ----------------------------------------------------------- */

static int64_t memory_limit(const char *root)
{
  pai_sample_machine sums = { .struct_size = sizeof(sums) };
  pai__limits limits;

  pai__limits_open(&limits, root);
  pai__limits_read(&limits, &sums);
  pai__limits_close(&limits);
  return sums.memory_limit;
}

void pai__machine_limit(pai__machine *m, const char *root)
{
  int64_t limit = memory_limit(root) >> 20;

  pai__cgroup_levels(root, "", quota_v2, &m->cpus);
  pai__cgroup_levels(root, "cpu", quota_v1, &m->cpus);
  if (limit > 0 && limit < m->memory_mb)
    m->memory_mb = (uint32_t)limit;
}

void pai__machine_limit_here(pai__machine *m)
{
  pai__cpus allowed;
  uint32_t n = pai__cpus_allowed(&allowed)
                 ? pai__bits_count(allowed.at, PAI__LEN(allowed.at))
                 : 0;

  if (n > 0 && n < m->cpus)
    m->cpus = n;
  pai__machine_limit(m, "/");
}

/* --- libraries that stay loaded ------------------------------------------ */

/* hwloc's plug-ins load these libraries, and unload them with the last
 * topology. libpciaccess allocates names of devices once per load: loaded
 * again with each topology, it would leak them each time. */

void pai__keep_libraries(void)
{
  void *library =
    dlopen("libpciaccess.so.0", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

  if (library != NULL)
    (void)dlclose(library); /* stays loaded */
}
