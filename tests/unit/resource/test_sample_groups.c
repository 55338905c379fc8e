/* test_sample_groups.c - what groups of processes use */
#include "sampled.h"

#include <stdlib.h>
#include <unistd.h>

static fake_nvml fake;

static void make_io(int pid, int read, int written)
{
  char path[64], text[256];

  (void)snprintf(path, sizeof(path), "proc/%d/io", pid);
  (void)snprintf(text, sizeof(text),
                 "rchar: 9\nread_bytes: %d\nwrite_bytes: "
                 "%d\ncancelled_write_bytes: 0\n",
                 read, written);
  made_file(path, text);
}

static void groups_are_summed_up(void **state)
{
  int64_t page = (int64_t)sysconf(_SC_PAGESIZE);
  VIEW(m, pai_sample_machine);
  const pai_sample *sample;
  pai_sample_group g;
  pai_sampler *s;

  (void)state;
  sampled_machine();
  sampled_process(10, 10, 5, 1, 100);
  sampled_process(11, 10, 5, 1, 50);
  sampled_process(12, 12, 5, 1, 7);
  sampled_process(3, 0, 0, 1, 1000); /* the kernel's */
  make_io(10, 1000, 2000);
  s = sampled_by("", 1);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 10, NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_SESSION, 5, NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 99, NULL), PAI_OK);
  sample = sampled_at(s, 1000000);
  g = sampled_group(sample, 0);
  assert_int_equal(g.kind, PAI_SAMPLE_GROUP);
  assert_int_equal(g.watched, 1);
  assert_int_equal(g.id, 10);
  assert_string_equal(g.name, "p10");
  assert_int_equal(g.processes, 2);
  assert_int_equal(g.cpu, 1500000);
  assert_int_equal(g.cpu_rate, -1);
  assert_int_equal(g.memory, 4 * page);
  assert_int_equal(g.read_bytes, 1000); /* of the one that tells */
  assert_int_equal(g.gpu_memory, -1);
  assert_int_equal(sampled_group(sample, 1).processes, 3);
  assert_int_equal(sampled_group(sample, 2).processes, 0);
  assert_int_equal(sampled_group(sample, 3).id, 10); /* of all */
  assert_int_equal(sampled_group(sample, 3).watched, 0);
  assert_int_equal(sampled_group(sample, 3).read_bytes, -1);
  assert_int_equal(sampled_group(sample, 4).id, 12);
  sampled_process(10, 10, 5, 1, 150);
  sampled_process(11, 10, 5, 2, 20); /* another one of this number */
  sampled_process(13, 10, 5, 2, 30); /* a new one */
  made_remove("proc/12");
  make_io(10, 1500, 2000);
  sample = sampled_at(s, 2000000);
  g = sampled_group(sample, 0);
  assert_int_equal(g.processes, 3);
  assert_int_equal(g.cpu, 2500000);
  assert_int_equal(g.cpu_rate, 1000);
  assert_int_equal(g.read_bytes, 1500);
  assert_int_equal(g.read_bytes_rate, 500);
  assert_int_equal(g.write_bytes_rate, 0);
  g = sampled_group(sample, 1);
  assert_int_equal(g.cpu, 2570000); /* with what the one that ended had */
  g = sampled_group(sample, 3);
  assert_int_equal(g.id, 10);
  assert_int_equal(g.cpu_rate, 1000);
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
  assert_int_equal(m.groups, 4); /* that of 12 has gone */
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL), PAI_OK);
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL),
                   PAI_ENOTFOUND);
  sample = sampled_at(s, 3000000);
  assert_int_equal(sampled_group(sample, 0).kind, PAI_SAMPLE_SESSION);
  pai_sampler_free(s);
  made_end();
}

static void cgroups_tell_of_themselves(void **state)
{
  pai_sample_group g;
  pai_error *err;
  pai_sampler *s;

  (void)state;
  sampled_machine();
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\nuser_usec 1\n");
  made_file("sys/fs/cgroup/job/memory.current", "8192\n");
  made_file("sys/fs/cgroup/job/pids.current", "3\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=200 rios=1\n");
  s = sampled_by("", 0);
  assert_int_equal(pai_sampler_watch_cgroup(s, "/job", NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch_cgroup(s, "/job", &err), PAI_EEXISTS);
  test_expect_error(err, PAI_EEXISTS, "/job");
  assert_int_equal(pai_sampler_watch_cgroup(s, "/no", &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no cgroup /no");
  g = sampled_group(sampled_at(s, 1000000), 0);
  assert_int_equal(g.kind, PAI_SAMPLE_CGROUP);
  assert_string_equal(g.name, "/job");
  assert_int_equal(g.cpu, 5000000);
  assert_int_equal(g.cpu_rate, -1);
  assert_int_equal(g.memory, 8192);
  assert_int_equal(g.processes, 3);
  assert_int_equal(g.write_bytes, 200);
  assert_int_equal(g.write_bytes_rate, -1);
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 6500000\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=700\n");
  g = sampled_group(sampled_at(s, 2000000), 0);
  assert_int_equal(g.cpu_rate, 1500);
  assert_int_equal(g.read_bytes_rate, 0);
  assert_int_equal(g.write_bytes_rate, 500);
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_CGROUP, 0, "/job"),
                   PAI_OK);
  made_file("sys/fs/cgroup/cpuacct/old/cpuacct.usage", "7000000000\n");
  made_file("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "55\n");
  made_file("sys/fs/cgroup/blkio/old/blkio.throttle.io_service_bytes",
            "8:0 Read 5\n8:0 Write 6\n8:0 Sync 9\nTotal 20\n");
  assert_int_equal(pai_sampler_watch_cgroup(s, "/old", NULL), PAI_OK);
  g = sampled_group(sampled_at(s, 3000000), 0);
  assert_int_equal(g.cpu, 7000000);
  assert_int_equal(g.memory, 55);
  assert_int_equal(g.processes, -1);
  assert_int_equal(g.read_bytes, 5);
  assert_int_equal(g.write_bytes, 6);
  pai_sampler_free(s);
  made_end();
}

static int sample_with(const pai_alloc *alloc, void *user_data)
{
  static const char *const paths[] = { "/" };
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  pai_sampler *s;
  int rc;

  o.alloc = alloc;
  o.root = made_root();
  o.nvml = user_data;
  o.paths = paths;
  o.path_count = 1;
  o.all_groups = 1;
  rc = pai_sampler_new(&s, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_sampler_watch(s, PAI_SAMPLE_GROUP, 77, NULL);
  if (rc == PAI_OK)
    rc = pai_sampler_watch_cgroup(s, "/job", NULL);
  if (rc == PAI_OK)
    rc = pai_sampler_take(&sample, s, 1, NULL);
  if (rc == PAI_OK)
    assert_int_equal(sampled_group(sample, 0).processes, 1);
  if (rc == PAI_OK)
    rc = pai_sampler_take(&sample, s, 2, NULL);
  pai_sampler_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  static char path[] = FAKE_NEW;

  (void)state;
  sampled_machine();
  sampled_process(1000, 77, 77, 1, 1);
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=200 rios=1\n");
  made_file("sys/fs/cgroup/job/cgroup.procs", "1000\n");
  fake.machine("2");
  test_faults(sample_with, path);
  made_end();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(groups_are_summed_up),
    cmocka_unit_test(cgroups_tell_of_themselves),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed;

  fake_open(&fake, FAKE_NEW);
  failed = cmocka_run_group_tests(tests, NULL, NULL);
  fake_close(&fake);
  return failed;
}
