/* gpu.c - the GPUs of this machine, as reported by their drivers */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>

static const char *vendor_name(int vendor)
{
  return vendor == PAI_GPU_NVIDIA ? "NVIDIA" : "AMD";
}

static const char *health_name(int health)
{
  switch (health) {
  case PAI_GPU_HEALTHY: return "healthy";
  case PAI_GPU_WORN: return "worn";
  case PAI_GPU_SICK: return "sick";
  case PAI_GPU_LOST: return "lost";
  default: return NULL;
  }
}

static const char *mode_name(int mode)
{
  switch (mode) {
  case PAI_GPU_SHARED: return "shared";
  case PAI_GPU_EXCLUSIVE_THREAD: return "exclusive-thread";
  case PAI_GPU_PROHIBITED: return "prohibited";
  case PAI_GPU_EXCLUSIVE: return "exclusive";
  default: return NULL; /* unknown */
  }
}

static void put_processes(json *j, const pai_gpus *gpus, size_t gpu)
{
  pai_gpu_process_view p = { .struct_size = sizeof(p) };

  json_begin(j, "processes", '[');
  for (size_t i = 0; pai_gpus_process(gpus, gpu, i, &p) == PAI_OK; i++) {
    json_record(j, NULL, fields_GpuProcess, &p);
  }
  json_end(j, ']');
}

static void put_gpu(json *j, const pai_gpus *gpus, size_t i,
                    const pai_gpu_view *g)
{
  json_begin(j, NULL, '{');
  json_text(j, "vendor", vendor_name(g->vendor));
  json_fields(j, fields_Gpu, g);
  json_text(j, "health", health_name(g->health));
  json_text(j, "compute_mode", mode_name(g->compute_mode));
  if (g->mig >= 0)
    json_bool(j, "mig", g->mig != 0);
  if (g->ecc >= 0)
    json_bool(j, "ecc", g->ecc != 0);
  put_processes(j, gpus, i);
  json_end(j, '}');
}

static void put_links(json *j, const pai_gpus *gpus)
{
  pai_gpu_link_view link = { .struct_size = sizeof(link) };

  json_begin(j, "links", '[');
  for (size_t i = 0; pai_gpus_link(gpus, i, &link) == PAI_OK; i++) {
    json_record(j, NULL, fields_GpuLink, &link);
  }
  json_end(j, ']');
}

listing facade_put_gpus(const pai_gpus *gpus, failure *f)
{
  pai_gpu_view g = { .struct_size = sizeof(g) };
  const char *note;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_some(&j, "driver", pai_gpus_driver(gpus));
  json_begin(&j, "notes", '[');
  for (size_t i = 0; (note = pai_gpus_note(gpus, i)) != NULL; i++)
    json_text(&j, NULL, note);
  json_end(&j, ']');
  put_links(&j, gpus);
  json_begin(&j, "gpus", '[');
  for (size_t i = 0; pai_gpus_get(gpus, i, &g) == PAI_OK; i++)
    put_gpu(&j, gpus, i, &g);
  json_end(&j, ']');
  json_end(&j, '}');
  return json_finish(&j, f);
}

listing facade_gpus(const char *root, const char *nvml, words pids,
                    words groups, failure *f)
{
  pai_gpus_options options = PAI_GPUS_OPTIONS_INIT;
  uint32_t *p = calloc(pids.len + 1, sizeof(*p));
  uint32_t *g = calloc(groups.len + 1, sizeof(*g));
  listing made = { { NULL, 0 } };
  pai_gpus *gpus = NULL;

  options.root = root;
  options.nvml = nvml;
  options.pids = (const int32_t *)p; /* none is above INT32_MAX */
  options.groups = (const int32_t *)g;
  if (p == NULL || g == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else if (facade_numbers(p, &options.pid_count, &pids, f) &&
           facade_numbers(g, &options.group_count, &groups, f))
    f->code = pai_gpus_new(&gpus, &options, &f->err);
  if (gpus != NULL)
    made = facade_put_gpus(gpus, f);
  pai_gpus_free(gpus);
  free(p);
  free(g);
  return made;
}
