/* What a process may use of its machine: its affinity, and control groups of
 * both versions. */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "sampled.h"

#include "resource/machine.h"

#include <sched.h>

static pai__machine limited(void)
{
  pai__machine m = { .cpus = 16, .memory_mb = 64000 };

  pai__machine_limit(&m, made_root());
  return m;
}

static void no_limits(void **state)
{
  pai__machine m;

  (void)state;
  m = limited(); /* no groups at all */
  assert_int_equal(m.cpus, 16);
  assert_int_equal(m.memory_mb, 64000);
  made_file("proc/self/cgroup", "0::/a/b\n");
  made_file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  made_file("sys/fs/cgroup/a/b/memory.max", "max\n");
  m = limited();
  assert_int_equal(m.cpus, 16);
  assert_int_equal(m.memory_mb, 64000);
  made_end();
}

static void the_tightest_of_all_above(void **state)
{
  static const struct {
    const char *own, *above;
    uint32_t cpus;
  } rows[] = {
    { "max 100000\n", "400000 100000\n", 4 },
    { "250000 100000\n", "400000 100000\n", 2 }, /* whole ones */
    { "50000 100000\n", "max 100000\n", 1 },     /* and at least one */
    { "9900000 100000\n", "max 100000\n", 16 },  /* more than there are */
    { "", "300000 100000\n", 3 },                /* what makes no sense */
    { "x y\n", "max\n", 16 },
    { "400000\n", "-1 0\n", 16 },
    { "99999999999999999999 1\n", "0 100000\n", 16 },
  };

  (void)state;
  made_file("proc/self/cgroup", "0::/a/b\n");
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__machine m;

    made_file("sys/fs/cgroup/a/b/cpu.max", rows[i].own);
    made_file("sys/fs/cgroup/a/cpu.max", rows[i].above);
    m = limited();
    if (m.cpus != rows[i].cpus)
      fail_msg("row %zu: %u", i, m.cpus);
  }
  made_file("sys/fs/cgroup/a/memory.max", "1073741824\n");
  assert_int_equal(limited().memory_mb, 1024);
  made_file("sys/fs/cgroup/a/memory.max", "1073741824000000\n");
  assert_int_equal(limited().memory_mb, 64000);
  made_end();
}

/* Also in a container, which sees its host's path and not what is there. */
static void version_1(void **state)
{
  (void)state;
  made_file("proc/self/cgroup", "4:memory:/pod/x\n3:cpu,cpuacct:/pod/x\n");
  made_file("sys/fs/cgroup/cpu/pod/x/cpu.cfs_quota_us", "600000\n");
  made_file("sys/fs/cgroup/cpu/pod/x/cpu.cfs_period_us", "200000\n");
  assert_int_equal(limited().cpus, 3);
  made_file("sys/fs/cgroup/cpu/pod/x/cpu.cfs_quota_us", "-1\n");
  assert_int_equal(limited().cpus, 16);
  made_file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "500000\n");
  made_file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  made_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  assert_int_equal(limited().cpus, 5);
  assert_int_equal(limited().memory_mb, 512);
  made_end();
}

/* As taskset does. */
static void cpus_that_it_may_run_on(void **state)
{
  cpu_set_t before, one;
  pai__machine m;
  size_t cpu = 0;

  (void)state;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_limits),
    cmocka_unit_test(the_tightest_of_all_above),
    cmocka_unit_test(version_1),
    cmocka_unit_test(cpus_that_it_may_run_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
