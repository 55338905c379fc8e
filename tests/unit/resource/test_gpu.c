/* The inventory of GPUs, on machines that are played and on made trees. */
#include "fake.h"

#include <openpai/gpu.h>

static fake_nvml fake, old;

static pai_gpus *list(const char *nvml)
{
  pai_gpus_options o = PAI_GPUS_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_gpus *gpus = NULL;

  o.nvml = nvml;
  o.root = made_root();
  assert_int_equal(pai_gpus_new(&gpus, &o, &err), PAI_OK);
  assert_null(err);
  assert_non_null(gpus);
  return gpus;
}

static pai_gpu_view get(const pai_gpus *gpus, size_t i)
{
  pai_gpu_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_gpus_get(gpus, i, &v), PAI_OK);
  return v;
}

static void expect_process(const pai_gpus *gpus, size_t i, size_t j, int pid,
                           int64_t memory, int foreign)
{
  pai_gpu_process_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_gpus_process(gpus, i, j, &v), PAI_OK);
  assert_int_equal(v.pid, pid);
  assert_int_equal(v.memory, memory);
  assert_int_equal(v.foreign, foreign);
}

static void expect_link(const pai_gpus *gpus, size_t i, uint32_t a, uint32_t b,
                        uint32_t links, int64_t speed)
{
  pai_gpu_link_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_gpus_link(gpus, i, &v), PAI_OK);
  assert_int_equal(v.a, a);
  assert_int_equal(v.b, b);
  assert_int_equal(v.links, links);
  assert_int_equal(v.mbytes_per_second, speed);
}

static void expect_no_link(const pai_gpus *gpus, size_t i)
{
  pai_gpu_link_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_gpus_link(gpus, i, &v), PAI_ENOTFOUND);
}

/* --- NVIDIA ---------------------------------------------------------------- */

static void nothing_is_no_error(void **state)
{
  pai_gpus *gpus;

  (void)state;
  gpus = list(""); /* not even looked for */
  assert_int_equal(pai_gpus_count(gpus), 0);
  assert_null(pai_gpus_note(gpus, 0));
  pai_gpus_free(gpus);
  fake.machine("0");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 0);
  assert_null(pai_gpus_note(gpus, 0));
  assert_string_equal(pai_gpus_driver(gpus), "535.104.05");
  pai_gpus_free(gpus);
  pai_gpus_free(NULL);
  assert_int_equal(pai_gpus_count(NULL), 0);
}

static void one_gpu_tells_all(void **state)
{
  pai_gpu_view v;
  pai_gpus *gpus;

  (void)state;
  fake.machine("1");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 1);
  v = get(gpus, 0);
  assert_int_equal(v.vendor, PAI_GPU_NVIDIA);
  assert_string_equal(v.model, "NVIDIA A100-SXM4-40GB");
  assert_string_equal(v.uuid, "GPU-00000000-0000-0000-0000-000000000000");
  assert_string_equal(v.pci, "0000:10:00.0");
  assert_int_equal(v.number, 0);
  assert_int_equal(v.parent, PAI_NO_GPU);
  assert_int_equal(v.device, 0);
  assert_int_equal(v.health, PAI_GPU_HEALTHY);
  assert_string_equal(v.reason, "");
  assert_int_equal(v.memory_total, 40ll << 30);
  assert_int_equal(v.memory_used, 3ll << 30); /* without what is reserved */
  assert_int_equal(v.compute_mode, PAI_GPU_SHARED);
  assert_int_equal(v.mig, 0);
  assert_int_equal(v.gpu_instance, -1);
  assert_int_equal(v.ecc, 1);
  assert_int_equal(v.ecc_corrected, 7);
  assert_int_equal(v.ecc_uncorrected, 0);
  assert_int_equal(v.clock_mhz, 1410);
  assert_int_equal(v.clock_max_mhz, 1500);
  assert_int_equal(v.memory_clock_mhz, 1215);
  assert_int_equal(v.memory_clock_max_mhz, 1600);
  assert_int_equal(v.temperature, 40);
  assert_int_equal(v.power_mw, 123456);
  assert_int_equal(v.power_limit_mw, 350000);
  assert_int_equal(v.busy_percent, 90);
  assert_int_equal(v.memory_busy_percent, 30);
  assert_int_equal(v.processes, 2);
  assert_int_equal(v.foreign, 0);
  expect_process(gpus, 0, 0, 900, -1, 0);
  expect_process(gpus, 0, 1, 1000, 1 << 30, 0);
  expect_no_link(gpus, 0);
  pai_gpus_free(gpus);
}

