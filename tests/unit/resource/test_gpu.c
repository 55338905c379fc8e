/* The inventory of GPUs, on machines that are played and on made trees. */
#include "fake.h"

#include "base/buf.h"

#include <openpai/gpu.h>

static fake_nvml fake, old;

static int open_fakes(void **state)
{
  (void)state;
  fake_open(&fake, FAKE_NEW);
  fake_open(&old, FAKE_OLD_NVML);
  return 0;
}

static int close_fakes(void **state)
{
  (void)state;
  fake_close(&fake);
  fake_close(&old);
  return 0;
}

TEST_AROUND_ALL(open_fakes, close_fakes);

static pai_gpus *list_for(const char *nvml, const int32_t *pid,
                          const int32_t *group)
{
  pai_gpus_options o = PAI_GPUS_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_gpus *gpus = NULL;

  o.nvml = nvml;
  o.root = made_root();
  o.pids = pid;
  o.pid_count = pid != NULL;
  o.groups = group;
  o.group_count = group != NULL;
  assert_ok(pai_gpus_new(&gpus, &o, &err));
  assert_null(err);
  assert_non_null(gpus);
  return gpus;
}

static pai_gpus *list(const char *nvml)
{
  return list_for(nvml, NULL, NULL);
}

/* --- shown as lines ------------------------------------------------------- */

static void add_gpu(pai__buf *b, const pai_gpus *gpus, size_t i)
{
  static const char *const health[] = { "", "healthy", "worn", "sick",
                                        "lost" };
  pai_gpu_view v = { .struct_size = sizeof(v) };
  pai_gpu_process_view p = { .struct_size = sizeof(p) };
  size_t j = 0;

  assert_ok(pai_gpus_get(gpus, i, &v));
  pai__buf_printf(b, "%zu %s %s %s %s\n", i,
                  v.vendor == PAI_GPU_AMD ? "amd" : "nvidia", v.model, v.uuid,
                  v.pci);
  pai__buf_printf(b, "%zu number %u device %d", i, v.number, v.device);
  if (v.parent != PAI_NO_GPU)
    pai__buf_printf(b, " parent %u instance %d %d", v.parent, v.gpu_instance,
                    v.compute_instance);
  else
    assert_int_equal(v.gpu_instance, -1);
  pai__buf_printf(b, "\n%zu %s %s\n", i, health[v.health], v.reason);
  pai__buf_printf(b, "%zu memory %lld of %lld\n", i, (long long)v.memory_used,
                  (long long)v.memory_total);
  pai__buf_printf(b, "%zu mode %d mig %d\n", i, v.compute_mode, v.mig);
  pai__buf_printf(b, "%zu ecc %d: %lld %lld\n", i, v.ecc,
                  (long long)v.ecc_corrected, (long long)v.ecc_uncorrected);
  pai__buf_printf(b, "%zu clock %d of %d, memory's %d of %d\n", i, v.clock_mhz,
                  v.clock_max_mhz, v.memory_clock_mhz, v.memory_clock_max_mhz);
  pai__buf_printf(b, "%zu busy %d%%, memory %d%%, %d C, %lld of %lld mW\n", i,
                  v.busy_percent, v.memory_busy_percent, v.temperature,
                  (long long)v.power_mw, (long long)v.power_limit_mw);
  pai__buf_printf(b, "%zu processes %zu foreign %zu\n", i, v.processes,
                  v.foreign);
  for (; pai_gpus_process(gpus, i, j, &p) == PAI_OK; j++)
    pai__buf_printf(b, "%zu process %d has %lld%s\n", i, p.pid,
                    (long long)p.memory, p.foreign ? ", foreign" : "");
  assert_int_equal(j, v.processes);
}

/* All that the list tells; freed here. */
static void show(pai__buf *b, pai_gpus *gpus)
{
  pai_gpu_link_view v = { .struct_size = sizeof(v) };

  pai__buf_init(b, &pai__libc_alloc);
  pai__buf_printf(b, "\nGPUs %zu\n", pai_gpus_count(gpus));
  for (size_t i = 0; i < pai_gpus_count(gpus); i++)
    add_gpu(b, gpus, i);
  for (size_t i = 0; pai_gpus_link(gpus, i, &v) == PAI_OK; i++)
    pai__buf_printf(b, "link %u to %d: %u, %lld MB/s, version %d\n", v.a,
                    (int)v.b, v.links, (long long)v.mbytes_per_second,
                    v.version);
  pai__buf_str(b, "no more links\n");
  for (size_t i = 0; pai_gpus_note(gpus, i) != NULL; i++)
    pai__buf_printf(b, "note %s\n", pai_gpus_note(gpus, i));
  pai__buf_str(b, "end\n");
  pai_gpus_free(gpus);
}

