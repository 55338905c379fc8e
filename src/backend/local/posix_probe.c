/* posix_probe.c - which runtimes there are, and which of them work */
#define _GNU_SOURCE /* setresuid() */
#include "backend/local/runtime.h"

#include "base/buf.h"
#include "base/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 5000, AGAIN_MS = 30000, MOST_LIST = 16 << 20 };

/* --- programs -------------------------------------------------------------------- */

/* Along PATH; *out is NULL if there is none. */
static int find_program(char **out, const char *name, const pai_alloc *alloc)
{
  const char *path = getenv("PATH"), *end;
  char file[4096];

  *out = NULL;
  if (path == NULL)
    path = "/usr/local/bin:/usr/bin:/bin";
  for (;; path = end + 1) {
    end = path + strcspn(path, ":");
    if (path[0] == '/' &&
        snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path,
                 name) < (int)sizeof(file) &&
        access(file, X_OK) == 0) {
      *out = pai__strdup(alloc, file);
      return *out != NULL ? PAI_OK : PAI_ENOMEM;
    }
    if (*end == '\0')
      return PAI_OK;
  }
}

int pai__runtimes_find(pai__runtimes *r, const pai_alloc *alloc)
{
  memset(r, 0, sizeof(*r));
  if (find_program(&r->bash, "bash", alloc) < 0 ||
      find_program(&r->bwrap.path, "bwrap", alloc) < 0 ||
      find_program(&r->podman.path, "podman", alloc) < 0 ||
      find_program(&r->docker.path, "docker", alloc) < 0) {
    pai__runtimes_dispose(r, alloc);
    return PAI_ENOMEM;
  }
  return PAI_OK;
}

static void close_userns(pai__userns it, const pai_alloc *alloc)
{
  pai__strfree(alloc, it.job);
  (void)close(it.fd);
}

void pai__runtimes_dispose(pai__runtimes *r, const pai_alloc *alloc)
{
  pai__strfree(alloc, r->bash);
  pai__strfree(alloc, r->bwrap.path);
  pai__strfree(alloc, r->podman.path);
  pai__strfree(alloc, r->docker.path);
  for (size_t i = 0; i < r->nuserns; i++)
    close_userns(r->userns[i], alloc);
  memset(r, 0, sizeof(*r));
}

/* --- to try one ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As a user with no rights at all.  Slower in a large process, and for once. */
static int spawn_as_nobody(pid_t *pid, const char *const *argv, int out)
{
  enum { NOBODY = 65534 };

  *pid = fork();
  if (*pid != 0)
    return *pid < 0 ? errno : 0;
  (void)close(0);
  if (open("/dev/null", O_RDWR) == 0 && dup2(out, 1) == 1 &&
      dup2(out, 2) == 2 && setgroups(0, NULL) == 0 &&
      setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
      setresuid(NOBODY, NOBODY, NOBODY) == 0)
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, environ);
  _exit(127);
}

static int spawn(pid_t *pid, const char *const *argv, int out)
{
  posix_spawn_file_actions_t actions;
  int rc = posix_spawn_file_actions_init(&actions);

  if (rc != 0)
    return rc;
  rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, out, 2);
  if (rc == 0) /* which only reads the words */
    rc = posix_spawn(pid, argv[0], &actions, NULL,
                     (char *const *)(uintptr_t)argv, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  return rc;
}

/* What it says, up to its end or as long as there is patience. */
static bool read_all(int fd, char *text, size_t size)
{
  int64_t end = now_ms() + PATIENCE_MS;
  size_t len = 0;
  ssize_t n = 1;

  while (n > 0) {
    struct pollfd at = { fd, POLLIN, 0 };
    char more[512];
    int64_t left = end - now_ms();

    text[len] = '\0';
    if (left <= 0 || poll(&at, 1, (int)left) == 0)
      return false;
    n = read(fd, more, sizeof(more));
    for (ssize_t i = 0; i < n && len + 1 < size; i++)
      text[len++] = more[i];
    if (n < 0 && errno == EINTR)
      n = 1;
  }
  text[len] = '\0';
  return n == 0;
}

