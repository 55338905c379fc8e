/*
 * tree.c - finds and ends all descendants of this process
 *
 * Orphans become children of this process (PR_SET_CHILD_SUBREAPER), so all
 * living descendants are found from here.  If tasks share a pid namespace, its
 * first process adopts orphans instead, and those of this task are recognized
 * by their mount namespace.  The kernel lists the children of each thread;
 * where it does not, the parents of all processes are read.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, ROUND_MS = 20 };

static void add(tree *t, pid_t pid)
{
  if (t->len < TREE_MOST)
    t->pids[t->len++] = pid;
}

/* Calls `each` with the numeric names in a folder. */
static void each_number(int dir, void (*each)(void *data, pid_t number),
                        void *data)
{
  _Alignas(entry) char some[2048];
  long n;

  while ((n = syscall(SYS_getdents64, dir, some, sizeof(some))) > 0)
    for (long at = 0; at < n;) {
      const entry *e = (const void *)(some + at);
      char *end;
      long number = strtol(e->name, &end, 10);

      if (*end == '\0' && number > 0)
        each(data, (pid_t)number);
      at += e->length;
    }
}

static int open_numbered(const char *before, pid_t pid, const char *after,
                         int flags)
{
  line path = { .len = 0 };

  line_add(&path, before);
  line_number(&path, pid);
  line_add(&path, after);
  path.text[path.len] = '\0';
  return open(path.text, flags | O_RDONLY | O_CLOEXEC);
}

/* --- by the kernel's lists of children ----------------------------------- */

typedef struct visit {
  tree *tree;
  int threads; /* the folder of its threads */
  bool listed; /* the kernel has these lists */
} visit;

