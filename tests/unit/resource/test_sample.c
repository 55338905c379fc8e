/* Samples of made machines with known answers, and of this one. */
#include "fake.h"

#include <openpai/sample.h>

#include <stdlib.h>
#include <unistd.h>

static fake_nvml fake;

#define VIEW(name, type) type name = { .struct_size = sizeof(name) }

static void make_machine(void)
{
  made_file("proc/stat", "cpu  100 0 50 800 10 0 0 5\n"
                         "cpu0 60 0 20 400 10 0 0 5\n"
                         "cpu1 40 0 30 400 0 0 0 0\nintr 1\n");
  made_file("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\n"
                            "MemAvailable: 700 kB\nBuffers: 10 kB\n"
                            "Cached: 500 kB\nSwapTotal: 64 kB\n"
                            "SwapFree: 32 kB\n");
  made_file("proc/loadavg", "1.50 0.75 0.10 3/200 999\n");
  made_file("proc/diskstats", "8 0 sda 10 0 100 0 20 0 200 0 0 500\n"
                              "8 1 sda1 10 0 100 0 20 0 200 0 0 500\n"
                              "253 0 dm-0 10 0 100 0 20 0 200 0 0 500\n"
                              "7 0 loop0 0 0 0 0 0 0 0 0 0 0\n");
  made_file("proc/net/dev", "a\nb\n"
                            " lo: 1000 10 0 0 0 0 0 0 1000 10 0 0\n"
                            " eth0: 5000 50 1 0 0 0 0 0 7000 70 2 0\n"
                            " docker0: 100 1 0 0 0 0 0 0 100 1 0 0\n");
}

/* A second and later. */
static void move_on(void)
{
  made_file("proc/stat", "cpu  150 0 70 900 5 0 0 15\n"
                         "cpu0 110 0 20 440 5 0 0 15\n"
                         "cpu1 40 0 50 460 0 0 0 0\n");
  made_file("proc/diskstats", "8 0 sda 110 0 300 0 20 0 1200 0 0 750\n"
                              "253 0 dm-0 10 0 100 0 20 0 200 0 0 500\n"
                              "8 16 sdb 1 0 8 0 0 0 0 0 0 1\n");
  made_file("proc/net/dev", "a\nb\n"
                            " lo: 2000 20 0 0 0 0 0 0 2000 20 0 0\n"
                            " eth0: 1005000 1050 1 0 0 0 0 0 6000 75 2 0\n");
}

