/*
 * gpu.h - internal: a list of GPUs while it is made
 *
 * The drivers' files (linux_nvml*.c, linux_amd.c) add what they find; gpu.c
 * puts it in order and decides on health.  All strings live in the arena.
 */
#ifndef PAI_SRC_RESOURCE_GPU_H
#define PAI_SRC_RESOURCE_GPU_H

#include <openpai/gpu.h>

#include "base/arena.h"

typedef struct pai__gpu_process {
  uint32_t gpu;
  int32_t pid;
  int64_t memory;
  bool foreign;
} pai__gpu_process;

struct pai_gpus {
  pai_alloc alloc;
  pai__arena arena;
  pai_gpu_view *gpus;
  size_t count, cap;
  pai__gpu_process *processes; /* by gpu, then pid */
  size_t process_count, process_cap;
  pai_gpu_link_view *links; /* by a, then b */
  size_t link_count, link_cap;
  const char **notes;
  size_t note_count, note_cap;
  const char *driver;
};

int pai__gpus_make(pai_gpus **out, const pai_alloc *alloc);

/* A new GPU of which nothing is known; NULL when memory is short.  Valid until
 * the next one. */
pai_gpu_view *pai__gpus_add(pai_gpus *gpus, int vendor);
/* A copy that lives as long as the list, or NULL. */
const char *pai__gpus_text(pai_gpus *gpus, const char *text);
int pai__gpus_note(pai_gpus *gpus, const char *fmt, ...) PAI__PRINTF(2, 3);
/* Makes it worse, never better. */
int pai__gpus_blame(pai_gpus *gpus, size_t i, int health, const char *fmt, ...)
  PAI__PRINTF(4, 5);
int pai__gpus_process_add(pai_gpus *gpus, size_t gpu, int32_t pid,
                          int64_t memory);
/* One active link as one end sees it; b PAI_NO_GPU for a switch.  Between two
 * GPUs each end tells of it: only what the one with the lower place tells
 * counts, and what the other tells where that one is silent. */
int pai__gpus_link_add(pai_gpus *gpus, uint32_t from, uint32_t to,
                       int32_t version, int64_t mbytes_per_second);
/* The one at this address that is no MIG instance, or PAI_NO_GPU. */
uint32_t pai__gpus_at_pci(const pai_gpus *gpus, const char *pci);
/* Orders processes and links, and sums the latter up. */
void pai__gpus_finish(pai_gpus *gpus);

/* Writes an address as Linux does; out has PAI__PCI_TEXT bytes. */
enum { PAI__PCI_TEXT = 24 };
void pai__pci_text(char *out, uint32_t domain, uint32_t bus, uint32_t device);

/* Adds AMD's GPUs (linux_amd.c). */
int pai__amd_list(pai_gpus *gpus, const char *root);

/* The files of what changes from second to second; -1 for those not there. */
enum {
  PAI__AMD_USED,
  PAI__AMD_BUSY,
  PAI__AMD_MEMORY_BUSY,
  PAI__AMD_TEMPERATURE, /* thousandths of a degree */
  PAI__AMD_POWER,       /* microwatts */
  PAI__AMD_FILES
};
void pai__amd_files(const char *root, unsigned card, int fd[PAI__AMD_FILES]);

/* NVIDIA's and AMD's, unordered yet, for pai_gpus_new() and a sampler, which
 * keeps NVML open (linux_gpus.c). */
struct pai__nvml;
struct pai__nvml_handles;
int pai__gpus_fill(pai_gpus *gpus, struct pai__nvml *nvml,
                   struct pai__nvml_handles *handles, const char *path,
                   const char *root);

#endif
