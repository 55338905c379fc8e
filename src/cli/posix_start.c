/*
 * posix_start.c - starting a platform in the background
 *
 * The platform is this program again, as `openpai up --foreground` in a
 * session of its own.  Of the caller's descriptors it gets only one end of a
 * pipe, on which it reports that it serves.  So a program that waits for the
 * end of the caller's output does not wait for the platform.
 */
#define _GNU_SOURCE /* posix_spawn_file_actions_addclosefrom_np() */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "OPENPAI_READY_FD"
enum { READY_FD = 3 };

const char *cli_start_runtime, *cli_start_policy;
const char *cli_start_more[20];
bool cli_start_system;

int cli_ready_fd(void)
{
  const char *value = getenv(READY);

  if (value == NULL || strcmp(value, "3") != 0)
    return -1;
  (void)unsetenv(READY); /* not for tasks */
  return fcntl(READY_FD, F_SETFD, FD_CLOEXEC) == 0 ? READY_FD : -1;
}

bool cli_make_folder(const char *path)
{
  char *copy = strdup(path);
  bool good = copy != NULL;

  for (char *p = copy; good && p != NULL;) {
    p = strchr(p + 1, '/');
    if (p != NULL)
      *p = '\0';
    good = mkdir(copy, 0700) == 0 || errno == EEXIST || errno == EISDIR;
    if (p != NULL)
      *p = '/';
  }
  if (!good)
    cli_fail("cannot make the folder %s: %s", path, strerror(errno));
  free(copy);
  return good;
}

/* Returns this process's environment plus READY. */
static char **make_environment(void)
{
  extern char **environ;
  static char ready[] = READY "=3";
  size_t n = 0, to = 0;
  char **copy;

  while (environ[n] != NULL)
    n++;
  copy = calloc(n + 2, sizeof(*copy));
  for (size_t i = 0; copy != NULL && i < n; i++)
    if (strncmp(environ[i], READY "=", sizeof(READY)) != 0)
      copy[to++] = environ[i];
  if (copy != NULL)
    copy[to] = ready;
  return copy;
}

static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr,
                  const char *log, int ready)
{
  sigset_t none, all;
  int rc;

  (void)sigemptyset(&none);
  (void)sigfillset(&all);
  rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
  if (rc == 0)
    rc = posix_spawn_file_actions_addopen(files, 1, log,
                                          O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(files, 1, 2);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(files, ready, READY_FD);
  if (rc == 0)
    rc = posix_spawn_file_actions_addclosefrom_np(files, READY_FD + 1);
  if (rc == 0)
    rc = posix_spawn_file_actions_addchdir_np(files, "/");
  if (rc == 0)
    rc = posix_spawnattr_setsigmask(attr, &none);
  if (rc == 0)
    rc = posix_spawnattr_setsigdefault(attr, &all);
  if (rc == 0)
    rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
                                          POSIX_SPAWN_SETSIGMASK |
                                          POSIX_SPAWN_SETSIGDEF);
  return rc;
}

/* --- systemd scope ------------------------------------------------------- */

/*
 * A platform in the control group of its caller shares that group with other
 * processes, and so cannot divide it among tasks.  If systemd manages this
 * user's processes, systemd-run gives the platform a group of its own.
 */

/* Whether systemd can be asked: the user's manager, or for root the
 * machine's. */
static bool has_manager(bool *user)
{
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  struct stat st;
  char path[4096];

  *user = true; /* after su, XDG_RUNTIME_DIR may be another user's */
  if (!cli_start_system && runtime != NULL && runtime[0] == '/' &&
      lstat(runtime, &st) == 0 && st.st_uid == geteuid() &&
      snprintf(path, sizeof(path), "%s/systemd/private", runtime) <
        (int)sizeof(path) &&
      access(path, F_OK) == 0)
    return true;
  *user = false;
  return geteuid() == 0 && access("/run/systemd/private", F_OK) == 0;
}

/* Puts the words of systemd-run before the platform's own; none without a
 * manager.  systemd-run executes the program in its own process, so the
 * process id and the pipe stay the same. */
static size_t put_scope(const char *argv[], const char *program)
{
  bool user;
  size_t n = 0;

  if (program == NULL || !has_manager(&user))
    return 0;
  argv[n++] = "systemd-run";
  argv[n++] = user ? "--user" : "--system";
  argv[n++] = "--scope";
  argv[n++] = "--quiet";
  argv[n++] = "--collect";
  argv[n++] = "--property=Delegate=yes";
  argv[n++] = "--description=OpenPAI's platform";
  argv[n++] = "--";
  argv[n++] = program;
  return n;
}

