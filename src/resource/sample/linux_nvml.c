/* linux_nvml.c - NVML: open the library, query one device */
#include "resource/sample/linux_nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* The struct layouts of NVIDIA's compilers on 64-bit Linux. */
_Static_assert(sizeof(nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(nvml_process_v2) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(nvml_field) == 40, "nvmlFieldValue_t");

/* --- opening ------------------------------------------------------------- */

static void *find(void *library, const char *symbol, const char *older)
{
  void *found = dlsym(library, symbol);

  return found == NULL && older != NULL ? dlsym(library, older) : found;
}

/* memcpy() is the only way in ISO C from a void * to a function. */
#define LOOK_UP(declaration, name, symbol, older) \
  found = find(n->library, symbol, older);        \
  memcpy(&n->name, &found, sizeof(n->name));

static void look_up(pai__nvml *n)
{
  void *found;

  PAI__NVML_FUNCTIONS(LOOK_UP)
  found = find(n->library, "nvmlErrorString", NULL);
  memcpy(&n->explain, &found, sizeof(n->explain));
}

const char *pai__nvml_explain(const pai__nvml *n, int result)
{
  const char *why = n->explain != NULL ? n->explain(result) : NULL;

  return why != NULL ? why : "an error without a name";
}

/* Whether the kernel driver is loaded. */
static bool has_driver(const char *root)
{
  char path[4096];
  int len =
    snprintf(path, sizeof(path), "%s/proc/driver/nvidia/version", root);

  return len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0;
}

static bool load(pai__nvml *n, const char *path, const char *root, char *why)
{
  const char *name = path != NULL ? path : "libnvidia-ml.so.1";

  n->library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (n->library != NULL)
    return true;
  if (path != NULL || has_driver(root)) {
    const char *what = dlerror();

    (void)snprintf(why, PAI__NVML_WHY, "NVML cannot be loaded: %s",
                   what != NULL ? what : name);
  }
  return false;
}

bool pai__nvml_open(pai__nvml *n, const char *path, const char *root,
                    char *why)
{
  int result;

  memset(n, 0, sizeof(*n));
  why[0] = '\0';
  if (!load(n, path, root, why))
    return false;
  look_up(n);
  if (n->init == NULL || n->shutdown == NULL || n->get_count == NULL ||
      n->get_handle == NULL) {
    (void)snprintf(why, PAI__NVML_WHY, "%s is no NVML: it lacks functions",
                   path != NULL ? path : "libnvidia-ml.so.1");
  } else {
    result = n->init();
    if (result == NVML_SUCCESS)
      return true;
    /* The library is often installed without a GPU: not an error. */
    if (result != NVML_DRIVER_NOT_LOADED || has_driver(root))
      (void)snprintf(why, PAI__NVML_WHY,
                     "NVIDIA's GPUs cannot be asked: %s (NVML %d)%s",
                     pai__nvml_explain(n, result), result,
                     result == NVML_LIB_RM_VERSION_MISMATCH
                       ? ": the driver was updated while it ran; restart the "
                         "machine, or load its module anew"
                       : "");
  }
  (void)dlclose(n->library);
  n->library = NULL;
  return false;
}

void pai__nvml_close(pai__nvml *n)
{
  if (n->library == NULL)
    return;
  (void)n->shutdown();
  (void)dlclose(n->library);
  n->library = NULL;
}

/* --- what changes -------------------------------------------------------- */

static int64_t bytes(unsigned long long n)
{
  return n <= INT64_MAX ? (int64_t)n : -1;
}

/* Prefers the newer call, whose `used` is what processes use, without the
 * driver's reserve. */
static int get_memory(const pai__nvml *n, pai__nvml_device *device,
                      pai__nvml_live *out)
{
  nvml_memory_v2 v2 = { .version = NVML_MEMORY_V2 };
  nvml_memory v1;
  int result = PAI__NVML(n, get_memory_v2, device, &v2);

  if (result == NVML_SUCCESS) {
    out->memory_total = bytes(v2.total);
    out->memory_used = bytes(v2.used);
    return result;
  }
  if (result == NVML_GPU_IS_LOST)
    return result;
  result = PAI__NVML(n, get_memory, device, &v1);
  if (result == NVML_SUCCESS) {
    out->memory_total = bytes(v1.total);
    out->memory_used = bytes(v1.used);
  }
  return result;
}

int pai__nvml_live_of(const pai__nvml *n, pai__nvml_device *device,
                      pai__nvml_live *out)
{
  nvml_utilization busy;
  unsigned int value;
  int result;

  *out = (pai__nvml_live){ -1, -1, -1, -1, -1, -1, -1 };
  result = get_memory(n, device, out);
  if (result == NVML_GPU_IS_LOST)
    return result;
  if (PAI__NVML(n, get_utilization, device, &busy) == NVML_SUCCESS) {
    out->busy_percent = busy.gpu <= 100 ? (int32_t)busy.gpu : -1;
    out->memory_busy_percent = busy.memory <= 100 ? (int32_t)busy.memory : -1;
  }
  if (PAI__NVML(n, get_temperature, device, 0, &value) == NVML_SUCCESS &&
      value <= INT16_MAX)
    out->temperature = (int32_t)value;
  if (PAI__NVML(n, get_power, device, &value) == NVML_SUCCESS)
    out->power_mw = (int64_t)value;
  if (PAI__NVML(n, get_power_limit, device, &value) == NVML_SUCCESS)
    out->power_limit_mw = (int64_t)value;
  return result;
}

/* --- processes ----------------------------------------------------------- */

enum { SPARE = 32, TRIES = 4 };
enum { COMPUTE, GRAPHICS };

typedef int (*lister)(pai__nvml_device *device, unsigned int *count,
                      void *list);

/* One of the two lists of processes. */
typedef struct processes {
  const void *list;
  unsigned int count;
  bool old; /* entries are nvml_process_v1 */
} processes;

static int make_room(pai__nvml_room *room, int kind, const pai_alloc *alloc,
                     unsigned int count)
{
  size_t want = ((size_t)count + SPARE) * NVML_LONGEST_PROCESS;
  void *data;

  if (want <= room->bytes[kind])
    return PAI_OK;
  data = pai__realloc(alloc, room->data[kind], room->bytes[kind], want, 1);
  if (data == NULL)
    return PAI_ENOMEM;
  room->data[kind] = data;
  room->bytes[kind] = want;
  return PAI_OK;
}

/* Reads a list into its buffer.  The list may grow between two calls. */
static int get_list(lister list, lister v1, pai__nvml_device *device,
                    const pai_alloc *alloc, pai__nvml_room *room, int kind,
                    processes *out)
{
  int result = NVML_INSUFFICIENT_SIZE;
  unsigned int count = 0;

  *out = (processes){ .old = list == NULL };
  if (list == NULL)
    list = v1;
  for (int i = 0;
       list != NULL && i < TRIES && result == NVML_INSUFFICIENT_SIZE; i++) {
    unsigned int most;

    if (count > 1000000 || make_room(room, kind, alloc, count) < 0)
      return PAI_ENOMEM;
    most = (unsigned int)(room->bytes[kind] / NVML_LONGEST_PROCESS);
    count = most;
    result = list(device, &count, room->data[kind]);
    if (result == NVML_SUCCESS)
      out->count = count < most ? count : most;
  }
  out->list = room->data[kind];
  return PAI_OK;
}

static int32_t pid_of(const processes *p, unsigned int i)
{
  return p->old ? (int32_t)((const nvml_process_v1 *)p->list)[i].pid
                : (int32_t)((const nvml_process_v2 *)p->list)[i].pid;
}

/* Returns bytes; -1 for NVML_VALUE_NOT_AVAILABLE, which is all ones. */
static int64_t memory_of(const processes *p, unsigned int i)
{
  return bytes(p->old ? ((const nvml_process_v1 *)p->list)[i].memory
                      : ((const nvml_process_v2 *)p->list)[i].memory);
}

static bool has(const processes *p, int32_t pid)
{
  for (unsigned int i = 0; i < p->count; i++)
    if (pid_of(p, i) == pid)
      return true;
  return false;
}

int pai__nvml_processes(const pai__nvml *n, pai__nvml_device *device,
                        const pai_alloc *alloc, pai__nvml_room *room,
                        int (*each)(void *user_data, int32_t pid,
                                    int64_t memory),
                        void *user_data)
{
  processes compute, graphics = { .count = 0 };
  int rc = get_list(n->get_compute, n->get_compute_v1, device, alloc, room,
                    COMPUTE, &compute);

  if (rc == PAI_OK)
    rc = get_list(n->get_graphics, n->get_graphics_v1, device, alloc, room,
                  GRAPHICS, &graphics);
  for (unsigned int i = 0; rc == PAI_OK && i < compute.count; i++)
    rc = each(user_data, pid_of(&compute, i), memory_of(&compute, i));
  for (unsigned int i = 0; rc == PAI_OK && i < graphics.count; i++)
    if (!has(&compute, pid_of(&graphics, i)))
      rc = each(user_data, pid_of(&graphics, i), memory_of(&graphics, i));
  return rc;
}

void pai__nvml_room_free(pai__nvml_room *room, const pai_alloc *alloc)
{
  pai__free(alloc, room->data[COMPUTE], room->bytes[COMPUTE]);
  pai__free(alloc, room->data[GRAPHICS], room->bytes[GRAPHICS]);
  *room = (pai__nvml_room){ { NULL }, { 0 } };
}
