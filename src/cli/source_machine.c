/* source_machine.c - this machine: how it is built, and which GPUs are sick */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Whether both are one GPU.  Of one that cannot be reached the inventory knows
 * its number alone. */
static bool is_same(const pai_topology_gpu *a, const pai_gpu_view *b)
{
  const char *vendor = b->vendor == PAI_GPU_NVIDIA ? "NVIDIA" : "AMD";

  if (b->pci[0] == '\0' && b->uuid[0] == '\0')
    return a->index == b->number && strcmp(a->vendor, vendor) == 0;
  return (b->pci[0] != '\0' && strcmp(a->pci, b->pci) == 0) ||
         (b->uuid[0] != '\0' && strcmp(a->uuid, b->uuid) == 0);
}

/* The topology's number of a GPU of the inventory, or PAI_NONE. */
static uint32_t find_gpu(const pai_topology *t, const pai_gpu_view *gpu)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };

  for (uint32_t i = 0; pai_topology_view_gpu(t, i, &g) == PAI_OK; i++)
    if (is_same(&g, gpu))
      return i;
  return PAI_NONE;
}

/* What the picture has no place for. */
static void tell_of(const pai_gpu_view *gpu)
{
  const char *pci = gpu->pci;
  char what[512];

  (void)snprintf(
    what, sizeof(what), "GPU %u%s%s is broken, and not visible: %s",
    (unsigned)gpu->number, pci[0] != '\0' ? ", " : "", pci, gpu->reason);
  cli_say(PAI_LOG_WARNING, what);
}

/* False: no memory. */
static bool mark(cli_source *s, const pai_gpu_view *gpu)
{
  uint32_t at = find_gpu(s->machine, gpu);

  if (at == PAI_NONE) {
    tell_of(gpu);
    return true;
  }
  if (s->marks == NULL)
    s->marks = calloc(s->mark_count, sizeof(*s->marks));
  if (s->marks == NULL)
    return false;
  s->marks[at] = (pai_gpu_mark){ PAI_MARK_SICK, gpu->reason };
  return true;
}

/* GPUs that are well, and hidden from whoever asks for devices. */
static void tell_hidden(const cli_source *s)
{
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  size_t hidden = 0;
  char what[128];

  for (size_t i = 0; pai_gpus_get(s->gpus, i, &gpu) == PAI_OK; i++)
    hidden += gpu.parent == PAI_NO_GPU && gpu.health < PAI_GPU_SICK &&
              find_gpu(s->machine, &gpu) == PAI_NONE;
  if (hidden == 0)
    return;
  (void)snprintf(what, sizeof(what),
                 "the driver knows %zu GPU%s more: the system does not show "
                 "where %s",
                 hidden, hidden == 1 ? "" : "s",
                 hidden == 1 ? "it is" : "they are");
  cli_say(PAI_LOG_INFO, what);
}

static bool mark_all(cli_source *s)
{
  pai_topology_summary sums = { .struct_size = sizeof(sums) };
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  const char *note;

  (void)pai_topology_summarize(s->machine, &sums);
  s->mark_count = sums.gpus;
  for (size_t i = 0; pai_gpus_get(s->gpus, i, &gpu) == PAI_OK; i++)
    if (gpu.parent == PAI_NO_GPU && gpu.health >= PAI_GPU_SICK &&
        !mark(s, &gpu))
      return false;
  if (s->marks == NULL)
    s->mark_count = 0;
  tell_hidden(s);
  for (size_t i = 0; (note = pai_gpus_note(s->gpus, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
  return true;
}

int cli_this_machine(cli_source *s)
{
  pai_topology_options opts = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_error *err = NULL;
  int rc = pai_gpus_new(&s->gpus, NULL, &err);

  opts.gpus = s->gpus;
  if (rc == PAI_OK)
    rc = pai_topology_discover(&s->machine, &opts, &err);
  if (rc < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
    return CLI_NO;
  }
  if (mark_all(s))
    return CLI_OK;
  cli_fail("out of memory");
  return CLI_NO;
}

int cli_mark_cluster(const cli_source *s)
{
  pai_node_gpu_view gpu = { .struct_size = sizeof(gpu) };

  for (size_t i = 0; pai_cluster_view_gpu(s->cluster, 0, i, &gpu) == PAI_OK;
       i++)
    if (gpu.number < s->mark_count &&
        s->marks[gpu.number].state == PAI_MARK_SICK &&
        pai_cluster_set_sick(s->cluster, 0, (long)i,
                             s->marks[gpu.number].text) < 0) {
      cli_fail("out of memory");
      return CLI_NO;
    }
  return CLI_OK;
}
