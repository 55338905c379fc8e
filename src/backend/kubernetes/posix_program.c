/*
 * posix_program.c - runs a program beside the loop and collects its output
 *
 * It has its own process group, so that its children are killed with it.  Its
 * end is seen by a pidfd, because SIGCHLD belongs to the host.
 */
#define _GNU_SOURCE
#include "backend/kubernetes/program.h"

#include "backend/local/posix_process.h"
#include "base/os/posix_errno.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_TEXT = 1 << 20, MOST_SAID = 4 << 10, OUT = 0, SAID, STREAMS };

/* Bytes read at once: more than a pipe holds; a limit, so the loop goes on
 * even if the program writes for ever. */
enum { PIECE = 4 << 10, MOST_PIECES = MOST_TEXT / PIECE + 1 };

struct pai__program {
  pai_alloc alloc;
  char *name;
  pid_t pid; /* 0: not started, or reaped */
  pai__process process;
  int fds[STREAMS];
  pai__poll *end, *polls[STREAMS];
  pai__buf texts[STREAMS]; /* its standard output and standard error */
  pai__timer *timer;
  bool late, large;
  void (*on_done)(void *user_data, int status, const char *text, size_t len,
                  const pai_error *err);
  void *user_data;
};

/* --- its end ------------------------------------------------------------- */