static void two_are_linked(void **state)
{
  pai_gpu_link_view link = { .struct_size = sizeof(link) };
  pai_gpus *gpus;

  (void)state;
  fake.machine("2");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 2);
  assert_int_equal(get(gpus, 1).compute_mode, PAI_GPU_EXCLUSIVE);
  expect_link(gpus, 0, 0, 1, 4, 4 * 26562);
  assert_int_equal(pai_gpus_link(gpus, 0, &link), PAI_OK);
  assert_int_equal(link.version, 30);
  expect_no_link(gpus, 1);
  pai_gpus_free(gpus);
}

static void eight_are_linked(void **state)
{
  pai_gpus *gpus;
  size_t at = 0;

  (void)state;
  fake.machine("mesh");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 8);
  for (uint32_t a = 0; a < 8; a++)
    for (uint32_t b = a + 1; b < 8; b++)
      expect_link(gpus, at++, a, b, 2, 2 * 26562);
  expect_no_link(gpus, at);
  pai_gpus_free(gpus);
  fake.machine("switch");
  gpus = list(FAKE_NEW);
  for (uint32_t a = 0; a < 8; a++)
    expect_link(gpus, a, a, PAI_NO_GPU, 12, 12 * 26562);
  expect_no_link(gpus, 8);
  pai_gpus_free(gpus);
}

static void instances_are_devices(void **state)
{
  pai_gpu_view v;
  pai_gpus *gpus;

  (void)state;
  fake.machine("mig");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 4);
  v = get(gpus, 0);
  assert_int_equal(v.mig, 1);
  assert_int_equal(v.processes, 0); /* they are the instances' */
  v = get(gpus, 1);
  assert_int_equal(v.parent, 0);
  assert_int_equal(v.number, 0);
  assert_int_equal(v.gpu_instance, 1);
  assert_int_equal(v.compute_instance, 0);
  assert_string_equal(v.uuid, "MIG-00000000-0000-0000-0000-000000000001");
  assert_string_equal(v.model, "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
  assert_string_equal(v.pci, "0000:10:00.0");
  assert_int_equal(v.memory_total, 20ll << 30);
  assert_int_equal(v.temperature, -1);
  assert_int_equal(v.health, PAI_GPU_HEALTHY);
  expect_process(gpus, 1, 0, 1100, 1 << 30, 0);
  v = get(gpus, 2);
  assert_int_equal(v.parent, 0);
  assert_int_equal(v.number, 2);
  expect_process(gpus, 2, 0, 1101, 1 << 30, 0);
  v = get(gpus, 3);
  assert_int_equal(v.parent, PAI_NO_GPU);
  assert_int_equal(v.mig, 0);
  assert_string_equal(v.pci, "0000:11:00.0");
  pai_gpus_free(gpus);
}

static void expect_health(size_t i, int health, const char *part)
{
  pai_gpus *gpus = list(FAKE_NEW);
  pai_gpu_view v;

  assert_int_equal(pai_gpus_count(gpus), 2);
  v = get(gpus, i);
  assert_int_equal(v.health, health);
  if (strstr(v.reason, part) == NULL)
    fail_msg("want \"%s\" in \"%s\"", part, v.reason);
  v = get(gpus, 1 - i); /* the other one is told all the same */
  assert_int_equal(v.health, PAI_GPU_HEALTHY);
  assert_int_equal(v.memory_total, 40ll << 30);
  pai_gpus_free(gpus);
}

static void a_gpu_may_be_sick(void **state)
{
  (void)state;
  fake.machine("2");
  expect_health(0, PAI_GPU_HEALTHY, "");
  fake.lose(0);
  expect_health(0, PAI_GPU_LOST, "fallen off the bus: GPU is lost");
  fake.machine("2");
  fake.want_reset(1);
  expect_health(1, PAI_GPU_SICK, "must be reset");
  fake.machine("2");
  fake.break_(1);
  expect_health(1, PAI_GPU_SICK, "2 double-bit memory errors");
  fake.machine("2");
  fake.wear(1);
  expect_health(1, PAI_GPU_WORN, "at the next reset");
  fake.break_(1); /* the worst counts, also when it is found first */
  expect_health(1, PAI_GPU_SICK, "2 double-bit memory errors");
  fake.machine("2 unreachable");
  expect_health(1, PAI_GPU_LOST,
                "cannot be reached: Unknown Error (NVML 999)");
}

