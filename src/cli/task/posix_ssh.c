/* posix_ssh.c - files that a task's sshd left in the root, and running
 * ssh(1) */
#define _XOPEN_SOURCE 700
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Finds the folder of the task's latest start, the newest one called
 * ROLE-INDEX or ROLE-INDEX.N. */
static bool find_folder(char *out, size_t size, const char *job_dir,
                        const cli_task *t)
{
  char path[4096];
  bool found = false;
  struct stat st;

  for (unsigned start = 0;; start++) {
    int n = start == 0 ? snprintf(path, sizeof(path), "%s/%s-%u", job_dir,
                                  t->role, t->index)
                       : snprintf(path, sizeof(path), "%s/%s-%u.%u", job_dir,
                                  t->role, t->index, start);
    if (n < 0 || (size_t)n >= sizeof(path) || (size_t)n >= size ||
        stat(path, &st) < 0)
      return found;
    memcpy(out, path, (size_t)n + 1);
    found = true;
  }
}

/* Writes the known_hosts line "[IP]:PORT KEY" with the server's public key. */
static bool make_known_hosts(const cli_ssh_files *f, const char *dir,
                             const cli_task *t)
{
  char path[4200], key[1024];
  FILE *in, *out;
  bool made;
  int fd;

  (void)snprintf(path, sizeof(path), "%s/ssh/host_key.pub", dir);
  in = fopen(path, "re");
  if (in == NULL)
    return false;
  made = fgets(key, sizeof(key), in) != NULL;
  (void)fclose(in);
  if (!made)
    return false;
  (void)unlink(f->known_hosts);
  fd = open(f->known_hosts, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  out = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out == NULL)
    return false;
  (void)fprintf(out, "[%s]:%s %s", t->ip, t->ssh_port, key);
  return fclose(out) == 0;
}

bool cli_ssh_find(cli_ssh_files *out, const char *root, const cli_task *t)
{
  const struct passwd *user = getpwuid(geteuid());
  char job_dir[2048], dir[4096];

  (void)snprintf(job_dir, sizeof(job_dir), "%s/jobs/%s/%lld", root, t->job,
                 (long long)t->attempt);
  if (user == NULL || !find_folder(dir, sizeof(dir), job_dir, t))
    return false;
  (void)snprintf(out->user, sizeof(out->user), "%s", user->pw_name);
  (void)snprintf(out->key, sizeof(out->key), "%s/ssh/key", job_dir);
  if (access(out->key, R_OK) < 0)
    out->key[0] = '\0';
  (void)snprintf(out->known_hosts, sizeof(out->known_hosts),
                 "%s/ssh/known_hosts", dir);
  return make_known_hosts(out, dir, t);
}

int cli_ssh_become(char **words)
{
  (void)execvp(words[0], words);
  cli_fail("cannot start ssh: %s", strerror(errno));
  cli_help(stderr, "install openssh-client, or use openpai exec");
  return CLI_BROKEN;
}

enum { PATIENCE = 3000, SSH_FAILED = 255 };

extern char **environ;

/* --- the keys ------------------------------------------------------------ */

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

/* --- ssh ----------------------------------------------------------------- */

static volatile sig_atomic_t child, caught; /* 0: none */

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
  (void)signal(SIGCHLD, SIG_DFL); /* else the status of ssh(1) would be lost */
}

/* Waits for ssh(1) to end, and stops with it when it stops.  Returns its
 * status. */
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
  child = 0; /* after waitpid() its number may be reused */
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

/* --- why the connection failed ------------------------------------------- */

/* Tries to connect; returns 0 or an errno. */
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

/* Returns why the address cannot be reached, or NULL if it can. */
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

/* ssh(1) has printed its own error.  Its exit code alone does not prove a
 * failed connection: the command in the task may have returned the same
 * code. */
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
