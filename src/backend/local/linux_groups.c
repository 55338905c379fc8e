/* linux_groups.c - control groups, versions 1 and 2, through their files */
#include "backend/local/groups.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PERIOD_US = 100000, MOST_BYTES = 65536 };

/* Name of a task's group, and of its owner's, which may contain it. */
#define OF_TASK "openpai-%016llx"
#define OF_OWNER "openpai-of-"

static const char *const names[PAI__GROUPS_COUNT] = { "memory", "cpu",
                                                      "cpuset", "pids" };
static const char own_leaf[] = "openpai-self";

/* --- files --------------------------------------------------------------- */

/* Appends nothing if it is unreadable. */
static void read_file(pai__buf *out, const char *dir, const char *name)
{
  char *path = pai__fs_join(dir, name, out->alloc);

  pai__buf_clear(out);
  if (path == NULL || pai__fs_read(out, path, MOST_BYTES, NULL) < 0)
    pai__buf_cut(out, 0);
  pai__strfree(out->alloc, path);
}

/* Writes a file; one that does not exist is created if possible, which is so
 * only in the folders of tests. */
static bool write_file(const char *dir, const char *name, const char *text)
{
  char path[4096];
  ssize_t n;
  int fd;

  if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
    return false;
  fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  n = write(fd, text, strlen(text));
  (void)close(fd);
  return n == (ssize_t)strlen(text);
}

/* The same for an existing file only. */
static bool write_there(const char *dir, const char *name, const char *text)
{
  char path[4096];

  return snprintf(path, sizeof(path), "%s/%s", dir, name) <
           (int)sizeof(path) &&
         access(path, W_OK) == 0 && write_file(dir, name, text);
}

static bool write_number(const char *dir, const char *name, uint64_t number)
{
  char text[32];

  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
  return write_file(dir, name, text);
}

static bool has_word(const char *text, const char *word)
{
  size_t len = strlen(word);

  for (const char *at = text; (at = strstr(at, word)) != NULL; at += len)
    if ((at == text || strchr(" ,\n", at[-1]) != NULL) &&
        (at[len] == '\0' || strchr(" ,\n", at[len]) != NULL))
      return true;
  return false;
}

static bool may_write(const char *dir)
{
  return access(dir, W_OK | X_OK) == 0;
}

/* --- finding groups ------------------------------------------------------ */

/* Writes this process' group to `path`, from the line of `self` with this
 * controller ("" is version 2); false: there is none. */
static bool own_path(const char *self, const char *controller, char *path,
                     size_t size, char *list, size_t list_size)
{
  const char *line = self, *end;

  for (; *line != '\0'; line = *end != '\0' ? end + 1 : end) {
    const char *first = strchr(line, ':'), *second;

    end = line + strcspn(line, "\n");
    second = first != NULL ? strchr(first + 1, ':') : NULL;
    if (second == NULL || second > end)
      continue;
    (void)snprintf(list, list_size, "%.*s", (int)(second - first - 1),
                   first + 1);
    if (controller[0] == '\0' ? list[0] != '\0' : !has_word(list, controller))
      continue;
    (void)snprintf(path, size, "%.*s", (int)(end - second - 1), second + 1);
    return true;
  }
  return false;
}

/* Finds ROOT/LIST/PATH, a controller's groups, if groups can be created
 * there. */
static int find_v1(pai__backend_groups *g, const pai_alloc *alloc,
                   const char *root, const char *self, int kind)
{
  char path[2048], list[256], dir[4096];

  if (!own_path(self, names[kind], path, sizeof(path), list, sizeof(list)))
    return PAI_OK;
  (void)snprintf(dir, sizeof(dir), "%s/%s%s", root, list,
                 strcmp(path, "/") == 0 ? "" : path);
  if (!may_write(dir))
    return PAI_OK;
  g->version = 1;
  g->base[kind] = pai__strdup(alloc, dir);
  return g->base[kind] != NULL ? PAI_OK : PAI_ENOMEM;
}

/* Returns whether this process is the only one in the group. */
static bool is_alone(pai__buf *b, const char *dir, int64_t pid)
{
  char own[32];

  read_file(b, dir, "cgroup.procs");
  (void)snprintf(own, sizeof(own), "%lld\n", (long long)pid);
  return strcmp(pai__buf_text(b), own) == 0;
}