static pai_sampler *sampler_of(const char *nvml, int all)
{
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_sampler *s;

  o.root = made_root();
  o.nvml = nvml;
  o.all_groups = all;
  if (pai_sampler_new(&s, &o, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  return s;
}

static const pai_sample *take(pai_sampler *s, pai_time now)
{
  const pai_sample *sample;
  pai_error *err;

  if (pai_sampler_take(&sample, s, now, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  return sample;
}

/* --- made machines ---------------------------------------------------------- */

static void the_first_has_totals(void **state)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  VIEW(d, pai_sample_disk);
  VIEW(n, pai_sample_network);
  const pai_sample *sample;
  pai_sampler *s;

  (void)state;
  make_machine();
  s = sampler_of("", 0);
  sample = take(s, 1000);
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
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
  assert_int_equal(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c), PAI_OK);
  assert_int_equal(c.user, 1000000);
  assert_int_equal(c.idle, 8000000);
  assert_int_equal(c.busy_rate, -1);
  assert_int_equal(pai_sample_get_disk(sample, 0, &d), PAI_OK);
  assert_string_equal(d.name, "sda");
  assert_int_equal(d.counted, 1);
  assert_int_equal(d.read_bytes, 51200);
  assert_int_equal(d.read_bytes_rate, -1);
  assert_int_equal(d.busy_permille, -1);
  assert_int_equal(pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d), PAI_OK);
  assert_string_equal(d.name, "");
  assert_int_equal(d.write_bytes, 102400); /* without dm-0 */
  assert_int_equal(pai_sample_get_disk(sample, 2, &d), PAI_ENOTFOUND);
  assert_int_equal(pai_sample_get_network(sample, PAI_SAMPLE_SUM, &n), PAI_OK);
  assert_int_equal(n.rx_bytes, 5000); /* without lo and docker0 */
  assert_int_equal(n.tx_errors, 2);
  assert_int_equal(n.rx_bytes_rate, -1);
  pai_sampler_free(s);
  made_end();
}

static void the_second_has_rates(void **state)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  VIEW(d, pai_sample_disk);
  VIEW(n, pai_sample_network);
  const pai_sample *sample;
  pai_sampler *s;

  (void)state;
  make_machine();
  s = sampler_of("", 0);
  (void)take(s, 1000000);
  move_on();
  sample = take(s, 1500000);
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
  assert_int_equal(m.elapsed, 500000);
  assert_int_equal(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c), PAI_OK);
  assert_int_equal(c.user_rate, 1000); /* 50 ticks of 10 ms in 0.5 s */
  assert_int_equal(c.system_rate, 400);
  assert_int_equal(c.busy_rate, 1600); /* and what was stolen */
  assert_int_equal(c.iowait_rate, 0);  /* went backwards */
  assert_int_equal(pai_sample_get_cpu(sample, 1, &c), PAI_OK);
  assert_int_equal(c.number, 1);
  assert_int_equal(c.busy_rate, 400);
  assert_int_equal(pai_sample_get_cpu(sample, 2, &c), PAI_ENOTFOUND);
  assert_int_equal(pai_sample_get_disk(sample, 0, &d), PAI_OK);
  assert_int_equal(d.reads_rate, 200);
  assert_int_equal(d.read_bytes_rate, 204800);
  assert_int_equal(d.write_bytes_rate, 1024000);
  assert_int_equal(d.writes_rate, 0);
  assert_int_equal(d.busy_permille, 500);
  assert_int_equal(pai_sample_get_disk(sample, 2, &d), PAI_OK);
  assert_string_equal(d.name, "sdb"); /* has come */
  assert_int_equal(d.reads_rate, -1);
  assert_int_equal(pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d), PAI_OK);
  assert_int_equal(d.read_bytes_rate, 204800);
  assert_int_equal(d.busy_permille, -1);
  assert_int_equal(m.networks, 2); /* docker0 has gone */
  assert_int_equal(pai_sample_get_network(sample, 1, &n), PAI_OK);
  assert_string_equal(n.name, "eth0");
  assert_int_equal(n.rx_bytes_rate, 2000000);
  assert_int_equal(n.rx_packets_rate, 2000);
  assert_int_equal(n.tx_bytes_rate, -1); /* went backwards */
  assert_int_equal(n.tx_packets_rate, 10);
  assert_int_equal(n.rx_errors_rate, 0);
  pai_sampler_free(s);
  made_end();
}

static void limits_are_the_tightest(void **state)
{
  VIEW(m, pai_sample_machine);
  pai_sampler *s;

  (void)state;
  make_machine();
  made_file("proc/self/cgroup", "0::/a/b\n");
  made_file("sys/fs/cgroup/a/b/memory.max", "max\n");
  made_file("sys/fs/cgroup/a/b/memory.current", "5\n");
  made_file("sys/fs/cgroup/a/memory.max", "4096\n");
  made_file("sys/fs/cgroup/a/memory.current", "77\n");
  s = sampler_of("", 0);
  assert_int_equal(pai_sample_get(take(s, 1), &m), PAI_OK);
  assert_int_equal(m.memory_limit, 4096);
  assert_int_equal(m.memory_used, 77);
  made_file("sys/fs/cgroup/a/b/memory.max", "1024\n");
  assert_int_equal(pai_sample_get(take(s, 2), &m), PAI_OK);
  assert_int_equal(m.memory_limit, 1024);
  assert_int_equal(m.memory_used, 5);
  pai_sampler_free(s);
  made_file("proc/self/cgroup", "3:memory:/not/there\n");
  made_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "2048\n");
  made_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
  s = sampler_of("", 0); /* a container with its host's path */
  assert_int_equal(pai_sample_get(take(s, 1), &m), PAI_OK);
  assert_int_equal(m.memory_limit, 2048);
  pai_sampler_free(s);
  made_end();
}