static void close_fd(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

static void free_program(pai__program *p)
{
  pai_alloc alloc = p->alloc;

  pai__poll_close(p->end);
  pai__process_forget(&p->process);
  for (int i = 0; i < STREAMS; i++) {
    pai__poll_close(p->polls[i]);
    close_fd(p->fds[i]);
    pai__buf_dispose(&p->texts[i]);
  }
  pai__timer_close(p->timer);
  pai__strfree(&alloc, p->name);
  pai__free(&alloc, p, sizeof(*p));
}

/* Kills it and its children, unless a host that reaps all children has reaped
 * it: then its pid may be reused. */
static bool kill_group(const pai__program *p)
{
  siginfo_t info;

  return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
           0 &&
         kill(-p->pid, SIGKILL) == 0;
}

void pai__program_kill(pai__program *program)
{
  if (program == NULL)
    return;
  if (program->pid > 0 && kill_group(program))
    pai__local_kill(program->pid);
  free_program(program);
}

/* Returns its exit code, 128 and more for a signal; 0 also if the host reaped
 * it. */
static int take_end(pai__program *p)
{
  int status = 0;
  pid_t ended;

  do
    ended = waitpid(p->pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  p->pid = 0;
  if (ended < 0)
    return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int judge(const pai__program *p, int code, pai_error **err)
{
  const pai__buf *said = &p->texts[SAID];
  char text[PAI__EXCERPT];

  if (p->late)
    return pai__fail(err, PAI_EIO, "%s did not end in time", p->name);
  if (p->large)
    return pai__fail(err, PAI_ELIMIT, "the output of %s is too long", p->name);
  if (p->texts[OUT].failed || said->failed)
    return pai__oom(err);
  if (code == 0)
    return PAI_OK;
  return pai__fail(err, PAI_EIO, "%s exited with code %d%s%s", p->name, code,
                   said->len > 0 ? ": " : "",
                   pai__excerpt(text, pai__buf_text(said), said->len));
}

/* --- output -------------------------------------------------------------- */

static void keep(pai__program *p, int i, const char *bytes, size_t len)
{
  pai__buf *text = &p->texts[i];
  size_t most = i == OUT ? MOST_TEXT : MOST_SAID;

  if (i == OUT && len > most - text->len) {
    p->large = true;
    (void)kill_group(p); /* its end is then reported as usual */
  }
  pai__buf_add(text, bytes, len < most - text->len ? len : most - text->len);
}

/* Reads what is available; false: no more comes, or no more is wanted. */
static bool read_all(pai__program *p, int i)
{
  char bytes[PIECE];
  ssize_t n;
  int pieces = 0;

  do {
    n = read(p->fds[i], bytes, sizeof(bytes));
    if (n > 0)
      keep(p, i, bytes, (size_t)n);
    if (n > 0 && ++pieces == MOST_PIECES)
      return !p->large;
  } while ((n > 0 && !p->large) || (n < 0 && errno == EINTR));
  return n < 0 && errno == EAGAIN;
}

static void on_bytes(void *user_data, int fd, int events)
{
  pai__program *p = user_data;
  int i = fd == p->fds[OUT] ? OUT : SAID;

  (void)events;
  if (!read_all(p, i))
    pai__poll_set(p->polls[i], 0);
}

static void on_end(void *user_data, int fd, int events)
{
  pai__program *p = user_data;
  pai_error *err = NULL;
  int rc;

  (void)fd;
  (void)events;
  if (!pai__process_has_ended(&p->process))
    return;
  for (int i = 0; i < STREAMS; i++) /* the rest of its output */
    (void)read_all(p, i);
  rc = judge(p, take_end(p), &err);
  p->on_done(p->user_data, rc, pai__buf_text(&p->texts[OUT]),
             p->texts[OUT].len, err);
  pai_error_free(err);
  free_program(p);
}

static void on_late(void *user_data)
{
  pai__program *p = user_data;

  p->late = true;
  (void)kill_group(p);
}

/* --- start --------------------------------------------------------------- */

static bool is_same_name(const char *a, const char *b)
{
  size_t len = strcspn(a, "=");

  return strncmp(a, b, len + 1) == 0 && a[len] == '=';
}

static size_t count(const char *const *list)
{
  size_t n = 0;

  while (list != NULL && list[n] != NULL)
    n++;
  return n;
}

/* Makes the environment, this process's with the additions: a list of borrowed
 * texts. */
static const char **make_env(const pai_alloc *alloc, size_t *size,
                             const char *const *more)
{
  const char *const *ours = (const char *const *)environ;
  size_t n = count(ours) + count(more), used = 0;
  const char **env = pai__zalloc(alloc, (n + 1) * sizeof(*env));

  *size = (n + 1) * sizeof(*env);
  if (env == NULL)
    return NULL;
  for (size_t i = 0; ours[i] != NULL; i++) {
    size_t k = 0;
    while (k < count(more) && !is_same_name(more[k], ours[i]))
      k++;
    if (k == count(more))
      env[used++] = ours[i];
  }
  for (size_t i = 0; i < count(more); i++)
    env[used++] = more[i];
  return env;
}

/* Sets signals as a shell would, whatever this process does with them. */
static int set_attributes(posix_spawnattr_t *attr)
{
  static const int usual[] = { SIGHUP,  SIGINT,  SIGQUIT,
                               SIGPIPE, SIGTERM, SIGCHLD };
  sigset_t set;
  int rc;

  (void)sigemptyset(&set);
  rc = posix_spawnattr_setsigmask(attr, &set);
  for (size_t i = 0; i < PAI__LEN(usual); i++)
    (void)sigaddset(&set, usual[i]);
  if (rc == 0)
    rc = posix_spawnattr_setsigdefault(attr, &set);
  if (rc == 0)
    rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
                                          POSIX_SPAWN_SETSIGDEF |
                                          POSIX_SPAWN_SETPGROUP);
  return rc;
}

static int set_files(posix_spawn_file_actions_t *actions, const int ends[])
{
  int rc =
    posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

  for (int i = 0; i < STREAMS && rc == 0; i++)
    rc = posix_spawn_file_actions_adddup2(actions, ends[i], i + 1);
  return rc;
}

/* Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *const *words, const char **env,
                 const int ends[])
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  int rc = posix_spawnattr_init(&attr);

  if (rc != 0)
    return rc;
  rc = posix_spawn_file_actions_init(&actions);
  if (rc == 0) {
    rc = set_attributes(&attr);
    if (rc == 0)
      rc = set_files(&actions, ends);
    if (rc == 0) /* posix_spawn() only reads the words */
      rc = posix_spawnp(pid, words[0], &actions, &attr,
                        (char *const *)(uintptr_t)words,
                        (char *const *)(uintptr_t)env);
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)posix_spawnattr_destroy(&attr);
  return rc;
}

