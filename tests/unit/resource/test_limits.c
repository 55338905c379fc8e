/* What a process may use of its machine: its affinity, and control groups of
 * both versions. */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "sampled.h"

#include "resource/machine.h"

#include <sched.h>

#define GROUP "sys/fs/cgroup/"

/* One file after the other, and what is left after each; an empty row takes all
 * of them away. */
static const struct {
  const char *path, *text;
  uint32_t cpus;
  uint64_t memory_mb;
} steps[] = {
  { NULL, NULL, 16, 64000 }, /* no groups at all */
  { "proc/self/cgroup", "0::/a/b\n", 16, 64000 },
  { GROUP "a/b/cpu.max", "max 100000\n", 16, 64000 },
  { GROUP "a/b/memory.max", "max\n", 16, 64000 },
  /* the tightest of all above */
  { GROUP "a/cpu.max", "400000 100000\n", 4, 64000 },
  { GROUP "a/b/cpu.max", "250000 100000\n", 2, 64000 }, /* whole ones */
  { GROUP "a/cpu.max", "max 100000\n", 2, 64000 },
  { GROUP "a/b/cpu.max", "50000 100000\n", 1, 64000 },    /* at least one */
  { GROUP "a/b/cpu.max", "9900000 100000\n", 16, 64000 }, /* all there are */
  { GROUP "a/b/cpu.max", "", 16, 64000 }, /* what makes no sense */
  { GROUP "a/cpu.max", "300000 100000\n", 3, 64000 },
  { GROUP "a/b/cpu.max", "x y\n", 3, 64000 },
  { GROUP "a/cpu.max", "max\n", 16, 64000 },
  { GROUP "a/b/cpu.max", "400000\n", 16, 64000 },
  { GROUP "a/cpu.max", "-1 0\n", 16, 64000 },
  { GROUP "a/b/cpu.max", "99999999999999999999 1\n", 16, 64000 },
  { GROUP "a/cpu.max", "0 100000\n", 16, 64000 },
  { GROUP "a/memory.max", "1073741824\n", 16, 1024 },
  { GROUP "a/memory.max", "1073741824000000\n", 16, 64000 },
  /* version 1, also in a container, which sees its host's path and not what is
   * there */
  { NULL, NULL, 16, 64000 },
  { "proc/self/cgroup", "4:memory:/pod/x\n3:cpu,cpuacct:/pod/x\n", 16, 64000 },
  { GROUP "cpu/pod/x/cpu.cfs_quota_us", "600000\n", 16, 64000 },
  { GROUP "cpu/pod/x/cpu.cfs_period_us", "200000\n", 3, 64000 },
  { GROUP "cpu/pod/x/cpu.cfs_quota_us", "-1\n", 16, 64000 },
  { GROUP "cpu/cpu.cfs_quota_us", "500000\n", 16, 64000 },
  { GROUP "cpu/cpu.cfs_period_us", "100000\n", 5, 64000 },
  { GROUP "memory/memory.limit_in_bytes", "536870912\n", 5, 512 },
};

TEST(groups_limit)
{
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    pai__machine m = { .cpus = 16, .memory_mb = 64000 };

    if (steps[i].path == NULL)
      made_end();
    else
      made_file(steps[i].path, steps[i].text);
    pai__machine_limit(&m, made_root());
    if (m.cpus != steps[i].cpus || m.memory_mb != steps[i].memory_mb)
      fail_msg("row %zu: %u CPUs, %llu MB", i, m.cpus,
               (unsigned long long)m.memory_mb);
  }
  made_end();
}

/* As taskset does. */
TEST(cpus_that_it_may_run_on)
{
  cpu_set_t before, one;
  pai__machine m;
  size_t cpu = 0;

  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  while (!CPU_ISSET(cpu, &before))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  pai__machine_discover(&m);
  assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
  assert_int_equal(m.cpus, 1);
  pai__machine_discover(&m);
  assert_in_range(m.cpus, 1, (unsigned)CPU_COUNT(&before));
  assert_in_range(m.memory_mb, 1, pai__machine_memory_mb());
}