static void a_lost_gpu_has_its_place(void **state)
{
  pai_gpus *gpus;
  pai_gpu_view v;

  (void)state;
  fake.machine("mesh");
  fake.lose(3);
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_count(gpus), 8);
  v = get(gpus, 3);
  assert_int_equal(v.number, 3);
  assert_int_equal(v.health, PAI_GPU_LOST);
  assert_int_equal(v.memory_total, -1);
  assert_int_equal(v.temperature, -1);
  assert_string_equal(v.uuid, "");
  expect_link(gpus, 2, 0, 4, 2, 2 * 26562); /* 0-1, 0-2, then 0-4 */
  pai_gpus_free(gpus);
}

static void what_is_not_ours_is_told(void **state)
{
  static const int32_t pids[] = { 900 }, groups[] = { 77 };
  pai_gpus_options o = PAI_GPUS_OPTIONS_INIT;
  pai_gpus *gpus;

  (void)state;
  fake.machine("2");
  made_file("proc/1000/stat",
            "1000 (a ) S 1\n) S 1 77 77 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 9 1 "
            "2\n");
  made_file("proc/1001/stat", "1001 (x) S 1 78 78 0 -1\n");
  o.nvml = FAKE_NEW;
  o.root = made_root();
  o.pids = pids;
  o.pid_count = 1;
  assert_int_equal(pai_gpus_new(&gpus, &o, NULL), PAI_OK);
  assert_int_equal(get(gpus, 0).foreign, 1);
  expect_process(gpus, 0, 0, 900, -1, 0);
  expect_process(gpus, 0, 1, 1000, 1 << 30, 1);
  pai_gpus_free(gpus);
  o.groups = groups;
  o.group_count = 1;
  assert_int_equal(pai_gpus_new(&gpus, &o, NULL), PAI_OK);
  assert_int_equal(get(gpus, 0).foreign, 0);
  expect_process(gpus, 0, 1, 1000, 1 << 30, 0);
  assert_int_equal(get(gpus, 1).foreign, 1); /* of group 78 */
  pai_gpus_free(gpus);
  made_end();
}

static void many_processes_are_listed(void **state)
{
  pai_gpus *gpus;

  (void)state;
  fake.machine("1");
  fake.crowd(500); /* more than the first guess */
  gpus = list(FAKE_NEW);
  assert_int_equal(get(gpus, 0).processes, 502);
  expect_process(gpus, 0, 2, 99500, 1 << 30, 0); /* by pid */
  expect_process(gpus, 0, 501, 99999, 1 << 30, 0);
  pai_gpus_free(gpus);
}

static void an_old_library_will_do(void **state)
{
  pai_gpus *gpus;
  pai_gpu_view v;

  (void)state;
  old.machine("2");
  gpus = list(FAKE_OLD_NVML);
  assert_int_equal(pai_gpus_count(gpus), 2);
  v = get(gpus, 0);
  assert_int_equal(v.mig, -1);
  assert_int_equal(v.memory_used, (3ll << 30) + (600ll << 20));
  assert_int_equal(v.power_limit_mw, 400000);
  assert_string_equal(v.pci, "0000:10:00.0");
  assert_int_equal(v.processes, 2);
  expect_process(gpus, 0, 0, 900, -1, 0);
  expect_process(gpus, 0, 1, 1000, 1 << 30, 0);
  expect_link(gpus, 0, 0, 1, 4, 4 * 25000); /* by NVLink's version */
  pai_gpus_free(gpus);
}

static void expect_note(const char *nvml, const char *part)
{
  pai_gpus *gpus = list(nvml);
  const char *note = pai_gpus_note(gpus, 0);

  assert_int_equal(pai_gpus_count(gpus), 0);
  assert_non_null(note);
  if (strstr(note, part) == NULL)
    fail_msg("want \"%s\" in \"%s\"", part, note);
  assert_null(strchr(note, '\n'));
  assert_null(pai_gpus_note(gpus, 1));
  pai_gpus_free(gpus);
}

static void trouble_is_a_note(void **state)
{
  pai_gpus *gpus;

  (void)state;
  fake.machine("mismatch");
  expect_note(FAKE_NEW,
              "Driver/library version mismatch (NVML 18): the driver "
              "was updated");
  expect_note("/nowhere/libnvidia-ml.so.1", "cannot be loaded");
  expect_note("libm.so.6", "libm.so.6 is no NVML");
  fake.machine("nodriver"); /* the library alone is nothing to tell */
  gpus = list(FAKE_NEW);
  assert_null(pai_gpus_note(gpus, 0));
  pai_gpus_free(gpus);
  made_file("proc/driver/nvidia/version", "NVRM version: 535\n");
  expect_note(FAKE_NEW, "Driver Not Loaded");
  made_end();
}

