/* linux_gpus.c - list the GPUs of this machine: AMD's from sysfs, NVIDIA's
 * from NVML, and the processes on them */
#include "resource/sample/gpu.h"
#include "resource/sample/linux_nvml.h"
#include "resource/sample/linux_read.h"
#include "resource/sample/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* --- AMD's GPUs ---------------------------------------------------------- */

/* AMD's GPUs, as the kernel's amdgpu driver describes them in sysfs.  RSMI,
 * AMD's library, reads the same files; without it there is no library to load
 * and no version to match, and a container with sysfs sees the GPUs.
 *
 *   sys/class/drm/cardN/device/...        each GPU (kernel: gpu/amdgpu/driver-
 *                                         misc, hwmon, ras)
 *   sys/class/kfd/kfd/topology/nodes/...  links, and ids for the next
 *   sys/class/kfd/kfd/proc/PID/vram_ID    processes
 */

enum { CARDS = 256, NODES = 256, VENDOR = 0x1002, XGMI = 11 };
#define CARD "sys/class/drm/card%u/device"
#define NODE "sys/class/kfd/kfd/topology/nodes/%u"

static DIR *open_dir(const char *root, const char *name)
{
  char path[PAI__PATH];
  int len = snprintf(path, sizeof(path), "%s/%s", root, name);

  return len > 0 && (size_t)len < sizeof(path) ? opendir(path) : NULL;
}

/* Returns 7 for "card7" and the prefix "card"; -1 for other names. */
static int number_after(const char *name, const char *prefix)
{
  size_t len = strlen(prefix);
  int64_t n;

  if (strncmp(name, prefix, len) != 0 || name[len] < '0' || name[len] > '9' ||
      strspn(name + len, "0123456789") != strlen(name + len))
    return -1;
  n = pai__proc_number(name + len, strlen(name + len));
  return n >= 0 && n <= INT16_MAX ? (int)n : -1;
}

/* Returns N of the first renderDN or hwmonN in a folder, or -1. */
static int first_number(const char *root, unsigned card, const char *folder,
                        const char *prefix)
{
  char path[PAI__LINE];
  struct dirent *entry;
  int found = -1;
  DIR *dir;

  (void)snprintf(path, sizeof(path), CARD "/%s", card, folder);
  dir = open_dir(root, path);
  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    int n = number_after(entry->d_name, prefix);

    if (n >= 0 && (found < 0 || n < found))
      found = n;
  }
  if (dir != NULL)
    (void)closedir(dir);
  return found;
}

static int keep(pai_gpus *gpus, const char **where, const char *text)
{
  const char *copy = pai__gpus_text(gpus, text);

  if (copy == NULL)
    return PAI_ENOMEM;
  *where = copy;
  return PAI_OK;
}

/* --- one card ------------------------------------------------------------ */

static int identify(pai_gpus *gpus, pai_gpu_view *g, const char *root)
{
  char line[PAI__LINE], text[PAI__LINE + 32];
  char uevent[2048];
  const char *slot;
  int rc;

  g->device = first_number(root, g->number, "drm", "renderD");
  pai__read_line(line, root, CARD "/product_name", g->number);
  if (line[0] == '\0') {
    pai__read_line(line, root, CARD "/device", g->number);
    (void)snprintf(text, sizeof(text), "AMD GPU%s%s",
                   line[0] != '\0' ? " " : "", line);
  } else {
    (void)snprintf(text, sizeof(text), "%s", line);
  }
  rc = keep(gpus, &g->model, text);
  pai__read_line(line, root, CARD "/unique_id", g->number);
  if (rc == PAI_OK && line[0] != '\0')
    rc = keep(gpus, &g->uuid, line);
  (void)pai__read_short(uevent, sizeof(uevent), root, CARD "/uevent",
                        g->number);
  slot = strstr(uevent, "PCI_SLOT_NAME=");
  if (rc < 0 || slot == NULL)
    return rc;
  slot += strlen("PCI_SLOT_NAME=");
  (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(slot, "\n"), slot);
  return keep(gpus, &g->pci, line);
}

static void read_clock(const char *root, unsigned card, const char *name,
                       int32_t *mhz, int32_t *most)
{
  char text[4096];
  size_t len =
    pai__read_short(text, sizeof(text), root, CARD "/%s", card, name);

  pai__proc_dpm(text, len, mhz, most);
}

static void read_hwmon(pai_gpu_view *g, const char *root)
{
  int number = first_number(root, g->number, "hwmon", "hwmon");
  int64_t v;

  if (number < 0)
    return;
  v = pai__linux_number(root, CARD "/hwmon/hwmon%d/temp1_input", g->number,
                        number);
  g->temperature = v >= 0 && v <= 1000000 ? (int32_t)(v / 1000) : -1;
  v = pai__linux_number(root, CARD "/hwmon/hwmon%d/power1_average", g->number,
                        number);
  if (v < 0)
    v = pai__linux_number(root, CARD "/hwmon/hwmon%d/power1_input", g->number,
                          number);
  g->power_mw = v >= 0 ? v / 1000 : -1;
  v = pai__linux_number(root, CARD "/hwmon/hwmon%d/power1_cap", g->number,
                        number);
  g->power_limit_mw = v > 0 ? v / 1000 : -1;
}

