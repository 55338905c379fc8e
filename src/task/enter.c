/*
 * enter.c - runs a command that enters the task
 *
 * It gets what the first process got: its variables and those that the script
 * sets, groups and CPUs, from the order.  If the task runs in a sandbox, the
 * command joins its namespaces; for a container the engine's exec is used.  A
 * process waits for it and reports its end, as the keeper does for the first
 * process.
 */
#define _GNU_SOURCE
#include "frame.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DOWN = 8, TRIES = 3000, PAUSE_MS = 10 };

/* --- the command --------------------------------------------------------- */

static char **env_of(const pai_order *o)
{
  return o->enter_env.texts != NULL ? o->enter_env.texts : o->env.texts;
}

static const char *find_env(const pai_order *o, const char *name)
{
  size_t n = strlen(name);

  for (char **at = env_of(o); *at != NULL; at++)
    if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
      return *at + n + 1;
  return NULL;
}

/* Adds a shell: the user's, or the container's. */
static size_t add_shell(enter_words *out, size_t n, const pai_order *o)
{
  static char sh[] = "sh", option[] = "-c",
              either[] = "command -v bash >/dev/null && exec bash || exec sh",
              bash[] = "bash";
  const char *shell = find_env(o, "SHELL");

  if (out->inside) {
    out->argv[n++] = sh;
    out->argv[n++] = option;
    out->argv[n++] = either;
  } else {
    out->argv[n++] = shell != NULL && shell[0] == '/' ? (char *)shell : bash;
  }
  return n;
}

static bool choose_env(enter_words *out, const pai_order *o,
                       const pai_begin *b)
{
  static char term[256] = "TERM=";
  size_t n = 0, room = sizeof(term) - strlen(term) - 1;
  bool own = (b->flags & PAI_BEGIN_TTY) != 0 && b->terminal[0] != '\0' &&
             strlen(b->terminal) <= room;

  for (char **at = env_of(o); *at != NULL; at++) {
    if (own && strncmp(*at, "TERM=", 5) == 0)
      continue;
    if (n + 2 >= ENTER_WORDS)
      return false;
    out->env[n++] = *at;
  }
  if (own) {
    memcpy(term + 5, b->terminal, strlen(b->terminal) + 1);
    out->env[n++] = term;
  }
  out->env[n] = NULL;
  return true;
}

bool enter_choose(enter_words *out, const pai_order *o, const pai_begin *b)
{
  char **before =
    (b->flags & PAI_BEGIN_TTY) != 0 ? o->enter_tty.texts : o->enter.texts;
  const char *word = b->words;
  size_t n = 0;

  out->inside = before != NULL;
  for (; before != NULL && *before != NULL; before++) {
    if (n + 8 >= ENTER_WORDS)
      return false;
    out->argv[n++] = *before;
  }
  if (b->nwords == 0)
    n = add_shell(out, n, o);
  if (n + b->nwords >= ENTER_WORDS)
    return false;
  for (size_t i = 0; i < b->nwords; i++, word += strlen(word) + 1)
    out->argv[n++] = (char *)word;
  out->argv[n] = NULL;
  return choose_env(out, o, b);
}

/* --- sandbox ------------------------------------------------------------- */

static bool stat_of(pid_t pid, const char *name, struct stat *info)
{
  line path = { .len = 0 };

  line_add(&path, "/proc/");
  line_number(&path, pid);
  line_add(&path, name);
  path.text[path.len] = '\0';
  return stat(path.text, info) == 0;
}

