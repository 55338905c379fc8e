/*
 * gpu.h - internal: build a list of GPUs
 *
 * The drivers' files (linux_nvml*.c, linux_gpus.c) add what they find; gpu.c
 * sorts it and decides on health.  All strings live in the arena.
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

/* Adds a GPU with all fields unknown; NULL if memory is short.  The pointer is
 * valid until the next call. */
pai_gpu_view *pai__gpus_add(pai_gpus *gpus, int vendor);
/* Returns a copy that lives as long as the list, or NULL. */
const char *pai__gpus_text(pai_gpus *gpus, const char *text);
int pai__gpus_note(pai_gpus *gpus, const char *fmt, ...) PAI__PRINTF(2, 3);
/* Sets the health of a GPU and the reason, if it is worse than before. */
int pai__gpus_blame(pai_gpus *gpus, size_t i, int health, const char *fmt, ...)
  PAI__PRINTF(4, 5);
int pai__gpus_process_add(pai_gpus *gpus, size_t gpu, int32_t pid,
                          int64_t memory);
/* Adds one active link as one end reports it; `to` is PAI_NO_GPU for a switch.
 * Between two GPUs both ends report it: pai__gpus_finish() uses the reports of
 * the GPU with the lower index, or the other GPU's if there are none. */
int pai__gpus_link_add(pai_gpus *gpus, uint32_t from, uint32_t to,
                       int32_t version, int64_t mbytes_per_second);
/* Returns the GPU at this PCI address that is not a MIG instance, or
 * PAI_NO_GPU. */
uint32_t pai__gpus_at_pci(const pai_gpus *gpus, const char *pci);
/* Sorts processes and links, and merges the links of each pair. */
void pai__gpus_finish(pai_gpus *gpus);

/* Writes a PCI address as Linux does; `out` has PAI__PCI_TEXT bytes. */
enum { PAI__PCI_TEXT = 24 };
void pai__pci_text(char *out, uint32_t domain, uint32_t bus, uint32_t device);

/* Files of values that change every second; -1 for a missing file. */
enum {
  PAI__AMD_USED,
  PAI__AMD_BUSY,
  PAI__AMD_MEMORY_BUSY,
  PAI__AMD_TEMPERATURE, /* thousandths of a degree */
  PAI__AMD_POWER,       /* microwatts */
  PAI__AMD_FILES
};
void pai__amd_files(const char *root, unsigned card, int fd[PAI__AMD_FILES]);

/* Adds all GPUs of NVIDIA and AMD, unsorted.  Called by pai_gpus_new() and by
 * a sampler, which keeps NVML open (linux_gpus.c). */
struct pai__nvml;
struct pai__nvml_handles;
int pai__gpus_fill(pai_gpus *gpus, struct pai__nvml *nvml,
                   struct pai__nvml_handles *handles, const char *path,
                   const char *root);

#endif