static int open_pipes(pai__program *p, int ends[], pai_error **err)
{
  for (int i = 0; i < STREAMS; i++) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
      return pai__fail(err, PAI_EIO,
                       "cannot start %s: no file descriptors left", p->name);
    p->fds[i] = pair[0];
    ends[i] = pair[1];
  }
  return PAI_OK;
}

static int start(pai__program *p, const pai__program_want *want,
                 pai_error **err)
{
  int ends[STREAMS] = { -1, -1 }, failed = ENOMEM;
  int rc = open_pipes(p, ends, err);
  size_t size;
  const char **env = make_env(&p->alloc, &size, want->env);

  if (rc == PAI_OK && env != NULL)
    failed = spawn(&p->pid, want->words, env, ends);
  pai__free(&p->alloc, env, env != NULL ? size : 0);
  for (int i = 0; i < STREAMS; i++)
    close_fd(ends[i]);
  if (rc < 0 || failed == 0)
    return rc;
  p->pid = 0;
  if (failed == ENOMEM)
    return pai__oom(err);
  return pai__fail(err, failed == ENOENT ? PAI_ENOTFOUND : PAI_EIO,
                   "cannot start %s: %s", p->name, PAI__ERRNO_TEXT(failed));
}

/* Sets an error with the text of the errno `why`. */
static int fail_to_watch(const pai__program *p, int why, pai_error **err)
{
  return pai__fail(err, PAI_EIO, "cannot watch %s: %s", p->name,
                   why == EMFILE || why == ENFILE ? "no file descriptors left"
                                                  : PAI__ERRNO_TEXT(why));
}

static int watch(pai__program *p, pai_loop *loop, pai_time most,
                 pai_error **err)
{
  int rc = PAI_OK;

  if (pai__process_watch(&p->process, p->pid) <= 0)
    return fail_to_watch(p, errno, err);
  for (int i = 0; i < STREAMS && rc == PAI_OK; i++) {
    rc = pai__poll_new(&p->polls[i], &p->alloc, loop, p->fds[i], on_bytes, p,
                       err);
    if (rc == PAI_OK)
      pai__poll_set(p->polls[i], PAI__READABLE);
  }
  if (rc == PAI_OK)
    rc =
      pai__poll_new(&p->end, &p->alloc, loop, p->process.fd, on_end, p, err);
  if (rc < 0)
    return rc;
  pai__poll_set(p->end, PAI__READABLE);
  if (pai__timer_new(&p->timer, &p->alloc, loop, on_late, p) < 0)
    return pai__oom(err);
  pai__timer_start(p->timer, most);
  return PAI_OK;
}

int pai__program_start(pai__program **out, const pai_alloc *alloc,
                       pai_loop *loop, const pai__program_want *want,
                       pai_error **err)
{
  pai__program *p = pai__zalloc(alloc, sizeof(*p));
  int rc;

  *out = NULL;
  if (p == NULL)
    return pai__oom(err);
  *p = (pai__program){ .alloc = *alloc,
                       .process = { .fd = -1 },
                       .fds = { -1, -1 },
                       .on_done = want->on_done,
                       .user_data = want->user_data };
  for (int i = 0; i < STREAMS; i++)
    pai__buf_init(&p->texts[i], &p->alloc);
  p->name = pai__strdup(alloc, want->words[0]);
  rc = p->name != NULL ? start(p, want, err) : pai__oom(err);
  if (rc == PAI_OK)
    rc = watch(p, loop, want->most, err);
  if (rc < 0)
    pai__program_kill(p);
  else
    *out = p;
  return rc;
}
