/* sample.c - a sample of this machine against bare reading of the same files */
#define _XOPEN_SOURCE 700 /* pread(), openat(), dirfd() */

#include "bench.h"

#include <openpai/sample.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char *const names[] = { "/proc/stat", "/proc/meminfo",
                                     "/proc/loadavg", "/proc/diskstats",
                                     "/proc/net/dev" };

static struct {
  pai_sampler *sampler;
  pai_time now;
  int fd[PAI__LEN(names)];
  DIR *tasks;
  char text[256 * 1024];
} data;

static void *setup(int all)
{
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;

  o.nvml = ""; /* what a driver takes is not ours */
  o.all_groups = all;
  data.now = 0;
  if (pai_sampler_new(&data.sampler, &o, NULL) < 0)
    return NULL;
  for (size_t i = 0; i < PAI__LEN(names); i++)
    data.fd[i] = open(names[i], O_RDONLY | O_CLOEXEC);
  data.tasks = opendir("/proc");
  return data.tasks != NULL ? &data : NULL;
}

static void *setup_machine(void)
{
  return setup(0);
}

static void *setup_groups(void)
{
  return setup(1);
}

static void teardown(void *unused)
{
  (void)unused;
  pai_sampler_free(data.sampler);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    (void)close(data.fd[i]);
  (void)closedir(data.tasks);
}

static int take(void *unused)
{
  const pai_sample *sample;

  (void)unused;
  return pai_sampler_take(&sample, data.sampler, ++data.now, NULL);
}

/* Each to its end. */
static int read_files(void *unused)
{
  (void)unused;
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    off_t at = 0;
    ssize_t n;

    while ((n = pread(data.fd[i], data.text, sizeof(data.text), at)) > 0)
      at += n;
    if (n < 0)
      return PAI_EIO;
  }
  return PAI_OK;
}

/* Those files, and each process' stat. */
static int read_tasks(void *unused)
{
  struct dirent *entry;

  rewinddir(data.tasks);
  while ((entry = readdir(data.tasks)) != NULL) {
    char path[300];
    int fd;

    if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
      continue;
    (void)snprintf(path, sizeof(path), "%s/stat", entry->d_name);
    fd = openat(dirfd(data.tasks), path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    (void)!read(fd, data.text, sizeof(data.text));
    (void)close(fd);
  }
  return read_files(unused);
}

const bench bench_sample[] = {
  { "sample", "a sample of the machine, against reading the same files",
    "sample", 0.5, setup_machine, teardown, take, read_files },
  { "sample-groups", "with all process groups, against reading the same files",
    "sample", 0.5, setup_groups, teardown, take, read_tasks },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
