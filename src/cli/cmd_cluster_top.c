/*
 * cmd_cluster_top.c - what this machine is doing, live
 *
 * On a terminal it has a screen of its own, which it gives back however it
 * ends; else it prints plain lines, or JSON.
 */
#include "top.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 250, LEAST_MS = 50, MOST_MS = 3600 * 1000 };

/* --- the terminal ------------------------------------------------------------ */

static volatile sig_atomic_t ended_by; /* a signal, or 0 */
static volatile sig_atomic_t stopped;  /* Ctrl-Z */
static volatile sig_atomic_t resized;
static struct termios before; /* the terminal as it was */
static bool raw;

static void on_signal(int sig)
{
  if (sig == SIGWINCH)
    resized = 1;
  else if (sig == SIGTSTP)
    stopped = 1;
  else
    ended_by = sig;
}

static void enter_screen(void)
{
  struct termios now;

  if (tcgetattr(STDIN_FILENO, &before) == 0) {
    now = before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    raw = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
  }
  (void)fputs("\033[?1049h\033[?25l\033[2J", stdout);
  (void)fflush(stdout);
}

static void leave_screen(void)
{
  (void)fputs("\033[?25h\033[?1049l", stdout);
  (void)fflush(stdout);
  if (raw)
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
  raw = false;
}

static void measure(top *t)
{
  struct winsize size;

  t->width = 80;
  t->height = 24;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      size.ws_row > 0) {
    t->width = size.ws_col;
    t->height = size.ws_row;
  }
}

