/* linux_nvml_list.c - NVIDIA's GPUs and their MIG instances, one by one */
#include "resource/linux_nvml.h"

enum { TEXT = 256, MOST_GPUS = 1024, MOST_INSTANCES = 64 };

typedef struct lister {
  pai__nvml *n;
  pai_gpus *gpus;
  size_t at; /* the GPU that is asked now */
  pai__nvml_room room;
  pai__nvml_device **handles; /* of each in the list */
  size_t handle_cap;
} lister;

static pai_gpu_view *now(const lister *l)
{
  return &l->gpus->gpus[l->at];
}

/* A driver's text, cut where its buffer ends. */
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

/* What an answer other than success says of the GPU's health. */
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

/* What changes, for GPUs and instances alike. */
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
  /* With MIG each process belongs to an instance, and is listed there. */
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
    rc = pai__nvml_links(n, gpus, l.handles);
  pai__nvml_room_free(&l.room, &gpus->alloc);
  *handles = (pai__nvml_handles){ l.handles, l.handle_cap };
  return rc;
}