/* Its lines are among those of the list, in this order; a line that ends in
 * "..." is the beginning of one. */
static void expect(pai_gpus *gpus, const char *want)
{
  pai__buf b;
  const char *at;

  show(&b, gpus);
  at = pai__buf_text(&b);
  for (const char *line = want, *end; *line != '\0'; line = end + 1) {
    char text[256];

    end = strchr(line, '\n');
    assert_true(end != NULL && end - line < 200);
    (void)snprintf(text, sizeof(text), "\n%.*s\n", (int)(end - line), line);
    if (strstr(text, "...\n") != NULL)
      *strstr(text, "...\n") = '\0';
    at = strstr(at, text);
    if (at == NULL)
      fail_msg("no%sin%s", text, pai__buf_text(&b));
    at++;
  }
  pai__buf_dispose(&b);
}

/* --- NVIDIA --------------------------------------------------------------- */

TEST(nothing_is_no_error)
{
  pai_gpus *gpus;

  expect(list(""), "GPUs 0\nno more links\nend\n"); /* not looked for */
  fake.machine("0");
  expect(list(FAKE_NEW), "GPUs 0\nno more links\nend\n");
  gpus = list(FAKE_NEW);
  assert_string_equal(pai_gpus_driver(gpus), "535.104.05");
  pai_gpus_free(gpus);
  pai_gpus_free(NULL);
  assert_int_equal(pai_gpus_count(NULL), 0);
}

TEST(one_gpu_tells_all)
{
  fake.machine("1");
  expect(list(FAKE_NEW),
         "GPUs 1\n"
         "0 nvidia NVIDIA A100-SXM4-40GB "
         "GPU-00000000-0000-0000-0000-000000000000 0000:10:00.0\n"
         "0 number 0 device 0\n"
         "0 healthy \n"
         "0 memory 3221225472 of 42949672960\n" /* without the reserved */
         "0 mode 0 mig 0\n"
         "0 ecc 1: 7 0\n"
         "0 clock 1410 of 1500, memory's 1215 of 1600\n"
         "0 busy 90%, memory 30%, 40 C, 123456 of 350000 mW\n"
         "0 processes 2 foreign 0\n"
         "0 process 900 has -1\n"
         "0 process 1000 has 1073741824\n"
         "no more links\n"
         "end\n");
}

TEST(gpus_are_linked)
{
  pai__buf want = test_buf();

  fake.machine("2");
  expect(list(FAKE_NEW), "GPUs 2\n1 mode 3 mig 0\n"
                         "link 0 to 1: 4, 106248 MB/s, version 30\n"
                         "no more links\n");
  fake.machine("mesh");
  for (int a = 0; a < 8; a++)
    for (int b = a + 1; b < 8; b++)
      pai__buf_printf(&want, "link %d to %d: 2, 53124 MB/s...\n", a, b);
  expect(list(FAKE_NEW), pai__buf_text(&want));
  expect(list(FAKE_NEW), "GPUs 8\nlink 6 to 7: ...\nno more links\n");
  pai__buf_clear(&want);
  fake.machine("switch");
  for (int a = 0; a < 8; a++)
    pai__buf_printf(&want, "link %d to -1: 12, 318744 MB/s...\n", a);
  expect(list(FAKE_NEW), pai__buf_text(&want));
  pai__buf_dispose(&want);
}

TEST(instances_are_devices)
{
  fake.machine("mig");
  expect(list(FAKE_NEW),
         "GPUs 4\n"
         "0 mode 0 mig 1\n"
         "0 processes 0 foreign 0\n" /* they are the instances' */
         "1 nvidia NVIDIA A100-SXM4-40GB MIG 3g.20gb "
         "MIG-00000000-0000-0000-0000-000000000001 0000:10:00.0\n"
         "1 number 0 device 0 parent 0 instance 1 0\n"
         "1 healthy \n"
         "1 memory 3221225472 of 21474836480\n"
         "1 busy -1%, memory -1%, -1 C, -1 of -1 mW\n"
         "1 process 1100 has 1073741824\n"
         "2 number 2 device 0 parent 0 instance 2 0\n"
         "2 process 1101 has 1073741824\n"
         "3 nvidia NVIDIA A100-SXM4-40GB "
         "GPU-00000001-0000-0000-0000-000000000000 0000:11:00.0\n"
         "3 mode 3 mig 0\n");
}