static int read_ecc(pai_gpus *gpus, size_t at, const char *root)
{
  pai_gpu_view *g = &gpus->gpus[at];
  char text[256];
  size_t len = pai__read_short(text, sizeof(text), root,
                               CARD "/ras/umc_err_count", g->number);

  if (len == 0)
    return PAI_OK;
  g->ecc = 1;
  g->ecc_uncorrected = pai__proc_field(text, len, "ue:");
  g->ecc_corrected = pai__proc_field(text, len, "ce:");
  if (g->ecc_uncorrected <= 0)
    return PAI_OK;
  return pai__gpus_blame(gpus, at, PAI_GPU_SICK,
                         "%lld double-bit memory errors since the driver was "
                         "loaded",
                         (long long)g->ecc_uncorrected);
}

static int percent(int64_t v)
{
  return v >= 0 && v <= 100 ? (int)v : -1;
}

static int read_card(pai_gpus *gpus, const char *root, unsigned card)
{
  pai_gpu_view *g = pai__gpus_add(gpus, PAI_GPU_AMD);
  size_t at = gpus->count - 1;
  int rc;

  if (g == NULL)
    return PAI_ENOMEM;
  g->number = card;
  rc = identify(gpus, g, root);
  if (rc < 0)
    return rc;
  g->memory_total = pai__linux_number(root, CARD "/mem_info_vram_total", card);
  if (g->memory_total < 0)
    return pai__gpus_blame(
      gpus, at, PAI_GPU_LOST,
      "cannot be reached: the amdgpu driver does not report its memory");
  g->memory_used = pai__linux_number(root, CARD "/mem_info_vram_used", card);
  g->busy_percent =
    percent(pai__linux_number(root, CARD "/gpu_busy_percent", card));
  g->memory_busy_percent =
    percent(pai__linux_number(root, CARD "/mem_busy_percent", card));
  read_clock(root, card, "pp_dpm_sclk", &g->clock_mhz, &g->clock_max_mhz);
  read_clock(root, card, "pp_dpm_mclk", &g->memory_clock_mhz,
             &g->memory_clock_max_mhz);
  read_hwmon(g, root);
  return read_ecc(gpus, at, root);
}

void pai__amd_files(const char *root, unsigned card, int fd[PAI__AMD_FILES])
{
  int hwmon = first_number(root, card, "hwmon", "hwmon");

  fd[PAI__AMD_USED] = pai__open_under(root, CARD "/mem_info_vram_used", card);
  fd[PAI__AMD_BUSY] = pai__open_under(root, CARD "/gpu_busy_percent", card);
  fd[PAI__AMD_MEMORY_BUSY] =
    pai__open_under(root, CARD "/mem_busy_percent", card);
  fd[PAI__AMD_TEMPERATURE] =
    pai__open_under(root, CARD "/hwmon/hwmon%d/temp1_input", card, hwmon);
  fd[PAI__AMD_POWER] =
    pai__open_under(root, CARD "/hwmon/hwmon%d/power1_average", card, hwmon);
  if (fd[PAI__AMD_POWER] < 0)
    fd[PAI__AMD_POWER] =
      pai__open_under(root, CARD "/hwmon/hwmon%d/power1_input", card, hwmon);
}

/* --- all together: links and processes ------------------------------------ */

typedef struct nodes {
  uint32_t place[NODES]; /* index in the list, or PAI_NO_GPU */
  int64_t id[NODES];
} nodes;

static void find_nodes(nodes *n, const pai_gpus *gpus, const char *root)
{
  char text[4096];

  for (unsigned i = 0; i < NODES; i++) {
    size_t len;
    int64_t minor;

    n->place[i] = PAI_NO_GPU;
    n->id[i] = pai__linux_number(root, NODE "/gpu_id", i);
    if (n->id[i] <= 0)
      continue; /* a CPU, or the end */
    len = pai__read_short(text, sizeof(text), root, NODE "/properties", i);
    minor = pai__proc_field(text, len, "drm_render_minor");
    for (size_t g = 0; minor >= 0 && g < gpus->count; g++)
      if (gpus->gpus[g].vendor == PAI_GPU_AMD && gpus->gpus[g].device == minor)
        n->place[i] = (uint32_t)g;
  }
}

