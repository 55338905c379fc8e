/* linux_nvml_list.c - list NVIDIA's GPUs, their MIG instances and NVLinks */
#include "resource/sample/linux_nvml.h"

/* --- links --------------------------------------------------------------- */

/* NVML identifies the other end of a link by its PCI address.  Links to GPUs
 * that are not in the list (another container's) are left out. */

/* nvmlNvlinkVersion_t in tenths, and the bandwidth of one link in each
 * direction, for NVML that does not report it (before NVLink 4). */
static const struct {
  int32_t tenths;
  int64_t mbytes_per_second;
} versions[] = { { -1, -1 },    { 10, 20000 }, { 20, 25000 }, { 22, 25000 },
                 { 30, 25000 }, { 31, 25000 }, { 40, 25000 }, { 50, 50000 } };

static int64_t speed_of(const pai__nvml *n, pai__nvml_device *device,
                        unsigned int link, unsigned int version)
{
  nvml_field field = { .id = NVML_FIELD_NVLINK_SPEED, .scope = link };

  if (PAI__NVML(n, get_fields, device, 1, &field) == NVML_SUCCESS &&
      field.result == NVML_SUCCESS && field.value_type == NVML_UNSIGNED_INT &&
      field.value.ui != 0)
    return (int64_t)field.value.ui;
  return versions[version].mbytes_per_second;
}

/* Sets *other to the GPU at the other end, PAI_NO_GPU for a switch.  Returns
 * false for another device. */
static bool find_other(const pai__nvml *n, const pai_gpus *gpus,
                       pai__nvml_device *device, unsigned int link,
                       uint32_t *other)
{
  unsigned int type;
  char text[PAI__PCI_TEXT];
  nvml_pci pci;

  if (PAI__NVML(n, get_link_type, device, link, &type) == NVML_SUCCESS &&
      type == NVML_REMOTE_SWITCH) {
    *other = PAI_NO_GPU;
    return true;
  }
  memset(&pci, 0, sizeof(pci));
  if (PAI__NVML(n, get_link_pci, device, link, &pci) != NVML_SUCCESS)
    return false;
  pai__pci_text(text, pci.domain, pci.bus, pci.device);
  *other = pai__gpus_at_pci(gpus, text);
  return *other != PAI_NO_GPU;
}

/* Adds the links, once all GPUs are listed. handles[i] is that of GPU i of the
 * list, or NULL. */
static int nvml_links(pai__nvml *n, pai_gpus *gpus,
                      pai__nvml_device *const *handles)
{
  int rc = PAI_OK;

  for (size_t i = 0; handles != NULL && i < gpus->count; i++) {
    if (handles[i] == NULL || gpus->gpus[i].health == PAI_GPU_LOST ||
        gpus->gpus[i].parent != PAI_NO_GPU)
      continue;
    for (unsigned int link = 0; rc == PAI_OK && link < NVML_LINKS; link++) {
      unsigned int active, version = 0;
      uint32_t other;

      if (PAI__NVML(n, get_link_state, handles[i], link, &active) !=
            NVML_SUCCESS ||
          active == 0 || !find_other(n, gpus, handles[i], link, &other) ||
          other == i)
        continue;
      if (PAI__NVML(n, get_link_version, handles[i], link, &version) !=
            NVML_SUCCESS ||
          version >= PAI__LEN(versions))
        version = 0;
      rc =
        pai__gpus_link_add(gpus, (uint32_t)i, other, versions[version].tenths,
                           speed_of(n, handles[i], link, version));
    }
  }
  return rc;
}

enum { TEXT = 256, MOST_GPUS = 1024, MOST_INSTANCES = 64 };

typedef struct lister {
  pai__nvml *n;
  pai_gpus *gpus;
  size_t at; /* index of the GPU being queried */
  pai__nvml_room room;
  pai__nvml_device **handles; /* handle of each GPU of the list */
  size_t handle_cap;
} lister;

static pai_gpu_view *now(const lister *l)
{
  return &l->gpus->gpus[l->at];
}

/* Copies a driver's text, cut at the end of its buffer. */
static int keep(lister *l, const char **where, char text[TEXT])
{
  const char *copy;

  text[TEXT - 1] = '\0';
  copy = pai__gpus_text(l->gpus, text);
  if (copy == NULL)
    return PAI_ENOMEM;
  *where = copy;
  return PAI_OK;
}

/* Sets the GPU's health from a result other than success. */
static int judge(lister *l, int result)
{
  if (result == NVML_GPU_IS_LOST)
    return pai__gpus_blame(l->gpus, l->at, PAI_GPU_LOST,
                           "has fallen off the bus: %s",
                           pai__nvml_explain(l->n, result));
  if (result == NVML_RESET_REQUIRED)
    return pai__gpus_blame(l->gpus, l->at, PAI_GPU_SICK,
                           "must be reset before it can be used: %s",
                           pai__nvml_explain(l->n, result));
  return PAI_OK;
}

/* --- what a device is ---------------------------------------------------- */

