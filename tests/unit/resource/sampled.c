/* sampled.c - a made machine, and samples of it, in tests */
#include "sampled.h"

void sampled_machine(void)
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

void sampled_later(void)
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

pai_sampler *sampled_by(const char *nvml, int all)
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

const pai_sample *sampled_at(pai_sampler *s, pai_time now)
{
  const pai_sample *sample;
  pai_error *err;

  if (pai_sampler_take(&sample, s, now, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  return sample;
}

void sampled_process(int pid, int group, int session, int started, int ticks)
{
  char path[64], text[256];

  (void)snprintf(path, sizeof(path), "proc/%d/stat", pid);
  (void)snprintf(text, sizeof(text),
                 "%d (p%d) S 1 %d %d 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 %d 1 2",
                 pid, pid, group, session, ticks, started);
  made_file(path, text);
}

pai_sample_group sampled_group(const pai_sample *sample, size_t i)
{
  VIEW(g, pai_sample_group);

  assert_ok(pai_sample_get_group(sample, i, &g));
  return g;
}
