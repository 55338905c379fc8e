/* linux_gpus.c - all GPUs of this machine, and whose processes are on them */
#include "resource/gpu.h"
#include "resource/linux_nvml.h"
#include "resource/linux_read.h"
#include "resource/proc.h"

static bool holds(const int32_t *list, size_t count, int32_t n)
{
  for (size_t i = 0; i < count; i++)
    if (list[i] == n)
      return true;
  return false;
}

/* The process group of a process, or -1. */
static int32_t group_of(const char *root, int32_t pid)
{
  char text[1024];
  size_t len =
    pai__read_short(text, sizeof(text), root, "proc/%ld/stat", (long)pid);
  pai__proc_task task;

  (void)pai__proc_task_of(&task, text, len);
  return task.group;
}

static void mark_foreign(pai_gpus *gpus, const pai_gpus_options *o)
{
  if (o->pid_count == 0 && o->group_count == 0)
    return; /* nobody said what is ours */
  for (size_t i = 0; i < gpus->process_count; i++) {
    pai__gpu_process *p = &gpus->processes[i];

    if (holds(o->pids, o->pid_count, p->pid) ||
        (o->group_count != 0 &&
         holds(o->groups, o->group_count, group_of(o->root, p->pid))))
      continue;
    p->foreign = true;
    gpus->gpus[p->gpu].foreign++;
  }
}

int pai__gpus_fill(pai_gpus *gpus, pai__nvml *nvml, pai__nvml_handles *handles,
                   const char *path, const char *root)
{
  char why[PAI__NVML_WHY] = "";
  int rc = PAI_OK;

  *handles = (pai__nvml_handles){ NULL, 0 };
  nvml->library = NULL;
  if (path == NULL || path[0] != '\0') {
    if (pai__nvml_open(nvml, path, root, why))
      rc = pai__nvml_list(nvml, gpus, handles);
    else if (why[0] != '\0')
      rc = pai__gpus_note(gpus, "%s", why);
  }
  return rc == PAI_OK ? pai__amd_list(gpus, root) : rc;
}

int pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts, pai_error **err)
{
  pai__nvml_handles handles;
  pai_gpus_options o;
  pai__nvml nvml;
  pai_gpus *gpus;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_gpus_options, group_count);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_gpus_options");
  if (o.root == NULL)
    o.root = "/";
  if (pai__gpus_make(&gpus, pai__alloc_or_libc(o.alloc)) < 0)
    return pai__oom(err);
  rc = pai__gpus_fill(gpus, &nvml, &handles, o.nvml, o.root);
  pai__nvml_handles_free(&handles, &gpus->alloc);
  pai__nvml_close(&nvml);
  if (rc < 0) {
    pai_gpus_free(gpus);
    return pai__oom(err);
  }
  pai__gpus_finish(gpus);
  mark_foreign(gpus, &o);
  *out = gpus;
  return PAI_OK;
}
