/* test_sample.c - samples of made machines with known answers, and of this
 * one; what groups of processes use */
#include "sampled.h"

#include <stdlib.h>
#include <unistd.h>

static fake_nvml fake;

static int open_fake(void **state)
{
  (void)state;
  fake_open(&fake, FAKE_NEW);
  return 0;
}

static int close_fake(void **state)
{
  (void)state;
  fake_close(&fake);
  return 0;
}

TEST_AROUND_ALL(open_fake, close_fake);

/* --- made machines ---------------------------------------------------------- */

TEST(the_first_has_totals)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  VIEW(d, pai_sample_disk);
  VIEW(n, pai_sample_network);
  const pai_sample *sample;
  pai_sampler *s;

  sampled_machine();
  s = sampled_by("", 0);
  sample = sampled_at(s, 1000);
  assert_ok(pai_sample_get(sample, &m));
  assert_int_equal(m.time, 1000);
  assert_int_equal(m.elapsed, 0);
  assert_int_equal(m.cpus, 2);
  assert_int_equal(m.load[0], 150);
  assert_int_equal(m.load[2], 10);
  assert_int_equal(m.threads, 200);
  assert_int_equal(m.running, 3);
  assert_int_equal(m.memory_total, 1024000);
  assert_int_equal(m.memory_available, 716800);
  assert_int_equal(m.memory_free, 102400);
  assert_int_equal(m.buffers, 10240);
  assert_int_equal(m.cached, 512000);
  assert_int_equal(m.swap_total, 65536);
  assert_int_equal(m.swap_free, 32768);
  assert_int_equal(m.memory_limit, -1);
  assert_int_equal(m.disks, 2);
  assert_int_equal(m.networks, 3);
  assert_int_equal(m.gpus + m.groups + m.file_systems, 0);
  assert_ok(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c));
  assert_int_equal(c.user, 1000000);
  assert_int_equal(c.idle, 8000000);
  assert_int_equal(c.busy_rate, -1);
  assert_ok(pai_sample_get_disk(sample, 0, &d));
  assert_string_equal(d.name, "sda");
  assert_int_equal(d.counted, 1);
  assert_int_equal(d.read_bytes, 51200);
  assert_int_equal(d.read_bytes_rate, -1);
  assert_int_equal(d.busy_permille, -1);
  assert_ok(pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d));
  assert_string_equal(d.name, "");
  assert_int_equal(d.write_bytes, 102400); /* without dm-0 */
  assert_int_equal(pai_sample_get_disk(sample, 2, &d), PAI_ENOTFOUND);
  assert_ok(pai_sample_get_network(sample, PAI_SAMPLE_SUM, &n));
  assert_int_equal(n.rx_bytes, 5000); /* without lo and docker0 */
  assert_int_equal(n.tx_errors, 2);
  assert_int_equal(n.rx_bytes_rate, -1);
  pai_sampler_free(s);
  made_end();
}

TEST(the_second_has_rates)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  VIEW(d, pai_sample_disk);
  VIEW(n, pai_sample_network);
  const pai_sample *sample;
  pai_sampler *s;

  sampled_machine();
  s = sampled_by("", 0);
  (void)sampled_at(s, 1000000);
  sampled_later();
  sample = sampled_at(s, 1500000);
  assert_ok(pai_sample_get(sample, &m));
  assert_int_equal(m.elapsed, 500000);
  assert_ok(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c));
  assert_int_equal(c.user_rate, 1000); /* 50 ticks of 10 ms in 0.5 s */
  assert_int_equal(c.system_rate, 400);
  assert_int_equal(c.busy_rate, 1600); /* and what was stolen */
  assert_int_equal(c.iowait_rate, 0);  /* went backwards */
  assert_ok(pai_sample_get_cpu(sample, 1, &c));
  assert_int_equal(c.number, 1);
  assert_int_equal(c.busy_rate, 400);
  assert_int_equal(pai_sample_get_cpu(sample, 2, &c), PAI_ENOTFOUND);
  assert_ok(pai_sample_get_disk(sample, 0, &d));
  assert_int_equal(d.reads_rate, 200);
  assert_int_equal(d.read_bytes_rate, 204800);
  assert_int_equal(d.write_bytes_rate, 1024000);
  assert_int_equal(d.writes_rate, 0);
  assert_int_equal(d.busy_permille, 500);
  assert_ok(pai_sample_get_disk(sample, 2, &d));
  assert_string_equal(d.name, "sdb"); /* has come */
  assert_int_equal(d.reads_rate, -1);
  assert_ok(pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d));
  assert_int_equal(d.read_bytes_rate, 204800);
  assert_int_equal(d.busy_permille, -1);
  assert_int_equal(m.networks, 2); /* docker0 has gone */
  assert_ok(pai_sample_get_network(sample, 1, &n));
  assert_string_equal(n.name, "eth0");
  assert_int_equal(n.rx_bytes_rate, 2000000);
  assert_int_equal(n.rx_packets_rate, 2000);
  assert_int_equal(n.tx_bytes_rate, -1); /* went backwards */
  assert_int_equal(n.tx_packets_rate, 10);
  assert_int_equal(n.rx_errors_rate, 0);
  pai_sampler_free(s);
  made_end();
}