static int identify(lister *l, pai__nvml_device *device)
{
  char text[TEXT] = "", pci_text[PAI__PCI_TEXT];
  unsigned int minor;
  nvml_pci pci;
  int rc = PAI_OK, result;

  if (PAI__NVML(l->n, get_name, device, text, TEXT) == NVML_SUCCESS)
    rc = keep(l, &now(l)->model, text);
  text[0] = '\0';
  result = PAI__NVML(l->n, get_uuid, device, text, TEXT);
  if (rc == PAI_OK && result == NVML_SUCCESS)
    rc = keep(l, &now(l)->uuid, text);
  if (rc == PAI_OK)
    rc = judge(l, result);
  memset(&pci, 0, sizeof(pci));
  if (rc == PAI_OK && now(l)->parent == PAI_NO_GPU &&
      PAI__NVML(l->n, get_pci, device, &pci) == NVML_SUCCESS) {
    pai__pci_text(pci_text, pci.domain, pci.bus, pci.device);
    now(l)->pci = pai__gpus_text(l->gpus, pci_text);
    if (now(l)->pci == NULL) {
      now(l)->pci = "";
      rc = PAI_ENOMEM;
    }
  }
  if (now(l)->parent == PAI_NO_GPU &&
      PAI__NVML(l->n, get_minor, device, &minor) == NVML_SUCCESS &&
      minor <= INT16_MAX)
    now(l)->device = (int32_t)minor;
  return rc;
}

