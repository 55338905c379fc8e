/*
 * linux_sample_tasks.c - sample the GPUs and processes of this machine, and
 * groups of processes
 *
 * Processes are only read if groups were requested: it costs three system
 * calls a process, and five if its disk I/O is read too.
 */
#define _XOPEN_SOURCE 700 /* openat(), dirfd() */

#include "resource/sample/linux_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* --- finding groups ------------------------------------------------------ */

/* Returns the index where the group with this id is, or would be inserted. */
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

/* Returns the group with this id, or NULL. */
static pai__group *others_find(const pai_sample *sample, int64_t id)
{
  size_t at = place_of(sample, id);

  return at < sample->other_count && sample->others[at].view.id == id
           ? &sample->others[at]
           : NULL;
}

/* --- GPUs ---------------------------------------------------------------- */

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

/* --- one sample ---------------------------------------------------------- */

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
  out->lost = out->memory_used < 0; /* the files of a lost GPU are gone */
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

/* --- GPU memory of groups ------------------------------------------------ */

static void give(pai__group *g, int64_t memory)
{
  if (memory > 0 && g->view.gpu_memory <= INT64_MAX - memory)
    g->view.gpu_memory += memory;
}

static bool has_process(const pai__group *g, const pai__sample_task *task)
{
  if (task == NULL)
    return false;
  return g->view.kind == PAI_SAMPLE_SESSION ? task->session == g->view.id
                                            : task->group == g->view.id;
}

/* Whether a cgroup's list of processes, in `text`, has a pid. */
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
  const pai__sample_task *task = pai__tasks_find(&s->tasks, pid);
  pai__group *other;

  for (size_t i = 0; i < s->sample.watched_count; i++) {
    pai__group *g = &s->sample.watched[i];

    if (g->path == NULL) {
      if (has_process(g, task))
        give(g, memory);
    } else if (g->fd[PAI__CGROUP_PROCS] >= 0) {
      int rc = pai__reread(g->fd[PAI__CGROUP_PROCS], &s->text);

      if (rc == PAI_ENOMEM)
        return rc;
      if (rc == PAI_OK && is_listed(&s->text, pid))
        give(g, memory);
    }
  }
  other = task != NULL ? others_find(&s->sample, task->group) : NULL;
  if (other != NULL)
    give(other, memory);
  return PAI_OK;
}

/* Adds the memory of processes on GPUs to their groups. */
static int live_gpus_share(pai_sampler *s)
{
  pai__live_gpus *g = &s->gpus;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < g->list->count; i++) {
    if (g->list->gpus[i].vendor != PAI_GPU_NVIDIA ||
        g->handles.of[i] == NULL || g->list->gpus[i].mig == 1 ||
        s->sample.gpus[i].lost)
      continue; /* with MIG, the instances have the processes */
    rc = pai__nvml_processes(&g->nvml, g->handles.of[i], &s->alloc, &g->room,
                             share_one, s);
  }
  return rc;
}

enum { LONGEST = 4096, MOST_TASKS = 4 << 20 };

static bool wants(const pai__group *g, const pai__sample_task *t)
{
  switch (g->view.kind) {
  case PAI_SAMPLE_GROUP: return t->group == g->view.id;
  case PAI_SAMPLE_SESSION: return t->session == g->view.id;
  default: return false;
  }
}

/* Reads a file of the process in folder `pid`; returns its length, 0 if there
 * is none. */
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
    return 0; /* usually the process has ended */
  do
    n = read(fd, text, LONGEST);
  while (n < 0 && errno == EINTR);
  (void)close(fd);
  return n > 0 ? (size_t)n : 0;
}

static void read_io(const pai_sampler *s, const char *pid, pai__sample_task *t)
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
      return; /* the process is another user's */
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
  pai__sample_task *t;

  if (len == 0 || !pai__proc_task_of(&got, text, len) ||
      s->tasks.now_count >= MOST_TASKS)
    return PAI_OK;
  if (PAI__VEC_ROOM(&s->alloc, s->tasks.now, s->tasks.now_count,
                    s->tasks.now_cap) < 0)
    return PAI_ENOMEM;
  t = &s->tasks.now[s->tasks.now_count++];
  *t = (pai__sample_task){ .pid = got.pid,
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

/* --- all groups ---------------------------------------------------------- */

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
  pai__sample_group_init(g, PAI_SAMPLE_GROUP, id, false);
  pai__group_begin(g, sample->machine.gpus != 0);
  return g;
}

static int fill_others(pai_sampler *s)
{
  for (size_t i = 0; i < s->tasks.now_count; i++) {
    const pai__sample_task *t = &s->tasks.now[i];
    pai__group *g;

    if (t->group == 0)
      continue; /* a kernel thread */
    g = others_find(&s->sample, t->group);
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

/* --- watched groups ------------------------------------------------------ */

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
      /* the processes of the last sample remain, so later rates are right */
      return rc;
    drop_empty(sample);
    fill_watched(s);
  }
  if (gpus && (sample->watched_count != 0 || sample->other_count != 0))
    rc = live_gpus_share(s);
  if (rc == PAI_OK)
    rc = end_groups(s, now);
  if (rc == PAI_OK)
    pai__tasks_turn(&s->tasks);
  return rc;
}