TEST(limits_are_the_tightest)
{
  VIEW(m, pai_sample_machine);
  pai_sampler *s;

  sampled_machine();
  made_file("proc/self/cgroup", "0::/a/b\n");
  made_file("sys/fs/cgroup/a/b/memory.max", "max\n");
  made_file("sys/fs/cgroup/a/b/memory.current", "5\n");
  made_file("sys/fs/cgroup/a/memory.max", "4096\n");
  made_file("sys/fs/cgroup/a/memory.current", "77\n");
  s = sampled_by("", 0);
  assert_ok(pai_sample_get(sampled_at(s, 1), &m));
  assert_int_equal(m.memory_limit, 4096);
  assert_int_equal(m.memory_used, 77);
  made_file("sys/fs/cgroup/a/b/memory.max", "1024\n");
  assert_ok(pai_sample_get(sampled_at(s, 2), &m));
  assert_int_equal(m.memory_limit, 1024);
  assert_int_equal(m.memory_used, 5);
  pai_sampler_free(s);
  made_file("proc/self/cgroup", "3:memory:/not/there\n");
  made_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "2048\n");
  made_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
  s = sampled_by("", 0); /* a container with its host's path */
  assert_ok(pai_sample_get(sampled_at(s, 1), &m));
  assert_int_equal(m.memory_limit, 2048);
  pai_sampler_free(s);
  made_end();
}

TEST(file_systems_are_looked_at)
{
  static const char *const paths[] = { "/", "/not/there" };
  VIEW(f, pai_sample_file_system);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  pai_sampler *s;

  sampled_machine();
  o.root = made_root();
  o.nvml = "";
  o.paths = paths;
  o.path_count = 2;
  assert_ok(pai_sampler_new(&s, &o, NULL));
  sample = sampled_at(s, 1);
  assert_ok(pai_sample_get_file_system(sample, 0, &f));
  assert_string_equal(f.path, "/");
  assert_true(f.total > 0 && f.free >= 0 && f.free <= f.total);
  assert_ok(pai_sample_get_file_system(sample, 1, &f));
  assert_int_equal(f.total, -1);
  assert_int_equal(pai_sample_get_file_system(sample, 2, &f), PAI_ENOTFOUND);
  pai_sampler_free(s);
  made_end();
}

/* --- GPUs -------------------------------------------------------------------- */