/* True: it said something, and came to an end that was not a failure.  Of a
 * host that has its children's ends thrown away, they are taken as good. */
static bool run(const char *const *argv, bool as_nobody, char *text,
                size_t size)
{
  int ends[2], status = 0, rc;
  bool ended;
  pid_t pid;

  text[0] = '\0';
  if (pipe(ends) < 0)
    return false;
  for (int i = 0; i < 2; i++)
    (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  rc = as_nobody ? spawn_as_nobody(&pid, argv, ends[1])
                 : spawn(&pid, argv, ends[1]);
  (void)close(ends[1]);
  ended = rc == 0 && read_all(ends[0], text, size);
  (void)close(ends[0]);
  if (rc != 0)
    return false;
  if (!ended)
    (void)kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      break;
  return ended && status == 0 && text[0] != '\0';
}

/* The last line of what it said, for people. */
static void keep_last_line(pai__tool *tool, char *text)
{
  size_t len = strlen(text);
  const char *line;

  while (len > 0 && (unsigned char)text[len - 1] <= ' ')
    text[--len] = '\0';
  line = strrchr(text, '\n');
  (void)snprintf(tool->why_not, sizeof(tool->why_not), "%.200s",
                 line != NULL ? line + 1 : text);
}

static bool try_tool(pai__tool *tool, const char *const *argv, bool as_nobody)
{
  char text[2048];

  tool->tried = true;
  if (tool->path == NULL)
    return false;
  tool->works = run(argv, as_nobody, text, sizeof(text));
  if (!tool->works)
    keep_last_line(tool, text);
  return tool->works;
}

/* --- each of them -------------------------------------------------------------------- */

/* bubblewrap that echoes something. */
static void add_try(pai__words *w, const pai__runtimes *r)
{
  const pai_launch_plan plan = { .struct_size = sizeof(plan),
                                 .flags = PAI_LAUNCH_SHARE_TMP };
  pai__surroundings around = { .root = NULL };

  pai__bwrap_words(w, r->bwrap.path, &plan, &around);
  pai__words_add(w, r->bash);
  pai__words_add(w, "-c");
  pai__words_add(w, "echo works");
}

static int try_bwrap(pai__runtimes *r, const pai_alloc *alloc)
{
  int rc = PAI_OK;
  pai__words w;

  pai__words_init(&w, alloc);
  if (r->bwrap.path != NULL && r->bash != NULL) {
    add_try(&w, r);
    rc = w.failed ? PAI_ENOMEM : PAI_OK;
  }
  if (rc == PAI_OK)
    (void)try_tool(&r->bwrap, w.at, r->others);
  pai__words_dispose(&w);
  if (r->bwrap.works)
    (void)snprintf(r->said, sizeof(r->said),
                   "bwrap: tasks have their own /tmp and process numbers, for "
                   "bubblewrap works here");
  else
    (void)snprintf(r->said, sizeof(r->said),
                   "process: tasks are plain processes, for bubblewrap %s%s%s",
                   r->bwrap.path == NULL ? "is not installed"
                                         : "does not work here",
                   r->bwrap.why_not[0] != '\0' ? ": " : "", r->bwrap.why_not);
  return rc;
}

/* Can a sandbox join the one at r->shared?  PAI_OK or PAI_ENOMEM. */
static int try_join(pai__runtimes *r, const pai_alloc *alloc)
{
  char text[256];
  pai__words w;
  int rc;

  pai__words_init(&w, alloc);
  pai__join_words(&w, r->bash, r->shared);
  add_try(&w, r);
  rc = w.failed ? PAI_ENOMEM : PAI_OK;
  if (rc == PAI_OK)
    r->joins = run(w.at, false, text, sizeof(text)) ? 1 : -1;
  pai__words_dispose(&w);
  return rc;
}

static void name_shared(pai__runtimes *r, int fd)
{
  (void)snprintf(r->shared, sizeof(r->shared), "/proc/%d/fd/%d", (int)getpid(),
                 fd);
}

static pai__userns take_userns(pai__runtimes *r, size_t i)
{
  pai__userns it = r->userns[i];

  r->nuserns--;
  memmove(&r->userns[i], &r->userns[i + 1],
          (r->nuserns - i) * sizeof(r->userns[0]));
  return it;
}

/* Of another job's it would see the folders, by its processes.  That of the job
 * whose last start is the longest ago is forgotten: tasks of it that come later
 * have another. */
int pai__runtimes_share(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan)
{
  const char *job = plan->job_dir != NULL ? plan->job_dir : plan->dir;
  pai__userns made;
  int rc = PAI_OK;

  r->shared[0] = '\0';
  if (r->joins < 0 || !r->bwrap.works || geteuid() == 0)
    return PAI_OK;
  for (size_t i = 0; i < r->nuserns; i++)
    if (strcmp(r->userns[i].job, job) == 0) {
      pai__userns it = take_userns(r, i);

      r->userns[r->nuserns++] = it;
      name_shared(r, it.fd);
      return PAI_OK;
    }
  made.fd = pai__userns_make(alloc);
  if (made.fd < 0)
    return PAI_OK;
  made.job = pai__strdup(alloc, job);
  name_shared(r, made.fd);
  if (made.job == NULL)
    rc = PAI_ENOMEM;
  else if (r->joins == 0)
    rc = try_join(r, alloc);
  if (rc < 0 || r->joins < 0) {
    r->shared[0] = '\0';
    close_userns(made, alloc);
    return rc;
  }
  while (r->nuserns >= pai__userns_most())
    close_userns(take_userns(r, 0), alloc);
  r->userns[r->nuserns++] = made;
  return PAI_OK;
}

static void try_podman(pai__tool *tool)
{
  const char *argv[] = { tool->path, "info", "--format", "works", NULL };

  if (try_tool(tool, argv, false))
    tool->nvidia = access("/etc/cdi/nvidia.yaml", R_OK) == 0 ||
                   access("/var/run/cdi/nvidia.yaml", R_OK) == 0;
}

static void try_docker(pai__tool *tool)
{
  const char *argv[] = { tool->path, "version", "--format",
                         "{{.Server.Version}}", NULL };
  const char *more[] = { tool->path, "info", "--format", "{{json .Runtimes}}",
                         NULL };
  char text[2048];

  if (try_tool(tool, argv, false))
    tool->nvidia = run(more, false, text, sizeof(text)) &&
                   strstr(text, "\"nvidia\"") != NULL;
}

/* --- engines ------------------------------------------------------------------------- */

static void try_engine(pai__tool *tool, int runtime)
{
  int64_t now = now_ms();

  if (tool->path == NULL ||
      (tool->tried && (tool->works || now < tool->again)))
    return;
  tool->why_not[0] = '\0';
  if (runtime == PAI_RUNTIME_PODMAN)
    try_podman(tool);
  else
    try_docker(tool);
  tool->again = now_ms() + AGAIN_MS;
}

static bool is_there(const char *folder, const char *below)
{
  char path[4096];

  return folder != NULL && folder[0] == '/' &&
         snprintf(path, sizeof(path), "%s/%s", folder, below) <
           (int)sizeof(path) &&
         access(path, F_OK) == 0;
}

/* The name without registry, folders, tag and digest. */
static void base_name(char *out, size_t size, const char *image)
{
  const char *slash = strrchr(image, '/');
  const char *name = slash != NULL ? slash + 1 : image;

  (void)snprintf(out, size, "%.*s", (int)strcspn(name, ":@"), name);
}

/* As the last part of a name, before a tag or digest? */
static bool names_it(const char *list, const char *name)
{
  size_t len = strlen(name);

  for (const char *at = list; len > 0 && (at = strstr(at, name)) != NULL; at++)
    if (at > list && strchr("/\"", at[-1]) != NULL &&
        strchr(":@\"", at[len]) != NULL)
      return true;
  return false;
}

/* Do podman's lists of images name one like it?  They are read, for to ask it
 * takes a hundred times as long. */
static enum pai__at_hand is_listed(const char *folder, const char *below,
                                   const char *image, const pai_alloc *alloc)
{
  static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
  enum pai__at_hand hand = PAI__HAND_NO;
  char path[4096], name[256];
  pai__buf b;

  base_name(name, sizeof(name), image);
  pai__buf_init(&b, alloc);
  for (size_t i = 0; folder != NULL && i < PAI__LEN(drivers); i++) {
    if (snprintf(path, sizeof(path), "%s/%s/%s-images/images.json", folder,
                 below, drivers[i]) >= (int)sizeof(path) ||
        pai__fs_read(&b, path, MOST_LIST, NULL) < 0 || b.len <= 4)
      continue;
    if (names_it(pai__buf_text(&b), name))
      hand = PAI__HAND_YES;
    else if (hand == PAI__HAND_NO)
      hand = PAI__HAND_OTHERS;
  }
  pai__buf_dispose(&b);
  return hand;
}

/* An engine without such images is not even asked: that would make folders for
 * them, and takes its time.  YES: it may have it. */
static enum pai__at_hand may_have(int runtime, const char *image,
                                  const pai_alloc *alloc)
{
  const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");

  if (runtime == PAI_RUNTIME_DOCKER)
    return getenv("DOCKER_HOST") != NULL ||
               is_there("/var/run", "docker.sock") ||
               is_there(getenv("XDG_RUNTIME_DIR"), "docker.sock") ||
               is_there(home, ".docker/contexts")
             ? PAI__HAND_YES
             : PAI__HAND_NO;
  if (getenv("CONTAINERS_STORAGE_CONF") != NULL ||
      getenv("CONTAINERS_CONF") != NULL ||
      is_there(home, ".config/containers/storage.conf"))
    return PAI__HAND_YES; /* who knows where they are */
  if (geteuid() == 0)
    return is_listed("/var/lib/containers", "storage", image, alloc);
  if (data != NULL && data[0] == '/')
    return is_listed(data, "containers/storage", image, alloc);
  return is_listed(home, ".local/share/containers/storage", image, alloc);
}

/* By its name; remembered for a while. */
static bool has_image(pai__runtimes *r, const pai__tool *engine,
                      const char *name)
{
  const char *argv[] = { engine->path, "image", "inspect", "--format",
                         "works",      "--",    name,      NULL };
  uint64_t hash = pai__text_hash(engine->path) * 31 + pai__text_hash(name);
  int64_t now = now_ms();
  char text[2048];
  pai__image *known = NULL;

  for (unsigned i = 0; known == NULL && i < PAI__IMAGES; i++)
    if (r->images[i].name == hash)
      known = &r->images[i];
  if (known != NULL && now < known->until)
    return known->here;
  if (known == NULL)
    known = &r->images[r->next_image++ % PAI__IMAGES];
  *known =
    (pai__image){ .name = hash, .here = run(argv, false, text, sizeof(text)) };
  known->until = now_ms() + AGAIN_MS;
  return known->here;
}

/* Whether it runs containers at all: many may only keep images. */
static bool runs(pai__tool *engine, const char *image)
{
  const char *argv[] = { engine->path,
                         "run",
                         "--rm",
                         "--network=host",
                         "--log-driver=none",
                         "--entrypoint=bash",
                         "--",
                         image,
                         "-c",
                         "echo works",
                         NULL };
  char text[2048];

  if (engine->ran_tried && (engine->ran || now_ms() < engine->again))
    return engine->ran;
  engine->why_not[0] = '\0';
  engine->ran_tried = true;
  engine->ran = run(argv, false, text, sizeof(text));
  if (!engine->ran)
    keep_last_line(engine, text);
  engine->again = now_ms() + AGAIN_MS;
  return engine->ran;
}

static enum pai__at_hand look_for(pai__runtimes *r, const pai_alloc *alloc,
                                  pai__tool *engine, int runtime,
                                  const char *image)
{
  enum pai__at_hand hand =
    engine->path != NULL ? may_have(runtime, image, alloc) : PAI__HAND_NO;

  if (hand != PAI__HAND_YES)
    return hand;
  try_engine(engine, runtime);
  if (!engine->works)
    return PAI__HAND_NO;
  if (!has_image(r, engine, image))
    return PAI__HAND_OTHERS;
  (void)runs(engine, image);
  return PAI__HAND_YES;
}

int pai__runtimes_probe(pai__runtimes *r, const pai_alloc *alloc,
                        const pai_launch_plan *plan, pai__surroundings *around)
{
  switch (plan->runtime) {
  case PAI_RUNTIME_PROCESS: return PAI_OK;
  case PAI_RUNTIME_PODMAN: try_engine(&r->podman, plan->runtime); break;
  case PAI_RUNTIME_DOCKER: try_engine(&r->docker, plan->runtime); break;
  case PAI_RUNTIME_AUTO:
    if (!pai__has_image(plan) || r->others) /* root's are not theirs */
      break;
    around->podman =
      look_for(r, alloc, &r->podman, PAI_RUNTIME_PODMAN, plan->image);
    if (around->podman != PAI__HAND_YES || !r->podman.ran ||
        (plan->gpus != 0 && !r->podman.nvidia))
      around->docker =
        look_for(r, alloc, &r->docker, PAI_RUNTIME_DOCKER, plan->image);
    break;
  default: break;
  }
  return r->bwrap.tried ? PAI_OK : try_bwrap(r, alloc);
}

/* Its client is run by the task's user; this says beforehand what it would. */
bool pai__docker_lets(const pai__runtimes *r, const pai__user *who)
{
  static const struct sockaddr_un at = { AF_UNIX, "/var/run/docker.sock" };
  int fd = -1, rc = -1;

  if (who == NULL || r->docker.path == NULL)
    return true;
  if (pai__as_user(who)) {
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    rc = connect(fd, (const struct sockaddr *)&at, sizeof(at));
    rc = rc < 0 && errno != EACCES && errno != EPERM ? 0 : rc;
    pai__as_self(who);
  }
  if (fd >= 0)
    (void)close(fd);
  return rc == 0;
}

/* --- a container whose supervisor is gone ----------------------------------------------- */

/* In the background: an engine takes its time. */
static void remove_container(const char *engine, const char *name)
{
  static const char words[] =
    "\"$0\" rm --force \"$1\" </dev/null >/dev/null 2>&1 &";
  const char *argv[] = { "/bin/sh", "-c", words, engine, name, NULL };
  char text[16];

  (void)run(argv, false, text, sizeof(text));
}

void pai__container_forget(const pai__runtimes *r, const char *task_dir)
{
  const pai__tool *const engines[] = { &r->podman, &r->docker };
  const char *const names[] = { PAI__ID_FILE "podman", PAI__ID_FILE "docker" };
  char name[32];

  (void)snprintf(name, sizeof(name), "openpai-%016llx",
                 (unsigned long long)pai__text_hash(task_dir));
  for (size_t i = 0; i < PAI__LEN(engines); i++)
    if (engines[i]->path != NULL && is_there(task_dir, names[i]))
      remove_container(engines[i]->path, name);
}

/* --- devices ----------------------------------------------------------------------------- */

static void add_if_there(pai__words *out, const char *path)
{
  if (access(path, F_OK) == 0)
    pai__words_add(out, path);
}

void pai__gpu_devices(pai__words *out, uint64_t gpus)
{
  char path[64];

  for (unsigned i = 0; i < 64; i++) {
    if ((gpus >> i & 1) == 0)
      continue;
    (void)snprintf(path, sizeof(path), "/dev/nvidia%u", i);
    if (access(path, F_OK) == 0)
      pai__words_printf(out, "%s", path);
  }
  if (gpus != 0) {
    add_if_there(out, "/dev/nvidiactl");
    add_if_there(out, "/dev/nvidia-uvm");
    add_if_there(out, "/dev/kfd");
    add_if_there(out, "/dev/dri");
  }
}
