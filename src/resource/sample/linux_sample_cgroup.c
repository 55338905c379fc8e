/*
 * linux_sample_cgroup.c - limits and usage of cgroups, version 2 and 1
 *
 * In a container, the path in self/cgroup may be the host's and not exist:
 * then the root of the mounted tree is the container's cgroup.
 */
#include "resource/sample/linux_sample.h"

#include <unistd.h>

static void shut(int *fd)
{
  if (*fd >= 0)
    (void)close(*fd);
  *fd = -1;
}

/* --- limits of this process ---------------------------------------------- */

typedef struct version {
  const char *controller; /* name in self/cgroup */
  const char *tree, *limit, *used;
} version;

static const version versions[] = {
  { "memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes",
    "memory.usage_in_bytes" },
  { "", "sys/fs/cgroup", "memory.max", "memory.current" },
};

static void open_level(void *data, const char *root, const char *path)
{
  pai__limits *l = data;
  const version *v = &versions[l->version];
  int limit, used;

  if (l->count == PAI__CGROUP_LEVELS)
    return;
  limit = pai__open_under(root, "%s%s/%s", v->tree, path, v->limit);
  if (limit < 0)
    return; /* the root of version 2 has no limit */
  used = pai__open_under(root, "%s%s/%s", v->tree, path, v->used);
  l->limit[l->count] = limit;
  l->used[l->count++] = used;
}

void pai__cgroup_levels(const char *root, const char *controller,
                        pai__cgroup_level *level, void *data)
{
  char text[8192], path[PAI__LINE], *slash;
  size_t len = pai__read_short(text, sizeof(text), root, "proc/self/cgroup");
  size_t path_len;
  const char *found = pai__proc_cgroup(text, len, controller, &path_len);

  if (found == NULL || path_len >= sizeof(path))
    return;
  memcpy(path, found, path_len);
  path[path_len] = '\0';
  for (;;) {
    slash = strrchr(path, '/');
    level(data, root, strcmp(path, "/") == 0 ? "" : path);
    if (slash == NULL)
      return;
    *slash = '\0';
  }
}

void pai__limits_open(pai__limits *l, const char *root)
{
  l->count = 0;
  for (size_t i = 0; i < PAI__LEN(versions) && l->count == 0; i++) {
    l->version = i;
    pai__cgroup_levels(root, versions[i].controller, open_level, l);
  }
}

void pai__limits_close(pai__limits *l)
{
  for (size_t i = 0; i < l->count; i++) {
    shut(&l->limit[i]);
    shut(&l->used[i]);
  }
  l->count = 0;
}

void pai__limits_read(const pai__limits *l, pai_sample_machine *out)
{
  size_t tightest = l->count;

  out->memory_limit = out->memory_used = -1;
  for (size_t i = 0; i < l->count; i++) {
    int64_t limit = pai__reread_limit(l->limit[i]);

    if (limit >= 0 && (out->memory_limit < 0 || limit < out->memory_limit)) {
      out->memory_limit = limit;
      tightest = i;
    }
  }
  if (tightest < l->count)
    out->memory_used = pai__reread_number(l->used[tightest]);
}

/* --- watched cgroups ----------------------------------------------------- */

/* The files of a cgroup, version 2 and 1: folder of all cgroups, and file. */
static const char *const files[2][PAI__CGROUP_FILES][2] = {
  { { "", "cpu.stat" },
    { "", "memory.current" },
    { "", "pids.current" },
    { "", "io.stat" },
    { "", "cgroup.procs" } },
  { { "/cpuacct", "cpuacct.usage" },
    { "/memory", "memory.usage_in_bytes" },
    { "/pids", "pids.current" },
    { "/blkio", "blkio.throttle.io_service_bytes" },
    { "/cpuacct", "cgroup.procs" } },
};

static int open_file(const char *root, const char *folder, const char *path,
                     const char *file)
{
  return pai__open_under(root, "sys/fs/cgroup%s%s/%s", folder, path, file);
}

static bool open_version(pai__group *g, const char *root, const char *path,
                         bool old)
{
  for (int i = 0; i < PAI__CGROUP_FILES; i++)
    g->fd[i] = open_file(root, files[old][i][0], path, files[old][i][1]);
  if (old && g->fd[PAI__CGROUP_PROCS] < 0)
    g->fd[PAI__CGROUP_PROCS] =
      open_file(root, "/memory", path, "cgroup.procs");
  g->old_cgroup = old;
  if (g->fd[PAI__CGROUP_CPU] >= 0 || (old && g->fd[PAI__CGROUP_MEMORY] >= 0))
    return true;
  pai__cgroup_close(g);
  return false;
}

bool pai__cgroup_open(pai__group *g, const char *root, const char *path)
{
  if (strcmp(path, "/") == 0)
    path = "";
  return open_version(g, root, path, false) ||
         open_version(g, root, path, true);
}

void pai__cgroup_close(pai__group *g)
{
  for (int i = 0; i < PAI__CGROUP_FILES; i++)
    shut(&g->fd[i]);
}

/* Returns the CPU time in microseconds, or -1. */
static int64_t read_cpu(const pai__group *g, pai__buf *text)
{
  int64_t n;

  if (g->fd[PAI__CGROUP_CPU] < 0 ||
      pai__reread(g->fd[PAI__CGROUP_CPU], text) < 0)
    return -1;
  if (!g->old_cgroup)
    return pai__proc_field(pai__buf_text(text), text->len, "usage_usec");
  n = pai__proc_number(pai__buf_text(text), text->len);
  return n < 0 ? -1 : n / 1000;
}

static int32_t read_count(int fd)
{
  int64_t n = pai__reread_number(fd);

  return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

int pai__cgroup_read(pai__group *g, pai__buf *text, pai_time now)
{
  pai_sample_group *v = &g->view;
  int64_t elapsed = g->fresh ? 0 : now - g->time, cpu = read_cpu(g, text), r,
          w, rate;
  bool had_io = v->read_bytes >= 0;
  int rc = PAI_OK;

  rate = cpu >= 0 ? pai__rate(v->cpu, (uint64_t)cpu, elapsed) : -1;
  v->cpu_rate = rate < 0 ? -1 : (int32_t)(rate / 1000 % INT32_MAX);
  if (cpu >= 0)
    v->cpu = (uint64_t)cpu;
  v->memory = pai__reread_number(g->fd[PAI__CGROUP_MEMORY]);
  v->processes = read_count(g->fd[PAI__CGROUP_PIDS]);
  v->read_bytes_rate = v->write_bytes_rate = -1;
  if (g->fd[PAI__CGROUP_IO] >= 0)
    rc = pai__reread(g->fd[PAI__CGROUP_IO], text);
  if (g->fd[PAI__CGROUP_IO] >= 0 && rc == PAI_OK) {
    r = pai__proc_sum(pai__buf_text(text), text->len,
                      g->old_cgroup ? "Read " : "rbytes=");
    w = pai__proc_sum(pai__buf_text(text), text->len,
                      g->old_cgroup ? "Write " : "wbytes=");
    if (had_io) {
      v->read_bytes_rate =
        pai__rate((uint64_t)v->read_bytes, (uint64_t)r, elapsed);
      v->write_bytes_rate =
        pai__rate((uint64_t)v->write_bytes, (uint64_t)w, elapsed);
    }
    v->read_bytes = r;
    v->write_bytes = w;
  }
  g->time = now;
  g->fresh = false;
  /* the cgroup may be gone, which is not an error */
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}