/* What happens to one of two GPUs; the other one is told all the same. */
TEST(a_gpu_may_be_sick)
{
  const struct {
    const char *machine;
    void (*what)(unsigned gpu), (*then)(unsigned gpu);
    unsigned gpu;
    const char *want;
  } rows[] = {
    { "2", fake.lose, NULL, 0,
      "0 lost has fallen off the bus: GPU is lost...\n"
      "1 healthy \n" },
    { "2", fake.want_reset, NULL, 1, "0 healthy \n1 sick must be reset...\n" },
    { "2", fake.break_, NULL, 1,
      "0 healthy \n1 sick 2 double-bit memory errors...\n" },
    { "2", fake.wear, NULL, 1, "0 healthy \n1 worn ...\n" },
    /* the worst counts, also when it is found first */
    { "2", fake.wear, fake.break_, 1,
      "0 healthy \n1 sick 2 double-bit memory errors...\n" },
    { "2 unreachable", NULL, NULL, 1,
      "0 healthy \n1 lost cannot be reached: Unknown Error (NVML "
      "999)...\n" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    fake.machine(rows[i].machine);
    if (rows[i].what != NULL)
      rows[i].what(rows[i].gpu);
    if (rows[i].then != NULL)
      rows[i].then(rows[i].gpu);
    expect(list(FAKE_NEW), "GPUs 2\n");
    expect(list(FAKE_NEW), rows[i].want);
  }
}

TEST(a_lost_gpu_has_its_place)
{
  fake.machine("mesh");
  fake.lose(3);
  expect(list(FAKE_NEW), "GPUs 8\n"
                         "3 nvidia   \n"
                         "3 number 3 device -1\n"
                         "3 lost ...\n"
                         "3 memory -1 of -1\n"
                         "3 busy -1%, memory -1%, -1 C, -1 of -1 mW\n"
                         "link 0 to 1: ...\n"
                         "link 0 to 2: ...\n"
                         "link 0 to 4: 2, 53124 MB/s, version 30\n");
}

TEST(what_is_not_ours_is_told)
{
  static const int32_t pid = 900, group = 77;

  fake.machine("2");
  made_file("proc/1000/stat",
            "1000 (a ) S 1\n) S 1 77 77 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 9 1 "
            "2\n");
  made_file("proc/1001/stat", "1001 (x) S 1 78 78 0 -1\n");
  expect(list_for(FAKE_NEW, &pid, NULL),
         "0 processes 2 foreign 1\n"
         "0 process 900 has -1\n"
         "0 process 1000 has 1073741824, foreign\n");
  expect(list_for(FAKE_NEW, &pid, &group),
         "0 processes 2 foreign 0\n"
         "0 process 1000 has 1073741824\n"
         "1 processes 1 foreign 1\n"); /* of group 78 */
  made_end();
}

TEST(many_processes_are_listed)
{
  fake.machine("1");
  fake.crowd(500); /* more than the first guess */
  expect(list(FAKE_NEW), "0 processes 502 foreign 0\n"
                         "0 process 900 ...\n"
                         "0 process 1000 ...\n"
                         "0 process 99500 has 1073741824\n" /* by pid */
                         "0 process 99999 has 1073741824\n"
                         "no more links\n");
}

TEST(an_old_library_will_do)
{
  old.machine("2");
  expect(list(FAKE_OLD_NVML),
         "GPUs 2\n"
         "0 nvidia NVIDIA A100-SXM4-40GB "
         "GPU-00000000-0000-0000-0000-000000000000 0000:10:00.0\n"
         "0 memory 3850371072 of 42949672960\n" /* with the reserved */
         "0 mode 0 mig -1\n"
         "0 busy 90%, memory 30%, 40 C, 123456 of 400000 mW\n"
         "0 processes 2 foreign 0\n"
         "0 process 900 has -1\n"
         "0 process 1000 has 1073741824\n"
         "link 0 to 1: 4, 100000 MB/s...\n"); /* by NVLink's version */
}

TEST(trouble_is_a_note)
{
  fake.machine("mismatch");
  expect(list(FAKE_NEW),
         "GPUs 0\nnote NVIDIA's GPUs cannot be asked: Driver/library version "
         "mismatch (NVML 18): the driver was updated ...\nend\n");
  expect(list("/nowhere/libnvidia-ml.so.1"),
         "GPUs 0\nnote NVML cannot be loaded: ...\nend\n");
  expect(list("libm.so.6"), "GPUs 0\nnote libm.so.6 is no NVML...\nend\n");
  fake.machine("nodriver"); /* the library alone is nothing to tell */
  expect(list(FAKE_NEW), "GPUs 0\nno more links\nend\n");
  made_file("proc/driver/nvidia/version", "NVRM version: 535\n");
  expect(
    list(FAKE_NEW),
    "GPUs 0\nnote NVIDIA's GPUs cannot be asked: Driver Not Loaded...\nend\n");
  made_end();
}

TEST(calls_are_checked)
{
  pai_gpu_view v = { .struct_size = 8 };
  pai_gpu_process_view p = { .struct_size = sizeof(p) };
  pai_gpus_options o = { .struct_size = 4 };
  pai_error *err;
  pai_gpus *gpus;

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

TEST(amd_is_read_from_files)
{
  make_card(1);
  made_file("sys/class/drm/card1-DP-1/x", ""); /* a connector */
  made_file("sys/class/drm/card0/device/vendor", "0x8086\n");
  expect(list(""), "GPUs 1\n"
                   "0 amd AMD GPU 0x740f a1b2c3d4e5f60718 0000:c3:00.0\n"
                   "0 number 1 device 129\n"
                   "0 healthy \n"
                   "0 memory 11141120 of 68702699520\n"
                   "0 ecc 1: 3 0\n"
                   "0 clock 800 of 1700, memory's 1600 of 1600\n"
                   "0 busy 17%, memory -1%, 36 C, 92000 of 300000 mW\n");
  made_file("sys/class/drm/card1/device/product_name",
            "AMD Instinct MI210\nmore\n");
  made_file("sys/class/drm/card1/device/ras/umc_err_count", "ue: 4\nce: 3\n");
  made_file("sys/class/drm/card1/device/gpu_busy_percent", "nonsense");
  expect(list(""),
         "0 amd AMD Instinct MI210 a1b2c3d4e5f60718 0000:c3:00.0\n"
         "0 sick 4 double-bit memory errors since the driver was loaded\n"
         "0 busy -1%, memory -1%, 36 C, 92000 of 300000 mW\n");
  made_remove("sys/class/drm/card1/device/mem_info_vram_total");
  expect(list(""), "0 lost ...\n");
  made_end();
}

#define NODES "sys/class/kfd/kfd/topology/nodes/"

TEST(amd_has_links_and_processes)
{
  static const char *const files[][2] = {
    { NODES "0/gpu_id", "0\n" }, /* a processor */
    { NODES "1/gpu_id", "111\n" },
    { NODES "1/properties", "simd_count 1\ndrm_render_minor 129\n" },
    { NODES "2/gpu_id", "222\n" },
    { NODES "2/properties", "drm_render_minor 128\n" },
    { NODES "1/io_links/0/properties", "type 2\nnode_to 0\n" },
    { NODES "1/io_links/1/properties",
      "type 11\nnode_from 1\nnode_to 2\nmax_bandwidth 50000\n" },
    { NODES "2/io_links/1/properties", "type 2\nnode_to 1\n" },
    { NODES "2/io_links/2/properties", "type 11\nnode_to 999\n" },
    { NODES "2/io_links/0/properties",
      "type 11\nnode_to 1\nmax_bandwidth 50000\n" },
    { "sys/class/kfd/kfd/proc/4242/vram_111", "1048576\n" },
    { "sys/class/kfd/kfd/proc/4242/vram_222", "0\n" },
  };

  make_card(0);
  make_card(1);
  for (size_t i = 0; i < PAI__LEN(files); i++)
    made_file(files[i][0], files[i][1]);
  expect(list(""), "GPUs 2\n"
                   "0 processes 0 foreign 0\n"
                   "1 processes 1 foreign 0\n"
                   "1 process 4242 has 1048576\n"
                   "link 0 to 1: 1, 50000 MB/s, version -1\n"
                   "no more links\n");
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

TEST(no_memory_is_survived)
{
  static char path[] = FAKE_NEW;

  fake.machine("mig");
  fake.break_(1);
  make_card(0);
  make_card(1);
  test_faults(list_with, path);
  made_end();
}
