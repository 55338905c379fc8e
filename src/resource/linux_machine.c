/*
 * linux_machine.c - what of this machine this process may use
 *
 * CPUs it may run on, the quota of CPU time and the memory of its control
 * group and all those above it, of version 2 and 1: in a container nothing is
 * promised that is not there.
 */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "resource/linux_sample.h"
#include "resource/machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CPUS = 4096 };

/* 0: nobody knows. */
static uint32_t count_allowed(void)
{
  unsigned long mask[MOST_CPUS / 8 / sizeof(long)] = { 0 };
  uint32_t n = 0;

  if (sched_getaffinity(0, sizeof(mask), (void *)mask) < 0)
    return 0;
  for (size_t i = 0; i < PAI__LEN(mask); i++)
    for (unsigned long bits = mask[i]; bits != 0; bits &= bits - 1)
      n++;
  return n;
}

/* --- quotas ----------------------------------------------------------------- */

/* Whole CPUs, and at least one; more: there is no limit. */
static uint32_t whole(int64_t quota, int64_t period, uint32_t most)
{
  int64_t cpus = quota > 0 && period > 0 ? quota / period : most;

  if (cpus >= most)
    return most;
  return cpus > 1 ? (uint32_t)cpus : 1;
}

/* "200000 100000", or "max 100000". */
static uint32_t quota_v2(const char *root, const char *path, uint32_t most)
{
  char line[PAI__LINE], *end;
  int64_t quota;

  pai__read_line(line, root, "sys/fs/cgroup%s/cpu.max", path);
  quota = strtoll(line, &end, 10);
  return whole(quota, strtoll(end, NULL, 10), most);
}

static uint32_t quota_v1(const char *root, const char *path, uint32_t most)
{
  return whole(
    pai__linux_number(root, "sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path),
    pai__linux_number(root, "sys/fs/cgroup/cpu%s/cpu.cfs_period_us", path),
    most);
}

typedef uint32_t quota(const char *root, const char *path, uint32_t most);

/* Of a group and those above it. */
static uint32_t quota_of(quota *of, const char *controller, const char *root,
                         uint32_t most)
{
  char text[8192], path[PAI__LINE];
  size_t len = pai__read_short(text, sizeof(text), root, "proc/self/cgroup");
  size_t path_len;
  const char *found = pai__proc_cgroup(text, len, controller, &path_len);

  if (found == NULL || path_len >= sizeof(path))
    return most;
  memcpy(path, found, path_len);
  path[path_len] = '\0';
  for (;;) {
    char *slash = strrchr(path, '/');

    most = of(root, strcmp(path, "/") == 0 ? "" : path, most);
    if (slash == NULL)
      return most;
    *slash = '\0';
  }
}

/* --- all of it -------------------------------------------------------------- */

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

  m->cpus = quota_of(quota_v2, "", root, m->cpus);
  m->cpus = quota_of(quota_v1, "cpu", root, m->cpus);
  if (limit > 0 && limit < m->memory_mb)
    m->memory_mb = (uint32_t)limit;
}

void pai__machine_limit_here(pai__machine *m)
{
  uint32_t allowed = count_allowed();

  if (allowed > 0 && allowed < m->cpus)
    m->cpus = allowed;
  pai__machine_limit(m, "/");
}