static bool is_same(pid_t a, pid_t b, const char *name)
{
  struct stat one, other;

  return stat_of(a, name, &one) && stat_of(b, name, &other) &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

pid_t enter_inside(pid_t first)
{
  pid_t pid = first;

  for (int down = 0; pid != 0 && down < MOST_DOWN; down++) {
    struct stat info;

    /* skip bubblewrap and check.c */
    if (pid != first && stat_of(pid, "/exe", &info) &&
        !is_same(pid, first, "/exe") && !is_same(pid, getpid(), "/exe"))
      return pid;
    pid = tree_child(pid);
  }
  return 0;
}

/* Waits until the sandbox has been created. 0: there is none. */
static pid_t find_inside(pid_t first)
{
  const struct timespec pause = { 0, PAUSE_MS * 1000000L };

  for (int i = 0; i < TRIES; i++) {
    pid_t pid = enter_inside(first);

    if (pid != 0)
      return pid;
    if (kill(first, 0) < 0)
      return 0;
    (void)nanosleep(&pause, NULL);
  }
  return 0;
}

/* If the sandbox sets no_new_privs, sets it here, too. */
static bool keep_rights_low(pid_t inside)
{
  char text[2048], *at;
  line path = { .len = 0 };

  line_add(&path, "/proc/");
  line_number(&path, inside);
  line_add(&path, "/status");
  path.text[path.len] = '\0';
  if (read_small(AT_FDCWD, path.text, text, sizeof(text)) <= 0)
    return false;
  at = strstr(text, "\nNoNewPrivs:\t");
  return at == NULL || at[13] != '1' ||
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Joins all of its namespaces that differ.  The user namespace comes first: it
 * gives the rights to join the others without root. */
static bool enter_spaces(pid_t first)
{
  static const char *const names[] = { "/ns/user", "/ns/ipc", "/ns/uts",
                                       "/ns/net",  "/ns/pid", "/ns/mnt" };
  int fds[sizeof(names) / sizeof(names[0])];
  pid_t inside = find_inside(first);

  if (inside == 0) {
    errno = ESRCH;
    return false;
  }
  if (!keep_rights_low(inside))
    return false;
  for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
    line path = { .len = 0 };

    fds[i] = -1;
    if (is_same(inside, getpid(), names[i]))
      continue;
    line_add(&path, "/proc/");
    line_number(&path, inside);
    line_add(&path, names[i]);
    path.text[path.len] = '\0';
    fds[i] = open(path.text, O_RDONLY | O_CLOEXEC);
    if (fds[i] < 0)
      return false;
  }
  for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
    if (fds[i] >= 0 && (setns(fds[i], 0) < 0 || close(fds[i]) < 0))
      return false;
  return true;
}

/* --- running ------------------------------------------------------------- */

_Noreturn static void run(const char *folder, const enter_words *w,
                          const enter_files *files)
{
  int tell = files->tell;
  sigset_t none;

  (void)setsid();
  if (files->tty)
    child_take_terminal(files->theirs[0]);
  if (folder != NULL && !child_go_to(folder)) {
    child_tell(tell, NEWS_WORKDIR, errno);
    _exit(126);
  }
  for (int i = 0; i < 3; i++)
    if (dup2(files->theirs[i], i) != i) {
      child_tell(tell, NEWS_EXEC, errno);
      _exit(126);
    }
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)fcntl(PAI_ORDER_DIR_FD, F_SETFD, FD_CLOEXEC);
  environ = (char **)w->env;
  (void)execvp(w->argv[0], w->argv);
  child_tell(tell, NEWS_EXEC, errno);
  _exit(errno == ENOENT ? 127 : 126);
}

/* Adopts its orphans until then. */
_Noreturn static void await(pid_t command, int tell)
{
  pid_t pid;
  int status;

  child_tell(tell, NEWS_STARTED, command);
  while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR)
    if (pid == command) {
      child_tell(tell, NEWS_ENDED, status);
      break;
    }
  _exit(0);
}

int enter_start(const pai_order *o, pid_t first, const enter_words *w,
                const enter_files *files)
{
  static char here[4096];
  const char *folder = o->workdir.text;
  pid_t parent = getpid(), pid = fork();

  if (pid != 0)
    return pid < 0 ? -1 : 0;
  child_bind_to_parent(parent, SIGKILL);
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (size_t i = 0; i < sizeof(files->ours) / sizeof(files->ours[0]); i++)
    if (files->ours[i] >= 0)
      (void)close(files->ours[i]);
  child_join(o);
  if (folder == NULL && !w->inside)
    folder = getcwd(here, sizeof(here));
  if (!w->inside && (o->flags & PAI_ORDER_SPARE_FIRST) != 0 &&
      !enter_spaces(first)) {
    child_tell(files->tell, NEWS_ENTER, errno);
    _exit(126);
  }
  pid = fork();
  if (pid == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the parent's pid is different in
                                               there */
    child_scope(o);
    run(folder, w, files);
  }
  for (int i = 0; i < 3; i++)
    if (i == 0 || !files->tty)
      (void)close(files->theirs[i]);
  if (pid < 0) {
    child_tell(files->tell, NEWS_EXEC, errno);
    _exit(126);
  }
  await(pid, files->tell);
}
