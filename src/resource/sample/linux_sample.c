/* linux_sample.c - the sampler of Linux: open the kernel's files and read them
 * for each sample */
#define _XOPEN_SOURCE 700 /* statvfs() */

#include "resource/sample/linux_sample.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- making -------------------------------------------------------------- */

static int copy_paths(pai_sampler *s, const pai_sampler_options *o)
{
  if (o->path_count == 0)
    return PAI_OK;
  s->paths = o->path_count <= SIZE_MAX / sizeof(*s->paths)
               ? pai__zalloc(&s->alloc, o->path_count * sizeof(*s->paths))
               : NULL;
  if (s->paths == NULL)
    return PAI_ENOMEM;
  s->path_count = o->path_count;
  for (size_t i = 0; i < s->path_count; i++) {
    s->paths[i] = pai__strdup(&s->alloc, o->paths[i]);
    if (s->paths[i] == NULL)
      return PAI_ENOMEM;
  }
  s->sample.file_systems =
    pai__zalloc(&s->alloc, s->path_count * sizeof(*s->sample.file_systems));
  if (s->sample.file_systems == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < s->path_count; i++) {
    s->sample.file_systems[i].struct_size = sizeof(pai_sample_file_system);
    s->sample.file_systems[i].path = s->paths[i];
  }
  s->sample.machine.file_systems = s->path_count;
  return PAI_OK;
}

static int open_files(pai_sampler *s, pai_error **err)
{
  char path[PAI__PATH];
  int len = snprintf(path, sizeof(path), "%s/proc", s->root);

  s->stat = pai__open_under(s->root, "proc/stat");
  s->memory = pai__open_under(s->root, "proc/meminfo");
  s->load = pai__open_under(s->root, "proc/loadavg");
  s->disks = pai__open_under(s->root, "proc/diskstats");
  s->networks = pai__open_under(s->root, "proc/net/dev");
  if (len > 0 && (size_t)len < sizeof(path))
    s->tasks_dir = opendir(path);
  pai__limits_open(&s->limits, s->root);
  if (s->stat >= 0 && s->memory >= 0)
    return PAI_OK;
  (void)pai__fail(err, PAI_ENOTSUP, "cannot read %s%s",
                  strcmp(s->root, "/") == 0 ? "" : s->root,
                  s->stat < 0 ? "/proc/stat" : "/proc/meminfo");
  pai__error_help(err,
                  "mount the proc file system, which samples are read from");
  return PAI_ENOTSUP;
}

static uint32_t sys_number(int name, uint32_t otherwise)
{
  long n = sysconf(name);

  return n > 0 && n <= 1000000 ? (uint32_t)n : otherwise;
}

static int fill(pai_sampler *s, const pai_sampler_options *o, pai_error **err)
{
  s->root = pai__strdup(&s->alloc, o->root != NULL ? o->root : "/");
  if (s->root == NULL || copy_paths(s, o) < 0)
    return pai__oom(err);
  s->ticks_a_second = sys_number(_SC_CLK_TCK, 100);
  s->page = sys_number(_SC_PAGESIZE, 4096);
  s->all_groups = o->all_groups != 0;
  if (pai__live_gpus_open(&s->gpus, &s->sample, &s->alloc, o->nvml, s->root) <
      0)
    return pai__oom(err);
  return open_files(s, err);
}

int pai_sampler_new(pai_sampler **out, const pai_sampler_options *opts,
                    pai_error **err)
{
  pai_sampler_options o;
  pai_sampler *s;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_sampler_options, all_groups);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_sampler_options");
  s = pai__zalloc(pai__alloc_or_libc(o.alloc), sizeof(*s));
  if (s == NULL)
    return pai__oom(err);
  s->alloc = *pai__alloc_or_libc(o.alloc);
  s->stat = s->memory = s->load = s->disks = s->networks = -1;
  s->sample.machine.struct_size = sizeof(s->sample.machine);
  pai__buf_init(&s->text, &s->alloc);
  rc = fill(s, &o, err);
  if (rc < 0) {
    pai_sampler_free(s);
    return rc;
  }
  *out = s;
  return PAI_OK;
}