/* Returns the path of this program; NULL: not known. */
static char *own_path(void)
{
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

  return n > 0 && n < (ssize_t)sizeof(path) ? strndup(path, (size_t)n) : NULL;
}

/* Returns an errno. */
static int spawn(pid_t *pid, const char *root, const char *log, int ready,
                 bool *scope)
{
  char *program = *scope ? own_path() : NULL, **env = make_environment();
  const char *argv[48];
  size_t n = put_scope(argv, program);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  int rc = env != NULL ? 0 : ENOMEM;

  *scope = n > 0;
  if (n == 0)
    argv[n++] = "openpai";
  argv[n++] = "up";
  argv[n++] = "--foreground";
  argv[n++] = "--root";
  argv[n++] = root;
  if (cli_start_runtime != NULL) {
    argv[n++] = "--runtime";
    argv[n++] = cli_start_runtime;
  }
  if (cli_start_policy != NULL) {
    argv[n++] = "--policy";
    argv[n++] = cli_start_policy;
  }
  if (cli_start_system)
    argv[n++] = "--system";
  for (size_t i = 0; cli_start_more[i] != NULL; i++)
    argv[n++] = cli_start_more[i];
  argv[n] = NULL;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawnattr_init(&attr);
  if (rc == 0)
    rc = set_up(&files, &attr, log, ready);
  if (rc == 0) /* they do not modify the words */
    rc = (*scope ? posix_spawnp : posix_spawn)(
      pid, *scope ? argv[0] : "/proc/self/exe", &files, &attr,
      (char *const *)(uintptr_t)argv, env);
  (void)posix_spawnattr_destroy(&attr);
  (void)posix_spawn_file_actions_destroy(&files);
  free(env);
  free(program);
  return rc;
}

/* Reads the platform's report: "" if it died, "ok", "busy", or an error. */
static void hear(int fd, char *text, size_t size)
{
  size_t len = 0;
  ssize_t n;

  while (len < size - 1) {
    n = read(fd, text + len, size - 1 - len);
    if (n == 0 || (n < 0 && errno != EINTR))
      break;
    if (n > 0)
      len += (size_t)n;
  }
  text[len] = '\0';
}

static bool judge(const char *said, const char *log)
{
  /* Busy: another platform has begun in this root and will serve. */
  if (strcmp(said, "busy\n") == 0)
    return true;
  if (strncmp(said, "ok\n", 3) == 0) { /* and text that is printed only once */
    (void)fputs(said + 3, stderr);
    return true;
  }
  if (said[0] == '\0') {
    cli_fail("the platform ended before it was ready");
    (void)fprintf(stderr, "  help: see %s\n", log);
    return false;
  }
  (void)fputs(said, stderr); /* already formatted as an error */
  return false;
}

/* Starts it and puts its report into `said`; returns an errno. */
static int start_once(pid_t *pid, const char *root, const char *log,
                      bool *scope, char *said, size_t size)
{
  int ends[2], rc;

  said[0] = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  rc = spawn(pid, root, log, ends[1], scope);
  (void)close(ends[1]);
  if (rc == 0)
    hear(ends[0], said, size);
  (void)close(ends[0]);
  return rc;
}

/* Starts the platform in a scope if possible.  If systemd refuses, that is
 * only in the log, and the platform starts without a scope. */
static int start(pid_t *pid, const char *root, const char *log, char *said,
                 size_t size)
{
  bool scope = true;
  int rc = start_once(pid, root, log, &scope, said, size);

  if (!scope || (rc == 0 && said[0] != '\0'))
    return rc;
  if (rc == 0)
    (void)waitpid(*pid, NULL, 0);
  scope = false;
  return start_once(pid, root, log, &scope, said, size);
}

bool cli_start_platform(const char *root)
{
  char *log = cli_join(root, "log"), said[4096];
  bool good = false;
  pid_t pid;
  int rc;

  if (log == NULL || !cli_make_folder(root)) {
    free(log);
    return false;
  }
  rc = start(&pid, root, log, said, sizeof(said));
  if (rc != 0) {
    cli_fail("cannot start the platform, with its log in %s: %s", log,
             strerror(rc));
    if (rc == EROFS) /* the root is read-only inside a job */
      cli_help(stderr, "a job does not see its platform: let it ask a server "
                       "with --cluster, or run as --runtime process");
  } else {
    good = judge(said, log);
    if (!good)
      (void)waitpid(pid, NULL, 0); /* until it is gone, it holds the root */
  }
  free(log);
  return good;
}