/* Signals come only while one waits: `open` is the mask for that. */
static void catch_signals(sigset_t *open)
{
  static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP };
  struct sigaction act, was;
  sigset_t shut;

  memset(&act, 0, sizeof(act));
  act.sa_handler = on_signal;
  (void)sigemptyset(&act.sa_mask);
  (void)sigemptyset(&shut);
  for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
    if (sigaction(sigs[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
      continue; /* as under nohup */
    (void)sigaction(sigs[i], &act, NULL);
    (void)sigaddset(&shut, sigs[i]);
  }
  (void)sigprocmask(SIG_BLOCK, &shut, open);
}

static void stop_here(top *t)
{
  stopped = 0;
  leave_screen();
  (void)raise(SIGSTOP);
  enter_screen();
  measure(t);
}

/* --- waiting ----------------------------------------------------------------- */

static pai_time clock_us(clockid_t clock)
{
  struct timespec now;

  (void)clock_gettime(clock, &now);
  return (pai_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Whether what was typed says that it is enough. */
static bool typed_quit(bool *readable)
{
  char keys[64];
  ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

  if (n <= 0)
    *readable = false;
  for (ssize_t i = 0; i < n; i++)
    if (keys[i] == 'q' || keys[i] == 'Q')
      return true;
  return false;
}

/* What signals have asked for meanwhile. */
static void heed_signals(top *t)
{
  if (stopped && t->screen)
    stop_here(t);
  else if (stopped) {
    stopped = 0;
    (void)raise(SIGSTOP);
  }
  if (resized && t->screen) {
    resized = 0;
    measure(t);
    if (t->sample != NULL && t->machine.elapsed > 0)
      top_print(t);
  }
}

/* False: it is over.  A screen is drawn anew when its size changes. */
static bool wait_until(top *t, pai_time until, const sigset_t *open)
{
  bool readable = t->screen && raw;

  while (ended_by == 0) {
    fd_set in;
    pai_time left = until - clock_us(CLOCK_MONOTONIC);
    struct timespec span = { .tv_sec = left / 1000000,
                             .tv_nsec = left % 1000000 * 1000 };

    /* Right before it waits: a sanitizer delivers signals when it likes. */
    heed_signals(t);
    if (left <= 0)
      return true;
    FD_ZERO(&in);
    if (readable)
      FD_SET(STDIN_FILENO, &in);
    if (pselect(readable ? STDIN_FILENO + 1 : 0, &in, NULL, NULL, &span,
                open) > 0 &&
        typed_quit(&readable))
      return false;
  }
  return false;
}

/* --- samples ----------------------------------------------------------------- */

/* Whether a is told before b. */
static bool is_busier(const pai_sample_group *a, const pai_sample_group *b)
{
  if (a->cpu_rate != b->cpu_rate)
    return a->cpu_rate > b->cpu_rate;
  if (a->gpu_memory != b->gpu_memory)
    return a->gpu_memory > b->gpu_memory;
  if (a->memory != b->memory)
    return a->memory > b->memory;
  return a->id < b->id;
}

static void keep_group(top *t, const pai_sample_group *g)
{
  size_t at = t->group_count;

  while (at > 0 && is_busier(g, &t->groups[at - 1]))
    at--;
  if (at == TOP_GROUPS)
    return;
  if (t->group_count < TOP_GROUPS)
    t->group_count++;
  memmove(&t->groups[at + 1], &t->groups[at],
          (t->group_count - at - 1) * sizeof(*g));
  t->groups[at] = *g;
}

/* The machine's figures, and the busiest groups. */
static void read_sample(top *t)
{
  t->machine = (pai_sample_machine){ .struct_size = sizeof(t->machine) };
  t->group_count = 0;
  if (pai_sample_get(t->sample, &t->machine) < 0)
    return;
  for (size_t i = 0; i < t->machine.groups; i++) {
    pai_sample_group g = { .struct_size = sizeof(g) };

    if (pai_sample_get_group(t->sample, i, &g) == PAI_OK)
      keep_group(t, &g);
  }
}

static bool take(top *t)
{
  pai_error *err;

  if (pai_sampler_take(&t->sample, t->sampler, clock_us(CLOCK_MONOTONIC),
                       &err) < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
    return false;
  }
  read_sample(t);
  return true;
}

/* A first sample without rates, then `count` of them; 0: until it ends. */
static bool show(top *t, unsigned long count, int interval_ms, bool json,
                 const sigset_t *open)
{
  pai_time next = clock_us(CLOCK_MONOTONIC);

  if (!take(t))
    return false;
  next += (interval_ms < FIRST_MS ? interval_ms : FIRST_MS) * (pai_time)1000;
  for (unsigned long shown = 0; count == 0 || shown < count; shown++) {
    if (!wait_until(t, next, open))
      break;
    if (!take(t))
      return false;
    if (json)
      top_print_json(t, clock_us(CLOCK_REALTIME));
    else {
      if (!t->screen && shown != 0)
        (void)putchar('\n');
      top_print(t);
    }
    if (ferror(stdout))
      break; /* said at the end */
    next = clock_us(CLOCK_MONOTONIC) + (pai_time)interval_ms * 1000;
  }
  return true;
}

/* --- the verb ---------------------------------------------------------------- */

/* "0.5" as 500; -1: no number of seconds. */
static int parse_ms(const char *text)
{
  char *end;
  unsigned long whole;
  int ms;

  if (text[0] < '0' || text[0] > '9')
    return -1;
  errno = 0;
  whole = strtoul(text, &end, 10);
  if (errno != 0 || whole > MOST_MS / 1000)
    return -1;
  ms = (int)whole * 1000;
  if (*end == '.') {
    int part = 100;

    for (end++; *end >= '0' && *end <= '9'; end++, part /= 10)
      ms += (*end - '0') * part;
  }
  return *end == '\0' && ms >= LEAST_MS && ms <= MOST_MS ? ms : -1;
}

static bool parse_count(const char *text, unsigned long *count)
{
  char *end;

  errno = 0;
  *count = strtoul(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && errno == 0 && *end == '\0' &&
         *count > 0;
}

static bool open_sampler(top *t)
{
  static const char *const paths[] = { "/" };
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  pai_error *err;

  o.all_groups = 1;
  o.paths = paths;
  o.path_count = 1;
  if (pai_sampler_new(&t->sampler, &o, &err) < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
    return false;
  }
  t->gpus = pai_sampler_gpus(t->sampler);
  if (gethostname(t->host, sizeof(t->host) - 1) != 0)
    t->host[0] = '\0';
  return true;
}

static int watch(unsigned long count, int interval_ms, bool json)
{
  static top t;
  sigset_t open;
  bool good;

  if (!open_sampler(&t))
    return CLI_NO;
  measure(&t);
  t.screen = !json && count == 0 && cli_is_terminal(stdout);
  catch_signals(&open);
  if (t.screen)
    enter_screen();
  good = show(&t, count, interval_ms, json, &open);
  if (t.screen)
    leave_screen();
  pai_sampler_free(t.sampler);
  if (ended_by != 0 && ended_by != SIGINT) {
    (void)cli_written();
    (void)signal(ended_by, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &open, NULL);
    (void)raise(ended_by);
  }
  return good ? CLI_OK : CLI_NO;
}

static int run(int argc, char **argv)
{
  bool json = false, once = false;
  const char *count_text = NULL, *interval = "1";
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "once", 0, &once, NULL },
                                 { "count", 'n', NULL, &count_text },
                                 { "interval", 'i', NULL, &interval } };
  unsigned long count = 0;
  int words = cli_options(&cli_cluster_top, options, 4, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words > 0) {
    cli_misused(&cli_cluster_top, "this verb takes no argument", argv[0]);
    return CLI_USAGE;
  }
  if (count_text != NULL && (once || !parse_count(count_text, &count))) {
    cli_misused(&cli_cluster_top,
                once ? "--once and --count exclude each other"
                     : "--count needs a number above 0",
                count_text);
    return CLI_USAGE;
  }
  if (parse_ms(interval) < 0) {
    cli_misused(&cli_cluster_top, "--interval needs seconds from 0.05 to 3600",
                interval);
    return CLI_USAGE;
  }
  return watch(once ? 1 : count, parse_ms(interval), json);
}

const cli_verb cli_cluster_top = {
  .name = "cluster top",
  .brief = "Show live what this machine is doing: CPUs, memory, GPUs, disks",
  .usage = "[OPTION]...",
  .help =
    "  --once            one sample, as plain lines\n"
    "  -n, --count N     N samples, one below the other\n"
    "  -i, --interval S  seconds between samples, 0.05 to 3600; 1 without it\n"
    "  --json            one JSON object a line for each sample\n"
    "  -h, --help\n\n"
    "On a terminal, without --once and --count, it has a screen of its own;\n"
    "q or Ctrl-C ends it.\n\n"
    "Exit code: 0 it was ended; 1 this machine cannot be sampled, or output\n"
    "cannot be written; 2 usage.\n",
  .run = run,
};
