/*
 * cmd_cluster_top.c - what this machine is doing, live
 *
 * On a terminal it has a screen of its own, which it gives back however it
 * ends; else it prints plain lines, or JSON.
 */
#include "screen.h"
#include "top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 250, LEAST_MS = 50, MOST_MS = 3600 * 1000 };

static pai_time clock_us(clockid_t clock)
{
  struct timespec now;

  (void)clock_gettime(clock, &now);
  return (pai_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
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

static void on_size(void *user_data)
{
  top *t = user_data;

  cli_screen_size(&t->width, &t->height);
  if (t->sample != NULL && t->machine.elapsed > 0)
    top_print(t);
}

/* A first sample without rates, then `count` of them; 0: until it ends. */
static bool show(top *t, unsigned long count, int interval_ms, bool json)
{
  int wait_ms = interval_ms < FIRST_MS ? interval_ms : FIRST_MS;

  if (!take(t))
    return false;
  for (unsigned long shown = 0; count == 0 || shown < count; shown++) {
    if (!cli_screen_wait(wait_ms, on_size, t))
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
    wait_ms = interval_ms;
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
  bool good;

  if (!open_sampler(&t))
    return CLI_NO;
  cli_screen_size(&t.width, &t.height);
  t.screen = !json && count == 0 && cli_is_terminal(stdout);
  cli_screen_catch();
  if (t.screen)
    cli_screen_enter();
  good = show(&t, count, interval_ms, json);
  cli_screen_leave();
  pai_sampler_free(t.sampler);
  cli_screen_over();
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
  .brief = "Show live use of this machine: CPUs, memory, GPUs, disks",
  .usage = "[OPTION]...",
  .help =
    "On a terminal, without --once and --count, show a full screen; q or\n"
    "Ctrl-C ends it.\n"
    "\n"
    "  --once            print one sample, as plain lines\n"
    "  -n, --count N     number of samples to print, one below the other\n"
    "  -i, --interval S  seconds between samples, 0.05 to 3600 (default: 1)\n"
    "  --json            print one JSON object a line for each sample\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 this machine cannot be sampled or output\n"
    "cannot be written, 2 usage error\n",
  .run = run,
};
