/* The kernel's text files, well-formed and not; counters becoming rates. */
#include "cases.h"

#include "base/buf.h"
#include "resource/sample/sample.h"

#define WALK(text) pai__proc_walk_of(text, strlen(text))
#define TEXT(text) text, strlen(text)

TEST(numbers_are_bounded)
{
  assert_int_equal(pai__proc_number(TEXT("42\n")), 42);
  assert_int_equal(pai__proc_number(TEXT(" \t7 9")), 7);
  assert_int_equal(pai__proc_number(TEXT("9223372036854775807")), INT64_MAX);
  assert_int_equal(pai__proc_number(TEXT("9223372036854775808")), -1);
  assert_int_equal(pai__proc_number(TEXT("99999999999999999999999")), -1);
  assert_int_equal(pai__proc_number(TEXT("-3")), -1);
  assert_int_equal(pai__proc_number(TEXT("max")), -1);
  assert_int_equal(pai__proc_number("", 0), -1);
  assert_int_equal(pai__proc_number("123", 2), 12); /* no byte after its end */
  assert_int_equal(pai__proc_limit(TEXT("max\n")), -1);
  assert_int_equal(pai__proc_limit(TEXT("9223372036854771712\n")), -1);
  assert_int_equal(pai__proc_limit(TEXT("1073741824\n")), 1073741824);
}

TEST(fields_are_found)
{
  static const char io[] = "8:0 rbytes=90 wbytes=1 rios=1\n8:16 rbytes=10\n";
  int32_t now = -1, most = -1;

  assert_int_equal(pai__proc_field(TEXT("a 1\nab 2\nb: 3\n"), "ab"), 2);
  assert_int_equal(pai__proc_field(TEXT("a 1\nab 2\nb: 3\n"), "b:"), 3);
  assert_int_equal(pai__proc_field(TEXT("xa 1\n"), "a"), -1);
  assert_int_equal(pai__proc_field(TEXT("a"), "a"), -1);
  assert_int_equal(pai__proc_sum(TEXT(io), "rbytes="), 100);
  assert_int_equal(pai__proc_sum(TEXT(io), "wbytes="), 1);
  assert_int_equal(pai__proc_sum(TEXT(io), "bytes="), 0);
  assert_int_equal(
    pai__proc_sum(TEXT("Read 18446744073709551615 Read 9"), "Read "),
    INT64_MAX);
  pai__proc_dpm(TEXT("0: 500Mhz\nrubbish\n1: 800Mhz *\n2: 1Mhz\n"), &now,
                &most);
  assert_int_equal(now, 800);
  assert_int_equal(most, 800);
}

TEST(processors_are_read)
{
  pai__proc_walk w = WALK("cpu  10 5 7 100 3 1 2 4 0 0\n"
                          "cpu0 1 1 1 1\n"
                          "cpu11 1 2 3 4 5 6 7 8\n"
                          "intr 5\ncpu1 1 1 1 1\n");
  pai__proc_cpu c;

  assert_true(pai__proc_next_cpu(&w, &c));
  assert_int_equal(c.number, -1);
  assert_int_equal(c.user, 15);
  assert_int_equal(c.system, 10);
  assert_int_equal(c.idle, 100);
  assert_int_equal(c.iowait, 3);
  assert_int_equal(c.steal, 4);
  assert_true(pai__proc_next_cpu(&w, &c));
  assert_int_equal(c.number, 0);
  assert_int_equal(c.iowait, 0); /* an old kernel's */
  assert_true(pai__proc_next_cpu(&w, &c));
  assert_int_equal(c.number, 11);
  assert_false(pai__proc_next_cpu(&w, &c));
  w = WALK("cpu 1 2 3\n");
  assert_false(pai__proc_next_cpu(&w, &c));
  w = WALK("cpu99999999999 1 2 3 4\n");
  assert_false(pai__proc_next_cpu(&w, &c));
}

TEST(disks_are_read)
{
  pai__proc_walk w = WALK(
    "   8  0 sda 10 0 4 9 20 0 6 9 0 55 9 1 1\n"
    "   8  1 sda1 1 2 3\n"
    "rubbish\n"
    "   8  2 aname-that-is-far-too-long-for-any-disk-there-is 1 1 1 1 1 1 "
    "1 1 1 1\n"
    "   8  3 sdb 1 1 99999999999999999999 1 1 1 1 1 1 1\n"
    "   8  4 sdc 1 0 1 0 1 0 1 0 0 1\n");
  pai__proc_disk d;

  assert_true(pai__proc_next_disk(&w, &d));
  assert_string_equal(d.name, "sda");
  assert_int_equal(d.reads, 10);
  assert_int_equal(d.read_bytes, 4 * 512);
  assert_int_equal(d.writes, 20);
  assert_int_equal(d.write_bytes, 6 * 512);
  assert_int_equal(d.busy_ms, 55);
  assert_true(pai__proc_next_disk(&w, &d));
  assert_string_equal(d.name, "sdc");
  assert_false(pai__proc_next_disk(&w, &d));
  assert_true(pai__proc_is_part("sda", "sda12"));
  assert_true(pai__proc_is_part("nvme0n1", "nvme0n1p2"));
  assert_false(pai__proc_is_part("nvme0n1", "nvme0n12"));
  assert_false(pai__proc_is_part("sda", "sdaa"));
  assert_false(pai__proc_is_part("sda", "sda"));
  assert_false(pai__proc_is_part("nvme0n1", "nvme0n1p"));
  assert_false(pai__proc_is_part("", "1"));
}

