/*
 * linux_sample_tasks.c - the processes of this machine, and groups of them
 *
 * Only looked at when somebody asked for groups: it costs three system calls a
 * process, five for those of which disks are asked, too.
 */
#define _XOPEN_SOURCE 700 /* openat(), dirfd() */

#include "resource/linux_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LONGEST = 4096, MOST_TASKS = 4 << 20 };

static bool wants(const pai__group *g, const pai__task *t)
{
  switch (g->view.kind) {
  case PAI_SAMPLE_GROUP: return t->group == g->view.id;
  case PAI_SAMPLE_SESSION: return t->session == g->view.id;
  default: return false;
  }
}

/* A file of a process, whose folder's name is pid; its length, 0 for none. */
static size_t read_file(const pai_sampler *s, const char *pid,
                        const char *name, char text[LONGEST])
{
  size_t pid_len = strlen(pid), name_len = strlen(name);
  char path[64];
  ssize_t n;
  int fd;

  if (pid_len + name_len + 2 > sizeof(path))
    return 0;
  memcpy(path, pid, pid_len);
  path[pid_len] = '/';
  memcpy(path + pid_len + 1, name, name_len + 1);
  fd = openat(dirfd(s->tasks_dir), path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0; /* it has ended, mostly */
  do
    n = read(fd, text, LONGEST);
  while (n < 0 && errno == EINTR);
  (void)close(fd);
  return n > 0 ? (size_t)n : 0;
}

static void read_io(const pai_sampler *s, const char *pid, pai__task *t)
{
  char text[LONGEST];
  size_t len;
  int64_t r, w;

  for (size_t i = 0; i < s->sample.watched_count; i++) {
    if (!wants(&s->sample.watched[i], t))
      continue;
    len = read_file(s, pid, "io", text);
    r = pai__proc_field(text, len, "read_bytes:");
    w = pai__proc_field(text, len, "write_bytes:");
    if (r < 0 || w < 0)
      return; /* another user's */
    t->read_bytes = (uint64_t)r;
    t->write_bytes = (uint64_t)w;
    t->has_io = true;
    return;
  }
}

static int add_task(pai_sampler *s, const char *pid)
{
  char text[LONGEST];
  size_t len = read_file(s, pid, "stat", text);
  pai__proc_task got;
  pai__task *t;

  if (len == 0 || !pai__proc_task_of(&got, text, len) ||
      s->tasks.now_count >= MOST_TASKS)
    return PAI_OK;
  if (PAI__VEC_ROOM(&s->alloc, s->tasks.now, s->tasks.now_count,
                    s->tasks.now_cap) < 0)
    return PAI_ENOMEM;
  t = &s->tasks.now[s->tasks.now_count++];
  *t = (pai__task){ .pid = got.pid,
                    .group = got.group,
                    .session = got.session,
                    .started = got.started,
                    .ticks = got.ticks,
                    .rss_pages = got.rss_pages };
  memcpy(t->name, got.name, sizeof(t->name));
  read_io(s, pid, t);
  return PAI_OK;
}

static int read_tasks(pai_sampler *s)
{
  struct dirent *entry;
  int rc = PAI_OK;

  s->tasks.now_count = 0;
  if (s->tasks_dir == NULL)
    return PAI_OK;
  rewinddir(s->tasks_dir);
  while (rc == PAI_OK && (entry = readdir(s->tasks_dir)) != NULL)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      rc = add_task(s, entry->d_name);
  return rc;
}

/* --- all groups ----------------------------------------------------------------- */

/* Where the group with this id is, or belongs. */
static size_t place_of(const pai_sample *sample, int64_t id)
{
  size_t low = 0, high = sample->other_count;

  while (low < high) {
    size_t mid = low + (high - low) / 2;

    if (sample->others[mid].view.id < id)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

pai__group *pai__others_find(const pai_sample *sample, int64_t id)
{
  size_t at = place_of(sample, id);

  return at < sample->other_count && sample->others[at].view.id == id
           ? &sample->others[at]
           : NULL;
}

static pai__group *add_other(pai_sampler *s, int64_t id)
{
  pai_sample *sample = &s->sample;
  size_t at = place_of(sample, id);
  pai__group *g;

  if (PAI__VEC_ROOM(&s->alloc, sample->others, sample->other_count,
                    sample->other_cap) < 0)
    return NULL;
  g = &sample->others[at];
  memmove(g + 1, g, (sample->other_count++ - at) * sizeof(*g));
  *g = (pai__group){ .view = { .struct_size = sizeof(g->view),
                               .kind = PAI_SAMPLE_GROUP,
                               .id = id,
                               .read_bytes = -1,
                               .write_bytes = -1 },
                     .fresh = true,
                     .cpu_fd = -1,
                     .memory_fd = -1,
                     .pids_fd = -1,
                     .io_fd = -1,
                     .procs_fd = -1 };
  pai__group_begin(g, sample->machine.gpus != 0);
  return g;
}

static int fill_others(pai_sampler *s)
{
  for (size_t i = 0; i < s->tasks.now_count; i++) {
    const pai__task *t = &s->tasks.now[i];
    pai__group *g;

    if (t->group == 0)
      continue; /* the kernel's own */
    g = pai__others_find(&s->sample, t->group);
    if (g == NULL)
      g = add_other(s, t->group);
    if (g == NULL)
      return PAI_ENOMEM;
    pai__group_add(g, t, s->page);
  }
  return PAI_OK;
}

static void drop_empty(pai_sample *sample)
{
  size_t used = 0;

  for (size_t i = 0; i < sample->other_count; i++)
    if (sample->others[i].seen)
      sample->others[used++] = sample->others[i];
  sample->other_count = used;
}

/* --- groups that are watched ------------------------------------------------------ */

static void fill_watched(pai_sampler *s)
{
  for (size_t w = 0; w < s->sample.watched_count; w++) {
    pai__group *g = &s->sample.watched[w];

    for (size_t i = 0; i < s->tasks.now_count; i++)
      if (wants(g, &s->tasks.now[i]))
        pai__group_add(g, &s->tasks.now[i], s->page);
  }
}

static bool needs_tasks(const pai_sampler *s)
{
  for (size_t i = 0; i < s->sample.watched_count; i++)
    if (s->sample.watched[i].path == NULL)
      return true;
  return s->all_groups;
}

static int end_groups(pai_sampler *s, pai_time now)
{
  uint32_t tick = 1000000 / s->ticks_a_second;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < s->sample.watched_count; i++) {
    pai__group *g = &s->sample.watched[i];

    if (g->path != NULL)
      rc = pai__cgroup_read(g, &s->text, now);
    else
      pai__group_end(g, now, tick);
  }
  for (size_t i = 0; rc == PAI_OK && i < s->sample.other_count; i++)
    pai__group_end(&s->sample.others[i], now, tick);
  return rc;
}

int pai__tasks_sample(pai_sampler *s, pai_time now)
{
  pai_sample *sample = &s->sample;
  bool gpus = sample->machine.gpus != 0;
  int rc = PAI_OK;

  for (size_t i = 0; i < sample->watched_count; i++)
    pai__group_begin(&sample->watched[i], gpus);
  for (size_t i = 0; i < sample->other_count; i++)
    pai__group_begin(&sample->others[i], gpus);
  if (needs_tasks(s)) {
    rc = read_tasks(s);
    if (rc == PAI_OK)
      pai__tasks_compare(&s->tasks);
    if (rc == PAI_OK && s->all_groups)
      rc = fill_others(s);
    if (rc < 0)
      return rc; /* those before stay, and rates with them */
    drop_empty(sample);
    fill_watched(s);
  }
  if (gpus && (sample->watched_count != 0 || sample->other_count != 0))
    rc = pai__live_gpus_share(s);
  if (rc == PAI_OK)
    rc = end_groups(s, now);
  if (rc == PAI_OK)
    pai__tasks_turn(&s->tasks);
  return rc;
}
