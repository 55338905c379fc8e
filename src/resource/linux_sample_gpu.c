/* linux_sample_gpu.c - what changes on GPUs, and whose processes have what */
#include "resource/linux_sample.h"

#include <unistd.h>

static int open_all(pai__live_gpus *g, pai_sample *sample,
                    const pai_alloc *alloc, const char *root)
{
  size_t n = g->list->count;

  sample->machine.gpus = n;
  if (n == 0)
    return PAI_OK;
  sample->gpus = pai__zalloc(alloc, n * sizeof(*sample->gpus));
  g->amd = pai__zalloc(alloc, n * sizeof(*g->amd));
  if (sample->gpus == NULL || g->amd == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const pai_gpu_view *v = &g->list->gpus[i];

    for (int f = 0; f < PAI__AMD_FILES; f++)
      g->amd[i][f] = -1;
    if (v->vendor == PAI_GPU_AMD)
      pai__amd_files(root, v->number, g->amd[i]);
  }
  return PAI_OK;
}

int pai__live_gpus_open(pai__live_gpus *g, pai_sample *sample,
                        const pai_alloc *alloc, const char *nvml,
                        const char *root)
{
  int rc = pai__gpus_make(&g->list, alloc);

  if (rc < 0)
    return rc;
  rc = pai__gpus_fill(g->list, &g->nvml, &g->handles, nvml, root);
  if (rc < 0)
    return rc;
  pai__gpus_finish(g->list);
  return open_all(g, sample, alloc, root);
}

void pai__live_gpus_close(pai__live_gpus *g, const pai_alloc *alloc)
{
  size_t n = g->list != NULL ? g->list->count : 0;

  for (size_t i = 0; g->amd != NULL && i < n; i++)
    for (int f = 0; f < PAI__AMD_FILES; f++)
      if (g->amd[i][f] >= 0)
        (void)close(g->amd[i][f]);
  pai__free(alloc, g->amd, n * sizeof(*g->amd));
  pai__nvml_room_free(&g->room, alloc);
  pai__nvml_handles_free(&g->handles, alloc);
  pai__nvml_close(&g->nvml);
  pai_gpus_free(g->list);
}

/* --- once a sample ------------------------------------------------------------ */

static int32_t percent(int64_t n)
{
  return n >= 0 && n <= 100 ? (int32_t)n : -1;
}

static void read_amd(const int fd[PAI__AMD_FILES], const pai_gpu_view *was,
                     pai_sample_gpu *out)
{
  int64_t n;

  out->memory_total = was->memory_total;
  out->power_limit_mw = was->power_limit_mw;
  out->memory_used = pai__reread_number(fd[PAI__AMD_USED]);
  out->busy_percent = percent(pai__reread_number(fd[PAI__AMD_BUSY]));
  out->memory_busy_percent =
    percent(pai__reread_number(fd[PAI__AMD_MEMORY_BUSY]));
  n = pai__reread_number(fd[PAI__AMD_TEMPERATURE]);
  out->temperature = n >= 0 && n <= 1000000 ? (int32_t)(n / 1000) : -1;
  n = pai__reread_number(fd[PAI__AMD_POWER]);
  out->power_mw = n >= 0 ? n / 1000 : -1;
  out->lost = out->memory_used < 0; /* its files go when it goes */
}

static void read_nvidia(const pai__nvml *nvml, pai__nvml_device *device,
                        pai_sample_gpu *out)
{
  pai__nvml_live live;

  out->lost = device == NULL ||
              pai__nvml_live_of(nvml, device, &live) == NVML_GPU_IS_LOST;
  if (out->lost)
    live = (pai__nvml_live){ -1, -1, -1, -1, -1, -1, -1 };
  out->memory_total = live.memory_total;
  out->memory_used = live.memory_used;
  out->busy_percent = live.busy_percent;
  out->memory_busy_percent = live.memory_busy_percent;
  out->temperature = live.temperature;
  out->power_mw = live.power_mw;
  out->power_limit_mw = live.power_limit_mw;
}

void pai__live_gpus_read(pai__live_gpus *g, pai_sample *sample)
{
  for (size_t i = 0; i < g->list->count; i++) {
    const pai_gpu_view *v = &g->list->gpus[i];
    pai_sample_gpu *out = &sample->gpus[i];

    out->struct_size = sizeof(*out);
    if (v->vendor == PAI_GPU_AMD)
      read_amd(g->amd[i], v, out);
    else
      read_nvidia(&g->nvml, g->handles.of[i], out);
  }
}

/* --- whose memory it is -------------------------------------------------------- */

static void give(pai__group *g, int64_t memory)
{
  if (memory > 0 && g->view.gpu_memory <= INT64_MAX - memory)
    g->view.gpu_memory += memory;
}

static bool has_process(const pai__group *g, const pai__task *task)
{
  if (task == NULL)
    return false;
  return g->view.kind == PAI_SAMPLE_SESSION ? task->session == g->view.id
                                            : task->group == g->view.id;
}

/* Whether a process is in a cgroup, by its list, which is in `text`. */
static bool is_listed(const pai__buf *text, int32_t pid)
{
  const char *at = pai__buf_text(text);

  while (*at != '\0') {
    const char *lf = strchr(at, '\n');

    if (pai__proc_number(at, strlen(at)) == pid)
      return true;
    if (lf == NULL)
      break;
    at = lf + 1;
  }
  return false;
}

static int share_one(void *user_data, int32_t pid, int64_t memory)
{
  pai_sampler *s = user_data;
  const pai__task *task = pai__tasks_find(&s->tasks, pid);
  pai__group *other;

  for (size_t i = 0; i < s->sample.watched_count; i++) {
    pai__group *g = &s->sample.watched[i];

    if (g->path == NULL) {
      if (has_process(g, task))
        give(g, memory);
    } else if (g->procs_fd >= 0) {
      int rc = pai__reread(g->procs_fd, &s->text);

      if (rc == PAI_ENOMEM)
        return rc;
      if (rc == PAI_OK && is_listed(&s->text, pid))
        give(g, memory);
    }
  }
  other = task != NULL ? pai__others_find(&s->sample, task->group) : NULL;
  if (other != NULL)
    give(other, memory);
  return PAI_OK;
}

int pai__live_gpus_share(pai_sampler *s)
{
  pai__live_gpus *g = &s->gpus;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < g->list->count; i++) {
    if (g->list->gpus[i].vendor != PAI_GPU_NVIDIA ||
        g->handles.of[i] == NULL || g->list->gpus[i].mig == 1 ||
        s->sample.gpus[i].lost)
      continue; /* with MIG the instances tell */
    rc = pai__nvml_processes(&g->nvml, g->handles.of[i], &s->alloc, &g->room,
                             share_one, s);
  }
  return rc;
}