static void file_systems_are_looked_at(void **state)
{
  static const char *const paths[] = { "/", "/not/there" };
  VIEW(f, pai_sample_file_system);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  pai_sampler *s;

  (void)state;
  make_machine();
  o.root = made_root();
  o.nvml = "";
  o.paths = paths;
  o.path_count = 2;
  assert_int_equal(pai_sampler_new(&s, &o, NULL), PAI_OK);
  sample = take(s, 1);
  assert_int_equal(pai_sample_get_file_system(sample, 0, &f), PAI_OK);
  assert_string_equal(f.path, "/");
  assert_true(f.total > 0 && f.free >= 0 && f.free <= f.total);
  assert_int_equal(pai_sample_get_file_system(sample, 1, &f), PAI_OK);
  assert_int_equal(f.total, -1);
  assert_int_equal(pai_sample_get_file_system(sample, 2, &f), PAI_ENOTFOUND);
  pai_sampler_free(s);
  made_end();
}

/* --- groups ------------------------------------------------------------------ */

static void make_process(int pid, int group, int session, int started,
                         int ticks)
{
  char path[64], text[256];

  (void)snprintf(path, sizeof(path), "proc/%d/stat", pid);
  (void)snprintf(text, sizeof(text),
                 "%d (p%d) S 1 %d %d 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 %d 1 2",
                 pid, pid, group, session, ticks, started);
  made_file(path, text);
}

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

static pai_sample_group group(const pai_sample *sample, size_t i)
{
  VIEW(g, pai_sample_group);

  assert_int_equal(pai_sample_get_group(sample, i, &g), PAI_OK);
  return g;
}

static void groups_are_summed_up(void **state)
{
  int64_t page = (int64_t)sysconf(_SC_PAGESIZE);
  VIEW(m, pai_sample_machine);
  const pai_sample *sample;
  pai_sample_group g;
  pai_sampler *s;

  (void)state;
  make_machine();
  make_process(10, 10, 5, 1, 100);
  make_process(11, 10, 5, 1, 50);
  make_process(12, 12, 5, 1, 7);
  make_process(3, 0, 0, 1, 1000); /* the kernel's */
  make_io(10, 1000, 2000);
  s = sampler_of("", 1);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 10, NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_SESSION, 5, NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 99, NULL), PAI_OK);
  sample = take(s, 1000000);
  g = group(sample, 0);
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
  assert_int_equal(group(sample, 1).processes, 3);
  assert_int_equal(group(sample, 2).processes, 0);
  assert_int_equal(group(sample, 3).id, 10); /* of all */
  assert_int_equal(group(sample, 3).watched, 0);
  assert_int_equal(group(sample, 3).read_bytes, -1);
  assert_int_equal(group(sample, 4).id, 12);
  make_process(10, 10, 5, 1, 150);
  make_process(11, 10, 5, 2, 20); /* another one of this number */
  make_process(13, 10, 5, 2, 30); /* a new one */
  made_remove("proc/12");
  make_io(10, 1500, 2000);
  sample = take(s, 2000000);
  g = group(sample, 0);
  assert_int_equal(g.processes, 3);
  assert_int_equal(g.cpu, 2500000);
  assert_int_equal(g.cpu_rate, 1000);
  assert_int_equal(g.read_bytes, 1500);
  assert_int_equal(g.read_bytes_rate, 500);
  assert_int_equal(g.write_bytes_rate, 0);
  g = group(sample, 1);
  assert_int_equal(g.cpu, 2570000); /* with what the one that ended had */
  g = group(sample, 3);
  assert_int_equal(g.id, 10);
  assert_int_equal(g.cpu_rate, 1000);
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
  assert_int_equal(m.groups, 4); /* that of 12 has gone */
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL), PAI_OK);
  assert_int_equal(pai_sampler_unwatch(s, PAI_SAMPLE_GROUP, 10, NULL),
                   PAI_ENOTFOUND);
  sample = take(s, 3000000);
  assert_int_equal(group(sample, 0).kind, PAI_SAMPLE_SESSION);
  pai_sampler_free(s);
  made_end();
}