/* Returns whether it is the root group, which has no type and may have
 * processes beside child groups.  The root of a cgroup namespace may not. */
static bool is_first(const char *dir)
{
  char path[4096];

  return snprintf(path, sizeof(path), "%s/cgroup.type", dir) <
           (int)sizeof(path) &&
         access(path, F_OK) < 0 && errno == ENOENT;
}

static bool move_down(const char *dir, int64_t pid)
{
  char leaf[4096], number[32];

  if (snprintf(leaf, sizeof(leaf), "%s/%s", dir, own_leaf) >=
        (int)sizeof(leaf) ||
      (mkdir(leaf, 0700) < 0 && errno != EEXIST))
    return false;
  (void)snprintf(number, sizeof(number), "%lld", (long long)pid);
  return write_file(leaf, "cgroup.procs", number);
}

/* Enables the available controllers for child groups. */
static void enable(pai__backend_groups *g, pai__buf *b, const char *dir,
                   int64_t pid)
{
  read_file(b, dir, "cgroup.subtree_control");
  if (has_word(pai__buf_text(b), "memory"))
    return;
  if (!is_first(dir)) {
    if (!is_alone(b, dir, pid)) {
      (void)snprintf(
        g->why, sizeof(g->why),
        "other processes are in the control group of this process");
      return;
    }
    if (!move_down(dir, pid))
      return;
  }
  for (int i = 0; i < PAI__GROUPS_COUNT; i++) {
    char text[16];
    (void)snprintf(text, sizeof(text), "+%s", names[i]);
    (void)write_file(dir, "cgroup.subtree_control", text);
  }
}

static int find_v2(pai__backend_groups *g, const pai_alloc *alloc,
                   const char *root, const char *self, int64_t pid)
{
  char path[2048], list[8], dir[4096], *slash;
  int rc = PAI_OK;
  pai__buf b;

  if (!own_path(self, "", path, sizeof(path), list, sizeof(list)))
    return PAI_OK;
  slash = strrchr(path, '/');
  if (slash != NULL && strcmp(slash + 1, own_leaf) == 0)
    *slash = '\0'; /* this process, or an earlier one, moved itself there */
  (void)snprintf(dir, sizeof(dir), "%s%s", root,
                 strcmp(path, "/") == 0 ? "" : path);
  if (!may_write(dir)) {
    (void)snprintf(
      g->why, sizeof(g->why),
      "the control group of this process belongs to another user");
    return PAI_OK;
  }
  (void)snprintf(g->why, sizeof(g->why),
                 "the control group of this process has no controllers");
  pai__buf_init(&b, alloc);
  enable(g, &b, dir, pid);
  read_file(&b, dir, "cgroup.subtree_control");
  for (int i = 0; i < PAI__GROUPS_COUNT && rc == PAI_OK; i++)
    if (has_word(pai__buf_text(&b), names[i])) {
      g->version = 2;
      g->why[0] = '\0';
      g->base[i] = pai__strdup(alloc, dir);
      rc = g->base[i] != NULL ? PAI_OK : PAI_ENOMEM;
    }
  pai__buf_dispose(&b);
  return rc;
}

int pai__groups_find(pai__backend_groups *g, const pai_alloc *alloc,
                     const char *root, const char *self, int64_t pid)
{
  char path[4096];
  int rc = PAI_OK;

  memset(g, 0, sizeof(*g));
  (void)snprintf(path, sizeof(path), "%s/cgroup.controllers", root);
  if (access(path, F_OK) == 0)
    rc = find_v2(g, alloc, root, self, pid);
  else
    for (int i = 0; i < PAI__GROUPS_COUNT && rc == PAI_OK; i++)
      rc = find_v1(g, alloc, root, self, i);
  if (rc < 0)
    pai__groups_dispose(g, alloc);
  return rc;
}

/* Removes groups of owners left by an earlier platform that have no task. */
static void leave_all(const pai__backend_groups *g)
{
  const char *base = g->base[PAI__GROUPS_PIDS];
  DIR *dir = base != NULL ? opendir(base) : NULL;
  const struct dirent *e;
  char path[4096];

  while (dir != NULL && (e = readdir(dir)) != NULL)
    if (strncmp(e->d_name, OF_OWNER, sizeof(OF_OWNER) - 1) == 0 &&
        snprintf(path, sizeof(path), "%s/%s", base, e->d_name) <
          (int)sizeof(path))
      pai__groups_leave(path);
  if (dir != NULL)
    (void)closedir(dir);
}