static int add_links(pai_gpus *gpus, const nodes *n, const char *root,
                     unsigned node)
{
  char text[4096];

  for (unsigned link = 0; link < NODES; link++) {
    int64_t to, speed;
    size_t len;

    len = pai__read_short(text, sizeof(text), root,
                          NODE "/io_links/%u/properties", node, link);
    if (len == 0)
      break;
    to = pai__proc_field(text, len, "node_to");
    speed = pai__proc_field(text, len, "max_bandwidth");
    if (pai__proc_field(text, len, "type") != XGMI || to < 0 || to >= NODES ||
        n->place[to] == PAI_NO_GPU || n->place[to] == n->place[node])
      continue;
    if (pai__gpus_link_add(gpus, n->place[node], n->place[to], -1,
                           speed > 0 ? speed : -1) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

static int add_processes(pai_gpus *gpus, const nodes *n, const char *root)
{
  DIR *dir = open_dir(root, "sys/class/kfd/kfd/proc");
  struct dirent *entry;
  int rc = PAI_OK;

  while (dir != NULL && rc == PAI_OK && (entry = readdir(dir)) != NULL) {
    int64_t pid = pai__proc_number(entry->d_name, strlen(entry->d_name));

    if (pid <= 0 || pid > INT32_MAX)
      continue;
    for (unsigned i = 0; rc == PAI_OK && i < NODES; i++) {
      int64_t memory;

      if (n->place[i] == PAI_NO_GPU)
        continue;
      memory = pai__linux_number(root, "sys/class/kfd/kfd/proc/%lld/vram_%lld",
                                 (long long)pid, (long long)n->id[i]);
      if (memory > 0)
        rc = pai__gpus_process_add(gpus, n->place[i], (int32_t)pid, memory);
    }
  }
  if (dir != NULL)
    (void)closedir(dir);
  return rc;
}

/* Adds AMD's GPUs (linux_gpus.c). */
static int amd_list(pai_gpus *gpus, const char *root)
{
  bool cards[CARDS] = { false }, any = false;
  DIR *dir = open_dir(root, "sys/class/drm");
  struct dirent *entry;
  int rc = PAI_OK;
  nodes n;

  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    int card = number_after(entry->d_name, "card");

    if (card >= 0 && card < CARDS)
      cards[card] = true;
  }
  if (dir != NULL)
    (void)closedir(dir);
  for (unsigned i = 0; rc == PAI_OK && i < CARDS; i++) {
    char vendor[PAI__LINE];

    if (!cards[i])
      continue;
    pai__read_line(vendor, root, CARD "/vendor", i);
    if (strtol(vendor, NULL, 16) != VENDOR)
      continue;
    any = true;
    rc = read_card(gpus, root, i);
  }
  if (!any || rc < 0)
    return rc;
  find_nodes(&n, gpus, root);
  for (unsigned i = 0; rc == PAI_OK && i < NODES; i++)
    if (n.place[i] != PAI_NO_GPU)
      rc = add_links(gpus, &n, root, i);
  return rc == PAI_OK ? add_processes(gpus, &n, root) : rc;
}

static bool holds(const int32_t *list, size_t count, int32_t n)
{
  for (size_t i = 0; i < count; i++)
    if (list[i] == n)
      return true;
  return false;
}

/* Returns the process group of a process, or -1. */
static int32_t group_of(const char *root, int32_t pid)
{
  char text[1024];
  size_t len =
    pai__read_short(text, sizeof(text), root, "proc/%ld/stat", (long)pid);
  pai__proc_task task;

  (void)pai__proc_task_of(&task, text, len);
  return task.group;
}

static void mark_foreign(pai_gpus *gpus, const pai_gpus_options *o)
{
  if (o->pid_count == 0 && o->group_count == 0)
    return; /* the caller did not say which groups are its own */
  for (size_t i = 0; i < gpus->process_count; i++) {
    pai__gpu_process *p = &gpus->processes[i];

    if (holds(o->pids, o->pid_count, p->pid) ||
        (o->group_count != 0 &&
         holds(o->groups, o->group_count, group_of(o->root, p->pid))))
      continue;
    p->foreign = true;
    gpus->gpus[p->gpu].foreign++;
  }
}

int pai__gpus_fill(pai_gpus *gpus, pai__nvml *nvml, pai__nvml_handles *handles,
                   const char *path, const char *root)
{
  char why[PAI__NVML_WHY] = "";
  int rc = PAI_OK;

  *handles = (pai__nvml_handles){ NULL, 0 };
  nvml->library = NULL;
  if (path == NULL || path[0] != '\0') {
    if (pai__nvml_open(nvml, path, root, why))
      rc = pai__nvml_list(nvml, gpus, handles);
    else if (why[0] != '\0')
      rc = pai__gpus_note(gpus, "%s", why);
  }
  return rc == PAI_OK ? amd_list(gpus, root) : rc;
}

int pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts, pai_error **err)
{
  pai__nvml_handles handles;
  pai_gpus_options o;
  pai__nvml nvml;
  pai_gpus *gpus;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_gpus_options, group_count);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_gpus_options");
  if (o.root == NULL)
    o.root = "/";
  if (pai__gpus_make(&gpus, pai__alloc_or_libc(o.alloc)) < 0)
    return pai__oom(err);
  rc = pai__gpus_fill(gpus, &nvml, &handles, o.nvml, o.root);
  pai__nvml_handles_free(&handles, &gpus->alloc);
  pai__nvml_close(&nvml);
  if (rc < 0) {
    pai_gpus_free(gpus);
    return pai__oom(err);
  }
  pai__gpus_finish(gpus);
  mark_foreign(gpus, &o);
  *out = gpus;
  return PAI_OK;
}