static void calls_are_checked(void **state)
{
  pai_gpu_view v = { .struct_size = 8 };
  pai_gpu_process_view p = { .struct_size = sizeof(p) };
  pai_gpus_options o = { .struct_size = 4 };
  pai_error *err;
  pai_gpus *gpus;

  (void)state;
  assert_int_equal(pai_gpus_new(&gpus, &o, &err), PAI_EINVAL);
  assert_null(gpus);
  test_expect_error(err, PAI_EINVAL, "pai_gpus_options");
  fake.machine("1");
  gpus = list(FAKE_NEW);
  assert_int_equal(pai_gpus_get(gpus, 0, &v), PAI_EINVAL);
  assert_int_equal(pai_gpus_get(gpus, 0, NULL), PAI_EINVAL);
  v.struct_size = sizeof(v);
  assert_int_equal(pai_gpus_get(gpus, 1, &v), PAI_ENOTFOUND);
  assert_int_equal(pai_gpus_process(gpus, 0, 2, &p), PAI_ENOTFOUND);
  assert_int_equal(pai_gpus_process(gpus, 1, 0, &p), PAI_ENOTFOUND);
  pai_gpus_free(gpus);
}

/* --- AMD ------------------------------------------------------------------- */

static void make_card(unsigned n)
{
#define CARD "sys/class/drm/card%u/device/"
  static const struct {
    const char *path, *text;
  } files[] = {
    { CARD "vendor", "0x1002\n" },
    { CARD "device", "0x740f\n" },
    { CARD "unique_id", "a1b2c3d4e5f60718\n" },
    { CARD "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c3:00.0\nX=1\n" },
    { CARD "mem_info_vram_total", "68702699520\n" },
    { CARD "mem_info_vram_used", "11141120\n" },
    { CARD "gpu_busy_percent", "17\n" },
    { CARD "pp_dpm_sclk", "0: 500Mhz \n1: 800Mhz *\n2: 1700Mhz \n" },
    { CARD "pp_dpm_mclk", "0: 400Mhz\n1: 1600Mhz *\n" },
    { CARD "hwmon/hwmon5/temp1_input", "36000\n" },
    { CARD "hwmon/hwmon5/power1_average", "92000000\n" },
    { CARD "hwmon/hwmon5/power1_cap", "300000000\n" },
    { CARD "ras/umc_err_count", "ue: 0\nce: 3\n" },
  };
  char path[200];

  for (size_t i = 0; i < PAI__LEN(files); i++) {
    (void)snprintf(path, sizeof(path), files[i].path, n);
    made_file(path, files[i].text);
  }
  (void)snprintf(path, sizeof(path), CARD "drm/renderD%u/x", n, 128 + n);
  made_file(path, "");
}

static void amd_is_read_from_files(void **state)
{
  pai_gpus *gpus;
  pai_gpu_view v;

  (void)state;
  make_card(1);
  made_file("sys/class/drm/card1-DP-1/x", ""); /* a connector */
  made_file("sys/class/drm/card0/device/vendor", "0x8086\n");
  gpus = list("");
  assert_int_equal(pai_gpus_count(gpus), 1);
  v = get(gpus, 0);
  assert_int_equal(v.vendor, PAI_GPU_AMD);
  assert_string_equal(v.model, "AMD GPU 0x740f");
  assert_string_equal(v.uuid, "a1b2c3d4e5f60718");
  assert_string_equal(v.pci, "0000:c3:00.0");
  assert_int_equal(v.number, 1);
  assert_int_equal(v.device, 129);
  assert_int_equal(v.health, PAI_GPU_HEALTHY);
  assert_int_equal(v.memory_total, 68702699520ll);
  assert_int_equal(v.memory_used, 11141120);
  assert_int_equal(v.busy_percent, 17);
  assert_int_equal(v.memory_busy_percent, -1);
  assert_int_equal(v.clock_mhz, 800);
  assert_int_equal(v.clock_max_mhz, 1700);
  assert_int_equal(v.memory_clock_mhz, 1600);
  assert_int_equal(v.temperature, 36);
  assert_int_equal(v.power_mw, 92000);
  assert_int_equal(v.power_limit_mw, 300000);
  assert_int_equal(v.ecc, 1);
  assert_int_equal(v.ecc_corrected, 3);
  pai_gpus_free(gpus);
  made_file("sys/class/drm/card1/device/product_name",
            "AMD Instinct MI210\nmore\n");
  made_file("sys/class/drm/card1/device/ras/umc_err_count", "ue: 4\nce: 3\n");
  made_file("sys/class/drm/card1/device/gpu_busy_percent", "nonsense");
  gpus = list("");
  v = get(gpus, 0);
  assert_string_equal(v.model, "AMD Instinct MI210");
  assert_int_equal(v.health, PAI_GPU_SICK);
  assert_string_equal(
    v.reason, "4 double-bit memory errors since the driver was loaded");
  assert_int_equal(v.busy_percent, -1);
  pai_gpus_free(gpus);
  made_remove("sys/class/drm/card1/device/mem_info_vram_total");
  gpus = list("");
  assert_int_equal(get(gpus, 0).health, PAI_GPU_LOST);
  pai_gpus_free(gpus);
  made_end();
}