TEST(networks_are_read)
{
  pai__proc_walk w =
    WALK("Inter-|   Receive\n face |bytes    packets\n"
         "    lo: 1 2 3 4 5 6 7 8 9 10 11 12\n"
         "eth0:100 2 3 4 5 6 7 8 9 10 11 12\n"
         "eth1: 1 2 3\n"
         "eth2 1 2 3 4 5 6 7 8 9 10 11\n"
         "wlan-with-a-name-that-nobody-can-believe-in-at-all: "
         "1 2 3 4 5 6 7 8 9 10 11\n");
  pai__proc_net n;

  assert_true(pai__proc_next_net(&w, &n));
  assert_string_equal(n.name, "lo");
  assert_int_equal(n.rx_bytes, 1);
  assert_int_equal(n.rx_packets, 2);
  assert_int_equal(n.rx_errors, 3);
  assert_int_equal(n.tx_bytes, 9);
  assert_int_equal(n.tx_packets, 10);
  assert_int_equal(n.tx_errors, 11);
  assert_true(pai__proc_next_net(&w, &n));
  assert_string_equal(n.name, "eth0");
  assert_int_equal(n.rx_bytes, 100);
  assert_false(pai__proc_next_net(&w, &n));
  assert_true(pai__proc_is_stacked_net("lo"));
  assert_true(pai__proc_is_stacked_net("docker0"));
  assert_false(pai__proc_is_stacked_net("lower0"));
  assert_false(pai__proc_is_stacked_net("eth0"));
}

TEST(memory_and_load_are_read)
{
  pai__proc_memory m;
  pai__proc_load l;

  pai__proc_memory_of(&m, TEXT("MemTotal: 100 kB\nMemFree:  5 kB\nCached: 2 "
                               "kB\nBuffers: 1 kB\nSwapTotal: no\nMemAvailable"
                               ": 99999999999999999999999 kB"));
  assert_int_equal(m.total, 102400);
  assert_int_equal(m.free, 5120);
  assert_int_equal(m.buffers, 1024); /* in whatever order */
  assert_int_equal(m.cached, 2048);
  assert_int_equal(m.swap_total, -1);
  assert_int_equal(m.available, -1);
  assert_int_equal(m.swap_free, -1);
  pai__proc_load_of(&l, TEXT("0.15 10.00 3.07 2/104 6036\n"));
  assert_int_equal(l.load[0], 15);
  assert_int_equal(l.load[1], 1000);
  assert_int_equal(l.load[2], 307);
  assert_int_equal(l.running, 2);
  assert_int_equal(l.threads, 104);
  pai__proc_load_of(&l, TEXT("0.15 1."));
  assert_int_equal(l.load[0], 15);
  assert_int_equal(l.load[1], -1);
  assert_int_equal(l.running, -1);
}

TEST(processes_are_read)
{
  static const char good[] =
    "12 (a) b\n(c) S 1 34 56 0 -1 4 1 2 3 4 100 23 9 9 20 0 1 0 777 4096 25 1";
  pai__proc_task t;

  assert_true(pai__proc_task_of(&t, TEXT(good)));
  assert_int_equal(t.pid, 12);
  assert_string_equal(t.name, "a) b\n(c");
  assert_int_equal(t.group, 34);
  assert_int_equal(t.session, 56);
  assert_int_equal(t.ticks, 123);
  assert_int_equal(t.started, 777);
  assert_int_equal(t.rss_pages, 25);
  for (size_t len = 0; len < sizeof(good) - 4; len++)
    assert_false(pai__proc_task_of(&t, good, len));
  assert_true(pai__proc_task_of(
    &t, TEXT("1 (a name of more than twenty bytes) S 0 1 1 0 "
             "-1 4 1 2 3 4 1 2 9 9 20 0 1 0 7 4 2")));
  assert_string_equal(t.name, "a name of more than");
}

