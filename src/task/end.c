/* end.c - determines how a task has ended, and removes its files */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REMOVE_SECONDS = 300, TRIES = 100 };

static int oom_file = -1; /* of the task's group, opened while this program has
                             the rights */

/* Opens a regular file, or returns -1.  In a container the user's processes
 * may have replaced it by a link or a pipe. */
static int open_plain(int dir, const char *path)
{
  int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;

  if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
    return fd;
  (void)close(fd);
  return -1;
}

/* --- out of memory ------------------------------------------------------- */

/* Opens a group's file while this program has the rights.  A container's file
 * is in the user's folder, where a link may lead anywhere: it is opened at the
 * end, as that user. */
void end_open(const pai_order *o)
{
  const char *path = o->oom_file.text;

  short_note("");
  if (path != NULL && (o->flags & PAI_ORDER_SCRIPT_STDIN) == 0)
    oom_file = open_plain(AT_FDCWD, path);
}

static bool group_had_oom(const pai_order *o)
{
  const char *path = o->oom_file.text;
  char text[1024], *at;
  ssize_t n;

  if (oom_file < 0 && path != NULL) /* a container creates its file */
    oom_file = open_plain(AT_FDCWD, path);
  n = oom_file >= 0 ? pread(oom_file, text, sizeof(text) - 1, 0) : -1;
  if (n <= 0)
    return false;
  text[n] = '\0';
  at = strstr(text, "oom_kill ");
  return at != NULL && strtol(at + strlen("oom_kill "), NULL, 10) > 0;
}

/* Returns whether SIGKILL ended it; a shell, a sandbox and a container report
 * a signal as an exit code. */
static bool was_killed(const ending *e)
{
  return e->failed == 0 && !e->asked &&
         (!e->ended ||
          (WIFSIGNALED(e->wait_status) &&
           WTERMSIG(e->wait_status) == SIGKILL) ||
          (WIFEXITED(e->wait_status) &&
           WEXITSTATUS(e->wait_status) == 128 + SIGKILL));
}

static int look_at_memory(const pai_order *o, const ending *e)
{
  if (e->oom != 0 || group_had_oom(o))
    return 1;
  if (!was_killed(e) || !short_since(""))
    return 0;
  logs_say("the task was killed while memory was short; out of memory?", "",
           0);
  return 2;
}

/* --- failures to start --------------------------------------------------- */

/* Returns the code of an engine that could not create or start the container,
 * or 0.  The command has not begun, or its mark would exist.  Docker uses 125
 * to 127; the program that starts the container's process may use others. */
static int engine_failure(const pai_order *o, const ending *e)
{
  int code = WIFEXITED(e->wait_status) ? WEXITSTATUS(e->wait_status) : 0;

  if (e->failed != 0 || !e->ended || e->asked || code > 127 ||
      (o->flags & PAI_ORDER_SCRIPT_STDIN) == 0 || o->oom_file.text == NULL ||
      access(o->oom_file.text, F_OK) == 0)
    return 0;
  return code > 0 && code < 125 ? 127 : code;
}

/* Returns whether bubblewrap failed before the script began. */
static bool sandbox_failed(const pai_order *o, const ending *e)
{
  return order_is_sandbox(o) && e->failed == 0 && e->ended && !e->asked &&
         !e->begun && WIFEXITED(e->wait_status) &&
         WEXITSTATUS(e->wait_status) != 0;
}

/* Returns the errno of a shortage in an error message, or 0.  Messages of C
 * and Go programs differ in case. */
static int shortage_in(const char *text)
{
  static const struct {
    const char *words;
    int error;
  } shortages[] = { { "no space left on device", ENOSPC },
                    { "disk quota exceeded", EDQUOT },
                    { "cannot allocate memory", ENOMEM },
                    { "too many open files", EMFILE },
                    { "resource temporarily unavailable", EAGAIN } };

  for (; *text != '\0'; text++)
    for (size_t i = 0; i < sizeof(shortages) / sizeof(shortages[0]); i++)
      if (strncasecmp(text, shortages[i].words, strlen(shortages[i].words)) ==
          0)
        return shortages[i].error;
  return 0;
}

/* Reports the engine's error. docker's last line is a hint, so a shortage is
 * in an earlier line. */
static void tell_engine(const ending *e, int code)
{
  char text[400];
  const char *last = logs_last_line(text, sizeof(text));
  int lacks = 0;

  for (char *next = text, *at; lacks == 0 && next != NULL;) {
    at = next;
    next = strchr(at, '\n');
    if (next != NULL)
      *next++ = '\0';
    lacks = shortage_in(at);
    last = lacks != 0 || next == NULL ? at : last;
  }

  logs_say(code == 127 && lacks == 0
             ? "cannot start the container (its image needs bash): "
             : "cannot start the container: ",
           last, 0);
  status_end("failed", code, e->oom, lacks);
}

static void tell_sandbox(const ending *e)
{
  char text[400];
  const char *why = logs_last_line(text, sizeof(text));
  line silent = { .len = 0 };

  if (why[0] == '\0') {
    line_add(&silent, "bubblewrap gave no reason and exited with code ");
    line_number(&silent, WEXITSTATUS(e->wait_status));
    silent.text[silent.len] = '\0';
    why = silent.text;
  }
  logs_say("cannot create the sandbox: ", why, 0);
  status_end("failed", 126, e->oom, shortage_in(why));
}

static void say_failure(const pai_order *o, const ending *e)
{
  bool folder = e->failed == NEWS_WORKDIR;
  const char *what = folder ? o->workdir.text : o->argv.texts[0];

  logs_say(folder ? "cannot change to the folder " : "cannot start ",
           what != NULL ? what : "", e->failure);
}

/* --- the last line of the status ----------------------------------------- */

static void tell_end(const pai_order *o, const ending *e)
{
  int engine = engine_failure(o, e);

  if (e->failed != 0) {
    say_failure(o, e);
    status_end("failed",
               e->failure == ENOENT && e->failed == NEWS_EXEC ? 127 : 126,
               e->oom, e->failure);
  } else if (engine != 0) {
    tell_engine(e, engine);
  } else if (sandbox_failed(o, e)) {
    tell_sandbox(e);
  } else if (!e->ended) {
    status_end("signal", SIGKILL, e->oom, 0);
  } else if (WIFSIGNALED(e->wait_status)) {
    status_end("signal", WTERMSIG(e->wait_status), e->oom, 0);
  } else {
    status_end("exit", WEXITSTATUS(e->wait_status), e->oom, 0);
  }
}

/* --- removing files ------------------------------------------------------ */

void end_remove_groups(const pai_order *o)
{
  char **at = o->groups.texts;

  for (; at != NULL && *at != NULL; at++)
    for (int i = 0; i < TRIES && rmdir(*at) < 0 && errno == EBUSY; i++)
      (void)poll(NULL, 0, 1);
}

/* Leaves folders that are too deep, or cannot be removed, to rm. */
static void remove_tmp(const pai_order *o)
{
  static char rm[] = "/bin/rm", flags[] = "-rf", dashes[] = "--";
  char *argv[] = { rm, flags, dashes, o->tmp.text, NULL }, *env[] = { NULL };
  int64_t end = monotonic_ms() + REMOVE_SECONDS * 1000;

  if (o->tmp.text != NULL && !folder_remove(AT_FDCWD, o->tmp.text, end))
    run_and_wait(argv, env, (int)((end - monotonic_ms()) / 1000));
}

void end_clear(const pai_order *o, ending *e)
{
  e->oom = look_at_memory(o, e);
  end_remove_groups(o);
  tell_end(o, e);
  remove_tmp(o);
}