TEST(gpus_are_sampled)
{
  VIEW(v, pai_sample_gpu);
  const pai_sample *sample;
  pai_sampler *s;

  sampled_machine();
  sampled_process(1000, 77, 77, 1, 1);
  sampled_process(1001, 77, 77, 1, 1);
  fake.machine("2");
  s = sampled_by(FAKE_NEW, 1);
  assert_int_equal(pai_gpus_count(pai_sampler_gpus(s)), 2);
  sample = sampled_at(s, 1);
  assert_ok(pai_sample_get_gpu(sample, 1, &v));
  assert_int_equal(v.lost, 0);
  assert_int_equal(v.busy_percent, 91);
  assert_int_equal(v.memory_used, 3ll << 30);
  assert_int_equal(v.temperature, 41);
  assert_int_equal(v.power_mw, 123456);
  assert_int_equal(v.power_limit_mw, 350000);
  assert_int_equal(pai_sample_get_gpu(sample, 2, &v), PAI_ENOTFOUND);
  assert_int_equal(sampled_group(sample, 0).id, 77);
  /* a GiB on each; that one of them draws, too, adds nothing */
  assert_int_equal(sampled_group(sample, 0).gpu_memory, 2ll << 30);
  fake.lose(1);
  sample = sampled_at(s, 2);
  assert_ok(pai_sample_get_gpu(sample, 1, &v));
  assert_int_equal(v.lost, 1);
  assert_int_equal(v.memory_used, -1);
  assert_ok(pai_sample_get_gpu(sample, 0, &v));
  assert_int_equal(v.lost, 0);
  pai_sampler_free(s);
  made_file("sys/class/drm/card0/device/vendor", "0x1002\n");
  made_file("sys/class/drm/card0/device/mem_info_vram_total", "100\n");
  made_file("sys/class/drm/card0/device/mem_info_vram_used", "10\n");
  made_file("sys/class/drm/card0/device/gpu_busy_percent", "5\n");
  made_file("sys/class/drm/card0/device/hwmon/hwmon1/power1_input", "7000\n");
  s = sampled_by("", 0);
  (void)sampled_at(s, 1);
  made_file("sys/class/drm/card0/device/gpu_busy_percent", "50\n");
  assert_ok(pai_sample_get_gpu(sampled_at(s, 2), 0, &v));
  assert_int_equal(v.busy_percent, 50);
  assert_int_equal(v.memory_total, 100);
  assert_int_equal(v.memory_used, 10);
  assert_int_equal(v.power_mw, 7);
  assert_int_equal(v.temperature, -1);
  pai_sampler_free(s);
  made_end();
}

/* --- groups --------------------------------------------------------------- */

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

TEST(groups_are_summed_up)
{
  int64_t page = (int64_t)sysconf(_SC_PAGESIZE);
  VIEW(m, pai_sample_machine);
  const pai_sample *sample;
  pai_sample_group g;
  pai_sampler *s;

  sampled_machine();
  sampled_process(10, 10, 5, 1, 100);
  sampled_process(11, 10, 5, 1, 50);
  sampled_process(12, 12, 5, 1, 7);
  sampled_process(3, 0, 0, 1, 1000); /* the kernel's */
  make_io(10, 1000, 2000);
  s = sampled_by("", 1);
  assert_ok(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 10, NULL));
  assert_ok(pai_sampler_watch(s, PAI_SAMPLE_SESSION, 5, NULL));
  assert_ok(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 99, NULL));
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
  assert_ok(pai_sample_get(sample, &m));
  assert_int_equal(m.groups, 4); /* that of 12 has gone */
  assert_ok(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL));
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL),
                   PAI_ENOTFOUND);
  sample = sampled_at(s, 3000000);
  assert_int_equal(sampled_group(sample, 0).kind, PAI_SAMPLE_SESSION);
  pai_sampler_free(s);
  made_end();
}

