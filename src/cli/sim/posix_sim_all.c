/*
 * posix_sim_all.c - parallel simulations, each in a process of its own
 *
 * A child writes its progress line by line and then its report as JSON into a
 * pipe.  It prints errors itself.
 */
#include "sim_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = CLI_VALUES, PIECE = 65536 };

typedef struct child {
  sim_case *of;
  pid_t pid; /* 0: not begun, or over */
  int fd;
  cli_text text; /* what it wrote, not parsed yet */
  unsigned part; /* progress in thousandths */
} child;

typedef struct crowd {
  const sim_plan *plan;
  child list[MOST];
  size_t count, begun, running;
  sim_progress progress;
  void *data;
  int code;
} crowd;

/* --- in a child ---------------------------------------------------------- */

static void put(FILE *pipe, const char *bytes, size_t len)
{
  (void)fwrite(bytes, 1, len, pipe);
}

static void tell_part(void *pipe, unsigned part)
{
  char line[16];
  int len = snprintf(line, sizeof(line), "%u\n", part);

  put(pipe, line, (size_t)len);
  (void)fflush(pipe);
}

/* Runs the simulation in the child; never returns. */
static void be_child(const sim_plan *plan, sim_case *c, int fd)
{
  FILE *pipe = fdopen(fd, "wb");
  int code = CLI_NO;

  if (pipe != NULL)
    code = sim_run(plan, c, tell_part, pipe);
  if (code == CLI_OK) {
    const pai_sim_report *report = c->report;

    if (pai_sim_write(&report, 1, PAI_FORMAT_JSON, cli_write, pipe, NULL) < 0)
      code = CLI_NO;
  }
  if (pipe != NULL && fclose(pipe) != 0)
    code = CLI_NO;
  (void)fflush(stderr);
  _exit(code);
}

/* --- in the parent ------------------------------------------------------- */

static bool begin(crowd *all, child *c)
{
  sim_plan plan = *all->plan;
  int fds[2];

  /* All children find the same problems: only the first prints them. */
  plan.quiet = c != all->list;
  if (pipe(fds) != 0)
    return false;
  (void)fflush(stdout);
  (void)fflush(stderr);
  c->pid = fork();
  if (c->pid == 0) {
    (void)close(fds[0]);
    for (size_t i = 0; i < all->begun; i++)
      if (all->list[i].pid != 0 && &all->list[i] != c)
        (void)close(all->list[i].fd);
    be_child(&plan, c->of, fds[1]);
  }
  (void)close(fds[1]);
  c->fd = fds[0];
  if (c->pid < 0) {
    (void)close(fds[0]);
    c->pid = 0;
    return false;
  }
  all->running++;
  return true;
}

/* Reports the progress of all children together. */
static void tell_all(const crowd *all)
{
  unsigned sum = 0;

  for (size_t i = 0; i < all->count; i++)
    sum += all->list[i].part;
  if (all->progress != NULL && all->count != 0)
    all->progress(all->data, (unsigned)(sum / all->count));
}

/* Lines of digits are progress; other text is the report. */
static void read_parts(crowd *all, child *c)
{
  char *line = c->text.bytes, *end;

  while (c->text.len != 0 && *line >= '0' && *line <= '9' &&
         (end = memchr(line, '\n', c->text.len)) != NULL) {
    size_t used = (size_t)(end - line) + 1;

    c->part = (unsigned)strtoul(line, NULL, 10);
    memmove(line, line + used, c->text.len - used);
    c->text.len -= used;
    tell_all(all);
  }
}

static void worsen(crowd *all, int code)
{
  all->code = code > all->code ? code : all->code;
}

static void take_report(crowd *all, child *c)
{
  pai_error *err = NULL;

  if (pai_sim_read(&c->of->report, c->text.bytes != NULL ? c->text.bytes : "",
                   c->text.len, NULL, &err) == PAI_OK)
    return;
  (void)cli_fail_with(NULL, err);
  worsen(all, CLI_NO);
}

/* The child has closed its pipe. */
static void end(crowd *all, child *c)
{
  int status = 0;
  pid_t got;

  (void)close(c->fd);
  do
    got = waitpid(c->pid, &status, 0);
  while (got < 0 && errno == EINTR);
  c->pid = 0;
  c->part = 1000;
  all->running--;
  if (got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == CLI_OK) {
    take_report(all, c);
  } else {
    if (got > 0 && WIFSIGNALED(status))
      cli_fail("the simulation of policy %s was ended by signal %d",
               c->of->name, WTERMSIG(status));
    else
      cli_fail("the simulation of policy %s failed", c->of->name);
    worsen(all, got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : CLI_NO);
  }
  free(c->text.bytes);
  c->text = (cli_text){ 0 };
}

static void read_some(crowd *all, child *c)
{
  static char piece[PIECE];
  ssize_t n = read(c->fd, piece, sizeof(piece));

  if (n < 0 && errno == EINTR)
    return;
  if (n > 0 && cli_text_add(&c->text, piece, (size_t)n) < 0) {
    cli_fail("out of memory");
    worsen(all, CLI_NO);
    n = 0;
  }
  if (n > 0)
    read_parts(all, c);
  else
    end(all, c);
}

static void wait_for_some(crowd *all)
{
  struct pollfd fds[MOST];
  child *of[MOST];
  nfds_t n = 0;

  for (size_t i = 0; i < all->begun; i++)
    if (all->list[i].pid != 0) {
      fds[n] = (struct pollfd){ .fd = all->list[i].fd, .events = POLLIN };
      of[n++] = &all->list[i];
    }
  if (poll(fds, n, -1) < 0)
    return; /* interrupted by a signal: poll again */
  for (nfds_t i = 0; i < n; i++)
    if (fds[i].revents != 0)
      read_some(all, of[i]);
}

static size_t processors(void)
{
  long n = sysconf(_SC_NPROCESSORS_ONLN);

  return n > 1 ? (size_t)n : 1;
}

int sim_run_all(const sim_plan *plan, sim_case *cases, size_t count,
                sim_progress progress, void *data)
{
  static crowd all;
  size_t most = processors();

  all = (crowd){
    .plan = plan, .count = count, .progress = progress, .data = data
  };
  for (size_t i = 0; i < count; i++)
    all.list[i].of = &cases[i];
  while (all.begun < count || all.running != 0) {
    while (all.begun < count && all.running < most) {
      if (!begin(&all, &all.list[all.begun])) {
        cli_fail("cannot start a process for policy %s: %s",
                 cases[all.begun].name, strerror(errno));
        worsen(&all, CLI_NO);
      }
      all.begun++;
    }
    if (all.running != 0)
      wait_for_some(&all);
  }
  return all.code;
}