int pai__groups_find_here(pai__backend_groups *g, const pai_alloc *alloc)
{
  int rc;
  pai__buf self;

  pai__buf_init(&self, alloc);
  read_file(&self, "/proc/self", "cgroup");
  rc = pai__groups_find(g, alloc, "/sys/fs/cgroup", pai__buf_text(&self),
                        getpid());
  leave_all(g);
  pai__buf_dispose(&self);
  return rc;
}

void pai__groups_dispose(pai__backend_groups *g, const pai_alloc *alloc)
{
  for (int i = 0; i < PAI__GROUPS_COUNT; i++)
    pai__strfree(alloc, g->base[i]);
  memset(g, 0, sizeof(*g));
}

void pai__groups_tell(const pai__backend_groups *g, pai__buf *out)
{
  const char *comma = "";

  if (g->version == 0) {
    pai__buf_printf(out,
                    "no control groups%s%s: CPUs are limited by affinity, "
                    "memory by sampling",
                    g->why[0] != '\0' ? ", for " : " are ours", g->why);
    return;
  }
  pai__buf_printf(out, "control groups, version %d, limit ", g->version);
  for (int i = 0; i < PAI__GROUPS_COUNT; i++)
    if (g->base[i] != NULL) {
      pai__buf_printf(out, "%s%s", comma, names[i]);
      comma = ", ";
    }
  if (g->base[PAI__GROUPS_MEMORY] == NULL)
    pai__buf_str(out, "; memory is limited by sampling");
}

/* --- groups of a task ---------------------------------------------------- */

void pai__group_init(pai__backend_group *group, const pai_alloc *alloc)
{
  memset(group, 0, sizeof(*group));
  pai__words_init(&group->procs, alloc);
  pai__words_init(&group->dirs, alloc);
}

void pai__group_dispose(pai__backend_group *group)
{
  pai__strfree(group->procs.arena.alloc, group->oom_file);
  pai__words_dispose(&group->procs);
  pai__words_dispose(&group->dirs);
}

void pai__group_remove(const pai__backend_group *group)
{
  for (size_t i = group->dirs.len; i-- > 0;)
    (void)rmdir(group->dirs.at[i]);
  pai__groups_leave(group->above);
}

uint64_t pai__group_memory(const pai_launch_plan *plan)
{
  const uint64_t least = 16U << 20;

  return plan->memory == 0 || plan->memory > least ? plan->memory : least;
}

static bool wants(const pai_launch_plan *plan, int kind)
{
  switch (kind) {
  case PAI__GROUPS_MEMORY: return plan->memory > 0;
  case PAI__GROUPS_CPU: return plan->cpus > 0 || plan->milli_cpus > 0;
  case PAI__GROUPS_PIDS: return plan->processes > 0;
  default: return plan->cpu_list != NULL && plan->cpu_list[0] != '\0';
  }
}

static bool limit_memory(const char *dir, const pai_launch_plan *plan,
                         int version)
{
  if (version == 1)
    return write_number(dir, "memory.limit_in_bytes", pai__group_memory(plan));
  (void)write_file(dir, "memory.oom.group", "1");
  (void)write_file(dir, "memory.swap.max", "0");
  return write_number(dir, "memory.max", pai__group_memory(plan));
}

static bool limit_cpu(const char *dir, const pai_launch_plan *plan,
                      int version)
{
  /* The kernel's smallest quota is a millisecond: a hundredth of a CPU. */
  enum { LEAST_US = 1000 };
  uint64_t millis =
    plan->milli_cpus != 0 ? plan->milli_cpus : (uint64_t)plan->cpus * 1000;
  uint64_t quota = millis * (PERIOD_US / 1000);
  char text[64];

  if (quota < LEAST_US)
    quota = LEAST_US;
  if (version == 1)
    return write_number(dir, "cpu.cfs_period_us", PERIOD_US) &&
           write_number(dir, "cpu.cfs_quota_us", quota);
  (void)snprintf(text, sizeof(text), "%llu %d", (unsigned long long)quota,
                 (int)PERIOD_US);
  return write_file(dir, "cpu.max", text);
}