TEST(cgroups_tell_of_themselves)
{
  pai_sample_group g;
  pai_error *err;
  pai_sampler *s;

  sampled_machine();
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\nuser_usec 1\n");
  made_file("sys/fs/cgroup/job/memory.current", "8192\n");
  made_file("sys/fs/cgroup/job/pids.current", "3\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=200 rios=1\n");
  s = sampled_by("", 0);
  assert_ok(pai_sampler_watch_cgroup(s, "/job", NULL));
  assert_fails(pai_sampler_watch_cgroup(s, "/job", &err), err, PAI_EEXISTS,
               "/job");
  assert_fails(pai_sampler_watch_cgroup(s, "/no", &err), err, PAI_ENOTFOUND,
               "no cgroup /no");
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
  assert_ok(pai_sampler_unwatch(s, PAI_SAMPLE_CGROUP, 0, "/job"));
  made_file("sys/fs/cgroup/cpuacct/old/cpuacct.usage", "7000000000\n");
  made_file("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "55\n");
  made_file("sys/fs/cgroup/blkio/old/blkio.throttle.io_service_bytes",
            "8:0 Read 5\n8:0 Write 6\n8:0 Sync 9\nTotal 20\n");
  assert_ok(pai_sampler_watch_cgroup(s, "/old", NULL));
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

TEST(no_memory_is_survived)
{
  static char path[] = FAKE_NEW;

  sampled_machine();
  sampled_process(1000, 77, 77, 1, 1);
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=200 rios=1\n");
  made_file("sys/fs/cgroup/job/cgroup.procs", "1000\n");
  fake.machine("2");
  test_faults(sample_with, path);
  made_end();
}

/* --- what goes wrong --------------------------------------------------------- */

static void expect_failure(pai_sampler *s, pai_time now, int code,
                           const char *part)
{
  const pai_sample *sample = (const pai_sample *)s;
  pai_error *err;

  assert_int_equal(pai_sampler_take(&sample, s, now, &err), code);
  assert_null(sample);
  test_expect_error(err, code, part);
}

TEST(bad_files_are_errors_or_missing)
{
  VIEW(m, pai_sample_machine);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  pai_error *err;
  pai_sampler *s;
  char *huge;

  o.root = made_root();
  o.nvml = "";
  assert_int_equal(pai_sampler_new(&s, &o, &err), PAI_ENOTSUP);
  assert_null(s);
  test_expect_error(err, PAI_ENOTSUP, "/proc/stat");
  sampled_machine();
  made_remove("proc/diskstats");
  made_file("proc/net/dev", "\n:::\n x: y\n");
  made_file("proc/loadavg", "none");
  made_file("proc/7/stat", "7 (no");
  s = sampled_by("", 1);
  sample = sampled_at(s, 1);
  assert_ok(pai_sample_get(sample, &m));
  assert_int_equal(m.disks + m.networks + m.groups, 0);
  assert_int_equal(m.load[0], -1);
  expect_failure(s, 1, PAI_EINVAL, "must be after");
  made_file("proc/stat", "rubbish");
  expect_failure(s, 2, PAI_EIO, "proc/stat");
  made_file("proc/stat", "cpu 1 2 3 4\n");
  made_file("proc/meminfo", "");
  expect_failure(s, 2, PAI_EIO, "proc/meminfo");
  huge = calloc(1, 17 << 20);
  assert_non_null(huge);
  made_bytes("proc/meminfo", huge, 17 << 20);
  free(huge);
  expect_failure(s, 2, PAI_ELIMIT, "proc/meminfo");
  sampled_machine();
  (void)sampled_at(s, 2); /* as if nothing had been */
  pai_sampler_free(s);
  assert_int_equal(pai_sample_get(NULL, &m), PAI_EINVAL);
  made_end();
}

TEST(calls_are_checked)
{
  VIEW(m, pai_sample_machine);
  const pai_sample *sample;
  pai_error *err;
  pai_sampler *s;

  sampled_machine();
  s = sampled_by("", 0);
  assert_fails(pai_sampler_watch(s, PAI_SAMPLE_CGROUP, 1, &err), err,
               PAI_EINVAL, "kind");
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 0, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_sampler_watch_cgroup(s, "job", NULL), PAI_EINVAL);
  assert_ok(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 4, NULL));
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 4, NULL),
                   PAI_EEXISTS);
  assert_int_equal(pai_sampler_take(&sample, NULL, 1, NULL), PAI_EINVAL);
  m.struct_size = 8;
  assert_int_equal(pai_sample_get(sampled_at(s, 1), &m), PAI_EINVAL);
  pai_sampler_free(s);
  pai_sampler_free(NULL);
  made_end();
}

TEST(this_machine_is_sampled)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  test_tally tally;
  pai_sampler *s;
  size_t calls, i = 0;

  /* That of who began it may have no number in a container. */
  (void)setpgid(0, 0);
  test_tally_init(&tally);
  o.alloc = &tally.alloc;
  o.nvml = "";
  o.all_groups = 1;
  assert_ok(pai_sampler_new(&s, &o, NULL));
  assert_ok(pai_sampler_watch(s, PAI_SAMPLE_GROUP, (int64_t)getpgrp(), NULL));
  for (pai_time t = 1; t < 4; t++)
    (void)sampled_at(s, t);
  calls = tally.calls;
  sample = sampled_at(s, 5);
  assert_true(tally.calls <= calls + 1); /* a process may have come */
  assert_ok(pai_sample_get(sample, &m));
  assert_true(m.cpus > 0 && m.memory_total > m.memory_free);
  assert_ok(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c));
  assert_true(c.user > 0);
  assert_true(sampled_group(sample, 0).processes > 0);
  assert_true(sampled_group(sample, 0).memory > 0);
  while (sampled_group(sample, ++i).id != getpgrp())
    ;
  assert_int_equal(sampled_group(sample, i).processes,
                   sampled_group(sample, 0).processes);
  pai_sampler_free(s);
  assert_int_equal(tally.live, 0);
}