static void amd_has_links_and_processes(void **state)
{
#define NODES "sys/class/kfd/kfd/topology/nodes/"
  pai_gpus *gpus;

  (void)state;
  make_card(0);
  make_card(1);
  made_file(NODES "0/gpu_id", "0\n"); /* a processor */
  made_file(NODES "1/gpu_id", "111\n");
  made_file(NODES "1/properties", "simd_count 1\ndrm_render_minor 129\n");
  made_file(NODES "2/gpu_id", "222\n");
  made_file(NODES "2/properties", "drm_render_minor 128\n");
  made_file(NODES "1/io_links/0/properties", "type 2\nnode_to 0\n");
  made_file(NODES "1/io_links/1/properties",
            "type 11\nnode_from 1\nnode_to 2\nmax_bandwidth 50000\n");
  made_file(NODES "2/io_links/1/properties", "type 2\nnode_to 1\n");
  made_file(NODES "2/io_links/2/properties", "type 11\nnode_to 999\n");
  made_file(NODES "2/io_links/0/properties",
            "type 11\nnode_to 1\nmax_bandwidth 50000\n");
  made_file("sys/class/kfd/kfd/proc/4242/vram_111", "1048576\n");
  made_file("sys/class/kfd/kfd/proc/4242/vram_222", "0\n");
  gpus = list("");
  assert_int_equal(pai_gpus_count(gpus), 2);
  expect_link(gpus, 0, 0, 1, 1, 50000);
  expect_no_link(gpus, 1);
  assert_int_equal(get(gpus, 0).processes, 0);
  assert_int_equal(get(gpus, 1).processes, 1);
  expect_process(gpus, 1, 0, 4242, 1048576, 0);
  pai_gpus_free(gpus);
  made_end();
}

/* --- memory runs out ------------------------------------------------------- */

static int list_with(const pai_alloc *alloc, void *user_data)
{
  pai_gpus_options o = PAI_GPUS_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_gpus *gpus;
  int rc;

  o.alloc = alloc;
  o.nvml = user_data;
  o.root = made_root();
  rc = pai_gpus_new(&gpus, &o, &err);
  if (rc == PAI_OK)
    assert_int_equal(pai_gpus_count(gpus), 6);
  else
    assert_null(gpus);
  pai_error_free(err);
  pai_gpus_free(gpus);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  static char path[] = FAKE_NEW;

  (void)state;
  fake.machine("mig");
  fake.break_(1);
  make_card(0);
  make_card(1);
  test_faults(list_with, path);
  made_end();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_is_no_error),
    cmocka_unit_test(one_gpu_tells_all),
    cmocka_unit_test(two_are_linked),
    cmocka_unit_test(eight_are_linked),
    cmocka_unit_test(instances_are_devices),
    cmocka_unit_test(a_gpu_may_be_sick),
    cmocka_unit_test(a_lost_gpu_has_its_place),
    cmocka_unit_test(what_is_not_ours_is_told),
    cmocka_unit_test(many_processes_are_listed),
    cmocka_unit_test(an_old_library_will_do),
    cmocka_unit_test(trouble_is_a_note),
    cmocka_unit_test(calls_are_checked),
    cmocka_unit_test(amd_is_read_from_files),
    cmocka_unit_test(amd_has_links_and_processes),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed;

  fake_open(&fake, FAKE_NEW);
  fake_open(&old, FAKE_OLD_NVML);
  failed = cmocka_run_group_tests(tests, NULL, NULL);
  fake_close(&fake);
  fake_close(&old);
  return failed;
}