/* With version 1 a new group has no memory nodes until they are set. */
static bool limit_cpuset(pai__buf *b, const char *base, const char *dir,
                         const pai_launch_plan *plan, int version)
{
  if (version == 1) {
    read_file(b, base, "cpuset.mems");
    if (!write_file(dir, "cpuset.mems", pai__buf_text(b)))
      return false;
  }
  return write_file(dir, "cpuset.cpus", plan->cpu_list);
}

static bool limit(pai__buf *b, const char *base, const char *dir, int kind,
                  const pai_launch_plan *plan, int version)
{
  switch (kind) {
  case PAI__GROUPS_MEMORY: return limit_memory(dir, plan, version);
  case PAI__GROUPS_CPU: return limit_cpu(dir, plan, version);
  case PAI__GROUPS_PIDS: return write_number(dir, "pids.max", plan->processes);
  default: return limit_cpuset(b, base, dir, plan, version);
  }
}

/* Returns the group of one kind; with version 2 there is one for all. */
static const char *make_dir(pai__backend_group *out,
                            const pai__backend_groups *g, int kind,
                            uint64_t name)
{
  bool inside =
    out->above != NULL && (g->version == 2 || kind == PAI__GROUPS_PIDS);

  if (g->version == 2 && out->dirs.len > 0)
    return out->dirs.at[0];
  pai__words_printf(&out->dirs, "%s/" OF_TASK,
                    inside ? out->above : g->base[kind],
                    (unsigned long long)name);
  if (out->dirs.failed)
    return NULL;
  /* Moving the writing thread alone, the only one of its process, is ten times
   * as fast, and does not block all forks on the machine. */
  pai__words_printf(&out->procs, "%s/%s", out->dirs.at[out->dirs.len - 1],
                    g->version == 1 ? "tasks" : "cgroup.procs");
  return out->dirs.at[out->dirs.len - 1];
}

/* Enables all controllers for the groups of its tasks. */
static void hand_on(const pai__backend_groups *g, const char *dir)
{
  for (int i = 0; i < PAI__GROUPS_COUNT; i++) {
    char text[16];

    (void)snprintf(text, sizeof(text), "+%s", names[i]);
    if (g->base[i] != NULL)
      (void)write_file(dir, "cgroup.subtree_control", text);
  }
}

static void tell_failure(pai__buf *failed, int kind)
{
  pai__buf_printf(failed, "%s%s: %s", failed->len > 0 ? "; " : "", names[kind],
                  PAI__ERRNO_TEXT(errno));
}

/* Creates the group that limits all tasks of one owner. */
static void make_above(pai__backend_group *out, const pai__backend_groups *g,
                       const pai_launch_plan *plan, pai__buf *failed)
{
  const char *base = g->base[PAI__GROUPS_PIDS], *dir;
  char path[4096];
  int n;

  if (base == NULL || plan->owner == NULL || plan->owner_processes == 0)
    return;
  n = snprintf(path, sizeof(path), "%s/" OF_OWNER "%016llx", base,
               (unsigned long long)pai__text_hash(plan->owner));
  dir = n < (int)sizeof(path)
          ? pai__arena_strndup(&out->dirs.arena, path, (size_t)n)
          : NULL;
  out->dirs.failed |= dir == NULL;
  if (dir == NULL)
    return;
  if ((mkdir(dir, 0700) < 0 && errno != EEXIST) ||
      !write_number(dir, "pids.max", plan->owner_processes)) {
    tell_failure(failed, PAI__GROUPS_PIDS);
    pai__groups_leave(dir);
    return;
  }
  if (g->version == 2)
    hand_on(g, dir);
  out->above = dir;
}

void pai__groups_leave(const char *above)
{
  if (above != NULL)
    (void)rmdir(above);
}