static void cgroups_tell_of_themselves(void **state)
{
  pai_sample_group g;
  pai_error *err;
  pai_sampler *s;

  (void)state;
  make_machine();
  made_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\nuser_usec 1\n");
  made_file("sys/fs/cgroup/job/memory.current", "8192\n");
  made_file("sys/fs/cgroup/job/pids.current", "3\n");
  made_file("sys/fs/cgroup/job/io.stat", "8:0 rbytes=100 wbytes=200 rios=1\n");
  s = sampler_of("", 0);
  assert_int_equal(pai_sampler_watch_cgroup(s, "/job", NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch_cgroup(s, "/job", &err), PAI_EEXISTS);
  test_expect_error(err, PAI_EEXISTS, "/job");
  assert_int_equal(pai_sampler_watch_cgroup(s, "/no", &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no cgroup /no");
  g = group(take(s, 1000000), 0);
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
  g = group(take(s, 2000000), 0);
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
  g = group(take(s, 3000000), 0);
  assert_int_equal(g.cpu, 7000000);
  assert_int_equal(g.memory, 55);
  assert_int_equal(g.processes, -1);
  assert_int_equal(g.read_bytes, 5);
  assert_int_equal(g.write_bytes, 6);
  pai_sampler_free(s);
  made_end();
}

/* --- GPUs -------------------------------------------------------------------- */

static void gpus_are_sampled(void **state)
{
  VIEW(v, pai_sample_gpu);
  const pai_sample *sample;
  pai_sampler *s;

  (void)state;
  make_machine();
  make_process(1000, 77, 77, 1, 1);
  make_process(1001, 77, 77, 1, 1);
  fake.machine("2");
  s = sampler_of(FAKE_NEW, 1);
  assert_int_equal(pai_gpus_count(pai_sampler_gpus(s)), 2);
  sample = take(s, 1);
  assert_int_equal(pai_sample_get_gpu(sample, 1, &v), PAI_OK);
  assert_int_equal(v.lost, 0);
  assert_int_equal(v.busy_percent, 91);
  assert_int_equal(v.memory_used, 3ll << 30);
  assert_int_equal(v.temperature, 41);
  assert_int_equal(v.power_mw, 123456);
  assert_int_equal(v.power_limit_mw, 350000);
  assert_int_equal(pai_sample_get_gpu(sample, 2, &v), PAI_ENOTFOUND);
  assert_int_equal(group(sample, 0).id, 77);
  /* a GiB on each; that one of them draws, too, adds nothing */
  assert_int_equal(group(sample, 0).gpu_memory, 2ll << 30);
  fake.lose(1);
  sample = take(s, 2);
  assert_int_equal(pai_sample_get_gpu(sample, 1, &v), PAI_OK);
  assert_int_equal(v.lost, 1);
  assert_int_equal(v.memory_used, -1);
  assert_int_equal(pai_sample_get_gpu(sample, 0, &v), PAI_OK);
  assert_int_equal(v.lost, 0);
  pai_sampler_free(s);
  made_file("sys/class/drm/card0/device/vendor", "0x1002\n");
  made_file("sys/class/drm/card0/device/mem_info_vram_total", "100\n");
  made_file("sys/class/drm/card0/device/mem_info_vram_used", "10\n");
  made_file("sys/class/drm/card0/device/gpu_busy_percent", "5\n");
  made_file("sys/class/drm/card0/device/hwmon/hwmon1/power1_input", "7000\n");
  s = sampler_of("", 0);
  (void)take(s, 1);
  made_file("sys/class/drm/card0/device/gpu_busy_percent", "50\n");
  assert_int_equal(pai_sample_get_gpu(take(s, 2), 0, &v), PAI_OK);
  assert_int_equal(v.busy_percent, 50);
  assert_int_equal(v.memory_total, 100);
  assert_int_equal(v.memory_used, 10);
  assert_int_equal(v.power_mw, 7);
  assert_int_equal(v.temperature, -1);
  pai_sampler_free(s);
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

static void bad_files_are_errors_or_missing(void **state)
{
  VIEW(m, pai_sample_machine);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  pai_error *err;
  pai_sampler *s;
  char *huge;

  (void)state;
  o.root = made_root();
  o.nvml = "";
  assert_int_equal(pai_sampler_new(&s, &o, &err), PAI_ENOTSUP);
  assert_null(s);
  test_expect_error(err, PAI_ENOTSUP, "/proc/stat");
  make_machine();
  made_remove("proc/diskstats");
  made_file("proc/net/dev", "\n:::\n x: y\n");
  made_file("proc/loadavg", "none");
  made_file("proc/7/stat", "7 (no");
  s = sampler_of("", 1);
  sample = take(s, 1);
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
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
  make_machine();
  (void)take(s, 2); /* as if nothing had been */
  pai_sampler_free(s);
  assert_int_equal(pai_sample_get(NULL, &m), PAI_EINVAL);
  made_end();
}

static void calls_are_checked(void **state)
{
  VIEW(m, pai_sample_machine);
  const pai_sample *sample;
  pai_error *err;
  pai_sampler *s;

  (void)state;
  make_machine();
  s = sampler_of("", 0);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_CGROUP, 1, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "kind");
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 0, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_sampler_watch_cgroup(s, "job", NULL), PAI_EINVAL);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 4, NULL), PAI_OK);
  assert_int_equal(pai_sampler_watch(s, PAI_SAMPLE_GROUP, 4, NULL),
                   PAI_EEXISTS);
  assert_int_equal(pai_sampler_take(&sample, NULL, 1, NULL), PAI_EINVAL);
  m.struct_size = 8;
  assert_int_equal(pai_sample_get(take(s, 1), &m), PAI_EINVAL);
  pai_sampler_free(s);
  pai_sampler_free(NULL);
  made_end();
}

