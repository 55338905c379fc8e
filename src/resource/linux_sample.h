/*
 * linux_sample.h - internal: a sampler and the parts of it
 *
 * Each part opens its files once and reads them again and again; buffers and
 * lists only grow, so after some rounds nothing is allocated any more.
 */
#ifndef PAI_SRC_RESOURCE_LINUX_SAMPLE_H
#define PAI_SRC_RESOURCE_LINUX_SAMPLE_H

#include "resource/linux_nvml.h"
#include "resource/linux_read.h"
#include "resource/sample.h"

#include <dirent.h>

/* Limits of the cgroups this process is in, from its own to the root's. */
enum { PAI__CGROUP_LEVELS = 8 };

typedef struct pai__limits {
  int limit[PAI__CGROUP_LEVELS], used[PAI__CGROUP_LEVELS];
  size_t count;
} pai__limits;

/* GPUs: as they were at first, and what to ask of each again. */
typedef struct pai__live_gpus {
  pai_gpus *list;
  pai__nvml nvml;
  pai__nvml_handles handles;
  int (*amd)[PAI__AMD_FILES]; /* of each in the list; all -1 for others */
  pai__nvml_room room;
} pai__live_gpus;

struct pai_sampler {
  pai_alloc alloc;
  char *root;
  char **paths; /* of file systems */
  size_t path_count;
  int stat, memory, load, disks, networks; /* files, or -1 */
  DIR *tasks_dir;
  pai__limits limits;
  pai__live_gpus gpus;
  pai__tasks tasks;
  pai__buf text; /* of the file that is being read */
  uint32_t ticks_a_second, page;
  bool all_groups, ready; /* ready: there was a sample before */
  pai_sample sample;
};

/* linux_sample_cgroup.c */
void pai__limits_open(pai__limits *l, const char *root);
void pai__limits_close(pai__limits *l);
void pai__limits_read(const pai__limits *l, pai_sample_machine *out);
/* Opens the files of a cgroup; false when there is none. */
bool pai__cgroup_open(pai__group *g, const char *root, const char *path);
void pai__cgroup_close(pai__group *g);
/* What it used up to now; PAI_OK, PAI_ENOMEM. */
int pai__cgroup_read(pai__group *g, pai__buf *text, pai_time now);

/* linux_sample_gpu.c */
int pai__live_gpus_open(pai__live_gpus *g, pai_sample *sample,
                        const pai_alloc *alloc, const char *nvml,
                        const char *root);
void pai__live_gpus_close(pai__live_gpus *g, const pai_alloc *alloc);
void pai__live_gpus_read(pai__live_gpus *g, pai_sample *sample);
/* Adds the memory of processes on GPUs to their groups. */
int pai__live_gpus_share(pai_sampler *s);

/* linux_sample_tasks.c: all that is of processes. */
int pai__tasks_sample(pai_sampler *s, pai_time now);
/* The group of all groups that has this id, or NULL. */
pai__group *pai__others_find(const pai_sample *sample, int64_t id);

#endif