static bool make_one(pai__backend_group *out, const pai__backend_groups *g,
                     int kind, const pai_launch_plan *plan, pai__buf *failed)
{
  size_t before = out->dirs.len;
  const char *dir = make_dir(out, g, kind, pai__text_hash(plan->dir));
  bool ok;
  pai__buf b;

  if (dir == NULL)
    return false;
  pai__buf_init(&b, failed->alloc);
  ok = (mkdir(dir, 0700) == 0 || errno == EEXIST) &&
       limit(&b, g->base[kind], dir, kind, plan, g->version);
  pai__buf_dispose(&b);
  if (ok)
    return true;
  tell_failure(failed, kind);
  if (out->dirs.len > before) {
    (void)rmdir(dir);
    out->dirs.at[--out->dirs.len] = NULL;
    out->procs.at[--out->procs.len] = NULL;
  }
  return false;
}

int pai__group_make(pai__backend_group *out, const pai__backend_groups *g,
                    const pai_launch_plan *plan, pai__buf *failed)
{
  const char *file = g->version == 1 ? "memory.oom_control" : "memory.events";
  const pai_alloc *alloc = failed->alloc;

  make_above(out, g, plan, failed);
  for (int i = 0; i < PAI__GROUPS_COUNT; i++) {
    if (g->base[i] == NULL || !wants(plan, i) ||
        !make_one(out, g, i, plan, failed) || i != PAI__GROUPS_MEMORY)
      continue;
    out->oom_file = pai__fs_join(out->dirs.at[0], file, alloc);
    if (out->oom_file == NULL)
      return PAI_ENOMEM;
  }
  return out->dirs.failed || out->procs.failed || !pai__buf_ok(failed)
           ? PAI_ENOMEM
           : PAI_OK;
}

/* Finds a task's group of one kind, maybe made by another process: in the base
 * group, or in an owner's.  False: there is none. */
static bool find_dir(char out[4096], const pai__backend_groups *g, int kind,
                     const char *task_dir)
{
  unsigned long long name = pai__text_hash(task_dir);
  const struct dirent *e;
  bool found;
  DIR *dir;

  if (snprintf(out, 4096, "%s/" OF_TASK, g->base[kind], name) >= 4096)
    return false;
  if (access(out, F_OK) == 0)
    return true;
  dir = opendir(g->base[kind]);
  found = false;
  while (dir != NULL && !found && (e = readdir(dir)) != NULL)
    found = strncmp(e->d_name, OF_OWNER, sizeof(OF_OWNER) - 1) == 0 &&
            snprintf(out, 4096, "%s/%s/" OF_TASK, g->base[kind], e->d_name,
                     name) < 4096 &&
            access(out, F_OK) == 0;
  if (dir != NULL)
    (void)closedir(dir);
  return found;
}

void pai__groups_path(const pai__backend_groups *g, const char *task_dir,
                      char *out, size_t size)
{
  static const char root[] = "/sys/fs/cgroup/";
  char path[4096];

  out[0] = '\0';
  for (int i = 0; g->version == 2 && i < PAI__GROUPS_COUNT; i++)
    if (g->base[i] != NULL &&
        strncmp(g->base[i], root, sizeof(root) - 1) == 0 &&
        find_dir(path, g, i, task_dir) &&
        strlen(path) - sizeof(root) + 2 < size) {
      (void)snprintf(out, size, "%s", path + sizeof(root) - 2);
      return;
    }
}

/* Kills the processes in a group, once. */
static void kill_group(pai__buf *b, const char *dir)
{
  const char *at;
  char *end;

  if (write_there(dir, "cgroup.kill", "1"))
    return;
  read_file(b, dir, "cgroup.procs");
  for (at = pai__buf_text(b); *at != '\0'; at = end + (*end == '\n')) {
    long pid = strtol(at, &end, 10);

    if (end == at)
      break;
    if (pid > 1)
      (void)kill((pid_t)pid, SIGKILL);
  }
}

/* A process cannot leave a group whose files belong to another user: so this
 * also finds processes that escaped the supervisor. */
void pai__groups_end(const pai__backend_groups *g, const char *task_dir,
                     const pai_alloc *alloc)
{
  enum { TRIES = 200 };
  char path[4096];
  pai__buf b;

  pai__buf_init(&b, alloc);
  for (int i = 0; i < PAI__GROUPS_COUNT; i++)
    if (g->base[i] != NULL && find_dir(path, g, i, task_dir))
      for (int k = 0; k < TRIES && rmdir(path) < 0 && errno == EBUSY; k++) {
        kill_group(&b, path);
        (void)poll(NULL, 0, 1);
      }
  pai__buf_dispose(&b);
}
