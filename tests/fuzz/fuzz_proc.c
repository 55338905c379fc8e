/*
 * fuzz_proc.c - the kernel's text files, as they might be
 *
 * Every parser gets the text, as a copy of just its length.  Then its two
 * halves are two samples, one second after the other.
 */
#include "check.h"
#include "resource/sample/sample.h"

static void check_numbers(const char *text, size_t len)
{
  int32_t now = -1, most = -1;
  pai__proc_memory m;
  pai__proc_load l;
  pai__proc_task t;
  size_t path_len;
  const char *path;

  CHECK(pai__proc_number(text, len) >= -1);
  CHECK(pai__proc_limit(text, len) < (int64_t)1 << 60);
  CHECK(pai__proc_field(text, len, "read_bytes:") >= -1);
  CHECK(pai__proc_sum(text, len, "rbytes=") >= 0);
  CHECK(pai__proc_sum(text, len, "Read ") >= 0);
  pai__proc_dpm(text, len, &now, &most);
  CHECK(now <= most);
  pai__proc_memory_of(&m, text, len);
  CHECK(m.total >= -1 && m.swap_free >= -1);
  pai__proc_load_of(&l, text, len);
  CHECK(l.load[0] >= -1 && l.running >= -1);
  if (pai__proc_task_of(&t, text, len))
    CHECK(t.pid >= 0 && t.group >= 0 && strlen(t.name) < sizeof(t.name));
  path = pai__proc_cgroup(text, len, "memory", &path_len);
  if (path != NULL)
    CHECK(path[0] == '/' && path >= text && path + path_len <= text + len);
}

static void check_devices(const pai__devices *d, bool first)
{
  for (size_t i = 0; i < d->count; i++) {
    CHECK(strlen(d->list[i].name) < PAI__DEVICE_NAME);
    for (int c = 0; c < PAI__COUNTERS; c++) {
      CHECK(d->list[i].rate[c] >= -1);
      CHECK(!first || d->list[i].rate[c] == -1 || d->list[i].rate[c] >= 0);
    }
  }
}

typedef int (*sampled)(pai__devices *d, const pai_alloc *alloc,
                       const char *text, size_t len, pai_time now, bool first);

static void check_samples(sampled sample, const char *text, size_t len)
{
  const pai_alloc *a = &pai__libc_alloc;
  pai__devices d = { .count = 0 };
  size_t half = len / 2;

  CHECK(sample(&d, a, text, half, 1000000, true) == PAI_OK);
  check_devices(&d, true);
  CHECK(sample(&d, a, text + half, len - half, 2000000, false) == PAI_OK);
  check_devices(&d, false);
  pai__devices_dispose(&d, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const pai_alloc *a = &pai__libc_alloc;
  pai__devices cpus = { .count = 0 };
  char *text = malloc(size != 0 ? size : 1); /* exact: reading on is seen */
  int rc;

  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  check_numbers(text, size);
  check_samples(pai__sample_disks, text, size);
  check_samples(pai__sample_networks, text, size);
  rc = pai__sample_cpus(&cpus, a, text, size, 1, true, 100);
  CHECK(rc == PAI_OK || rc == PAI_EIO);
  pai__devices_dispose(&cpus, a);
  free(text);
  return 0;
}
