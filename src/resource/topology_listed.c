/*
 * topology_listed.c - GPUs that the PCI bus knows by place alone, told by
 * their drivers
 *
 * They are matched by PCI address, and count as what hwloc would have found
 * had it been built with the vendor's library.
 */
#include "resource/topology.h"

#include <stdio.h>

static uint32_t find_pci(const pai_topology *t, const char *pci)
{
  for (uint32_t i = 0; i < t->count; i++)
    if ((t->objects[i].kind == PAI_OBJECT_GPU ||
         t->objects[i].kind == PAI_OBJECT_PCI) &&
        t->objects[i].pci != 0 &&
        strcmp(pai__topo_text(t, t->objects[i].pci), pci) == 0)
      return i;
  return PAI_NONE;
}

static int tell(pai_topology *t, const pai_gpu_view *gpu)
{
  bool nvidia = gpu->vendor == PAI_GPU_NVIDIA;
  char name[24] = "";
  pai__topo_device d = { .kind = PAI_OBJECT_GPU,
                         .backend = nvidia ? "NVML" : "RSMI",
                         .model = gpu->model,
                         .uuid = gpu->uuid };
  uint32_t object = gpu->pci[0] != '\0' ? find_pci(t, gpu->pci) : PAI_NONE;

  if (object == PAI_NONE)
    return PAI_OK; /* hidden from this process, or of another machine */
  if (gpu->memory_total > 0)
    d.bytes = (uint64_t)gpu->memory_total;
  if (nvidia) { /* whose numbers are NVML's; AMD's are other ones */
    (void)snprintf(name, sizeof(name), "nvml%u", (unsigned)gpu->number);
    d.name = name;
  }
  return pai__topo_fold(t, object, &d);
}

/* hwloc has told it already, of one that has its vendor's index. */
static bool is_told(const pai_topology *t, const char *pci)
{
  uint32_t object = find_pci(t, pci);

  return object != PAI_NONE && t->objects[object].kind == PAI_OBJECT_GPU &&
         t->objects[object].gpu != PAI_NONE &&
         t->gpus[t->objects[object].gpu].model != 0 &&
         t->gpus[t->objects[object].gpu].index != PAI_NONE;
}

int pai__topo_tell_gpus(pai_topology *t, const pai_gpus *gpus)
{
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && pai_gpus_get(gpus, i, &gpu) == PAI_OK;
       i++)
    if (gpu.parent == PAI_NO_GPU && !is_told(t, gpu.pci))
      rc = tell(t, &gpu);
  return rc;
}