static void add_children(void *data, pid_t thread)
{
  visit *v = data;
  line path = { .len = 0 };
  char some[512];
  pid_t pid = 0;
  ssize_t n;
  int fd;

  line_number(&path, thread);
  line_add(&path, "/children");
  path.text[path.len] = '\0';
  fd = openat(v->threads, path.text, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  v->listed = true;
  while ((n = read(fd, some, sizeof(some))) > 0)
    for (ssize_t i = 0; i < n; i++)
      if (some[i] >= '0' && some[i] <= '9') {
        pid = pid * 10 + (some[i] - '0');
      } else if (pid > 0) {
        add(v->tree, pid);
        pid = 0;
      }
  (void)close(fd);
}

static bool find_children(tree *t, pid_t of)
{
  visit v = { t, open_numbered("/proc/", of, "/task", O_DIRECTORY), false };

  if (v.threads < 0)
    return false;
  each_number(v.threads, add_children, &v);
  (void)close(v.threads);
  return v.listed;
}

/* --- by the parent of each process --------------------------------------- */

pid_t tree_parent(pid_t pid)
{
  char text[512], *at;
  int fd = open_numbered("/proc/", pid, "/stat", 0);
  ssize_t n;

  if (fd < 0)
    return 0;
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  at = strrchr(text, ')'); /* its name may contain spaces */
  if (at == NULL || strlen(at) < 5)
    return 0;
  return (pid_t)strtol(at + 4, NULL, 10);
}

static bool has(const tree *t, pid_t pid)
{
  for (size_t i = 0; i < t->len; i++)
    if (t->pids[i] == pid)
      return true;
  return false;
}

static void add_if_ours(void *data, pid_t pid)
{
  tree *t = data;
  pid_t parent = tree_parent(pid);

  if ((parent == getpid() || has(t, parent)) && !has(t, pid))
    add(t, pid);
}

/* Repeats until nothing is new: a child may have a lower pid than its
 * parent. */
static void find_by_parents(tree *t)
{
  size_t before;
  int proc;

  do {
    before = t->len;
    proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
      return;
    each_number(proc, add_if_ours, t);
    (void)close(proc);
  } while (t->len > before);
}

/* --- orphans in a shared name space -------------------------------------- */

static struct {
  pid_t holder;
  int fd; /* the task's mounts, open: so their number is not used again */
  struct stat mounts, pids;
} shared = { .fd = -1 };

static bool space_of(pid_t pid, const char *name, struct stat *info)
{
  line path = { .len = 0 };

  line_add(&path, "/proc/");
  line_number(&path, pid);
  line_add(&path, name);
  path.text[path.len] = '\0';
  return stat(path.text, info) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Only processes of the job's pid namespace are ever ended by their mounts. */
static bool is_in_job(pid_t pid)
{
  struct stat info;

  return space_of(pid, "/ns/pid", &info) && is_same(&info, &shared.pids);
}

void tree_learn(pid_t holder, pid_t inside)
{
  if (shared.fd >= 0)
    (void)close(shared.fd);
  shared.fd = -1;
  shared.holder = 0;
  if (holder <= 0 || inside <= 0 ||
      fstat(PAI_ORDER_PID_FD, &shared.pids) < 0 || !is_in_job(inside))
    return;
  shared.fd = open_numbered("/proc/", inside, "/ns/mnt", 0);
  if (shared.fd >= 0 && fstat(shared.fd, &shared.mounts) == 0)
    shared.holder = holder;
}

typedef struct mounts {
  struct stat info;
  bool known;
} mounts;

static void take_mounts(void *data, pid_t thread)
{
  mounts *m = data;

  if (!m->known)
    m->known = space_of(thread, "/ns/mnt", &m->info);
}

/* A process whose first thread has ended has those of another thread. */
static bool has_mounts(pid_t pid)
{
  mounts m = { .known = false };
  int threads;

  take_mounts(&m, pid);
  if (!m.known && errno == ENOENT) {
    threads = open_numbered("/proc/", pid, "/task", O_DIRECTORY);
    if (threads >= 0) {
      each_number(threads, take_mounts, &m);
      (void)close(threads);
    }
  }
  return m.known && is_same(&m.info, &shared.mounts) && is_in_job(pid);
}

static void add_if_inside(void *data, pid_t pid)
{
  if (has_mounts(pid))
    add(data, pid);
}

/* Searches all processes: the kernel's list of children may omit some while
 * others exit, and what an exiting process has left is not yet an orphan. */
static void find_each_inside(tree *t)
{
  int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  t->len = 0;
  if (proc < 0)
    return;
  each_number(proc, add_if_inside, t);
  (void)close(proc);
}

static void find_orphans(tree *t)
{
  static tree all;

  all.len = 0;
  if (shared.holder <= 0)
    return;
  if (!find_children(&all, shared.holder))
    find_each_inside(t);
  for (size_t i = 0; i < all.len; i++)
    if (has_mounts(all.pids[i]))
      add(t, all.pids[i]);
}

void tree_find(tree *t)
{
  t->len = 0;
  find_orphans(t);
  if (!find_children(t, getpid())) {
    find_by_parents(t);
    return;
  }
  for (size_t i = 0; i < t->len; i++)
    (void)find_children(t, t->pids[i]);
}

static void take_child(void *data, pid_t pid)
{
  pid_t *found = data; /* [0] parent, [1] child */

  if (found[1] == 0 && tree_parent(pid) == found[0])
    found[1] = pid;
}

pid_t tree_child(pid_t of)
{
  static tree children;
  pid_t found[2] = { of, 0 };
  int proc;

  children.len = 0;
  if (find_children(&children, of))
    return children.len > 0 ? children.pids[0] : 0;
  proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0)
    return 0;
  each_number(proc, take_child, found);
  (void)close(proc);
  return found[1];
}

/* --- ending processes ---------------------------------------------------- */

/* Returns whether it is the first process of a pid namespace, which ignores
 * signals without a handler. */
static bool is_init(pid_t pid)
{
  char text[2048], *at, *end;
  int fd = open_numbered("/proc/", pid, "/status", 0);
  ssize_t n;

  if (fd < 0)
    return false;
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  at = strstr(text, "\nNSpid:");
  end = at != NULL ? strchr(at + 1, '\n') : NULL;
  return end != NULL && end[-1] == '1' && end[-2] == '\t';
}

/* True: it will receive the signal. */
static bool ask(pid_t pid)
{
  bool asked = kill(pid, SIGTERM) == 0 && !is_init(pid);

  (void)kill(pid, SIGCONT);
  return asked;
}

/* Looks only once: processes created later may be needed by a SIGTERM handler,
 * to save a checkpoint. */
size_t tree_ask(tree *t, pid_t spare, pid_t spare_too)
{
  size_t asked = 0;

  tree_find(t);
  for (size_t i = 0; i < t->len; i++)
    if (t->pids[i] != spare && t->pids[i] != spare_too)
      asked += ask(t->pids[i]);
  return asked;
}

/* Reaps all ended children; false when there are none left. */
static bool reap(void (*on_end)(pid_t pid, int status))
{
  pid_t pid;
  int status;

  while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
    on_end(pid, status);
  return pid == 0;
}

/* Sets `t` to the living ones; false: none. */
static bool is_alive(tree *t, bool children)
{
  t->len = 0;
  if (children || shared.holder > 0)
    tree_find(t);
  if (!children && t->len == 0 && shared.holder > 0)
    find_each_inside(t);
  return children || t->len > 0;
}

/* Repeats: a process that forks while it is killed leaves orphans. */
bool tree_kill(tree *t, void (*on_end)(pid_t pid, int status))
{
  const struct timespec round = { 0, ROUND_MS * 1000000L };
  int64_t end = monotonic_ms() + PATIENCE_MS;
  sigset_t child;

  (void)sigemptyset(&child);
  (void)sigaddset(&child, SIGCHLD);
  while (is_alive(t, reap(on_end))) {
    if (monotonic_ms() > end)
      return false;
    for (size_t i = 0; i < t->len; i++)
      (void)kill(t->pids[i], SIGKILL);
    (void)sigtimedwait(&child, NULL, &round);
  }
  return true;
}

/* --- their memory -------------------------------------------------------- */

static uint64_t resident(pid_t pid)
{
  char text[128], *at = text;
  int fd = open_numbered("/proc/", pid, "/statm", 0);
  ssize_t n;

  if (fd < 0)
    return 0;
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  (void)strtoul(at, &at, 10);
  return strtoul(at, &at, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns its proportional share of memory, with /dev/shm; slow. */
static uint64_t part_of_memory(pid_t pid)
{
  char text[2048], *at;
  int fd = open_numbered("/proc/", pid, "/smaps_rollup", 0);
  ssize_t n;

  if (fd < 0)
    return resident(pid);
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  at = strstr(text, "\nPss:");
  return at != NULL ? strtoul(at + 5, NULL, 10) * 1024 : resident(pid);
}

/* A quick check first: the sum of resident sizes is never less than the real
 * use. */
bool tree_exceeds(tree *t, uint64_t limit)
{
  uint64_t most = 0, sum = 0;

  tree_find(t);
  for (size_t i = 0; i < t->len; i++)
    most += resident(t->pids[i]);
  if (most <= limit)
    return false;
  for (size_t i = 0; i < t->len; i++)
    sum += part_of_memory(t->pids[i]);
  return sum > limit;
}
