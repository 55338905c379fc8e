/*
 * linux_sample.h - internal: the sampler of Linux: machine, cgroups, GPUs,
 * processes
 *
 * Each part opens its files once and reads them again for each sample.
 * Buffers and lists only grow, so after some samples nothing is allocated.
 */
#ifndef PAI_SRC_RESOURCE_LINUX_SAMPLE_H
#define PAI_SRC_RESOURCE_LINUX_SAMPLE_H

#include "resource/sample/linux_nvml.h"
#include "resource/sample/linux_read.h"
#include "resource/sample/sample.h"

#include <dirent.h>

/* Memory limits of this process's cgroups, from its own up to the root. */
enum { PAI__CGROUP_LEVELS = 8 };

typedef struct pai__limits {
  int limit[PAI__CGROUP_LEVELS], used[PAI__CGROUP_LEVELS];
  size_t count;
  size_t version; /* of cgroups, while they are opened */
} pai__limits;

/* The list of GPUs as opened, and the handles and files that are read
 * again. */
typedef struct pai__live_gpus {
  pai_gpus *list;
  pai__nvml nvml;
  pai__nvml_handles handles;
  /* for each GPU of the list; all -1 if it is not AMD's */
  int (*amd)[PAI__AMD_FILES];
  pai__nvml_room room;
} pai__live_gpus;

struct pai_sampler {
  pai_alloc alloc;
  char *root;
  char **paths; /* of file systems */
  size_t path_count;
  int stat, memory, load, disks, networks; /* descriptors, or -1 */
  DIR *tasks_dir;
  pai__limits limits;
  pai__live_gpus gpus;
  pai__tasks tasks;
  pai__buf text; /* content of the file being read */
  uint32_t ticks_a_second, page;
  bool all_groups, ready; /* ready: a sample was taken before */
  pai_sample sample;
};

/* --- linux_sample_cgroup.c ------------------------------------------------ */

/* Calls `level` with the path of this process's cgroup, "" for the root, then
 * of each one above it.  `controller` is the name of a hierarchy of version 1,
 * or "" for version 2. */
typedef void pai__cgroup_level(void *data, const char *root, const char *path);
void pai__cgroup_levels(const char *root, const char *controller,
                        pai__cgroup_level *level, void *data);

void pai__limits_open(pai__limits *l, const char *root);
void pai__limits_close(pai__limits *l);
void pai__limits_read(const pai__limits *l, pai_sample_machine *out);
/* Opens the files of a cgroup; returns false if it does not exist. */
bool pai__cgroup_open(pai__group *g, const char *root, const char *path);
void pai__cgroup_close(pai__group *g);
/* Reads what a cgroup has used; returns PAI_OK or PAI_ENOMEM. */
int pai__cgroup_read(pai__group *g, pai__buf *text, pai_time now);

/* linux_sample_tasks.c */
int pai__live_gpus_open(pai__live_gpus *g, pai_sample *sample,
                        const pai_alloc *alloc, const char *nvml,
                        const char *root);
void pai__live_gpus_close(pai__live_gpus *g, const pai_alloc *alloc);
void pai__live_gpus_read(pai__live_gpus *g, pai_sample *sample);

/* linux_sample_tasks.c: samples the processes and their groups. */
int pai__tasks_sample(pai_sampler *s, pai_time now);

#endif