static void shut(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

static void free_sample(pai_sample *sample, size_t gpus, size_t paths,
                        const pai_alloc *a)
{
  pai__devices_dispose(&sample->cpus, a);
  pai__devices_dispose(&sample->disks, a);
  pai__devices_dispose(&sample->networks, a);
  pai__free(a, sample->file_systems, paths * sizeof(*sample->file_systems));
  pai__free(a, sample->gpus, gpus * sizeof(*sample->gpus));
  for (size_t i = 0; i < sample->watched_count; i++) {
    pai__cgroup_close(&sample->watched[i]);
    pai__strfree(a, sample->watched[i].path);
  }
  pai__free(a, sample->watched,
            sample->watched_cap * sizeof(*sample->watched));
  pai__free(a, sample->others, sample->other_cap * sizeof(*sample->others));
}

void pai_sampler_free(pai_sampler *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  alloc = s->alloc;
  free_sample(&s->sample, s->sample.machine.gpus, s->path_count, &alloc);
  pai__live_gpus_close(&s->gpus, &alloc);
  for (size_t i = 0; i < s->path_count; i++)
    pai__strfree(&alloc, s->paths[i]);
  pai__free(&alloc, (void *)s->paths, s->path_count * sizeof(*s->paths));
  pai__strfree(&alloc, s->root);
  pai__tasks_dispose(&s->tasks, &alloc);
  pai__limits_close(&s->limits);
  shut(s->stat);
  shut(s->memory);
  shut(s->load);
  shut(s->disks);
  shut(s->networks);
  if (s->tasks_dir != NULL)
    (void)closedir(s->tasks_dir);
  pai__buf_dispose(&s->text);
  pai__free(&alloc, s, sizeof(*s));
}

const pai_gpus *pai_sampler_gpus(const pai_sampler *sampler)
{
  return sampler != NULL ? sampler->gpus.list : NULL;
}

/* --- groups -------------------------------------------------------------- */

/* Returns the index of a watched group, or watched_count. */
static size_t find(const pai_sampler *s, int kind, int64_t id,
                   const char *path)
{
  size_t i = 0;

  for (; i < s->sample.watched_count; i++) {
    const pai__group *g = &s->sample.watched[i];

    if (g->view.kind == kind &&
        (kind == PAI_SAMPLE_CGROUP ? path != NULL && strcmp(g->path, path) == 0
                                   : g->view.id == id))
      break;
  }
  return i;
}

/* Makes room for a group and fills it in, but does not count it; NULL if
 * memory is short. */
static pai__group *prepare(pai_sampler *s, int kind, int64_t id)
{
  pai_sample *sample = &s->sample;
  pai__group *g;

  if (PAI__VEC_ROOM(&s->alloc, sample->watched, sample->watched_count,
                    sample->watched_cap) < 0)
    return NULL;
  g = &sample->watched[sample->watched_count];
  pai__sample_group_init(g, kind, id, true);
  return g;
}

int pai_sampler_watch(pai_sampler *sampler, int kind, int64_t id,
                      pai_error **err)
{
  PAI__CHECK_ARG_ERR(sampler != NULL, err);
  PAI__CHECK_ARG_ERR(kind == PAI_SAMPLE_GROUP || kind == PAI_SAMPLE_SESSION,
                     err);
  PAI__CHECK_ARG_ERR(id > 0 && id <= INT32_MAX, err);
  if (find(sampler, kind, id, NULL) < sampler->sample.watched_count)
    return pai__fail(err, PAI_EEXISTS, "%s %ld is watched already",
                     kind == PAI_SAMPLE_GROUP ? "process group" : "session",
                     (long)id);
  if (prepare(sampler, kind, id) == NULL)
    return pai__oom(err);
  sampler->sample.watched_count++;
  return PAI_OK;
}

int pai_sampler_watch_cgroup(pai_sampler *sampler, const char *path,
                             pai_error **err)
{
  pai__group *g;

  PAI__CHECK_ARG_ERR(sampler != NULL, err);
  PAI__CHECK_ARG_ERR(path != NULL && path[0] == '/', err);
  if (find(sampler, PAI_SAMPLE_CGROUP, 0, path) <
      sampler->sample.watched_count)
    return pai__fail(err, PAI_EEXISTS, "cgroup %s is watched already", path);
  g = prepare(sampler, PAI_SAMPLE_CGROUP, 0);
  if (g != NULL)
    g->path = pai__strdup(&sampler->alloc, path);
  if (g == NULL || g->path == NULL)
    return pai__oom(err);
  if (!pai__cgroup_open(g, sampler->root, path)) {
    pai__strfree(&sampler->alloc, g->path);
    (void)pai__fail(err, PAI_ENOTFOUND, "there is no cgroup %s", path);
    pai__error_help(
      err,
      "give its path from the root of all cgroups, as in /proc/PID/cgroup");
    return PAI_ENOTFOUND;
  }
  sampler->sample.watched_count++;
  return PAI_OK;
}

int pai_sampler_unwatch(pai_sampler *sampler, int kind, int64_t id,
                        const char *path)
{
  pai_sample *sample;
  size_t at;

  PAI__CHECK_ARG(sampler != NULL);
  sample = &sampler->sample;
  at = find(sampler, kind, id, path);
  if (at == sample->watched_count)
    return PAI_ENOTFOUND;
  pai__cgroup_close(&sample->watched[at]);
  pai__strfree(&sampler->alloc, sample->watched[at].path);
  memmove(&sample->watched[at], &sample->watched[at + 1],
          (--sample->watched_count - at) * sizeof(*sample->watched));
  sample->machine.groups = sample->watched_count + sample->other_count;
  return PAI_OK;
}

/* --- a sample ------------------------------------------------------------ */

static int fail(pai_error **err, int rc, const char *file)
{
  switch (rc) {
  case PAI_ENOMEM: return pai__oom(err);
  case PAI_ELIMIT:
    return pai__fail(err, rc, "%s is longer than %d bytes", file,
                     PAI__FILE_MOST);
  default: return pai__fail(err, rc, "%s cannot be read, or is empty", file);
  }
}

static int take_cpus(pai_sampler *s, pai_time now, pai_error **err)
{
  int rc = pai__reread(s->stat, &s->text);

  if (rc == PAI_OK)
    rc = pai__sample_cpus(&s->sample.cpus, &s->alloc, pai__buf_text(&s->text),
                          s->text.len, now, !s->ready, s->ticks_a_second);
  return rc < 0 ? fail(err, rc, "proc/stat") : rc;
}

static int take_memory(pai_sampler *s, pai_error **err)
{
  pai_sample_machine *m = &s->sample.machine;
  pai__proc_memory memory;
  pai__proc_load load;
  int rc = pai__reread(s->memory, &s->text);

  if (rc == PAI_OK)
    pai__proc_memory_of(&memory, pai__buf_text(&s->text), s->text.len);
  if (rc == PAI_OK && memory.total < 0)
    rc = PAI_EIO;
  if (rc < 0)
    return fail(err, rc, "proc/meminfo");
  m->memory_total = memory.total;
  m->memory_available = memory.available;
  m->memory_free = memory.free;
  m->buffers = memory.buffers;
  m->cached = memory.cached;
  m->swap_total = memory.swap_total;
  m->swap_free = memory.swap_free;
  pai__limits_read(&s->limits, m);
  rc = s->load >= 0 ? pai__reread(s->load, &s->text) : PAI_EIO;
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  pai__proc_load_of(&load, rc == PAI_OK ? pai__buf_text(&s->text) : "",
                    rc == PAI_OK ? s->text.len : 0);
  memcpy(m->load, load.load, sizeof(m->load));
  m->threads = load.threads;
  m->running = load.running;
  return PAI_OK;
}

typedef int (*sample_devices)(pai__devices *d, const pai_alloc *alloc,
                              const char *text, size_t len, pai_time now,
                              bool first);

/* Samples a list of devices; a missing file does not make the sample fail. */
static int take_devices(pai_sampler *s, int fd, pai__devices *d,
                        sample_devices sample, pai_time now, pai_error **err)
{
  int rc = fd >= 0 ? pai__reread(fd, &s->text) : PAI_EIO;

  if (rc != PAI_ENOMEM)
    rc = sample(d, &s->alloc, rc == PAI_OK ? pai__buf_text(&s->text) : "",
                rc == PAI_OK ? s->text.len : 0, now, !s->ready);
  return rc < 0 ? pai__oom(err) : rc;
}

static int64_t bytes(uint64_t blocks, uint64_t size)
{
  return size != 0 && blocks > INT64_MAX / size ? INT64_MAX
                                                : (int64_t)(blocks * size);
}

static void take_file_systems(pai_sampler *s)
{
  for (size_t i = 0; i < s->path_count; i++) {
    pai_sample_file_system *f = &s->sample.file_systems[i];
    struct statvfs v;

    f->total = f->free = -1;
    if (statvfs(s->paths[i], &v) != 0)
      continue;
    f->total = bytes(v.f_blocks, v.f_frsize);
    f->free = bytes(v.f_bavail, v.f_frsize);
  }
}

static int take(pai_sampler *s, pai_time now, pai_error **err)
{
  pai_sample *sample = &s->sample;
  int rc = take_cpus(s, now, err);

  if (rc == PAI_OK)
    rc = take_memory(s, err);
  if (rc == PAI_OK)
    rc =
      take_devices(s, s->disks, &sample->disks, pai__sample_disks, now, err);
  if (rc == PAI_OK)
    rc = take_devices(s, s->networks, &sample->networks, pai__sample_networks,
                      now, err);
  if (rc < 0)
    return rc;
  take_file_systems(s);
  pai__live_gpus_read(&s->gpus, sample);
  return pai__tasks_sample(s, now) < 0 ? pai__oom(err) : PAI_OK;
}

int pai_sampler_take(const pai_sample **out, pai_sampler *sampler,
                     pai_time now, pai_error **err)
{
  pai_sample_machine *m;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sampler != NULL, err);
  m = &sampler->sample.machine;
  if (sampler->ready && now <= m->time)
    return pai__fail(err, PAI_EINVAL,
                     "the time of a sample must be after that of the one "
                     "before: %lld, then %lld",
                     (long long)m->time, (long long)now);
  rc = take(sampler, now, err);
  if (rc < 0)
    return rc;
  m->elapsed = sampler->ready ? now - m->time : 0;
  m->time = now;
  m->cpus = (uint32_t)sampler->sample.cpus.count;
  m->disks = sampler->sample.disks.count;
  m->networks = sampler->sample.networks.count;
  m->groups = sampler->sample.watched_count + sampler->sample.other_count;
  sampler->ready = true;
  *out = &sampler->sample;
  return PAI_OK;
}
