/*
 * posix_ssh_far.c - ssh(1) with keys that lie here only while it runs
 *
 * They are in a folder of this user's alone, in $XDG_RUNTIME_DIR (which is
 * memory, where there is one), which goes when ssh has ended.  So a signal that
 * would end this program is passed on to ssh, and ends that.
 */
#define _XOPEN_SOURCE 700
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 3000, SSH_FAILED = 255 };

extern char **environ;

/* --- the keys ------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text, const char *more)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
  bool good;

  if (out == NULL)
    return false;
  good = fprintf(out, "%s%s", text, more) >= 0;
  return fclose(out) == 0 && good;
}

static bool make_folder(cli_ssh_files *f)
{
  const char *dir = getenv("XDG_RUNTIME_DIR");

  if (dir == NULL || dir[0] != '/' || access(dir, W_OK) < 0)
    dir = getenv("TMPDIR");
  if (dir == NULL || dir[0] != '/')
    dir = "/tmp";
  if ((size_t)snprintf(f->folder, sizeof(f->folder), "%s/openpai-ssh-XXXXXX",
                       dir) >= sizeof(f->folder) ||
      mkdtemp(f->folder) == NULL) {
    cli_fail("cannot make a folder for keys in %s: %s", dir, strerror(errno));
    cli_help(stderr, "let $TMPDIR name a folder to write in");
    f->folder[0] = '\0';
    return false;
  }
  return true;
}

static bool keep(cli_ssh_files *f, const cli_ssh_way *way)
{
  char line[sizeof(way->host) + sizeof(way->port) + 8];

  *f = (cli_ssh_files){ 0 };
  if (!make_folder(f))
    return false;
  (void)snprintf(f->user, sizeof(f->user), "%s", way->user);
  (void)snprintf(f->known_hosts, sizeof(f->known_hosts), "%s/known_hosts",
                 f->folder);
  (void)snprintf(line, sizeof(line), "[%s]:%s ", way->host, way->port);
  if (way->key != NULL)
    (void)snprintf(f->key, sizeof(f->key), "%s/key", f->folder);
  if (write_file(f->known_hosts, line, way->host_key) &&
      (way->key == NULL || write_file(f->key, way->key, "")))
    return true;
  cli_fail("cannot write to %s: %s", f->folder, strerror(errno));
  return false;
}

static void drop(const cli_ssh_files *f)
{
  if (f->folder[0] == '\0')
    return;
  if (f->key[0] != '\0')
    (void)unlink(f->key);
  (void)unlink(f->known_hosts);
  if (rmdir(f->folder) < 0)
    cli_fail("cannot remove %s, which held the job's key: %s", f->folder,
             strerror(errno));
}

/* --- ssh ---------------------------------------------------------------------------- */

static volatile sig_atomic_t child, caught; /* 0: there is none */

static void on_signal(int number)
{
  caught = number;
  if (child != 0)
    (void)kill(child, number);
}

static void catch_signals(void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
  struct sigaction old, action = { .sa_handler = on_signal };

  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      (void)sigaction(numbers[i], &action, NULL);
  (void)signal(SIGCHLD, SIG_DFL); /* else its end could not be known */
}

/* Until it has ended; while it is stopped, so is this.  Its status. */
static int wait_for(pid_t pid)
{
  siginfo_t told;
  int status = 0;

  for (;;) {
    if (waitid(P_PID, (id_t)pid, &told, WEXITED | WSTOPPED | WNOWAIT) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if (told.si_code != CLD_STOPPED)
      break;
    (void)waitid(P_PID, (id_t)pid, &told, WSTOPPED | WNOHANG);
    (void)raise(SIGSTOP);
    (void)kill(pid, SIGCONT);
  }
  child = 0; /* its number is free when it was waited for */
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  return status;
}

static int start(char **words)
{
  pid_t pid;
  int rc, status;

  rc = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
  if (rc != 0) {
    cli_fail("cannot start ssh: %s", strerror(rc));
    cli_help(stderr, "install openssh-client, or use openpai exec");
    return CLI_BROKEN;
  }
  child = pid;
  if (caught != 0) /* before its number was known */
    (void)kill(pid, caught);
  status = wait_for(pid);
  return WIFEXITED(status)     ? WEXITSTATUS(status)
         : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                               : CLI_BROKEN;
}

/* --- why it could not ------------------------------------------------------------- */

/* 0, or the errno of a connection. */
static int try_one(const struct addrinfo *a)
{
  int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
  int rc = 0;
  socklen_t size = sizeof(rc);
  struct pollfd p = { .fd = fd, .events = POLLOUT };

  if (fd < 0)
    return errno;
  (void)fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
    rc = errno;
  if (rc == EINPROGRESS) {
    rc = ETIMEDOUT;
    if (poll(&p, 1, PATIENCE) > 0)
      (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &size);
  }
  (void)close(fd);
  return rc;
}

/* Why nothing is reached there; NULL: something is. */
static const char *why_unreached(const cli_ssh_way *way)
{
  const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
  struct addrinfo *list = NULL;
  int rc = getaddrinfo(way->host, way->port, &hints, &list);
  const char *why = rc != 0 ? gai_strerror(rc) : NULL;

  for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
    rc = try_one(a);
    why = rc != 0 ? strerror(rc) : NULL;
    if (rc == 0)
      break;
  }
  if (list != NULL)
    freeaddrinfo(list);
  return why;
}

/* ssh has said in its words that it failed; the task's own command may have
 * ended with the same code. */
static void tell_unreached(const cli_ssh_way *way)
{
  const char *why = why_unreached(way);

  if (why == NULL)
    return;
  cli_fail("cannot connect to the task's sshd at %s port %s: %s", way->host,
           way->port, why);
  cli_help(stderr, "openpai exec goes through the server; ssh needs the ports "
                   "of tasks to be open from here");
}

int cli_ssh_go(const cli_ssh_way *way,
               char **(*words)(void *data, const cli_ssh_files *files),
               void *data)
{
  int code = CLI_BROKEN;
  cli_ssh_files files;
  char **all;

  catch_signals();
  if (keep(&files, way)) {
    all = words(data, &files);
    if (all != NULL)
      code = start(all);
  }
  drop(&files);
  if (code == SSH_FAILED && caught == 0)
    tell_unreached(way);
  return code;
}