TEST(cgroups_are_found)
{
  static const char text[] = "9:name=systemd:/\n5:cpu,cpuacct:/a\n4:memory:"
                             "/b:c\n3:bad\n0::/v2\n";
  size_t len;
  const char *path;

  path = pai__proc_cgroup(TEXT(text), "memory", &len);
  assert_int_equal(len, 4);
  assert_memory_equal(path, "/b:c", 4);
  path = pai__proc_cgroup(TEXT(text), "cpuacct", &len);
  assert_memory_equal(path, "/a", 2);
  path = pai__proc_cgroup(TEXT(text), "", &len);
  assert_int_equal(len, 3);
  assert_memory_equal(path, "/v2", 3);
  assert_null(pai__proc_cgroup(TEXT(text), "cpua", &len));
  assert_null(pai__proc_cgroup("", 0, "", &len));
}

TEST(rates_are_of_a_second)
{
  assert_int_equal(pai__rate(100, 300, 1000000), 200);
  assert_int_equal(pai__rate(100, 300, 500000), 400);
  assert_int_equal(pai__rate(0, 1, 3000000), 0);
  assert_int_equal(pai__rate(5, 5, 7), 0);
  assert_int_equal(pai__rate(5, 6, 0), -1);
  assert_int_equal(pai__rate(5, 6, -1), -1);
  assert_int_equal(pai__rate(6, 5, 1000000), -1); /* went backwards */
  assert_int_equal(pai__rate(3000000000u, 5, 1000000), -1);
  assert_int_equal(pai__rate(UINT32_MAX - 9, 10, 1000000), 20); /* wrapped */
  assert_int_equal(pai__rate(UINT64_MAX - 9, 10, 1000000), 20);
  assert_int_equal(pai__rate(0, UINT64_MAX, 1), INT64_MAX);
  assert_int_equal(pai__rate(0, (uint64_t)1 << 62, (int64_t)1 << 62), 1000000);
}

TEST(devices_come_and_go)
{
  static const uint64_t one[PAI__COUNTERS] = { 1 },
                        ten[PAI__COUNTERS] = { 10 };
  pai__devices d = { .count = 0 };
  const pai_alloc *a = &pai__libc_alloc;
  bool is_new;

  pai__devices_begin(&d);
  pai__devices_put(&d, a, "a", one, 1000000, &is_new)->counted = true;
  pai__devices_put(&d, a, "b", one, 1000000, &is_new)->counted = true;
  assert_true(is_new);
  pai__devices_end(&d, 1000000, true);
  assert_int_equal(d.sum.count[0], 2);
  assert_int_equal(d.sum.rate[0], -1);
  pai__devices_begin(&d); /* a goes, c comes first */
  pai__devices_put(&d, a, "c", ten, 2000000, &is_new)->counted = true;
  assert_true(is_new);
  assert_int_equal(
    pai__devices_put(&d, a, "b", ten, 2000000, &is_new)->rate[0], 9);
  assert_false(is_new);
  pai__devices_end(&d, 2000000, false);
  assert_int_equal(d.count, 2);
  assert_string_equal(d.list[0].name, "c");
  assert_string_equal(d.list[1].name, "b");
  assert_int_equal(d.list[0].rate[0], -1);
  assert_int_equal(d.sum.count[0], 20);
  assert_int_equal(d.sum.rate[0], 9); /* of those that have one */
  pai__devices_dispose(&d, a);
}

TEST(there_may_be_absurdly_many)
{
  pai__devices d = { .count = 0 };
  pai__buf text = test_buf();

  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&text, "e%d: 1 2 3 4 5 6 7 8 9 10 11\n", i);
  assert_true(pai__buf_ok(&text));
  for (pai_time t = 1; t < 3; t++)
    assert_ok(pai__sample_networks(&d, &pai__libc_alloc, text.data, text.len,
                                   t, t == 1));
  assert_int_equal(d.count, 16384);
  assert_int_equal(d.sum.count[0], 16384);
  pai__devices_dispose(&d, &pai__libc_alloc);
  pai__buf_dispose(&text);
}

TEST(processes_are_compared)
{
  pai__sample_task before[] = { { .pid = 5, .started = 1, .ticks = 10 },
                                { .pid = 7, .started = 1, .ticks = 10 } };
  pai__sample_task now[] = { { .pid = 9, .started = 9, .ticks = 3 },
                             { .pid = 7, .started = 2, .ticks = 4 },
                             { .pid = 5, .started = 1, .ticks = 15 } };
  pai__tasks t = { now, before, 3, 3, 2, 2 };

  pai__tasks_compare(&t);
  assert_int_equal(now[0].pid, 5); /* in order */
  assert_int_equal(now[0].ticks_more, 5);
  assert_int_equal(now[1].ticks_more, 4); /* another one of this number */
  assert_int_equal(now[2].ticks_more, 3);
  assert_ptr_equal(pai__tasks_find(&t, 7), &now[1]);
  assert_null(pai__tasks_find(&t, 6));
  assert_null(pai__tasks_find(&t, 10));
}