static void read_clocks(const pai__nvml *n, pai__nvml_device *device,
                        pai_gpu_view *g)
{
  unsigned int mhz;

  if (PAI__NVML(n, get_clock, device, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
    g->clock_mhz = (int32_t)mhz;
  if (PAI__NVML(n, get_max_clock, device, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
    g->clock_max_mhz = (int32_t)mhz;
  if (PAI__NVML(n, get_clock, device, NVML_CLOCK_MEM, &mhz) == NVML_SUCCESS)
    g->memory_clock_mhz = (int32_t)mhz;
  if (PAI__NVML(n, get_max_clock, device, NVML_CLOCK_MEM, &mhz) ==
      NVML_SUCCESS)
    g->memory_clock_max_mhz = (int32_t)mhz;
}

static int read_ecc(lister *l, pai__nvml_device *device)
{
  const pai__nvml *n = l->n;
  unsigned int mode, pending, corrected, uncorrected, failed;
  unsigned long long count;
  int rc = PAI_OK;

  if (PAI__NVML(n, get_ecc_mode, device, &mode, &pending) == NVML_SUCCESS)
    now(l)->ecc = mode != 0;
  if (PAI__NVML(n, get_ecc_errors, device, NVML_CORRECTED, NVML_VOLATILE_ECC,
                &count) == NVML_SUCCESS &&
      count <= INT64_MAX)
    now(l)->ecc_corrected = (int64_t)count;
  if (PAI__NVML(n, get_ecc_errors, device, NVML_UNCORRECTED, NVML_VOLATILE_ECC,
                &count) == NVML_SUCCESS &&
      count <= INT64_MAX) {
    now(l)->ecc_uncorrected = (int64_t)count;
    if (count > 0)
      rc = pai__gpus_blame(l->gpus, l->at, PAI_GPU_SICK,
                           "%llu double-bit memory errors since the driver "
                           "was loaded",
                           count);
  }
  if (rc == PAI_OK &&
      PAI__NVML(n, get_remapped_rows, device, &corrected, &uncorrected,
                &pending, &failed) == NVML_SUCCESS) {
    if (failed != 0)
      rc = pai__gpus_blame(l->gpus, l->at, PAI_GPU_SICK,
                           "bad memory could not be replaced by spare memory");
    else if (pending != 0)
      rc = pai__gpus_blame(l->gpus, l->at, PAI_GPU_WORN,
                           "bad memory is replaced at the next reset");
  }
  if (rc == PAI_OK &&
      PAI__NVML(n, get_retired_pending, device, &pending) == NVML_SUCCESS &&
      pending != 0)
    rc = pai__gpus_blame(l->gpus, l->at, PAI_GPU_WORN,
                         "bad memory is taken out of use at the next reset");
  return rc;
}

static int add_process(void *user_data, int32_t pid, int64_t memory)
{
  lister *l = user_data;

  return pai__gpus_process_add(l->gpus, l->at, pid, memory);
}

/* Reads the values that change, for GPUs and instances. */
static int read_live(lister *l, pai__nvml_device *device)
{
  pai_gpu_view *g = now(l);
  pai__nvml_live live;
  int result = pai__nvml_live_of(l->n, device, &live);

  g->memory_total = live.memory_total;
  g->memory_used = live.memory_used;
  g->busy_percent = live.busy_percent;
  g->memory_busy_percent = live.memory_busy_percent;
  g->temperature = live.temperature;
  g->power_mw = live.power_mw;
  g->power_limit_mw = live.power_limit_mw;
  return judge(l, result);
}

/* --- MIG ----------------------------------------------------------------- */

static int add(lister *l, pai__nvml_device *device)
{
  if (pai__gpus_add(l->gpus, PAI_GPU_NVIDIA) == NULL ||
      PAI__VEC_ROOM(&l->gpus->alloc, l->handles, l->gpus->count - 1,
                    l->handle_cap) < 0)
    return PAI_ENOMEM;
  l->at = l->gpus->count - 1;
  l->handles[l->at] = device;
  return PAI_OK;
}

static int add_instance(lister *l, size_t parent, unsigned int number,
                        pai__nvml_device *device)
{
  unsigned int id;
  int rc = add(l, device);

  if (rc < 0)
    return rc;
  now(l)->number = number;
  now(l)->parent = (uint32_t)parent;
  now(l)->pci = l->gpus->gpus[parent].pci;
  now(l)->device = l->gpus->gpus[parent].device;
  if (PAI__NVML(l->n, get_gpu_instance, device, &id) == NVML_SUCCESS)
    now(l)->gpu_instance = (int32_t)id;
  if (PAI__NVML(l->n, get_compute_instance, device, &id) == NVML_SUCCESS)
    now(l)->compute_instance = (int32_t)id;
  rc = identify(l, device);
  if (rc == PAI_OK)
    rc = read_live(l, device);
  if (rc == PAI_OK)
    rc = pai__nvml_processes(l->n, device, &l->gpus->alloc, &l->room,
                             add_process, l);
  return rc;
}

static int add_instances(lister *l, size_t parent, pai__nvml_device *device)
{
  pai__nvml_device *instance;
  unsigned int count = 0;
  int rc = PAI_OK;

  if (PAI__NVML(l->n, get_mig_count, device, &count) != NVML_SUCCESS)
    count = 0;
  for (unsigned int i = 0; rc == PAI_OK && i < count && i < MOST_INSTANCES;
       i++)
    if (PAI__NVML(l->n, get_mig_handle, device, i, &instance) == NVML_SUCCESS)
      rc = add_instance(l, parent, i, instance);
  return rc;
}

/* --- GPUs ---------------------------------------------------------------- */

static int read_gpu(lister *l, pai__nvml_device *device)
{
  unsigned int mode, pending;
  int rc = identify(l, device);

  if (rc < 0 || now(l)->health == PAI_GPU_LOST)
    return rc;
  if (PAI__NVML(l->n, get_compute_mode, device, &mode) == NVML_SUCCESS &&
      mode <= PAI_GPU_EXCLUSIVE)
    now(l)->compute_mode = (int32_t)mode;
  if (PAI__NVML(l->n, get_mig_mode, device, &mode, &pending) == NVML_SUCCESS)
    now(l)->mig = mode != 0;
  rc = read_live(l, device);
  if (rc < 0 || now(l)->health == PAI_GPU_LOST)
    return rc;
  read_clocks(l->n, device, now(l));
  rc = read_ecc(l, device);
  if (rc < 0)
    return rc;
  /* With MIG, processes are listed at their instance. */
  if (now(l)->mig == 1)
    return add_instances(l, l->at, device);
  return pai__nvml_processes(l->n, device, &l->gpus->alloc, &l->room,
                             add_process, l);
}

static int list_gpu(lister *l, unsigned int number)
{
  pai__nvml_device *device = NULL;
  int result = l->n->get_handle(number, &device), rc;

  rc = add(l, result == NVML_SUCCESS ? device : NULL);
  if (rc < 0)
    return rc;
  now(l)->number = number;
  if (result == NVML_SUCCESS)
    return read_gpu(l, device);
  rc = judge(l, result);
  if (rc == PAI_OK && now(l)->health == PAI_GPU_HEALTHY)
    rc = pai__gpus_blame(l->gpus, l->at, PAI_GPU_LOST,
                         "cannot be reached: %s (NVML %d)",
                         pai__nvml_explain(l->n, result), result);
  return rc;
}

static int read_driver(lister *l)
{
  char text[TEXT] = "";

  if (PAI__NVML(l->n, get_driver, text, TEXT) != NVML_SUCCESS)
    return PAI_OK;
  return keep(l, &l->gpus->driver, text);
}

int pai__nvml_list(pai__nvml *n, pai_gpus *gpus, pai__nvml_handles *handles)
{
  lister l = { .n = n, .gpus = gpus };
  unsigned int count = 0;
  int rc = read_driver(&l), result = n->get_count(&count);

  if (rc == PAI_OK && result != NVML_SUCCESS) {
    rc = pai__gpus_note(gpus, "NVIDIA's GPUs cannot be counted: %s (NVML %d)",
                        pai__nvml_explain(n, result), result);
    count = 0;
  }
  for (unsigned int i = 0; rc == PAI_OK && i < count && i < MOST_GPUS; i++)
    rc = list_gpu(&l, i);
  if (rc == PAI_OK)
    rc = nvml_links(n, gpus, l.handles);
  pai__nvml_room_free(&l.room, &gpus->alloc);
  *handles = (pai__nvml_handles){ l.handles, l.handle_cap };
  return rc;
}