static void this_machine_is_sampled(void **state)
{
  VIEW(m, pai_sample_machine);
  VIEW(c, pai_sample_cpu);
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  const pai_sample *sample;
  test_tally tally;
  pai_sampler *s;
  size_t calls, i = 0;

  (void)state;
  test_tally_init(&tally);
  o.alloc = &tally.alloc;
  o.nvml = "";
  o.all_groups = 1;
  assert_int_equal(pai_sampler_new(&s, &o, NULL), PAI_OK);
  assert_int_equal(
    pai_sampler_watch(s, PAI_SAMPLE_GROUP, (int64_t)getpgrp(), NULL), PAI_OK);
  for (pai_time t = 1; t < 4; t++)
    (void)take(s, t);
  calls = tally.calls;
  sample = take(s, 5);
  assert_true(tally.calls <= calls + 1); /* a process may have come */
  assert_int_equal(pai_sample_get(sample, &m), PAI_OK);
  assert_true(m.cpus > 0 && m.memory_total > m.memory_free);
  assert_int_equal(pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c), PAI_OK);
  assert_true(c.user > 0);
  assert_true(group(sample, 0).processes > 0);
  assert_true(group(sample, 0).memory > 0);
  while (group(sample, ++i).id != getpgrp())
    ;
  assert_int_equal(group(sample, i).processes, group(sample, 0).processes);
  pai_sampler_free(s);
  assert_int_equal(tally.live, 0);
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
    assert_int_equal(group(sample, 0).processes, 1);
  if (rc == PAI_OK)
    rc = pai_sampler_take(&sample, s, 2, NULL);
  pai_sampler_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  static char path[] = FAKE_NEW;

  (void)state;
  make_machine();
  make_process(1000, 77, 77, 1, 1);
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
    cmocka_unit_test(the_first_has_totals),
    cmocka_unit_test(the_second_has_rates),
    cmocka_unit_test(limits_are_the_tightest),
    cmocka_unit_test(file_systems_are_looked_at),
    cmocka_unit_test(groups_are_summed_up),
    cmocka_unit_test(cgroups_tell_of_themselves),
    cmocka_unit_test(gpus_are_sampled),
    cmocka_unit_test(bad_files_are_errors_or_missing),
    cmocka_unit_test(calls_are_checked),
    cmocka_unit_test(this_machine_is_sampled),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed;

  fake_open(&fake, FAKE_NEW);
  failed = cmocka_run_group_tests(tests, NULL, NULL);
  fake_close(&fake);
  return failed;
}
