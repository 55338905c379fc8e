/*
 * linux_nvml_links.c - who is linked with whom by NVLink
 *
 * A link tells its other end by that one's address on the PCI bus.  GPUs that
 * are not in the list (another container's) have none here.
 */
#include "resource/linux_nvml.h"

/* nvmlNvlinkVersion_t as tenths; and what a link of it carries each direction,
 * where NVML does not tell (before NVLink 4 it did not). */
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

/* The place of the other end: a GPU's, PAI_NO_GPU for a switch.  False: some
 * other thing. */
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

int pai__nvml_links(pai__nvml *n, pai_gpus *gpus,
                    pai__nvml_device *const *handles)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < gpus->count; i++) {
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
