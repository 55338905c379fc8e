/*
 * linux_sample_cgroup.c - cgroups, of version 2 and 1: limits and use
 *
 * In a container the path that self/cgroup tells may be the host's, and not
 * be there: then what is at the root of the mounted tree is the container's.
 */
#include "resource/linux_sample.h"

#include <stdio.h>
#include <unistd.h>

static void shut(int *fd)
{
  if (*fd >= 0)
    (void)close(*fd);
  *fd = -1;
}

/* --- limits of this process ------------------------------------------------ */

typedef struct version {
  const char *controller; /* in self/cgroup */
  const char *tree, *limit, *used;
} version;

static const version versions[] = {
  { "memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes",
    "memory.usage_in_bytes" },
  { "", "sys/fs/cgroup", "memory.max", "memory.current" },
};

static void open_level(pai__limits *l, const char *root, const version *v,
                       const char *path)
{
  int limit, used;

  if (l->count == PAI__CGROUP_LEVELS)
    return;
  limit = pai__open_under(root, "%s%s/%s", v->tree, path, v->limit);
  if (limit < 0)
    return; /* the root of version 2 has none */
  used = pai__open_under(root, "%s%s/%s", v->tree, path, v->used);
  l->limit[l->count] = limit;
  l->used[l->count++] = used;
}

void pai__limits_open(pai__limits *l, const char *root)
{
  char text[8192], path[PAI__LINE];
  size_t len = pai__read_short(text, sizeof(text), root, "proc/self/cgroup");

  l->count = 0;
  for (size_t i = 0; i < PAI__LEN(versions) && l->count == 0; i++) {
    size_t path_len;
    const char *found =
      pai__proc_cgroup(text, len, versions[i].controller, &path_len);

    if (found == NULL || path_len >= sizeof(path))
      continue;
    memcpy(path, found, path_len);
    path[path_len] = '\0';
    for (;;) {
      char *slash = strrchr(path, '/');

      open_level(l, root, &versions[i], strcmp(path, "/") == 0 ? "" : path);
      if (slash == NULL)
        break;
      *slash = '\0';
    }
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

/* --- a cgroup that is watched ----------------------------------------------- */

#define TREE "sys/fs/cgroup"

static bool open_v2(pai__group *g, const char *root, const char *path)
{
  g->cpu_fd = pai__open_under(root, TREE "%s/cpu.stat", path);
  if (g->cpu_fd < 0)
    return false;
  g->memory_fd = pai__open_under(root, TREE "%s/memory.current", path);
  g->pids_fd = pai__open_under(root, TREE "%s/pids.current", path);
  g->io_fd = pai__open_under(root, TREE "%s/io.stat", path);
  g->procs_fd = pai__open_under(root, TREE "%s/cgroup.procs", path);
  g->old_cgroup = false;
  return true;
}

static bool open_v1(pai__group *g, const char *root, const char *path)
{
  g->cpu_fd = pai__open_under(root, TREE "/cpuacct%s/cpuacct.usage", path);
  g->memory_fd =
    pai__open_under(root, TREE "/memory%s/memory.usage_in_bytes", path);
  if (g->cpu_fd < 0 && g->memory_fd < 0)
    return false;
  g->pids_fd = pai__open_under(root, TREE "/pids%s/pids.current", path);
  g->io_fd = pai__open_under(
    root, TREE "/blkio%s/blkio.throttle.io_service_bytes", path);
  g->procs_fd = pai__open_under(root, TREE "/%s%s/cgroup.procs",
                                g->cpu_fd >= 0 ? "cpuacct" : "memory", path);
  g->old_cgroup = true;
  return true;
}

bool pai__cgroup_open(pai__group *g, const char *root, const char *path)
{
  if (strcmp(path, "/") == 0)
    path = "";
  return open_v2(g, root, path) || open_v1(g, root, path);
}

void pai__cgroup_close(pai__group *g)
{
  shut(&g->cpu_fd);
  shut(&g->memory_fd);
  shut(&g->pids_fd);
  shut(&g->io_fd);
  shut(&g->procs_fd);
}

/* Microseconds, or -1. */
static int64_t read_cpu(const pai__group *g, pai__buf *text)
{
  int64_t n;

  if (g->cpu_fd < 0 || pai__reread(g->cpu_fd, text) < 0)
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
  v->memory = pai__reread_number(g->memory_fd);
  v->processes = read_count(g->pids_fd);
  v->read_bytes_rate = v->write_bytes_rate = -1;
  if (g->io_fd >= 0)
    rc = pai__reread(g->io_fd, text);
  if (g->io_fd >= 0 && rc == PAI_OK) {
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
  return rc == PAI_ENOMEM ? rc : PAI_OK; /* it may have ended: that is all */
}
