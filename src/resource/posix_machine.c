/*
 * posix_machine.c - CPUs, memory, GPUs and address of this machine
 *
 * GPUs are counted by NVIDIA's device files: enough to give each task its own
 * without loading NVIDIA's libraries.
 */
#include "resource/machine.h"

#include <stdio.h>
#include <unistd.h>

static uint32_t clamp(long n, uint32_t most)
{
  return n < 0 ? 0 : (unsigned long)n > most ? most : (uint32_t)n;
}

static uint32_t count_gpus(void)
{
  uint32_t n = 0;
  char path[32];

  for (; n < PAI__MAX_GPUS; n++) {
    (void)snprintf(path, sizeof(path), "/dev/nvidia%u", n);
    if (access(path, R_OK | W_OK) != 0)
      break;
  }
  return n;
}

uint32_t pai__machine_memory_mb(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);

  return pages > 0 && page_size > 0
           ? clamp(pages / 1024 * (page_size / 1024), UINT32_MAX)
           : 0;
}

void pai__machine_discover(pai__machine *out)
{
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);

  *out = (pai__machine){ .ip = "127.0.0.1",
                         .port_first = 15000, /* OpenPAI's own range */
                         .port_last = 39999 };
  if (gethostname(out->name, sizeof(out->name) - 1) != 0)
    out->name[0] = '\0';
  if (out->name[0] == '\0')
    memcpy(out->name, "localhost", sizeof("localhost"));
  out->cpus = cpus < 1 ? 1 : clamp(cpus, UINT32_MAX);
  out->memory_mb = pai__machine_memory_mb();
  out->gpus = count_gpus();
  pai__machine_limit_here(out);
}
